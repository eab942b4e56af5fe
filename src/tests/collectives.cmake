# SPDX-License-Identifier: BSD-3-Clause
# Launches of the collective operations: their results are checked, times do not matter.

# COTEJO_WRONG names operations that this library is known to do wrong.
set(persistent persistent)
foreach(operation IN LISTS COTEJO_WRONG)
  string(APPEND persistent ",-${operation}")
endforeach()

# Only results are checked here: a start by the clocks would fail them on a busy machine.
set(unclocked "--sync none --start barrier")
# All-to-alls on a torus are left out: on a torus of two, both neighbours are one rank. Intel MPI
# assigns the two blocks of this rank in another order than Open MPI and MPICH.
set(under_each
  "--operation blocking --sizes 0,8,24,4096,64Ki"
  "--operation nonblocking --sizes 0,8,24,4096,64Ki --tests 2"
  "--operation blocking,nonblocking --counts ragged --root 1 --sizes 0,8,24,4096,64Ki"
  "--operation blocking,nonblocking --buffers in-place --sizes 0,8,24,4096,64Ki"
  "--operation blocking --buffers in-place --counts ragged --root 1 --sizes 0,8,24,64Ki"
  "--operation neighbor --topology grid --sizes 0,8,64Ki"
  "--operation neighbor_allgather,neighbor_allgatherv --topology torus --sizes 0,8,64Ki"
  "--operation bcast,ibcast --per-rank yes --report mpiperf --sizes 8")
set(others)
if(COTEJO_PERSISTENT)
  list(APPEND under_each "--operation ${persistent} --sizes 0,8,24,4096,64Ki"
    "--operation ${persistent} --buffers in-place --sizes 0,8,24,64Ki")
endif()
# The same with large counts, where there are such calls: no message need be large.
if(COTEJO_LARGE_COLLECTIVES)
  list(APPEND others
    "--operation blocking --count-type large --buffers in-place --sizes 8,64Ki"
    "--operation blocking,nonblocking,${persistent} --count-type large --sizes 0,8,24,64Ki"
    "--operation blocking --count-type large --counts ragged --root 1 --sizes 0,8,24,64Ki")
endif()
foreach(datatype contiguous vector indexed struct)
  set(case "--operation blocking,nonblocking --datatype ${datatype} --counts ragged --topology grid --root 1 --sizes 0,64,6400,64Ki ${unclocked} --transfer")
  list(APPEND under_each "${case} typed")
  list(APPEND others "${case} packed")
endforeach()
set(reductions reduce,allreduce,reduce_scatter,reduce_scatter_block,scan,exscan)
foreach(op sum prod max min land lor lxor band bor bxor minloc maxloc user compose)
  list(APPEND others "--operation ${reductions},ireduce_scatter,iscan --op ${op} --element int --root 1 --sizes 8,24,64Ki ${unclocked}")
endforeach()
foreach(element long float double)
  list(APPEND others "--operation ${reductions} --op user --element ${element} --sizes 8,24,64Ki ${unclocked}")
endforeach()
list(TRANSFORM under_each PREPEND "collective ")
list(TRANSFORM others PREPEND "collective ")
launch(collectives 2 "${brief}" ${under_each})
launch(collective-cold 2 "${brief}"
  "collective --operation bcast,ialltoall,alltoallw,allreduce --cache cold --sizes 8,64Ki")
list(APPEND others "collective --operation blocking --buffers in-place --op compose --element int --sizes 8,24"
  "collective --operation blocking --buffers in-place --cache cold --sizes 8,64Ki"
  "collective --operation blocking --buffers in-place --datatype vector --counts ragged --root 1 --sizes 64,6400 ${unclocked}")
launch(collective-options 2 "${brief}" ${others})

add_test(NAME memory COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo> memory --sizes 0,8,64Ki
  --calls 3)

launch(communicators 2 "${brief}" "communicators --groups 1" "communicators --groups 2"
  "communicators --start barrier --sync none")

# More ranks than cores: few calls, since ranks that wait by polling take each other's core.
list(GET COTEJO_MPIEXEC 0 launcher)
foreach(ranks 3 4)
  add_test(NAME collective-${ranks}-ranks COMMAND ${launcher} -n ${ranks} $<TARGET_FILE:cotejo>
    collective ${brief} --operation blocking --counts ragged --root 2 --sizes 24,4096
    --sync none --start barrier)
  add_test(NAME communicators-${ranks}-ranks COMMAND ${launcher} -n ${ranks} $<TARGET_FILE:cotejo>
    communicators ${brief} --groups 2 --sync none --start barrier)
  set_tests_properties(collective-${ranks}-ranks communicators-${ranks}-ranks PROPERTIES ENVIRONMENT
    "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe;OMPI_MCA_mpi_yield_when_idle=1;I_MPI_PIN=0")
endforeach()
