#include "cli/output.h"
#include "cli/registry.h"
#include "results/tables/columns.h"
#include "results/studies/directions.h"
#include "results/analysis/gemms.h"
#include "results/analysis/shares.h"

#include <string.h>

static const char *const paragraphs[] = {
    "Lists the columns of the tables in a result directory, and of what breakdown prints as CSV "
    "(breakdown, gemms, directions), in order: unit, type (text, count, integer, number) and meaning. "
    "An empty field means not available. TABLE is results, ops, ceilings, journal, breakdown, "
    "gemms or directions; without it, all of them are listed.",
    NULL,
};

static const struct pdnn_option_def options[] = {PDNN_OPTION_FORMAT};

static const struct pdnn_example examples[] = {
    {"paradnn columns results", "what each column of results.csv means"},
};

static const struct pdnn_table_column table_columns[] = {
    {"table", PDNN_ALIGN_LEFT}, {"column", PDNN_ALIGN_LEFT}, {"unit", PDNN_ALIGN_LEFT},
    {"type", PDNN_ALIGN_LEFT},  {"help", PDNN_ALIGN_WRAP},
};

static const char *const names[] = {"results",   "ops",   "ceilings",   "journal",
                                    "breakdown", "gemms", "directions", NULL};
enum { N_NAMES = sizeof names / sizeof names[0] - 1 };

static enum pdnn_status check_name(const char *name, struct pdnn_err *err) {
    for (size_t i = 0; i < N_NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return PDNN_OK;
    const char *nearest = pdnn_nearest_word(name, names, N_NAMES);
    if (nearest)
        return pdnn_fail(err, PDNN_INVALID, "unknown table '%s', did you mean '%s'?", name, nearest);
    return pdnn_fail(
        err, PDNN_INVALID,
        "unknown table '%s', the tables are results, ops, ceilings, journal, breakdown, gemms and directions",
        name);
}

static void add_columns(struct pdnn_table *table, const char *name, const struct pdnn_columns *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        const struct pdnn_column *column = &columns->column[i];
        pdnn_table_cell(table, "%s", name);
        pdnn_table_cell(table, "%s", column->name);
        pdnn_table_cell(table, "%s", column->unit);
        pdnn_table_cell(table, "%s", pdnn_column_type_name(column->type));
        pdnn_table_cell(table, "%s", column->help);
    }
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    const char *only = arguments->n_operands ? arguments->operands[0] : NULL;
    if (only && check_name(only, err) != PDNN_OK)
        return err->status;
    struct pdnn_arena arena = {0};
    struct pdnn_table table;
    pdnn_table_init(&table, table_columns, sizeof table_columns / sizeof table_columns[0]);
    size_t n_families = 0;
    while (pdnn_families[n_families])
        n_families++;
    struct pdnn_columns results;
    enum pdnn_status status = pdnn_results_columns(pdnn_families, n_families, false, &arena, &results, err);
    if (status != PDNN_OK)
        goto out;
    const struct pdnn_columns *const all[N_NAMES] = {&results,
                                                     &pdnn_ops_columns,
                                                     &pdnn_ceilings_columns,
                                                     &pdnn_journal_columns,
                                                     &pdnn_shares_columns,
                                                     &pdnn_gemms_columns,
                                                     &pdnn_directions_columns};
    for (size_t i = 0; i < N_NAMES; i++)
        if (!only || strcmp(only, names[i]) == 0)
            add_columns(&table, names[i], all[i]);
    status = pdnn_table_print(&table, pdnn_wants_csv(arguments), err);
out:
    pdnn_table_finish(&table);
    pdnn_arena_finish(&arena);
    return status;
}

const struct pdnn_command_def pdnn_command_columns = {
    .name = "columns",
    .summary = "Explains the columns of the tables.",
    .operands = "[TABLE]",
    .max_operands = 1,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
