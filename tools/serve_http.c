/* SPDX-License-Identifier: Apache-2.0 */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page.h"
#include "presets.h"

/* Browsers that keep several connections each; one that says nothing for so long is hung up on. */
#define CONNECTIONS     64
#define SECONDS_OF_IDLE 30
#define TOKEN_BYTES     16
#define TOKEN_DIGITS    (2 * TOKEN_BYTES)

struct live_server {
    tool tool; /* as it was at the start: requests begin with copies of it */
    live_store *store;
    live_runner *runner;
    struct MHD_Daemon *daemon;
    unsigned port;
    char token[TOKEN_DIGITS + 1];
};

/* A request at work. */
typedef struct request {
    live_server *server;
    struct MHD_Connection *connection;
    tool tool;        /* errors of the library come here; its messages are held */
    const char *path; /* what is behind the token */
    /* an upload */
    FILE *file;
    char *file_path;
    size_t size;
    unsigned refused; /* status; 0 = goes on */
} request;

/* ---- answers */

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     struct MHD_Response *response, const char *mime)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Content-Security-Policy",
         "default-src 'none'; connect-src 'self'; img-src data: blob:; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors "
         "'none'"}};
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, mime);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* data is the answer's from now on. */
static enum MHD_Result send_bytes(struct MHD_Connection *connection, unsigned status, void *data,
                                  size_t size, const char *mime)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(data);
    return send_response(connection, status, response, mime);
}

static enum MHD_Result send_json(struct MHD_Connection *connection, unsigned status, json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(object);
    return text ? send_bytes(connection, status, text, strlen(text), "application/json") : MHD_NO;
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status,
                                  const char *text)
{
    json_t *o = json_object();
    json_object_set_new(o, "error", tool_json_text(text));
    return send_json(connection, status, o);
}

/* What went wrong with a picture; the place of an upload is nobody's business. */
static enum MHD_Result send_failure(request *r, const live_picture *p, tamis_status status)
{
    unsigned http = status == TAMIS_ERR_CANCELED ? MHD_HTTP_CONFLICT
                    : status == TAMIS_ERR_LIMIT  ? MHD_HTTP_CONTENT_TOO_LARGE
                                                 : MHD_HTTP_UNPROCESSABLE_CONTENT;
    const char *text = *r->tool.error ? r->tool.error : tamis_status_name(status);
    const char *path = p ? p->path : "";
    size_t length = strlen(path);
    char *named = length && strncmp(text, path, length) == 0
                      ? tool_print_text("%s%s", p->name, text + length)
                      : tool_copy_text(text);
    char *shown = live_store_hide(r->server->store, named);
    enum MHD_Result result = send_error(r->connection, http, shown);
    free(shown);
    free(named);
    return result;
}

/* ---- who asks */

/* Takes the same time wherever the first difference is. */
static int same_token(const char *a, const char *b)
{
    unsigned char differ = 0;
    for (size_t i = 0; i < TOKEN_DIGITS; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

/* Whether text, behind "http://" or nothing, is this server by a name that means this machine: a
 * page of elsewhere whose name leads here has another. */
static int is_here(const live_server *server, const char *text)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char port[16];
    snprintf(port, sizeof(port), ":%u", server->port);
    for (size_t i = 0; text && i < sizeof(names) / sizeof(*names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) != 0)
            continue;
        /* Browsers leave the usual port out. */
        if (strcmp(text + length, port) == 0 || (server->port == 80 && !text[length]))
            return 1;
    }
    return 0;
}

static unsigned check_sender(request *r, const char *url)
{
    const live_server *s = r->server;
    const char *host = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Origin");
    size_t length = strlen(url);
    if (!is_here(s, host))
        return MHD_HTTP_FORBIDDEN;
    if (origin && (strncmp(origin, "http://", 7) != 0 || !is_here(s, origin + 7)))
        return MHD_HTTP_FORBIDDEN;
    if (length < 1 + TOKEN_DIGITS + 1 || !same_token(url + 1, s->token) ||
        url[1 + TOKEN_DIGITS] != '/')
        return MHD_HTTP_FORBIDDEN;
    r->path = url + 1 + TOKEN_DIGITS;
    return 0;
}

/* ---- questions */

static const char *argument(const request *r, const char *name)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
    return text ? text : "";
}

static double number_of(const request *r, const char *name)
{
    return strtod(argument(r, name), NULL);
}

static enum MHD_Result send_page(request *r)
{
    size_t size = 0;
    json_t *data = json_object(), *filters = json_array();
    for (int i = 0; i < tamis_filter_count(); i++)
        json_array_append_new(filters, tool_json_filter(tamis_filter_at(i)));
    json_object_set_new(data, "version", json_string(tamis_version()));
    json_object_set_new(data, "filters", filters);
    json_object_set_new(data, "presets", tool_json_presets(&r->tool, NULL));
    json_object_set_new(data, "pictures", live_store_list(r->server->store));
    json_object_set_new(data, "max_upload",
                        json_integer((json_int_t)r->server->tool.options.max_upload));
    char *text = tool_page_text("serve.html", "tamis", data, &size);
    json_decref(data);
    return text ? send_bytes(r->connection, MHD_HTTP_OK, text, size, "text/html; charset=utf-8")
                : MHD_NO;
}

static enum MHD_Result send_picture(request *r, live_picture *p)
{
    const tool_picture *own = &p->picture;
    tamis_noise noise[TAMIS_MAX_CHANNELS];
    json_t *o = tool_json_shape(own->info.w, own->info.h, own->info.image);
    json_object_set_new(o, "name", tool_json_text(p->name));
    json_object_set_new(o, "uploaded", json_boolean(p->uploaded));
    json_object_set_new(o, "path", p->uploaded ? json_null() : tool_json_text(p->path));
    json_object_set_new(o, "format", json_string(own->info.format));
    json_object_set_new(o, "pages", json_integer(own->info.pages));
    json_object_set_new(o, "range", json_real(tamis_type_range(own->info.image.type)));
    json_object_set_new(o, "whole", json_boolean(own->whole));
    json_object_set_new(o, "window",
                        json_pack("{s:f,s:f,s:s}", "low", own->window.low, "high", own->window.high,
                                  "how", own->window.how));
    if (own->whole && !tamis_noise_estimate(r->server->tool.ctx, &own->image, noise)) {
        json_t *sigma = json_array();
        for (int c = 0; c < own->info.image.channels - (own->info.image.alpha != TAMIS_ALPHA_NONE);
             c++)
            json_array_append_new(sigma, tool_json_number(noise[c].sigma));
        json_object_set_new(o, "noise", sigma);
    }
    return send_json(r->connection, MHD_HTTP_OK, o);
}

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static enum MHD_Result send_view(request *r, live_picture *p)
{
    live_view view;
    live_wish wish = {.chain = argument(r, "chain"),
                      .client = argument(r, "client"),
                      .number = strtoll(argument(r, "number"), NULL, 10),
                      .level = (int)strtol(argument(r, "level"), NULL, 10),
                      .x0 = number_of(r, "x0"),
                      .y0 = number_of(r, "y0"),
                      .x1 = number_of(r, "x1"),
                      .y1 = number_of(r, "y1"),
                      .budget = number_of(r, "budget"),
                      .socket = socket_of(r->connection)};
    if (wish.level < 0 || wish.level > 16 || !*wish.client || strlen(wish.client) > 20)
        return send_error(r->connection, MHD_HTTP_BAD_REQUEST, "level or client is out of range");
    tamis_status status = live_run(r->server->runner, &r->tool, p, &wish, &view);
    if (status)
        return send_failure(r, p, status);
    json_t *said = json_pack(
        "{s:i,s:b,s:i,s:i,s:i,s:i,s:i,s:i,s:f,s:f,s:f,s:s,s:b,s:f,s:s}", "level", view.level,
        "exact", view.exact, "x", view.rect.x, "y", view.rect.y, "width", view.rect.w, "height",
        view.rect.h, "whole_width", view.w, "whole_height", view.h, "source", view.source, "low",
        view.window.low, "high", view.window.high, "how", view.window.how, "own_window",
        view.own_window, "seconds", view.filter_s, "device", view.device);
    char *text = json_dumps(said, JSON_COMPACT);
    json_decref(said);
    struct MHD_Response *response = MHD_create_response_from_buffer(
        (size_t)4 * (size_t)view.rect.w * (size_t)view.rect.h, view.rgba, MHD_RESPMEM_MUST_FREE);
    if (response)
        MHD_add_response_header(response, "X-View", text ? text : "{}");
    else
        free(view.rgba);
    free(text);
    return send_response(r->connection, MHD_HTTP_OK, response, "application/octet-stream");
}

/* A format's name has letters only. */
static int is_word(const char *text)
{
    return *text && strlen(text) < 8 && strspn(text, "abcdefghijklmnopqrstuvwxyz") == strlen(text);
}

static enum MHD_Result send_saved(request *r, live_picture *p)
{
    int fd;
    const char *format = argument(r, "format");
    if (!is_word(format))
        return send_error(r->connection, MHD_HTTP_BAD_REQUEST, "format is no name of a format");
    int code = live_save(r->server->store, &r->tool, p, argument(r, "chain"), format, &fd);
    if (code)
        return send_failure(r, p, TAMIS_ERR_UNSUPPORTED);
    off_t size = lseek(fd, 0, SEEK_END);
    struct MHD_Response *response = MHD_create_response_from_fd64((uint64_t)size, fd);
    if (!response)
        close(fd);
    return send_response(r->connection, MHD_HTTP_OK, response, "application/octet-stream");
}

static enum MHD_Result with_picture(request *r,
                                    enum MHD_Result (*answer)(request *, live_picture *))
{
    tamis_status status;
    char *end;
    const char *id = argument(r, "id");
    unsigned long number = strtoul(id, &end, 10);
    if (*id < '0' || *id > '9' || *end)
        return send_error(r->connection, MHD_HTTP_BAD_REQUEST, "id is no number of a picture");
    live_picture *p = live_store_take(r->server->store, &r->tool, number, &status);
    if (status)
        return send_failure(r, NULL, status);
    if (!p)
        return send_error(r->connection, MHD_HTTP_NOT_FOUND, "there is no such picture any more");
    enum MHD_Result result = answer(r, p);
    live_store_give(r->server->store, p);
    return result;
}

static enum MHD_Result answer_get(request *r)
{
    static const struct {
        const char *path;
        enum MHD_Result (*answer)(request *, live_picture *);
    } questions[] = {{"/picture", send_picture}, {"/view", send_view}, {"/save", send_saved}};
    if (strcmp(r->path, "/") == 0)
        return send_page(r);
    if (strcmp(r->path, "/pictures") == 0)
        return send_json(r->connection, MHD_HTTP_OK, live_store_list(r->server->store));
    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        if (strcmp(r->path, questions[i].path) == 0)
            return with_picture(r, questions[i].answer);
    }
    return send_error(r->connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
}

/* ---- uploads */

static void drop_upload(request *r)
{
    if (!r->file)
        return;
    fclose(r->file);
    unlink(r->file_path);
    free(r->file_path);
    r->file = NULL;
}

static void begin_upload(request *r)
{
    const char *length =
        MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (length && strtoull(length, NULL, 10) > r->server->tool.options.max_upload)
        r->refused = MHD_HTTP_CONTENT_TOO_LARGE;
    else
        r->file = live_store_upload(r->server->store, &r->file_path);
    if (!r->file && !r->refused)
        r->refused = MHD_HTTP_INSUFFICIENT_STORAGE;
}

static void take_upload(request *r, const char *data, size_t size)
{
    r->size += size;
    if (r->refused)
        return;
    if (r->size > r->server->tool.options.max_upload)
        r->refused = MHD_HTTP_CONTENT_TOO_LARGE;
    else if (fwrite(data, 1, size, r->file) != size)
        r->refused = MHD_HTTP_INSUFFICIENT_STORAGE;
    if (r->refused)
        drop_upload(r);
}

static enum MHD_Result refuse_upload(request *r)
{
    char *text = r->refused == MHD_HTTP_CONTENT_TOO_LARGE
                     ? tool_print_text("the picture is larger than --max_upload, %zu bytes",
                                       r->server->tool.options.max_upload)
                     : tool_copy_text("there is no room for the picture");
    enum MHD_Result result = send_error(r->connection, r->refused, text);
    free(text);
    return result;
}

/* Only what can be opened stays. */
static enum MHD_Result end_upload(request *r)
{
    tool_picture probe;
    const char *name = argument(r, "name");
    if (r->refused)
        return refuse_upload(r);
    int bad = fclose(r->file) != 0;
    r->file = NULL;
    tamis_status status = tool_picture_open(&r->tool, r->file_path, &probe);
    tool_picture_close(&probe);
    live_picture named = {.path = r->file_path, .name = (char *)(*name ? name : "picture")};
    enum MHD_Result result;
    if (bad || status) {
        result = send_failure(r, &named, bad ? TAMIS_ERR_WRITE : status);
        unlink(r->file_path);
    } else {
        size_t id = live_store_add(r->server->store, r->file_path, named.name, 1);
        result = send_json(
            r->connection, MHD_HTTP_CREATED,
            json_pack("{s:I,s:o}", "id", (json_int_t)id, "name", tool_json_text(named.name)));
    }
    free(r->file_path);
    return result;
}

/* ---- the server */

static void done(void *user, struct MHD_Connection *connection, void **state,
                 enum MHD_RequestTerminationCode how)
{
    request *r = *state;
    (void)user;
    (void)connection;
    (void)how;
    if (!r)
        return;
    drop_upload(r); /* cut off */
    free(r->tool.held);
    free(r);
    *state = NULL;
}

static request *new_request(live_server *server, struct MHD_Connection *connection)
{
    request *r = tool_alloc(sizeof(*r));
    r->server = server;
    r->connection = connection;
    r->tool = server->tool;
    r->tool.held = tool_copy_text("");
    *r->tool.error = '\0';
    return r;
}

/* Called first when the headers are there, then for each piece of an upload, then at its end. */
static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
    live_server *server = user;
    request *r = *state;
    (void)version;
    int first = !r, post = strcmp(method, "POST") == 0;
    if (first) {
        *state = r = new_request(server, connection);
        unsigned status = check_sender(r, url);
        if (status)
            return send_error(connection, status, "this address is not for you");
        if (!post && strcmp(method, "GET") != 0)
            return send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or POST");
        if (post && strcmp(r->path, "/upload") != 0)
            return send_error(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
        if (post)
            begin_upload(r);
        return r->refused ? refuse_upload(r) : MHD_YES;
    }
    if (post && *size > 0) {
        take_upload(r, data, *size);
        *size = 0;
        return MHD_YES;
    }
    pthread_setspecific(server->tool.worker, &r->tool);
    enum MHD_Result result = post ? end_upload(r) : answer_get(r);
    pthread_setspecific(server->tool.worker, NULL);
    return result;
}

static int make_token(char *token)
{
    unsigned char bytes[TOKEN_BYTES];
    FILE *file = fopen("/dev/urandom", "rb");
    size_t n = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < n; i++)
        sprintf(token + 2 * i, "%02x", bytes[i]);
    return n == sizeof(bytes);
}

/* A socket that listens on this machine's own address; -1 with errno set. */
static int listen_here(int wish, unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)wish),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    const int yes = 1; /* the port of a server that has just ended is free */
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
        return -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, SOMAXCONN) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Signals stay with the thread that waits for them. */
static struct MHD_Daemon *start(live_server *s, int fd)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC, 0, NULL,
        NULL, answer, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS_OF_IDLE,
        MHD_OPTION_NOTIFY_COMPLETED, done, NULL, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return daemon;
}

int live_server_start(tool *t, live_store *store, live_runner *runner, live_server **out,
                      char **url)
{
    live_server *s = tool_alloc(sizeof(*s));
    *s = (live_server){.tool = *t, .store = store, .runner = runner};
    if (!make_token(s->token)) {
        tool_error(t, "/dev/urandom gives no numbers for the address to be secret");
        free(s);
        return TOOL_READ;
    }
    int fd = listen_here(t->options.port, &s->port);
    if (fd >= 0)
        s->daemon = start(s, fd);
    if (!s->daemon) {
        tool_error(t, "cannot listen on 127.0.0.1, port %d: %s", t->options.port, strerror(errno));
        if (fd >= 0)
            close(fd);
        free(s);
        return TOOL_WRITE;
    }
    *out = s;
    *url = tool_print_text("http://127.0.0.1:%u/%s/", s->port, s->token);
    return TOOL_OK;
}

void live_server_stop(live_server *server)
{
    MHD_stop_daemon(server->daemon);
    free(server);
}
