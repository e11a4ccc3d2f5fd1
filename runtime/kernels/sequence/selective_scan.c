#include "runtime/kernels/sequence/selective_scan.h"

#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <stdbool.h>
#include <string.h>

/* A thread takes a group of channels of a sequence at a time, so that rows are read by whole lines and pages
 * are not met again for each vector; rows are a page apart, so it asks for them AHEAD of time. Backward keeps
 * the states of every CHUNK-th token, and computes those between into L1. An exp counts as EXP_ELEMENTS
 * elements when deciding whether the work is enough for all threads. */
enum { GROUP = 64, VECTORS = GROUP / PDNN_LANES, CHUNK = 8, AHEAD = 4, EXP_ELEMENTS = 8, LINE = 16 };

static const float LOG2_E = 1.44269504F, LN_2 = 0.69314718F;

struct scan {
    const struct pdnn_selective_scan *job;
    const struct pdnn_selective_scan_gradients *gradients; /* backward */
    float *y;                                              /* forward */
    float *room;                                           /* a thread's, `room_floats` each */
    int64_t room_floats;
    /* Backward: each group's share of db and dc, (groups, R, 2S), and each sequence's of da and dd, (N, C,
     * S + 1). */
    float *of_groups, *of_sequences;
};

/* A vector of channels of one sequence: the first, and how many there are. */
struct lanes {
    int64_t channel, n;
};

static int64_t whole_lines(int64_t n) {
    return (n + LINE - 1) / LINE * LINE;
}

static int64_t groups_of(const struct pdnn_selective_scan *job) {
    return (job->C + GROUP - 1) / GROUP;
}

PDNN_INLINE void load(pdnn_floats *v, const float *from, struct lanes at) {
    pdnn_load_lanes(v, from + at.channel, at.n);
}

PDNN_INLINE void store(float *to, const pdnn_floats *v, struct lanes at) {
    if (at.n == PDNN_LANES)
        pdnn_store(to + at.channel, v);
    else
        pdnn_store_part(to + at.channel, v, at.n);
}

/* A group's part of a row of (R, C), or of the last row. */
PDNN_INLINE void fetch(const struct pdnn_selective_scan *job, const float *x, int64_t row, int64_t group) {
    x += pdnn_least(row, job->N * job->T - 1) * job->C + group * GROUP;
    for (int i = 0; i < GROUP; i += LINE)
        __builtin_prefetch(x + i);
}

/* Rates of decay, and the largest of each channel: vectors of the decay's exponent to base 2 for a step of
 * 1, by state. */
struct rates {
    float *at;    /* (S, lanes) */
    float *reach; /* (lanes) */
};

static void load_rates(const struct pdnn_selective_scan *job, struct lanes at, struct rates rates) {
    memset(rates.at, 0, (size_t)(job->S * PDNN_LANES) * sizeof *rates.at);
    memset(rates.reach, 0, PDNN_LANES * sizeof *rates.reach);
    for (int64_t i = 0; i < at.n; i++) {
        for (int64_t n = 0; n < job->S; n++) {
            const float rate = -job->a[(at.channel + i) * job->S + n] * LOG2_E,
                        size = rate < 0 ? -rate : rate;
            rates.at[n * PDNN_LANES + i] = rate;
            rates.reach[i] = rates.reach[i] > size ? rates.reach[i] : size;
        }
    }
}

/* 2^t of each lane: t = n + r with |r| <= 1/2, and the best polynomial of this degree for 2^r that is 1 at r
 * = 0, within 1e-7 and closer near 0, where states last. |t| <= REACH. */
enum { REACH = 125 };

PDNN_INLINE void exp2_lanes(pdnn_floats *t) {
    const float round = 12582912.0F;
    const pdnn_floats shifted = *t + round, r = *t - (shifted - round);
    pdnn_floats p = r * 1.3264727313e-3F + 9.6715129912e-3F;
    p = p * r + 5.5507335812e-2F;
    p = p * r + 2.4022242427e-1F;
    p = p * r + 6.9314700365e-1F;
    p = p * r + 1.0F;
    *t = (pdnn_floats)((pdnn_ints)p + ((pdnn_ints)shifted << 23));
}

/* Whether some state's t is beyond REACH. */
PDNN_INLINE bool reaches_far(const pdnn_floats *delta, const float *reach) {
    pdnn_floats size;
    pdnn_load(&size, reach);
    const pdnn_floats t = *delta * size, limit = (pdnn_floats){0} + (float)REACH;
    const pdnn_floats back = -t;
    return pdnn_any(pdnn_above(&t, &limit)) || pdnn_any(pdnn_above(&back, &limit));
}

/* One token of a vector of channels. `decays`: (S, lanes), kept for backward; or NULL. h may be `before`. */
struct token {
    const float *b, *c, *rates, *before;
    float *h, *decays;
    pdnn_floats delta, u; /* u: delta x */
};

/* The states from n on, as many as there are sums, which take what they are read as. */
PDNN_INLINE void step_states(const struct token *token, int64_t n, pdnn_floats *sums, int count, bool is_far,
                             bool is_read) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = (n + i) * PDNN_LANES;
        pdnn_floats e, state, low = (pdnn_floats){0} - (float)REACH, high = -low;
        pdnn_load(&e, token->rates + at);
        pdnn_load(&state, token->before + at);
        e *= token->delta;
        if (is_far) {
            pdnn_most(&low, &e); /* the second operand where one is NaN */
            e = high;
            pdnn_lowest(&e, &low);
        }
        exp2_lanes(&e);
        if (token->decays)
            pdnn_store(token->decays + at, &e);
        state = state * e + token->u * token->b[n + i];
        pdnn_store(token->h + at, &state);
        if (is_read)
            sums[i] += state * token->c[n + i];
    }
}

/* The states after a token, and what they are read as. */
PDNN_INLINE void step_token(const struct token *token, int64_t S, pdnn_floats *sum, bool is_far,
                            bool is_read) {
    enum { TOGETHER = 2 }; /* sums, none of which waits for the other */
    pdnn_floats sums[TOGETHER] = {{0}};
    int64_t n = 0;
    for (; n + TOGETHER <= S; n += TOGETHER)
        step_states(token, n, sums, TOGETHER, is_far, is_read);
    for (; n < S; n++)
        step_states(token, n, sums, 1, is_far, is_read);
    if (is_read)
        *sum = sums[0] + sums[1];
}

PDNN_INLINE void step(const struct pdnn_selective_scan *job, int64_t row, struct lanes at, struct rates rates,
                      const float *before, float *h, float *decays, pdnn_floats *sum) {
    struct token token = {.b = job->b + row * job->S,
                          .c = job->c + row * job->S,
                          .rates = rates.at,
                          .before = before,
                          .h = h,
                          .decays = decays};
    pdnn_floats x;
    load(&token.delta, job->delta + row * job->C, at);
    load(&x, job->x + row * job->C, at);
    token.u = x * token.delta;
    if (reaches_far(&token.delta, rates.reach))
        step_token(&token, job->S, sum, true, sum != NULL);
    else
        step_token(&token, job->S, sum, false, sum != NULL);
}

/* The channels of a group that are vector k of it. */
static struct lanes lanes_of(const struct pdnn_selective_scan *job, int64_t group, int k) {
    const int64_t channel = group * GROUP + k * PDNN_LANES;
    return (struct lanes){channel, pdnn_least(PDNN_LANES, job->C - channel)};
}

/* A group's rates, (VECTORS, S, lanes) and (VECTORS, lanes). */
static struct rates rates_of(const struct pdnn_selective_scan *job, float *at, int k) {
    return (struct rates){at + k * job->S * PDNN_LANES, at + GROUP * job->S + k * PDNN_LANES};
}

static void load_group(const struct pdnn_selective_scan *job, int64_t group, float *rates) {
    for (int k = 0; k < VECTORS && lanes_of(job, group, k).n > 0; k++)
        load_rates(job, lanes_of(job, group, k), rates_of(job, rates, k));
}

static int64_t rates_floats(const struct pdnn_selective_scan *job) {
    return GROUP * (job->S + 1);
}

/* The kept states of these channels of a sequence, by state; or from there back. */
static void load_states(const struct pdnn_selective_scan *job, int64_t sequence, struct lanes at, float *h) {
    const float *from = job->state + (sequence * job->C + at.channel) * job->S;
    for (int64_t i = 0; i < at.n; i++)
        for (int64_t n = 0; n < job->S; n++)
            h[n * PDNN_LANES + i] = from[i * job->S + n];
}

static void store_states(const struct pdnn_selective_scan *job, int64_t sequence, struct lanes at,
                         const float *h) {
    float *to = job->state + (sequence * job->C + at.channel) * job->S;
    for (int64_t i = 0; i < at.n; i++)
        for (int64_t n = 0; n < job->S; n++)
            to[i * job->S + n] = h[n * PDNN_LANES + i];
}

/* A group's rates and states, (VECTORS, S, lanes). */
static void forward_group(const struct scan *scan, int64_t sequence, int64_t group, float *room) {
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t size = job->S * PDNN_LANES;
    float *rates = room, *h = rates + rates_floats(job);
    memset(h, 0, (size_t)(VECTORS * size) * sizeof *h);
    load_group(job, group, rates);
    for (int k = 0; job->state && k < VECTORS && lanes_of(job, group, k).n > 0; k++)
        load_states(job, sequence, lanes_of(job, group, k), h + k * size);
    for (int64_t row = sequence * job->T; row < (sequence + 1) * job->T; row++) {
        fetch(job, job->x, row + AHEAD, group);
        fetch(job, job->delta, row + AHEAD, group);
        for (int k = 0; k < VECTORS; k++) {
            const struct lanes at = lanes_of(job, group, k);
            pdnn_floats sum, x, d;
            if (at.n <= 0)
                break;
            step(job, row, at, rates_of(job, rates, k), h + k * size, h + k * size, NULL, &sum);
            load(&x, job->x + row * job->C, at);
            load(&d, job->d, at);
            sum += d * x;
            store(scan->y + row * job->C, &sum, at);
        }
    }
    for (int k = 0; job->state && k < VECTORS && lanes_of(job, group, k).n > 0; k++)
        store_states(job, sequence, lanes_of(job, group, k), h + k * size);
}

static void forward_part(void *work, int64_t index, int64_t parts) {
    const struct scan *scan = work;
    const int64_t groups = groups_of(scan->job);
    const struct pdnn_span mine = pdnn_span_of(scan->job->N * groups, 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++)
        forward_group(scan, i / groups, i % groups, scan->room + index * scan->room_floats);
}

static int64_t elements_of(const struct pdnn_selective_scan *job) {
    return job->N * job->T * job->C * job->S * EXP_ELEMENTS;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_selective_scan_scratch,
                  (const struct pdnn_selective_scan *shape, int64_t threads), (shape, threads)) {
    return threads * (rates_floats(shape) + GROUP * shape->S);
}

PDNN_KERNEL(pdnn_selective_scan_forward, (const struct pdnn_selective_scan *job, float *y, int64_t threads),
            (job, y, threads)) {
    struct scan scan = {
        .job = job, .y = y, .room = job->scratch, .room_floats = rates_floats(job) + GROUP * job->S};
    pdnn_team_run(threads, elements_of(job), forward_part, &scan);
}

/* Backward. */

#if PDNN_LANES == 16
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD  1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#elif PDNN_LANES == 8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD  1, 3, 5, 7, 9, 11, 13, 15
#else
#define EVEN 0, 2, 4, 6
#define ODD  1, 3, 5, 7
#endif

/* Vectors that fold_rows adds up together. */
static int64_t folded_rows(int64_t S) {
    return (2 * S + PDNN_LANES - 1) / PDNN_LANES * PDNN_LANES;
}

/* The sums of `rows` vectors, as many floats. PDNN_LANES of them at a time: neighbours are added until one
 * vector holds all sums. */
PDNN_INLINE void fold_rows(const float *x, int64_t rows, float *to) {
    pdnn_floats v[PDNN_LANES];
    for (int64_t row = 0; row < rows; row += PDNN_LANES) {
        const int64_t n = pdnn_least(PDNN_LANES, rows - row);
#pragma GCC unroll 16
        for (int i = 0; i < PDNN_LANES; i++)
            pdnn_load(&v[i], x + (row + i) * PDNN_LANES);
#pragma GCC unroll 4
        for (int count = PDNN_LANES / 2; count > 0; count /= 2) {
#pragma GCC unroll 8
            for (int i = 0; i < count; i++)
                v[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], EVEN) +
                       __builtin_shufflevector(v[2 * i], v[2 * i + 1], ODD);
        }
        if (n == PDNN_LANES)
            pdnn_store(to + row, &v[0]);
        else
            pdnn_store_part(to + row, &v[0], n);
    }
}

/* A thread's room, for a group; `size` is S vectors. */
struct room {
    float *rates;                      /* rates_of */
    float *state, *gradient, *da, *dd; /* (VECTORS, size), dd (VECTORS, lanes) */
    float *kept;                       /* (chunks, VECTORS, size): before the first token of each chunk */
    float *h, *decays;                 /* of one chunk: (CHUNK + 1, size), (CHUNK, size) */
    float *rows;                       /* (CHUNK, folded_rows, lanes): the sums of db and dc over vectors */
};

static int64_t chunks_of(const struct pdnn_selective_scan *job) {
    return (job->T + CHUNK - 1) / CHUNK;
}

/* Returns the floats that it takes. */
static int64_t lay_out(const struct pdnn_selective_scan *job, float *at, struct room *room) {
    const int64_t size = job->S * PDNN_LANES;
    int64_t used = 0;
    const struct {
        float **array;
        int64_t floats;
    } parts[] = {{&room->rates, rates_floats(job)},
                 {&room->state, VECTORS * size},
                 {&room->gradient, VECTORS * size},
                 {&room->da, VECTORS * size},
                 {&room->dd, GROUP},
                 {&room->kept, chunks_of(job) * VECTORS * size},
                 {&room->h, (CHUNK + 1) * size},
                 {&room->decays, CHUNK * size},
                 {&room->rows, CHUNK * folded_rows(job->S) * PDNN_LANES}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].array = at ? at + used : NULL;
        used += whole_lines(parts[i].floats);
    }
    return used;
}

/* One token of a vector of channels, from the last to the first: h are the states before it and, behind them,
 * after it. */
struct back_token {
    const float *b, *c, *h, *decays, *rates;
    float *gradient, *da, *db_rows, *dc_rows;
    pdnn_floats delta, dy, u;
    int64_t size;
};

/* Adds to du, and to the gradient of the decay's exponent. */
PDNN_INLINE void back_state(const struct back_token *token, int64_t n, pdnn_floats *du, pdnn_floats *sum) {
    const int64_t at = n * PDNN_LANES;
    pdnn_floats g, v, w;
    pdnn_load(&g, token->gradient + at);
    g += token->dy * token->c[n];
    pdnn_load(&v, token->h + token->size + at);
    pdnn_load(&w, token->dc_rows + at);
    w += v * token->dy;
    pdnn_store(token->dc_rows + at, &w);
    pdnn_load(&w, token->db_rows + at);
    w += g * token->u;
    pdnn_store(token->db_rows + at, &w);
    *du += g * token->b[n];
    pdnn_load(&v, token->decays + at);
    g *= v;
    pdnn_store(token->gradient + at, &g);
    pdnn_load(&v, token->h + at);
    g *= v;
    pdnn_load(&v, token->rates + at);
    *sum += g * v;
    pdnn_load(&w, token->da + at);
    w -= g * token->delta;
    pdnn_store(token->da + at, &w);
}

PDNN_INLINE void back_step(const struct scan *scan, int64_t row, struct lanes at, const struct room *room,
                           int k, int64_t t) {
    enum { TOGETHER = 2 };
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t S = job->S, size = S * PDNN_LANES;
    float *rows = room->rows + t * folded_rows(S) * PDNN_LANES;
    struct back_token token = {.b = job->b + row * S,
                               .c = job->c + row * S,
                               .h = room->h + t * size,
                               .decays = room->decays + t * size,
                               .rates = rates_of(job, room->rates, k).at,
                               .gradient = room->gradient + k * size,
                               .da = room->da + k * size,
                               .db_rows = rows,
                               .dc_rows = rows + size,
                               .size = size};
    pdnn_floats x, v, du[TOGETHER] = {{0}}, ddelta[TOGETHER] = {{0}};
    int64_t n = 0;
    load(&token.delta, job->delta + row * job->C, at);
    load(&x, job->x + row * job->C, at);
    load(&token.dy, scan->gradients->dy + row * job->C, at);
    token.u = token.delta * x;
    for (; n + TOGETHER <= S; n += TOGETHER) {
        back_state(&token, n, &du[0], &ddelta[0]);
        back_state(&token, n + 1, &du[1], &ddelta[1]);
    }
    for (; n < S; n++)
        back_state(&token, n, &du[0], &ddelta[0]);
    du[0] += du[1];
    v = (ddelta[0] + ddelta[1]) * LN_2 + du[0] * x;
    store(scan->gradients->ddelta + row * job->C, &v, at);
    load(&v, job->d, at);
    v = du[0] * token.delta + v * token.dy;
    store(scan->gradients->dx + row * job->C, &v, at);
    pdnn_load(&v, room->dd + k * PDNN_LANES);
    v += token.dy * x;
    pdnn_store(room->dd + k * PDNN_LANES, &v);
}

/* Keeps the states before the first token of each chunk. */
static void keep_states(const struct pdnn_selective_scan *job, int64_t first, int64_t group,
                        const struct room *room) {
    const int64_t size = job->S * PDNN_LANES;
    memset(room->state, 0, (size_t)(VECTORS * size) * sizeof *room->state);
    for (int64_t t = 0; t < job->T; t++) {
        if (t % CHUNK == 0)
            memcpy(room->kept + t / CHUNK * VECTORS * size, room->state,
                   (size_t)(VECTORS * size) * sizeof *room->kept);
        if (t >= (chunks_of(job) - 1) * CHUNK)
            break;
        fetch(job, job->x, first + t + AHEAD, group);
        fetch(job, job->delta, first + t + AHEAD, group);
        for (int k = 0; k < VECTORS && lanes_of(job, group, k).n > 0; k++)
            step(job, first + t, lanes_of(job, group, k), rates_of(job, room->rates, k),
                 room->state + k * size, room->state + k * size, NULL, NULL);
    }
}

static void back_chunk(const struct scan *scan, int64_t first, int64_t chunk, struct lanes at,
                       const struct room *room, int k) {
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t size = job->S * PDNN_LANES, n = pdnn_least(CHUNK, job->T - chunk * CHUNK);
    memcpy(room->h, room->kept + (chunk * VECTORS + k) * size, (size_t)size * sizeof *room->h);
    for (int64_t t = 0; t < n; t++)
        step(job, first + chunk * CHUNK + t, at, rates_of(job, room->rates, k), room->h + t * size,
             room->h + (t + 1) * size, room->decays + t * size, NULL);
    for (int64_t t = n - 1; t >= 0; t--)
        back_step(scan, first + chunk * CHUNK + t, at, room, k, t);
}

/* All vectors of a group: what they give db and dc is added up before it is folded. */
static void back_chunk_of_group(const struct scan *scan, int64_t sequence, int64_t group, int64_t chunk,
                                const struct room *room) {
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t first = sequence * job->T, floats = folded_rows(job->S) * PDNN_LANES;
    float *shares = scan->of_groups + (group * job->N * job->T + first + chunk * CHUNK) * 2 * job->S;
    memset(room->rows, 0, (size_t)(CHUNK * floats) * sizeof *room->rows);
    for (int64_t t = (chunk - 1) * CHUNK; chunk > 0 && t < chunk * CHUNK; t++) {
        fetch(job, job->x, first + t, group);
        fetch(job, job->delta, first + t, group);
        fetch(job, scan->gradients->dy, first + t, group);
    }
    for (int k = 0; k < VECTORS && lanes_of(job, group, k).n > 0; k++)
        back_chunk(scan, first, chunk, lanes_of(job, group, k), room, k);
    for (int64_t t = 0; t < pdnn_least(CHUNK, job->T - chunk * CHUNK); t++)
        fold_rows(room->rows + t * floats, 2 * job->S, shares + t * 2 * job->S);
}

/* This sequence's share of da and dd. */
static void store_shares(const struct scan *scan, int64_t sequence, struct lanes at, const struct room *room,
                         int k) {
    const struct pdnn_selective_scan *job = scan->job;
    float *to = scan->of_sequences + (sequence * job->C + at.channel) * (job->S + 1);
    for (int64_t i = 0; i < at.n; i++, to += job->S + 1) {
        for (int64_t n = 0; n < job->S; n++)
            to[n] = room->da[(k * job->S + n) * PDNN_LANES + i];
        to[job->S] = room->dd[k * PDNN_LANES + i];
    }
}

static void back_group(const struct scan *scan, int64_t sequence, int64_t group, const struct room *room) {
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t size = job->S * PDNN_LANES;
    memset(room->gradient, 0, (size_t)(VECTORS * size) * sizeof *room->gradient);
    memset(room->da, 0, (size_t)(VECTORS * size) * sizeof *room->da);
    memset(room->dd, 0, GROUP * sizeof *room->dd);
    load_group(job, group, room->rates);
    keep_states(job, sequence * job->T, group, room);
    for (int64_t chunk = chunks_of(job) - 1; chunk >= 0; chunk--)
        back_chunk_of_group(scan, sequence, group, chunk, room);
    for (int k = 0; k < VECTORS && lanes_of(job, group, k).n > 0; k++)
        store_shares(scan, sequence, lanes_of(job, group, k), room, k);
}

static void back_part(void *work, int64_t index, int64_t parts) {
    const struct scan *scan = work;
    const int64_t groups = groups_of(scan->job);
    const struct pdnn_span mine = pdnn_span_of(scan->job->N * groups, 1, index, parts);
    struct room room;
    lay_out(scan->job, scan->room + index * scan->room_floats, &room);
    for (int64_t i = mine.begin; i < mine.end; i++)
        back_group(scan, i / groups, i % groups, &room);
}

static void sum_groups_part(void *work, int64_t index, int64_t parts) {
    const struct scan *scan = work;
    const int64_t R = scan->job->N * scan->job->T, S = scan->job->S, groups = groups_of(scan->job);
    const struct pdnn_span mine = pdnn_span_of(R, LINE, index, parts);
    for (int64_t row = mine.begin; row < mine.end; row += LINE) {
        const int64_t rows = pdnn_least(LINE, mine.end - row);
        float *db = scan->gradients->db + row * S, *dc = scan->gradients->dc + row * S;
        memset(db, 0, (size_t)(rows * S) * sizeof *db);
        memset(dc, 0, (size_t)(rows * S) * sizeof *dc);
        for (int64_t group = 0; group < groups; group++) {
            const float *share = scan->of_groups + (group * R + row) * 2 * S;
            for (int64_t i = 0; i < rows; i++)
#pragma omp simd
                for (int64_t n = 0; n < S; n++) {
                    db[i * S + n] += share[i * 2 * S + n];
                    dc[i * S + n] += share[i * 2 * S + S + n];
                }
        }
    }
}

static void sum_sequences_part(void *work, int64_t index, int64_t parts) {
    const struct scan *scan = work;
    const struct pdnn_selective_scan *job = scan->job;
    const struct pdnn_span mine = pdnn_span_of(job->C, LINE, index, parts);
    for (int64_t channel = mine.begin; channel < mine.end; channel++) {
        float *da = scan->gradients->da + channel * job->S, dd = 0;
        memset(da, 0, (size_t)job->S * sizeof *da);
        for (int64_t sequence = 0; sequence < job->N; sequence++) {
            const float *share = scan->of_sequences + (sequence * job->C + channel) * (job->S + 1);
#pragma omp simd
            for (int64_t n = 0; n < job->S; n++)
                da[n] += share[n];
            dd += share[job->S];
        }
        scan->gradients->dd[channel] = dd;
    }
}

/* Floats of all groups' and all sequences' shares. */
static int64_t group_floats(const struct pdnn_selective_scan *job) {
    return whole_lines(groups_of(job) * job->N * job->T * 2 * job->S);
}

static int64_t sequence_floats(const struct pdnn_selective_scan *job) {
    return whole_lines(job->N * job->C * (job->S + 1));
}

PDNN_KERNEL_VALUE(int64_t, pdnn_selective_scan_back_scratch,
                  (const struct pdnn_selective_scan *shape, int64_t threads), (shape, threads)) {
    struct room room;
    return group_floats(shape) + sequence_floats(shape) + threads * lay_out(shape, NULL, &room);
}

PDNN_KERNEL(pdnn_selective_scan_backward,
            (const struct pdnn_selective_scan *job, const struct pdnn_selective_scan_gradients *gradients,
             int64_t threads),
            (job, gradients, threads)) {
    struct room room;
    struct scan scan = {.job = job, .gradients = gradients, .room_floats = lay_out(job, NULL, &room)};
    scan.of_groups = job->scratch;
    scan.of_sequences = scan.of_groups + group_floats(job);
    scan.room = scan.of_sequences + sequence_floats(job);
    pdnn_team_run(threads, elements_of(job), back_part, &scan);
    pdnn_team_run(threads, group_floats(job), sum_groups_part, &scan);
    pdnn_team_run(threads, sequence_floats(job), sum_sequences_part, &scan);
}
