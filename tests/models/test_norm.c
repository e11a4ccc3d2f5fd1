/* Ops that normalize rows, in double: gradients by finite differences, FLOP against a counting run, the fused
 * op against the ops it replaces, bytes, and what is refused. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/near.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>

enum { R = 5, H = 7 };

static uint32_t matrix(struct chain *chain) {
    return chain_weight(chain, 2, (int64_t[]){R, H});
}

static uint32_t vector(struct chain *chain) {
    return chain_weight(chain, 1, (int64_t[]){H});
}

static uint32_t new_counter(struct chain *chain) {
    return pdnn_graph_state(&chain->graph, 1, (int64_t[]){1}, (struct pdnn_fill){0});
}

static uint32_t append(struct chain *chain, const struct pdnn_op_def *op, uint32_t a, uint32_t b) {
    return pdnn_graph_forward(&chain->graph, op, (uint32_t[]){a, b, PDNN_NONE}, NULL);
}

static uint32_t append_layernorm(struct chain *chain, uint32_t x, uint32_t gamma, uint32_t beta) {
    return pdnn_graph_forward(&chain->graph, &pdnn_op_layernorm, (uint32_t[]){x, gamma, beta, PDNN_NONE},
                              (int64_t[PDNN_NODE_ATTRS]){[PDNN_LAYERNORM_TRAIN] = 1});
}

/* Inputs of the fused op; counter PDNN_NONE: it has no counter. */
struct fused {
    uint32_t x, residual, gamma, beta, counter;
    int64_t percent;
    bool train, y_only;
};

static uint32_t append_fused(struct chain *chain, const struct fused *f) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_DROPOUT_ADD_NORM_PERCENT] = f->percent,
                                            [PDNN_DROPOUT_ADD_NORM_TRAIN] = f->train,
                                            [PDNN_DROPOUT_ADD_NORM_Y_ONLY] = f->y_only};
    return pdnn_graph_forward(&chain->graph, &pdnn_op_dropout_add_norm,
                              (uint32_t[]){f->x, f->residual, f->gamma, f->beta, f->counter, PDNN_NONE},
                              attrs);
}

static struct fused new_fused(struct chain *chain, int64_t percent) {
    struct fused f = {.x = matrix(chain), .residual = matrix(chain), .percent = percent, .train = true};
    f.gamma = vector(chain);
    f.beta = vector(chain);
    f.counter = percent ? new_counter(chain) : PDNN_NONE;
    return f;
}

static void test_gradient_layernorm(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = matrix(&chain), gamma = vector(&chain), beta = vector(&chain);
    check_chain(&chain, append_layernorm(&chain, x, gamma, beta), "layernorm");
}

/* Without gamma and beta. */
static void test_gradient_plain_layernorm(void **state) {
    (void)state;
    struct chain chain;
    struct pdnn_cost cost;
    begin_chain(&chain);
    uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_layernorm, (uint32_t[]){matrix(&chain), PDNN_NONE},
                                    (int64_t[PDNN_NODE_ATTRS]){[PDNN_LAYERNORM_TRAIN] = 1});
    assert_int_equal(pdnn_cost_node(&chain.graph, &chain.graph.nodes[0], &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, 6 * R * H + 5 * R);
    assert_int_equal(cost.byte_count, (2 * R * H + 2 * R) * sizeof(float));
    check_chain(&chain, y, "layernorm without gamma and beta");
}

/* Checks gradients, and FLOP against a counting run. */
static void test_gradient_rmsnorm(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = matrix(&chain), gamma = vector(&chain);
    uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_rmsnorm, (uint32_t[]){x, gamma, PDNN_NONE},
                                    (int64_t[PDNN_NODE_ATTRS]){[PDNN_RMSNORM_TRAIN] = 1});
    check_chain(&chain, y, "rmsnorm");
}

enum { HEADS = 2, WIDTH = 3 };

/* Two heads behind the first column. */
static uint32_t append_heads(struct chain *chain, uint32_t x, int64_t train) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RMSNORM_TRAIN] = train,
                                            [PDNN_RMSNORM_HEADS] = HEADS,
                                            [PDNN_RMSNORM_WIDTH] = WIDTH,
                                            [PDNN_RMSNORM_COLUMN] = 1};
    uint32_t gamma = chain_weight(chain, 1, (int64_t[]){WIDTH});
    return pdnn_graph_forward(&chain->graph, &pdnn_op_rmsnorm, (uint32_t[]){x, gamma, PDNN_NONE}, attrs);
}

static void test_gradient_rmsnorm_of_heads(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = matrix(&chain);
    check_chain(&chain, append_heads(&chain, x, 1), "rmsnorm of heads");
}

/* Each head is a row of its own; the first column stays. Only the heads' bytes move, and gamma's. */
static void test_rmsnorm_of_heads(void **state) {
    (void)state;
    struct chain chain;
    struct pdnn_cost cost;
    struct pdnn_err err = {0};
    begin_chain(&chain);
    uint32_t x = matrix(&chain), y = append_heads(&chain, x, 0), gamma = chain.graph.nodes[0].input[1];
    double **values = reference_values(&chain.graph);
    for (int64_t i = 0; i < R * H; i++)
        values[x][i] = i % H == 0 ? 7 : i % H <= WIDTH ? 10 : -1000;
    for (int64_t i = 0; i < WIDTH; i++)
        values[gamma][i] = (double)i;
    reference_run(&chain.graph, values, 0, 1);
    for (int64_t i = 0; i < R * H; i++) {
        double normal = (i % H <= WIDTH ? 1 : -1) * (double)((i % H - 1) % WIDTH);
        assert_near(values[y][i], i % H == 0 ? 7 : normal, 1e-7);
    }
    assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
    assert_int_equal(cost.flop_count, 4 * R * HEADS * WIDTH + 4 * R * HEADS);
    assert_int_equal(cost.byte_count, (2 * R * HEADS * WIDTH + WIDTH) * 4);
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

/* A row of equal values becomes gamma. */
static void test_rmsnorm_values(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = matrix(&chain), gamma = vector(&chain);
    uint32_t y = append(&chain, &pdnn_op_rmsnorm, x, gamma);
    assert_int_equal(chain.graph.nodes[0].n_outputs, 1);
    double **values = reference_values(&chain.graph);
    for (int64_t i = 0; i < R * H; i++)
        values[x][i] = i % 2 ? -1000 : 1000;
    for (int64_t i = 0; i < H; i++)
        values[gamma][i] = (double)i;
    reference_run(&chain.graph, values, 0, 1);
    for (int64_t i = 0; i < R * H; i++)
        assert_near(values[y][i], (i % 2 ? -1 : 1) * (double)(i % H), 1e-10);
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

/* With and without dropout. The sum may be used again, and so may the residual, which
 * may also be the added tensor. */
static void test_gradient_dropout_add_norm(void **state) {
    (void)state;
    for (int variant = 0; variant < 16; variant++) {
        bool uses_sum = variant & 2, uses_residual = variant & 4, doubles = variant & 8;
        struct chain chain;
        char what[64];
        begin_chain(&chain);
        struct fused f = new_fused(&chain, variant & 1 ? 40 : 0);
        uint32_t other = f.residual;
        if (doubles)
            f.residual = f.x;
        uint32_t y = append_fused(&chain, &f), z = pdnn_graph_last_output(&chain.graph, 1);
        if (uses_sum)
            y = append(&chain, &pdnn_op_add, y, z);
        if (uses_residual || doubles)
            y = append(&chain, &pdnn_op_add, y, other);
        snprintf(what, sizeof what, "dropout_add_norm, variant %d", variant);
        check_chain(&chain, y, what);
    }
}

/* Rows far from 0 get mean 0 and variance 1 before gamma and beta. */
static void test_layernorm_values(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = matrix(&chain), gamma = vector(&chain), beta = vector(&chain);
    uint32_t y = append_layernorm(&chain, x, gamma, beta);
    double **values = reference_values(&chain.graph);
    for (int64_t i = 0; i < R * H; i++)
        values[x][i] = 1000 + (double)(i * i % 11);
    for (int64_t i = 0; i < H; i++) {
        values[gamma][i] = 2;
        values[beta][i] = -3;
    }
    reference_run(&chain.graph, values, 0, 1);
    for (int64_t row = 0; row < R; row++) {
        double sum = 0, squares = 0;
        for (int64_t i = row * H; i < (row + 1) * H; i++) {
            double xhat = (values[y][i] + 3) / 2;
            sum += xhat;
            squares += xhat * xhat;
        }
        assert_near(sum / H, 0, 1e-12);
        assert_near(squares / H, 1, 1e-5); /* except for epsilon */
    }
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

/* Creates the same tensors first, so that the counter, and with it the mask, has the same number. */
static void test_dropout_add_norm_is_its_parts(void **state) {
    (void)state;
    for (int64_t percent = 0; percent <= 30; percent += 30) {
        struct chain fused, parts;
        begin_chain(&fused);
        begin_chain(&parts);
        struct fused f = new_fused(&fused, percent), p = new_fused(&parts, percent);
        uint32_t y = append_fused(&fused, &f), z = pdnn_graph_last_output(&fused.graph, 1);
        if (percent)
            p.x = pdnn_graph_forward(&parts.graph, &pdnn_op_dropout, (uint32_t[]){p.x, p.counter, PDNN_NONE},
                                     (int64_t[PDNN_NODE_ATTRS]){[PDNN_DROPOUT_PERCENT] = percent});
        uint32_t sum = append(&parts, &pdnn_op_add, p.x, p.residual);
        uint32_t normalized = append_layernorm(&parts, sum, p.gamma, p.beta);
        double **a = reference_values(&fused.graph), **b = reference_values(&parts.graph);
        reference_fill(&fused.graph, a, 1);
        reference_fill(&parts.graph, b, 1);
        for (int step = 0; step < 2; step++) {
            reference_run(&fused.graph, a, 0, fused.graph.n_nodes);
            reference_run(&parts.graph, b, 0, parts.graph.n_nodes);
            assert_memory_equal(a[z], b[sum], R * H * sizeof(double));
            assert_memory_equal(a[y], b[normalized], R * H * sizeof(double));
        }
        reference_values_free(&fused.graph, a);
        reference_values_free(&parts.graph, b);
        pdnn_arena_finish(&fused.arena);
        pdnn_arena_finish(&parts.arena);
    }
}

/* Without the sum there is one output, with the same values. */
static void test_dropout_add_norm_y_only(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    struct fused f = new_fused(&chain, 0);
    f.train = false;
    uint32_t y = append_fused(&chain, &f);
    assert_int_equal(chain.graph.nodes[0].n_outputs, 2);
    f.y_only = true;
    uint32_t same = append_fused(&chain, &f);
    assert_int_equal(chain.graph.nodes[1].n_outputs, 1);
    double **values = reference_values(&chain.graph);
    reference_fill(&chain.graph, values, 1);
    reference_run(&chain.graph, values, 0, 2);
    assert_memory_equal(values[y], values[same], R * H * sizeof(double));
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

/* The number of (R, H) arrays that the op's backward node reads and writes, besides its vectors. */
static void check_backward_bytes(struct chain *chain, uint32_t y, int64_t arrays) {
    struct pdnn_err err = {0};
    const struct pdnn_op_def *op = chain->graph.nodes[0].op;
    uint32_t w = chain_weight(chain, 2, (int64_t[]){2, H});
    struct pdnn_tensor labels = {
        .role = PDNN_ROLE_LABEL, .dtype = PDNN_S32, .rank = 1, .dim = {R}, .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(&chain->graph, &labels);
    chain->graph.loss =
        append(chain, &pdnn_op_softmax_cross_entropy, append(chain, &pdnn_op_dense, y, w), label);
    pdnn_backward_derive(&chain->graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    assert_int_equal(pdnn_graph_status(&chain->graph, &err), PDNN_OK);
    int found = 0;
    for (size_t i = 0; i < chain->graph.n_nodes; i++) {
        const struct pdnn_node *node = &chain->graph.nodes[i];
        struct pdnn_cost cost;
        if (node->op != op || node->pass != PDNN_BACKWARD_DATA)
            continue;
        assert_int_equal(pdnn_cost_node(&chain->graph, node, &cost, &err), PDNN_OK);
        assert_int_equal(cost.byte_count - cost.state_bytes, 4 * (arrays * R * H + 2 * R + 3 * H));
        found++;
    }
    assert_int_equal(found, 1);
    pdnn_arena_finish(&chain->arena);
}

/* One node computes all gradients and reads or writes nothing twice. */
static void test_backward_bytes(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = matrix(&chain), gamma = vector(&chain), beta = vector(&chain);
    check_backward_bytes(&chain, append_layernorm(&chain, x, gamma, beta), 3);
    for (int variant = 0; variant < 4; variant++) {
        bool drops = variant & 1, uses_sum = variant & 2;
        begin_chain(&chain);
        struct fused f = new_fused(&chain, drops ? 10 : 0);
        uint32_t y = append_fused(&chain, &f), z = pdnn_graph_last_output(&chain.graph, 1);
        check_backward_bytes(&chain, uses_sum ? append(&chain, &pdnn_op_add, y, z) : y, 3 + drops + uses_sum);
    }
}

static void test_norm_invalid(void **state) {
    (void)state;
    static const struct {
        const char *what;
        int64_t percent, residual_rows, gamma, beta;
        bool train, y_only, counter;
    } rows[] = {
        {"negative percent", -1, R, H, H, false, false, false},
        {"too many percent", 100, R, H, H, true, false, true},
        {"no counter", 10, R, H, H, true, false, false},
        {"a counter for nothing", 0, R, H, H, true, false, true},
        {"a counter in inference", 10, R, H, H, false, false, true},
        {"residual", 0, R + 1, H, H, true, false, false},
        {"gamma", 0, R, H + 1, H, true, false, false},
        {"beta", 0, R, H, H - 1, true, false, false},
        {"training without the sum", 0, R, H, H, true, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        struct fused f = {.x = matrix(&chain), .percent = rows[i].percent};
        f.train = rows[i].train;
        f.y_only = rows[i].y_only;
        f.residual = chain_weight(&chain, 2, (int64_t[]){rows[i].residual_rows, H});
        f.gamma = chain_weight(&chain, 1, &rows[i].gamma);
        f.beta = chain_weight(&chain, 1, &rows[i].beta);
        f.counter = rows[i].counter ? new_counter(&chain) : PDNN_NONE;
        append_fused(&chain, &f);
        if (pdnn_graph_status(&chain.graph, &err) != PDNN_INVALID)
            fail_msg("%s is accepted", rows[i].what);
        pdnn_arena_finish(&chain.arena);
    }
    struct chain chain;
    struct pdnn_err err = {0};
    begin_chain(&chain);
    append_layernorm(&chain, matrix(&chain), vector(&chain), matrix(&chain));
    assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
    pdnn_arena_finish(&chain.arena);
}

/* Inference keeps nothing for backward, and nothing is normalized if y is unused. */
static void test_norm_without_gradient(void **state) {
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        struct fused f = new_fused(&chain, 0);
        uint32_t y;
        f.train = variant == 2;
        if (variant)
            y = append_fused(&chain, &f);
        else
            y = pdnn_graph_forward(&chain.graph, &pdnn_op_layernorm,
                                   (uint32_t[]){f.x, f.gamma, f.beta, PDNN_NONE}, NULL);
        if (variant == 2)
            y = pdnn_graph_last_output(&chain.graph, 1);
        struct pdnn_tensor labels = {
            .role = PDNN_ROLE_LABEL, .dtype = PDNN_S32, .rank = 1, .dim = {R}, .of = PDNN_NONE};
        uint32_t label = pdnn_graph_tensor(&chain.graph, &labels);
        chain.graph.loss = append(&chain, &pdnn_op_softmax_cross_entropy, y, label);
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_UNSUPPORTED);
        pdnn_arena_finish(&chain.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_layernorm),
        cmocka_unit_test(test_gradient_plain_layernorm),
        cmocka_unit_test(test_gradient_rmsnorm),
        cmocka_unit_test(test_rmsnorm_values),
        cmocka_unit_test(test_gradient_rmsnorm_of_heads),
        cmocka_unit_test(test_rmsnorm_of_heads),
        cmocka_unit_test(test_gradient_dropout_add_norm),
        cmocka_unit_test(test_layernorm_values),
        cmocka_unit_test(test_dropout_add_norm_is_its_parts),
        cmocka_unit_test(test_dropout_add_norm_y_only),
        cmocka_unit_test(test_backward_bytes),
        cmocka_unit_test(test_norm_invalid),
        cmocka_unit_test(test_norm_without_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
