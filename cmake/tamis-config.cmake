# SPDX-License-Identifier: Apache-2.0
# find_package(tamis): the targets tamis::tamis and, for files, tamis::io.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/tamis-targets.cmake)
