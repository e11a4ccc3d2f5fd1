#include "results/whatif/distribution.h"
#include "base/units.h"
#include "models/build.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "results/query/op_groups.h"
#include "results/rows/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AS(k, s)   PDNN_KIND_##k, PDNN_SHOW_##s
#define NODES_HELP "data parallel: groups of devices, each with a minibatch of its own"
#define SLICE_HELP "devices that a model is sliced over; 1: not at all"

static const struct pdnn_column_def device_columns[PDNN_SCALED_COLUMNS] = {
    {"id", "instance", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_GROUP, .help = "the instance"},
    {"family", NULL, NULL, AS(TEXT, NEVER), .help = "model family"},
    {"method", NULL, NULL, AS(TEXT, NEVER), .help = "modelled: no row of this table was measured"},
    {"nodes", NULL, NULL, AS(WHOLE, PLAIN), .help = NODES_HELP},
    {"slice_ways", "slices", NULL, AS(WHOLE, PLAIN), .help = SLICE_HELP},
    {"devices", NULL, NULL, AS(WHOLE, NEVER), .help = "nodes times slice_ways"},
    {"overlap", NULL, NULL, AS(TEXT, NEVER), .help = "yes: gradients are reduced during the backward pass"},
    {"one_device_ns", NULL, "ns", AS(NUMBER, NEVER), .help = "the step measured on one device"},
    {"step_ns", "step", "ns", AS(NUMBER, TIME), .help = "the modelled step: compute_ns and exposed_ns"},
    {"compute_ns", "compute", "ns", AS(NUMBER, TIME), .help = "of a device, without communication"},
    {"gradients_ns", "gradients", "ns", AS(NUMBER, TIME),
     .help = "all reductions of gradients, one after another"},
    {"slices_ns", "slicing", "ns", AS(NUMBER, TIME), .help = "all reductions of activations between slices"},
    {"exposed_ns", "exposed", "ns", AS(NUMBER, TIME), .help = "communication that nothing hides"},
    {"exposed_pct", "% of step", "%", AS(NUMBER, FIXED), .decimals = 1, .help = "of the step"},
    {"hidden_pct", "hidden %", "%", AS(NUMBER, FIXED),
     .help = "of the communication: what the backward pass hides"},
    {"examples_per_s", "examples/s", "1/s", AS(NUMBER, PLAIN), .help = "of all devices together"},
    {"efficiency_pct", "efficiency %", "%", AS(NUMBER, FIXED),
     .help = "throughput over that of as many single devices"},
    {"params_per_device", "parameters", NULL, AS(COUNT, SI), .help = "elements of the weights on a device"},
    {"gradient_bytes", NULL, "bytes", AS(COUNT, NEVER), .help = "what a device reduces in a step"},
    {"buckets", NULL, NULL, AS(COUNT, NEVER), .help = "reductions of gradients in a step"},
    {"memory_bytes", "memory", "bytes", AS(COUNT, BYTES), .help = "peak of a device's tensors"},
    {"largest_batch", "largest batch", NULL, AS(COUNT, PLAIN), .blank = "none",
     .help = "the largest minibatch of a node that fits --memory"},
};
const struct pdnn_table_def pdnn_scaled_def = {"scaling", "steps on several devices", device_columns,
                                               PDNN_SCALED_COLUMNS};

static const struct pdnn_column_def part_columns[PDNN_SCALED_PART_COLUMNS] = {
    {"id", "instance", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_GROUP, .help = "the instance"},
    {"method", NULL, NULL, AS(TEXT, NEVER), .help = "modelled: no row of this table was measured"},
    {"nodes", NULL, NULL, AS(WHOLE, NEVER), .help = NODES_HELP},
    {"slice_ways", "slices", NULL, AS(WHOLE, NEVER), .help = SLICE_HELP},
    {"part", NULL, NULL, .help = "a group of ops as in breakdown, or exposed communication"},
    {"time_ns", NULL, "ns", AS(NUMBER, NEVER), .help = "on a device"},
    {"share_pct", NULL, "%", AS(NUMBER, PERCENT), .decimals = 1, .help = "of the modelled step"},
};
const struct pdnn_table_def pdnn_scaled_parts_def = {"scaling-parts", "where steps on several devices go",
                                                     part_columns, PDNN_SCALED_PART_COLUMNS};

enum pdnn_status pdnn_link_parse(const char *text, struct pdnn_link *link, struct pdnn_err *err) {
    char buffer[64];
    uint64_t bytes, ns = 0;
    const char *slash = strstr(text, "/s");
    const size_t length = slash ? (size_t)(slash - text) : sizeof buffer;
    bool good =
        length < sizeof buffer && (!slash[2] || (slash[2] == ',' && pdnn_parse_time_ns(slash + 3, &ns)));
    snprintf(buffer, sizeof buffer, "%.*s", good ? (int)length : 0, text);
    char *bit = strstr(buffer, "bit");
    bool in_bits = bit && !bit[3] && bit > buffer;
    if (in_bits)
        strcpy(bit, "B"); /* "200MB" is read below, in units of a bit */
    if (!pdnn_parse_bytes(buffer, &bytes) || !bytes)
        return pdnn_fail(
            err, PDNN_INVALID,
            "--link is '%s', expected bandwidth and latency such as 12.5GB/s,2us or 200Mbit/s,50us", text);
    *link = (struct pdnn_link){(double)bytes / (in_bits ? 8 : 1) * 1e-9, (double)ns};
    return PDNN_OK;
}

/* "2,8,64", each once; 1 where the option is not given. */
static enum pdnn_status parse_numbers(const char *option, const char *text, int64_t *numbers, size_t *count,
                                      struct pdnn_err *err) {
    enum { MOST = 1 << 20 };
    const char *rest = text ? text : "1", *at;
    char number[24];
    size_t length;
    for (*count = 0; (at = pdnn_part_next(&rest, ",", &length)); (*count)++) {
        snprintf(number, sizeof number, "%.*s", (int)length, at);
        bool is_good = *count < PDNN_SCALE_VALUES_MAX && length < sizeof number &&
                       pdnn_parse_i64(number, &numbers[*count]) && numbers[*count] >= 1 &&
                       numbers[*count] <= MOST;
        for (size_t before = 0; is_good && before < *count; before++)
            is_good = numbers[before] != numbers[*count];
        if (!is_good)
            return pdnn_fail(err, PDNN_INVALID,
                             "--%s is '%s', expected up to %d different numbers from 1 to %d such as 2,8,64",
                             option, text, PDNN_SCALE_VALUES_MAX, MOST);
    }
    return PDNN_OK;
}

static enum pdnn_status parse_bytes(const char *option, const char *text, uint64_t *bytes,
                                    struct pdnn_err *err) {
    if (text && (!pdnn_parse_bytes(text, bytes) || !*bytes))
        return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected bytes such as 25MB or 16GiB", option,
                         text);
    return PDNN_OK;
}

enum pdnn_status pdnn_distribution_parse(struct pdnn_scale_request *scale,
                                         const struct pdnn_distribution_request *request,
                                         struct pdnn_err *err) {
    if (!request->nodes && !request->slice)
        return pdnn_fail(err, PDNN_INVALID, "nothing to scale to: give --nodes, --slice or both");
    if (!request->link)
        return pdnn_fail(err, PDNN_INVALID, "--link is missing: bandwidth and latency such as 12.5GB/s,2us");
    scale->plan.overlap = request->overlap;
    scale->plan.bucket_bytes = 25000000;
    if (parse_numbers("nodes", request->nodes, scale->nodes, &scale->n_nodes, err) != PDNN_OK ||
        parse_numbers("slice", request->slice, scale->slice, &scale->n_slices, err) != PDNN_OK ||
        pdnn_link_parse(request->link, &scale->plan.link, err) != PDNN_OK ||
        parse_bytes("bucket", request->bucket, &scale->plan.bucket_bytes, err) != PDNN_OK)
        return err->status;
    return parse_bytes("memory", request->memory, &scale->memory_bytes, err);
}

double pdnn_ring_ns(const struct pdnn_link *link, double bytes, int64_t devices) {
    double n = (double)devices;
    return bytes > 0 ? 2 * (n - 1) / n * bytes / link->bytes_per_ns + 2 * (n - 1) * link->latency_ns : 0;
}

struct pdnn_reduced_step pdnn_reduce_gradients(const struct pdnn_timed_node *node, size_t n_nodes,
                                               const struct pdnn_reduction_plan *plan, int64_t devices) {
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
        if (!(filled > 0) || (filled < (double)plan->bucket_bytes && i != last))
            continue;
        double ns = pdnn_ring_ns(&plan->link, filled, devices);
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
    struct pdnn_scaling *made;
    struct pdnn_arena scratch; /* its graph */
    const char *id;
    struct pdnn_instance instance;
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    size_t n_groups;
    uint32_t *group_of;
    struct pdnn_op_rows rows;
    const struct pdnn_op_record **row; /* by group */
    double call_ns, factor;            /* of one call; the step over the sum of its ops */
    bool *sliced;                      /* by tensor */
    /* Over so many devices, what each of them has. */
    int64_t slice;
    struct pdnn_timed_node *timed;
    double params, gradient_bytes, slicing_ns;
    uint64_t memory_bytes, largest_batch;
};

static bool is_row_parallel(const struct pdnn_node *node) {
    const char *stem = node->layer.stem;
    return stem && pdnn_parts_have("projection,cross_projection,ffn2", ",", stem, strlen(stem));
}

/* Part of what tensor slicing divides; the bias after a product by rows follows the reduction. */
static bool is_sliced_layer(const struct pdnn_family_def *family, const struct pdnn_node *node) {
    static const unsigned parts = 1u << PDNN_LAYER_PROJECTION | 1u << PDNN_LAYER_ATTENTION |
                                  1u << PDNN_LAYER_SOFTMAX | 1u << PDNN_LAYER_FEED_FORWARD |
                                  1u << PDNN_LAYER_ACTIVATION;
    char text[PDNN_LAYER_TEXT];
    const struct pdnn_layer_def *layer = pdnn_layer_find(family, pdnn_layer_format(node->layer, text));
    return layer && (1u << layer->part & parts) &&
           !(is_row_parallel(node) && strcmp(node->op->name, "bias") == 0);
}

/* The graph of an instance and, by tensor, whether it is sliced: weights of sliced products and what they
 * compute, then whatever belongs to these. */
static enum pdnn_status slice_graph(struct work *w, struct pdnn_err *err) {
    const struct pdnn_graph *graph = &w->graph;
    if (pdnn_instance_graph(&w->instance, &w->scratch, &w->graph, err) != PDNN_OK)
        return err->status;
    bool *sliced = w->sliced = pdnn_arena_alloc(&w->scratch, graph->n_tensors + 1, sizeof *sliced);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (node->pass != PDNN_FORWARD || !is_sliced_layer(w->instance.family, node))
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
    return PDNN_OK;
}

static bool is_sliced_node(const struct work *w, const struct pdnn_node *node) {
    bool found = node->pass != PDNN_UPDATE && is_sliced_layer(w->instance.family, node);
    for (int k = 0; k < node->n_inputs && node->pass == PDNN_UPDATE; k++)
        found = found || w->sliced[node->input[k]];
    return found;
}

static enum pdnn_status open_graph(struct work *w, struct pdnn_err *err) {
    if (slice_graph(w, err) != PDNN_OK ||
        pdnn_graph_groups(&w->graph, &w->groups, &w->n_groups, &w->group_of, err) != PDNN_OK)
        return err->status;
    w->row = pdnn_arena_alloc(&w->scratch, w->n_groups + 1, sizeof(struct pdnn_op_record *));
    double sum = 0;
    for (size_t i = 0; i < w->rows.count; i++) {
        const struct pdnn_op_record *op = &w->rows.op[i];
        const struct pdnn_group *group = pdnn_breakdown_group(&w->graph, w->groups, w->n_groups, op);
        if (group && op->time_ns_median > 0) {
            w->row[group - w->groups] = op;
            sum += op->time_ns_median;
        }
    }
    /* Also what is in no node: reorders, and between ops. */
    w->factor = sum > 0 ? w->rows.step_ns / sum : NAN;
    return PDNN_OK;
}

static double node_ns(const struct work *w, size_t node) {
    const struct pdnn_op_record *row = w->row[w->group_of[node]];
    if (!row)
        return 0;
    double ns = row->time_ns_median / w->groups[w->group_of[node]].count * w->factor;
    if (w->slice < 2 || !is_sliced_node(w, &w->graph.nodes[node]))
        return ns;
    double call = fmin(ns, w->call_ns);
    return call + (ns - call) / (double)w->slice;
}

/* The nodes with their times; a gradient is complete after the last node that writes it before the update. */
static struct pdnn_timed_node *time_nodes(struct work *w) {
    const struct pdnn_graph *graph = &w->graph;
    struct pdnn_timed_node *made = pdnn_arena_alloc(&w->scratch, graph->n_nodes + 1, sizeof *made);
    /* By weight. Micro-steps have gradients of their own; the last one to be written counts. */
    size_t *writer = pdnn_arena_alloc(&w->scratch, graph->n_tensors + 1, sizeof *writer); /* + 1; 0: none */
    uint32_t *latest = pdnn_arena_alloc(&w->scratch, graph->n_tensors + 1, sizeof *latest);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        made[i].ns = node_ns(w, i);
        made[i].is_update = node->pass == PDNN_UPDATE;
        struct pdnn_access access[PDNN_NODE_ACCESSES];
        int n_accesses = made[i].is_update ? 0 : pdnn_node_accesses(node, access);
        for (int k = 0; k < n_accesses; k++) {
            const uint32_t tensor = access[k].tensor, of = graph->tensors[tensor].of;
            if (!access[k].is_written || graph->tensors[tensor].role != PDNN_ROLE_WEIGHT_GRADIENT)
                continue;
            writer[of == PDNN_NONE ? tensor : of] = i + 1;
            latest[of == PDNN_NONE ? tensor : of] = tensor;
        }
    }
    for (size_t t = 0; t < graph->n_tensors; t++)
        if (writer[t])
            made[writer[t] - 1].gradient_bytes += (double)pdnn_tensor_bytes(&graph->tensors[latest[t]]) *
                                                  (w->sliced[latest[t]] ? 1 / (double)w->slice : 1);
    return made;
}

/* Reductions of activations: after every product by rows, and backward before every one by columns. */
static double slices_ns(const struct work *w) {
    double sum = 0;
    for (size_t i = 0; i < w->graph.n_nodes && w->slice > 1; i++) {
        const struct pdnn_node *node = &w->graph.nodes[i];
        if (node->pass != PDNN_FORWARD || !is_row_parallel(node) || strcmp(node->op->name, "dense") != 0)
            continue;
        double bytes = (double)pdnn_tensor_bytes(&w->graph.tensors[node->output[0]]);
        sum += (node->recompute ? 1 : 2) * pdnn_ring_ns(&w->request->plan.link, bytes, w->slice);
    }
    return sum;
}

/* Peak memory of a device's tensors. */
static enum pdnn_status find_memory(struct work *w, struct pdnn_err *err) {
    const uint64_t slice = (uint64_t)w->slice;
    struct pdnn_lifetime *lifetimes = pdnn_memory_lifetimes(&w->graph);
    for (size_t i = 0; i < w->graph.n_tensors; i++)
        if (w->sliced[i])
            lifetimes[i].bytes = (lifetimes[i].bytes + slice - 1) / slice;
    return pdnn_memory_peak(lifetimes, pdnn_memory_count(&w->graph), &w->scratch, &w->memory_bytes, err);
}

/* The largest minibatch that fits; one whose counts overflow does not. */
static uint64_t find_batch(const struct work *w) {
    const size_t param = (size_t)w->instance.family->minibatch_param;
    int64_t low = 0, high = w->instance.family->params[param].max + 1;
    while (w->request->memory_bytes && high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        struct work other = {.instance = w->instance, .slice = w->slice};
        struct pdnn_err why = {0};
        other.instance.hyper[param].number = middle;
        const bool fits = slice_graph(&other, &why) == PDNN_OK && find_memory(&other, &why) == PDNN_OK &&
                          other.memory_bytes <= w->request->memory_bytes;
        pdnn_arena_finish(&other.scratch);
        low = fits ? middle : low;
        high = fits ? high : middle;
    }
    return low ? (uint64_t)low : PDNN_ABSENT;
}

static enum pdnn_status slice_device(struct work *w, int64_t slice, struct pdnn_err *err) {
    w->slice = slice;
    w->timed = time_nodes(w);
    w->params = w->gradient_bytes = 0;
    for (size_t t = 0; t < w->graph.n_tensors; t++)
        if (w->graph.tensors[t].role == PDNN_ROLE_WEIGHT)
            w->params +=
                (double)pdnn_tensor_elements(&w->graph.tensors[t]) / (double)(w->sliced[t] ? slice : 1);
    for (size_t i = 0; i < w->graph.n_nodes; i++)
        w->gradient_bytes += w->timed[i].gradient_bytes;
    w->slicing_ns = slices_ns(w);
    w->largest_batch = find_batch(w);
    return find_memory(w, err);
}

static void add_part(const struct work *w, int64_t nodes, const char *part, double ns, double step_ns) {
    struct pdnn_table *table = &w->made->parts;
    size_t row = pdnn_table_add_texts(table, 2, (const char *[]){w->id, "modelled"});
    pdnn_table_set_whole(table, row, PDNN_SCALED_PART_NODES, nodes);
    pdnn_table_set_whole(table, row, PDNN_SCALED_PART_SLICE, w->slice);
    pdnn_table_set_text(table, row, PDNN_SCALED_PART_PART, part);
    pdnn_table_set_number(table, row, PDNN_SCALED_PART_TIME, ns);
    pdnn_table_set_number(table, row, PDNN_SCALED_PART_SHARE, ns / step_ns * 100);
}

static void add_parts(const struct work *w, int64_t nodes, double gradients_ns, double step_ns) {
    double sum[PDNN_OP_GROUP_COUNT] = {0};
    for (size_t i = 0; i < w->graph.n_nodes; i++) {
        const struct pdnn_op_record *op = w->row[w->group_of[i]];
        if (op)
            sum[pdnn_op_group_of(w->instance.family, op)] += w->timed[i].ns;
    }
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++)
        if (sum[g] > 0)
            add_part(w, nodes, pdnn_op_groups[g].name, sum[g], step_ns);
    if (nodes > 1)
        add_part(w, nodes, "exposed: gradients", gradients_ns, step_ns);
    if (w->slice > 1)
        add_part(w, nodes, "exposed: slices", w->slicing_ns, step_ns);
}

/* The row of a device, and where its step goes. */
static void add_device(struct work *w, int64_t nodes) {
    const struct pdnn_reduction_plan *plan = &w->request->plan;
    const struct pdnn_reduced_step step = pdnn_reduce_gradients(w->timed, w->graph.n_nodes, plan, nodes);
    const double batch = (double)w->instance.hyper[w->instance.family->minibatch_param].number,
                 examples = batch * (double)w->instance.setting[PDNN_SETTING_ACCUMULATE] * (double)nodes,
                 exposed = step.exposed_ns + w->slicing_ns, comm = step.comm_ns + w->slicing_ns,
                 step_ns = step.compute_ns + exposed;
    const double times[] = {w->rows.step_ns,
                            step_ns,
                            step.compute_ns,
                            step.comm_ns,
                            w->slicing_ns,
                            exposed,
                            exposed / step_ns * 100,
                            comm > 0 ? (1 - exposed / comm) * 100 : NAN,
                            examples * 1e9 / step_ns,
                            w->rows.step_ns / (step_ns * (double)w->slice) * 100};
    const uint64_t counts[] = {(uint64_t)(w->params + 0.5), (uint64_t)(w->gradient_bytes + 0.5), step.buckets,
                               w->memory_bytes, w->largest_batch};
    struct pdnn_table *table = &w->made->devices;
    size_t row = pdnn_table_add_texts(table, 3, (const char *[]){w->id, w->rows.family, "modelled"});
    pdnn_table_set_whole(table, row, PDNN_SCALED_NODES, nodes);
    pdnn_table_set_whole(table, row, PDNN_SCALED_SLICE, w->slice);
    pdnn_table_set_whole(table, row, PDNN_SCALED_DEVICES, nodes * w->slice);
    pdnn_table_set_text(table, row, PDNN_SCALED_OVERLAP, plan->overlap ? "yes" : "no");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        pdnn_table_set_number(table, row, PDNN_SCALED_TIMES + i, times[i]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        pdnn_table_set_count(table, row, PDNN_SCALED_PARAMS + i, counts[i]);
    add_parts(w, nodes, step.exposed_ns, step_ns);
}

/* Whether a model can be sliced so; heads are divided. */
static bool can_slice(const struct work *w, int64_t slice) {
    const struct pdnn_family_def *family = w->instance.family;
    bool can = slice == 1;
    for (size_t i = 0; i < w->graph.n_nodes; i++)
        can = can || (is_row_parallel(&w->graph.nodes[i]) && is_sliced_layer(family, &w->graph.nodes[i]));
    for (size_t i = 0; i < family->n_params; i++)
        can =
            can && (strcmp(family->params[i].name, "heads") != 0 || w->instance.hyper[i].number % slice == 0);
    return can;
}

static enum pdnn_status scale_instance(struct work *w, size_t at, struct pdnn_err *err) {
    const struct pdnn_scale_request *request = w->request;
    const struct pdnn_selection *selection = request->selection;
    struct pdnn_roofs roofs;
    w->id = pdnn_selection_get(selection, at, selection->id);
    w->rows = pdnn_selection_rows(selection, at, request->readers);
    w->made->without_ops++; /* until its graph is there */
    if (pdnn_instance_parse(w->id, &w->instance, NULL) != PDNN_OK ||
        w->instance.setting[PDNN_SETTING_MODE] != PDNN_MODE_TRAIN ||
        w->instance.setting[PDNN_SETTING_RANKS] > 1 || !w->rows.count)
        return PDNN_OK;
    pdnn_instance_resolve(&w->instance, 1); /* the id of an instance that ran names its threads */
    pdnn_roofs_init(&roofs, request->roof_rows, w->instance.setting[PDNN_SETTING_THREADS]);
    w->call_ns = roofs.overhead_ns;
    pdnn_arena_reset(&w->scratch);
    if (open_graph(w, err) != PDNN_OK)
        return pdnn_wrap(err, "%s", w->id);
    if (!(w->factor > 0))
        return PDNN_OK;
    w->made->without_ops--;
    for (size_t s = 0; s < request->n_slices; s++) {
        if (!can_slice(w, request->slice[s])) {
            w->made->not_sliced += request->n_nodes;
            continue;
        }
        if (slice_device(w, request->slice[s], err) != PDNN_OK)
            return pdnn_wrap(err, "%s", w->id);
        for (size_t n = 0; n < request->n_nodes; n++)
            add_device(w, request->nodes[n]);
    }
    return PDNN_OK;
}

void pdnn_scaling_finish(struct pdnn_scaling *scaling) {
    pdnn_table_finish(&scaling->devices);
    pdnn_table_finish(&scaling->parts);
}

enum pdnn_status pdnn_scale(const struct pdnn_scale_request *request, struct pdnn_scaling *scaling,
                            struct pdnn_err *err) {
    struct work w = {.request = request, .made = scaling};
    enum pdnn_status status = PDNN_OK;
    *scaling = (struct pdnn_scaling){.without_ops = 0};
    pdnn_table_init(&scaling->devices, &pdnn_scaled_def);
    pdnn_table_init(&scaling->parts, &pdnn_scaled_parts_def);
    for (size_t at = 0; status == PDNN_OK && at < request->selection->count; at++)
        status = scale_instance(&w, at, err);
    pdnn_arena_finish(&w.scratch);
    if (status == PDNN_OK && !scaling->devices.n_rows)
        status = pdnn_fail(err, PDNN_INVALID,
                           scaling->not_sliced
                               ? "no chosen instance can be sliced so: only transformers are, by a divisor "
                                 "of their heads"
                               : "no chosen instance is trained by one rank and has times in ops.csv");
    return status;
}
