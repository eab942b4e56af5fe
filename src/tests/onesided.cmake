# SPDX-License-Identifier: BSD-3-Clause
# One-sided operations: each with every synchronisation in every kind of window, checked.
launch(onesided 2 "${bounds}"
  "onesided --operation all --synchronisation all --window allocate --sizes 1000"
  "onesided --operation all --synchronisation all --window dynamic --sizes 1000"
  "onesided --operation put,get_accumulate --synchronisation all --window create --sizes 8"
  "onesided --operation put,get_accumulate --synchronisation all --window shared --sizes 8"
  "onesided --operation put,get,accumulate --synchronisation fence,pscw,flush --sizes 1000 --queue 4 --ways both"
  "onesided --operation rput,rget --synchronisation flush,wait --sizes 1000 --queue 4 --ways both"
  "onesided --operation accumulate,get_accumulate,fetch_and_op --element byte --sizes 1,1000"
  "onesided --operation compare_and_swap --compare unequal"
  "onesided --operation all --element char --target-waits barrier --sizes 1,1000"
  "onesided --sizes 8,1000 --layout 16,64")
launch(onesided-progress 2
  "--budget;0.005;--min-repetitions;3;--max-repetitions;5;--set-up;0;--sync-share;1;--late;1"
  "onesided-progress --operation put,get_accumulate --synchronisation lock,flush --sizes 1000 --compute 0,200")

# Queues that are looked through.
launch(matching 2 "${bounds}"
  "matching-posted --depth 0,2,100 --sizes 1000"
  "matching-unexpected --depth 0,2,100 --sizes 1000")

# Blocks of a file in the build folder.
launch(files 2 "${bounds}" "files --sizes 1,1000,100k --folder ${CMAKE_CURRENT_BINARY_DIR}"
  "files --sizes 1000 --flush yes --start barrier --sync none --folder ${CMAKE_CURRENT_BINARY_DIR}")
