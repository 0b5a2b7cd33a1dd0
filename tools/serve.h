/* SPDX-License-Identifier: Apache-2.0 */
/* The live page: pictures that were opened, what filters make of the part that is seen, and the
 * server that browsers of this machine talk to. */
#ifndef TOOL_SERVE_H
#define TOOL_SERVE_H

#include "picture.h"

/* ---- serve_store.c: pictures that may be looked at, by number; nothing else can be */

enum { LIVE_LEVELS = 13 };

typedef struct live_picture {
    size_t number;
    char *path, *name; /* the name is what browsers see */
    int uploaded;
    pthread_mutex_t mutex; /* guards its reader and its loading */
    tool_picture picture;
    /* With 1 of 2^level pixels each way, each the mean of what it stands for; w = 0 where there is
     * none: level 0 is in `picture`, and of pictures that are not in memory only small ones are. */
    tamis_image small[LIVE_LEVELS];
    unsigned long load; /* counts loads: files change */
    /* Guarded by the store's mutex. */
    int users, loaded;
    unsigned long used; /* when it was asked for last */
} live_picture;

typedef struct live_store {
    tool *tool;
    pthread_mutex_t mutex;
    live_picture **items; /* by number; NULL for those that have gone */
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

/* ---- serve_plans.c: what chains become for a picture */

enum { LIVE_PLANS = 12, LIVE_CLIENTS = 64 };

/* A picture as it was loaded once. */
typedef struct live_subject {
    size_t picture; /* its number */
    unsigned long load;
} live_subject;

/* A chain that leaves something to the picture, and what was chosen. */
typedef struct live_choice {
    live_subject subject;
    char *chain, *chosen;
    unsigned long used;
} live_choice;

typedef struct live_plan {
    live_subject subject;
    char *chain;
    int level;
    tamis_plan *plan;
    int users;
    unsigned long used;
} live_plan;

/* A page in a browser. */
typedef struct live_client {
    char name[24];
    int64_t newest; /* request */
    int running;    /* how many run for it */
    unsigned long used;
} live_client;

/* A request at work; it lives on its thread's stack. */
typedef struct live_job {
    struct live_job *next;
    live_client *client;
    int64_t number;
    int socket; /* of who asked */
    int cancel; /* the flag that stops it */
} live_job;

typedef struct live_runner {
    live_store *store;
    pthread_mutex_t mutex; /* guards all that follows */
    live_plan plans[LIVE_PLANS];
    live_choice choices[LIVE_PLANS];
    live_client clients[LIVE_CLIENTS];
    live_job *jobs;
    unsigned long clock;
    int closing;
} live_runner;

/* The chain with all chosen that it leaves to the picture. *out is the caller's. */
tamis_status live_graph(live_runner *runner, tool *t, live_picture *picture, const char *chain,
                        const volatile int *cancel, tamis_graph **out);
/* The plan for the picture, and then for a view of the level, to be given back; *place is where it
 * is kept, or NULL. */
tamis_status live_plan_take(live_runner *runner, tool *t, live_picture *picture, const char *chain,
                            int level, const volatile int *cancel, live_plan **place,
                            tamis_plan **out);
void live_plan_give(live_runner *runner, live_plan *place, tamis_plan *plan);
void live_plans_free(live_runner *runner);

/* ---- serve_run.c: what filters make of a part */

/* What is asked for: the part of the result between two corners, 0 to 1 across and down, at 1 of
 * 2^level pixels each way. */
typedef struct live_wish {
    const char *chain, *client;
    int64_t number; /* of the client's request; higher ones stop it */
    int level;
    double x0, y0, x1, y1;
    double budget; /* seconds within which a preview is wanted; 0 = the result itself */
    int socket;    /* of who asked: hung up, the wish is off */
} live_wish;

typedef struct live_view {
    uint8_t *rgba;    /* to be freed */
    int level, exact; /* exact = 0: a preview */
    tamis_rect rect;
    int32_t w, h;  /* of the whole result at this level */
    double source; /* pixels of the picture that the part depends on */
    tool_window window;
    int own_window; /* 1: it is the picture's; 0: it was chosen from this part */
    double filter_s;
    char device[64];
} live_view;

void live_runner_open(live_runner *runner, live_store *store);
/* Stops what runs. */
void live_runner_stop(live_runner *runner);
void live_runner_close(live_runner *runner);
/* Stops what runs for those who have hung up; to be called now and then. */
void live_runner_look(live_runner *runner);
/* Errors: as of plans and runs; LIMIT when too much is asked for; CANCELED when a newer request of
 * the client's has come. t->error says why. */
tamis_status live_run(live_runner *runner, tool *t, live_picture *picture, const live_wish *wish,
                      live_view *out);
/* The part of the result of a plan for the level, in out, with what the view says of it. Of src, a
 * picture in memory, the plan wants all; NULL = it is in the file. */
tamis_status live_filter(tool *t, live_picture *picture, const tamis_plan *plan,
                         const live_wish *wish, const tamis_image *src,
                         const tamis_run_options *options, live_view *view, tamis_image *out);

/* ---- serve_preview.c */

/* What the chain makes of the picture with fewer pixels and windows, as many as the wish's budget
 * allows; the result itself where that is as quick. *cancel is a job's: 1 stops it. */
tamis_status live_preview(live_runner *runner, tool *t, live_picture *picture,
                          const live_wish *wish, int *cancel, live_view *view, tamis_image *out);

/* ---- serve_save.c */

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
