/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the command. One table drives parsing, help, man page and completion. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <tamis/filter.h>

/* Which commands take an option. */
enum {
    TOOL_GROUP_ALL = 1 << 0,     /* every command */
    TOOL_GROUP_COMPUTE = 1 << 1, /* commands that use a context */
    TOOL_GROUP_READ = 1 << 2,    /* commands that read pictures */
    TOOL_GROUP_WRITE = 1 << 3,   /* commands that write pictures */
    TOOL_GROUP_FILTER = 1 << 4,  /* filters and chains */
    TOOL_GROUP_SHAPE = 1 << 5,   /* commands that work on a picture that is not there */
    TOOL_GROUP_MEASURE = 1 << 6, /* verify and bench */
    TOOL_GROUP_REPEAT = 1 << 7,  /* bench */
    TOOL_GROUP_COMPARE = 1 << 8,
    TOOL_GROUP_NOISE = 1 << 9,
    TOOL_GROUP_GUIDE = 1 << 10, /* chains, and filters that take a second input */
    TOOL_GROUP_JSON = 1 << 11,
    TOOL_GROUP_REPORT = 1 << 12,
    TOOL_GROUP_DEVICE = 1 << 13, /* commands that may work on a GPU */
    TOOL_GROUP_SERVE = 1 << 15,
    TOOL_GROUP_CHAIN = 1 << 16, /* commands that read chains */
    TOOL_GROUP_RESULT = 1 << 14 /* no commands: what the bytes of results depend on */
};

enum { TOOL_TABLE_FILTERS, TOOL_TABLE_PUBLISHED };

typedef struct tool_options {
    int threads, jobs;
    const char *cpu;
    const char *device;
    size_t max_memory;
    int json, verbose, quiet, help;

    const char *raw;
    const char *out;
    int recursive;
    const char *shard, *manifest;
    int resume;
    int overwrite, skip_existing, in_place, dry_run, strip;
    const char *format;
    int quality, level, tiff_tile, pyramid;
    const char *compression;
    const char *planes, *chroma, *frame_range, *codec, *preset, *pix_fmt;
    int decoder;                       /* TOOL_DECODER_* */
    double start, end, crf, scene_cut; /* NaN = not given */
    int lossless;
    int progress; /* TOOL_PROGRESS_* */
    tamis_size tile;
    const char *guide;
    const char *presets;

    tamis_size size;
    const char *type;
    const char *filter;
    int table; /* TOOL_TABLE_* */
    int repeat;

    const char *report, *original, *levels;
    const char *diff;
    double diff_gain, peak;
    double max_abs, max_mse, min_psnr, min_ssim; /* NaN = no threshold */

    int port, open;
    size_t max_upload;

    int kind; /* TOOL_NOISE_* */
    const char *sigma;
    double amount; /* NaN = the kind's own default */
    uint64_t seed;
} tool_options;

enum { TOOL_PROGRESS_AUTO, TOOL_PROGRESS_BAR, TOOL_PROGRESS_JSON, TOOL_PROGRESS_NONE };
enum { TOOL_DECODER_AUTO, TOOL_DECODER_SOFTWARE, TOOL_DECODER_CUDA };
enum { TOOL_NOISE_GAUSSIAN, TOOL_NOISE_SALTPEPPER, TOOL_NOISE_POISSON, TOOL_NOISE_SPECKLE };

/* In the order of TOOL_NOISE_*, ended by NULL. */
extern const char *const tool_noise_names[];

typedef enum tool_option_kind {
    TOOL_FLAG,   /* int, set to 1; letters may repeat and count */
    TOOL_INT,    /* int */
    TOOL_NUMBER, /* double */
    TOOL_SEED,   /* uint64_t */
    TOOL_BYTES,  /* size_t, with K, M, G or T */
    TOOL_SIZE,   /* tamis_size, WxH */
    TOOL_CHOICE, /* int, index into choices */
    TOOL_TEXT    /* const char * */
} tool_option_kind;

typedef struct tool_option {
    const char *name; /* the field's name */
    char letter;      /* short form, or 0 */
    tool_option_kind kind;
    size_t offset;
    double min, max;
    const char *const *choices;
    const char *def; /* default as text; NULL = unset (0, NULL or NaN) */
    const char *arg; /* what help calls the value */
    unsigned groups;
    const char *doc;
} tool_option;

/* The table, ended by a NULL name. */
extern const tool_option tool_option_table[];

/* 1 when a command with these groups, or a filter (may be NULL), takes the option. A filter's
 * parameter hides an option of the same name. */
int tool_option_applies(const tool_option *option, unsigned groups, const tamis_filter *filter);

struct tool;
/* Reads argv[1..] of a command into t. Returns an exit code, having said what is wrong. */
int tool_options_parse(struct tool *t, int argc, char **argv);

#endif
