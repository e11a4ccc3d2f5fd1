/* Losses that are a mean over elements, in double: gradients by finite differences, FLOP by counting and by
 * hand, bytes, values at some points, targets that are refused, and several losses in one family. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"

#include <string.h>

enum { N = 5, C = 3, E = N * C };

static const struct loss {
    const struct pdnn_op_def *op;
    bool has_labels;
    uint64_t forward_flop, backward_flop; /* of E elements */
} losses[] = {
    {&pdnn_op_logistic_loss, true, 6 * E + 1, 4 * E},
    {&pdnn_op_squared_error, false, 3 * E + 1, 2 * E},
    {&pdnn_op_smooth_l1, false, 5 * E + 1, 4 * E},
};
enum { LOSSES = sizeof losses / sizeof *losses };

static uint32_t new_data(struct pdnn_graph *graph, bool is_label, int rank, const int64_t *dim) {
    struct pdnn_tensor data = {.role = is_label ? PDNN_ROLE_LABEL : PDNN_ROLE_INPUT,
                               .dtype = is_label ? PDNN_S32 : PDNN_F32,
                               .rank = rank,
                               .fill = {is_label ? PDNN_FILL_CLASS : PDNN_FILL_UNIFORM, 2},
                               .of = PDNN_NONE};
    for (int i = 0; i < rank; i++)
        data.dim[i] = dim[i];
    return pdnn_graph_tensor(graph, &data);
}

/* The loss of x, with targets drawn from [-2, 2): some are farther than 1 from x, some nearer. */
static uint32_t append(struct pdnn_graph *graph, const struct loss *loss, uint32_t x) {
    const struct pdnn_tensor *t = &graph->tensors[x];
    int64_t dim[PDNN_RANK_MAX];
    memcpy(dim, t->dim, sizeof dim);
    uint32_t target = new_data(graph, loss->has_labels, t->rank, dim);
    return pdnn_graph_forward(graph, loss->op, (uint32_t[]){x, target, PDNN_NONE}, NULL);
}

static void test_gradients(void **state) {
    (void)state;
    for (size_t i = 0; i < LOSSES; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){N, C});
        chain.graph.loss = append(&chain.graph, &losses[i], x);
        chain.graph.nodes[0].coef[PDNN_LOSS_SCALE] = 0.25; /* as with four micro-steps */
        check_loss_chain(&chain, losses[i].op->name);
    }
}

/* The sum of all of them, of one tensor. */
static void test_gradient_of_a_sum(void **state) {
    struct chain chain;
    (void)state;
    begin_chain(&chain);
    uint32_t x = chain_weight(&chain, 2, (int64_t[]){N, C}), sum = PDNN_NONE;
    for (size_t i = 0; i < LOSSES; i++) {
        uint32_t one = append(&chain.graph, &losses[i], x);
        sum =
            i ? pdnn_graph_forward(&chain.graph, &pdnn_op_add, (uint32_t[]){sum, one, PDNN_NONE}, NULL) : one;
    }
    chain.graph.loss = sum;
    check_loss_chain(&chain, "sum of losses");
}

/* Each pass reads x and the targets once; the gradient is as large as x. */
static void test_costs(void **state) {
    (void)state;
    for (size_t i = 0; i < LOSSES; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){N, C});
        chain.graph.loss = append(&chain.graph, &losses[i], x);
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        for (size_t n = 0; n < 2; n++) {
            struct pdnn_cost cost;
            struct pdnn_err err = {0};
            assert_ptr_equal(chain.graph.nodes[n].op, losses[i].op);
            assert_int_equal(pdnn_cost_node(&chain.graph, &chain.graph.nodes[n], &cost, &err), PDNN_OK);
            assert_int_equal(cost.flop_count, n ? losses[i].backward_flop : losses[i].forward_flop);
            assert_int_equal(cost.byte_count, 4 * (n ? 3 * E : 2 * E + 1));
        }
        pdnn_arena_finish(&chain.arena);
    }
}

/* One element of each: x, target, loss and its slope. */
static void test_values(void **state) {
    static const struct {
        int loss;
        double x, target, value, slope;
    } rows[] = {
        {0, 0, 0, 0.69314718055994531, 0.5},
        {0, 0, 1, 0.69314718055994531, -0.5},
        {0, 2000, 1, 0, 0},
        {0, 2000, 0, 2000, 1},
        {0, -2000, 1, 2000, -1},
        {0, -2000, 0, 0, 0},
        {1, 3, -1, 16, 8},
        {1, 2, 2, 0, 0},
        {2, 0.5, 0, 0.125, 0.5},
        {2, 0, 1, 0.5, -1},
        {2, -3, 1, 3.5, -1},
        {2, 3, 0, 2.5, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){1, 1});
        chain.graph.loss = append(&chain.graph, &losses[rows[i].loss], x);
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        double **values = reference_values(&chain.graph);
        *values[x] = rows[i].x;
        *values[chain.graph.nodes[0].input[PDNN_ELEMENT_LOSS_TARGET]] = rows[i].target;
        reference_run(&chain.graph, values, 0, 2);
        assert_near(*values[chain.graph.loss], rows[i].value, 1e-15);
        assert_near(*values[chain.graph.nodes[1].output[0]], rows[i].slope, 1e-15);
        reference_values_free(&chain.graph, values);
        pdnn_arena_finish(&chain.arena);
    }
}

/* Labels may have another shape, values may not; a target of weights has no gradient. */
static void test_refusals(void **state) {
    static const struct {
        bool is_label, is_weight;
        int rank;
        int64_t dim[2];
        enum pdnn_status status[LOSSES];
    } rows[] = {
        {true, false, 1, {E}, {PDNN_OK, PDNN_INVALID, PDNN_INVALID}},
        {true, false, 2, {N, C}, {PDNN_OK, PDNN_INVALID, PDNN_INVALID}},
        {true, false, 1, {N}, {PDNN_INVALID, PDNN_INVALID, PDNN_INVALID}},
        {false, false, 2, {N, C}, {PDNN_INVALID, PDNN_OK, PDNN_OK}},
        {false, false, 1, {E}, {PDNN_INVALID, PDNN_INVALID, PDNN_INVALID}},
        {false, false, 2, {C, N}, {PDNN_INVALID, PDNN_INVALID, PDNN_INVALID}},
        {false, true, 2, {N, C}, {PDNN_INVALID, PDNN_UNSUPPORTED, PDNN_UNSUPPORTED}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < LOSSES; k++) {
            struct chain chain;
            struct pdnn_err err = {0};
            begin_chain(&chain);
            uint32_t x = chain_weight(&chain, 2, (int64_t[]){N, C});
            uint32_t target = rows[i].is_weight
                                  ? chain_weight(&chain, rows[i].rank, rows[i].dim)
                                  : new_data(&chain.graph, rows[i].is_label, rows[i].rank, rows[i].dim);
            chain.graph.loss =
                pdnn_graph_forward(&chain.graph, losses[k].op, (uint32_t[]){x, target, PDNN_NONE}, NULL);
            if (pdnn_graph_status(&chain.graph, &err) == PDNN_OK)
                pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
            assert_int_equal(pdnn_graph_status(&chain.graph, &err), rows[i].status[k]);
            pdnn_arena_finish(&chain.arena);
        }
    }
}

/* Of images, values have a mean; labels are of rows. */
static void test_images(void **state) {
    const int64_t dim[] = {N, C, 2, 1};
    (void)state;
    for (size_t k = 0; k < LOSSES; k++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, dim);
        uint32_t target = new_data(&chain.graph, losses[k].has_labels, 4, dim);
        pdnn_graph_forward(&chain.graph, losses[k].op, (uint32_t[]){x, target, PDNN_NONE}, NULL);
        pdnn_graph_status(&chain.graph, &err);
        assert_string_equal(err.text, losses[k].has_labels ? "logistic_loss: expected rows, not images" : "");
        pdnn_arena_finish(&chain.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients), cmocka_unit_test(test_gradient_of_a_sum),
        cmocka_unit_test(test_costs),     cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
