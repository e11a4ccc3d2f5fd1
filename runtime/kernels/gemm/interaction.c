#include "runtime/kernels/gemm/interaction.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* Backward, a tile of sums in registers: ROWS by WIDE vectors. */
enum { ROWS = 6, WIDE = PDNN_LANES == 16 ? 4 : 2 };

/* Streaming stores are of so many floats, or so many 16-bit elements. */
enum { VECTOR = 4, STREAMED = 8, LINE = 64 };

/* c = a b: a (ROWS, m) with rows lda apart, b (m, vectors) with rows ldb apart, c with rows ldc apart. */
PDNN_INLINE void tile(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, float *c,
                      int64_t ldc, int rows, int vectors) {
    pdnn_floats sum[ROWS][WIDE] = {{{0}}}, v[WIDE];
    for (int64_t j = 0; j < m; j++) {
        for (int w = 0; w < vectors; w++)
            pdnn_load(&v[w], b + j * ldb + w * PDNN_LANES);
        for (int i = 0; i < rows; i++)
            for (int w = 0; w < vectors; w++)
                sum[i][w] += a[i * lda + j] * v[w];
    }
    for (int i = 0; i < rows; i++)
        for (int w = 0; w < vectors; w++)
            pdnn_store(c + i * ldc + w * PDNN_LANES, &sum[i][w]);
}

#define TILE(n)                                                                                              \
    static void tile_##n(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, float *c,      \
                         int64_t ldc, int rows) {                                                            \
        if (rows == ROWS)                                                                                    \
            tile(a, lda, b, ldb, m, c, ldc, ROWS, n);                                                        \
        else                                                                                                 \
            for (int i = 0; i < rows; i++)                                                                   \
                tile(a + i * lda, lda, b, ldb, m, c + i * ldc, ldc, 1, n);                                   \
    }
TILE(1)
TILE(2)
#if PDNN_LANES == 16
TILE(3)
TILE(4)
#endif

static void (*const tiles[WIDE])(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m,
                                 float *c, int64_t ldc, int rows) = {
    tile_1,
    tile_2,
#if PDNN_LANES == 16
    tile_3,
    tile_4,
#endif
};

/* At most ROWS rows of c, whole vectors of columns up to n; b's rows are as long. */
static void multiply(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, float *c,
                     int64_t ldc, int64_t rows, int64_t n) {
    int64_t vectors = (n + PDNN_LANES - 1) / PDNN_LANES;
    for (int64_t at = 0; at < vectors; at += WIDE) {
        int64_t now = pdnn_least(WIDE, vectors - at), column = at * PDNN_LANES;
        tiles[now - 1](a, lda, b + column, ldb, m, c + column, ldc, (int)rows);
    }
}

static int64_t padded(int64_t n) {
    return (n + PDNN_LANES - 1) / PDNN_LANES * PDNN_LANES;
}

static int64_t pairs_of(const struct pdnn_interaction *job, int64_t i) {
    return job->all ? job->k : i;
}

static int64_t products_of(const struct pdnn_interaction *job) {
    return job->all ? job->k * job->k : job->k * (job->k - 1) / 2;
}

/* Of one thread. */
struct room {
    float *vectors;   /* with padded columns (k, padded D) */
    float *c;         /* a tile of results, (ROWS, padded D) */
    float *g;         /* (k, padded k) */
    float *x, *y, *z; /* rows that are 16-bit in memory, widened: two (k D) and one of products */
};

/* The floats that a room takes; its arrays, unless `from` is NULL. */
static int64_t take_room(int64_t k, int64_t D, float *from, struct room *room) {
    const int64_t line = LINE / sizeof(float);
    const int64_t sizes[] = {k * padded(D), ROWS * padded(D), k * padded(k), k * D, k * D, k * k};
    float **const arrays[] = {&room->vectors, &room->c, &room->g, &room->x, &room->y, &room->z};
    int64_t used = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *arrays[i] = from ? from + used : NULL;
        used += (sizes[i] + line - 1) / line * line;
    }
    return used;
}

static struct room room_of(const struct pdnn_interaction *job, int64_t index) {
    struct room room;
    take_room(job->k, job->D, job->scratch + index * take_room(job->k, job->D, NULL, &room), &room);
    return room;
}

/* Row n of an array, in f32: where it is, or widened. */
static const float *row_of(const struct pdnn_interaction *job, const void *array, int64_t n, int64_t width,
                           float *wide) {
    if (job->type == PDNN_HALF_COUNT)
        return (const float *)array + n * width;
    pdnn_half_widen(job->type, (const uint16_t *)array + n * width, wide, width);
    return wide;
}

static float *result_of(const struct pdnn_interaction *job, void *array, int64_t n, int64_t width,
                        float *wide) {
    return job->type == PDNN_HALF_COUNT ? (float *)array + n * width : wide;
}

static void put_result(const struct pdnn_interaction *job, void *array, int64_t n, int64_t width,
                       const float *wide) {
    if (job->type != PDNN_HALF_COUNT)
        (job->bypass && width % STREAMED == 0 ? pdnn_half_narrow_bypass : pdnn_half_narrow)(
            job->type, wide, (uint16_t *)array + n * width, width);
}

/* Where the products of vector i begin. */
static int64_t place_of(const struct pdnn_interaction *job, int64_t i) {
    return job->all ? i * job->k : i * (i - 1) / 2;
}

/* Forward, the products of UP vectors with ACROSS others: sums of whole vectors of columns, added up at the
 * end. */
enum { UP = PDNN_LANES == 16 ? 4 : 2, ACROSS = 4 };

PDNN_INLINE void dots(const float *a, const float *b, int64_t D, int rows, int columns, float c[UP][ACROSS]) {
    pdnn_floats sum[UP][ACROSS] = {{{0}}}, u[UP], v;
    for (int64_t d = 0; d < D; d += PDNN_LANES) {
        const int64_t n = pdnn_least(PDNN_LANES, D - d);
        for (int i = 0; i < rows; i++)
            pdnn_load_lanes(&u[i], a + i * D + d, n);
        for (int j = 0; j < columns; j++) {
            pdnn_load_lanes(&v, b + j * D + d, n);
            for (int i = 0; i < rows; i++)
                sum[i][j] += u[i] * v;
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            if (columns < ACROSS)
                c[i][j] = pdnn_sum(&sum[i][j]);
    for (int i = 0; i < rows && columns == ACROSS; i++)
        pdnn_sum4(c[i], sum[i]);
}

/* Products of the vectors from i and from j on, which may end beyond the pairs. */
static void put_dots(const struct pdnn_interaction *job, const float *x, int64_t i, int64_t j, float *y) {
    const int64_t k = job->k, D = job->D;
    float c[UP][ACROSS];
    dots(x + i * D, x + j * D, D, UP, ACROSS, c);
    for (int64_t row = i; row < i + UP; row++)
        for (int64_t column = j; column < pdnn_least(j + ACROSS, job->all ? k : row); column++)
            y[place_of(job, row) + column] = c[row - i][column - j];
}

/* A row of an array ahead of time, as the vectors of another are used: from vector i on. */
PDNN_INLINE void fetch(const struct pdnn_interaction *job, const void *array, int64_t n, int64_t i,
                       int64_t vectors) {
    const int64_t element = job->type == PDNN_HALF_COUNT ? sizeof(float) : sizeof(uint16_t),
                  bytes = job->D * element;
    const char *from = (const char *)array + (pdnn_least(n, job->N - 1) * job->k + i) * bytes;
    for (int64_t at = 0; at < pdnn_least(vectors, job->k - i) * bytes; at += LINE)
        __builtin_prefetch(from + at);
}

static void multiply_row(const struct pdnn_interaction *job, const float *x, float *y, int64_t n) {
    const int64_t k = job->k, D = job->D;
    float one[UP][ACROSS];
    for (int64_t i = 0; k < ACROSS && i < k; i++)
        for (int64_t j = 0; j < pairs_of(job, i); j++) {
            dots(x + i * D, x + j * D, D, 1, 1, one);
            y[place_of(job, i) + j] = one[0][0];
        }
    /* The last tile of either direction ends with the last vector. */
    for (int64_t i = 0; k >= ACROSS && i < k; i += UP) {
        const int64_t first = pdnn_least(i, k - UP), end = pairs_of(job, first + UP - 1);
        fetch(job, job->x, n + 1, i, UP);
        for (int64_t j = 0; j < end; j += ACROSS)
            put_dots(job, x, first, pdnn_least(j, k - ACROSS), y);
    }
}

static void forward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_interaction *job = state;
    const struct pdnn_span span = pdnn_span_of(job->N, 1, index, parts);
    const struct room room = room_of(job, index);
    const int64_t inputs = job->k * job->D, P = products_of(job);
    for (int64_t n = span.begin; n < span.end; n++) {
        multiply_row(job, row_of(job, job->x, n, inputs, room.x), result_of(job, job->y, n, P, room.z), n);
        put_result(job, job->y, n, P, room.z);
    }
}

PDNN_KERNEL_VALUE(int64_t, pdnn_interaction_scratch, (int64_t k, int64_t D, int64_t threads),
                  (k, D, threads)) {
    struct room room;
    return threads * take_room(k, D, NULL, &room);
}

PDNN_KERNEL(pdnn_interaction_forward, (const struct pdnn_interaction *job, int64_t threads), (job, threads)) {
    struct pdnn_interaction copy = *job;
    pdnn_team_run(threads, job->N * job->k * job->D, forward_part, &copy);
}

/* g: what a pair's gradient is for either of its vectors. */
static void spread(const struct pdnn_interaction *job, const float *dy, float *g) {
    const int64_t k = job->k, ld = padded(k);
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; job->all && j < k; j++)
            g[i * ld + j] = dy[i * k + j] + dy[j * k + i];
        for (int64_t j = 0; !job->all && j < i; j++)
            g[i * ld + j] = g[j * ld + i] = dy[i * (i - 1) / 2 + j];
        if (!job->all)
            g[i * ld + i] = 0;
    }
}

/* The vectors with whole vectors of columns. */
static const float *widen_columns(const struct pdnn_interaction *job, const float *x, float *to) {
    const int64_t D = job->D, wide = padded(D);
    for (int64_t i = 0; wide != D && i < job->k; i++)
        memcpy(to + i * wide, x + i * D, (size_t)D * sizeof *x);
    return wide == D ? x : to;
}

static void backward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_interaction *job = state;
    const struct pdnn_span span = pdnn_span_of(job->N, 1, index, parts);
    const struct room room = room_of(job, index);
    const int64_t k = job->k, D = job->D, P = products_of(job), wide = padded(D);
    const bool streams = job->bypass && job->type == PDNN_HALF_COUNT;
    memset(room.vectors, 0, (size_t)(k * wide) * sizeof *room.vectors);
    for (int64_t n = span.begin; n < span.end; n++) {
        const float *x = widen_columns(job, row_of(job, job->x, n, k * D, room.x), room.vectors);
        float *dx = result_of(job, job->dx, n, k * D, room.y);
        spread(job, row_of(job, job->dy, n, P, room.z), room.g);
        for (int64_t first = 0; first < k; first += ROWS) {
            const int64_t rows = pdnn_least(ROWS, k - first);
            float *to = wide == D && !streams ? dx + first * D : room.c;
            fetch(job, job->x, n + 1, first, ROWS);
            multiply(room.g + first * padded(k), padded(k), x, wide, k, to, wide, rows, D);
            for (int64_t i = 0; to == room.c && i < rows; i++) {
                if (streams)
                    pdnn_bypass_copy(dx + (first + i) * D, to + i * wide, D);
                else
                    memcpy(dx + (first + i) * D, to + i * wide, (size_t)D * sizeof *dx);
            }
        }
        put_result(job, job->dx, n, k * D, room.y);
    }
    if (job->bypass)
        pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_interaction_backward, (const struct pdnn_interaction *job, int64_t threads),
            (job, threads)) {
    struct pdnn_interaction copy = *job;
    copy.bypass = job->bypass && job->D % VECTOR == 0;
    pdnn_team_run(threads, job->N * job->k * job->D, backward_part, &copy);
}
