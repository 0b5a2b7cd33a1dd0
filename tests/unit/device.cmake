# SPDX-License-Identifier: Apache-2.0
foreach(name device_test device_context_test device_size_test devices_test many_test repeat_test
             stream_test)
  if(TARGET unit_${name})
    set_tests_properties(unit_${name} PROPERTIES SKIP_RETURN_CODE 77)
    if(TARGET tamis_cuda_emulated)
      add_dependencies(unit_${name} tamis_cuda_emulated)
      set_tests_properties(unit_${name} PROPERTIES
                           ENVIRONMENT TAMIS_CUDA_MODULE=${TAMIS_EMULATED})
    endif()
  endif()
endforeach()
