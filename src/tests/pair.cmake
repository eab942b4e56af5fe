# SPDX-License-Identifier: BSD-3-Clause
# Ping-pong and ping-ping in every mode.
foreach(experiment pingpong pingping)
  foreach(mode standard synchronous buffered ready)
    foreach(blocking yes no)
      add_test(NAME ${experiment}-${mode}-blocking-${blocking}
        COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo> ${experiment} --mode ${mode}
          --blocking ${blocking} --sizes 0,1,1000,100k --budget 0.01 --min-repetitions 3)
    endforeach()
  endforeach()
  add_test(NAME ${experiment}-cold COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:cotejo>
    ${experiment} --cache cold --sizes 0,1,100k --budget 0.01 --min-repetitions 3)
endforeach()
