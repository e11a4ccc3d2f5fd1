/* Which implementation runs each convolution on the backend onednn when the axis `algorithm` names one. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/kernels/simd/level.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn;

static bool has_library_winograd(const struct pdnn_program *program) {
    bool has = false;
    for (size_t i = 0; i < program->n_calls; i++)
        has = has || (strncmp(program->calls[i].implementation, "onednn:", 7) == 0 &&
                      strstr(program->calls[i].implementation, "wino"));
    return has;
}

/* Ours: not the gradient of weights, and whole vectors of channels. */
static bool may_be_ours(const struct pdnn_node *node, const struct pdnn_tensor *w) {
    const int64_t least = 4;
    return node->pass != PDNN_BACKWARD_WEIGHTS && w->dim[0] % least == 0 && w->dim[1] % least == 0;
}

static bool has_wide_vectors(void) {
    const int lanes = 16;
    return 4 << pdnn_level_of_machine == lanes;
}

/* Each algorithm runs under its name in all passes, winograd where it applies: in the library, or ours where
 * the library lacks it and our kernel can. */
static void test_compile_algorithms(void **state) {
    (void)state;
    static const char *const algorithms[] = {"direct", "winograd", "gemm"};
    /* Stride 1 and whole blocks of filters, which direct backward passes require. */
    static const char *const ids[] = {
        "cnn/block=plain,blocks=1-2,filters=16,image=18,output=5,batch=3,dense=17,mode=train,optimizer=sgd",
        "cnn/block=residual,blocks=2,filters=8,image=32,output=5,batch=2,mode=infer",
    };
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int i = 0; i < 6; i++) {
        const char *algorithm = algorithms[i / 2];
        bool is_winograd = strcmp(algorithm, "winograd") == 0;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_program program;
        struct pdnn_err err = {0};
        char id[320];
        snprintf(id, sizeof id, "%s,algorithm=%s", ids[i % 2], algorithm);
        build_instance(id, &arena, &graph);
        pdnn_program_init(&program, &graph);
        must(backend.def->compile(backend.state, &graph, &program, &err), &err);
        const bool is_librarys = has_library_winograd(&program);
        bool was_ours[PDNN_PASS_COUNT] = {false};
        for (size_t k = 0; k < program.n_calls; k++) {
            const struct pdnn_call *call = &program.calls[k];
            if (call->node == PDNN_NONE || graph.nodes[call->node].op != &pdnn_op_conv2d)
                continue;
            const struct pdnn_node *node = &graph.nodes[call->node];
            uint32_t w = node->pass == PDNN_BACKWARD_WEIGHTS ? node->output[0] : node->input[1];
            bool applies = graph.tensors[w].dim[2] == 3 && node->attr[PDNN_CONV2D_STRIDE_H] == 1;
            bool is_wino = strstr(call->implementation, "wino") != NULL;
            bool is_gemm = strstr(call->implementation, "gemm") != NULL;
            assert_true(is_winograd || is_gemm == (strcmp(algorithm, "gemm") == 0));
            if (is_librarys)
                assert_int_equal(is_wino, is_winograd && applies);
            else
                assert_true(!is_wino || (is_winograd && applies && may_be_ours(node, &graph.tensors[w])));
            was_ours[node->pass] = was_ours[node->pass] || (!is_librarys && is_wino);
        }
        /* Images lie in vectors of channels wherever the library has code for vectors of 16. */
        if (is_winograd && !is_librarys && has_wide_vectors()) {
            assert_true(was_ours[PDNN_FORWARD]);
            assert_int_equal(was_ours[PDNN_BACKWARD_DATA], graph.loss != PDNN_NONE);
        }
        /* Transformed weights cannot be read back: tests/cli/check_test.py compares results. */
        if (!is_winograd)
            assert_true(check_graph(&backend, &graph, 1, check_whole_step_slack, id));
        pdnn_program_finish(&program);
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile_algorithms)};
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
