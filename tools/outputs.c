/* SPDX-License-Identifier: Apache-2.0 */
/* Output names: from -o and the inputs' names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs.h"

/* A file name in parts; the strings are owned. */
typedef struct name_parts {
    char *dir, *stem, *ext;
} name_parts;

static name_parts split(const char *name)
{
    if (strcmp(name, "-") == 0)
        name = "stdin";
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    if (!dot || dot == base)
        dot = base + strlen(base);
    name_parts parts = {.ext = tool_copy_text(dot)};
    parts.stem = tool_print_text("%.*s", (int)(dot - base), base);
    if (!slash)
        parts.dir = tool_copy_text(".");
    else
        parts.dir = tool_print_text("%.*s", slash == name ? 1 : (int)(slash - name), name);
    return parts;
}

static void free_parts(name_parts *parts)
{
    free(parts->dir);
    free(parts->stem);
    free(parts->ext);
}

const char *tool_format_extension(const char *format)
{
    static const char *const table[][2] = {{"png", ".png"}, {"jpeg", ".jpg"}, {"tiff", ".tif"},
                                           {"pnm", ".pnm"}, {"pam", ".pam"},  {"pfm", ".pfm"},
                                           {"npy", ".npy"}, {"raw", ".raw"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(table[i][0], format) == 0)
            return table[i][1];
    }
    return "";
}

static char *join(char *text, const char *more, size_t length)
{
    size_t old = text ? strlen(text) : 0;
    text = tool_grow(text, old + length + 1);
    memcpy(text + old, more, length);
    text[old + length] = '\0';
    return text;
}

/* One {field}; text points behind the brace. NULL when there is no such field. */
static char *join_field(char *result, const char *text, size_t length, const name_parts *parts)
{
    const struct {
        const char *name;
        const char *value, *more;
    } fields[] = {{"dir", parts->dir, ""},
                  {"stem", parts->stem, ""},
                  {"ext", parts->ext, ""},
                  {"name", parts->stem, parts->ext}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (strlen(fields[i].name) != length || strncmp(text, fields[i].name, length) != 0)
            continue;
        result = join(result, fields[i].value, strlen(fields[i].value));
        return join(result, fields[i].more, strlen(fields[i].more));
    }
    free(result);
    return NULL;
}

/* Fills in a template; "{{" and "}}" stand for braces. NULL when it has an unknown field. */
static char *fill_template(const char *text, const name_parts *parts)
{
    char *result = tool_copy_text("");
    while (*text && result) {
        size_t plain = strcspn(text, "{}");
        result = join(result, text, plain);
        text += plain;
        if (*text && text[1] == *text) {
            result = join(result, text, 1);
            text += 2;
        } else if (*text == '{') {
            size_t length = strcspn(text + 1, "}");
            result = join_field(result, text + 1, length, parts);
            text += 1 + length + (text[1 + length] == '}');
        } else if (*text) {
            result = join(result, text++, 1);
        }
    }
    return result;
}

static int is_folder_name(const char *name)
{
    return name[strlen(name) - 1] == '/' || tool_is_folder(name);
}

/* The name of one result, or NULL with a message. */
static char *output_name(tool *t, const tool_file *file)
{
    const char *out = t->options.out;
    name_parts parts = split(file->in);
    if (t->options.format) {
        free(parts.ext);
        const char *usual = tool_format_extension(t->options.format);
        /* Other names of formats are extensions: "pgm", "jpg". */
        parts.ext = tool_print_text("%s%s", *usual ? usual : ".", *usual ? "" : t->options.format);
    }
    char *name;
    if (is_folder_name(out)) {
        size_t length = strlen(out);
        const char *slash = out[length - 1] == '/' ? "" : "/";
        name = tool_print_text("%s%s%s%s%s", out, slash, file->sub ? file->sub : "", parts.stem,
                               parts.ext);
    } else {
        name = fill_template(out, &parts);
        if (!name)
            tool_error(t,
                       "-o: '%s' has a field other than {dir} {stem} {ext} {name}; write {{ for "
                       "a brace",
                       out);
    }
    free_parts(&parts);
    return name;
}

static int check_out(tool *t, const tool_files *files)
{
    const char *out = t->options.out;
    if (t->options.crf >= 0 && t->options.quality) /* crf is NaN where it is not given */
        return tool_usage_error(t, "--crf and --quality exclude each other");
    if (t->options.in_place) {
        if (out)
            return tool_usage_error(t, "--in_place and -o exclude each other");
        return TOOL_OK;
    }
    if (!out || !*out)
        return tool_usage_error(t, "-o OUT is missing: a file, a folder, a template such as "
                                   "'{dir}/{stem}_out{ext}', or -");
    if (t->options.overwrite && t->options.skip_existing)
        return tool_usage_error(t, "--overwrite and --skip_existing exclude each other");
    if (strcmp(out, "-") == 0) {
        if (files->count > 1)
            return tool_usage_error(t, "-o -: %zu inputs do not fit on one standard output",
                                    files->count);
        if (t->options.json)
            return tool_usage_error(t, "-o - and --json both want standard output");
        if (isatty(STDOUT_FILENO))
            return tool_usage_error(t, "-o -: standard output is a terminal; redirect it");
        return TOOL_OK;
    }
    if (out[strlen(out) - 1] == '/' && !tool_is_folder(out)) {
        tool_error(t, "%s: there is no such folder to write to", out);
        return TOOL_WRITE;
    }
    if (tool_is_folder(out) && access(out, W_OK | X_OK) != 0) {
        tool_error(t, "%s: cannot write into the folder: %s", out, strerror(errno));
        return TOOL_WRITE;
    }
    if (files->count > 1 && !is_folder_name(out) && !strchr(out, '{'))
        return tool_usage_error(t,
                                "-o %s: %zu inputs but one output; give a folder or a template "
                                "such as '{dir}/{stem}_out{ext}'",
                                out, files->count);
    return TOOL_OK;
}

int tool_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The name with its folder made unmistakable, so that equal files have equal keys. */
static char *canonical(const char *name)
{
    name_parts parts = split(name);
    struct stat st;
    char *key;
    if (stat(parts.dir, &st) == 0)
        key = tool_print_text("%ju:%ju/%s%s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
                              parts.stem, parts.ext);
    else
        key = tool_copy_text(name);
    free_parts(&parts);
    return key;
}

int tool_same_place(const char *a, const char *b)
{
    char *x = canonical(a), *y = canonical(b);
    int same = strcmp(x, y) == 0 || tool_same_file(a, b);
    free(x);
    free(y);
    return same;
}

/* A name that a file goes by, sorted to find those that meet. */
typedef struct file_key {
    char *key; /* of the output */
    dev_t dev; /* of the input, 0 when there is none */
    ino_t ino;
    const tool_file *file;
} file_key;

static int by_output(const void *a, const void *b)
{
    return strcmp(((const file_key *)a)->key, ((const file_key *)b)->key);
}

static int by_input(const void *a, const void *b)
{
    const file_key *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static int check_outputs_differ(tool *t, file_key *keys, size_t count)
{
    qsort(keys, count, sizeof(*keys), by_output);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(keys[i - 1].key, keys[i].key) == 0)
            return tool_usage_error(t, "%s and %s would both be written to %s",
                                    keys[i - 1].file->in, keys[i].file->in, keys[i].file->out);
    }
    return TOOL_OK;
}

/* Two names of one file, a link and its aim, of which one is replaced while the other is read. */
static int is_replaced_twin(const file_key *a, const file_key *b)
{
    return a->dev == b->dev && a->ino == b->ino &&
           (tool_same_file(a->file->in, a->file->out) || tool_same_file(b->file->in, b->file->out));
}

/* An output may be its own input (and then needs --overwrite), but not that of another file. */
static int check_no_input_lost(tool *t, file_key *keys, size_t count)
{
    qsort(keys, count, sizeof(*keys), by_input);
    for (size_t i = 1; i < count; i++) {
        if (is_replaced_twin(&keys[i - 1], &keys[i]))
            return tool_usage_error(t, "%s and %s are the same file", keys[i - 1].file->in,
                                    keys[i].file->in);
    }
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        if (stat(keys[i].file->out, &st) != 0 ||
            tool_same_file(keys[i].file->in, keys[i].file->out))
            continue;
        file_key wanted = {.dev = st.st_dev, .ino = st.st_ino};
        const file_key *hit = bsearch(&wanted, keys, count, sizeof(*keys), by_input);
        if (hit)
            return tool_usage_error(t, "%s would be written over %s, which is an input, too",
                                    keys[i].file->in, hit->file->in);
    }
    return TOOL_OK;
}

static file_key *make_keys(const tool_files *files)
{
    file_key *keys = tool_alloc(files->count * sizeof(*keys));
    for (size_t i = 0; i < files->count; i++) {
        struct stat st = {0};
        if (stat(files->items[i].in, &st) != 0)
            st = (struct stat){0};
        keys[i] =
            (file_key){canonical(files->items[i].out), st.st_dev, st.st_ino, &files->items[i]};
    }
    return keys;
}

static void free_keys(file_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(keys[i].key);
    free(keys);
}

/* Marks files that were found and have the names of results of others: those of a run before. One
 * that would be replaced by its own result is an original. */
static size_t mark_results(tool *t, tool_files *files, char *marks)
{
    file_key *keys = make_keys(files);
    size_t marked = 0;
    qsort(keys, files->count, sizeof(*keys), by_input);
    for (size_t i = 0; i < files->count; i++) {
        tool_file *file = &files->items[i];
        struct stat st;
        if (stat(file->out, &st) != 0 || tool_same_file(file->in, file->out))
            continue;
        file_key wanted = {.dev = st.st_dev, .ino = st.st_ino};
        const file_key *hit = bsearch(&wanted, keys, files->count, sizeof(*keys), by_input);
        if (!hit || !hit->file->found || tool_same_file(hit->file->in, hit->file->out))
            continue;
        file->over_found = 1;
        if (marks[hit->file - files->items])
            continue;
        tool_detail(t, "%s: left out, it has the name of the result of %s", hit->file->in,
                    file->in);
        marks[hit->file - files->items] = 1;
        marked++;
    }
    free_keys(keys, files->count);
    return marked;
}

/* With --overwrite a name is not enough, for an original would be lost: only a manifest can tell.
 */
static void leave_out_results(tool *t, tool_files *files)
{
    if (t->options.overwrite && !t->options.resume)
        return;
    char *marks = tool_alloc(files->count);
    size_t kept = 0, marked = mark_results(t, files, marks);
    if (marked)
        tool_note(t, "%zu files left out, for they have the names of results%s", marked,
                  t->options.verbose ? "" : " (-v names them)");
    for (size_t i = 0; i < files->count; i++) {
        if (marks[i])
            tool_file_free(&files->items[i]);
        else
            files->items[kept++] = files->items[i];
    }
    files->count = kept;
    free(marks);
}

static int check_names(tool *t, const tool_files *files)
{
    if (files->count < 2)
        return TOOL_OK;
    file_key *keys = make_keys(files);
    int code = check_outputs_differ(t, keys, files->count);
    if (!code && (t->options.overwrite || t->options.in_place))
        code = check_no_input_lost(t, keys, files->count);
    free_keys(keys, files->count);
    return code;
}

/* What the file system says of an input; of standard input and what is missing nothing. */
static void look_at(tool_file *file)
{
    struct stat st;
    if (strcmp(file->in, "-") == 0 || stat(file->in, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    file->known = 1;
    file->size = (uint64_t)st.st_size;
    file->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

int tool_files_assign(tool *t, tool_files *files)
{
    int code = check_out(t, files);
    if (code)
        return code;
    for (size_t i = 0; i < files->count; i++) {
        tool_file *file = &files->items[i];
        look_at(file);
        if (t->options.in_place && strcmp(file->in, "-") == 0)
            return tool_usage_error(t, "--in_place: standard input has no place to write to");
        if (t->options.in_place || strcmp(t->options.out, "-") == 0)
            file->out = tool_copy_text(t->options.in_place ? file->in : "-");
        else
            file->out = output_name(t, file);
        if (!file->out)
            return TOOL_USAGE;
    }
    leave_out_results(t, files);
    for (size_t i = 0; i < files->count; i++) {
        code = tool_check_apart_options(t, t->options.in_place ? "--in_place" : "-o",
                                        files->items[i].out);
        if (code)
            return code;
    }
    return check_names(t, files);
}
