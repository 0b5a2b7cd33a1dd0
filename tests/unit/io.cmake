# SPDX-License-Identifier: Apache-2.0
# Tests of libtamis-io; included by tests/CMakeLists.txt.
if(TARGET tamis_io AND CMOCKA_LIBRARY)
  find_package(ZLIB REQUIRED)
  find_package(TIFF REQUIRED)
  find_package(JPEG REQUIRED)
  foreach(name io_roundtrip io_values io_meta io_bad io_place io_tiff io_jpeg
               io_read_part io_write_part io_video)
    add_executable(${name}_test ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c
                                ${CMAKE_CURRENT_LIST_DIR}/io_support.c)
    target_link_libraries(${name}_test PRIVATE tamis_io ${CMOCKA_LIBRARY} ZLIB::ZLIB
                                               TIFF::TIFF JPEG::JPEG)
    target_compile_definitions(${name}_test PRIVATE _XOPEN_SOURCE=700)
    set_target_properties(${name}_test PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name}_test)
  endforeach()
endif()
