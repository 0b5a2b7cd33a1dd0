# SPDX-License-Identifier: Apache-2.0
# The command, driven from outside.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT TARGET tamis_command)
  message(STATUS "The command's tests are left out: the command is not built")
elseif(Python3_Interpreter_FOUND)
  add_test(NAME cli COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run.py
                            $<TARGET_FILE:tamis_command>)
  set_tests_properties(cli PROPERTIES TIMEOUT 300)
  if(TARGET tamis_cuda_emulated)
    set_tests_properties(cli PROPERTIES ENVIRONMENT TAMIS_EMULATED=${TAMIS_EMULATED})
  endif()
else()
  message(STATUS "The command's tests are left out: Python 3 was not found")
endif()
