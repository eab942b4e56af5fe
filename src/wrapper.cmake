# SPDX-License-Identifier: BSD-3-Clause
# Refuses an MPI's compiler that does not work by itself, before CMake asks it anything: CMake then
# names the wrapper to itself as the compiler below it, and Intel's call each other without end.
foreach(below I_MPI_CC MPICH_CC OMPI_CC)
  get_filename_component(name "$ENV{${below}}" NAME)
  if(name MATCHES "^mpi")
    message(FATAL_ERROR "${below}=$ENV{${below}} would have a wrapper call itself; unset it")
  endif()
endforeach()
get_filename_component(name "${CMAKE_C_COMPILER}" NAME)
if(name MATCHES "^mpi")
  file(WRITE "${CMAKE_BINARY_DIR}/wrapper.c"
    "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n")
  execute_process(
    COMMAND "${CMAKE_C_COMPILER}" "${CMAKE_BINARY_DIR}/wrapper.c" -o "${CMAKE_BINARY_DIR}/wrapper"
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${CMAKE_C_COMPILER} builds no MPI program; `make build` sets what it needs")
  endif()
endif()
