/* Memory for preparing a plan: choices that are made without room to measure candidates, and the limit, which
 * covers the buffer that data is made in. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "runtime/backend/choose.h"
#include "runtime/backend/one_node.h"
#include "runtime/backends/onednn/state.h"
#include "runtime/plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_reference, pdnn_backend_onednn;

static const char *const instances[] = {
    "fc/layers=2,nodes=40,input=33,output=17,batch=5,mode=infer",
    "fc/layers=2,nodes=40,input=33,output=17,batch=5,mode=train",
    "fc/layers=2,nodes=64,input=64,output=64,batch=1,mode=infer",
    "rnn/cell=lstm,layers=1,embedding=24,length=5,vocabulary=31,batch=4,mode=train",
    "rnn/cell=rnn,layers=1,embedding=24,length=5,vocabulary=31,batch=4,mode=infer",
    "transformer/layers=1,hidden=32,heads=2,ffn=48,length=6,batch=2,vocabulary=50,mode=infer",
};
enum { INSTANCES = sizeof instances / sizeof *instances };

static uint64_t room_bytes;
static bool was_untried;

static enum pdnn_status compile_in_room(void *state, const struct pdnn_graph *graph,
                                        struct pdnn_program *program, struct pdnn_err *err) {
    program->trial_bytes = room_bytes;
    enum pdnn_status status = pdnn_backend_onednn.compile(state, graph, program, err);
    was_untried = program->is_untried;
    return status;
}

/* Whatever can run took some time, both ways to run a recurrent layer among that. */
static void check_times(void *keeper, const struct pdnn_tune_key *key, const double *ns, int n,
                        int compilations) {
    int measured = 0, least = strncmp(key->text, "rnn ", 4) == 0 ? n : 1;
    (void)keeper;
    (void)compilations;
    for (int i = 0; i < n; i++)
        measured += isfinite(ns[i]) && ns[i] > 1;
    if (measured < least)
        fail_msg("%s: %d of %d candidates have a time", key->text, measured, n);
}

/* Whatever the room, results are right; only without room is anything left untried, and nothing is kept then.
 */
static void test_choose_without_room(void **state) {
    struct pdnn_backend_def def = pdnn_backend_onednn;
    (void)state;
    def.compile = compile_in_room;
    for (size_t i = 0; i < INSTANCES; i++) {
        struct opened backend = open_backend(&def);
        struct pdnn_onednn *onednn = backend.state;
        onednn->tune.keep = check_times;
        room_bytes = 0;
        check_instance(&backend, 1, instances[i]);
        assert_true(was_untried);
        assert_int_equal(onednn->tune.keys.count, 0);
        room_bytes = UINT64_C(1) << 30;
        check_instance(&backend, 1, instances[i]);
        assert_false(was_untried);
        assert_true(onednn->tune.keys.count > 0);
        close_backend(&backend);
    }
}

/* Somewhere between no room and plenty, a trial begins and has to give up. */
static void test_choose_in_little_room(void **state) {
    struct pdnn_backend_def def = pdnn_backend_onednn;
    (void)state;
    def.compile = compile_in_room;
    for (size_t i = 0; i < INSTANCES; i++) {
        for (room_bytes = 1 << 10; room_bytes <= 1 << 20; room_bytes *= 4) {
            struct opened backend = open_backend(&def);
            check_instance(&backend, 1, instances[i]);
            close_backend(&backend);
        }
    }
}

static enum pdnn_status prepare_nothing(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    (void)user;
    (void)i;
    (void)one;
    return pdnn_fail(err, PDNN_UNSUPPORTED, "there is none");
}

/* Compiles the reference's program of the instance's first node, of which a part was guessed. */
static enum pdnn_status prepare_guessed(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    const struct pdnn_program *outer = user;
    (void)i;
    pdnn_one_node_add(one, &one->from->nodes[0]);
    enum pdnn_status status = pdnn_one_node_compile(one, &pdnn_backend_reference, NULL, outer, false, err);
    one->program.is_untried = true;
    return status;
}

static enum pdnn_status choose(struct pdnn_trial *trial, int *picked, struct pdnn_err *err) {
    struct pdnn_choice choice = {
        .what = "a node", .trial = trial, .rules = {.rounds = 1}, .compilations = 1, .margin = 0.9};
    pdnn_tune_key_add(&choice.key, "node");
    return pdnn_trial_choose(&choice, picked, err);
}

/* A candidate that was compiled by guess is not measured: nothing is kept, and the first one is taken. One
 * that does not exist is not picked. */
static void test_candidates_that_say_nothing(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    struct pdnn_tune tune = {0};
    int picked = 7;
    pdnn_arena_init(&arena);
    build_instance(instances[0], &arena, &graph);
    must(pdnn_plan_create(&plan, &pdnn_backend_reference, NULL, &graph, &(struct pdnn_plan_options){0}, &err),
         &err);
    struct pdnn_trial trial = {.tune = &tune,
                               .n = 2,
                               .group_size = 2,
                               .may_be_empty = true,
                               .prepare = prepare_nothing,
                               .user = &plan.program,
                               .from = &graph,
                               .room_bytes = UINT64_C(1) << 30};
    assert_int_equal(choose(&trial, &picked, &err), PDNN_INTERNAL);
    assert_string_equal(err.text, "every implementation of a node fails");
    assert_int_equal(picked, 7);
    pdnn_tune_finish(&tune);
    tune = (struct pdnn_tune){0};
    trial.prepare = prepare_guessed;
    must(choose(&trial, &picked, &err), &err);
    assert_int_equal(picked, 0);
    assert_true(tune.is_untried);
    assert_int_equal(tune.keys.count, 0);
    pdnn_tune_finish(&tune);
    pdnn_plan_destroy(&plan);
    pdnn_arena_finish(&arena);
}

static void expect_created(const struct opened *backend, const struct pdnn_graph *graph, uint64_t limit_bytes,
                           enum pdnn_status expected) {
    struct pdnn_plan plan = {0};
    struct pdnn_err err = {0};
    const struct pdnn_plan_options options = {.limit_bytes = limit_bytes, .beside_bytes = limit_bytes / 2};
    enum pdnn_status status = pdnn_plan_create(&plan, backend->def, backend->state, graph, &options, &err);
    if (status != expected)
        fail_msg("limit %" PRIu64 ": status %d: %s", limit_bytes, status, err.text);
    if (status == PDNN_OK)
        pdnn_plan_destroy(&plan);
}

static void test_limit_covers_the_buffer(void **state) {
    (void)state;
    const struct opened backend = {&pdnn_backend_reference, NULL};
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    pdnn_arena_init(&arena);
    build_instance(instances[1], &arena, &graph);
    must(pdnn_plan_create(&plan, backend.def, backend.state, &graph, &(struct pdnn_plan_options){0}, &err),
         &err);
    uint64_t moved = pdnn_plan_moved_bytes(&plan), bytes = plan.block_bytes + moved;
    assert_int_equal(moved, 40 * 40 * sizeof(float));
    pdnn_plan_destroy(&plan);
    expect_created(&backend, &graph, 2 * bytes, PDNN_OK);
    expect_created(&backend, &graph, 2 * (bytes - 1), PDNN_TOO_BIG);
    pdnn_arena_finish(&arena);
}

static uint64_t needed_bytes(const struct opened *backend, struct pdnn_graph *graph,
                             enum pdnn_recurrence way) {
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    graph->rnn = way;
    must(pdnn_plan_outline(&plan, backend->def, backend->state, graph, &(struct pdnn_plan_options){0}, &err),
         &err);
    uint64_t bytes = plan.block_bytes + pdnn_plan_moved_bytes(&plan);
    pdnn_plan_destroy(&plan);
    return bytes;
}

/* The library's primitive needs more memory than the unrolled layer; where only that fits, it runs. */
static void test_auto_takes_what_fits(void **state) {
    (void)state;
    /* The dense layer's memory must not depend on what was measured. */
    const struct pdnn_onednn_dense_choice plain = {.stored = PDNN_ONEDNN_WEIGHTS_ROW_MAJOR};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    pdnn_arena_init(&arena);
    ((struct pdnn_onednn *)backend.state)->forced_dense = &plain;
    build_instance("rnn/cell=lstm,layers=2,embedding=64,length=20,vocabulary=31,batch=16", &arena, &graph);
    uint64_t unrolled = needed_bytes(&backend, &graph, PDNN_RECURRENCE_UNROLLED);
    assert_true(needed_bytes(&backend, &graph, PDNN_RECURRENCE_FUSED) > unrolled + unrolled / 2);
    needed_bytes(&backend, &graph, PDNN_RECURRENCE_AUTO);
    struct pdnn_tune *tune = backend.def->tune(backend.state);
    assert_true(tune->keys.count > 0);
    for (size_t i = 0; i < tune->keys.count; i++) { /* the primitive was the faster one */
        struct pdnn_tune_key key = {0};
        pdnn_tune_key_add(&key, "%s", tune->keys.text[i]);
        pdnn_tune_recall(tune, &key, (const double[]){1, 2}, 2, 1);
    }
    const struct pdnn_plan_options options = {.limit_bytes = unrolled + unrolled / 64};
    must(pdnn_plan_create(&plan, backend.def, backend.state, &graph, &options, &err), &err);
    assert_true(plan.program.spares_memory);
    assert_int_equal(plan.block_bytes + pdnn_plan_moved_bytes(&plan), unrolled);
    pdnn_plan_destroy(&plan);
    graph.rnn = PDNN_RECURRENCE_FUSED;
    assert_int_equal(pdnn_plan_create(&plan, backend.def, backend.state, &graph, &options, &err),
                     PDNN_TOO_BIG);
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

static int count_run(void *state) {
    ++*(int *)state;
    return 0;
}

/* A reorder right before the call that is timed would leave in the caches what the call is to find cold. */
static void test_reorders_do_not_warm_what_is_cold(void **state) {
    (void)state;
    static const struct {
        enum pdnn_one_node_part part;
        uint64_t cold_bytes;
        int reorders, nodes;
    } cases[] = {
        {PDNN_ONE_NODE_ALL, 0, 1, 1},  {PDNN_ONE_NODE_ALL, 1, 1, 1},      {PDNN_ONE_NODE_LAST, 0, 1, 1},
        {PDNN_ONE_NODE_LAST, 1, 0, 1}, {PDNN_ONE_NODE_REORDERS, 0, 1, 0}, {PDNN_ONE_NODE_REORDERS, 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int reorders = 0, nodes = 0;
        struct pdnn_call calls[] = {{.node = PDNN_NONE, .work = {.state = &reorders, .run = count_run}},
                                    {.node = 0, .work = {.state = &nodes, .run = count_run}}};
        struct pdnn_one_node one = {.part = cases[i].part, .cold_bytes = cases[i].cold_bytes, .n_sets = 1};
        one.graph.n_nodes = 1;
        one.program.calls = calls;
        one.program.n_calls = sizeof calls / sizeof *calls;
        assert_true(pdnn_one_node_run(&one) >= 0);
        assert_int_equal(reorders, cases[i].reorders);
        assert_int_equal(nodes, cases[i].nodes);
    }
}

/* What two sweeps of one host ask about a model that about fills its caches, which they measured apart. */
static void test_measured_caches_are_no_part_of_a_key(void **state) {
    (void)state;
    static const char id[] = "fc/layers=2,nodes=512,input=512,output=512,batch=512,mode=train,optimizer=adam";
    const struct pdnn_host host = {.cache_bytes = {32 << 10, 512 << 10, 8 << 20}, .cache_cores = {1, 1, 2}};
    const struct pdnn_call_options small = pdnn_call_options(&host, CHECK_THREADS, 1 << 20),
                                   large = pdnn_call_options(&host, CHECK_THREADS, 8 << 20);
    struct opened first = {&pdnn_backend_onednn, NULL}, second = first;
    struct pdnn_err err = {0};
    assert_true(small.cache_bytes != large.cache_bytes);
    must(first.def->open(&small, &first.state, &err), &err);
    must(second.def->open(&large, &second.state, &err), &err);
    check_instance(&first, 1, id);
    check_instance(&second, 1, id);
    const struct pdnn_tune *a = first.def->tune(first.state), *b = second.def->tune(second.state);
    assert_true(a->keys.count > 0);
    assert_int_equal(a->keys.count, b->keys.count);
    for (size_t i = 0; i < a->keys.count; i++)
        assert_string_equal(a->keys.text[i], b->keys.text[i]);
    close_backend(&first);
    close_backend(&second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose_without_room),
        cmocka_unit_test(test_choose_in_little_room),
        cmocka_unit_test(test_candidates_that_say_nothing),
        cmocka_unit_test(test_limit_covers_the_buffer),
        cmocka_unit_test(test_auto_takes_what_fits),
        cmocka_unit_test(test_measured_caches_are_no_part_of_a_key),
        cmocka_unit_test(test_reorders_do_not_warm_what_is_cold),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
