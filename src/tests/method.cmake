# SPDX-License-Identifier: BSD-3-Clause
# Synchronisation, barrier and the checks of the method.
foreach(method linear ring hierarchical two-level)
  add_test(NAME sync-${method}
    COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_sync> --sync ${method}
      --inject-offset 0.003 --inject-drift 1e-5 --sync-again 1e-6)
endforeach()
# The common clock of a host; and a drift that only shows after the baseline.
foreach(method two-level hierarchical)
  add_test(NAME sync-common-clock-${method}
    COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_sync> --sync ${method} --sync-again 1e-6)
endforeach()
# More ranks than cores, so they yield their cores.
list(GET COTEJO_MPIEXEC 0 launcher)
add_test(NAME sync-two-hosts-4-ranks
  COMMAND ${launcher} -n 4 $<TARGET_FILE:test_sync> --sync two-level --ranks-of-host 2
    --sync-again 1e-6 --sync-baseline 0.001 --sync-points 12 --bound 0.1 --wait 0.01)
set_tests_properties(sync-two-hosts-4-ranks PROPERTIES ENVIRONMENT
  "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe;OMPI_MCA_mpi_yield_when_idle=1;I_MPI_PIN=0")
add_test(NAME sync-late-drift
  COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_sync> --sync hierarchical --sync-again 1e-6
    --sync-baseline 0.001 --sync-points 12 --inject-drift 1e-5)
add_test(NAME barrier COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_barrier>)
set(cases)
foreach(start windows round-time barrier mpi-barrier loop)
  list(APPEND cases "waitpattern-up --start ${start} --per-rank yes")
endforeach()
launch(method 2 "" ${cases} "waitpattern-null --budget 0.02" "start-skew --budget 0.02")
launch(systematic-errors 2 "" "systematic-errors --budget 0.02")
add_test(NAME fold COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_fold>)
add_test(NAME delay COMMAND ${COTEJO_MPIEXEC} -n 1 $<TARGET_FILE:test_delay>)
