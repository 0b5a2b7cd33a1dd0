/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "graph/plan.h"

enum { MAX_ROWS = 4096 };
static const tamis_kernel *chosen[MAX_ROWS];
static int chosen_count;

static int was_chosen(const tamis_kernel *kernel)
{
    for (int i = 0; i < chosen_count; i++)
        if (chosen[i] == kernel)
            return 1;
    return 0;
}

void check_row_chosen(const tamis_kernel *kernel)
{
    if (!was_chosen(kernel) && chosen_count < MAX_ROWS)
        chosen[chosen_count++] = kernel;
}

const tamis_kernel *check_row_find(const tamis_filter *filter, const tamis_kernel *kernel,
                                   unsigned cpu)
{
    for (int t = 0; filter->kernels[t]; t++)
        for (const tamis_kernel *k = filter->kernels[t]; k->fn; k++)
            if (k->cpu == cpu && k->type == kernel->type && strcmp(k->stage, kernel->stage) == 0)
                return k;
    return NULL;
}

const tamis_kernel *check_plan_kernel(const tamis_plan *plan)
{
    return plan->count > 0 ? plan->steps[0].kernel : NULL;
}

static int cpu_index(unsigned cpu)
{
    for (int i = 0; i < CHECK_CPUS; i++)
        if (check_cpu_bits[i] == cpu)
            return i;
    return -1;
}

static void report_row(check_machine *machine, const tamis_filter *filter,
                       const tamis_kernel *kernel)
{
    int cpu = cpu_index(kernel->cpu);
    const char *wanted = machine->options->cpu;

    if (cpu < 0 || !machine->ctx[cpu][0]) {
        printf("skipped: %s %s %s needs %s, which this CPU lacks\n", filter->name, kernel->stage,
               tamis_type_name(kernel->type), cpu < 0 ? "an unknown set" : check_cpu_names[cpu]);
        machine->counts.skipped++;
    } else if (!was_chosen(kernel) && (!wanted || strcmp(wanted, check_cpu_names[cpu]) == 0)) {
        printf("FAIL %s %s %s %s: no sample chose this row\n", filter->name, kernel->stage,
               tamis_type_name(kernel->type), check_cpu_names[cpu]);
        machine->counts.failed++;
    }
}

void check_rows_report(check_machine *machine)
{
    const char *wanted = machine->options->filter;

    for (int f = 0; tamis_priv_filters[f]; f++) {
        const tamis_filter *filter = tamis_priv_filters[f];
        if (wanted && strcmp(wanted, filter->name) != 0)
            continue;
        for (int t = 0; filter->kernels[t]; t++)
            for (const tamis_kernel *k = filter->kernels[t]; k->fn; k++)
                report_row(machine, filter, k);
    }
}
