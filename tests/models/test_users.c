/* The table of users has what a search of the whole graph finds. */
#include "tests/cmocka_all.h"

#include "models/build.h"
#include "models/users.h"

static size_t count_in(struct pdnn_user_list list, uint32_t user) {
    size_t count = 0;
    for (const uint32_t *at = list.begin; at < list.end; at++) {
        assert_true(at == list.begin || at[-1] <= *at);
        count += *at == user;
    }
    return count;
}

static size_t count_uses(const struct pdnn_node *node, uint32_t tensor) {
    size_t count = 0;
    for (int k = 0; k < node->n_inputs; k++)
        count += node->input[k] == tensor;
    for (int k = 0; k < node->n_outputs; k++)
        count += node->output[k] == tensor;
    for (int k = 0; k < node->n_posts; k++) {
        bool is_new = node->posts[k].pass != PDNN_BACKWARD_WEIGHTS; /* else its host reads that, too */
        count += (is_new && node->posts[k].input == tensor) + (size_t)(node->posts[k].output == tensor);
    }
    return count;
}

static void test_users_of_graphs(void **state) {
    static const char *const ids[] = {"fc/layers=3", "cnn:resnet18,fuse=post-ops",
                                      "rnn/cell=lstm,checkpoint=none,accumulate=2",
                                      "transformer/layers=2,checkpoint=layer,dtype=bf16", "gnmt/mode=infer"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_instance instance;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_users users;
        struct pdnn_err err = {0};
        size_t n_tensors = 0;
        if (pdnn_instance_parse(ids[i], &instance, &err) != PDNN_OK ||
            pdnn_instance_graph(&instance, &arena, &graph, &err) != PDNN_OK)
            fail_msg("%s: %s", ids[i], err.text);
        pdnn_users_init(&users, &graph, &arena);
        for (uint32_t t = 0; t < graph.n_tensors; t++) {
            for (uint32_t n = 0; n < graph.n_nodes; n++)
                assert_int_equal(count_in(pdnn_users_nodes(&users, t), n), count_uses(&graph.nodes[n], t));
            const struct pdnn_user_list tensors = pdnn_users_tensors(&users, t);
            for (const uint32_t *at = tensors.begin; at < tensors.end; at++, n_tensors++)
                assert_int_equal(graph.tensors[*at].of, t);
        }
        for (uint32_t t = 0; t < graph.n_tensors; t++)
            n_tensors -= graph.tensors[t].of != PDNN_NONE;
        assert_int_equal(n_tensors, 0);
        pdnn_arena_finish(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_users_of_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
