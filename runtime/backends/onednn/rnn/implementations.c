#include "runtime/backends/onednn/rnn/implementations.h"

#include "models/op.h"
#include "runtime/backend/backend.h"

#include <string.h>

static const struct pdnn_node *find_reader(const struct pdnn_program *program, uint32_t y) {
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, y);
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        const struct pdnn_node *node = &program->graph->nodes[*user];
        if (node->op == &pdnn_op_rnn && node->pass == PDNN_BACKWARD_DATA && node->input[PDNN_RNN_BACK_Y] == y)
            return node;
    }
    return NULL;
}

const struct pdnn_node *pdnn_onednn_rnn_find_backward(const struct pdnn_program *program,
                                                      const struct pdnn_node *node) {
    const uint32_t y = node->output[PDNN_RNN_Y];
    const struct pdnn_user_list copies = pdnn_users_tensors(&program->users, y);
    const struct pdnn_node *backward = find_reader(program, y);
    for (const uint32_t *copy = copies.begin; copy < copies.end && !backward; copy++) {
        if (program->graph->tensors[*copy].role == PDNN_ROLE_ACTIVATION)
            backward = find_reader(program, *copy);
    }
    return backward;
}

void pdnn_onednn_rnn_shape_of(const struct pdnn_program *program, const struct pdnn_node *node,
                              struct pdnn_onednn_rnn_shape *shape) {
    const struct pdnn_graph *graph = program->graph;
    const struct pdnn_node *backward = pdnn_onednn_rnn_find_backward(program, node);
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RNN_X);
    memset(shape, 0, sizeof *shape);
    shape->cell = (enum pdnn_cell)node->attr[PDNN_RNN_CELL];
    shape->dtype = x->dtype;
    shape->T = node->attr[PDNN_RNN_STEPS];
    shape->N = x->dim[0] / shape->T;
    shape->I = x->dim[1];
    shape->H = pdnn_node_in(graph, node, PDNN_RNN_U)->dim[1];
    shape->is_reverse = node->attr[PDNN_RNN_REVERSE] != 0;
    shape->is_training = node->attr[PDNN_RNN_TRAIN] != 0;
    shape->wants_dx = backward && backward->n_outputs > PDNN_RNN_BACK_DX;
    shape->has_two_biases =
        pdnn_node_in(graph, node, PDNN_RNN_B)->dim[0] != pdnn_cells[shape->cell].n_biases * shape->H;
}

enum { LAYOUTS = 7, ALWAYS = 5 };

/* Layouts of x, w, u, b and y, and in training also of the initial h and, for lstm, c.
 * Gradients have the same. */
static void make_layouts(struct pdnn_onednn_pool *pool, const struct pdnn_onednn_rnn_shape *shape,
                         const struct pdnn_onednn_layout *made[LAYOUTS]) {
    int64_t G = pdnn_cells[shape->cell].n_gates, B = pdnn_cells[shape->cell].n_biases, H = shape->H;
    const struct {
        enum pdnn_dtype dtype;
        int rank;
        int64_t dim[5];
        enum pdnn_onednn_order order;
    } rows[LAYOUTS] = {
        {shape->dtype, 3, {shape->T, shape->N, shape->I}, PDNN_ONEDNN_ROW_MAJOR},
        {shape->dtype, 5, {1, 1, shape->I, G, H}, PDNN_ONEDNN_ANY_GATES},
        {shape->dtype, 5, {1, 1, H, G, H}, PDNN_ONEDNN_ANY_GATES},
        {PDNN_F32, 4, {1, 1, B, H}, PDNN_ONEDNN_ROW_MAJOR},
        {shape->dtype, 3, {shape->T, shape->N, H}, PDNN_ONEDNN_ROW_MAJOR},
        {shape->dtype, 4, {1, 1, shape->N, H}, PDNN_ONEDNN_ROW_MAJOR},
        {PDNN_F32, 4, {1, 1, shape->N, H}, PDNN_ONEDNN_ROW_MAJOR},
    };
    int n_made = !shape->is_training ? ALWAYS : shape->cell == PDNN_CELL_LSTM ? LAYOUTS : LAYOUTS - 1;
    for (int i = 0; i < n_made; i++)
        made[i] = pdnn_onednn_layout_create(pool, rows[i].dtype, rows[i].rank, rows[i].dim, rows[i].order);
}

enum pdnn_status pdnn_onednn_rnn_describe(struct pdnn_onednn_pool *pool,
                                          const struct pdnn_onednn_rnn_shape *shape, enum pdnn_pass pass,
                                          struct pdnn_onednn_primitive **primitive, struct pdnn_err *err) {
    static const enum pdnn_onednn_arg values[LAYOUTS] = {
        PDNN_ONEDNN_SRC, PDNN_ONEDNN_WEIGHTS, PDNN_ONEDNN_RECURRENT, PDNN_ONEDNN_BIAS,
        PDNN_ONEDNN_DST, PDNN_ONEDNN_STATE,   PDNN_ONEDNN_STATE_C};
    static const enum pdnn_onednn_arg gradients[LAYOUTS] = {
        PDNN_ONEDNN_DIFF_SRC, PDNN_ONEDNN_DIFF_WEIGHTS, PDNN_ONEDNN_DIFF_RECURRENT, PDNN_ONEDNN_DIFF_BIAS,
        PDNN_ONEDNN_DIFF_DST, PDNN_ONEDNN_DIFF_STATE,   PDNN_ONEDNN_DIFF_STATE_C};
    const struct pdnn_onednn_layout *made[LAYOUTS] = {NULL};
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_RNN,
                                          .pass = pass,
                                          .cell = shape->cell,
                                          .is_reverse = shape->is_reverse,
                                          .trains = shape->is_training};
    make_layouts(pool, shape, made);
    for (int i = 0; i < LAYOUTS; i++) {
        request.layout[values[i]] = made[i];
        request.layout[gradients[i]] = pass == PDNN_FORWARD ? NULL : made[i];
    }
    enum pdnn_status status = pdnn_onednn_primitive_describe(pool, &request, primitive, err);
    return status == PDNN_OK ? status
                             : pdnn_wrap(err, "onednn: rnn %s of cell %s", pdnn_pass_name(pass),
                                         pdnn_cells[shape->cell].name);
}
