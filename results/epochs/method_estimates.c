#include "results/epochs/method_estimates.h"
#include "results/store/seqpoint_table.h"

#include <math.h>
#include <string.h>

/* Fills what follows from points and times. */
static void project(const struct pdnn_method_estimates_request *request, double truth_ns,
                    struct pdnn_method_estimate *made) {
    const struct pdnn_representatives *points = &made->points;
    double runs = (double)pdnn_representatives_runs(points), run_ns = 0, longest_ns = 0;
    made->total_ns = points->count ? pdnn_representatives_total(points, request->time_ns) : NAN;
    made->low_ns = made->high_ns = NAN;
    made->error = isnan(truth_ns) ? NAN : pdnn_projection_error(made->total_ns, truth_ns);
    for (size_t i = 0; i < points->count; i++) {
        double each_ns = request->time_ns[points->point[i].kind];
        run_ns += (double)points->point[i].runs * each_ns;
        longest_ns = fmax(longest_ns, each_ns);
    }
    double whole_ns = isnan(made->total_ns) || isnan(truth_ns) ? made->total_ns : truth_ns;
    made->fewer = (double)request->epoch->n_iterations / fmax(1, runs);
    made->serial = whole_ns / run_ns;
    made->parallel = whole_ns / longest_ns;
}

/* The kinds of the first draws, each once. Weights are 1 until an estimate says what they are. */
static struct pdnn_representatives gather_draws(const struct pdnn_method_estimates_request *request,
                                                const double *weight, struct pdnn_arena *arena) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct pdnn_representatives points = {.point =
                                              pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *points.point)};
    for (size_t i = 0; i < request->draws; i++) {
        struct pdnn_representative *point = &points.point[epoch->kind_of[request->sample->order[i]]];
        point->runs++;
        point->weight += weight ? weight[i] : 1;
    }
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        points.point[k].kind = k;
        if (points.point[k].runs)
            points.point[points.count++] = points.point[k];
    }
    return points;
}

static enum pdnn_status assist(const struct pdnn_method_estimates_request *request, struct pdnn_arena *arena,
                               struct pdnn_method_estimates *made, struct pdnn_err *err) {
    struct pdnn_method_estimate *of = &made->of[1];
    size_t draws = request->draws;
    double *value = pdnn_arena_alloc(arena, draws + 1, sizeof *value);
    made->has_estimate = draws >= request->sample->least;
    for (size_t i = 0; i < draws; i++) {
        value[i] = request->time_ns[request->epoch->kind_of[request->sample->order[i]]];
        made->has_estimate = made->has_estimate && !isnan(value[i]);
    }
    if (made->has_estimate &&
        pdnn_sample_estimate(request->sample, draws, value, arena, &made->estimate, err) != PDNN_OK)
        return err->status;
    *of = (struct pdnn_method_estimate){
        .method = "model-assisted",
        .points = gather_draws(request, made->has_estimate ? made->estimate.weight : NULL, arena)};
    project(request, made->truth_ns, of);
    of->total_ns = NAN;
    if (!made->has_estimate)
        return PDNN_OK;
    of->total_ns = made->estimate.total;
    of->low_ns = made->estimate.low;
    of->high_ns = made->estimate.high;
    of->error = isnan(made->truth_ns) ? NAN : pdnn_projection_error(of->total_ns, made->truth_ns);
    return PDNN_OK;
}

enum pdnn_status pdnn_method_estimates_make(const struct pdnn_method_estimates_request *request,
                                            struct pdnn_arena *arena,
                                            struct pdnn_method_estimates *projections, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct pdnn_method_estimates made = {.of[0] = {.method = "seqpoint", .points = *request->points}};
    for (size_t k = 0; k < epoch->n_kinds; k++)
        made.truth_ns += (double)epoch->kind[k].count * request->time_ns[k];
    const bool has_truth = !isnan(made.truth_ns);
    const struct pdnn_baseline_request baseline = {.epoch = epoch,
                                                   .key = request->key,
                                                   .statistic =
                                                       has_truth ? request->time_ns : request->statistic,
                                                   .seed = request->seed};
    project(request, made.truth_ns, &made.of[0]);
    if (assist(request, arena, &made, err) != PDNN_OK)
        return err->status;
    for (int b = 0; b < PDNN_BASELINE_COUNT; b++) {
        struct pdnn_method_estimate *of = &made.of[2 + b];
        of->method = pdnn_baselines[b];
        if (pdnn_baseline_select((enum pdnn_baseline)b, &baseline, arena, &of->points, err) != PDNN_OK)
            return err->status;
        project(request, made.truth_ns, of);
        if (b == PDNN_BASELINE_RANDOM && has_truth &&
            pdnn_random_error(&baseline, arena, &of->error, err) != PDNN_OK)
            return err->status;
    }
    *projections = made;
    return PDNN_OK;
}

#define TEXT         PDNN_KIND_TEXT, PDNN_SHOW_PLAIN
#define COUNT        PDNN_KIND_COUNT, PDNN_SHOW_PLAIN
#define NUMBER(show) PDNN_KIND_NUMBER, PDNN_SHOW_##show, .digits = 9

enum { LOW = PDNN_METHOD_EPOCH + 1, HIGH, TRUTH, ERROR, FEWER, SERIAL, PARALLEL, METHOD_COLUMNS };
static const struct pdnn_column_def method_columns[METHOD_COLUMNS] = {
    {"method", NULL, NULL, TEXT, .help = "what chose the iterations"},
    {"iterations", NULL, NULL, COUNT, .help = "iterations that it runs"},
    {"lengths", NULL, NULL, COUNT, .help = "distinct lengths, or pairs of lengths, among them"},
    {"epoch_ns", "epoch", "ns", NUMBER(TIME), .help = "what the epoch takes, as it projects"},
    {"low_ns", NULL, "ns", NUMBER(NEVER), .help = "of the 95 % interval; model-assisted only"},
    {"high_ns", NULL, "ns", NUMBER(NEVER), .help = "of the 95 % interval; model-assisted only"},
    {"truth_ns", NULL, "ns", NUMBER(NEVER), .help = "what the epoch takes; empty unless all lengths ran"},
    {"error", NULL, NULL, NUMBER(CHANGE), .decimals = 2,
     .help = "of the projection, as a fraction; random: the 95th percentile over seeds"},
    {"fewer_iterations", "fewer", NULL, NUMBER(RATIO), .decimals = 1,
     .help = "iterations of the epoch over those that it runs"},
    {"serial_reduction", "serial", NULL, NUMBER(RATIO), .decimals = 1,
     .help = "time of the epoch over that of these iterations, one after the other"},
    {"parallel_reduction", "parallel", NULL, NUMBER(RATIO), .decimals = 1,
     .help = "time of the epoch over that of the longest of these iterations"},
};
const struct pdnn_table_def pdnn_epoch_methods_def = {"seqpoint-methods", "what each method says of an epoch",
                                                      method_columns, METHOD_COLUMNS};

void pdnn_method_estimates_table(const struct pdnn_method_estimates *projections, struct pdnn_table *made) {
    pdnn_table_init(made, &pdnn_epoch_methods_def);
    for (int i = 0; i < PDNN_METHOD_ESTIMATES; i++) {
        const struct pdnn_method_estimate *of = &projections->of[i];
        const double numbers[] = {of->total_ns, of->low_ns, of->high_ns, projections->truth_ns,
                                  of->error,    of->fewer,  of->serial,  of->parallel};
        size_t row = pdnn_table_add_row(made);
        pdnn_table_set_text(made, row, PDNN_METHOD_NAME, of->method);
        pdnn_table_set_count(made, row, PDNN_METHOD_ITERATIONS, pdnn_representatives_runs(&of->points));
        pdnn_table_set_count(made, row, PDNN_METHOD_LENGTHS, of->points.count);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            pdnn_table_set_number(made, row, PDNN_METHOD_EPOCH + k, numbers[k]);
    }
}

static const struct pdnn_column_def speedup_columns[] = {
    {"method", NULL, NULL, TEXT, .help = "truth, or what chose the iterations in the first directory"},
    {"first_ns", "first", "ns", NUMBER(TIME), .help = "the epoch in the first directory, by its iterations"},
    {"second_ns", "second", "ns", NUMBER(TIME), .help = "the epoch in the second, by the same iterations"},
    {"speedup", "speed-up", NULL, NUMBER(RATIO), .decimals = 4, .help = "first_ns over second_ns"},
    {"error", NULL, NULL, NUMBER(CHANGE), .decimals = 2, .help = "of the speed-up, as a fraction"},
};
const struct pdnn_table_def pdnn_epoch_speedups_def = {
    "seqpoint-speedups", "how much faster an epoch is in another directory", speedup_columns, 5};

static bool is_same_epoch(const struct pdnn_table *a, const struct pdnn_table *b) {
    static const size_t columns[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_TARGET, PDNN_SEQPOINT_ITERATIONS};
    bool same = a->n_rows == b->n_rows;
    for (size_t i = 0; same && i < a->n_rows; i++)
        for (size_t c = 0; same && c < sizeof columns / sizeof *columns; c++)
            same = pdnn_table_number(a, i, columns[c]) == pdnn_table_number(b, i, columns[c]);
    return same;
}

/* The weight that the method gives to a row of an epoch with that many iterations; NaN: it chose none there.
 */
static double weight_of(const struct pdnn_table *table, size_t row, const char *method, double iterations) {
    if (strcmp(method, "truth") == 0)
        return pdnn_table_number(table, row, PDNN_SEQPOINT_ITERATIONS);
    if (strcmp(method, "seqpoint") == 0)
        return pdnn_table_number(table, row, PDNN_SEQPOINT_WEIGHT);
    if (strcmp(method, "model-assisted") == 0)
        return pdnn_table_number(table, row, PDNN_SEQPOINT_DRAWS_WEIGHT);
    return pdnn_seqpoint_is_chosen(table, row, method) ? iterations : NAN;
}

bool pdnn_epoch_speedups(const struct pdnn_table of[2], struct pdnn_table *made) {
    static const char *const methods[] = {"truth",    "seqpoint", "model-assisted",
                                          "frequent", "median",   "worst"};
    double iterations = 0, truth = NAN;
    if (!is_same_epoch(&of[0], &of[1]))
        return false;
    pdnn_table_init(made, &pdnn_epoch_speedups_def);
    for (size_t i = 0; i < of[0].n_rows; i++)
        iterations += pdnn_table_number(&of[0], i, PDNN_SEQPOINT_ITERATIONS);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        double total[2] = {0, 0};
        for (size_t i = 0; i < of[0].n_rows; i++) {
            double weight = weight_of(&of[0], i, methods[m], iterations);
            for (int k = 0; k < 2 && !isnan(weight) && weight != 0; k++)
                total[k] += weight * pdnn_table_number(&of[k], i, PDNN_SEQPOINT_TIME);
        }
        double speedup = total[0] > 0 && total[1] > 0 ? total[0] / total[1] : NAN;
        truth = m ? truth : speedup;
        const double numbers[] = {total[0] > 0 ? total[0] : NAN, total[1] > 0 ? total[1] : NAN, speedup,
                                  m ? speedup / truth - 1 : NAN};
        size_t row = pdnn_table_add_row(made);
        pdnn_table_set_text(made, row, 0, methods[m]);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            pdnn_table_set_number(made, row, 1 + k, numbers[k]);
    }
    return true;
}
