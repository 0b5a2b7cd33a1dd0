/* SPDX-License-Identifier: Apache-2.0 */
/* Context, status codes and messages.
 *
 * A tamis_ctx carries what the library needs from its surroundings: a logger, an allocator, a
 * thread pool and the choice of CPU instructions. There is no global state, so two contexts never
 * disturb each other. */
#ifndef TAMIS_CORE_H
#define TAMIS_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#else
#define TAMIS_API
#endif

/* Every function that can fail returns one of these; TAMIS_OK is 0. The text that explains an
 * error (names, values, allowed ranges) goes to the context: see tamis_ctx_last_message().
 *
 * Pointers may be NULL only where the text says so. Functions that return a status refuse any other
 * NULL with ARGUMENT; for the rest a NULL handle, image or filter is one that holds nothing: they
 * return 0, NULL or an empty text. */
typedef enum tamis_status {
    TAMIS_OK = 0,
    TAMIS_ERR_ARGUMENT,    /* a parameter, name or image is not acceptable */
    TAMIS_ERR_UNSUPPORTED, /* understood, but this build or this filter cannot do it */
    TAMIS_ERR_MEMORY,      /* the allocator returned NULL */
    TAMIS_ERR_LIMIT,       /* a configured size or memory limit would be exceeded */
    TAMIS_ERR_READ,        /* a file is missing, broken or unreadable */
    TAMIS_ERR_WRITE,       /* a file could not be written whole */
    TAMIS_ERR_DEVICE,      /* no device, or the device failed */
    TAMIS_ERR_CANCELED,    /* the caller's cancel flag was seen */
    TAMIS_ERR_AGAIN        /* nothing is wrong: what was asked for is not there yet, see stream.h */
} tamis_status;

/* A short English name of the status, such as "argument". Static storage, never NULL. */
TAMIS_API const char *tamis_status_name(tamis_status status);

/* "major.minor.patch" of the library in use. Static storage. */
TAMIS_API const char *tamis_version(void);

typedef enum tamis_log_level {
    TAMIS_LOG_ERROR,
    TAMIS_LOG_WARNING,
    TAMIS_LOG_INFO,
    TAMIS_LOG_DEBUG
} tamis_log_level;

/* Receives one line of text without a newline. May be called from any thread that uses the
 * context, but never from two at once for the same context. */
typedef void (*tamis_log_fn)(void *user, tamis_log_level level, const char *text);

/* A caller's allocator. alloc returns NULL on failure; memory must be aligned for any type.
 * Both must be safe to call from several threads. */
typedef struct tamis_allocator {
    void *(*alloc)(void *user, size_t size);
    void (*free)(void *user, void *ptr);
    void *user;
} tamis_allocator;

/* Options of a context. Zero-initialize; every zero field means its default. */
typedef struct tamis_ctx_options {
    int threads;     /* threads that filter, the caller's included; 0 = one per CPU; at most 1024 */
    const char *cpu; /* highest instruction set to use: "c" (the reference), "base" (what every CPU
                        of this kind has: SSE2, NEON), "avx2", "avx512"; NULL = the environment
                        variable TAMIS_CPU, else the best this CPU has */
    const char *device; /* where to filter: "cpu"; "cuda" or "cuda:i" (a GPU, see device.h; plans
                           that cannot run there are refused); "cuda:i,j" or "cuda:all" (several
                           GPUs that share the work); "auto" (the first GPU for plans that can run
                           there, else the CPU); NULL = the environment variable TAMIS_DEVICE,
                           else "cpu" */
    tamis_log_fn log;   /* NULL = silent */
    void *log_user;
    const tamis_allocator *allocator; /* NULL = malloc and free; copied */
    size_t max_bytes;           /* refuse images and plans that need more than this; 0 = no limit */
    const volatile int *cancel; /* not 0: what waits for others, as for bytes from a pipe, gives up
                                   with CANCELED. A signal handler or another thread stores it
                                   atomically. Runs have one of their own. NULL = never */
    const struct tamis_preset *presets; /* names for chains beside the library's own, which they go
                                           before; copied. See preset.h; NULL = none */
    size_t preset_count;
} tamis_ctx_options;

/* Thread-safety: a context may be used from any number of threads at once. After fork() the child
 * may go on with it, and with its plans, if no other thread was inside a call with them then. */
typedef struct tamis_ctx tamis_ctx;

/* Creates a context. options may be NULL. The caller owns *out and releases it with
 * tamis_ctx_free() after every image and plan made with it.
 * Errors: ARGUMENT (threads out of range, unknown cpu or device name, instructions this CPU lacks,
 * presets without a name or a chain, two of the same name; their chains are read when used),
 * DEVICE (no such device; the text says why), MEMORY. On failure *out is NULL and, since there is
 * no context to ask, the text has gone to options->log. */
TAMIS_API tamis_status tamis_ctx_create(const tamis_ctx_options *options, tamis_ctx **out);

/* Stops the threads and frees the context. *ctx becomes NULL; NULL and *ctx == NULL are fine. */
TAMIS_API void tamis_ctx_free(tamis_ctx **ctx);

/* Number of threads that filter, the caller's included. */
TAMIS_API int tamis_ctx_threads(const tamis_ctx *ctx);

/* For programs that do more than filtering in several threads, such as decoding the next file: 1
 * says that the calling thread is busy from now on, -1 that it is no more. While as many threads
 * are busy as the context has, those inside of runs included, runs get no help from its own: each
 * is the work of its caller alone. A thread that counts already does so once in a run, too; before
 * a run that may have to wait for another it says -1. Results do not depend on any of it. */
TAMIS_API void tamis_ctx_occupy(tamis_ctx *ctx, int count);

/* Whether options.cancel says so, for the same programs and for libraries. Thread-safe. */
TAMIS_API int tamis_ctx_canceled(const tamis_ctx *ctx);

/* Name of the highest instruction set in use: "c", "base", "avx2" or "avx512". */
TAMIS_API const char *tamis_ctx_cpu(const tamis_ctx *ctx);

/* Copies the text of this context's newest error into buf, cut to size bytes and always
 * terminated; an empty string when there was none. Returns buf. When several threads share the
 * context it is the newest error of any of them. */
TAMIS_API const char *tamis_ctx_last_message(const tamis_ctx *ctx, char *buf, size_t size);

/* Records a printf-style text as the context's newest error, logs it and returns status. For
 * libraries built on libtamis, such as libtamis-io. ctx may be NULL: then only status returns. */
TAMIS_API tamis_status tamis_ctx_fail(tamis_ctx *ctx, tamis_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Logs a printf-style text without recording an error, for the same libraries. */
TAMIS_API void tamis_ctx_log(tamis_ctx *ctx, tamis_log_level level, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Bytes that the context's allocator holds now, and the most it has held. */
TAMIS_API size_t tamis_ctx_bytes(const tamis_ctx *ctx);
TAMIS_API size_t tamis_ctx_peak_bytes(const tamis_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
