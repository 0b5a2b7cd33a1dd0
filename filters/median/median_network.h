/* SPDX-License-Identifier: Apache-2.0 */
/* Square medians by sorting networks, for one sample type: included by median_simd_<type>.c, which
 * says what V, LANES, LOAD, STORE, MIN and MAX are.
 *
 * Lanes are neighboring samples of a row, and a network of minima and maxima, the same for all,
 * finds the median. Three ideas keep it small:
 *
 * Sharing between rows. Two output rows y and y + 1 are made together. Their windows of K x K have
 * K - 1 rows in common, the core; each has one row more, above or below.
 *
 * Sharing between columns. Whatever is computed at x from columns x .. x + m - 1 serves every
 * window that has these columns: it is stored in a row of its own and read again at a distance.
 * So the core columns are sorted once, m = (K - 1) / 2 neighbors are merged once, and the core is
 * list(x) + list(x + m) + column(x + K - 1).
 *
 * Dropping ranks. In a sorted part of m of the n = K * K samples, an element with more than n / 2
 * of the part on one side of it cannot be the median; what is left of the core has K + 1 elements.
 * The networks are written out whole, by Batcher's odd-even merge, and the compiler removes every
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

/* A list in memory: element i of position x is at[i * pitch + x]. */
typedef struct list {
    SAMPLE *at;
    ptrdiff_t pitch;
} list;

TAMIS_INLINE void take(V *v, list l, ptrdiff_t x, int from, int count)
{
    UNROLL
    for (int i = 0; i < count; i++)
        v[i] = LOAD(l.at + (from + i) * l.pitch + x);
}

TAMIS_INLINE void put(const V *v, list l, ptrdiff_t x, int count)
{
    UNROLL
    for (int i = 0; i < count; i++)
        STORE(l.at + i * l.pitch + x, v[i]);
}

/* Appends count elements of a list to the sorted v[0 .. have-1], in order. */
TAMIS_INLINE void join(V *v, int have, list l, ptrdiff_t x, int count)
{
    take(v + have, l, x, 0, count);
    if (have > 0)
        merge(v, have, count);
}

/* The lists of one set of rows: columns of e samples, groups of MEDIAN_GROUP(K) columns, and
 * halves of MEDIAN_HALF(K) columns, each at the position of its first column. A level that would
 * repeat the one before shares its memory. */
typedef struct levels {
    list column, group, half;
} levels;

/* Merges columns into groups and groups into halves, for w samples of windows. */
TAMIS_INLINE void build(const levels *l, int w, int step, int e, const int K)
{
    const int g = MEDIAN_GROUP(K), m = MEDIAN_HALF(K);
    V v[MEDIAN_HALF(16) * 16];
    if (g > 1)
        for (int x = 0; x < w + (K - g) * step; x += LANES) {
            UNROLL
            for (int i = 0; i < g; i++)
                join(v, i * e, l->column, x + i * step, e);
            put(v, l->group, x, g * e);
        }
    if (m > 1)
        for (int x = 0; x < w + (K - m) * step; x += LANES) {
            const int merged = m < 2 * g ? g : 2 * g;
            join(v, 0, l->group, x, g * e);
            if (merged > g)
                join(v, g * e, l->group, x + g * step, g * e);
            UNROLL
            for (int i = merged; i < m; i++)
                join(v, i * e, l->column, x + i * step, e);
            put(v, l->half, x, m * e);
        }
}

/* Of the core, the K + 1 elements that can still be the median. */
TAMIS_INLINE void take_core(V *core, const levels *l, ptrdiff_t x, int step, const int K)
{
    const int rank = K * K / 2, e = K - 1, m = MEDIAN_HALF(K);
    const int low = 2 * m * e - 1 - rank > 0 ? 2 * m * e - 1 - rank : 0;
    const int high = rank < 2 * m * e ? rank : 2 * m * e - 1;
    const int kept = high - low + 1;
    V v[2 * MEDIAN_HALF(16) * 16];
    join(v, 0, l->half, x, m * e);
    join(v, m * e, l->half, x + m * step, m * e);
    join(v + low, kept, l->column, x + 2 * m * step, e);
    UNROLL
    for (int i = 0; i <= K; i++)
        core[i] = v[K * e - 1 - rank + i];
}

/* The median of a core's K + 1 and a row's K samples, which is its element K: the least number
 * that bounds i + 1 elements of the one and K - i of the other. */
TAMIS_INLINE V take_median(const V *core, const levels *row, ptrdiff_t x, int step, const int K)
{
    const int m = MEDIAN_HALF(K);
    V v[16], median = core[K];
    join(v, 0, row->half, x, m);
    join(v, m, row->half, x + m * step, m);
    join(v, 2 * m, row->column, x + 2 * m * step, 1);
    UNROLL
    for (int i = 0; i < K; i++)
        median = MIN(median, MAX(core[i], v[K - 1 - i]));
    return median;
}

/* Lays out the lists of columns of e samples in scratch; returns where the next may start. */
TAMIS_INLINE SAMPLE *place(levels *l, SAMPLE *at, ptrdiff_t pitch, int e, const int K)
{
    l->column = (list){at, pitch};
    at += e * pitch;
    l->group = l->column;
    if (MEDIAN_GROUP(K) > 1) {
        l->group = (list){at, pitch};
        at += e * MEDIAN_GROUP(K) * pitch;
    }
    l->half = l->group;
    if (MEDIAN_HALF(K) > 1) {
        l->half = (list){at, pitch};
        at += e * MEDIAN_HALF(K) * pitch;
    }
    return at;
}

TAMIS_INLINE void put_first(SAMPLE *dst, V v, int n)
{
    if (n >= LANES)
        STORE(dst, v);
    else
        tv_store_first(dst, (tv_u8)v, (size_t)n * sizeof(SAMPLE));
}

/* Two output rows, w samples wide. rows[0 .. K] are the source rows, at the first column of the
 * first window; dst[1] may be NULL, as may rows[K]. */
TAMIS_INLINE void pair_of_rows(const SAMPLE *const *rows, SAMPLE *const *dst, int w, int step,
                               void *scratch, const int K)
{
    const ptrdiff_t pitch = MEDIAN_PITCH(K) / sizeof(SAMPLE);
    levels core, extra[2];
    SAMPLE *next = place(&core, scratch, pitch, K - 1, K);
    CHECK check = {0};
    for (int x = 0; x < w + (K - 1) * step; x += LANES) {
        V v[16];
        UNROLL
        for (int i = 0; i < K - 1; i++)
            v[i] = SOURCE(rows[i + 1] + x);
        sort(v, K - 1);
        CHECK_LIST(check, v, K - 1);
        put(v, core.column, x, K - 1);
    }
    build(&core, w, step, K - 1, K);
    for (int i = 0; i < (dst[1] ? 2 : 1); i++) {
        next = place(&extra[i], next, pitch, 1, K);
        for (int x = 0; x < w + (K - 1) * step; x += LANES) {
            V v = SOURCE(rows[i * K] + x);
            CHECK_LIST(check, &v, 1);
            STORE(extra[i].column.at + x, v);
        }
        build(&extra[i], w, step, 1, K);
    }
    for (int x = 0; x < w; x += LANES) {
        V v[16];
        take_core(v, &core, x, step, K);
        put_first(dst[0] + x, RESULT(take_median(v, &extra[0], x, step, K)), w - x);
        if (dst[1])
            put_first(dst[1] + x, RESULT(take_median(v, &extra[1], x, step, K)), w - x);
    }
    CHECK_END(check, rows, dst, w, step, K);
}

/* The whole tile, in chunks of columns whose lists stay in the nearest caches. */
TAMIS_INLINE void network(const tamis_tile *tile, void *scratch, const int K)
{
    const int chunk = MEDIAN_CHUNK(K) / (int)sizeof(SAMPLE), n = tile->w * tile->step, r = K / 2;
    for (int p = 0; p < tile->planes; p++)
        for (int y = 0; y < tile->h; y += 2)
            for (int x = 0; x < n; x += chunk) {
                const SAMPLE *rows[17];
                SAMPLE *dst[2] = {NULL};
                const int count = y + 1 < tile->h ? 2 : 1;
                for (int i = 0; i < K - 1 + count; i++)
                    rows[i] = (const SAMPLE *)tile->src[p][y + i - r] + x - r * tile->step;
                for (int i = 0; i < count; i++)
                    dst[i] = (SAMPLE *)((char *)tile->dst[p] + (y + i) * tile->dst_stride[p]) + x;
                pair_of_rows(rows, dst, n - x < chunk ? n - x : chunk, tile->step, scratch, K);
            }
}

#define NETWORK(K)                                                                                 \
    static void sort_##K(const tamis_tile *tile, void *scratch)                                    \
    {                                                                                              \
        network(tile, scratch, K);                                                                 \
    }
NETWORK(3)
NETWORK(5)
NETWORK(7)
NETWORK(9)
NETWORK(11)
NETWORK(13)
NETWORK(15)
#undef NETWORK

void KERNEL(const tamis_tile *tile, const void *coef, void *scratch)
{
    static void (*const sorts[])(const tamis_tile *, void *) = {sort_3,  sort_5,  sort_7, sort_9,
                                                                sort_11, sort_13, sort_15};
    sorts[((const median_coef *)coef)->w / 2 - 1](tile, scratch);
}
