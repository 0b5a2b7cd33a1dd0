/* SPDX-License-Identifier: Apache-2.0 */
/* Square medians by sorting networks, for one sample type: included by median_simd_<type>.c, which
 * says what V, LANES, LOAD, STORE, MIN, MAX and the LARGEST size are and calls sort_tile().
 *
 * Lanes are neighboring samples of a row, and a network of minima and maxima, the same for all,
 * finds the median, going down in strips of columns. Three ideas keep the network small:
 *
 * Rows are sorted once. The K samples of a row that belong to the windows of a lane are sorted when
 * the row comes in and serve all K outputs whose windows hold them. So are merged blocks of two and
 * of four rows that begin at a multiple of their size.
 *
 * Outputs come in groups. The windows of two outputs y and y + 1 have K - 1 rows in common, the
 * core, and one row each of their own; those of four outputs have K - 3 rows in common, to which
 * two rows are added for each half. A core is merged from blocks once.
 *
 * Ranks are dropped. In a sorted part of the n = K * K samples, an element with more than n / 2 of
 * the part on one side of it cannot be the median. Of K - 1 rows only K + 1 elements remain.
 *
 * Networks are written out whole, by Batcher's odd-even merge, and the compiler removes every
 * minimum and maximum that nothing uses. This works because K and all sizes are constants once
 * everything has been inlined, so loops over networks are unrolled completely. */

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 256")
#endif

TAMIS_INLINE void order(V *a, V *b)
{
    V low = MIN(*a, *b);
    *b = MAX(*a, *b);
    *a = low;
}

/* One stage of a merge of n elements, of which element 0 stands at position first in a network of
 * a power of two. Positions without an element would hold infinities, which stay where they are. */
TAMIS_INLINE void merge_stage(V *v, int n, int first, int distance)
{
    UNROLL
    for (int i = 0; i + distance < n; i++)
        if ((i + first) / distance % 2)
            order(v + i, v + i + distance);
}

/* Merges the sorted lists v[0 .. na-1] and v[na .. na+nb-1] in place. Batcher's network for two
 * lists of the size p = 2^i, of which the first is filled up in front and the second behind. */
TAMIS_INLINE void merge(V *v, int na, int nb)
{
    const int n = na + nb, longer = na > nb ? na : nb;
    const int p = longer > 64   ? 128
                  : longer > 32 ? 64
                  : longer > 16 ? 32
                  : longer > 8  ? 16
                  : longer > 4  ? 8
                  : longer > 2  ? 4
                                : longer;
    const int first = p - na;
    UNROLL
    for (int i = 0; i < na; i++)
        if (i + p < n)
            order(v + i, v + i + p);
    if (p > 64)
        merge_stage(v, n, first, 64);
    if (p > 32)
        merge_stage(v, n, first, 32);
    if (p > 16)
        merge_stage(v, n, first, 16);
    if (p > 8)
        merge_stage(v, n, first, 8);
    if (p > 4)
        merge_stage(v, n, first, 4);
    if (p > 2)
        merge_stage(v, n, first, 2);
    if (p > 1)
        merge_stage(v, n, first, 1);
}

/* Sorts n <= 16 elements by merging runs of 1, 2, 4 and 8. */
TAMIS_INLINE void sort_runs(V *v, int n, int run)
{
    UNROLL
    for (int i = 0; i < 16; i += 2 * run)
        if (i + run < n)
            merge(v + i, run, n - i - run < run ? n - i - run : run);
}

TAMIS_INLINE void sort(V *v, int n)
{
    sort_runs(v, n, 1);
    sort_runs(v, n, 2);
    sort_runs(v, n, 4);
    sort_runs(v, n, 8);
}

/* A part of m samples is kept as its elements low(m) .. high(m) in order. */
#define RANK(K)    ((K) * (K) / 2)
#define LOW(m, K)  ((m)-1 > RANK(K) ? (m)-1 - RANK(K) : 0)
#define HIGH(m, K) ((m)-1 > RANK(K) ? RANK(K) : (m)-1)
#define KEPT(m, K) (HIGH(m, K) - LOW(m, K) + 1)

/* Merges the part of rows_a rows in v with the part of rows_b rows that lies behind it. Returns the
 * place of the first element that is kept. */
TAMIS_INLINE V *combine(V *v, int rows_a, int rows_b, const int K)
{
    const int a = rows_a * K, b = rows_b * K;
    merge(v, KEPT(a, K), KEPT(b, K));
    return v + LOW(a + b, K) - LOW(a, K) - LOW(b, K);
}

TAMIS_INLINE void copy(V *to, const V *from, int n)
{
    UNROLL
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

/* The K samples of a row that belong to the windows of each lane, sorted. */
TAMIS_INLINE void sorted_row(V *v, const SAMPLE *row, int step, CHECK *check, const int K)
{
    UNROLL
    for (int c = 0; c < K; c++)
        v[c] = SOURCE(row + c * step);
    CHECK_ROW(*check, v, K);
    sort(v, K);
    CHECK_LIST(*check, v, K);
}

/* The median of a core's K + 1 and a row's K samples, which is element K of both: the least number
 * that bounds i + 1 elements of the core and K - 1 - i of the row. */
TAMIS_INLINE V median_of(const V *core, const V *row, const int K)
{
    V median = core[K];
    UNROLL
    for (int i = 0; i < K; i++)
        median = MIN(median, MAX(core[i], row[K - 1 - i]));
    return median;
}

TAMIS_INLINE void put_first(SAMPLE *dst, V v, int n)
{
    v = RESULT(v);
    if (n >= LANES)
        STORE(dst, v);
    else
        tv_store_first(dst, (tv_u8)v, (size_t)n * sizeof(SAMPLE));
}

/* One strip of a plane: n samples of each of h rows. */
typedef struct strip {
    const SAMPLE *const *rows; /* rows[i] is row i of the windows, from 1 on */
    ptrdiff_t x;               /* where in it the first lane's window begins */
    SAMPLE *dst;
    ptrdiff_t stride; /* of dst, in bytes */
    int n, h, step;
    V *scratch;
    CHECK check;
} strip;

TAMIS_INLINE SAMPLE *out_row(const strip *s, int y)
{
    return (SAMPLE *)((char *)s->dst + y * s->stride);
}

/* Where the vector after the one at x begins: the last one is moved back to end with the row, so
 * that it is whole. */
TAMIS_INLINE int next_vector(const strip *s, int x)
{
    x += LANES;
    return x < s->n && x + LANES > s->n ? s->n - LANES : x;
}

/* 3 x 3: the median of the greatest of the minima of the window's rows, the median of their medians
 * and the least of their maxima. What rows a and b have to say serves the windows above and below
 * them. */
typedef struct pair_3 {
    V low, mid_low, mid_high, high;
} pair_3;

TAMIS_INLINE pair_3 pair_of(const V *a, const V *b)
{
    return (pair_3){MAX(a[0], b[0]), MIN(a[1], b[1]), MAX(a[1], b[1]), MIN(a[2], b[2])};
}

TAMIS_INLINE V median_3(pair_3 p, const V *c)
{
    V low = MAX(p.low, c[0]), high = MIN(p.high, c[2]);
    V mid = MAX(p.mid_low, MIN(p.mid_high, c[1]));
    return MAX(MIN(low, mid), MIN(MAX(low, mid), high));
}

/* Rows that a vector of columns is followed down through before its neighbor: enough for the two
 * rows sorted before the first to matter little, and few enough for a column of cache lines, which
 * tend to share sets, of pages, and of streams that the machine reads ahead in. */
#define BLOCK_3 8

/* Goes down two rows at a time, the last two sorted rows in registers. */
TAMIS_INLINE void column_3(strip *s, int x, int top, int bottom)
{
    const ptrdiff_t at = s->x + x;
    V a[3], b[3], c[3], d[3];
    sorted_row(a, s->rows[top + 1] + at, s->step, &s->check, 3);
    sorted_row(b, s->rows[top + 2] + at, s->step, &s->check, 3);
    for (int y = top; y < bottom; y += 2) {
        const int next = y + 1 < bottom; /* without a second row the first is stored last */
        sorted_row(c, s->rows[y + 3] + at, s->step, &s->check, 3);
        sorted_row(d, s->rows[y + 3 + next] + at, s->step, &s->check, 3);
        const pair_3 p = pair_of(b, c);
        put_first(out_row(s, y + next) + x, median_3(p, d), s->n - x);
        put_first(out_row(s, y) + x, median_3(p, a), s->n - x);
        copy(a, c, 3);
        copy(b, d, 3);
    }
}

static void strip_3(strip *strip_)
{
    strip s = *strip_; /* a copy, which stores of samples cannot alias */
    for (int y = 0; y < s.h; y += BLOCK_3)
        for (int x = 0; x < s.n; x = next_vector(&s, x))
            column_3(&s, x, y, y + BLOCK_3 < s.h ? y + BLOCK_3 : s.h);
    strip_->check = s.check;
}

/* What 5 x 5 keeps of a vector of columns while it goes down: rows i and i + 2 where i is the first
 * of the next two windows, row i + 3, and the merged block of rows i + 1 and i + 2. */
typedef struct kept_5 {
    V odd[2][5], even[5], block[10];
} kept_5;

/* 5 x 5, two rows at a time, in strips of MEDIAN_STRIP_5 bytes. */
static void strip_5(strip *strip_)
{
    strip s = *strip_;
    for (int x = 0; x < s.n; x += LANES) {
        kept_5 *k = (kept_5 *)s.scratch + x / LANES;
        V v[10];
        sorted_row(k->odd[0], s.rows[1] + s.x + x, s.step, &s.check, 5);
        sorted_row(v, s.rows[2] + s.x + x, s.step, &s.check, 5);
        sorted_row(v + 5, s.rows[3] + s.x + x, s.step, &s.check, 5);
        copy(k->odd[1], v + 5, 5);
        merge(v, 5, 5);
        copy(k->block, v, 10);
        sorted_row(k->even, s.rows[4] + s.x + x, s.step, &s.check, 5);
    }
    for (int y = 0; y < s.h; y += 2) {
        const int last =
            y + 1 == s.h; /* then there is no second row, and the first is stored last */
        const SAMPLE *row_5 = s.rows[y + 5] + s.x, *row_6 = s.rows[last ? y + 5 : y + 6] + s.x;
        SAMPLE *dst = out_row(&s, y), *dst_next = out_row(&s, last ? y : y + 1);
        for (int x = 0; x < s.n; x += LANES) {
            kept_5 *k = (kept_5 *)s.scratch + x / LANES;
            V odd[5], even[5], v[20], *core;
            sorted_row(odd, row_5 + x, s.step, &s.check, 5);
            copy(v, k->block, 10);
            copy(v + 10, k->even, 5);
            copy(v + 15, odd, 5);
            merge(v + 10, 5, 5);
            copy(k->block, v + 10, 10);
            core = combine(v, 2, 2, 5);
            sorted_row(even, row_6 + x, s.step, &s.check, 5);
            copy(k->even, even, 5);
            put_first(dst_next + x, median_of(core, even, 5), s.n - x);
            put_first(dst + x, median_of(core, k->odd[y / 2 % 2], 5), s.n - x);
            copy(k->odd[y / 2 % 2], odd, 5);
        }
    }
    strip_->check = s.check;
}

/* For 7 x 7 and up: where row i is kept, the block of the two rows from i on, and that of four. */
#define ROW_SLOTS     (LARGEST > 13 ? 32 : 16)
#define ONE(s, i, K)  ((s)->scratch + (i) % ROW_SLOTS * (K))
#define TWO(s, i, K)  ((s)->scratch + (32 + (i) / 2 % 8 * 2) * (K))
#define FOUR(s, i, K) ((s)->scratch + (48 + (i) / 4 % 4 * 4) * (K))

/* Sorts row i and merges the blocks that it completes. */
TAMIS_INLINE void add_row(strip *s, unsigned i, const int K)
{
    V v[8 * MEDIAN_MAX_SORT];
    sorted_row(v, s->rows[i] + s->x, s->step, &s->check, K);
    copy(ONE(s, i, K), v, K);
    if (i % 2 == 0)
        return;
    copy(v + K, ONE(s, i - 1, K), K);
    merge(v, K, K);
    copy(TWO(s, i - 1, K), v, 2 * K);
    if (i % 4 != 3)
        return;
    copy(v + 2 * K, TWO(s, i - 3, K), 2 * K);
    copy(FOUR(s, i - 3, K), combine(v, 2, 2, K), KEPT(4 * K, K));
}

/* Medians of the four windows that begin at rows i .. i + 3; i % 4 is 1. */
TAMIS_INLINE void four_medians(strip *s, unsigned i, V *out, const int K)
{
    V v[12 * MEDIAN_MAX_SORT], *core = v;
    int rows = 4;
    copy(v, FOUR(s, i + 3, K), KEPT(4 * K, K));
    if ((K - 3) % 4) {
        copy(core + KEPT(4 * K, K), TWO(s, i + K - 2, K), 2 * K);
        core = combine(core, 4, 2, K);
        rows += 2;
    }
    UNROLL
    for (int more = 7; more + 3 < K; more += 4) {
        copy(core + KEPT(rows * K, K), FOUR(s, i + more, K), KEPT(4 * K, K));
        core = combine(core, rows, 4, K);
        rows += 4;
    }
    UNROLL
    for (int half = 0; half < 2; half++) {
        V w[8 * MEDIAN_MAX_SORT], *wider;
        copy(w, core, KEPT((K - 3) * K, K));
        copy(w + KEPT((K - 3) * K, K), TWO(s, half ? i + K : i + 1, K), 2 * K);
        wider = combine(w, K - 3, 2, K);
        out[2 * half] = median_of(wider, ONE(s, i + 2 * half, K), K);
        out[2 * half + 1] = median_of(wider, ONE(s, i + 2 * half + K, K), K);
    }
}

/* A strip as wide as a vector, four rows at a time. */
TAMIS_INLINE void strip_k(strip *s, const int K)
{
    for (int i = 1; i < K; i++)
        add_row(s, i, K);
    for (int y = 0; y < s->h; y += 4) {
        V out[4];
        /* At the end rows may be missing; what is made of them is not stored. */
        for (int i = y + K; i < y + K + 4 && i < s->h + K; i++)
            add_row(s, i, K);
        four_medians(s, y + 1, out, K);
        for (int i = 0; i < 4 && y + i < s->h; i++)
            put_first(out_row(s, y + i), out[i], s->n);
    }
}

/* Calls fn for each strip of at most width samples. Returns 0 where CHECK_END says so. */
static int strips(const tamis_tile *tile, void *scratch, int K, int width, void (*fn)(strip *))
{
    const int n = tile->w * tile->step, r = K / 2;
    for (int p = 0; p < tile->planes; p++)
        for (int x = 0; x < n; x += width) {
            strip s = {
                .rows = (const SAMPLE *const *)tile->src[p] - r - 1,
                .x = x - (ptrdiff_t)r * tile->step,
                .dst = (SAMPLE *)tile->dst[p] + x,
                .stride = tile->dst_stride[p],
                .n = n - x < width ? n - x : width,
                .h = tile->h,
                .step = tile->step,
                .scratch = scratch,
            };
            fn(&s);
            if (!CHECK_END(&s, K))
                return 0;
        }
    return 1;
}

static void strip_7(strip *s)
{
    strip_k(s, 7);
}

static void strip_9(strip *s)
{
    strip_k(s, 9);
}

static void strip_11(strip *s)
{
    strip_k(s, 11);
}

static void strip_13(strip *s)
{
    strip_k(s, 13);
}

#if LARGEST >= 15
static void strip_15(strip *s)
{
    strip_k(s, 15);
}
#else
#define strip_15 NULL
#endif

static int sort_tile(const tamis_tile *tile, const void *coef, void *scratch)
{
    static void (*const medians[])(strip *) = {strip_3,  strip_5,  strip_7, strip_9,
                                               strip_11, strip_13, strip_15};
    const int k = ((const median_coef *)coef)->w;
    const int width = k == 3   ? tile->w * tile->step
                      : k == 5 ? MEDIAN_STRIP_5 / (int)sizeof(SAMPLE)
                               : LANES;
    return strips(tile, scratch, k, width, medians[k / 2 - 1]);
}
