#define _GNU_SOURCE /* qsort_r */
#include "runtime/driver/sweep/sweep_spread.h"

#include "base/memory.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS = 16, CANDIDATES = 32, AXES_MAX = 1 + PDNN_SETTING_COUNT + PDNN_HYPER_MAX };

struct spread {
    const struct pdnn_instance *const *instances;
    size_t count, n_axes;
    uint32_t *family;       /* by instance */
    unsigned char *level;   /* by instance and axis */
    uint32_t *total, *seen; /* by two axes and a level of each; of one axis if both are the same */
    size_t axis;            /* that is sorted by */
};

static struct pdnn_value value_of(const struct spread *spread, size_t at) {
    const struct pdnn_instance *instance = spread->instances[at];
    if (!spread->axis)
        return pdnn_value_of(spread->family[at]);
    if (spread->axis <= PDNN_SETTING_COUNT)
        return pdnn_value_of(instance->setting[spread->axis - 1]);
    return instance->hyper[spread->axis - 1 - PDNN_SETTING_COUNT];
}

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* By family, since each has values of its own, then by value. */
static int by_value(const void *left, const void *right, void *user) {
    const struct spread *spread = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct pdnn_value x = value_of(spread, a), y = value_of(spread, b);
    int order = compare(spread->family[a], spread->family[b]);
    order = order ? order : compare(x.number, y.number);
    order = order ? order : compare(x.n_more, y.n_more);
    for (int i = 0; i < PDNN_LIST_MAX - 1; i++)
        order = order ? order : compare(x.more[i], y.more[i]);
    return order;
}

static void number_families(struct spread *spread) {
    const struct pdnn_family_def **known = pdnn_alloc(spread->count + 1, sizeof(void *));
    size_t n_known = 0;
    for (size_t i = 0; i < spread->count; i++) {
        const struct pdnn_family_def *family = spread->instances[i]->family;
        uint32_t at = 0;
        while (at < n_known && known[at] != family)
            at++;
        if (at == n_known)
            known[n_known++] = family;
        spread->family[i] = at;
    }
    free(known);
}

/* Adds the axis if its value differs within a family, or is the family: a level for each value, or for
 * several neighbouring ones. */
static void add_axis(struct spread *spread, size_t axis, uint32_t *sorted) {
    size_t most = 1;
    spread->axis = axis;
    for (size_t i = 0; i < spread->count; i++)
        sorted[i] = (uint32_t)i;
    qsort_r(sorted, spread->count, sizeof *sorted, by_value, spread);
    for (size_t from = 0, to; from < spread->count; from = to) {
        size_t n_values = 1, value = 0;
        for (to = from + 1; to < spread->count; to++) {
            if (axis && spread->family[sorted[to]] != spread->family[sorted[from]])
                break;
            n_values += by_value(&sorted[to - 1], &sorted[to], spread) != 0;
        }
        for (size_t i = from; i < to; i++) {
            value += i > from && by_value(&sorted[i - 1], &sorted[i], spread) != 0;
            spread->level[sorted[i] * AXES_MAX + spread->n_axes] =
                (unsigned char)(n_values > LEVELS ? value * LEVELS / n_values : value);
        }
        most = n_values > most ? n_values : most;
    }
    spread->n_axes += most > 1;
}

static size_t cell(const struct spread *spread, size_t at, size_t a, size_t b) {
    const unsigned char *level = &spread->level[at * AXES_MAX];
    return ((a * AXES_MAX + b) * LEVELS + level[a]) * LEVELS + level[b];
}

static void count_in(const struct spread *spread, uint32_t *cells, size_t at) {
    for (size_t a = 0; a < spread->n_axes; a++)
        for (size_t b = a; b < spread->n_axes; b++)
            cells[cell(spread, at, a, b)]++;
}

/* What taking the instance adds to the sum of squares, but for what is the same for all; single axes count as
 * much as all their pairs. */
static double added(const struct spread *spread, size_t at) {
    double sum = 0;
    for (size_t a = 0; a < spread->n_axes; a++) {
        for (size_t b = a; b < spread->n_axes; b++) {
            const size_t in = cell(spread, at, a, b);
            sum += (a == b ? (double)spread->n_axes : 1) * (2.0 * spread->seen[in] + 1) / spread->total[in];
        }
    }
    return sum;
}

void pdnn_sweep_spread(const struct pdnn_instance *const *instances, size_t count, uint64_t seed,
                       uint32_t *order) {
    struct spread spread = {.instances = instances,
                            .count = count,
                            .family = pdnn_alloc(count + 1, sizeof *spread.family),
                            .level = pdnn_alloc(count + 1, AXES_MAX)};
    struct pdnn_rng rng = {seed, 0};
    number_families(&spread);
    for (size_t axis = 0; axis < AXES_MAX; axis++)
        add_axis(&spread, axis, order);
    const size_t cells = spread.n_axes * AXES_MAX * LEVELS * LEVELS + 1;
    spread.total = pdnn_alloc(cells, sizeof *spread.total);
    spread.seen = pdnn_alloc(cells, sizeof *spread.seen);
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        count_in(&spread, spread.total, i);
    }
    pdnn_rng_shuffle(&rng, order, count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        size_t best = i, left = count - i;
        double least = added(&spread, order[i]);
        for (size_t k = 1; k < CANDIDATES && k < left; k++) {
            const size_t at = i + (left > CANDIDATES ? (size_t)pdnn_rng_below(&rng, left) : k);
            const double adds = added(&spread, order[at]);
            best = adds < least ? at : best;
            least = adds < least ? adds : least;
        }
        const uint32_t taken = order[best];
        order[best] = order[i];
        order[i] = taken;
        count_in(&spread, spread.seen, taken);
    }
    free(spread.family);
    free(spread.level);
    free(spread.total);
    free(spread.seen);
}
