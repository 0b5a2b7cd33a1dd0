# SPDX-License-Identifier: Apache-2.0
# What is installed besides libraries and the command: headers, pkg-config files, a package for
# CMake's find_package(tamis); and Debian packages of it all (scripts/deb.sh).

configure_file(cmake/tamis.pc.in tamis.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tamis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT dev)
install(DIRECTORY include/tamis ${TAMIS_HEADER_DIR}/tamis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT dev FILES_MATCHING PATTERN "*.h" PATTERN io.h EXCLUDE PATTERN video.h EXCLUDE)

include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tamis-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/tamis-config.cmake ${CMAKE_BINARY_DIR}/tamis-config-version.cmake
        DESTINATION ${folder} COMPONENT dev)
install(EXPORT tamis-targets NAMESPACE tamis:: DESTINATION ${folder} COMPONENT dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tamis)
set(CPACK_PACKAGE_CONTACT "The tamis project <tamis@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "image and video filters, the same on every machine")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
foreach(module cuda video vips)
  if(TARGET tamis_${module})
    list(APPEND CPACK_COMPONENTS_ALL ${module})
  endif()
endforeach()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tamis)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "tamis-cuda, tamis-video, tamis-vips")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The command tamis and the libraries libtamis and libtamis-io.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, and files for pkg-config and CMake.")
set(CPACK_COMPONENT_CUDA_DESCRIPTION "Filters for NVIDIA GPUs; needs the driver alone.")
set(CPACK_COMPONENT_VIDEO_DESCRIPTION "Video files, by FFmpeg's libraries.")
set(CPACK_COMPONENT_VIPS_DESCRIPTION "Other picture formats, by libvips.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
foreach(part DEV CUDA VIDEO VIPS)
  set(CPACK_DEBIAN_${part}_PACKAGE_DEPENDS "tamis (= ${PROJECT_VERSION})")
endforeach()
include(CPack)
