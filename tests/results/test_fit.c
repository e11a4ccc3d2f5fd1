/* Fits of made-up tables whose weights are known, with noise, collinear keys, missing cells and failed rows.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/str.h"
#include "results/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

enum { PATH_ROOM = 256 };

static char directory[] = "/tmp/pdnn_test_fit_XXXXXX", path[PATH_ROOM];

static double normal(struct pdnn_rng *rng) {
    double u = 1 - pdnn_rng_double(rng), v = pdnn_rng_double(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The row's numbers, from which its value is made; 1 for a missing one. */
static double number(const struct pdnn_selection *selection, size_t at, const char *key) {
    const char *text = pdnn_selection_get(selection, at, pdnn_results_named(&selection->results, key));
    return *text ? strtod(text, NULL) : 1;
}

static bool is_training(const struct pdnn_selection *selection, size_t at) {
    return strcmp(pdnn_selection_get(selection, at, pdnn_results_named(&selection->results, "mode")),
                  "train") == 0;
}

/* Of fc: layers 1 to 8, nodes 16 to 128, input four times nodes, output constant, three batch sizes, both
 * modes; every 7th row lacks its batch, every 5th failed. Of rnn: two rows. Of cnn: one row, without a
 * positive number in `pad`. */
static void write_table(struct pdnn_str *text) {
    int row = 0;
    pdnn_str_printf(
        text,
        "schema,id,family,layers,nodes,input,output,batch,pad,mode,optimizer,status,time_ns_median,rate\n");
    for (int layers = 1; layers <= 8; layers *= 2) {
        for (int nodes = 16; nodes <= 128; nodes *= 2) {
            for (int batch = 1; batch <= 64; batch *= 8) {
                for (int train = 0; train < 2; train++, row++) {
                    pdnn_str_printf(text, "3,fc/%d,fc,%d,%d,%d,10,", row, layers, nodes, 4 * nodes);
                    pdnn_str_printf(text, row % 7 == 3 ? ",%d" : "%d,%d", row % 7 == 3 ? row % 3 : batch,
                                    row % 3);
                    pdnn_str_printf(text, ",%s,%s,%s,%d,%d\n", train ? "train" : "infer", train ? "sgd" : "",
                                    row % 5 == 4 ? "crash" : "ok", 100 + row, row % 11 == 10 ? -1 : row);
                }
            }
        }
    }
    pdnn_str_printf(text, "3,rnn/0,rnn,1,,,,1,,infer,,ok,100,1\n3,rnn/1,rnn,2,,,,1,,infer,,ok,110,1\n");
    pdnn_str_printf(text, "3,cnn/0,cnn,1,,,,1,0,infer,,ok,100,1\n");
}

static int setup(void **state) {
    struct pdnn_err err = {0};
    struct pdnn_str text = {0};
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    write_table(&text);
    snprintf(path, sizeof path, "%s/results.csv", directory);
    enum pdnn_status status = pdnn_file_replace(path, text.text, text.length, &err);
    pdnn_str_finish(&text);
    return status == PDNN_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void open_selection(struct pdnn_selection *selection) {
    struct pdnn_err err = {0};
    if (pdnn_selection_open_all(selection, &(const char *){directory}, 1, NULL, 0, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static const char on[] = "layers,nodes,input,output,batch,mode,optimizer";

static struct pdnn_fit_request request_of(const struct pdnn_selection *selection, const double *values,
                                          enum pdnn_fit_model model) {
    return (struct pdnn_fit_request){
        .selection = selection, .values = values, .what = "value", .family = "fc", .on = on, .model = model};
}

/* The two tables of one fit. */
struct made {
    struct pdnn_table terms, residuals;
};

static void init(struct made *made) {
    pdnn_table_init(&made->terms, &pdnn_fit_def);
    pdnn_table_init(&made->residuals, &pdnn_residuals_def);
}

static void finish(struct made *made) {
    pdnn_table_finish(&made->terms);
    pdnn_table_finish(&made->residuals);
}

static void fit(const struct pdnn_fit_request *request, struct made *made) {
    struct pdnn_err err = {0};
    init(made);
    if (pdnn_fit(request, &made->terms, &made->residuals, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static size_t term_of(const struct made *made, const char *name) {
    for (size_t i = 0; i < made->terms.n_rows; i++)
        if (strcmp(pdnn_table_text(&made->terms, i, PDNN_FIT_TERM), name) == 0)
            return i;
    fail_msg("no term '%s'", name);
    return SIZE_MAX;
}

/* A number of a term. */
static double at(const struct made *made, const char *term, size_t column) {
    return pdnn_table_number(&made->terms, term_of(made, term), column);
}

static uint64_t count(const struct made *made, size_t column) {
    return pdnn_table_count(&made->terms, 0, column);
}

static void assert_state(const struct made *made, const char *term, const char *state) {
    assert_string_equal(pdnn_table_text(&made->terms, term_of(made, term), PDNN_FIT_STATE), state);
}

static double power_law(const struct pdnn_selection *selection, size_t at) {
    return 30 * sqrt(number(selection, at, "layers")) * pow(number(selection, at, "nodes"), 1.5) *
           pow(number(selection, at, "batch"), 0.8) * (is_training(selection, at) ? 2.5 : 1);
}

/* Without noise everything is found, and what cannot be fitted is named. */
static void test_fit_power_exact(void **state) {
    (void)state;
    struct pdnn_selection selection;
    struct pdnn_arena arena = {0};
    struct made made;
    static const struct {
        const char *name;
        const char *state, *with;
        double weight;
    } rows[] = {
        {"layers", "fitted", "", 0.5},        {"nodes", "fitted", "", 1.5},
        {"input", "collinear", "nodes", NAN}, {"output", "constant", "", NAN},
        {"batch", "fitted", "", 0.8},         {"mode=train", "fitted", "", 2.5},
        {"optimizer", "constant", "", NAN},
    };
    open_selection(&selection);
    double *values = pdnn_arena_alloc(&arena, selection.count, sizeof *values);
    for (size_t at = 0; at < selection.count; at++)
        values[at] = power_law(&selection, at);
    values[2] = NAN;
    const struct pdnn_fit_request request = request_of(&selection, values, PDNN_FIT_POWER);
    fit(&request, &made);
    enum { N = sizeof rows / sizeof *rows };
    assert_int_equal(made.terms.n_rows, N + 1);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(term_of(&made, rows[i].name), i);
        assert_state(&made, rows[i].name, rows[i].state);
        assert_string_equal(pdnn_table_text(&made.terms, i, PDNN_FIT_WITH), rows[i].with);
        if (isnan(rows[i].weight))
            assert_true(pdnn_table_is_empty(&made.terms, i, PDNN_FIT_WEIGHT));
        else
            assert_near(pdnn_table_number(&made.terms, i, PDNN_FIT_WEIGHT), rows[i].weight, 1e-12);
    }
    assert_string_equal(pdnn_table_text(&made.terms, 5, PDNN_FIT_BASELINE), "mode=infer");
    assert_near(at(&made, "constant", PDNN_FIT_WEIGHT), 30, 1e-10);
    assert_near(at(&made, "nodes", PDNN_FIT_R2), 1, 1e-12);
    /* 96 rows: 19 failed, 14 lack the batch and 2 of them failed, 1 lacks the value. */
    assert_int_equal(selection.left_out, 19);
    assert_int_equal(count(&made, PDNN_FIT_NO_VALUE), 1);
    uint64_t no_cell = count(&made, PDNN_FIT_NO_CELL);
    assert_int_equal(no_cell + count(&made, PDNN_FIT_ROWS) + 1 + selection.left_out, 96);
    assert_int_equal(made.residuals.n_rows, count(&made, PDNN_FIT_ROWS));
    assert_true(no_cell > 9 && count(&made, PDNN_FIT_OUTLIERS) == 0);
    assert_near(pdnn_table_number(&made.residuals, 0, PDNN_RESIDUALS_FITTED),
                pdnn_table_number(&made.residuals, 0, PDNN_RESIDUALS_ACTUAL), 1e-9);
    finish(&made);
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
}

/* Only the rows that are chosen count, in everything. */
static void test_fit_chosen_rows(void **state) {
    (void)state;
    struct pdnn_selection selection;
    struct pdnn_arena arena = {0};
    struct made made;
    open_selection(&selection);
    double *values = pdnn_arena_alloc(&arena, selection.count, sizeof *values);
    bool *chosen = pdnn_arena_alloc(&arena, selection.count, sizeof *chosen);
    for (size_t at = 0; at < selection.count; at++) {
        chosen[at] = is_training(&selection, at);
        values[at] = chosen[at] ? power_law(&selection, at) : -1;
    }
    struct pdnn_fit_request request = request_of(&selection, values, PDNN_FIT_POWER);
    request.chosen = chosen;
    fit(&request, &made);
    assert_state(&made, "mode", "constant");
    assert_near(at(&made, "nodes", PDNN_FIT_WEIGHT), 1.5, 1e-12);
    assert_near(at(&made, "constant", PDNN_FIT_WEIGHT), 75, 1e-10);
    assert_int_equal(count(&made, PDNN_FIT_NO_VALUE), 0);
    finish(&made);
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
}

/* With noise, the 95 % intervals of exponents, factor and constant miss in 5 % of 2,000 tables, within four
 * standard deviations of a binomial count. */
static void test_fit_power_coverage(void **state) {
    (void)state;
    enum { TIMES = 2000, COVERED = 5 };
    static const char *const names[COVERED] = {"layers", "nodes", "batch", "mode=train", "constant"};
    static const double weights[COVERED] = {0.5, 1.5, 0.8, 2.5, 30};
    struct pdnn_selection selection;
    struct pdnn_rng rng = {31, 0};
    double missed[COVERED] = {0}, alarms = 0;
    open_selection(&selection);
    for (int time = 0; time < TIMES; time++) {
        struct pdnn_arena arena = {0};
        struct made made;
        double *values = pdnn_arena_alloc(&arena, selection.count, sizeof *values);
        for (size_t at = 0; at < selection.count; at++)
            values[at] = power_law(&selection, at) * exp(0.3 * normal(&rng));
        const struct pdnn_fit_request request = request_of(&selection, values, PDNN_FIT_POWER);
        fit(&request, &made);
        for (size_t i = 0; i < COVERED; i++)
            missed[i] += weights[i] < at(&made, names[i], PDNN_FIT_CI_LOW) ||
                         weights[i] > at(&made, names[i], PDNN_FIT_CI_HIGH);
        alarms += count(&made, PDNN_FIT_OUTLIERS) > 0;
        finish(&made);
        pdnn_arena_finish(&arena);
    }
    for (size_t i = 0; i < COVERED; i++)
        assert_near(missed[i], 0.05 * TIMES, 4 * sqrt(TIMES * 0.05 * 0.95));
    assert_near(alarms, 0.05 * TIMES, 4 * sqrt(TIMES * 0.05 * 0.95));
    pdnn_selection_close(&selection);
}

static double spread(const double *values, size_t count) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

/* The published form: a slope times the spread of its key over the spread of the values in the table. */
static void test_fit_linear_coverage(void **state) {
    (void)state;
    enum { TIMES = 2000, COVERED = 3 };
    static const char *const names[COVERED] = {"layers", "nodes", "batch"};
    static const double slopes[COVERED] = {-1, 0.2, 0.5};
    struct pdnn_selection selection;
    struct pdnn_rng rng = {32, 0};
    double missed[COVERED] = {0};
    open_selection(&selection);
    for (int time = 0; time < TIMES; time++) {
        struct pdnn_arena arena = {0};
        struct made made;
        double *values = pdnn_arena_alloc(&arena, selection.count, sizeof *values);
        double *column = pdnn_arena_alloc(&arena, selection.count, sizeof *column), *y = column;
        for (size_t at = 0; at < selection.count; at++) {
            values[at] = 10 * normal(&rng);
            for (size_t i = 0; i < COVERED; i++)
                values[at] += slopes[i] * number(&selection, at, names[i]);
        }
        const struct pdnn_fit_request request = request_of(&selection, values, PDNN_FIT_LINEAR);
        fit(&request, &made);
        size_t n_rows = made.residuals.n_rows;
        for (size_t i = 0; i < n_rows; i++)
            y[i] = pdnn_table_number(&made.residuals, i, PDNN_RESIDUALS_ACTUAL);
        double whole = spread(y, n_rows);
        for (size_t i = 0; i < COVERED; i++) {
            for (size_t k = 0, row = 0; row < n_rows; k++) {
                if (strcmp(pdnn_selection_get(&selection, k, selection.id),
                           pdnn_table_text(&made.residuals, row, PDNN_RESIDUALS_ID)) == 0)
                    column[row++] = number(&selection, k, names[i]);
            }
            double weight = slopes[i] * spread(column, n_rows) / whole;
            missed[i] += weight < at(&made, names[i], PDNN_FIT_CI_LOW) ||
                         weight > at(&made, names[i], PDNN_FIT_CI_HIGH);
        }
        finish(&made);
        pdnn_arena_finish(&arena);
    }
    for (size_t i = 0; i < COVERED; i++)
        assert_near(missed[i], 0.05 * TIMES, 4 * sqrt(TIMES * 0.05 * 0.95));
    pdnn_selection_close(&selection);
}

/* z-scored weights do not depend on the base of the logarithm or the unit of a key, and one row far off is
 * named. */
static void test_fit_log_names_outliers(void **state) {
    (void)state;
    struct pdnn_selection selection;
    struct pdnn_arena arena = {0};
    struct pdnn_rng rng = {33, 0};
    struct made made, power;
    open_selection(&selection);
    double *values = pdnn_arena_alloc(&arena, selection.count, sizeof *values);
    for (size_t at = 0; at < selection.count; at++)
        values[at] = power_law(&selection, at) * exp(0.05 * normal(&rng)) * (at == 20 ? 2 : 1);
    struct pdnn_fit_request request = request_of(&selection, values, PDNN_FIT_LOG);
    fit(&request, &made);
    request.model = PDNN_FIT_POWER;
    fit(&request, &power);
    assert_near(at(&made, "nodes", PDNN_FIT_R2), at(&power, "nodes", PDNN_FIT_R2), 1e-14);
    assert_near(at(&made, "layers", PDNN_FIT_WEIGHT) / at(&made, "layers", PDNN_FIT_STD_ERROR),
                at(&power, "layers", PDNN_FIT_WEIGHT) / at(&power, "layers", PDNN_FIT_STD_ERROR), 1e-9);
    assert_int_equal(count(&made, PDNN_FIT_OUTLIERS), 1);
    for (size_t i = 0; i < made.residuals.n_rows; i++)
        assert_int_equal(pdnn_table_count(&made.residuals, i, PDNN_RESIDUALS_OUTLIER),
                         strcmp(pdnn_table_text(&made.residuals, i, PDNN_RESIDUALS_ID),
                                pdnn_selection_get(&selection, 20, selection.id)) == 0);
    finish(&made);
    finish(&power);
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
}

static void test_fit_values(void **state) {
    (void)state;
    struct pdnn_selection selection;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    const double *values;
    open_selection(&selection);
    assert_int_equal(pdnn_fit_values(&selection, "time_ns_median", &arena, &values, &err), PDNN_OK);
    assert_true(values[0] == 100 && values[4] == 105);
    assert_int_equal(pdnn_fit_values(&selection, "optimizer", &arena, &values, &err), PDNN_OK);
    assert_true(isnan(values[0]) && isnan(values[1]));
    assert_int_equal(pdnn_fit_values(&selection, "ratee", &arena, &values, &err), PDNN_INVALID);
    assert_string_equal(err.text, "results.csv has no column 'ratee', did you mean 'rate'?");
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
}

static void test_fit_refuses(void **state) {
    (void)state;
    static const struct {
        const char *family, *what, *on;
        enum pdnn_fit_model model;
        const char *message;
    } rows[] = {
        {"gnmt", "rate", NULL, PDNN_FIT_LINEAR, "no instance of 'gnmt' that ended ok has a number for rate"},
        {"fc", "mode", NULL, PDNN_FIT_LINEAR, "no instance of 'fc' that ended ok has a number for mode"},
        {"rnn", "time_ns_median", NULL, PDNN_FIT_LINEAR, "rnn: time_ns_median: 2 rows are too few for a fit"},
        {"cnn", "rate", NULL, PDNN_FIT_LINEAR,
         "cnn: nothing that rate could be fitted on varies among 1 rows"},
        {"fc", "output", NULL, PDNN_FIT_LINEAR, "fc: output: all 66 values are equal"},
        {"fc", "rate", "outputs", PDNN_FIT_LINEAR,
         "results.csv has no column 'outputs', did you mean 'output'?"},
        {"fc", "rate", "nodes,nodes", PDNN_FIT_LINEAR, "'nodes' is named twice"},
        {"fc", "rate", "id", PDNN_FIT_LINEAR, "'id' has 77 different words; at most 16 can be fitted"},
        {"fc", "rate", "nodes", PDNN_FIT_LOG, "rate is 0, which has no logarithm, in fc/0"},
        {"fc", "time_ns_median", "pad", PDNN_FIT_LOG, "'pad' is 0, which has no logarithm, in fc/0"},
    };
    struct pdnn_selection selection;
    struct pdnn_arena arena = {0};
    open_selection(&selection);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_fit_request request = {.selection = &selection,
                                           .what = rows[i].what,
                                           .family = rows[i].family,
                                           .on = rows[i].on,
                                           .model = rows[i].model};
        struct pdnn_err err = {0};
        struct made made;
        assert_int_equal(pdnn_fit_values(&selection, rows[i].what, &arena, &request.values, &err), PDNN_OK);
        init(&made);
        assert_int_equal(pdnn_fit(&request, &made.terms, &made.residuals, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
        assert_int_equal(made.terms.n_rows + made.residuals.n_rows, 0);
        finish(&made);
    }
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
}

/* Chosen by itself, a key without a logarithm is left out by name. */
static void test_fit_leaves_out_keys(void **state) {
    (void)state;
    struct pdnn_selection selection;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    struct made made;
    open_selection(&selection);
    struct pdnn_fit_request request = {
        .selection = &selection, .what = "time_ns_median", .family = "fc", .model = PDNN_FIT_LOG};
    assert_int_equal(pdnn_fit_values(&selection, request.what, &arena, &request.values, &err), PDNN_OK);
    fit(&request, &made);
    assert_state(&made, "pad", "no logarithm");
    finish(&made);
    request.model = PDNN_FIT_LINEAR;
    fit(&request, &made);
    assert_state(&made, "pad", "fitted");
    finish(&made);
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit_power_exact),     cmocka_unit_test(test_fit_power_coverage),
        cmocka_unit_test(test_fit_linear_coverage), cmocka_unit_test(test_fit_log_names_outliers),
        cmocka_unit_test(test_fit_values),          cmocka_unit_test(test_fit_refuses),
        cmocka_unit_test(test_fit_leaves_out_keys), cmocka_unit_test(test_fit_chosen_rows),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
