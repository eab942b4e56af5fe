# SPDX-License-Identifier: BSD-3-Clause
# Both kernels in all variants: every launch verifies each result.
if(FFTW_FOUND)
  launch(
    "fft --log2 4,12 --way all --effort estimate"
    "fft --log2 10 --way all --direction backward --depth 5 --effort estimate"
    "fft --log2 12 --variant fused --chunk 4 --depth 1 --threads 2 --effort estimate"
    "fft --log2 12 --variant original --way alltoall --threads 3 --effort estimate")
else()
  launch("fft")
  set_tests_properties(fft PROPERTIES PASS_REGULAR_EXPRESSION "this build has no FFTW")
endif()
launch(
  "radix --keys 1,1000 --buffer 8,13,512"
  "radix --keys 777 --variant threaded --buffer 64"
  "radix --keys 777 --variant polled --buffer 8,13,512"
  "radix --keys 777 --variant polled-posted --buffer 64"
  "radix --keys 20k --variant alone --key 64 --digit 11")
launch(
  "radix --keys 3000 --distribution gaussian --key 64 --digit 11 --range 50"
  "radix --keys 3000 --distribution sorted --buffer 128"
  "radix --keys 3000 --distribution equal --buffer 128 --key 64"
  "radix --keys 3000 --distribution few --digit 3"
  "radix --keys 3000 --distribution gaussian --range 12 --variant split"
  "radix --keys 3000 --distribution gaussian --range 9 --variant split"
  "radix --keys 3000 --distribution equal --range 5 --variant split"
  "radix --keys 777 --distribution few --range 3 --variant split --key 64")
# On one rank nothing is sent, and the results are checked all the same.
foreach(case "fft --log2 8 --effort estimate" "radix --keys 5000 --buffer 64")
  string(REPLACE " " ";" words ${case})
  string(REPLACE " " "" name ${case})
  add_test(NAME one-${name} COMMAND ${COTEJO_MPIEXEC} -n 1 $<TARGET_FILE:cotejo> ${words})
endforeach()
if(NOT FFTW_FOUND)
  set_tests_properties(one-fft--log28--effortestimate PROPERTIES PASS_REGULAR_EXPRESSION "no FFTW")
endif()
if(NOT COTEJO_SANITIZE)
  add_test(NAME radix-runs COMMAND ${COTEJO_MPIEXEC} -n 2 $<TARGET_FILE:test_radix_runs>)
endif()
