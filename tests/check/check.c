/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

const char *const check_cpu_names[CHECK_CPUS] = {"c", "base", "avx2", "avx512", "cuda"};
const unsigned check_cpu_bits[CHECK_CPUS] = {TAMIS_CPU_C, TAMIS_CPU_BASE, TAMIS_CPU_AVX2,
                                             TAMIS_CPU_AVX512, 0};
const int check_thread_counts[CHECK_THREAD_COUNTS] = {1, 2, 3, 8};

enum { SEEK = 10000 };

static const char usage[] =
    "usage: check [--filter NAME] [--cpu c|base|avx2|avx512|cuda] [--seed N] [--samples N]\n"
    "             [--only N] [--full] [--part] [--bench]\n"
    "Compares every kernel row with the plain C row on sampled parameters and pictures, and fails\n"
    "for rows that no sample reaches; with --part it does not, for few samples.\n";

static void parse_options(int argc, char **argv, check_options *o)
{
    static const struct option table[] = {{"filter", required_argument, NULL, 'f'},
                                          {"cpu", required_argument, NULL, 'c'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"samples", required_argument, NULL, 'n'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"full", no_argument, NULL, 'a'},
                                          {"part", no_argument, NULL, 'p'},
                                          {"bench", no_argument, NULL, 'b'},
                                          {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "", table, NULL)) != -1)
        switch (c) {
        case 'f':
            o->filter = optarg;
            break;
        case 'c':
            o->cpu = optarg;
            break;
        case 's':
            o->seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            o->samples = atoi(optarg);
            break;
        case 'o':
            o->only = atoi(optarg);
            break;
        case 'a':
            o->full = 1;
            break;
        case 'p':
            o->part = 1;
            break;
        case 'b':
            o->bench = 1;
            break;
        default:
            fputs(usage, stderr);
            exit(2);
        }
}

static void open_machine(check_machine *machine)
{
    for (int cpu = 0; cpu < CHECK_CPUS; cpu++)
        for (int t = 0; t < CHECK_THREAD_COUNTS; t++) {
            int cuda = cpu == CHECK_CUDA;
            tamis_ctx_options o = {.threads = check_thread_counts[t],
                                   .cpu = cuda ? NULL : check_cpu_names[cpu],
                                   .device = cuda ? "cuda" : "cpu"};
            tamis_status status = tamis_ctx_create(&o, &machine->ctx[cpu][t]);
            tamis_status lacks = cuda ? TAMIS_ERR_DEVICE : TAMIS_ERR_ARGUMENT;
            if (status != TAMIS_OK && (cpu == 0 || status != lacks)) {
                fprintf(stderr, "check: no context for %s\n", check_cpu_names[cpu]);
                exit(1);
            }
            const char *only = machine->options->cpu;
            if (!machine->ctx[cpu][t] && only && strcmp(only, check_cpu_names[cpu]) == 0) {
                fprintf(stderr, "check: this machine has no %s\n", only);
                exit(1);
            }
            if (machine->ctx[cpu][t])
                machine->bytes[cpu][t] = tamis_ctx_bytes(machine->ctx[cpu][t]);
        }
}

static void close_machine(check_machine *machine)
{
    for (int cpu = 0; cpu < CHECK_CPUS; cpu++)
        for (int t = 0; t < CHECK_THREAD_COUNTS; t++) {
            tamis_ctx **ctx = &machine->ctx[cpu][t];
            if (*ctx && tamis_ctx_bytes(*ctx) != machine->bytes[cpu][t]) {
                printf("FAIL: a context holds %zu bytes instead of %zu\n", tamis_ctx_bytes(*ctx),
                       machine->bytes[cpu][t]);
                machine->counts.failed++;
            }
            tamis_ctx_free(ctx);
        }
}

/* Whether there is a sample number i. Where few are wanted, more are drawn for the rows that those
 * have not reached. */
static int goes_on(check_machine *machine, const tamis_filter *filter, int i)
{
    const check_options *o = machine->options;
    machine->seeking = !o->full && o->only < 0 && i >= o->samples;
    return !machine->seeking || (!o->part && i < SEEK && check_rows_missing(machine, filter));
}

static void check_filter(check_machine *machine, const tamis_filter *filter)
{
    const check_options *o = machine->options;
    static check_sample sample;

    if (filter->params_size > sizeof sample.params) {
        printf("FAIL %s: more parameters than the harness holds\n", filter->name);
        machine->counts.failed++;
        return;
    }
    for (int i = o->only < 0 ? 0 : o->only; goes_on(machine, filter, i); i++) {
        if (!o->full)
            check_draw(machine, filter, i, &sample);
        else if (!check_enumerate(machine, filter, i, &sample))
            break;
        check_run(machine, &sample);
        if (o->only >= 0 || machine->counts.failed > 20)
            break;
    }
}

static int run_checks(check_machine *machine)
{
    const check_options *o = machine->options;
    const check_counts *n = &machine->counts;
    int found = 0;

    for (int i = 0; tamis_priv_filters[i]; i++)
        if (!o->filter || strcmp(o->filter, tamis_priv_filters[i]->name) == 0) {
            check_filter(machine, tamis_priv_filters[i]);
            found = 1;
        }
    if (!found) {
        fprintf(stderr, "check: there is no filter '%s'\n", o->filter ? o->filter : "");
        return 2;
    }
    if (o->only < 0)
        check_rows_report(machine);
    close_machine(machine);
    printf("%ld results compared; %ld samples were refused cleanly, %ld left out as too slow\n",
           n->compared, n->refused, n->costly);
    printf("%ld passed, %ld failed, %ld skipped\n", n->passed, n->failed, n->skipped);
    return n->failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    check_options options = {.seed = 1, .samples = 5000, .only = -1};
    check_machine machine = {.options = &options};
    int result = 0;

    parse_options(argc, argv, &options);
    open_machine(&machine);
    if (options.bench) {
        check_bench(&machine);
        close_machine(&machine);
    } else {
        result = run_checks(&machine);
    }
    return result;
}
