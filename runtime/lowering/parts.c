#include "runtime/lowering/parts.h"

#include "runtime/kernels/rows/moves.h"

#include <string.h>

struct pdnn_section pdnn_section_in(const struct pdnn_bound_call *call, int input, int64_t first) {
    return (struct pdnn_section){pdnn_node_in(call->graph, call->node, input), call->in[input],
                                 call->in_block[input], first};
}

struct pdnn_section pdnn_section_out(const struct pdnn_bound_call *call, int output, int64_t first) {
    return (struct pdnn_section){pdnn_node_out(call->graph, call->node, output), call->out[output],
                                 call->out_block[output], first};
}

int pdnn_section_dim(const struct pdnn_bound_call *call) {
    const struct pdnn_tensor *x = pdnn_node_in(call->graph, call->node, 0);
    int dim = x->rank - 1;
    while (dim > 0 && x->dim[dim] == pdnn_call_out_dim(call, 0)[dim])
        dim--;
    return dim;
}

static bool is_blocked(const struct pdnn_section *entries) {
    return entries->tensor->rank == 4 && entries->block > 1;
}

static bool is_channels_last(const struct pdnn_section *entries) {
    return is_blocked(entries) && entries->block == entries->tensor->dim[1];
}

/* Channels in whole blocks, or up to the last one, behind which both have the same padding. */
static bool has_whole_blocks(const struct pdnn_section *entries, int64_t count) {
    int64_t end = entries->first + count;
    return entries->first % entries->block == 0 &&
           (count % entries->block == 0 || end == entries->tensor->dim[1]);
}

/* Blocked images as they lie, (N, blocks, H, W, block), or channels-last ones by their channels. */
static struct pdnn_view view_blocked(const struct pdnn_section *entries, int dim, bool by_channel) {
    const int64_t *d = entries->tensor->dim, block = entries->block;
    struct pdnn_tensor stored = {.rank = 5, .dim = {d[0], (d[1] + block - 1) / block, d[2], d[3], block}};
    return pdnn_view_of(&stored, by_channel ? 4 : dim);
}

/* How entries lie: rows of the returned view, with those moved starting at *first. */
struct strided {
    int64_t rows, stride, first, columns; /* elements */
};

static struct strided strided_of(const struct pdnn_section *entries, int dim, int64_t count,
                                 bool by_channel) {
    bool by_block = is_blocked(entries) && dim == 1 && !by_channel;
    struct pdnn_view view =
        is_blocked(entries) ? view_blocked(entries, dim, by_channel) : pdnn_view_of(entries->tensor, dim);
    int64_t unit = by_block ? entries->block : 1;
    return (struct strided){view.outer, view.n * view.inner, entries->first / unit * view.inner,
                            (count + unit - 1) / unit * view.inner};
}

/* Whether both sides are rows at constant distances; by_channel: if channels-last images are taken apart. */
static bool is_strided(const struct pdnn_transfer *part, int dim, bool *by_channel) {
    const struct pdnn_section *from = &part->from, *to = &part->to;
    *by_channel = dim == 1 && is_channels_last(to) && (!from->tensor || is_channels_last(from));
    if (*by_channel || (!is_blocked(to) && (!from->tensor || !is_blocked(from))))
        return true;
    if (from->tensor && (!is_blocked(to) || from->block != to->block))
        return false;
    if (dim != 1)
        return true;
    return has_whole_blocks(to, part->count) && (!from->tensor || has_whole_blocks(from, part->count));
}

static struct pdnn_move move_of(const struct pdnn_transfer *part, int dim, bool by_channel) {
    const int64_t bytes = (int64_t)pdnn_dtype_bytes(part->to.tensor->dtype);
    struct strided to = strided_of(&part->to, dim, part->count, by_channel), from = {0};
    if (part->from.tensor)
        from = strided_of(&part->from, dim, part->count, by_channel);
    return (struct pdnn_move){
        part->from.tensor ? (const char *)part->from.memory + from.first * bytes : NULL,
        from.stride * bytes,
        (char *)part->to.memory + to.first * bytes,
        to.stride * bytes,
        to.rows,
        to.columns * bytes,
    };
}

static struct pdnn_image image_of(const struct pdnn_section *entries) {
    struct pdnn_image image = {.block = entries->block > 1 ? entries->block : 1};
    memcpy(image.dim, entries->tensor->dim, sizeof image.dim);
    return image;
}

static struct pdnn_box box_of(const struct pdnn_transfer *part, int dim) {
    struct pdnn_box box = {.from = part->from.tensor ? part->from.memory : NULL,
                           .to = part->to.memory,
                           .to_image = image_of(&part->to),
                           .element_bytes = (int64_t)pdnn_dtype_bytes(part->to.tensor->dtype)};
    if (part->from.tensor)
        box.from_image = image_of(&part->from);
    memcpy(box.size, part->to.tensor->dim, sizeof box.size);
    box.size[dim] = part->count;
    box.to_at[dim] = part->to.first;
    box.from_at[dim] = part->from.first;
    return box;
}

void pdnn_transfers_run(const struct pdnn_bound_call *call, const struct pdnn_transfer *parts, int n_parts) {
    struct pdnn_move moves[PDNN_NODE_OUTPUTS];
    struct pdnn_box boxes[PDNN_NODE_OUTPUTS];
    int n_moves = 0, n_boxes = 0, dim = pdnn_section_dim(call);
    for (int i = 0; i < n_parts; i++) {
        bool by_channel;
        if (is_strided(&parts[i], dim, &by_channel))
            moves[n_moves++] = move_of(&parts[i], dim, by_channel);
        else
            boxes[n_boxes++] = box_of(&parts[i], dim);
    }
    if (n_moves)
        pdnn_moves_run(moves, n_moves, pdnn_call_bypasses_output(call, 0), call->threads);
    if (n_boxes)
        pdnn_boxes_run(boxes, n_boxes, call->threads);
}
