# SPDX-License-Identifier: BSD-3-Clause
# Several threads of a rank, messages made part by part, start-up.
# Few rounds, since a round takes milliseconds if threads outnumber cores.
set(few --threads 1,2 --queue 3 --calls 1 --budget 0.01 --min-repetitions 1 --max-repetitions 2
  --set-up 0 --stage 1)
launch(threads 2 "${few}"
  "threads --communicators one --sizes 0,1000,100k"
  "threads --communicators hints --places one --sizes 1000")
launch(threads-cold 2 "${few}" "threads --communicators each --cache cold --sizes 1")
launch(partitioned 2 "${bounds}"
  "partitioned --sizes 1,1Ki,64Ki --partitions 1,4"
  "partitioned --sizes 1,64Ki --partitions 1,4 --answer same"
  "partitioned --sizes 16Ki --partitions 8 --compute 0.2 --interleave yes")
launch(startup 2 "${bounds}" "startup")
