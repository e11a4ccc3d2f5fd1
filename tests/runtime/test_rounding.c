/* What `check` allows: a product left out of a sum shows in every op that sums, however long the sums of
 * tests are, and sums of f32 pass at lengths at which one running sum would not. */
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "models/build.h"
#include "runtime/worker/rounding.h"
#include "tests/models/reference_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 8 };

struct fixture {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    double **values, *before[PDNN_NODE_OUTPUTS];
    const struct pdnn_node *node;
    size_t at_node;
};

static struct fixture make_graph(const char *id) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    struct fixture f = {.values = NULL};
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_instance_resolve(&instance, 1);
    if (pdnn_instance_graph(&instance, &f.arena, &f.graph, &err) != PDNN_OK)
        fail_msg("%s: %s", id, err.text);
    return f;
}

static int64_t elements_of(const struct fixture *f, uint32_t tensor) {
    return pdnn_tensor_elements(&f->graph.tensors[tensor]);
}

static void run(const struct fixture *f) {
    reference_run(&f->graph, f->values, f->at_node, f->at_node + 1);
}

/* An op that updates what it reads gives other values each time. */
static bool is_updated(const struct pdnn_node *node, uint32_t tensor) {
    for (int i = 0; i < node->n_inputs; i++) {
        if (node->input[i] == tensor)
            return true;
    }
    return false;
}

/* By how many tolerances the output that is most affected is off. Not counted is the element of an output
 * that the left out element of an input belongs to, which is wrong without any sum. */
static double find_worst(const struct fixture *f, int input, int64_t left_out) {
    double worst = 0;
    for (int k = 0; k < f->node->n_outputs; k++) {
        uint32_t output = f->node->output[k];
        bool is_alike = elements_of(f, output) == elements_of(f, f->node->input[input]);
        double largest = 0, most = 0, tolerance = 0;
        for (int64_t i = 0; i < elements_of(f, output); i++) {
            largest = fmax(largest, fabs(f->before[k][i]));
            if (!is_alike || i != left_out)
                most = fmax(most, fabs(f->values[output][i] - f->before[k][i]));
        }
        assert_int_equal(pdnn_rounding_tolerance(&f->graph, f->node, output, &tolerance, NULL), PDNN_OK);
        if (largest > 0 && !is_updated(f->node, output))
            worst = fmax(worst, most / largest / tolerance);
    }
    return worst;
}

/* The best of some tries: a single product may be nearly 0. To softmax, 0 is a value like others. */
static double leave_out(const struct fixture *f, int input, struct pdnn_rng *rng) {
    double *x = f->values[f->node->input[input]], best = 0;
    bool is_exponent = strstr(f->node->op->name, "softmax") && f->node->pass == PDNN_FORWARD;
    for (int i = 0; i < TRIES; i++) {
        int64_t at = (int64_t)pdnn_rng_below(rng, (uint64_t)elements_of(f, f->node->input[input]));
        double kept = x[at];
        x[at] = is_exponent ? -50 : 0;
        run(f);
        best = fmax(best, find_worst(f, input, at));
        x[at] = kept;
    }
    return best;
}

/* Not ids, what an optimizer steps by, or statistics that were sums before. */
static bool is_summed(const struct fixture *f, int input) {
    const struct pdnn_tensor *tensor = &f->graph.tensors[f->node->input[input]];
    bool is_statistic = tensor->rank == 1 && tensor->role != PDNN_ROLE_WEIGHT;
    bool steps = f->node->pass == PDNN_UPDATE && f->node->op != &pdnn_op_norm;
    return tensor->dtype == PDNN_F32 && !is_statistic && !steps;
}

/* Whether leaving out a product shows; nothing changes where nothing is summed. */
static bool check_node(struct fixture *f, const char *id, struct pdnn_rng *rng) {
    bool shows = false;
    run(f);
    for (int k = 0; k < f->node->n_outputs; k++) {
        size_t bytes = (size_t)elements_of(f, f->node->output[k]) * sizeof(double);
        f->before[k] = malloc(bytes);
        memcpy(f->before[k], f->values[f->node->output[k]], bytes);
    }
    for (int input = 0; input < f->node->n_inputs; input++) {
        double best = is_summed(f, input) ? leave_out(f, input, rng) : 0;
        shows = shows || best > 1;
        if (best > 0 && best <= 1)
            fail_msg("%s: without a value of input %d, %s %s is off by %g of what is allowed", id, input,
                     f->node->op->name, pdnn_pass_name(f->node->pass), best);
    }
    for (int k = 0; k < f->node->n_outputs; k++)
        free(f->before[k]);
    return shows;
}

static void test_a_product_left_out_shows(void **state) {
    static const char *const ids[] = {
        "fc/layers=2,nodes=12,input=8192,output=8192,batch=3",
        "fc/layers=1,nodes=2,input=2,output=2,batch=8192",
        "cnn/block=residual,blocks=1,filters=4,image=32,output=3,batch=4",
        "rnn/cell=lstm,layers=1,embedding=4,hidden=6,vocabulary=9,length=40,batch=50",
        "rnn/cell=gru,layers=1,embedding=2,hidden=2,length=2,vocabulary=2,batch=4096",
        "transformer/architecture=decoder,layers=1,hidden=8,heads=2,ffn=16,vocabulary=20,length=64,batch=2,optimizer=lamb",
        "transformer/layers=1,hidden=8,heads=2,ffn=16,vocabulary=20,length=9,batch=2,dropout=10,fuse=blocks",
        "gnmt/hidden=6,layers=2,vocabulary=9,source=14,target=15,batch=3",
        "deepspeech2/hidden=4,layers=1,frames=41,characters=5,labels=3,batch=2",
    };
    static const struct pdnn_op_def *const summing[] = {
        &pdnn_op_attention,
        &pdnn_op_attention_softmax,
        &pdnn_op_dropout_add_norm,
        &pdnn_op_batchnorm,
        &pdnn_op_bias,
        &pdnn_op_conv2d,
        &pdnn_op_ctc_loss,
        &pdnn_op_dense,
        &pdnn_op_embedding,
        &pdnn_op_layernorm,
        &pdnn_op_matmul,
        &pdnn_op_norm,
        &pdnn_op_rnn,
        &pdnn_op_softmax,
        &pdnn_op_softmax_cross_entropy,
    };
    enum { SUMMING = sizeof summing / sizeof *summing };
    bool shown[SUMMING] = {false};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_rng rng = {7, 0};
        struct fixture f = make_graph(ids[i]);
        f.values = reference_values(&f.graph);
        reference_fill(&f.graph, f.values, 1);
        for (f.at_node = 0; f.at_node < f.graph.n_nodes; f.at_node++) {
            f.node = &f.graph.nodes[f.at_node];
            bool shows = check_node(&f, ids[i], &rng);
            for (size_t k = 0; k < SUMMING; k++)
                shown[k] = shown[k] || (shows && f.node->op == summing[k]);
        }
        reference_values_free(&f.graph, f.values);
        pdnn_arena_finish(&f.arena);
    }
    for (size_t k = 0; k < SUMMING; k++) {
        if (!shown[k])
            fail_msg("%s: no product was left out", summing[k]->name);
    }
}

/* Our kernels' long sums are within 1e-5 (test_kernels_long_sums), whatever the FLOP of an element are. */
static void test_long_sums_have_room(void **state) {
    static const struct {
        const char *id;
        const struct pdnn_op_def *op;
        enum pdnn_pass pass;
    } rows[] = {
        {"rnn/cell=lstm,embedding=2,hidden=2,length=2,vocabulary=2,batch=400000", &pdnn_op_embedding,
         PDNN_BACKWARD_WEIGHTS},
        {"fc/layers=1,nodes=1,input=1,output=8000000,batch=1", &pdnn_op_softmax_cross_entropy, PDNN_FORWARD},
        {"fc/layers=1,nodes=2,input=2,output=2,batch=300000", &pdnn_op_dense, PDNN_BACKWARD_WEIGHTS},
        {"transformer/layers=1,hidden=2,heads=1,ffn=2,vocabulary=2,length=8192,positions=8192,batch=1",
         &pdnn_op_softmax, PDNN_FORWARD},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f = make_graph(rows[i].id);
        size_t n_met = 0;
        for (size_t n = 0; n < f.graph.n_nodes; n++) {
            const struct pdnn_node *node = &f.graph.nodes[n];
            double tolerance;
            if (node->op != rows[i].op || node->pass != rows[i].pass)
                continue;
            n_met++;
            assert_int_equal(pdnn_rounding_tolerance(&f.graph, node, node->output[0], &tolerance, NULL),
                             PDNN_OK);
            assert_true(tolerance > 1e-4 && tolerance <= PDNN_TOLERANCE_MOST);
        }
        assert_true(n_met > 0);
        pdnn_arena_finish(&f.arena);
    }
}

/* What only moves values has the tolerance of one, however many it moves, and nothing has none. */
static void test_moved_values_are_one_term(void **state) {
    static const char *const ids[] = {
        "rnn/cell=lstm,layers=1,embedding=4,hidden=6,vocabulary=9,length=40,batch=50",
        "transformer/architecture=decoder,layers=1,hidden=8,heads=2,ffn=16,vocabulary=20,length=64,batch=2",
        "gnmt/hidden=6,layers=2,vocabulary=9,source=14,target=15,batch=3",
        "cnn/block=residual,blocks=1,filters=4,image=32,output=3,batch=4",
    };
    int n_moved = 0;
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct fixture f = make_graph(ids[i]);
        for (size_t n = 0; n < f.graph.n_nodes; n++) {
            const struct pdnn_node *node = &f.graph.nodes[n];
            double tolerance;
            assert_int_equal(pdnn_rounding_tolerance(&f.graph, node, node->output[0], &tolerance, NULL),
                             PDNN_OK);
            assert_true(tolerance > 0 && tolerance <= PDNN_TOLERANCE_MOST);
            if (node->op != &pdnn_op_embedding || node->pass != PDNN_FORWARD)
                continue;
            n_moved++;
            assert_true(tolerance == node->op->tolerance);
        }
        pdnn_arena_finish(&f.arena);
    }
    assert_true(n_moved > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_product_left_out_shows),
        cmocka_unit_test(test_long_sums_have_room),
        cmocka_unit_test(test_moved_values_are_one_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
