#include "base/units.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "cli/report.h"
#include "results/csv.h"
#include "results/ops_reader.h"
#include "results/shares.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const paragraphs[] = {
    "Where the time of each instance goes: one row per kind of work with its share of the step, how near to "
    "the machine's roofs it runs, and the time it loses there; then the op that loses most. Reorders are a "
    "kind of their own, and so is the residual, which is in no op's time: shares add up to 100 %.",
    "RESULTS is the directory that a sweep wrote. Instances that did not end ok are left out. `paradnn "
    "columns "
    "breakdown` explains what --format csv prints.",
    NULL,
};

static const struct pdnn_option_def options[] = {PDNN_OPTION_FORMAT};

static const struct pdnn_example examples[] = {
    {"paradnn breakdown cnn.results", "what convolutions, normalizations and reorders take of each model"},
};

#define RESULTS_LIMIT_BYTES ((size_t)1 << 32)

static const struct pdnn_table_column table_columns[] = {
    {"category", PDNN_ALIGN_LEFT},     {"ops", PDNN_ALIGN_RIGHT},    {"time", PDNN_ALIGN_RIGHT},
    {"share", PDNN_ALIGN_RIGHT},       {"% roof", PDNN_ALIGN_RIGHT}, {"lost", PDNN_ALIGN_RIGHT},
    {"most lost by", PDNN_ALIGN_LEFT},
};

/* results.csv's columns that are needed. */
enum { ID, STATUS, STEP, N_NEEDED };

struct breakdown {
    struct pdnn_csv results;
    int column[N_NEEDED];
    struct pdnn_ops_reader ops;
    struct pdnn_arena arena;
    struct pdnn_str out;
    size_t shown, left_out;
    bool csv;
};

static enum pdnn_status open_tables(struct breakdown *b, const char *directory, struct pdnn_err *err) {
    static const char *const names[N_NEEDED] = {"id", "status", "time_ns_median"};
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/results.csv", directory) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    enum pdnn_status status = pdnn_csv_read(path, RESULTS_LIMIT_BYTES, PDNN_CSV_STRICT, &b->results, err);
    for (int i = 0; status == PDNN_OK && i < N_NEEDED; i++) {
        b->column[i] = pdnn_csv_find(&b->results, names[i]);
        if (b->column[i] < 0)
            status = pdnn_fail(err, PDNN_INVALID, "%s:1: column '%s' is missing", path, names[i]);
    }
    return status == PDNN_OK ? pdnn_ops_reader_open(&b->ops, directory, err) : status;
}

static void add_row(struct pdnn_table *table, const struct pdnn_share *share) {
    char time[PDNN_UNIT_TEXT], lost[PDNN_UNIT_TEXT];
    struct pdnn_str most = {0};
    pdnn_table_cell(table, "%s", share->category);
    if (share->count == PDNN_ABSENT)
        pdnn_table_cell(table, "%s", "");
    else
        pdnn_table_cell(table, "%" PRIu64, share->count);
    pdnn_table_cell(table, "%s", pdnn_format_ns(time, share->time_ns));
    pdnn_table_cell(table, "%.1f %%", share->share_pct);
    if (isnan(share->pct_of_roof))
        pdnn_table_cell(table, "%s", "");
    else
        pdnn_table_cell(table, "%.0f", share->pct_of_roof);
    pdnn_table_cell(table, "%s", isnan(share->lost_ns) ? "" : pdnn_format_ns(lost, share->lost_ns));
    if (share->most)
        pdnn_report_most(&most, share);
    pdnn_table_cell(table, "%s", pdnn_str_text(&most));
    pdnn_str_finish(&most);
}

/* What a backend adds to the model, even when that is nothing. */
static void append_reorders(struct pdnn_str *out, const struct pdnn_share *shares, size_t n_shares) {
    size_t i = 0;
    while (i < n_shares && strcmp(shares[i].category, "reorder") != 0)
        i++;
    if (!n_shares)
        pdnn_str_printf(out, ", no ops recorded\n");
    else if (i == n_shares)
        pdnn_str_printf(out, ", no reorders\n");
    else
        pdnn_str_printf(out, ", %" PRIu64 " reorder%s: %.2g %% of it\n", shares[i].count,
                        shares[i].count == 1 ? "" : "s", shares[i].share_pct);
}

static void show(struct breakdown *b, const char *id, double step_ns, const struct pdnn_share *shares,
                 size_t n_shares) {
    char step[PDNN_UNIT_TEXT];
    const struct pdnn_share *most = pdnn_shares_most(shares, n_shares);
    struct pdnn_table table;
    pdnn_str_printf(&b->out, "%s\n  %s per step", id, pdnn_format_ns(step, step_ns));
    append_reorders(&b->out, shares, n_shares);
    if (most) {
        pdnn_str_printf(&b->out, "  most is lost by ");
        pdnn_report_most(&b->out, most);
        pdnn_str_printf(&b->out, "\n  %s\n", most->most->shape);
    }
    pdnn_str_append(&b->out, "\n", 1);
    pdnn_table_init(&table, table_columns, sizeof table_columns / sizeof table_columns[0]);
    for (size_t i = 0; i < n_shares; i++)
        add_row(&table, &shares[i]);
    if (!pdnn_table_format(&table, pdnn_terminal_width(STDOUT_FILENO), &b->out))
        b->out.failed = true;
    pdnn_table_finish(&table);
    pdnn_str_append(&b->out, "\n", 1);
}

static enum pdnn_status add_instance(struct breakdown *b, size_t row, struct pdnn_err *err) {
    const char *id = pdnn_csv_get(&b->results, row, b->column[ID]);
    const struct pdnn_op_record *ops;
    struct pdnn_share *shares;
    size_t n_ops, n_shares;
    double step_ns;
    if (strcmp(pdnn_csv_get(&b->results, row, b->column[STATUS]), "ok") != 0 ||
        !pdnn_parse_double(pdnn_csv_get(&b->results, row, b->column[STEP]), &step_ns)) {
        b->left_out++;
        return PDNN_OK;
    }
    pdnn_arena_reset(&b->arena);
    enum pdnn_status status = pdnn_ops_reader_find(&b->ops, id, &ops, &n_ops, err);
    if (status == PDNN_OK)
        status = pdnn_shares(ops, n_ops, step_ns, &b->arena, &shares, &n_shares, err);
    if (status != PDNN_OK)
        return status;
    b->shown++;
    for (size_t i = 0; b->csv && i < n_shares; i++)
        pdnn_columns_row(&pdnn_shares_columns, &shares[i], &b->out);
    if (!b->csv)
        show(b, id, step_ns, shares, n_shares);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    struct breakdown b = {.csv = pdnn_wants_csv(arguments)};
    enum pdnn_status status = open_tables(&b, arguments->operands[0], err);
    if (status == PDNN_OK && b.csv)
        pdnn_columns_header(&pdnn_shares_columns, &b.out);
    for (size_t row = 0; status == PDNN_OK && row < b.results.n_rows; row++)
        status = add_instance(&b, row, err);
    if (status == PDNN_OK)
        status = pdnn_text_print(&b.out, err);
    if (status == PDNN_OK && b.left_out)
        fprintf(stderr, "%zu instances, %zu that did not end ok left out\n", b.shown, b.left_out);
    pdnn_str_finish(&b.out);
    pdnn_ops_reader_close(&b.ops);
    pdnn_csv_finish(&b.results);
    pdnn_arena_finish(&b.arena);
    return status;
}

const struct pdnn_command_def pdnn_command_breakdown = {
    .name = "breakdown",
    .summary = "Says where the time of each instance went.",
    .operands = "RESULTS",
    .min_operands = 1,
    .max_operands = 1,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
