/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel tables of a filter as one list. */
#include "core/cpu.h"
#include "cpu/kernel.h"

int tamis_filter_kernel(const tamis_filter *filter, int index, tamis_kernel_info *out)
{
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
