# SPDX-License-Identifier: Apache-2.0
if(TARGET unit_device_test)
  set_tests_properties(unit_device_test PROPERTIES SKIP_RETURN_CODE 77)
  if(TARGET tamis_cuda_emulated)
    add_dependencies(unit_device_test tamis_cuda_emulated)
    set_tests_properties(unit_device_test PROPERTIES
                         ENVIRONMENT TAMIS_CUDA_MODULE=${TAMIS_EMULATED})
  endif()
endif()
