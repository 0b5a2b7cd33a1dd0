/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "option_value.h"

struct tool_manifest {
    pthread_mutex_t mutex;
    int fd, cut; /* cut: 1 after a line that was not written whole */
    char *path;
    tool_recipe recipe;
};

char *tool_absolute(const char *name)
{
    size_t cut = strlen(name);
    char *real = NULL;
    do { /* up to a folder that is there */
        while (cut > 0 && name[cut - 1] == '/')
            cut--;
        while (cut > 0 && name[cut - 1] != '/')
            cut--;
        char *folder = cut ? tool_print_text("%.*s", (int)cut, name) : tool_copy_text(".");
        real = realpath(folder, NULL);
        free(folder);
    } while (!real && cut > 0);
    size_t length = real ? strlen(real) : 0;
    char *whole = tool_print_text("%s%s%s", real ? real : "",
                                  length && real[length - 1] != '/' ? "/" : "", name + cut);
    free(real);
    return whole;
}

char *tool_path_beside(const char *name, const char *ending)
{
    const char *slash = strrchr(name, '/');
    int folder = slash ? (int)(slash + 1 - name) : 0;
    return tool_print_text("%.*s.%s.%s", folder, name, name + folder, ending);
}

/* ---- what results depend on */

static char *add_text(char *text, const char *name, const char *value)
{
    char *longer = tool_print_text("%s%s%s=%s", text, *text ? " " : "", name, value);
    free(text);
    return longer;
}

static tool_recipe make_recipe(const tool *t, const tamis_graph *graph)
{
    tool_recipe recipe = {tool_graph_text(graph), tool_copy_text("")};
    for (const tool_option *o = tool_option_table; o->name; o++) {
        char *value = o->groups & TOOL_GROUP_RESULT ? tool_option_text(o, &t->options) : NULL;
        if (value)
            recipe.options = add_text(recipe.options, o->name, value);
        free(value);
    }
    struct stat st;
    if (t->options.guide && stat(t->options.guide, &st) == 0) {
        char *when = tool_print_text("%jd:%jd.%09ld", (intmax_t)st.st_size,
                                     (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        recipe.options = add_text(recipe.options, "guide_state", when);
        free(when);
    }
    return recipe;
}

static void free_recipe(tool_recipe *recipe)
{
    free(recipe->chain);
    free(recipe->options);
}

/* ---- lines */

/* Names are bytes, JSON is UTF-8: where they differ the bytes follow in hexadecimal. */
static void set_name(json_t *o, const char *key, const char *name)
{
    char *whole = tool_absolute(name);
    json_t *text = json_string(whole);
    json_object_set_new(o, key, text ? json_incref(text) : tool_json_text(whole));
    if (!text) {
        char *hex = tool_alloc(2 * strlen(whole) + 1), *hex_key = tool_print_text("%s_hex", key);
        for (size_t i = 0; whole[i]; i++)
            snprintf(hex + 2 * i, 3, "%02x", (unsigned char)whole[i]);
        json_object_set_new(o, hex_key, json_string(hex));
        free(hex);
        free(hex_key);
    }
    json_decref(text);
    free(whole);
}

static json_t *now_as_text(void)
{
    struct timespec now;
    struct tm utc;
    char text[64];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + n, sizeof(text) - n, ".%06ldZ", now.tv_nsec / 1000);
    return json_string(text);
}

static json_t *new_line(const tool_manifest *m, const tool_file *file, const char *outcome)
{
    json_t *o = json_object();
    set_name(o, "input", file->in);
    json_object_set_new(o, "size", json_integer((json_int_t)file->size));
    json_object_set_new(o, "mtime_ns", json_integer(file->mtime_ns));
    json_object_set_new(o, "chain", tool_json_text(m->recipe.chain));
    json_object_set_new(o, "options", tool_json_text(m->recipe.options));
    json_object_set_new(o, "version", json_string(tamis_version()));
    set_name(o, "output", file->out);
    json_object_set_new(o, "outcome", json_string(outcome));
    json_object_set_new(o, "time", now_as_text());
    return o;
}

/* One call of write() for a line, so that one that is cut off is the last; should there be another
 * one nonetheless, it begins on a line of its own. */
static int write_line(tool_manifest *m, json_t *o)
{
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    int error = 0;
    pthread_mutex_lock(&m->mutex);
    char *line = tool_print_text("%s%s\n", m->cut ? "\n" : "", text);
    size_t done = 0, size = strlen(line);
    while (done < size && !error) {
        ssize_t n = write(m->fd, line + done, size - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            error = errno;
    }
    m->cut = done > 0 ? done < size : m->cut;
    pthread_mutex_unlock(&m->mutex);
    free(line);
    free(text);
    json_decref(o);
    return error;
}

int tool_manifest_begin(tool_manifest *manifest, const tool_file *file)
{
    return manifest ? write_line(manifest, new_line(manifest, file, "started")) : 0;
}

int tool_manifest_end(tool_manifest *manifest, const tool_file *file, const tool_report *report)
{
    static const char *const outcomes[] = {"done", "skipped", "planned", "failed"};
    struct stat st;
    if (!manifest || report->code == TOOL_INTERRUPTED)
        return 0;
    json_t *o = new_line(manifest, file, outcomes[report->outcome]);
    if (report->outcome == TOOL_DONE && stat(file->out, &st) == 0)
        json_object_set_new(o, "output_size", json_integer(st.st_size));
    if (report->chain)
        json_object_set_new(o, "chosen", tool_json_text(report->chain));
    if (report->message || report->loss)
        json_object_set_new(o, "message",
                            tool_json_text(report->message ? report->message : report->loss));
    return write_line(manifest, o);
}

/* ---- the file */

/* FILE, or a file in the folder for results, or a hidden one beside the only result; with --shard
 * each share has its own. Owned; NULL with a message when there is no place for it. */
static char *place_of(tool *t, const tool_files *files)
{
    const tool_options *o = &t->options;
    const char *only = files->count == 1 ? files->items[0].out : "-";
    char *path;
    if (o->manifest) {
        path = tool_copy_text(o->manifest);
    } else if (o->out && *o->out && tool_is_folder(o->out)) {
        path = tool_print_text("%s%stamis-manifest.jsonl", o->out,
                               o->out[strlen(o->out) - 1] == '/' ? "" : "/");
    } else if (strcmp(only, "-") != 0) {
        path = tool_path_beside(only, "tamis-manifest.jsonl");
    } else {
        tool_usage_error(t,
                         "--resume: -o is no folder with a manifest in it; give --manifest FILE");
        return NULL;
    }
    return path;
}

/* Where this share writes: I-of-N stands before the extension. */
static char *place_of_share(const tool *t, const char *path)
{
    int index, count;
    if (!t->options.shard || !tool_shard_parse(t->options.shard, &index, &count))
        return tool_copy_text(path);
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash))
        dot = path + strlen(path);
    return tool_print_text("%.*s.%d-of-%d%s", (int)(dot - path), path, index, count, dot);
}

static int fail_open(tool *t, const char *path, const char *what)
{
    tool_error(t, "%s: cannot %s the manifest: %s", path, what, strerror(errno));
    return TOOL_WRITE;
}

/* After a line that was cut off the next one begins on a line of its own. */
static int end_last_line(int fd)
{
    char last = '\n';
    off_t size = lseek(fd, 0, SEEK_END);
    if (size > 0 && pread(fd, &last, 1, size - 1) != 1)
        return -1;
    return last == '\n' || write(fd, "\n", 1) == 1 ? 0 : -1;
}

static int open_file(tool *t, const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*fd < 0)
        return fail_open(t, path, "write");
    /* File systems without locks have to do without. */
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(*fd);
        tool_error(t, "%s: another run is writing this manifest", path);
        return TOOL_WRITE;
    }
    return TOOL_OK;
}

static int check_options(tool *t, const tool_files *files)
{
    const tool_options *o = &t->options;
    for (size_t i = 0; o->resume && i < files->count; i++) {
        const tool_file *file = &files->items[i];
        if (o->in_place || tool_same_file(file->in, file->out))
            return tool_usage_error(t,
                                    "%s: --resume needs results beside the inputs: of files that "
                                    "are replaced by theirs it cannot be told which are done",
                                    file->in);
    }
    if (o->resume && o->skip_existing)
        return tool_usage_error(t, "--resume and --skip_existing exclude each other");
    return TOOL_OK;
}

/* Of files that have the name of a result only those that a run before has written are replaced. */
static int check_originals(tool *t, const tool_files *files)
{
    for (size_t i = 0; t->options.overwrite && i < files->count; i++) {
        const tool_file *file = &files->items[i];
        if (file->over_found && !file->ours)
            return tool_usage_error(t, "%s would be written over %s, which is an input, too",
                                    file->in, file->out);
    }
    return TOOL_OK;
}

static int start(tool *t, tool_manifest *m, const char *path, tool_files *files)
{
    int code = t->options.dry_run ? TOOL_OK : open_file(t, m->path, &m->fd);
    if (code)
        return code;
    if (t->options.resume) {
        size_t done = tool_resume(t, &m->recipe, path, files);
        if (done)
            tool_note(t, "%zu of %zu files are done already", done, files->count);
        code = check_originals(t, files);
        if (code)
            return code;
    }
    if (m->fd >= 0 && end_last_line(m->fd) != 0)
        return fail_open(t, m->path, "write");
    return TOOL_OK;
}

int tool_manifest_open(tool *t, const tamis_graph *graph, tool_files *files, tool_manifest **out)
{
    *out = NULL;
    if (!t->options.manifest && !t->options.resume)
        return TOOL_OK;
    int code = check_options(t, files);
    char *path = code ? NULL : place_of(t, files);
    if (!path)
        return TOOL_USAGE;
    tool_manifest *m = tool_alloc(sizeof(*m));
    *m =
        (tool_manifest){.fd = -1, .path = place_of_share(t, path), .recipe = make_recipe(t, graph)};
    pthread_mutex_init(&m->mutex, NULL);
    code = tool_check_apart_files(t, "--manifest", m->path, files);
    if (!code)
        code = start(t, m, path, files);
    if (code || t->options.dry_run)
        tool_manifest_close(&m);
    free(path);
    *out = m;
    return code;
}

void tool_manifest_close(tool_manifest **manifest)
{
    tool_manifest *m = *manifest;
    if (!m)
        return;
    if (m->fd >= 0)
        close(m->fd);
    pthread_mutex_destroy(&m->mutex);
    free(m->path);
    free_recipe(&m->recipe);
    free(m);
    *manifest = NULL;
}

const char *tool_manifest_path(const tool_manifest *manifest)
{
    return manifest->path;
}

char *tool_manifest_recipe(const tool_manifest *m, const tool_file *file)
{
    char *name = tool_absolute(file->in);
    char *text = tool_print_text("%s, %llu bytes of %lld ns, %s, %s, %s", name,
                                 (unsigned long long)file->size, (long long)file->mtime_ns,
                                 m->recipe.chain, m->recipe.options, tamis_version());
    free(name);
    return text;
}
