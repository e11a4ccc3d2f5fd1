#include "results/rows/aggregate.h"
#include "base/memory.h"
#include "models/build.h"
#include "models/attributes.h"
#include "models/group.h"
#include "models/op.h"
#include "results/rows/op_medians.h"
#include "results/rows/loaders.h"
#include "runtime/facts/infeed.h"
#include "runtime/facts/ranks.h"
#include "runtime/facts/standing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The visits that ended ok, and room for one number of each of them. */
struct ok_visits {
    const struct pdnn_visit **visit;
    struct pdnn_measured_ops *ops;
    size_t count;
    double *value, *scratch;
};

static void collect_ok(const struct pdnn_aggregate_input *input, struct pdnn_arena *arena,
                       struct ok_visits *ok) {
    ok->visit = pdnn_arena_alloc(arena, input->n_visits + 1, sizeof *ok->visit);
    ok->ops = pdnn_arena_alloc(arena, input->n_visits + 1, sizeof *ok->ops);
    ok->value = pdnn_arena_alloc(arena, input->n_visits + 1, sizeof *ok->value);
    ok->scratch = pdnn_arena_alloc(arena, input->n_visits + 1, sizeof *ok->scratch);
    const struct pdnn_standing standing = pdnn_standing_of(input->visits, input->n_visits);
    for (size_t i = 0; i < input->n_visits; i++) {
        if (!pdnn_visit_is(&input->visits[i], PDNN_VISITS_ROW, &standing))
            continue;
        if (input->ops)
            ok->ops[ok->count] = input->ops[i];
        ok->visit[ok->count++] = &input->visits[i];
    }
}

static double *gather(const struct ok_visits *ok, size_t offset) {
    for (size_t i = 0; i < ok->count; i++)
        memcpy(&ok->value[i], (const char *)ok->visit[i] + offset, sizeof *ok->value);
    return ok->value;
}

static double median_of(const struct ok_visits *ok, size_t offset) {
    return pdnn_median(gather(ok, offset), ok->count);
}

#define MEDIAN(ok, field) median_of(ok, offsetof(struct pdnn_visit, field))

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

/* One ok visit makes the row ok; `reason` then describes the other visits. */
static void set_outcome(const struct pdnn_aggregate_input *input, size_t n_ok, struct pdnn_record *record) {
    const struct pdnn_standing standing = pdnn_standing_of(input->visits, input->n_visits);
    const struct pdnn_visit *last = NULL;
    size_t n_failed = 0;
    for (size_t i = 0; i < input->n_visits; i++) {
        if (input->visits[i].outcome == PDNN_OUTCOME_OK || !pdnn_visit_counts(&input->visits[i], &standing))
            continue;
        last = &input->visits[i];
        n_failed++;
    }
    record->outcome = n_ok ? PDNN_OUTCOME_OK : last ? last->outcome : input->outcome;
    if (!input->n_visits)
        snprintf(record->reason, sizeof record->reason, "%s", input->reason ? input->reason : "");
    else if (last && n_ok)
        snprintf(record->reason, sizeof record->reason, "%zu of %zu visits failed, the last: %s%s%.200s",
                 n_failed, n_failed + n_ok, pdnn_outcome_name(last->outcome), *last->reason ? ": " : "",
                 last->reason);
    else if (last)
        memcpy(record->reason, last->reason, sizeof record->reason);
    if (input->n_visits)
        record->started_unix_ms = input->visits[0].started_unix_ms;
}

/* The interval reaches further than five times the requested precision to either side of the headline. */
static bool is_noisy(const struct pdnn_interval *interval, double precision) {
    return (interval->high - interval->low) / 2 > 5 * precision * interval->center;
}

static void range_of(const double *values, size_t count, double *least, double *greatest) {
    *least = *greatest = values[0];
    for (size_t i = 1; i < count; i++) {
        *least = fmin(*least, values[i]);
        *greatest = fmax(*greatest, values[i]);
    }
}

/* True if the earlier and the later half of the visits do not overlap and their medians differ by more than
 * 5 % of the headline. With three visits per half, one row in ten does not overlap by chance; with fewer, the
 * test says nothing. The middle visit of an odd number belongs to neither half. */
static bool drifts(const struct ok_visits *ok, double headline_ns) {
    size_t half = ok->count / 2;
    if (half < 3)
        return false;
    double *medians = gather(ok, offsetof(struct pdnn_visit, median_ns));
    double least[2], greatest[2];
    range_of(medians, half, &least[0], &greatest[0]);
    range_of(medians + ok->count - half, half, &least[1], &greatest[1]);
    bool apart = greatest[0] < least[1] || greatest[1] < least[0];
    double later = pdnn_median(medians + ok->count - half, half), earlier = pdnn_median(medians, half);
    return apart && fabs(later - earlier) > 0.05 * headline_ns;
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

/* The median over the visits that have this probe; NaN if none has. */
static double probe_of(const struct ok_visits *ok, size_t offset) {
    const double *all = gather(ok, offset);
    size_t count = 0;
    for (size_t i = 0; i < ok->count; i++) {
        if (all[i] > 0)
            ok->value[count++] = all[i];
    }
    return count ? pdnn_median(ok->value, count) : NAN;
}

/* Composed visits have their limits, by the error of what was predicted, as quantiles, beside which the
 * visits' own scatter counts; settled ones of measured operators those of the row's interval. */
static void set_limits(struct pdnn_record *record, unsigned flags) {
    if (!(record->time_ns_p10 < record->time_ns_p90))
        return;
    bool is_whole = (flags & PDNN_FLAG_SETTLED) && !(flags & PDNN_FLAG_PREDICTED);
    record->ci_low_ns = is_whole ? record->time_ns_p10 : fmin(record->time_ns_p10, record->ci_low_ns);
    record->ci_high_ns = is_whole ? record->time_ns_p90 : fmax(record->time_ns_p90, record->ci_high_ns);
}

static void set_times(const struct pdnn_aggregate_input *input, const struct ok_visits *ok,
                      struct pdnn_record *record) {
    const double *medians = gather(ok, offsetof(struct pdnn_visit, median_ns));
    struct pdnn_interval interval = pdnn_visits_interval(medians, ok->count, input->pool, ok->scratch);
    record->time_ns_median = interval.center;
    if (interval.high > 0 && interval.degrees >= PDNN_INTERVAL_DEGREES) {
        record->ci_low_ns = interval.low;
        record->ci_high_ns = interval.high;
    }
    record->time_ns_p10 = MEDIAN(ok, p10_ns);
    record->time_ns_p90 = MEDIAN(ok, p90_ns);
    record->time_ns_mad = MEDIAN(ok, mad_ns);
    record->time_ns_min = INFINITY;
    record->time_ns_mean = 0;
    record->samples = record->warmups = 0;
    for (size_t i = 0; i < ok->count; i++) {
        const struct pdnn_visit *visit = ok->visit[i];
        record->time_ns_min = fmin(record->time_ns_min, visit->min_ns);
        record->time_ns_mean += visit->mean_ns / (double)ok->count;
        record->samples += visit->samples;
        record->warmups += visit->warmups;
        ok->value[i] = (double)visit->prepare_ns;
    }
    record->prepare_ns = (uint64_t)(pdnn_median(ok->value, ok->count) + 0.5);
    record->probe_gflops = probe_of(ok, offsetof(struct pdnn_visit, probe_gflops));
    record->probe_gbs = probe_of(ok, offsetof(struct pdnn_visit, probe_gbs));
    record->plan_bytes = ok->visit[ok->count - 1]->plan_bytes;
    record->stop_reason = pdnn_stop_name(stop_of(ok));
    if (ok->visit[0]->flags & PDNN_FLAG_COMPOSED) { /* no step ran whose samples could scatter */
        set_limits(record, ok->visit[0]->flags);
        record->time_ns_p10 = record->time_ns_p90 = record->time_ns_mad = record->time_ns_min = NAN;
        record->stop_reason = "";
    }
    if (interval.high > 0 && input->precision > 0 && is_noisy(&interval, input->precision))
        record->flags |= PDNN_FLAG_NOISY;
    record->flags |= flags_of(ok);
    record->method = pdnn_method_name(pdnn_method_of(record->flags));
    if (drifts(ok, interval.center))
        record->flags |= PDNN_FLAG_DRIFT;
}

/* A probe's speed relative to its reference, as steps this long saw it; NaN if either is missing. A neighbour
 * takes the core for a few ms at a time. The median of steps much shorter than that is a step between two
 * such turns, at the speed of the best visit's probes; much longer ones pay their share of every turn, as
 * probes do on average. */
static double speed_of(const struct ok_visits *ok, size_t probe_offset, double reference, double step_ns) {
    static const double probe_ns = 2e6; /* as long as a probe, and half as long as a turn */
    double best = 0, share = step_ns / (step_ns + probe_ns);
    size_t count = 0;
    if (!(reference > 0))
        return NAN;
    for (size_t i = 0; i < ok->count; i++) {
        double probe;
        memcpy(&probe, (const char *)ok->visit[i] + probe_offset, sizeof probe);
        if (probe > 0) {
            ok->value[count++] = probe / reference;
            best = fmax(best, probe / reference);
        }
    }
    return count ? 1 / ((1 - share) / best + share / pdnn_median(ok->value, count)) : NAN;
}

/* Whether the index may scale roofs. A shared machine can run a few times below its speed, now or when the
 * roofs were measured; beyond a factor of 4 the probe itself was held up, or its reference was. */
static bool is_usable(double index) {
    const double most = 4;
    return index >= 1 / most && index <= most;
}

/* Everything needed for the rows of one instance. */
struct analysis {
    const struct ok_visits *ok;
    struct pdnn_arena *arena;
    struct pdnn_record *record;
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    size_t n_groups;
    uint32_t *group_of;
    struct pdnn_traffic *traffic, *group_traffic, sum; /* by node, by group, of the whole step */
    struct pdnn_breakdown_row *rows;
    size_t n_rows;
    uint64_t calls, flop_count[PDNN_DTYPE_COUNT]; /* in bounds */
    double ops_ns;
    double *group_link_ns, link_ns; /* by group, of the whole step: for messages at the link's roof */
    struct pdnn_roofs roofs;
    struct pdnn_speed speed;
};

static double factor_of_group(const struct pdnn_breakdown_row *row) {
    return row->count ? (double)row->group->count / (double)row->count : 1;
}

/* How many times as often the whole model has this row. A reorder counts like the layers of its stem; without
 * a stem, like the layers that repeat. */
static double factor_of(const struct analysis *a, const struct pdnn_breakdown_row *row, double repetitions) {
    if (row->group)
        return factor_of_group(row);
    for (size_t i = 0; *row->layer && i < a->n_rows; i++) {
        if (a->rows[i].group && strcmp(a->rows[i].layer, row->layer) == 0)
            return factor_of_group(&a->rows[i]);
    }
    return repetitions;
}

/* If fewer layers ran than the model has, scales the time of their ops up, and the step's time in proportion
 * to the sum over all ops. */
static void extrapolate(struct analysis *a) {
    struct pdnn_record *record = a->record;
    double repetitions = pdnn_instance_repetitions(&record->instance), measured_ns = 0, whole_ns = 0;
    if (repetitions == 1)
        return;
    for (size_t i = 0; i < a->n_rows; i++) {
        struct pdnn_breakdown_row *row = &a->rows[i];
        double factor = factor_of(a, row, repetitions);
        measured_ns += row->time_ns;
        row->time_ns *= factor;
        row->extrapolated = factor != 1;
        whole_ns += row->time_ns;
        if (!row->group) {
            row->count = (uint64_t)((double)row->count * factor + 0.5);
            row->bytes = (uint64_t)((double)row->bytes * factor + 0.5);
        }
    }
    double *const times[] = {&record->time_ns_median, &record->time_ns_min, &record->time_ns_mean,
                             &record->time_ns_p10,    &record->time_ns_p90, &record->time_ns_mad,
                             &record->ci_low_ns,      &record->ci_high_ns};
    for (size_t i = 0; measured_ns > 0 && i < sizeof times / sizeof *times; i++)
        *times[i] *= whole_ns / measured_ns;
    record->extrapolated = 1;
}

static enum pdnn_dtype dtype_of(const struct analysis *a, const struct pdnn_group *group) {
    return pdnn_node_dtype(&a->graph, &a->graph.nodes[group->node]);
}

/* What averaging takes at least. A bucket's bytes are those of its last gradient's node; where it is handed
 * over and waited for, the wait has them. */
static void add_links(struct analysis *a, const struct pdnn_ceilings *ceilings) {
    for (size_t i = 0; ceilings && i < a->graph.n_nodes; i++) {
        const struct pdnn_node *node = &a->graph.nodes[i];
        uint64_t bytes = (uint64_t)node->coef[PDNN_ALLREDUCE_LAST];
        if (node->op != &pdnn_op_allreduce || !bytes ||
            node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_START)
            continue;
        double ns = pdnn_ceilings_link_ns(ceilings, node->attr[PDNN_ALLREDUCE_RANKS], bytes);
        a->link_ns += ns;
        if (node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_WHOLE)
            a->group_link_ns[a->group_of[i]] += ns;
    }
}

static enum pdnn_status analyse_graph(struct analysis *a, const struct pdnn_ceilings *ceilings,
                                      struct pdnn_err *err) {
    const struct pdnn_instance *instance = &a->record->instance;
    bool cold = instance->setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    enum pdnn_status status = pdnn_instance_graph(instance, a->arena, &a->graph, err);
    if (status == PDNN_OK)
        status = pdnn_graph_groups(&a->graph, &a->groups, &a->n_groups, &a->group_of, err);
    if (status == PDNN_OK)
        status = pdnn_graph_traffic(&a->graph, &a->roofs, cold, &a->traffic, err);
    if (status == PDNN_OK)
        pdnn_breakdown(&a->graph, a->groups, a->n_groups, a->ok->ops, a->ok->count, a->arena, &a->rows,
                       &a->n_rows);
    if (status != PDNN_OK)
        return status;
    extrapolate(a);
    a->group_traffic = pdnn_arena_alloc(a->arena, a->n_groups, sizeof *a->group_traffic);
    a->group_link_ns = pdnn_arena_alloc(a->arena, a->n_groups, sizeof *a->group_link_ns);
    add_links(a, ceilings);
    for (size_t i = 0; i < a->graph.n_nodes; i++) {
        pdnn_traffic_add(&a->group_traffic[a->group_of[i]], &a->traffic[i]);
        pdnn_traffic_add(&a->sum, &a->traffic[i]);
    }
    for (size_t i = 0; i < a->n_groups; i++)
        a->flop_count[dtype_of(a, &a->groups[i])] += a->groups[i].cost.in_bounds_flop_count;
    for (size_t i = 0; i < a->n_rows; i++) {
        a->calls += a->rows[i].group ? a->rows[i].group->count : a->rows[i].count;
        a->ops_ns += a->rows[i].time_ns;
    }
    return PDNN_OK;
}

/* The rows of which runtime/facts/infeed.h says what they are. */
static void set_infeed(struct analysis *a) {
    struct pdnn_record *record = a->record;
    const struct pdnn_family_def *family = record->instance.family;
    double examples = (double)record->instance.hyper[family->minibatch_param].number *
                      (double)record->instance.setting[PDNN_SETTING_ACCUMULATE];
    struct pdnn_loaders_seen seen;
    for (size_t i = 0; i < a->n_rows; i++)
        if (!a->rows[i].group && pdnn_infeed_is_wait(a->rows[i].key))
            record->infeed_pct = a->rows[i].time_ns / record->time_ns_median * 100;
    if (!pdnn_loaders_find(a->ok->ops, a->ok->count, a->ok->value, &seen))
        return;
    record->loader_examples_per_s = examples * 1e9 / seen.minibatch_ns;
    record->loader_bytes_per_s =
        seen.minibatch_bytes ? (double)seen.minibatch_bytes * 1e9 / seen.minibatch_ns : NAN;
    record->page_cache = seen.pages;
}

/* The median over the visits of what the ranks did apart from their steps; NAN if no visit has it. */
static double alone_ns(const struct ok_visits *ok, const char *key, uint64_t *bytes) {
    size_t count = 0;
    for (size_t i = 0; i < ok->count; i++) {
        const struct pdnn_measured_ops *ops = &ok->ops[i];
        for (size_t k = ops->count; k-- > 0 && pdnn_ranks_is_alone(ops->op[k].key);) {
            if (strcmp(ops->op[k].key, key) != 0)
                continue;
            *bytes = ops->op[k].bytes;
            ok->value[count++] = ops->op[k].time_ns;
        }
    }
    return count ? pdnn_median(ok->value, count) : NAN;
}

/* The bus bandwidth is that of a ring: each rank sends 2 (p - 1) / p of the bytes. */
static void set_ranks(const struct ok_visits *ok, struct pdnn_record *record) {
    int64_t ranks = record->instance.setting[PDNN_SETTING_RANKS];
    uint64_t bytes = 0;
    record->compute_ns = alone_ns(ok, pdnn_ranks_compute, &bytes);
    record->skew_ns = alone_ns(ok, pdnn_ranks_skew, &bytes);
    record->comm_ns = alone_ns(ok, pdnn_ranks_comm, &bytes);
    if (!(record->comm_ns > 0))
        return;
    record->allreduce_bytes = bytes;
    record->exposed_ns = record->time_ns_median - record->compute_ns;
    record->hidden_pct = (1 - record->exposed_ns / record->comm_ns) * 100;
    record->bus_gbs = pdnn_ring_bytes(ranks, (double)bytes) / record->comm_ns;
}

static void place_record(struct analysis *a, double compute_index, double memory_index) {
    struct pdnn_record *record = a->record;
    struct pdnn_place_input place = {
        .traffic = a->sum,
        .link_ns = a->link_ns,
        .calls = a->calls,
        .time_ns = record->time_ns_median,
        .speed = a->speed,
    };
    memcpy(place.flop_count, a->flop_count, sizeof place.flop_count);
    pdnn_place(&a->roofs, &place, &record->place);
    record->speed_index =
        pdnn_place_speed(&record->place, &a->roofs, (struct pdnn_speed){compute_index, memory_index});
    if (!isnan(record->speed_index) && !is_usable(record->speed_index))
        record->flags |= PDNN_FLAG_ODD_SPEED;
    if (record->place.pct_of_roof > PDNN_ABOVE_ROOF_PCT)
        record->flags |= PDNN_FLAG_ABOVE_ROOF;
    set_infeed(a);
    if (a->ops_ns > 0)
        record->residual_pct = (record->time_ns_median - a->ops_ns) / record->time_ns_median * 100;
    const struct pdnn_family_def *family = record->instance.family;
    record->examples_per_s = (double)record->instance.hyper[family->minibatch_param].number *
                             (double)record->instance.setting[PDNN_SETTING_ACCUMULATE] *
                             (double)record->instance.setting[PDNN_SETTING_RANKS] * 1e9 /
                             record->time_ns_median;
    set_ranks(a->ok, record);
}

static void fill_from_group(const struct analysis *a, const struct pdnn_group *group,
                            struct pdnn_op_record *op, struct pdnn_traffic *traffic) {
    const struct pdnn_node *node = &a->graph.nodes[group->node];
    snprintf(op->op, sizeof op->op, "%s", node->op->name);
    _Static_assert(sizeof op->layer == sizeof group->layer, "one text in two structs");
    memcpy(op->layer, group->layer, sizeof op->layer);
    op->category = node->op->category;
    op->pass = pdnn_node_pass_name(node);
    op->dtype = pdnn_dtype_name(dtype_of(a, group));
    snprintf(op->shape, sizeof op->shape, "%s", group->shape);
    op->count = group->count;
    op->flop_count = group->cost.flop_count;
    op->in_bounds_flop_count = group->cost.in_bounds_flop_count;
    op->byte_count = group->cost.byte_count;
    *traffic = a->group_traffic[group - a->groups];
}

/* The op is not in the graph; all that is known of it is its key, "op/pass/shape". */
static void fill_from_visit(const struct analysis *a, const struct pdnn_breakdown_row *row,
                            struct pdnn_op_record *op, struct pdnn_traffic *traffic) {
    const char *at = row->key;
    size_t length = strcspn(at, "/");
    snprintf(op->op, sizeof op->op, "%.*s", (int)length, at);
    const struct pdnn_op_def *def = pdnn_op_find(op->op);
    op->category = def ? def->category : strcmp(op->op, PDNN_INFEED_OP) == 0 ? "infeed" : "reorder";
    op->pass = op->dtype = "";
    at += length + (at[length] == '/');
    length = strcspn(at, "/");
    for (enum pdnn_pass pass = 0; at[length] && pass < PDNN_PASS_COUNT; pass++) {
        if (strlen(pdnn_pass_name(pass)) == length && memcmp(pdnn_pass_name(pass), at, length) == 0)
            op->pass = pdnn_pass_name(pass);
    }
    if (*op->pass)
        at += length + 1;
    snprintf(op->shape, sizeof op->shape, "%s", at);
    op->count = row->count;
    op->byte_count = row->bytes;
    pdnn_traffic_from(traffic, &a->roofs, row->bytes, row->count ? row->bytes / row->count : row->bytes);
}

static void make_ops(const struct analysis *a, struct pdnn_op_record **ops, size_t *n_ops) {
    struct pdnn_op_record *made = pdnn_arena_alloc(a->arena, a->n_rows + 1, sizeof *made);
    size_t count = 0;
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct pdnn_breakdown_row *row = &a->rows[i];
        struct pdnn_traffic traffic = {.read_bytes = {0}};
        if (!row->group && !(row->time_ns > 0))
            continue;
        struct pdnn_op_record *op = &made[count];
        op->id = a->record->id;
        op->of = a->record;
        op->op_index = count++;
        if (row->group)
            fill_from_group(a, row->group, op, &traffic);
        else
            fill_from_visit(a, row, op, &traffic);
        op->time_ns_median = row->time_ns > 0 ? row->time_ns : NAN;
        op->extrapolated = row->extrapolated;
        op->share_pct = op->time_ns_median / a->ops_ns * 100;
        memcpy(op->implementation, row->implementation, sizeof op->implementation);
        struct pdnn_place_input place = {
            .traffic = traffic, .calls = op->count, .time_ns = op->time_ns_median, .speed = a->speed};
        place.flop_count[row->group ? dtype_of(a, row->group) : PDNN_F32] = op->in_bounds_flop_count;
        if (row->group)
            place.link_ns = a->group_link_ns[row->group - a->groups];
        pdnn_place(&a->roofs, &place, &op->place);
    }
    *ops = made;
    *n_ops = count;
}

/* Counts that do not fit in 64 bits leave their columns empty; the row stays. */
static void set_totals(const struct pdnn_aggregate_input *input, struct pdnn_arena *arena,
                       struct pdnn_record *record) {
    struct pdnn_err why = {0};
    enum pdnn_status status = PDNN_OK;
    if (input->totals && input->totals->memory_bytes)
        record->totals = *input->totals;
    else
        status = pdnn_cost_instance(&record->instance, arena, true, &record->totals, &why);
    record->has_totals = status == PDNN_OK;
}

enum pdnn_status pdnn_aggregate(const struct pdnn_aggregate_input *input, struct pdnn_arena *arena,
                                struct pdnn_record *record, struct pdnn_op_record **ops, size_t *n_ops,
                                struct pdnn_err *err) {
    struct ok_visits ok = {.count = 0};
    struct analysis a = {.ok = &ok, .arena = arena, .record = record};
    pdnn_record_init(record, input->id);
    record->host = input->host ? input->host : "";
    record->parsed = pdnn_instance_parse(input->id, &record->instance, NULL) == PDNN_OK;
    if (record->parsed) {
        pdnn_instance_resolve(&record->instance, 1); /* the id of an instance that ran names its threads */
        set_totals(input, arena, record);
    }
    pdnn_arena_reset(arena);
    collect_ok(input, arena, &ok);
    if (ops) {
        *ops = NULL;
        *n_ops = 0;
    }
    set_outcome(input, ok.count, record);
    record->rounds = ok.count;
    if (!ok.count)
        return PDNN_OK;
    set_times(input, &ok, record);
    if (!record->parsed || !record->has_totals)
        return PDNN_OK;
    if (input->ceilings)
        pdnn_roofs_init(&a.roofs, input->ceilings, record->instance.setting[PDNN_SETTING_THREADS]);
    double step_ns = record->time_ns_median;
    double compute = speed_of(&ok, offsetof(struct pdnn_visit, probe_gflops), a.roofs.probe_gflops, step_ns);
    double memory = speed_of(&ok, offsetof(struct pdnn_visit, probe_gbs), a.roofs.probe_gbs, step_ns);
    a.speed = (struct pdnn_speed){is_usable(compute) ? compute : 1, is_usable(memory) ? memory : 1};
    enum pdnn_status status = analyse_graph(&a, input->ceilings, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "%s", record->id);
    place_record(&a, compute, memory);
    if (ops)
        make_ops(&a, ops, n_ops);
    return PDNN_OK;
}
