#include "gen/onnx/step.h"

#include "models/op.h"

#include <math.h>
#include <string.h>

#define IN(k)  pdnn_trace_in(trace, node, k)
#define OUT(k) pdnn_trace_out(trace, node, k)

static bool is_weight(const struct pdnn_value_of *value) {
    return value && value->kind == PDNN_VALUE_WEIGHT;
}

/* A bias behind the operator that was added last. */
static bool add_bias(struct pdnn_trace *trace, const struct pdnn_value_of *bias) {
    struct pdnn_draft *program = &trace->program;
    const struct pdnn_draft_entry *x = program->entry[program->n_entries - 1];
    if (!bias)
        return true;
    if (!is_weight(bias) || pdnn_strided_elements(bias) != x->dim[1])
        return pdnn_trace_fail(trace, "its bias is no weight of one value for each of its %d channels",
                               (int)x->dim[1]);
    pdnn_draft_weight(
        pdnn_draft_add(program, "bias", (int32_t[]){program->n_entries - 1, -1}, x->rank, x->dim), "b",
        bias->base);
    return true;
}

/* What a window does along height and width; of one spatial dimension, which is the width, the height is 1.
 */
struct window {
    int64_t kernel[2], stride[2], dilation[2], first[2], end[2], size[2];
};

/* False, with a message, for windows that do not fit. image: (N, C, H, W). */
static bool read_window(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                        const struct pdnn_value_of *in, const int64_t *kernel, struct window *window,
                        int64_t image[4]) {
    const int axes = in->rank - 2;
    const bool is_transposed = strcmp(node->proto->op_type, "ConvTranspose") == 0;
    const bool upper = pdnn_trace_has_text(node, "auto_pad", "SAME_UPPER"),
               lower = pdnn_trace_has_text(node, "auto_pad", "SAME_LOWER");
    if (axes < 1 || axes > 2)
        return pdnn_trace_fail(trace, "its input has %d dimensions, 3 or 4 are read", in->rank);
    *window = (struct window){{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
    memcpy(image, (int64_t[]){in->dim[0], in->dim[1], 1, 1}, 4 * sizeof *image);
    for (int k = 0; k < axes; k++) {
        const int d = 2 - axes + k;
        const size_t item = (size_t)k;
        image[2 + d] = in->dim[2 + k];
        window->kernel[d] = pdnn_trace_item(node, "kernel_shape", item, kernel ? kernel[k] : 0);
        window->stride[d] = pdnn_trace_item(node, "strides", item, 1);
        window->dilation[d] = pdnn_trace_item(node, "dilations", item, 1);
        window->first[d] = pdnn_trace_item(node, "pads", item, 0);
        window->end[d] = pdnn_trace_item(node, "pads", item + (size_t)axes, 0);
        const int64_t limit = 1 << 24;
        if (image[2 + d] > limit || window->kernel[d] < 1 || window->stride[d] < 1 ||
            window->dilation[d] < 1 || window->first[d] < 0 || window->end[d] < 0 ||
            window->kernel[d] > limit || window->stride[d] > limit || window->dilation[d] > limit ||
            window->first[d] > limit || window->end[d] > limit || (kernel && window->kernel[d] != kernel[k]))
            return pdnn_trace_fail(
                trace, "kernel, strides, dilations or pads that contradict its weights or are not 1 or more");
        const int64_t span = (window->kernel[d] - 1) * window->dilation[d] + 1;
        if (upper || lower) {
            const int64_t places = (image[2 + d] + window->stride[d] - 1) / window->stride[d];
            const int64_t pad = is_transposed ? span - window->stride[d]
                                              : (places - 1) * window->stride[d] + span - image[2 + d],
                          all = pad > 0 ? pad : 0;
            if (pad < 0 && is_transposed)
                return pdnn_trace_fail(trace, "auto_pad needs a window of its stride %d or more, it has %d",
                                       (int)window->stride[d], (int)span);
            window->first[d] = upper ? all / 2 : all - all / 2;
            window->end[d] = all - window->first[d];
        }
        const int64_t room = image[2 + d] + window->first[d] + window->end[d] - span;
        if (room < 0 && !is_transposed)
            return pdnn_trace_fail(trace, "a window of %d does not fit an image of %d", (int)span,
                                   (int)image[2 + d]);
        window->size[d] = room / window->stride[d] + 1;
        if (pdnn_trace_int(node, "ceil_mode", 0) && room % window->stride[d] &&
            window->size[d] * window->stride[d] < image[2 + d] + window->first[d])
            window->size[d]++;
    }
    return true;
}

/* What differs from the operator's defaults. */
static void put_window(struct pdnn_draft_entry *entry, const struct window *window) {
    static const char *const names[][2] = {{"kernel_h", "kernel_w"},
                                           {"stride_h", "stride_w"},
                                           {"dilation_h", "dilation_w"},
                                           {"padding_h", "padding_w"}};
    const int64_t *values[] = {window->kernel, window->stride, window->dilation, window->first};
    for (int k = 0; k < 4; k++)
        for (int d = 0; d < 2; d++)
            pdnn_draft_size(entry, names[k][d], values[k][d]);
}

/* The result of the entry added last, (N, C, H, W), with as many dimensions as the input has. */
static bool give_image(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int rank) {
    const struct pdnn_draft_entry *y = trace->program.entry[trace->program.n_entries - 1];
    const int64_t flat[3] = {y->dim[0], y->dim[1], y->dim[3]};
    return pdnn_strided_of(trace, trace->program.n_entries - 1, rank, rank == 3 ? flat : y->dim, OUT(0));
}

/* Of an image with zeros around it, which a Pad put there, the image; they are added to the window's own. */
static const struct pdnn_value_of *take_zeros(const struct pdnn_trace *trace,
                                              const struct pdnn_onnx_node *outside, struct window *window,
                                              int64_t image[4]) {
    const struct pdnn_value_of *in = pdnn_trace_in(trace, outside, 0), *by = pdnn_trace_in(trace, outside, 1);
    for (int d = 2; d < in->rank; d++) {
        const int at = d - (in->rank - 2);
        image[2 + at] = in->dim[d];
        window->first[at] += pdnn_numbers_whole(by, d);
        window->end[at] += pdnn_numbers_whole(by, in->rank + d);
    }
    return in;
}

static bool conv(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0), *weight = IN(1);
    const bool is_transposed = strcmp(node->proto->op_type, "ConvTranspose") == 0;
    const struct pdnn_onnx_node *outside = in->kind == PDNN_VALUE_FORMULA && !is_transposed
                                               ? pdnn_trace_giver(trace, pdnn_trace_id(trace, node, 0), "Pad")
                                               : NULL;
    for (size_t k = outside ? 1 : 0; k < node->proto->n_input; k++)
        if (IN(k) && IN(k)->kind == PDNN_VALUE_FORMULA) {
            OUT(0)->node = IN(k)->node;
            return true;
        }
    const int64_t groups = pdnn_trace_int(node, "group", 1);
    struct window window;
    int64_t image[4], dim[4];
    if ((in->kind != PDNN_VALUE_DATA && !outside) || !is_weight(weight) || weight->rank != in->rank)
        return true;
    if (!read_window(trace, node, in, weight->dim + 2, &window, image))
        return false;
    if (outside)
        in = take_zeros(trace, outside, &window, image);
    for (int d = 0; d < 2 && !is_transposed; d++) {
        const int64_t span = (window.kernel[d] - 1) * window.dilation[d] + 1,
                      most = window.first[d] > window.end[d] ? window.first[d] : window.end[d];
        if (most >= span)
            return pdnn_trace_fail(trace, "a window of %d meets pads of %d: they must be smaller", (int)span,
                                   (int)most);
    }
    if (weight->dim[0] > 1 << 24 || weight->dim[1] > 1 << 24)
        return pdnn_trace_fail(trace, "weights of more than 2^24 channels");
    const int64_t read = is_transposed ? weight->dim[0] : weight->dim[1] * groups;
    const int64_t out = is_transposed ? weight->dim[1] * groups : weight->dim[0];
    if (groups < 1 || groups > 1 << 24 || read != image[1] || out % groups)
        return pdnn_trace_fail(trace, "weights of %d channels in %d groups meet an image of %d", (int)read,
                               (int)groups, (int)image[1]);
    const int32_t from = pdnn_strided_entry(trace, in, 4, image);
    if (from < 0)
        return false;
    memcpy(dim, (int64_t[]){image[0], out, window.size[0], window.size[1]}, sizeof dim);
    for (int d = 0; d < 2 && is_transposed; d++) {
        const size_t item = (size_t)(d + in->rank - 4);
        dim[2 + d] = (image[2 + d] - 1) * window.stride[d] + (window.kernel[d] - 1) * window.dilation[d] + 1 -
                     window.first[d] - window.end[d];
        if (dim[2 + d] < 1)
            return pdnn_trace_fail(trace, "its pads leave nothing of the image");
        if (in->rank - 4 + d >= 0 &&
            (pdnn_trace_item(node, "output_padding", item, 0) ||
             pdnn_trace_item(node, "output_shape", item, 0) || window.first[d] != window.end[d]))
            return true; /* not ours */
    }
    struct pdnn_draft_entry *entry = pdnn_draft_add(
        &trace->program, is_transposed ? "conv_transpose2d" : "conv2d", (int32_t[]){from, -1}, 4, dim);
    pdnn_draft_size(entry, "out", out);
    put_window(entry, &window);
    if (!is_transposed) {
        pdnn_draft_size(entry, "end_h", window.end[0]);
        pdnn_draft_size(entry, "end_w", window.end[1]);
    }
    pdnn_draft_size(entry, "groups", groups);
    pdnn_draft_weight(entry, "w", weight->base);
    return add_bias(trace, IN(2)) && give_image(trace, node, in->rank);
}

static bool pool(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    const bool is_max = strncmp(node->proto->op_type, "Max", 3) == 0;
    struct window window;
    int64_t image[4];
    if (in->kind != PDNN_VALUE_DATA)
        return true;
    if (!read_window(trace, node, in, NULL, &window, image))
        return false;
    const int32_t from = pdnn_strided_entry(trace, in, 4, image);
    if (from < 0)
        return false;
    const bool is_ceil = pdnn_trace_int(node, "ceil_mode", 0) != 0;
    if (window.dilation[0] != 1 || window.dilation[1] != 1 ||
        (is_ceil && memcmp(window.first, window.end, sizeof window.end) != 0))
        return true; /* not ours */
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "pool2d", (int32_t[]){from, -1}, 4,
                       (int64_t[]){image[0], image[1], window.size[0], window.size[1]});
    pdnn_draft_word(entry, "kind", is_max ? "max" : "average");
    put_window(entry, &window);
    if (is_ceil)
        pdnn_draft_size(entry, "ceil", 1);
    else {
        pdnn_draft_size(entry, "end_h", window.end[0]);
        pdnn_draft_size(entry, "end_w", window.end[1]);
    }
    return give_image(trace, node, in->rank);
}

static bool global_pool(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    if (in->kind != PDNN_VALUE_DATA || in->rank < 3 || in->rank > 4)
        return true;
    const int64_t image[4] = {in->dim[0], in->dim[1], in->rank == 4 ? in->dim[2] : 1, in->dim[in->rank - 1]};
    const int32_t from = pdnn_strided_entry(trace, in, 4, image);
    if (from < 0)
        return false;
    struct pdnn_draft_entry *entry = pdnn_draft_add(&trace->program, "pool2d", (int32_t[]){from, -1}, 4,
                                                    (int64_t[]){image[0], image[1], 1, 1});
    pdnn_draft_word(entry, "kind", strcmp(node->proto->op_type, "GlobalMaxPool") == 0 ? "max" : "average");
    pdnn_draft_size(entry, "to", 1);
    return give_image(trace, node, in->rank);
}

static bool batch_norm(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0), *gamma = IN(1);
    if (in->kind != PDNN_VALUE_DATA || in->rank < 2 || in->rank > 4 || !gamma ||
        !(is_weight(gamma) || gamma->kind == PDNN_VALUE_NUMBERS) ||
        pdnn_strided_elements(gamma) != in->dim[1])
        return true;
    const int64_t image[4] = {in->dim[0], in->dim[1], in->rank == 4 ? in->dim[2] : 1,
                              in->rank > 2 ? in->dim[in->rank - 1] : 1};
    const int32_t from = pdnn_strided_entry(trace, in, in->rank == 2 ? 2 : 4, image);
    if (from < 0)
        return false;
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "batchnorm", (int32_t[]){from, -1}, in->rank == 2 ? 2 : 4, image);
    pdnn_draft_real(entry, "epsilon", pdnn_trace_real(node, "epsilon", 1e-5));
    if (!is_weight(gamma))
        pdnn_draft_size(entry, "affine", 0);
    return in->rank == 2 ? pdnn_strided_of(trace, trace->program.n_entries - 1, 2, image, OUT(0))
                         : give_image(trace, node, in->rank);
}

/* layernorm and rmsnorm of rows. */
static bool row_norm(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0), *gamma = IN(1);
    const bool is_layer = strcmp(node->proto->op_type, "LayerNormalization") == 0;
    /* Ones and zeros that are constants are no weights. */
    const bool has_weights = is_weight(gamma) && (!is_layer || is_weight(IN(2)) || !IN(2));
    const bool is_plain = is_layer && gamma && gamma->kind == PDNN_VALUE_NUMBERS;
    const int64_t axis = pdnn_trace_int(node, "axis", -1);
    if (in->kind != PDNN_VALUE_DATA || (axis != -1 && axis != in->rank - 1) || !(has_weights || is_plain))
        return true;
    struct pdnn_value_of rows;
    int32_t from;
    if (!pdnn_strided_take_rows(trace, in, &from, &rows))
        return false;
    const struct pdnn_draft_entry *x = trace->program.entry[from];
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, is_layer ? "layernorm" : "rmsnorm", (int32_t[]){from, -1}, 2, x->dim);
    pdnn_draft_real(entry, "epsilon", pdnn_trace_real(node, "epsilon", 1e-5));
    if (is_plain || (is_layer && !IN(2)))
        pdnn_draft_size(entry, "affine", 0);
    else
        pdnn_draft_weight(entry, "gamma", gamma->base);
    if (is_layer && !is_plain && IN(2))
        pdnn_draft_weight(entry, "beta", IN(2)->base);
    if (is_layer && !is_plain && !IN(2))
        pdnn_draft_weight(pdnn_draft_add(&trace->program, "multiply",
                                         (int32_t[]){trace->program.n_entries - 1, -1}, 2, x->dim),
                          "b", gamma->base);
    return pdnn_strided_give_rows(trace, &rows, trace->program.n_entries - 1, x->dim[1], in->rank, in->dim,
                                  OUT(0));
}

/* Known by its pattern with what stands behind it, but for a group of each channel. */
static bool instance_norm(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    const bool is_group = strcmp(node->proto->op_type, "GroupNormalization") == 0;
    struct pdnn_value_of made = *in;
    if (in->kind == PDNN_VALUE_DATA && in->rank == 4 && is_weight(IN(1)) && is_weight(IN(2)) &&
        pdnn_strided_elements(IN(1)) == in->dim[1]) {
        const int32_t from = pdnn_strided_entry(trace, in, 4, in->dim);
        if (from < 0)
            return false;
        struct pdnn_draft_entry *entry =
            pdnn_draft_add(&trace->program, "groupnorm", (int32_t[]){from, -1}, 4, in->dim);
        pdnn_draft_size(entry, "groups", is_group ? pdnn_trace_int(node, "num_groups", 1) : in->dim[1]);
        pdnn_draft_real(entry, "epsilon", pdnn_trace_real(node, "epsilon", 1e-5));
        return give_image(trace, node, 4);
    }
    made.kind = PDNN_VALUE_FORMULA;
    made.node = node;
    if (in->kind == PDNN_VALUE_DATA && pdnn_strided_shape(trace, &made, in->rank, in->dim))
        *OUT(0) = made;
    return true;
}

static bool resize(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    const bool is_nearest =
        !pdnn_trace_attribute(node, "mode") || pdnn_trace_has_text(node, "mode", "nearest");
    const bool has_sizes = IN(3) != NULL;
    const struct pdnn_value_of *by = has_sizes ? IN(3) : IN(2);
    int64_t dim[4];
    if (in->kind != PDNN_VALUE_DATA || in->rank != 4 || !by || by->kind != PDNN_VALUE_NUMBERS ||
        pdnn_strided_elements(by) != 4 || pdnn_trace_attribute(node, "axes") ||
        !(is_nearest || pdnn_trace_has_text(node, "mode", "linear")))
        return true;
    for (int d = 0; d < 4; d++) {
        const double size =
            has_sizes ? pdnn_numbers_at(by, d) : floor((double)in->dim[d] * pdnn_numbers_at(by, d));
        if (!(size >= 1 && size <= 1 << 24))
            return pdnn_trace_fail(trace, "dimension %d is to be %g", d, size);
        dim[d] = (int64_t)size;
    }
    if (dim[0] != in->dim[0] || dim[1] != in->dim[1])
        return true; /* not of images */
    const int32_t from = pdnn_strided_entry(trace, in, 4, in->dim);
    if (from < 0)
        return false;
    struct pdnn_draft_entry *entry = pdnn_draft_add(&trace->program, "resize", (int32_t[]){from, -1}, 4, dim);
    pdnn_draft_word(entry, "kind", is_nearest ? "nearest" : "bilinear");
    pdnn_draft_size(entry, "height", dim[2]);
    pdnn_draft_size(entry, "width", dim[3]);
    return give_image(trace, node, 4);
}

/* Whether there is nothing, or zeros, also where an initializer has them. */
static bool is_zero(const struct pdnn_value_of *value) {
    struct pdnn_value_of of;
    bool is = !value || pdnn_numbers_known(value, &of);
    for (int64_t k = 0; value && is && k < pdnn_strided_elements(&of); k++)
        is = pdnn_numbers_at(&of, k) == 0;
    return is;
}

/* Zeros around an image are the padding of a convolution that reads it, elsewhere nothing of ours. */
static bool pad(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0), *by = IN(1);
    const int rank = in->rank;
    struct pdnn_value_of made = {.kind = PDNN_VALUE_FORMULA, .factor = 1, .node = node};
    int64_t dim[PDNN_TRACE_RANK];
    const int64_t limit = 1 << 24;
    if (!by || by->kind != PDNN_VALUE_NUMBERS)
        return true;
    const int64_t count = pdnn_strided_elements(by);
    bool is_none = true,
         is_around = in->kind == PDNN_VALUE_DATA && !in->is_whole && count == 2 * rank && is_zero(IN(2)) &&
                     !IN(3) &&
                     (!pdnn_trace_attribute(node, "mode") || pdnn_trace_has_text(node, "mode", "constant"));
    memcpy(dim, in->dim, sizeof dim);
    for (int64_t k = 0; k < count; k++) {
        const double zeros = pdnn_numbers_at(by, k);
        is_none = is_none && zeros == 0;
        is_around = is_around && zeros >= 0 && zeros <= (double)limit && (zeros == 0 || k % rank >= 2);
        if (is_around)
            dim[k % rank] += (int64_t)zeros;
    }
    if (is_none)
        *OUT(0) = *in;
    else if (is_around && !pdnn_strided_shape(trace, &made, rank, dim))
        return false;
    else if (is_around)
        *OUT(0) = made;
    return true;
}

/* One direction of a recurrent layer, rows (T N, I) to (T N, H). */
static int32_t recur(struct pdnn_trace *trace, const char *cell, int32_t from, int64_t steps, int64_t hidden,
                     int biases, bool is_back) {
    const struct pdnn_draft_entry *x = trace->program.entry[from];
    struct pdnn_draft_entry *entry = pdnn_draft_add(&trace->program, pdnn_op_rnn.name, (int32_t[]){from, -1},
                                                    2, (int64_t[]){x->dim[0], hidden});
    pdnn_draft_word(entry, "cell", cell);
    pdnn_draft_size(entry, "steps", steps);
    pdnn_draft_size(entry, "hidden", hidden);
    if (biases == 2)
        pdnn_draft_size(entry, "biases", 2);
    if (is_back)
        pdnn_draft_size(entry, "reverse", 1);
    return trace->program.n_entries - 1;
}

/* Whether all sequences have as many steps as there are. */
static bool is_whole_length(const struct pdnn_value_of *sizes, int64_t steps) {
    bool is = !sizes || sizes->kind == PDNN_VALUE_NUMBERS;
    for (int64_t k = 0; sizes && is && k < pdnn_strided_elements(sizes); k++)
        is = pdnn_numbers_at(sizes, k) == (double)steps;
    return is;
}

/* Whether the second bias of each gate, but for the candidate of a GRU that has two of that, is a constant 0.
 */
static bool has_one_bias(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int64_t gates,
                         bool is_lbr, int64_t hidden) {
    const struct pdnn_onnx_node *concat = pdnn_trace_giver(trace, pdnn_trace_id(trace, node, 3), "Concat");
    const struct pdnn_value_of *first = concat ? pdnn_trace_in(trace, concat, 0) : NULL,
                               *zeros = concat ? pdnn_trace_in(trace, concat, 1) : NULL;
    return first && zeros && first->rank == 2 && first->dim[1] == gates * hidden && zeros->rank == 2 &&
           zeros->dim[1] == (gates - is_lbr) * hidden && zeros->kind == PDNN_VALUE_NUMBERS &&
           is_zero(zeros) && concat->proto->n_input == (is_lbr ? 3 : 2);
}

static bool recurrent(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of in = *IN(0);
    const int64_t hidden = pdnn_trace_int(node, "hidden_size", 0);
    const bool is_gru = strcmp(node->proto->op_type, "GRU") == 0,
               is_lstm = strcmp(node->proto->op_type, "LSTM") == 0;
    const char *cell = is_lstm                                          ? "lstm"
                       : !is_gru                                        ? "rnn"
                       : pdnn_trace_int(node, "linear_before_reset", 0) ? "lbr_gru"
                                                                        : "gru";
    const int ways = pdnn_trace_has_text(node, "direction", "bidirectional") ? 2 : 1;
    const bool is_back = pdnn_trace_has_text(node, "direction", "reverse");
    const struct pdnn_value_of *w = IN(1), *u = IN(2), *b = IN(3);
    if (in.kind != PDNN_VALUE_DATA || in.rank != 3 || !is_weight(w) || hidden < 1 ||
        pdnn_trace_attribute(node, "activations") || pdnn_trace_int(node, "layout", 0) ||
        pdnn_trace_attribute(node, "clip") || pdnn_trace_int(node, "input_forget", 0) || !is_weight(u) ||
        !is_weight(b) || IN(7) || !is_whole_length(IN(4), in.dim[0]) || !is_zero(IN(5)) || !is_zero(IN(6)))
        return true;
    const int64_t gates = is_lstm ? 4 : is_gru ? 3 : 1;
    if (w->rank != 3 || w->dim[0] != ways || hidden > 1 << 24 || w->dim[2] != in.dim[2] ||
        w->dim[1] != gates * hidden)
        return pdnn_trace_fail(trace, "its weights contradict hidden_size=%d or its input", (int)hidden);
    const int64_t steps = in.dim[0], batch = in.dim[1];
    const bool is_lbr = is_gru && pdnn_trace_int(node, "linear_before_reset", 0) != 0;
    const int biases = has_one_bias(trace, node, gates, is_lbr, hidden) ? 1 : 2;
    struct pdnn_value_of rows;
    int32_t from;
    if (!pdnn_strided_take_rows(trace, &in, &from, &rows))
        return false;
    /* Ids of words that nobody gave are as good in the order of steps; other rows are brought into it. */
    const struct pdnn_draft_entry *of = trace->program.entry[from];
    if (!of->op || of->op != pdnn_op_embedding.name || trace->program.entry[of->from[0]]->op)
        from = pdnn_strided_rows(trace, &in);
    if (from < 0)
        return false;
    int32_t made = recur(trace, cell, from, steps, hidden, biases, is_back);
    struct pdnn_value_of *last = OUT(1);
    if (ways == 2) {
        const int32_t back = recur(trace, cell, from, steps, hidden, biases, true);
        pdnn_draft_add(&trace->program, "concat", (int32_t[]){made, back, -1}, 2,
                       (int64_t[]){steps * batch, 2 * hidden});
        made = trace->program.n_entries - 1;
    } else if (last != &trace->value[trace->onnx->n_values]) {
        if (!pdnn_strided_of(trace, made, 3, (int64_t[]){1, batch, hidden}, last))
            return false;
        last->offset = is_back ? 0 : (steps - 1) * batch * hidden;
    }
    struct pdnn_value_of *out = OUT(0);
    if (!pdnn_strided_of(trace, made, 4, (int64_t[]){steps, ways, batch, hidden}, out))
        return false;
    memcpy(out->stride, (int64_t[]){batch * ways * hidden, hidden, ways * hidden, 1},
           4 * sizeof *out->stride);
    return true;
}

const struct pdnn_trace_row pdnn_trace_layers[] = {
    {"Conv", conv, true},
    {"ConvTranspose", conv, true},
    {"MaxPool", pool, false},
    {"AveragePool", pool, false},
    {"GlobalAveragePool", global_pool, false},
    {"GlobalMaxPool", global_pool, false},
    {"BatchNormalization", batch_norm, false},
    {"LayerNormalization", row_norm, false},
    {"RMSNormalization", row_norm, false},
    {"InstanceNormalization", instance_norm, false},
    {"GroupNormalization", instance_norm, false},
    {"Resize", resize, false},
    {"Pad", pad, false},
    {"LSTM", recurrent, false},
    {"GRU", recurrent, false},
    {"RNN", recurrent, false},
    {0},
};
