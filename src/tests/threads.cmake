# SPDX-License-Identifier: BSD-3-Clause
# Several threads of a rank, messages made part by part, data with gaps, start-up.
# Where threads outnumber cores a round takes milliseconds: few of them.
foreach(case "--communicators one --sizes 0,1000,100k" "--communicators each --cache cold --sizes 1"
    "--communicators hints --places one --sizes 1000")
  string(REPLACE " " ";" words ${case})
  string(REPLACE " " "" name threads${case})
  add_test(NAME ${name} COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo> threads ${words}
    --threads 1,2 --queue 3 --calls 1 --budget 0.01 --min-repetitions 1 --max-repetitions 2
    --set-up 0 --stage 1)
endforeach()
launch(
  "partitioned --sizes 1,1Ki,64Ki --partitions 1,4"
  "partitioned --sizes 1,64Ki --partitions 1,4 --answer same"
  "partitioned --sizes 16Ki --partitions 8 --compute 0.2 --interleave yes"
  "datatypes --sizes 64,1Ki,64Ki"
  "datatypes --sizes 64,64Ki --start barrier --layout 16 --transfer typed"
  "startup")
