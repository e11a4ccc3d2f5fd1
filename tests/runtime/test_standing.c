#include "runtime/protocol/standing.h"

#include "cmocka_all.h"

#include <math.h>

enum { DIRECT = 0, COMPOSED = PDNN_FLAG_COMPOSED, PREDICTED = COMPOSED | PDNN_FLAG_PREDICTED };

static bool counts(const struct pdnn_visit *visits, size_t n, size_t i) {
    const struct pdnn_standing standing = pdnn_standing_of(visits, n);
    return pdnn_visit_counts(&visits[i], &standing);
}

static bool counts_composed(const struct pdnn_visit *visits, size_t n, size_t i) {
    const struct pdnn_standing standing = pdnn_standing_of(visits, n);
    return pdnn_visit_is(&visits[i], PDNN_VISITS_COMPOSED, &standing);
}

static void test_visit_counts_last_settled(void **state) {
    (void)state;
    const struct pdnn_visit mixed[] = {{.flags = COMPOSED, .started_unix_ms = 1},
                                       {.flags = COMPOSED, .started_unix_ms = 2},
                                       {.flags = PREDICTED, .started_unix_ms = 3},
                                       {.flags = PREDICTED | PDNN_FLAG_SETTLED, .started_unix_ms = 4}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(counts(mixed, 4, i), i == 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(counts(mixed, 3, i), i < 2);
    const struct pdnn_visit old[] = {{.flags = PREDICTED, .started_unix_ms = 1},
                                     {.flags = PREDICTED | PDNN_FLAG_SETTLED, .started_unix_ms = 2},
                                     {.flags = COMPOSED, .started_unix_ms = 3}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(counts(old, 3, i), i == 1);
}

/* A model that ran and was composed: its row has the direct visits; its composed time is asked for apart. */
static void test_visit_counts_composed_beside_direct(void **state) {
    (void)state;
    const struct pdnn_visit both[] = {{.flags = DIRECT},
                                      {.flags = PREDICTED},
                                      {.flags = COMPOSED},
                                      {.flags = COMPOSED, .outcome = PDNN_OUTCOME_UNPREDICTED},
                                      {.flags = DIRECT, .outcome = PDNN_OUTCOME_CRASH}};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(counts(both, 5, i), i == 0 || i == 4);
        assert_int_equal(counts_composed(both, 5, i), i == 2);
        assert_int_equal(pdnn_visit_is_direct(&both[i]), i == 0);
        assert_int_equal(pdnn_visit_is_round(&both[i]), i == 1 || i == 2);
    }
}

static void test_visits_median_of_each_kind(void **state) {
    (void)state;
    const unsigned settled = COMPOSED | PDNN_FLAG_SETTLED;
    const struct pdnn_visit visits[] = {{.flags = COMPOSED, .median_ns = 1},
                                        {.flags = COMPOSED, .median_ns = 5},
                                        {.flags = settled, .median_ns = 2, .started_unix_ms = 1},
                                        {.flags = settled, .median_ns = 8, .started_unix_ms = 1},
                                        {.flags = DIRECT, .median_ns = 7},
                                        {.flags = DIRECT, .outcome = PDNN_OUTCOME_CRASH, .median_ns = 9}};
    const struct {
        size_t n;
        double row, direct, composed;
    } cases[] = {{2, 3, NAN, 3}, {4, 5, NAN, 5}, {6, 7, 7, 5}, {0, NAN, NAN, NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double expected[] = {cases[i].row, cases[i].direct, cases[i].composed};
        double scratch[6];
        for (int which = PDNN_VISITS_ROW; which <= PDNN_VISITS_COMPOSED; which++) {
            double found = pdnn_visits_median_ns(visits, cases[i].n, (enum pdnn_visits_of)which, scratch);
            assert_true(isnan(expected[which]) ? isnan(found) : found == expected[which]);
        }
    }
}

/* Letters in order: o ok, c crash, f another failure, i interrupted; C composed, P predicted, S settled, u a
 * composition that failed. */
static struct pdnn_standing standing_of(const char *letters) {
    static const struct {
        char letter;
        enum pdnn_outcome outcome;
        unsigned flags;
    } kinds[] = {
        {'o', PDNN_OUTCOME_OK, DIRECT},
        {'c', PDNN_OUTCOME_CRASH, DIRECT},
        {'f', PDNN_OUTCOME_OOM, DIRECT},
        {'i', PDNN_OUTCOME_INTERRUPTED, DIRECT},
        {'C', PDNN_OUTCOME_OK, COMPOSED},
        {'P', PDNN_OUTCOME_OK, PREDICTED},
        {'u', PDNN_OUTCOME_UNPREDICTED, COMPOSED},
        {'S', PDNN_OUTCOME_OK, COMPOSED | PDNN_FLAG_SETTLED},
    };
    struct pdnn_standing standing = {0};
    for (; *letters; letters++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i].letter == *letters)
                pdnn_standing_add(&standing,
                                  &(struct pdnn_visit){.outcome = kinds[i].outcome, .flags = kinds[i].flags});
    return standing;
}

static void test_standing_of_two_rounds(void **state) {
    (void)state;
    static const struct {
        const char *visits;
        bool is_final, is_done;
        enum pdnn_outcome outcome;
    } cases[] = {
        {"o", false, false, PDNN_OUTCOME_OK},
        {"oo", false, true, PDNN_OUTCOME_OK},
        {"oi", false, false, PDNN_OUTCOME_OK},
        {"f", true, true, PDNN_OUTCOME_OOM},
        {"of", true, true, PDNN_OUTCOME_OK},
        {"c", false, false, PDNN_OUTCOME_CRASH},
        {"cc", true, true, PDNN_OUTCOME_CRASH},
        {"coc", false, false, PDNN_OUTCOME_OK},
        {"cCc", true, true, PDNN_OUTCOME_OK}, /* what was composed in between does not part two crashes */
        {"C", false, false, PDNN_OUTCOME_OK}, /* composed rounds are rounds */
        {"CC", false, true, PDNN_OUTCOME_OK},
        {"CSS", false, false, PDNN_OUTCOME_OK},   /* settled visits are none */
        {"CCSSo", false, false, PDNN_OUTCOME_OK}, /* the row is direct now and lacks a visit */
        {"PP", false, true, PDNN_OUTCOME_OK},
        {"PPC", false, false, PDNN_OUTCOME_OK}, /* the row has the measured one */
        {"u", false, true, PDNN_OUTCOME_UNPREDICTED},
        {"uc", false, false, PDNN_OUTCOME_CRASH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pdnn_standing standing = standing_of(cases[i].visits);
        print_message("%s\n", cases[i].visits);
        assert_int_equal(pdnn_standing_is_final(&standing), cases[i].is_final);
        assert_int_equal(pdnn_standing_is_done(&standing, 2), cases[i].is_done);
        assert_int_equal(pdnn_standing_outcome(&standing), cases[i].outcome);
    }
    const struct pdnn_standing none = {0};
    assert_false(pdnn_standing_is_done(&none, 2) || pdnn_standing_is_final(&none));
}

static void test_standing_compare(void **state) {
    (void)state;
    static const struct {
        const char *one, *other;
        int order;
    } cases[] = {{"oo", "o", 1},     {"o", "CCSS", 1}, {"C", "PP", 1},
                 {"CSSS", "CC", -1}, {"f", "P", -1},   {"f", "cc", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pdnn_standing one = standing_of(cases[i].one), other = standing_of(cases[i].other);
        assert_int_equal(pdnn_standing_compare(&one, &other), cases[i].order);
        assert_int_equal(pdnn_standing_compare(&other, &one), -cases[i].order);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visit_counts_last_settled),
        cmocka_unit_test(test_visit_counts_composed_beside_direct),
        cmocka_unit_test(test_visits_median_of_each_kind),
        cmocka_unit_test(test_standing_of_two_rounds),
        cmocka_unit_test(test_standing_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
