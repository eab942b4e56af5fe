# SPDX-License-Identifier: BSD-3-Clause
# Both payload and end of every other way in which two ranks exchange messages.
launch(streams 2 "${bounds}"
  "stream --sizes 0,1,1000,100k --perturb 3"
  "bandwidth --sizes 0,1,1000,100k --burst 0,1,7"
  "bandwidth --sizes 0,1,1000,100k --split parts --queue 1,2,6 --mode synchronous"
  "bandwidth --sizes 0,1,1000,100k --requests persistent --queue 1,4 --burst 0,7"
  "bandwidth --sizes 0,1,1000,100k --requests persistent --queue 1,4 --ways both --places one"
  "bandwidth --sizes 0,1,100k --requests persistent --queue 6 --split parts --mode synchronous")
launch(patterns 2 "${bounds}"
  "bandwidth --sizes 1,7,100k --split parts --queue 1,8 --errors yes --start barrier"
  "bandwidth --ways both --sizes 0,1,1000,100k --queue 1,4"
  "bandwidth --ways both --sizes 0,1,100k --queue 1,4 --places one"
  "bandwidth --ways both --split parts --sizes 0,1,1000,100k --queue 1,6"
  "fans --sizes 0,1,1000,100k --queue 1,3"
  "fans --sizes 0,1,1000,100k --direction in --start barrier"
  "datatypes --sizes 64,1Ki,64Ki"
  "datatypes --sizes 64,64Ki --start barrier --layout 16 --transfer typed")
launch(patterns-cold 2 "${bounds}"
  "stream --sizes 1,100k --mode synchronous --blocking no --cache cold"
  "bandwidth --sizes 1,100k --queue 4 --cache cold"
  "pingpong --sizes 0,1,1000,100k --buffer one --cache cold"
  "pingping --sizes 1:64Ki:x16 --adaptive 0.1 --cache cold --mode buffered"
  "pingping --cache cold --sizes 0,1,100k"
  "logp --sizes 1,100k --blocking yes --cache cold"
  "exchange --sizes 1,100k --patience 0.02 --cache cold --interleave yes")
# Exchanges may end with messages that are still under way.
launch(exchange 2 "${bounds}" "exchange --sizes 0,1,1000,100k --patience 0.02")
# The blocking exchange is not possible at this size.
launch(exchange-too-large 2 "${bounds}"
  "exchange --sizes 64Mi --patience 0.02 --adaptive 0.1 --primitive blocking")

# Launches with a common start, whose options are different.
set(started --budget 0.01 --max-repetitions 20 --set-up 0 --sync-share 1 --late 1)
launch(alltoall-variants 2 "${started}" "alltoall-variants --sizes 0,1,1000,100k"
  "alltoall-variants --way one-sided --sizes 0,1,1000,100k")
launch(alltoall-variants-cold 2 "${started}"
  "alltoall-variants --sizes 1,100k --cache cold --start windows")

launch(matrix 2 "${bounds}" "matrix --sizes 0,1,1000,100k"
  "matrix --sizes 8,1000 --start barrier --interleave yes")

# Faces of grids; four ranks are a square, with two neighbours each.
launch(stencil 2 "${brief}" "stencil --sizes 0,1,1000,100k --dimensions 1,2,3"
  "stencil --sizes 0,1000 --start barrier --sync none --interleave yes")
list(GET COTEJO_MPIEXEC 0 launcher)
foreach(ranks 4 6)
  add_test(NAME stencil-${ranks}-ranks COMMAND ${launcher} -n ${ranks} $<TARGET_FILE:cotejo>
    stencil ${brief} --sizes 8,4096 --sync none --start barrier)
  add_test(NAME matrix-${ranks}-ranks COMMAND ${launcher} -n ${ranks} $<TARGET_FILE:cotejo>
    matrix ${brief} --sizes 8,4096 --sync none --start barrier)
  set_tests_properties(stencil-${ranks}-ranks matrix-${ranks}-ranks PROPERTIES ENVIRONMENT
    "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe;OMPI_MCA_mpi_yield_when_idle=1;I_MPI_PIN=0")
endforeach()
