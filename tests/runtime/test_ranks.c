/* Data parallel training: two processes with half a minibatch each end up with the weights of one process
 * with the whole minibatch. The ranks are forks of this process, and what connects them is memory that they
 * share, so no MPI is needed. */
#define _GNU_SOURCE
#include "models/build.h"
#include "runtime/distributed/gradient_allreduce.h"
#include "runtime/plan/plan.h"
#include "runtime/backend/tune.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { RANKS = 2, STEPS = 3, ROOM = 1 << 21, FAILURE = 77 };

/* Shared by all processes. */
struct meeting {
    pthread_barrier_t barrier;
    double value[RANKS][ROOM];      /* what each rank puts in */
    float weights[RANKS + 1][ROOM]; /* in the end: each rank's, and those of one process alone */
    size_t n_weights[RANKS + 1];
    int n_sums[RANKS]; /* messages so far */
};

extern const struct pdnn_backend_def pdnn_backend_reference, pdnn_backend_onednn;

static struct meeting *meeting;
static int rank;
static int working_steps = STEPS; /* sums fail after these */
static bool is_broken;

static int sum(void *values, size_t count, bool is_double) {
    if (is_broken)
        return FAILURE;
    for (size_t i = 0; i < count; i++)
        meeting->value[rank][i] = is_double ? ((double *)values)[i] : (double)((float *)values)[i];
    pthread_barrier_wait(&meeting->barrier);
    for (size_t i = 0; i < count; i++) {
        double all = meeting->value[0][i] + meeting->value[1][i];
        if (is_double)
            ((double *)values)[i] = all;
        else
            ((float *)values)[i] = (float)all;
    }
    pthread_barrier_wait(&meeting->barrier);
    meeting->n_sums[rank]++;
    return 0;
}

static int start(void *values, size_t count, bool is_double, void **request) {
    *request = values;
    return sum(values, count, is_double);
}

static int test(void **request, bool *done) {
    (void)request;
    *done = true;
    return 0;
}

static int wait_for(void **request) {
    (void)request;
    return 0;
}

/* Runs the steps and leaves the weights in their place. */
static void train(const char *id, const char *backend, int64_t of_rank, int place) {
    bool is_reference = strcmp(backend, "reference") == 0;
    const struct pdnn_backend_def *def = is_reference ? &pdnn_backend_reference : &pdnn_backend_onednn;
    struct pdnn_instance instance;
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    void *state;
    size_t used = 0;
    assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
    assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
    const struct pdnn_host host = {0};
    const struct pdnn_call_options one = pdnn_call_options(&host, 1, 0);
    assert_int_equal(def->open(&one, &state, &err), PDNN_OK);
    const struct pdnn_plan_options options = {
        .seed = 7, .rank = of_rank, .between_calls = pdnn_gradient_allreduce_poll};
    assert_int_equal(pdnn_plan_create(&plan, def, state, &graph, &options, &err), PDNN_OK);
    for (int i = 0; i < STEPS; i++) {
        is_broken = i >= working_steps;
        assert_int_equal(pdnn_plan_run(&plan), is_broken ? FAILURE : 0);
    }
    for (uint32_t i = 0; i < graph.n_tensors; i++) {
        size_t elements = (size_t)pdnn_tensor_elements(&graph.tensors[i]);
        if (graph.tensors[i].role != PDNN_ROLE_WEIGHT)
            continue;
        assert_true(used + elements <= ROOM);
        assert_int_equal(pdnn_plan_get(&plan, i, meeting->weights[place] + used, &err), PDNN_OK);
        used += elements;
    }
    meeting->n_weights[place] = used;
    pdnn_gradient_allreduce_begin();
    pdnn_plan_destroy(&plan);
    def->close(state);
    pdnn_arena_finish(&arena);
}

/* Ranks add up what lies in memory, and must have chosen the same layouts: here, the first of equal
 * candidates. */
static void agree(double *ns, int n) {
    for (int i = 0; i < n; i++)
        ns[i] = isfinite(ns[i]) ? 1 : ns[i];
}

/* A child of the test: trains as one of the ranks. */
static _Noreturn void be_rank(const char *id, const char *backend) {
    const struct pdnn_wire wire = {RANKS, sum, start, test, wait_for};
    pdnn_gradient_allreduce_open(&wire, NULL);
    pdnn_tune_agree = agree;
    train(id, backend, rank, rank);
    _exit(0);
}

static void run_ranks(const char *id, const char *backend) {
    for (rank = 0; rank < RANKS; rank++) {
        if (fork() == 0)
            be_rank(id, backend);
    }
    for (int i = 0; i < RANKS; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

/* The largest difference of two places' weights, relative to the largest weight. */
static double difference(int a, int b) {
    const float *of_a = meeting->weights[a], *of_b = meeting->weights[b];
    double most = 0, apart = 0;
    assert_int_equal(meeting->n_weights[a], meeting->n_weights[b]);
    for (size_t i = 0; i < meeting->n_weights[a]; i++) {
        double value = fabs((double)of_a[i]), off = fabs((double)of_a[i] - (double)of_b[i]);
        most = value > most ? value : most;
        apart = off > apart ? off : apart;
    }
    return apart / most;
}

static void check(const char *model, int64_t batch, const char *settings, const char *backend, int messages) {
    char half[256], whole[256];
    snprintf(half, sizeof half, "%s,batch=%lld,threads=1,backend=%s,ranks=2%s", model, (long long)batch,
             backend, settings);
    snprintf(whole, sizeof whole, "%s,batch=%lld,threads=1,backend=%s", model, 2 * (long long)batch, backend);
    memset(meeting->n_sums, 0, sizeof meeting->n_sums);
    run_ranks(half, backend);
    if (fork() == 0) { /* a library's threads do not survive a fork, so the parent has none */
        pdnn_tune_agree = agree;
        train(whole, backend, 0, RANKS);
        _exit(0);
    }
    int status;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
    assert_true(meeting->n_weights[0] > 0);
    assert_int_equal(memcmp(meeting->weights[0], meeting->weights[1], meeting->n_weights[0] * sizeof(float)),
                     0);
    assert_true(difference(0, RANKS) < 2e-5);
    assert_int_equal(meeting->n_sums[0], messages * STEPS);
}

#define SMALL "fc/layers=2,nodes=32,input=64,output=16"
/* In the order of the backward pass: biases and weights of 34 KB, 1.05 MB with a bias before it, another 1.05
 * MB. */
#define LARGE "fc/layers=2,nodes=512,input=512,output=16"

static void test_ranks_reference(void **unused) {
    (void)unused;
    check(SMALL ",optimizer=sgd", 4, "", "reference", 1);
    check(SMALL ",optimizer=sgd", 4, ",allreduce=thread", "reference", 1);
}

static void test_ranks_onednn(void **unused) {
    static const char *const modes[] = {"blocking", "bucketed", "thread"};
    (void)unused;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, ",allreduce=%s", modes[i]);
        check(SMALL ",optimizer=momentum", 4, settings, "onednn", 1);
    }
    check(LARGE ",optimizer=lamb", 4, ",allreduce=bucketed,bucket=1MB", "onednn", 4);
    check("cnn/block=plain,blocks=1,filters=8,image=8,output=4", 2, ",allreduce=thread", "onednn", 1);
}

/* Without it, the ranks' examples would be the same, and averaging could not be told from doing nothing. */
static void test_ranks_differ_without_allreduce(void **unused) {
    (void)unused;
    run_ranks(SMALL ",batch=4,threads=1,ranks=2,allreduce=none", "onednn");
    assert_true(difference(0, 1) > 1e-6);
}

/* The first step without its sum, and all after it, return its code: no mode and no backend drops it. */
static void test_ranks_fail(void **unused) {
    static const char *const settings[] = {"reference", "onednn", "onednn,allreduce=bucketed",
                                           "onednn,allreduce=thread"};
    (void)unused;
    working_steps = 1;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char id[256];
        snprintf(id, sizeof id, SMALL ",batch=4,threads=1,ranks=2,backend=%s", settings[i]);
        run_ranks(id, i ? "onednn" : "reference");
    }
    working_steps = STEPS;
}

int main(void) {
    pthread_barrierattr_t shared;
    meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (meeting == MAP_FAILED)
        return 1;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&meeting->barrier, &shared, RANKS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_reference),
        cmocka_unit_test(test_ranks_onednn),
        cmocka_unit_test(test_ranks_differ_without_allreduce),
        cmocka_unit_test(test_ranks_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
