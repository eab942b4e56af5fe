# SPDX-License-Identifier: BSD-3-Clause
# Both payload and end of every other way in which two ranks exchange messages.
launch(
  "stream --sizes 0,1,1000,100k --perturb 3"
  "stream --sizes 1,100k --mode synchronous --blocking no --cache cold"
  "bandwidth --sizes 0,1,1000,100k --burst 0,1,7"
  "bandwidth --sizes 0,1,1000,100k --split parts --queue 1,2,6 --mode synchronous"
  "bandwidth --sizes 1,100k --queue 4 --cache cold"
  "bandwidth --sizes 1,7,100k --split parts --queue 1,8 --errors yes --start barrier"
  "exchange --sizes 0,1,1000,100k --patience 0.02"
  "exchange --sizes 1,100k --patience 0.02 --cache cold --interleave yes"
  # Of these sizes the blocking exchange can do none.
  "exchange --sizes 64Mi --patience 0.02 --adaptive 0.1 --primitive blocking"
  "pingpong --sizes 1:64Ki:x16 --adaptive 0.1 --mode ready"
  "pingpong --sizes 0,1,1000,100k --buffer one --cache cold"
  "pingping --sizes 1:64Ki:x16 --adaptive 0.1 --cache cold --mode buffered")

# After a common start, whose rules are others.
set(bounds --budget 0.01 --max-repetitions 20 --set-up 0 --sync-share 1 --late 1)
add_test(NAME alltoall-variants COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo>
  alltoall-variants --sizes 0,1,1000,100k ${bounds})
add_test(NAME alltoall-variants-cold COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo>
  alltoall-variants --sizes 1,100k --cache cold --start windows ${bounds})
