/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the inputs for several machines or job-array tasks. */
#include <stdio.h>
#include <string.h>

#include "inputs.h"

int tool_shard_parse(const char *text, int *index, int *count)
{
    char end;
    return sscanf(text, "%9d/%9d%c", index, count, &end) == 2 && *index >= 1 && *index <= *count;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3; /* FNV-1a */
    return hash;
}

/* Of the name below the given folder, so that it does not matter where that is mounted. */
static uint64_t hash_of(const tool_file *file)
{
    uint64_t hash = 0xcbf29ce484222325;
    const char *name = file->in;
    if (file->sub) {
        const char *slash = strrchr(name, '/');
        hash = add_text(hash, file->sub);
        name = slash ? slash + 1 : name;
    }
    hash = add_text(hash, strncmp(name, "./", 2) == 0 ? name + 2 : name);
    /* FNV's high bits hardly know the last letters. */
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    return hash ^ hash >> 33;
}

void tool_files_shard(tool *t, tool_files *files)
{
    int index, count;
    size_t kept = 0;
    if (!t->options.shard || !tool_shard_parse(t->options.shard, &index, &count))
        return;
    for (size_t i = 0; i < files->count; i++) {
        tool_file *file = &files->items[i];
        if (hash_of(file) % (uint64_t)count == (uint64_t)index - 1)
            files->items[kept++] = *file;
        else
            tool_file_free(file);
    }
    tool_detail(t, "share %s: %zu of %zu files", t->options.shard, kept, files->count);
    files->count = kept;
}
