#include "results/epochs/seqpoint.h"
#include "base/rng.h"
#include "base/stats.h"
#include "results/store/seqpoint_table.h"
#include "results/table/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const methods[PDNN_METHOD_ESTIMATES] = {
    "seqpoint", "model-assisted", "frequent", "median", "worst", "prior", "random", "all-unique"};

double pdnn_representatives_total(const struct pdnn_representatives *points, const double *value) {
    double total = 0;
    for (size_t i = 0; i < points->count; i++)
        total += points->point[i].weight * value[points->point[i].kind];
    return total;
}

static double projection_error(double projected, double truth) {
    return projected == truth ? 0 : projected / truth - 1;
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
        const int64_t source = kind->length[0], target = kind->length[1], sum = source + target;
        const int64_t by_key[PDNN_KEY_COUNT] = {source, target, sum, source > target ? source : target, sum};
        const bool both = key == PDNN_KEY_BOTH;
        length[k] = (double)by_key[key];
        if (!(made.statistic[k] >= 0) || !isfinite(made.statistic[k]))
            return pdnn_fail(err, PDNN_INVALID, "a statistic of an iteration is negative or not a number");
        made.total += (double)kind->count * made.statistic[k];
        made.group[k] = (struct group){.key = {both ? source : by_key[key], both ? target : 0},
                                       .kind = k,
                                       .iterations = (double)kind->count,
                                       .mean = made.statistic[k],
                                       .both = (double)sum};
    }
    if (!(made.total > 0))
        return pdnn_fail(err, PDNN_INVALID, "the statistic is 0 for all iterations");
    made.count = join_all(made.group, epoch->n_kinds, true);
    *lengths = made;
    return PDNN_OK;
}

/* Bins have equal widths, along each dimension; the longest length belongs to the last. */
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

/* The kinds that run, with their weights; NULL: each as many of all iterations as of these runs. */
static struct pdnn_representatives weigh(const struct pdnn_epoch *epoch, const uint64_t *runs,
                                         const double *weight, struct pdnn_arena *arena) {
    struct pdnn_representatives points = {pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *points.point), 0};
    uint64_t all_runs = 0;
    for (size_t k = 0; k < epoch->n_kinds; k++)
        all_runs += runs[k];
    for (size_t k = 0; k < epoch->n_kinds; k++)
        if (runs[k])
            points.point[points.count++] = (struct pdnn_representative){
                k, weight ? weight[k] : (double)runs[k] * (double)epoch->n_iterations / (double)all_runs,
                runs[k]};
    return points;
}

enum pdnn_status pdnn_seqpoint_select(const struct pdnn_seqpoint_request *request, struct pdnn_arena *arena,
                                      struct pdnn_seqpoints *seqpoints, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct lengths lengths;
    if (find_lengths(epoch, request->key, request->statistic, arena, &lengths, err) != PDNN_OK)
        return err->status;
    const bool is_square = request->key == PDNN_KEY_BOTH && epoch->columns > 1;
    size_t bins = is_square ? (size_t)ceil(sqrt((double)request->bins)) : request->bins, count;
    struct group *group = pdnn_arena_alloc(arena, lengths.count, sizeof *group);
    bool each;
    double error;
    do {
        double total = 0;
        each = lengths.count <= request->unique_max || bins >= lengths.count;
        memcpy(group, lengths.group, lengths.count * sizeof *group);
        if (!each)
            put_into_bins(group, lengths.count, bins++);
        count = each ? lengths.count : join_all(group, lengths.count, false);
        for (size_t i = 0; i < count; i++)
            total += group[i].iterations * lengths.statistic[group[i].kind];
        error = projection_error(total, lengths.total);
    } while (!each && !(fabs(error) <= request->error));
    uint64_t *runs = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *runs);
    double *weight = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *weight);
    for (size_t i = 0; i < count; i++) {
        runs[group[i].kind] = 1;
        weight[group[i].kind] = group[i].iterations;
    }
    *seqpoints = (struct pdnn_seqpoints){.points = weigh(epoch, runs, weight, arena),
                                         .distinct = lengths.count,
                                         .bins = each ? 0 : bins - 1,
                                         .error = error};
    return PDNN_OK;
}

/* The baselines of one iteration. */
static void run_single(const struct pdnn_epoch *epoch, const struct lengths *lengths, uint64_t **runs) {
    const struct group *frequent = lengths->group, *median = lengths->group;
    double seen = median->iterations, most = -1, mean = lengths->total / (double)epoch->n_iterations;
    size_t worst = 0;
    for (size_t i = 1; i < lengths->count; i++)
        frequent = lengths->group[i].iterations > frequent->iterations ? &lengths->group[i] : frequent;
    while (seen < (double)((epoch->n_iterations + 1) / 2))
        seen += (++median)->iterations;
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        const double error = fabs(lengths->statistic[k] - mean);
        if (error > most && !is_tie(error, most, mean)) {
            most = error;
            worst = k;
        }
    }
    runs[PDNN_BASELINE_FREQUENT][frequent->kind] = 1;
    runs[PDNN_BASELINE_MEDIAN][median->kind] = 1;
    runs[PDNN_BASELINE_WORST][worst] = 1;
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

static double find_random_error(const struct pdnn_epoch *epoch, const struct lengths *lengths, uint64_t seed,
                                size_t *order, uint64_t *runs) {
    double errors[PDNN_RANDOM_SEEDS], scale = (double)epoch->n_iterations / (double)count_iterations(epoch);
    for (size_t s = 0; s < PDNN_RANDOM_SEEDS; s++) {
        double sum = 0;
        for (size_t k = 0; k < epoch->n_kinds; k++)
            runs[k] = 0;
        run_random(epoch, seed + s, order, runs);
        for (size_t k = 0; k < epoch->n_kinds; k++)
            sum += (double)runs[k] * lengths->statistic[k];
        errors[s] = fabs(projection_error(scale * sum, lengths->total));
    }
    pdnn_sort(errors, PDNN_RANDOM_SEEDS);
    return pdnn_quantile_sorted(errors, PDNN_RANDOM_SEEDS, 0.95);
}

/* Fills what follows from points and times. */
static void project(const struct pdnn_method_estimates_request *request, double truth_ns,
                    struct pdnn_method_estimate *made) {
    const struct pdnn_representatives *points = &made->points;
    double run_ns = 0, longest_ns = 0;
    made->lengths = points->count;
    made->truth_ns = truth_ns;
    made->total_ns = points->count ? pdnn_representatives_total(points, request->time_ns) : NAN;
    made->low_ns = made->high_ns = NAN;
    made->error = isnan(truth_ns) ? NAN : projection_error(made->total_ns, truth_ns);
    for (size_t i = 0; i < points->count; i++) {
        double each_ns = request->time_ns[points->point[i].kind];
        made->iterations += points->point[i].runs;
        run_ns += (double)points->point[i].runs * each_ns;
        longest_ns = fmax(longest_ns, each_ns);
    }
    double whole_ns = isnan(made->total_ns) || isnan(truth_ns) ? made->total_ns : truth_ns;
    made->fewer = (double)request->epoch->n_iterations / fmax(1, (double)made->iterations);
    made->serial = whole_ns / run_ns;
    made->parallel = whole_ns / longest_ns;
}

static enum pdnn_status project_baselines(const struct pdnn_method_estimates_request *request,
                                          struct pdnn_arena *arena, struct pdnn_method_estimates *made,
                                          struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    const enum pdnn_seqpoint_key key = request->key == PDNN_KEY_BOTH ? PDNN_KEY_SUM : request->key;
    const bool has_truth = !isnan(made->truth_ns);
    struct pdnn_method_estimate *of = &made->of[2];
    struct lengths lengths;
    uint64_t *runs[PDNN_BASELINE_COUNT];
    if (find_lengths(epoch, key, has_truth ? request->time_ns : request->statistic, arena, &lengths, err) !=
        PDNN_OK)
        return err->status;
    size_t *order = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *order);
    for (size_t b = 0; b < PDNN_BASELINE_COUNT; b++)
        runs[b] = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof **runs);
    run_single(epoch, &lengths, runs);
    for (size_t i = 0; i < count_iterations(epoch); i++)
        runs[PDNN_BASELINE_PRIOR][epoch->kind_of[i]]++;
    run_random(epoch, request->seed, order, runs[PDNN_BASELINE_RANDOM]);
    for (size_t k = 0; k < epoch->n_kinds; k++)
        runs[PDNN_BASELINE_ALL][k] = epoch->kind[k].count;
    for (size_t b = 0; b < PDNN_BASELINE_COUNT; b++) {
        of[b].points = weigh(epoch, runs[b], NULL, arena);
        for (size_t p = 0; b == PDNN_BASELINE_ALL && p < of[b].points.count; p++)
            of[b].points.point[p].runs = 1; /* one stands for its equals */
        project(request, made->truth_ns, &of[b]);
    }
    if (has_truth)
        of[PDNN_BASELINE_RANDOM].error = find_random_error(epoch, &lengths, request->seed, order, *runs);
    return PDNN_OK;
}

/* The kinds of the draws, with the weights of the estimate where there is one. */
static enum pdnn_status assist(const struct pdnn_method_estimates_request *request, struct pdnn_arena *arena,
                               struct pdnn_method_estimates *made, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    const struct pdnn_epoch_estimate *estimate = &made->estimate;
    const size_t *order = request->sample->order, draws = request->draws;
    struct pdnn_method_estimate *of = &made->of[1];
    double *value = pdnn_arena_alloc(arena, draws + 1, sizeof *value);
    double *weight = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *weight);
    uint64_t *runs = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *runs);
    bool has = draws >= request->sample->least;
    for (size_t i = 0; i < draws; i++) {
        const size_t kind = epoch->kind_of[order[i]];
        runs[kind]++;
        value[i] = request->time_ns[kind];
        has = has && !isnan(value[i]);
    }
    if (has && pdnn_sample_estimate(request->sample, draws, value, arena, &made->estimate, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; has && i < draws; i++)
        weight[epoch->kind_of[order[i]]] += estimate->weight[i];
    made->has_estimate = has;
    of->points = weigh(epoch, runs, has ? weight : NULL, arena);
    project(request, made->truth_ns, of);
    of->low_ns = has ? estimate->low : NAN;
    of->high_ns = has ? estimate->high : NAN;
    if (!has)
        of->total_ns = of->error = NAN;
    return PDNN_OK;
}

enum pdnn_status pdnn_method_estimates_make(const struct pdnn_method_estimates_request *request,
                                            struct pdnn_arena *arena,
                                            struct pdnn_method_estimates *projections, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = request->epoch;
    struct pdnn_method_estimates made = {.of[0].points = *request->points};
    for (size_t i = 0; i < PDNN_METHOD_ESTIMATES; i++)
        made.of[i].method = methods[i];
    for (size_t k = 0; k < epoch->n_kinds; k++)
        made.truth_ns += (double)epoch->kind[k].count * request->time_ns[k];
    project(request, made.truth_ns, &made.of[0]);
    if (assist(request, arena, &made, err) != PDNN_OK ||
        project_baselines(request, arena, &made, err) != PDNN_OK)
        return err->status;
    *projections = made;
    return PDNN_OK;
}

#define TEXT         PDNN_KIND_TEXT, PDNN_SHOW_PLAIN
#define COUNT        PDNN_KIND_COUNT, PDNN_SHOW_PLAIN
#define NUMBER(show) PDNN_KIND_NUMBER, PDNN_SHOW_##show, .digits = 9

#define AT(member) .field = PDNN_FIELD(pdnn_method_estimate, member)

static const struct pdnn_column_def method_columns[] = {
    {"method", .field = PDNN_FIELD_AS(BORROWED, pdnn_method_estimate, method),
     .help = "what chose the iterations"},
    {"iterations", NULL, NULL, COUNT, AT(iterations), .help = "iterations that it runs"},
    {"lengths", NULL, NULL, COUNT, AT(lengths), .help = "distinct lengths, or pairs of lengths, among them"},
    {"epoch_ns", "epoch", "ns", NUMBER(TIME), AT(total_ns), .help = "what the epoch takes, as it projects"},
    {"low_ns", NULL, "ns", NUMBER(NEVER), AT(low_ns), .help = "95 %, sampling alone; model-assisted only"},
    {"high_ns", NULL, "ns", NUMBER(NEVER), AT(high_ns), .help = "95 %, sampling alone; model-assisted only"},
    {"truth_ns", NULL, "ns", NUMBER(NEVER), AT(truth_ns),
     .help = "what the epoch takes; empty unless all lengths ran"},
    {"error", NULL, NULL, NUMBER(CHANGE), .decimals = 2, AT(error),
     .help = "of the projection, as a fraction; random: the 95th percentile over seeds"},
    {"fewer_iterations", "fewer", NULL, NUMBER(RATIO), .decimals = 1, AT(fewer),
     .help = "iterations of the epoch over those that it runs"},
    {"serial_reduction", "serial", NULL, NUMBER(RATIO), .decimals = 1, AT(serial),
     .help = "time of the epoch over that of these iterations, one after the other"},
    {"parallel_reduction", "parallel", NULL, NUMBER(RATIO), .decimals = 1, AT(parallel),
     .help = "time of the epoch over that of the longest of these iterations"},
};
const struct pdnn_table_def pdnn_epoch_methods_def = {"seqpoint-methods", "what each method says of an epoch",
                                                      method_columns,
                                                      sizeof method_columns / sizeof *method_columns};

void pdnn_method_estimates_table(const struct pdnn_method_estimates *projections, struct pdnn_table *made) {
    pdnn_table_init(made, &pdnn_epoch_methods_def);
    for (size_t i = 0; i < PDNN_METHOD_ESTIMATES; i++)
        pdnn_record_put(made, pdnn_table_add_row(made), &projections->of[i]);
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

bool pdnn_epoch_speedups(const struct pdnn_table of[2], struct pdnn_table *made) {
    static const char *const by[] = {"truth", "seqpoint", "model-assisted", "frequent", "median", "worst"};
    /* For the first three methods, the column with the weight of each iteration; the other methods chose one
     * iteration, which stands for the whole epoch. */
    static const size_t weights[] = {PDNN_SEQPOINT_ITERATIONS, PDNN_SEQPOINT_WEIGHT,
                                     PDNN_SEQPOINT_DRAWS_WEIGHT};
    static const size_t same[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_TARGET, PDNN_SEQPOINT_ITERATIONS};
    double iterations = 0, truth = NAN;
    if (of[0].n_rows != of[1].n_rows)
        return false;
    for (size_t i = 0; i < of[0].n_rows; i++) {
        for (size_t c = 0; c < sizeof same / sizeof *same; c++)
            if (pdnn_table_number(&of[0], i, same[c]) != pdnn_table_number(&of[1], i, same[c]))
                return false;
        iterations += pdnn_table_number(&of[0], i, PDNN_SEQPOINT_ITERATIONS);
    }
    pdnn_table_init(made, &pdnn_epoch_speedups_def);
    for (size_t m = 0; m < sizeof by / sizeof *by; m++) {
        double total[2] = {0, 0};
        for (size_t i = 0; i < of[0].n_rows; i++) {
            const double weight = m < sizeof weights / sizeof *weights
                                      ? pdnn_table_number(&of[0], i, weights[m])
                                  : pdnn_seqpoint_is_chosen(&of[0], i, by[m]) ? iterations
                                                                              : NAN;
            for (int k = 0; k < 2 && !isnan(weight) && weight != 0; k++)
                total[k] += weight * pdnn_table_number(&of[k], i, PDNN_SEQPOINT_TIME);
        }
        double speedup = total[0] > 0 && total[1] > 0 ? total[0] / total[1] : NAN;
        truth = m ? truth : speedup;
        const double numbers[] = {total[0] > 0 ? total[0] : NAN, total[1] > 0 ? total[1] : NAN, speedup,
                                  m ? speedup / truth - 1 : NAN};
        size_t row = pdnn_table_add_texts(made, 1, &by[m]);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            pdnn_table_set_number(made, row, 1 + k, numbers[k]);
    }
    return true;
}
