#include "models/build.h"

#include "models/transform/backward.h"
#include "models/transform/distribute.h"
#include "models/transform/fuse.h"
#include "models/transform/fuse_blocks.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/quantize.h"
#include "models/forward.h"

/* Appends the forward graph of a micro-step. */
static void append_forward(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    size_t first = graph->n_nodes;
    instance->family->build(instance, graph);
    if (instance->setting[PDNN_SETTING_FUSE] == PDNN_FUSE_BLOCKS)
        pdnn_fuse_blocks(graph, first);
}

/* Scales the losses of the micro-step that begins at the node: each is a fraction of the step's loss. */
static void scale_losses(struct pdnn_graph *graph, size_t first, int64_t micro_steps) {
    for (size_t i = first; i < graph->n_nodes; i++) {
        if (graph->nodes[i].op->is_loss)
            graph->nodes[i].coef[0] /= (double)micro_steps;
    }
}

/* One micro-step is forward and backward; its activations are dead before the next one begins. */
static void build_training(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    int64_t micro_steps = instance->setting[PDNN_SETTING_ACCUMULATE];
    struct pdnn_backward *backward =
        pdnn_backward_create(graph, instance->setting[PDNN_SETTING_CHECKPOINT] == PDNN_CHECKPOINT_LAYER);
    for (int64_t i = 0; i < micro_steps && graph->err.status == PDNN_OK; i++) {
        size_t first = graph->n_nodes;
        if (i > 0)
            pdnn_graph_replay(graph);
        append_forward(instance, graph);
        scale_losses(graph, first, micro_steps);
        pdnn_backward_append(backward);
    }
    if (graph->err.status == PDNN_OK)
        pdnn_backward_update(backward, &pdnn_optimizers[instance->setting[PDNN_SETTING_OPTIMIZER]]);
}

/* Other models are built in f32 with f32 costs, and are marked as unable to run. */
static bool can_quantize(const struct pdnn_instance *instance) {
    return instance->family->quantizes && instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_INFER;
}

const char *pdnn_instance_refusal(const struct pdnn_instance *instance) {
    if (instance->setting[PDNN_SETTING_DTYPE] != PDNN_INT8 || can_quantize(instance))
        return NULL;
    return instance->family->quantizes ? "int8 is for inference"
                                       : "int8 is for inference, and not for models of this family";
}

/* An empty graph with what the instance says of all its nodes, and the instance as families build it: no
 * graph depends on threads. */
static struct pdnn_instance begin(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                  struct pdnn_graph *graph) {
    pdnn_graph_init(graph, arena);
    enum pdnn_dtype dtype = (enum pdnn_dtype)instance->setting[PDNN_SETTING_DTYPE];
    graph->dtype = dtype == PDNN_INT8 ? PDNN_F32 : dtype;
    graph->unsupported = pdnn_instance_refusal(instance);
    graph->has_masters =
        instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN && pdnn_dtype_is_half(graph->dtype);
    graph->algorithm = instance->setting[PDNN_SETTING_ALGORITHM];
    graph->rnn = instance->setting[PDNN_SETTING_RNN];
    graph->updates_apart =
        instance->family->has_blocks && instance->setting[PDNN_SETTING_FUSE] != PDNN_FUSE_BLOCKS;
    graph->stems_apart = instance->family->stems_apart;
    struct pdnn_instance resolved = *instance;
    pdnn_instance_resolve(&resolved, 1); /* no change if it is resolved already */
    return resolved;
}

enum pdnn_status pdnn_instance_forward(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                       struct pdnn_graph *graph, struct pdnn_err *err) {
    struct pdnn_instance resolved = begin(instance, arena, graph);
    append_forward(&resolved, graph);
    return pdnn_graph_status(graph, err);
}

enum pdnn_status pdnn_instance_graph(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                     struct pdnn_graph *graph, struct pdnn_err *err) {
    struct pdnn_instance resolved = begin(instance, arena, graph);
    if (instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN)
        build_training(&resolved, graph);
    else
        append_forward(&resolved, graph);
    if (instance->setting[PDNN_SETTING_FUSE] != PDNN_FUSE_NONE)
        pdnn_fuse_post_ops(graph);
    if (instance->setting[PDNN_SETTING_DTYPE] == PDNN_INT8 && can_quantize(instance))
        pdnn_quantize(graph, instance->setting[PDNN_SETTING_FUSE] != PDNN_FUSE_NONE);
    if (instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN)
        pdnn_distribute(instance, graph);
    return pdnn_graph_status(graph, err);
}
