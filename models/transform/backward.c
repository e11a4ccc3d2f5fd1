#include "models/transform/backward.h"

#include "models/op.h"
#include "models/optimizer.h"

#include <assert.h>
#include <string.h>

/* Stands for a gradient that is 1, as a loss has, and has no tensor. */
#define ONE (PDNN_NONE - 1)

/* What is known about a forward tensor. */
struct entry {
    uint32_t gradient; /* so far in this micro-step; or ONE or PDNN_NONE */
    uint32_t sum;      /* weight: its gradient summed over earlier micro-steps, or PDNN_NONE */
    uint32_t copy;     /* its recomputed copy, or PDNN_NONE */
    uint32_t first_reader, end_reader; /* forward nodes that read it lie in there */
    bool wanted;                       /* a weight, or computed from one */
    bool in_sum;                       /* the contribution of this micro-step is already in the sum */
};

struct pdnn_backward {
    struct pdnn_graph *graph;
    const struct pdnn_op_def *add; /* by its name: ops' rules are functions of this file */
    struct entry *kept;            /* by tensor: the first micro-step's, whose weights all share */
    struct entry *own;             /* by tensor from first_tensor on: this micro-step's */
    size_t n_kept;                 /* tensors; 0 before the first micro-step */
    size_t n_forward;              /* nodes of the first micro-step's forward pass */
    size_t first_node;             /* of this micro-step */
    size_t first_tensor;           /* of this micro-step */
    bool checkpoint;               /* segments are recomputed */
    uint32_t segment;              /* the latest one, or 0 */
    size_t original, copies;       /* its first node, and the first of its copies */
    uint32_t loss;                 /* summed over the micro-steps so far */
    uint32_t pending;        /* a weight whose gradient has not been added to its sum yet, or PDNN_NONE */
    struct pdnn_layer layer; /* that of the pending weight */
};

/* The tensor whose gradient this tensor stands for: the original of a recomputed forward tensor, the weight
 * of a copy in another type, otherwise itself. */
static uint32_t origin_of(const struct pdnn_backward *backward, uint32_t tensor) {
    const struct pdnn_tensor *t = &backward->graph->tensors[tensor];
    bool is_copy =
        t->role == PDNN_ROLE_WEIGHT_COPY || (t->role == PDNN_ROLE_ACTIVATION && t->of != PDNN_NONE);
    return is_copy ? t->of : tensor;
}

/* The tensor's own entry; the tensor is not a recomputed activation. */
static struct entry *own_entry(const struct pdnn_backward *backward, uint32_t tensor) {
    return tensor < backward->n_kept ? &backward->kept[tensor]
                                     : &backward->own[tensor - backward->first_tensor];
}

static struct entry *entry_of(const struct pdnn_backward *backward, uint32_t tensor) {
    return own_entry(backward, origin_of(backward, tensor));
}

bool pdnn_backward_wants(const struct pdnn_backward *backward, uint32_t tensor) {
    return entry_of(backward, tensor)->wanted;
}

uint32_t pdnn_backward_of(const struct pdnn_backward *backward, uint32_t tensor) {
    const struct entry *entry = entry_of(backward, tensor);
    return entry->gradient == PDNN_NONE && entry->in_sum ? entry->sum : entry->gradient;
}

const struct pdnn_graph *pdnn_backward_graph(const struct pdnn_backward *backward) {
    return backward->graph;
}

struct pdnn_readers pdnn_backward_readers(const struct pdnn_backward *backward, uint32_t tensor) {
    uint32_t origin = origin_of(backward, tensor);
    const struct entry *entry = own_entry(backward, origin);
    return (struct pdnn_readers){origin, entry->first_reader, entry->end_reader};
}

static bool is_weight(const struct pdnn_graph *graph, uint32_t tensor) {
    return graph->tensors[tensor].role == PDNN_ROLE_WEIGHT;
}

static uint32_t gradient_tensor(const struct pdnn_backward *backward, uint32_t target) {
    uint32_t origin = origin_of(backward, target);
    bool weight = is_weight(backward->graph, origin);
    return pdnn_graph_like(backward->graph, origin, weight ? PDNN_ROLE_WEIGHT_GRADIENT : PDNN_ROLE_GRADIENT);
}

static uint32_t append_sum(struct pdnn_backward *backward, uint32_t target, uint32_t first, uint32_t second,
                           struct pdnn_layer layer) {
    uint32_t gradient = gradient_tensor(backward, target);
    struct pdnn_node sum = {.op = backward->add,
                            .n_inputs = 2,
                            .n_outputs = 1,
                            .input = (uint32_t[]){first, second},
                            .output = &gradient,
                            .layer = layer};
    sum.pass = is_weight(backward->graph, target) ? PDNN_BACKWARD_WEIGHTS : PDNN_BACKWARD_DATA;
    pdnn_graph_node(backward->graph, &sum);
    return gradient;
}

/* Adds the pending gradient to its sum. */
static void add_pending(struct pdnn_backward *backward) {
    if (backward->pending == PDNN_NONE)
        return;
    struct entry *entry = entry_of(backward, backward->pending);
    entry->sum = append_sum(backward, backward->pending, entry->sum, entry->gradient, backward->layer);
    entry->gradient = PDNN_NONE;
    entry->in_sum = true;
    backward->pending = PDNN_NONE;
}

/* Delays a sum until the next weight has its gradient: a bias's gradient may become part of the node that
 * computes the other one. */
static void add_later(struct pdnn_backward *backward, uint32_t weight) {
    if (backward->pending != weight)
        add_pending(backward);
    backward->pending = weight;
    backward->layer = backward->graph->layer;
}

void pdnn_backward_pass_on(struct pdnn_backward *backward, uint32_t target, uint32_t gradient) {
    struct pdnn_graph *graph = backward->graph;
    if (graph->err.status != PDNN_OK)
        return;
    uint32_t origin = origin_of(backward, target);
    struct entry *entry = own_entry(backward, origin);
    bool first = entry->gradient == PDNN_NONE;
    entry->gradient =
        first ? gradient : append_sum(backward, origin, entry->gradient, gradient, graph->layer);
    if (entry->sum != PDNN_NONE)
        add_later(backward, origin);
}

void pdnn_backward_refuse(struct pdnn_backward *backward, const char *reason) {
    if (backward->graph->err.status == PDNN_OK)
        pdnn_fail(&backward->graph->err, PDNN_UNSUPPORTED, "%s", reason);
}

void pdnn_backward_emit_all(struct pdnn_backward *backward, const struct pdnn_node *forward,
                            enum pdnn_pass pass, const uint32_t *targets, const uint32_t *inputs) {
    struct pdnn_graph *graph = backward->graph;
    if (graph->err.status != PDNN_OK)
        return;
    uint32_t input[PDNN_NODE_INPUTS], output[PDNN_NODE_OUTPUTS];
    struct pdnn_node node = {
        .op = forward->op, .pass = pass, .input = input, .output = output, .layer = forward->layer};
    for (; inputs[node.n_inputs] != PDNN_NONE; node.n_inputs++) {
        if (inputs[node.n_inputs] == ONE) {
            pdnn_fail(&graph->err, PDNN_UNSUPPORTED, "%s: no gradient of a loss", forward->op->name);
            return;
        }
        input[node.n_inputs] = inputs[node.n_inputs];
    }
    memcpy(node.attr, forward->attr, sizeof node.attr);
    memcpy(node.coef, forward->coef, sizeof node.coef);
    for (; targets[node.n_outputs] != PDNN_NONE; node.n_outputs++)
        node.output[node.n_outputs] = gradient_tensor(backward, targets[node.n_outputs]);
    graph->layer = forward->layer;
    pdnn_graph_node(graph, &node);
    for (int k = 0; k < node.n_outputs; k++)
        pdnn_backward_pass_on(backward, targets[k], node.output[k]);
}

void pdnn_backward_emit(struct pdnn_backward *backward, const struct pdnn_node *forward, enum pdnn_pass pass,
                        uint32_t target, const uint32_t *inputs) {
    pdnn_backward_emit_all(backward, forward, pass, (uint32_t[]){target, PDNN_NONE}, inputs);
}

void pdnn_backward_continue(struct pdnn_backward *backward, const struct pdnn_node *forward,
                            enum pdnn_pass pass, uint32_t target, const uint32_t *inputs) {
    struct entry *entry = entry_of(backward, target);
    if (entry->gradient == PDNN_NONE && entry->in_sum)
        entry->sum = PDNN_NONE; /* the node, or what follows it, has consumed it */
    entry->gradient = PDNN_NONE;
    pdnn_backward_emit(backward, forward, pass, target, inputs);
}

static void mark_wanted(struct pdnn_backward *backward) {
    const struct pdnn_graph *graph = backward->graph;
    for (uint32_t i = 0; i < backward->n_kept; i++)
        backward->kept[i].wanted = is_weight(graph, i);
    for (size_t i = backward->first_node; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        bool any = false;
        for (int k = 0; k < node->n_inputs; k++) {
            struct entry *entry = entry_of(backward, node->input[k]);
            any = any || entry->wanted;
            entry->first_reader = entry->end_reader ? entry->first_reader : (uint32_t)i;
            entry->end_reader = (uint32_t)i + 1;
        }
        for (int k = 0; k < node->n_outputs; k++)
            entry_of(backward, node->output[k])->wanted = any;
    }
}

static bool reached(const struct pdnn_backward *backward, const struct pdnn_node *node) {
    for (int k = 0; k < node->n_outputs; k++) {
        if (pdnn_backward_of(backward, node->output[k]) != PDNN_NONE)
            return true;
    }
    return false;
}

static bool is_input(const struct pdnn_node *node, uint32_t tensor) {
    for (int k = 0; k < node->n_inputs; k++) {
        if (node->input[k] == tensor)
            return true;
    }
    return false;
}

/* Appends a copy of the node that reads the segment's own values from their copies. State has been updated,
 * and is read as it is now. */
static void append_copy(struct pdnn_backward *backward, const struct pdnn_node *forward) {
    struct pdnn_graph *graph = backward->graph;
    uint32_t input[PDNN_NODE_INPUTS], output[PDNN_NODE_OUTPUTS];
    struct pdnn_node node = *forward;
    node.recompute = true;
    node.n_outputs = 0;
    node.input = input;
    node.output = output;
    for (int k = 0; k < node.n_inputs; k++) {
        uint32_t copy = own_entry(backward, forward->input[k])->copy;
        input[k] = copy == PDNN_NONE ? forward->input[k] : copy;
    }
    for (int k = 0; k < forward->n_outputs; k++) {
        if (is_input(forward, forward->output[k]))
            continue;
        struct pdnn_tensor copy = graph->tensors[forward->output[k]];
        copy.of = copy.role == PDNN_ROLE_WEIGHT_COPY ? copy.of : forward->output[k];
        node.output[node.n_outputs] = pdnn_graph_tensor(graph, &copy);
        own_entry(backward, forward->output[k])->copy = node.output[node.n_outputs++];
    }
    pdnn_graph_node(graph, &node);
}

/* The copy of a segment's node. The first request copies all nodes of the segment. */
static struct pdnn_node copy_of(struct pdnn_backward *backward, size_t index) {
    struct pdnn_graph *graph = backward->graph;
    uint32_t segment = graph->nodes[index].segment;
    if (segment != backward->segment) {
        backward->segment = segment;
        backward->original = index;
        while (backward->original > backward->first_node &&
               graph->nodes[backward->original - 1].segment == segment)
            backward->original--;
        backward->copies = graph->n_nodes;
        for (size_t i = backward->original; graph->nodes[i].segment == segment; i++) {
            struct pdnn_node forward = graph->nodes[i]; /* a copy: the table may move */
            append_copy(backward, &forward);
        }
    }
    return graph->nodes[backward->copies + index - backward->original];
}

static struct entry *new_entries(struct pdnn_graph *graph, size_t count) {
    struct entry *entries = pdnn_arena_alloc(graph->arena, count + 1, sizeof *entries);
    for (size_t i = 0; i < count; i++)
        entries[i].gradient = entries[i].sum = entries[i].copy = PDNN_NONE;
    return entries;
}

static void begin_micro_step(struct pdnn_backward *backward) {
    struct pdnn_graph *graph = backward->graph;
    struct entry *entries = new_entries(graph, graph->n_tensors - backward->first_tensor);
    pdnn_graph_segment_end(graph);
    if (!backward->n_kept) {
        backward->kept = entries;
        backward->n_kept = graph->n_tensors;
        backward->n_forward = graph->n_nodes;
    } else {
        backward->own = entries;
    }
    for (uint32_t i = 0; i < backward->n_kept; i++)
        backward->kept[i].in_sum = false;
    mark_wanted(backward);
    entry_of(backward, graph->loss)->gradient = ONE;
}

/* Makes the graph's loss that of all micro-steps, and gradients of weights the start of their sums. */
static void end_micro_step(struct pdnn_backward *backward, struct pdnn_layer layer) {
    struct pdnn_graph *graph = backward->graph;
    add_pending(backward);
    for (uint32_t i = 0; i < backward->n_kept; i++) {
        struct entry *entry = &backward->kept[i];
        if (!is_weight(graph, i) || entry->gradient == PDNN_NONE)
            continue;
        entry->sum = entry->gradient;
        entry->gradient = PDNN_NONE;
    }
    if (backward->loss != PDNN_NONE) {
        uint32_t input[] = {backward->loss, graph->loss};
        graph->loss = pdnn_graph_like(graph, graph->loss, PDNN_ROLE_ACTIVATION);
        pdnn_graph_node(graph, &(struct pdnn_node){.op = backward->add,
                                                   .pass = PDNN_FORWARD,
                                                   .n_inputs = 2,
                                                   .n_outputs = 1,
                                                   .input = input,
                                                   .output = &graph->loss,
                                                   .layer = layer});
    }
    backward->loss = graph->loss;
    backward->first_node = graph->n_nodes;
    backward->first_tensor = graph->n_tensors;
}

struct pdnn_backward *pdnn_backward_create(struct pdnn_graph *graph, bool checkpoint) {
    struct pdnn_backward *backward = pdnn_arena_alloc(graph->arena, 1, sizeof *backward);
    const struct pdnn_op_def *add = pdnn_op_find("add");
    assert(add);
    *backward = (struct pdnn_backward){
        .graph = graph, .add = add, .checkpoint = checkpoint, .loss = PDNN_NONE, .pending = PDNN_NONE};
    return backward;
}

void pdnn_backward_append(struct pdnn_backward *backward) {
    struct pdnn_graph *graph = backward->graph;
    struct pdnn_layer last = graph->layer;
    if (graph->err.status == PDNN_OK)
        begin_micro_step(backward);
    if (graph->err.status != PDNN_OK)
        return;
    for (size_t i = graph->n_nodes; i-- > backward->first_node;) {
        struct pdnn_node forward = graph->nodes[i]; /* a copy: the table may move while nodes are appended */
        if (!forward.op->gradient || !reached(backward, &forward))
            continue;
        if (backward->checkpoint && forward.segment)
            forward = copy_of(backward, i);
        forward.op->gradient(backward, &forward);
    }
    end_micro_step(backward, last);
}

/* Updates follow the order in which the forward pass reads the weights. */
void pdnn_backward_update(struct pdnn_backward *backward, const struct pdnn_optimizer_def *optimizer) {
    struct pdnn_graph *graph = backward->graph;
    if (graph->err.status != PDNN_OK)
        return;
    struct pdnn_weight_update *updates =
        pdnn_arena_alloc(graph->arena, backward->n_kept + 1, sizeof *updates);
    size_t count = 0;
    for (size_t i = 0; i < backward->n_forward; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_inputs; k++) {
            struct entry *entry = entry_of(backward, node->input[k]);
            if (!is_weight(graph, node->input[k]) || entry->sum == PDNN_NONE)
                continue;
            updates[count++] = (struct pdnn_weight_update){node->input[k], entry->sum, node->layer};
            entry->sum = PDNN_NONE;
        }
    }
    optimizer->append(graph, optimizer, updates, count);
}

void pdnn_backward_derive(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer) {
    struct pdnn_backward *backward = pdnn_backward_create(graph, false);
    pdnn_backward_append(backward);
    pdnn_backward_update(backward, optimizer);
}
