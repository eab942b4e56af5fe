# SPDX-License-Identifier: BSD-3-Clause
# Launches of the collective operations: their results are checked, times do not matter.

set(brief --budget 0 --min-repetitions 1 --max-repetitions 1 --set-up 0 --stage 1 --warm-up 1
  --sync-share 1 --late 1)

function(add_collective name)
  add_test(NAME collective-${name} COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo>
    collective ${brief} ${ARGN})
endfunction()

# COTEJO_WRONG names operations that this library is known to do wrong.
set(persistent persistent)
foreach(operation IN LISTS COTEJO_WRONG)
  string(APPEND persistent ",-${operation}")
endforeach()

add_collective(blocking --operation blocking --sizes 0,8,24,4096,64Ki)
add_collective(nonblocking --operation nonblocking --sizes 0,8,24,4096,64Ki --tests 2)
if(COTEJO_PERSISTENT)
  add_collective(persistent --operation ${persistent} --sizes 0,8,24,4096,64Ki)
endif()
# The same with large counts, where there are such calls: no message need be large.
if(COTEJO_LARGE_COLLECTIVES)
  add_collective(large --operation blocking,nonblocking,${persistent} --count-type large
    --sizes 0,8,24,64Ki)
  add_collective(large-ragged --operation blocking --count-type large --counts ragged --root 1
    --sizes 0,8,24,64Ki)
endif()
add_collective(ragged --operation blocking,nonblocking --counts ragged --root 1
  --sizes 0,8,24,4096,64Ki)
add_collective(grid --operation neighbor --topology grid --sizes 0,8,64Ki)
# Not the all-to-alls: on a torus of two both neighbours are one rank, and which of its two blocks
# is which Intel MPI tells otherwise than Open MPI and MPICH.
add_collective(torus --operation neighbor_allgather,neighbor_allgatherv --topology torus
  --sizes 0,8,64Ki)
add_collective(cold --operation bcast,ialltoall,alltoallw,allreduce --cache cold --sizes 8,64Ki)
add_collective(per-rank --operation bcast,ibcast --per-rank yes --report mpiperf --sizes 8)
# What is checked here is results: a start by the clocks would fail them on a busy machine.
set(unclocked --sync none --start barrier)
foreach(datatype contiguous vector indexed struct)
  foreach(transfer typed packed)
    add_collective(${datatype}-${transfer} --operation blocking,nonblocking --datatype ${datatype}
      --transfer ${transfer} --counts ragged --topology grid --root 1 --sizes 0,64,6400,64Ki
      ${unclocked})
  endforeach()
endforeach()
set(reductions reduce,allreduce,reduce_scatter,reduce_scatter_block,scan,exscan)
foreach(op sum prod max min land lor lxor band bor bxor minloc maxloc user compose)
  add_collective(op-${op} --operation ${reductions},ireduce_scatter,iscan --op ${op} --element int
    --root 1 --sizes 8,24,64Ki ${unclocked})
endforeach()
foreach(element long float double)
  add_collective(element-${element} --operation ${reductions} --op user --element ${element}
    --sizes 8,24,64Ki ${unclocked})
endforeach()

add_test(NAME memory COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo> memory --sizes 0,8,64Ki
  --calls 3)

# More ranks than cores: few calls, since ranks that wait by polling take each other's core.
list(GET COTEJO_MPIEXEC 0 launcher)
foreach(ranks 3 4)
  add_test(NAME collective-${ranks}-ranks COMMAND ${launcher} -n ${ranks} $<TARGET_FILE:cotejo>
    collective ${brief} --operation blocking --counts ragged --root 2 --sizes 24,4096
    ${unclocked})
  set_tests_properties(collective-${ranks}-ranks PROPERTIES ENVIRONMENT
    "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe;OMPI_MCA_mpi_yield_when_idle=1;I_MPI_PIN=0")
endforeach()
