# SPDX-License-Identifier: BSD-3-Clause
# One-sided operations: each with every synchronisation in every kind of window, checked.
foreach(window allocate dynamic)
  launch("onesided --operation all --synchronisation all --window ${window} --sizes 1000")
endforeach()
foreach(window create shared)
  launch("onesided --operation put,get_accumulate --synchronisation all --window ${window} --sizes 8")
endforeach()
launch(
  "onesided --operation put,get,accumulate --synchronisation fence,pscw,flush --sizes 1000 --queue 4 --ways both"
  "onesided --operation accumulate,get_accumulate,fetch_and_op --element byte --sizes 1,1000"
  "onesided --operation compare_and_swap --compare unequal"
  "onesided --operation all --element char --target-waits barrier --sizes 1,1000"
  "onesided --sizes 8,1000 --layout 16,64")
add_test(NAME onesided-progress COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo>
  onesided-progress --operation put,get_accumulate --synchronisation lock,flush --sizes 1000
  --compute 0,200 --budget 0.005 --min-repetitions 3 --max-repetitions 5 --set-up 0 --sync-share 1
  --late 1)

# Queues that are looked through; many to one, both ways at once.
launch(
  "matching-posted --depth 0,2,100 --sizes 1000"
  "matching-unexpected --depth 0,2,100 --sizes 1000"
  "bandwidth --ways both --sizes 0,1,1000,100k --queue 1,4"
  "bandwidth --ways both --sizes 0,1,100k --queue 1,4 --places one"
  "bandwidth --sizes 0,1,1000,100k --requests persistent --queue 1,4 --burst 0,7"
  "bandwidth --sizes 0,1,1000,100k --requests persistent --queue 1,4 --ways both --places one"
  "bandwidth --sizes 0,1,100k --requests persistent --queue 6 --split parts --mode synchronous"
  "bandwidth --ways both --split parts --sizes 0,1,1000,100k --queue 1,6"
  "fans --sizes 0,1,1000,100k --queue 1,3"
  "fans --sizes 0,1,1000,100k --direction in --start barrier")
