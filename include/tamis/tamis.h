/* SPDX-License-Identifier: Apache-2.0 */
/* tamis: image and video filtering. This header brings in the public API of libtamis;
 * the parameters of a filter, for those who fill them in from C, are in <tamis/FILTER.h>.
 * File reading and writing is a library of its own: see <tamis/io.h>. */
#ifndef TAMIS_H
#define TAMIS_H

#include <tamis/core.h>
#include <tamis/device.h>
#include <tamis/estimate.h>
#include <tamis/filter.h>
#include <tamis/graph.h>
#include <tamis/image.h>
#include <tamis/metrics.h>
#include <tamis/parts.h>
#include <tamis/preset.h>
#include <tamis/stream.h>
#include <tamis/threads.h>
#include <tamis/version.h>

#endif
