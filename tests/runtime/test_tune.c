#define _POSIX_C_SOURCE 200809L
/* Choices by measuring, with candidates of known cost. */
#include "tests/cmocka_all.h"

#include "runtime/backend/tune.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { CANDIDATES_MAX = 4 };

struct fake {
    uint64_t cost_ns;
    uint64_t first_ns; /* of the first run, if not 0, instead of cost_ns */
    int fails_at;      /* this run and all later ones; 0: none */
    int runs;
};

static char order[256]; /* which candidates ran, by index */
static struct fake fakes[CANDIDATES_MAX];
static struct pdnn_team_thread thread = {.clock = CLOCK_PROCESS_CPUTIME_ID};
static const struct pdnn_thread_team team = {.count = 1, .thread = &thread};
static struct pdnn_core_share share = {.team = &team};

static double run(void *state) {
    struct fake *fake = state;
    size_t length = strlen(order);
    fake->runs++;
    if (length + 1 < sizeof order)
        order[length] = (char)('0' + (fake - fakes));
    if (fake->fails_at && fake->runs >= fake->fails_at)
        return INFINITY;
    return (double)(fake->runs == 1 && fake->first_ns ? fake->first_ns : fake->cost_ns);
}

static void prepare(const struct fake *given, int n, struct pdnn_tune_candidate *candidate) {
    memset(order, 0, sizeof order);
    memset(fakes, 0, sizeof fakes);
    memset(candidate, 0, (size_t)n * sizeof *candidate);
    for (int i = 0; i < n; i++) {
        fakes[i] = given[i];
        candidate[i].run = run;
        candidate[i].state = &fakes[i];
    }
}

static void test_measure_in_turns(void **state) {
    (void)state;
    const struct fake given[] = {{.cost_ns = 100, .first_ns = 9000}, {.cost_ns = 70}};
    const struct pdnn_tune_rules rules = {.rounds = 3};
    struct pdnn_tune_candidate candidate[2];
    prepare(given, 2, candidate);
    pdnn_tune_measure(&share, &rules, candidate, 2);
    assert_true(share.wall_ns > 0 && share.cpu_ns > 0);
    assert_string_equal(order, "01010101");
    assert_true(candidate[0].ns == 100 && candidate[1].ns == 70); /* the first run does not count */
}

static void test_measure_fills_visits(void **state) {
    (void)state;
    const struct fake given[] = {{.cost_ns = 10}, {.cost_ns = 1}, {.cost_ns = 1000}};
    const struct pdnn_tune_rules rules = {.rounds = 2, .visit_ns = 100};
    struct pdnn_tune_candidate candidate[3];
    prepare(given, 3, candidate);
    pdnn_tune_measure(&share, &rules, candidate, 3);
    assert_int_equal(fakes[0].runs, 2 + 2 * 11);
    assert_int_equal(fakes[1].runs, 2 + 2 * 50); /* the most there can be */
    assert_int_equal(fakes[2].runs, 2 + 2 * 1);
    assert_true(candidate[0].ns == 10 && candidate[1].ns == 1 && candidate[2].ns == 1000);
}

/* What is slow, and so runs once a visit, runs as often as asked; the mean counts. */
static void test_measure_repeats(void **state) {
    (void)state;
    const struct fake given[] = {{.cost_ns = 1000, .first_ns = 9000}};
    struct pdnn_tune_candidate candidate[1];
    prepare(given, 1, candidate);
    pdnn_tune_measure(&share, &(struct pdnn_tune_rules){.rounds = 1, .repeats = 3}, candidate, 1);
    assert_int_equal(fakes[0].runs, 4);
    assert_true(candidate[0].ns == 1000);
}

static void test_measure_gives_up_on_the_hopeless(void **state) {
    (void)state;
    const struct fake given[] = {{.cost_ns = 400}, {.cost_ns = 100}, {.cost_ns = 151}, {.cost_ns = 400}};
    const struct pdnn_tune_rules rules = {.rounds = 3, .visit_ns = 50, .hopeless = 1.5};
    struct pdnn_tune_candidate candidate[4];
    prepare(given, 4, candidate);
    candidate[0].is_yardstick = true;
    candidate[3].group = 1; /* the only one in its group */
    pdnn_tune_measure(&share, &rules, candidate, 4);
    assert_int_equal(fakes[0].runs, 5);
    assert_int_equal(fakes[1].runs, 5);
    assert_int_equal(fakes[2].runs, 2);
    assert_int_equal(fakes[3].runs, 5);
    assert_true(candidate[2].ns == 151);
}

static void test_measure_failing(void **state) {
    (void)state;
    const struct fake given[] = {
        {.cost_ns = 10, .fails_at = 1}, {.cost_ns = 10, .fails_at = 3}, {.cost_ns = 50}};
    for (uint64_t visit_ns = 0; visit_ns <= 1; visit_ns++) {
        const struct pdnn_tune_rules rules = {.rounds = 3, .visit_ns = visit_ns};
        struct pdnn_tune_candidate candidate[3];
        double ns[3];
        prepare(given, 3, candidate);
        pdnn_tune_measure(&share, &rules, candidate, 3);
        for (int i = 0; i < 3; i++)
            ns[i] = candidate[i].ns;
        assert_int_equal(fakes[0].runs, 1);
        assert_int_equal(fakes[1].runs, 3); /* not run again */
        assert_true(candidate[0].fails && candidate[1].fails && !candidate[2].fails);
        assert_true(isinf(ns[0]) && isinf(ns[1]) && ns[2] == 50);
        assert_int_equal(pdnn_tune_pick(ns, 3, 0.9), 2);
    }
}

static void test_pick(void **state) {
    (void)state;
    static const struct {
        double ns[3];
        double margin;
        int picked;
    } cases[] = {
        {{100, 91, 91}, 0.9, 0},           {{100, 90, 90}, 0.9, 1},
        {{100, 91, 80}, 0.9, 2},           {{100, 89, 81}, 0.9, 1}, /* 81 is not 10 % less than 89 */
        {{100, 89, 80}, 0.9, 2},           {{INFINITY, 100, 95}, 0.9, 1},
        {{INFINITY, INFINITY, 7}, 0.9, 2}, {{INFINITY, INFINITY, INFINITY}, 0.9, -1},
        {{100, 96, INFINITY}, 0.95, 0},    {{100, 95, INFINITY}, 0.95, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (pdnn_tune_pick(cases[i].ns, 3, cases[i].margin) != cases[i].picked)
            fail_msg("case %zu: %d is picked", i, pdnn_tune_pick(cases[i].ns, 3, cases[i].margin));
    }
    assert_int_equal(pdnn_tune_pick(NULL, 0, 0.9), -1);
}

/* What each measurement finds, by number of calls. */
struct script {
    int calls;
    double ns[4];
    enum pdnn_status status;
};

static enum pdnn_status play(void *state, bool is_guess, double *ns, struct pdnn_err *err) {
    struct script *script = state;
    ns[0] = ns[1] = 1;
    if (is_guess)
        return PDNN_OK;
    if (script->status != PDNN_OK)
        return pdnn_fail(err, script->status, "scripted");
    ns[0] = script->ns[script->calls];
    ns[1] = 100;
    script->calls++;
    return PDNN_OK;
}

static struct pdnn_tune_question question_of(const char *key, int compilations, struct script *script) {
    struct pdnn_tune_question question = {
        .n = 2, .compilations = compilations, .measure = play, .state = script};
    pdnn_tune_key_add(&question.key, "%s", key);
    return question;
}

/* The first of the times under the key. */
static double ask(struct pdnn_tune *tune, const struct pdnn_tune_question *question) {
    double ns[2] = {0};
    struct pdnn_err err = {0};
    if (pdnn_tune_ask(tune, question, ns, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return ns[0];
}

static void test_ask_settles(void **state) {
    (void)state;
    struct pdnn_tune tune = {0};
    struct script script = {.ns = {50, 70, 40}};
    const struct pdnn_tune_question question = question_of("op N=1", 2, &script);
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &question) == 50);
    assert_true(ask(&tune, &question) == 50);
    assert_int_equal(script.calls, 1); /* within one compilation: unchanged */
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &question) == 50); /* the least counts */
    assert_int_equal(script.calls, 2);
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &question) == 50);
    assert_int_equal(script.calls, 2); /* settled */
    pdnn_tune_finish(&tune);
    assert_int_equal(tune.keys.count, 0);
}

/* What another process measured once is measured again, in the first compilation of this one too. */
static void test_ask_recalled(void **state) {
    (void)state;
    struct pdnn_tune tune = {0};
    struct script script = {.ns = {50}};
    const struct pdnn_tune_question question = question_of("op N=1", 2, &script);
    pdnn_tune_recall(&tune, &question.key, (const double[]){60, 90}, 2, 1);
    assert_true(ask(&tune, &question) == 50);
    assert_int_equal(script.calls, 1);
    assert_true(ask(&tune, &question) == 50);
    assert_int_equal(script.calls, 1);
    pdnn_tune_finish(&tune);
}

/* What the library refuses is asked again, and nothing else. */
static void test_forget(void **state) {
    (void)state;
    struct pdnn_tune tune = {.is_final = true};
    struct script script = {.ns = {50, 40}};
    const struct pdnn_tune_question first = question_of("op N=1", 2, &script),
                                    second = question_of("op N=2", 2, &script),
                                    own = question_of("op N=3", 2, &script);
    pdnn_tune_recall(&tune, &first.key, (const double[]){60, 90}, 2, 1);
    pdnn_tune_recall(&tune, &second.key, (const double[]){70, 90}, 2, 1);
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &first) == 60);
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &own) == 50);
    assert_false(pdnn_tune_forget(&tune)); /* this compilation took nothing from others */
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &second) == 70);
    assert_true(ask(&tune, &own) == 50);
    assert_true(pdnn_tune_forget(&tune));
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &second) == 40);
    assert_true(ask(&tune, &first) == 60);
    assert_true(ask(&tune, &own) == 50);
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &second) == 40);
    assert_false(pdnn_tune_forget(&tune));
    assert_int_equal(script.calls, 2);
    pdnn_tune_finish(&tune);
}

/* Chooses under a question that is asked while another one is measured. */
static enum pdnn_status choose_inside(void *state, bool is_guess, double *ns, struct pdnn_err *err) {
    struct pdnn_tune *tune = state;
    const struct pdnn_tune_key key = {.text = "inside"};
    (void)is_guess, (void)err;
    pdnn_tune_note(tune, &key, (const int[]){5}, 1);
    ns[0] = 1;
    return PDNN_OK;
}

/* Equal choices have equal hashes, whoever measured them; another pick, key or order has another one. */
static void test_note(void **state) {
    static const struct {
        struct {
            const char *key;
            int picks[2], n;
        } notes[2];
        bool measures, is_same;
    } rows[] = {
        {{{"a", {1, 2}, 2}, {"b", {0}, 1}}, false, true},  {{{"a", {1, 2}, 2}, {"b", {0}, 1}}, true, true},
        {{{"a", {1, 2}, 2}, {"b", {1}, 1}}, false, false}, {{{"a", {1, 3}, 2}, {"b", {0}, 1}}, false, false},
        {{{"a", {1, 2}, 2}, {"c", {0}, 1}}, false, false}, {{{"b", {0}, 1}, {"a", {1, 2}, 2}}, false, false},
    };
    uint64_t first = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_tune tune = {0};
        struct pdnn_tune_question question = {.n = 1, .measure = choose_inside, .state = &tune};
        pdnn_tune_key_add(&question.key, "outside");
        pdnn_tune_begin(&tune);
        if (rows[i].measures)
            assert_true(ask(&tune, &question) == 1);
        assert_int_equal(tune.chosen, 0);
        for (int k = 0; k < 2; k++) {
            struct pdnn_tune_key key = {0};
            pdnn_tune_key_add(&key, "%s", rows[i].notes[k].key);
            pdnn_tune_note(&tune, &key, rows[i].notes[k].picks, rows[i].notes[k].n);
        }
        first = i ? first : tune.chosen;
        assert_int_equal(tune.chosen == first, rows[i].is_same);
        pdnn_tune_finish(&tune);
    }
}

static void test_ask_keys(void **state) {
    (void)state;
    struct pdnn_tune tune = {0};
    struct script a = {.ns = {1}}, b = {.ns = {2}}, wide = {.ns = {3}};
    const struct pdnn_tune_question first = question_of("op N=1", 1, &a),
                                    second = question_of("op N=12", 1, &b);
    struct pdnn_tune_question other = question_of("op N=1", 1, &wide);
    double ns[3] = {0};
    struct pdnn_err err = {0};
    assert_true(ask(&tune, &first) == 1);
    assert_true(ask(&tune, &second) == 2); /* one key is a prefix of the other */
    assert_true(ask(&tune, &first) == 1);
    assert_int_equal(a.calls, 1);
    other.n = 3;
    assert_int_equal(pdnn_tune_ask(&tune, &other, ns, &err), PDNN_INTERNAL);
    assert_string_equal(err.text, "two choices have the key \"op N=1\"");
    assert_true(ns[0] == 0);
    assert_int_equal(wide.calls, 0);
    pdnn_tune_finish(&tune);
}

static void test_ask_long_key(void **state) {
    (void)state;
    struct pdnn_tune tune = {0};
    struct script script = {.ns = {1}};
    struct pdnn_tune_question question = question_of("op", 1, &script);
    double ns[2] = {0};
    while (question.key.length + 4 < PDNN_TUNE_KEY_TEXT)
        pdnn_tune_key_add(&question.key, " x=%d", 1);
    assert_int_equal(strlen(question.key.text), question.key.length);
    ask(&tune, &question);
    for (int i = 0; i < 3; i++)
        pdnn_tune_key_add(&question.key, " x=%d", i);
    assert_true(strlen(question.key.text) < sizeof question.key.text);
    assert_int_equal(pdnn_tune_ask(&tune, &question, ns, NULL), PDNN_INTERNAL);
    assert_true(ns[0] == 0);
    pdnn_tune_finish(&tune);
}

static void test_ask_failing(void **state) {
    (void)state;
    struct pdnn_tune tune = {0};
    struct script script = {.ns = {50, 40}, .status = PDNN_UNSUPPORTED};
    const struct pdnn_tune_question question = question_of("op", 2, &script);
    double ns[2] = {0};
    assert_int_equal(pdnn_tune_ask(&tune, &question, ns, NULL), PDNN_UNSUPPORTED);
    assert_true(ns[0] == 0);
    assert_int_equal(tune.keys.count, 0);
    script.status = PDNN_OK;
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &question) == 50);
    pdnn_tune_finish(&tune);
}

/* Without room to measure again, what an earlier compilation found still counts; where nothing was found, a
 * guess is the answer, and is not kept. */
static void test_ask_without_room(void **state) {
    (void)state;
    struct pdnn_tune tune = {0};
    struct script script = {.ns = {50}};
    const struct pdnn_tune_question question = question_of("op", 2, &script),
                                    other = question_of("another op", 2, &script);
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &question) == 50);
    script.status = PDNN_TOO_BIG;
    pdnn_tune_begin(&tune);
    assert_true(ask(&tune, &question) == 50);
    assert_false(tune.is_untried);
    assert_true(ask(&tune, &other) == 1);
    assert_true(tune.is_untried);
    assert_int_equal(tune.keys.count, 1);
    pdnn_tune_finish(&tune);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measure_in_turns),
        cmocka_unit_test(test_measure_fills_visits),
        cmocka_unit_test(test_measure_repeats),
        cmocka_unit_test(test_measure_gives_up_on_the_hopeless),
        cmocka_unit_test(test_measure_failing),
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_ask_settles),
        cmocka_unit_test(test_ask_recalled),
        cmocka_unit_test(test_note),
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_ask_keys),
        cmocka_unit_test(test_ask_long_key),
        cmocka_unit_test(test_ask_failing),
        cmocka_unit_test(test_ask_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
