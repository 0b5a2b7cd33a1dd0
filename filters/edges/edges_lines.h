/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes of EDGES_ROWS rows at a time, in vectors V of N samples T. Included once for 16-bit
 * integers and once for binary32, with LINES and LAPLACE naming the functions and
 * LOAD(type, row, i) giving samples i .. i+N-1 of a source row.
 *
 * rows[0 .. last] are the source rows of the first output row and on; the radius before them are
 * there too. Writes samples 0 .. n-1, and up to N-1 more, of rows EDGES_STRIDE apart, from source
 * sample at. All but the pointers, at, n and the weights are constants where it is inlined. */

TAMIS_INLINE void LINES(const void *const *rows, int last, tamis_type type, ptrdiff_t at, int step,
                        int n, int radius, const T *derivative, const T *smooth, unsigned want,
                        T *gx, T *gy)
{
    enum { LINES_MAX = EDGES_ROWS + 2 * EDGES_MAX_RADIUS };
    const int count = EDGES_ROWS + 2 * radius;
    const void *row[LINES_MAX];
    V d[EDGES_MAX_RADIUS + 1], s[EDGES_MAX_RADIUS + 1];
    for (int v = 0; v < count; v++)
        row[v] = rows[v - radius < last ? v - radius : last];
    for (int j = 0; j <= radius; j++) {
        d[j] = (V){0} + derivative[j];
        s[j] = (V){0} + smooth[j];
    }
    for (int x = 0; x < n; x += N) {
        V across[LINES_MAX], smoothed[LINES_MAX];
        for (int v = 0; v < count; v++) {
            V middle = {0}, sum = {0};
            if (want & WANT_DY)
                middle = LOAD(type, row[v], at + x) * s[0];
            for (int j = 1; j <= radius; j++) {
                V after = LOAD(type, row[v], at + x + j * step);
                V before = LOAD(type, row[v], at + x - j * step);
                if (want & WANT_DX)
                    sum = j == 1 ? (after - before) * d[1] : sum + (after - before) * d[j];
                if (want & WANT_DY)
                    middle += (after + before) * s[j];
            }
            across[v] = sum;
            smoothed[v] = middle;
        }
        for (int y = 0; y < EDGES_ROWS; y++) {
            const V *a = across + y + radius, *b = smoothed + y + radius;
            V dx = a[0] * s[0], dy = (b[1] - b[-1]) * d[1];
            for (int j = 1; j <= radius; j++)
                dx += (a[-j] + a[j]) * s[j];
            for (int j = 2; j <= radius; j++)
                dy += (b[j] - b[-j]) * d[j];
            if (want & WANT_DX)
                memcpy(gx + y * EDGES_STRIDE + x, &dx, sizeof dx);
            if (want & WANT_DY)
                memcpy(gy + y * EDGES_STRIDE + x, &dy, sizeof dy);
        }
    }
}

TAMIS_INLINE void LAPLACE(const void *const *rows, int last, tamis_type type, ptrdiff_t at,
                          int step, int n, int corners, T *out)
{
    for (int x = 0; x < n; x += N) {
        for (int y = 0; y < EDGES_ROWS; y++) {
            const void *above = rows[y - 1 < last ? y - 1 : last];
            const void *here = rows[y < last ? y : last];
            const void *below = rows[y + 1 < last ? y + 1 : last];
            ptrdiff_t i = at + x;
            V sum = (LOAD(type, above, i) + LOAD(type, below, i)) +
                    (LOAD(type, here, i - step) + LOAD(type, here, i + step));
            T weight = 4;
            if (corners) {
                sum += (LOAD(type, above, i - step) + LOAD(type, below, i + step)) +
                       (LOAD(type, above, i + step) + LOAD(type, below, i - step));
                weight = 8;
            }
            sum -= LOAD(type, here, i) * weight;
            memcpy(out + y * EDGES_STRIDE + x, &sum, sizeof sum);
        }
    }
}

#undef V
#undef T
#undef N
#undef LOAD
#undef LINES
#undef LAPLACE
