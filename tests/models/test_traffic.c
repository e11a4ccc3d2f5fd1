/* Compulsory bytes against the reference kernels: of each operand, what a result depends on is what is listed
 * as read, and what a kernel writes is what is listed as written. An element counts as needed if changing it
 * changes a result for some of many seeds, since masks, ids and signs decide for each. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/ops/dropout_mask.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 40 };

/* What a node's operands look like, inputs before outputs. */
struct operands {
    const struct pdnn_graph *graph;
    const struct pdnn_node *node;
    double **values; /* of the graph */
    int count;
    double *before[PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS];
    double *after[PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS];
    bool *moved[PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS]; /* read, or written */
};

static uint32_t tensor_of(const struct operands *of, int k) {
    return k < of->node->n_inputs ? of->node->input[k] : of->node->output[k - of->node->n_inputs];
}

static int64_t elements_of(const struct operands *of, int k) {
    return pdnn_tensor_elements(&of->graph->tensors[tensor_of(of, k)]);
}

static size_t size_of(const struct operands *of, int k) {
    return (size_t)elements_of(of, k) * sizeof(double);
}

static bool differs(double a, double b) {
    return memcmp(&a, &b, sizeof a) != 0;
}

/* The input that output 0 continues where it stays as it is: a cache, columns that are not turned, scores
 * that are not seen, or a gradient that further nodes add to; -1: none. */
static int continued(const struct pdnn_node *node) {
    if (node->op == &pdnn_op_rope)
        return PDNN_ROPE_X;
    if (node->op == &pdnn_op_relative_bias && node->pass == PDNN_FORWARD)
        return PDNN_RELATIVE_BIAS_X;
    if (node->op == &pdnn_op_cache_append)
        return PDNN_CACHE_APPEND_CACHE;
    if (node->op == &pdnn_op_embedding && node->n_inputs == PDNN_EMBEDDING_BACK_INPUTS &&
        node->pass != PDNN_FORWARD)
        return PDNN_EMBEDDING_BACK_REST;
    bool adds = node->op == &pdnn_op_matmul && node->pass == PDNN_BACKWARD_DATA;
    return adds && node->n_inputs > PDNN_MATMUL_REST ? PDNN_MATMUL_REST : -1;
}

static void load(const struct operands *of, double *const *from) {
    for (int k = 0; k < of->count; k++)
        memcpy(of->values[tensor_of(of, k)], from[k], size_of(of, k));
}

static void run_node(const struct operands *of) {
    size_t i = (size_t)(of->node - of->graph->nodes);
    reference_run(of->graph, of->values, i, i + 1);
}

/* Whether an output differs from `after`, other than by element e of input k being passed on as it is. */
static bool changes_a_result(const struct operands *of, int k, int64_t e) {
    double given = of->values[tensor_of(of, k)][e];
    for (int o = of->node->n_inputs; o < of->count; o++) {
        const double *now = of->values[tensor_of(of, o)];
        bool passes_on = o == of->node->n_inputs && k == continued(of->node);
        for (int64_t i = 0; i < elements_of(of, o); i++)
            if (differs(now[i], of->after[o][i]) && !(passes_on && i == e && !differs(now[i], given)))
                return true;
    }
    return false;
}

static bool is_needed(const struct operands *of, int k, int64_t e) {
    static const double steps[] = {1000, -1000, 0.125};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double *element = &of->values[tensor_of(of, k)][e], changed = of->before[k][e] + steps[i];
        load(of, of->before);
        *element = changed;
        run_node(of);
        /* What is updated in place has its new value now. */
        bool is_output = false;
        for (int o = of->node->n_inputs; o < of->count; o++)
            is_output = is_output || tensor_of(of, o) == tensor_of(of, k);
        if (!is_output)
            *element = changed;
        else if (k == continued(of->node) && !differs(*element, changed))
            continue;
        if (changes_a_result(of, k, e))
            return true;
    }
    return false;
}

/* Ids, places in a window and what was among the largest address other memory; they are read whole. */
static bool is_address(const struct operands *of, int k) {
    const struct pdnn_node *node = of->node;
    bool is_back = node->pass == PDNN_BACKWARD_DATA,
         is_index = node->op == &pdnn_op_pool2d && is_back && k == PDNN_POOL2D_BACK_INDEX,
         is_kept = node->op == &pdnn_op_top_k && is_back && k == PDNN_TOP_K_BACK_Y;
    return of->graph->tensors[tensor_of(of, k)].dtype == PDNN_S32 || is_index || is_kept;
}

static void note_reads(const struct operands *of) {
    for (int k = 0; k < of->node->n_inputs; k++) {
        bool is_counter = pdnn_is_dropout_counter(&of->graph->tensors[tensor_of(of, k)]);
        for (int64_t e = 0; e < elements_of(of, k); e++)
            of->moved[k][e] = of->moved[k][e] || is_address(of, k) || is_counter || is_needed(of, k, e);
    }
}

static void note_writes(const struct operands *of) {
    int from = continued(of->node);
    for (int o = of->node->n_inputs; o < of->count; o++) {
        const double *old = of->before[o];
        if (o == of->node->n_inputs && from >= 0)
            old = of->before[from];
        for (int64_t e = 0; e < elements_of(of, o); e++)
            of->moved[o][e] = of->moved[o][e] || differs(of->after[o][e], old[e]);
    }
}

static bool is_input(const struct operands *of, uint32_t tensor) {
    for (int k = 0; k < of->node->n_inputs; k++)
        if (of->node->input[k] == tensor)
            return true;
    return false;
}

/* Values that no model would have at some places, such as gradients of 0, hide what is read: all but data
 * become random, and what is only written becomes something that no kernel writes. */
static void scatter(const struct operands *of, struct pdnn_rng *rng) {
    for (int k = 0; k < of->count; k++) {
        const struct pdnn_tensor *tensor = &of->graph->tensors[tensor_of(of, k)];
        double *values = of->values[tensor_of(of, k)];
        bool is_data = tensor->role == PDNN_ROLE_INPUT || tensor->role == PDNN_ROLE_LABEL;
        if (!is_input(of, tensor_of(of, k))) {
            for (int64_t e = 0; e < elements_of(of, k); e++)
                values[e] = 12345.678;
        } else if (k < of->node->n_inputs && pdnn_is_dropout_counter(tensor)) {
            values[0] = (double)pdnn_rng_below(rng, 1000);
        } else if (k < of->node->n_inputs && !is_data && !is_address(of, k)) {
            double least = tensor->role == PDNN_ROLE_STATE ? 0.1 : -1; /* a state may be a variance */
            for (int64_t e = 0; e < elements_of(of, k); e++)
                values[e] = least + (1 - least) * pdnn_rng_double(rng);
        }
    }
}

/* The graph goes on with its own values. */
static void visit_node(struct operands *of, struct pdnn_rng *rng) {
    double *own[PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS];
    run_node(of);
    for (int k = 0; k < of->count; k++) {
        own[k] = malloc(size_of(of, k));
        memcpy(own[k], of->values[tensor_of(of, k)], size_of(of, k));
    }
    scatter(of, rng);
    for (int k = 0; k < of->count; k++)
        memcpy(of->before[k], of->values[tensor_of(of, k)], size_of(of, k));
    run_node(of);
    for (int k = 0; k < of->count; k++)
        memcpy(of->after[k], of->values[tensor_of(of, k)], size_of(of, k));
    note_writes(of);
    note_reads(of);
    load(of, own);
    for (int k = 0; k < of->count; k++)
        free(own[k]);
}

/* Which rows are looked up depends on the seed if ids are drawn; models/test_embedding.c has them. */
static bool is_drawn(const struct operands *of) {
    const struct pdnn_fill *fill = &of->graph->tensors[of->node->input[0]].fill;
    return (of->node->op == &pdnn_op_embedding || of->node->op == &pdnn_op_embedding_bag) &&
           (fill->kind == PDNN_FILL_CLASS || fill->kind == PDNN_FILL_ZIPF);
}

/* A recurrent layer lists the initial state, which is 0 and which no node has, like that of any other step:
 * how many bytes more than are needed. */
static uint64_t initial_state(const struct operands *of) {
    const struct pdnn_node *node = of->node;
    if (node->op != &pdnn_op_rnn || node->pass == PDNN_FORWARD)
        return 0;
    return pdnn_tensor_bytes(pdnn_node_in(of->graph, node, PDNN_RNN_BACK_Y)) /
           (uint64_t)node->attr[PDNN_RNN_STEPS];
}

/* Nothing moves: the result is the input's memory. */
static bool is_view(const struct operands *of) {
    const struct pdnn_pass_def *pass = &of->node->op->pass[of->node->pass];
    return pass->is_view && pass->is_view(of->graph, of->node);
}

static void compare_bytes(const struct operands *of, const char *id) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    uint64_t listed[PDNN_NODE_ACCESSES], needed = 0, all = 0;
    char layer[PDNN_LAYER_TEXT];
    pdnn_cost_accesses(of->graph, of->node, access, listed);
    for (int k = 0; k < of->count && !is_drawn(of); k++) {
        bool is_input = k < of->node->n_inputs,
             continues = is_input && k + 1 < of->node->n_inputs && tensor_of(of, k + 1) == tensor_of(of, k);
        for (int64_t e = 0; e < elements_of(of, k) && !continues && !is_view(of); e++)
            needed += of->moved[k][e] ? pdnn_dtype_bytes(of->graph->tensors[tensor_of(of, k)].dtype) : 0;
        all += listed[k];
        if (continues) /* operands that are parts of one tensor: their sum */
            continue;
        if (all < needed || all > needed + initial_state(of))
            fail_msg("%s: %s %s %s: %s %d: %" PRIu64 " bytes are needed, %" PRIu64 " listed", id,
                     pdnn_layer_format(of->node->layer, layer), of->node->op->name,
                     pdnn_pass_name(of->node->pass), is_input ? "input" : "output",
                     is_input ? k : k - of->node->n_inputs, needed, all);
        needed = all = 0;
    }
}

static struct operands *operands_create(const struct pdnn_graph *graph, double **values) {
    struct operands *all = calloc(graph->n_nodes, sizeof *all);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        all[i] = (struct operands){graph, node, values, node->n_inputs + node->n_outputs, {0}, {0}, {0}};
        for (int k = 0; k < all[i].count; k++) {
            all[i].before[k] = malloc(size_of(&all[i], k));
            all[i].after[k] = malloc(size_of(&all[i], k));
            all[i].moved[k] = calloc((size_t)elements_of(&all[i], k), sizeof(bool));
        }
    }
    return all;
}

static void operands_destroy(struct operands *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < all[i].count; k++) {
            free(all[i].before[k]);
            free(all[i].after[k]);
            free(all[i].moved[k]);
        }
    }
    free(all);
}

static void check_graph(const struct pdnn_graph *graph, const char *id) {
    double **values = reference_values(graph);
    struct operands *all = operands_create(graph, values);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct pdnn_rng rng = {seed, 0};
        reference_fill(graph, values, seed);
        for (size_t i = 0; i < graph->n_nodes; i++)
            visit_node(&all[i], &rng);
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        compare_bytes(&all[i], id);
    operands_destroy(all, graph->n_nodes);
    reference_values_free(graph, values);
}

static void check_traffic(const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph(id, &arena, &graph);
    check_graph(&graph, id);
    pdnn_arena_finish(&arena);
}

static void test_bytes_are_what_results_need(void **state) {
    (void)state;
    static const char *const ids[] = {
        "fc/layers=2,nodes=3,input=2,output=3,batch=2",
        "fc/layers=1,nodes=3,input=2,output=3,batch=2,mode=infer",
        "cnn/block=plain,blocks=1,filters=2,kernel=1,stride=3,image=7,padding=0,window=0,output=3,batch=1",
        "cnn/block=plain,blocks=1,filters=2,kernel=3,image=1,window=0,output=3,batch=2",
        "cnn/block=residual,blocks=1,filters=1,image=8,output=3,batch=2",
        "cnn/block=bottleneck,blocks=1,filters=1,image=8,output=3,batch=2,mode=infer",
        "rnn/cell=lstm,layers=1,embedding=2,hidden=3,length=3,vocabulary=3,batch=2",
        "rnn/cell=gru,layers=1,embedding=2,hidden=3,length=3,vocabulary=3,batch=2",
        "rnn/cell=rnn,layers=1,embedding=2,hidden=3,length=3,vocabulary=3,batch=2",
        "transformer/hidden=4,heads=2,layers=1,vocabulary=5,length=3,batch=2,positions=4,ffn=4",
        "transformer/hidden=4,heads=2,layers=1,vocabulary=5,length=3,batch=2,positions=4,ffn=4,optimizer=adam,fuse=blocks",
        "transformer/architecture=decoder,hidden=4,heads=2,layers=1,vocabulary=5,length=3,batch=2,positions=4,norm=pre,objective=causal-lm,ffn=4",
        "transformer/architecture=decoder,hidden=4,heads=2,layers=1,vocabulary=5,batch=3,positions=8,objective=causal-lm,phase=decode,context=4,ffn=4,mode=infer",
        "transformer/architecture=encoder-decoder,hidden=4,heads=2,layers=1,vocabulary=5,length=3,target=2,batch=2,positions=0,objective=causal-lm,ffn=4,activation=relu,dropout=20,qkv=separate",
        "transformer/hidden=4,heads=2,layers=1,vocabulary=5,length=3,batch=2,positions=4,ffn=4,objective=masked-lm,predictions=2,dropout=20,optimizer=lamb",
        "transformer/hidden=4,heads=2,layers=1,vocabulary=5,length=3,batch=2,positions=4,ffn=4,dtype=bf16,accumulate=2,checkpoint=layer",
        "rnn/cell=lbr_gru,layers=1,embedding=2,hidden=3,length=3,vocabulary=3,batch=2,optimizer=momentum",
        "rnn/cell=lstm,layers=2,embedding=2,hidden=3,length=3,vocabulary=3,batch=2,mode=infer,rnn=unrolled",
        "gnmt/hidden=2,layers=2,vocabulary=4,source=2,target=3,batch=2,dropout=20",
        "cnn/block=plain,blocks=1,filters=2,kernel=1,stride=3,image=7,padding=0,window=0,output=3,batch=1,dtype=int8,mode=infer",
        "cnn/block=residual,blocks=1,filters=2,image=8,output=3,batch=1,dtype=int8,mode=infer",
        "minigo/board=2,blocks=1,filters=2,units=2,planes=1,batch=2",
        "retinanet/height=8,width=8,classes=1,anchors=1,blocks=1,filters=1,channels=1,batch=1",
        "unet/depth=1,filters=2,image=2,output=2,batch=1",
        "unet/depth=1,filters=2,upsampling=bilinear,image=4,output=2,batch=1,mode=infer",
        "dit/layers=1,hidden=4,heads=2,image=4,classes=3,batch=2",
        "swin/depths=2,hidden=2,head=1,window=2,patch=1,image=4,output=2,batch=1,fuse=blocks",
        "t5/layers=1,hidden=2,heads=2,width=1,ffn=2,buckets=4,distance=3,length=3,target=2,vocabulary=3,batch=1",
        "llama/layers=1,hidden=4,heads=2,ffn=2,vocabulary=3,batch=2,phase=decode,context=3,mode=infer",
        "mamba/layers=1,hidden=2,states=2,length=3,vocabulary=3,batch=2",
        "mamba/layers=1,hidden=2,states=2,kernel=2,vocabulary=3,batch=2,phase=decode,mode=infer",
        "dlrm/dim=2,bottom=2,top=3,features=2,pooling=2,rows_cap=4,batch=2",
        "graphsage/layers=2,hidden=2,features=2,fanout=2,output=2,batch=2",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        check_traffic(ids[i]);
}

/* The bytes of the graph, of its loss and of its updates; ends the chain. */
static void check_chain_bytes(struct chain *chain, uint32_t y, const char *what) {
    struct pdnn_err err = {0};
    chain_loss(chain, y);
    pdnn_backward_derive(&chain->graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    if (pdnn_graph_status(&chain->graph, &err) != PDNN_OK)
        fail_msg("%s: %s", what, err.text);
    check_graph(&chain->graph, what);
    pdnn_arena_finish(&chain->arena);
}

/* Points enough for all pixels. */
static void test_bytes_of_roi_align(void **state) {
    (void)state;
    const int64_t attr[PDNN_NODE_ATTRS] = {[PDNN_ROI_ALIGN_SIZE] = 2, [PDNN_ROI_ALIGN_SAMPLES] = 2};
    const struct pdnn_tensor boxes = {.role = PDNN_ROLE_INPUT,
                                      .dtype = PDNN_F32,
                                      .rank = 2,
                                      .dim = {4, 4},
                                      .fill = {PDNN_FILL_UNIFORM, 1},
                                      .of = PDNN_NONE};
    struct chain chain;
    begin_chain(&chain);
    const uint32_t in[] = {chain_weight(&chain, 4, (int64_t[]){2, 3, 5, 4}),
                           pdnn_graph_tensor(&chain.graph, &boxes), PDNN_NONE};
    check_chain_bytes(&chain, pdnn_graph_forward(&chain.graph, &pdnn_op_roi_align, in, attr), "roi_align");
}

/* Some columns, from a position on that turns each. */
static void test_bytes_of_rope(void **state) {
    (void)state;
    const int64_t attr[PDNN_NODE_ATTRS] = {[PDNN_ROPE_SEQUENCES] = 2,
                                           [PDNN_ROPE_HEADS] = 2,
                                           [PDNN_ROPE_WIDTH] = 2,
                                           [PDNN_ROPE_COLUMN] = 1,
                                           [PDNN_ROPE_POSITION] = 1};
    struct chain chain;
    begin_chain(&chain);
    const uint32_t in[] = {chain_weight(&chain, 2, (int64_t[]){4, 6}), PDNN_NONE};
    check_chain_bytes(&chain, pdnn_graph_forward(&chain.graph, &pdnn_op_rope, in, attr), "rope");
}

static void test_bytes_of_top_k(void **state) {
    (void)state;
    const int64_t attr[PDNN_NODE_ATTRS] = {[PDNN_TOP_K_K] = 2};
    struct chain chain;
    begin_chain(&chain);
    uint32_t y =
        pdnn_graph_forward(&chain.graph, &pdnn_op_top_k,
                           (uint32_t[]){chain_weight(&chain, 2, (int64_t[]){3, 5}), PDNN_NONE}, attr);
    y = pdnn_graph_forward(&chain.graph, &pdnn_op_softmax, (uint32_t[]){y, PDNN_NONE}, NULL);
    check_chain_bytes(&chain, y, "top_k");
}

/* Tokens at one or two of four experts, evenly or so unevenly that some get none; with gates and without. */
static void test_bytes_of_mixtures(void **state) {
    enum { TOKENS = 4, EXPERTS = 4 };
    static const int64_t rows[][3] = {{1, 0, 0}, {1, 200, 1}, {2, 0, 1}, {2, 60, 0}, {2, 100, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t active = rows[i][0], skew = rows[i][1], R = TOKENS * active,
                      dealt[PDNN_NODE_ATTRS] = {[PDNN_EXPERTS_ACTIVE] = active, [PDNN_EXPERTS_SKEW] = skew},
                      combined[PDNN_NODE_ATTRS] = {
                          [PDNN_SCATTER_ADD_ROWS] = TOKENS, [PDNN_SCATTER_ADD_SKEW] = skew};
        const struct pdnn_tensor plan = {.role = PDNN_ROLE_INPUT,
                                         .dtype = PDNN_S32,
                                         .rank = 1,
                                         .dim = {R},
                                         .fill = {PDNN_FILL_POSITION, TOKENS},
                                         .of = PDNN_NONE};
        struct chain chain;
        char what[64];
        begin_chain(&chain);
        const uint32_t in[] = {chain_weight(&chain, 2, (int64_t[]){R, 3}),
                               chain_weight(&chain, 3, (int64_t[]){EXPERTS, 2, 3}), PDNN_NONE};
        uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_experts, in, dealt),
                 at = pdnn_graph_tensor(&chain.graph, &plan),
                 gates = rows[i][2] ? chain_weight(&chain, 2, (int64_t[]){TOKENS, EXPERTS}) : PDNN_NONE;
        snprintf(what, sizeof what, "mixture %zu", i);
        check_chain_bytes(&chain,
                          pdnn_graph_forward(&chain.graph, &pdnn_op_scatter_add,
                                             (uint32_t[]){y, at, gates, PDNN_NONE}, combined),
                          what);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_what_results_need),
        cmocka_unit_test(test_bytes_of_roi_align),
        cmocka_unit_test(test_bytes_of_rope),
        cmocka_unit_test(test_bytes_of_top_k),
        cmocka_unit_test(test_bytes_of_mixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
