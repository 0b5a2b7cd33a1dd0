# SPDX-License-Identifier: Apache-2.0
# A sanitizer's checks at every load keep the compiler from seeing that the networks' vectors live
# in registers: each of these files would take many minutes. What they read and write is still
# checked by the harness, which guards all rows with canaries.
if(TAMIS_SANITIZE)
  foreach(type u8 u16 s16 f32 plain)
    set_source_files_properties(filters/median/median_simd_${type}.c
                                PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
  endforeach()
endif()
