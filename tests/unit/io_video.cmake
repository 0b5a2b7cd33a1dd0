# SPDX-License-Identifier: Apache-2.0
# Tests of the video module; included by tests/CMakeLists.txt. What needs the program ffmpeg says so
# and is skipped without it.
if(TARGET tamis_video AND CMOCKA_LIBRARY)
  foreach(name io_video_pixels io_video_tracks io_video_damage)
    add_executable(${name}_test ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c
                                ${CMAKE_CURRENT_LIST_DIR}/io_video_support.c
                                ${CMAKE_CURRENT_LIST_DIR}/io_support.c)
    target_link_libraries(${name}_test PRIVATE tamis_io ${CMOCKA_LIBRARY} m)
    target_compile_definitions(${name}_test PRIVATE _XOPEN_SOURCE=700)
    if(TAMIS_SANITIZE MATCHES "thread")
      target_compile_definitions(${name}_test PRIVATE TEST_VIDEO_THREADS=1)
    endif()
    set_target_properties(${name}_test PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_dependencies(${name}_test tamis_video)
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(
      ${name} PROPERTIES
      ENVIRONMENT "TAMIS_VIDEO_MODULE=$<TARGET_FILE:tamis_video>;\
LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/io_video_leaks.txt;\
TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/io_video_races.txt")
  endforeach()
endif()
