#include "cli/output.h"
#include "cli/registry.h"
#include "results/import/paradnn_json.h"
#include "results/tables/columns.h"
#include "results/studies/study.h"
#include "results/analysis/compare_columns.h"
#include "results/analysis/fit.h"
#include "results/analysis/gemms.h"
#include "results/analysis/shares.h"

#include <string.h>

static const char *const paragraphs[] = {
    "Lists the columns of the tables in a result directory, of what breakdown (breakdown, gemms, directions), "
    "compare (compare-pairs, compare-groups, compare-axes, compare-ops, compare-unpaired) "
    "and fit (fit, residuals) print as CSV, and of what import keeps of a file (imported), "
    "in order: unit, type (text, count, integer, number) and meaning. "
    "An empty field means not available. TABLE is one of these, or results, ops, ceilings, journal or "
    "journal-ops; without it, all of them are listed.",
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

#define STUDY_TABLE(name) {#name, &pdnn_study_##name##_columns},

/* The columns of results.csv depend on the families, hence NULL. */
static const struct {
    const char *name;
    const struct pdnn_columns *columns;
} tables[] = {{"results", NULL},
              {"ops", &pdnn_ops_columns},
              {"ceilings", &pdnn_ceilings_columns},
              {"journal", &pdnn_journal_columns},
              {"journal-ops", &pdnn_journal_ops_columns},
              {"breakdown", &pdnn_shares_columns},
              {"gemms", &pdnn_gemms_columns},
              {"compare-pairs", &pdnn_pairs_columns},
              {"compare-groups", &pdnn_compare_groups_columns},
              {"compare-axes", &pdnn_compare_axes_columns},
              {"compare-ops", &pdnn_compare_ops_columns},
              {"compare-unpaired", &pdnn_unpaired_columns},
              {"imported", &pdnn_imported_columns},
              {"fit", &pdnn_fit_columns},
              {"residuals", &pdnn_residuals_columns},
              PDNN_STUDIES(STUDY_TABLE)};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

static enum pdnn_status check_name(const char *name, struct pdnn_err *err) {
    const char *names[N_TABLES];
    struct pdnn_str all = {0};
    for (size_t i = 0; i < N_TABLES; i++) {
        names[i] = tables[i].name;
        if (strcmp(names[i], name) == 0) {
            pdnn_str_finish(&all);
            return PDNN_OK;
        }
        pdnn_str_printf(&all, "%s%s", i == 0 ? "" : i + 1 < N_TABLES ? ", " : " and ", names[i]);
    }
    const char *nearest = pdnn_nearest_word(name, names, N_TABLES);
    if (nearest)
        pdnn_fail(err, PDNN_INVALID, "unknown table '%s', did you mean '%s'?", name, nearest);
    else
        pdnn_fail(err, PDNN_INVALID, "unknown table '%s', the tables are %s", name, pdnn_str_text(&all));
    pdnn_str_finish(&all);
    return PDNN_INVALID;
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
    for (size_t i = 0; i < N_TABLES; i++)
        if (!only || strcmp(only, tables[i].name) == 0)
            add_columns(&table, tables[i].name, tables[i].columns ? tables[i].columns : &results);
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
