/* SPDX-License-Identifier: Apache-2.0 */
/* tamis doctor: what this machine and this build can do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tamis/video.h>

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

/* Why there is no device, in one sentence; empty where there is one. */
static void why_no_device(tool *t, char *buf, size_t size)
{
    *buf = '\0';
    if (tamis_device_count(t->ctx) > 0)
        return;
    tamis_ctx_last_message(t->ctx, buf, size);
    if (strncmp(buf, "cuda: ", 6) == 0) /* which is said by what stands before the text */
        memmove(buf, buf + 6, strlen(buf + 6) + 1);
}

static const char *cuda_version(int number, char *buf, size_t size)
{
    snprintf(buf, size, "%d.%d", number / 1000, number % 1000 / 10);
    return buf;
}

static json_t *json_devices(tool *t)
{
    json_t *list = json_array();
    for (int i = 0; i < tamis_device_count(t->ctx); i++) {
        tamis_device_info info;
        char device[16], capability[32], driver[32], runtime[32];
        if (tamis_device_describe(t->ctx, i, &info))
            continue;
        snprintf(device, sizeof(device), "cuda:%d", i);
        snprintf(capability, sizeof(capability), "%d.%d", info.major, info.minor);
        json_t *o = json_object();
        json_object_set_new(o, "device", json_string(device));
        json_object_set_new(o, "name", tool_json_text(info.name));
        json_object_set_new(o, "compute_capability", json_string(capability));
        json_object_set_new(o, "multiprocessors", json_integer(info.processors));
        json_object_set_new(o, "memory_bytes", json_integer((json_int_t)info.memory));
        json_object_set_new(o, "free_bytes", json_integer((json_int_t)info.free));
        json_object_set_new(o, "driver",
                            json_string(cuda_version(info.driver, driver, sizeof(driver))));
        json_object_set_new(o, "runtime",
                            json_string(cuda_version(info.runtime, runtime, sizeof(runtime))));
        char decodes[256];
        int does = tamis_video_device(i, decodes, sizeof(decodes));
        json_object_set_new(o, "video_decoders", does ? tool_json_text(decodes) : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

static void print_devices(tool *t)
{
    char why[512], driver[32], runtime[32];
    why_no_device(t, why, sizeof(why));
    if (*why)
        printf("CUDA           none: %s\n", why);
    if (tamis_device_count(t->ctx) > 1)
        printf("CUDA           %d devices; --device cuda:all uses all of one kind, cuda:0,1 the "
               "two first\n",
               tamis_device_count(t->ctx));
    for (int i = 0; i < tamis_device_count(t->ctx); i++) {
        tamis_device_info info;
        if (tamis_device_describe(t->ctx, i, &info))
            printf("cuda:%-9d %s\n", i, tamis_ctx_last_message(t->ctx, why, sizeof(why)));
        else
            printf("cuda:%-9d %s, compute capability %d.%d, %d multiprocessors, %.1f GiB of which "
                   "%.1f free; CUDA driver %s, runtime %s\n",
                   i, info.name, info.major, info.minor, info.processors,
                   (double)info.memory / (1 << 30), (double)info.free / (1 << 30),
                   cuda_version(info.driver, driver, sizeof(driver)),
                   cuda_version(info.runtime, runtime, sizeof(runtime)));
        int does = tamis_video_device(i, why, sizeof(why));
        printf("               decodes video: %s%s\n", does ? "" : "no, ", why);
    }
}

/* What both ways of printing tell. */
typedef struct facts {
    char model[256], libraries[256], video[320], vips[320];
    const char *wish;
    long online;
    int64_t memory;
} facts;

static int has_vips(const facts *f)
{
    return strncmp(f->vips, "libvips", 7) == 0;
}

static int print_json(tool *t, const facts *f)
{
    char why[512];
    why_no_device(t, why, sizeof(why));
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "cpu_model", tool_json_text(f->model));
    json_object_set_new(o, "cpu", json_string(tamis_ctx_cpu(t->ctx)));
    json_object_set_new(o, "tamis_cpu", tool_json_text(f->wish));
    json_object_set_new(o, "threads", json_integer(tamis_ctx_threads(t->ctx)));
    json_object_set_new(o, "cpus", json_integer(f->online));
    json_object_set_new(o, "memory_bytes", json_integer(f->memory));
    json_object_set_new(o, "filters", json_integer(tamis_filter_count()));
    json_object_set_new(o, "file_libraries", json_string(f->libraries));
    json_object_set_new(o, "video_libraries", tool_json_text(f->video));
    json_object_set_new(o, "vips", json_boolean(has_vips(f)));
    json_object_set_new(o, "vips_text", tool_json_text(f->vips));
    json_object_set_new(o, "cuda", json_boolean(!*why));
    json_object_set_new(o, "cuda_text", *why ? tool_json_text(why) : json_null());
    json_object_set_new(o, "devices", json_devices(t));
    return tool_json_print(t, o);
}

int cmd_doctor(tool *t)
{
    int code = tool_context(t);
    if (code)
        return code;
    facts f = {.wish = getenv("TAMIS_CPU"),
               .online = sysconf(_SC_NPROCESSORS_ONLN),
               .memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)};
    cpu_model(f.model, sizeof(f.model));
    tamis_io_libraries(f.libraries, sizeof(f.libraries));
    tamis_video_libraries(f.video, sizeof(f.video));
    tamis_vips_libraries(f.vips, sizeof(f.vips));
    if (t->options.json)
        return print_json(t, &f);
    printf("tamis          %s\n", tamis_version());
    printf("processor      %s, %ld CPUs\n", f.model, f.online);
    printf("instructions   %s in use%s%s\n", tamis_ctx_cpu(t->ctx), f.wish ? "; TAMIS_CPU=" : "",
           f.wish ? f.wish : "");
    printf("threads        %d\n", tamis_ctx_threads(t->ctx));
    printf("memory         %.1f GiB\n", (double)f.memory / (1 << 30));
    printf("filters        %d\n", tamis_filter_count());
    printf("file libraries %s\n", f.libraries);
    printf("video          %s\n", f.video);
    printf("other formats  %s%s\n", has_vips(&f) ? "" : "none: ", f.vips);
    print_devices(t);
    return TOOL_OK;
}
