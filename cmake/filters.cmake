# SPDX-License-Identifier: Apache-2.0
# Filters: one folder each under filters/, or one for a family that shares its private files, listed
# as <name> or <folder>/<name> in filters/filters.list, which is the only registry.
# <name>.c and <name>_*.c are compiled plainly; <name>_simd*.c once per instruction set of the
# target, with TAMIS_ISA naming it. <name>.h is the public header, seen as <tamis/<name>.h>.

file(STRINGS filters/filters.list lines REGEX "^[a-z]")
set(TAMIS_FILTERS "")
set(TAMIS_FILTER_FOLDERS "")
foreach(line ${lines})
  get_filename_component(name ${line} NAME)
  string(REGEX REPLACE "/.*" "" folder ${line})
  list(APPEND TAMIS_FILTERS ${name})
  list(APPEND TAMIS_FILTER_FOLDERS ${folder})
  set(TAMIS_FOLDER_${name} ${folder})
endforeach()
list(REMOVE_DUPLICATES TAMIS_FILTER_FOLDERS)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS filters/filters.list)

set(TAMIS_ISAS "")
if(NOT TAMIS_SIMD)
  add_compile_definitions(TAMIS_NO_SIMD)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TAMIS_ISAS base avx2 avx512)
  set(TAMIS_FLAGS_base "")
  set(TAMIS_FLAGS_avx2 -march=x86-64-v3)
  set(TAMIS_FLAGS_avx512 -march=x86-64-v4 -mavx512vbmi -mavx512vbmi2 -mavx512vnni
                         -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(TAMIS_ISAS base)
  set(TAMIS_FLAGS_base "")
else()
  add_compile_definitions(TAMIS_NO_SIMD)
endif()

# Public headers as users see them: <tamis/gaussian.h>.
set(TAMIS_HEADER_DIR ${CMAKE_BINARY_DIR}/include)
set(TAMIS_PUBLIC_INCLUDES ${CMAKE_SOURCE_DIR}/include ${TAMIS_HEADER_DIR})

function(tamis_private_includes target)
  target_include_directories(${target} PRIVATE ${TAMIS_PUBLIC_INCLUDES} ${CMAKE_SOURCE_DIR}/src)
endfunction()

set(TAMIS_FILTER_SOURCES "")
set(TAMIS_SIMD_SOURCES "")
set(declarations "")
set(entries "")
foreach(name ${TAMIS_FILTERS})
  string(APPEND declarations "extern const tamis_filter tamis_priv_filter_${name};\n")
  string(APPEND entries "    &tamis_priv_filter_${name},\n")
  configure_file(filters/${TAMIS_FOLDER_${name}}/${name}.h ${TAMIS_HEADER_DIR}/tamis/${name}.h
                 COPYONLY)
endforeach()
foreach(folder ${TAMIS_FILTER_FOLDERS})
  file(GLOB sources CONFIGURE_DEPENDS filters/${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "_test\\.c$")
  set(simd ${sources})
  list(FILTER simd INCLUDE REGEX "_simd[a-z0-9_]*\\.c$")
  list(FILTER sources EXCLUDE REGEX "_simd[a-z0-9_]*\\.c$")
  list(APPEND TAMIS_FILTER_SOURCES ${sources})
  list(APPEND TAMIS_SIMD_SOURCES ${simd})
  include(filters/${folder}/${folder}.cmake OPTIONAL) # what its sources need of the build
endforeach()

# Engine files of that name are compiled per instruction set as well; there is always a base.
file(GLOB engine_simd CONFIGURE_DEPENDS src/*/*_simd.c)

set(TAMIS_SIMD_OBJECTS "")
foreach(isa base ${TAMIS_ISAS})
  if(TARGET tamis_simd_${isa})
    continue()
  endif()
  add_library(tamis_simd_${isa} OBJECT ${engine_simd})
  if(isa IN_LIST TAMIS_ISAS)
    target_sources(tamis_simd_${isa} PRIVATE ${TAMIS_SIMD_SOURCES})
  endif()
  tamis_private_includes(tamis_simd_${isa})
  target_compile_definitions(tamis_simd_${isa} PRIVATE TAMIS_ISA=${isa})
  # -g1: describing every variable of an unrolled network takes longer than compiling it.
  target_compile_options(tamis_simd_${isa} PRIVATE ${TAMIS_FLAGS_${isa}} -g1)
  if(TAMIS_SANITIZE MATCHES "undefined")
    # A check of every address for NULL and for wrapping makes compiling take five times as long;
    # the address sanitizer sees both.
    target_compile_options(tamis_simd_${isa} PRIVATE -fno-sanitize=null,pointer-overflow)
  endif()
  list(APPEND TAMIS_SIMD_OBJECTS $<TARGET_OBJECTS:tamis_simd_${isa}>)
endforeach()

set(TAMIS_ALL_C ${CMAKE_BINARY_DIR}/filters_all.c)
file(CONFIGURE OUTPUT ${TAMIS_ALL_C} CONTENT "/* Made from filters/filters.list. */
#include \"graph/registry.h\"

${declarations}
const tamis_filter *const tamis_priv_filters[] = {
${entries}    NULL,
};
")
