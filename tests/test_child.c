/* The worker's own side, end to end: this program is its own worker, with two backends, `reference` and,
 * under the name of `openblas`, a copy of it that can be made to err. */
#define _POSIX_C_SOURCE 200809L
#include "models/build.h"
#include "models/group.h"
#include "models/op.h"
#include "runtime/core/backend.h"
#include "runtime/driver/worker.h"
#include "tests/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_reference;

/* What the faulty backend does to output 0 of its steps number PDNN_TEST_STEP: multiplies it by
 * PDNN_TEST_FACTOR. */
static const char step_variable[] = "PDNN_TEST_STEP", factor_variable[] = "PDNN_TEST_FACTOR";

struct fault {
    struct pdnn_work inner;
    uint32_t tensor;
    size_t elements;
    double factor, *values;
};

static enum pdnn_status bind_fault(void *state, void *const *memory, struct pdnn_err *err) {
    struct fault *fault = state;
    fault->values = memory[fault->tensor];
    return fault->inner.bind(fault->inner.state, memory, err);
}

static int run_fault(void *state) {
    struct fault *fault = state;
    int code = fault->inner.run(fault->inner.state);
    for (size_t i = 0; i < fault->elements; i++)
        fault->values[i] *= fault->factor;
    return code;
}

static enum pdnn_status compile_faulty(void *state, const struct pdnn_graph *graph,
                                       struct pdnn_program *program, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_backend_reference.compile(state, graph, program, err);
    const char *index = getenv(step_variable), *factor = getenv(factor_variable);
    if (status != PDNN_OK || !index || !factor)
        return status;
    long number = strtol(index, NULL, 10);
    struct pdnn_step *step = &program->steps[number < 0 ? (long)program->n_steps + number : number];
    struct fault *fault = pdnn_arena_alloc(&program->arena, 1, sizeof *fault);
    assert_non_null(fault);
    fault->inner = step->work;
    fault->tensor = graph->nodes[step->node].output[0];
    fault->elements = (size_t)pdnn_tensor_elements(&graph->tensors[fault->tensor]);
    fault->factor = strtod(factor, NULL);
    step->work = (struct pdnn_work){fault, bind_fault, run_fault, NULL};
    snprintf(step->implementation, sizeof step->implementation, "gemm:ref");
    return PDNN_OK;
}

static const char *faulty_version(void) {
    return "faulty";
}

static enum pdnn_status faulty_open(int64_t threads, void **state, struct pdnn_err *err) {
    return pdnn_backend_reference.open(threads, state, err);
}

static void faulty_close(void *state) {
    pdnn_backend_reference.close(state);
}

static enum pdnn_status faulty_put(void *state, const struct pdnn_program *program, uint32_t tensor,
                                   const void *plain, void *memory, struct pdnn_err *err) {
    return pdnn_backend_reference.put(state, program, tensor, plain, memory, err);
}

static enum pdnn_status faulty_get(void *state, const struct pdnn_program *program, uint32_t tensor,
                                   const void *memory, void *plain, struct pdnn_err *err) {
    return pdnn_backend_reference.get(state, program, tensor, memory, plain, err);
}

static const struct pdnn_backend_def faulty = {.name = "openblas",
                                               .help = "errs",
                                               .version = faulty_version,
                                               .open = faulty_open,
                                               .close = faulty_close,
                                               .compile = compile_faulty,
                                               .put = faulty_put,
                                               .get = faulty_get};

const struct pdnn_backend_def *const pdnn_backends[] = {&faulty, &pdnn_backend_reference, NULL};

static const char model[] = "fc/layers=4,nodes=12,input=20,output=5,batch=6,threads=1";

static void start(struct pdnn_worker *worker, const char *step, const char *factor) {
    struct pdnn_host host;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    host.threads = 1;
    if (step)
        setenv(step_variable, step, 1);
    else
        unsetenv(step_variable);
    setenv(factor_variable, factor, 1);
    assert_int_equal(pdnn_worker_start(worker, &host, (uint64_t)1 << 30, &err), PDNN_OK);
}

static void visit(struct pdnn_worker *worker, const char *settings, uint64_t memory_limit_bytes,
                  struct pdnn_visit *visit) {
    char id[256];
    struct pdnn_err err = {0};
    snprintf(id, sizeof id, "%s,%s", model, settings);
    const struct pdnn_visit_request request = {
        .id = id,
        .seed = 3,
        .memory_limit_bytes = memory_limit_bytes,
        .rules = {.min_samples = 3, .max_visit_ns = 1000000, .precision = 0.02},
    };
    assert_int_equal(pdnn_worker_visit(worker, &request, 0, NULL, NULL, NULL, visit, &err), PDNN_OK);
}

/* Each group of the graph is one row of the visit, with its key and its count. */
static void test_worker_main_visit_ops(void **state) {
    static const char *const settings[] = {"mode=infer,backend=reference", "mode=train,backend=reference",
                                           "mode=train,backend=reference,fuse=post-ops",
                                           "mode=infer,backend=reference,cache=cold"};
    struct pdnn_worker worker;
    (void)state;
    start(&worker, NULL, "1");
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        struct pdnn_visit seen;
        struct pdnn_instance instance;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_group *groups;
        size_t n_groups;
        char id[256];
        struct pdnn_err err = {0};
        visit(&worker, settings[k], 0, &seen);
        assert_string_equal(seen.reason, "");
        assert_int_equal(seen.outcome, PDNN_OUTCOME_OK);
        assert_true(seen.samples >= 3 && seen.median_ns > 0 && seen.prepare_ns > 0 && seen.plan_bytes > 0);
        assert_int_equal(seen.flags & PDNN_FLAG_REF, 0);
        snprintf(id, sizeof id, "%s,%s", model, settings[k]);
        assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        assert_int_equal(pdnn_graph_groups(&graph, &groups, &n_groups, NULL, &err), PDNN_OK);
        assert_int_equal(seen.n_ops, n_groups);
        for (size_t i = 0; i < n_groups; i++) {
            const struct pdnn_node *node = &graph.nodes[groups[i].node];
            char key[PDNN_OP_KEY_TEXT];
            snprintf(key, sizeof key, "%s/%s/%s", node->op->name, pdnn_pass_name(node->pass),
                     groups[i].shape);
            assert_string_equal(seen.ops[i].key, key);
            assert_int_equal(seen.ops[i].count, groups[i].count);
            assert_string_equal(seen.ops[i].implementation, "reference:f64");
            assert_true(seen.ops[i].time_ns >= 0);
        }
        pdnn_visit_finish(&seen);
        pdnn_arena_finish(&arena);
    }
    pdnn_worker_stop(&worker);
}

static void test_worker_main_visit_refused(void **state) {
    static const struct {
        const char *settings;
        uint64_t memory_limit_bytes;
        enum pdnn_outcome outcome;
    } cases[] = {
        {"backend=reference", 1000, PDNN_OUTCOME_OOM_PREDICTED},
        {"backend=onednn", 0, PDNN_OUTCOME_UNSUPPORTED}, /* not among this program's */
        {"backend=reference,dtype=bf16", 0, PDNN_OUTCOME_UNSUPPORTED},
        {"backend=reference,nonsense=1", 0, PDNN_OUTCOME_INVALID},
        {"backend=reference", 0, PDNN_OUTCOME_OK},
    };
    struct pdnn_worker worker;
    (void)state;
    start(&worker, NULL, "1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_visit seen;
        visit(&worker, cases[i].settings, cases[i].memory_limit_bytes, &seen);
        assert_int_equal(seen.outcome, cases[i].outcome);
        assert_int_equal(*seen.reason != 0, cases[i].outcome != PDNN_OUTCOME_OK);
        pdnn_visit_finish(&seen);
    }
    pdnn_worker_stop(&worker);
}

static void test_worker_main_visit_threads(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit seen;
    struct pdnn_err err = {0};
    const struct pdnn_visit_request request = {.id = "fc/threads=2,backend=reference"};
    (void)state;
    start(&worker, NULL, "1");
    assert_int_equal(pdnn_worker_visit(&worker, &request, 0, NULL, NULL, NULL, &seen, &err), PDNN_OK);
    assert_int_equal(seen.outcome, PDNN_OUTCOME_INVALID);
    assert_string_equal(seen.reason, "asks for 2 threads, this process may use 1 cores");
    pdnn_worker_stop(&worker);
}

static void test_worker_main_visit_faults(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit seen;
    (void)state;
    start(&worker, "-1", "nan");
    visit(&worker, "mode=infer,backend=openblas", 0, &seen);
    assert_int_equal(seen.outcome, PDNN_OUTCOME_NUMERIC_ERROR);
    assert_string_equal(seen.reason, "the result is not finite at element 0 of 30");
    assert_int_equal(seen.flags & PDNN_FLAG_REF, PDNN_FLAG_REF);
    pdnn_visit_finish(&seen);
    visit(&worker, "mode=infer,backend=reference", 0, &seen);
    assert_int_equal(seen.outcome, PDNN_OUTCOME_OK);
    pdnn_visit_finish(&seen);
    pdnn_worker_stop(&worker);
}

/* A fault of one per mille in any one step shows in that step's row and in no other. */
static void test_worker_main_check(void **state) {
    char id[256], step[24];
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0, n_steps = 1;
    (void)state;
    snprintf(id, sizeof id, "%s,mode=train,optimizer=adam,backend=openblas", model);
    for (size_t faulty_step = 0; faulty_step < n_steps; faulty_step++) {
        struct pdnn_instance instance;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_worker worker;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        n_steps = graph.n_nodes;
        snprintf(step, sizeof step, "%zu", faulty_step);
        start(&worker, step, "1.001");
        assert_int_equal(pdnn_worker_check(&worker, id, 5, 0, NULL, &rows, &n_rows, &err), PDNN_OK);
        size_t row = 0;
        for (size_t i = 0; i < graph.n_nodes; i++) {
            for (int k = 0; k < graph.nodes[i].n_outputs; k++, row++) {
                bool wrong = rows[row].error > rows[row].tolerance;
                assert_true(isfinite(rows[row].error));
                assert_int_equal(wrong, i == faulty_step && k == 0);
                assert_memory_equal(rows[row].op, graph.nodes[i].op->name, strlen(graph.nodes[i].op->name));
            }
        }
        assert_int_equal(row, n_rows);
        free(rows);
        rows = NULL;
        pdnn_worker_stop(&worker);
        pdnn_arena_finish(&arena);
    }
    assert_true(n_steps > 20);
}

static void test_worker_main_check_tolerance(void **state) {
    struct pdnn_worker worker;
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    struct pdnn_err err = {0};
    (void)state;
    start(&worker, NULL, "1");
    assert_int_equal(
        pdnn_worker_check(
            &worker, "fc/layers=4,nodes=9,input=64,output=5,batch=3,threads=1,mode=infer,backend=reference",
            5, 0, NULL, &rows, &n_rows, &err),
        PDNN_OK);
    /* The first dense layer sums 64 products. */
    assert_string_equal(rows[0].op, "dense/forward hidden1");
    assert_string_equal(rows[0].tensor, "activation 2 (3x9)");
    assert_float_equal(rows[0].tolerance, pdnn_op_dense.tolerance * 8, 1e-12);
    assert_float_equal(rows[0].error, 0, 0);
    free(rows);
    pdnn_worker_stop(&worker);
}

/* State that several ops of a step change is compared as each of them leaves it. */
static void test_worker_main_check_micro_steps(void **state) {
    struct pdnn_worker worker;
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    struct pdnn_err err = {0};
    (void)state;
    start(&worker, NULL, "1");
    assert_int_equal(
        pdnn_worker_check(&worker,
                          "rnn/embedding=3,length=2,vocabulary=4,batch=2,dropout=50,threads=1,accumulate=3,"
                          "checkpoint=layer,backend=reference",
                          5, 0, NULL, &rows, &n_rows, &err),
        PDNN_OK);
    assert_true(n_rows > 60);
    for (size_t i = 0; i < n_rows; i++)
        assert_true(rows[i].error <= rows[i].tolerance);
    free(rows);
    pdnn_worker_stop(&worker);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "worker") == 0)
        return pdnn_worker_main((int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker_main_visit_ops),
        cmocka_unit_test(test_worker_main_visit_refused),
        cmocka_unit_test(test_worker_main_visit_threads),
        cmocka_unit_test(test_worker_main_visit_faults),
        cmocka_unit_test(test_worker_main_check),
        cmocka_unit_test(test_worker_main_check_tolerance),
        cmocka_unit_test(test_worker_main_check_micro_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
