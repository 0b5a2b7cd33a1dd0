/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/devices.h"
#include "graph/device.h"

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

/* Rows of a device in the form of the CPU's, each made once. */
static const tamis_kernel *as_kernel(const tamis_gpu_kernel *row)
{
    static tamis_kernel kernels[MAX_ROWS];
    static const tamis_gpu_kernel *rows[MAX_ROWS];
    static int count;
    for (int i = 0; i < count; i++)
        if (rows[i] == row)
            return &kernels[i];
    if (count == MAX_ROWS)
        abort();
    rows[count] = row;
    kernels[count] =
        (tamis_kernel){.stage = row->stage, .type = row->type, .tolerance = row->tolerance};
    return &kernels[count++];
}

static const tamis_gpu_kernel *device_rows(tamis_ctx *ctx, const tamis_filter *filter)
{
    const tamis_backend *backend = ctx ? tamis_priv_devices_backend(ctx) : NULL;
    for (const tamis_gpu_filter *f = backend ? backend->filters : NULL; f && f->name; f++)
        if (strcmp(f->name, filter->name) == 0)
            return f->kernels;
    return NULL;
}

const tamis_kernel *check_row_find(const check_machine *machine, const tamis_filter *filter,
                                   const tamis_kernel *kernel, int index)
{
    unsigned cpu = check_cpu_bits[index];
    if (index == CHECK_CUDA) {
        const tamis_gpu_kernel *row = device_rows(machine->ctx[index][0], filter);
        while (row && row->stage &&
               (row->type != kernel->type || strcmp(row->stage, kernel->stage) != 0))
            row++;
        return row && row->stage ? as_kernel(row) : NULL;
    }
    for (int t = 0; filter->kernels[t]; t++)
        for (const tamis_kernel *k = filter->kernels[t]; k->fn; k++)
            if (k->cpu == cpu && k->type == kernel->type && strcmp(k->stage, kernel->stage) == 0)
                return k;
    return NULL;
}

const tamis_kernel *check_plan_kernel(const tamis_plan *plan)
{
    if (plan->count == 0)
        return NULL;
    return plan->device ? as_kernel(plan->device->kernels[0]) : plan->steps[0].kernel;
}

static int cpu_index(unsigned cpu)
{
    for (int i = 0; i < CHECK_CUDA; i++)
        if (check_cpu_bits[i] == cpu)
            return i;
    return -1;
}

/* Whether the row can be run here, and is among those asked for. */
static int is_usable(const check_machine *machine, int cpu)
{
    const char *wanted = machine->options->cpu;
    return cpu >= 0 && machine->ctx[cpu][0] &&
           (!wanted || strcmp(wanted, check_cpu_names[cpu]) == 0);
}

static int is_missing(const check_machine *machine, const tamis_kernel *kernel, int cpu)
{
    return is_usable(machine, cpu) && !was_chosen(kernel);
}

int check_rows_missing(const check_machine *machine, const tamis_filter *filter)
{
    for (int t = 0; filter->kernels[t]; t++)
        for (const tamis_kernel *k = filter->kernels[t]; k->fn; k++)
            if (is_missing(machine, k, cpu_index(k->cpu)))
                return 1;
    const tamis_gpu_kernel *rows = device_rows(machine->ctx[CHECK_CUDA][0], filter);
    for (const tamis_gpu_kernel *k = rows; k && k->stage; k++)
        if (is_missing(machine, as_kernel(k), CHECK_CUDA))
            return 1;
    return 0;
}

int check_rows_new(const check_machine *machine, const tamis_filter *filter,
                   const tamis_kernel *c_row)
{
    for (int cpu = 0; c_row && cpu < CHECK_CPUS; cpu++) {
        const tamis_kernel *row = check_row_find(machine, filter, c_row, cpu);
        if (row && is_missing(machine, row, cpu))
            return 1;
    }
    return 0;
}

static void report_row(check_machine *machine, const tamis_filter *filter,
                       const tamis_kernel *kernel, int cpu)
{
    if (cpu < 0 || !machine->ctx[cpu][0]) {
        printf("skipped: %s %s %s needs %s, which this CPU lacks\n", filter->name, kernel->stage,
               tamis_type_name(kernel->type), cpu < 0 ? "an unknown set" : check_cpu_names[cpu]);
        machine->counts.skipped++;
    } else if (!machine->options->part && is_missing(machine, kernel, cpu)) {
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
                report_row(machine, filter, k, cpu_index(k->cpu));
        const tamis_gpu_kernel *rows = device_rows(machine->ctx[CHECK_CUDA][0], filter);
        for (const tamis_gpu_kernel *k = rows; k && k->stage; k++)
            report_row(machine, filter, as_kernel(k), CHECK_CUDA);
    }
}
