#include "results/analysis/projection.h"
#include "models/build.h"
#include "models/group.h"
#include "models/op.h"
#include "results/analysis/breakdown.h"
#include "results/analysis/op_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char projected_word[] = "projected";

/* The arithmetic at the rate of the libraries' products; infinite where that was not measured. */
static double product_ns(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input) {
    double sum = 0;
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (input->flop_count[d])
            sum += (double)input->flop_count[d] / roofs->product_gflops[d];
    }
    return sum;
}

struct pdnn_retimed pdnn_retime(const struct pdnn_roofs *const roofs[PDNN_HARDWARE_SIDES],
                                const struct pdnn_place_input input[PDNN_HARDWARE_SIDES],
                                struct pdnn_retimed_kind kind) {
    struct pdnn_retimed made = {.ns = input[PDNN_HARDWARE_MEASURED].time_ns, .known = true};
    double roof[PDNN_HARDWARE_SIDES], product[PDNN_HARDWARE_SIDES];
    for (int side = 0; side < PDNN_HARDWARE_SIDES; side++)
        product[side] = product_ns(roofs[side], &input[side]);
    bool of_library = kind.is_product && isfinite(product[0]) && isfinite(product[1]);
    for (int side = 0; side < PDNN_HARDWARE_SIDES; side++) {
        made.known = pdnn_roof_times(roofs[side], &input[side], &made.times[side]) && made.known;
        roof[side] =
            fmax(of_library ? product[side] : made.times[side].compute_ns, made.times[side].memory_ns);
    }
    const struct pdnn_roof_times *before = &made.times[PDNN_HARDWARE_MEASURED],
                                 *after = &made.times[PDNN_HARDWARE_PROJECTED];
    made.known = made.known && roof[PDNN_HARDWARE_MEASURED] > 0;
    if (!made.known)
        return made;
    double calls = kind.is_own ? 0 : fmin(made.ns, before->calls_ns);
    double ratio = before->calls_ns > 0 && after->calls_ns > 0 ? after->calls_ns / before->calls_ns : 1;
    made.ns =
        calls * ratio + (made.ns - calls) * roof[PDNN_HARDWARE_PROJECTED] / roof[PDNN_HARDWARE_MEASURED];
    return made;
}

double pdnn_retime_step(double step_ns, const double ops_ns[PDNN_HARDWARE_SIDES], double overhead_ratio) {
    double rest = step_ns - ops_ns[PDNN_HARDWARE_MEASURED];
    if (rest > 0)
        return ops_ns[PDNN_HARDWARE_PROJECTED] + rest * overhead_ratio;
    return step_ns * ops_ns[PDNN_HARDWARE_PROJECTED] / ops_ns[PDNN_HARDWARE_MEASURED];
}

/* An instance while it is projected. */
struct work {
    const struct pdnn_projection_request *request;
    struct pdnn_ceilings *alike;       /* with the patterns that --onto has too; NULL: the request's */
    struct pdnn_hardware onto;         /* the request's, likewise */
    struct pdnn_arena *arena, scratch; /* scratch: its graph */
    struct pdnn_roofs roofs[PDNN_HARDWARE_SIDES];
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    size_t n_groups;
    struct pdnn_traffic *traffic[PDNN_HARDWARE_SIDES]; /* by group */
    struct pdnn_op_rows rows;
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
        struct pdnn_traffic *nodes;
        if (pdnn_graph_traffic(&w->graph, &w->roofs[side], cold, &nodes, err) != PDNN_OK)
            return err->status;
        w->traffic[side] = pdnn_arena_alloc(&w->scratch, w->n_groups + 1, sizeof **w->traffic);
        for (size_t i = 0; i < w->graph.n_nodes; i++)
            pdnn_traffic_add(&w->traffic[side][group_of[i]], &nodes[i]);
    }
    return PDNN_OK;
}

static void fill_input(const struct work *w, int side, const struct pdnn_op_record *op,
                       const struct pdnn_group *group, struct pdnn_place_input *input) {
    *input = (struct pdnn_place_input){.calls = op->count, .time_ns = op->time_ns_median, .speed = {1, 1}};
    if (group) {
        enum pdnn_dtype dtype = pdnn_node_dtype(&w->graph, &w->graph.nodes[group->node]);
        input->flop_count[dtype] = group->cost.in_bounds_flop_count;
        input->traffic = w->traffic[side][group - w->groups];
    } else if (op->byte_count != PDNN_ABSENT) {
        pdnn_traffic_from(&input->traffic, &w->roofs[side], op->byte_count,
                          op->count ? op->byte_count / op->count : op->byte_count);
    }
}

/* "paradnn:relu avx2". Several are joined: then the first decides. */
static bool is_own(const char *implementation) {
    return strncmp(implementation, "paradnn:", 8) == 0;
}

/* "attention, forward" */
static const char *kind_of(const struct work *w, const struct pdnn_op_record *op) {
    static const struct pdnn_by_list by_group = {{PDNN_BY_GROUP}, 1};
    const struct pdnn_by_list *by = w->request->by ? w->request->by : &by_group;
    const struct pdnn_family_def *family = pdnn_family_find(w->rows.family);
    const char *keys[PDNN_BY_COUNT] = {
        [PDNN_BY_CATEGORY] = op->category,
        [PDNN_BY_GROUP] = family ? pdnn_op_groups[pdnn_op_group_of(family, op)].name : op->category,
        [PDNN_BY_PASS] = op->pass,
        [PDNN_BY_LAYER] = op->layer,
        [PDNN_BY_OP] = op->op};
    struct pdnn_str text = {0};
    for (size_t i = 0; i < by->count; i++)
        pdnn_str_printf(&text, "%s%s", i ? ", " : "", keys[by->by[i]]);
    const char *kept = pdnn_arena_strdup(w->arena, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return kept;
}

static void project_op(struct work *w, const struct pdnn_op_record *op, struct pdnn_projected *model) {
    const struct pdnn_group *group = pdnn_breakdown_group(&w->graph, w->groups, w->n_groups, op);
    struct pdnn_place_input input[PDNN_HARDWARE_SIDES];
    for (int side = 0; side < PDNN_HARDWARE_SIDES; side++)
        fill_input(w, side, op, group, &input[side]);
    const struct pdnn_roofs *const roofs[] = {&w->roofs[0], &w->roofs[1]};
    struct pdnn_retimed made = pdnn_retime(
        roofs, input,
        (struct pdnn_retimed_kind){pdnn_category_is_product(op->category), is_own(op->implementation)});
    struct pdnn_projected_op *row = &model->op[model->n_ops++];
    *row = (struct pdnn_projected_op){.id = model->id,
                                      .method = projected_word,
                                      .op_index = op->op_index,
                                      .layer = pdnn_arena_strdup(w->arena, op->layer),
                                      .op = pdnn_arena_strdup(w->arena, op->op),
                                      .pass = pdnn_arena_strdup(w->arena, op->pass),
                                      .shape = pdnn_arena_strdup(w->arena, op->shape),
                                      .kind = kind_of(w, op),
                                      .count = op->count,
                                      .time_ns = op->time_ns_median,
                                      .projected_ns = made.ns,
                                      .speedup = op->time_ns_median / made.ns};
    for (int side = 0; side < PDNN_HARDWARE_SIDES; side++) {
        enum pdnn_bound bound = made.known ? made.times[side].bound : PDNN_BOUND_UNKNOWN;
        row->bound[side] = pdnn_bound_name(bound);
        row->level[side] = made.known ? pdnn_arena_strdup(w->arena, made.times[side].roof_level) : "";
        model->bound_pct[side][bound] += side == PDNN_HARDWARE_MEASURED ? row->time_ns : row->projected_ns;
    }
    row->moves = made.known && made.times[0].bound != made.times[1].bound;
    model->moved_pct += row->moves ? row->time_ns : 0;
}

static void project_ops(struct work *w, struct pdnn_projected *model) {
    double ops_ns[PDNN_HARDWARE_SIDES] = {0};
    for (size_t i = 0; i < w->rows.count; i++) {
        if (!(w->rows.op[i].time_ns_median > 0))
            continue;
        project_op(w, &w->rows.op[i], model);
        ops_ns[PDNN_HARDWARE_MEASURED] += model->op[model->n_ops - 1].time_ns;
        ops_ns[PDNN_HARDWARE_PROJECTED] += model->op[model->n_ops - 1].projected_ns;
    }
    if (!model->n_ops)
        return;
    const struct pdnn_roofs *from = &w->roofs[PDNN_HARDWARE_MEASURED],
                            *to = &w->roofs[PDNN_HARDWARE_PROJECTED];
    bool known = from->overhead_ns > 0 && to->overhead_ns > 0;
    model->projected_ns =
        pdnn_retime_step(model->time_ns, ops_ns, known ? to->overhead_ns / from->overhead_ns : 1);
    model->speedup = model->time_ns / model->projected_ns;
    for (int side = 0; side < PDNN_HARDWARE_SIDES; side++) {
        for (size_t b = 0; b < PDNN_BOUND_COUNT; b++)
            model->bound_pct[side][b] *= 100 / ops_ns[side];
    }
    model->moved_pct *= 100 / ops_ns[PDNN_HARDWARE_MEASURED];
    model->unknown_pct = model->bound_pct[PDNN_HARDWARE_MEASURED][PDNN_BOUND_UNKNOWN];
}

static double ridge_of(const struct pdnn_roofs *roofs) {
    return roofs->n_levels ? roofs->peak_gflops[PDNN_F32] / roofs->level[roofs->n_levels - 1].gbs : NAN;
}

/* Left out where it has no ops, no roofs, or this version does not know it. */
static enum pdnn_status project_instance(struct work *w, size_t at, struct pdnn_hardware_projection *made,
                                         struct pdnn_err *err) {
    const struct pdnn_projection_request *request = w->request;
    const struct pdnn_selection *selection = request->selection;
    const struct pdnn_ceilings *ceilings = w->alike ? w->alike : request->ceilings;
    struct pdnn_projected *model = &made->model[made->n_models];
    struct pdnn_instance instance;
    *model = (struct pdnn_projected){.id = pdnn_selection_get(selection, at, selection->id),
                                     .family = pdnn_selection_get(selection, at, selection->family),
                                     .method = projected_word,
                                     .time_ns = pdnn_selection_step_ns(selection, at)};
    if (pdnn_selection_rows(selection, at, request->readers, &w->rows, err) != PDNN_OK)
        return err->status;
    if (!(model->time_ns > 0) || !w->rows.count ||
        pdnn_instance_parse(model->id, &instance, NULL) != PDNN_OK ||
        instance.setting[PDNN_SETTING_RANKS] >
            1) { /* an all-reduce has the link's roof, which nothing changes */
        made->without_ops++;
        return PDNN_OK;
    }
    pdnn_instance_resolve(&instance, 1); /* the id of an instance that ran names its threads */
    int64_t threads = instance.setting[PDNN_SETTING_THREADS];
    struct pdnn_hardware same;
    pdnn_hardware_init(&same);
    pdnn_arena_reset(&w->scratch);
    model->op = pdnn_arena_alloc(w->arena, w->rows.count, sizeof *model->op);
    if (pdnn_hardware_roofs(&same, ceilings, threads, &w->roofs[PDNN_HARDWARE_MEASURED], NULL) != PDNN_OK) {
        made->without_ops++;
        return PDNN_OK;
    }
    if (pdnn_hardware_roofs(&w->onto, ceilings, threads, &w->roofs[PDNN_HARDWARE_PROJECTED], err) !=
            PDNN_OK ||
        walk_graph(w, &instance, err) != PDNN_OK)
        return pdnn_wrap(err, "%s", model->id);
    project_ops(w, model);
    if (!model->n_ops) {
        made->without_ops++;
        return PDNN_OK;
    }
    for (int side = 0; side < PDNN_HARDWARE_SIDES && !made->n_models; side++)
        made->ridge[side] = ridge_of(&w->roofs[side]);
    made->n_models++;
    return PDNN_OK;
}

static void compare_alike(struct work *w) {
    const struct pdnn_ceilings *from = w->request->ceilings, *onto = w->request->hardware->onto;
    w->onto = *w->request->hardware;
    w->onto.onto = NULL;
    if (!onto)
        return;
    pdnn_ceilings_alike(onto, from, &w->onto.onto);
    pdnn_ceilings_alike(from, onto, &w->alike);
}

enum pdnn_status pdnn_project(const struct pdnn_projection_request *request, struct pdnn_arena *arena,
                              struct pdnn_hardware_projection *projection, struct pdnn_err *err) {
    struct pdnn_hardware_projection made = {.n_models = 0};
    struct work *w = pdnn_arena_alloc(arena, 1, sizeof *w);
    made.model = pdnn_arena_alloc(arena, request->selection->count + 1, sizeof *made.model);
    w->request = request;
    w->arena = arena;
    compare_alike(w);
    enum pdnn_status status = PDNN_OK;
    for (size_t at = 0; status == PDNN_OK && at < request->selection->count; at++)
        status = project_instance(w, at, &made, err);
    pdnn_arena_finish(&w->scratch);
    pdnn_hardware_finish(&w->onto);
    free(w->alike);
    if (status == PDNN_OK && !made.n_models)
        status =
            pdnn_fail(err, PDNN_INVALID,
                      "no chosen instance has times in ops.csv and roofs in ceilings.csv, so nothing can be "
                      "projected");
    if (status == PDNN_OK)
        pdnn_projection_sums(&made, arena);
    if (status == PDNN_OK)
        *projection = made;
    return status;
}
