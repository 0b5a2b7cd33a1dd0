/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes of EDGES_ROWS rows at a time, in vectors V of N samples T. Included once for 16-bit
 * integers and once for binary32, with SLOPES, LINES and LAPLACE naming the functions and
 * LOAD(type, row, i) giving samples i .. i+N-1 of a source row.
 *
 * rows[0 .. last] are the source rows of the first output row and on; the radius before them are
 * there too. All but the pointers, at, x, n and the weights are constants where it is inlined. */

/* Of N samples from sample at on; row holds the source rows, those before the first included. */
TAMIS_INLINE void SLOPES(const void *const *row, tamis_type type, ptrdiff_t at, int step,
                         int radius, const T *derivative, const T *smooth, unsigned want,
                         V dx[EDGES_ROWS], V dy[EDGES_ROWS])
{
    V across[LINES_MAX], smoothed[LINES_MAX];
    for (int v = 0; v < EDGES_ROWS + 2 * radius; v++) {
        V middle = {0}, sum = {0};
        if (want & WANT_DY)
            middle = LOAD(type, row[v], at) * smooth[0];
        for (int j = 1; j <= radius; j++) {
            V after = LOAD(type, row[v], at + j * step);
            V before = LOAD(type, row[v], at - j * step);
            if (want & WANT_DX)
                sum = j == 1 ? (after - before) * derivative[1]
                             : sum + (after - before) * derivative[j];
            if (want & WANT_DY)
                middle += (after + before) * smooth[j];
        }
        across[v] = sum;
        smoothed[v] = middle;
    }
    for (int y = 0; y < EDGES_ROWS; y++) {
        const V *a = across + y + radius, *b = smoothed + y + radius;
        dx[y] = a[0] * smooth[0];
        dy[y] = (b[1] - b[-1]) * derivative[1];
        for (int j = 1; j <= radius; j++)
            dx[y] += (a[-j] + a[j]) * smooth[j];
        for (int j = 2; j <= radius; j++)
            dy[y] += (b[j] - b[-j]) * derivative[j];
    }
}

/* Writes samples 0 .. n-1, and up to N-1 more, of rows EDGES_STRIDE apart. */
TAMIS_INLINE void LINES(const void *const *rows, int last, tamis_type type, ptrdiff_t at, int step,
                        int n, int radius, const T *derivative, const T *smooth, unsigned want,
                        T *gx, T *gy)
{
    const void *row[LINES_MAX];
    T d[EDGES_MAX_RADIUS + 1], s[EDGES_MAX_RADIUS + 1];
    for (int v = 0; v < EDGES_ROWS + 2 * radius; v++)
        row[v] = rows[v - radius < last ? v - radius : last];
    for (int j = 0; j <= radius; j++) {
        d[j] = derivative[j];
        s[j] = smooth[j];
    }
    for (int x = 0; x < n; x += N) {
        V dx[EDGES_ROWS], dy[EDGES_ROWS];
        SLOPES(row, type, at + x, step, radius, d, s, want, dx, dy);
        for (int y = 0; y < EDGES_ROWS; y++) {
            if (want & WANT_DX)
                memcpy(gx + y * EDGES_STRIDE + x, dx + y, sizeof *dx);
            if (want & WANT_DY)
                memcpy(gy + y * EDGES_STRIDE + x, dy + y, sizeof *dy);
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
#undef SLOPES
#undef LINES
#undef LAPLACE
