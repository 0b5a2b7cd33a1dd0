/* SPDX-License-Identifier: Apache-2.0 */
#include "serve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pictures beyond this are read by parts, where their files allow it. */
#define WHOLE_BYTES  ((size_t)512 << 20)
#define KEPT_BYTES   ((size_t)1 << 30)
#define VIEW_SIDE    2048
#define LEAST_SIDE   128
#define MOST_UPLOADS 16
#define MOST_LOADED  64 /* some of them with open files */

void live_store_open(live_store *store, tool *t)
{
    size_t limit = t->options.max_memory;
    *store = (live_store){.tool = t, .budget = limit ? limit / 2 : KEPT_BYTES};
    pthread_mutex_init(&store->mutex, NULL);
}

static void unload(live_picture *p)
{
    for (int level = 0; level < LIVE_LEVELS; level++)
        tamis_image_unref(&p->small[level]);
    tool_picture_close(&p->picture);
    p->loaded = 0;
}

static void free_picture(live_picture *p)
{
    if (!p)
        return;
    unload(p);
    if (p->uploaded)
        unlink(p->path);
    pthread_mutex_destroy(&p->mutex);
    free(p->path);
    free(p->name);
    free(p);
}

void live_store_close(live_store *store)
{
    for (size_t i = 0; i < store->count; i++)
        free_picture(store->items[i]);
    free(store->items);
    if (store->page)
        unlink(store->page);
    if (store->folder)
        rmdir(store->folder);
    free(store->page);
    free(store->folder);
    pthread_mutex_destroy(&store->mutex);
}

/* Uploads that nobody looks at go when there are many. Called with the mutex held. */
static void drop_uploads(live_store *store)
{
    size_t uploads = 0;
    for (size_t i = store->count; i-- > 0;) {
        live_picture *p = store->items[i];
        if (!p || !p->uploaded || ++uploads <= MOST_UPLOADS || p->users > 0)
            continue;
        free_picture(p);
        store->items[i] = NULL;
    }
}

size_t live_store_add(live_store *store, const char *path, const char *name, int uploaded)
{
    live_picture *p = tool_alloc(sizeof(*p));
    p->path = tool_copy_text(path);
    p->name = tool_copy_text(name);
    p->uploaded = uploaded;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_mutex_lock(&store->mutex);
    store->items = tool_grow(store->items, (store->count + 1) * sizeof(*store->items));
    size_t number = p->number = store->count++;
    store->items[number] = p;
    drop_uploads(store);
    pthread_mutex_unlock(&store->mutex);
    return number;
}

/* The folder, which is this user's only, made when it is needed; NULL when it cannot be. */
static const char *need_folder(live_store *store)
{
    pthread_mutex_lock(&store->mutex);
    if (!store->folder) {
        const char *place = getenv("TMPDIR");
        store->folder = tool_print_text("%s/tamis-live-XXXXXX", place && *place ? place : "/tmp");
        if (!mkdtemp(store->folder)) {
            free(store->folder);
            store->folder = NULL;
        }
    }
    const char *folder = store->folder;
    pthread_mutex_unlock(&store->mutex);
    return folder;
}

const char *live_store_page(live_store *store, const char *url)
{
    const char *folder = need_folder(store);
    if (!folder || store->page)
        return NULL;
    store->page = tool_print_text("%s/open.html", folder);
    int fd = open(store->page, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return NULL;
    fprintf(file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>tamis</title>\n"
            "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
            "<a href=\"%s\">tamis</a>\n",
            url, url);
    return fclose(file) ? NULL : store->page;
}

char *live_store_hide(live_store *store, const char *text)
{
    pthread_mutex_lock(&store->mutex);
    const char *folder = store->folder;
    pthread_mutex_unlock(&store->mutex);
    const char *at = folder ? strstr(text, folder) : NULL;
    if (!at)
        return tool_copy_text(text);
    const char *rest = at + strlen(folder);
    rest += strcspn(rest, ": '");
    return tool_print_text("%.*sthe file%s", (int)(at - text), text, rest);
}

FILE *live_store_upload(live_store *store, char **path)
{
    const char *folder = need_folder(store);
    if (!folder)
        return NULL;
    *path = tool_print_text("%s/XXXXXX", folder);
    int fd = mkstemp(*path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file)
        free(*path);
    return file;
}

/* The level at which the longer side is VIEW_SIDE at most. */
static int level_to_view(const tamis_file_info *info)
{
    int32_t longer = info->w > info->h ? info->w : info->h;
    int level = 0;
    while (level < LIVE_LEVELS - 1 && (longer - 1) >> level >= VIEW_SIDE)
        level++;
    return level;
}

static int32_t side_at(int32_t side, int level)
{
    return (int32_t)(((int64_t)side + (1 << level) - 1) >> level);
}

/* Small copies for previews, each from the one before; the first is the image at its level. */
static tamis_status shrink(tool *t, live_picture *p, int level)
{
    const tamis_file_info *info = &p->picture.info;
    tamis_status status = TAMIS_OK;
    tamis_image *from = &p->picture.image;
    if (level > 0) {
        p->small[level] = *from;
        tamis_image_ref(from);
    }
    while (!status && ++level < LIVE_LEVELS && (from->w > LEAST_SIDE || from->h > LEAST_SIDE)) {
        status = tool_scaled(t, from, side_at(info->w, level), side_at(info->h, level),
                             &p->small[level]);
        from = &p->small[level];
    }
    return status;
}

static tamis_status load(tool *t, live_picture *p)
{
    tamis_status status = tool_picture_open(t, p->path, &p->picture);
    if (status)
        return status;
    size_t limit = t->options.max_memory;
    int whole = tool_picture_bytes(&p->picture) <= (limit ? limit / 4 : WHOLE_BYTES);
    int level = level_to_view(&p->picture.info);
    status = tool_picture_load(t, &p->picture, whole, side_at(p->picture.info.w, level),
                               side_at(p->picture.info.h, level));
    if (!status)
        status = shrink(t, p, p->picture.whole ? 0 : level);
    p->load++;
    if (!status)
        tool_window_choose(t, NULL, &p->picture.image, &p->picture.window);
    if (!status && p->picture.whole)
        tamis_reader_close(&p->picture.reader); /* so many files may be open */
    return status;
}

static size_t image_bytes(const tamis_image *image)
{
    return (size_t)image->w * (size_t)image->h * (size_t)image->format.channels *
           tamis_type_size(image->format.type);
}

/* In memory: all of it, where it is, and its small copies. */
static size_t picture_bytes(const live_picture *p)
{
    size_t bytes = p->picture.whole ? image_bytes(&p->picture.image) : 0;
    for (int level = 1; level < LIVE_LEVELS; level++)
        bytes += p->small[level].w ? image_bytes(&p->small[level]) : 0;
    return bytes;
}

/* Those that were looked at least lately leave memory. Called with the mutex held. */
static void drop_idle(live_store *store, const live_picture *keep)
{
    for (;;) {
        live_picture *oldest = NULL;
        size_t bytes = 0, loaded = 0;
        for (size_t i = 0; i < store->count; i++) {
            live_picture *p = store->items[i];
            if (!p || !p->loaded)
                continue;
            loaded++;
            bytes += picture_bytes(p);
            if (p->users == 0 && p != keep && (!oldest || p->used < oldest->used))
                oldest = p;
        }
        if ((bytes <= store->budget && loaded <= MOST_LOADED) || !oldest)
            return;
        unload(oldest);
    }
}

live_picture *live_store_take(live_store *store, tool *t, size_t number, tamis_status *status)
{
    *status = TAMIS_OK;
    pthread_mutex_lock(&store->mutex);
    live_picture *p = number < store->count ? store->items[number] : NULL;
    if (p) {
        p->users++;
        p->used = ++store->clock;
    }
    pthread_mutex_unlock(&store->mutex);
    if (!p)
        return NULL;
    pthread_mutex_lock(&p->mutex);
    int fresh = !p->loaded; /* only a user, whom we are, may load or unload it */
    if (fresh) {
        *status = load(t, p);
        if (*status)
            unload(p);
    }
    pthread_mutex_lock(&store->mutex);
    p->loaded = !*status;
    if (fresh)
        drop_idle(store, p);
    pthread_mutex_unlock(&store->mutex);
    pthread_mutex_unlock(&p->mutex);
    if (!*status)
        return p;
    live_store_give(store, p);
    return NULL;
}

void live_store_give(live_store *store, live_picture *picture)
{
    pthread_mutex_lock(&store->mutex);
    picture->users--;
    pthread_mutex_unlock(&store->mutex);
}

json_t *live_store_list(live_store *store)
{
    json_t *list = json_array();
    pthread_mutex_lock(&store->mutex);
    for (size_t i = 0; i < store->count; i++) {
        if (!store->items[i])
            continue;
        json_t *o = json_object();
        json_object_set_new(o, "id", json_integer((json_int_t)i));
        json_object_set_new(o, "name", tool_json_text(store->items[i]->name));
        json_array_append_new(list, o);
    }
    pthread_mutex_unlock(&store->mutex);
    return list;
}
