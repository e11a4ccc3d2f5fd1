#include "models/benchdnn/problems.h"

#include "models/build.h"
#include "models/cell.h"
#include "models/conv2d.h"
#include "models/heads.h"
#include "models/ops/conv2d.h"
#include "models/ops/pointwise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A node that is being written. */
struct problem {
    const struct pdnn_graph *graph;
    const struct pdnn_node *node;
    const char *driver;
    struct pdnn_str *text; /* options and descriptor */
    const char *missing;   /* what no driver has; NULL: it is written */
};

static const struct pdnn_tensor *in(const struct problem *p, int k) {
    return pdnn_node_in(p->graph, p->node, k);
}

static const struct pdnn_tensor *out(const struct problem *p) {
    return pdnn_node_out(p->graph, p->node, 0);
}

static bool is_forward(const struct problem *p) {
    return p->node->pass == PDNN_FORWARD;
}

static bool is_training(const struct problem *p) {
    return p->graph->loss != PDNN_NONE;
}

/* Activations in int8 are stored as unsigned bytes, 128 higher where they may be negative. */
static const char *type_of(const struct pdnn_tensor *tensor) {
    return tensor->dtype != PDNN_INT8         ? pdnn_dtype_name(tensor->dtype)
           : tensor->role == PDNN_ROLE_WEIGHT ? "s8"
                                              : "u8";
}

static bool is_shifted(const struct problem *p, const struct pdnn_tensor *tensor) {
    for (size_t i = 0; tensor->dtype == PDNN_INT8 && i < p->graph->n_nodes; i++) {
        const struct pdnn_node *node = &p->graph->nodes[i];
        if (node->op == &pdnn_op_quantize && &p->graph->tensors[node->output[PDNN_QUANTIZE_Q]] == tensor)
            return !node->attr[PDNN_QUANTIZE_NON_NEGATIVE];
    }
    return false;
}

/* Images are channels last, near to what convolutions ask for on every processor; the rest is row-major. */
static const char *tag_of(const struct pdnn_tensor *tensor) {
    return tensor->rank == 4 ? "axb" : "abx";
}

static void append_dims(struct problem *p, int rank, const int64_t *dim) {
    for (int i = 0; i < rank; i++)
        pdnn_str_printf(p->text, "%s%" PRId64, i ? "x" : "", dim[i]);
}

static void append_shape(struct problem *p, const struct pdnn_tensor *tensor) {
    append_dims(p, tensor->rank, tensor->dim);
}

/* " --dir=FWD_I": where a driver tells training from inference. */
static void append_direction(struct problem *p, const char *backward) {
    pdnn_str_printf(p->text, " --dir=%s", !is_forward(p) ? backward : is_training(p) ? "FWD_D" : "FWD_I");
}

/* The activation as oneDNN calls it: by the build's list, but for one that oneDNN 2.6 lacks. */
struct activation {
    const struct pdnn_op_def *op;
    const char *algorithm;
    double alpha, beta;
};

#define ACTIVATION(name, NAME, algorithm, alpha, beta)                                                       \
    {&pdnn_op_##name, #algorithm, (double)(alpha), (double)(beta)},
static const struct activation activations[] = {{&pdnn_op_hardsigmoid, "hardsigmoid", 1.0 / 6, 0.5},
                                                PDNN_POST_OPS(ACTIVATION)};

static bool find_activation(const struct pdnn_op_def *op, const double *coef, struct activation *found) {
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        if (activations[i].op != op)
            continue;
        *found = activations[i];
        if (op->attributes[0].coefficient) {
            found->alpha = coef[0];
            found->beta = coef[1];
        }
        return true;
    }
    return false;
}

/* What the node's product absorbed, but for a bias, which *has_bias says: that is part of the direction. */
static void append_post_ops(struct problem *p, bool *has_bias) {
    const char *before = " --attr-post-ops=";
    *has_bias = false;
    for (int i = 0; i < p->node->n_posts; i++) {
        const struct pdnn_post *post = &p->node->posts[i];
        struct activation activation;
        if (post->op == &pdnn_op_bias && i == 0) {
            *has_bias = true;
            continue;
        }
        if (post->op == &pdnn_op_add && post->pass == PDNN_FORWARD)
            pdnn_str_printf(p->text, "%ssum", before);
        else if (post->pass == PDNN_FORWARD && find_activation(post->op, post->coef, &activation))
            pdnn_str_printf(p->text, "%s%s:%.9g:%.9g", before, activation.algorithm, activation.alpha,
                            activation.beta);
        else
            p->missing = "with what is fused into it";
        before = "+";
    }
}

/* The operands of a product's pass, and of a gradient those that it is of. */
struct product {
    const struct pdnn_tensor *x, *w, *y;
};

static struct product product_of(const struct problem *p) {
    const bool is_transposed = p->node->op == &pdnn_op_conv_transpose2d;
    if (p->node->pass == PDNN_BACKWARD_DATA)
        return (struct product){out(p), in(p, 1), in(p, 0)};
    if (p->node->pass == PDNN_BACKWARD_WEIGHTS)
        return (struct product){in(p, is_transposed), out(p), in(p, !is_transposed)};
    return (struct product){in(p, 0), in(p, 1), out(p)};
}

static void append_quantization(struct problem *p, bool is_shifted) {
    if (pdnn_quantized_is_scaled(p->node))
        pdnn_str_printf(p->text, " --attr-scales=src:common:0.5+wei:per_oc");
    if (is_shifted)
        pdnn_str_printf(p->text, " --attr-zero-points=src:common:128");
}

/* Direction, types and attributes of a product with weights. */
static void append_product(struct problem *p, const struct product *q) {
    static const char *const directions[][2] = {[PDNN_FORWARD] = {"FWD_D", "FWD_B"},
                                                [PDNN_BACKWARD_DATA] = {"BWD_D", "BWD_D"},
                                                [PDNN_BACKWARD_WEIGHTS] = {"BWD_W", "BWD_WB"}};
    bool has_bias;
    append_post_ops(p, &has_bias);
    pdnn_str_printf(p->text, " --dir=%s --dt=%s:%s:%s",
                    is_forward(p) && !has_bias && !is_training(p) ? "FWD_I"
                                                                  : directions[p->node->pass][has_bias],
                    type_of(q->x), type_of(q->w), type_of(q->y));
    append_quantization(p, is_shifted(p, q->x));
}

static void write_convolution(struct problem *p) {
    static const char *const algorithms[] = {[PDNN_ALGORITHM_AUTO] = "AUTO",
                                             [PDNN_ALGORITHM_DIRECT] = "DIRECT",
                                             [PDNN_ALGORITHM_WINOGRAD] = "WINO",
                                             [PDNN_ALGORITHM_GEMM] = "DIRECT --impl=gemm"};
    /* The driver of transposed ones leaves no choice to the library. */
    const enum pdnn_algorithm algorithm =
        p->graph->algorithm == PDNN_ALGORITHM_AUTO && p->node->op == &pdnn_op_conv_transpose2d
            ? PDNN_ALGORITHM_DIRECT
            : p->graph->algorithm;
    const struct product q = product_of(p);
    const int64_t groups = pdnn_conv2d_groups(p->node), *x = q.x->dim, *y = q.y->dim;
    struct pdnn_window h, w;
    pdnn_conv2d_windows(p->node, q.w, &h, &w);
    append_product(p, &q);
    pdnn_str_printf(p->text, " --stag=any --wtag=any --dtag=any --alg=%s ", algorithms[algorithm]);
    if (groups > 1)
        pdnn_str_printf(p->text, "g%" PRId64, groups);
    pdnn_str_printf(p->text,
                    "mb%" PRId64 "_ic%" PRId64 "ih%" PRId64 "iw%" PRId64 "_oc%" PRId64 "oh%" PRId64
                    "ow%" PRId64 "_kh%" PRId64 "kw%" PRId64 "_sh%" PRId64 "sw%" PRId64 "_ph%" PRId64
                    "pw%" PRId64,
                    x[0], x[1], x[2], x[3], y[1], y[2], y[3], h.kernel, w.kernel, h.stride, w.stride,
                    h.padding, w.padding);
    if (h.dilation > 1 || w.dilation > 1)
        pdnn_str_printf(p->text, "_dh%" PRId64 "dw%" PRId64, h.dilation - 1, w.dilation - 1);
}

/* Of values that are shifted: inner products have no zero point. */
static void write_dense_as_matmul(struct problem *p, const struct product *q) {
    bool has_bias;
    p->driver = "matmul";
    append_post_ops(p, &has_bias);
    pdnn_str_printf(p->text, " --dt=%s:%s:%s", type_of(q->x), type_of(q->w), type_of(q->y));
    append_quantization(p, true);
    pdnn_str_printf(p->text, " --stag=ab --wtag=any --dtag=ab%s ",
                    has_bias ? " --bia_dt=f32 --bia_mask=2" : "");
    pdnn_str_printf(p->text, "%" PRId64 "x%" PRId64 ":%" PRId64 "x%" PRId64 ":%" PRId64 "x%" PRId64,
                    q->y->dim[0], q->w->dim[1], q->w->dim[1], q->w->dim[0], q->y->dim[0], q->w->dim[0]);
}

/* Inputs of higher rank are rows. */
static void write_dense(struct problem *p) {
    const struct product q = product_of(p);
    if (is_shifted(p, q.x)) {
        write_dense_as_matmul(p, &q);
        return;
    }
    append_product(p, &q);
    pdnn_str_printf(p->text, " --stag=ab --wtag=any --dtag=ab mb%" PRId64 "ic%" PRId64 "oc%" PRId64,
                    q.y->dim[0], q.w->dim[1], q.w->dim[0]);
}

/* Matrices of a product, by batch dimensions, of which `several` may be more than one, rows and columns:
 * those of b may serve several heads each. */
enum { SEQUENCES, SHARED, SHARERS, ROWS, COLUMNS, MATRIX_DIMS };

static void append_several(struct problem *p, const int64_t dim[MATRIX_DIMS],
                           const bool several[MATRIX_DIMS]) {
    const char *between = "";
    for (int i = 0; i < MATRIX_DIMS; i++) {
        if (!several[i])
            continue;
        pdnn_str_printf(p->text, "%s%" PRId64, between, dim[i]);
        between = "x";
    }
}

/* A batch of products, and where their matrices lie. */
static void write_matmul(struct problem *p) {
    const struct pdnn_heads_product q = pdnn_heads_product_of(p->graph, p->node);
    const int64_t sharers = q.h / q.b.heads, sizes[][2] = {{q.M, q.K}, {q.K, q.N}, {q.M, q.N}};
    const struct pdnn_heads *const matrices[] = {&q.a, &q.b, &q.y};
    const bool several[] = {q.B > 1, q.b.heads > 1, sharers > 1, true, true};
    if (q.window || q.y.heads < q.h || q.a.heads < q.h) {
        p->missing = q.window ? "within a window" : "summed over heads";
        return;
    }
    pdnn_str_printf(p->text, " --dt=%s:%s:%s", type_of(in(p, 0)), type_of(in(p, 1)), type_of(out(p)));
    for (int k = 0; k < 3; k++) {
        const struct pdnn_heads *m = matrices[k];
        pdnn_str_printf(p->text, "%s", k ? ":" : " --strides=");
        append_several(p,
                       (int64_t[]){m->sequence_stride, m->head_stride * (m->heads == q.h ? sharers : 1),
                                   m->head_stride, m->transposed ? 1 : m->row_stride,
                                   m->transposed ? m->row_stride : 1},
                       several);
    }
    for (int k = 0; k < 3; k++) {
        pdnn_str_printf(p->text, "%s", k ? ":" : " ");
        append_several(p, (int64_t[]){q.B, q.b.heads, k == 1 ? 1 : sharers, sizes[k][0], sizes[k][1]},
                       several);
    }
}

static void write_pool(struct problem *p) {
    const struct pdnn_tensor *x = is_forward(p) ? in(p, 0) : out(p), *y = is_forward(p) ? out(p) : in(p, 0);
    const int64_t *attr = p->node->attr;
    append_direction(p, "BWD_D");
    pdnn_str_printf(
        p->text,
        " --dt=%s:%s --tag=%s --alg=%s mb%" PRId64 "ic%" PRId64 "_ih%" PRId64 "iw%" PRId64 "_oh%" PRId64
        "ow%" PRId64 "_kh%" PRId64 "kw%" PRId64 "_sh%" PRId64 "sw%" PRId64 "_ph%" PRId64 "pw%" PRId64,
        type_of(x), type_of(y), tag_of(x), attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE ? "avg_np" : "max",
        x->dim[0], x->dim[1], x->dim[2], x->dim[3], y->dim[2], y->dim[3], attr[PDNN_POOL2D_KERNEL_H],
        attr[PDNN_POOL2D_KERNEL_W], attr[PDNN_POOL2D_STRIDE_H], attr[PDNN_POOL2D_STRIDE_W],
        attr[PDNN_POOL2D_PADDING_H], attr[PDNN_POOL2D_PADDING_W]);
}

/* "mb8ic64_ih56iw56" of images, or of rows, which are images of a pixel. */
static void append_image(struct problem *p, const struct pdnn_tensor *x) {
    pdnn_str_printf(p->text, "mb%" PRId64 "ic%" PRId64 "_ih%" PRId64 "iw%" PRId64, x->dim[0], x->dim[1],
                    x->rank == 4 ? x->dim[2] : 1, x->rank == 4 ? x->dim[3] : 1);
}

/* A relu is the only thing that it may have absorbed there, in training a flag. */
static void write_batchnorm(struct problem *p) {
    const struct pdnn_tensor *x = in(p, 0);
    const bool is_frozen = is_forward(p) ? !p->node->attr[PDNN_BATCHNORM_TRAIN]
                                         : p->node->n_inputs == PDNN_BATCHNORM_FROZEN_INPUTS,
               has_relu = p->node->n_posts == 1 && p->node->posts[0].op == &pdnn_op_relu;
    if (p->node->n_posts > has_relu)
        p->missing = "with what is fused into it";
    append_direction(p, is_frozen ? "BWD_D" : "BWD_DW");
    pdnn_str_printf(p->text, " --dt=%s --tag=%s --flags=%sCH%s ", type_of(x), tag_of(x), is_frozen ? "G" : "",
                    has_relu ? "R" : "");
    append_image(p, x);
    pdnn_str_printf(p->text, "_eps%.9g", p->node->coef[PDNN_BATCHNORM_EPSILON]);
}

static void write_groupnorm(struct problem *p) {
    const struct pdnn_tensor *x = in(p, 0);
    append_direction(p, "BWD_DW");
    pdnn_str_printf(p->text, " --dt=%s:%s --tag=%s:%s --flags=CH g%" PRId64, type_of(x), type_of(x),
                    tag_of(x), tag_of(x), p->node->attr[PDNN_GROUPNORM_GROUPS]);
    append_image(p, x);
    pdnn_str_printf(p->text, "_eps%.9g", p->node->coef[PDNN_GROUPNORM_EPSILON]);
}

/* Rows, of each of which the elements are normalized. */
static void append_rows_norm(struct problem *p, const char *flags) {
    const struct pdnn_tensor *x = in(p, 0);
    append_direction(p, *flags ? "BWD_DW" : "BWD_D");
    pdnn_str_printf(p->text, " --dt=%s:%s --tag=abx:abx", type_of(x), type_of(x));
    if (*flags)
        pdnn_str_printf(p->text, " --flags=%s", flags);
    pdnn_str_printf(p->text, " ");
    append_shape(p, x);
}

static void write_layernorm(struct problem *p) {
    const int affine = is_forward(p) ? PDNN_LAYERNORM_INPUTS : PDNN_LAYERNORM_BACK_INPUTS;
    append_rows_norm(p, p->node->n_inputs == affine ? "CH" : "");
}

static void write_rmsnorm(struct problem *p) {
    if (p->node->attr[PDNN_RMSNORM_HEADS])
        p->missing = "of each head";
    append_rows_norm(p, "CM");
}

static void write_softmax(struct problem *p) {
    const struct pdnn_tensor *x = in(p, 0);
    append_direction(p, "BWD_D");
    pdnn_str_printf(p->text, " --sdt=%s --ddt=%s --stag=abx --dtag=abx --axis=%d ", type_of(x),
                    type_of(out(p)), x->rank - 1);
    append_shape(p, x);
}

static void append_eltwise(struct problem *p, const char *algorithm, double alpha, double beta) {
    const struct pdnn_tensor *x = in(p, 0);
    pdnn_str_printf(p->text, " --dir=%s --dt=%s --tag=%s --alg=%s --alpha=%.9g --beta=%.9g ",
                    is_forward(p) ? "FWD_D" : "BWD_D", type_of(x), tag_of(x), algorithm, alpha, beta);
    append_shape(p, x);
}

/* Backward from the result, oneDNN has an algorithm of its own. */
static void write_activation(struct problem *p) {
    const struct pdnn_op_def *op = p->node->op;
    struct activation activation;
    const bool is_found = find_activation(op, p->node->coef, &activation),
               is_from_result = !is_forward(p) && !op->pointwise->saves_x;
    char algorithm[32];
    if (!is_found || (is_from_result && op == &pdnn_op_hardsigmoid)) {
        p->missing = is_found ? "from its result" : "";
        return;
    }
    snprintf(algorithm, sizeof algorithm, "%s%s", activation.algorithm,
             !is_from_result                             ? ""
             : strcmp(activation.algorithm, "clip") == 0 ? "_v2_dst"
                                                         : "_dst");
    append_eltwise(p, algorithm, activation.alpha, activation.beta);
}

static void write_scale(struct problem *p) {
    append_eltwise(p, "linear", p->node->coef[PDNN_SCALE_FACTOR], 0);
}

/* a, and b, which is as large or repeats over it. */
static void append_pair(struct problem *p, const struct pdnn_tensor *a, const struct pdnn_tensor *b) {
    int64_t small[PDNN_RANK_MAX], large[PDNN_RANK_MAX];
    struct pdnn_broadcast broadcast;
    int rank = a->rank;
    bool fits = a->rank == b->rank;
    for (int i = 0; i < a->rank; i++) {
        large[i] = a->dim[i];
        small[i] = fits ? b->dim[i] : 1;
    }
    for (int i = 0; fits && i < rank; i++)
        fits = b->dim[i] == 1 || b->dim[i] == a->dim[i];
    if (!fits && b->rank == 1 && rank > 1) {
        small[1] = b->dim[0];
    } else if (!fits && b->rank == 2 && rank == 4) {
        small[0] = b->dim[0];
        small[1] = b->dim[1];
    } else if (!fits && pdnn_broadcast_of(a, b, &broadcast)) {
        rank = 3;
        large[0] = small[0] = broadcast.outer;
        large[1] = broadcast.again;
        small[1] = 1;
        large[2] = small[2] = broadcast.inner;
    }
    append_dims(p, rank, large);
    pdnn_str_printf(p->text, ":");
    append_dims(p, rank, small);
}

static void append_binary(struct problem *p, const char *algorithm) {
    const struct pdnn_tensor *a = in(p, 0), *b = in(p, 1);
    pdnn_str_printf(p->text, " --sdt=%s:%s --ddt=%s --stag=%s:%s --dtag=%s --alg=%s ", type_of(a), type_of(b),
                    type_of(out(p)), tag_of(a), tag_of(a), tag_of(a), algorithm);
    append_pair(p, a, b);
}

static void append_reduction(struct problem *p, const char *algorithm, const struct pdnn_tensor *x,
                             const struct pdnn_tensor *y) {
    pdnn_str_printf(p->text, " --sdt=%s --ddt=%s --stag=%s --dtag=%s --alg=%s ", type_of(x), type_of(y),
                    tag_of(x), tag_of(x), algorithm);
    append_pair(p, x, y);
}

static void write_sum(struct problem *p) {
    append_binary(p, "ADD");
}

static void write_sum_of_gradients(struct problem *p) {
    append_reduction(p, "sum", in(p, 0), out(p));
}

/* Backward, two gradients of one tensor, or one of what repeats. */
static void write_add(struct problem *p) {
    if (p->node->n_inputs > 1) {
        write_sum(p);
        return;
    }
    p->driver = "reduction";
    write_sum_of_gradients(p);
}

/* Backward, one gradient that is as large; what sums products has no driver. */
static void write_multiply(struct problem *p) {
    if (p->node->n_inputs > 2 || !pdnn_tensor_same_shape(in(p, 0), out(p)))
        p->missing = "whose products are summed";
    append_binary(p, "MUL");
}

static void write_mean(struct problem *p) {
    const struct pdnn_tensor *x = in(p, 0), *y = out(p);
    const bool is_rows = p->node->attr[PDNN_MEAN_ALONG] == PDNN_MEAN_ROWS;
    pdnn_str_printf(p->text, " --sdt=%s --ddt=%s --stag=abx --dtag=abx --alg=mean ", type_of(x), type_of(y));
    if (is_rows)
        pdnn_str_printf(p->text, "%" PRId64 "x", y->dim[0]);
    append_dims(p, 2, (int64_t[]){is_rows ? x->dim[0] / y->dim[0] : x->dim[0], x->dim[1]});
    pdnn_str_printf(p->text, ":");
    if (is_rows)
        pdnn_str_printf(p->text, "%" PRId64 "x", y->dim[0]);
    append_dims(p, 2, (int64_t[]){is_rows ? 1 : x->dim[0], y->dim[1]});
}

static void write_concat(struct problem *p) {
    static const int axes[] = {
        [PDNN_CONCAT_COLUMNS] = 1, [PDNN_CONCAT_ROWS] = 0, [PDNN_CONCAT_HEIGHT] = 2, [PDNN_CONCAT_WIDTH] = 3};
    const struct pdnn_tensor *y = out(p);
    pdnn_str_printf(p->text, " --sdt=%s --ddt=%s --stag=%s --dtag=%s --axis=%d ", type_of(y), type_of(y),
                    tag_of(y), tag_of(y), axes[p->node->attr[PDNN_CONCAT_ALONG]]);
    for (int k = 0; k < p->node->n_inputs; k++) {
        pdnn_str_printf(p->text, "%s", k ? ":" : "");
        append_shape(p, in(p, k));
    }
}

static void write_resize(struct problem *p) {
    const struct pdnn_tensor *x = is_forward(p) ? in(p, 0) : out(p), *y = is_forward(p) ? out(p) : in(p, 0);
    pdnn_str_printf(p->text, " --dir=%s --sdt=%s --ddt=%s --tag=%s --alg=%s ",
                    is_forward(p) ? "FWD_D" : "BWD_D", type_of(x), type_of(y), tag_of(x),
                    p->node->attr[PDNN_RESIZE_KIND] == PDNN_RESIZE_BILINEAR ? "linear" : "nearest");
    append_image(p, x);
    pdnn_str_printf(p->text, "_oh%" PRId64 "ow%" PRId64, y->dim[2], y->dim[3]);
}

static void write_cast(struct problem *p) {
    const struct pdnn_tensor *x = in(p, 0);
    pdnn_str_printf(p->text, " --sdt=%s --ddt=%s --stag=abx --dtag=abx ", type_of(x), type_of(out(p)));
    append_shape(p, x);
}

/* Cells of oneDNN with its order of gates; the initial state is there, and 0 in ours. Biases are f32, which
 * f16 has only with those of f16, on GPUs. */
static void write_rnn(struct problem *p) {
    static const char *const algorithms[] = {[PDNN_CELL_RNN] = "VANILLA_RNN --activation=TANH",
                                             [PDNN_CELL_LSTM] = "VANILLA_LSTM",
                                             [PDNN_CELL_GRU] = "VANILLA_GRU",
                                             [PDNN_CELL_LBR_GRU] = "LBR_GRU"};
    const struct pdnn_rnn_geometry g = pdnn_rnn_geometry(p->graph, p->node);
    const enum pdnn_dtype dtype = in(p, 0)->dtype;
    if (dtype == PDNN_F16)
        p->missing = "in f16";
    pdnn_str_printf(
        p->text,
        " --prop=%s --cfg=%s --alg=%s --direction=%s l1t%" PRId64 "mb%" PRId64 "_sic%" PRId64 "_slc%" PRId64
        "_dhc%" PRId64 "_dic%" PRId64,
        !is_forward(p)   ? "BWD_DW"
        : is_training(p) ? "FWD_D"
                         : "FWD_I",
        dtype == PDNN_BF16 ? "bf16f32" : pdnn_dtype_name(dtype), algorithms[p->node->attr[PDNN_RNN_CELL]],
        p->node->attr[PDNN_RNN_REVERSE] ? "right2left" : "left2right", g.T, g.N, g.H, g.I, g.H, g.H);
}

/* Who writes a pass of an op, and for which driver. A pass that is not here has none. */
struct form {
    const struct pdnn_op_def *op;
    const char *driver;
    void (*write)(struct problem *p);
    unsigned passes; /* one bit each */
};

enum {
    FORWARD = 1 << PDNN_FORWARD,
    DATA = 1 << PDNN_BACKWARD_DATA,
    WEIGHTS = 1 << PDNN_BACKWARD_WEIGHTS,
    ALL = FORWARD | DATA | WEIGHTS
};

#define ACTIVATION_FORM(name, NAME) {&pdnn_op_##name, "eltwise", write_activation, ALL},
static const struct form forms[] = {
    {&pdnn_op_conv2d, "conv", write_convolution, ALL},
    {&pdnn_op_conv_transpose2d, "deconv", write_convolution, ALL},
    {&pdnn_op_dense, "ip", write_dense, ALL},
    {&pdnn_op_matmul, "matmul", write_matmul, ALL},
    {&pdnn_op_pool2d, "pool", write_pool, ALL},
    {&pdnn_op_batchnorm, "bnorm", write_batchnorm, ALL},
    {&pdnn_op_groupnorm, "gnorm", write_groupnorm, ALL},
    {&pdnn_op_layernorm, "lnorm", write_layernorm, ALL},
    {&pdnn_op_rmsnorm, "lnorm", write_rmsnorm, ALL},
    {&pdnn_op_softmax, "softmax", write_softmax, ALL},
    PDNN_ACTIVATIONS(ACTIVATION_FORM){&pdnn_op_scale, "eltwise", write_scale, ALL},
    {&pdnn_op_bias, "binary", write_sum, FORWARD},
    {&pdnn_op_bias, "reduction", write_sum_of_gradients, WEIGHTS},
    {&pdnn_op_add, "binary", write_add, ALL},
    {&pdnn_op_multiply, "binary", write_multiply, FORWARD | DATA},
    {&pdnn_op_mean, "reduction", write_mean, FORWARD},
    {&pdnn_op_concat, "concat", write_concat, FORWARD},
    {&pdnn_op_resize, "resampling", write_resize, FORWARD | DATA},
    {&pdnn_op_cast, "reorder", write_cast, FORWARD | DATA},
    {&pdnn_op_rnn, "rnn", write_rnn, FORWARD | DATA},
};

static const struct form *find_form(const struct pdnn_node *node) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].op == node->op && forms[i].passes >> node->pass & 1)
            return &forms[i];
    }
    return NULL;
}

/* Nodes that are written the same. */
struct line {
    const char *text; /* NULL: no driver has it */
    const char *missing;
    const struct pdnn_node *first;
    size_t count;
};

struct lines {
    struct line *lines;
    size_t count, room;
};

static void add(struct lines *lines, struct pdnn_arena *arena, const struct line *line) {
    for (size_t i = 0; i < lines->count; i++) {
        struct line *before = &lines->lines[i];
        if (line->text ? before->text && strcmp(before->text, line->text) == 0
                       : !before->text && before->first->op == line->first->op &&
                             before->first->pass == line->first->pass &&
                             strcmp(before->missing, line->missing) == 0) {
            before->count++;
            return;
        }
    }
    lines->lines = pdnn_arena_grow(arena, lines->lines, &lines->room, lines->count, sizeof *lines->lines);
    lines->lines[lines->count] = *line;
    if (line->text)
        lines->lines[lines->count].text = pdnn_arena_strdup(arena, line->text);
    lines->lines[lines->count++].count = 1;
}

static void add_node(struct lines *lines, struct pdnn_arena *arena, const struct pdnn_graph *graph,
                     const struct pdnn_node *node, bool is_cold) {
    const struct form *form = find_form(node);
    struct pdnn_str text = {0}, whole = {0};
    struct problem p = {.graph = graph, .node = node, .text = &text, .missing = form ? NULL : ""};
    if (form) {
        p.driver = form->driver;
        form->write(&p);
        pdnn_str_printf(&whole, "--%s --reset --mode=P --cold-cache=%s%s", p.driver, is_cold ? "all" : "none",
                        pdnn_str_text(&text));
    }
    add(lines, arena,
        &(struct line){
            .text = p.missing ? NULL : pdnn_str_text(&whole), .missing = p.missing, .first = node});
    pdnn_str_finish(&text);
    pdnn_str_finish(&whole);
}

/* "# conv2d forward, 3 nodes, the first block1.1". */
static void append_comment(struct pdnn_str *text, const struct line *line) {
    char layer[PDNN_LAYER_TEXT];
    pdnn_layer_format(line->first->layer, layer);
    pdnn_str_printf(text, "# %s%s %s%s%s, %zu node%s%s%s\n",
                    line->text ? "" : "no driver: ", line->first->op->name, pdnn_node_pass_name(line->first),
                    line->missing && *line->missing ? " " : "", line->missing ? line->missing : "",
                    line->count, line->count == 1 ? "" : "s",
                    !*layer           ? ""
                    : line->count > 1 ? ", the first "
                                      : ", ",
                    layer);
}

enum pdnn_status pdnn_benchdnn_append(const struct pdnn_instance *instance, struct pdnn_str *text,
                                      struct pdnn_err *err) {
    struct pdnn_arena arena = {0}, found = {0};
    struct pdnn_graph graph;
    struct lines lines = {0};
    char id[PDNN_ID_TEXT];
    const enum pdnn_status status = pdnn_instance_graph(instance, &arena, &graph, err);
    const bool is_cold = instance->setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    for (size_t i = 0; status == PDNN_OK && i < graph.n_nodes; i++)
        add_node(&lines, &found, &graph, &graph.nodes[i], is_cold);
    if (status == PDNN_OK)
        pdnn_str_printf(
            text,
            "# %s\n# benchdnn of oneDNN 3, a command line each: grep -v '^#' FILE | xargs -L1 benchdnn\n",
            pdnn_instance_format(instance, id));
    for (int is_missing = false; is_missing <= true; is_missing++) {
        for (size_t i = 0; i < lines.count; i++) {
            if ((lines.lines[i].text == NULL) != is_missing)
                continue;
            append_comment(text, &lines.lines[i]);
            if (lines.lines[i].text)
                pdnn_str_printf(text, "%s\n", lines.lines[i].text);
        }
    }
    pdnn_arena_finish(&found);
    pdnn_arena_finish(&arena);
    return status;
}
