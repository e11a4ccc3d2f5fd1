#include "models/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Enough for most models, and less than a block of the arena each. */
enum { FIRST_TENSORS = 512, FIRST_NODES = 256 };

void pdnn_graph_init(struct pdnn_graph *graph, struct pdnn_arena *arena) {
    *graph = (struct pdnn_graph){.arena = arena,
                                 .loss = PDNN_NONE,
                                 .result = PDNN_NONE,
                                 .tensors = pdnn_arena_room(arena, FIRST_TENSORS, sizeof *graph->tensors),
                                 .nodes = pdnn_arena_room(arena, FIRST_NODES, sizeof *graph->nodes),
                                 .tensor_room = FIRST_TENSORS,
                                 .node_room = FIRST_NODES};
}

enum pdnn_status pdnn_graph_status(const struct pdnn_graph *graph, struct pdnn_err *err) {
    if (graph->err.status != PDNN_OK && err)
        *err = graph->err;
    return graph->err.status;
}

static bool failed(const struct pdnn_graph *graph) {
    return graph->err.status != PDNN_OK;
}

static bool fits(const struct pdnn_tensor *tensor) {
    int64_t bytes = (int64_t)pdnn_dtype_bytes(tensor->dtype);
    for (int i = 0; i < tensor->rank; i++) {
        if (tensor->dim[i] < 1 || __builtin_mul_overflow(bytes, tensor->dim[i], &bytes))
            return false;
    }
    return true;
}

/* Of a square of n cells; 0: there is none. */
static int64_t side_of(int64_t n) {
    const int64_t side = llround(sqrt((double)n));
    return side * side == n ? side : 0;
}

bool pdnn_window_mask_hides(const struct pdnn_tensor *mask, int64_t element) {
    const int64_t n = mask->dim[1], line = side_of(mask->dim[0]), w = side_of(n), edge = w - w / 2;
    const int64_t j = element % n, i = element / n % n, window = element / n / n;
    return (window / line == line - 1 && (i / w < edge) != (j / w < edge)) ||
           (window % line == line - 1 && (i % w < edge) != (j % w < edge));
}

static bool is_of_windows(const struct pdnn_tensor *tensor) {
    return tensor->rank == 3 && tensor->dim[1] == tensor->dim[2] && side_of(tensor->dim[0]) &&
           side_of(tensor->dim[1]);
}

/* The kinds of fill for each dtype. */
static bool can_fill(const struct pdnn_tensor *tensor) {
    enum {
        NUMBERS =
            1 << PDNN_FILL_ZERO | 1 << PDNN_FILL_CONSTANT | 1 << PDNN_FILL_UNIFORM | 1 << PDNN_FILL_NEAR_ONE,
    };
    static const unsigned kinds[PDNN_DTYPE_COUNT] = {
        [PDNN_F32] =
            NUMBERS | 1 << PDNN_FILL_SEQUENCE_MASK | 1 << PDNN_FILL_WINDOW_MASK | 1 << PDNN_FILL_WEIGHT_SCALE,
        [PDNN_BF16] = NUMBERS,
        [PDNN_F16] = NUMBERS,
        [PDNN_INT8] = 1 << PDNN_FILL_ZERO | 1 << PDNN_FILL_CLASS | 1 << PDNN_FILL_UNIFORM,
        [PDNN_U8] = 1 << PDNN_FILL_ZERO,
        [PDNN_S32] = 1 << PDNN_FILL_ZERO | 1 << PDNN_FILL_CONSTANT | 1 << PDNN_FILL_CLASS |
                     1 << PDNN_FILL_ZIPF | 1 << PDNN_FILL_SEQUENCE_CLASS | 1 << PDNN_FILL_POSITION |
                     1 << PDNN_FILL_STRIDE | 1 << PDNN_FILL_MASKED,
    };
    return kinds[tensor->dtype] >> tensor->fill.kind & 1;
}

uint32_t pdnn_graph_tensor(struct pdnn_graph *graph, const struct pdnn_tensor *tensor) {
    if (failed(graph))
        return 0;
    if (!fits(tensor)) {
        pdnn_fail(&graph->err, PDNN_OVERFLOW,
                  "a tensor of this model has more than 2^63 bytes, or an empty dimension");
        return 0;
    }
    if (!can_fill(tensor)) {
        pdnn_fail(&graph->err, PDNN_INTERNAL, "a tensor of type %s cannot be filled by kind %d",
                  pdnn_dtype_name(tensor->dtype), (int)tensor->fill.kind);
        return 0;
    }
    if (tensor->fill.kind == PDNN_FILL_WINDOW_MASK && !is_of_windows(tensor)) {
        char shape[PDNN_SHAPE_TEXT];
        pdnn_fail(&graph->err, PDNN_INVALID,
                  "window_mask: expected (W, n, n) with squares of W windows and of n positions, not (%s)",
                  pdnn_tensor_shape(tensor, shape));
        return 0;
    }
    graph->tensors = pdnn_arena_grow(graph->arena, graph->tensors, &graph->tensor_room, graph->n_tensors,
                                     sizeof *graph->tensors);
    graph->tensors[graph->n_tensors] = *tensor;
    return (uint32_t)graph->n_tensors++;
}

uint32_t pdnn_graph_copy(struct pdnn_graph *graph, uint32_t tensor) {
    if (failed(graph))
        return 0;
    graph->tensors = pdnn_arena_grow(graph->arena, graph->tensors, &graph->tensor_room, graph->n_tensors,
                                     sizeof *graph->tensors);
    graph->tensors[graph->n_tensors] = graph->tensors[tensor];
    return (uint32_t)graph->n_tensors++;
}

uint32_t pdnn_graph_like(struct pdnn_graph *graph, uint32_t tensor, enum pdnn_role role) {
    if (failed(graph))
        return 0;
    struct pdnn_tensor like = graph->tensors[tensor];
    like.role = role;
    like.dtype = role == PDNN_ROLE_STATE ? PDNN_F32 : like.dtype;
    like.fill = (struct pdnn_fill){0};
    like.fold = NULL;
    like.of = role == PDNN_ROLE_ACTIVATION ? PDNN_NONE : tensor;
    return pdnn_graph_tensor(graph, &like);
}

/* Copies the node's inputs and outputs into the arena. */
static void keep_operands(struct pdnn_graph *graph, struct pdnn_node *node) {
    enum { OPERANDS = 512 }; /* at a time */
    const uint32_t *input = node->input, *output = node->output;
    const size_t count = (size_t)(node->n_inputs + node->n_outputs);
    if (graph->operand_room < count) {
        graph->operands = pdnn_arena_alloc(graph->arena, OPERANDS, sizeof *graph->operands);
        graph->operand_room = OPERANDS;
    }
    node->input = graph->operands;
    node->output = graph->operands + node->n_inputs;
    graph->operands += count;
    graph->operand_room -= count;
    for (int i = 0; i < node->n_inputs; i++)
        node->input[i] = input[i];
    for (int i = 0; i < node->n_outputs; i++)
        node->output[i] = output[i];
}

uint32_t pdnn_graph_node(struct pdnn_graph *graph, const struct pdnn_node *node) {
    if (failed(graph))
        return 0;
    graph->nodes =
        pdnn_arena_grow(graph->arena, graph->nodes, &graph->node_room, graph->n_nodes, sizeof *graph->nodes);
    struct pdnn_node *copy = &graph->nodes[graph->n_nodes];
    *copy = *node;
    keep_operands(graph, copy);
    if (!copy->layer.stem)
        copy->layer = graph->layer;
    copy->segment = graph->segment;
    return (uint32_t)graph->n_nodes++;
}

uint32_t pdnn_graph_last_output(const struct pdnn_graph *graph, int k) {
    return failed(graph) ? 0 : graph->nodes[graph->n_nodes - 1].output[k];
}

void pdnn_graph_segment_begin(struct pdnn_graph *graph) {
    graph->segment = ++graph->n_segments;
}

void pdnn_graph_segment_end(struct pdnn_graph *graph) {
    graph->segment = 0;
}

static bool repeats_over_rows(const struct pdnn_tensor *a, const struct pdnn_tensor *b,
                              struct pdnn_broadcast *to) {
    int64_t R = a->dim[0], C = a->dim[1];
    if (b->rank == 1 && b->dim[0] == C)
        *to = (struct pdnn_broadcast){1, R, C, 1};
    else if (b->rank == 2 && b->dim[1] == C && R % b->dim[0] == 0)
        *to = (struct pdnn_broadcast){b->dim[0], R / b->dim[0], C, 1};
    else if (b->rank == 2 && b->dim[0] == R && b->dim[1] == 1)
        *to = (struct pdnn_broadcast){R, 1, 1, C};
    else
        return false;
    return true;
}

static bool repeats_over_images(const struct pdnn_tensor *a, const struct pdnn_tensor *b,
                                struct pdnn_broadcast *to) {
    int64_t N = a->dim[0], C = a->dim[1], pixels = a->dim[2] * a->dim[3];
    bool is_image = b->rank == 2 || (b->rank == 4 && b->dim[2] == 1 && b->dim[3] == 1);
    if (b->rank == 1 && b->dim[0] == C)
        *to = (struct pdnn_broadcast){1, N, C, pixels};
    else if (is_image && b->dim[0] == N && b->dim[1] == C)
        *to = (struct pdnn_broadcast){N, 1, C, pixels};
    else
        return false;
    return true;
}

bool pdnn_broadcast_of(const struct pdnn_tensor *a, const struct pdnn_tensor *b,
                       struct pdnn_broadcast *broadcast) {
    if (pdnn_tensor_same_shape(a, b)) {
        *broadcast = (struct pdnn_broadcast){1, 1, pdnn_tensor_elements(a), 1};
        return true;
    }
    if (a->rank == 2)
        return repeats_over_rows(a, b, broadcast);
    return a->rank == 4 && repeats_over_images(a, b, broadcast);
}

const char *pdnn_tensor_shape(const struct pdnn_tensor *tensor, char buffer[PDNN_SHAPE_TEXT]) {
    int length = 0;
    for (int i = 0; i < tensor->rank; i++)
        length += snprintf(buffer + length, (size_t)(PDNN_SHAPE_TEXT - length), "%s%" PRId64, i ? "x" : "",
                           tensor->dim[i]);
    return buffer;
}

const char *pdnn_pass_name(enum pdnn_pass pass) {
    static const char *const names[PDNN_PASS_COUNT] = {"forward", "backward-data", "backward-weights",
                                                       "update"};
    return names[pass];
}

const char *pdnn_node_pass_name(const struct pdnn_node *node) {
    return node->recompute ? "recompute" : pdnn_pass_name(node->pass);
}

int pdnn_node_accesses(const struct pdnn_node *node, struct pdnn_access access[PDNN_NODE_ACCESSES]) {
    int count = 0;
    for (int i = 0; i < node->n_inputs; i++)
        access[count++] = (struct pdnn_access){node->input[i], false};
    for (int i = 0; i < node->n_outputs; i++)
        access[count++] = (struct pdnn_access){node->output[i], true};
    for (int i = 0; i < node->n_posts; i++) {
        const struct pdnn_post *post = &node->posts[i];
        /* A backward-weights post reads only what its host reads anyway. */
        bool is_written = post->pass == PDNN_BACKWARD_WEIGHTS;
        uint32_t extra = is_written ? post->output : post->input;
        if (extra != PDNN_NONE)
            access[count++] = (struct pdnn_access){extra, is_written};
    }
    return count;
}

int pdnn_node_readings(const struct pdnn_node *node, uint32_t tensor) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int count = 0;
    for (int i = pdnn_node_accesses(node, access); i-- > 0;)
        count += access[i].tensor == tensor && !access[i].is_written;
    return count;
}

const char *pdnn_role_name(enum pdnn_role role) {
    static const char *const names[PDNN_ROLE_COUNT] = {
        "input", "label", "weight", "weight copy", "activation", "gradient", "weight gradient", "state"};
    return names[role];
}

const char *pdnn_layer_format(struct pdnn_layer layer, char buffer[PDNN_LAYER_TEXT]) {
    const char *stem = layer.stem ? layer.stem : "";
    size_t length = strlen(stem);
    bool ends_in_digit = length && stem[length - 1] >= '0' && stem[length - 1] <= '9';
    if (layer.index)
        snprintf(buffer, PDNN_LAYER_TEXT, "%s%s%" PRId64, stem, ends_in_digit ? "." : "", layer.index);
    else
        snprintf(buffer, PDNN_LAYER_TEXT, "%s", stem);
    return buffer;
}

bool pdnn_layer_has_stem(const char *text, const char *stem) {
    size_t length = strlen(stem);
    if (strncmp(text, stem, length) != 0)
        return false;
    text += length;
    if (*text == '.' && text[1] != '.')
        text++;
    text += strspn(text, "0123456789");
    return !*text || strncmp(text, "..", 2) == 0;
}
