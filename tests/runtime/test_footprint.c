/* Memory predicted, planned and resident, for random models of every family, type, mode and fusion. A
 * library's own scratch is outside of predictions: what its implementations choose to need is known when they
 * compile. */
#define _GNU_SOURCE /* mincore */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "models/build.h"
#include "models/cost/cost.h"
#include "models/cost/memory.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const struct pdnn_backend_def pdnn_backend_onednn;

/* Words to draw from, after what is fixed. */
struct draw {
    const char *key, *words[6];
};

static const struct model {
    const char *base;
    struct draw draws[9];
} models[] = {
    {"fc/",
     {{"layers", {"1", "4", "9"}},
      {"nodes", {"300", "700"}},
      {"input", {"100", "700"}},
      {"output", {"10", "500"}},
      {"batch", {"64", "512"}}}},
    {"cnn/block=residual,output=10,",
     {{"blocks", {"1", "2-1-1-1"}},
      {"filters", {"16", "32"}},
      {"image", {"32", "48"}},
      {"batch", {"8", "16"}}}},
    {"rnn/rnn=unrolled,dtype=f32,",
     {{"cell", {"rnn", "lstm", "gru", "lbr_gru"}},
      {"layers", {"1", "2"}},
      {"embedding", {"64", "300"}},
      {"hidden", {"100", "200"}},
      {"length", {"5", "30"}},
      {"vocabulary", {"50", "900"}},
      {"batch", {"4", "32"}},
      {"bidirectional", {"no", "yes"}}}},
    {"gnmt/rnn=unrolled,dtype=f32,",
     {{"hidden", {"64", "160"}},
      {"layers", {"2", "3"}},
      {"vocabulary", {"100", "2000"}},
      {"source", {"6", "15"}},
      {"target", {"6", "15"}},
      {"batch", {"2", "16"}}}},
    {"deepspeech2/rnn=unrolled,labels=10,dtype=f32,",
     {{"hidden", {"64", "200"}}, {"layers", {"1", "3"}}, {"frames", {"100", "200"}}, {"batch", {"1", "4"}}}},
    {"transformer/heads=4,",
     {{"layers", {"1", "3"}},
      {"hidden", {"64", "192"}},
      {"ffn", {"256", "500"}},
      {"length", {"16", "60"}},
      {"vocabulary", {"100", "3000"}},
      {"batch", {"2", "8"}},
      {"norm", {"pre", "post"}},
      {"dropout", {"0", "10"}}}},
};
enum { N_MODELS = sizeof models / sizeof *models };

/* Models of every row; the test's argument, since an emulator takes seconds for one. */
static int each = 24;

static const struct draw settings[] = {{"mode", {"train", "infer"}},
                                       {"dtype", {"f32", "f32", "bf16"}},
                                       {"fuse", {"none", "post-ops"}},
                                       {"optimizer", {"sgd", "adam", "rmsprop"}}};

static void add(struct pdnn_rng *rng, const struct draw *draw, char *id) {
    size_t n_words = 0, length = strlen(id);
    while (draw->words[n_words])
        n_words++;
    bool is_first = id[length - 1] == '/' || id[length - 1] == ',';
    snprintf(id + length, PDNN_ID_TEXT - length, "%s%s=%s", is_first ? "" : ",", draw->key,
             draw->words[pdnn_rng_below(rng, n_words)]);
}

static void draw_id(struct pdnn_rng *rng, const struct model *model, char id[PDNN_ID_TEXT]) {
    snprintf(id, PDNN_ID_TEXT, "%s", model->base);
    for (size_t i = 0; i < sizeof model->draws / sizeof *model->draws && model->draws[i].key; i++)
        add(rng, &model->draws[i], id);
    add(rng, &settings[0], id);
    bool is_training = strstr(id, "mode=train") != NULL;
    for (size_t i = 1; i < sizeof settings / sizeof *settings; i++) {
        bool is_given = strstr(model->base, settings[i].key) != NULL;
        if (!is_given && (is_training || strcmp(settings[i].key, "optimizer") != 0))
            add(rng, &settings[i], id);
    }
}

/* Whether the step is ours. Those of 16-bit ops widen what they work on, and Winograd's algorithm, which
 * measuring chooses, transforms as much as it has room for. */
static bool is_own(const struct pdnn_call *call) {
    return strncmp(call->implementation, "paradnn:", 8) == 0 && !strstr(call->implementation, "bf16") &&
           !strstr(call->implementation, "winograd");
}

/* Whether a library's step uses the slot: what is between it and a step of ours belongs to its
 * implementation. */
static bool is_of_library(const struct pdnn_program *program, uint32_t slot) {
    for (uint32_t i = 0; i < program->n_calls; i++) {
        const struct pdnn_call *call = &program->calls[i];
        for (int k = 0; k < call->n_slots; k++) {
            if (call->slot[k] == slot && !is_own(call))
                return true;
        }
    }
    return false;
}

/* The peak of the plan without what libraries want beside the model's tensors. */
static uint64_t own_peak(const struct pdnn_plan *plan, struct pdnn_arena *arena) {
    const struct pdnn_program *program = &plan->program;
    struct pdnn_lifetime *all = pdnn_arena_alloc(arena, program->n_slots, sizeof *all);
    struct pdnn_err err = {0};
    uint64_t peak;
    for (size_t i = 0; i < program->n_slots; i++)
        all[i] = (struct pdnn_lifetime){.first = UINT32_MAX, .takes_over = PDNN_NONE};
    for (uint32_t i = 0; i < program->n_calls; i++) {
        const struct pdnn_call *call = &program->calls[i];
        for (int k = 0; k < call->n_slots; k++) {
            struct pdnn_lifetime *life = &all[call->slot[k]];
            if (call->slot[k] < plan->graph->n_tensors || !is_of_library(program, call->slot[k]))
                life->bytes = program->slots[call->slot[k]].bytes;
            life->first = life->first < i ? life->first : i;
            life->last = i;
        }
    }
    for (uint32_t i = 0; i < program->n_slots; i++) {
        if (program->slots[i].resident && (i < plan->graph->n_tensors || !is_of_library(program, i)))
            all[i] = (struct pdnn_lifetime){program->slots[i].bytes, 0, UINT32_MAX, PDNN_NONE, 0, false};
        /* What lies where another one ends continues it. */
        for (uint32_t j = 0; j < i && all[i].bytes; j++) {
            if (all[j].bytes == all[i].bytes && plan->offset[i] == plan->offset[j] &&
                all[i].first == all[j].last)
                all[i].takes_over = j;
        }
    }
    must(pdnn_memory_peak(all, program->n_slots, arena, &peak, &err), &err);
    return peak;
}

/* Bytes of the pages that the plan's block has after a step. */
static uint64_t resident_bytes(const struct pdnn_plan *plan, struct pdnn_arena *arena) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n_pages = (plan->block_bytes + page - 1) / page;
    unsigned char *is_there = pdnn_arena_alloc(arena, n_pages, 1);
    uint64_t bytes = 0;
    assert_int_equal(pdnn_plan_run(plan), 0);
    assert_int_equal(mincore(plan->block, plan->block_bytes, is_there), 0);
    for (size_t i = 0; i < n_pages; i++)
        bytes += (is_there[i] & 1) * page;
    return bytes;
}

/* Strips that some kernels work in, one a thread: of a product, and the copies in f32 of a head's 16-bit
 * matrices. */
enum { STRIPS_BYTES = CHECK_THREADS * ((256 + 64) << 10) };

static bool is_close(uint64_t bytes, uint64_t other) {
    uint64_t apart = bytes > other ? bytes - other : other - bytes;
    return apart <= other / 20 + STRIPS_BYTES;
}

static void check_footprint(const struct opened *backend, const char *id) {
    struct pdnn_instance instance;
    struct pdnn_arena arena = {0}, scratch = {0};
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_totals totals;
    struct pdnn_err err = {0};
    must(pdnn_instance_parse(id, &instance, &err), &err);
    pdnn_instance_resolve(&instance, CHECK_THREADS);
    must(pdnn_cost_instance(&instance, &scratch, true, &totals, &err), &err);
    must(pdnn_instance_graph(&instance, &arena, &graph, &err), &err);
    const struct pdnn_plan_options options = {.allow_slow = true};
    must(pdnn_plan_create(&plan, backend->def, backend->state, &graph, &options, &err), &err);
    uint64_t own = own_peak(&plan, &arena), resident = resident_bytes(&plan, &arena);
    if (!is_close(own, totals.memory_bytes))
        fail_msg("%s: %" PRIu64 " bytes predicted, %" PRIu64 " planned", id, totals.memory_bytes, own);
    if (own > plan.block_bytes || (resident < own && !is_close(resident, own)))
        fail_msg("%s: %" PRIu64 " bytes planned, of a block of %" PRIu64 ", %" PRIu64 " resident", id, own,
                 plan.block_bytes, resident);
    pdnn_plan_destroy(&plan);
    pdnn_arena_finish(&scratch);
    pdnn_arena_finish(&arena);
}

static void test_footprint_of_random_models(void **state) {
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_rng rng = {3, 0};
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        for (int k = 0; k < each; k++) {
            char id[PDNN_ID_TEXT];
            draw_id(&rng, &models[i], id);
            check_footprint(&backend, id);
        }
    }
    close_backend(&backend);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_footprint_of_random_models)};
    each = argc > 1 ? atoi(argv[1]) : each;
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
