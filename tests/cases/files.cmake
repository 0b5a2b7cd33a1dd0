# SPDX-License-Identifier: Apache-2.0
# Fault cases that need files, driven through the command.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(TARGET tamis_command AND Python3_Interpreter_FOUND)
  add_test(NAME file_cases COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/file_cases.py
           $<TARGET_FILE:tamis_command>)
endif()
