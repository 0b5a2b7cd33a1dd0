/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TAMIS_VERSION_H
#define TAMIS_VERSION_H

#define TAMIS_VERSION_MAJOR  0
#define TAMIS_VERSION_MINOR  1
#define TAMIS_VERSION_PATCH  0
#define TAMIS_VERSION_STRING "0.1.0"

#endif
