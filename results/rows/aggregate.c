#include "results/rows/aggregate.h"
#include "base/memory.h"
#include "models/build.h"
#include "models/attributes.h"
#include "models/cost/group.h"
#include "models/op.h"
#include "results/rows/counted.h"
#include "results/table/record.h"
#include "runtime/protocol/standing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The visits that ended ok, and room for one number of each of them; what else counts. */
struct ok_visits {
    const struct pdnn_visit **visit;
    size_t count, n_failed;
    const struct pdnn_visit *last_failed;
    double *value, *scratch;
};

static void collect_ok(const struct pdnn_aggregate_input *input, struct pdnn_arena *arena,
                       struct ok_visits *ok) {
    ok->visit = pdnn_arena_alloc(arena, input->of.count + 1, sizeof *ok->visit);
    ok->value = pdnn_arena_alloc(arena, input->of.count + 1, sizeof *ok->value);
    ok->scratch = pdnn_arena_alloc(arena, input->of.count + 1, sizeof *ok->scratch);
    const struct pdnn_standing standing = pdnn_standing_of(input->of.visit, input->of.count);
    for (size_t i = 0; i < input->of.count; i++) {
        const struct pdnn_visit *visit = &input->of.visit[i];
        if (!pdnn_visit_counts(visit, &standing))
            continue;
        if (visit->outcome != PDNN_OUTCOME_OK) {
            ok->last_failed = visit;
            ok->n_failed++;
        } else {
            ok->visit[ok->count++] = visit;
        }
    }
}

/* How the visits' values make the row's. */
enum over { MEDIAN, MEDIAN_SEEN /* where it is above 0; NaN: nowhere */, LEAST, MEAN, SUM, LAST };

/* Fills `value` with the visits' doubles there, or counts; all, or those above 0. Returns how many. */
static size_t gather(const struct ok_visits *ok, size_t offset, bool is_count, bool only_seen) {
    size_t count = 0;
    for (size_t i = 0; i < ok->count; i++) {
        const void *field = (const char *)ok->visit[i] + offset;
        ok->value[count] = is_count ? (double)*(const uint64_t *)field : *(const double *)field;
        count += !only_seen || ok->value[count] > 0;
    }
    return count;
}

static double over_visits(const struct ok_visits *ok, enum over over, size_t offset, bool is_count) {
    const size_t count = gather(ok, offset, is_count, over == MEDIAN_SEEN);
    double *value = ok->value, result = over == LEAST ? INFINITY : 0;
    if (over == MEDIAN || over == MEDIAN_SEEN)
        return count ? pdnn_median(value, count) : NAN;
    if (over == LAST)
        return value[count - 1];
    for (size_t i = 0; i < count; i++)
        result =
            over == LEAST ? fmin(result, value[i]) : result + value[i] / (over == MEAN ? (double)count : 1);
    return result;
}

#define OVER(ok, over, field) over_visits(ok, over, offsetof(struct pdnn_visit, field), false)

void pdnn_aggregate_pool(const struct pdnn_visits *visits, struct pdnn_scatter *pool) {
    size_t count = visits->ids.count;
    struct pdnn_scatter *scatters = pdnn_alloc(count + 1, sizeof *scatters);
    double *medians = pdnn_alloc(pdnn_visits_most(visits), sizeof *medians);
    for (size_t i = 0; i < count; i++) {
        size_t n = pdnn_visits_medians(visits->of[i].visit, visits->of[i].count, PDNN_VISITS_ROW, medians);
        scatters[i] = pdnn_visits_scatter(medians, n);
    }
    *pool = pdnn_scatter_pool(scatters, count);
    free(medians);
    free(scatters);
}

/* A future row of ops.csv: a group of the graph, or what visits have measured besides. */
struct op_row {
    const char *key;   /* "dense/forward/64x2000:2000x1024:64x1024"; in the arena or borrowed from a visit */
    const char *layer; /* the stem of its layers if rows are kept apart by layer, else "" */
    const struct pdnn_group *group;  /* NULL: measured but not in the graph, so a reorder */
    uint64_t count, bytes;           /* as in the last visit with this op; bytes: only if not in the graph */
    struct pdnn_extra_traffic extra; /* likewise */
    bool extrapolated;
    double time_ns; /* 0: no visit has it */
    struct pdnn_counted_sum counted;
    const char *implementation; /* several: joined by " | " */
    size_t filled_by;           /* 1 + the last visit that gave it a time */
    double *times;              /* by visit */
};

/* Everything needed for the rows of one instance. */
struct analysis {
    const struct pdnn_aggregate_input *input;
    struct ok_visits ok;
    struct pdnn_arena *arena;
    struct pdnn_result row;
    struct pdnn_instance instance; /* if this program knows the id */
    unsigned flags;
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    size_t n_groups;
    uint32_t *group_of;
    struct pdnn_place_input *of_group, whole; /* the groups without times */
    struct op_row *rows;
    size_t n_rows, rows_room;
    double ops_ns;
    struct pdnn_roofs roofs;
    struct pdnn_roof_ends ends;
};

static double get(const struct analysis *a, enum pdnn_result_column column) {
    return pdnn_result_number(&a->row, column);
}

static void put(struct analysis *a, enum pdnn_result_column column, double number) {
    pdnn_result_set_number(&a->row, column, number);
}

/* One ok visit makes the row ok; `reason` then describes the other visits. */
static void set_outcome(struct analysis *a) {
    const struct pdnn_aggregate_input *input = a->input;
    const struct pdnn_visit *last = a->ok.last_failed;
    const size_t n_failed = a->ok.n_failed, n_ok = a->ok.count;
    const enum pdnn_outcome outcome = n_ok ? PDNN_OUTCOME_OK : last ? last->outcome : input->outcome;
    const char *reason = last ? last->reason : input->of.count || !input->reason ? "" : input->reason;
    char text[PDNN_REASON_TEXT], started[PDNN_UTC_TEXT];
    if (last && n_ok) {
        snprintf(text, sizeof text, "%zu of %zu visits failed, the last: %s%s%.200s", n_failed,
                 n_failed + n_ok, pdnn_outcome_name(last->outcome), *reason ? ": " : "", reason);
        reason = text;
    }
    pdnn_result_set_text(&a->row, PDNN_RESULT_STATUS, pdnn_outcome_name(outcome));
    pdnn_result_set_text(&a->row, PDNN_RESULT_REASON, reason);
    pdnn_result_set_count(&a->row, PDNN_RESULT_ROUNDS, n_ok);
    if (input->of.count && input->of.visit[0].started_unix_ms)
        pdnn_result_set_text(&a->row, PDNN_RESULT_STARTED_UTC,
                             pdnn_utc_format(input->of.visit[0].started_unix_ms, started));
}

/* An interval of measured times whose ends differ by more than this factor is one that nobody can use: the
 * machine was busy. That of a model that did not run says how well it can be told. */
static const double UNUSABLE = 3;

/* True if the earlier and the later half of the visits do not overlap and their medians differ by more than
 * 5 % of the headline. With three visits per half, one row in ten does not overlap by chance; with fewer, the
 * test says nothing. The middle visit of an odd number belongs to neither half. */
static bool drifts(const struct ok_visits *ok, double headline_ns) {
    size_t half = ok->count / 2;
    if (half < 3)
        return false;
    gather(ok, offsetof(struct pdnn_visit, median_ns), false, false);
    double *first = ok->value, *last = first + ok->count - half;
    const double change_ns = pdnn_median(last, half) - pdnn_median(first, half); /* now both are sorted */
    const bool apart = first[half - 1] < last[0] || last[half - 1] < first[0];
    return apart && fabs(change_ns) > 0.05 * headline_ns;
}

/* A visit's flags for drift and preemption describe its own samples. The row has them if most visits do,
 * since on a shared machine some visit always does. Any other flag holds for the row if any visit has it. */
static unsigned flags_of(const struct ok_visits *ok) {
    const unsigned by_majority = PDNN_FLAG_DRIFT | PDNN_FLAG_PREEMPTED;
    unsigned flags = 0;
    for (unsigned bit = 0; bit < PDNN_FLAG_COUNT; bit++) {
        size_t said = 0;
        for (size_t i = 0; i < ok->count; i++)
            said += (ok->visit[i]->flags & (1U << bit)) != 0;
        bool enough = (by_majority & (1U << bit)) ? 2 * said > ok->count : said > 0;
        flags |= enough ? 1U << bit : 0;
    }
    return flags;
}

/* What ended most of the visits; of two reasons that ended equally many, the later in the enum. */
static enum pdnn_stop stop_of(const struct ok_visits *ok) {
    size_t ended[PDNN_STOP_COUNT] = {0};
    int most = 0;
    for (size_t i = 0; i < ok->count; i++)
        ended[ok->visit[i]->stop]++;
    for (int stop = 0; stop < PDNN_STOP_COUNT; stop++)
        most = ended[stop] >= ended[most] ? stop : most;
    return (enum pdnn_stop)most;
}

/* Composed visits have their limits, by the error of what was predicted, as quantiles, beside which the
 * visits' own scatter counts; settled ones of measured operators those of the row's interval. No step ran
 * whose samples could scatter. */
static void set_limits(struct analysis *a, unsigned flags) {
    static const enum pdnn_result_column unknown[] = {PDNN_RESULT_TIME_NS_P10, PDNN_RESULT_TIME_NS_P90,
                                                      PDNN_RESULT_TIME_NS_MAD, PDNN_RESULT_TIME_NS_MIN};
    const double low_ns = get(a, PDNN_RESULT_TIME_NS_P10), high_ns = get(a, PDNN_RESULT_TIME_NS_P90);
    bool is_whole = (flags & PDNN_FLAG_SETTLED) && !(flags & PDNN_FLAG_PREDICTED);
    if (low_ns < high_ns) {
        put(a, PDNN_RESULT_CI_LOW_NS, is_whole ? low_ns : fmin(low_ns, get(a, PDNN_RESULT_CI_LOW_NS)));
        put(a, PDNN_RESULT_CI_HIGH_NS, is_whole ? high_ns : fmax(high_ns, get(a, PDNN_RESULT_CI_HIGH_NS)));
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        put(a, unknown[i], NAN);
    pdnn_result_set_text(&a->row, PDNN_RESULT_STOP_REASON, "");
}

static const struct {
    enum pdnn_result_column column;
    enum over over;
    size_t offset;
} sums[] = {
#define FROM(word, over, field)                                                                              \
    { PDNN_RESULT_##word, over, offsetof(struct pdnn_visit, field) }
    FROM(TIME_NS_P10, MEDIAN, p10_ns),
    FROM(TIME_NS_P90, MEDIAN, p90_ns),
    FROM(TIME_NS_MAD, MEDIAN, mad_ns),
    FROM(TIME_NS_MIN, LEAST, min_ns),
    FROM(TIME_NS_MEAN, MEAN, mean_ns),
    FROM(SAMPLES, SUM, samples),
    FROM(WARMUPS, SUM, warmups),
    FROM(PREPARE_NS, MEDIAN, prepare_ns),
    FROM(PLAN_BYTES, LAST, plan_bytes),
    FROM(PROBE_GFLOPS, MEDIAN_SEEN, probe_gflops),
    FROM(PROBE_GBS, MEDIAN_SEEN, probe_gbs),
    FROM(CLOCK_GHZ, MEDIAN_SEEN, hardware.clock_ghz),
    FROM(HANDOFF_NS, MEDIAN_SEEN, hardware.handoff_ns),
    FROM(FORK_NS, MEDIAN_SEEN, hardware.fork_ns),
    FROM(CPU_SHARE_PCT, MEDIAN_SEEN, hardware.cpu_share_pct),
    FROM(EFFECTIVE_GHZ, MEDIAN_SEEN, counted.of.effective_ghz),
    FROM(INSTRUCTIONS, MEDIAN_SEEN, counted.of.instructions),
    FROM(IPC, MEDIAN_SEEN, counted.of.ipc),
    FROM(COMPUTE_NS, MEDIAN_SEEN, ranks.compute_ns),
    FROM(SKEW_NS, MEDIAN_SEEN, ranks.skew_ns),
    FROM(COMM_NS, MEDIAN_SEEN, ranks.comm_ns),
#undef FROM
};

static void set_sums(struct analysis *a) {
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        bool is_count = pdnn_results_fixed_def.column[sums[i].column].kind == PDNN_KIND_COUNT;
        double value = over_visits(&a->ok, sums[i].over, sums[i].offset, is_count);
        if (is_count)
            pdnn_result_set_count(&a->row, sums[i].column,
                                  isnan(value) ? PDNN_ABSENT : (uint64_t)(value + 0.5));
        else
            put(a, sums[i].column, value);
    }
}

/* What a core did in a cycle, and what the process used, over the visits that tell. */
static void set_usage(struct analysis *a) {
    const struct ok_visits *ok = &a->ok;
    uint64_t faults = 0, switches = 0;
    double steal_pct = 0;
    size_t told = 0;
    for (size_t i = 0; i < ok->count; i++) {
        const struct pdnn_visit_hardware *hardware = &ok->visit[i]->hardware;
        if (!hardware->has_usage)
            continue;
        faults += hardware->page_faults;
        switches += hardware->context_switches;
        steal_pct += hardware->steal_pct;
        told++;
    }
    put(a, PDNN_RESULT_FLOP_PER_CYCLE,
        get(a, PDNN_RESULT_PROBE_GFLOPS) / get(a, PDNN_RESULT_CLOCK_GHZ) /
            (double)a->instance.setting[PDNN_SETTING_THREADS]);
    if (!told)
        return;
    pdnn_result_set_count(&a->row, PDNN_RESULT_PAGE_FAULTS, faults);
    pdnn_result_set_count(&a->row, PDNN_RESULT_CONTEXT_SWITCHES, switches);
    put(a, PDNN_RESULT_STEAL_PCT, steal_pct / (double)told);
}

/* The least and the greatest over the visits that have it, as a factor; NaN: fewer than two have it. */
static double range_of(const struct ok_visits *ok, size_t offset, double *least, double *most) {
    const size_t count = gather(ok, offset, false, true);
    pdnn_sort(ok->value, count);
    *least = count ? ok->value[0] : NAN;
    *most = count ? ok->value[count - 1] : NAN;
    return count > 1 ? *most / *least : NAN;
}

/* What differs between visits, and of a noisy row's, the words. Visits of one state have clocks within
 * 5 %. */
static void set_states(struct analysis *a) {
    static const double clock_limit = 1.05;
    struct ok_visits *ok = &a->ok;
    double least, most;
    struct pdnn_str words = {0};
    const double distance = range_of(ok, offsetof(struct pdnn_visit, hardware.handoff_ns), &least, &most);
    if (pdnn_distances_differ(least, most)) {
        const size_t count = gather(ok, offsetof(struct pdnn_visit, hardware.handoff_ns), false, true);
        size_t far = 0;
        for (size_t i = 0; i < count; i++)
            far += ok->value[i] > sqrt(least * most);
        put(a, PDNN_RESULT_FAR_PCT, 100 * (double)far / (double)count);
        a->flags |= PDNN_FLAG_MOVED;
        pdnn_str_printf(&words, "distance");
    }
    const double clock = range_of(ok, offsetof(struct pdnn_visit, hardware.clock_ghz), &least, &most);
    if (clock > clock_limit)
        pdnn_str_printf(&words, "%sclock", words.length ? "|" : "");
    const double share = range_of(ok, offsetof(struct pdnn_visit, hardware.cpu_share_pct), &least, &most);
    if (share > 1 && least < PDNN_LOW_SHARE_PCT)
        pdnn_str_printf(&words, "%sshare", words.length ? "|" : "");
    const bool is_known = distance >= 1 || clock >= 1 || share >= 1;
    if (is_known && (a->flags & PDNN_FLAG_NOISY))
        pdnn_result_set_text(&a->row, PDNN_RESULT_VARIED, words.length ? words.text : "none");
    pdnn_str_finish(&words);
}

static void set_times(struct analysis *a) {
    const struct pdnn_aggregate_input *input = a->input;
    const struct ok_visits *ok = &a->ok;
    gather(ok, offsetof(struct pdnn_visit, median_ns), false, false);
    struct pdnn_interval interval = pdnn_visits_interval(ok->value, ok->count, input->pool, ok->scratch);
    a->flags |= flags_of(ok);
    const enum pdnn_method method = pdnn_method_of(a->flags);
    put(a, PDNN_RESULT_TIME_NS_MEDIAN, interval.center);
    if (interval.high > 0 && interval.degrees >= PDNN_INTERVAL_DEGREES) {
        put(a, PDNN_RESULT_CI_LOW_NS, interval.low);
        put(a, PDNN_RESULT_CI_HIGH_NS, interval.high);
        if (method == PDNN_METHOD_DIRECT && interval.high > UNUSABLE * interval.low)
            a->flags |= PDNN_FLAG_NOISY | PDNN_FLAG_UNUSABLE;
    }
    set_sums(a);
    pdnn_result_set_text(&a->row, PDNN_RESULT_STOP_REASON, pdnn_stop_name(stop_of(ok)));
    if (method != PDNN_METHOD_DIRECT)
        set_limits(a, ok->visit[0]->flags);
    /* The interval reaches further than five times the requested precision to either side of the headline. */
    if (interval.high > 0 && input->precision > 0 &&
        (interval.high - interval.low) / 2 > 5 * input->precision * interval.center)
        a->flags |= PDNN_FLAG_NOISY;
    pdnn_result_set_text(&a->row, PDNN_RESULT_METHOD, pdnn_method_name(method));
    if (drifts(ok, interval.center))
        a->flags |= PDNN_FLAG_DRIFT;
    set_usage(a);
    set_states(a);
}

/* A probe's speed relative to its reference, as steps this long saw it; NaN if either is missing. A neighbour
 * takes the core for a few ms at a time. The median of steps much shorter than that is a step between two
 * such turns, at the speed of the best visit's probes; much longer ones pay their share of every turn, as
 * probes do on average. */
static double speed_of(const struct ok_visits *ok, size_t probe_offset, double reference, double step_ns) {
    static const double probe_ns = 2e6; /* as long as a probe, and half as long as a turn */
    double best = 0, share = step_ns / (step_ns + probe_ns);
    if (!(reference > 0))
        return NAN;
    const size_t count = gather(ok, probe_offset, false, true);
    for (size_t i = 0; i < count; i++) {
        ok->value[i] /= reference;
        best = fmax(best, ok->value[i]);
    }
    return count ? 1 / ((1 - share) / best + share / pdnn_median(ok->value, count)) : NAN;
}

/* Whether the index may scale roofs. A shared machine can run a few times below its speed, now or when the
 * roofs were measured; beyond a factor of 4 the probe itself was held up, or its reference was. */
static bool is_usable(double index) {
    const double most = 4;
    return index >= 1 / most && index <= most;
}

static struct op_row *add_row(struct analysis *a, const char *key, const char *layer) {
    a->rows = pdnn_arena_grow(a->arena, a->rows, &a->rows_room, a->n_rows, sizeof *a->rows);
    struct op_row *row = &a->rows[a->n_rows++];
    *row = (struct op_row){.key = key, .layer = layer, .implementation = ""};
    row->times = pdnn_arena_alloc(a->arena, a->ok.count + 1, sizeof *row->times);
    return row;
}

/* The row with the op's key that this visit has not filled yet; otherwise any row with that key (their times
 * add up); otherwise n_rows. Visits mostly hold ops in the order of the rows, so the search starts at
 * `start`. */
static size_t find_row(const struct analysis *a, const char *key, size_t start, size_t visit) {
    size_t filled = a->n_rows;
    for (size_t k = 0; k < a->n_rows; k++) {
        size_t i = (start + k) % a->n_rows;
        if (a->rows[i].key != key && strcmp(a->rows[i].key, key) != 0)
            continue;
        if (a->rows[i].filled_by != visit + 1)
            return i;
        filled = i;
    }
    return filled;
}

static void add_visit(struct analysis *a, const struct pdnn_measured_ops *ops, size_t visit) {
    for (size_t i = 0; i < ops->count; i++) {
        const struct pdnn_measured_op *op = &ops->op[i];
        size_t at = a->n_rows ? find_row(a, op->key, i % a->n_rows, visit) : 0;
        struct op_row *row = at < a->n_rows ? &a->rows[at] : add_row(a, op->key, op->layer);
        bool again = row->filled_by == visit + 1;
        row->count = again ? row->count + op->count : op->count;
        row->bytes = again ? row->bytes + op->bytes : op->bytes;
        if (!again)
            row->extra = (struct pdnn_extra_traffic){0};
        pdnn_extra_traffic_add(&row->extra, &op->extra);
        row->times[visit] += op->time_ns;
        pdnn_counted_add(&row->counted, &op->counted, visit);
        row->filled_by = visit + 1;
        if (!pdnn_parts_have(row->implementation, " | ", op->implementation, strlen(op->implementation)))
            row->implementation = pdnn_arena_printf(a->arena, "%s%s%s", row->implementation,
                                                    *row->implementation ? " | " : "", op->implementation);
    }
}

/* The groups in their order, then other ops of the visits in order of appearance. A row's time is the median
 * over the visits that stamped ops, and such a visit without the op counts as 0: a backend may choose at each
 * visit whether to reorder, and the sum should be that of a typical visit. */
static void make_rows(struct analysis *a) {
    size_t n_stamped = 0;
    for (size_t i = 0; i < a->n_groups; i++) {
        const struct pdnn_node *node = &a->graph.nodes[a->groups[i].node];
        const char *stem = a->graph.stems_apart ? node->layer.stem : NULL;
        const char *key = pdnn_arena_printf(a->arena, "%s/%s/%s", node->op->name, pdnn_node_pass_name(node),
                                            a->groups[i].shape);
        add_row(a, key, stem ? stem : "")->group = &a->groups[i];
    }
    for (size_t i = 0; i < a->ok.count && a->input->of.ops; i++) {
        const struct pdnn_measured_ops *ops = &a->input->of.ops[a->ok.visit[i] - a->input->of.visit];
        if (ops->count)
            add_visit(a, ops, n_stamped++);
    }
    for (size_t i = 0; i < a->n_rows && n_stamped; i++)
        a->rows[i].time_ns = pdnn_median(a->rows[i].times, n_stamped);
}

static double factor_of_group(const struct op_row *row) {
    return row->count ? (double)row->group->count / (double)row->count : 1;
}

/* How many times as often the whole model has this row. A reorder counts like the layers of its stem; without
 * a stem, like the layers that repeat. */
static double factor_of(const struct analysis *a, const struct op_row *row, double repetitions) {
    if (row->group)
        return factor_of_group(row);
    for (size_t i = 0; *row->layer && i < a->n_rows; i++)
        if (a->rows[i].group && strcmp(a->rows[i].layer, row->layer) == 0)
            return factor_of_group(&a->rows[i]);
    return repetitions;
}

static uint64_t scaled(uint64_t count, double factor) {
    return (uint64_t)((double)count * factor + 0.5);
}

/* If fewer layers ran than the model has, scales the time of their ops up, and the step's in proportion. */
static void extrapolate(struct analysis *a) {
    double repetitions = pdnn_instance_repetitions(&a->instance), measured_ns = 0, whole_ns = 0;
    if (repetitions == 1)
        return;
    for (size_t i = 0; i < a->n_rows; i++) {
        struct op_row *row = &a->rows[i];
        double factor = factor_of(a, row, repetitions);
        measured_ns += row->time_ns;
        row->time_ns *= factor;
        row->extrapolated = factor != 1;
        whole_ns += row->time_ns;
        pdnn_counted_scale(&row->counted, factor);
        row->extra.read_bytes = scaled(row->extra.read_bytes, factor);
        row->extra.written_bytes = scaled(row->extra.written_bytes, factor);
        if (!row->group) {
            row->count = scaled(row->count, factor);
            row->bytes = scaled(row->bytes, factor);
        }
    }
    for (size_t time = PDNN_RESULT_TIME_NS_MEDIAN; measured_ns > 0 && time <= PDNN_RESULT_CI_HIGH_NS; time++)
        put(a, time, get(a, time) * (whole_ns / measured_ns));
    pdnn_result_set_count(&a->row, PDNN_RESULT_INSTRUCTIONS, PDNN_ABSENT);
    pdnn_result_set_count(&a->row, PDNN_RESULT_EXTRAPOLATED, 1);
}

/* What averaging takes at least. A bucket's bytes are those of its last gradient's node; where it is handed
 * over and waited for, the wait has them. */
static void add_links(struct analysis *a, const struct pdnn_roof_rows *roof_rows) {
    for (size_t i = 0; roof_rows && i < a->graph.n_nodes; i++) {
        const struct pdnn_node *node = &a->graph.nodes[i];
        uint64_t bytes = (uint64_t)node->coef[PDNN_ALLREDUCE_LAST];
        if (node->op != &pdnn_op_allreduce || !bytes ||
            node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_START)
            continue;
        double ns = pdnn_roof_rows_link_ns(roof_rows, node->attr[PDNN_ALLREDUCE_RANKS], bytes);
        a->whole.link_ns += ns;
        if (node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_WHOLE)
            a->of_group[a->group_of[i]].link_ns += ns;
    }
}

static void set_infeed(struct analysis *a) {
    const double minibatch_ns = OVER(&a->ok, MEDIAN_SEEN, infeed.loader_ns);
    const char *page_cache = NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; i < a->ok.count; i++) {
        const struct pdnn_visit_infeed *seen = &a->ok.visit[i]->infeed;
        if (!(seen->loader_ns > 0))
            continue;
        bytes = seen->loader_bytes;
        page_cache = page_cache && strcmp(page_cache, seen->page_cache) != 0 ? "mixed" : seen->page_cache;
    }
    if (!page_cache)
        return;
    put(a, PDNN_RESULT_INFEED_PCT,
        OVER(&a->ok, MEDIAN, infeed.wait_ns) / get(a, PDNN_RESULT_TIME_NS_MEDIAN) * 100);
    const int64_t examples = pdnn_instance_examples(&a->instance) / a->instance.setting[PDNN_SETTING_RANKS];
    put(a, PDNN_RESULT_LOADER_EXAMPLES_PER_S, (double)examples * 1e9 / minibatch_ns);
    if (bytes)
        put(a, PDNN_RESULT_LOADER_BYTES_PER_S, (double)bytes * 1e9 / minibatch_ns);
    pdnn_result_set_text(&a->row, PDNN_RESULT_PAGE_CACHE, page_cache);
}

/* The bus bandwidth is that of a ring: each rank sends 2 (p - 1) / p of the bytes. */
static void set_ranks(struct analysis *a) {
    int64_t ranks = a->instance.setting[PDNN_SETTING_RANKS];
    const uint64_t bytes = a->ok.visit[a->ok.count - 1]->ranks.bytes;
    const double comm_ns = get(a, PDNN_RESULT_COMM_NS),
                 exposed_ns = get(a, PDNN_RESULT_TIME_NS_MEDIAN) - get(a, PDNN_RESULT_COMPUTE_NS);
    if (!(comm_ns > 0))
        return;
    pdnn_result_set_count(&a->row, PDNN_RESULT_ALLREDUCE_BYTES, bytes);
    put(a, PDNN_RESULT_EXPOSED_NS, exposed_ns);
    put(a, PDNN_RESULT_HIDDEN_PCT, (1 - exposed_ns / comm_ns) * 100);
    put(a, PDNN_RESULT_BUS_GBS, pdnn_ring_bytes(ranks, (double)bytes) / comm_ns);
}

static void place_row(struct analysis *a, double compute_index, double memory_index) {
    const double step_ns = get(a, PDNN_RESULT_TIME_NS_MEDIAN);
    struct pdnn_placement placement;
    a->whole.time_ns = step_ns;
    pdnn_place_within(&a->roofs, &a->ends, &a->whole, &placement);
    pdnn_record_put(a->row.table, a->row.row, &placement);
    double speed_index = pdnn_place_speed(&placement, (struct pdnn_speed){compute_index, memory_index});
    put(a, PDNN_RESULT_SPEED_INDEX, speed_index);
    if (!isnan(speed_index) && !is_usable(speed_index))
        a->flags |= PDNN_FLAG_ODD_SPEED;
    if (placement.bound != PDNN_BOUND_UNKNOWN && isnan(placement.pct_of_roof))
        a->flags |= PDNN_FLAG_UNPLACED;
    if (placement.pct_of_roof > PDNN_ABOVE_ROOF_PCT)
        a->flags |= PDNN_FLAG_ABOVE_ROOF;
    set_infeed(a);
    if (a->ops_ns > 0)
        put(a, PDNN_RESULT_RESIDUAL_PCT, (step_ns - a->ops_ns) / step_ns * 100);
    put(a, PDNN_RESULT_EXAMPLES_PER_S, (double)pdnn_instance_examples(&a->instance) * 1e9 / step_ns);
    set_ranks(a);
}

static void set_from_group(const struct analysis *a, const struct op_row *row, struct pdnn_op_record *op,
                           struct pdnn_place_input *place) {
    const struct pdnn_group *group = row->group;
    const struct pdnn_node *node = &a->graph.nodes[group->node];
    op->op = node->op->name;
    op->layer = group->layer;
    op->category = node->op->category;
    op->pass = pdnn_node_pass_name(node);
    op->dtype = pdnn_dtype_name(pdnn_node_dtype(&a->graph, node));
    op->shape = group->shape;
    op->count = group->count;
    op->flop_count = group->cost.flop_count;
    op->in_bounds_flop_count = group->cost.in_bounds_flop_count;
    op->byte_count = group->cost.byte_count;
    op->extra = row->extra;
    *place = a->of_group[group - a->groups];
    pdnn_traffic_add_extra(&place->traffic, &a->roofs, &row->extra);
}

/* The op is not in the graph; all that is known of it is its key, "op/pass/shape". */
static void set_from_visit(const struct analysis *a, const struct op_row *row, struct pdnn_op_record *op,
                           struct pdnn_place_input *place) {
    const size_t length = strcspn(row->key, "/");
    op->op = pdnn_arena_printf(a->arena, "%.*s", (int)length, row->key);
    op->shape = row->key + length + (row->key[length] == '/');
    for (enum pdnn_pass pass = 0; pass < PDNN_PASS_COUNT && !*op->pass; pass++) {
        const size_t end = strlen(pdnn_pass_name(pass));
        if (strncmp(op->shape, pdnn_pass_name(pass), end) != 0 || op->shape[end] != '/')
            continue;
        op->pass = pdnn_pass_name(pass);
        op->shape += end + 1;
    }
    const struct pdnn_op_def *def = pdnn_op_find(op->op);
    op->category = def ? def->category : strcmp(op->op, PDNN_INFEED_OP) == 0 ? "infeed" : "reorder";
    op->count = row->count;
    op->byte_count = row->bytes;
    place->calls = row->count;
    pdnn_traffic_from(&place->traffic, &a->roofs, row->bytes,
                      row->count ? row->bytes / row->count : row->bytes);
}

static void add_ops(const struct analysis *a, struct pdnn_table *ops) {
    const size_t mode = pdnn_result_setting_at(&a->row, PDNN_SETTING_MODE);
    uint64_t count = 0;
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct op_row *row = &a->rows[i];
        const double time_ns = row->time_ns > 0 ? row->time_ns : NAN;
        if (!row->group && isnan(time_ns))
            continue;
        struct pdnn_op_record op = {.id = a->input->id,
                                    .model = pdnn_result_text(&a->row, PDNN_RESULT_MODEL),
                                    .family = pdnn_result_text(&a->row, PDNN_RESULT_FAMILY),
                                    .mode = pdnn_table_text(a->row.table, a->row.row, mode),
                                    .status = pdnn_result_text(&a->row, PDNN_RESULT_STATUS),
                                    .op_index = count++,
                                    .layer = "",
                                    .pass = "",
                                    .dtype = "",
                                    .extrapolated = row->extrapolated,
                                    .time_ns_median = time_ns,
                                    .counted = pdnn_counted_mean(&row->counted),
                                    .share_pct = time_ns / a->ops_ns * 100,
                                    .implementation = row->implementation};
        struct pdnn_place_input place = {.calls = 0};
        (row->group ? set_from_group : set_from_visit)(a, row, &op, &place);
        place.time_ns = time_ns;
        place.speed = a->whole.speed;
        pdnn_place_within(&a->roofs, &a->ends, &place, &op.place);
        pdnn_record_put(ops, pdnn_table_add_row(ops), &op);
    }
}

/* Counts that do not fit in 64 bits leave their columns empty; the row stays. False if they do not. */
static bool set_totals(struct analysis *a) {
    struct pdnn_totals totals;
    if (a->input->totals && a->input->totals->memory_bytes)
        totals = *a->input->totals;
    else if (pdnn_cost_instance(&a->instance, a->arena, true, &totals, &(struct pdnn_err){0}) != PDNN_OK)
        return false;
    pdnn_result_set_totals(&a->row, &totals);
    return true;
}

/* What depends on the graph: the row's place, and its ops. */
static enum pdnn_status add_graph(struct analysis *a, struct pdnn_table *ops, struct pdnn_err *err) {
    const struct pdnn_instance *instance = &a->instance;
    const bool cold = instance->setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    const double step_ns = get(a, PDNN_RESULT_TIME_NS_MEDIAN);
    struct pdnn_place_input *inputs;
    const size_t known = gather(&a->ok, offsetof(struct pdnn_visit, hardware.handoff_ns), false, true);
    if (a->input->roof_rows)
        pdnn_roofs_of_visits(a->input->roof_rows, instance->setting[PDNN_SETTING_THREADS], a->ok.value, known,
                             &a->roofs, &a->ends);
    double compute =
        speed_of(&a->ok, offsetof(struct pdnn_visit, probe_gflops), a->roofs.probe_gflops, step_ns);
    double memory = speed_of(&a->ok, offsetof(struct pdnn_visit, probe_gbs), a->roofs.probe_gbs, step_ns);
    a->whole.speed = (struct pdnn_speed){is_usable(compute) ? compute : 1, is_usable(memory) ? memory : 1};
    if (pdnn_instance_graph(instance, a->arena, &a->graph, err) != PDNN_OK ||
        pdnn_graph_groups(&a->graph, &a->groups, &a->n_groups, &a->group_of, err) != PDNN_OK ||
        pdnn_graph_inputs(&a->graph, &a->roofs, cold, &inputs, err) != PDNN_OK)
        return pdnn_wrap(err, "%s", a->input->id);
    make_rows(a);
    extrapolate(a);
    a->of_group = pdnn_arena_alloc(a->arena, a->n_groups, sizeof *a->of_group);
    add_links(a, a->input->roof_rows);
    for (size_t i = 0; i < a->graph.n_nodes; i++) {
        pdnn_place_input_add(&a->of_group[a->group_of[i]], &inputs[i]);
        pdnn_place_input_add(&a->whole, &inputs[i]);
    }
    for (size_t i = 0; i < a->n_rows; i++) {
        a->whole.calls += a->rows[i].group ? 0 : a->rows[i].count;
        pdnn_traffic_add_extra(&a->whole.traffic, &a->roofs, &a->rows[i].extra);
        a->ops_ns += a->rows[i].time_ns;
    }
    place_row(a, compute, memory);
    if (ops)
        add_ops(a, ops);
    return PDNN_OK;
}

enum pdnn_status pdnn_aggregate(const struct pdnn_aggregate_input *input, struct pdnn_arena *arena,
                                struct pdnn_table *results, struct pdnn_table *ops, struct pdnn_err *err) {
    struct analysis a = {.input = input, .arena = arena, .row = pdnn_result_of(results, 0)};
    enum pdnn_status status = PDNN_OK;
    char flags[PDNN_FLAGS_TEXT];
    bool has_totals = false;
    pdnn_result_add(&a.row, input->id);
    pdnn_result_set_text(&a.row, PDNN_RESULT_HOST, input->host ? input->host : "");
    if (pdnn_instance_parse(input->id, &a.instance, NULL) == PDNN_OK) {
        pdnn_instance_resolve(&a.instance, 1); /* the id of an instance that ran names its threads */
        pdnn_result_set_instance(&a.row, &a.instance);
        has_totals = set_totals(&a);
    }
    pdnn_arena_reset(arena);
    collect_ok(input, arena, &a.ok);
    set_outcome(&a);
    if (a.ok.count) {
        set_times(&a);
        status = has_totals ? add_graph(&a, ops, err) : PDNN_OK;
        put(&a, PDNN_RESULT_CI_HALF_PCT,
            (get(&a, PDNN_RESULT_CI_HIGH_NS) - get(&a, PDNN_RESULT_CI_LOW_NS)) / 2 /
                get(&a, PDNN_RESULT_TIME_NS_MEDIAN) * 100);
    }
    pdnn_result_set_text(&a.row, PDNN_RESULT_ROW_FLAGS, pdnn_flags_format(a.flags, flags));
    return status;
}
