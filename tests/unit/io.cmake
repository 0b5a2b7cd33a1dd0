# SPDX-License-Identifier: Apache-2.0
# Tests of libtamis-io; included by tests/CMakeLists.txt.
if(TARGET tamis_io)
  find_package(ZLIB REQUIRED)
  find_library(CMOCKA_LIBRARY cmocka REQUIRED)
  foreach(name io_roundtrip io_values io_meta io_bad io_place)
    add_executable(${name}_test ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c
                                ${CMAKE_CURRENT_LIST_DIR}/io_support.c)
    target_link_libraries(${name}_test PRIVATE tamis_io ${CMOCKA_LIBRARY} ZLIB::ZLIB)
    target_compile_definitions(${name}_test PRIVATE _XOPEN_SOURCE=700)
    add_test(NAME ${name} COMMAND ${name}_test)
  endforeach()
endif()
