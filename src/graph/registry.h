/* SPDX-License-Identifier: Apache-2.0 */
/* The list of built-in filters, generated from filters/filters.list; ended by NULL. */
#ifndef TAMIS_GRAPH_REGISTRY_H
#define TAMIS_GRAPH_REGISTRY_H

#include "cpu/kernel.h"

extern const tamis_filter *const tamis_priv_filters[];

#endif
