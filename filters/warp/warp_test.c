/* SPDX-License-Identifier: Apache-2.0 */
/* Sources whose rows are longer than 2^31 bytes, by a file that has no blocks but its last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tamis/affine.h>
#include <tamis/tamis.h>

#include "support/picture.h"

enum { W = (1 << 29) + 1000, OUT_W = 70, OUT_H = 3, LEVEL = 77, CHANNELS = 4 };

/* One row of the last pixels' level; NULL where the system has no room for it. */
static uint8_t *make_row(size_t bytes)
{
    char name[] = "/tmp/tamis-wide-XXXXXX";
    int file = mkstemp(name);
    if (file < 0)
        return NULL;
    unlink(name);
    void *row = MAP_FAILED;
    if (ftruncate(file, (off_t)bytes) == 0)
        row = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    if (row == MAP_FAILED)
        return NULL;
    memset((uint8_t *)row + bytes - (size_t)CHANNELS * OUT_W, LEVEL, (size_t)CHANNELS * OUT_W);
    return row;
}

static int has_level(const tamis_image *image)
{
    for (int y = 0; y < OUT_H; y++)
        for (int x = 0; x < CHANNELS * OUT_W; x++)
            if (((uint8_t *)tamis_image_row(image, 0, y))[x] != LEVEL)
                return 0;
    return 1;
}

/* Looks at the row's end, all rows being the same. */
static int sees_the_end(tamis_ctx *ctx, tamis_interp interp, const tamis_image *src)
{
    const tamis_filter *affine = tamis_filter_find("affine");
    struct tamis_affine p;
    test_picture dst;
    char message[400];
    tamis_filter_defaults(affine, &p);
    /* A whole number would make a copy of any interp. */
    double between = interp == TAMIS_INTERP_NEAREST ? 0 : 0.25;
    p.translate = (tamis_numbers){2, {-(W - OUT_W) - between, 0}};
    p.size = (tamis_size){OUT_W, OUT_H};
    p.interp = interp;
    p.border = TAMIS_BORDER_REPLICATE;
    test_picture_make(&dst, src->format, OUT_W, OUT_H, TEST_ROWS_WIDE);
    tamis_status status = tamis_filter_run(ctx, affine, &p, src, &dst.image);
    int fine = status == TAMIS_OK && has_level(&dst.image) && test_picture_intact(&dst);
    if (status != TAMIS_OK)
        printf("FAIL: %s\n", tamis_ctx_last_message(ctx, message, sizeof message));
    else if (!fine)
        printf("FAIL %s: the end of a long row looks otherwise\n", tamis_ctx_cpu(ctx));
    test_picture_free(&dst);
    return fine;
}

int main(void)
{
    static const char *const cpus[] = {"c", "base", "avx2", "avx512"};
    size_t bytes = (size_t)W * CHANNELS;
    uint8_t *row = make_row(bytes);
    tamis_image src = {.format = test_format(TAMIS_U8, CHANNELS), .w = W, .h = 2, .data = {row}};
    int failed = 0;
    if (!row) {
        puts("skipped: no room for a row of 2 GiB");
        return 0;
    }
    for (int cpu = 0; cpu < 4; cpu++) {
        tamis_ctx_options o = {.threads = 1, .cpu = cpus[cpu]};
        tamis_ctx *ctx = NULL;
        if (tamis_ctx_create(&o, &ctx) != TAMIS_OK) {
            printf("skipped: this CPU has no %s\n", cpus[cpu]);
            continue;
        }
        failed |= !sees_the_end(ctx, TAMIS_INTERP_NEAREST, &src);
        failed |= !sees_the_end(ctx, TAMIS_INTERP_LINEAR, &src);
        tamis_ctx_free(&ctx);
    }
    munmap(row, bytes);
    puts(failed ? "failed" : "passed");
    return failed;
}
