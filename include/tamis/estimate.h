/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring a picture to choose parameters by. */
#ifndef TAMIS_ESTIMATE_H
#define TAMIS_ESTIMATE_H

#include <tamis/parts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The noise of one channel. */
typedef struct tamis_noise {
    double sigma;    /* standard deviation of what is white and normal, over the whole picture, in
                        sample units */
    double slope;    /* its variance at the level x is slope * x + offset: slope > 0 where noise */
    double offset;   /* grows with brightness, as photons' does, else 0 and sigma squared */
    double impulses; /* share of the samples that stand at an end of the range and do not belong
                        there ("salt and pepper"), 0 .. 1 */
} tamis_noise;

/* How much noise is in each channel of a picture, without a clean original: noise[c] for channel
 * c; all 0 for alpha and for channels that the picture does not have.
 *
 * Method. The picture is cut into blocks of 8x8 samples, each taken apart by a cosine transform
 * (N. Ponomarenko et al. 2007; M. Colom, A. Buades 2013). Slow waves hold the picture, quick ones
 * noise alone where there is no texture; in white noise the two know nothing of each other. So the
 * blocks with the weakest slow waves are taken (the weakest hundredth, and all that are as weak as
 * noise would leave them), and the median of their quick waves' energy is the variance. The same in
 * groups of blocks that are about equally bright gives the slope and the offset, by a fit that
 * groups full of texture have little part in; a slope that explains little is reported as 0.
 * Samples at the ends of the type's range (0 and 1 for floats), in blocks that are otherwise flat
 * and far from these ends, are impulses. More than one such sample does not count in its block.
 *
 * Blocks lie across those of JPEG, which leaves out quick waves in its own. Pictures that are
 * texture all over are overestimated; noise that neighboring pixels share (what JPEG or scaling has
 * left of it, demosaicing) is underestimated. Impulses inside the range are not found,
 * nor those in pictures that are dark or bright all over; pictures under 8 pixels give a guess. Of
 * pictures beyond 16 million pixels a regular selection of blocks is looked at.
 *
 * The picture must be in host memory.
 * Errors: ARGUMENT, MEMORY. Thread-safe; the result does not depend on the number of threads. */
TAMIS_API tamis_status tamis_noise_estimate(tamis_ctx *ctx, const tamis_image *image,
                                            tamis_noise noise[TAMIS_MAX_CHANNELS]);

/* The same of a picture that comes part by part, in bands from top to bottom that do not overlap;
 * the numbers are the same. Of large pictures only some rows are read. max_bytes bounds the memory
 * for a band, which has 8 rows at least; 0 = 64 MB. Besides, a channel takes up to 4 MB.
 * Errors: as above, and those of the source. */
TAMIS_API tamis_status tamis_noise_estimate_parts(tamis_ctx *ctx, tamis_format format, int32_t w,
                                                  int32_t h, const tamis_part_source *source,
                                                  size_t max_bytes,
                                                  tamis_noise noise[TAMIS_MAX_CHANNELS]);

/* Whether anything in the chain has to be chosen from a picture: a parameter that is "auto" where
 * its row says `automatic`, or a filter that stands for others, as denoise does. */
TAMIS_API int tamis_graph_is_open(const tamis_graph *graph);

/* Makes a chain in which everything is chosen, for one picture; without anything to choose, a copy.
 * What concerns a filter is chosen from the picture that comes to it, which the filters before it
 * have made of `image`. What each filter looks at is on its page. Of options cancel counts, and
 * guide where the chain's first filter takes one and comes before others that are open. The picture
 * must be in host memory. The caller owns *out; on failure it is NULL.
 * Errors: ARGUMENT, CANCELED, those of tamis_plan_create() and tamis_plan_run(). Thread-safe as
 * long as nobody changes the graph. */
TAMIS_API tamis_status tamis_graph_resolve(tamis_ctx *ctx, const tamis_graph *graph,
                                           const tamis_image *image,
                                           const tamis_run_options *options, tamis_graph **out);

/* The same for a picture that comes part by part. What is chosen differs from the above only for
 * slopes of pictures beyond 16 million pixels, of which not all rows are counted. max_bytes bounds
 * the memory for parts where filters need no more of the picture for a few rows; 0 = 64 MB. */
TAMIS_API tamis_status tamis_graph_resolve_parts(tamis_ctx *ctx, const tamis_graph *graph,
                                                 tamis_format format, int32_t w, int32_t h,
                                                 const tamis_part_source *source, size_t max_bytes,
                                                 const tamis_run_options *options,
                                                 tamis_graph **out);

#ifdef __cplusplus
}
#endif

#endif
