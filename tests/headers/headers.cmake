# SPDX-License-Identifier: Apache-2.0
# Every public header must compile alone, as C11 and as C++.
file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/tamis/*.h)
foreach(name ${TAMIS_FILTERS})
  list(APPEND headers ${CMAKE_SOURCE_DIR}/filters/${TAMIS_FOLDER_${name}}/${name}.h)
endforeach()

find_program(TAMIS_CXX NAMES g++ c++ clang++)
if(NOT TAMIS_CXX)
  message(STATUS "Headers are not tried as C++: no compiler was found")
endif()

set(includes "")
foreach(dir ${TAMIS_PUBLIC_INCLUDES})
  list(APPEND includes -I${dir})
endforeach()
set(strict -fsyntax-only -Wall -Wextra -Wpedantic -Werror -include)

foreach(header ${headers})
  get_filename_component(name ${header} NAME_WE)
  add_test(NAME header_c_${name} COMMAND ${CMAKE_C_COMPILER} -std=c11 ${includes} ${strict}
           ${header} -x c ${CMAKE_CURRENT_SOURCE_DIR}/headers/alone.c)
  if(TAMIS_CXX)
    add_test(NAME header_cxx_${name} COMMAND ${TAMIS_CXX} -std=c++11 ${includes} ${strict}
             ${header} -x c++ ${CMAKE_CURRENT_SOURCE_DIR}/headers/alone.c)
  endif()
endforeach()
