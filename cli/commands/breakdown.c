#include "base/units.h"
#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "cli/print/instance_result.h"
#include "cli/print/progress.h"
#include "results/query/gemms.h"
#include "results/table/record.h"
#include "results/claims/claim.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const char description[] =
    "Prints one row per kind of work in each instance, with its share of the step, how close it runs to the machine's "
    "roofs, and the time it loses against them; then the op that loses most. Reorders are a kind of their own, and so "
    "is the residual, the time that belongs to no op: shares add up to 100 %. Bytes of the total are the model's and "
    "those of reorders. Ops `above` their roof were faster than it was measured. A group is a part of the model: for "
    "a transformer, as studies of BERT training divide it.\n\n"
    "--across prints a table for each combination of the other hyper-parameters and settings; keys that change "
    "together are joined by commas. ~ marks extrapolated times. Several RESULTS are one table, in which `results` is "
    "a key like threads. Instances whose status is not ok are left out.";

static const struct pdnn_option_def options[] = {
    {"by", 'b', "PARTS",
     .help = "sum by category, group, pass, layer or op, or several joined by commas (default: category)"},
    {"across", 'a', "KEYS", .help = "one column per value of a hyper-parameter or run setting"},
    PDNN_OPTION_ONLY,
    {"gemms", .excludes = "check-directions,by,across",
     .help = "list the shapes of the matrix products, with the rate and time of each"},
    {"check-directions", .excludes = "by,across",
     .help = "test what must hold in measured runs of BERT training; exit status 1 if something does not"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
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
    bool for_people, is_gemms;
    struct pdnn_table table; /* for people the rows of an instance, for programs of all */
    size_t results;          /* its column of the directory, behind those of its definition */
};

/* Behind that one: the op that loses most, in one cell. */
enum { MOST = PDNN_SHARE_COLUMNS + 1 };

static void start_table(struct breakdown *b, const struct pdnn_table_def *def) {
    static const struct pdnn_column_def results = {PDNN_RESULTS_KEY, .help = "the directory"};
    pdnn_table_init(&b->table, def);
    b->results = pdnn_table_add_column(&b->table, &results);
}

/* The column `results` comes first, where there are several directories. */
static enum pdnn_status print_table(const struct breakdown *b, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    struct pdnn_table_writer printer = pdnn_table_printer(arguments);
    const bool several = b->selection.results.n_directories > 1;
    size_t columns[PDNN_SHARE_COLUMNS + 1] = {b->results};
    for (size_t c = 0; c < b->results; c++)
        columns[c + several] = c;
    printer.columns = columns;
    printer.n_columns = b->results + several;
    enum pdnn_status status = pdnn_table_print_rows(&printer, &b->table, NULL, err);
    pdnn_table_print_end(&printer);
    return status;
}

/* Shows an instance's rows and forgets them. Columns without room are named below the last table only. */
static void show_rows(struct breakdown *b, const size_t *columns, size_t n_columns, bool is_last) {
    struct pdnn_table_writer writer = {.out = &b->out,
                                       .width = pdnn_terminal_width(STDOUT_FILENO),
                                       .columns = columns,
                                       .n_columns = n_columns};
    pdnn_table_write(&writer, &b->table, NULL);
    pdnn_str_append(&b->out, "\n", 1);
    writer.is_noteless = !is_last;
    pdnn_table_write_end(&writer);
    pdnn_table_clear(&b->table);
}

/* "new.results: " in front of an id where there are several directories and the axes do not say which. */
static void append_directory(struct pdnn_str *out, const struct pdnn_selection *selection, size_t at,
                             const struct pdnn_axes *axes) {
    char name[PDNN_VISIBLE_TEXT];
    int results = selection->results.results;
    bool said = selection->results.n_directories == 1;
    for (size_t k = 0; axes && k < axes->count; k++)
        said = said || axes->column[k] == results;
    if (!said)
        pdnn_str_printf(out, "%s: ", pdnn_visible(name, pdnn_selection_get(selection, at, results)));
}

static void append_head(struct breakdown *b, size_t at) {
    const struct pdnn_selection *selection = &b->selection;
    struct pdnn_str line = {0};
    char step[PDNN_UNIT_TEXT];
    append_directory(&line, selection, at, NULL);
    pdnn_selection_name(selection, at, NULL, &line);
    pdnn_line_append(&b->out, &line, 2, SIZE_MAX);
    pdnn_str_printf(&b->out, "  %s per step%s", pdnn_format_ns(step, pdnn_selection_step_ns(selection, at)),
                    pdnn_selection_extrapolated(selection, at) ? ", extrapolated" : "");
}

/* For people: no counts of 0, no loss hidden by an op above its roof, and the op that loses most. */
static void adapt_row(struct pdnn_table *table, size_t row, const struct pdnn_share *share) {
    static const size_t counts[] = {PDNN_SHARE_IN_BOUNDS, PDNN_SHARE_BYTES};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (pdnn_table_count(table, row, counts[i]) == 0)
            pdnn_table_set_empty(table, row, counts[i]);
    if (!(share->lost_ns > 0) && share->work.pct_of_roof > PDNN_ABOVE_ROOF_PCT)
        pdnn_table_set_empty(table, row, PDNN_SHARE_LOST_PCT);
    if (!share->most.op)
        return;
    struct pdnn_str text = {0};
    pdnn_report_op(&text, &share->most);
    pdnn_str_printf(&text, ": %.1f", share->most_lost_pct);
    pdnn_table_set_text(table, row, MOST, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

/* All rows together: the step's time, and the model's work with what reorders add. */
static void add_total(struct breakdown *b, size_t at) {
    const struct pdnn_op_rows rows = pdnn_selection_rows(&b->selection, at, b->ops);
    struct pdnn_share total = {.id = "", .lost_ns = NAN, .lost_pct = NAN, .most_lost_pct = NAN};
    for (size_t by = 0; by < PDNN_BY_COUNT; by++)
        total.key[by] = by == (size_t)b->by.by[0] ? "total" : "";
    for (size_t i = 0; i < rows.count; i++)
        if (!isnan(rows.op[i].time_ns_median))
            pdnn_op_sum_add(&total.work, &rows.op[i]);
    total.work.time_ns = rows.step_ns;
    pdnn_op_sum_finish(&total.work, rows.step_ns);
    pdnn_record_put(&b->table, pdnn_table_add_row(&b->table), &total);
}

static void show_shares(struct breakdown *b, size_t at, const struct pdnn_share *shares, size_t n_shares) {
    static const size_t measured[] = {
        PDNN_SHARE_EXECUTIONS, PDNN_SHARE_TIME, PDNN_SHARE_PCT,  PDNN_SHARE_IN_BOUNDS, PDNN_SHARE_BYTES,
        PDNN_SHARE_GFLOPS,     PDNN_SHARE_GBS,  PDNN_SHARE_ROOF, PDNN_SHARE_LOST_PCT,  MOST};
    size_t columns[PDNN_SHARE_COLUMNS], n_columns = 0;
    const struct pdnn_share *most = pdnn_shares_most(shares, n_shares);
    append_head(b, at);
    pdnn_str_printf(&b->out, "%s\n", n_shares ? "" : ", no ops recorded");
    if (most) {
        struct pdnn_str line = {0};
        pdnn_report_most(&line, most);
        pdnn_str_printf(&line, "; shape %s", most->most.shape);
        pdnn_str_printf(&b->out, "  ");
        pdnn_line_append(&b->out, &line, 2, SIZE_MAX);
    }
    pdnn_str_append(&b->out, "\n", 1);
    for (size_t k = 0; k < b->by.count; k++)
        columns[n_columns++] = (size_t)PDNN_SHARE_KEY + b->by.by[k];
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        columns[n_columns++] = measured[i];
    for (size_t row = 0; row < n_shares; row++)
        adapt_row(&b->table, row, &shares[row]);
    if (n_shares)
        add_total(b, at);
    show_rows(b, columns, n_columns, at + 1 == b->selection.count);
}

static void show_gemms(struct breakdown *b, size_t at) {
    static const size_t shown[] = {PDNN_GEMM_M,          PDNN_GEMM_N,    PDNN_GEMM_K,    PDNN_GEMM_BATCH,
                                   PDNN_GEMM_EXECUTIONS, PDNN_GEMM_TIME, PDNN_GEMM_PCT,  PDNN_GEMM_INTENSITY,
                                   PDNN_GEMM_GFLOPS,     PDNN_GEMM_GBS,  PDNN_GEMM_ROOF, PDNN_GEMM_GROUPS,
                                   PDNN_GEMM_PASSES};
    append_head(b, at);
    pdnn_str_printf(&b->out, "%s\n\n", b->table.n_rows ? "" : ", no matrix products");
    if (b->table.n_rows)
        show_rows(b, shown, sizeof shown / sizeof *shown, at + 1 == b->selection.count);
}

static void show_instance(struct breakdown *b, size_t at) {
    const struct pdnn_op_rows rows = pdnn_selection_rows(&b->selection, at, b->ops);
    const char *directory = pdnn_selection_get(&b->selection, at, b->selection.results.results);
    struct pdnn_share *shares = NULL;
    size_t n_shares = 0, row = b->table.n_rows;
    pdnn_arena_reset(&b->arena);
    if (b->is_gemms)
        pdnn_gemms(&rows, &b->arena, &b->table);
    else
        n_shares = pdnn_shares(&rows, &b->by, &b->arena, &shares);
    for (size_t i = 0; i < n_shares; i++)
        pdnn_record_put(&b->table, pdnn_table_add_row(&b->table), &shares[i]);
    for (; row < b->table.n_rows; row++)
        pdnn_table_set_text(&b->table, row, b->results, directory);
    if (b->for_people && b->is_gemms)
        show_gemms(b, at);
    else if (b->for_people)
        show_shares(b, at, shares, n_shares);
}

static void show_all(struct breakdown *b) {
    static const struct pdnn_column_def most = {"most", "most of that in", .align = PDNN_ALIGN_WRAP,
                                                .rank = 1};
    start_table(b, b->is_gemms ? &pdnn_gemms_def : &pdnn_shares_def);
    if (!b->is_gemms)
        pdnn_table_add_column(&b->table, &most);
    for (size_t at = 0; at < b->selection.count; at++)
        show_instance(b, at);
}

/* A column with an instance's shares as text, headed by its values on the axes. */
static void add_column(struct breakdown *b, const struct pdnn_axes *axes, const struct pdnn_series *series,
                       const struct pdnn_share_matrix *matrix, size_t at, bool is_first) {
    const struct pdnn_selection *selection = &b->selection;
    const size_t instance = series->at[at];
    struct pdnn_str title = {0}, cell = {0};
    char name[32], step[PDNN_UNIT_TEXT], shown[PDNN_VISIBLE_TEXT];
    if (is_first) {
        pdnn_selection_values(selection, SIZE_MAX, axes, &title);
        pdnn_str_append(&title, "=", 1);
    }
    pdnn_selection_values(selection, instance, axes, &title);
    snprintf(name, sizeof name, "%zu", at);
    const struct pdnn_column_def def = {name, pdnn_visible(shown, pdnn_str_text(&title)),
                                        .align = PDNN_ALIGN_RIGHT};
    size_t column = pdnn_table_add_column(&b->table, &def);
    pdnn_str_printf(&cell, "%s%s", pdnn_selection_extrapolated(selection, instance) ? "~" : "",
                    pdnn_format_ns(step, pdnn_selection_step_ns(selection, instance)));
    pdnn_table_set_text(&b->table, 0, column, pdnn_str_text(&cell));
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const struct pdnn_share *share = matrix->cell[r * matrix->n_columns + at];
        pdnn_str_clear(&cell);
        if (share && !isnan(share->work.share_pct))
            pdnn_str_printf(&cell, "%.1f %%", share->work.share_pct);
        pdnn_table_set_text(&b->table, r + 1, column, pdnn_str_text(&cell));
    }
    pdnn_str_finish(&title);
    pdnn_str_finish(&cell);
}

/* As many of the instances as fit the terminal side by side, at least one; returns how many. */
static size_t append_block(struct breakdown *b, const struct pdnn_axes *axes,
                           const struct pdnn_series *series, const struct pdnn_share_matrix *matrix,
                           size_t first) {
    static const struct pdnn_table_def empty = {"across", "parts of a step", NULL, 0};
    const size_t n_keys = b->by.count, most = PDNN_TABLE_COLUMNS_MAX - n_keys, left = series->count - first;
    size_t columns[PDNN_TABLE_COLUMNS_MAX], count = left < most ? left : most;
    struct pdnn_table_writer writer = {
        .out = &b->out, .width = pdnn_terminal_width(STDOUT_FILENO), .columns = columns};
    pdnn_table_init(&b->table, &empty);
    for (size_t r = 0; r < matrix->n_rows + 1; r++)
        pdnn_table_add_row(&b->table);
    for (size_t k = 0; k < n_keys; k++) {
        const enum pdnn_by by = b->by.by[k];
        pdnn_table_add_column(&b->table, &pdnn_shares_def.column[(size_t)PDNN_SHARE_KEY + by]);
        for (size_t r = 0; r < matrix->n_rows; r++)
            pdnn_table_set_text(&b->table, r + 1, k, matrix->row[r].key[by]);
    }
    pdnn_table_set_text(&b->table, 0, 0, "time of a step");
    for (size_t c = 0; c < count; c++)
        add_column(b, axes, series, matrix, first + c, c == 0);
    for (size_t c = 0; c < n_keys + count; c++)
        columns[c] = c;
    for (writer.n_columns = n_keys + count; count > 1 && !pdnn_table_fits(&writer, &b->table); count--)
        writer.n_columns--;
    pdnn_table_write(&writer, &b->table, NULL);
    pdnn_str_append(&b->out, "\n", 1);
    pdnn_table_write_end(&writer);
    pdnn_table_finish(&b->table);
    return count;
}

/* One column per instance; columns that do not fit continue below. */
static void append_series(struct breakdown *b, const struct pdnn_axes *axes,
                          const struct pdnn_series *series) {
    struct pdnn_str head = {0};
    pdnn_arena_reset(&b->arena);
    const struct pdnn_share_matrix matrix =
        pdnn_share_matrix(&b->selection, b->ops, &b->by, series, &b->arena);
    append_directory(&head, &b->selection, series->at[0], axes);
    pdnn_selection_name(&b->selection, series->at[0], axes, &head);
    pdnn_str_printf(&head, ": parts in %% of the step");
    pdnn_line_append(&b->out, &head, 2, SIZE_MAX);
    pdnn_str_append(&b->out, "\n", 1);
    for (size_t first = 0; first < series->count;)
        first += append_block(b, axes, series, &matrix, first);
}

/* Programs get one row per instance and share; instances come in the order of the columns of the series. */
static enum pdnn_status show_across(struct breakdown *b, const char *keys, struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_axes axes;
    struct pdnn_series *series;
    size_t n_series;
    if (pdnn_axes_parse(&b->selection, keys, &axes, err) != PDNN_OK)
        return err->status;
    pdnn_selection_series(&b->selection, &axes, &arena, &series, &n_series);
    if (!b->for_people)
        start_table(b, &pdnn_shares_def);
    for (size_t i = 0; i < n_series; i++) {
        if (b->for_people)
            append_series(b, &axes, &series[i]);
        for (size_t k = 0; !b->for_people && k < series[i].count; k++)
            show_instance(b, series[i].at[k]);
    }
    pdnn_arena_finish(&arena);
    return PDNN_OK;
}

/* A row per check; what it says of instances without naming them holds for all. */
static enum pdnn_status show_directions(struct breakdown *b, const struct pdnn_arguments *arguments,
                                        struct pdnn_err *err) {
    static const size_t shown[] = {PDNN_CLAIM_VERDICT, PDNN_CLAIM_TEXT, PDNN_CLAIM_NUMBERS,
                                   PDNN_CLAIM_COMPARED, PDNN_CLAIM_WHERE};
    const struct pdnn_selection *const rows[] = {&b->selection};
    const struct pdnn_claim_data data = {.rows = rows, .n_sources = 1, .readers = b->ops};
    struct pdnn_str usual = {0};
    size_t told[PDNN_VERDICT_COUNT] = {0};
    start_table(b, &pdnn_claims_def);
    pdnn_claims_check(&data, &pdnn_bert_claims, &b->table, told);
    if (!b->table.n_rows)
        return pdnn_fail(err, PDNN_INVALID,
                         "--check-directions is about Transformers, and there is none here");
    fprintf(stderr, "hold: %zu, do not hold: %zu, cannot be told: %zu\n", told[PDNN_HOLDS],
            told[PDNN_DOES_NOT_HOLD], told[PDNN_CANNOT_BE_TOLD]);
    *arguments->some_failed = told[PDNN_DOES_NOT_HOLD] > 0;
    if (!b->for_people)
        return PDNN_OK;
    pdnn_selection_where(&b->selection, SIZE_MAX, &(struct pdnn_axes){.count = 0}, &usual);
    show_rows(b, shown, sizeof shown / sizeof *shown, true);
    if (usual.length)
        pdnn_str_printf(&usual, " unless stated otherwise");
    pdnn_line_append(&b->out, &usual, 2, SIZE_MAX);
    return PDNN_OK;
}

static enum pdnn_status show(struct breakdown *b, const struct pdnn_arguments *arguments,
                             struct pdnn_err *err) {
    const char *by = pdnn_argument(arguments, "by"), *across = pdnn_argument(arguments, "across"),
               *checks = pdnn_argument(arguments, "check-directions");
    if (pdnn_by_parse(by ? by : "category", &b->by, err) != PDNN_OK ||
        pdnn_cli_select(arguments, arguments->n_operands, &b->selection, &b->ops, err) != PDNN_OK)
        return err->status;
    if (checks && b->selection.results.n_directories > 1)
        return pdnn_fail(err, PDNN_INVALID, "--check-directions takes one result directory");
    if ((across && show_across(b, across, err) != PDNN_OK) ||
        (checks && show_directions(b, arguments, err) != PDNN_OK))
        return err->status;
    if (!across && !checks)
        show_all(b);
    if (!b->for_people && print_table(b, arguments, err) != PDNN_OK)
        return err->status;
    pdnn_text_print(&b->out, false);
    if (b->selection.left_out)
        fprintf(stderr, "%zu instances; left out %zu that did not end ok\n", b->selection.count,
                b->selection.left_out);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct breakdown b = {.for_people = pdnn_wants_text(arguments),
                          .is_gemms = pdnn_argument(arguments, "gemms")};
    enum pdnn_status status = show(&b, arguments, err);
    pdnn_str_finish(&b.out);
    pdnn_table_finish(&b.table);
    pdnn_selection_ops_close(&b.selection, b.ops);
    pdnn_selection_close(&b.selection);
    pdnn_arena_finish(&b.arena);
    return status;
}

PDNN_COMMAND(breakdown, PDNN_COMMANDS_FIRST, "RESULTS...", "Shows where the time of each instance went.",
             .run = run, .reads_directories = true);
