#include "tests/cmocka_all.h"

#include "session/compose/choose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIZES = 8 };
static const struct pdnn_kind_caches caches = {.bytes = {32 << 10, 1 << 20, 32 << 20}, .count = 3};

/* One operator per model, of twice the size and cost of the one before. */
static struct made {
    char key[SIZES][PDNN_OPERATOR_KEY_TEXT];
    uint32_t number[SIZES], order[SIZES];
    struct pdnn_choose_operator operators[SIZES];
    struct pdnn_choose_model models[SIZES];
    struct pdnn_choose choose;
} made;

static void make(double budget_seconds) {
    memset(&made, 0, sizeof made);
    for (int i = 0; i < SIZES; i++) {
        snprintf(made.key[i], sizeof made.key[i],
                 "onednn threads=2 isa=default relu/forward/%d:%d [x] 64@128MiB", 64 << i, 64 << i);
        made.number[i] = (uint32_t)i;
        made.operators[i] = (struct pdnn_choose_operator){.key = made.key[i], .seconds = 1 << i};
        made.models[i] = (struct pdnn_choose_model){.operators = &made.number[i], .count = 1, .seconds = 0.1};
    }
    for (int i = 0; i < SIZES; i++)
        made.order[i] = (uint32_t)i;
    made.choose = (struct pdnn_choose){.operators = made.operators,
                                       .n_operators = SIZES,
                                       .models = made.models,
                                       .n_models = SIZES,
                                       .order = made.order,
                                       .most_seconds = budget_seconds / 16,
                                       .caches = caches,
                                       .budget_seconds = budget_seconds};
}

/* "MMPL": the fates of all models; each is that of its only operator. */
static void check(const char *fates, double seconds) {
    char found[SIZES + 1] = "";
    pdnn_choose(&made.choose);
    for (int i = 0; i < SIZES; i++) {
        found[i] = "LMP"[made.models[i].fate];
        assert_int_equal(made.operators[i].fate, made.models[i].fate);
    }
    assert_string_equal(found, fates);
    assert_true(fabs(made.choose.seconds - seconds) < 1e-9);
    assert_true(made.choose.seconds <= made.choose.budget_seconds);
    pdnn_arena_finish(&made.choose.arena);
}

static void test_without_a_budget_all_are_measured(void **state) {
    (void)state;
    make(INFINITY);
    check("MMMMMMMM", 255.8);
}

/* What cannot be measured is left, or predicted where others are beside it. */
static void test_too_large(void **state) {
    (void)state;
    make(INFINITY);
    made.operators[3].seconds = INFINITY;
    check("MMMPMMMM", 255.8 - 8);
    make(INFINITY);
    made.operators[7].seconds = INFINITY;
    check("MMMMMMML", 255.8 - 128.1);
    assert_string_equal(made.operators[7].reason, "beyond its measured neighbours");
}

/* Those that a sixteenth pays for, then the others, as long as they fit into two thirds. */
static void test_budget(void **state) {
    (void)state;
    make(0);
    check("LLLLLLLL", 0);
    make(24);
    check("MMMMLLLL", 15.4);
    make(48);
    check("MMMMMLLL", 31.5);
    /* An operator that others need is measured although one model alone would not. */
    make(24);
    made.operators[3].seconds = 0.5;
    made.operators[4].seconds = 0; /* known already */
    check("MMMMMLLL", 8.0);
}

/* A larger one that is known makes those between predictable. */
static void test_between(void **state) {
    (void)state;
    make(12);
    made.operators[5].seconds = 0;
    check("MMMPPMLL", 7.6);
}

/* Models are taken in the order given, whatever they cost, up to the first that does not fit; what would take
 * a large part comes after them. */
static void test_order(void **state) {
    static const uint32_t dear_first[SIZES] = {6, 3, 5, 7, 4, 1, 2, 0};
    (void)state;
    make(60); /* of which two thirds are 40 */
    made.choose.most_seconds = 50;
    memcpy(made.order, dear_first, sizeof dear_first);
    for (int i = 0; i < SIZES; i++)
        made.models[i] = (struct pdnn_choose_model){.seconds = 1 << i};
    pdnn_choose(&made.choose);
    /* 64 is too large a part; 8 and 32 fit; 16 does not, nor do those after it, but for the last third. */
    static const enum pdnn_fate fates[SIZES] = {[3] = PDNN_FATE_MEASURED,
                                                [5] = PDNN_FATE_MEASURED,
                                                [4] = PDNN_FATE_MEASURED,
                                                [1] = PDNN_FATE_MEASURED};
    for (int i = 0; i < SIZES; i++)
        assert_int_equal(made.models[i].fate, fates[i]);
    pdnn_arena_finish(&made.choose.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_budget_all_are_measured),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_between),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
