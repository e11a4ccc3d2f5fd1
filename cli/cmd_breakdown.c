#include "cli/breakdown_text.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "results/studies/study.h"
#include "results/tables/ops_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paragraphs[] = {
    "Prints one row per kind of work in each instance, with its share of the step, "
    "how close it runs to the machine's roofs, and the time it loses against them; "
    "then the op that loses most. Reorders are a kind of their own, and so is the residual, "
    "the time that belongs to no op: shares add up to 100 %.",
    "--by sets what a row is: a category of ops (the default); a group, that is, "
    "a part of the model (for a transformer, as studies of BERT training divide it); "
    "a pass; a layer; an op; or a combination such as group,pass. "
    "--across puts instances that differ in one hyper-parameter or run setting side by side, "
    "with one table for each combination of the others. Join keys that change together with commas. "
    "~ marks extrapolated times.",
    "--gemms lists the shapes of the matrix products instead. "
    "--check-directions tests what must hold in measured runs of BERT training and prints PASS, FAIL, "
    "or not covered with the instances that are missing. The exit status is 1 if a test fails.",
    "RESULTS is the directory that a sweep wrote. Several are read as one table, in which `results` is a key "
    "like threads: it can be given to --across and --only. Instances whose status is not ok are left out. "
    "`paradnn columns` explains the columns that --format csv prints: breakdown, gemms and directions.",
    NULL,
};

#define CHECK_OPTION(name) {"check-" #name, 0, NULL, NULL, false, pdnn_study_##name##_help},

static const struct pdnn_option_def options[] = {
    {"by", 'b', "PARTS", NULL, false,
     "sum by category, group, pass, layer or op, or several joined by commas (default: category)"},
    {"across", 'a', "KEYS", NULL, false, "one column per value of a hyper-parameter or run setting"},
    PDNN_OPTION_ONLY,
    {"gemms", 0, NULL, NULL, false, "list the shapes of the matrix products, with the rate and time of each"},
    PDNN_STUDIES(CHECK_OPTION) PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
    {"paradnn breakdown cnn.results",
     "how much of each model goes to convolutions, normalization and reorders"},
    {"paradnn breakdown bert.results --by group --across batch",
     "how the minibatch shifts the parts of a training step"},
    {"paradnn breakdown bert.results --check-directions",
     "whether measured shares and counts move as they should"},
};

struct breakdown {
    struct pdnn_selection selection;
    struct pdnn_ops_reader *ops; /* by directory */
    struct pdnn_by_list by;
    struct pdnn_arena arena;
    struct pdnn_str out;
    const struct pdnn_study_def *study; /* the one requested, or NULL */
    bool csv;
};

/* The column `results` comes first where there are several directories. */
static void put_header(struct breakdown *b, const struct pdnn_columns *columns) {
    if (b->selection.n_directories > 1)
        pdnn_str_printf(&b->out, "%s,", PDNN_SEVERAL_RESULTS);
    pdnn_columns_header(columns, &b->out);
}

static void put_row(struct breakdown *b, size_t at, const struct pdnn_columns *columns, const void *row) {
    if (b->selection.n_directories > 1) {
        struct pdnn_csv_writer writer = {&b->out, false};
        int results = pdnn_csv_find(&b->selection.results, PDNN_SEVERAL_RESULTS);
        pdnn_csv_put_text(&writer, pdnn_selection_get(&b->selection, at, results));
        pdnn_str_append(&b->out, ",", 1);
    }
    pdnn_columns_row(columns, row, &b->out);
}

static enum pdnn_status show_instance(struct breakdown *b, size_t at, struct pdnn_err *err) {
    const struct pdnn_share_source source = {&b->selection, b->ops, &b->by, &b->arena};
    struct pdnn_share *shares;
    size_t n_shares;
    pdnn_arena_reset(&b->arena);
    enum pdnn_status status = pdnn_selection_shares(&source, at, &shares, &n_shares, err);
    if (status != PDNN_OK)
        return status;
    for (size_t i = 0; b->csv && i < n_shares; i++)
        put_row(b, at, &pdnn_shares_columns, &shares[i]);
    if (!b->csv)
        pdnn_breakdown_text(&b->out, &b->selection, at, &b->by, shares, n_shares);
    return PDNN_OK;
}

static enum pdnn_status show_instances(struct breakdown *b, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    if (b->csv)
        put_header(b, &pdnn_shares_columns);
    for (size_t at = 0; status == PDNN_OK && at < b->selection.count; at++)
        status = show_instance(b, at, err);
    return status;
}

static enum pdnn_status show_gemms(struct breakdown *b, struct pdnn_err *err) {
    const struct pdnn_selection *selection = &b->selection;
    enum pdnn_status status = PDNN_OK;
    if (b->csv)
        put_header(b, &pdnn_gemms_columns);
    for (size_t at = 0; status == PDNN_OK && at < selection->count; at++) {
        struct pdnn_op_rows rows;
        struct pdnn_gemm *gemms = NULL;
        size_t n_gemms = 0;
        pdnn_arena_reset(&b->arena);
        status = pdnn_selection_rows(selection, at, b->ops, &rows, err);
        if (status == PDNN_OK)
            pdnn_gemms(&rows, &b->arena, &gemms, &n_gemms);
        for (size_t i = 0; b->csv && i < n_gemms; i++)
            put_row(b, at, &pdnn_gemms_columns, &gemms[i]);
        if (!b->csv && status == PDNN_OK)
            pdnn_gemms_text(&b->out, selection, at, gemms, n_gemms);
    }
    return status;
}

/* CSV has one row per instance and share; instances come in the order of the columns of the series. */
static enum pdnn_status show_across(struct breakdown *b, const char *keys, struct pdnn_err *err) {
    const struct pdnn_share_source source = {&b->selection, b->ops, &b->by, &b->arena};
    struct pdnn_arena arena = {0};
    struct pdnn_axes axes;
    struct pdnn_series *series = NULL;
    size_t n_series = 0;
    enum pdnn_status status = pdnn_axes_parse(&b->selection, keys, &axes, err);
    if (status == PDNN_OK)
        pdnn_selection_series(&b->selection, &axes, &arena, &series, &n_series);
    if (status == PDNN_OK && b->csv)
        put_header(b, &pdnn_shares_columns);
    for (size_t i = 0; status == PDNN_OK && i < n_series; i++) {
        struct pdnn_share_matrix matrix;
        for (size_t k = 0; b->csv && status == PDNN_OK && k < series[i].count; k++)
            status = show_instance(b, series[i].at[k], err);
        if (b->csv || status != PDNN_OK)
            continue;
        pdnn_arena_reset(&b->arena);
        status = pdnn_share_matrix(&source, &series[i], &matrix, err);
        const struct pdnn_across across = {&b->selection, &axes, &series[i], &b->by, &matrix};
        if (status == PDNN_OK)
            pdnn_across_text(&b->out, &across);
    }
    pdnn_arena_finish(&arena);
    return status;
}

static enum pdnn_status show_study(struct breakdown *b, bool *some_failed, struct pdnn_err *err) {
    struct pdnn_study_line *lines;
    size_t n_lines, count[PDNN_VERDICT_COUNT] = {0};
    enum pdnn_status status = b->study->check(&b->selection, b->ops, &b->arena, &lines, &n_lines, err);
    if (status != PDNN_OK)
        return status;
    if (b->csv)
        pdnn_columns_header(b->study->columns, &b->out);
    for (size_t i = 0; i < n_lines; i++) {
        count[lines[i].verdict]++;
        if (b->csv)
            pdnn_columns_row(b->study->columns, &lines[i], &b->out);
    }
    if (!b->csv)
        pdnn_study_text(&b->out, &b->selection, lines, n_lines);
    fprintf(stderr, "%zu pass, %zu fail, %zu not covered\n", count[PDNN_VERDICT_PASS],
            count[PDNN_VERDICT_FAIL], count[PDNN_VERDICT_NOT_COVERED]);
    *some_failed = count[PDNN_VERDICT_FAIL] > 0;
    return PDNN_OK;
}

/* A study and the list of products are views of their own: neither takes --by or --across,
 * and they exclude each other. */
static enum pdnn_status check_view(const struct pdnn_arguments *arguments, struct breakdown *b,
                                   struct pdnn_err *err) {
    static const char *const sums[] = {"by", "across"};
    char view[64] = "", option[64];
    if (pdnn_argument(arguments, "gemms"))
        snprintf(view, sizeof view, "gemms");
    for (const struct pdnn_study_def *const *study = pdnn_studies; *study; study++) {
        snprintf(option, sizeof option, "check-%s", (*study)->name);
        if (!pdnn_argument(arguments, option))
            continue;
        if (*view)
            return pdnn_fail(err, PDNN_INVALID, "--%s and --%s cannot be combined", view, option);
        memcpy(view, option, sizeof view);
        b->study = *study;
    }
    for (size_t i = 0; *view && i < sizeof sums / sizeof *sums; i++) {
        if (pdnn_argument(arguments, sums[i]))
            return pdnn_fail(err, PDNN_INVALID, "--%s and --%s cannot be combined", view, sums[i]);
    }
    return PDNN_OK;
}

static enum pdnn_status open_tables(struct breakdown *b, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    const char *by = pdnn_argument(arguments, "by"), **only = NULL;
    size_t n_only = 0;
    enum pdnn_status status = pdnn_by_parse(by ? by : "category", &b->by, err);
    if (status == PDNN_OK)
        pdnn_argument_all(arguments, "only", &only, &n_only);
    if (status == PDNN_OK)
        status = pdnn_selection_open_all(&b->selection, arguments->operands, arguments->n_operands, only,
                                         n_only, err);
    free(only);
    return status == PDNN_OK ? pdnn_selection_ops_open(&b->selection, &b->ops, err) : status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    struct breakdown b = {.csv = pdnn_wants_csv(arguments)};
    const char *across = pdnn_argument(arguments, "across");
    enum pdnn_status status = check_view(arguments, &b, err);
    if (status == PDNN_OK)
        status = open_tables(&b, arguments, err);
    if (status == PDNN_OK && b.study && b.selection.n_directories > 1)
        status = pdnn_fail(err, PDNN_INVALID, "--check-%s takes one result directory", b.study->name);
    if (status == PDNN_OK)
        status = across                              ? show_across(&b, across, err)
                 : b.study                           ? show_study(&b, some_failed, err)
                 : pdnn_argument(arguments, "gemms") ? show_gemms(&b, err)
                                                     : show_instances(&b, err);
    size_t shown = b.selection.count, left_out = b.selection.left_out;
    if (status == PDNN_OK)
        pdnn_text_print(&b.out, b.csv);
    if (status == PDNN_OK && left_out)
        fprintf(stderr, "%zu instances; left out %zu that did not end ok\n", shown, left_out);
    pdnn_str_finish(&b.out);
    pdnn_selection_ops_close(&b.selection, b.ops);
    pdnn_selection_close(&b.selection);
    pdnn_arena_finish(&b.arena);
    return status;
}

const struct pdnn_command_def pdnn_command_breakdown = {
    .name = "breakdown",
    .summary = "Shows where the time of each instance went.",
    .operands = "RESULTS...",
    .min_operands = 1,
    .max_operands = PDNN_OPERANDS_ANY,
    .reads_directories = true,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
