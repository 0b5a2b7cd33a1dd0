# SPDX-License-Identifier: Apache-2.0
# What is installed works from where it is installed. Sanitizers' runtimes are no matter of ours.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG AND TARGET tamis_command AND TARGET tamis_texts AND NOT TAMIS_SANITIZE)
  add_test(NAME install COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/run.sh ${CMAKE_BINARY_DIR}
                                ${CMAKE_C_COMPILER})
endif()
