# SPDX-License-Identifier: Apache-2.0
# The CUDA module, tamis_cuda.so, which libtamis opens at run time: cuda/*.cu and the .cu files of
# filters. The same sources, compiled for the CPU by tests/emulate, serve where there is no GPU.

file(GLOB TAMIS_CUDA_SOURCES CONFIGURE_DEPENDS cuda/*.cu)
set(declarations "")
set(entries "")
set(TAMIS_CUDA_FILTERS "")
foreach(folder ${TAMIS_FILTER_FOLDERS})
  file(GLOB sources CONFIGURE_DEPENDS filters/${folder}/*.cu)
  list(APPEND TAMIS_CUDA_SOURCES ${sources})
  foreach(source ${sources})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^TAMIS_CUDA_KERNELS\\(")
    foreach(line ${lines})
      string(REGEX REPLACE "^TAMIS_CUDA_KERNELS\\(([a-z0-9_]+)\\).*" "\\1" name ${line})
      list(APPEND TAMIS_CUDA_FILTERS ${name})
      string(APPEND declarations "TAMIS_CUDA_KERNELS(${name});\n")
      string(APPEND entries "    {\"${name}\", ${name}_kernels_cuda},\n")
    endforeach()
  endforeach()
endforeach()
set(TAMIS_CUDA_LIST ${CMAKE_BINARY_DIR}/filters_cuda.cu)
file(CONFIGURE OUTPUT ${TAMIS_CUDA_LIST} CONTENT "/* Made from the .cu files of filters. */
#include \"backend.cuh\"

${declarations}
extern \"C\" const tamis_gpu_filter tamis_cuda_filters[] = {
${entries}    {nullptr, nullptr},
};
")
list(APPEND TAMIS_CUDA_SOURCES ${TAMIS_CUDA_LIST})

if(TAMIS_CUDA STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)
  set(build_cuda ${CMAKE_CUDA_COMPILER})
else()
  set(build_cuda ${TAMIS_CUDA})
endif()
if(NOT TAMIS_CUDA)
  message(STATUS "The CUDA module is left out: TAMIS_CUDA is ${TAMIS_CUDA}")
  return()
elseif(NOT build_cuda)
  message(STATUS "The CUDA module is left out: no nvcc that works was found")
  return()
endif()

set(CMAKE_CUDA_ARCHITECTURES ${TAMIS_CUDA_ARCHS})
enable_language(CUDA)
add_library(tamis_cuda MODULE ${TAMIS_CUDA_SOURCES})
set_target_properties(tamis_cuda PROPERTIES PREFIX "" CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON
                                            CUDA_RUNTIME_LIBRARY Static
                                            CUDA_VISIBILITY_PRESET hidden)
target_include_directories(tamis_cuda PRIVATE ${TAMIS_PUBLIC_INCLUDES} ${CMAKE_SOURCE_DIR}/src
                                              ${CMAKE_SOURCE_DIR}/cuda)
# Multiplications and additions are fused where the code says so and nowhere else, as on the CPU.
target_compile_options(tamis_cuda PRIVATE -fmad=false -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers)
if(TAMIS_WERROR)
  target_compile_options(tamis_cuda PRIVATE -Werror=all-warnings -Xcompiler=-Werror)
endif()
target_link_options(tamis_cuda PRIVATE -Wl,--exclude-libs,ALL)
install(TARGETS tamis_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tamis COMPONENT cuda)
include(bench/gpu/gpu.cmake)
