# SPDX-License-Identifier: Apache-2.0
# Programs that time tamis and NPP on a GPU: targets gpu_bench and, where the toolkit has NPP,
# npp_bench. Neither is part of "all". bench/gpu.sh builds and runs them.
find_package(CUDAToolkit REQUIRED)

function(tamis_gpu_bench name source)
  set_source_files_properties(bench/gpu/${source} PROPERTIES LANGUAGE CUDA)
  add_executable(${name} EXCLUDE_FROM_ALL bench/gpu/${source})
  set_target_properties(${name} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON
                                           CUDA_RUNTIME_LIBRARY Static)
  target_compile_options(${name} PRIVATE -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers)
  target_link_libraries(${name} PRIVATE Threads::Threads ${ARGN})
endfunction()

tamis_gpu_bench(gpu_bench gpu_bench.cu tamis)
add_dependencies(gpu_bench tamis_cuda)
if(TARGET CUDA::nppif)
  tamis_gpu_bench(npp_bench npp_bench.cpp CUDA::nppif CUDA::nppig CUDA::nppist CUDA::nppidei
                  CUDA::nppc)
endif()
