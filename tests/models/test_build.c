/* The structure of a training step: micro-steps whose gradients add up, and recomputed segments. What they
 * compute, what they cost, and how much memory they need. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "models/transform/backward.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t memory_of(const char *id) {
    struct pdnn_instance instance = instance_of(id);
    struct pdnn_arena arena;
    struct pdnn_err err = {0};
    struct pdnn_totals totals;
    pdnn_arena_init(&arena);
    if (pdnn_cost_instance(&instance, &arena, true, &totals, &err) != PDNN_OK)
        fail_msg("%s: %s", id, err.text);
    pdnn_arena_finish(&arena);
    return totals.memory_bytes;
}

static const char *with(const char *id, const char *more, char text[PDNN_ID_TEXT]) {
    snprintf(text, PDNN_ID_TEXT, "%s,%s", id, more);
    return text;
}

/* A graph built from an id, and its values. */
struct net {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    double **values;
};

static void open_net(const char *id, struct net *net) {
    build_graph(id, &net->arena, &net->graph);
    net->values = reference_values(&net->graph);
    reference_fill(&net->graph, net->values, 17);
}

static void close_net(struct net *net) {
    reference_values_free(&net->graph, net->values);
    pdnn_arena_finish(&net->arena);
}

static bool is_data(const struct pdnn_graph *graph, uint32_t tensor) {
    enum pdnn_role role = graph->tensors[tensor].role;
    return role == PDNN_ROLE_INPUT || role == PDNN_ROLE_LABEL;
}

/* The next tensor from `first` on that is data (or a weight); n_tensors if there is none. */
static uint32_t next_tensor(const struct pdnn_graph *graph, uint32_t first, bool data) {
    while (first < graph->n_tensors &&
           !(data ? is_data(graph, first) : graph->tensors[first].role == PDNN_ROLE_WEIGHT))
        first++;
    return first;
}

/* The parts get the weights of the whole and consecutive pieces of its data: data tensor k of part j is the
 * j-th piece of data tensor k of the whole. */
static void split_data(const struct net *whole, struct net *parts, int n_parts) {
    uint32_t from = 0, to = 0;
    while ((from = next_tensor(&whole->graph, from, false)) < whole->graph.n_tensors) {
        to = next_tensor(&parts->graph, to, false);
        memcpy(parts->values[to++], whole->values[from],
               (size_t)pdnn_tensor_elements(&whole->graph.tensors[from]) * sizeof(double));
        from++;
    }
    to = 0;
    for (int part = 0; part < n_parts; part++) {
        from = 0;
        while ((from = next_tensor(&whole->graph, from, true)) < whole->graph.n_tensors) {
            to = next_tensor(&parts->graph, to, true);
            int64_t elements = pdnn_tensor_elements(&parts->graph.tensors[to]);
            assert_int_equal(elements * n_parts, pdnn_tensor_elements(&whole->graph.tensors[from]));
            memcpy(parts->values[to++], whole->values[from++] + part * elements,
                   (size_t)elements * sizeof(double));
        }
    }
    assert_int_equal(next_tensor(&parts->graph, to, true), parts->graph.n_tensors);
}

static void compare_weights(const struct net *whole, const struct net *parts, const char *id) {
    uint32_t a = 0, b = 0;
    while ((a = next_tensor(&whole->graph, a, false)) < whole->graph.n_tensors) {
        b = next_tensor(&parts->graph, b, false);
        for (int64_t i = 0; i < pdnn_tensor_elements(&whole->graph.tensors[a]); i++) {
            if (!(fabs(whole->values[a][i] - parts->values[b][i]) <= 1e-12))
                fail_msg("%s: weight %u element %ld is %.15g, in parts %.15g", id, a, (long)i,
                         whole->values[a][i], parts->values[b][i]);
        }
        a++;
        b++;
    }
    assert_true(fabs(whole->values[whole->graph.loss][0] - parts->values[parts->graph.loss][0]) <= 1e-12);
}

/* A step of k micro-steps equals a step on k times the minibatch, if no op mixes examples. With sgd, the
 * updated weights show every gradient. */
static void test_accumulate_is_a_larger_batch(void **state) {
    (void)state;
    static const struct {
        const char *id;
        int batch, parts;
    } rows[] = {
        {"fc/layers=3,nodes=7,input=5,output=4,optimizer=sgd", 6, 2},
        {"fc/layers=3,nodes=7,input=5,output=4,optimizer=sgd", 6, 3},
        {"fc/layers=2,nodes=7,input=5,output=4,optimizer=sgd,fuse=post-ops,activation=sigmoid", 8, 4},
        {"cnn/block=plain,blocks=1-2,filters=3,image=8,output=3,dense=5,optimizer=sgd", 4, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct net whole, parts;
        char text[PDNN_ID_TEXT], more[64];
        snprintf(more, sizeof more, "batch=%d", rows[i].batch);
        open_net(with(rows[i].id, more, text), &whole);
        snprintf(more, sizeof more, "batch=%d,accumulate=%d", rows[i].batch / rows[i].parts, rows[i].parts);
        open_net(with(rows[i].id, more, text), &parts);
        split_data(&whole, &parts, rows[i].parts);
        for (int step = 0; step < 2; step++) {
            reference_run(&whole.graph, whole.values, 0, whole.graph.n_nodes);
            reference_run(&parts.graph, parts.values, 0, parts.graph.n_nodes);
            compare_weights(&whole, &parts, text);
        }
        close_net(&whole);
        close_net(&parts);
    }
}

/* All families, including ops with state: running statistics, dropout. */
static const char *const small[] = {
    "fc/layers=3,nodes=4,input=3,output=5,batch=6,activation=tanh",
    "cnn/block=residual,blocks=1,filters=2,image=17,output=3,batch=2,activation=tanh",
    "cnn/block=bottleneck,blocks=1-2-1-1,filters=2,image=33,output=3,batch=2,activation=sigmoid",
    "cnn/block=plain,blocks=2-1,filters=3,image=9,output=3,batch=2,dense=4,activation=tanh",
    "rnn/cell=lstm,layers=2,embedding=3,length=3,vocabulary=5,batch=2,dropout=20",
    "rnn/cell=gru,layers=2,embedding=3,length=3,vocabulary=5,batch=2,bidirectional=yes,output_at=last",
    "rnn/cell=lbr_gru,layers=1,embedding=3,length=3,vocabulary=5,batch=2,output_at=none,dropout=50",
    "gnmt/hidden=3,layers=3,vocabulary=5,source=3,target=2,batch=2,dropout=20",
    "transformer/hidden=4,heads=2,layers=2,vocabulary=5,length=3,batch=2,positions=3,objective=masked-lm,predictions=2,dropout=20",
    "transformer/architecture=decoder,hidden=4,heads=2,layers=2,vocabulary=5,length=3,batch=2,positions=3,norm=pre,objective=causal-lm,activation=gelu_tanh,dropout=30",
    "deepspeech2/hidden=2,layers=2,frames=35,characters=4,labels=2,batch=2",
};
enum { SMALL = sizeof small / sizeof *small };
enum { QUICK = SMALL - 1 };   /* without the last one, whose convolutions are slow */
enum { FIRST_SEGMENTED = 1 }; /* fc has no segments */

static bool goes_with(const char *id, const char *settings) {
    return id != small[0] || !strstr(settings, "checkpoint");
}

static void test_gradients_of_micro_steps(void **state) {
    (void)state;
    static const char *const settings[] = {"accumulate=2", "accumulate=3,fuse=post-ops",
                                           "accumulate=2,checkpoint=layer", "checkpoint=layer",
                                           "checkpoint=layer,fuse=post-ops"};
    for (size_t i = 0; i < QUICK * (sizeof settings / sizeof *settings); i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        if (!goes_with(small[i % QUICK], settings[i / QUICK]))
            continue;
        build_graph(with(small[i % QUICK], settings[i / QUICK], id), &arena, &graph);
        check_gradients_at_once(&graph, 5);
        pdnn_arena_finish(&arena);
    }
}

static void test_costs_of_micro_steps(void **state) {
    (void)state;
    static const char *const settings[] = {"accumulate=2,checkpoint=layer,fuse=post-ops,optimizer=lamb",
                                           "accumulate=3", "checkpoint=layer"};
    for (size_t i = 0; i < SMALL + 2 * QUICK; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        size_t at = i < SMALL ? i : (i - SMALL) % QUICK, setting = i < SMALL ? 0 : 1 + (i - SMALL) / QUICK;
        if (!goes_with(small[at], settings[setting]))
            continue;
        build_graph(with(small[at], settings[setting], id), &arena, &graph);
        check_flop_counts(&graph, id);
        check_depth_costs(id);
        pdnn_arena_finish(&arena);
    }
}

static bool is_kept(enum pdnn_role role) {
    return role == PDNN_ROLE_WEIGHT || role == PDNN_ROLE_STATE;
}

/* Weights and states come in the same order in both graphs. */
static void compare_kept(const struct net *a, const struct net *b, const char *id) {
    uint32_t other = 0;
    for (uint32_t i = 0; i < a->graph.n_tensors; i++) {
        const struct pdnn_tensor *tensor = &a->graph.tensors[i];
        if (!is_kept(tensor->role))
            continue;
        while (!is_kept(b->graph.tensors[other].role))
            other++;
        size_t bytes = (size_t)pdnn_tensor_elements(tensor) * sizeof(double);
        assert_int_equal(b->graph.tensors[other].role, tensor->role);
        if (memcmp(a->values[i], b->values[other], bytes) != 0)
            fail_msg("%s: %s %u differs", id, pdnn_role_name(tensor->role), i);
        other++;
    }
}

/* After two steps, weights and state are the same with and without checkpoints: recomputation changes
 * neither values nor state. */
static void test_checkpoint_computes_the_same(void **state) {
    (void)state;
    for (size_t i = 2 * FIRST_SEGMENTED; i < SMALL + QUICK; i++) {
        struct net nets[2];
        char id[PDNN_ID_TEXT];
        for (int k = 0; k < 2; k++) {
            char more[64];
            snprintf(more, sizeof more, "accumulate=%d,checkpoint=%s", 1 + (int)(i % 2),
                     k ? "layer" : "none");
            open_net(with(small[i / 2], more, id), &nets[k]);
            for (int step = 0; step < 2; step++)
                reference_run(&nets[k].graph, nets[k].values, 0, nets[k].graph.n_nodes);
        }
        compare_kept(&nets[0], &nets[1], id);
        close_net(&nets[0]);
        close_net(&nets[1]);
    }
}

static struct pdnn_cost cost_of_node(const struct pdnn_graph *graph, size_t node) {
    struct pdnn_cost cost;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_cost_node(graph, &graph->nodes[node], &cost, &err), PDNN_OK);
    return cost;
}

/* The costs of a step: of its updates, and of everything else. */
struct costs {
    struct pdnn_cost update, rest;
};

static struct costs costs_of(const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct costs costs = {0};
    struct pdnn_err err = {0};
    build_graph(id, &arena, &graph);
    for (size_t i = 0; i < graph.n_nodes; i++) {
        struct pdnn_cost cost = cost_of_node(&graph, i);
        bool update = graph.nodes[i].pass == PDNN_UPDATE;
        assert_int_equal(pdnn_cost_add(update ? &costs.update : &costs.rest, &cost, &err), PDNN_OK);
    }
    pdnn_arena_finish(&arena);
    return costs;
}

/* Everything but the update costs k times as much, plus 3 words per parameter and a sum of two losses between
 * consecutive micro-steps. */
static void test_accumulate_costs(void **state) {
    (void)state;
    static const char *const ids[] = {
        "fc/layers=3,nodes=17,input=5,output=4,batch=6",
        "rnn/cell=lstm,layers=2,embedding=7,length=3,vocabulary=5,batch=2",
        "cnn/block=residual,blocks=1,filters=2,image=33,output=3,batch=2",
        /* two nodes read the table, and one more sum for its two losses */
        "transformer/layers=1,hidden=8,heads=2,length=4,positions=4,vocabulary=11,batch=2,objective=masked-lm,predictions=1"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const uint64_t k = 5, params = totals_of(ids[i]).params;
        char id[PDNN_ID_TEXT];
        struct costs one = costs_of(ids[i]), many = costs_of(with(ids[i], "accumulate=5", id));
        assert_memory_equal(&one.update, &many.update, sizeof one.update);
        assert_int_equal(many.rest.flop_count, k * one.rest.flop_count + (k - 1) * (params + 1));
        assert_int_equal(many.rest.byte_count,
                         k * one.rest.byte_count + (k - 1) * 3 * sizeof(float) * (params + 1));
        assert_int_equal(many.rest.gradient_bytes,
                         k * one.rest.gradient_bytes + (k - 1) * 3 * sizeof(float) * params);
    }
}

/* Sums of gradients come late enough that bias gradients stay fused into the products
 * beside them in every micro-step. */
static void test_accumulate_fuses_bias_gradients(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph("fc/layers=3,nodes=17,input=5,output=4,batch=6,accumulate=4,fuse=post-ops", &arena, &graph);
    size_t n_sums = 0;
    for (size_t i = 0; i < graph.n_nodes; i++) {
        const struct pdnn_node *node = &graph.nodes[i];
        n_sums += node->op == &pdnn_op_add && node->pass == PDNN_BACKWARD_WEIGHTS;
        assert_false(node->op == &pdnn_op_bias);
    }
    assert_int_equal(n_sums, 3 * 8); /* 3 sums for each weight and bias of four layers */
    pdnn_arena_finish(&arena);
}

static uint64_t rounded(uint64_t bytes) {
    return (bytes + PDNN_MEMORY_ALIGN - 1) / PDNN_MEMORY_ALIGN * PDNN_MEMORY_ALIGN;
}

/* A further micro-step needs memory only for its data; the second also needs the sums of gradients. */
static void test_accumulate_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < SMALL; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        uint64_t data = 0, weights = 0;
        build_graph(small[i], &arena, &graph);
        for (uint32_t t = 0; t < graph.n_tensors; t++) {
            data += is_data(&graph, t) ? rounded(pdnn_tensor_bytes(&graph.tensors[t])) : 0;
            weights +=
                graph.tensors[t].role == PDNN_ROLE_WEIGHT ? rounded(pdnn_tensor_bytes(&graph.tensors[t])) : 0;
        }
        pdnn_arena_finish(&arena);
        uint64_t one = memory_of(small[i]), two = memory_of(with(small[i], "accumulate=2", id));
        uint64_t six = memory_of(with(small[i], "accumulate=6", id));
        if (two > one + data + 2 * weights + PDNN_MEMORY_ALIGN)
            fail_msg("%s: %lu bytes after %lu", id, (unsigned long)two, (unsigned long)one);
        assert_int_equal(six, two + 4 * data);
    }
}

/* Every node of a segment is repeated once, with all its cost except that of state, before any
 * backward node of the segment. */
static void check_copies(const struct pdnn_graph *graph, const char *id) {
    size_t n_copies = 0, n_originals = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        n_originals += node->segment && !node->recompute;
        if (!node->recompute)
            continue;
        n_copies++;
        uint32_t original = graph->tensors[node->output[0]].of;
        size_t k = 0;
        while (graph->nodes[k].output[0] != original)
            k++;
        assert_true(k < i && graph->nodes[k].segment && graph->nodes[k].op == node->op);
        assert_int_equal(node->pass, PDNN_FORWARD);
        uint64_t flop = cost_of_node(graph, i).flop_count, once = cost_of_node(graph, k).flop_count;
        bool same_flop = node->n_outputs == graph->nodes[k].n_outputs;
        if (same_flop ? flop != once : flop >= once)
            fail_msg("%s: %s costs %lu FLOP, and %lu again", id, node->op->name, (unsigned long)once,
                     (unsigned long)flop);
    }
    assert_int_equal(n_copies, n_originals);
}

static void test_checkpoint_copies(void **state) {
    (void)state;
    for (size_t i = FIRST_SEGMENTED; i < SMALL; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        build_graph(with(small[i], "checkpoint=layer,accumulate=2", id), &arena, &graph);
        check_copies(&graph, id);
        pdnn_arena_finish(&arena);
    }
}

/* Three segments of products with a weight, so all of them have three passes;
 * returns the FLOP of all products. */
static uint64_t matrix_flop_of_segments(bool checkpoint) {
    struct chain chain;
    begin_chain(&chain);
    struct pdnn_graph *graph = &chain.graph;
    struct pdnn_backward *backward = pdnn_backward_create(graph, checkpoint);
    uint32_t y = chain_weight(&chain, 2, (int64_t[]){6, 5});
    for (int i = 0; i < 3; i++) {
        pdnn_graph_segment_begin(graph);
        uint32_t w = chain_weight(&chain, 2, (int64_t[]){5, 5});
        y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){y, w, PDNN_NONE}, NULL);
        y = pdnn_graph_forward(graph, &pdnn_op_tanh, (uint32_t[]){y, PDNN_NONE}, NULL);
        pdnn_graph_segment_end(graph);
    }
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {6},
                                 .fill = {PDNN_FILL_CLASS, 5},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(graph, &labels);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, label, PDNN_NONE}, NULL);
    pdnn_backward_append(backward);
    pdnn_backward_update(backward, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    assert_int_equal(pdnn_graph_status(graph, NULL), PDNN_OK);
    check_gradients(graph, 3);
    uint64_t flop = flop_of_op(graph, &pdnn_op_dense);
    pdnn_arena_finish(&chain.arena);
    return flop;
}

static void test_checkpoint_matrix_flop(void **state) {
    (void)state;
    uint64_t without = matrix_flop_of_segments(false), with_it = matrix_flop_of_segments(true);
    assert_int_equal(without, 3 * 3 * 2 * 6 * 5 * 5);
    assert_int_equal(3 * with_it, 4 * without);
}

/* A stack of layers in which all products need gradients. */
static void test_checkpoint_matrix_flop_of_layers(void **state) {
    (void)state;
    static const char *const ids[] = {
        "transformer:bert-large,layers=3,batch=2,pooler=no",
        "transformer:bert-base,layers=2,batch=1,pooler=no,qkv=separate,norm=pre",
    };
    for (size_t i = 0; i < 2; i++) {
        char id[PDNN_ID_TEXT];
        uint64_t without = products_flop(ids[i]);
        assert_int_equal(3 * products_flop(with(ids[i], "checkpoint=layer", id)), 4 * without);
        assert_int_equal(products_flop(with(ids[i], "accumulate=4", id)), 4 * without);
    }
}

static void test_checkpoint_memory(void **state) {
    (void)state;
    static const struct {
        const char *id;
        double part; /* at most this part of the memory without checkpoints */
    } rows[] = {
        {"cnn:resnet50,batch=16", 0.6},
        {"cnn:vgg16,batch=16", 0.95},
        {"rnn/cell=lstm,layers=6,embedding=128,length=100,batch=64", 0.6},
        {"transformer:bert-base,batch=32", 0.6},
        {"gnmt/hidden=128,layers=6,source=50,target=50,batch=128,vocabulary=100", 0.8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[PDNN_ID_TEXT];
        uint64_t without = memory_of(rows[i].id), bytes = memory_of(with(rows[i].id, "checkpoint=layer", id));
        if ((double)bytes > rows[i].part * (double)without)
            fail_msg("%s: %lu bytes of %lu", id, (unsigned long)bytes, (unsigned long)without);
    }
}

/* Neither setting applies to inference, nor a checkpoint to a family without segments. */
static void test_settings_apply(void **state) {
    (void)state;
    static const struct {
        const char *id;
        bool accumulates, checkpoints;
    } rows[] = {
        {"cnn/mode=train", true, true},
        {"rnn/mode=train", true, true},
        {"fc/mode=train", true, false},
        {"cnn/mode=infer", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance = instance_of(rows[i].id);
        assert_int_equal(pdnn_setting_applies(&instance, PDNN_SETTING_ACCUMULATE), rows[i].accumulates);
        assert_int_equal(pdnn_setting_applies(&instance, PDNN_SETTING_CHECKPOINT), rows[i].checkpoints);
    }
}

/* A nondeterministic family would give the micro-steps different weights. */
static void test_replay_of_another_weight(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    chain_weight(&chain, 2, (int64_t[]){2, 3});
    uint32_t second = chain_weight(&chain, 1, (int64_t[]){4});
    pdnn_graph_replay(&chain.graph);
    assert_int_equal(chain_weight(&chain, 2, (int64_t[]){2, 3}), 0);
    assert_int_equal(chain_weight(&chain, 1, (int64_t[]){4}), second);
    pdnn_graph_replay(&chain.graph);
    chain_weight(&chain, 2, (int64_t[]){3, 2});
    assert_int_equal(pdnn_graph_status(&chain.graph, NULL), PDNN_INTERNAL);
    pdnn_arena_finish(&chain.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accumulate_is_a_larger_batch),
        cmocka_unit_test(test_gradients_of_micro_steps),
        cmocka_unit_test(test_costs_of_micro_steps),
        cmocka_unit_test(test_checkpoint_computes_the_same),
        cmocka_unit_test(test_accumulate_costs),
        cmocka_unit_test(test_accumulate_fuses_bias_gradients),
        cmocka_unit_test(test_accumulate_memory),
        cmocka_unit_test(test_checkpoint_copies),
        cmocka_unit_test(test_checkpoint_matrix_flop),
        cmocka_unit_test(test_checkpoint_matrix_flop_of_layers),
        cmocka_unit_test(test_checkpoint_memory),
        cmocka_unit_test(test_settings_apply),
        cmocka_unit_test(test_replay_of_another_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
