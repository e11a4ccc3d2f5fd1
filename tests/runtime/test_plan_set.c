/* Plans that share their weights: one block, addresses, what is prepared when, what is refused. Every member
 * computes what it would alone, and training at mixed lengths trains one set of weights. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/sharing.h"
#include "runtime/backends/onednn/state.h"
#include "runtime/plan/plan_set.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_openblas, pdnn_backend_reference;

static const struct pdnn_backend_def *const backends[] = {&pdnn_backend_onednn, &pdnn_backend_openblas,
                                                          &pdnn_backend_reference};
enum { BACKENDS = sizeof backends / sizeof *backends };

/* An id without its last value. */
enum { STEPS_MAX = 1024 };

struct model {
    const char *id;
    int values[3]; /* the first is the largest */
};

static const struct model lstm = {
    "rnn/cell=lstm,embedding=12,hidden=16,vocabulary=20,batch=4,mode=train,optimizer=adam,length=",
    {9, 2, 6}};

/* The parameters that may vary, in all families that have one, in both modes. */
static const struct model models[] = {
    {"rnn/cell=lstm,embedding=12,hidden=16,vocabulary=20,batch=4,mode=infer,length=", {9, 2, 6}},
    {"rnn/cell=lstm,embedding=12,hidden=16,vocabulary=20,batch=16,mode=infer,rnn=fused,length=", {9, 1, 6}},
    {"rnn/cell=gru,embedding=8,hidden=16,layers=2,vocabulary=20,length=3,mode=infer,batch=", {33, 1, 16}},
    {"rnn/cell=gru,embedding=8,vocabulary=20,length=3,mode=infer,rnn=fused,batch=", {33, 1, 16}},
    {"rnn/cell=lbr_gru,embedding=8,vocabulary=20,batch=3,bidirectional=yes,rnn=fused,length=", {7, 1, 4}},
    {"rnn/cell=rnn,embedding=8,vocabulary=20,batch=3,dropout=20,rnn=unrolled,length=", {7, 1, 4}},
    {"gnmt/hidden=8,layers=2,vocabulary=20,target=4,batch=3,source=", {7, 2, 5}},
    {"gnmt/hidden=8,layers=2,vocabulary=20,source=4,batch=3,mode=infer,target=", {7, 2, 5}},
    {"deepspeech2/hidden=8,layers=2,labels=1,batch=2,frames=", {45, 33, 39}},
    {"fc/layers=3,nodes=40,input=30,output=5,fuse=post-ops,mode=infer,batch=", {64, 1, 17}},
    {"fc/layers=3,nodes=40,input=30,output=5,batch=", {64, 1, 17}},
    {"cnn/block=residual,blocks=1,filters=8,image=16,output=3,fuse=post-ops,mode=infer,batch=", {4, 1, 2}},
    {"llama/layers=1,hidden=64,heads=2,ffn=64,experts=4,active=2,vocabulary=20,length=4,dtype=bf16,mode=infer,"
     "batch=",
     {16, 1, 5}},
    {"cnn/block=residual,blocks=1,filters=8,image=16,output=3,batch=", {4, 1, 2}},
};
enum { MODELS = sizeof models / sizeof *models };

enum { ID_ROOM = 256 };

static const char *key_of(const struct model *model, int value, char id[ID_ROOM]) {
    snprintf(id, ID_ROOM, "%s%d", model->id, value);
    return id;
}

static enum pdnn_status build(void *user, const char *key, struct pdnn_arena *arena, struct pdnn_graph *graph,
                              struct pdnn_err *err) {
    int *calls = user;
    (void)err;
    (*calls)++;
    build_instance(key, arena, graph);
    return PDNN_OK;
}

/* A set, and what was built for it. */
struct fixture {
    struct opened backend;
    struct pdnn_plan_set set;
    int calls;
};

static enum pdnn_status try_open(struct fixture *f, const struct pdnn_backend_def *def,
                                 const struct model *model, const struct pdnn_plan_set_options *options,
                                 struct pdnn_err *err) {
    char id[ID_ROOM];
    f->backend = open_backend(def);
    f->calls = 0;
    const struct pdnn_plan_source source = {&f->calls, build};
    return pdnn_plan_set_init(&f->set, def, f->backend.state, &source, key_of(model, model->values[0], id),
                              options, err);
}

static void open_set(struct fixture *f, const struct pdnn_backend_def *def, const struct model *model,
                     size_t kept) {
    struct pdnn_err err = {0};
    must(try_open(f, def, model, &(struct pdnn_plan_set_options){.plan = {.seed = CHECK_SEED}, .kept = kept},
                  &err),
         &err);
}

static void close_set(struct fixture *f) {
    pdnn_plan_set_finish(&f->set);
    close_backend(&f->backend);
}

static const struct pdnn_plan_member *get(struct fixture *f, const struct model *model, int value) {
    const struct pdnn_plan_member *member = NULL;
    char id[ID_ROOM];
    struct pdnn_err err = {0};
    must(pdnn_plan_set_get(&f->set, key_of(model, value, id), NULL, &member, &err), &err);
    assert_string_equal(member->key, id);
    return member;
}

static void check_place(const struct fixture *f, const struct pdnn_plan *plan, uint32_t slot,
                        const unsigned char *end_of_shared) {
    const unsigned char *at = plan->memory[slot];
    bool is_shared = slot < plan->graph->n_tensors && pdnn_role_is_shared(plan->graph->tensors[slot].role);
    if (!plan->program.slots[slot].bytes)
        return;
    assert_true(at >= (is_shared ? f->set.block : end_of_shared));
    assert_true(at + plan->program.slots[slot].bytes <= f->set.block + plan->block_bytes);
}

/* Shared slots are at the same place for all members, everything is within the block, and what only one
 * member has follows the shared part. */
static void check_places(const struct fixture *f, const struct pdnn_plan *plan,
                         const struct pdnn_plan *other) {
    uint32_t i = pdnn_shared_next(plan->graph, 0), j = pdnn_shared_next(other->graph, 0);
    const unsigned char *end = f->set.block;
    uint64_t bytes = 0;
    for (; i != PDNN_NONE;
         i = pdnn_shared_next(plan->graph, i + 1), j = pdnn_shared_next(other->graph, j + 1)) {
        assert_ptr_equal(plan->memory[i], other->memory[j]);
        assert_int_equal(plan->program.slots[i].bytes, other->program.slots[j].bytes);
        bytes += plan->program.slots[i].bytes;
        end = (const unsigned char *)plan->memory[i] + plan->program.slots[i].bytes;
    }
    assert_int_equal(bytes, f->set.shared_bytes);
    for (size_t s = 0; s < plan->program.n_calls; s++) {
        const struct pdnn_call *call = &plan->program.calls[s];
        for (int k = 0; k < call->n_slots; k++)
            check_place(f, plan, call->slot[k], end);
    }
    assert_true(plan->block_bytes <= f->set.block_bytes && f->set.block_bytes <= f->set.room_bytes);
}

static void test_plan_set_shares(void **state) {
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct fixture f;
        open_set(&f, backends[b], &lstm, 0);
        const struct pdnn_plan_member *largest = get(&f, &lstm, lstm.values[0]);
        for (int i = 0; i < 3; i++) {
            const struct pdnn_plan_member *member = get(&f, &lstm, lstm.values[i]);
            check_places(&f, &member->plan, &largest->plan);
            assert_null(member->plan.block);
            assert_true(member->prepare_ns > 0);
        }
        assert_int_equal(f.set.block_bytes, largest->plan.block_bytes);
        close_set(&f);
    }
}

/* Once for each length, however often and in whatever order they come, and never during a step. */
static void test_plan_set_prepares_once(void **state) {
    (void)state;
    struct fixture f;
    open_set(&f, &pdnn_backend_onednn, &lstm, 0);
    assert_int_equal(f.set.n_prepared, 1);
    for (int i = 0; i < 30; i++) {
        const struct pdnn_plan_member *member = get(&f, &lstm, lstm.values[i * 7 % 3]);
        uint64_t prepared = f.set.n_prepared;
        for (int step = 0; step < 3; step++)
            assert_int_equal(pdnn_plan_run(&member->plan), 0);
        assert_int_equal(f.set.n_prepared, prepared);
    }
    assert_int_equal(f.set.n_prepared, 3);
    assert_int_equal(f.set.n_members, 3);
    assert_int_equal(f.calls, 3);
    close_set(&f);
}

/* The least recently used member is evicted; one that comes back is prepared again;
 * the bound is never exceeded. */
static void test_plan_set_bound(void **state) {
    (void)state;
    static const struct {
        int value;
        uint64_t prepared;
    } rows[] = {{9, 1}, {2, 2}, {9, 2}, {6, 3}, {9, 3}, {2, 4}, {9, 4}, {6, 5}, {2, 6}};
    struct fixture f;
    open_set(&f, &pdnn_backend_reference, &lstm, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_plan_member *member = get(&f, &lstm, rows[i].value);
        assert_int_equal(pdnn_plan_run(&member->plan), 0);
        assert_int_equal(f.set.n_prepared, rows[i].prepared);
        assert_true(f.set.n_members <= 2);
    }
    close_set(&f);
    open_set(&f, &pdnn_backend_onednn, &lstm, 1);
    for (int i = 0; i < 6; i++)
        get(&f, &lstm, lstm.values[i % 3]);
    assert_int_equal(f.set.n_members, 1);
    assert_int_equal(f.set.n_prepared, 6);
    close_set(&f);
}

/* Refusals name the cause and leave the set as it was. */
static void test_plan_set_refuses(void **state) {
    (void)state;
    static const struct {
        const char *key, *text;
        enum pdnn_status status;
    } rows[] = {
        {"rnn/cell=lstm,embedding=12,hidden=20,vocabulary=20,batch=4,mode=train,optimizer=adam,length=2",
         "is 80x12 f32, not 64x12 f32", PDNN_INVALID},
        {"rnn/cell=lstm,embedding=12,hidden=16,vocabulary=20,batch=4,mode=train,optimizer=sgd,length=2",
         "weights and states, not", PDNN_INVALID},
        {"rnn/cell=gru,embedding=12,hidden=16,vocabulary=20,batch=4,mode=train,optimizer=adam,length=2",
         "of layer1 is", PDNN_INVALID},
        {"rnn/cell=lstm,embedding=12,hidden=16,vocabulary=20,batch=4,mode=train,optimizer=adam,length=900",
         "the block of the set has room for", PDNN_TOO_BIG},
    };
    struct fixture f;
    open_set(&f, &pdnn_backend_openblas, &lstm, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_plan_member *member = NULL;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_plan_set_get(&f.set, rows[i].key, NULL, &member, &err), rows[i].status);
        if (!strstr(err.text, rows[i].text))
            fail_msg("'%s' does not say '%s'", err.text, rows[i].text);
        assert_null(member);
        assert_int_equal(pdnn_plan_run(&get(&f, &lstm, 6)->plan), 0);
    }
    assert_int_equal(f.set.n_prepared, 2);
    close_set(&f);
    struct pdnn_err err = {0};
    const struct pdnn_plan_set_options small = {.plan = {.limit_bytes = 4096}};
    assert_int_equal(try_open(&f, &pdnn_backend_openblas, &lstm, &small, &err), PDNN_TOO_BIG);
    close_set(&f);
}

/* Stamps leave out the clock's cost: one that costs more than everything leaves nothing. */
static void test_plan_run_stamped(void **state) {
    (void)state;
    struct fixture f;
    open_set(&f, &pdnn_backend_reference, &lstm, 0);
    const struct pdnn_plan *plan = &get(&f, &lstm, lstm.values[0])->plan;
    uint64_t step_ns[STEPS_MAX] = {0}, sum_ns = 0;
    assert_true(plan->program.n_calls >= 1 && plan->program.n_calls <= STEPS_MAX);
    assert_int_equal(pdnn_plan_run_stamped(plan, UINT64_MAX, step_ns), 0);
    for (size_t i = 0; i < plan->program.n_calls; i++)
        assert_int_equal(step_ns[i], 1);
    assert_int_equal(pdnn_plan_run_stamped(plan, 0, step_ns), 0);
    for (size_t i = 0; i < plan->program.n_calls; i++)
        sum_ns += step_ns[i] - 1;
    assert_true(sum_ns > 0);
    close_set(&f);
}

/* What is left after a step that runs alone. */
static void compare_with_alone(struct fixture *f, const struct pdnn_plan_member *member, double tolerance) {
    const struct pdnn_graph *graph = &member->graph;
    struct pdnn_plan alone;
    struct pdnn_err err = {0};
    const struct pdnn_plan_options options = {.seed = CHECK_SEED};
    must(pdnn_plan_create(&alone, &pdnn_backend_reference, NULL, graph, &options, &err), &err);
    assert_int_equal(pdnn_plan_run(&alone), 0);
    assert_int_equal(pdnn_plan_run(&member->plan), 0);
    const uint32_t kept[] = {graph->loss, graph->result};
    for (int i = 0; i < 2; i++) {
        if (kept[i] != PDNN_NONE)
            compare_values(&member->plan, &alone, kept[i], tolerance, member->key);
    }
    pdnn_plan_destroy(&alone);
    assert_ptr_equal(f->set.filled, member);
}

/* The first step of every member; earlier steps of other members leave the weights alone. */
static void test_plan_set_computes(void **state) {
    (void)state;
    for (int i = 0; i < BACKENDS * MODELS; i++) {
        const struct model *model = &models[i / BACKENDS];
        const struct pdnn_backend_def *def = backends[i % BACKENDS];
        bool is_inference = strstr(model->id, "mode=infer") != NULL;
        struct pdnn_err err = {0};
        struct fixture f;
        enum pdnn_status status =
            try_open(&f, def, model, &(struct pdnn_plan_set_options){.plan = {.seed = CHECK_SEED}}, &err);
        if (status != PDNN_UNSUPPORTED)
            must(status, &err);
        for (int k = 0; status == PDNN_OK && k < 4; k++) {
            const struct pdnn_plan_member *member = get(&f, model, model->values[k % 3]);
            check_places(&f, &member->plan, &get(&f, model, model->values[0])->plan);
            member = get(&f, model, model->values[k % 3]);
            if (is_inference || k == 0)
                compare_with_alone(&f, member, strstr(model->id, "bf16") ? 3e-2 : 1e-4);
            else
                assert_int_equal(pdnn_plan_run(&member->plan), 0);
        }
        close_set(&f);
    }
}

/* A member whose calls keep what they made of weights makes that again once others have used its memory. */
static void test_plan_set_makes_kept_weights_again(void **state) {
    (void)state;
    static const struct model model = {
        "cnn/block=residual,blocks=1,filters=16,image=16,output=3,fuse=post-ops,mode=infer,batch=",
        {4, 1, 2}};
    static const struct pdnn_onednn_conv2d_choice choice = {
        .is_own = true, .order = PDNN_ONEDNN_CHANNELS_LAST, .keeps_weights = true};
    struct pdnn_err err = {0};
    struct fixture f;
    f.backend = open_backend(&pdnn_backend_onednn);
    ((struct pdnn_onednn *)f.backend.state)->forced_conv2d = &choice;
    f.calls = 0;
    const struct pdnn_plan_source source = {&f.calls, build};
    const struct pdnn_plan_set_options options = {.plan = {.seed = CHECK_SEED}};
    char id[ID_ROOM];
    must(pdnn_plan_set_init(&f.set, &pdnn_backend_onednn, f.backend.state, &source,
                            key_of(&model, model.values[0], id), &options, &err),
         &err);
    for (int k = 0; k < 4; k++)
        compare_with_alone(&f, get(&f, &model, model.values[k % 3]), 1e-4);
    close_set(&f);
}

/* If the primitives of all members want one layout of the weights, even the library's own, members run as
 * they would alone; if they want several, all members have steps that reorder plain weights. */
static void test_plan_set_opens_weights(void **state) {
    static const struct {
        struct model model;
        bool opens;
    } rows[] = {
        {{"rnn/hidden=32,vocabulary=20,output_at=none,rnn=fused,mode=infer,batch=16,length=", {9, 2, 6}},
         false},
        {{"rnn/hidden=32,vocabulary=20,output_at=none,rnn=fused,mode=infer,length=4,batch=", {48, 16, 32}},
         true},
        {{"rnn/hidden=32,vocabulary=20,output_at=none,rnn=fused,mode=train,length=4,batch=", {48, 16, 32}},
         false},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct fixture f;
        bool asks_for_secrets = false;
        open_set(&f, &pdnn_backend_onednn, &rows[r].model, 0);
        for (int i = 0; i < 3; i++) {
            const struct pdnn_plan_member *member = get(&f, &rows[r].model, rows[r].model.values[i]);
            struct pdnn_plan alone;
            struct pdnn_err err = {0};
            must(pdnn_plan_create(&alone, f.backend.def, f.backend.state, &member->graph,
                                  &(struct pdnn_plan_options){.seed = CHECK_SEED}, &err),
                 &err);
            for (size_t s = 0; s < alone.program.n_calls; s++)
                asks_for_secrets |= strstr(alone.program.calls[s].implementation, "packed") != NULL;
            if (!f.set.opens_weights)
                assert_int_equal(member->plan.program.n_calls, alone.program.n_calls);
            pdnn_plan_destroy(&alone);
        }
        assert_int_equal(f.set.opens_weights, rows[r].opens && asks_for_secrets);
        assert_int_equal(f.set.n_prepared, f.set.opens_weights ? 4 : 3);
        close_set(&f);
    }
}

/* Copies weights and state of one plan to another, as plain arrays. */
static void copy_shared(const struct pdnn_plan *from, const struct pdnn_plan *to) {
    struct pdnn_err err = {0};
    for (uint32_t i = pdnn_shared_next(from->graph, 0); i != PDNN_NONE;
         i = pdnn_shared_next(from->graph, i + 1)) {
        void *plain = malloc(pdnn_tensor_bytes(&from->graph->tensors[i]));
        assert_non_null(plain);
        must(pdnn_plan_get(from, i, plain, &err), &err);
        must(to->backend->put(to->state, &to->program, i, plain, to->memory[i], &err), &err);
        free(plain);
    }
}

/* Training at alternating lengths, against separate plans between which the weights are copied by hand. */
static void check_training(const struct pdnn_backend_def *def, const char *settings, double tolerance) {
    struct model model = {"", {9, 2, 6}};
    char prefix[ID_ROOM - 16];
    snprintf(prefix, sizeof prefix,
             "rnn/cell=lstm,embedding=12,hidden=16,vocabulary=20,batch=4,mode=train,%s,length=", settings);
    model.id = prefix;
    struct fixture f;
    open_set(&f, def, &model, 0);
    struct pdnn_plan oracle[3];
    struct pdnn_err err = {0};
    const struct pdnn_plan_options options = {.seed = CHECK_SEED};
    for (int i = 0; i < 3; i++)
        must(pdnn_plan_create(&oracle[i], &pdnn_backend_reference, NULL,
                              &get(&f, &model, model.values[i])->graph, &options, &err),
             &err);
    for (int step = 0, at = 0; step < 9; step++) {
        int next = step * 2 % 3;
        if (next != at)
            copy_shared(&oracle[at], &oracle[next]);
        at = next;
        const struct pdnn_plan_member *member = get(&f, &model, model.values[at]);
        assert_int_equal(pdnn_plan_run(&oracle[at]), 0);
        assert_int_equal(pdnn_plan_run(&member->plan), 0);
        compare_values(&member->plan, &oracle[at], member->graph.loss, tolerance, settings);
        for (uint32_t i = pdnn_shared_next(&member->graph, 0); i != PDNN_NONE;
             i = pdnn_shared_next(&member->graph, i + 1))
            compare_values(&member->plan, &oracle[at], i, tolerance, settings);
    }
    for (int i = 0; i < 3; i++)
        pdnn_plan_destroy(&oracle[i]);
    close_set(&f);
}

static void test_plan_set_trains(void **state) {
    (void)state;
    check_training(&pdnn_backend_reference, "optimizer=momentum", 1e-6);
    check_training(&pdnn_backend_reference, "optimizer=adam", 1e-5);
    check_training(&pdnn_backend_openblas, "optimizer=momentum", 1e-4);
    check_training(&pdnn_backend_onednn, "optimizer=momentum,rnn=fused", 1e-4);
    check_training(&pdnn_backend_onednn, "optimizer=momentum,rnn=unrolled", 1e-4);
    check_training(&pdnn_backend_onednn, "optimizer=momentum,fuse=post-ops", 1e-4);
}

/* Every home layout that dense weights may have in the first member, and every way to run a later one: it
 * keeps the layout. */
static void test_plan_set_keeps_layouts(void **state) {
    (void)state;
    const struct model *model = &models[MODELS - 3]; /* fc, training */
    for (int i = 0; i < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT * PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; i++) {
        struct pdnn_onednn_dense_choice choice = {
            .stored = (enum pdnn_onednn_weights_format)(i % PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT)};
        struct fixture f = {.backend = open_backend(&pdnn_backend_onednn)};
        struct pdnn_onednn *onednn = f.backend.state;
        const struct pdnn_plan_source source = {&f.calls, build};
        char id[ID_ROOM];
        struct pdnn_err err = {0};
        for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++)
            choice.variant[pass].format = choice.stored;
        onednn->forced_dense = &choice;
        must(pdnn_plan_set_init(&f.set, &pdnn_backend_onednn, onednn, &source,
                                key_of(model, model->values[0], id),
                                &(struct pdnn_plan_set_options){.plan = {.seed = CHECK_SEED}}, &err),
             &err);
        const struct pdnn_plan_member *largest = get(&f, model, model->values[0]);
        choice.stored = (enum pdnn_onednn_weights_format)(i / PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT);
        for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++)
            choice.variant[pass].format = choice.stored;
        const struct pdnn_plan_member *member = get(&f, model, model->values[2]);
        check_places(&f, &member->plan, &largest->plan);
        compare_with_alone(&f, member, strstr(model->id, "bf16") ? 3e-2 : 1e-4);
        onednn->forced_dense = NULL;
        assert_int_equal(pdnn_plan_run(&get(&f, model, model->values[1])->plan), 0);
        close_set(&f);
    }
}

/* Training steps at both lengths of a model, each batch with the lengths of its examples. The first is the
 * largest. */
static const char *const padded[][3] = {
    {"rnn/embedding=8,hidden=16,vocabulary=20,batch=3,length=9",
     "rnn/embedding=8,hidden=16,vocabulary=20,batch=3,length=2",
     "rnn/embedding=8,hidden=16,vocabulary=20,batch=3,length=6"},
    {"gnmt/hidden=8,layers=2,vocabulary=20,batch=3,dropout=0,source=9,target=8",
     "gnmt/hidden=8,layers=2,vocabulary=20,batch=3,dropout=0,source=3,target=7",
     "gnmt/hidden=8,layers=2,vocabulary=20,batch=3,dropout=0,source=6,target=2"},
    {"deepspeech2/hidden=8,layers=2,batch=2,frames=49,labels=5",
     "deepspeech2/hidden=8,layers=2,batch=2,frames=41,labels=3",
     "deepspeech2/hidden=8,layers=2,batch=2,frames=45,labels=4"},
    {"transformer/layers=2,hidden=16,heads=2,vocabulary=20,batch=3,dropout=0,objective=masked-lm,length=12,predictions=2",
     "transformer/layers=2,hidden=16,heads=2,vocabulary=20,batch=3,dropout=0,objective=masked-lm,length=5,predictions=1",
     "transformer/layers=2,hidden=16,heads=2,vocabulary=20,batch=3,dropout=0,objective=masked-lm,length=8,predictions=2"},
    {"transformer/architecture=encoder-decoder,layers=1,hidden=16,heads=2,vocabulary=20,batch=3,dropout=0,objective=causal-lm,"
     "length=9,target=8",
     "transformer/architecture=encoder-decoder,layers=1,hidden=16,heads=2,vocabulary=20,batch=3,dropout=0,objective=causal-lm,"
     "length=3,target=7",
     "transformer/architecture=encoder-decoder,layers=1,hidden=16,heads=2,vocabulary=20,batch=3,dropout=0,objective=causal-lm,"
     "length=7,target=2"},
};

static void open_padded(struct fixture *f, const struct pdnn_backend_def *def, const char *largest) {
    struct pdnn_err err = {0};
    const struct pdnn_plan_source source = {&f->calls, build};
    f->backend = open_backend(def);
    f->calls = 0;
    must(pdnn_plan_set_init(&f->set, def, f->backend.state, &source, largest,
                            &(struct pdnn_plan_set_options){.plan = {.seed = CHECK_SEED}}, &err),
         &err);
}

/* The loss of one step. */
static float train(struct fixture *f, const char *key, const struct pdnn_example_lengths *lengths) {
    const struct pdnn_plan_member *member;
    struct pdnn_err err = {0};
    float loss = 0;
    must(pdnn_plan_set_get(&f->set, key, lengths, &member, &err), &err);
    assert_int_equal(pdnn_plan_run(&member->plan), 0);
    must(pdnn_plan_get(&member->plan, member->graph.loss, &loss, &err), &err);
    return loss;
}

/* Masks, both lengths of encoder-decoders and the lengths of labels: training on alternating lengths gives
 * the reference's losses, and other losses than examples of other lengths give. */
static void test_plan_set_masks(void **state) {
    (void)state;
    static const struct pdnn_example_lengths batches[] = {
        {.count = 3, .source = {9, 4, 1}, .target = {2, 8, 5}},
        {.count = 3, .source = {1, 1, 2}, .target = {1, 3, 1}},
        {.count = 2, .source = {6, 3}, .target = {1, 2}},
    };
    for (size_t m = 0; m < sizeof padded / sizeof *padded; m++) {
        struct fixture f, oracle, drawn;
        float differs = 0;
        open_padded(&f, &pdnn_backend_onednn, padded[m][0]);
        open_padded(&oracle, &pdnn_backend_reference, padded[m][0]);
        open_padded(&drawn, &pdnn_backend_reference, padded[m][0]);
        for (int i = 0; i < 4; i++) {
            const char *key = padded[m][i * 2 % 3];
            float loss = train(&f, key, &batches[i % 3]), expected = train(&oracle, key, &batches[i % 3]);
            if (!(fabsf(loss - expected) <= 1e-3F * fabsf(expected)))
                fail_msg("%s: %g instead of %g", key, (double)loss, (double)expected);
            if (i == 0)
                differs = fabsf(train(&drawn, key, NULL) - expected);
        }
        assert_int_equal(f.set.n_prepared, 3);
        assert_true(differs > 0);
        close_set(&f);
        close_set(&oracle);
        close_set(&drawn);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_set_shares),
        cmocka_unit_test(test_plan_set_prepares_once),
        cmocka_unit_test(test_plan_set_bound),
        cmocka_unit_test(test_plan_set_refuses),
        cmocka_unit_test(test_plan_set_computes),
        cmocka_unit_test(test_plan_set_makes_kept_weights_again),
        cmocka_unit_test(test_plan_set_trains),
        cmocka_unit_test(test_plan_set_keeps_layouts),
        cmocka_unit_test(test_plan_set_opens_weights),
        cmocka_unit_test(test_plan_set_masks),
        cmocka_unit_test(test_plan_run_stamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
