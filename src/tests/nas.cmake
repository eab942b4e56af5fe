# SPDX-License-Identifier: BSD-3-Clause
# Every NAS kernel by ranks and by threads: each run verifies itself by the published values.
add_executable(test_nas test_nas.c ../experiments/nas/measure.c ../experiments/nas/numbers.c ../experiments/nas/threads.c
  ../experiments/nas/mz_zone.c ../experiments/nas/mz_rhs.c ../experiments/nas/is_rank.c)
target_include_directories(test_nas PRIVATE ../experiments/nas ../experiments/kernels)
target_link_libraries(test_nas PRIVATE core m)
if(OpenMP_C_FOUND)
  target_link_libraries(test_nas PRIVATE OpenMP::OpenMP_C)
  set(nas_splits 2x1 1x2)
else()
  set(nas_splits 2x1)
endif()
add_test(NAME nas COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_nas>)
foreach(kernel ep is cg mg ft sp-mz bt-mz lu-mz)
  set(splits ${nas_splits})
  # More than the cores of the smallest machine, so few of them.
  if(OpenMP_C_FOUND AND kernel MATCHES "bt-mz|lu-mz")
    set(splits 2x2)
  elseif(OpenMP_C_FOUND AND NOT kernel MATCHES "ep|ft|sp-mz")
    list(APPEND splits 2x2)
  endif()
  foreach(split ${splits})
    string(REPLACE "x" ";" split_words ${split})
    list(GET split_words 0 ranks)
    list(GET split_words 1 threads)
    add_test(NAME nas-${kernel}-${split} COMMAND ${COTEJO_MPIEXEC} -n ${ranks}
      $<TARGET_FILE:cotejo> nas-${kernel} --class S --threads ${threads}
        --min-repetitions 1 --max-repetitions 1)
    set_tests_properties(nas-${kernel}-${split} PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
  endforeach()
endforeach()
# Iterations that threads take in any order give the same result.
if(OpenMP_C_FOUND)
  foreach(schedule dynamic guided)
    foreach(kernel cg mg sp-mz)
      add_test(NAME nas-${kernel}-${schedule} COMMAND ${COTEJO_MPIEXEC} -n 1
        $<TARGET_FILE:cotejo> nas-${kernel} --class S --threads 2 --schedule ${schedule} --chunk 4
          --min-repetitions 1 --max-repetitions 1)
      set_tests_properties(nas-${kernel}-${schedule} PROPERTIES
        ENVIRONMENT OMP_WAIT_POLICY=passive LABELS one_mpi)
    endforeach()
  endforeach()
endif()
