# SPDX-License-Identifier: BSD-3-Clause
# LogP, overlap and the eager limit.
foreach(blocking yes no)
  foreach(mode standard synchronous)
    add_test(NAME logp-${mode}-blocking-${blocking}
      COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo> logp --mode ${mode}
        --blocking ${blocking} --sizes 0,1,1000,100k --budget 0.01 --min-repetitions 3)
    foreach(pattern pingpong gap-send gap-receive)
      add_test(NAME overlap-${pattern}-${mode}-blocking-${blocking}
        COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo> overlap --pattern ${pattern}
          --mode ${mode} --blocking ${blocking} --sizes 0,1000,100k --steps 3 --budget 0.01
          --min-repetitions 3)
    endforeach()
  endforeach()
endforeach()
foreach(pattern local-send local-receive)
  add_test(NAME overlap-${pattern} COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo> overlap
    --pattern ${pattern} --sizes 0,1000,100k --compute 0,1000,10000 --budget 0.01
    --min-repetitions 3)
endforeach()
foreach(receiver polling idle)
  add_test(NAME eager-limit-${receiver} COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo>
    eager-limit --receiver ${receiver} --sizes 1:1Mi:x8 --window 0.002 --tries 1)
endforeach()
