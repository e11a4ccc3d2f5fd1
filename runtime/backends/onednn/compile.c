#include "runtime/backends/onednn/compile.h"

#include "runtime/backend/one_node.h"
#include "runtime/backends/onednn/library/library.h"
#include "runtime/lowering/upcast.h"

enum pdnn_status pdnn_onednn_upcast_check(const struct pdnn_onednn_compile *compile,
                                          const struct pdnn_node *node, struct pdnn_err *err) {
    if (compile->program->allow_slow)
        return PDNN_OK;
    return pdnn_upcast_refuse("onednn", pdnn_onednn_isa_name(), compile->program->graph, node, err);
}

enum pdnn_status pdnn_onednn_upcast_compile(struct pdnn_onednn_compile *compile, uint32_t node,
                                            struct pdnn_err *err) {
    const struct pdnn_program *program = compile->program;
    enum pdnn_status status = pdnn_onednn_upcast_check(compile, &program->graph->nodes[node], err);
    if (status == PDNN_OK && compile->onednn->is_trial)
        status = pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: f32 copies are no candidate");
    if (status != PDNN_OK)
        return status;
    return pdnn_upcast_compile(compile->calls.backend, compile->onednn, compile->onednn->options.threads,
                               compile->program, node, err);
}

enum pdnn_status pdnn_onednn_trial_compile(const struct pdnn_onednn_compile *compile,
                                           struct pdnn_one_node *one, struct pdnn_err *err) {
    const bool is_in_trial = compile->onednn->is_trial; /* a layer's, which asks for its products */
    compile->onednn->is_trial = true;
    enum pdnn_status status =
        pdnn_one_node_compile(one, compile->calls.backend, compile->onednn, compile->program, false, err);
    compile->onednn->is_trial = is_in_trial;
    return status;
}
