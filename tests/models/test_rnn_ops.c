/* The ops of recurrent models, in double: every gradient by finite differences, FLOP against a counting run,
 * cells against formulas written out, labels to be ignored, and operands that are not read. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/near.h"
#include "tests/models/reference_run.h"

#include "models/cell.h"
#include "models/op.h"
#include "models/forward.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t new_ids(struct pdnn_graph *graph, int64_t rows, int64_t vocabulary) {
    struct pdnn_tensor ids = {.role = PDNN_ROLE_INPUT,
                              .dtype = PDNN_S32,
                              .rank = 1,
                              .dim = {rows},
                              .fill = {PDNN_FILL_ZIPF, (double)vocabulary},
                              .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &ids);
}

/* More ids than words, and a table read by two lookups. */
static void test_gradient_embedding(void **state) {
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t table = chain_weight(&chain, 2, (int64_t[]){4, 3});
        uint32_t ids = new_ids(&chain.graph, 9, 4), others = new_ids(&chain.graph, 9, 4);
        uint32_t y =
            pdnn_graph_forward(&chain.graph, &pdnn_op_embedding, (uint32_t[]){ids, table, PDNN_NONE}, NULL);
        if (twice) {
            uint32_t z = pdnn_graph_forward(&chain.graph, &pdnn_op_embedding,
                                            (uint32_t[]){others, table, PDNN_NONE}, NULL);
            y = pdnn_graph_forward(&chain.graph, &pdnn_op_add, (uint32_t[]){y, z, PDNN_NONE}, NULL);
        }
        check_chain(&chain, y, twice ? "two lookups" : "one lookup");
    }
}

/* A lookup reads its ids and that many rows of the table, at most the whole table. */
static void test_embedding_bytes(void **state) {
    (void)state;
    static const struct {
        int64_t rows, vocabulary, read;
    } rows[] = {{10, 1000, 10}, {1000, 10, 10}, {7, 7, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum { E = 5 };
        struct chain chain;
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t ids = new_ids(&chain.graph, rows[i].rows, rows[i].vocabulary);
        uint32_t table = chain_weight(&chain, 2, (int64_t[]){rows[i].vocabulary, E});
        pdnn_graph_forward(&chain.graph, &pdnn_op_embedding, (uint32_t[]){ids, table, PDNN_NONE}, NULL);
        assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
        assert_int_equal(cost.flop_count, 0);
        assert_int_equal(cost.weight_bytes, rows[i].read * E * 4);
        assert_int_equal(cost.activation_bytes, rows[i].rows * (1 + E) * 4);
        pdnn_arena_finish(&chain.arena);
    }
}

/* Two sequences of five tokens. */
static void test_gradient_selective_scan(void **state) {
    (void)state;
    enum { R = 10, C = 3, S = 4 };
    static const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_SELECTIVE_SCAN_SEQUENCES] = 2};
    struct chain chain;
    begin_chain(&chain);
    const uint32_t in[] = {chain_weight(&chain, 2, (int64_t[]){R, C}),
                           chain_weight(&chain, 2, (int64_t[]){R, C}),
                           chain_weight(&chain, 2, (int64_t[]){R, S}),
                           chain_weight(&chain, 2, (int64_t[]){R, S}),
                           chain_weight(&chain, 2, (int64_t[]){C, S}),
                           chain_weight(&chain, 1, (int64_t[]){C}),
                           PDNN_NONE};
    check_chain(&chain, pdnn_graph_forward(&chain.graph, &pdnn_op_selective_scan, in, attrs),
                "selective_scan");
}

/* One channel of one state, whose decay is half of it: what was written a token ago is read by half. */
static void test_selective_scan_by_hand(void **state) {
    (void)state;
    enum { R = 4 };
    struct pdnn_tensor tensors[] = {{.rank = 2, .dim = {R, 1}}, {.rank = 2, .dim = {R, 1}},
                                    {.rank = 2, .dim = {R, 1}}, {.rank = 2, .dim = {R, 1}},
                                    {.rank = 2, .dim = {1, 1}}, {.rank = 1, .dim = {1}},
                                    {.rank = 2, .dim = {R, 1}}};
    double x[R] = {8, 0, 4, 2}, delta[R] = {1, 1, 1, 2}, b[R] = {1, 1, 1, 1}, c[R] = {1, 1, 10, 1},
           a[1] = {log(2)}, d[1] = {100}, y[R], h[1], *values[] = {x, delta, b, c, a, d, y};
    /* h: 8, 4; another sequence: 4, 4 / 4 + 2 * 2. */
    static const double want[R] = {808, 4, 440, 205};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 7};
    struct pdnn_node node = {.op = &pdnn_op_selective_scan,
                             .n_inputs = 6,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0, 1, 2, 3, 4, 5},
                             .output = (uint32_t[]){6},
                             .attr = {2}};
    struct pdnn_reference r = {.graph = &graph, .value = values, .scratch = h};
    struct pdnn_cost cost;
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < R; i++)
        assert_near(y[i], want[i], 1e-12);
    assert_int_equal(r.flop, R * 1 * (7 * 1 + 3));
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, r.flop);
}

static void test_selective_scan_invalid(void **state) {
    (void)state;
    static const int64_t rows[][6] = {
        /* sequences, rows of b, columns of c, rows and columns of a, length of d */
        {5, 10, 4, 3, 4, 3}, {3, 10, 4, 3, 4, 3}, {0, 10, 4, 3, 4, 3}, {5, 5, 4, 3, 4, 3},
        {5, 10, 3, 3, 4, 3}, {5, 10, 4, 4, 4, 3}, {5, 10, 4, 3, 3, 3}, {5, 10, 4, 3, 4, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t *row = rows[i], attrs[PDNN_NODE_ATTRS] = {[PDNN_SELECTIVE_SCAN_SEQUENCES] = row[0]};
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        const uint32_t in[] = {chain_weight(&chain, 2, (int64_t[]){10, 3}),
                               chain_weight(&chain, 2, (int64_t[]){10, 3}),
                               chain_weight(&chain, 2, (int64_t[]){row[1], 4}),
                               chain_weight(&chain, 2, (int64_t[]){10, row[2]}),
                               chain_weight(&chain, 2, (int64_t[]){row[3], row[4]}),
                               chain_weight(&chain, 1, (int64_t[]){row[5]}),
                               PDNN_NONE};
        pdnn_graph_forward(&chain.graph, &pdnn_op_selective_scan, in, attrs);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), i ? PDNN_INVALID : PDNN_OK);
        pdnn_arena_finish(&chain.arena);
    }
}

/* A state that is kept has a row for each channel of each sequence, and no gradient. */
static void test_selective_scan_kept(void **state) {
    static const int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_SELECTIVE_SCAN_SEQUENCES] = 2, [PDNN_SELECTIVE_SCAN_KEPT] = 1};
    (void)state;
    for (int64_t rows = 6; rows < 8; rows++) {
        struct chain chain;
        struct pdnn_err err = {0};
        struct pdnn_cost cost;
        begin_chain(&chain);
        const uint32_t in[] = {
            chain_weight(&chain, 2, (int64_t[]){10, 3}),
            chain_weight(&chain, 2, (int64_t[]){10, 3}),
            chain_weight(&chain, 2, (int64_t[]){10, 4}),
            chain_weight(&chain, 2, (int64_t[]){10, 4}),
            chain_weight(&chain, 2, (int64_t[]){3, 4}),
            chain_weight(&chain, 1, (int64_t[]){3}),
            pdnn_graph_state(&chain.graph, 2, (int64_t[]){rows, 4}, (struct pdnn_fill){PDNN_FILL_UNIFORM, 1}),
            PDNN_NONE};
        uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_selective_scan, in, attrs);
        if (rows == 6) {
            assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
            assert_int_equal(cost.byte_count, 4 * (3 * 10 * 3 + 2 * 10 * 4 + 3 * 4 + 3 + 2 * 6 * 4));
            check_flop_counts(&chain.graph, "kept");
            chain_loss(&chain, y);
            pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        }
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), rows == 6 ? PDNN_UNSUPPORTED : PDNN_INVALID);
        if (rows == 6)
            assert_non_null(strstr(err.text, "no gradient through a state that is kept"));
        pdnn_arena_finish(&chain.arena);
    }
}

static uint32_t find_tensor(const struct pdnn_graph *graph, enum pdnn_role role, uint32_t from) {
    while (from < graph->n_tensors && graph->tensors[from].role != role)
        from++;
    return from;
}

/* Tokens one by one, from states of 0, are the tokens of a sequence. A channel's convolution sees one token
 * here, since what is kept of the others does not move on. */
static void test_mamba_decodes_what_it_prefills(void **state) {
    enum { LENGTH = 5, WORDS = 7 };
    static const char *const model =
        "mamba/layers=2,hidden=8,states=3,kernel=1,vocabulary=7,batch=1,mode=infer";
    struct pdnn_arena arena[2];
    struct pdnn_graph graph[2];
    double **values[2];
    (void)state;
    for (int decodes = 0; decodes < 2; decodes++) {
        char id[PDNN_ID_TEXT];
        snprintf(id, sizeof id, "%s,%s", model, decodes ? "phase=decode" : "length=5");
        build_graph(id, &arena[decodes], &graph[decodes]);
        values[decodes] = run_step(&graph[decodes], 3);
    }
    uint32_t from = 0, words[2];
    for (uint32_t i = 0; i < graph[1].n_tensors; i++) {
        const size_t bytes = (size_t)pdnn_tensor_elements(&graph[1].tensors[i]) * sizeof(double);
        if (graph[1].tensors[i].role == PDNN_ROLE_STATE)
            memset(values[1][i], 0, bytes);
        if (graph[1].tensors[i].role != PDNN_ROLE_WEIGHT)
            continue;
        from = find_tensor(&graph[0], PDNN_ROLE_WEIGHT, from);
        memcpy(values[1][i], values[0][from++], bytes);
    }
    for (int k = 0; k < 2; k++)
        words[k] = find_tensor(&graph[k], PDNN_ROLE_INPUT, 0);
    for (int t = 0; t < LENGTH; t++) {
        values[1][words[1]][0] = values[0][words[0]][t];
        reference_run(&graph[1], values[1], 0, graph[1].n_nodes);
        for (int k = 0; k < WORDS; k++)
            assert_near(values[1][graph[1].result][k], values[0][graph[0].result][t * WORDS + k], 1e-12);
    }
    for (int k = 0; k < 2; k++) {
        reference_values_free(&graph[k], values[k]);
        pdnn_arena_finish(&arena[k]);
    }
}

/* A token of each of two sequences: in each layer the projections, then the vocabulary; and what is kept, of
 * 4 tokens and 16 states of a channel. */
static void test_mamba_decoding(void **state) {
    static const char *const id = "mamba:mamba-130m,phase=decode,batch=2,mode=infer";
    const uint64_t layer = 768 * 3072 + 1536 * (48 + 2 * 16) + 48 * 1536 + 1536 * 768;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    int64_t kept = 0;
    (void)state;
    assert_int_equal(products_flop(id), 2 * 2 * (24 * layer + 768 * 50280));
    assert_int_equal(totals_of(id).params, 129135360);
    build_graph(id, &arena, &graph);
    for (uint32_t i = 0; i < graph.n_tensors; i++)
        kept += graph.tensors[i].role == PDNN_ROLE_STATE ? pdnn_tensor_elements(&graph.tensors[i]) : 0;
    assert_int_equal(kept, 24 * 2 * 1536 * (4 + 16));
    pdnn_arena_finish(&arena);
    check_depth_costs("mamba/layers=3,hidden=8,states=3,vocabulary=5,batch=2,phase=decode,mode=infer");
    check_invalid("mamba/phase=decode,mode=train", "phase=decode is for mode=infer");
}

/* Labels of sequences, some rows without one. */
static void test_gradient_masked_loss(void **state) {
    (void)state;
    enum { T = 5, N = 4, C = 3 };
    struct chain chain;
    begin_chain(&chain);
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 2,
                                 .dim = {T, N},
                                 .fill = {PDNN_FILL_SEQUENCE_CLASS, C},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(&chain.graph, &labels);
    uint32_t x = chain_weight(&chain, 2, (int64_t[]){T * N, C});
    chain.graph.loss = pdnn_graph_forward(&chain.graph, &pdnn_op_softmax_cross_entropy,
                                          (uint32_t[]){x, label, PDNN_NONE}, NULL);
    check_loss_chain(&chain, "masked loss");
}

/* Two of four rows have labels, with losses ln 2 and ln 2, on average ln 2; the
 * gradient of the others is 0. */
static void test_masked_loss_values(void **state) {
    (void)state;
    struct pdnn_tensor tensors[] = {{.rank = 2, .dim = {4, 2}},
                                    {.rank = 2, .dim = {2, 2}},
                                    {.rank = 1, .dim = {1}},
                                    {.rank = 2, .dim = {4, 2}}};
    double x[] = {0, 0, 5, -3, 0, log(3), 7, 9}, label[] = {1, -1, 0, -1}, loss, p[8];
    double *values[] = {x, label, &loss, p};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 4};
    struct pdnn_node forward = {.op = &pdnn_op_softmax_cross_entropy,
                                .n_inputs = 2,
                                .n_outputs = 2,
                                .input = (uint32_t[]){0, 1},
                                .output = (uint32_t[]){2, 3},
                                .coef = {1}};
    struct pdnn_node backward = forward;
    backward.pass = PDNN_BACKWARD_DATA;
    backward.n_outputs = 1;
    backward.input = (uint32_t[]){3, 1};
    backward.output = (uint32_t[]){3}; /* in place */
    struct pdnn_reference r = {.graph = &graph, .value = values};
    pdnn_reference_run(&r, &forward);
    assert_near(loss, (log(2) + log(4)) / 2, 1e-15);
    pdnn_reference_run(&r, &backward);
    const double expected[] = {0.25, -0.25, 0, 0, -0.375, 0.375, 0, 0};
    for (int i = 0; i < 8; i++)
        assert_near(p[i], expected[i], 1e-15);
}

enum { STEPS = 3, SEQUENCES = 2, INPUTS = 4, HIDDEN = 3 };

static uint32_t append_rnn(struct chain *chain, uint32_t x, int64_t cell, bool two_biases, bool reverse) {
    const struct pdnn_cell_def *def = &pdnn_cells[cell];
    int64_t gates = def->n_gates * HIDDEN, biases = two_biases ? 2 * gates : def->n_biases * HIDDEN;
    int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_RNN_CELL] = cell, [PDNN_RNN_STEPS] = STEPS, [PDNN_RNN_REVERSE] = reverse, [PDNN_RNN_TRAIN] = 1};
    uint32_t w = chain_weight(chain, 2, (int64_t[]){gates, chain->graph.tensors[x].dim[1]});
    uint32_t u = chain_weight(chain, 2, (int64_t[]){gates, HIDDEN});
    uint32_t b = chain_weight(chain, 1, &biases);
    return pdnn_graph_forward(&chain->graph, &pdnn_op_rnn, (uint32_t[]){x, w, u, b, PDNN_NONE}, attrs);
}

/* All cells, both directions, one or two biases; a layer on weights and a second layer on top of it. */
static void test_gradient_rnn(void **state) {
    (void)state;
    for (int variant = 0; variant < 4 * PDNN_CELL_COUNT; variant++) {
        struct chain chain;
        char what[64];
        int64_t cell = variant / 4;
        snprintf(what, sizeof what, "%s%s%s", pdnn_cells[cell].name, variant & 1 ? " reverse" : "",
                 variant & 2 ? " two biases" : "");
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){STEPS * SEQUENCES, INPUTS});
        uint32_t y = append_rnn(&chain, x, cell, variant & 2, variant & 1);
        check_chain(&chain, append_rnn(&chain, y, cell, variant & 2, false), what);
    }
}

/* An input without gradient: backward computes none and spends no FLOP on one. */
static void test_gradient_rnn_of_data(void **state) {
    (void)state;
    for (int64_t cell = 0; cell < PDNN_CELL_COUNT; cell++) {
        struct chain chain;
        begin_chain(&chain);
        struct pdnn_tensor input = {.role = PDNN_ROLE_INPUT,
                                    .rank = 2,
                                    .dim = {STEPS * SEQUENCES, INPUTS},
                                    .fill = {PDNN_FILL_UNIFORM, 1},
                                    .of = PDNN_NONE};
        uint32_t x = pdnn_graph_tensor(&chain.graph, &input);
        check_chain(&chain, append_rnn(&chain, x, cell, false, false), pdnn_cells[cell].name);
    }
}

/* Two dropouts of one input drop different values. */
static void test_gradient_dropout(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = chain_weight(&chain, 2, (int64_t[]){5, 7}), y[2];
    for (int k = 0; k < 2; k++) {
        uint32_t counter = pdnn_graph_state(&chain.graph, 1, (int64_t[]){1}, (struct pdnn_fill){0});
        y[k] = pdnn_graph_forward(&chain.graph, &pdnn_op_dropout, (uint32_t[]){x, counter, PDNN_NONE},
                                  (int64_t[PDNN_NODE_ATTRS]){[PDNN_DROPOUT_PERCENT] = 40});
    }
    check_chain(&chain,
                pdnn_graph_forward(&chain.graph, &pdnn_op_add, (uint32_t[]){y[0], y[1], PDNN_NONE}, NULL),
                "dropout");
}

/* The right number of values is kept, each step keeps others, and backward uses the same mask. */
static void test_dropout_values(void **state) {
    (void)state;
    enum { COUNT = 40000, PERCENT = 30, RUNS = 3 };
    static double x[COUNT], y[RUNS][COUNT], dx[COUNT];
    struct pdnn_tensor tensors[] = {
        {.rank = 1, .dim = {COUNT}}, {.rank = 1, .dim = {1}}, {.rank = 1, .dim = {COUNT}}};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 3};
    struct pdnn_node forward = {.op = &pdnn_op_dropout,
                                .n_inputs = 2,
                                .n_outputs = 2,
                                .input = (uint32_t[]){0, 1},
                                .output = (uint32_t[]){2, 1},
                                .attr = {[PDNN_DROPOUT_PERCENT] = PERCENT}};
    double counter = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = 1 + i % 5;
    for (int run = 0; run < RUNS; run++) {
        double *values[] = {x, &counter, y[run]}, *back[] = {x, &counter, dx};
        struct pdnn_reference r = {.graph = &graph, .value = values};
        struct pdnn_node backward = forward;
        int kept = 0, as_before = 0;
        pdnn_reference_run(&r, &forward);
        backward.pass = PDNN_BACKWARD_DATA;
        backward.n_outputs = 1;
        r.value = back;
        pdnn_reference_run(&r, &backward);
        assert_memory_equal(y[run], dx, sizeof dx);
        for (int i = 0; i < COUNT; i++) {
            assert_true(y[run][i] == 0 || fabs(y[run][i] - x[i] / 0.7) < 1e-12);
            kept += y[run][i] > 0;
            as_before += run > 0 && (y[run][i] > 0) == (y[run - 1][i] > 0);
        }
        assert_true(kept >= (int)(0.69 * COUNT) && kept <= (int)(0.71 * COUNT));
        if (run > 0)
            assert_true(as_before >= (int)(0.57 * COUNT) &&
                        as_before <= (int)(0.59 * COUNT)); /* 0.7^2 + 0.3^2 */
    }
    assert_near(counter, RUNS, 0);
}

/* Two dropouts in one step drop different values. */
static void test_dropout_nodes_differ(void **state) {
    (void)state;
    enum { COUNT = 1000, NODES = 2 };
    struct chain chain;
    begin_chain(&chain);
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_DROPOUT_PERCENT] = 50};
    uint32_t x = chain_weight(&chain, 2, (int64_t[]){1, COUNT}), y[NODES];
    for (int k = 0; k < NODES; k++) {
        uint32_t counter = pdnn_graph_state(&chain.graph, 1, (int64_t[]){1}, (struct pdnn_fill){0});
        y[k] = pdnn_graph_forward(&chain.graph, &pdnn_op_dropout, (uint32_t[]){x, counter, PDNN_NONE}, attrs);
    }
    double **values = reference_values(&chain.graph);
    int both = 0;
    reference_fill(&chain.graph, values, 1);
    reference_run(&chain.graph, values, 0, NODES);
    for (int i = 0; i < COUNT; i++)
        both += values[y[0]][i] != 0 && values[y[1]][i] != 0;
    assert_true(both >= COUNT / 5 && both <= COUNT * 3 / 10);
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

static void test_gradient_slice_and_concat(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    const uint32_t parts[] = {chain_weight(&chain, 2, (int64_t[]){6, 2}),
                              chain_weight(&chain, 2, (int64_t[]){6, 1}),
                              chain_weight(&chain, 2, (int64_t[]){6, 4}), PDNN_NONE};
    uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_concat, parts, NULL), rows[3];
    for (int k = 0; k < 2; k++)
        rows[k] = pdnn_graph_forward(
            &chain.graph, &pdnn_op_slice, (uint32_t[]){y, PDNN_NONE},
            (int64_t[PDNN_NODE_ATTRS]){[PDNN_SLICE_FIRST] = 2 * k + 1, [PDNN_SLICE_ROWS] = 3});
    rows[2] = PDNN_NONE;
    check_chain(&chain, pdnn_graph_forward(&chain.graph, &pdnn_op_concat, rows, NULL), "slice and concat");
}

/* Along every dimension of tensors of three and four. */
static void test_gradient_parts(void **state) {
    (void)state;
    static const int64_t along[] = {PDNN_CONCAT_ROWS, PDNN_CONCAT_COLUMNS, PDNN_CONCAT_HEIGHT,
                                    PDNN_CONCAT_WIDTH};
    for (int i = 0; i < 7; i++) {
        int rank = i < 3 ? 3 : 4, dim = i < 3 ? i : i - 3;
        struct chain chain;
        char what[64];
        int64_t part[] = {2, 3, 4, 2}, other[] = {2, 3, 4, 2};
        part[dim] = 1;
        other[dim] = 3;
        begin_chain(&chain);
        uint32_t y = pdnn_graph_forward(
            &chain.graph, &pdnn_op_concat,
            (uint32_t[]){chain_weight(&chain, rank, part), chain_weight(&chain, rank, other), PDNN_NONE},
            (int64_t[PDNN_NODE_ATTRS]){[PDNN_CONCAT_ALONG] = along[dim]});
        assert_int_equal(chain.graph.tensors[y].dim[dim], 4);
        int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_SLICE_FIRST] = 1};
        attrs[PDNN_SLICE_ROWS + dim] = 2;
        y = pdnn_graph_forward(&chain.graph, &pdnn_op_slice, (uint32_t[]){y, PDNN_NONE}, attrs);
        snprintf(what, sizeof what, "parts along %d of %d", dim, rank);
        check_chain(&chain, y, what);
    }
}

/* Rows of two sequences, and columns; 12 and 12 FLOP in either pass. */
static void test_mean(void **state) {
    (void)state;
    static const int64_t attrs[][PDNN_NODE_ATTRS] = {{PDNN_MEAN_ROWS, 2}, {PDNN_MEAN_COLUMNS}};
    for (size_t i = 0; i < 2; i++) {
        struct chain chain;
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){4, 3});
        uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_mean, (uint32_t[]){x, PDNN_NONE}, attrs[i]);
        assert_int_equal(chain.graph.tensors[y].dim[0], i ? 4 : 2);
        assert_int_equal(chain.graph.tensors[y].dim[1], i ? 1 : 3);
        assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
        assert_int_equal(cost.flop_count, 12);
        check_chain(&chain, y, "mean");
    }
}

/* As many as a node may read, and one more. */
static void test_concat_of_many(void **state) {
    (void)state;
    for (int n = PDNN_NODE_INPUTS; n <= PDNN_NODE_INPUTS + 1; n++) {
        struct chain chain;
        struct pdnn_err err = {0};
        uint32_t parts[PDNN_NODE_INPUTS + 2];
        begin_chain(&chain);
        for (int k = 0; k < n; k++)
            parts[k] = chain_weight(&chain, 2, (int64_t[]){3, 1 + k % 2});
        parts[n] = PDNN_NONE;
        uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_concat, parts, NULL);
        if (n == PDNN_NODE_INPUTS) {
            assert_int_equal(chain.graph.tensors[y].dim[1], n + n / 2);
            check_chain(&chain, y, "concat of many");
            continue;
        }
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        assert_string_equal(err.text, "concat: more than 27 inputs");
        pdnn_arena_finish(&chain.arena);
    }
}

static void test_slice_and_concat_invalid(void **state) {
    (void)state;
    /* The last: rows and columns, and a height. */
    static const int64_t rows[][PDNN_NODE_ATTRS] = {
        {0, 0}, {-1, 2}, {3, 2}, {0, 5}, {INT64_MAX, INT64_MAX}, {0, 0, 3}, {0, 1, 1}, {0, 0, 0, 1}};
    for (size_t i = 0; i <= sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){4, 2}),
                 z = chain_weight(&chain, 2, (int64_t[]){5, 2});
        if (i < sizeof rows / sizeof *rows)
            pdnn_graph_forward(&chain.graph, &pdnn_op_slice, (uint32_t[]){x, PDNN_NONE}, rows[i]);
        else
            pdnn_graph_forward(&chain.graph, &pdnn_op_concat, (uint32_t[]){x, z, PDNN_NONE}, NULL);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        pdnn_arena_finish(&chain.arena);
    }
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

/* One unit, one input; w[g]*x + u[g]*h + b[g] are the gates' sums, and lbr_gru's last
 * bias belongs to the candidate. */
static double next_h(int64_t cell, const double *w, const double *u, const double *b, double x, double h,
                     double *c) {
    double s[4] = {0};
    for (int g = 0; g < pdnn_cells[cell].n_gates; g++)
        s[g] = w[g] * x + u[g] * h + b[g];
    double z = sigmoid(s[0]), r = sigmoid(s[1]);
    if (cell == PDNN_CELL_LSTM) {
        *c = sigmoid(s[1]) * *c + sigmoid(s[0]) * tanh(s[2]);
        return sigmoid(s[3]) * tanh(*c);
    }
    if (cell == PDNN_CELL_GRU)
        return z * h + (1 - z) * tanh(w[2] * x + u[2] * (r * h) + b[2]);
    if (cell == PDNN_CELL_LBR_GRU)
        return z * h + (1 - z) * tanh(w[2] * x + b[2] + r * (u[2] * h + b[3]));
    return tanh(s[0]);
}

static void check_cell(int64_t cell, bool reverse) {
    enum { T = 4 };
    const double x[T] = {0.5, -1.5, 2, 0.25}, w[] = {0.3, -0.7, 1.1, 0.9}, u[] = {-0.4, 0.8, 0.6, 1.2};
    const double b[] = {0.1, -0.2, 0.05, 0.3};
    struct pdnn_tensor tensors[5] = {{.rank = 2, .dim = {T, 1}}};
    int64_t G = pdnn_cells[cell].n_gates;
    tensors[1] = tensors[2] = (struct pdnn_tensor){.rank = 2, .dim = {G, 1}};
    tensors[3] = (struct pdnn_tensor){.rank = 1, .dim = {pdnn_cells[cell].n_biases}};
    tensors[4] = tensors[0];
    double in[4][4], y[T], scratch[64], h = 0, c = 0;
    memcpy(in[0], x, sizeof x);
    memcpy(in[1], w, sizeof w);
    memcpy(in[2], u, sizeof u);
    memcpy(in[3], b, sizeof b);
    double *values[] = {in[0], in[1], in[2], in[3], y};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 5};
    struct pdnn_node node = {.op = &pdnn_op_rnn,
                             .n_inputs = 4,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0, 1, 2, 3},
                             .output = (uint32_t[]){4}};
    node.attr[PDNN_RNN_CELL] = cell;
    node.attr[PDNN_RNN_STEPS] = T;
    node.attr[PDNN_RNN_REVERSE] = reverse;
    assert_true(pdnn_op_rnn.pass[PDNN_FORWARD].scratch(&graph, &node) <= 64);
    memset(scratch, 0xff, sizeof scratch);
    struct pdnn_reference r = {.graph = &graph, .value = values, .scratch = scratch};
    pdnn_reference_run(&r, &node);
    for (int k = 0; k < T; k++) {
        int t = reverse ? T - 1 - k : k;
        h = next_h(cell, w, u, b, x[t], h, &c);
        assert_near(y[t], h, 1e-15);
    }
}

static void test_rnn_values(void **state) {
    (void)state;
    for (int64_t cell = 0; cell < PDNN_CELL_COUNT; cell++) {
        check_cell(cell, false);
        check_cell(cell, true);
    }
}

static void test_rnn_invalid(void **state) {
    (void)state;
    static const struct {
        int64_t rows, steps, gates, biases;
    } rows[] = {
        {6, 4, 4, 4}, /* not a whole number of sequences */
        {6, 3, 3, 4}, /* weights of another cell */
        {6, 3, 4, 5}, /* one bias too many */
        {6, 0, 4, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RNN_CELL] = PDNN_CELL_LSTM, [PDNN_RNN_STEPS] = rows[i].steps};
        const uint32_t inputs[] = {chain_weight(&chain, 2, (int64_t[]){rows[i].rows, 2}),
                                   chain_weight(&chain, 2, (int64_t[]){rows[i].gates * 5, 2}),
                                   chain_weight(&chain, 2, (int64_t[]){rows[i].gates * 5, 5}),
                                   chain_weight(&chain, 1, (int64_t[]){rows[i].biases * 5}), PDNN_NONE};
        pdnn_graph_forward(&chain.graph, &pdnn_op_rnn, inputs, attrs);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        pdnn_arena_finish(&chain.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_embedding),
        cmocka_unit_test(test_embedding_bytes),
        cmocka_unit_test(test_gradient_masked_loss),
        cmocka_unit_test(test_masked_loss_values),
        cmocka_unit_test(test_gradient_rnn),
        cmocka_unit_test(test_gradient_rnn_of_data),
        cmocka_unit_test(test_rnn_values),
        cmocka_unit_test(test_rnn_invalid),
        cmocka_unit_test(test_gradient_dropout),
        cmocka_unit_test(test_dropout_values),
        cmocka_unit_test(test_dropout_nodes_differ),
        cmocka_unit_test(test_gradient_slice_and_concat),
        cmocka_unit_test(test_gradient_parts),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_concat_of_many),
        cmocka_unit_test(test_slice_and_concat_invalid),
        cmocka_unit_test(test_gradient_selective_scan),
        cmocka_unit_test(test_selective_scan_by_hand),
        cmocka_unit_test(test_selective_scan_invalid),
        cmocka_unit_test(test_selective_scan_kept),
        cmocka_unit_test(test_mamba_decodes_what_it_prefills),
        cmocka_unit_test(test_mamba_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
