/* Verdicts by pairs of visits: what `compare`, its gate and `run` make of them. */
#define _POSIX_C_SOURCE 200809L
#include "tests/results/compare_place.h"

#include "results/compare/gate.h"
#include "results/compare/paired.h"
#include "results/store/journal.h"

#include <math.h>

/* Visits to one model with one thread and with two, next to each other or gap_ms apart. */
struct paired {
    size_t rounds;
    double slow_down, noise;
    int64_t gap_ms;
    bool is_ordered; /* environment.yaml says that the order is paired */
    size_t others;   /* of the rounds, the first so many ran other choices */
};

static void write_paired(const struct paired *paired, double step_ns) {
    char path[sizeof directory + 32];
    struct pdnn_folder folder;
    struct pdnn_journal *journal;
    struct pdnn_err err = {0};
    const char *facts = paired->is_ordered ? "paired_precision: 0.02\n" : "order: another\n";
    write_side(0, HEADER "\"fc/nodes=64,threads=1\",fc,64,1,onednn,1,ok,,1,100,90,110\n"
                         "\"fc/nodes=64,threads=2\",fc,64,1,onednn,2,ok,,1,100,90,110\n"
                         "\"fc/nodes=32,threads=1\",fc,32,1,onednn,1,oom,,1,,,\n"
                         "\"fc/nodes=32,threads=2\",fc,32,1,onednn,2,oom,,1,,,\n");
    snprintf(path, sizeof path, "%s/environment.yaml", directory[0]);
    assert_int_equal(pdnn_file_replace(path, facts, strlen(facts), &err), PDNN_OK);
    snprintf(path, sizeof path, "%s/journal.csv", directory[0]);
    unlink(path);
    assert_int_equal(pdnn_folder_open(&folder, directory[0], &err), PDNN_OK);
    assert_int_equal(pdnn_journal_open(&folder, &journal, &err), PDNN_OK);
    for (size_t i = 0; i < paired->rounds; i++) {
        const double state = i % 3 ? 1 : 2, noise = i % 2 ? paired->noise : -paired->noise;
        struct pdnn_visit visit = {.started_unix_ms = 1000000 + (int64_t)i * 100000,
                                   .samples = 1,
                                   .warmups = 1,
                                   .steps_per_sample = 1,
                                   .mean_ns = step_ns};
        visit.median_ns = 100 * state;
        assert_int_equal(pdnn_journal_append(journal, "fc/nodes=64,threads=1", &visit, &err), PDNN_OK);
        visit.started_unix_ms += paired->gap_ms;
        visit.median_ns = 100 * state * (1 + paired->slow_down) * (1 + noise);
        visit.flags = i < paired->others ? PDNN_FLAG_OTHER_CHOICES : 0;
        assert_int_equal(pdnn_journal_append(journal, "fc/nodes=64,threads=2", &visit, &err), PDNN_OK);
    }
    pdnn_journal_close(journal);
    pdnn_folder_close(&folder);
}

static void test_comparison_pairs(void **state) {
    static const struct {
        struct paired visits;
        double step_ns;
        size_t pairs;
        const char *decision;
    } rows[] = {
        {{12, 0.03, 0.002, 1000, .is_ordered = true}, 100, 12, "slower"},
        {{12, -0.03, 0.002, 1000, .is_ordered = true}, 100, 12, "faster"},
        {{12, 0, 0.002, 1000, .is_ordered = true}, 100, 12, "alike"},
        {{12, 0, 0.03, 1000, .is_ordered = true}, 100, 12, "undecided"},
        {{7, 0.03, 0.002, 1000, .is_ordered = true}, 100, 0, "undecided"}, /* before the first look */
        {{12, 0.03, 0.002, 11000, .is_ordered = true},
         100,
         0,
         "undecided"}, /* the machine may have changed meanwhile */
        /* 10 s beyond a warm-up step and a sample of a second each; and as much again of stamped ones */
        {{12, 0.03, 0.002, 12000, .is_ordered = true}, 1e9, 12, "slower"},
        {{12, 0.03, 0.002, 14000, .is_ordered = true}, 1e9, 12, "slower"},
        {{12, 0.03, 0.002, 14001, .is_ordered = true}, 1e9, 0, "undecided"},
        {{12, 0.03, 0.002, 1000, .is_ordered = false}, 100, 0, "undecided"}, /* by chance, in kept workers */
        {{12, 0.03, 0.002, 1000, .is_ordered = true, .others = 4}, 100, 8, "slower"},
        {{12, 0.03, 0.002, 1000, .is_ordered = true, .others = 5}, 100, 0, "undecided"},
        {{12, 0.03, 0.002, 1000, .is_ordered = true, .others = 12}, 100, 0, "undecided"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_comparison c;
        write_paired(&rows[i].visits, rows[i].step_ns);
        open_comparison(&c, 1, NULL);
        assert_int_equal(c.pairs.n_rows, 1);
        assert_string_equal(pdnn_table_text(&c.pairs, 0, PDNN_PAIR_DECISION), rows[i].decision);
        assert_int_equal(pdnn_table_is_empty(&c.pairs, 0, PDNN_PAIR_PAIRS), !rows[i].pairs);
        assert_int_equal(pdnn_table_count(&c.pairs, 0, PDNN_PAIR_INTERVAL_PCT), rows[i].pairs ? 99 : 95);
        if (rows[i].pairs) {
            assert_int_equal(pdnn_table_count(&c.pairs, 0, PDNN_PAIR_PAIRS), rows[i].pairs);
            assert_true(fabs(pdnn_pair_ratio(&c, 0) * (1 + rows[i].visits.slow_down) - 1) < 1e-3);
            assert_true(pdnn_pair_half(&c, 0) > 0 && pdnn_pair_half(&c, 0) < 0.05);
        }
        close_comparison(&c);
    }
}

/* Sides that ran other choices are undecided although the times that they have say otherwise, and why is
 * said; of what was left out beside enough others, nothing. */
static void test_comparison_other_choices(void **state) {
    static const struct {
        size_t others, counted;
        const char *said;
    } rows[] = {
        {0, 0, ""},
        {4, 4, ""},
        {5, 5,
         "1 of 1 are undecided, since the sides ran other choices among implementations in their pairs of visits."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_comparison c;
        struct pdnn_str said = {0};
        write_paired(&(struct paired){12, 0.5, 0.002, 1000, true, rows[i].others}, 100);
        write_side(0, HEADER "\"fc/nodes=64,threads=1\",fc,64,1,onednn,1,ok,,1,100,99,101\n"
                             "\"fc/nodes=64,threads=2\",fc,64,1,onednn,2,ok,,1,150,149,151\n");
        open_comparison(&c, 1, NULL);
        assert_int_equal(pdnn_table_number(&c.pairs, 0, PDNN_PAIR_OTHERS), rows[i].counted);
        assert_string_equal(pdnn_table_text(&c.pairs, 0, PDNN_PAIR_DECISION),
                            *rows[i].said ? "undecided" : "slower");
        assert_int_equal(pdnn_table_number(&c.pairs, 0, PDNN_PAIR_CLEAR), !*rows[i].said);
        assert_int_equal(pdnn_pair_chose_apart(&c, 0), *rows[i].said != 0);
        assert_int_equal(pdnn_comparison_doubt(&c, &said), *rows[i].said != 0);
        assert_string_equal(pdnn_str_text(&said), rows[i].said);
        pdnn_str_finish(&said);
        close_comparison(&c);
    }
}

static void test_pairs_say(void **state) {
    static const struct {
        struct pdnn_pairs_found found;
        const char *line;
    } rows[] = {
        {{12, 0, {0.03, 0.025, 0.035, 7}, PDNN_PAIRED_SLOWER},
         "two is slower than one: +3.0 % time, 99 % interval +2.5 to +3.6 %, 12 pairs\n"},
        {{8, 0, {-0.03, -0.035, -0.025, 7}, PDNN_PAIRED_FASTER},
         "two is faster than one: -3.0 % time, 99 % interval -3.4 to -2.5 %, 8 pairs\n"},
        {{8, 0, {0, -0.01, 0.01, 7}, PDNN_PAIRED_ALIKE},
         "two is alike with one: +0.0 % time, 99 % interval -1.0 to +1.0 %, 8 pairs\n"},
        {{128, 0, {0, -0.1, 0.1, 7}, PDNN_PAIRED_UNDECIDED},
         "two is undecided beside one: +0.0 % time, 99 % interval -9.5 to +10.5 %, 128 pairs\n"},
        {{0, 0, {0.03, 0.025, 0.035, 7}, PDNN_PAIRED_SLOWER}, ""},
        {{12, 3, {0.03, 0.025, 0.035, 7}, PDNN_PAIRED_SLOWER},
         "two is slower than one: +3.0 % time, 99 % interval +2.5 to +3.6 %, 12 pairs, without 3 in which they ran "
         "other choices\n"},
        {{0, 12, {0.03, 0.025, 0.035, 7}, PDNN_PAIRED_SLOWER},
         "two is undecided beside one: they ran other choices among implementations in 12 pairs\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_str out = {0};
        pdnn_pairs_say(&rows[i].found, "one", "two", &out);
        assert_string_equal(pdnn_str_text(&out), rows[i].line);
        pdnn_str_finish(&out);
    }
}

/* All sides of all models share the one per cent, whichever two of them are compared. */
static void test_comparison_count_sides(void **state) {
    static const char *const across[] = {"threads=1:2", "threads=1:4"};
    (void)state;
    write_side(0, HEADER "\"fc/nodes=64,threads=1\",fc,64,1,onednn,1,ok,,1,100,90,110\n"
                         "\"fc/nodes=64,threads=2\",fc,64,1,onednn,2,ok,,1,100,90,110\n"
                         "\"fc/nodes=64,threads=4\",fc,64,1,onednn,4,ok,,1,100,90,110\n"
                         "\"fc/nodes=32,threads=1\",fc,32,1,onednn,1,ok,,1,100,90,110\n"
                         "\"fc/nodes=32,threads=2\",fc,32,1,onednn,2,oom,,1,,,\n"
                         "\"fc/nodes=16,threads=2\",fc,16,1,onednn,2,ok,,1,100,90,110\n");
    for (size_t i = 0; i < 2; i++) {
        struct pdnn_comparison c;
        open_comparison(&c, 1, across[i]);
        assert_int_equal(pdnn_comparison_count_sides(&c), 3);
        close_comparison(&c);
    }
}

static void test_gate_cases(void **state) {
    static const struct {
        struct paired visits;
        double limit;
        size_t passed, broken, untold, paired;
    } rows[] = {
        {{12, 0.03, 0.002, 1000, .is_ordered = true}, 0.02, 0, 1, 0, 1},
        {{12, 0.03, 0.002, 1000, .is_ordered = true}, 0.05, 1, 0, 0, 1}, /* slower, and within the limit */
        {{12, -0.03, 0.002, 1000, .is_ordered = true}, 0.02, 1, 0, 0, 1},
        {{12, 0, 0.03, 1000, .is_ordered = true}, 0.02, 0, 0, 1, 1},
        {{7, 0.03, 0.002, 1000, .is_ordered = true}, 0.02, 0, 0, 1, 0},
        {{12, -0.03, 0.002, 1000, .is_ordered = true, .others = 4}, 0.02, 1, 0, 0, 1},
        {{12, -0.03, 0.002, 1000, .is_ordered = true, .others = 5}, 0.02, 0, 0, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_comparison c;
        struct pdnn_compare_gate gate = {.passed = 0};
        write_paired(&rows[i].visits, 100);
        open_comparison(&c, 1, NULL);
        pdnn_gate_add(&gate, &c, rows[i].limit);
        assert_int_equal(gate.passed, rows[i].passed);
        assert_int_equal(gate.broken, rows[i].broken);
        assert_int_equal(gate.untold, rows[i].untold); /* what ran on neither side does not count */
        assert_int_equal(gate.paired, rows[i].paired);
        assert_int_equal(gate.neither, 1);
        assert_int_equal(pdnn_gate_is_untold(&gate), rows[i].untold > 0);
        gate.neither = 2; /* most */
        assert_true(pdnn_gate_is_untold(&gate));
        pdnn_gate_finish(&gate);
        close_comparison(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comparison_pairs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_other_choices, setup, teardown),
        cmocka_unit_test(test_pairs_say),
        cmocka_unit_test_setup_teardown(test_comparison_count_sides, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gate_cases, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
