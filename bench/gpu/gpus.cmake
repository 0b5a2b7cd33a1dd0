# SPDX-License-Identifier: Apache-2.0
# gpus_bench: several GPUs beside one. bench/gpus.sh builds and runs it where there are some; here it
# is tried on emulated ones.
add_executable(gpus_bench EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/gpu/gpus_bench.c)
target_link_libraries(gpus_bench PRIVATE tamis_static)
set_target_properties(gpus_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
if(TARGET tamis_cuda_emulated)
  set_target_properties(gpus_bench PROPERTIES EXCLUDE_FROM_ALL OFF)
  add_test(NAME gpus_bench COMMAND gpus_bench --devices 3 --frame 40x22 --huge 50x40 --frames 22
                                   --rounds 1)
  set_tests_properties(gpus_bench PROPERTIES ENVIRONMENT
                       "TAMIS_CUDA_MODULE=${TAMIS_EMULATED};TAMIS_EMULATE_DEVICES=3")
endif()
