/* SPDX-License-Identifier: Apache-2.0 */
/* The version: the build (CMakeLists.txt) takes it from here. */
#ifndef TAMIS_VERSION_H
#define TAMIS_VERSION_H

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0

/* "major.minor.patch" */
#define TAMIS_VERSION_STRING                                                                       \
    TAMIS_VERSION_TEXT(TAMIS_VERSION_MAJOR)                                                        \
    "." TAMIS_VERSION_TEXT(TAMIS_VERSION_MINOR) "." TAMIS_VERSION_TEXT(TAMIS_VERSION_PATCH)
#define TAMIS_VERSION_TEXT(number)  TAMIS_VERSION_TEXT_(number)
#define TAMIS_VERSION_TEXT_(number) #number

#endif
