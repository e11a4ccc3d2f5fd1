#define _POSIX_C_SOURCE 200809L /* setenv */
/* What a model consists of, and the measurement of one of its operators, through a worker: this program is
 * its own worker, with the backend `reference`. */
#include "models/build.h"
#include "runtime/backend/backend.h"
#include "runtime/driver/worker/worker.h"
#include "runtime/driver/worker/worker_program.h"
#include "runtime/worker/serve.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pdnn_watch unwatched;

extern const struct pdnn_backend_def pdnn_backend_reference;

const struct pdnn_backend_def *const pdnn_backends[] = {&pdnn_backend_reference, NULL};

#define FC "fc/nodes=12,input=20,output=5,batch=6,threads=1,backend=reference,layers="

static void start(struct pdnn_worker *worker) {
    struct pdnn_host host;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    host.threads = 1;
    assert_int_equal(pdnn_worker_start(worker, &host, PDNN_WORKER_PLAIN, (uint64_t)1 << 30, &err), PDNN_OK);
}

static struct pdnn_request request_for(const char *id) {
    struct pdnn_request request = {
        .seed = 3,
        .cache_bytes = 1 << 20,
        .rules = {.min_samples = 3, .max_visit_ns = 1000000, .precision = 0.02},
    };
    snprintf(request.id, sizeof request.id, "%s", id);
    return request;
}

struct listed {
    struct pdnn_visit visit;
    struct pdnn_operator *operators;
    size_t count;
};

static struct listed list(struct pdnn_worker *worker, const struct pdnn_request *request) {
    struct pdnn_err err = {0};
    struct listed made;
    assert_int_equal(
        pdnn_worker_operators(worker, request, &unwatched, &made.visit, &made.operators, &made.count, &err),
        PDNN_OK);
    return made;
}

static void finish(struct listed *listed) {
    pdnn_visit_finish(&listed->visit);
    free(listed->operators);
}

static struct pdnn_visit measure(struct pdnn_worker *worker, const struct pdnn_request *request,
                                 const char *key) {
    struct pdnn_operator_request asked = {.request = *request};
    struct pdnn_visit visit;
    struct pdnn_operator_time *times;
    size_t n_times;
    struct pdnn_err err = {0};
    snprintf(asked.key, sizeof asked.key, "%s", key);
    assert_int_equal(pdnn_worker_operator(worker, &asked, &unwatched, &visit, &times, &n_times, &err),
                     PDNN_OK);
    assert_int_equal(n_times, visit.outcome == PDNN_OUTCOME_OK);
    assert_true(!n_times || times[0].ns == visit.median_ns);
    free(times);
    return visit;
}

/* The operators' runs are the graph's nodes, and the rows those of a visit. */
static void test_operators_are_the_whole_model(void **state) {
    static const char *const ids[] = {FC "4,mode=infer", FC "4,mode=train", FC "9,mode=train,fuse=post-ops",
                                      FC "4,mode=train,cache=cold"};
    struct pdnn_worker worker;
    (void)state;
    start(&worker);
    for (size_t k = 0; k < sizeof ids / sizeof *ids; k++) {
        const struct pdnn_request request = request_for(ids[k]);
        struct pdnn_visit seen;
        struct pdnn_instance instance;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        size_t runs = 0;
        assert_int_equal(pdnn_instance_parse(ids[k], &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        struct listed listed = list(&worker, &request);
        assert_int_equal(listed.visit.outcome, PDNN_OUTCOME_OK);
        assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &seen, &err), PDNN_OK);
        assert_int_equal(listed.visit.n_ops, seen.n_ops);
        assert_int_equal(listed.visit.plan_bytes, seen.plan_bytes);
        for (size_t i = 0; i < seen.n_ops; i++) {
            assert_string_equal(listed.visit.ops[i].key, seen.ops[i].key);
            assert_int_equal(listed.visit.ops[i].count, seen.ops[i].count);
        }
        for (size_t i = 0; i < listed.count; i++) {
            runs += listed.operators[i].runs;
            assert_non_null(strstr(listed.operators[i].key, listed.visit.ops[listed.operators[i].op].key));
        }
        assert_int_equal(runs, graph.n_nodes);
        finish(&listed);
        pdnn_visit_finish(&seen);
        pdnn_arena_finish(&arena);
    }
    pdnn_worker_stop(&worker);
}

/* More layers of one width are more runs of the same operators, once all weights are beyond the caches. */
static void test_operators_are_shared_by_models(void **state) {
    struct pdnn_request few = request_for(FC "20,mode=infer"), many = request_for(FC "40,mode=infer");
    struct pdnn_worker worker;
    (void)state;
    start(&worker);
    few.cache_bytes = many.cache_bytes = 1 << 10;
    struct listed a = list(&worker, &few), b = list(&worker, &many);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.operators[i].key, b.operators[i].key);
        assert_true(a.operators[i].runs == b.operators[i].runs || a.operators[i].runs >= 18);
    }
    finish(&a);
    finish(&b);
    pdnn_worker_stop(&worker);
}

static void test_operator_is_measured(void **state) {
    const struct pdnn_request request = request_for(FC "4,mode=train"),
                              other = request_for(FC "3,mode=infer");
    struct pdnn_worker worker;
    (void)state;
    start(&worker);
    struct listed listed = list(&worker, &request);
    for (size_t i = 0; i < listed.count; i++) {
        struct pdnn_visit seen = measure(&worker, &request, listed.operators[i].key);
        assert_string_equal(seen.reason, "");
        assert_int_equal(seen.outcome, PDNN_OUTCOME_OK);
        assert_true(seen.samples >= 3 && seen.median_ns > 0 && seen.plan_bytes > 0);
        assert_int_equal(seen.n_ops, 0);
    }
    /* The model need not be the one that was listed last. */
    struct listed another = list(&worker, &other);
    struct pdnn_visit seen = measure(&worker, &request, listed.operators[0].key);
    assert_int_equal(seen.outcome, PDNN_OUTCOME_OK);
    seen = measure(&worker, &other, "no operator");
    assert_int_equal(seen.outcome, PDNN_OUTCOME_INVALID);
    assert_string_equal(seen.reason, FC "3,mode=infer does not consist of the operator no operator");
    finish(&another);
    finish(&listed);
    pdnn_worker_stop(&worker);
}

static void test_operators_of_what_cannot_run(void **state) {
    struct pdnn_request small = request_for(FC "4"), foreign = request_for("fc/backend=onednn,threads=1"),
                        wrong = request_for("fc/nonsense=1");
    struct pdnn_worker worker;
    (void)state;
    small.memory_limit_bytes = 1000;
    start(&worker);
    const struct {
        const struct pdnn_request *request;
        enum pdnn_outcome outcome;
    } cases[] = {{&small, PDNN_OUTCOME_OOM_PREDICTED},
                 {&foreign, PDNN_OUTCOME_UNSUPPORTED},
                 {&wrong, PDNN_OUTCOME_INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct listed listed = list(&worker, cases[i].request);
        assert_int_equal(listed.visit.outcome, cases[i].outcome);
        assert_true(*listed.visit.reason && !listed.count && !listed.visit.n_ops);
        struct pdnn_visit seen = measure(&worker, cases[i].request, "any");
        assert_int_equal(seen.outcome, cases[i].outcome);
        finish(&listed);
    }
    pdnn_worker_stop(&worker);
}

int main(int argc, char **argv) {
    if (argc == 2)
        return pdnn_worker_serve((int)strtol(argv[1], NULL, 10));
    setenv(PDNN_WORKER_VARIABLE, "/proc/self/exe", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators_are_the_whole_model),
        cmocka_unit_test(test_operators_are_shared_by_models),
        cmocka_unit_test(test_operator_is_measured),
        cmocka_unit_test(test_operators_of_what_cannot_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
