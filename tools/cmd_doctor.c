/* SPDX-License-Identifier: Apache-2.0 */
/* tamis doctor: what this machine and this build can do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "tool.h"

/* The processor's name as Linux tells it; "unknown" elsewhere. */
static void cpu_model(char *buf, size_t size)
{
    snprintf(buf, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(buf, size, "%s", colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

static const char CUDA_TEXT[] = "not part of this build: pictures are filtered on the CPU";

int cmd_doctor(tool *t)
{
    int code = tool_context(t);
    if (code)
        return code;
    char model[256], libraries[256];
    cpu_model(model, sizeof(model));
    tamis_io_libraries(libraries, sizeof(libraries));
    const char *wish = getenv("TAMIS_CPU");
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (t->options.json) {
        json_t *o = tool_json_new(t);
        json_object_set_new(o, "cpu_model", tool_json_text(model));
        json_object_set_new(o, "cpu", json_string(tamis_ctx_cpu(t->ctx)));
        json_object_set_new(o, "tamis_cpu", tool_json_text(wish));
        json_object_set_new(o, "threads", json_integer(tamis_ctx_threads(t->ctx)));
        json_object_set_new(o, "cpus", json_integer(online));
        json_object_set_new(o, "memory_bytes", json_integer(memory));
        json_object_set_new(o, "filters", json_integer(tamis_filter_count()));
        json_object_set_new(o, "file_libraries", json_string(libraries));
        json_object_set_new(o, "cuda", json_false());
        json_object_set_new(o, "cuda_text", json_string(CUDA_TEXT));
        return tool_json_print(t, o);
    }
    printf("tamis          %s\n", tamis_version());
    printf("processor      %s, %ld CPUs\n", model, online);
    printf("instructions   %s in use%s%s\n", tamis_ctx_cpu(t->ctx), wish ? "; TAMIS_CPU=" : "",
           wish ? wish : "");
    printf("threads        %d\n", tamis_ctx_threads(t->ctx));
    printf("memory         %.1f GiB\n", (double)memory / (1 << 30));
    printf("filters        %d\n", tamis_filter_count());
    printf("file libraries %s\n", libraries);
    printf("CUDA           %s\n", CUDA_TEXT);
    return TOOL_OK;
}
