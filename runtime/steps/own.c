#include "runtime/steps/options.h"

#include "runtime/steps/f32_copies.h"
#include "runtime/steps/own_step.h"
#include "models/attributes.h"
#include "runtime/steps/step.h"
#include "runtime/facts/hostfiles.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/update/lamb.h"
#include "runtime/kernels/rows/loss.h"
#include "runtime/kernels/update/optimizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void run_elementwise(const struct pdnn_own *own) {
    uint64_t bytes = (uint64_t)own->elements * sizeof(float);
    bool in_place = own->out[0] == own->in[0] || own->out[0] == own->in[1];
    struct pdnn_elementwise_job job = {
        .function = (enum pdnn_elementwise)own->row->function,
        .a = own->in[0],
        .b = own->in[1],
        .y = own->out[0],
        .elements = own->elements,
        .bypass = !in_place && bytes >= own->cache_bytes / PDNN_STEP_BYPASS_ELEMENTWISE,
        .coef = {(float)own->node->coef[0], (float)own->node->coef[1]},
    };
    pdnn_elementwise_run(&job, own->threads);
    /* The functions here that make something of nothing. */
    if (job.function == PDNN_SIGMOID_FORWARD || job.function == PDNN_HARDTANH_FORWARD)
        pdnn_channels_clear_padding(job.y, &own->shape, own->threads);
}

static void run_bias(const struct pdnn_own *own) {
    pdnn_bias_forward(own->in[0], own->in[1], own->out[0], own->rows, own->columns, own->threads);
}

static uint64_t column_sums_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_column_sums_scratch(own->rows, own->columns, own->threads) * sizeof(float);
}

static void run_column_sums(const struct pdnn_own *own) {
    pdnn_column_sums(own->in[0], own->out[0], own->scratch, own->rows, own->columns, own->threads);
}

static uint64_t loss_scratch(const struct pdnn_own *own) {
    return (uint64_t)own->threads * PDNN_LOSS_STRIDE * sizeof(double);
}

static void run_loss(const struct pdnn_own *own) {
    struct pdnn_loss_job job = {
        .x = own->in[0],
        .label = own->in[1],
        .loss = own->out[0],
        .y = own->out[1],
        .partial = own->scratch,
        .N = own->rows,
        .C = own->columns,
        .scale = own->node->coef[0],
    };
    pdnn_loss_forward(&job, own->threads);
}

static void run_loss_backward(const struct pdnn_own *own) {
    struct pdnn_loss_job job = {
        .x = own->in[0],
        .label = own->in[1],
        .y = own->out[0],
        .N = own->rows,
        .C = own->columns,
        .scale = own->node->coef[0],
    };
    pdnn_loss_backward(&job, own->threads);
}

static void run_update(const struct pdnn_own *own) {
    struct pdnn_update_job job = {
        .rule = (enum pdnn_update)own->row->function,
        .w = own->in[0],
        .g = own->in[1],
        .state = {own->in[2], own->in[3]},
        .power = own->in[4],
        .elements = own->elements,
    };
    for (int i = 0; i < PDNN_UPDATE_COEFS; i++)
        job.coef[i] = own->node->coef[i];
    pdnn_update_run(&job, own->threads);
}

static void run_moment(const struct pdnn_own *own) {
    bool squares = own->node->attr[PDNN_MOMENT_SQUARE];
    const struct pdnn_update_job job = {
        .rule = squares ? PDNN_UPDATE_SQUARE_MOMENT : PDNN_UPDATE_MOMENT,
        .w = own->in[0],
        .g = own->in[1],
        .coef = {own->node->coef[0]},
        .elements = own->elements,
    };
    pdnn_update_run(&job, own->threads);
}

static void run_adam_apply(const struct pdnn_own *own) {
    struct pdnn_update_job job = {
        .rule = PDNN_UPDATE_ADAM_APPLY,
        .w = own->in[0],
        .g = own->in[1],
        .state = {own->in[2]},
        .power = own->in[3],
        .elements = own->elements,
    };
    memcpy(job.coef, own->node->coef, sizeof job.coef);
    pdnn_update_run(&job, own->threads);
}

static uint64_t norm_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_norm_scratch(own->elements) * sizeof(double);
}

static void run_norm(const struct pdnn_own *own) {
    struct pdnn_norm_job job = {
        .x = own->in[0],
        .before = own->in[1],
        .norm = own->out[0],
        .scratch = own->scratch,
        .elements = own->elements,
    };
    pdnn_norm_run(&job, own->threads);
}

static void run_lamb_direction(const struct pdnn_own *own) {
    const double *coef = own->node->coef;
    struct pdnn_lamb_direction_job job = {
        .w = own->in[0],
        .g = own->in[1],
        .u = own->out[0],
        .m = own->in[2],
        .v = own->in[3],
        .power = own->in[4],
        .norm = own->in[5],
        .beta1 = coef[0],
        .beta2 = coef[1],
        .epsilon = coef[2],
        .decay = coef[3],
        .limit = coef[4],
        .elements = own->elements,
    };
    pdnn_lamb_direction_run(&job, own->threads);
}

static void run_lamb_apply(const struct pdnn_own *own) {
    struct pdnn_lamb_apply_job job = {
        .w = own->in[0],
        .u = own->in[1],
        .w_norm = own->in[2],
        .u_norm = own->in[3],
        .lr = own->node->coef[0],
        .elements = own->elements,
    };
    pdnn_lamb_apply_run(&job, own->threads);
}

static const struct pdnn_own_row rows[] = {
    {&pdnn_op_relu, PDNN_FORWARD, 0, PDNN_RELU_FORWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_relu, PDNN_BACKWARD_DATA, 0, PDNN_RELU_BACKWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_sigmoid, PDNN_FORWARD, 0, PDNN_SIGMOID_FORWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_sigmoid, PDNN_BACKWARD_DATA, 0, PDNN_SIGMOID_BACKWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_tanh, PDNN_FORWARD, 0, PDNN_TANH_FORWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_tanh, PDNN_BACKWARD_DATA, 0, PDNN_TANH_BACKWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_gelu, PDNN_FORWARD, 0, PDNN_GELU_FORWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_gelu, PDNN_BACKWARD_DATA, 0, PDNN_GELU_BACKWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_gelu_tanh, PDNN_FORWARD, 0, PDNN_GELU_TANH_FORWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_gelu_tanh, PDNN_BACKWARD_DATA, 0, PDNN_GELU_TANH_BACKWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_add, PDNN_FORWARD, 0, PDNN_ADD, run_elementwise, NULL, NULL},
    {&pdnn_op_add, PDNN_BACKWARD_DATA, 0, PDNN_ADD, run_elementwise, NULL, NULL},
    {&pdnn_op_add, PDNN_BACKWARD_WEIGHTS, 0, PDNN_ADD, run_elementwise, NULL, NULL},
    {&pdnn_op_bias, PDNN_FORWARD, 2, 0, run_bias, NULL, NULL},
    {&pdnn_op_bias, PDNN_FORWARD, 4, 0, pdnn_own_channel_bias, pdnn_own_channel_bias_scratch, NULL},
    {&pdnn_op_bias, PDNN_BACKWARD_WEIGHTS, 2, 0, run_column_sums, column_sums_scratch, NULL},
    {&pdnn_op_bias, PDNN_BACKWARD_WEIGHTS, 4, 0, pdnn_own_channel_bias_gradient,
     pdnn_own_channel_bias_scratch, NULL},
    {&pdnn_op_batchnorm, PDNN_FORWARD, 4, 0, pdnn_own_batchnorm, pdnn_own_batchnorm_scratch,
     pdnn_own_batchnorm_takes},
    {&pdnn_op_batchnorm, PDNN_BACKWARD_DATA, 4, 0, pdnn_own_batchnorm_backward, pdnn_own_batchnorm_scratch,
     pdnn_own_batchnorm_backward_takes},
    {&pdnn_op_batchnorm, PDNN_FORWARD, 2, 0, pdnn_own_batchnorm, pdnn_own_batchnorm_scratch,
     pdnn_own_batchnorm_takes},
    {&pdnn_op_batchnorm, PDNN_BACKWARD_DATA, 2, 0, pdnn_own_batchnorm_backward, pdnn_own_batchnorm_scratch,
     pdnn_own_batchnorm_backward_takes},
    {&pdnn_op_pool2d, PDNN_FORWARD, 4, 0, pdnn_own_pool, NULL, NULL},
    {&pdnn_op_pool2d, PDNN_BACKWARD_DATA, 4, 0, pdnn_own_pool_backward, NULL, NULL},
    {&pdnn_op_softmax_cross_entropy, PDNN_FORWARD, 0, 0, run_loss, loss_scratch, NULL},
    {&pdnn_op_softmax_cross_entropy, PDNN_BACKWARD_DATA, 0, 0, run_loss_backward, NULL, NULL},
    {&pdnn_op_hardtanh, PDNN_FORWARD, 0, PDNN_HARDTANH_FORWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_hardtanh, PDNN_BACKWARD_DATA, 0, PDNN_HARDTANH_BACKWARD, run_elementwise, NULL, NULL},
    {&pdnn_op_embedding, PDNN_FORWARD, 0, 0, pdnn_own_embedding, NULL, NULL},
    {&pdnn_op_embedding, PDNN_BACKWARD_DATA, 0, 0, pdnn_own_embedding_gradient, pdnn_own_embedding_scratch,
     NULL},
    {&pdnn_op_embedding, PDNN_BACKWARD_WEIGHTS, 0, 0, pdnn_own_embedding_gradient, pdnn_own_embedding_scratch,
     NULL},
    {&pdnn_op_dropout, PDNN_FORWARD, 0, 0, pdnn_own_dropout, NULL, NULL},
    {&pdnn_op_dropout, PDNN_BACKWARD_DATA, 0, 0, pdnn_own_dropout, NULL, NULL},
    {&pdnn_op_slice, PDNN_FORWARD, 2, 0, pdnn_own_slice, NULL, NULL},
    {&pdnn_op_slice, PDNN_BACKWARD_DATA, 2, 0, pdnn_own_slice, NULL, NULL},
    {&pdnn_op_concat, PDNN_FORWARD, 2, 0, pdnn_own_concat, NULL, NULL},
    {&pdnn_op_concat, PDNN_BACKWARD_DATA, 2, 0, pdnn_own_concat_backward, NULL, NULL},
    {&pdnn_op_sequence, PDNN_FORWARD, 4, 0, pdnn_own_sequence, NULL, NULL},
    {&pdnn_op_sequence, PDNN_BACKWARD_DATA, 2, 0, pdnn_own_sequence, NULL, NULL},
    {&pdnn_op_attention, PDNN_FORWARD, 2, 0, pdnn_own_attention, pdnn_own_attention_scratch, NULL},
    {&pdnn_op_attention, PDNN_BACKWARD_DATA, 2, 0, pdnn_own_attention_backward, pdnn_own_attention_scratch,
     NULL},
    {&pdnn_op_cache_append, PDNN_FORWARD, 2, 0, pdnn_own_cache_append, NULL, NULL},
    {&pdnn_op_ctc_loss, PDNN_FORWARD, 2, 0, pdnn_own_ctc, pdnn_own_ctc_scratch, NULL},
    {&pdnn_op_scale, PDNN_FORWARD, 0, PDNN_SCALE, run_elementwise, NULL, NULL},
    {&pdnn_op_scale, PDNN_BACKWARD_DATA, 0, PDNN_SCALE, run_elementwise, NULL, NULL},
    {&pdnn_op_mask, PDNN_FORWARD, 3, 0, pdnn_own_mask, NULL, NULL},
    {&pdnn_op_mask, PDNN_BACKWARD_DATA, 3, 0, pdnn_own_mask, NULL, NULL},
    {&pdnn_op_softmax, PDNN_FORWARD, 0, 0, pdnn_own_softmax, NULL, NULL},
    {&pdnn_op_softmax, PDNN_BACKWARD_DATA, 0, 0, pdnn_own_softmax_backward, NULL, NULL},
    {&pdnn_op_attention_softmax, PDNN_FORWARD, 3, 0, pdnn_own_attention_softmax, NULL, NULL},
    {&pdnn_op_attention_softmax, PDNN_BACKWARD_DATA, 3, 0, pdnn_own_attention_softmax_backward, NULL, NULL},
    {&pdnn_op_layernorm, PDNN_FORWARD, 2, 0, pdnn_own_layernorm, NULL, NULL},
    {&pdnn_op_layernorm, PDNN_BACKWARD_DATA, 2, 0, pdnn_own_layernorm_backward,
     pdnn_own_norm_backward_scratch, NULL},
    {&pdnn_op_dropout_add_norm, PDNN_FORWARD, 2, 0, pdnn_own_dropout_add_norm, pdnn_own_norm_scratch, NULL},
    {&pdnn_op_dropout_add_norm, PDNN_BACKWARD_DATA, 2, 0, pdnn_own_dropout_add_norm_backward,
     pdnn_own_norm_backward_scratch, NULL},
    {&pdnn_op_cast, PDNN_FORWARD, 0, 0, pdnn_own_cast, NULL, NULL},
    {&pdnn_op_cast, PDNN_BACKWARD_DATA, 0, 0, pdnn_own_cast, NULL, NULL},
    {&pdnn_op_quantize, PDNN_FORWARD, 0, 0, pdnn_own_quantize, pdnn_own_quantize_scratch, NULL},
    {&pdnn_op_dequantize, PDNN_FORWARD, 0, 0, pdnn_own_dequantize, pdnn_own_dequantize_scratch, NULL},
    {&pdnn_op_sgd, PDNN_UPDATE, 0, PDNN_UPDATE_SGD, run_update, NULL, NULL},
    {&pdnn_op_momentum, PDNN_UPDATE, 0, PDNN_UPDATE_MOMENTUM, run_update, NULL, NULL},
    {&pdnn_op_rmsprop, PDNN_UPDATE, 0, PDNN_UPDATE_RMSPROP, run_update, NULL, NULL},
    {&pdnn_op_adam, PDNN_UPDATE, 0, PDNN_UPDATE_ADAM, run_update, NULL, NULL},
    {&pdnn_op_moment, PDNN_UPDATE, 0, 0, run_moment, NULL, NULL},
    {&pdnn_op_adam_apply, PDNN_UPDATE, 0, 0, run_adam_apply, NULL, NULL},
    {&pdnn_op_norm, PDNN_UPDATE, 0, 0, run_norm, norm_scratch, NULL},
    {&pdnn_op_lamb_direction, PDNN_UPDATE, 0, 0, run_lamb_direction, NULL, NULL},
    {&pdnn_op_lamb_apply, PDNN_UPDATE, 0, 0, run_lamb_apply, NULL, NULL},
};

/* Labels are s32; the places of maxima, which follow a gradient, are int8. */
static bool has_known_dtypes(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    bool known = true;
    for (int i = 0; i < node->n_inputs; i++) {
        enum pdnn_dtype dtype = pdnn_node_in(graph, node, i)->dtype;
        known = known && (dtype == PDNN_F32 || dtype == PDNN_S32 || pdnn_dtype_is_half(dtype) ||
                          (dtype == PDNN_INT8 && i > 0));
    }
    for (int i = 0; i < node->n_posts; i++) {
        uint32_t input = node->posts[i].input;
        known = known && (input == PDNN_NONE || graph->tensors[input].dtype == PDNN_F32 ||
                          pdnn_dtype_is_half(graph->tensors[input].dtype));
    }
    return known;
}

static const struct pdnn_own_row *find_row(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    if (!has_known_dtypes(graph, node))
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_own_row *row = &rows[i];
        bool fits = row->rank == 0 || row->rank == pdnn_node_in(graph, node, 0)->rank;
        if (row->op == node->op && row->pass == node->pass && fits)
            return node->n_posts == 0 || (row->takes_posts && row->takes_posts(node)) ? row : NULL;
    }
    return NULL;
}

static enum pdnn_status bind(void *state, void *const *memory, struct pdnn_err *err) {
    struct pdnn_own *own = state;
    (void)err;
    for (int i = 0; i < own->node->n_inputs; i++)
        own->in[i] = memory[own->node->input[i]];
    for (int i = 0; i < own->node->n_outputs; i++)
        own->out[i] = memory[own->node->output[i]];
    for (int i = 0; i < own->node->n_posts; i++) {
        uint32_t input = own->node->posts[i].input;
        own->post_in[i] = input == PDNN_NONE ? NULL : memory[input];
    }
    if (own->scratch_slot != PDNN_NONE)
        own->scratch = memory[own->scratch_slot];
    return PDNN_OK;
}

static int run(void *state) {
    const struct pdnn_own *own = state;
    own->row->run(own);
    return 0;
}

/* Of one last-level cache, as the first core sees it: sysconf adds up those of a whole machine. */
struct pdnn_step_options pdnn_step_options(int64_t threads) {
    const uint64_t usual_kib = 32 << 10;
    uint64_t kib;
    if (!pdnn_hostfiles_number("", "/sys/devices/system/cpu/cpu0/cache/index3/size", &kib) || !kib)
        kib = usual_kib;
    return (struct pdnn_step_options){threads, kib << 10};
}

/* An image of one pixel may be called row-major although it is what the larger one becomes, in its layout. */
static struct pdnn_channels shape_of(const struct pdnn_program *program, const struct pdnn_node *node) {
    const struct pdnn_tensor *in = pdnn_node_in(program->graph, node, 0);
    const struct pdnn_tensor *out = pdnn_node_out(program->graph, node, 0);
    bool output = pdnn_tensor_elements(out) > pdnn_tensor_elements(in) || out->rank > in->rank;
    const struct pdnn_tensor *image = output ? out : in;
    int64_t block = program->slots[output ? node->output[0] : node->input[0]].channel_block;
    if (image->rank == 2) /* one pixel, the channels last */
        return (struct pdnn_channels){image->dim[0], image->dim[1], 1, image->dim[1]};
    if (image->rank != 4)
        return (struct pdnn_channels){1, 1, 1, 1};
    return (struct pdnn_channels){image->dim[0], image->dim[1], image->dim[2] * image->dim[3],
                                  block ? block : 1};
}

static bool lies_like(const struct pdnn_program *program, uint32_t tensor, uint32_t image) {
    const struct pdnn_tensor *a = &program->graph->tensors[tensor], *b = &program->graph->tensors[image];
    const struct pdnn_slot *slot = &program->slots[tensor], *other = &program->slots[image];
    return slot->channel_block == other->channel_block &&
           slot->bytes / pdnn_dtype_bytes(a->dtype) == other->bytes / pdnn_dtype_bytes(b->dtype);
}

static bool is_same_shape(const struct pdnn_tensor *a, const struct pdnn_tensor *b) {
    return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
}

/* Kernels walk through images of one shape side by side. */
static enum pdnn_status check_layouts(const struct pdnn_program *program, const struct pdnn_node *node,
                                      struct pdnn_err *err) {
    const struct pdnn_tensor *tensors = program->graph->tensors;
    uint32_t first = node->input[0];
    const struct pdnn_step all = pdnn_step_of_node(program->graph, (uint32_t)(node - program->graph->nodes));
    for (int i = 0; i < all.n_slots && tensors[first].rank == 4; i++) {
        uint32_t tensor = all.slot[i];
        if (is_same_shape(&tensors[tensor], &tensors[first]) && !lies_like(program, tensor, first))
            return pdnn_fail(err, PDNN_INTERNAL, "own %s %s: images %u and %u have one shape and two layouts",
                             node->op->name, pdnn_pass_name(node->pass), first, tensor);
    }
    return PDNN_OK;
}

bool pdnn_own_bypasses(const struct pdnn_own *own, uint64_t bytes) {
    return bytes >= own->cache_bytes / PDNN_STEP_BYPASS_IMAGES;
}

/* "own:batchnorm+add+relu avx2 b8", "own:relu avx2 bf16". */
static void name_step(const struct pdnn_own *own, struct pdnn_step *step) {
    char *text = step->implementation;
    size_t room = sizeof step->implementation, used;
    snprintf(text, room, "own:%s", own->node->op->name);
    for (int i = 0; i < own->node->n_posts; i++) {
        used = strlen(text);
        snprintf(text + used, room - used, "+%s", own->node->posts[i].op->name);
    }
    used = strlen(text);
    snprintf(text + used, room - used, " %s", pdnn_level_name());
    used = strlen(text);
    if (own->row->rank == 4 && own->shape.block > 1)
        snprintf(text + used, room - used, " b%" PRId64, own->shape.block);
    used = strlen(text);
    if (pdnn_half_is_used(own->graph, own->node))
        snprintf(text + used, room - used, " %s", pdnn_dtype_name(own->graph->dtype));
}

/* A step's state, before it has scratch. */
static struct pdnn_own *own_of(const struct pdnn_step_options *options, struct pdnn_program *program,
                               const struct pdnn_node *node, const struct pdnn_own_row *row) {
    const struct pdnn_tensor *first = pdnn_node_in(program->graph, node, 0);
    struct pdnn_own *own = pdnn_arena_alloc(&program->arena, 1, sizeof *own);
    if (!own)
        return NULL;
    *own = (struct pdnn_own){
        .row = row,
        .graph = program->graph,
        .node = node,
        .threads = options->threads,
        .elements = (int64_t)(program->slots[node->input[0]].bytes / pdnn_dtype_bytes(first->dtype)),
        .rows = first->dim[0],
        .columns = first->rank > 1 ? first->dim[1] : 1,
        .shape = shape_of(program, node),
        .per_float = pdnn_own_moves_pairs(program->graph, node) ? 2 : 1,
        .cache_bytes = options->cache_bytes,
        .zero_point = program->slots[node->output[0]].zero_point,
        .scratch_slot = PDNN_NONE,
    };
    return own;
}

enum pdnn_status pdnn_own_compile(const struct pdnn_step_options *options, struct pdnn_program *program,
                                  uint32_t node, bool *found, struct pdnn_err *err) {
    const struct pdnn_node *n = &program->graph->nodes[node];
    const struct pdnn_own_row *row = find_row(program->graph, n);
    *found = row != NULL;
    if (!row)
        return PDNN_OK;
    enum pdnn_status status = check_layouts(program, n, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_own *own = own_of(options, program, n, row);
    if (!own)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    struct pdnn_step step = pdnn_step_of_node(program->graph, node);
    uint64_t scratch_bytes = row->scratch_bytes ? row->scratch_bytes(own) : 0;
    if (scratch_bytes) {
        status = pdnn_program_slot(program, scratch_bytes, false, &own->scratch_slot, err);
        if (status != PDNN_OK)
            return status;
        pdnn_step_use(&step, own->scratch_slot);
    }
    step.sums_in_place = true;
    step.work = (struct pdnn_work){own, bind, run, NULL};
    name_step(own, &step);
    status = pdnn_own_widen(program, own, &step, err);
    return status == PDNN_OK ? pdnn_program_step(program, &step, err) : status;
}
