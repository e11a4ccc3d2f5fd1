/* Two sides of tables joined by id: what is to differ, which pairs there are, and their ratios. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "results/compare/compare_ops.h"
#include "results/compare/compare_sums.h"
#include "results/compare/factors.h"
#include "results/compare/settle.h"
#include "results/table/record.h"
#include "results/table/write.h"
#include "tests/results/compare_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_refuses(int n_sides, const char *across, const char *message) {
    struct pdnn_comparison comparison;
    struct pdnn_err err = {0};
    assert_int_equal(make(&comparison, n_sides, across, &err),
                     strstr(message, "ended ok on both") ? PDNN_UNSUPPORTED : PDNN_INVALID);
    if (!strstr(err.text, message))
        fail_msg("'%s' does not say '%s'", err.text, message);
    pdnn_selection_close(&joined);
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
    assert_int_equal(c.across.count, 0);
    assert_string_equal(c.label[PDNN_SIDE_A], directory[0]);
    assert_int_equal(c.pairs.n_rows, 2);
    assert_true(fabs(pdnn_pair_ratio(&c, 0) - 1.1) < 1e-12);
    /* The half-widths are ln 1.1 and ln(11 / 9) / 2. */
    double half = sqrt((pow(log(1.21) / 2, 2) + pow(log(11. / 9) / 2, 2)) / 2);
    assert_true(fabs(pdnn_pair_half(&c, 0) - half) < 1e-12);
    assert_true(fabs(pdnn_table_number(&c.pairs, 0, PDNN_PAIR_LOW) - 1.1 * exp(-half)) < 1e-12);
    assert_true(fabs(pdnn_table_number(&c.pairs, 0, PDNN_PAIR_HIGH) - 1.1 * exp(half)) < 1e-12);
    assert_string_equal(pdnn_table_text(&c.pairs, 0, PDNN_PAIR_DECISION), pdnn_undecided);
    assert_int_equal(pdnn_table_count(&c.pairs, 0, PDNN_PAIR_CLEAR), 0);
    assert_true(pdnn_pair_ratio(&c, 1) == 4 && isnan(pdnn_pair_half(&c, 1)));
    assert_true(pdnn_table_is_empty(&c.pairs, 1, PDNN_PAIR_LOW));
    assert_true(pdnn_table_is_empty(&c.pairs, 1, PDNN_PAIR_CLEAR));
    assert_string_equal(pdnn_table_text(&c.pairs, 1, PDNN_PAIR_DECISION), pdnn_undecided);
    assert_string_equal(pdnn_table_text(&c.pairs, 1, PDNN_PAIR_ID), "net/nodes=8,batch=16,threads=2");
    const int low = c.selection.results.at[PDNN_RESULT_CI_LOW_NS];
    assert_int_equal(pdnn_comparison_side(&c, low), PDNN_SIDE_A);
    assert_int_equal(pdnn_comparison_side(&c, -1), PDNN_SIDE_B);
    assert_string_equal(pdnn_table_text(&c.pairs, 1, PDNN_PAIR_FAMILY), "net");
    assert_int_equal(c.pairs.n_columns, PDNN_PAIR_KEYS + 4);
    assert_string_equal(c.pairs.column[PDNN_PAIR_KEYS + 1].def.name, "batch");
    assert_int_equal(pdnn_table_whole(&c.pairs, 1, PDNN_PAIR_KEYS + 1), 16);
    assert_string_equal(pdnn_table_text(&c.pairs, 1, pdnn_table_find(&c.pairs, "backend")), "onednn");
    assert_int_equal(c.unpaired.n_rows, 4);
    assert_string_equal(pdnn_table_text(&c.unpaired, 0, PDNN_UNPAIRED_A_STATUS), "oom");
    assert_string_equal(pdnn_table_text(&c.unpaired, 0, PDNN_UNPAIRED_A_REASON), "too big");
    assert_string_equal(pdnn_table_text(&c.unpaired, 0, PDNN_UNPAIRED_B_STATUS), "ok");
    assert_string_equal(pdnn_table_text(&c.unpaired, 1, PDNN_UNPAIRED_A_REASON),
                        "its time is not above zero");
    assert_string_equal(pdnn_table_text(&c.unpaired, 2, PDNN_UNPAIRED_B_STATUS), "");
    assert_string_equal(pdnn_table_text(&c.unpaired, 3, PDNN_UNPAIRED_ID), "net/nodes=64,batch=4,threads=2");
    close_comparison(&c);
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
    assert_int_equal(c.across.count, 1);
    assert_string_equal(c.label[PDNN_SIDE_A], "threads=1"); /* numbers ascend, whatever comes first */
    assert_string_equal(c.label[PDNN_SIDE_B], "threads=2");
    assert_int_equal(c.pairs.n_rows, 2);
    assert_true(pdnn_pair_ratio(&c, 0) == 2 && pdnn_pair_ratio(&c, 1) == 0.9);
    assert_string_equal(pdnn_table_text(&c.pairs, 0, PDNN_PAIR_DECISION), pdnn_faster);
    assert_string_equal(pdnn_table_text(&c.pairs, 1, PDNN_PAIR_DECISION), pdnn_slower);
    assert_string_equal(pdnn_table_text(&c.pairs, 0, PDNN_PAIR_ID), "net/nodes=8,batch=4");
    assert_int_equal(c.pairs.n_columns, PDNN_PAIR_KEYS + 3);
    close_comparison(&c);
    open_comparison(&c, 1, "threads=2:1");
    assert_true(pdnn_pair_ratio(&c, 0) == 0.5);
    close_comparison(&c);
    open_comparison(&c, 1, "nodes"); /* a hyper-parameter only where it is named */
    assert_string_equal(c.label[PDNN_SIDE_B], "nodes=16");
    assert_int_equal(c.pairs.n_rows, 2);
    close_comparison(&c);
    write_side(0, HEADER NET("8", "4", "", "2", ",onednn,2,ok,,1,100,,"));
    write_side(1, HEADER NET("8", "4", ",backend=openblas", "2", ",openblas,2,ok,,1,300,,"));
    open_comparison(&c, 2, NULL);
    assert_string_equal(c.label[PDNN_SIDE_A], "backend=onednn");
    assert_string_equal(c.label[PDNN_SIDE_B], "backend=openblas");
    assert_true(fabs(pdnn_pair_ratio(&c, 0) - 1. / 3) < 1e-15);
    close_comparison(&c);
}

static void test_comparison_open_leaves_other_values_beside(void **state) {
    (void)state;
    struct pdnn_comparison c;
    write_side(0, HEADER NET("8", "4", "", "1", ",onednn,1,ok,,1,100,,")
                      NET("8", "4", "", "2", ",onednn,2,ok,,1,50,,")
                          NET("8", "4", "", "4", ",onednn,4,ok,,1,25,,"));
    assert_refuses(1, NULL, "threads has the values 1, 2, 4: name two of them, as in --across threads=1:2");
    open_comparison(&c, 1, "threads=1:4");
    assert_true(c.pairs.n_rows == 1 && pdnn_pair_ratio(&c, 0) == 4);
    close_comparison(&c);
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
    assert_true(c.pairs.n_rows == 1 && pdnn_pair_ratio(&c, 0) == 4);
    close_comparison(&c);
    write_side(1, HEADER NET("8", "4", "", "1", ",onednn,1,crash,,1,,,"));
    assert_refuses(2, NULL, "no instance ended ok on both sides");
    write_side(1, HEADER NET("8", "4", "", "1", ",onednn,1,ok,,1,5,,")
                      NET("8", "4", "", "1", ",onednn,1,ok,,1,5,,"));
    assert_refuses(2, NULL, "lines 2 and 3 are one instance");
    strcpy(directory[1], directory[0]);
    assert_refuses(2, NULL, "named twice");
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

static size_t group_of(const struct pdnn_table *groups, const char *family, const char *key,
                       const char *value) {
    for (size_t i = 0; i < groups->n_rows; i++)
        if (strcmp(pdnn_table_text(groups, i, PDNN_GROUP_FAMILY), family) == 0 &&
            strcmp(pdnn_table_text(groups, i, PDNN_GROUP_KEY), key) == 0 &&
            strcmp(pdnn_table_text(groups, i, PDNN_GROUP_VALUE), value) == 0)
            return i;
    fail_msg("no group %s %s=%s", family, key, value);
    return SIZE_MAX;
}

static size_t axis_of(const struct pdnn_table *axes, const char *family, const char *key) {
    for (size_t i = 0; i < axes->n_rows; i++)
        if (strcmp(pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_FAMILY), family) == 0 &&
            strcmp(pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_KEY), key) == 0)
            return i;
    fail_msg("no axis %s %s", family, key);
    return SIZE_MAX;
}

static void assert_near(const struct pdnn_table *table, size_t row, size_t column, double value,
                        double tolerance) {
    if (!(fabs(pdnn_table_number(table, row, column) - value) < tolerance))
        fail_msg("%s is %g, not %g", table->column[column].def.name, pdnn_table_number(table, row, column),
                 value);
}

static void test_compare_sums_known(void **state) {
    (void)state;
    struct pdnn_comparison c;
    struct pdnn_table groups, axes;
    write_eights();
    open_comparison(&c, 2, NULL);
    pdnn_compare_sums(&c, &groups, &axes);
    size_t net = group_of(&groups, "net", "", "");
    assert_int_equal(pdnn_table_count(&groups, net, PDNN_GROUP_INSTANCES), 4);
    assert_near(&groups, net, PDNN_GROUP_MEAN, 4, 1e-12);
    assert_true(pdnn_table_number(&groups, net, PDNN_GROUP_LEAST) == 2 &&
                pdnn_table_number(&groups, net, PDNN_GROUP_GREATEST) == 8);
    /* The logarithms are ln 4 -+ ln 2, so their standard deviation is ln 2 sqrt(4 / 3); t is 3.182. */
    double high = pdnn_table_number(&groups, net, PDNN_GROUP_HIGH);
    assert_true(fabs(log(high / 4) - 3.182446 * log(2) / sqrt(3)) < 1e-3);
    assert_near(&groups, net, PDNN_GROUP_LOW, 16 / high, 1e-9);
    assert_int_equal(pdnn_table_count(&groups, net, PDNN_GROUP_UNDECIDED), 4);
    size_t all = group_of(&groups, "", "", "");
    assert_int_equal(pdnn_table_count(&groups, all, PDNN_GROUP_INSTANCES), 6);
    assert_int_equal(pdnn_table_count(&groups, all, PDNN_GROUP_ABOVE_1), 4);
    /* 2 2 8 8 1/2 1: powers 1 1 3 3 -1 0 */
    assert_near(&groups, all, PDNN_GROUP_MEAN, pow(2, 7. / 6), 1e-12);
    assert_near(&groups, group_of(&groups, "net", "nodes", "16"), PDNN_GROUP_MEAN, 8, 1e-12);
    assert_near(&groups, group_of(&groups, "net", "batch", "4"), PDNN_GROUP_MEAN, 4, 1e-12);
    assert_true(group_of(&groups, "net", "batch", "4") < group_of(&groups, "net", "batch", "16"));
    assert_true(all == 0 && strcmp(pdnn_table_text(&groups, 1, PDNN_GROUP_KEY), "family") == 0);
    size_t nodes = axis_of(&axes, "net", "nodes"), batch = axis_of(&axes, "net", "batch");
    assert_near(&axes, nodes, PDNN_COMPARE_AXIS_EXPLAINED, 1, 1e-12);
    assert_near(&axes, nodes, PDNN_COMPARE_AXIS_ADJUSTED, 1, 1e-12);
    assert_near(&axes, batch, PDNN_COMPARE_AXIS_EXPLAINED, 0, 1e-12);
    assert_near(&axes, batch, PDNN_COMPARE_AXIS_ADJUSTED, 1 - 3. / 2, 1e-12);
    /* Powers 1 1 3 3 around 2 and -1 0 around -1/2: within 4 + 1/2, in all 21 - 49 / 6. */
    size_t family = axis_of(&axes, "", "family");
    assert_near(&axes, family, PDNN_COMPARE_AXIS_EXPLAINED, 1 - 4.5 / (21 - 49. / 6), 1e-12);
    assert_near(&axes, family, PDNN_COMPARE_AXIS_ADJUSTED, 1 - 4.5 / 4 / ((21 - 49. / 6) / 5), 1e-12);
    /* F = (21 - 49 / 6 - 4.5) / (4.5 / 4) = 200 / 27 with 1 and 4 degrees; t = 2.7217. */
    assert_near(&axes, family, PDNN_COMPARE_AXIS_P_VALUE, 0.0529, 2e-4);
    assert_int_equal(pdnn_table_count(&axes, axis_of(&axes, "", "nodes"), PDNN_COMPARE_AXIS_COMPLETE), 0);
    assert_int_equal(pdnn_table_count(&axes, axis_of(&axes, "", "nodes"), PDNN_COMPARE_AXIS_INSTANCES), 4);
    assert_int_equal(family, 0);
    assert_int_equal(pdnn_compare_best_axis(&axes, "net"), nodes);
    assert_int_equal(pdnn_compare_best_axis(&axes, ""), SIZE_MAX); /* 0.053 for the best of two keys */
    pdnn_table_finish(&groups);
    pdnn_table_finish(&axes);
    close_comparison(&c);
}

/* One product of each of the first two models of write_eights, the second one in this implementation. */
/* Factors multiply to the ratio, where both sides have counters, and are said of those pairs alone. */
static void test_factors(void **state) {
    static const struct {
        const char *a, *b, *said; /* said: NULL: nothing */
        double factor[3];         /* of the first pair */
    } rows[] = {
        {",3000,1.5",
         ",1000,2",
         "in 1 of 2: a mean of 2.00 is made of 3.00 of instructions, 1.33 of cycles per "
         "instruction and 0.500 of cycles a second.",
         {3, 4. / 3, 0.5}},
        {",3000,1.5", ",,", NULL, {NAN, NAN, NAN}},
        {",,", ",1000,2", NULL, {NAN, NAN, NAN}},
        {",,", ",,", NULL, {NAN, NAN, NAN}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_comparison c;
        struct pdnn_str text = {0}, said = {0};
        for (int side = 0; side < PDNN_SIDES; side++) {
            pdnn_str_clear(&text);
            pdnn_str_printf(&text,
                            "id,family,status,time_ns_median,instructions,ipc\n"
                            "net/n=1,net,ok,%d%s\nnet/n=2,net,ok,%d,,\n",
                            side ? 500 : 1000, side ? rows[i].b : rows[i].a, side ? 300 : 100);
            write_side(side, text.text);
        }
        open_comparison(&c, 2, NULL);
        pdnn_factors_set(&c);
        double product = 1;
        for (size_t k = 0; k < 3; k++) {
            const double factor = pdnn_table_number(&c.pairs, 0, PDNN_PAIR_INSTRUCTIONS + k);
            product *= factor;
            assert_true(rows[i].said ? fabs(factor - rows[i].factor[k]) < 1e-12 : isnan(factor));
            assert_true(pdnn_table_is_empty(&c.pairs, 1, PDNN_PAIR_INSTRUCTIONS + k));
        }
        assert_true(rows[i].said ? fabs(product - pdnn_pair_ratio(&c, 0)) < 1e-12 : isnan(product));
        pdnn_factors_say(&c, &said);
        if (rows[i].said && !(said.length && strstr(said.text, rows[i].said)))
            fail_msg("'%s' lacks '%s'", pdnn_str_text(&said), rows[i].said);
        assert_true(rows[i].said || !said.length);
        close_comparison(&c);
        pdnn_str_finish(&text);
        pdnn_str_finish(&said);
    }
}

static void write_ops(int side, const char *implementation) {
    static const char *const ids[] = {"net/nodes=8,batch=16,threads=1", "net/nodes=8,batch=4,threads=1"};
    struct pdnn_table ops;
    struct pdnn_str text = {0};
    struct pdnn_table_writer writer = {.out = &text, .format = PDNN_FORMAT_CSV};
    struct pdnn_err err = {0};
    char path[sizeof directory + 16];
    pdnn_table_init(&ops, &pdnn_ops_def);
    for (size_t i = 0; i < 2; i++) {
        size_t row = pdnn_table_add_row(&ops);
        struct pdnn_op_record op = pdnn_ops_row(&ops, row);
        op.id = ids[i];
        op.op = "dense";
        op.pass = "forward";
        op.time_ns_median = 50;
        op.implementation = i ? implementation : "onednn:brgemm";
        pdnn_record_put(&ops, row, &op);
    }
    pdnn_table_write(&writer, &ops, NULL);
    pdnn_table_write_end(&writer);
    snprintf(path, sizeof path, "%s/ops.csv", directory[side]);
    assert_int_equal(pdnn_file_replace(path, text.text, text.length, &err), PDNN_OK);
    pdnn_str_finish(&text);
    pdnn_table_finish(&ops);
}

#define OP(layer, op, ns)                                                                                    \
    "\"net/nodes=8,batch=16,threads=1\"," layer "," op ",any,forward,8x8,1,8," ns ",50\n"

/* Ops are found wherever the other side has them; alike ones in their order, as far as there are as many. */
static void test_pair_ops_matches(void **state) {
    (void)state;
    static const char *const ops[PDNN_SIDES] = {
        OP("a", "relu", "1") OP("b", "dense", "2") OP("b", "dense", "3") OP("b", "dense", "4")
            OP("c", "bias", "5"),
        OP("b", "dense", "20") OP("a", "relu", "10") OP("b", "dense", "30") OP("d", "bias", "50")};
    static const double times[] = {10, 20, 30, NAN, NAN};
    struct pdnn_ops_reader reader[PDNN_SIDES];
    struct pdnn_comparison c;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    write_eights();
    for (int side = 0; side < PDNN_SIDES; side++) {
        struct pdnn_str text = {0};
        char path[sizeof directory + 16];
        pdnn_str_printf(
            &text,
            "id,layer,op,category,op_pass,op_shape,executions,byte_count,time_ns_median,pct_of_roof\n%s",
            ops[side]);
        snprintf(path, sizeof path, "%s/ops.csv", directory[side]);
        assert_int_equal(pdnn_file_replace(path, text.text, text.length, &err), PDNN_OK);
        pdnn_str_finish(&text);
        assert_int_equal(pdnn_ops_reader_open(&reader[side], directory[side], &err), PDNN_OK);
    }
    open_comparison(&c, 2, NULL);
    const struct pdnn_pair_ops found = pdnn_pair_ops(&c, 0, reader, &arena);
    assert_int_equal(found.side[PDNN_SIDE_A].count, 5);
    for (size_t i = 0; i < 5; i++)
        if (isnan(times[i]))
            assert_null(found.other[i]);
        else
            assert_true(found.other[i]->time_ns_median == times[i]);
    assert_int_equal(pdnn_pair_ops(&c, 1, reader, &arena).side[PDNN_SIDE_A].count, 0);
    for (int side = 0; side < PDNN_SIDES; side++)
        pdnn_ops_reader_close(&reader[side]);
    close_comparison(&c);
    pdnn_arena_finish(&arena);
}

/* Models of which an op ran in another implementation on either side are named; nothing is where none did. */
static void test_compare_ops_names_implementations(void **state) {
    (void)state;
    static const struct {
        const char *implementation, *others;
    } rows[] = {
        {"onednn:brgemm", ""},
        {"", ""}, /* not known */
        {"onednn:gemm:jit",
         "In 1 of 2 the sides ran an op in different implementations, such as dense/forward of "
         "net/nodes=8,batch=4,threads=1: onednn:brgemm on side A, onednn:gemm:jit on side B."},
    };
    write_eights();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_comparison c;
        struct pdnn_table ops;
        struct pdnn_str others = {0};
        struct pdnn_err err = {0};
        struct pdnn_ops_reader reader[PDNN_SIDES];
        write_ops(PDNN_SIDE_A, "onednn:brgemm");
        write_ops(PDNN_SIDE_B, rows[i].implementation);
        open_comparison(&c, 2, NULL);
        for (int side = 0; side < PDNN_SIDES; side++)
            assert_int_equal(pdnn_ops_reader_open(&reader[side], directory[side], &err), PDNN_OK);
        assert_int_equal(pdnn_compare_ops(&c, reader, &(struct pdnn_by_list){{PDNN_BY_OP}, 1}, &ops, &others),
                         2);
        assert_string_equal(pdnn_str_text(&others), rows[i].others);
        pdnn_str_finish(&others);
        pdnn_table_finish(&ops);
        for (int side = 0; side < PDNN_SIDES; side++)
            pdnn_ops_reader_close(&reader[side]);
        close_comparison(&c);
    }
}

static void test_side_name_counts_like_a_sheet(void **state) {
    (void)state;
    static const struct {
        size_t side;
        const char *name;
    } rows[] = {{0, "A"}, {1, "B"}, {25, "Z"}, {26, "AA"}, {51, "AZ"}, {52, "BA"}, {701, "ZZ"}, {702, "AAA"}};
    char name[PDNN_SIDE_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(pdnn_side_name(rows[i].side, name), rows[i].name);
}

/* An interval is two columns, which stay together; rows are those of any table, and what is the base's is
 * there once. */
static void test_tables_beside(void **state) {
    (void)state;
    static const struct pdnn_column_def columns[] = {{.name = "id"},
                                                     {"a_ns", .kind = PDNN_KIND_NUMBER},
                                                     {"b_ns", "B", .kind = PDNN_KIND_NUMBER},
                                                     {"low", "interval", .kind = PDNN_KIND_NUMBER},
                                                     {.name = "note"}};
    static const size_t key = 0, common[] = {1, 4};
    static const struct pdnn_table_def def = {"sides", "test", columns, 5};
    static const struct pdnn_beside beside = {5, &key, common, 1, 2};
    static const char *const names[2][7] = {{"id", "a_ns", "b_ns", "low", "note"},
                                            {"id", "a_ns", "b_ns", "b_low", "c_ns", "c_low", "note"}};
    struct pdnn_table tables[2], made;
    const struct pdnn_table *of[] = {&tables[0], &tables[1]};
    for (size_t t = 0; t < 2; t++) {
        pdnn_table_init(&tables[t], &def);
        for (size_t i = 0; i <= t; i++) {
            const size_t row = pdnn_table_add_texts(&tables[t], 1, (const char *[]){i ? "two" : "one"});
            for (size_t c = 1; c < 4; c++)
                pdnn_table_set_number(&tables[t], row, c, (double)(100 * t + 10 * i + c));
            pdnn_table_set_text(&tables[t], row, 4, "said");
        }
    }
    for (size_t n = 1; n <= 2; n++) {
        pdnn_tables_beside(of, n, &beside, &made);
        assert_int_equal(made.n_columns, n == 1 ? 5 : 7);
        assert_int_equal(made.n_rows, n);
        for (size_t c = 0; c < made.n_columns; c++)
            assert_string_equal(made.column[c].def.name, names[n - 1][c]);
        for (size_t c = 0; c < 5; c++)
            for (size_t side = 1; side <= n; side++)
                assert_true(pdnn_beside_column(&beside, n, c, side) < made.n_columns);
        if (n == 2) {
            assert_string_equal(pdnn_column_title(&made.column[4].def), "C");
            assert_string_equal(pdnn_column_title(&made.column[5].def), "C interval");
            assert_true(pdnn_table_number(&made, 0, 1) == 1 && pdnn_table_number(&made, 0, 4) == 102);
            assert_true(pdnn_table_number(&made, 1, 1) == 111 && pdnn_table_number(&made, 1, 5) == 113);
            assert_true(pdnn_table_is_empty(&made, 1, 2) && pdnn_table_is_empty(&made, 1, 3));
            assert_string_equal(pdnn_table_text(&made, 1, 6), "said");
        }
        pdnn_table_finish(&made);
    }
    pdnn_table_finish(&tables[0]);
    pdnn_table_finish(&tables[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comparison_open_joins_directories, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_finds_what_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_leaves_other_values_beside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comparison_open_names_candidates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_compare_sums_known, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pair_ops_matches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_factors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_compare_ops_names_implementations, setup, teardown),
        cmocka_unit_test(test_side_name_counts_like_a_sheet),
        cmocka_unit_test(test_tables_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
