#include "results/analysis/distribution.h"
#include "base/units.h"
#include "models/build.h"
#include "models/group.h"
#include "models/memory.h"
#include "models/op.h"
#include "results/analysis/breakdown.h"
#include "results/analysis/op_groups.h"
#include "results/analysis/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char modelled[] = "modelled";

static enum pdnn_status bad_link(const char *text, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_INVALID,
                     "--link is '%s', expected bandwidth and latency such as 12.5GB/s,2us or 200Mbit/s,50us",
                     text);
}

enum pdnn_status pdnn_link_parse(const char *text, struct pdnn_link *link, struct pdnn_err *err) {
    static const char per_second[] = "/s";
    char buffer[64];
    uint64_t bytes, ns = 0;
    struct pdnn_link made = {.latency_ns = 0};
    if (snprintf(buffer, sizeof buffer, "%s", text) >= (int)sizeof buffer)
        return bad_link(text, err);
    char *comma = strchr(buffer, ',');
    if (comma)
        *comma++ = 0;
    char *end = strstr(buffer, per_second);
    if (!end || end[sizeof per_second - 1] || (comma && !pdnn_parse_time_ns(comma, &ns)))
        return bad_link(text, err);
    *end = 0;
    char *bit = strstr(buffer, "bit");
    bool in_bits = bit && !bit[3] && bit > buffer;
    if (in_bits)
        strcpy(bit, "B"); /* "200MB" is read below, in units of a bit */
    if (!pdnn_parse_bytes(buffer, &bytes) || !bytes)
        return bad_link(text, err);
    made.bytes_per_ns = (double)bytes / (in_bits ? 8 : 1) * 1e-9;
    made.latency_ns = (double)ns;
    *link = made;
    return PDNN_OK;
}

double pdnn_ring_ns(const struct pdnn_link *link, double bytes, int64_t devices) {
    double n = (double)devices;
    return devices < 2 || !(bytes > 0)
               ? 0
               : 2 * (n - 1) / n * bytes / link->bytes_per_ns + 2 * (n - 1) * link->latency_ns;
}

struct pdnn_reduced_step pdnn_reduce_gradients(const struct pdnn_timed_node *node, size_t n_nodes,
                                               const struct pdnn_reduction_plan *plan) {
    struct pdnn_reduced_step made = {.buckets = 0};
    double clock = 0, backward_end = 0, filled = 0, link_free = 0;
    size_t last = n_nodes; /* the last node that finishes a gradient */
    for (size_t i = 0; i < n_nodes; i++) {
        made.compute_ns += node[i].ns;
        made.update_ns += node[i].is_update ? node[i].ns : 0;
        last = node[i].gradient_bytes > 0 ? i : last;
    }
    backward_end = made.compute_ns - made.update_ns;
    for (size_t i = 0; i < n_nodes; i++) {
        clock += node[i].is_update ? 0 : node[i].ns;
        filled += node[i].gradient_bytes;
        if (!(filled > 0) || (filled < plan->bucket_bytes && i != last))
            continue;
        double ns = pdnn_ring_ns(&plan->link, filled, plan->devices);
        double ready = plan->overlap ? clock : backward_end;
        link_free = fmax(ready, link_free) + ns;
        made.comm_ns += ns;
        made.buckets++;
        filled = 0;
    }
    made.exposed_ns = fmax(0, link_free - backward_end);
    return made;
}

/* An instance while it is scaled. */
struct work {
    const struct pdnn_scale_request *request;
    struct pdnn_arena *arena, scratch; /* scratch: its graph */
    struct pdnn_instance instance;
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    size_t n_groups;
    uint32_t *group_of;
    struct pdnn_op_rows rows;
    const struct pdnn_op_record **row; /* by group */
    double call_ns, factor;            /* of one call; the step over the sum of its ops */
    double step_ns;
    bool *sliced; /* by tensor */
};

static enum pdnn_layer_part part_of(const struct pdnn_family_def *family, const struct pdnn_node *node) {
    char text[PDNN_LAYER_TEXT];
    const struct pdnn_layer_def *layer = pdnn_layer_find(family, pdnn_layer_format(node->layer, text));
    return layer ? layer->part : PDNN_LAYER_OTHER;
}

static bool is_row_parallel(const struct pdnn_node *node) {
    static const char *const stems[] = {"projection", "cross_projection", "ffn2"};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        if (node->layer.stem && strcmp(node->layer.stem, stems[i]) == 0)
            return true;
    }
    return false;
}

/* Part of what tensor slicing divides; the bias after a product by rows follows the reduction. */
static bool is_sliced_layer(const struct pdnn_family_def *family, const struct pdnn_node *node) {
    static const enum pdnn_layer_part parts[] = {PDNN_LAYER_PROJECTION, PDNN_LAYER_ATTENTION,
                                                 PDNN_LAYER_SOFTMAX, PDNN_LAYER_FEED_FORWARD,
                                                 PDNN_LAYER_ACTIVATION};
    enum pdnn_layer_part part = part_of(family, node);
    bool found = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        found = found || parts[i] == part;
    return found && !(is_row_parallel(node) && strcmp(node->op->name, "bias") == 0);
}

/* Weights of sliced products and what they compute, then whatever belongs to these. */
static void find_sliced(const struct pdnn_family_def *family, const struct pdnn_graph *graph, bool *sliced) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (node->pass != PDNN_FORWARD || !is_sliced_layer(family, node))
            continue;
        for (int k = 0; k < node->n_inputs; k++) {
            const struct pdnn_tensor *tensor = &graph->tensors[node->input[k]];
            if (pdnn_role_is_weight(tensor->role) && tensor->rank > 1)
                sliced[tensor->of == PDNN_NONE ? node->input[k] : tensor->of] = true;
        }
        for (int k = 0; k < node->n_outputs && !is_row_parallel(node); k++)
            sliced[node->output[k]] = true;
    }
    for (size_t i = 0; i < graph->n_tensors; i++) {
        uint32_t of = graph->tensors[i].of;
        bool follows = of != PDNN_NONE && graph->tensors[i].rank > 1;
        sliced[i] = sliced[i] || (follows && sliced[of]);
    }
}

static double params_of(const struct pdnn_graph *graph, const bool *sliced, int64_t slice) {
    double sum = 0;
    for (size_t t = 0; t < graph->n_tensors; t++) {
        if (graph->tensors[t].role == PDNN_ROLE_WEIGHT)
            sum += (double)pdnn_tensor_elements(&graph->tensors[t]) / (sliced[t] ? (double)slice : 1);
    }
    return sum;
}

enum pdnn_status pdnn_sliced_params(const struct pdnn_instance *instance, int64_t slice,
                                    struct pdnn_arena *arena, double *params, struct pdnn_err *err) {
    struct pdnn_graph graph;
    if (pdnn_instance_graph(instance, arena, &graph, err) != PDNN_OK)
        return err->status;
    bool *sliced = pdnn_arena_alloc(arena, graph.n_tensors + 1, sizeof *sliced);
    find_sliced(instance->family, &graph, sliced);
    *params = params_of(&graph, sliced, slice);
    return PDNN_OK;
}

static bool is_sliced_node(const struct work *w, const struct pdnn_node *node) {
    if (node->pass != PDNN_UPDATE)
        return is_sliced_layer(w->instance.family, node);
    bool found = false;
    for (int k = 0; k < node->n_inputs; k++)
        found = found || w->sliced[node->input[k]];
    return found;
}

/* Elements of a tensor that a device has. */
static double part_of_tensor(const struct work *w, size_t tensor, int64_t slice) {
    return w->sliced[tensor] ? 1 / (double)slice : 1;
}

static enum pdnn_status open_graph(struct work *w, struct pdnn_err *err) {
    if (pdnn_instance_graph(&w->instance, &w->scratch, &w->graph, err) != PDNN_OK ||
        pdnn_graph_groups(&w->graph, &w->groups, &w->n_groups, &w->group_of, err) != PDNN_OK)
        return err->status;
    w->row = pdnn_arena_alloc(&w->scratch, w->n_groups + 1, sizeof(struct pdnn_op_record *));
    w->sliced = pdnn_arena_alloc(&w->scratch, w->graph.n_tensors + 1, sizeof *w->sliced);
    double sum = 0;
    for (size_t i = 0; i < w->rows.count; i++) {
        const struct pdnn_op_record *op = &w->rows.op[i];
        const struct pdnn_group *group = pdnn_breakdown_group(&w->graph, w->groups, w->n_groups, op);
        if (group && op->time_ns_median > 0) {
            w->row[group - w->groups] = op;
            sum += op->time_ns_median;
        }
    }
    w->factor = sum > 0 ? w->step_ns / sum : NAN; /* also what is in no node: reorders, and between ops */
    find_sliced(w->instance.family, &w->graph, w->sliced);
    return PDNN_OK;
}

static double node_ns(const struct work *w, size_t node, int64_t slice) {
    const struct pdnn_op_record *row = w->row[w->group_of[node]];
    if (!row)
        return 0;
    double ns = row->time_ns_median / w->groups[w->group_of[node]].count * w->factor;
    if (slice < 2 || !is_sliced_node(w, &w->graph.nodes[node]))
        return ns;
    double call = fmin(ns, w->call_ns);
    return call + (ns - call) / (double)slice;
}

/* The nodes with their times; a gradient is complete after the last node that writes it before the update. */
static struct pdnn_timed_node *time_nodes(struct work *w, int64_t slice) {
    const struct pdnn_graph *graph = &w->graph;
    struct pdnn_timed_node *made = pdnn_arena_alloc(&w->scratch, graph->n_nodes + 1, sizeof *made);
    size_t *writer = pdnn_arena_alloc(&w->scratch, graph->n_tensors + 1, sizeof *writer); /* + 1; 0: none */
    /* Micro-steps have gradients of their own; the last one to be written counts. By weight. */
    uint32_t *latest = pdnn_arena_alloc(&w->scratch, graph->n_tensors + 1, sizeof *latest); /* + 1 */
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        made[i].ns = node_ns(w, i, slice);
        made[i].is_update = node->pass == PDNN_UPDATE;
        for (int k = 0; k < node->n_outputs + node->n_posts && !made[i].is_update; k++) {
            uint32_t tensor = k < node->n_outputs ? node->output[k] : node->posts[k - node->n_outputs].output;
            if (tensor == PDNN_NONE || graph->tensors[tensor].role != PDNN_ROLE_WEIGHT_GRADIENT)
                continue;
            writer[tensor] = i + 1;
            uint32_t of = graph->tensors[tensor].of;
            latest[of == PDNN_NONE ? tensor : of] = tensor + 1;
        }
    }
    for (size_t t = 0; t < graph->n_tensors; t++) {
        if (latest[t])
            made[writer[latest[t] - 1] - 1].gradient_bytes +=
                (double)pdnn_tensor_bytes(&graph->tensors[latest[t] - 1]) *
                part_of_tensor(w, latest[t] - 1, slice);
    }
    return made;
}

/* Reductions of activations: after every product by rows, and backward before every one by columns. */
static double slices_ns(const struct work *w, int64_t slice) {
    double sum = 0;
    for (size_t i = 0; i < w->graph.n_nodes && slice > 1; i++) {
        const struct pdnn_node *node = &w->graph.nodes[i];
        if (node->pass != PDNN_FORWARD || !is_row_parallel(node) || strcmp(node->op->name, "dense") != 0)
            continue;
        double bytes = (double)pdnn_tensor_bytes(&w->graph.tensors[node->output[0]]);
        sum += (node->recompute ? 1 : 2) * pdnn_ring_ns(&w->request->link, bytes, slice);
    }
    return sum;
}

/* Peak memory of a device's tensors. */
static enum pdnn_status memory_of(const struct pdnn_instance *instance, int64_t slice,
                                  struct pdnn_arena *arena, uint64_t *bytes, struct pdnn_err *err) {
    struct pdnn_graph graph;
    struct pdnn_lifetime *lifetimes;
    if (pdnn_instance_graph(instance, arena, &graph, err) != PDNN_OK)
        return err->status;
    if (pdnn_memory_lifetimes(&graph, &lifetimes, err) != PDNN_OK)
        return err->status;
    bool *sliced = pdnn_arena_alloc(arena, graph.n_tensors + 1, sizeof *sliced);
    if (slice > 1)
        find_sliced(instance->family, &graph, sliced);
    for (size_t i = 0; i < graph.n_tensors; i++) {
        if (sliced[i])
            lifetimes[i].bytes = (lifetimes[i].bytes + (uint64_t)slice - 1) / (uint64_t)slice;
    }
    return pdnn_memory_pack(lifetimes, graph.n_tensors, arena, bytes, err);
}

/* Whether a minibatch fits; one whose counts overflow does not. */
static void fits(const struct work *w, int64_t batch, int64_t slice, bool *does) {
    struct pdnn_arena arena = {0};
    struct pdnn_instance instance = w->instance;
    struct pdnn_err why = {0};
    uint64_t bytes = 0;
    instance.hyper[instance.family->minibatch_param].number = batch;
    enum pdnn_status status = memory_of(&instance, slice, &arena, &bytes, &why);
    pdnn_arena_finish(&arena);
    *does = status == PDNN_OK && bytes <= w->request->memory_bytes;
}

static void find_batch(const struct work *w, int64_t slice, uint64_t *batch) {
    int64_t most = w->instance.family->params[w->instance.family->minibatch_param].max, low = 0, high = 1;
    bool does = true;
    *batch = PDNN_ABSENT;
    if (!w->request->memory_bytes)
        return;
    while (does && high <= most) {
        fits(w, high, slice, &does);
        low = does ? high : low;
        high = does ? 2 * high : high;
    }
    high = high > most ? most + 1 : high;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        fits(w, middle, slice, &does);
        low = does ? middle : low;
        high = does ? high : middle;
    }
    *batch = low ? (uint64_t)low : PDNN_ABSENT;
}

static void add_part(struct pdnn_scaled *row, const char *part, double ns) {
    size_t i = 0;
    while (i < row->n_parts && strcmp(row->part[i].part, part) != 0)
        i++;
    if (i == row->n_parts)
        row->part[row->n_parts++] = (struct pdnn_scaled_part){
            .id = row->id, .method = modelled, .part = part, .nodes = row->nodes, .slice = row->slice};
    row->part[i].time_ns += ns;
    row->part[i].share_pct = row->part[i].time_ns / row->time_ns * 100;
}

static void add_parts(struct work *w, struct pdnn_scaled *row) {
    row->part = pdnn_arena_alloc(w->arena, PDNN_OP_GROUP_COUNT + 2, sizeof *row->part);
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++) {
        double sum = 0;
        for (size_t i = 0; i < w->graph.n_nodes; i++) {
            const struct pdnn_op_record *op = w->row[w->group_of[i]];
            if (op && pdnn_op_group_of(w->instance.family, op) == (enum pdnn_op_group)g)
                sum += node_ns(w, i, row->slice);
        }
        if (sum > 0)
            add_part(row, pdnn_op_groups[g].name, sum);
    }
    if (row->nodes > 1)
        add_part(row, "exposed: gradients", row->exposed_ns - row->slices_ns);
    if (row->slice > 1)
        add_part(row, "exposed: slices", row->slices_ns);
}

static enum pdnn_status scale_to(struct work *w, int64_t nodes, int64_t slice, struct pdnn_scaled *row,
                                 struct pdnn_err *err) {
    const struct pdnn_scale_request *request = w->request;
    const struct pdnn_reduction_plan plan = {request->link, nodes, request->bucket_bytes, request->overlap};
    struct pdnn_arena arena = {0};
    struct pdnn_timed_node *timed = time_nodes(w, slice);
    struct pdnn_reduced_step step = pdnn_reduce_gradients(timed, w->graph.n_nodes, &plan);
    row->method = modelled;
    row->nodes = nodes;
    row->slice = slice;
    row->devices = nodes * slice;
    row->overlap = request->overlap ? "yes" : "no";
    row->one_ns = w->step_ns;
    row->compute_ns = step.compute_ns;
    row->gradients_ns = step.comm_ns;
    row->slices_ns = slices_ns(w, slice);
    row->exposed_ns = step.exposed_ns + row->slices_ns;
    row->time_ns = row->compute_ns + row->exposed_ns;
    row->exposed_pct = row->exposed_ns / row->time_ns * 100;
    double comm = row->gradients_ns + row->slices_ns;
    row->hidden_pct = comm > 0 ? (1 - row->exposed_ns / comm) * 100 : NAN;
    row->efficiency_pct = w->step_ns / (row->time_ns * (double)slice) * 100;
    const struct pdnn_family_def *family = w->instance.family;
    row->examples_per_s = (double)w->instance.hyper[family->minibatch_param].number *
                          (double)w->instance.setting[PDNN_SETTING_ACCUMULATE] * (double)nodes * 1e9 /
                          row->time_ns;
    row->buckets = step.buckets;
    double gradients = 0;
    for (size_t i = 0; i < w->graph.n_nodes; i++)
        gradients += timed[i].gradient_bytes;
    row->params = (uint64_t)(params_of(&w->graph, w->sliced, slice) + 0.5);
    row->gradient_bytes = (uint64_t)(gradients + 0.5);
    enum pdnn_status status = memory_of(&w->instance, slice, &arena, &row->memory_bytes, err);
    pdnn_arena_finish(&arena);
    if (status == PDNN_OK)
        find_batch(w, slice, &row->largest_batch);
    if (status == PDNN_OK)
        add_parts(w, row);
    return status;
}

/* Whether a model can be sliced so; heads are divided. */
static bool can_slice(const struct work *w, int64_t slice) {
    const struct pdnn_family_def *family = w->instance.family;
    bool any = false;
    for (size_t i = 0; i < w->graph.n_nodes; i++)
        any = any || is_row_parallel(&w->graph.nodes[i]);
    for (size_t i = 0; i < family->n_params && slice > 1; i++) {
        if (strcmp(family->params[i].name, "heads") == 0 && w->instance.hyper[i].number % slice != 0)
            return false;
    }
    return slice == 1 || any;
}

static enum pdnn_status scale_instance(struct work *w, size_t at, struct pdnn_scaling *made,
                                       struct pdnn_err *err) {
    const struct pdnn_scale_request *request = w->request;
    const struct pdnn_selection *selection = request->selection;
    const char *id = pdnn_selection_get(selection, at, selection->id);
    struct pdnn_roofs roofs;
    if (pdnn_selection_rows(selection, at, request->readers, &w->rows, err) != PDNN_OK)
        return err->status;
    w->step_ns = w->rows.step_ns;
    bool known = pdnn_instance_parse(id, &w->instance, NULL) == PDNN_OK;
    if (!known || w->instance.setting[PDNN_SETTING_MODE] != PDNN_MODE_TRAIN ||
        w->instance.setting[PDNN_SETTING_RANKS] > 1 || !w->rows.count) {
        made->without_ops++;
        return PDNN_OK;
    }
    pdnn_instance_resolve(&w->instance, 1); /* the id of an instance that ran names its threads */
    pdnn_roofs_init(&roofs, request->ceilings, w->instance.setting[PDNN_SETTING_THREADS]);
    w->call_ns = roofs.overhead_ns;
    pdnn_arena_reset(&w->scratch);
    if (open_graph(w, err) != PDNN_OK)
        return pdnn_wrap(err, "%s", id);
    if (!(w->factor > 0)) {
        made->without_ops++;
        return PDNN_OK;
    }
    for (size_t s = 0; s < request->n_slices; s++) {
        for (size_t n = 0; n < request->n_nodes; n++) {
            if (!can_slice(w, request->slice[s])) {
                made->not_sliced++;
                continue;
            }
            struct pdnn_scaled *row = &made->row[made->count++];
            row->id = id;
            row->family = w->rows.family;
            if (scale_to(w, request->nodes[n], request->slice[s], row, err) != PDNN_OK)
                return pdnn_wrap(err, "%s", id);
        }
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_scale(const struct pdnn_scale_request *request, struct pdnn_arena *arena,
                            struct pdnn_scaling *scaling, struct pdnn_err *err) {
    struct pdnn_scaling made = {.count = 0};
    struct work *w = pdnn_arena_alloc(arena, 1, sizeof *w);
    made.row = pdnn_arena_alloc(arena, request->selection->count * request->n_nodes * request->n_slices + 1,
                                sizeof *made.row);
    w->request = request;
    w->arena = arena;
    enum pdnn_status status = PDNN_OK;
    for (size_t at = 0; status == PDNN_OK && at < request->selection->count; at++)
        status = scale_instance(w, at, &made, err);
    pdnn_arena_finish(&w->scratch);
    if (status == PDNN_OK && !made.count && made.not_sliced)
        status =
            pdnn_fail(err, PDNN_INVALID,
                      "no chosen instance can be sliced so: only transformers are, by a divisor of their "
                      "heads");
    else if (status == PDNN_OK && !made.count)
        status = pdnn_fail(err, PDNN_INVALID,
                           "no chosen instance is trained by one rank and has times in ops.csv");
    if (status == PDNN_OK)
        *scaling = made;
    return status;
}
