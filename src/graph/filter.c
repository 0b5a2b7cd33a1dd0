/* SPDX-License-Identifier: Apache-2.0 */
/* The list of filters, and what each says about itself. */
#include <string.h>

#include "core/cpu.h"
#include "graph/registry.h"

int tamis_filter_count(void)
{
    int n = 0;
    while (tamis_priv_filters[n])
        n++;
    return n;
}

const tamis_filter *tamis_filter_at(int index)
{
    return index >= 0 && index < tamis_filter_count() ? tamis_priv_filters[index] : NULL;
}

const tamis_filter *tamis_filter_find(const char *name)
{
    for (int i = 0; name && tamis_priv_filters[i]; i++)
        if (strcmp(tamis_priv_filters[i]->name, name) == 0)
            return tamis_priv_filters[i];
    return NULL;
}

const char *tamis_filter_name(const tamis_filter *filter)
{
    return filter ? filter->name : "";
}

const char *tamis_filter_brief(const tamis_filter *filter)
{
    return filter ? filter->brief : "";
}

const tamis_param *tamis_filter_params(const tamis_filter *filter, int *count)
{
    if (count)
        *count = filter ? filter->param_count : 0;
    return filter ? filter->params : NULL;
}

size_t tamis_filter_params_size(const tamis_filter *filter)
{
    return filter ? filter->params_size : 0;
}

unsigned tamis_filter_traits(const tamis_filter *filter)
{
    return filter ? filter->traits : 0;
}

int tamis_filter_min_inputs(const tamis_filter *filter)
{
    return filter ? 1 + filter->needs_guide : 0;
}

int tamis_filter_max_inputs(const tamis_filter *filter)
{
    return filter ? filter->max_inputs : 0;
}

int tamis_filter_kernel(const tamis_filter *filter, int index, tamis_kernel_info *out)
{
    if (!filter || !out)
        return 0;
    for (int t = 0; index >= 0 && filter->kernels[t]; t++) {
        for (const tamis_kernel *k = filter->kernels[t]; k->fn; k++) {
            if (index-- > 0)
                continue;
            *out =
                (tamis_kernel_info){k->stage, k->type, tamis_priv_cpu_name(k->cpu), k->tolerance};
            return 1;
        }
    }
    return 0;
}
