#include "models/relative_bias.h"

#include "models/attributes.h"

#include <inttypes.h>
#include <math.h>

struct pdnn_relative_bias_places pdnn_relative_bias_places_of(const int64_t *attr,
                                                              const struct pdnn_tensor *scores,
                                                              const struct pdnn_tensor *table) {
    return (struct pdnn_relative_bias_places){.n = scores->dim[1],
                                              .m = scores->dim[2],
                                              .rows = table->dim[0],
                                              .window = attr[PDNN_RELATIVE_BIAS_WINDOW],
                                              .distance = attr[PDNN_RELATIVE_BIAS_DISTANCE],
                                              .is_causal = attr[PDNN_RELATIVE_BIAS_CAUSAL] != 0};
}

int64_t pdnn_relative_bias_cells(const struct pdnn_relative_bias_places *places) {
    return places->window ? places->n * places->m : places->n + places->m - 1;
}

/* Buckets of one direction. */
static int64_t buckets_of(const struct pdnn_relative_bias_places *places) {
    return places->is_causal ? places->rows : places->rows / 2;
}

/* The least distance of a bucket. What rounds to a whole number is that number. */
static int64_t least_of(const struct pdnn_relative_bias_places *places, int64_t bucket) {
    int64_t count = buckets_of(places), exact = count / 2;
    if (bucket <= exact)
        return bucket;
    double share = (double)(bucket - exact) / (double)(count - exact);
    return (int64_t)ceil((double)exact * pow((double)places->distance / (double)exact, share) - 1e-9);
}

/* Buckets of one direction with distances from `first` to `last`. */
static int64_t met_of(const struct pdnn_relative_bias_places *places, int64_t first, int64_t last) {
    const int64_t count = buckets_of(places);
    int64_t met = 0;
    for (int64_t bucket = 0; bucket < count; bucket++) {
        const int64_t least = least_of(places, bucket),
                      end = bucket + 1 < count ? least_of(places, bucket + 1) : last + 1;
        met += least <= last && end > least && end > first;
    }
    return met;
}

int64_t pdnn_relative_bias_met(const struct pdnn_relative_bias_places *places) {
    if (places->window)
        return places->rows;
    return met_of(places, 0, places->m - 1) + (places->is_causal ? 0 : met_of(places, 1, places->n - 1));
}

/* The buckets of distances 0, step, 2 step, ... below `end`, which are in step cells from `index` on. */
static void fill_direction(const struct pdnn_relative_bias_places *places, int32_t *index, int64_t step,
                           int64_t end) {
    const int64_t first = step > 0 && !places->is_causal ? buckets_of(places) : 0;
    int64_t bucket = 0, next = 1, last = buckets_of(places) - 1;
    for (int64_t d = 0; d < end; d++) {
        for (; bucket < last && d >= next; next = least_of(places, bucket + 1))
            bucket++;
        index[step * d] = (int32_t)(first + bucket);
    }
}

void pdnn_relative_bias_index(const struct pdnn_relative_bias_places *places, int32_t *index) {
    const int64_t w = places->window, n = places->n, m = places->m, line = 2 * w - 1;
    for (int64_t i = 0; i < (w ? n : 0); i++) {
        for (int64_t j = 0; j < m; j++)
            index[i * m + j] = (int32_t)((i / w - j / w + w - 1) * line + i % w - j % w + w - 1);
    }
    if (w)
        return;
    /* Distance 0 is in cell m - 1. It is not above 0: of both directions, the backward one has it. */
    if (places->is_causal) {
        for (int64_t k = m; k < n + m - 1; k++)
            index[k] = 0;
    } else {
        fill_direction(places, index + m - 1, 1, n);
    }
    fill_direction(places, index + m - 1, -1, m);
}

enum { WINDOW_MAX = 1024 };

static enum pdnn_status check_window(const struct pdnn_relative_bias_places *places, struct pdnn_err *err) {
    const int64_t w = places->window, line = 2 * w - 1;
    if (w < 0 || w > WINDOW_MAX || places->is_causal)
        return pdnn_fail(err, PDNN_INVALID, "relative_bias: window=%" PRId64 " is %s", w,
                         places->is_causal ? "not causal" : "not between 0 and 1024");
    if (w * w != places->n || w * w != places->m || places->rows != line * line)
        return pdnn_fail(err, PDNN_INVALID,
                         "relative_bias: window=%" PRId64 " is for %" PRId64 " queries and keys and a table "
                         "of %" PRId64 " rows, not %" PRId64 ", %" PRId64 " and %" PRId64,
                         w, w * w, line * line, places->n, places->m, places->rows);
    return PDNN_OK;
}

static enum pdnn_status check_buckets(const struct pdnn_relative_bias_places *places, struct pdnn_err *err) {
    int64_t exact = (places->is_causal ? places->rows : places->rows / 2) / 2;
    if (exact < 1 || places->rows % (places->is_causal ? 1 : 2))
        return pdnn_fail(err, PDNN_INVALID, "relative_bias: buckets=%" PRId64 " are not %s", places->rows,
                         places->is_causal ? "2 or more" : "4 or more, and even");
    if (places->distance <= exact)
        return pdnn_fail(err, PDNN_INVALID,
                         "relative_bias: distance=%" PRId64 " is not above %" PRId64
                         ", up to which buckets=%" PRId64 " have a distance each",
                         places->distance, exact, places->rows);
    return PDNN_OK;
}

enum pdnn_status pdnn_relative_bias_check(const int64_t *attr, const struct pdnn_tensor *scores,
                                          const struct pdnn_tensor *table, struct pdnn_err *err) {
    const int64_t heads = attr[PDNN_RELATIVE_BIAS_HEADS];
    if (scores->rank != 3 || heads < 1 || scores->dim[0] % heads || table->rank != 2 ||
        table->dim[0] > INT32_MAX || table->dim[1] != heads)
        return pdnn_fail(
            err, PDNN_INVALID,
            "relative_bias: expected scores (B*h, n, m) and a table (rows, h) of h=%" PRId64 " heads", heads);
    const struct pdnn_relative_bias_places places = pdnn_relative_bias_places_of(attr, scores, table);
    return places.window ? check_window(&places, err) : check_buckets(&places, err);
}
