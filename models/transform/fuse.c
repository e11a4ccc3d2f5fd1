#include "models/transform/fuse.h"

#include "models/op.h"

#include <string.h>

static void find_uses(const struct pdnn_graph *graph, struct pdnn_uses *uses) {
    size_t n = graph->n_tensors;
    uses->writer = pdnn_arena_alloc(graph->arena, n, sizeof *uses->writer);
    uses->first_reader = pdnn_arena_alloc(graph->arena, n, sizeof *uses->first_reader);
    uses->readers = pdnn_arena_alloc(graph->arena, n, sizeof *uses->readers);
    memset(uses->writer, 0xff, n * sizeof *uses->writer);
    memset(uses->first_reader, 0xff, n * sizeof *uses->first_reader);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        struct pdnn_access access[PDNN_NODE_ACCESSES];
        for (int k = pdnn_node_accesses(&graph->nodes[i], access); k-- > 0;) {
            uint32_t tensor = access[k].tensor;
            if (access[k].is_written)
                uses->writer[tensor] = i;
            else if (!uses->readers[tensor]++)
                uses->first_reader[tensor] = i;
        }
    }
}

static bool has_room(const struct pdnn_graph *graph, const struct pdnn_node *host, enum pdnn_pass pass,
                     const struct pdnn_node *follower) {
    const struct pdnn_pass_def *post = &follower->op->pass[pass];
    return host->op && host->pass == pass && host->n_posts < PDNN_NODE_POSTS &&
           pdnn_op_takes(host->op, pass, follower->op) && (!post->is_post || post->is_post(graph, follower));
}

/* Without operands of its own. */
static struct pdnn_post post_of(const struct pdnn_node *follower) {
    struct pdnn_post post = {
        .op = follower->op, .pass = follower->pass, .input = PDNN_NONE, .output = PDNN_NONE};
    memcpy(post.coef, follower->coef, sizeof post.coef);
    return post;
}

static void absorb(struct pdnn_graph *graph, struct pdnn_node *host, struct pdnn_node *follower,
                   struct pdnn_post post) {
    if (!host->posts)
        host->posts = pdnn_arena_alloc(graph->arena, PDNN_NODE_POSTS, sizeof *host->posts);
    host->posts[host->n_posts++] = post;
    follower->op = NULL;
}

/* Whether the value exists before node `at` runs. */
static bool is_early(const struct pdnn_graph *graph, const struct pdnn_uses *uses, uint32_t tensor,
                     uint32_t at) {
    return tensor == PDNN_NONE || graph->tensors[tensor].role == PDNN_ROLE_WEIGHT ||
           uses->writer[tensor] == PDNN_NONE || uses->writer[tensor] < at;
}

/* The follower joins the producer of its first input if nothing else reads that value and its other input
 * existed before the producer ran; or the producer's constants absorb it along with the posts so far. */
static void fuse_forward(struct pdnn_graph *graph, struct pdnn_uses *uses, uint32_t index) {
    struct pdnn_node *follower = &graph->nodes[index];
    uint32_t between = follower->input[0], at = uses->writer[between];
    if (at == PDNN_NONE || uses->readers[between] != 1 || between == graph->result)
        return;
    struct pdnn_node *host = &graph->nodes[at];
    struct pdnn_post post = post_of(follower);
    if (!host->op || host->pass != PDNN_FORWARD || host->output[0] != between)
        return;
    if (follower->op->fold && follower->op->fold(graph, uses, host, follower, &post)) {
        host->n_posts = 0;
    } else {
        post.input = follower->n_inputs > 1 ? follower->input[1] : PDNN_NONE;
        if (follower->n_inputs > 2 || !has_room(graph, host, PDNN_FORWARD, follower) ||
            !is_early(graph, uses, post.input, at))
            return;
    }
    host->output[0] = follower->output[0];
    uses->writer[follower->output[0]] = at;
    absorb(graph, host, follower, post);
}

/* The follower, which turns one gradient into another, joins the only node that reads the result, provided
 * nothing else reads the follower's input. */
static void fuse_backward_data(struct pdnn_graph *graph, const struct pdnn_uses *uses, uint32_t index) {
    struct pdnn_node *follower = &graph->nodes[index];
    uint32_t dy = follower->input[0], between = follower->output[0], at = uses->first_reader[between];
    if (at == PDNN_NONE || uses->readers[between] != 1 || uses->readers[dy] != 1 || follower->n_inputs != 2)
        return;
    struct pdnn_node *host = &graph->nodes[at];
    if (!has_room(graph, host, PDNN_BACKWARD_DATA, follower) || host->input[0] != between)
        return;
    struct pdnn_post post = post_of(follower);
    post.input = follower->input[1];
    host->input[0] = dy;
    absorb(graph, host, follower, post);
}

/* The follower joins a later node that reads the same output gradient, unless its result
 * is needed earlier. */
static void fuse_backward_weights(struct pdnn_graph *graph, const struct pdnn_uses *uses, uint32_t index) {
    struct pdnn_node *follower = &graph->nodes[index];
    uint32_t dy = follower->input[0], result = follower->output[0];
    for (uint32_t at = index + 1; at < graph->n_nodes && at < uses->first_reader[result]; at++) {
        struct pdnn_node *host = &graph->nodes[at];
        if (!has_room(graph, host, PDNN_BACKWARD_WEIGHTS, follower) || !pdnn_node_readings(host, dy))
            continue;
        struct pdnn_post post = post_of(follower);
        post.input = dy;
        post.output = result;
        absorb(graph, host, follower, post);
        return;
    }
}

void pdnn_fuse_post_ops(struct pdnn_graph *graph) {
    struct pdnn_uses uses;
    if (graph->err.status != PDNN_OK)
        return;
    find_uses(graph, &uses);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].pass == PDNN_FORWARD)
            fuse_forward(graph, &uses, i);
        else if (graph->nodes[i].pass == PDNN_BACKWARD_DATA)
            fuse_backward_data(graph, &uses, i);
        else if (graph->nodes[i].pass == PDNN_BACKWARD_WEIGHTS)
            fuse_backward_weights(graph, &uses, i);
    }
    size_t kept = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].op)
            graph->nodes[kept++] = graph->nodes[i];
    }
    graph->n_nodes = kept;
}
