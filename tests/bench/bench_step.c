/* A plan's whole training step against the same primitives and kernels called directly, one after the other
 * in one C function, each with its own memory. */
#include "models/build.h"
#include "models/op.h"
#include "runtime/backends/onednn/library/post_ops.h"
#include "runtime/backends/onednn/state.h"
#include "runtime/plan/plan.h"
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/rows/loss.h"
#include "runtime/kernels/update/optimizer.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 25, LAYERS = 4, INPUT = 512, OUTPUT = 100, BATCH = 64, AT_LEAST_NS = 3000000 };

/* Row-major inner products with fused bias and ReLU, identical on both sides. */
static const struct pdnn_onednn_dense_choice choice = {.stored = PDNN_ONEDNN_WEIGHTS_ROW_MAJOR};

struct layer {
    int64_t inputs, outputs;
    struct pdnn_onednn_dense_pass forward, backward_data, backward_weights;
    float *w, *b, *dw, *db, *y, *dy, *ms[2], *mom[2]; /* for w, for b */
};

struct bare {
    int64_t threads;
    struct pdnn_onednn_pool pool;
    struct layer layer[LAYERS + 1];
    float *x, *p, *loss;
    int32_t *label;
    double *partial;
};

static float *new_values(int64_t elements, float scale) {
    float *values = bench_memory((uint64_t)elements * sizeof *values);
    for (int64_t i = 0; i < elements; i++)
        values[i] = scale * ((float)(i * 7919 % 1013) / 506.5F - 1.0F);
    return values;
}

static void bind(struct pdnn_onednn_dense_pass *pass, float *x, float *w, float *b, float *y) {
    uint64_t scratch = pdnn_onednn_primitive_bytes(pass->primitive, PDNN_ONEDNN_SCRATCHPAD);
    pdnn_onednn_primitive_bind(pass->primitive, pass->x, x);
    pdnn_onednn_primitive_bind(pass->primitive, pass->w, w);
    pdnn_onednn_primitive_bind(pass->primitive, pass->y, y);
    if (b)
        pdnn_onednn_primitive_bind(pass->primitive, pass->b, b);
    if (scratch)
        pdnn_onednn_primitive_bind(pass->primitive, PDNN_ONEDNN_SCRATCHPAD, bench_memory(scratch));
}

static void create(struct bare *bare, const struct pdnn_onednn_dense_shape *shape, enum pdnn_pass pass,
                   struct pdnn_onednn_dense_pass *made) {
    if (pdnn_onednn_dense_pass_create(&bare->pool, shape, pass, (struct pdnn_onednn_dense_variant){0}, made,
                                      NULL) != PDNN_OK)
        bench_fail("oneDNN has no such pass");
}

static void make_layer(struct bare *bare, int at, int64_t inputs, int64_t outputs) {
    struct layer *layer = &bare->layer[at];
    struct pdnn_onednn_dense_shape shape = {
        .N = BATCH, .I = inputs, .O = outputs, .bias = true, .bias_gradient = true};
    float *x = at ? layer[-1].y : bare->x, *dx = at ? layer[-1].dy : NULL;
    shape.n_post_ops = at < LAYERS;
    if (!pdnn_onednn_post_op_find(&pdnn_op_relu, pdnn_op_relu.coef, &shape.post_op[0]))
        bench_fail("relu");
    layer->inputs = inputs;
    layer->outputs = outputs;
    layer->w = new_values(outputs * inputs, 0.05F);
    layer->b = new_values(outputs, 0.05F);
    layer->dw = new_values(outputs * inputs, 0);
    layer->db = new_values(outputs, 0);
    layer->y = new_values(BATCH * outputs, 0);
    layer->dy = new_values(BATCH * outputs, 0);
    for (int k = 0; k < 2; k++) {
        layer->ms[k] = new_values(k ? outputs : outputs * inputs, 0);
        layer->mom[k] = new_values(k ? outputs : outputs * inputs, 0);
    }
    create(bare, &shape, PDNN_FORWARD, &layer->forward);
    bind(&layer->forward, x, layer->w, layer->b, layer->y);
    create(bare, &shape, PDNN_BACKWARD_WEIGHTS, &layer->backward_weights);
    bind(&layer->backward_weights, x, layer->dw, layer->db, layer->dy);
    if (!at)
        return;
    create(bare, &shape, PDNN_BACKWARD_DATA, &layer->backward_data);
    bind(&layer->backward_data, dx, layer->w, NULL, layer->dy);
}

static void update(const struct bare *bare, float *w, float *g, float *ms, float *mom, int64_t elements) {
    const struct pdnn_update_job job = {.rule = PDNN_UPDATE_RMSPROP,
                                        .w = w,
                                        .g = g,
                                        .state = {ms, mom},
                                        .coef = {1e-3, 0.9, 0.9, 1},
                                        .elements = elements};
    pdnn_update_run(&job, bare->threads);
}

static void run_bare(void *user) {
    const struct bare *bare = user;
    const struct layer *last = &bare->layer[LAYERS];
    for (int i = 0; i <= LAYERS; i++)
        pdnn_onednn_primitive_run(bare->layer[i].forward.primitive);
    const struct pdnn_loss_job forward = {last->y,       bare->label, bare->p, bare->loss,
                                          bare->partial, BATCH,       OUTPUT,  1};
    pdnn_loss_forward(&forward, bare->threads);
    const struct pdnn_loss_job backward = {bare->p, bare->label, last->dy, NULL, NULL, BATCH, OUTPUT, 1};
    pdnn_loss_backward(&backward, bare->threads);
    for (int i = LAYERS; i >= 0; i--) {
        const struct layer *layer = &bare->layer[i];
        pdnn_onednn_primitive_run(layer->backward_weights.primitive);
        if (!i)
            continue;
        pdnn_onednn_primitive_run(layer->backward_data.primitive);
        const struct pdnn_elementwise_job relu = {
            PDNN_RELU_BACKWARD,    layer[-1].dy, layer[-1].y, layer[-1].dy,
            BATCH * layer->inputs, false,        {0},         {0}};
        pdnn_elementwise_run(&relu, bare->threads);
    }
    for (int i = 0; i <= LAYERS; i++) {
        const struct layer *layer = &bare->layer[i];
        update(bare, layer->w, layer->dw, layer->ms[0], layer->mom[0], layer->inputs * layer->outputs);
        update(bare, layer->b, layer->db, layer->ms[1], layer->mom[1], layer->outputs);
    }
}

static void run_plan(void *user) {
    if (pdnn_plan_run(user) != 0)
        bench_fail("a step failed");
}

static void make_bare(struct bare *bare, int64_t nodes) {
    bare->x = new_values(BATCH * INPUT, 1);
    bare->p = new_values(BATCH * OUTPUT, 0);
    bare->loss = new_values(1, 0);
    bare->label = bench_memory(BATCH * sizeof *bare->label);
    bare->partial = bench_memory((uint64_t)bare->threads * PDNN_LOSS_STRIDE * sizeof *bare->partial);
    for (int i = 0; i < BATCH; i++)
        bare->label[i] = i % OUTPUT;
    for (int i = 0; i <= LAYERS; i++)
        make_layer(bare, i, i ? nodes : INPUT, i < LAYERS ? nodes : OUTPUT);
}

static void bench_nodes(struct pdnn_onednn *onednn, int64_t threads, int nodes) {
    struct bare bare = {.threads = threads, .pool = {.library = onednn->library}};
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_instance instance;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    char id[160];
    snprintf(id, sizeof id,
             "fc/layers=%d,nodes=%d,input=%d,output=%d,batch=%d,mode=train,optimizer=rmsprop,fuse=post-ops",
             LAYERS, nodes, INPUT, OUTPUT, BATCH);
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK ||
        pdnn_instance_graph(&instance, &arena, &graph, &err) != PDNN_OK ||
        pdnn_plan_create(&plan, &pdnn_backend_onednn, onednn, &graph, &(struct pdnn_plan_options){.seed = 1},
                         &err) != PDNN_OK)
        bench_fail(err.text);
    make_bare(&bare, nodes);
    struct bench_case cases[] = {
        {.name = "bare", .run = run_bare, .user = &bare, .work = 1, .at_least_ns = AT_LEAST_NS},
        {.name = "plan", .run = run_plan, .user = &plan, .work = 1, .at_least_ns = AT_LEAST_NS},
    };
    bench_run(cases, 2, ROUNDS);
    struct bench_ratio ratio = bench_rate_ratio(&cases[0], &cases[1], ROUNDS);
    printf("%6d nodes: plan %10.1f us, bare %10.1f us, plan / bare %.3f (%.3f to %.3f), %d steps\n", nodes,
           bench_median_ns(&cases[1], ROUNDS) / 1e3, bench_median_ns(&cases[0], ROUNDS) / 1e3, ratio.median,
           ratio.low, ratio.high, (int)plan.program.n_calls);
    for (int i = 0; i <= LAYERS; i++) {
        pdnn_onednn_primitive_destroy(bare.layer[i].forward.primitive);
        pdnn_onednn_primitive_destroy(bare.layer[i].backward_data.primitive);
        pdnn_onednn_primitive_destroy(bare.layer[i].backward_weights.primitive);
    }
    pdnn_onednn_pool_finish(&bare.pool);
    pdnn_plan_destroy(&plan);
    pdnn_arena_finish(&arena);
}

int main(void) {
    static const int nodes[] = {16, 64, 256, 1024, 2048};
    void *state = NULL;
    struct pdnn_err err = {0};
    int64_t threads = bench_threads();
    const struct pdnn_host host = {0};
    const struct pdnn_call_options options = pdnn_call_options(&host, threads, 0);
    if (pdnn_backend_onednn.open(&options, &state, &err) != PDNN_OK)
        bench_fail(err.text);
    struct pdnn_onednn *onednn = state;
    onednn->forced_dense = &choice;
    printf("fc training steps, %d layers, batch %d, %d threads, medians of %d rounds in turns\n", LAYERS,
           BATCH, (int)threads, ROUNDS);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        bench_nodes(onednn, threads, nodes[i]);
    pdnn_backend_onednn.close(state);
    return 0;
}
