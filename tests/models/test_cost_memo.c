/* Remembered costs and peaks are those of the whole graph, to the last bit, for random instances of every
 * family; and they are remembered. */
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "models/build.h"
#include "models/cost/cost.h"
#include "models/cost/memory.h"

#include <inttypes.h>
#include <string.h>

static int64_t pick(struct pdnn_rng *rng, const int64_t *values, size_t count) {
    return values[pdnn_rng_below(rng, count)];
}

/* A value near the default or small, in range; words are all as likely. */
static int64_t draw(struct pdnn_rng *rng, const struct pdnn_param_def *def) {
    int64_t words = 0;
    while (def->type == PDNN_PARAM_CHOICE && def->choices[words])
        words++;
    if (words)
        return (int64_t)pdnn_rng_below(rng, (uint64_t)words);
    const int64_t usual = def->fallback.number, values[] = {1, 2, 3, 5, 8, 64, usual, usual + 1, 2 * usual};
    int64_t value = pick(rng, values, sizeof values / sizeof *values);
    return value < def->min ? def->min : value > def->max ? def->max : value;
}

/* Changes a few hyper-parameters and settings of the defaults. */
static struct pdnn_instance draw_instance(struct pdnn_rng *rng, const struct pdnn_family_def *family) {
    struct pdnn_instance instance;
    pdnn_instance_init(&instance, family);
    for (size_t i = 0; i < family->n_params; i++)
        if (pdnn_rng_below(rng, 4) == 0)
            instance.hyper[i] = pdnn_value_of(draw(rng, &family->params[i]));
    for (int i = 0; i < PDNN_SETTING_COUNT; i++)
        if (pdnn_rng_below(rng, 3) == 0)
            instance.setting[i] = draw(rng, &pdnn_settings[i]);
    instance.setting[PDNN_SETTING_ACCUMULATE] = 1 + (int64_t)pdnn_rng_below(rng, 3);
    return instance;
}

/* Counts and peak of the instance's own graphs. */
static enum pdnn_status count_whole(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                    struct pdnn_totals *totals, struct pdnn_err *err) {
    const struct pdnn_instance run = pdnn_instance_as_run(instance);
    struct pdnn_graph graph;
    pdnn_arena_reset(arena);
    enum pdnn_status status = pdnn_instance_graph(instance, arena, &graph, err);
    if (status == PDNN_OK)
        status = pdnn_cost_graph(&graph, totals, err);
    if (status == PDNN_OK)
        status = pdnn_instance_graph(&run, arena, &graph, err);
    if (status == PDNN_OK)
        status = pdnn_memory_peak(pdnn_memory_lifetimes(&graph), pdnn_memory_count(&graph), arena,
                                  &totals->memory_bytes, err);
    return status;
}

/* One that can be built: of families whose values depend on each other, most draws cannot. */
static struct pdnn_instance draw_good(struct pdnn_rng *rng, const struct pdnn_family_def *family,
                                      struct pdnn_arena *arena) {
    enum { TRIES = 50 };
    for (int i = 1;; i++) {
        const struct pdnn_instance drawn = draw_instance(rng, family);
        struct pdnn_instance instance = drawn;
        struct pdnn_totals totals;
        struct pdnn_err err = {0};
        pdnn_instance_settle(&instance);
        pdnn_instance_resolve(&instance, 2);
        if (i == TRIES || count_whole(&instance, arena, &totals, &err) == PDNN_OK)
            return drawn;
    }
}

/* Both ways give the same status and, if that is PDNN_OK, the same counts. */
static enum pdnn_status compare(struct pdnn_cost_memo *memo, struct pdnn_arena *arena,
                                const struct pdnn_instance *instance) {
    struct pdnn_totals found = {0}, whole = {0}, counts = {0};
    struct pdnn_err err = {0}, found_err = {0};
    char id[PDNN_ID_TEXT];
    enum pdnn_status status = count_whole(instance, arena, &whole, &err);
    if (pdnn_cost_memo_find(memo, instance, true, arena, &found, &found_err) != status)
        fail_msg("%s: %s, remembered: %s", pdnn_instance_format(instance, id), err.text, found_err.text);
    if (status != PDNN_OK)
        return status;
    if (memcmp(&found, &whole, sizeof whole) != 0)
        fail_msg("%s: %" PRIu64 " FLOP, %" PRIu64 " bytes, peak %" PRIu64 "; remembered %" PRIu64 ", %" PRIu64
                 ", %" PRIu64,
                 pdnn_instance_format(instance, id), whole.cost.flop_count, whole.cost.byte_count,
                 whole.memory_bytes, found.cost.flop_count, found.cost.byte_count, found.memory_bytes);
    assert_int_equal(pdnn_cost_memo_find(memo, instance, false, arena, &counts, &found_err), PDNN_OK);
    whole.memory_bytes = 0;
    assert_memory_equal(&counts, &whole, sizeof whole);
    return PDNN_OK;
}

static const int64_t minibatches[] = {1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 100, 500};
static const int64_t depths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 24, 31, 64, 128};
enum { N_MINIBATCHES = sizeof minibatches / sizeof *minibatches, N_DEPTHS = sizeof depths / sizeof *depths };

/* Minibatches and depths of each model, in no order, so that entries are begun, completed, widened, dropped
 * and begun again. Graphs of models without a depth vary more, and cost more each. */
static void test_memo_is_the_whole_graph(void **state) {
    (void)state;
    enum { MODELS = 24, EACH = 2 * N_DEPTHS };
    struct pdnn_cost_memo *memo = pdnn_cost_memo_create();
    struct pdnn_arena arena;
    struct pdnn_rng rng = {17, 0};
    pdnn_arena_init(&arena);
    for (size_t f = 0; pdnn_family_at(f); f++) {
        const struct pdnn_family_def *family = pdnn_family_at(f);
        size_t n_good = 0;
        for (int model = 0; model < MODELS; model++) {
            const struct pdnn_instance drawn = draw_good(&rng, family, &arena);
            uint64_t start = pdnn_rng_below(&rng, N_DEPTHS);
            for (uint64_t i = 0; i < EACH; i++) {
                struct pdnn_instance instance = drawn;
                instance.hyper[family->minibatch_param].number = pick(&rng, minibatches, N_MINIBATCHES);
                if (family->depth_param >= 0)
                    instance.hyper[family->depth_param].number = depths[(start + 5 * i) % N_DEPTHS];
                pdnn_instance_settle(&instance);
                pdnn_instance_resolve(&instance, 2);
                n_good += compare(memo, &arena, &instance) == PDNN_OK;
            }
        }
        assert_true(n_good > MODELS * EACH / 4); /* or the test says little about the family */
    }
    pdnn_cost_memo_destroy(memo);
    pdnn_arena_finish(&arena);
}

/* The words of a run setting. */
static int64_t words_of(enum pdnn_setting setting) {
    int64_t words = 0;
    while (pdnn_settings[setting].choices[words])
        words++;
    return words;
}

/* Every type, fusion, optimizer and checkpoint, in inference and in training, at a depth in turn. */
static void test_memo_is_the_whole_graph_with_all_settings(void **state) {
    (void)state;
    static const enum pdnn_setting settings[] = {PDNN_SETTING_MODE, PDNN_SETTING_DTYPE, PDNN_SETTING_FUSE,
                                                 PDNN_SETTING_CHECKPOINT, PDNN_SETTING_OPTIMIZER};
    enum { N_SETTINGS = sizeof settings / sizeof *settings };
    struct pdnn_cost_memo *memo = pdnn_cost_memo_create();
    struct pdnn_arena arena;
    int64_t turn = 0, combinations = 1;
    size_t n_families = 0;
    pdnn_arena_init(&arena);
    for (int i = 0; i < N_SETTINGS; i++)
        combinations *= words_of(settings[i]);
    for (size_t f = 0; pdnn_family_at(f); f++) {
        const struct pdnn_family_def *family = pdnn_family_at(f);
        n_families += family->depth_param >= 0;
        for (int64_t at = 0; family->depth_param >= 0 && at < combinations; at++, turn++) {
            struct pdnn_instance instance;
            int64_t rest = at;
            pdnn_instance_init(&instance, family);
            for (int i = 0; i < N_SETTINGS; rest /= words_of(settings[i++]))
                instance.setting[settings[i]] = rest % words_of(settings[i]);
            if (instance.setting[PDNN_SETTING_MODE] == PDNN_MODE_INFER &&
                (instance.setting[PDNN_SETTING_OPTIMIZER] || instance.setting[PDNN_SETTING_CHECKPOINT]))
                continue;
            instance.hyper[family->minibatch_param].number = minibatches[turn % N_MINIBATCHES];
            instance.hyper[family->depth_param].number = depths[(turn + turn / N_DEPTHS) % N_DEPTHS];
            pdnn_instance_settle(&instance);
            pdnn_instance_resolve(&instance, 2);
            assert_int_equal(compare(memo, &arena, &instance), PDNN_OK);
        }
    }
    assert_true(n_families >= 10);
    pdnn_cost_memo_destroy(memo);
    pdnn_arena_finish(&arena);
}

/* Where the whole graph says that counts or tensors do not fit, so does the memo. */
static void test_memo_overflows_alike(void **state) {
    (void)state;
    struct pdnn_cost_memo *memo = pdnn_cost_memo_create();
    struct pdnn_arena arena;
    struct pdnn_instance instance;
    size_t n_overflows = 0;
    pdnn_arena_init(&arena);
    assert_int_equal(pdnn_instance_parse("fc/input=4000,output=3,layers=9,nodes=16777216", &instance, NULL),
                     PDNN_OK);
    pdnn_instance_resolve(&instance, 2);
    for (int64_t batch = 1; batch <= INT64_C(1) << 24; batch *= 2) {
        instance.hyper[instance.family->minibatch_param].number = batch;
        for (int64_t depth = 1; depth <= 512; depth *= 8) {
            instance.hyper[instance.family->depth_param].number = depth;
            n_overflows += compare(memo, &arena, &instance) == PDNN_OVERFLOW;
        }
    }
    assert_true(n_overflows > 0);
    pdnn_cost_memo_destroy(memo);
    pdnn_arena_finish(&arena);
}

/* After two minibatches of a model, one between them needs no graph, whatever the depth beyond the third. */
static void test_memo_remembers(void **state) {
    (void)state;
    static const struct {
        int64_t minibatch, depth;
        bool is_known;
    } cases[] = {{4, 128, false}, {16, 5, false}, {8, 7, true}, {12, 6, true}, {9, 2, false}, {8, 4, true}};
    struct pdnn_cost_memo *memo = pdnn_cost_memo_create();
    struct pdnn_arena arena;
    pdnn_arena_init(&arena);
    for (size_t f = 0; pdnn_family_at(f); f++) {
        const struct pdnn_family_def *family = pdnn_family_at(f);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct pdnn_instance instance;
            struct pdnn_totals totals;
            bool has_depth = family->depth_param >= 0;
            int rows = pdnn_param_find(family->params, family->n_params, "rows_cap");
            size_t used = pdnn_arena_used(&arena);
            pdnn_instance_init(&instance, family);
            instance.hyper[family->minibatch_param].number = cases[i].minibatch;
            if (has_depth)
                instance.hyper[family->depth_param].number = cases[i].depth;
            /* Between these minibatches no table begins to be read whole. */
            if (rows >= 0)
                instance.hyper[rows] = pdnn_value_of(2);
            instance.setting[PDNN_SETTING_CACHE] = i % 2 ? PDNN_CACHE_COLD : PDNN_CACHE_WARM;
            pdnn_instance_settle(&instance);
            pdnn_instance_resolve(&instance, 2);
            assert_int_equal(pdnn_cost_memo_find(memo, &instance, true, &arena, &totals, NULL), PDNN_OK);
            if ((pdnn_arena_used(&arena) == 0) != (cases[i].is_known || (!has_depth && i >= 2)))
                fail_msg("%s: number %zu takes %zu bytes", family->name, i, pdnn_arena_used(&arena));
            /* The graphs of a deep model are no larger than those of a shallow one. */
            if (i == 1)
                assert_int_equal(pdnn_arena_used(&arena), used);
        }
    }
    pdnn_cost_memo_destroy(memo);
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memo_is_the_whole_graph),
        cmocka_unit_test(test_memo_is_the_whole_graph_with_all_settings),
        cmocka_unit_test(test_memo_overflows_alike),
        cmocka_unit_test(test_memo_remembers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
