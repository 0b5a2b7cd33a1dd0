/* SPDX-License-Identifier: Apache-2.0 */
/* Fault cases: mistakes that people met in image tools, each with a small input and the right
 * answer. The numbers come from direct sums in double precision. */
#ifndef CASES_H
#define CASES_H

#include <tamis/tamis.h>

#include "support/picture.h"

enum { CASE_CPUS = 4 };
/* Contexts of two threads, one for each instruction set; NULL where this CPU lacks it. */
extern tamis_ctx *case_ctx[CASE_CPUS];
extern const char *const case_cpus[CASE_CPUS];

/* Counts a check; prints the case and the text when it does not hold. */
void case_check(int holds, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs a chain into a new picture. On refusal returns the status and leaves out empty. */
tamis_status case_run(tamis_ctx *ctx, const char *chain, const tamis_image *src, test_picture *out);
/* As case_run(); a refusal fails the case. 0 when it worked. */
int case_run_ok(const char *id, tamis_ctx *ctx, const char *chain, const tamis_image *src,
                test_picture *out);
/* 1 when the chain is refused with a status and a message that an embedding program can show. */
int case_refused(tamis_ctx *ctx, const char *chain, const tamis_image *src);
/* 1 when the build has the filter that the chain begins with; else says that the case is left. */
int case_has(const char *id, const char *chain);

/* A picture of a formula. */
typedef double (*case_formula)(int x, int y, int c);
void case_picture(test_picture *out, tamis_format format, int w, int h, case_formula formula);
void case_constant(test_picture *out, tamis_format format, int w, int h, double value);
/* A row of floats or levels. */
void case_row(test_picture *out, tamis_type type, const double *values, int n);
/* 1 when every sample equals value. */
int case_all(const tamis_image *image, double value);

void case_borders(void);    /* G01 */
void case_seams(void);      /* G02, and any tiling of any filter */
void case_gaussian(void);   /* G04, G05, G06 */
void case_views(void);      /* G07 */
void case_median_nan(void); /* G09 */
void case_convolve(void);   /* G23, G24 */
void case_bilateral(void);  /* G10 */
void case_nlmeans(void);    /* G11 */
void case_alpha(void);      /* G12 */
void case_box(void);        /* G03, and what others ask of box */
void case_halves(void);     /* G16 */
void case_turns(void);      /* G17 */
void case_matrices(void);   /* G18 */
void case_wide(void);       /* G19 */
void case_precision(void);  /* G20 */
void case_shifts(void);     /* moves by whole pixels */
void case_slopes(void);     /* G23 */
void case_canny(void);      /* G21, G22 */
void case_threads(void);    /* G25 */
void case_locality(void);   /* one NaN goes no further than the windows that hold it */

#endif
