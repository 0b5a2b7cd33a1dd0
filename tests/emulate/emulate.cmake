# SPDX-License-Identifier: Apache-2.0
# The CUDA module compiled for the CPU, for tests where there is no GPU.
if(NOT TAMIS_EMULATE)
  return()
endif()
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "Tests of the CUDA kernels on the CPU are left out: no C++ compiler was found")
  return()
endif()
enable_language(CXX)

set(wrapped "")
foreach(source ${TAMIS_CUDA_SOURCES})
  get_filename_component(path ${source} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  get_filename_component(name ${source} NAME_WE)
  set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/emulate/${name}.cpp)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${path}\"\n")
  list(APPEND wrapped ${wrapper})
endforeach()
add_library(tamis_cuda_emulated MODULE ${wrapped} emulate/emulate.cpp emulate/runtime.cpp)
set_target_properties(tamis_cuda_emulated PROPERTIES PREFIX "" CXX_STANDARD 17
                      CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_compile_definitions(tamis_cuda_emulated PRIVATE TAMIS_EMULATE)
# Signed integers wrap on a GPU.
target_compile_options(tamis_cuda_emulated PRIVATE -fwrapv -U_FORTIFY_SOURCE -Wno-unused-function
                       -Wno-unknown-pragmas -Wno-shadow -Wno-pedantic -Wno-pass-failed -g1)
# Programs in C bring no part of the sanitizer that is for C++ alone.
if(TAMIS_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(tamis_cuda_emulated PRIVATE -fno-sanitize=function,vptr)
endif()
if(TAMIS_SANITIZE MATCHES "undefined") # as for vector kernels
  target_compile_options(tamis_cuda_emulated PRIVATE -fno-sanitize=null,pointer-overflow)
endif()
# With checks at every access, loops that are unrolled take minutes to compile.
if(TAMIS_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(tamis_cuda_emulated PRIVATE "SHELL:-mllvm -pragma-unroll-threshold=0")
endif()
target_include_directories(tamis_cuda_emulated PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/emulate
                           ${TAMIS_PUBLIC_INCLUDES} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/cuda)
set(TAMIS_EMULATED ${CMAKE_BINARY_DIR}/tests/tamis_cuda_emulated.so)

# A driver and a decoder of videos beside it.
find_path(NVCODEC_INCLUDE ffnvcodec/dynlink_cuviddec.h)
if(NVCODEC_INCLUDE)
  foreach(library driver decoder)
    add_library(emulated_${library} SHARED emulate/${library}.c)
    set_target_properties(emulated_${library} PROPERTIES PREFIX "" SUFFIX ".so.1"
                          C_VISIBILITY_PRESET default
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/driver)
  endforeach()
  set_target_properties(emulated_driver PROPERTIES OUTPUT_NAME libcuda)
  set_target_properties(emulated_decoder PROPERTIES OUTPUT_NAME libnvcuvid)
  target_include_directories(emulated_decoder SYSTEM PRIVATE ${NVCODEC_INCLUDE})
  add_dependencies(tamis_cuda_emulated emulated_driver emulated_decoder)
  set(TAMIS_EMULATED_DRIVER ${CMAKE_BINARY_DIR}/tests/driver)
else()
  message(STATUS "Tests of decoding on a GPU are left out: no headers of FFmpeg for it (Debian: "
                 "libffmpeg-nvenc-dev)")
endif()
