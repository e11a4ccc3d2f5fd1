/* Element-wise sums and products, in double, with a second operand that is as large as the first or repeats
 * over it: gradients by finite differences, values, FLOP and bytes by hand, and what is refused. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/transform/backward.h"

#include <stdio.h>
#include <string.h>

static const struct form {
    int rank;
    int64_t a[4];
    int b_rank;
    int64_t b[4];
} forms[] = {
    {2, {6, 5}, 2, {6, 5}},             /* equal */
    {2, {6, 5}, 1, {5}},                /* over the columns of all rows */
    {2, {6, 5}, 2, {3, 5}},             /* of groups of rows */
    {2, {6, 5}, 2, {1, 5}},             /* of one */
    {2, {6, 5}, 2, {6, 1}},             /* over rows */
    {4, {2, 3, 4, 5}, 1, {3}},          /* over the channels of all images */
    {4, {2, 3, 4, 5}, 4, {2, 3, 1, 1}}, /* of each */
    {4, {2, 3, 4, 5}, 2, {2, 3}},       /* the same, as a matrix */
    {4, {2, 3, 4, 5}, 4, {2, 3, 4, 5}}, /* equal */
};
enum { FORMS = sizeof forms / sizeof *forms };

static const struct pdnn_op_def *const ops[] = {&pdnn_op_add, &pdnn_op_multiply};

static uint32_t append(struct chain *chain, const struct pdnn_op_def *op, uint32_t a, uint32_t b) {
    return pdnn_graph_forward(&chain->graph, op, (uint32_t[]){a, b, PDNN_NONE}, NULL);
}

static uint32_t new_input(struct chain *chain, int rank, const int64_t *dim) {
    struct pdnn_tensor data = {
        .role = PDNN_ROLE_INPUT, .rank = rank, .fill = {PDNN_FILL_UNIFORM, 1}, .of = PDNN_NONE};
    memcpy(data.dim, dim, (size_t)rank * sizeof *dim);
    return pdnn_graph_tensor(&chain->graph, &data);
}

/* With both operands trained, and with one of them. */
static void test_gradient_of_each_form(void **state) {
    (void)state;
    for (int variant = 0; variant < 3 * 2 * FORMS; variant++) {
        const struct form *form = &forms[variant / 6];
        int trained = variant % 3;
        struct chain chain;
        char what[64];
        begin_chain(&chain);
        uint32_t a =
            trained == 1 ? new_input(&chain, form->rank, form->a) : chain_weight(&chain, form->rank, form->a);
        uint32_t b = trained == 2 ? new_input(&chain, form->b_rank, form->b)
                                  : chain_weight(&chain, form->b_rank, form->b);
        snprintf(what, sizeof what, "form %d of op %d, %d", variant / 6, variant / 3 % 2, trained);
        check_chain(&chain, append(&chain, ops[variant / 3 % 2], a, b), what);
    }
}

/* Of a matrix by itself, and of a gated one by what gates it. */
static void test_gradient_of_a_square(void **state) {
    (void)state;
    for (int gated = 0; gated < 2; gated++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t a = chain_weight(&chain, 2, (int64_t[]){5, 7}), b = a;
        if (gated) {
            b = chain_weight(&chain, 2, (int64_t[]){5, 7});
            a = append(&chain, &pdnn_op_multiply, a, b);
        }
        uint32_t y = append(&chain, &pdnn_op_multiply, b, a);
        check_chain(&chain, y, "square");
    }
}

/* FLOP and bytes of the passes of a node on E elements and b of B. */
static void check_cost(const struct pdnn_graph *graph, const struct pdnn_node *node, int64_t flop,
                       int64_t values) {
    struct pdnn_cost cost;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_cost_node(graph, node, &cost, &err), PDNN_OK);
    assert_int_equal(cost.flop_count, flop);
    assert_int_equal(cost.weight_bytes + cost.activation_bytes + cost.gradient_bytes + cost.state_bytes,
                     4 * values);
}

static void test_costs(void **state) {
    (void)state;
    enum { E = 2 * 3 * 4 * 5, B = 2 * 3 };
    for (int spreads = 0; spreads < 2; spreads++) {
        const int64_t dim[] = {2, 3, 4, 5}, ones[] = {2, 3, 1, 1};
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t a = chain_weight(&chain, 4, dim), b = chain_weight(&chain, 4, spreads ? ones : dim);
        uint32_t y = append(&chain, &pdnn_op_add, append(&chain, &pdnn_op_multiply, a, b), b);
        chain_loss(&chain, y);
        pdnn_backward_append(pdnn_backward_create(&chain.graph, false));
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_OK);
        int64_t nodes = 0;
        for (size_t i = 0; i < chain.graph.n_nodes; i++) {
            const struct pdnn_node *node = &chain.graph.nodes[i];
            bool multiplies = node->op == &pdnn_op_multiply;
            if (!multiplies && node->op != &pdnn_op_add)
                continue;
            nodes++;
            if (node->pass == PDNN_FORWARD)
                check_cost(&chain.graph, node, E, 2 * E + (spreads ? B : E));
            else if (!spreads)
                check_cost(&chain.graph, node, E, 3 * E);
            else if (multiplies)
                check_cost(&chain.graph, node, 3 * E, 3 * E + 2 * B);
            else if (node->n_inputs == 1)
                check_cost(&chain.graph, node, E, E + B);
            else
                check_cost(&chain.graph, node, B, 3 * B);
        }
        /* The two of forward; of backward both gradients of the product, the sum's of b, and the sum of the
         * gradients of b. */
        assert_int_equal(nodes, 5);
        pdnn_arena_finish(&chain.arena);
    }
}

static void test_values(void **state) {
    (void)state;
    enum { N = 2, C = 3, PIXELS = 20 };
    struct chain chain;
    begin_chain(&chain);
    uint32_t a = chain_weight(&chain, 4, (int64_t[]){N, C, 4, 5});
    uint32_t b = chain_weight(&chain, 4, (int64_t[]){N, C, 1, 1}),
             c = chain_weight(&chain, 1, (int64_t[]){C});
    uint32_t y = append(&chain, &pdnn_op_add, append(&chain, &pdnn_op_multiply, a, b), c);
    double **values = reference_values(&chain.graph);
    for (int i = 0; i < N * C * PIXELS; i++)
        values[a][i] = i;
    for (int i = 0; i < N * C; i++)
        values[b][i] = 10 + i;
    for (int i = 0; i < C; i++)
        values[c][i] = 100 * i;
    reference_run(&chain.graph, values, 0, 2);
    for (int i = 0; i < N * C * PIXELS; i++)
        assert_near(values[y][i], i * (10 + i / PIXELS) + 100 * (i / PIXELS % C), 1e-12);
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

static void test_misfits(void **state) {
    (void)state;
    static const struct form misfits[] = {
        {2, {6, 5}, 1, {6}},          {2, {6, 5}, 2, {4, 5}},
        {2, {6, 5}, 2, {5, 1}},       {2, {6, 5}, 2, {12, 5}},
        {4, {2, 3, 4, 5}, 1, {2}},    {4, {2, 3, 4, 5}, 4, {1, 3, 1, 1}},
        {4, {2, 3, 4, 5}, 2, {2, 5}}, {4, {2, 3, 4, 5}, 4, {2, 3, 1, 5}},
        {3, {2, 3, 4}, 1, {3}},       {1, {5}, 2, {6, 5}},
    };
    for (size_t i = 0; i < 2 * sizeof misfits / sizeof *misfits; i++) {
        const struct form *form = &misfits[i / 2];
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        append(&chain, ops[i % 2], chain_weight(&chain, form->rank, form->a),
               chain_weight(&chain, form->b_rank, form->b));
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        assert_non_null(strstr(err.text, "b is not like a"));
        pdnn_arena_finish(&chain.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_of_each_form),
        cmocka_unit_test(test_gradient_of_a_square),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_misfits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
