/* Binds calls to our own kernels: which nodes a row accepts, layouts, scratch, addresses and names. */
#include "runtime/lowering/bound_call.h"

#include "models/cost/lifetimes.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Labels are s32. Max-pooling indices are int8 and never input 0, because they follow a gradient. */
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

bool pdnn_bound_call_fits(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          const struct pdnn_lowering_pass *pass) {
    unsigned rank = PDNN_RANK(pdnn_node_in(graph, node, 0)->rank);
    return has_known_dtypes(graph, node) && (!pass->ranks || pass->ranks & rank) &&
           (!node->n_posts || (pass->takes_posts && pass->takes_posts(node)));
}

static void bind(void *state, void *const *memory) {
    struct pdnn_bound_call *call = state;
    for (int i = 0; i < call->node->n_inputs; i++)
        call->in[i] = memory[call->node->input[i]];
    for (int i = 0; i < call->node->n_outputs; i++)
        call->out[i] = memory[call->node->output[i]];
    for (int i = 0; i < call->node->n_posts; i++) {
        uint32_t input = call->node->posts[i].input;
        call->post_in[i] = input == PDNN_NONE ? NULL : memory[input];
    }
    if (call->scratch_slot != PDNN_NONE)
        call->scratch = memory[call->scratch_slot];
}

static int run(void *state) {
    const struct pdnn_bound_call *call = state;
    call->pass->run(call);
    return 0;
}

/* Takes shape and layout from the larger of input and output. A one-pixel image may be marked row-major while
 * the larger image it belongs to has blocked channels. */
static struct pdnn_channels shape_of(const struct pdnn_program *program, const struct pdnn_node *node) {
    const struct pdnn_tensor *in = pdnn_node_in(program->graph, node, 0);
    const struct pdnn_tensor *out = pdnn_node_out(program->graph, node, 0);
    bool output = pdnn_tensor_elements(out) > pdnn_tensor_elements(in) || out->rank > in->rank;
    const struct pdnn_tensor *image = output ? out : in;
    int64_t block = program->slots[output ? node->output[0] : node->input[0]].channel_block;
    if (image->rank == 2) /* one pixel, channels last */
        return (struct pdnn_channels){image->dim[0], image->dim[1], 1, image->dim[1], PDNN_STORED_F32};
    if (image->rank != 4)
        return (struct pdnn_channels){1, 1, 1, 1, PDNN_STORED_F32};
    return (struct pdnn_channels){image->dim[0], image->dim[1], image->dim[2] * image->dim[3],
                                  block ? block : 1, PDNN_STORED_F32};
}

static bool lies_like(const struct pdnn_program *program, uint32_t tensor, uint32_t image) {
    const struct pdnn_tensor *a = &program->graph->tensors[tensor], *b = &program->graph->tensors[image];
    const struct pdnn_slot *slot = &program->slots[tensor], *other = &program->slots[image];
    return slot->channel_block == other->channel_block &&
           slot->bytes / pdnn_dtype_bytes(a->dtype) == other->bytes / pdnn_dtype_bytes(b->dtype);
}

/* Kernels walk through same-shape images in lockstep, so their layouts must match. */
static enum pdnn_status check_layouts(const struct pdnn_program *program, const struct pdnn_node *node,
                                      const struct pdnn_lowering_pass *pass, struct pdnn_err *err) {
    const struct pdnn_tensor *tensors = program->graph->tensors;
    uint32_t first = node->input[0];
    const struct pdnn_call all = pdnn_call_of_node(program->graph, (uint32_t)(node - program->graph->nodes));
    bool has_one = tensors[first].rank == 4 && pass->ranks != PDNN_RANKS_ALL;
    for (int i = 0; i < all.n_slots && has_one; i++) {
        uint32_t tensor = all.slot[i];
        if (pdnn_tensor_same_shape(&tensors[tensor], &tensors[first]) && !lies_like(program, tensor, first))
            return pdnn_fail(err, PDNN_INTERNAL, "%s %s: images %u and %u have one shape and two layouts",
                             node->op->name, pdnn_pass_name(node->pass), first, tensor);
    }
    return PDNN_OK;
}

bool pdnn_call_bypasses(const struct pdnn_bound_call *call, uint64_t bytes) {
    return bytes >= call->cache_bytes / PDNN_CALL_BYPASS_IMAGES;
}

bool pdnn_call_bypasses_output(const struct pdnn_bound_call *call, int output) {
    return pdnn_call_bypasses(call, pdnn_tensor_bytes(pdnn_node_out(call->graph, call->node, output)));
}

uint64_t pdnn_call_image_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)(pdnn_channels_elements(&call->shape) * pdnn_stored_bytes(call->shape.stored));
}

/* "paradnn:batchnorm+add+relu avx2 b8", "paradnn:relu avx2 bf16". */
static void name_call(const struct pdnn_bound_call *bound, struct pdnn_call *call) {
    char *text = call->implementation;
    size_t room = sizeof call->implementation, used;
    bool is_image = bound->pass->ranks && pdnn_node_in(bound->graph, bound->node, 0)->rank == 4;
    snprintf(text, room, "paradnn:%s", bound->node->op->name);
    for (int i = 0; i < bound->node->n_posts; i++) {
        used = strlen(text);
        snprintf(text + used, room - used, "+%s", bound->node->posts[i].op->name);
    }
    used = strlen(text);
    snprintf(text + used, room - used, " %s", pdnn_level_name());
    used = strlen(text);
    if (is_image && bound->shape.block > 1)
        snprintf(text + used, room - used, " b%" PRId64, bound->shape.block);
    used = strlen(text);
    if (pdnn_half_is_used(bound->graph, bound->node))
        snprintf(text + used, room - used, " %s", pdnn_dtype_name(bound->graph->dtype));
}

/* Whether the node only moves 16-bit elements and can move them in pairs. */
static bool moves_pairs(const struct pdnn_graph *graph, const struct pdnn_node *node,
                        const struct pdnn_lowering_pass *pass) {
    bool is_even = pass->half == PDNN_HALF_PAIRS;
    const struct pdnn_call all = pdnn_call_of_node(graph, (uint32_t)(node - graph->nodes));
    for (int i = 0; i < all.n_slots; i++) {
        const struct pdnn_tensor *tensor = &graph->tensors[all.slot[i]];
        is_even = is_even && (!pdnn_dtype_is_half(tensor->dtype) || tensor->dim[tensor->rank - 1] % 2 == 0);
    }
    return is_even && pdnn_half_is_used(graph, node);
}

/* Allocates a call's state, without scratch yet. */
static struct pdnn_bound_call *create(const struct pdnn_call_options *options, struct pdnn_program *program,
                                      const struct pdnn_node *node, const struct pdnn_lowering_pass *pass) {
    const struct pdnn_tensor *first = pdnn_node_in(program->graph, node, 0);
    struct pdnn_bound_call *bound = pdnn_arena_alloc(&program->arena, 1, sizeof *bound);
    *bound = (struct pdnn_bound_call){
        .pass = pass,
        .graph = program->graph,
        .node = node,
        .threads = options->threads,
        .elements = (int64_t)(program->slots[node->input[0]].bytes / pdnn_dtype_bytes(first->dtype)),
        .rows = first->dim[0],
        .columns = first->rank > 1 ? first->dim[1] : 1,
        .shape = shape_of(program, node),
        .per_float = moves_pairs(program->graph, node, pass) ? 2 : 1,
        .cache_bytes = options->cache_bytes,
        .zero_point = program->slots[node->output[0]].zero_point,
    };
    if (pass->half == PDNN_HALF_NATIVE && pdnn_dtype_is_half(first->dtype))
        bound->shape.stored = first->dtype == PDNN_F16 ? PDNN_STORED_F16 : PDNN_STORED_BF16;
    for (int i = 0; i < node->n_inputs; i++)
        bound->in_block[i] = program->slots[node->input[i]].channel_block;
    for (int i = 0; i < node->n_outputs; i++)
        bound->out_block[i] = program->slots[node->output[i]].channel_block;
    return bound;
}

/* 16-bit operands for f32 kernels: inputs are widened into f32 copies, outputs narrowed from them. If rows
 * are independent, this happens a few rows at a time, in pieces that fit L1/L2, so memory traffic stays
 * 16-bit; otherwise whole tensors are copied. Ops that only move rows treat pairs of 16-bit elements as
 * floats and need no copies. */

/* Approximate floats per operand in a piece. */
enum { PIECE = 2048, STREAMED = 8 /* 16-bit elements of a store */ };

/* A kernel's operand that is processed in pieces. */
struct operand {
    uint32_t tensor;
    enum pdnn_dtype dtype;
    bool is_output;
    bool bypass;   /* written with streaming stores */
    int64_t width; /* elements per row; 0: read whole */
    char *memory;
};

enum { OPERANDS = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS };

struct widened {
    struct pdnn_bound_call *bound;
    struct pdnn_work inner;        /* the call without widening */
    struct pdnn_f32_copies copies; /* of whole tensors */
    /* In pieces: number of rows, rows per piece, width of the widest row; each thread has room for its own
     * copies and scratch. */
    int64_t rows, piece_rows, width, scratch_floats;
    struct operand operand[OPERANDS];
    int n_operands;
    uint32_t slot;
    float *room;
};

static void bind_whole(void *state, void *const *memory) {
    struct widened *widened = state;
    struct pdnn_bound_call *bound = widened->bound;
    widened->inner.bind(widened->inner.state, memory);
    pdnn_f32_copies_bind(&widened->copies, memory);
    for (int i = 0; i < bound->node->n_inputs; i++) {
        float *copy = pdnn_f32_copies_find(&widened->copies, bound->node->input[i]);
        bound->in[i] = copy ? copy : bound->in[i];
    }
    for (int i = 0; i < bound->node->n_outputs; i++) {
        float *copy = pdnn_f32_copies_find(&widened->copies, bound->node->output[i]);
        bound->out[i] = copy ? copy : bound->out[i];
    }
    for (int i = 0; i < bound->node->n_posts; i++) {
        float *copy = pdnn_f32_copies_find(&widened->copies, bound->node->posts[i].input);
        bound->post_in[i] = copy ? copy : bound->post_in[i];
    }
}

static int run_whole(void *state) {
    const struct widened *widened = state;
    pdnn_f32_copies_widen(&widened->copies, widened->bound->threads);
    int code = widened->inner.run(widened->inner.state);
    pdnn_f32_copies_narrow(&widened->copies, widened->bound->threads);
    return code;
}

static void bind_pieces(void *state, void *const *memory) {
    struct widened *widened = state;
    for (int i = 0; i < widened->n_operands; i++)
        widened->operand[i].memory = memory[widened->operand[i].tensor];
    widened->room = memory[widened->slot];
    widened->inner.bind(widened->inner.state, memory);
}

/* The call on one thread and `rows` rows, which lie in caches. */
static struct pdnn_bound_call piece_of(const struct widened *widened, int64_t rows, float *scratch) {
    struct pdnn_bound_call bound = *widened->bound;
    bound.threads = 1;
    bound.elements = rows * widened->width;
    bound.rows = rows;
    bound.shape = (struct pdnn_channels){1, 1, 1, 1, PDNN_STORED_F32};
    bound.cache_bytes = UINT64_MAX; /* pieces are never written past the caches */
    bound.scratch = scratch;
    return bound;
}

/* Runs the rows that `bound` says, from `first` on. The copies lie one after another in `room`. */
static void run_rows(const struct widened *widened, struct pdnn_bound_call *bound, int64_t first,
                     float *room) {
    const int n_inputs = bound->node->n_inputs;
    const int64_t rows = bound->rows;
    for (int i = 0; i < widened->n_operands; i++) {
        const struct operand *operand = &widened->operand[i];
        char *at = operand->memory + first * operand->width * (int64_t)pdnn_dtype_bytes(operand->dtype);
        float *copy = room + i * widened->piece_rows * widened->width;
        bool is_half = pdnn_dtype_is_half(operand->dtype);
        *(operand->is_output ? &bound->out[i - n_inputs] : &bound->in[i]) = is_half ? (void *)copy : at;
        if (is_half && !operand->is_output)
            pdnn_half_widen(pdnn_half_of(operand->dtype), (void *)at, copy, rows * operand->width);
    }
    bound->pass->run(bound);
    for (int i = n_inputs; i < widened->n_operands; i++) {
        const struct operand *operand = &widened->operand[i];
        uint16_t *at = (uint16_t *)(void *)operand->memory + first * operand->width;
        if (pdnn_dtype_is_half(operand->dtype))
            (operand->bypass ? pdnn_half_narrow_bypass : pdnn_half_narrow)(
                pdnn_half_of(operand->dtype), bound->out[i - n_inputs], at, rows * operand->width);
    }
}

static int64_t copies_floats(const struct widened *widened) {
    return widened->n_operands * widened->piece_rows * widened->width;
}

static int64_t room_floats(const struct widened *widened) {
    return copies_floats(widened) + widened->scratch_floats;
}

static void run_part(void *state, int64_t index, int64_t parts) {
    const struct widened *widened = state;
    const struct pdnn_span span = pdnn_span_of(widened->rows, widened->piece_rows, index, parts);
    float *room = widened->room + index * room_floats(widened);
    struct pdnn_bound_call bound = piece_of(widened, 0, room + copies_floats(widened));
    for (int64_t row = span.begin; row < span.end; row += bound.rows) {
        bound.rows = pdnn_least(span.end - row, widened->piece_rows);
        bound.elements = bound.rows * widened->width;
        run_rows(widened, &bound, row, room);
    }
    pdnn_bypass_fence();
}

static int run_pieces(void *state) {
    struct widened *widened = state;
    pdnn_team_run(widened->bound->threads, widened->rows * widened->width, run_part, widened);
    return 0;
}

static void add_operand(struct widened *widened, uint32_t tensor, bool is_output, bool is_whole) {
    const struct pdnn_bound_call *bound = widened->bound;
    const struct pdnn_tensor *what = &bound->graph->tensors[tensor];
    const int64_t width = is_whole ? 0 : pdnn_tensor_elements(what) / widened->rows;
    widened->operand[widened->n_operands++] = (struct operand){
        .tensor = tensor,
        .dtype = what->dtype,
        .is_output = is_output,
        .bypass = is_output && pdnn_call_bypasses(bound, pdnn_tensor_bytes(what)) && width % STREAMED == 0,
        .width = width,
    };
}

/* Splits the call into pieces. False if rows are not contiguous or independent: images, or padded layouts. */
static bool cut(struct widened *widened) {
    const struct pdnn_bound_call *bound = widened->bound;
    const struct pdnn_tensor *x = pdnn_node_in(bound->graph, bound->node, 0);
    const struct pdnn_lowering_pass *pass = bound->pass;
    if (pdnn_tensor_elements(x) != bound->elements || x->rank == 4)
        return false;
    widened->width = x->dim[x->rank - 1];
    widened->rows = bound->elements / widened->width;
    widened->piece_rows = widened->width < PIECE ? PIECE / widened->width : 1;
    for (int i = 0; i < bound->node->n_inputs; i++)
        add_operand(widened, bound->node->input[i], false, pass->whole >> i & 1);
    for (int i = 0; i < bound->node->n_outputs; i++)
        add_operand(widened, bound->node->output[i], true, false);
    if (pass->scratch_bytes) {
        const struct pdnn_bound_call piece = piece_of(widened, widened->piece_rows, NULL);
        widened->scratch_floats = (int64_t)(pass->scratch_bytes(&piece) / sizeof(float));
    }
    return true;
}

/* Makes an otherwise complete call work on f32 copies of its 16-bit operands, if it has any. */
static void widen(struct pdnn_program *program, struct pdnn_bound_call *bound, struct pdnn_call *call) {
    const struct pdnn_lowering_pass *pass = bound->pass;
    bool in_pieces = pass->half == PDNN_HALF_ROWS && !bound->node->n_posts;
    if (pass->half == PDNN_HALF_NATIVE || bound->per_float > 1 ||
        !pdnn_half_is_used(bound->graph, bound->node))
        return;
    struct widened *widened = pdnn_arena_alloc(&program->arena, 1, sizeof *widened);
    *widened = (struct widened){.bound = bound, .inner = call->work};
    if (in_pieces && cut(widened)) {
        uint64_t bytes = (uint64_t)(bound->threads * room_floats(widened)) * sizeof(float);
        widened->slot = pdnn_call_scratch(call, program, bytes);
        call->work = (struct pdnn_work){widened, bind_pieces, run_pieces, NULL};
    } else {
        widened->copies = pdnn_f32_copies_create(program, bound->node, call);
        call->work = (struct pdnn_work){widened, bind_whole, run_whole, NULL};
    }
}

static void bind_nothing(void *state, void *const *memory) {
    (void)state, (void)memory;
}

static int run_nothing(void *state) {
    (void)state;
    return 0;
}

/* Whether the elements of a tensor lie in their order, without padding. */
static bool is_plain(const struct pdnn_program *program, uint32_t tensor) {
    const struct pdnn_tensor *t = &program->graph->tensors[tensor];
    const bool is_pixel = t->rank == 4 && t->dim[2] * t->dim[3] == 1;
    return (is_pixel || program->slots[tensor].channel_block <= 1) &&
           program->slots[tensor].bytes == pdnn_tensor_bytes(t);
}

/* A node whose result is its input by another shape. Where the two are stored differently it is a copy, which
 * the op does not need. */
static void see_through(const struct pdnn_program *program, const struct pdnn_node *node,
                        struct pdnn_call *call) {
    const uint64_t bytes = pdnn_tensor_bytes(pdnn_node_out(program->graph, node, 0));
    if (!pdnn_memory_is_view(program->graph, node))
        return;
    call->is_view = is_plain(program, node->input[0]) && is_plain(program, node->output[0]);
    if (call->is_view) {
        call->work = (struct pdnn_work){NULL, bind_nothing, run_nothing, NULL};
        snprintf(call->implementation, sizeof call->implementation, "paradnn:view");
    } else {
        call->extra = (struct pdnn_extra_traffic){bytes, bytes, 2 * bytes};
    }
}

enum pdnn_status pdnn_bound_call_compile(const struct pdnn_call_options *options,
                                         struct pdnn_program *program, uint32_t node,
                                         const struct pdnn_lowering_pass *pass, struct pdnn_err *err) {
    const struct pdnn_node *n = &program->graph->nodes[node];
    enum pdnn_status status = check_layouts(program, n, pass, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_bound_call *bound = create(options, program, n, pass);
    struct pdnn_call call = pdnn_call_of_node(program->graph, node);
    bound->scratch_slot =
        pdnn_call_scratch(&call, program, pass->scratch_bytes ? pass->scratch_bytes(bound) : 0);
    call.sums_in_place = pass->sums_in_place;
    if (pass->extra)
        call.extra = pass->extra(bound);
    call.work = (struct pdnn_work){bound, bind, run, NULL};
    name_call(bound, &call);
    widen(program, bound, &call);
    see_through(program, n, &call);
    pdnn_program_call(program, &call);
    return PDNN_OK;
}
