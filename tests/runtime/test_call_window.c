/* Excerpts: a step after a few others, on memory of their own, computes, bit for bit, what it computes inside
 * its model, for models of all families on every backend, run after run; reuse distances; and
 * what the times of many runs come to. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "runtime/measure/window_times.h"
#include "runtime/plan/reuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_openblas, pdnn_backend_reference;

static const struct pdnn_backend_def *const backends[] = {&pdnn_backend_onednn, &pdnn_backend_openblas,
                                                          &pdnn_backend_reference};
enum { BACKENDS = sizeof backends / sizeof *backends };

static const char *const models[] = {
    "fc/layers=4,nodes=40,input=30,output=5,batch=64,mode=train,optimizer=rmsprop",
    "fc/layers=4,nodes=40,input=30,output=5,batch=3,mode=infer,fuse=post-ops",
    "fc/layers=4,nodes=64,input=32,output=5,batch=16,mode=train,optimizer=adam,accumulate=2",
    "fc/layers=2,nodes=64,input=32,output=5,batch=16,mode=infer,dtype=int8",
    "cnn/block=residual,blocks=1,filters=16,image=24,output=3,batch=2,mode=train",
    "cnn/block=bottleneck,blocks=1,filters=16,image=24,output=3,batch=2,mode=infer,fuse=post-ops",
    "rnn/cell=lstm,layers=2,embedding=16,vocabulary=20,batch=4,length=5,mode=train",
    "rnn/cell=gru,layers=1,embedding=8,vocabulary=20,batch=4,length=5,mode=infer,rnn=unrolled",
    "gnmt/hidden=8,layers=2,vocabulary=20,source=4,target=4,batch=3,mode=train",
    "deepspeech2/hidden=8,layers=1,labels=1,batch=1,frames=33,mode=train",
    "transformer/layers=2,hidden=32,heads=2,length=8,vocabulary=40,batch=2,mode=train,dropout=10",
    "transformer/layers=2,hidden=32,heads=2,length=8,vocabulary=40,batch=2,mode=infer,fuse=blocks",
};
enum { MODELS = sizeof models / sizeof *models };

/* The contents of a step's operands, one after the other; heap. */
static unsigned char *save(const struct pdnn_plan *plan, size_t step, void *const *memory, size_t *bytes) {
    const struct pdnn_call *of = &plan->program.calls[step];
    *bytes = 0;
    for (int k = 0; k < of->n_slots; k++)
        *bytes += plan->program.slots[of->slot[k]].bytes;
    unsigned char *copy = malloc(*bytes + 1), *at = copy;
    assert_non_null(copy);
    for (int k = 0; k < of->n_slots; k++) {
        uint64_t size = plan->program.slots[of->slot[k]].bytes;
        if (size)
            memcpy(at, memory[of->slot[k]], size);
        at += size;
    }
    return copy;
}

/* How many steps use each slot. One beyond the tensors that a single step uses is scratch, which a library
 * may fill with anything. Heap. */
static size_t *count_users(const struct pdnn_plan *plan) {
    size_t *users = calloc(plan->program.n_slots + 1, sizeof *users);
    assert_non_null(users);
    for (size_t i = 0; i < plan->program.n_calls; i++)
        for (int k = 0; k < plan->program.calls[i].n_slots; k++)
            users[plan->program.calls[i].slot[k]]++;
    return users;
}

static bool is_scratch(const struct pdnn_plan *plan, const size_t *users, uint32_t slot) {
    return slot >= plan->graph->n_tensors && users[slot] < 2;
}

static bool is_same(const struct pdnn_plan *plan, const size_t *users, size_t step, const unsigned char *a,
                    const unsigned char *b) {
    const struct pdnn_call *of = &plan->program.calls[step];
    bool same = true;
    for (int k = 0; k < of->n_slots; k++) {
        uint64_t size = plan->program.slots[of->slot[k]].bytes;
        same = same && (is_scratch(plan, users, of->slot[k]) || memcmp(a, b, size) == 0);
        a += size;
        b += size;
    }
    return same;
}

/* Behind the first scratch slot of a call there are no operands. */
static void check_order(const struct pdnn_plan *plan, const size_t *users, const char *id) {
    for (size_t i = 0; i < plan->program.n_calls; i++) {
        const struct pdnn_call *call = &plan->program.calls[i];
        for (int k = 1; k < call->n_slots; k++)
            if (is_scratch(plan, users, call->slot[k - 1]) && !is_scratch(plan, users, call->slot[k]))
                fail_msg("%s on %s: operand %d of %s follows scratch", id, plan->backend->name, k,
                         call->implementation);
    }
}

/* A stretch ends at every third step. */
enum { BEFORE = 5, STRIDE = 3 };

/* What the model's steps have left when step `first` begins is what the window begins with. */
static void check_step(const struct pdnn_plan *plan, const size_t *users, size_t step,
                       const unsigned char *left, const char *id) {
    const struct pdnn_call *of = &plan->program.calls[step];
    const size_t first = step > BEFORE ? step - BEFORE : 0, count = step - first + 1;
    struct pdnn_call_window window;
    struct pdnn_err err = {0};
    uint64_t ns[BEFORE + 1];
    size_t bytes;
    unsigned char *expected = save(plan, step, plan->memory, &bytes);
    must(pdnn_call_window_create(&window, plan, first, count, 0, CHECK_SEED, &err), &err);
    memcpy(window.block, left, plan->block_bytes);
    assert_int_equal(pdnn_call_window_run(&window, 0, ns), 0);
    unsigned char *got = save(plan, step, window.memory, &bytes);
    if (!is_same(plan, users, step, got, expected))
        fail_msg("%s on %s: step %zu (%s) computes something else in an window", id, plan->backend->name,
                 step, of->implementation);
    pdnn_call_window_destroy(&window);
    for (size_t i = first; i <= step; i++)
        plan->program.calls[i].work.bind(plan->program.calls[i].work.state, plan->memory);
    free(got);
    free(expected);
}

/* Runs the model step by step, and keeps its whole block as the last few steps found it. */
static void check_steps(const struct pdnn_plan *plan, const size_t *users, const char *id) {
    unsigned char *left[BEFORE + 1];
    for (int i = 0; i <= BEFORE; i++) {
        left[i] = malloc(plan->block_bytes + 1);
        assert_non_null(left[i]);
    }
    for (size_t step = 0; step < plan->program.n_calls; step++) {
        const struct pdnn_work *work = &plan->program.calls[step].work;
        memcpy(left[step % (BEFORE + 1)], plan->block, plan->block_bytes);
        assert_int_equal(work->run(work->state), 0);
        if (step % STRIDE == 0 || step + 1 == plan->program.n_calls)
            check_step(plan, users, step, left[step > BEFORE ? (step - BEFORE) % (BEFORE + 1) : 0], id);
    }
    for (int i = 0; i <= BEFORE; i++)
        free(left[i]);
}

static void check_model(const struct pdnn_backend_def *def, const char *id) {
    struct opened backend = open_backend(def);
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    const struct pdnn_plan_options options = {.seed = CHECK_SEED, .allow_slow = true};
    build_instance(id, &arena, &graph);
    enum pdnn_status status = pdnn_plan_create(&plan, def, backend.state, &graph, &options, &err);
    if (status != PDNN_UNSUPPORTED) {
        must(status, &err);
        size_t *users = count_users(&plan);
        check_order(&plan, users, id);
        check_steps(&plan, users, id);
        free(users);
        pdnn_plan_destroy(&plan);
    }
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

static void test_excerpt_computes_what_its_model_does(void **state) {
    (void)state;
    for (int backend = 0; backend < BACKENDS; backend++)
        for (int model = 0; model < MODELS; model++)
            check_model(backends[backend], models[model]);
}

/* Bytes of what no update changes: without them, each run of a stretch computes the same. */
static unsigned char *run_stretch(struct pdnn_call_window *window, size_t *bytes) {
    uint64_t ns[BEFORE + 1] = {0};
    pdnn_call_window_restore(window);
    assert_int_equal(pdnn_call_window_run(window, 0, ns), 0);
    size_t last = (window->first + window->count - 1) % window->plan->program.n_calls;
    return save(window->plan, last, window->memory, bytes);
}

/* An outline compiles to the same block as a plan, and stretches of it run without one, across the end too;
 * in inference they compute the same each time, although memory is used again for something else. */
static void test_outline_runs_without_memory(void **state) {
    (void)state;
    for (int model = 0; model < MODELS; model++) {
        struct opened backend = open_backend(&pdnn_backend_onednn);
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_plan outline;
        struct pdnn_err err = {0};
        const struct pdnn_plan_options options = {.seed = CHECK_SEED};
        build_instance(models[model], &arena, &graph);
        must(pdnn_plan_outline(&outline, backend.def, backend.state, &graph, &options, &err), &err);
        assert_null(outline.block);
        assert_true(outline.block_bytes > 0);
        size_t *users = count_users(&outline), n_steps = outline.program.n_calls;
        for (size_t step = 0; step < n_steps; step += STRIDE) {
            struct pdnn_call_window window;
            size_t bytes, count = n_steps < BEFORE + 1 ? n_steps : BEFORE + 1;
            size_t last = (step + count - 1) % n_steps;
            must(pdnn_call_window_create(&window, &outline, step, count, 0, CHECK_SEED, &err), &err);
            unsigned char *once = run_stretch(&window, &bytes), *twice = run_stretch(&window, &bytes);
            if (graph.loss == PDNN_NONE && !is_same(&outline, users, last, once, twice))
                fail_msg("%s: step %zu computes something else the second time", models[model], last);
            free(once);
            free(twice);
            pdnn_call_window_destroy(&window);
        }
        free(users);
        pdnn_plan_destroy(&outline);
        pdnn_arena_finish(&arena);
        close_backend(&backend);
    }
}

static const struct pdnn_reuse_caches large_caches = {512 << 10, 64 << 20};

/* In training, what one step computes and a later one reads was written; weights that two passes read were
 * not. */
static void test_reuse_knows_what_was_written(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_reference);
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_err err = {0};
    const struct pdnn_plan_options options = {.seed = CHECK_SEED};
    size_t reads = 0, written = 0;
    build_instance(models[0], &arena, &graph);
    must(pdnn_plan_outline(&plan, backend.def, backend.state, &graph, &options, &err), &err);
    for (size_t i = 0; i < plan.program.n_calls; i++) {
        const struct pdnn_call *call = &plan.program.calls[i];
        struct pdnn_reuse reuse[PDNN_CALL_SLOTS];
        pdnn_reuse_find(&plan, i, false, &large_caches, reuse);
        for (int k = 0; k < call->n_slots; k++) {
            bool is_update = graph.nodes[call->node].pass == PDNN_UPDATE;
            enum pdnn_role role =
                call->slot[k] < graph.n_tensors ? graph.tensors[call->slot[k]].role : PDNN_ROLE_COUNT;
            reads += role == PDNN_ROLE_WEIGHT && is_update && !reuse[k].is_written;
            written += role == PDNN_ROLE_WEIGHT_GRADIENT && is_update && reuse[k].is_written;
            assert_false(role == PDNN_ROLE_INPUT && reuse[k].is_written);
        }
    }
    assert_true(reads > 0 && written > 0);
    pdnn_plan_destroy(&plan);
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

/* Five operands in a block: weights w0 and w1 of 1 MiB, activations x, y, z of 128 KiB; z takes y's place. */
enum { KIB = 1 << 10, W0 = 0, W1, X, Y, Z, SLOTS };

struct toy {
    struct pdnn_slot slots[SLOTS];
    struct pdnn_call steps[3];
    uint64_t offset[SLOTS];
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    void *bound[SLOTS];
};

static void bind_toy(void *state, void *const *memory) {
    struct toy *toy = state;
    memcpy(toy->bound, memory, sizeof toy->bound);
}

static int run_toy(void *state) {
    (void)state;
    return 0;
}

static void make_toy(struct toy *toy) {
    static const uint64_t kib[SLOTS] = {1024, 1024, 128, 128, 128}, at[SLOTS] = {0, 1024, 2048, 2176, 2176};
    static const uint32_t operands[3][3] = {{W0, X, Y}, {W1, Y, Z}, {W1, Z, X}};
    *toy = (struct toy){.graph = {.n_tensors = 0}};
    for (int i = 0; i < SLOTS; i++) {
        toy->slots[i].bytes = kib[i] * KIB;
        toy->offset[i] = at[i] * KIB;
    }
    for (int i = 0; i < 3; i++) {
        toy->steps[i] = (struct pdnn_call){.n_slots = 3, .work = {toy, bind_toy, run_toy, NULL}};
        memcpy(toy->steps[i].slot, operands[i], sizeof operands[i]);
    }
    toy->plan = (struct pdnn_plan){.graph = &toy->graph, .offset = toy->offset, .block_bytes = 2304 * KIB};
    toy->plan.program = (struct pdnn_program){
        .graph = &toy->graph, .slots = toy->slots, .calls = toy->steps, .n_slots = SLOTS, .n_calls = 3};
}

static void test_reuse_counts_what_lies_between(void **state) {
    (void)state;
    struct toy toy;
    struct pdnn_reuse reuse[PDNN_CALL_SLOTS];
    make_toy(&toy);
    /* Step 0: w0 was last used by step 0, beside 256 KiB, before steps 1 (1152 KiB, y and z being one) and 2
     * (1280 KiB): 1024 + 128 + 2432 KiB, nearest 4 MiB, which is between the caches. x was written by step 2
     * beside 1152 KiB: 128 + 576 KiB, nearest 512 KiB, which a core's cache may have lost. So was y's memory
     * read, as z. */
    pdnn_reuse_find(&toy.plan, 0, false, &large_caches, reuse);
    assert_int_equal(reuse[0].bytes, 8 << 20);
    assert_int_equal(reuse[1].bytes, 8 << 20);
    assert_int_equal(reuse[2].bytes, 8 << 20);
    /* Step 2: w1 was used by step 1, beside 128 KiB: 1 MiB. */
    pdnn_reuse_find(&toy.plan, 2, false, &large_caches, reuse);
    assert_int_equal(reuse[0].bytes, 8 << 20);
    const struct {
        struct pdnn_reuse_caches caches;
        uint64_t w0, x;
    } rows[] = {
        {{1 << 20, 64 << 20}, 8 << 20, PDNN_REUSE_NEAR}, /* x is in a core's cache */
        {{8 << 20, 64 << 20}, PDNN_REUSE_NEAR, PDNN_REUSE_NEAR},
        {{1 << 20, 8 << 20}, 4 << 20, PDNN_REUSE_NEAR}, /* about all of the last-level cache */
        {{1 << 20, 2 << 20}, 2 << 20, PDNN_REUSE_NEAR}, /* farther than any cache */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pdnn_reuse_find(&toy.plan, 0, false, &rows[i].caches, reuse);
        assert_int_equal(reuse[0].bytes, rows[i].w0);
        assert_int_equal(reuse[1].bytes, rows[i].x);
    }
    /* Evicted caches have nothing of the previous step. */
    pdnn_reuse_find(&toy.plan, 0, true, &large_caches, reuse);
    for (int k = 0; k < 3; k++)
        assert_int_equal(reuse[k].bytes, 64 << 20);
    pdnn_reuse_find(&toy.plan, 1, true, &large_caches, reuse);
    assert_int_equal(reuse[1].bytes, 8 << 20);
}

/* What hardly counts among a step's bytes does not make another state of the caches. */
static void test_reuse_leaves_out_what_is_small(void **state) {
    (void)state;
    struct toy toy;
    struct pdnn_reuse reuse[PDNN_CALL_SLOTS];
    make_toy(&toy);
    toy.slots[X].bytes = 60 * KIB;
    pdnn_reuse_find(&toy.plan, 0, true, &large_caches, reuse);
    assert_int_equal(reuse[1].bytes, PDNN_REUSE_NEAR);
    toy.slots[X].bytes = 100 * KIB;
    pdnn_reuse_find(&toy.plan, 0, true, &large_caches, reuse);
    assert_int_equal(reuse[1].bytes, 64 << 20);
}

static void test_reuse_far_is_beyond_the_cache(void **state) {
    (void)state;
    assert_int_equal(pdnn_reuse_far(0), PDNN_REUSE_NEAR);
    assert_int_equal(pdnn_reuse_far(32 << 20), 64 << 20);
    assert_int_equal(pdnn_reuse_far(45 << 20), 64 << 20);
    assert_int_equal(pdnn_reuse_far(46 << 20), 128 << 20);
    assert_int_equal(pdnn_reuse_far(23 << 20), 64 << 20);
}

/* Before step 1 runs step 0, which touches 1280 KiB, then step 2 of the run before: w1, the one place of y
 * and z, and x, of which step 0 has touched all but w1. */
static void test_excerpt_before_fills_the_caches(void **state) {
    (void)state;
    struct toy toy;
    make_toy(&toy);
    assert_int_equal(pdnn_call_window_before(&toy.plan, 1, 1, false), 1);
    assert_int_equal(pdnn_call_window_before(&toy.plan, 1, 1280 * KIB, false), 1);
    assert_int_equal(pdnn_call_window_before(&toy.plan, 1, 1281 * KIB, false), 2);
    assert_int_equal(pdnn_call_window_before(&toy.plan, 1, (uint64_t)1 << 40, false), 2);
    assert_int_equal(pdnn_call_window_before(&toy.plan, 1, (uint64_t)1 << 40, true), 1);
    assert_int_equal(pdnn_call_window_before(&toy.plan, 0, (uint64_t)1 << 40, true), 0);
}

/* y, which step 0 computes, is restored before step 1 and 2 run, since z takes its place; the limit counts
 * what they touch and the copy: w1, x, y and y again. */
static void test_excerpt_restores_what_it_overwrites(void **state) {
    (void)state;
    struct toy toy;
    struct pdnn_call_window window;
    struct pdnn_err err = {0};
    uint64_t ns[2];
    make_toy(&toy);
    const uint64_t need = (1024 + 128 + 128 + 128) * KIB;
    must(pdnn_call_window_create(&window, &toy.plan, 1, 2, need, 1, &err), &err);
    assert_int_equal(window.touched_bytes, need);
    assert_int_equal(window.n_restored, 1);
    float *y = window.memory[Y], before = y[5];
    assert_ptr_equal(toy.bound[Z], y);
    assert_true(before != 0 && before > -0.04F && before < 0.04F);
    y[5] = 7;
    pdnn_call_window_restore(&window);
    assert_true(y[5] == before);
    assert_int_equal(pdnn_call_window_run(&window, 0, ns), 0);
    pdnn_call_window_destroy(&window);
    assert_int_equal(pdnn_call_window_create(&window, &toy.plan, 1, 2, need - 1, 1, &err), PDNN_TOO_BIG);
    err = (struct pdnn_err){0};
    must(pdnn_call_window_create(&window, &toy.plan, 0, 3, 0, 1, &err), &err);
    assert_int_equal(window.n_restored, 0);
    pdnn_call_window_destroy(&window);
}

/* Medians of the parts would be 1 and 10; the run in the middle took 1 and 30. */
static void test_middle_means_sum_to_the_middle_run(void **state) {
    (void)state;
    const double runs[] = {1, 10, 1, 10, 1, 30, 41, 10, 1, 60};
    double sums[5];
    size_t order[5];
    struct pdnn_part_time times[2];
    pdnn_middle_means(runs, 5, 2, sums, order, times);
    assert_true(times[0].ns > 14.3 && times[0].ns < 14.4); /* (1 + 1 + 41) / 3 */
    assert_true(times[1].ns > 16.6 && times[1].ns < 16.7); /* (10 + 30 + 10) / 3 */
    assert_true(times[0].min_ns == 1 && times[1].min_ns == 10);
    pdnn_middle_means(runs, 3, 2, sums, order, times);
    assert_true(times[0].ns == 1 && times[1].ns == 10);
    pdnn_middle_means(runs, 1, 2, sums, order, times);
    assert_true(times[0].ns == 1 && times[1].ns == 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_excerpt_computes_what_its_model_does),
        cmocka_unit_test(test_outline_runs_without_memory),
        cmocka_unit_test(test_reuse_counts_what_lies_between),
        cmocka_unit_test(test_reuse_leaves_out_what_is_small),
        cmocka_unit_test(test_reuse_knows_what_was_written),
        cmocka_unit_test(test_reuse_far_is_beyond_the_cache),
        cmocka_unit_test(test_excerpt_before_fills_the_caches),
        cmocka_unit_test(test_excerpt_restores_what_it_overwrites),
        cmocka_unit_test(test_middle_means_sum_to_the_middle_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
