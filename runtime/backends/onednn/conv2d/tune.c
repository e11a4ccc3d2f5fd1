#include "runtime/backends/onednn/conv2d/tune.h"

#include "models/op.h"
#include "runtime/backend/choose.h"

#include <inttypes.h>

/* Images are alike, so few are measured: no more than have so many elements, read in both tensors. */
enum { MAX_ELEMENTS = 1 << 23, COMPILATIONS = 2, ROUNDS = 3, VISIT_NS = 200000, WAYS = 2 };
static const double MARGIN = 0.9;

struct measured {
    const struct pdnn_onednn_compile *compile;
    const struct pdnn_node *node;
    int64_t images, all_images;
    bool keeps_weights;
};

static void drop_images(const void *user, uint32_t tensor, struct pdnn_tensor *copy) {
    const struct measured *measured = user;
    const enum pdnn_role role = measured->compile->program->graph->tensors[tensor].role;
    if (copy->rank == 4 && copy->dim[0] == measured->all_images && !pdnn_role_is_weight(role) &&
        role != PDNN_ROLE_WEIGHT_GRADIENT)
        copy->dim[0] = measured->images;
}

/* Whether an image that the node reads is stored as it was given. */
static bool reads_plain(const struct pdnn_onednn_compile *compile, const struct pdnn_node *node) {
    bool is_plain = false;
    for (int k = 0; k < node->n_inputs; k++) {
        const struct pdnn_tensor *tensor = &compile->program->graph->tensors[node->input[k]];
        is_plain = is_plain || (tensor->rank == 4 && tensor->role == PDNN_ROLE_INPUT &&
                                !compile->program->slots[node->input[k]].channel_block);
    }
    return is_plain;
}

static enum pdnn_status prepare(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    const struct measured *measured = user;
    const struct pdnn_onednn_compile *compile = measured->compile;
    const struct pdnn_onednn_conv2d_choice choice = {.is_own = i == 1,
                                                     .order = compile->order,
                                                     .keeps_weights = measured->keeps_weights,
                                                     .is_data_plain = reads_plain(compile, measured->node)};
    one->edit = drop_images;
    one->user = measured;
    pdnn_one_node_add(one, measured->node);
    compile->onednn->forced_conv2d = &choice;
    enum pdnn_status status = pdnn_onednn_trial_compile(compile, one, err);
    compile->onednn->forced_conv2d = NULL;
    return status;
}

enum pdnn_status pdnn_onednn_conv2d_choose(const struct pdnn_onednn_compile *compile,
                                           const struct pdnn_node *node,
                                           const struct pdnn_onednn_conv2d_question *question, bool *is_own,
                                           struct pdnn_err *err) {
    struct pdnn_onednn *onednn = compile->onednn;
    struct measured measured = {.compile = compile,
                                .node = node,
                                .images = question->images,
                                .all_images = question->images,
                                .keeps_weights = question->keeps_weights};
    const struct pdnn_trial trial = {.tune = &onednn->tune,
                                     .n = WAYS,
                                     .group_size = WAYS,
                                     .shuns_reference = true,
                                     .prepare = prepare,
                                     .user = &measured,
                                     .from = compile->program->graph,
                                     .room_bytes = onednn->trial_bytes};
    struct pdnn_choice choice = {.key = question->key,
                                 .what = "a convolution",
                                 .trial = &trial,
                                 .rules = {.rounds = ROUNDS, .visit_ns = VISIT_NS},
                                 .compilations = COMPILATIONS,
                                 .margin = MARGIN};
    int picked = 0;
    if (onednn->forced_conv2d) {
        *is_own = onednn->forced_conv2d->is_own;
        return PDNN_OK;
    }
    while (measured.images > 1 && measured.images * question->elements > MAX_ELEMENTS)
        measured.images = (measured.images + 1) / 2;
    pdnn_tune_key_add(&choice.key, " N=%" PRId64 " dtype=%s threads=%" PRId64, measured.images,
                      pdnn_dtype_name(pdnn_node_in(compile->program->graph, node, 0)->dtype),
                      onednn->options.threads);
    enum pdnn_status status = pdnn_trial_choose(&choice, &picked, err);
    *is_own = picked == 1;
    return status;
}
