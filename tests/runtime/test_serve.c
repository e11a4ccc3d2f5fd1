/* The worker's side, end to end: this program is its own worker, with two backends: `reference` and, under
 * the name `openblas`, a copy of it that can be made to fail. */
#define _POSIX_C_SOURCE 200809L
#include "models/build.h"
#include "models/cost/group.h"
#include "models/definition/compile.h"
#include "models/definition/text/canonical.h"
#include "models/zoo/catalog.h"
#include "models/op.h"
#include "runtime/backend/backend.h"
#include "runtime/driver/worker/worker_program.h"
#include "runtime/driver/worker/worker.h"
#include "runtime/protocol/protocol.h"
#include "runtime/worker/serve.h"
#include "tests/cmocka_all.h"
#include "tests/near.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct pdnn_watch unwatched;

extern const struct pdnn_backend_def pdnn_backend_reference;

/* The faulty backend multiplies the output PDNN_TEST_OUTPUT of step PDNN_TEST_STEP by PDNN_TEST_FACTOR. */
static const char step_variable[] = "PDNN_TEST_STEP", output_variable[] = "PDNN_TEST_OUTPUT",
                  factor_variable[] = "PDNN_TEST_FACTOR";

struct fault {
    struct pdnn_work inner;
    uint32_t tensor;
    size_t elements;
    double factor, *values;
};

static void bind_fault(void *state, void *const *memory) {
    struct fault *fault = state;
    fault->values = memory[fault->tensor];
    fault->inner.bind(fault->inner.state, memory);
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
    const char *index = getenv(step_variable), *output = getenv(output_variable),
               *factor = getenv(factor_variable);
    if (status != PDNN_OK || !index || !output || !factor)
        return status;
    long number = strtol(index, NULL, 10);
    struct pdnn_call *call = &program->calls[number < 0 ? (long)program->n_calls + number : number];
    struct fault *fault = pdnn_arena_alloc(&program->arena, 1, sizeof *fault);
    assert_non_null(fault);
    fault->inner = call->work;
    fault->tensor = graph->nodes[call->node].output[strtol(output, NULL, 10)];
    fault->elements = (size_t)pdnn_tensor_elements(&graph->tensors[fault->tensor]);
    fault->factor = strtod(factor, NULL);
    call->work = (struct pdnn_work){fault, bind_fault, run_fault, NULL};
    call->is_reference = true;
    return PDNN_OK;
}

static const char *faulty_version(void) {
    return "faulty";
}

static enum pdnn_status faulty_open(const struct pdnn_call_options *options, void **state,
                                    struct pdnn_err *err) {
    return pdnn_backend_reference.open(options, state, err);
}

/* Supports every isa except avx. */
static enum pdnn_status faulty_limit_isa(enum pdnn_isa isa, struct pdnn_err *err) {
    return isa == PDNN_ISA_AVX ? pdnn_fail(err, PDNN_UNSUPPORTED, "no kernels for avx") : PDNN_OK;
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
                                               .limit_isa = faulty_limit_isa,
                                               .open = faulty_open,
                                               .close = faulty_close,
                                               .compile = compile_faulty,
                                               .put = faulty_put,
                                               .get = faulty_get};

const struct pdnn_backend_def *const pdnn_backends[] = {&faulty, &pdnn_backend_reference, NULL};

static const char model[] = "fc/layers=4,nodes=12,input=20,output=5,batch=6,threads=1";

struct place {
    long step; /* negative: counted from the last step */
    int output;
};

/* fault may be NULL. */
static void start(struct pdnn_worker *worker, const struct place *fault, const char *factor) {
    struct pdnn_host host;
    struct pdnn_err err = {0};
    char step[24], output[24];
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    host.threads = 1;
    unsetenv(step_variable);
    if (fault) {
        snprintf(step, sizeof step, "%ld", fault->step);
        snprintf(output, sizeof output, "%d", fault->output);
        setenv(step_variable, step, 1);
        setenv(output_variable, output, 1);
    }
    setenv(factor_variable, factor, 1);
    assert_int_equal(pdnn_worker_start(worker, &host, PDNN_WORKER_PLAIN, (uint64_t)1 << 30, &err), PDNN_OK);
}

static void visit(struct pdnn_worker *worker, const char *settings, uint64_t memory_limit_bytes,
                  struct pdnn_visit *visit) {
    struct pdnn_err err = {0};
    struct pdnn_request request = {
        .seed = 3,
        .memory_limit_bytes = memory_limit_bytes,
        .rules = {.min_samples = 3, .max_visit_ns = 1000000, .precision = 0.02},
    };
    snprintf(request.id, sizeof request.id, "%s,%s", model, settings);
    assert_int_equal(pdnn_worker_visit(worker, &request, &unwatched, visit, &err), PDNN_OK);
}

/* Each group of the graph is one row of the visit, with its key and its count. */
static void test_serve_visit_ops(void **state) {
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

static void test_serve_visit_refused(void **state) {
    static const struct {
        const char *settings;
        uint64_t memory_limit_bytes;
        enum pdnn_outcome outcome;
    } cases[] = {
        {"backend=reference", 1000, PDNN_OUTCOME_OOM_PREDICTED},
        {"backend=onednn", 0, PDNN_OUTCOME_UNSUPPORTED}, /* this program does not have it */
        {"backend=reference,dtype=int8", 0, PDNN_OUTCOME_UNSUPPORTED},
        {"backend=reference,dtype=bf16", 0, PDNN_OUTCOME_OK},
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

static void visit_of_set(struct pdnn_worker *worker, const char *id, const char *largest,
                         struct pdnn_visit *visit) {
    struct pdnn_err err = {0};
    struct pdnn_request request = {
        .seed = 3,
        .rules = {.min_samples = 3, .max_visit_ns = 1000000, .precision = 0.02},
    };
    snprintf(request.id, sizeof request.id, "%s", id);
    snprintf(request.largest, sizeof request.largest, "%s", largest ? largest : "");
    assert_int_equal(pdnn_worker_visit(worker, &request, &unwatched, visit, &err), PDNN_OK);
}

#define FC_OF "fc/layers=2,nodes=12,input=20,output=5,threads=1,backend=reference,batch="

/* Visits to members of a set prepare each member once and share one block,
 * until something else is visited. */
static void test_serve_visit_set(void **state) {
    static const char largest[] = FC_OF "32";
    static const struct {
        const char *id;
        bool is_alone;
        uint64_t prepared;
        const char *reason; /* NULL: it works */
    } rows[] = {
        {FC_OF "8", false, 2, NULL},
        {FC_OF "32", false, 2, NULL},
        {FC_OF "16", false, 3, NULL},
        {FC_OF "8", false, 3, NULL},
        {"fc/layers=2,nodes=13,input=20,output=5,threads=1,backend=reference,batch=8", false, 0,
         "weight 1 of hidden1 is 13x20 f32, not 12x20 f32"},
        {FC_OF "8,mode=infer", false, 0,
         "instances that share their weights must have the same run settings"},
        {FC_OF "16", false, 3, NULL},
        {FC_OF "16", true, 0, NULL},
        {FC_OF "16", false, 2, NULL},
    };
    struct pdnn_worker worker;
    (void)state;
    start(&worker, NULL, "1");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_visit seen;
        visit_of_set(&worker, rows[i].id, rows[i].is_alone ? NULL : largest, &seen);
        assert_string_equal(seen.reason, rows[i].reason ? rows[i].reason : "");
        assert_int_equal(seen.outcome, rows[i].reason ? PDNN_OUTCOME_INVALID : PDNN_OUTCOME_OK);
        assert_int_equal(seen.set.prepared, rows[i].prepared);
        assert_int_equal(seen.set.kept, rows[i].prepared);
        if (!rows[i].reason)
            assert_true(seen.prepare_ns > 0 && seen.plan_bytes > seen.set.shared_bytes);
        if (rows[i].prepared)
            assert_true(seen.set.shared_bytes > 0 && seen.plan_bytes <= seen.set.block_bytes);
        pdnn_visit_finish(&seen);
    }
    pdnn_worker_stop(&worker);
}

static void test_serve_visit_threads(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit seen;
    struct pdnn_err err = {0};
    const struct pdnn_request request = {.id = "fc/threads=2,backend=reference"};
    (void)state;
    start(&worker, NULL, "1");
    assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &seen, &err), PDNN_OK);
    assert_int_equal(seen.outcome, PDNN_OUTCOME_INVALID);
    assert_string_equal(seen.reason, "asks for 2 threads; cores available to this process: 1");
    pdnn_worker_stop(&worker);
}

static int count_threads(const struct pdnn_worker *worker) {
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)worker->pid);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

/* A worker at rest has no spinning threads, and continues as if nothing had happened. */
static void test_serve_rest(void **state) {
    const struct pdnn_request request = {
        .id = "fc/layers=4,nodes=12,input=20,output=5,batch=6,threads=2,mode=infer,backend=reference",
        .rules = {.min_samples = 3}};
    struct pdnn_worker worker;
    struct pdnn_host host;
    struct pdnn_visit seen;
    struct pdnn_err err = {0};
    (void)state;
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    if (host.threads < 2)
        skip();
    unsetenv(step_variable);
    assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, (uint64_t)1 << 30, &err), PDNN_OK);
    int alone = count_threads(&worker);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &seen, &err), PDNN_OK);
        assert_int_equal(seen.outcome, PDNN_OUTCOME_OK);
        pdnn_visit_finish(&seen);
        assert_true(count_threads(&worker) > alone);
        pdnn_worker_rest(&worker);
        assert_true(pdnn_worker_alive(&worker));
        /* The kernel may list a thread for a moment after it has ended. */
        const struct timespec moment = {.tv_nsec = 1000000};
        while (count_threads(&worker) != alone)
            nanosleep(&moment, NULL);
    }
    pdnn_worker_stop(&worker);
}

/* Wherever the first thread was before, and whatever the environment says, thread i runs on core i. */
static void test_serve_places(void **state) {
    struct pdnn_worker worker;
    struct pdnn_host host;
    struct pdnn_err err = {0};
    char *places = NULL;
    (void)state;
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    char *expected = pdnn_host_places(&host);
    setenv("GOMP_CPU_AFFINITY", "0", 1);
    assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_OK);
    unsetenv("GOMP_CPU_AFFINITY");
    assert_int_equal(pdnn_worker_places(&worker, host.threads, &places, &err), PDNN_OK);
    assert_string_equal(places, expected);
    free(places);
    free(expected);
    assert_int_equal(pdnn_worker_places(&worker, host.threads + 1, &places, &err), PDNN_INVALID);
    pdnn_worker_stop(&worker);
}

/* A driver of another build learns this one's, whatever form its hello has. */
static void test_serve_other_build(void **state) {
    const struct { char build[PDNN_BUILD_TEXT], rest[11]; } hello = {"0.0.9 (abc)", ""};
    const struct pdnn_part part = {&hello, sizeof hello};
    struct pdnn_inbox inbox = {0};
    struct pdnn_message answer;
    bool ended = false;
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(pdnn_message_send(pair[0], PDNN_MESSAGE_HELLO, &part, 1, NULL), PDNN_OK);
    shutdown(pair[0], SHUT_WR);
    assert_int_equal(pdnn_worker_serve(pair[1]), 0);
    close(pair[1]);
    while (!ended && pdnn_inbox_next(&inbox, &answer) == PDNN_INBOX_PARTIAL)
        assert_int_equal(pdnn_inbox_receive(&inbox, pair[0], &ended, NULL), PDNN_OK);
    assert_int_equal(answer.kind, PDNN_MESSAGE_HELLO);
    assert_int_equal(answer.body_bytes, PDNN_BUILD_TEXT);
    assert_string_equal(answer.body, pdnn_build);
    pdnn_inbox_finish(&inbox);
    close(pair[0]);
}

/* A worker has one isa. A backend that cannot choose refuses, and `reference` still checks the others. */
static void test_serve_visit_isa(void **state) {
    static const struct {
        enum pdnn_isa isa;
        const char *settings;
        enum pdnn_outcome outcome;
        const char *reason;
    } rows[] = {
        {PDNN_ISA_SSE41, "isa=sse41,backend=openblas", PDNN_OUTCOME_OK, ""},
        {PDNN_ISA_SSE41, "isa=sse41,backend=reference", PDNN_OUTCOME_UNSUPPORTED,
         "reference cannot limit its instruction sets; use isa=default"},
        {PDNN_ISA_AVX, "isa=avx,backend=openblas", PDNN_OUTCOME_UNSUPPORTED, "no kernels for avx"},
        {PDNN_ISA_AVX2, "isa=avx2,backend=openblas", PDNN_OUTCOME_UNSUPPORTED,
         "isa=avx2: this processor has avx"},
        {PDNN_ISA_SSE41, "isa=default,backend=openblas", PDNN_OUTCOME_CRASH,
         "isa=default was requested from a worker for isa=sse41"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_host host = {.threads = 1, .isa = "sse4_1 avx"};
        struct pdnn_worker worker;
        struct pdnn_visit seen;
        const struct pdnn_worker_kind kind = {.isa = rows[i].isa};
        unsetenv(step_variable);
        assert_int_equal(pdnn_worker_start(&worker, &host, kind, (uint64_t)1 << 30, NULL), PDNN_OK);
        visit(&worker, rows[i].settings, 0, &seen);
        assert_int_equal(seen.outcome, rows[i].outcome);
        assert_string_equal(seen.reason, rows[i].reason);
        pdnn_visit_finish(&seen);
        pdnn_worker_stop(&worker);
    }
}

static void test_serve_visit_faults(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit seen;
    (void)state;
    start(&worker, &(struct place){-1, 0}, "nan");
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

struct checked {
    struct pdnn_check_row *rows;
    size_t n_rows;
};

/* factor: by which the fault multiplies. */
static struct checked check(const char *id, const struct place *fault, const char *factor) {
    struct checked checked = {0};
    struct pdnn_worker worker;
    struct pdnn_err err = {0};
    struct pdnn_request request = {.seed = 1};
    snprintf(request.id, sizeof request.id, "%s", id);
    start(&worker, fault, factor);
    assert_int_equal(pdnn_worker_check(&worker, &request, &unwatched, &checked.rows, &checked.n_rows, &err),
                     PDNN_OK);
    pdnn_worker_stop(&worker);
    return checked;
}

/* With a fault in one output of one step, that output's row fails and no other. */
static void check_fault(const char *id, const struct pdnn_graph *graph, struct place fault,
                        const char *factor) {
    struct checked checked = check(id, &fault, factor);
    const struct pdnn_check_row *row = checked.rows;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        for (int k = 0; k < graph->nodes[i].n_outputs; k++, row++) {
            const char *name = graph->nodes[i].op->name;
            bool faulty_here = (long)i == fault.step && k == fault.output;
            assert_true(isfinite(row->error));
            assert_memory_equal(row->op, name, strlen(name));
            if ((row->error > row->tolerance) != faulty_here)
                fail_msg("%s: fault in output %d of node %ld, %s %s is off by %g of %g", id, fault.output,
                         fault.step, row->op, row->tensor, row->error, row->tolerance);
        }
    }
    assert_int_equal(row - checked.rows, checked.n_rows);
    free(checked.rows);
}

/* An error of one per mille shows everywhere except in attention's queries: in an untrained model the
 * weighted sources are so alike that their contributions nearly cancel. */
static void test_serve_check(void **state) {
    static const struct {
        const char *id;
        const char *factor;
        size_t least_outputs;
    } cases[] = {
        {"fc/layers=4,nodes=12,input=20,output=5,batch=6,optimizer=adam", "1.001", 20},
        {"rnn/cell=lstm,layers=1,embedding=6,vocabulary=9,length=4,batch=3,optimizer=sgd", "1.001", 15},
        {"gnmt/hidden=6,layers=2,vocabulary=9,source=4,target=5,batch=3,optimizer=momentum", "1.01", 60},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pdnn_instance instance;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        char id[PDNN_ID_TEXT];
        size_t tried = 0;
        snprintf(id, sizeof id, "%s,threads=1,backend=openblas", cases[c].id);
        assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        for (size_t i = 0; i < graph.n_nodes; i++) {
            for (int k = 0; k < graph.nodes[i].n_outputs; k++, tried++)
                check_fault(id, &graph, (struct place){(long)i, k}, cases[c].factor);
        }
        assert_true(tried >= cases[c].least_outputs);
        pdnn_arena_finish(&arena);
    }
}

/* Without a fault everything passes, even results that are only rounding errors of cancelling terms: a bias
 * right before batch normalization has no gradient, and a pair of values is normalized to 1 and -1. */
static void test_serve_check_cancelled(void **state) {
    static const char *const ids[] = {
        "deepspeech2/hidden=2,layers=1,frames=33,characters=3,labels=1,batch=2,threads=1,backend=openblas",
        "deepspeech2/hidden=2,layers=1,frames=33,characters=3,labels=1,batch=2,threads=1,backend=openblas,fuse=post-ops",
        "cnn/block=residual,blocks=1,filters=2,image=32,output=3,batch=2,threads=1,backend=openblas",
    };
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct checked checked = check(ids[i], NULL, "1");
        assert_true(checked.n_rows > 20);
        for (size_t row = 0; row < checked.n_rows; row++) {
            if (!(checked.rows[row].error <= checked.rows[row].tolerance))
                fail_msg("%s: %s %s is off by %g of %g", ids[i], checked.rows[row].op,
                         checked.rows[row].tensor, checked.rows[row].error, checked.rows[row].tolerance);
        }
        free(checked.rows);
    }
}

static const struct pdnn_check_row *find_row(const struct checked *checked, const char *op,
                                             const char *tensor) {
    for (size_t i = 0; i < checked->n_rows; i++) {
        if (strcmp(checked->rows[i].op, op) == 0 && strcmp(checked->rows[i].tensor, tensor) == 0)
            return &checked->rows[i];
    }
    fail_msg("no row %s %s", op, tensor);
    return NULL;
}

/* Each output is judged by its own sums: the first dense layer sums 64 products; a probability, 5
 * exponentials, and the loss 3 rows of them. A sum of a million products is taken in blocks. */
static void test_serve_check_tolerance(void **state) {
    struct checked checked =
        check("fc/layers=4,nodes=9,input=64,output=5,batch=3,threads=1,backend=reference", NULL, "1");
    const struct pdnn_check_row *row = find_row(&checked, "dense/forward hidden1", "activation 2 (3x9)");
    double per_term = pdnn_op_softmax_cross_entropy.tolerance;
    (void)state;
    assert_ptr_equal(row, checked.rows);
    assert_near(row->tolerance, pdnn_op_dense.tolerance * 8, 1e-12);
    assert_near(row->error, 0, 0);
    row = find_row(&checked, "softmax_cross_entropy/forward loss", "activation 26 (1)");
    assert_near(row[0].tolerance, per_term * sqrt(15), 1e-12);
    assert_near(row[1].tolerance, per_term * sqrt(5), 1e-12);
    free(checked.rows);
    checked =
        check("fc/layers=1,nodes=1,input=1000000,batch=1,mode=infer,threads=1,backend=reference", NULL, "1");
    assert_true(checked.rows[0].tolerance > 1e-4 && checked.rows[0].tolerance < 1e-3);
    free(checked.rows);
}

/* If several ops of a step change a state, it is compared after each of them. */
static void test_serve_check_micro_steps(void **state) {
    struct checked checked = check(
        "rnn/embedding=3,length=2,vocabulary=4,batch=2,dropout=50,threads=1,accumulate=3,checkpoint=layer,backend=reference",
        NULL, "1");
    (void)state;
    assert_true(checked.n_rows > 60);
    for (size_t i = 0; i < checked.n_rows; i++)
        assert_true(checked.rows[i].error <= checked.rows[i].tolerance);
    free(checked.rows);
}

/* A request that the worker cannot rely on ends it without an answer. */
static void refuse(enum pdnn_message_kind kind, const void *body, size_t bytes) {
    int pair[2];
    char answer;
    const struct pdnn_part part = {body, bytes};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(pdnn_message_send(pair[0], kind, &part, 1, NULL), PDNN_OK);
    assert_int_equal(shutdown(pair[0], SHUT_WR), 0);
    assert_int_equal(pdnn_worker_serve(pair[1]), 1);
    close(pair[1]);
    assert_int_equal(recv(pair[0], &answer, 1, 0), 0);
    close(pair[0]);
}

static struct pdnn_hello good_hello(void) {
    struct pdnn_hello hello = {.isa = PDNN_ISA_DEFAULT};
    memcpy(hello.build, pdnn_build, sizeof hello.build);
    hello.host.threads = 1;
    return hello;
}

static void test_serve_invalid_requests(void **state) {
    (void)state;
    static const int64_t threads[] = {-1, PDNN_HOST_CORES_MAX + 1, INT64_MAX};
    struct pdnn_hello hello;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        hello = good_hello();
        hello.host.threads = threads[i];
        refuse(PDNN_MESSAGE_HELLO, &hello, sizeof hello);
    }
    hello = good_hello();
    hello.isa = PDNN_ISA_COUNT;
    refuse(PDNN_MESSAGE_HELLO, &hello, sizeof hello);
    hello = good_hello();
    memset(hello.host.isa, 'x', sizeof hello.host.isa);
    refuse(PDNN_MESSAGE_HELLO, &hello, sizeof hello);
    hello = good_hello();
    refuse(PDNN_MESSAGE_HELLO, &hello, sizeof hello - 1);
    static const struct {
        size_t offset, length;
    } texts[] = {
        {offsetof(struct pdnn_request, id), PDNN_ID_TEXT},
        {offsetof(struct pdnn_request, largest), PDNN_ID_TEXT},
        {offsetof(struct pdnn_request, choices), PDNN_KEPT_PATH},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pdnn_request request = {.id = "none"};
        memset((char *)&request + texts[i].offset, 'x', texts[i].length);
        refuse(PDNN_MESSAGE_VISIT, &request, sizeof request);
        refuse(PDNN_MESSAGE_CHECK, &request, sizeof request);
    }
    refuse(PDNN_MESSAGE_FAILED, NULL, 0);
}

/* A family that only the driver has read, and another one of its name: the worker has them before it is asked
 * for an instance, each once, and again when it is another process. */
static void test_serve_family(void **state) {
    (void)state;
    static const char *const ops[] = {"(dense out=3 :from x)", "(dense out=3 :from x) (relu)"};
    static struct pdnn_arena arena; /* as long as the catalog */
    struct pdnn_worker worker = {0};
    const struct pdnn_family_def *family[2];
    for (int i = 0; i < 2; i++) {
        const char *text = pdnn_arena_printf(&arena,
                                             "family net batch:int\nminibatch batch\n"
                                             "input x :shape batch 7 :fill uniform\nop (ops %s)\n"
                                             "axis batch 1 8 :default 4\n",
                                             ops[i]);
        const struct pdnn_definition *definition;
        struct pdnn_err err = {0};
        if (pdnn_definition_read(text, &arena, &definition, &err) != PDNN_OK ||
            pdnn_definition_family(definition, false, &arena, &family[i], &err) != PDNN_OK)
            fail_msg("%s", err.text);
        pdnn_catalog_add(family[i]);
    }
    for (int turn = 0; turn < 6; turn++) {
        struct pdnn_request request = {.seed = 3, .rules = {.min_samples = 3, .max_visit_ns = 1000000}};
        struct pdnn_visit seen = {0};
        struct pdnn_err err = {0};
        char name[PDNN_FAMILY_TEXT];
        if (turn % 4 == 0) {
            pdnn_worker_stop(&worker);
            start(&worker, NULL, "1");
            assert_int_equal(worker.link->n_families, 0);
        }
        snprintf(request.id, sizeof request.id, "%s/batch=2,threads=1,mode=infer,backend=reference",
                 pdnn_family_format(family[turn % 2], name));
        assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &seen, &err), PDNN_OK);
        assert_string_equal(seen.reason, "");
        assert_int_equal(seen.n_ops, 1 + turn % 2);
        assert_int_equal(worker.link->n_families, turn % 4 == 0 ? 1 : 2);
        pdnn_visit_finish(&seen);
    }
    pdnn_worker_stop(&worker);
}

/* What is no family is answered, and the worker goes on. */
static void test_serve_family_refused(void **state) {
    (void)state;
    struct pdnn_inbox inbox = {0};
    struct pdnn_message answer;
    bool ended = false;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    const struct pdnn_part part = {"net\nfamily", 10};
    assert_int_equal(pdnn_message_send(pair[0], PDNN_MESSAGE_FAMILY, &part, 1, NULL), PDNN_OK);
    shutdown(pair[0], SHUT_WR);
    assert_int_equal(pdnn_worker_serve(pair[1]), 0);
    close(pair[1]);
    while (pdnn_inbox_next(&inbox, &answer) == PDNN_INBOX_PARTIAL && !ended)
        assert_int_equal(pdnn_inbox_receive(&inbox, pair[0], &ended, NULL), PDNN_OK);
    assert_int_equal(answer.kind, PDNN_MESSAGE_FAILED);
    assert_int_equal(((const struct pdnn_err *)answer.body)->status, PDNN_INVALID);
    pdnn_inbox_finish(&inbox);
    close(pair[0]);
}

int main(int argc, char **argv) {
    if (argc == 2)
        return pdnn_worker_serve((int)strtol(argv[1], NULL, 10));
    setenv(PDNN_WORKER_VARIABLE, "/proc/self/exe", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve_visit_ops),
        cmocka_unit_test(test_serve_visit_refused),
        cmocka_unit_test(test_serve_visit_set),
        cmocka_unit_test(test_serve_visit_threads),
        cmocka_unit_test(test_serve_rest),
        cmocka_unit_test(test_serve_places),
        cmocka_unit_test(test_serve_other_build),
        cmocka_unit_test(test_serve_visit_isa),
        cmocka_unit_test(test_serve_visit_faults),
        cmocka_unit_test(test_serve_check),
        cmocka_unit_test(test_serve_check_cancelled),
        cmocka_unit_test(test_serve_check_tolerance),
        cmocka_unit_test(test_serve_check_micro_steps),
        cmocka_unit_test(test_serve_invalid_requests),
        cmocka_unit_test(test_serve_family),
        cmocka_unit_test(test_serve_family_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
