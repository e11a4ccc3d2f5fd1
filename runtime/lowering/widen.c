/* 16-bit operands for f32 kernels: inputs are widened into f32 copies, outputs narrowed from them. If rows
 * are independent, this happens a few rows at a time, in pieces that fit L1/L2, so memory traffic stays
 * 16-bit; otherwise whole tensors are copied. Ops that only move rows treat pairs of 16-bit elements as
 * floats and need no copies. */
#include "runtime/lowering/bound_step.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/step.h"
#include "runtime/kernels/simd/team.h"

/* Approximate floats per operand in a piece. */
enum { PIECE = 4096 };

/* A kernel's operand that is processed in pieces. */
struct operand {
    uint32_t tensor;
    enum pdnn_dtype dtype;
    bool is_output;
    int64_t width; /* elements per row; 0: read whole */
    char *memory;
};

enum { OPERANDS = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS };

struct widened {
    struct pdnn_bound_step *bound;
    struct pdnn_work inner;        /* the step without widening */
    struct pdnn_f32_copies copies; /* of whole tensors */
    /* In pieces: number of rows, rows per piece, width of the widest row; each thread has
     * room for its own copies. */
    int64_t rows, piece_rows, width;
    struct operand operand[OPERANDS];
    int n_operands;
    uint32_t slot;
    float *room;
};

bool pdnn_moves_pairs(const struct pdnn_graph *graph, const struct pdnn_node *node,
                      const struct pdnn_step_pass *pass) {
    bool is_even = !pass->is_even || pass->is_even(node);
    const struct pdnn_step all = pdnn_step_of_node(graph, (uint32_t)(node - graph->nodes));
    for (int i = 0; i < all.n_slots; i++) {
        const struct pdnn_tensor *tensor = &graph->tensors[all.slot[i]];
        is_even = is_even && (!pdnn_dtype_is_half(tensor->dtype) || tensor->dim[tensor->rank - 1] % 2 == 0);
    }
    return pass->half == PDNN_HALF_PAIRS && is_even && pdnn_half_is_used(graph, node);
}

static enum pdnn_status bind_whole(void *state, void *const *memory, struct pdnn_err *err) {
    struct widened *widened = state;
    struct pdnn_bound_step *bound = widened->bound;
    enum pdnn_status status = widened->inner.bind(widened->inner.state, memory, err);
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
    return status;
}

static int run_whole(void *state) {
    const struct widened *widened = state;
    pdnn_f32_copies_widen(&widened->copies, widened->bound->threads);
    int code = widened->inner.run(widened->inner.state);
    pdnn_f32_copies_narrow(&widened->copies, widened->bound->threads);
    return code;
}

static enum pdnn_status bind_pieces(void *state, void *const *memory, struct pdnn_err *err) {
    struct widened *widened = state;
    for (int i = 0; i < widened->n_operands; i++)
        widened->operand[i].memory = memory[widened->operand[i].tensor];
    widened->room = memory[widened->slot];
    return widened->inner.bind(widened->inner.state, memory, err);
}

/* The copies lie one after another in `room`. */
static void run_rows(const struct widened *widened, int64_t first, int64_t rows, float *room) {
    struct pdnn_bound_step bound = *widened->bound;
    int n_inputs = bound.node->n_inputs;
    bound.threads = 1;
    bound.elements = rows * widened->width;
    bound.rows = rows;
    bound.shape = (struct pdnn_channels){1, 1, 1, 1};
    bound.cache_bytes = UINT64_MAX; /* pieces are never written past the caches */
    for (int i = 0; i < widened->n_operands; i++) {
        const struct operand *operand = &widened->operand[i];
        char *at = operand->memory + first * operand->width * (int64_t)pdnn_dtype_bytes(operand->dtype);
        float *copy = room + i * widened->piece_rows * widened->width;
        bool is_half = pdnn_dtype_is_half(operand->dtype);
        *(operand->is_output ? &bound.out[i - n_inputs] : &bound.in[i]) = is_half ? (void *)copy : at;
        if (is_half && !operand->is_output)
            pdnn_half_widen(pdnn_half_of(operand->dtype), (void *)at, copy, rows * operand->width);
    }
    bound.pass->run(&bound);
    for (int i = n_inputs; i < widened->n_operands; i++) {
        const struct operand *operand = &widened->operand[i];
        uint16_t *at = (uint16_t *)(void *)operand->memory + first * operand->width;
        if (pdnn_dtype_is_half(operand->dtype))
            pdnn_half_narrow(pdnn_half_of(operand->dtype), bound.out[i - n_inputs], at,
                             rows * operand->width);
    }
}

static int64_t room_floats(const struct widened *widened) {
    return widened->n_operands * widened->piece_rows * widened->width;
}

static void run_part(void *state, int64_t index, int64_t parts) {
    const struct widened *widened = state;
    struct pdnn_span span = pdnn_span_of(widened->rows, widened->piece_rows, index, parts);
    float *room = widened->room + index * room_floats(widened);
    for (int64_t row = span.begin; row < span.end; row += widened->piece_rows) {
        int64_t rest = span.end - row;
        run_rows(widened, row, rest < widened->piece_rows ? rest : widened->piece_rows, room);
    }
}

static int run_pieces(void *state) {
    struct widened *widened = state;
    pdnn_team_run(widened->bound->threads, widened->rows * widened->width, run_part, widened);
    return 0;
}

static void add_operand(struct widened *widened, uint32_t tensor, bool is_output, bool has_rows) {
    const struct pdnn_tensor *what = &widened->bound->graph->tensors[tensor];
    widened->operand[widened->n_operands++] = (struct operand){
        .tensor = tensor,
        .dtype = what->dtype,
        .is_output = is_output,
        .width = has_rows ? pdnn_tensor_elements(what) / widened->rows : 0,
    };
}

/* Splits the step into pieces. False if rows are not contiguous or independent: images, or padded layouts. */
static bool cut(struct widened *widened) {
    const struct pdnn_bound_step *bound = widened->bound;
    const struct pdnn_tensor *x = pdnn_node_in(bound->graph, bound->node, 0);
    const struct pdnn_step_pass *pass = bound->pass;
    bool by_element = pass->half == PDNN_HALF_ELEMENTS;
    if (pdnn_tensor_elements(x) != bound->elements || (!by_element && x->rank == 4))
        return false;
    widened->width = by_element ? 1 : x->dim[x->rank - 1];
    widened->rows = bound->elements / widened->width;
    widened->piece_rows = widened->width < PIECE ? PIECE / widened->width : 1;
    for (int i = 0; i < bound->node->n_inputs; i++)
        add_operand(widened, bound->node->input[i], false, !(pass->whole >> i & 1));
    for (int i = 0; i < bound->node->n_outputs; i++)
        add_operand(widened, bound->node->output[i], true, true);
    return true;
}

enum pdnn_status pdnn_bound_step_widen(struct pdnn_program *program, struct pdnn_bound_step *bound,
                                       struct pdnn_step *step, struct pdnn_err *err) {
    enum pdnn_step_half half = bound->pass->half;
    bool in_pieces = (half == PDNN_HALF_ELEMENTS || half == PDNN_HALF_ROWS) && !bound->node->n_posts;
    if (half == PDNN_HALF_NATIVE || bound->per_float > 1 || !pdnn_half_is_used(bound->graph, bound->node))
        return PDNN_OK;
    struct widened *widened = pdnn_arena_alloc(&program->arena, 1, sizeof *widened);
    if (!widened)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    *widened = (struct widened){.bound = bound, .inner = step->work, .slot = PDNN_NONE};
    if (!in_pieces || !cut(widened)) {
        step->work = (struct pdnn_work){widened, bind_whole, run_whole, NULL};
        return pdnn_f32_copies_create(&widened->copies, program, bound->node, step, err);
    }
    uint64_t bytes = (uint64_t)(bound->threads * room_floats(widened)) * sizeof(float);
    enum pdnn_status status = pdnn_program_slot(program, bytes, false, &widened->slot, err);
    if (status != PDNN_OK)
        return status;
    pdnn_step_use(step, widened->slot);
    step->work = (struct pdnn_work){widened, bind_pieces, run_pieces, NULL};
    return PDNN_OK;
}
