# SPDX-License-Identifier: BSD-3-Clause
# Both kernels in all variants: every launch verifies each result.
if(FFTW_FOUND)
  if(OpenMP_C_FOUND)
    set(two "--threads 2")
    set(three "--threads 3")
  else()
    launch(fft-threads 2 "" "fft --log2 8 --threads 2 --effort estimate")
    set_tests_properties(fft-threads PROPERTIES
      PASS_REGULAR_EXPRESSION "this build has no OpenMP")
  endif()
  launch(fft 2 "${bounds}"
    "fft --log2 4,12 --way all --effort estimate"
    "fft --log2 12 --variant fused --chunk 4 --depth 1 ${two} --effort estimate"
    "fft --log2 12 --variant original --way alltoall ${three} --effort estimate"
    "fft --log2 10 --way all --direction backward --depth 5 --effort estimate")
  # On one rank nothing is sent, and the results are checked all the same.
  launch(one-fft 1 "" "fft --log2 8 --effort estimate")
else()
  launch(fft 2 "" "fft")
  set_tests_properties(fft PROPERTIES PASS_REGULAR_EXPRESSION "this build has no FFTW")
endif()
launch(one-radix 1 "" "radix --keys 5000 --buffer 64")
launch(radix-variants 2 "${bounds}"
  "radix --keys 777 --variant threaded --buffer 64"
  "radix --keys 1,1000 --buffer 8,13,512"
  "radix --keys 777 --variant polled --buffer 8,13,512"
  "radix --keys 777 --variant polled-posted --buffer 64"
  "radix --keys 20k --variant alone --key 64 --digit 11"
  "radix --keys 3000 --distribution gaussian --key 64 --digit 11 --range 50"
  "radix --keys 3000 --distribution sorted --buffer 128"
  "radix --keys 3000 --distribution equal --buffer 128 --key 64"
  "radix --keys 3000 --distribution few --digit 3"
  "radix --keys 3000 --distribution gaussian --range 12 --variant split"
  "radix --keys 3000 --distribution gaussian --range 9 --variant split"
  "radix --keys 3000 --distribution equal --range 5 --variant split"
  "radix --keys 777 --distribution few --range 3 --variant split --key 64")
if(NOT COTEJO_SANITIZE)
  add_test(NAME radix-runs COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_radix_runs>)
endif()
