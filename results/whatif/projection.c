#include "results/whatif/projection.h"
#include "base/memory.h"
#include "models/build.h"
#include "models/zoo/catalog.h"
#include "models/op.h"
#include "results/stats/means.h"
#include "results/query/op_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = PDNN_HARDWARE_MEASURED, AFTER = PDNN_HARDWARE_PROJECTED };

/* A step with a larger share of one kind consists of nothing else: there is no limit. */
#define WHOLE_STEP 0.999

#define N(columns) (sizeof columns / sizeof *columns)
#define COUNT      PDNN_KIND_COUNT, PDNN_SHOW_PLAIN
#define TIME       PDNN_KIND_NUMBER, PDNN_SHOW_TIME
#define RATIO      PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 2
#define SHARE      PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1
#define PERCENT    PDNN_KIND_NUMBER, PDNN_SHOW_FIXED
#define UNSHOWN(k) PDNN_KIND_##k, PDNN_SHOW_NEVER
#define WORD       PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_LEFT
#define FAMILY                                                                                               \
    { "family", NULL, NULL, WORD, .help = "model family" }
#define METHOD                                                                                               \
    { "method", NULL, NULL, UNSHOWN(TEXT), .help = "projected: no row of this table was measured" }
#define BOUND_PCT(of)                                                                                        \
    {"compute_pct", "compute %", "%",                                                                        \
     PERCENT,       .then = 3,   .help = of "of the measured time of all ops: of those bound by compute"},   \
        {"memory_pct", "memory %", "%", PERCENT, .then = 3, .help = of "the same, by memory"},               \
        {"overhead_pct", "overhead %", "%", PERCENT, .then = 3, .help = of "the same, by overhead"},         \
        {"projected_compute_pct", NULL, "%", UNSHOWN(NUMBER),                                                \
         .help = of "of the projected time of all ops: of those then bound by compute"},                     \
        {"projected_memory_pct", NULL, "%", UNSHOWN(NUMBER), .help = of "the same, by memory"},              \
        {"projected_overhead_pct", NULL, "%", UNSHOWN(NUMBER), .help = of "the same, by overhead"}, {        \
        "moved_pct", "moved %", "%", PERCENT,                                                                \
            .help = of "of the measured time of all ops: of those that get another bound"                    \
    }

static const struct pdnn_column_def model_columns[] = {
    {"id", "instance", NULL, PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_WRAP, .help = "the instance"},
    {"family", NULL, NULL, UNSHOWN(TEXT), .help = "model family"},
    METHOD,
    {"time_ns_median", "measured", "ns", TIME, .help = "the measured step, as in results.csv"},
    {"projected_ns", "projected", "ns", TIME, .help = "the step on the other hardware"},
    {"speedup", "speed-up", NULL, RATIO, .help = "time_ns_median over projected_ns"},
    BOUND_PCT(""),
    {"unknown_pct", NULL, "%", UNSHOWN(NUMBER),
     .help = "of the measured time of all ops: of those without a roof, whose time stays"},
};
const struct pdnn_table_def pdnn_projected_def = {"projection", "models on other hardware", model_columns,
                                                  N(model_columns)};

static const struct pdnn_column_def op_columns[] = {
    {"id", "instance", NULL, PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_GROUP, .help = "the instance"},
    {"op_index", NULL, NULL, UNSHOWN(COUNT), .help = "as in ops.csv"},
    {"layer", NULL, NULL, PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_WRAP, .help = "as in ops.csv"},
    {"op", NULL, NULL, WORD, .help = "registered op, or reorder"},
    {"op_pass", "pass", NULL, WORD, .help = "as in ops.csv"},
    {"op_shape", NULL, NULL, UNSHOWN(TEXT), .help = "as in ops.csv"},
    {"kind", NULL, NULL, UNSHOWN(TEXT), .help = "what limits are summed by: --by"},
    METHOD,
    {"executions", NULL, NULL, UNSHOWN(COUNT), .help = "executions in one step; times cover all of them"},
    {"time_ns_median", "measured", "ns", TIME, .help = "measured, as in ops.csv"},
    {"projected_ns", "projected", "ns", TIME, .help = "on the other hardware, with the same efficiency"},
    {"speedup", "speed-up", NULL, RATIO, .help = "time_ns_median over projected_ns"},
    {"bound", NULL, NULL, WORD, .then = 1, .help = "what limits the measured roof; empty without one"},
    {"projected_bound", NULL, NULL, UNSHOWN(TEXT), .help = "the same on the other hardware"},
    {"roof_level", "level", NULL, WORD, .then = 1, .help = "where most of the memory time goes"},
    {"projected_level", NULL, NULL, UNSHOWN(TEXT), .help = "the same on the other hardware"},
    {"moves", NULL, NULL, UNSHOWN(WHOLE), .help = "1: it gets another bound"},
};
const struct pdnn_table_def pdnn_projected_ops_def = {"projection-ops", "ops on other hardware", op_columns,
                                                      N(op_columns)};

static const struct pdnn_column_def move_columns[] = {
    FAMILY,
    {"op", NULL, NULL, WORD, .help = "registered op, or reorder"},
    {"op_pass", "pass", NULL, WORD, .help = "as in ops.csv"},
    METHOD,
    {"bound", NULL, NULL, WORD, .then = 1, .help = "what limits the measured roof"},
    {"projected_bound", NULL, NULL, UNSHOWN(TEXT), .help = "what limits that of the other hardware"},
    {"instances", NULL, NULL, COUNT, .help = "instances in which such an op changes so"},
    {"share_pct", "% of step", "%", SHARE, .help = "share of those ops in the measured steps, mean"},
    {"speedup", "speed-up", NULL, RATIO, .help = "of those ops, geometric mean"},
};
const struct pdnn_table_def pdnn_projected_moves_def = {
    "projection-moves", "ops that get another bound on other hardware", move_columns, N(move_columns)};

static const struct pdnn_column_def limit_columns[] = {
    FAMILY,
    {"kind", NULL, NULL, PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_WRAP, .help = "ops summed up: --by"},
    METHOD,
    {"instances", NULL, NULL, COUNT, .help = "instances that have such ops"},
    {"share_pct", "% of step", "%", SHARE, .help = "share of the measured step, mean"},
    {"amdahl_limit", "limit", NULL, RATIO,
     .help =
         "speed-up of the measured step if these ops took no time (Amdahl), geometric mean over the steps "
         "that have others too"},
    {"projected_share_pct", "projected %", "%", SHARE, .help = "share of the projected step, mean"},
    {"projected_limit", "limit then", NULL, RATIO, .help = "the limit of the projected step"},
};
const struct pdnn_table_def pdnn_projected_limits_def = {
    "projection-limits", "what kinds of op would give if they took no time", limit_columns, N(limit_columns)};

static const struct pdnn_column_def family_columns[] = {
    FAMILY,
    METHOD,
    {"instances", NULL, NULL, COUNT, .help = "instances that were projected"},
    {"speedup", "speed-up", NULL, RATIO, .help = "their projected speed-up, geometric mean"},
    {"speedup_min", "least", NULL, RATIO, .help = "the smallest of these speed-ups"},
    {"speedup_max", "most", NULL, RATIO, .help = "the largest of them"},
    BOUND_PCT("mean over instances: "),
};
const struct pdnn_table_def pdnn_projected_families_def = {
    "projection-families", "families on other hardware", family_columns, N(family_columns)};

/* The arithmetic at the rate of the libraries' products; infinite where that was not measured. */
static double product_ns(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input) {
    double sum = 0;
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++)
        sum += input->flop_count[d] ? (double)input->flop_count[d] / roofs->product_gflops[d] : 0;
    return sum;
}

struct pdnn_retimed pdnn_retime(const struct pdnn_roofs *const roofs[PDNN_HARDWARE_SIDES],
                                const struct pdnn_place_input input[PDNN_HARDWARE_SIDES],
                                struct pdnn_retimed_kind kind) {
    struct pdnn_retimed made = {.ns = input[BEFORE].time_ns};
    struct pdnn_roof_times *before = &made.times[BEFORE], *after = &made.times[AFTER];
    struct pdnn_place_input then = input[AFTER];
    const double product[] = {product_ns(roofs[BEFORE], &input[BEFORE]), product_ns(roofs[AFTER], &then)};
    const bool of_library = kind.is_product && isfinite(product[BEFORE]) && isfinite(product[AFTER]);
    const bool known = pdnn_roof_times(roofs[BEFORE], &input[BEFORE], before);
    double roof[PDNN_HARDWARE_SIDES];
    then.time_ns = NAN; /* not known yet */
    then.calls = before->calls_ns > 0 ? then.calls : 0;
    made.known = pdnn_roof_times(roofs[AFTER], &then, after) && known;
    for (int side = 0; side < PDNN_HARDWARE_SIDES; side++)
        roof[side] =
            fmax(of_library ? product[side] : made.times[side].compute_ns, made.times[side].memory_ns);
    made.known = made.known && roof[BEFORE] > 0;
    if (!made.known)
        return made;
    double calls = kind.is_own ? 0 : before->calls_ns;
    double ratio = before->calls_ns > 0 && after->calls_ns > 0 ? after->calls_ns / before->calls_ns : 1;
    made.ns = calls * ratio + (made.ns - calls) * roof[AFTER] / roof[BEFORE];
    return made;
}

double pdnn_retime_step(double step_ns, const double ops_ns[PDNN_HARDWARE_SIDES], double overhead_ratio) {
    double rest = step_ns - ops_ns[BEFORE];
    return rest > 0 ? ops_ns[AFTER] + rest * overhead_ratio : step_ns * ops_ns[AFTER] / ops_ns[BEFORE];
}

/* An instance while it is projected. */
struct work {
    const struct pdnn_projection_request *request;
    struct pdnn_hardware_projection *made;
    struct pdnn_roof_rows *alike; /* with the patterns that --onto has too; NULL: the request's */
    struct pdnn_hardware onto;    /* the request's, likewise */
    struct pdnn_arena scratch;    /* its graph */
    struct pdnn_roofs roofs[PDNN_HARDWARE_SIDES];
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    size_t n_groups;
    struct pdnn_place_input *of_group[PDNN_HARDWARE_SIDES]; /* without times */
    struct pdnn_op_rows rows;
    struct {
        double ns[PDNN_HARDWARE_SIDES], bound_ns[PDNN_HARDWARE_SIDES][PDNN_BOUND_COUNT];
        double moved_ns, unknown_ns; /* as measured */
    } sum;                           /* of the ops so far */
};

/* Nodes' accesses under both roofs, by group. */
static enum pdnn_status walk_graph(struct work *w, const struct pdnn_instance *instance,
                                   struct pdnn_err *err) {
    bool cold = instance->setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    uint32_t *group_of;
    if (pdnn_instance_graph(instance, &w->scratch, &w->graph, err) != PDNN_OK ||
        pdnn_graph_groups(&w->graph, &w->groups, &w->n_groups, &group_of, err) != PDNN_OK)
        return err->status;
    for (int side = 0; side < PDNN_HARDWARE_SIDES; side++) {
        struct pdnn_place_input *nodes;
        if (pdnn_graph_inputs(&w->graph, &w->roofs[side], cold, &nodes, err) != PDNN_OK)
            return err->status;
        w->of_group[side] = pdnn_arena_alloc(&w->scratch, w->n_groups + 1, sizeof **w->of_group);
        for (size_t i = 0; i < w->graph.n_nodes; i++)
            pdnn_place_input_add(&w->of_group[side][group_of[i]], &nodes[i]);
    }
    return PDNN_OK;
}

static struct pdnn_place_input input_of(const struct work *w, int side, const struct pdnn_op_record *op,
                                        const struct pdnn_group *group) {
    struct pdnn_place_input input = {.calls = 0};
    if (group)
        input = w->of_group[side][group - w->groups];
    else if (op->byte_count != PDNN_ABSENT)
        pdnn_traffic_from(&input.traffic, &w->roofs[side], op->byte_count,
                          op->count ? op->byte_count / op->count : op->byte_count);
    pdnn_traffic_add_extra(&input.traffic, &w->roofs[side], &op->extra);
    input.calls = op->count;
    input.time_ns = op->time_ns_median;
    return input;
}

/* "attention, forward" */
static const char *kind_of(struct work *w, const struct pdnn_op_record *op) {
    static const struct pdnn_by_list by_group = {{PDNN_BY_GROUP}, 1};
    const struct pdnn_by_list *by = w->request->by ? w->request->by : &by_group;
    const struct pdnn_family_def *family = pdnn_family_find(w->rows.family);
    const char *text = pdnn_by_key(by->by[0], family, op);
    for (size_t i = 1; i < by->count; i++)
        text = pdnn_arena_printf(&w->scratch, "%s, %s", text, pdnn_by_key(by->by[i], family, op));
    return text;
}

static void project_op(struct work *w, const char *id, const struct pdnn_op_record *op) {
    const struct pdnn_group *group = pdnn_breakdown_group(&w->graph, w->groups, w->n_groups, op);
    const struct pdnn_place_input input[] = {input_of(w, BEFORE, op, group), input_of(w, AFTER, op, group)};
    const struct pdnn_roofs *const roofs[] = {&w->roofs[BEFORE], &w->roofs[AFTER]};
    /* "paradnn:relu avx2"; several are joined, and the first decides. */
    const struct pdnn_retimed_kind kind = {pdnn_category_is_product(op->category),
                                           strncmp(op->implementation, "paradnn:", 8) == 0};
    const struct pdnn_retimed made = pdnn_retime(roofs, input, kind);
    const bool moves = made.known && made.times[BEFORE].bound != made.times[AFTER].bound;
    const double ns[] = {op->time_ns_median, made.ns};
    const char *const texts[] = {op->layer, op->op, op->pass, op->shape, kind_of(w, op), "projected"};
    struct pdnn_table *table = &w->made->ops;
    size_t row = pdnn_table_add_texts(table, 1, &id);
    pdnn_table_set_count(table, row, PDNN_PROJECTED_OP_INDEX, op->op_index);
    for (size_t i = 0; i < N(texts); i++)
        pdnn_table_set_text(table, row, PDNN_PROJECTED_OP_LAYER + i, texts[i]);
    pdnn_table_set_count(table, row, PDNN_PROJECTED_OP_EXECUTIONS, op->count);
    pdnn_table_set_number(table, row, PDNN_PROJECTED_OP_SPEEDUP, ns[BEFORE] / ns[AFTER]);
    pdnn_table_set_whole(table, row, PDNN_PROJECTED_OP_MOVES, moves);
    w->sum.moved_ns += moves ? ns[BEFORE] : 0;
    w->sum.unknown_ns += made.known ? 0 : ns[BEFORE];
    for (size_t side = 0; side < PDNN_HARDWARE_SIDES; side++) {
        w->sum.ns[side] += ns[side];
        pdnn_table_set_number(table, row, PDNN_PROJECTED_OP_TIME + side, ns[side]);
        if (!made.known)
            continue;
        w->sum.bound_ns[side][made.times[side].bound] += ns[side];
        pdnn_table_set_text(table, row, PDNN_PROJECTED_OP_BOUND + side,
                            pdnn_bound_name(made.times[side].bound));
        pdnn_table_set_text(table, row, PDNN_PROJECTED_OP_LEVEL + side, made.times[side].roof_level);
    }
}

/* The row of an instance from the sums over its ops. */
static void put_model(struct work *w, const char *id, double step_ns) {
    struct pdnn_table *table = &w->made->models;
    double from = w->roofs[BEFORE].overhead_ns, to = w->roofs[AFTER].overhead_ns;
    double projected_ns = pdnn_retime_step(step_ns, w->sum.ns, from > 0 && to > 0 ? to / from : 1);
    size_t row = pdnn_table_add_texts(table, 3, (const char *[]){id, w->rows.family, "projected"});
    pdnn_table_set_number(table, row, PDNN_PROJECTED_TIME, step_ns);
    pdnn_table_set_number(table, row, PDNN_PROJECTED_TIME + AFTER, projected_ns);
    pdnn_table_set_number(table, row, PDNN_PROJECTED_SPEEDUP, step_ns / projected_ns);
    for (size_t side = 0; side < PDNN_HARDWARE_SIDES; side++)
        for (size_t b = 0; b < 3; b++)
            pdnn_table_set_number(table, row, PDNN_PROJECTED_BOUND_PCT + 3 * side + b,
                                  w->sum.bound_ns[side][1U << b] * (100 / w->sum.ns[side]));
    pdnn_table_set_number(table, row, PDNN_PROJECTED_MOVED_PCT, w->sum.moved_ns * (100 / w->sum.ns[BEFORE]));
    pdnn_table_set_number(table, row, PDNN_PROJECTED_UNKNOWN_PCT,
                          w->sum.unknown_ns * (100 / w->sum.ns[BEFORE]));
}

/* Left out where it has no ops, no roofs, or this version does not know it. */
static enum pdnn_status project_instance(struct work *w, size_t at, struct pdnn_err *err) {
    static const struct pdnn_hardware same = {.n_changes = 0};
    const struct pdnn_selection *selection = w->request->selection;
    const struct pdnn_roof_rows *roof_rows = w->alike ? w->alike : w->request->roof_rows;
    const char *id = pdnn_selection_get(selection, at, selection->id);
    double step_ns = pdnn_selection_step_ns(selection, at);
    struct pdnn_instance instance;
    w->rows = pdnn_selection_rows(selection, at, w->request->readers);
    w->made->without_ops++; /* until its row is there */
    /* An all-reduce has the link's roof, which nothing changes. */
    if (!(step_ns > 0) || !w->rows.count || pdnn_instance_parse(id, &instance, NULL) != PDNN_OK ||
        instance.setting[PDNN_SETTING_RANKS] > 1)
        return PDNN_OK;
    pdnn_instance_resolve(&instance, 1); /* the id of an instance that ran names its threads */
    int64_t threads = instance.setting[PDNN_SETTING_THREADS];
    pdnn_arena_reset(&w->scratch);
    if (pdnn_hardware_roofs(&same, roof_rows, threads, &w->roofs[BEFORE], NULL) != PDNN_OK)
        return PDNN_OK;
    if (pdnn_hardware_roofs(&w->onto, roof_rows, threads, &w->roofs[AFTER], err) != PDNN_OK ||
        walk_graph(w, &instance, err) != PDNN_OK)
        return pdnn_wrap(err, "%s", id);
    memset(&w->sum, 0, sizeof w->sum);
    for (size_t i = 0; i < w->rows.count; i++)
        if (w->rows.op[i].time_ns_median > 0)
            project_op(w, id, &w->rows.op[i]);
    if (!(w->sum.ns[BEFORE] > 0))
        return PDNN_OK;
    for (int side = 0; side < PDNN_HARDWARE_SIDES && !w->made->models.n_rows; side++) {
        const struct pdnn_roofs *roofs = &w->roofs[side];
        w->made->ridge[side] =
            roofs->n_levels ? roofs->peak_gflops[PDNN_F32] / roofs->level[roofs->n_levels - 1].gbs : NAN;
    }
    put_model(w, id, step_ns);
    w->made->without_ops--;
    return PDNN_OK;
}

static void put_family(struct pdnn_hardware_projection *p, const struct pdnn_row_list *models) {
    struct pdnn_mean speedup = {0}, share[7] = {{0}}; /* by bound as measured and as projected, moved */
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < models->count; i++) {
        double one = pdnn_table_number(&p->models, models->at[i], PDNN_PROJECTED_SPEEDUP);
        pdnn_mean_add(&speedup, log(one), 0);
        least = fmin(least, one);
        most = fmax(most, one);
        for (size_t k = 0; k < N(share); k++)
            pdnn_mean_add(&share[k],
                          pdnn_table_number(&p->models, models->at[i], PDNN_PROJECTED_BOUND_PCT + k), 0);
    }
    const double speedups[] = {pdnn_mean_geometric(&speedup), least, most};
    size_t row = pdnn_table_copy_row(&p->families, &p->models, models->at[0]);
    pdnn_table_set_count(&p->families, row, PDNN_PROJECTED_FAMILY_INSTANCES, models->count);
    for (size_t k = 0; k < N(speedups); k++)
        pdnn_table_set_number(&p->families, row, PDNN_PROJECTED_FAMILY_SPEEDUP + k, speedups[k]);
    for (size_t k = 0; k < N(share); k++)
        pdnn_table_set_number(&p->families, row, PDNN_PROJECTED_FAMILY_BOUND_PCT + k, share[k].mean);
}

/* What the ops belong to. */
struct sums {
    struct pdnn_hardware_projection *of;
    size_t *model;                          /* by op */
    double (*step_ns)[PDNN_HARDWARE_SIDES]; /* by model */
};

static double op_ns(const struct sums *s, size_t op, size_t side) {
    return pdnn_table_number(&s->of->ops, op, PDNN_PROJECTED_OP_TIME + side);
}

/* Models and their ops are in the same order. Stamps cost time, so the ops may take longer than the step. */
static void find_models(struct sums *s) {
    const struct pdnn_table *ops = &s->of->ops, *of = &s->of->models;
    for (size_t op = 0, model = 0; op < ops->n_rows; op++) {
        const char *id = pdnn_table_text(ops, op, PDNN_PROJECTED_OP_ID);
        while (strcmp(pdnn_table_text(of, model, PDNN_PROJECTED_ID), id) != 0)
            model++;
        s->model[op] = model;
        for (size_t side = 0; side < PDNN_HARDWARE_SIDES; side++)
            s->step_ns[model][side] += op_ns(s, op, side);
    }
    for (size_t model = 0; model < of->n_rows; model++)
        for (size_t side = 0; side < PDNN_HARDWARE_SIDES; side++)
            s->step_ns[model][side] =
                fmax(s->step_ns[model][side], pdnn_table_number(of, model, PDNN_PROJECTED_TIME + side));
}

/* What ops have of the steps of their models. */
struct sum {
    struct pdnn_mean share_pct[PDNN_HARDWARE_SIDES];
    struct pdnn_mean limit[PDNN_HARDWARE_SIDES]; /* logarithms; of steps that have other ops too */
    struct pdnn_mean speedup;                    /* logarithms, by op */
};

static struct sum sum_up(const struct sums *s, const struct pdnn_row_list *ops) {
    struct sum sum = {0};
    for (size_t start = 0, end; start < ops->count; start = end) {
        const size_t model = s->model[ops->at[start]];
        double ns[PDNN_HARDWARE_SIDES] = {0};
        for (end = start; end < ops->count && s->model[ops->at[end]] == model; end++) {
            pdnn_mean_add(&sum.speedup,
                          log(pdnn_table_number(&s->of->ops, ops->at[end], PDNN_PROJECTED_OP_SPEEDUP)), 0);
            for (size_t side = 0; side < PDNN_HARDWARE_SIDES; side++)
                ns[side] += op_ns(s, ops->at[end], side);
        }
        for (size_t side = 0; side < PDNN_HARDWARE_SIDES; side++) {
            double step = s->step_ns[model][side];
            pdnn_mean_add(&sum.share_pct[side], ns[side] / step * 100, 0);
            if (!(ns[side] > WHOLE_STEP * step))
                pdnn_mean_add(&sum.limit[side], log(step / (step - ns[side])), 0);
        }
    }
    return sum;
}

/* Adds a row for the ops that are alike in the keys, with what the table has of their sums. */
static void add_sums(const struct sums *s, const char *family, const struct pdnn_row_list *ops,
                     const size_t *keys, size_t n_keys, struct pdnn_table *table) {
    struct pdnn_groups groups = pdnn_groups_make(&s->of->ops, ops, keys, n_keys);
    for (size_t i = 0; i < groups.count; i++) {
        const struct sum sum = sum_up(s, &groups.group[i]);
        const bool is_limit = table == &s->of->limits;
        const double numbers[] = {sum.share_pct[BEFORE].mean,
                                  pdnn_mean_geometric(is_limit ? &sum.limit[BEFORE] : &sum.speedup),
                                  sum.share_pct[AFTER].mean, pdnn_mean_geometric(&sum.limit[AFTER])};
        const size_t row = pdnn_table_copy_row(table, &s->of->ops, groups.group[i].at[0]),
                     column = pdnn_table_find(table, "instances");
        pdnn_table_set_text(table, row, pdnn_table_find(table, "family"), family);
        pdnn_table_set_count(table, row, column, sum.share_pct[BEFORE].n);
        for (size_t k = 0; column + 1 + k < table->n_columns; k++)
            pdnn_table_set_number(table, row, column + 1 + k, numbers[k]);
    }
    pdnn_groups_finish(&groups);
}

static void sort(struct pdnn_table *table, const struct pdnn_table_def *def,
                 const struct pdnn_sort_key keys[3]) {
    struct pdnn_row_list rows = pdnn_rows_all(table);
    struct pdnn_table sorted;
    pdnn_rows_sort(&rows, table, keys, 3);
    pdnn_table_init(&sorted, def);
    for (size_t i = 0; i < rows.count; i++)
        pdnn_table_copy_row(&sorted, table, rows.at[i]);
    pdnn_rows_finish(&rows);
    pdnn_table_finish(table);
    *table = sorted;
}

void pdnn_projection_sums(struct pdnn_hardware_projection *projection) {
    static const struct pdnn_sort_key of_limits[] = {{PDNN_PROJECTED_LIMIT_FAMILY, false},
                                                     {PDNN_PROJECTED_LIMIT_SHARE, true},
                                                     {PDNN_PROJECTED_LIMIT_KIND, false}},
                                      of_moves[] = {{PDNN_PROJECTED_MOVE_SHARE, true},
                                                    {PDNN_PROJECTED_MOVE_OP, false},
                                                    {PDNN_PROJECTED_MOVE_PASS, false}};
    static const size_t key[] = {PDNN_PROJECTED_FAMILY}, kind[] = {PDNN_PROJECTED_OP_KIND},
                        move[] = {PDNN_PROJECTED_OP_OP, PDNN_PROJECTED_OP_PASS, PDNN_PROJECTED_OP_BOUND,
                                  PDNN_PROJECTED_OP_BOUND + 1};
    const struct pdnn_table *of = &projection->models, *all = &projection->ops;
    struct pdnn_groups by_family = pdnn_groups_make(of, NULL, key, 1);
    struct sums s = {projection, pdnn_alloc(all->n_rows, sizeof *s.model),
                     pdnn_alloc(of->n_rows, sizeof *s.step_ns)};
    find_models(&s);
    for (size_t f = 0; f < by_family.count; f++) {
        const char *family = pdnn_table_text(of, by_family.group[f].at[0], PDNN_PROJECTED_FAMILY);
        struct pdnn_row_list rows = {0}, moved = {0};
        for (size_t op = 0; op < all->n_rows; op++) {
            if (strcmp(pdnn_table_text(of, s.model[op], PDNN_PROJECTED_FAMILY), family) != 0)
                continue;
            pdnn_rows_add(&rows, op);
            if (pdnn_table_whole(all, op, PDNN_PROJECTED_OP_MOVES))
                pdnn_rows_add(&moved, op);
        }
        put_family(projection, &by_family.group[f]);
        add_sums(&s, family, &rows, kind, 1, &projection->limits);
        add_sums(&s, family, &moved, move, 4, &projection->moves);
        pdnn_rows_finish(&rows);
        pdnn_rows_finish(&moved);
    }
    sort(&projection->limits, &pdnn_projected_limits_def, of_limits);
    sort(&projection->moves, &pdnn_projected_moves_def, of_moves);
    free(s.model);
    free(s.step_ns);
    pdnn_groups_finish(&by_family);
}

void pdnn_hardware_projection_init(struct pdnn_hardware_projection *projection) {
    *projection = (struct pdnn_hardware_projection){.without_ops = 0};
    pdnn_table_init(&projection->models, &pdnn_projected_def);
    pdnn_table_init(&projection->ops, &pdnn_projected_ops_def);
    pdnn_table_init(&projection->families, &pdnn_projected_families_def);
    pdnn_table_init(&projection->moves, &pdnn_projected_moves_def);
    pdnn_table_init(&projection->limits, &pdnn_projected_limits_def);
}

void pdnn_hardware_projection_finish(struct pdnn_hardware_projection *projection) {
    pdnn_table_finish(&projection->models);
    pdnn_table_finish(&projection->ops);
    pdnn_table_finish(&projection->families);
    pdnn_table_finish(&projection->moves);
    pdnn_table_finish(&projection->limits);
}

enum pdnn_status pdnn_project(const struct pdnn_projection_request *request,
                              struct pdnn_hardware_projection *projection, struct pdnn_err *err) {
    const struct pdnn_roof_rows *from = request->roof_rows, *onto = request->hardware->onto;
    struct work w = {.request = request, .made = projection, .onto = *request->hardware};
    pdnn_hardware_projection_init(projection);
    w.onto.onto = onto ? pdnn_roof_rows_alike(onto, from) : NULL;
    w.alike = onto ? pdnn_roof_rows_alike(from, onto) : NULL;
    enum pdnn_status status = PDNN_OK;
    for (size_t at = 0; status == PDNN_OK && at < request->selection->count; at++)
        status = project_instance(&w, at, err);
    pdnn_arena_finish(&w.scratch);
    free(w.onto.onto);
    free(w.alike);
    if (status == PDNN_OK && !projection->models.n_rows)
        return pdnn_fail(
            err, PDNN_INVALID,
            "no chosen instance has times in ops.csv and roofs in ceilings.csv, so nothing can be "
            "projected");
    if (status == PDNN_OK)
        pdnn_projection_sums(projection);
    return status;
}
