#include "results/analysis/projections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fills what follows from points and times. */
static void project(const struct pdnn_projections_request *request, double truth_ns,
                    struct pdnn_projection *made) {
    const double *time_ns = request->time_ns;
    bool known = time_ns && made->points.count;
    made->runs = pdnn_points_runs(&made->points);
    made->total_ns = made->low_ns = made->high_ns = made->error = NAN;
    made->reduction = (struct pdnn_reduction){
        NAN, NAN, (double)request->epoch->n_iterations / (double)(made->runs ? made->runs : 1)};
    for (size_t i = 0; known && i < made->points.count; i++)
        known = !isnan(time_ns[made->points.point[i].kind]);
    if (!known)
        return;
    made->total_ns = pdnn_points_total(&made->points, time_ns);
    made->error = isnan(truth_ns) ? NAN : pdnn_projection_error(made->total_ns, truth_ns);
    made->reduction = pdnn_points_reduction(request->epoch, &made->points, time_ns,
                                            isnan(truth_ns) ? made->total_ns : truth_ns);
}

/* The kinds of the first draws, each once. Weights are 1 until an estimate says what they are. */
static void gather_draws(const struct pdnn_projections_request *request, const double *weight,
                         struct pdnn_arena *arena, struct pdnn_points *points) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct pdnn_point *by_kind = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *by_kind);
    memset(by_kind, 0, epoch->n_kinds * sizeof *by_kind);
    for (size_t i = 0; i < request->draws; i++) {
        struct pdnn_point *point = &by_kind[epoch->kind_of[request->sample->order[i]]];
        point->runs++;
        point->weight += weight ? weight[i] : 1;
    }
    *points = (struct pdnn_points){.point = by_kind};
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        by_kind[k].kind = k;
        if (by_kind[k].runs)
            by_kind[points->count++] = by_kind[k];
    }
}

static enum pdnn_status assist(const struct pdnn_projections_request *request, struct pdnn_arena *arena,
                               struct pdnn_projections *made, struct pdnn_err *err) {
    struct pdnn_projection *projection = &made->of[1];
    size_t draws = request->draws;
    double *value = pdnn_arena_alloc(arena, draws + 1, sizeof *value);
    bool known = request->time_ns && draws >= request->sample->least;
    for (size_t i = 0; i < draws && known; i++) {
        value[i] = request->time_ns[request->epoch->kind_of[request->sample->order[i]]];
        known = !isnan(value[i]);
    }
    enum pdnn_status status = PDNN_OK;
    if (known)
        status = pdnn_assisted_estimate(request->sample, draws, value, arena, &made->estimate, err);
    made->has_estimate = known && status == PDNN_OK;
    if (status == PDNN_OK)
        gather_draws(request, made->has_estimate ? made->estimate.weight : NULL, arena, &projection->points);
    if (status != PDNN_OK)
        return status;
    project(request, made->truth_ns, projection);
    projection->total_ns = NAN;
    if (!made->has_estimate)
        return PDNN_OK;
    projection->total_ns = made->estimate.total;
    projection->low_ns = made->estimate.low;
    projection->high_ns = made->estimate.high;
    projection->error =
        isnan(made->truth_ns) ? NAN : pdnn_projection_error(made->estimate.total, made->truth_ns);
    return PDNN_OK;
}

enum pdnn_status pdnn_projections_make(const struct pdnn_projections_request *request,
                                       struct pdnn_arena *arena, struct pdnn_projections *projections,
                                       struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct pdnn_projections made = {.truth_ns = 0};
    for (size_t k = 0; k < epoch->n_kinds; k++)
        made.truth_ns += request->time_ns ? (double)epoch->kind[k].count * request->time_ns[k] : NAN;
    made.of[0] = (struct pdnn_projection){.method = "seqpoint", .points = *request->points};
    made.of[1] = (struct pdnn_projection){.method = "model-assisted"};
    project(request, made.truth_ns, &made.of[0]);
    enum pdnn_status status = assist(request, arena, &made, err);
    bool has_truth = !isnan(made.truth_ns);
    for (int b = 0; b < PDNN_BASELINE_COUNT && status == PDNN_OK; b++) {
        const struct pdnn_baseline_request baseline = {.epoch = epoch,
                                                       .key = request->key,
                                                       .statistic =
                                                           has_truth ? request->time_ns : request->statistic,
                                                       .seed = request->seed};
        struct pdnn_projection *of = &made.of[2 + b];
        of->method = pdnn_baselines[b];
        status = pdnn_baseline_select((enum pdnn_baseline)b, &baseline, arena, &of->points, err);
        if (status == PDNN_OK)
            project(request, made.truth_ns, of);
        if (status == PDNN_OK && b == PDNN_BASELINE_RANDOM && has_truth)
            status = pdnn_random_error(&baseline, PDNN_PROJECTION_RANDOM_SEEDS, arena, &of->error, err);
    }
    if (status == PDNN_OK)
        *projections = made;
    return status;
}
