/* SPDX-License-Identifier: Apache-2.0 */
/* The live page: pictures that were opened, what filters make of the part that is seen, and the
 * server that browsers of this machine talk to. */
#ifndef TOOL_SERVE_H
#define TOOL_SERVE_H

#include "picture.h"

/* ---- serve_store.c: pictures that may be looked at, by number; nothing else can be */

typedef struct live_picture {
    char *path, *name; /* the name is what browsers see */
    int uploaded;
    pthread_mutex_t mutex; /* guards its reader and its loading */
    tool_picture picture;
    /* Guarded by the store's mutex. */
    int users, loaded, gone;
    unsigned long used; /* when it was asked for last */
} live_picture;

typedef struct live_store {
    tool *tool;
    pthread_mutex_t mutex;
    live_picture **items;
    size_t count, budget; /* bytes of pictures that are kept in memory while nobody looks */
    unsigned long clock;
    char *folder; /* of uploads and results in the making; NULL before the first */
    char *page;   /* in there, that leads to the server; or NULL */
} live_store;

void live_store_open(live_store *store, tool *t);
void live_store_close(live_store *store);
/* Adds a file, and returns its number. name is copied. */
size_t live_store_add(live_store *store, const char *path, const char *name, int uploaded);
/* A page, readable by this user only, that leads to the address; it goes with the store, whose the
 * name is. NULL when it cannot be made. */
const char *live_store_page(live_store *store, const char *url);
/* The text without places in the store's folder, which are nobody's business; to be freed. */
char *live_store_hide(live_store *store, const char *text);
/* A new file for an upload, open for writing, in a folder that goes with the store; *path is to be
 * freed. NULL when it cannot be made. */
FILE *live_store_upload(live_store *store, char **path);
/* The picture, in memory, to be given back; NULL where there is none (*status OK) or it cannot be
 * read. t is the calling thread's. */
live_picture *live_store_take(live_store *store, tool *t, size_t number, tamis_status *status);
void live_store_give(live_store *store, live_picture *picture);
json_t *live_store_list(live_store *store);

/* ---- serve_run.c: what filters make of a part */

enum { LIVE_PLANS = 12, LIVE_CLIENTS = 64 };

/* A plan for a picture, kept as sliders mostly come back. */
typedef struct live_plan {
    char *chain;
    int level;
    const live_picture *picture;
    tamis_format format; /* of the picture then: files change */
    int32_t w, h;
    tamis_plan *plan;
    int users;
    unsigned long used;
} live_plan;

/* A page in a browser, whose newest request stops the one before. */
typedef struct live_client {
    char name[24];
    int64_t newest;
    int *running; /* the flag that stops what runs for it, or NULL */
    unsigned long used;
} live_client;

typedef struct live_runner {
    live_store *store;
    pthread_mutex_t mutex; /* guards all that follows */
    live_plan plans[LIVE_PLANS];
    live_client clients[LIVE_CLIENTS];
    unsigned long clock;
    int closing;
} live_runner;

/* What is asked for: the part of the result between two corners, 0 to 1 across and down, at 1 of
 * 2^level pixels each way. */
typedef struct live_wish {
    const char *chain, *client;
    int64_t number; /* of the client's request; higher ones stop it */
    int level;
    double x0, y0, x1, y1;
} live_wish;

typedef struct live_view {
    uint8_t *rgba; /* to be freed */
    tamis_rect rect;
    int32_t w, h; /* of the whole result at this level */
    tool_window window;
    double filter_s;
    char device[64];
} live_view;

void live_runner_open(live_runner *runner, live_store *store);
/* Stops what runs. */
void live_runner_stop(live_runner *runner);
void live_runner_close(live_runner *runner);
/* Errors: as of plans and runs; LIMIT when too much is asked for; CANCELED when a newer request of
 * the client's has come. t->error says why. */
tamis_status live_run(live_runner *runner, tool *t, live_picture *picture, const live_wish *wish,
                      live_view *out);
/* What the chain would be for the picture, as JSON. */
tamis_status live_explain(live_runner *runner, tool *t, live_picture *picture, const char *chain,
                          json_t **out);
/* Filters the file as tamis run does, into a file that has no name any more; *fd is to be closed.
 * Returns an exit code; t->error says why. */
int live_save(live_store *store, tool *t, live_picture *picture, const char *chain,
              const char *format, int *fd);

/* ---- serve_http.c */

typedef struct live_server live_server;

/* Starts on 127.0.0.1; *url, to be freed, is where. Returns an exit code, having said what is
 * wrong. */
int live_server_start(tool *t, live_store *store, live_runner *runner, live_server **out,
                      char **url);
/* Waits for what is being answered. */
void live_server_stop(live_server *server);

#endif
