#include "gen/expansion/sample.h"

#include "base/memory.h"
#include "base/rng.h"

#include <stdlib.h>

enum { SOBOL_BITS = 32, FEISTEL_ROUNDS = 8 };

/* Joe and Kuo 2008, file new-joe-kuo-6: degree and inner coefficients of the primitive polynomial, and the
 * initial numbers m. Row 0 is dimension 2; dimension 1 is van der Corput's sequence. */
static const struct joe_kuo {
    unsigned char degree, coefficients, m[7];
} joe_kuo[PDNN_SOBOL_DIMS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

struct sobol {
    uint32_t direction[PDNN_SOBOL_DIMS][SOBOL_BITS];
    uint32_t x[PDNN_SOBOL_DIMS]; /* initialized with the seed's shift */
    uint64_t drawn, limit;
};

/* The points kept so far: open addressing, a slot holds point + 1, 0 is free. */
struct kept {
    uint64_t *slots;
    size_t room, count; /* room is a power of two, or 0 */
};

struct pdnn_sample {
    const uint64_t *counts;
    size_t n_counts;
    uint64_t points, seed;
    int half_bits;       /* of the permutation's domain, 2^(2 half_bits) >= points */
    uint64_t position;   /* in the permutation */
    struct sobol *sobol; /* NULL: random */
    struct kept kept;
};

static bool kept_find(const struct kept *kept, uint64_t point) {
    if (!kept->room)
        return false;
    for (size_t at = pdnn_rng_mix(point) & (kept->room - 1); kept->slots[at];
         at = (at + 1) & (kept->room - 1)) {
        if (kept->slots[at] == point + 1)
            return true;
    }
    return false;
}

static void kept_put(struct kept *kept, uint64_t point) {
    size_t at = pdnn_rng_mix(point) & (kept->room - 1);
    while (kept->slots[at])
        at = (at + 1) & (kept->room - 1);
    kept->slots[at] = point + 1;
    kept->count++;
}

static void kept_grow(struct kept *kept) {
    struct kept grown = {.room = kept->room ? 2 * kept->room : 64};
    grown.slots = pdnn_alloc(grown.room, sizeof *grown.slots);
    for (size_t i = 0; i < kept->room; i++) {
        if (kept->slots[i])
            kept_put(&grown, kept->slots[i] - 1);
    }
    free(kept->slots);
    *kept = grown;
}

/* v_k = m_k 2^(32-k); m_k = 2 c_1 m_(k-1) ^ 4 c_2 m_(k-2) ^ ... ^ 2^s m_(k-s) ^ m_(k-s)
 * (Bratley and Fox, 1988). */
static void init_directions(uint32_t direction[SOBOL_BITS], const struct joe_kuo *row) {
    int degree = row ? row->degree : 0;
    for (int k = 0; k < SOBOL_BITS; k++) {
        if (!row || k < degree) {
            direction[k] = (uint32_t)(row ? row->m[k] : 1) << (SOBOL_BITS - 1 - k);
            continue;
        }
        uint32_t v = direction[k - degree] ^ (direction[k - degree] >> degree);
        for (int i = 1; i < degree; i++) {
            if (row->coefficients >> (degree - 1 - i) & 1)
                v ^= direction[k - i];
        }
        direction[k] = v;
    }
}

static struct sobol *create_sobol(uint64_t points, uint64_t seed) {
    struct sobol *sobol = pdnn_alloc(1, sizeof *sobol);
    for (int i = 0; i < PDNN_SOBOL_DIMS; i++) {
        init_directions(sobol->direction[i], i ? &joe_kuo[i - 1] : NULL);
        sobol->x[i] = (uint32_t)pdnn_rng_at(seed, (uint64_t)i);
    }
    /* Past twice the size of the space, the sequence mostly repeats itself, and after 2^32 points it
     * does nothing else. */
    enum { SLACK = 1024 };
    uint64_t most = UINT64_C(1) << SOBOL_BITS;
    sobol->limit = points < most / 2 - SLACK ? 2 * points + SLACK : most;
    return sobol;
}

struct pdnn_sample *pdnn_sample_create(enum pdnn_sample_method method, const uint64_t *counts,
                                       size_t n_counts, uint64_t points, uint64_t seed) {
    struct pdnn_sample *made = pdnn_alloc(1, sizeof *made);
    *made = (struct pdnn_sample){.counts = counts, .n_counts = n_counts, .points = points, .seed = seed};
    for (made->half_bits = 1; made->half_bits < 32 && UINT64_C(1) << 2 * made->half_bits < points;)
        made->half_bits++;
    if (method == PDNN_SAMPLE_SOBOL)
        made->sobol = create_sobol(points, seed);
    return made;
}

void pdnn_sample_destroy(struct pdnn_sample *sample) {
    if (!sample)
        return;
    free(sample->sobol);
    free(sample->kept.slots);
    free(sample);
}

/* A keyed bijection of [0, 2^(2 half_bits)). */
static uint64_t feistel(const struct pdnn_sample *sample, uint64_t value) {
    int bits = sample->half_bits;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t left = value >> bits & mask, right = value & mask;
    for (uint64_t i = 0; i < FEISTEL_ROUNDS; i++) {
        uint64_t next = left ^ (pdnn_rng_at(sample->seed + i, right) & mask);
        left = right;
        right = next;
    }
    return left << bits | right;
}

static bool next_permuted(struct pdnn_sample *sample, uint64_t *point) {
    while (sample->position < sample->points) {
        uint64_t value = feistel(sample, sample->position++);
        while (value >= sample->points)
            value = feistel(sample, value);
        if (!kept_find(&sample->kept, value)) {
            *point = value;
            return true;
        }
    }
    return false;
}

/* floor(x / 2^32 * count) without the 96-bit product. */
static uint64_t scale(uint32_t x, uint64_t count) {
    return x * (count >> SOBOL_BITS) + (x * (count & UINT32_MAX) >> SOBOL_BITS);
}

/* The current point's axis indices as one number; then advances to the next point by Gray code (Antonov
 * and Saleev, 1979). */
static uint64_t draw_sobol(struct pdnn_sample *sample) {
    struct sobol *sobol = sample->sobol;
    uint64_t point = 0;
    int bit = __builtin_ctzll(~sobol->drawn);
    size_t dim = 0;
    for (size_t i = 0; i < sample->n_counts; i++) {
        if (sample->counts[i] == 1)
            continue;
        point = point * sample->counts[i] + scale(sobol->x[dim], sample->counts[i]);
        if (bit < SOBOL_BITS)
            sobol->x[dim] ^= sobol->direction[dim][bit];
        dim++;
    }
    sobol->drawn++;
    return point;
}

bool pdnn_sample_next(struct pdnn_sample *sample, uint64_t *point) {
    while (sample->sobol && sample->sobol->drawn < sample->sobol->limit) {
        uint64_t value = draw_sobol(sample);
        if (!kept_find(&sample->kept, value)) {
            *point = value;
            return true;
        }
    }
    return next_permuted(sample, point);
}

void pdnn_sample_keep(struct pdnn_sample *sample, uint64_t point) {
    if (!sample->sobol)
        return;
    if (2 * sample->kept.count >= sample->kept.room)
        kept_grow(&sample->kept);
    kept_put(&sample->kept, point);
}
