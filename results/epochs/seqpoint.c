#include "results/epochs/seqpoint.h"
#include "base/rng.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

enum { UNIQUE_MAX = 10, BINS = 5 };
static const double ERROR = 0.01;

const char *const pdnn_seqpoint_keys[] = {"source", "target", "sum", "maximum", "both", NULL};
const char *const pdnn_baselines[] = {"frequent", "median", "worst", "prior", "random", "all-unique", NULL};

double pdnn_representatives_total(const struct pdnn_representatives *points, const double *value) {
    double total = 0;
    for (size_t i = 0; i < points->count; i++)
        total += points->point[i].weight * value[points->point[i].kind];
    return total;
}

double pdnn_projection_error(double projected, double truth) {
    return projected == truth ? 0 : projected / truth - 1;
}

uint64_t pdnn_representatives_runs(const struct pdnn_representatives *points) {
    uint64_t runs = 0;
    for (size_t i = 0; i < points->count; i++)
        runs += points->point[i].runs;
    return runs;
}

/* What is taken for an iteration's length where one number is needed: of both, their sum. */
static int64_t length_by_key(enum pdnn_seqpoint_key key, const struct pdnn_epoch_kind *kind) {
    int64_t source = kind->length[0], target = kind->length[1];
    switch (key) {
    case PDNN_KEY_SOURCE:
        return source;
    case PDNN_KEY_TARGET:
        return target;
    case PDNN_KEY_MAXIMUM:
        return source > target ? source : target;
    default:
        return source + target;
    }
}

/* Iterations of one kind, of one length, or of one bin of lengths. */
struct group {
    size_t bin;
    int64_t key[2];    /* the second one 0 unless both lengths are the key */
    size_t kind;       /* that represents them */
    double iterations; /* whole */
    double mean;       /* statistic of one of them */
    double both;       /* source + target of the kind */
};

/* All of an epoch by length, ascending. */
struct lengths {
    struct group *group;
    size_t count;
    double total;            /* statistic of the epoch */
    const double *statistic; /* by kind, also where none was given */
};

static int compare_groups(const void *a, const void *b) {
    const struct group *one = a, *other = b;
    if (one->bin != other->bin)
        return one->bin < other->bin ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (one->key[i] != other->key[i])
            return one->key[i] < other->key[i] ? -1 : 1;
    return (one->kind > other->kind) - (one->kind < other->kind);
}

/* Whether two distances are equal but for rounding, at the scale of the values that they lie between. */
static bool is_tie(double one, double other, double scale) {
    return fabs(one - other) <= 1e-12 * fabs(scale);
}

/* One group of several, represented by the one nearest to their mean. Of two that are as near it is the
 * shorter length, or of one length the kind whose source + target is nearer to the mean of these. */
static struct group join(const struct group *of, size_t count, bool same_length) {
    struct group made = *of;
    double sum = 0, sum_of_both = 0;
    if (count == 1)
        return made;
    made.iterations = 0;
    for (size_t i = 0; i < count; i++) {
        made.iterations += of[i].iterations;
        sum += of[i].iterations * of[i].mean;
        sum_of_both += of[i].iterations * of[i].both;
    }
    made.mean = sum / made.iterations;
    const double middle = sum_of_both / made.iterations;
    const struct group *best = of;
    for (size_t i = 1; i < count; i++) {
        double distance = fabs(of[i].mean - made.mean), least = fabs(best->mean - made.mean);
        bool is_preferred = same_length ? fabs(of[i].both - middle) < fabs(best->both - middle)
                                        : of[i].key[0] + of[i].key[1] < best->key[0] + best->key[1];
        if (is_tie(distance, least, made.mean) ? is_preferred : distance < least)
            best = &of[i];
    }
    made.kind = best->kind;
    made.both = best->both;
    return made;
}

/* Sorts the groups and joins those of one length, or of one bin, in place; returns how many are left. */
static size_t join_all(struct group *group, size_t count, bool same_length) {
    size_t joined = 0;
    qsort(group, count, sizeof *group, compare_groups);
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && group[end].bin == group[start].bin &&
                              (!same_length || (group[end].key[0] == group[start].key[0] &&
                                                group[end].key[1] == group[start].key[1]));)
            end++;
        group[joined++] = join(group + start, end - start, same_length);
    }
    return joined;
}

static enum pdnn_status find_lengths(const struct pdnn_epoch *epoch, enum pdnn_seqpoint_key key,
                                     const double *statistic, struct pdnn_arena *arena,
                                     struct lengths *lengths, struct pdnn_err *err) {
    double *length = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *length);
    struct lengths made = {.group = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *made.group),
                           .statistic = statistic ? statistic : length};
    if (epoch->columns < 2 && key != PDNN_KEY_BOTH)
        key = PDNN_KEY_SOURCE;
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        const struct pdnn_epoch_kind *kind = &epoch->kind[k];
        const int64_t by_key = length_by_key(key, kind);
        const bool both = key == PDNN_KEY_BOTH;
        length[k] = (double)by_key;
        if (!(made.statistic[k] >= 0) || !isfinite(made.statistic[k]))
            return pdnn_fail(err, PDNN_INVALID, "a statistic of an iteration is negative or not a number");
        made.total += (double)kind->count * made.statistic[k];
        made.group[k] = (struct group){.key = {both ? kind->length[0] : by_key, both ? kind->length[1] : 0},
                                       .kind = k,
                                       .iterations = (double)kind->count,
                                       .mean = made.statistic[k],
                                       .both = (double)(kind->length[0] + kind->length[1])};
    }
    if (!(made.total > 0))
        return pdnn_fail(err, PDNN_INVALID, "the statistic is 0 for all iterations");
    made.count = join_all(made.group, epoch->n_kinds, true);
    *lengths = made;
    return PDNN_OK;
}

/* Puts each length into one of so many bins of equal width, along each dimension; the longest belongs to the
 * last. */
static void put_into_bins(struct group *group, size_t count, size_t bins) {
    for (int d = 0; d < 2; d++) {
        int64_t low = INT64_MAX, high = 0;
        for (size_t i = 0; i < count; i++) {
            low = group[i].key[d] < low ? group[i].key[d] : low;
            high = group[i].key[d] > high ? group[i].key[d] : high;
        }
        for (size_t i = 0; i < count; i++) {
            uint64_t width = (uint64_t)(high - low), offset = (uint64_t)(group[i].key[d] - low);
            uint64_t at = width ? offset * bins / width : 0;
            group[i].bin = group[i].bin * bins + (at < bins ? at : bins - 1);
        }
    }
}

static int compare_points(const void *a, const void *b) {
    const struct pdnn_representative *one = a, *other = b;
    return (one->kind > other->kind) - (one->kind < other->kind);
}

enum pdnn_status pdnn_seqpoint_select(const struct pdnn_seqpoint_request *request, struct pdnn_arena *arena,
                                      struct pdnn_seqpoints *seqpoints, struct pdnn_err *err) {
    struct lengths lengths;
    size_t unique_max = request->unique_max ? request->unique_max : UNIQUE_MAX;
    size_t bins = request->bins ? request->bins : BINS;
    double allowed = request->error > 0 ? request->error : ERROR;
    if (find_lengths(request->epoch, request->key, request->statistic, arena, &lengths, err) != PDNN_OK)
        return err->status;
    struct group *group = pdnn_arena_alloc(arena, lengths.count, sizeof *group);
    struct pdnn_seqpoints made = {.distinct = lengths.count};
    struct pdnn_representatives *points = &made.points;
    points->point = pdnn_arena_alloc(arena, lengths.count, sizeof *points->point);
    if (request->key == PDNN_KEY_BOTH && request->epoch->columns > 1)
        bins = (size_t)ceil(sqrt((double)bins));
    for (;; bins++) {
        const bool each = lengths.count <= unique_max || bins >= lengths.count;
        for (size_t i = 0; i < lengths.count; i++)
            group[i] = lengths.group[i];
        points->count = lengths.count;
        if (!each) {
            put_into_bins(group, lengths.count, bins);
            points->count = join_all(group, lengths.count, false);
        }
        for (size_t i = 0; i < points->count; i++)
            points->point[i] = (struct pdnn_representative){group[i].kind, group[i].iterations, 1};
        qsort(points->point, points->count, sizeof *points->point, compare_points);
        made.bins = each ? 0 : bins;
        made.error =
            pdnn_projection_error(pdnn_representatives_total(points, lengths.statistic), lengths.total);
        if (each || fabs(made.error) <= allowed)
            break;
    }
    *seqpoints = made;
    return PDNN_OK;
}

static size_t find_frequent(const struct lengths *lengths) {
    size_t best = 0;
    for (size_t i = 1; i < lengths->count; i++)
        best = lengths->group[i].iterations > lengths->group[best].iterations ? i : best;
    return lengths->group[best].kind;
}

static size_t find_median(const struct lengths *lengths, size_t n_iterations) {
    size_t i = 0;
    double seen = lengths->group[0].iterations;
    while (seen < (double)((n_iterations + 1) / 2))
        seen += lengths->group[++i].iterations;
    return lengths->group[i].kind;
}

static size_t find_worst(const struct pdnn_epoch *epoch, const struct lengths *lengths) {
    size_t worst = 0;
    double most = -1, mean = lengths->total / (double)epoch->n_iterations;
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        double error = fabs(lengths->statistic[k] - mean);
        if (error > most && !is_tie(error, most, mean)) {
            most = error;
            worst = k;
        }
    }
    return worst;
}

static size_t count_iterations(const struct pdnn_epoch *epoch) {
    return epoch->n_iterations < PDNN_PRIOR_ITERATIONS ? epoch->n_iterations : PDNN_PRIOR_ITERATIONS;
}

/* Counts the runs of each kind; order: room for all iterations. */
static void run_random(const struct pdnn_epoch *epoch, uint64_t seed, size_t *order, uint64_t *runs) {
    size_t n = epoch->n_iterations, count = count_iterations(epoch);
    struct pdnn_rng rng = {pdnn_rng_seed(seed, "random"), 0};
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = 0; i < count; i++) {
        size_t other = i + pdnn_rng_below(&rng, n - i), drawn = order[other];
        order[other] = order[i];
        order[i] = drawn;
        runs[epoch->kind_of[drawn]]++;
    }
}

/* Both lengths have an order only as their sum. */
static enum pdnn_status find_ordered(const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                                     struct lengths *lengths, struct pdnn_err *err) {
    enum pdnn_seqpoint_key key = request->key == PDNN_KEY_BOTH ? PDNN_KEY_SUM : request->key;
    return find_lengths(request->epoch, key, request->statistic, arena, lengths, err);
}

enum pdnn_status pdnn_baseline_select(enum pdnn_baseline baseline,
                                      const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                                      struct pdnn_representatives *points, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    const bool all = baseline == PDNN_BASELINE_ALL;
    struct lengths lengths;
    if (find_ordered(request, arena, &lengths, err) != PDNN_OK)
        return err->status;
    uint64_t *runs = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *runs), all_runs = 0;
    size_t *order = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *order);
    if (baseline == PDNN_BASELINE_FREQUENT)
        runs[find_frequent(&lengths)] = 1;
    if (baseline == PDNN_BASELINE_MEDIAN)
        runs[find_median(&lengths, epoch->n_iterations)] = 1;
    if (baseline == PDNN_BASELINE_WORST)
        runs[find_worst(epoch, &lengths)] = 1;
    if (baseline == PDNN_BASELINE_RANDOM)
        run_random(epoch, request->seed, order, runs);
    for (size_t i = 0; baseline == PDNN_BASELINE_PRIOR && i < count_iterations(epoch); i++)
        runs[epoch->kind_of[i]]++;
    for (size_t k = 0; k < epoch->n_kinds; k++)
        all_runs += runs[k];
    *points =
        (struct pdnn_representatives){pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *points->point), 0};
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        double weight = all ? (double)epoch->kind[k].count
                            : (double)runs[k] * (double)epoch->n_iterations / (double)all_runs;
        if (all || runs[k])
            points->point[points->count++] = (struct pdnn_representative){k, weight, all ? 1 : runs[k]};
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_random_error(const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                                   double *error, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct lengths lengths;
    if (find_ordered(request, arena, &lengths, err) != PDNN_OK)
        return err->status;
    uint64_t *runs = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *runs);
    size_t *order = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *order);
    double errors[PDNN_RANDOM_SEEDS], scale = (double)epoch->n_iterations / (double)count_iterations(epoch);
    for (size_t s = 0; s < PDNN_RANDOM_SEEDS; s++) {
        double sum = 0;
        for (size_t k = 0; k < epoch->n_kinds; k++)
            runs[k] = 0;
        run_random(epoch, request->seed + s, order, runs);
        for (size_t k = 0; k < epoch->n_kinds; k++)
            sum += (double)runs[k] * lengths.statistic[k];
        errors[s] = fabs(pdnn_projection_error(scale * sum, lengths.total));
    }
    pdnn_sort(errors, PDNN_RANDOM_SEEDS);
    *error = pdnn_quantile_sorted(errors, PDNN_RANDOM_SEEDS, 0.95);
    return PDNN_OK;
}
