/* SPDX-License-Identifier: Apache-2.0 */
/* Runs like the one before: memory that lies where it did, and launches as graphs. */
#include <stdio.h>
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "graph/device_session.h"

/* Frames that need more take so long that launches are nothing beside. */
#define ROOM_BYTES ((size_t)128 << 20)
/* A single launch costs no more than a graph's; and one that was captured pays after some. */
enum { LEAST_NODES = 2, PAYING_LAUNCHES = 8 };

/* ---- memory */

/* Whether a free block serves is decided by itself alone, and of several the first is taken: so a
 * run after one that found room has blocks of the same addresses, whatever others were added. */
static int serves(const struct tamis_room_block *b, size_t size)
{
    return !b->used && size <= b->size && b->size / 2 <= size;
}

static int keep(tamis_room *room, void *data, size_t size)
{
    if (room->full || room->block_count == TAMIS_ROOM_BLOCKS || size > ROOM_BYTES - room->bytes)
        return 0;
    room->blocks[room->block_count++] =
        (struct tamis_room_block){.data = data, .size = size, .used = 1};
    room->bytes += size;
    return 1;
}

tamis_status tamis_priv_room_alloc(tamis_session *s, size_t size, void **out)
{
    tamis_room *room = s->room;
    for (int i = 0; room && i < room->block_count; i++)
        if (serves(&room->blocks[i], size)) {
            room->blocks[i].used = 1;
            *out = room->blocks[i].data;
            return TAMIS_OK;
        }
    if (room && room->capturing) {
        snprintf(s->fault.text, sizeof s->fault.text, "its memory lies elsewhere");
        return TAMIS_ERR_DEVICE;
    }
    TAMIS_TRY(s->device->backend->alloc(s->device->gpu, s->stream, size, out, &s->fault));
    if (room && !keep(room, *out, size))
        room->full = 1;
    return TAMIS_OK;
}

void tamis_priv_room_free(tamis_session *s, void *data)
{
    tamis_room *room = s->room;
    for (int i = 0; room && i < room->block_count; i++)
        if (room->blocks[i].data == data) {
            room->blocks[i].used = 0;
            return;
        }
    s->device->backend->free(s->device->gpu, s->stream, data);
}

/* ---- walks */

static int is_same_held(const tamis_held *a, const tamis_held *b)
{
    return a->count == b->count && a->next == b->next &&
           memcmp(&a->planes, &b->planes, sizeof a->planes) == 0 &&
           tamis_format_equal(a->format, b->format) && tamis_priv_rect_is_same(a->box, b->box) &&
           tamis_priv_rect_is_same(a->there, b->there);
}

static int is_same_walk(const tamis_walk *a, const tamis_walk *b)
{
    return is_same_held(&a->src, &b->src) && is_same_held(&a->guide, &b->guide) &&
           is_same_held(&a->dst, &b->dst) && tamis_priv_rect_is_same(a->rect, b->rect);
}

/* The walk's place; NULL: it has none. */
static struct tamis_room_graph *find(tamis_room *room, const tamis_walk *walk)
{
    for (int i = 0; i < TAMIS_ROOM_GRAPHS; i++)
        if (room->graphs[i].turn && is_same_walk(&room->graphs[i].walk, walk))
            return &room->graphs[i];
    return NULL;
}

static void forget(const struct tamis_device_plan *d, struct tamis_room_graph *g)
{
    if (g->graph)
        d->backend->graph_free(d->gpu, g->graph);
    *g = (struct tamis_room_graph){0};
}

/* In the place of the one that was not used for the longest time. Where graphs go before they have
 * paid, images are too many. */
static void note(tamis_session *s, const tamis_walk *walk)
{
    tamis_room *room = s->room;
    struct tamis_room_graph *g = &room->graphs[0];
    for (int i = 1; i < TAMIS_ROOM_GRAPHS; i++)
        if (room->graphs[i].turn < g->turn)
            g = &room->graphs[i];
    if (g->graph && g->launches < PAYING_LAUNCHES)
        room->plain = 1;
    forget(s->device, g);
    g->walk = *walk;
    g->turn = ++room->turn;
}

/* Sets g->graph, or if that cannot be, room->plain. */
static void capture(tamis_session *s, struct tamis_room_graph *g, tamis_launch_function *launch,
                    void *user)
{
    const tamis_backend *backend = s->device->backend;
    tamis_gpu *gpu = s->device->gpu;
    tamis_room *room = s->room;
    room->plain = 1;
    if (backend->capture_begin(gpu, s->stream, &s->fault) != TAMIS_OK)
        return;
    room->capturing = 1;
    tamis_status status = launch(s, user);
    room->capturing = 0;
    if (backend->capture_end(gpu, s->stream, LEAST_NODES, &g->graph, &s->fault) != TAMIS_OK)
        return;
    if (status != TAMIS_OK && g->graph) {
        backend->graph_free(gpu, g->graph);
        g->graph = NULL;
    }
    room->plain = !g->graph;
}

tamis_status tamis_priv_room_run(tamis_session *s, const tamis_walk *walk,
                                 tamis_launch_function *launch, void *user)
{
    tamis_room *room = s->room;
    struct tamis_room_graph *g = find(room, walk);
    if (tamis_priv_device_stopped(s))
        return TAMIS_OK;
    if (!g) {
        tamis_status status = launch(s, user);
        if (status == TAMIS_OK && !room->plain && !tamis_priv_device_stopped(s))
            note(s, walk); /* all memory that it wants is there */
        return status;
    }
    g->turn = ++room->turn;
    if (!g->graph && !room->plain)
        capture(s, g, launch, user);
    if (!g->graph)
        return launch(s, user);
    g->launches++;
    return s->device->backend->graph_launch(s->device->gpu, s->stream, g->graph, &s->fault);
}

/* ---- the end */

static void clear(const struct tamis_device_plan *device, tamis_room *room, void *stream)
{
    for (int i = 0; i < TAMIS_ROOM_GRAPHS; i++)
        forget(device, &room->graphs[i]);
    for (int i = 0; i < room->block_count; i++)
        device->backend->free(device->gpu, stream, room->blocks[i].data);
    *room = (tamis_room){0};
}

void tamis_priv_room_clear(const struct tamis_device_plan *device, tamis_room *room)
{
    const tamis_backend *backend = device->backend;
    tamis_gpu_fault fault;
    void *stream = NULL, *before = NULL;
    if (backend->enter(device->gpu, &before, &fault) != TAMIS_OK)
        return; /* the device is gone, and all with it */
    if (backend->stream_get(device->gpu, &stream, &fault) == TAMIS_OK) {
        clear(device, room, stream);
        backend->stream_put(device->gpu, stream);
    }
    backend->leave(device->gpu, before);
}
