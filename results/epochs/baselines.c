/* The choices that SeqPoint is compared with. */
#include "base/rng.h"
#include "results/epochs/seqpoint.h"
#include "base/stats.h"

#include <assert.h>
#include <math.h>

const char *const pdnn_baselines[] = {"frequent", "median", "worst", "prior", "random", "all-unique", NULL};

/* Both lengths have an order only as their sum. */
static enum pdnn_status group(const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                              struct pdnn_length_groups *groups, struct pdnn_err *err) {
    enum pdnn_seqpoint_key key = request->key == PDNN_KEY_BOTH ? PDNN_KEY_SUM : request->key;
    return pdnn_length_groups(request->epoch, key, request->statistic, arena, groups, err);
}

static size_t find_frequent(const struct pdnn_length_groups *groups) {
    size_t best = 0;
    for (size_t i = 1; i < groups->count; i++)
        best = groups->group[i].count > groups->group[best].count ? i : best;
    return groups->group[best].kind;
}

static size_t find_median(const struct pdnn_length_groups *groups, size_t n_iterations) {
    size_t i = 0;
    uint64_t seen = groups->group[0].count;
    while (seen < (n_iterations + 1) / 2)
        seen += groups->group[++i].count;
    return groups->group[i].kind;
}

static size_t find_worst(const struct pdnn_epoch *epoch, const struct pdnn_length_groups *groups) {
    size_t worst = 0;
    double most = -1, mean = groups->total / (double)epoch->n_iterations;
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        double error = fabs(groups->statistic[k] - mean);
        if (error > most && !pdnn_length_is_tie(error, most, mean)) {
            most = error;
            worst = k;
        }
    }
    return worst;
}

static size_t count_iterations(const struct pdnn_baseline_request *request) {
    size_t count = request->iterations ? request->iterations : PDNN_PRIOR_ITERATIONS;
    return count < request->epoch->n_iterations ? count : request->epoch->n_iterations;
}

static void run_prior(const struct pdnn_baseline_request *request, uint64_t *runs) {
    size_t count = count_iterations(request), last = request->epoch->n_iterations - count;
    size_t first = request->first < last ? request->first : last;
    for (size_t i = first; i < first + count; i++)
        runs[request->epoch->kind_of[i]]++;
}

/* order: room for all iterations. */
static void run_random(const struct pdnn_baseline_request *request, uint64_t seed, size_t *order,
                       uint64_t *runs) {
    size_t n = request->epoch->n_iterations, count = count_iterations(request);
    struct pdnn_rng rng = {pdnn_rng_seed(seed, "random"), 0};
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = 0; i < count; i++) {
        size_t other = i + pdnn_rng_below(&rng, n - i), drawn = order[other];
        order[other] = order[i];
        order[i] = drawn;
        runs[request->epoch->kind_of[drawn]]++;
    }
}

enum pdnn_status pdnn_baseline_select(enum pdnn_baseline baseline,
                                      const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                                      struct pdnn_representatives *points, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct pdnn_length_groups groups;
    if (group(request, arena, &groups, err) != PDNN_OK)
        return err->status;
    uint64_t *runs = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *runs);
    size_t *order = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *order);
    struct pdnn_representatives made = {pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *made.point), 0};
    switch (baseline) {
    case PDNN_BASELINE_FREQUENT:
        runs[find_frequent(&groups)] = 1;
        break;
    case PDNN_BASELINE_MEDIAN:
        runs[find_median(&groups, epoch->n_iterations)] = 1;
        break;
    case PDNN_BASELINE_WORST:
        runs[find_worst(epoch, &groups)] = 1;
        break;
    case PDNN_BASELINE_PRIOR:
        run_prior(request, runs);
        break;
    case PDNN_BASELINE_RANDOM:
        run_random(request, request->seed, order, runs);
        break;
    default:
        for (size_t k = 0; k < epoch->n_kinds; k++)
            made.point[made.count++] = (struct pdnn_representative){k, (double)epoch->kind[k].count, 1};
        *points = made;
        return PDNN_OK;
    }
    uint64_t all_runs = 0;
    for (size_t k = 0; k < epoch->n_kinds; k++)
        all_runs += runs[k];
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        if (runs[k])
            made.point[made.count++] = (struct pdnn_representative){
                k, (double)runs[k] * (double)epoch->n_iterations / (double)all_runs, runs[k]};
    }
    *points = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_random_error(const struct pdnn_baseline_request *request, size_t seeds,
                                   struct pdnn_arena *arena, double *error, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct pdnn_length_groups groups;
    assert(seeds);
    if (group(request, arena, &groups, err) != PDNN_OK)
        return err->status;
    uint64_t *runs = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *runs);
    size_t *order = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *order);
    double *errors = pdnn_arena_alloc(arena, seeds, sizeof *errors);
    double scale = (double)epoch->n_iterations / (double)count_iterations(request);
    for (size_t s = 0; s < seeds; s++) {
        double sum = 0;
        for (size_t k = 0; k < epoch->n_kinds; k++)
            runs[k] = 0;
        run_random(request, request->seed + s, order, runs);
        for (size_t k = 0; k < epoch->n_kinds; k++)
            sum += (double)runs[k] * groups.statistic[k];
        errors[s] = fabs(pdnn_projection_error(scale * sum, groups.total));
    }
    pdnn_sort(errors, seeds);
    *error = pdnn_quantile_sorted(errors, seeds, 0.95);
    return PDNN_OK;
}
