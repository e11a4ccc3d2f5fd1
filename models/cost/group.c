#include "models/cost/group.h"

#include "models/op.h"
#include "models/rearrange.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char *put_number(char *at, const char *end, int64_t number) {
    char digits[24];
    int n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (n && at < end)
        *at++ = digits[--n];
    return at;
}

static char *put_tensor(char *at, const char *end, const struct pdnn_tensor *tensor, bool first) {
    if (!first && at < end)
        *at++ = ':';
    for (int i = 0; i < tensor->rank; i++) {
        if (i && at < end)
            *at++ = 'x';
        at = put_number(at, end, tensor->dim[i]);
    }
    return at;
}

static const char *attr_name(const struct pdnn_node *node, int k) {
    const struct pdnn_attribute *row = pdnn_op_attribute(node->op, k);
    return !row ? NULL : row->shown ? row->shown : row->name;
}

/* Whether attributes k and k + 1 are "<stem>_h" and "<stem>_w", and equal. */
static bool is_square(const struct pdnn_node *node, int k) {
    const char *h = attr_name(node, k), *w = attr_name(node, k + 1);
    size_t length = strlen(h);
    return w && length > 2 && strlen(w) == length && memcmp(h, w, length - 2) == 0 &&
           strcmp(h + length - 2, "_h") == 0 && strcmp(w + length - 2, "_w") == 0 &&
           node->attr[k] == node->attr[k + 1];
}

/* Appends the attributes that are not 0; "stride=2" for stride_h and stride_w. */
static char *put_attrs(char *at, const char *end, const struct pdnn_node *node) {
    const char *name;
    char pattern[PDNN_PATTERN_TEXT];
    for (int k = 0; (name = attr_name(node, k)); k++) {
        bool square = is_square(node, k);
        int letters = (int)strlen(name) - (square ? 2 : 0), length = 0;
        if (node->attr[k] && pdnn_op_attribute(node->op, k)->is_pattern)
            length = snprintf(at, (size_t)(end - at) + 1, ",%s", pdnn_pattern_format(node->attr[k], pattern));
        else if (node->attr[k])
            length = snprintf(at, (size_t)(end - at) + 1, ",%.*s=%" PRId64, letters, name, node->attr[k]);
        at += length < end - at ? length : end - at;
        k += square ? 1 : 0;
    }
    return at;
}

/* f32 is left out. */
static char *put_dtype(char *at, const char *end, enum pdnn_dtype dtype) {
    const char *name = dtype == PDNN_F32 ? "" : pdnn_dtype_name(dtype);
    if (*name && at < end)
        *at++ = ',';
    for (; *name && at < end; name++)
        *at++ = *name;
    return at;
}

void pdnn_node_shape(const struct pdnn_graph *graph, const struct pdnn_node *node, char *text, size_t room) {
    char *at = text;
    const char *end = text + room - 1;
    for (int k = 0; k < node->n_inputs; k++)
        at = put_tensor(at, end, pdnn_node_in(graph, node, k), k == 0);
    for (int k = 0; k < node->n_outputs; k++)
        at = put_tensor(at, end, pdnn_node_out(graph, node, k), false);
    at = put_attrs(at, end, node);
    at = put_dtype(at, end, pdnn_node_dtype(graph, node));
    for (int k = 0; k < node->n_posts && at < end; k++) {
        *at++ = '+';
        for (const char *name = node->posts[k].op->name; *name && at < end; name++)
            *at++ = *name;
    }
    if (graph->stems_apart && node->layer.stem && at < end) {
        *at++ = '@';
        for (const char *stem = node->layer.stem; *stem && at < end; stem++)
            *at++ = *stem;
    }
    *at = 0;
}

static bool same_stem(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_shapes(const struct pdnn_graph *graph, const uint32_t *a, const uint32_t *b, int count) {
    for (int k = 0; k < count; k++) {
        const struct pdnn_tensor *x = &graph->tensors[a[k]], *y = &graph->tensors[b[k]];
        if (x->dtype != y->dtype || !pdnn_tensor_same_shape(x, y))
            return false;
    }
    return true;
}

static bool same_kind(const struct pdnn_graph *graph, const struct pdnn_node *a, const struct pdnn_node *b) {
    if (a->op != b->op || a->pass != b->pass || a->recompute != b->recompute || a->n_inputs != b->n_inputs ||
        a->n_outputs != b->n_outputs || a->n_posts != b->n_posts ||
        memcmp(a->attr, b->attr, sizeof a->attr) != 0)
        return false;
    if (graph->stems_apart && !same_stem(a->layer.stem, b->layer.stem))
        return false;
    for (int k = 0; k < a->n_posts; k++) {
        if (a->posts[k].op != b->posts[k].op)
            return false;
    }
    return same_shapes(graph, a->input, b->input, a->n_inputs) &&
           same_shapes(graph, a->output, b->output, a->n_outputs);
}

static uint32_t find_group(const struct pdnn_graph *graph, const struct pdnn_group *groups, size_t count,
                           const struct pdnn_node *node) {
    for (size_t g = 0; g < count; g++) {
        if (same_kind(graph, &graph->nodes[groups[g].node], node))
            return (uint32_t)g;
    }
    return (uint32_t)count;
}

/* Layers with one stem are named by number, whichever comes first in the pass; others in
 * the order they run. */
static void name_layers(struct pdnn_group *group, struct pdnn_layer first, struct pdnn_layer last) {
    char one[PDNN_LAYER_TEXT], other[PDNN_LAYER_TEXT];
    bool swap = same_stem(first.stem, last.stem) && first.index > last.index;
    pdnn_layer_format(swap ? last : first, one);
    pdnn_layer_format(swap ? first : last, other);
    if (strcmp(one, other) == 0)
        snprintf(group->layer, sizeof group->layer, "%s", one);
    else
        snprintf(group->layer, sizeof group->layer, "%s..%s", one, other);
}

enum pdnn_status pdnn_graph_groups(const struct pdnn_graph *graph, struct pdnn_group **groups,
                                   size_t *n_groups, uint32_t **group_of, struct pdnn_err *err) {
    struct pdnn_group *all = pdnn_arena_alloc(graph->arena, graph->n_nodes, sizeof *all);
    uint32_t *of = pdnn_arena_alloc(graph->arena, graph->n_nodes, sizeof *of);
    size_t count = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        struct pdnn_cost cost;
        enum pdnn_status status = pdnn_cost_node(graph, node, &cost, err);
        if (status != PDNN_OK)
            return status;
        uint32_t at = find_group(graph, all, count, node);
        struct pdnn_group *group = &all[at];
        if (at == count) {
            count++;
            group->node = i;
            pdnn_node_shape(graph, node, group->shape, sizeof group->shape);
        }
        of[i] = at;
        group->count++;
        name_layers(group, graph->nodes[group->node].layer, node->layer);
        status = pdnn_cost_add(&group->cost, &cost, err);
        if (status != PDNN_OK)
            return status;
    }
    *groups = all;
    *n_groups = count;
    if (group_of)
        *group_of = of;
    return PDNN_OK;
}
