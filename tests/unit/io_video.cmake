# SPDX-License-Identifier: Apache-2.0
# Tests of the video module; included by tests/CMakeLists.txt. What needs the program ffmpeg says so
# and is skipped without it.
if(TARGET tamis_video AND CMOCKA_LIBRARY)
  foreach(name io_video_pixels)
    add_executable(${name}_test ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c
                                ${CMAKE_CURRENT_LIST_DIR}/io_video_support.c
                                ${CMAKE_CURRENT_LIST_DIR}/io_support.c)
    target_link_libraries(${name}_test PRIVATE tamis_io ${CMOCKA_LIBRARY} m)
    target_compile_definitions(${name}_test PRIVATE _XOPEN_SOURCE=700)
    set_target_properties(${name}_test PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_dependencies(${name}_test tamis_video)
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(
      ${name} PROPERTIES
      ENVIRONMENT "TAMIS_VIDEO_MODULE=$<TARGET_FILE:tamis_video>;\
LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/io_video_leaks.txt")
  endforeach()
endif()
