/* Operands of 16 bit for kernels that are f32. What a step reads of them is widened into f32 copies, what it
 * writes narrowed from them: of whole tensors, or where rows have nothing to do with each other, of a piece
 * of rows at a time that the first caches hold, so that memory sees 16 bit alone. What only moves rows takes
 * pairs of 16 bit for floats, and needs no copies. */
#include "models/attributes.h"
#include "runtime/steps/f32_copies.h"
#include "runtime/steps/own_step.h"
#include "runtime/steps/step.h"
#include "runtime/kernels/simd/team.h"

/* About so many floats of each operand are a piece. */
enum { PIECE = 4096, ALL = ~0 };

/* Ops whose rows are independent; elements where the row is one. Bits say which inputs and outputs consist of
 * such rows; the others are read whole and are f32. */
static const struct pieces {
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
    bool elements;
    int in, out;
} pieces[] = {
    {&pdnn_op_relu, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_relu, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_sigmoid, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_sigmoid, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_tanh, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_tanh, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_gelu, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_gelu, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_gelu_tanh, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_gelu_tanh, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_hardtanh, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_hardtanh, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_add, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_add, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_scale, PDNN_FORWARD, true, ALL, ALL},
    {&pdnn_op_scale, PDNN_BACKWARD_DATA, true, ALL, ALL},
    {&pdnn_op_bias, PDNN_FORWARD, false, 1, ALL},
    {&pdnn_op_softmax, PDNN_FORWARD, false, ALL, ALL},
    {&pdnn_op_softmax, PDNN_BACKWARD_DATA, false, ALL, ALL},
    {&pdnn_op_layernorm, PDNN_FORWARD, false, 1, ALL},
};

/* Ops that only move rows, all of one type. */
static const struct {
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
} moves[] = {
    {&pdnn_op_embedding, PDNN_FORWARD},    {&pdnn_op_slice, PDNN_FORWARD},
    {&pdnn_op_slice, PDNN_BACKWARD_DATA},  {&pdnn_op_concat, PDNN_FORWARD},
    {&pdnn_op_concat, PDNN_BACKWARD_DATA}, {&pdnn_op_cache_append, PDNN_FORWARD},
};

/* A kernel's operand, in pieces. */
struct operand {
    uint32_t tensor;
    enum pdnn_dtype dtype;
    bool is_output;
    int64_t width; /* elements of it in a row; 0: read whole */
    char *memory;
};

enum { OPERANDS = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS };

struct widened {
    struct pdnn_own *own;
    struct pdnn_work inner;        /* of the step without all this */
    struct pdnn_f32_copies copies; /* of whole tensors */
    /* In pieces: all rows, those of a piece, and the widest; each thread has room for its copies. */
    int64_t rows, piece_rows, width;
    struct operand operand[OPERANDS];
    int n_operands;
    uint32_t slot;
    float *room;
};

bool pdnn_own_moves_pairs(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    bool is_move = false,
         is_even = node->op != &pdnn_op_cache_append || node->attr[PDNN_CACHE_APPEND_COLUMN] % 2 == 0;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        is_move = is_move || (moves[i].op == node->op && moves[i].pass == node->pass);
    const struct pdnn_step all = pdnn_step_of_node(graph, (uint32_t)(node - graph->nodes));
    for (int i = 0; i < all.n_slots; i++) {
        const struct pdnn_tensor *tensor = &graph->tensors[all.slot[i]];
        is_even = is_even && (!pdnn_dtype_is_half(tensor->dtype) || tensor->dim[tensor->rank - 1] % 2 == 0);
    }
    return is_move && is_even && pdnn_half_is_used(graph, node);
}

void pdnn_own_cast(const struct pdnn_own *own) {
    enum pdnn_dtype from = pdnn_node_in(own->graph, own->node, 0)->dtype;
    enum pdnn_dtype to = pdnn_node_out(own->graph, own->node, 0)->dtype;
    if (from == PDNN_F32)
        pdnn_half_narrow_all(pdnn_half_of(to), own->in[0], own->out[0], own->elements, own->threads);
    else
        pdnn_half_widen_all(pdnn_half_of(from), own->in[0], own->out[0], own->elements, own->threads);
}

static enum pdnn_status bind_whole(void *state, void *const *memory, struct pdnn_err *err) {
    struct widened *widened = state;
    struct pdnn_own *own = widened->own;
    enum pdnn_status status = widened->inner.bind(widened->inner.state, memory, err);
    pdnn_f32_copies_bind(&widened->copies, memory);
    for (int i = 0; i < own->node->n_inputs; i++) {
        float *copy = pdnn_f32_copies_find(&widened->copies, own->node->input[i]);
        own->in[i] = copy ? copy : own->in[i];
    }
    for (int i = 0; i < own->node->n_outputs; i++) {
        float *copy = pdnn_f32_copies_find(&widened->copies, own->node->output[i]);
        own->out[i] = copy ? copy : own->out[i];
    }
    for (int i = 0; i < own->node->n_posts; i++) {
        float *copy = pdnn_f32_copies_find(&widened->copies, own->node->posts[i].input);
        own->post_in[i] = copy ? copy : own->post_in[i];
    }
    return status;
}

static int run_whole(void *state) {
    const struct widened *widened = state;
    pdnn_f32_copies_widen(&widened->copies, widened->own->threads);
    int code = widened->inner.run(widened->inner.state);
    pdnn_f32_copies_narrow(&widened->copies, widened->own->threads);
    return code;
}

static enum pdnn_status bind_pieces(void *state, void *const *memory, struct pdnn_err *err) {
    struct widened *widened = state;
    for (int i = 0; i < widened->n_operands; i++)
        widened->operand[i].memory = memory[widened->operand[i].tensor];
    widened->room = memory[widened->slot];
    return widened->inner.bind(widened->inner.state, memory, err);
}

/* Copies are one behind the other in the room. */
static void run_rows(const struct widened *widened, int64_t first, int64_t rows, float *room) {
    struct pdnn_own own = *widened->own;
    int n_inputs = own.node->n_inputs;
    own.threads = 1;
    own.elements = rows * widened->width;
    own.rows = rows;
    own.shape = (struct pdnn_channels){1, 1, 1, 1};
    own.cache_bytes = UINT64_MAX; /* nothing goes past the caches */
    for (int i = 0; i < widened->n_operands; i++) {
        const struct operand *operand = &widened->operand[i];
        char *at = operand->memory + first * operand->width * (int64_t)pdnn_dtype_bytes(operand->dtype);
        float *copy = room + i * widened->piece_rows * widened->width;
        bool is_half = pdnn_dtype_is_half(operand->dtype);
        *(operand->is_output ? &own.out[i - n_inputs] : &own.in[i]) = is_half ? (void *)copy : at;
        if (is_half && !operand->is_output)
            pdnn_half_widen(pdnn_half_of(operand->dtype), (void *)at, copy, rows * operand->width);
    }
    own.row->run(&own);
    for (int i = n_inputs; i < widened->n_operands; i++) {
        const struct operand *operand = &widened->operand[i];
        uint16_t *at = (uint16_t *)(void *)operand->memory + first * operand->width;
        if (pdnn_dtype_is_half(operand->dtype))
            pdnn_half_narrow(pdnn_half_of(operand->dtype), own.out[i - n_inputs], at, rows * operand->width);
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
    pdnn_team_run(widened->own->threads, widened->rows * widened->width, run_part, widened);
    return 0;
}

static const struct pieces *find_pieces(const struct pdnn_node *node) {
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (pieces[i].op == node->op && pieces[i].pass == node->pass && !node->n_posts)
            return &pieces[i];
    }
    return NULL;
}

static void add_operand(struct widened *widened, uint32_t tensor, bool is_output, bool has_rows) {
    const struct pdnn_tensor *what = &widened->own->graph->tensors[tensor];
    widened->operand[widened->n_operands++] = (struct operand){
        .tensor = tensor,
        .dtype = what->dtype,
        .is_output = is_output,
        .width = has_rows ? pdnn_tensor_elements(what) / widened->rows : 0,
    };
}

/* False where the rows are not what they seem: those of images, or with padding between them. */
static bool cut(struct widened *widened, const struct pieces *found) {
    const struct pdnn_own *own = widened->own;
    const struct pdnn_tensor *x = pdnn_node_in(own->graph, own->node, 0);
    if (pdnn_tensor_elements(x) != own->elements || (!found->elements && x->rank == 4))
        return false;
    widened->width = found->elements ? 1 : x->dim[x->rank - 1];
    widened->rows = own->elements / widened->width;
    widened->piece_rows = widened->width < PIECE ? PIECE / widened->width : 1;
    for (int i = 0; i < own->node->n_inputs; i++)
        add_operand(widened, own->node->input[i], false, found->in >> i & 1);
    for (int i = 0; i < own->node->n_outputs; i++)
        add_operand(widened, own->node->output[i], true, found->out >> i & 1);
    return true;
}

enum pdnn_status pdnn_own_widen(struct pdnn_program *program, struct pdnn_own *own, struct pdnn_step *step,
                                struct pdnn_err *err) {
    const struct pieces *found = find_pieces(own->node);
    bool is_native = own->per_float > 1 || own->node->op == &pdnn_op_cast;
    if (is_native || !pdnn_half_is_used(own->graph, own->node))
        return PDNN_OK;
    struct widened *widened = pdnn_arena_alloc(&program->arena, 1, sizeof *widened);
    if (!widened)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    *widened = (struct widened){.own = own, .inner = step->work, .slot = PDNN_NONE};
    if (!found || !cut(widened, found)) {
        step->work = (struct pdnn_work){widened, bind_whole, run_whole, NULL};
        return pdnn_f32_copies_create(&widened->copies, program, own->node, step, err);
    }
    uint64_t bytes = (uint64_t)(own->threads * room_floats(widened)) * sizeof(float);
    enum pdnn_status status = pdnn_program_slot(program, bytes, false, &widened->slot, err);
    if (status != PDNN_OK)
        return status;
    pdnn_step_use(step, widened->slot);
    step->work = (struct pdnn_work){widened, bind_pieces, run_pieces, NULL};
    return PDNN_OK;
}
