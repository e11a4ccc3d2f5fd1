#include "models/cost/lifetimes.h"

#include "models/op.h"
#include "models/sharing.h"

bool pdnn_role_is_resident(enum pdnn_role role) {
    return role == PDNN_ROLE_INPUT || role == PDNN_ROLE_LABEL || role == PDNN_ROLE_WEIGHT ||
           role == PDNN_ROLE_STATE;
}

static int count_inputs(const struct pdnn_node *node, uint32_t tensor) {
    int count = 0;
    for (int i = 0; i < node->n_inputs; i++)
        count += node->input[i] == tensor;
    return count;
}

static uint32_t find_summand(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    for (int i = 0; i < node->n_posts && node->pass == PDNN_FORWARD; i++) {
        const struct pdnn_post *post = &node->posts[i];
        if (post->input == PDNN_NONE || !post->op->pass[post->pass].in_place)
            continue;
        const struct pdnn_tensor *extra = &graph->tensors[post->input];
        if (!pdnn_role_is_resident(extra->role) && pdnn_node_readings(node, post->input) == 1 &&
            pdnn_tensor_bytes(extra) == pdnn_tensor_bytes(pdnn_node_out(graph, node, 0)))
            return post->input;
    }
    return PDNN_NONE;
}

bool pdnn_memory_is_view(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_pass_def *pass = &node->op->pass[node->pass];
    return pass->is_view && !pdnn_role_is_resident(pdnn_node_in(graph, node, 0)->role) &&
           pass->is_view(graph, node);
}

struct pdnn_heritage pdnn_memory_heritage(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    if (pdnn_memory_is_view(graph, node))
        return (struct pdnn_heritage){node->input[0], PDNN_NONE, true};
    int in_place = node->op->pass[node->pass].in_place;
    /* What a node reads as two of its inputs is still read while a part of it is overwritten: the gradients
     * of both results of dropout_add_norm are one tensor if only a sum reads them. */
    bool has_input = in_place && in_place <= node->n_inputs &&
                     count_inputs(node, node->input[in_place - 1]) == 1 &&
                     pdnn_tensor_elements(pdnn_node_in(graph, node, in_place - 1)) ==
                         pdnn_tensor_elements(pdnn_node_out(graph, node, 0));
    return (struct pdnn_heritage){has_input ? node->input[in_place - 1] : PDNN_NONE,
                                  find_summand(graph, node), false};
}

static uint32_t root_of(const struct pdnn_lifetime *lifetimes, uint32_t buffer) {
    while (lifetimes[buffer].takes_over != PDNN_NONE)
        buffer = lifetimes[buffer].takes_over;
    return buffer;
}

/* Views of a buffer, and views of these, follow it in the order of their calls. */
static void join_views(const struct pdnn_use_list *list, struct pdnn_lifetime *lifetimes) {
    struct pdnn_heritage heritage;
    for (uint32_t i = 0; i < list->n_calls; i++) {
        uint32_t output = list->inherit(list->user, i, &heritage);
        if (output == PDNN_NONE || !heritage.is_view)
            continue;
        struct pdnn_lifetime *root = &lifetimes[root_of(lifetimes, heritage.input)];
        lifetimes[output].takes_over = heritage.input;
        root->last = root->last > lifetimes[output].last ? root->last : lifetimes[output].last;
    }
    for (uint32_t i = 0; i < list->n_buffers; i++)
        lifetimes[i].last = lifetimes[root_of(lifetimes, i)].last;
}

/* Whether the call reads the buffer's memory as one operand only: a view of it may be another. */
static bool is_alone(const struct pdnn_use_list *list, const struct pdnn_lifetime *lifetimes, uint32_t call,
                     uint32_t input) {
    uint32_t buffer[PDNN_USE_BUFFERS], root = root_of(lifetimes, input);
    int n_buffers = list->use(list->user, call, buffer);
    for (int k = 0; k < n_buffers; k++)
        if (buffer[k] != input && root_of(lifetimes, buffer[k]) == root)
            return false;
    return true;
}

static bool take_over(const struct pdnn_use_list *list, struct pdnn_lifetime *lifetimes, uint32_t input,
                      uint32_t output, uint32_t call) {
    if (input == PDNN_NONE || input == output)
        return false;
    const struct pdnn_lifetime *old = &lifetimes[input];
    struct pdnn_lifetime *heir = &lifetimes[output];
    if (old->last != call || old->first >= call || heir->first != call || old->bytes != heir->bytes ||
        (list->has_views && !is_alone(list, lifetimes, call, input)))
        return false;
    heir->takes_over = input;
    return true;
}

static const uint32_t untouched = UINT32_MAX;

static void touch(const struct pdnn_use_list *list, struct pdnn_lifetime *lifetimes) {
    for (uint32_t i = 0; i < list->n_calls; i++) {
        uint32_t buffer[PDNN_USE_BUFFERS];
        int n_buffers = list->use(list->user, i, buffer);
        for (int k = 0; k < n_buffers; k++) {
            struct pdnn_lifetime *lifetime = &lifetimes[buffer[k]];
            lifetime->first = lifetime->first == untouched ? i : lifetime->first;
            lifetime->last = lifetime->last < i ? i : lifetime->last;
        }
    }
}

void pdnn_lifetimes_find(const struct pdnn_use_list *list, struct pdnn_lifetime *lifetimes) {
    for (size_t i = 0; i < list->n_buffers; i++) {
        lifetimes[i].takes_over = PDNN_NONE;
        lifetimes[i].first = lifetimes[i].last == UINT32_MAX ? 0 : untouched;
    }
    touch(list, lifetimes);
    for (size_t i = 0; i < list->n_buffers; i++) {
        if (lifetimes[i].first == untouched)
            lifetimes[i] = (struct pdnn_lifetime){.takes_over = PDNN_NONE, .leads = lifetimes[i].leads};
    }
    for (size_t k = 0; k < sizeof list->kept / sizeof *list->kept; k++) {
        if (list->kept[k] != PDNN_NONE)
            lifetimes[list->kept[k]].last = UINT32_MAX;
    }
    if (list->has_views)
        join_views(list, lifetimes);
    for (uint32_t i = 0; i < list->n_calls; i++) {
        struct pdnn_heritage heritage;
        uint32_t output = list->inherit(list->user, i, &heritage);
        if (output != PDNN_NONE && !heritage.is_view &&
            !take_over(list, lifetimes, heritage.input, output, i))
            take_over(list, lifetimes, heritage.summand, output, i);
    }
}

static int use_node(const void *user, uint32_t index, uint32_t buffer[PDNN_USE_BUFFERS]) {
    const struct pdnn_graph *graph = user;
    const struct pdnn_node *node = &graph->nodes[index];
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int count = node->n_posts ? pdnn_node_accesses(node, access) : 0;
    for (int k = 0; k < count; k++)
        buffer[k] = access[k].tensor;
    for (int k = 0; k < node->n_inputs && !node->n_posts; k++)
        buffer[count++] = node->input[k];
    for (int k = 0; k < node->n_outputs && !node->n_posts; k++)
        buffer[count++] = node->output[k];
    return count;
}

static uint32_t inherit_node(const void *user, uint32_t index, struct pdnn_heritage *heritage) {
    const struct pdnn_graph *graph = user;
    *heritage = pdnn_memory_heritage(graph, &graph->nodes[index]);
    return graph->nodes[index].output[0];
}

struct pdnn_lifetime *pdnn_memory_lifetimes(const struct pdnn_graph *graph) {
    struct pdnn_lifetime *all = pdnn_arena_room(graph->arena, pdnn_memory_count(graph), sizeof *all);
    for (size_t i = 0; i < graph->n_tensors; i++) {
        enum pdnn_role role = graph->tensors[i].role;
        bool is_resident = pdnn_role_is_resident(role);
        all[i] = (struct pdnn_lifetime){.bytes = pdnn_tensor_bytes(&graph->tensors[i]),
                                        .last = is_resident ? UINT32_MAX : 0,
                                        .leads = is_resident && pdnn_role_is_shared(role)};
    }
    bool has_views = false;
    for (size_t i = 0; i < graph->n_nodes; i++)
        has_views |= graph->nodes[i].op->pass[graph->nodes[i].pass].is_view != NULL;
    const struct pdnn_use_list list = {.n_buffers = graph->n_tensors,
                                       .n_calls = graph->n_nodes,
                                       .kept = {graph->loss, graph->result},
                                       .has_views = has_views,
                                       .use = use_node,
                                       .inherit = inherit_node,
                                       .user = graph};
    pdnn_lifetimes_find(&list, all);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_pass_def *pass = &node->op->pass[node->pass];
        all[graph->n_tensors + i] =
            (struct pdnn_lifetime){.bytes = pass->workspace ? pass->workspace(graph, node) : 0,
                                   .first = i,
                                   .last = i,
                                   .takes_over = PDNN_NONE};
    }
    return all;
}
