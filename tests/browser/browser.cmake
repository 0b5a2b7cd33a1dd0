# SPDX-License-Identifier: Apache-2.0
# Pages in a browser without a window. Chromium is 400 MB, so "make test" does not install it: the
# test says that it is skipped where Chromium or Playwright (PyPI) is not there.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(TARGET tamis_command AND Python3_Interpreter_FOUND)
  add_test(NAME browser COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/pages.py
                                $<TARGET_FILE:tamis_command>)
  set_tests_properties(browser PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
