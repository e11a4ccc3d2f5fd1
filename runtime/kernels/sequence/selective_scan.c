#include "runtime/kernels/sequence/selective_scan.h"

#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/kernels/simd/vmath.h"

#include <string.h>

/* A thread takes a group of channels of a sequence at a time, so that rows are read by whole lines and pages
 * are not met again for each vector. Backward keeps the states of every CHUNK-th token, and computes those
 * between into L1. An exp counts as EXP_ELEMENTS elements when deciding whether the work is enough for all
 * threads. */
enum { GROUP = 64, VECTORS = GROUP / PDNN_LANES, CHUNK = 16, EXP_ELEMENTS = 8, LINE = 16 };

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

/* Vectors that fold_rows adds up together. */
static int64_t folded_rows(int64_t S) {
    return (2 * S + PDNN_LANES - 1) / PDNN_LANES * PDNN_LANES;
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

/* pdnn_exp of each lane. */
PDNN_INLINE void exp_lanes(pdnn_floats *x) {
    const float round = 12582912.0F;
    pdnn_floats in = (pdnn_floats){0} + PDNN_EXP_LOW;
    pdnn_most(&in, x); /* the second operand where one is NaN */
    *x = (pdnn_floats){0} + PDNN_EXP_HIGH;
    pdnn_lowest(x, &in);
    const pdnn_floats shifted = *x * 1.44269504F + round, n = shifted - round;
    const pdnn_floats r = *x - n * 0.693359375F + n * 2.12194440e-4F;
    pdnn_floats p = r * 1.9875691500e-4F + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    *x = p * (pdnn_floats)(((pdnn_ints)shifted + 127) << 23);
}

/* The decay rates of these channels, negative, by state. */
static void load_rates(const struct pdnn_selective_scan *job, struct lanes at, float *rates) {
    memset(rates, 0, (size_t)(job->S * PDNN_LANES) * sizeof *rates);
    for (int64_t i = 0; i < at.n; i++)
        for (int64_t n = 0; n < job->S; n++)
            rates[n * PDNN_LANES + i] = -job->a[(at.channel + i) * job->S + n];
}

/* One token: the states after it, and what they are read as if `sum` is given. `decays`: (S, lanes), kept for
 * backward; or NULL. h may be `before`. */
PDNN_INLINE void step(const struct pdnn_selective_scan *job, int64_t row, struct lanes at, const float *rates,
                      const float *before, float *h, float *decays, pdnn_floats *sum) {
    const float *b = job->b + row * job->S, *c = job->c + row * job->S;
    pdnn_floats delta, u, e, state;
    load(&delta, job->delta + row * job->C, at);
    load(&u, job->x + row * job->C, at);
    u *= delta;
    for (int64_t n = 0; n < job->S; n++) {
        pdnn_load(&e, rates + n * PDNN_LANES);
        pdnn_load(&state, before + n * PDNN_LANES);
        e *= delta;
        exp_lanes(&e);
        if (decays)
            pdnn_store(decays + n * PDNN_LANES, &e);
        state = state * e + u * b[n];
        pdnn_store(h + n * PDNN_LANES, &state);
        if (sum)
            *sum += state * c[n];
    }
}

/* The channels of a group that are vector k of it. */
static struct lanes lanes_of(const struct pdnn_selective_scan *job, int64_t group, int k) {
    const int64_t channel = group * GROUP + k * PDNN_LANES;
    return (struct lanes){channel, pdnn_least(PDNN_LANES, job->C - channel)};
}

/* A group's rates and states: (VECTORS, S, lanes) each. */
static void forward_group(const struct scan *scan, int64_t sequence, int64_t group, float *room) {
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t size = job->S * PDNN_LANES;
    float *rates = room, *h = rates + VECTORS * size;
    memset(h, 0, (size_t)(VECTORS * size) * sizeof *h);
    for (int k = 0; k < VECTORS && lanes_of(job, group, k).n > 0; k++)
        load_rates(job, lanes_of(job, group, k), rates + k * size);
    for (int64_t row = sequence * job->T; row < (sequence + 1) * job->T; row++) {
        for (int k = 0; k < VECTORS; k++) {
            const struct lanes at = lanes_of(job, group, k);
            pdnn_floats sum = {0}, x, d;
            if (at.n <= 0)
                break;
            step(job, row, at, rates + k * size, h + k * size, h + k * size, NULL, &sum);
            load(&x, job->x + row * job->C, at);
            load(&d, job->d, at);
            sum += d * x;
            store(scan->y + row * job->C, &sum, at);
        }
    }
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
    return threads * 2 * GROUP * shape->S;
}

PDNN_KERNEL(pdnn_selective_scan_forward, (const struct pdnn_selective_scan *job, float *y, int64_t threads),
            (job, y, threads)) {
    struct scan scan = {.job = job, .y = y, .room = job->scratch, .room_floats = 2 * GROUP * job->S};
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

/* Adds the sums of `rows` vectors to as many floats. PDNN_LANES of them at a time: neighbours are added until
 * one vector holds all sums. */
PDNN_INLINE void fold_rows(const float *x, int64_t rows, float *to) {
    pdnn_floats v[PDNN_LANES], sum;
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
        pdnn_load_lanes(&sum, to + row, n);
        sum += v[0];
        if (n == PDNN_LANES)
            pdnn_store(to + row, &sum);
        else
            pdnn_store_part(to + row, &sum, n);
    }
}

/* A thread's room, for a group; `size` is S vectors. */
struct room {
    float *rates, *gradient, *da, *dd; /* (VECTORS, size), dd (VECTORS, lanes) */
    float *kept;                       /* (chunks, VECTORS, size): before the first token of each chunk */
    float *h, *decays;                 /* of one chunk: (CHUNK + 1, size), (CHUNK, size) */
    float *rows;                       /* (folded_rows, lanes) */
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
    } parts[] = {{&room->rates, VECTORS * size},
                 {&room->gradient, VECTORS * size},
                 {&room->da, VECTORS * size},
                 {&room->dd, GROUP},
                 {&room->kept, chunks_of(job) * VECTORS * size},
                 {&room->h, (CHUNK + 1) * size},
                 {&room->decays, CHUNK * size},
                 {&room->rows, folded_rows(job->S) * PDNN_LANES}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].array = at ? at + used : NULL;
        used += whole_lines(parts[i].floats);
    }
    return used;
}

/* One token, from the last to the first: h are the states before it and, behind them, after it. */
PDNN_INLINE void back_step(const struct scan *scan, int64_t row, struct lanes at, const struct room *room,
                           int k, int64_t t, float *shares) {
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t S = job->S, size = S * PDNN_LANES;
    const float *b = job->b + row * S, *c = job->c + row * S, *h = room->h + t * size,
                *rates = room->rates + k * size;
    float *gradient = room->gradient + k * size, *da = room->da + k * size;
    pdnn_floats delta, x, dy, u, du = {0}, ddelta = {0}, g, v, w;
    load(&delta, job->delta + row * job->C, at);
    load(&x, job->x + row * job->C, at);
    load(&dy, scan->gradients->dy + row * job->C, at);
    u = delta * x;
    for (int64_t n = 0; n < S; n++) {
        pdnn_load(&g, gradient + n * PDNN_LANES);
        g += dy * c[n];
        pdnn_load(&v, h + size + n * PDNN_LANES);
        v *= dy;
        pdnn_store(room->rows + (S + n) * PDNN_LANES, &v);
        v = g * u;
        pdnn_store(room->rows + n * PDNN_LANES, &v);
        du += g * b[n];
        pdnn_load(&v, room->decays + t * size + n * PDNN_LANES);
        g *= v;
        pdnn_store(gradient + n * PDNN_LANES, &g);
        pdnn_load(&v, h + n * PDNN_LANES);
        g *= v;
        pdnn_load(&v, rates + n * PDNN_LANES);
        ddelta += g * v;
        pdnn_load(&w, da + n * PDNN_LANES);
        w -= g * delta;
        pdnn_store(da + n * PDNN_LANES, &w);
    }
    fold_rows(room->rows, 2 * S, shares);
    ddelta += du * x;
    store(scan->gradients->ddelta + row * job->C, &ddelta, at);
    load(&v, job->d, at);
    du = du * delta + v * dy;
    store(scan->gradients->dx + row * job->C, &du, at);
    pdnn_load(&v, room->dd + k * PDNN_LANES);
    v += dy * x;
    pdnn_store(room->dd + k * PDNN_LANES, &v);
}

/* Keeps the states before the first token of each chunk. */
static void keep_states(const struct pdnn_selective_scan *job, int64_t first, int64_t group,
                        const struct room *room) {
    const int64_t size = job->S * PDNN_LANES;
    memset(room->kept, 0, (size_t)(VECTORS * size) * sizeof *room->kept);
    for (int64_t t = 0; t < (chunks_of(job) - 1) * CHUNK; t++) {
        float *kept = room->kept + t / CHUNK * VECTORS * size,
              *next = (t + 1) % CHUNK ? room->h : kept + VECTORS * size;
        for (int k = 0; k < VECTORS; k++) {
            const struct lanes at = lanes_of(job, group, k);
            const float *before = t % CHUNK ? room->h : kept;
            if (at.n > 0)
                step(job, first + t, at, room->rates + k * size, before + k * size, next + k * size, NULL,
                     NULL);
        }
    }
}

static void back_chunk(const struct scan *scan, int64_t first, int64_t chunk, struct lanes at,
                       const struct room *room, int k, float *shares) {
    const struct pdnn_selective_scan *job = scan->job;
    const int64_t size = job->S * PDNN_LANES, n = pdnn_least(CHUNK, job->T - chunk * CHUNK);
    memcpy(room->h, room->kept + (chunk * VECTORS + k) * size, (size_t)size * sizeof *room->h);
    for (int64_t t = 0; t < n; t++)
        step(job, first + chunk * CHUNK + t, at, room->rates + k * size, room->h + t * size,
             room->h + (t + 1) * size, room->decays + t * size, NULL);
    for (int64_t t = n - 1; t >= 0; t--)
        back_step(scan, first + chunk * CHUNK + t, at, room, k, t, shares + (chunk * CHUNK + t) * 2 * job->S);
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
    const int64_t first = sequence * job->T, size = job->S * PDNN_LANES;
    float *shares = scan->of_groups + (group * job->N * job->T + first) * 2 * job->S;
    memset(shares, 0, (size_t)(job->T * 2 * job->S) * sizeof *shares);
    memset(room->gradient, 0, (size_t)(VECTORS * size) * sizeof *room->gradient);
    memset(room->da, 0, (size_t)(VECTORS * size) * sizeof *room->da);
    memset(room->dd, 0, GROUP * sizeof *room->dd);
    memset(room->rows, 0, (size_t)(folded_rows(job->S) * PDNN_LANES) * sizeof *room->rows);
    for (int k = 0; k < VECTORS && lanes_of(job, group, k).n > 0; k++)
        load_rates(job, lanes_of(job, group, k), room->rates + k * size);
    keep_states(job, first, group, room);
    for (int64_t chunk = chunks_of(job) - 1; chunk >= 0; chunk--) {
        for (int k = 0; k < VECTORS && lanes_of(job, group, k).n > 0; k++)
            back_chunk(scan, first, chunk, lanes_of(job, group, k), room, k, shares);
    }
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
    for (int64_t row = mine.begin; row < mine.end; row++) {
        float *db = scan->gradients->db + row * S, *dc = scan->gradients->dc + row * S;
        memset(db, 0, (size_t)S * sizeof *db);
        memset(dc, 0, (size_t)S * sizeof *dc);
        for (int64_t group = 0; group < groups; group++) {
            const float *share = scan->of_groups + (group * R + row) * 2 * S;
#pragma omp simd
            for (int64_t n = 0; n < S; n++) {
                db[n] += share[n];
                dc[n] += share[S + n];
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
