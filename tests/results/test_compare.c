/* Two sides of tables joined by id: what is to differ, which pairs there are, and their ratios. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/analysis/compare_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 256 };

static char place[] = "/tmp/pdnn_test_compare_XXXXXX", directory[PDNN_SIDES][PATH_ROOM];

#define HEADER                                                                                               \
    "id,family,nodes,batch,backend,threads,status,reason,params,time_ns_median,ci_low_ns,ci_high_ns\n"

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(place, '_') + 1, "XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char path[PATH_ROOM + 16];
    for (int side = 0; side < PDNN_SIDES; side++) {
        snprintf(path, sizeof path, "%s/results.csv", directory[side]);
        unlink(path);
        rmdir(directory[side]);
    }
    return rmdir(place);
}

static void write_side(int side, const char *text) {
    char path[PATH_ROOM + 16];
    struct pdnn_err err = {0};
    snprintf(directory[side], PATH_ROOM, "%s/%c", place, 'a' + side);
    mkdir(directory[side], 0777);
    snprintf(path, sizeof path, "%s/results.csv", directory[side]);
    if (pdnn_file_replace(path, text, strlen(text), &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

/* The request for directories a and, unless one is enough, b. */
static struct pdnn_compare_request request_of(int n_sides, const char *across) {
    return (struct pdnn_compare_request){.directory = {directory[0], n_sides > 1 ? directory[1] : NULL},
                                         .across = across};
}

static void open_comparison(struct pdnn_comparison *comparison, int n_sides, const char *across) {
    const struct pdnn_compare_request request = request_of(n_sides, across);
    struct pdnn_err err = {0};
    if (pdnn_comparison_open(comparison, &request, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static void assert_refuses(int n_sides, const char *across, const char *message) {
    const struct pdnn_compare_request request = request_of(n_sides, across);
    struct pdnn_comparison comparison;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_comparison_open(&comparison, &request, &err), PDNN_INVALID);
    if (!strstr(err.text, message))
        fail_msg("'%s' does not say '%s'", err.text, message);
}

/* A family that this program does not know, so that ids stay as they are. */
#define NET(nodes, batch, backend, threads, rest)                                                            \
    "\"net/nodes=" nodes ",batch=" batch backend ",threads=" threads "\",net," nodes "," batch rest "\n"

static void test_comparison_open_joins_directories(void **state) {
    (void)state;
    write_side(0, HEADER NET("8", "4", "", "2", ",onednn,2,ok,,100,1100,1000,1210")
                      NET("8", "16", "", "2", ",onednn,2,ok,,100,4000,3600,4400")
                          NET("16", "4", "", "2", ",onednn,2,oom,too big,200,,,")
                              NET("16", "16", "", "2", ",onednn,2,ok,,200,0,,")
                                  NET("32", "4", "", "2", ",onednn,2,ok,,300,500,,"));
    write_side(1, HEADER NET("64", "4", "", "2", ",onednn,2,ok,,400,1,,")
                      NET("8", "4", "", "2", ",onednn,2,ok,,100,1000,900,1100")
                          NET("8", "16", "", "2", ",onednn,2,ok,,100,1000,,")
                              NET("16", "4", "", "2", ",onednn,2,ok,,200,5,,")
                                  NET("16", "16", "", "2", ",onednn,2,ok,,200,5,,"));
    struct pdnn_comparison c;
    open_comparison(&c, 2, NULL);
    assert_int_equal(c.n_across, 0);
    assert_string_equal(c.label[PDNN_SIDE_A], directory[0]);
    assert_int_equal(c.n_pairs, 2);
    assert_true(fabs(c.pair[0].ratio - 1.1) < 1e-12);
    /* The half-widths are ln 1.1 and ln(11 / 9) / 2. */
    double half = sqrt((pow(log(1.21) / 2, 2) + pow(log(11. / 9) / 2, 2)) / 2);
    assert_true(fabs(c.pair[0].half - half) < 1e-12);
    assert_true(fabs(c.pair[0].low - 1.1 * exp(-half)) < 1e-12);
    assert_true(fabs(c.pair[0].high - 1.1 * exp(half)) < 1e-12);
    assert_int_equal(c.pair[0].decision, PDNN_UNDECIDED);
    assert_true(c.pair[1].ratio == 4 && isnan(c.pair[1].low) && isnan(c.pair[1].half));
    assert_int_equal(c.pair[1].decision, PDNN_UNDECIDED);
    assert_string_equal(c.pair[1].id, "net/nodes=8,batch=16,threads=2");
    assert_string_equal(pdnn_comparison_get(&c, &c.pair[1], PDNN_SIDE_B, "params"), "100");
    assert_string_equal(pdnn_comparison_get(&c, &c.pair[1], PDNN_SIDE_B, "no such"), "");
    assert_string_equal(c.pair[1].family, "net");
    assert_int_equal(c.n_keys, 4);
    assert_string_equal(c.key[1], "batch");
    assert_string_equal(c.pair[1].value[1], "16");
    assert_int_equal(c.n_unpaired, 4);
    assert_string_equal(c.unpaired[0].status[PDNN_SIDE_A], "oom");
    assert_string_equal(c.unpaired[0].reason[PDNN_SIDE_A], "too big");
    assert_string_equal(c.unpaired[0].status[PDNN_SIDE_B], "ok");
    assert_string_equal(c.unpaired[1].reason[PDNN_SIDE_A], "its time is not above zero");
    assert_string_equal(c.unpaired[2].status[PDNN_SIDE_B], "");
    assert_string_equal(c.unpaired[3].id, "net/nodes=64,batch=4,threads=2");
    assert_int_equal(c.n_beside, 0);
    pdnn_comparison_close(&c);
}

static const char threads[] = HEADER NET("8", "4", "", "2", ",onednn,2,ok,,1,100,99,101")
    NET("8", "4", "", "1", ",onednn,1,ok,,1,200,199,201")
        NET("16", "4", "", "2", ",onednn,2,ok,,1,100,99,101")
            NET("16", "4", "", "1", ",onednn,1,ok,,1,90,89,91");

static void test_comparison_open_finds_what_differs(void **state) {
    (void)state;
    struct pdnn_comparison c;
    write_side(0, threads);
    open_comparison(&c, 1, NULL);
    assert_int_equal(c.n_across, 1);
    assert_string_equal(c.label[PDNN_SIDE_A], "threads=1"); /* numbers ascend, whatever comes first */
    assert_string_equal(c.label[PDNN_SIDE_B], "threads=2");
    assert_int_equal(c.n_pairs, 2);
    assert_true(c.pair[0].ratio == 2 && c.pair[1].ratio == 0.9);
    assert_int_equal(c.pair[0].decision, PDNN_FASTER);
    assert_int_equal(c.pair[1].decision, PDNN_SLOWER);
    assert_string_equal(c.pair[0].id, "net/nodes=8,batch=4");
    assert_int_equal(c.n_keys, 3);
    pdnn_comparison_close(&c);
    open_comparison(&c, 1, "threads=2:1");
    assert_true(c.pair[0].ratio == 0.5);
    pdnn_comparison_close(&c);
    open_comparison(&c, 1, "nodes"); /* a hyper-parameter only where it is named */
    assert_string_equal(c.label[PDNN_SIDE_B], "nodes=16");
    assert_int_equal(c.n_pairs, 2);
    pdnn_comparison_close(&c);
    write_side(0, HEADER NET("8", "4", "", "2", ",onednn,2,ok,,1,100,,"));
    write_side(1, HEADER NET("8", "4", ",backend=openblas", "2", ",openblas,2,ok,,1,300,,"));
    open_comparison(&c, 2, NULL);
    assert_string_equal(c.label[PDNN_SIDE_A], "backend=onednn");
    assert_string_equal(c.label[PDNN_SIDE_B], "backend=openblas");
    assert_true(fabs(c.pair[0].ratio - 1. / 3) < 1e-15);
    pdnn_comparison_close(&c);
}

static void test_comparison_open_leaves_other_values_beside(void **state) {
    (void)state;
    struct pdnn_comparison c;
    write_side(0, HEADER NET("8", "4", "", "1", ",onednn,1,ok,,1,100,,")
                      NET("8", "4", "", "2", ",onednn,2,ok,,1,50,,")
                          NET("8", "4", "", "4", ",onednn,4,ok,,1,25,,"));
    assert_refuses(1, NULL, "threads has the values 1, 2, 4: name two of them, as in --across threads=1:2");
    open_comparison(&c, 1, "threads=1:4");
    assert_true(c.n_pairs == 1 && c.pair[0].ratio == 4);
    assert_int_equal(c.n_beside, 1);
    pdnn_comparison_close(&c);
}

static void test_comparison_open_refuses(void **state) {
    (void)state;
    write_side(0, threads);
    assert_refuses(1, "host", "no hyper-parameter or run setting 'host'");
    assert_refuses(1, "thread", "did you mean 'threads'?");
    assert_refuses(1, "threads,threads", "twice");
    assert_refuses(1, "threads=1", "'threads=1' is not KEY or KEY=A:B");
    assert_refuses(1, "threads=1:8", "no instance has threads=8, the values are 2, 1");
    assert_refuses(1, "threads=1:1", "both sides have threads=1");
    assert_refuses(1, "batch", "batch has only the value 4");
}

static void test_comparison_open_names_candidates(void **state) {
    (void)state;
    write_side(0, HEADER NET("8", "4", "", "1", ",onednn,1,ok,,1,100,,")
                      NET("8", "4", "", "2", ",onednn,2,ok,,1,50,,")
                          NET("8", "4", ",backend=openblas", "1", ",openblas,1,ok,,1,25,,"));
    assert_refuses(1, NULL, "name it with --across: backend (onednn, openblas), threads (1, 2)");
    write_side(0, HEADER NET("8", "4", "", "1", ",onednn,1,ok,,1,100,,"));
    assert_refuses(1, NULL, "no two instances differ only in how they run");
    write_side(1, HEADER NET("8", "4", ",backend=openblas", "2", ",openblas,2,ok,,1,25,,"));
    assert_refuses(2, NULL, "--across: backend (onednn | openblas), threads (1 | 2)");
    struct pdnn_comparison c;
    open_comparison(&c, 2, "backend,threads");
    assert_string_equal(c.label[PDNN_SIDE_B], "backend=openblas,threads=2");
    assert_true(c.n_pairs == 1 && c.pair[0].ratio == 4);
    pdnn_comparison_close(&c);
    write_side(1, HEADER NET("8", "4", "", "1", ",onednn,1,crash,,1,,,"));
    assert_refuses(2, NULL, "no instance ended ok on both sides");
    write_side(1, HEADER NET("8", "4", "", "1", ",onednn,1,ok,,1,5,,")
                      NET("8", "4", "", "1", ",onednn,1,ok,,1,5,,"));
    assert_refuses(2, NULL, "lines 2 and 3 are one instance");
    strcpy(directory[1], directory[0]);
    assert_refuses(2, NULL, "both sides are the same directory");
    write_side(1, HEADER);
}

#define ROW(family, nodes, batch, ns)                                                                        \
    "\"" family "/nodes=" nodes ",batch=" batch ",threads=1\"," family "," nodes "," batch                   \
    ",onednn,1,ok,,1," ns ",,\n"

/* Ratios 2, 2, 8, 8 by nodes and 2, 8, 2, 8 by batch, and two of a family without nodes. */
static void write_eights(void) {
    write_side(0, HEADER ROW("net", "8", "16", "200") ROW("net", "8", "4", "200") ROW("net", "16", "4", "800")
                      ROW("net", "16", "16", "800") ROW("web", "", "4", "50") ROW("web", "", "16", "100"));
    write_side(1, HEADER ROW("net", "8", "16", "100") ROW("net", "8", "4", "100") ROW("net", "16", "4", "100")
                      ROW("net", "16", "16", "100") ROW("web", "", "4", "100") ROW("web", "", "16", "100"));
}

static const struct pdnn_compare_group *group_of(const struct pdnn_compare_sums *sums, const char *family,
                                                 const char *key, const char *value) {
    for (size_t i = 0; i < sums->n_groups; i++) {
        const struct pdnn_compare_group *group = &sums->group[i];
        if (strcmp(group->family, family) == 0 && strcmp(group->key, key) == 0 &&
            strcmp(group->value, value) == 0)
            return group;
    }
    fail_msg("no group %s %s=%s", family, key, value);
    return NULL;
}

static const struct pdnn_compare_axis *axis_of(const struct pdnn_compare_sums *sums, const char *family,
                                               const char *key) {
    for (size_t i = 0; i < sums->n_axes; i++) {
        if (strcmp(sums->axis[i].family, family) == 0 && strcmp(sums->axis[i].key, key) == 0)
            return &sums->axis[i];
    }
    fail_msg("no axis %s %s", family, key);
    return NULL;
}

static void test_compare_sums_known(void **state) {
    (void)state;
    struct pdnn_comparison c;
    struct pdnn_compare_sums sums;
    struct pdnn_arena arena = {0};
    write_eights();
    open_comparison(&c, 2, NULL);
    pdnn_compare_sums(&c, &arena, &sums);
    const struct pdnn_ratio_sum *net = &group_of(&sums, "net", "", "")->sum;
    assert_int_equal(net->count, 4);
    assert_true(fabs(net->mean - 4) < 1e-12 && net->least == 2 && net->greatest == 8);
    /* The logarithms are ln 4 -+ ln 2, so their standard deviation is ln 2 sqrt(4 / 3); t is 3.182. */
    assert_true(fabs(log(net->high / 4) - 3.182446 * log(2) / sqrt(3)) < 1e-3);
    assert_true(fabs(net->low * net->high - 16) < 1e-9);
    assert_int_equal(net->n_decided[PDNN_UNDECIDED], 4);
    const struct pdnn_ratio_sum *all = &group_of(&sums, "", "", "")->sum;
    assert_int_equal(all->count, 6);
    assert_int_equal(all->n_above, 4);
    assert_true(fabs(all->mean - pow(2, 7. / 6)) < 1e-12); /* 2 2 8 8 1/2 1: powers 1 1 3 3 -1 0 */
    assert_true(fabs(group_of(&sums, "net", "nodes", "16")->sum.mean - 8) < 1e-12);
    assert_true(fabs(group_of(&sums, "net", "batch", "4")->sum.mean - 4) < 1e-12);
    assert_string_equal(sums.group[0].key, "");
    assert_string_equal(sums.group[1].key, "family");
    const struct pdnn_compare_axis *nodes = axis_of(&sums, "net", "nodes");
    assert_true(fabs(nodes->explained - 1) < 1e-12 && fabs(nodes->adjusted - 1) < 1e-12);
    const struct pdnn_compare_axis *batch = axis_of(&sums, "net", "batch");
    assert_true(fabs(batch->explained) < 1e-12 && fabs(batch->adjusted - (1 - 3. / 2)) < 1e-12);
    /* Powers 1 1 3 3 around 2 and -1 0 around -1/2: within 4 + 1/2, in all 21 - 49 / 6. */
    const struct pdnn_compare_axis *family = axis_of(&sums, "", "family");
    assert_true(fabs(family->explained - (1 - 4.5 / (21 - 49. / 6))) < 1e-12);
    assert_true(fabs(family->adjusted - (1 - 4.5 / 4 / ((21 - 49. / 6) / 5))) < 1e-12);
    /* F = (21 - 49 / 6 - 4.5) / (4.5 / 4) = 200 / 27 with 1 and 4 degrees; t = 2.7217. */
    assert_true(fabs(family->p_value - 0.0529) < 2e-4);
    assert_false(axis_of(&sums, "", "nodes")->is_complete);
    assert_int_equal(axis_of(&sums, "", "nodes")->count, 4);
    assert_string_equal(sums.axis[0].key, "family");
    assert_string_equal(pdnn_compare_best_axis(&sums, "net")->key, "nodes");
    assert_null(pdnn_compare_best_axis(&sums, "")); /* 0.053 for the best of two keys */
    pdnn_arena_finish(&arena);
    pdnn_comparison_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comparison_open_joins_directories, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_finds_what_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_leaves_other_values_beside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_names_candidates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_compare_sums_known, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
