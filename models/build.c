#include "models/build.h"

#include "models/backward.h"
#include "models/fuse.h"
#include "models/optimizer.h"

enum pdnn_status pdnn_instance_graph(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                     struct pdnn_graph *graph, struct pdnn_err *err) {
    pdnn_graph_init(graph, arena);
    graph->dtype = (enum pdnn_dtype)instance->setting[PDNN_SETTING_DTYPE];
    graph->algorithm = instance->setting[PDNN_SETTING_ALGORITHM];
    graph->rnn = instance->setting[PDNN_SETTING_RNN];
    struct pdnn_instance resolved = *instance;
    pdnn_instance_resolve(&resolved, 1); /* of a resolved one the same; no graph depends on threads */
    instance->family->build(&resolved, graph);
    if (instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN)
        pdnn_backward_derive(graph, &pdnn_optimizers[instance->setting[PDNN_SETTING_OPTIMIZER]]);
    if (instance->setting[PDNN_SETTING_FUSE] == PDNN_FUSE_POST_OPS)
        pdnn_fuse_post_ops(graph);
    return pdnn_graph_status(graph, err);
}
