#include "cli/output.h"
#include "cli/registry.h"
#include "base/visible.h"
#include "results/import/paradnn_json.h"
#include "results/tables/columns.h"
#include "results/tables/seqpoint_table.h"
#include "results/tables/library.h"
#include "results/tables/results_reader.h"
#include "results/studies/study.h"
#include "results/analysis/compare_columns.h"
#include "results/analysis/fit.h"
#include "results/analysis/distribution.h"
#include "results/analysis/gemms.h"
#include "results/analysis/projection.h"
#include "results/analysis/shares.h"

#include <stdio.h>
#include <string.h>

static const char *const paragraphs[] = {
    "Lists the columns of the tables in a result directory, of what breakdown (breakdown, gemms, directions), "
    "compare (compare-pairs, compare-groups, compare-axes, compare-ops, compare-unpaired), "
    "project (projection, projection-ops, projection-moves, projection-limits), scale (scaling, scaling-parts) "
    "and fit (fit, residuals) print as CSV, and of what import keeps of a file (imported), "
    "in order: unit, type (text, count, integer, number) and meaning. "
    "An empty field means not available. NAME is one of these tables, or results, ops, ceilings, journal, "
    "journal-ops, operators or seqpoint; or a column, in every table that has it; without it, all of them are listed.",
    "Statuses, stop reasons, bounds and flags are explained below the columns that hold them, with what to do "
    "about each. NAME may also be one of them; 'words' lists all of them, as CSV too.",
    NULL,
};

static const struct pdnn_option_def options[] = {PDNN_OPTION_FORMAT};

static const struct pdnn_example examples[] = {
    {"paradnn columns results", "what each column of results.csv means"},
    {"paradnn columns pct_of_roof", "the same of one column"},
    {"paradnn columns noisy", "what this flag says, and what to do about it"},
};

static const struct pdnn_sheet_column table_columns[] = {
    {"table", PDNN_ALIGN_GROUP},
    {"column", PDNN_ALIGN_LEFT},
    {"unit", PDNN_ALIGN_LEFT | PDNN_SPARE(2)},
    {"type", PDNN_ALIGN_LEFT | PDNN_SPARE(1)},
    {"help", PDNN_ALIGN_WRAP},
};

static const struct pdnn_sheet_column value_columns[] = {
    {"column", PDNN_ALIGN_LEFT},
    {"value", PDNN_ALIGN_LEFT},
    {"meaning", PDNN_ALIGN_LEFT},
    {"remedy", PDNN_ALIGN_LEFT},
};

/* For people. */
static const struct pdnn_sheet_column told_columns[] = {
    {"column", PDNN_ALIGN_GROUP},
    {"value", PDNN_ALIGN_LEFT},
    {"meaning, and what to do", PDNN_ALIGN_WRAP},
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
              {"operators", &pdnn_library_columns},
              {"seqpoint", &pdnn_seqpoint_columns},
              {"breakdown", &pdnn_shares_columns},
              {"gemms", &pdnn_gemms_columns},
              {"compare-pairs", &pdnn_pairs_columns},
              {"compare-groups", &pdnn_compare_groups_columns},
              {"compare-axes", &pdnn_compare_axes_columns},
              {"compare-ops", &pdnn_compare_ops_columns},
              {"compare-unpaired", &pdnn_unpaired_columns},
              {"projection", &pdnn_projected_columns},
              {"projection-ops", &pdnn_projected_ops_columns},
              {"projection-moves", &pdnn_projected_moves_columns},
              {"projection-limits", &pdnn_projected_limits_columns},
              {"scaling", &pdnn_scaled_columns},
              {"scaling-parts", &pdnn_scaled_parts_columns},
              {"imported", &pdnn_imported_columns},
              {"fit", &pdnn_fit_columns},
              {"residuals", &pdnn_residuals_columns},
              PDNN_STUDIES(STUDY_TABLE)};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

static const char all_words[] = "words";

/* What is listed. */
struct listing {
    const char *only; /* NULL: everything */
    bool csv;
    struct pdnn_sheet columns, values;
    const struct pdnn_word *told[N_TABLES]; /* the lists of words that `values` has */
    size_t n_told;
};

/* "what limits the roof: compute, memory, overhead" */
static void append_help(struct pdnn_str *out, const struct pdnn_column *column) {
    pdnn_str_printf(out, "%s", column->help);
    for (const struct pdnn_word *word = column->words; word && word->name; word++)
        pdnn_str_printf(out, "%s%s", word == column->words ? ": " : ", ", word->name);
}

static void add_column(struct listing *listing, const char *table, const struct pdnn_column *column) {
    struct pdnn_str help = {0};
    append_help(&help, column);
    pdnn_sheet_cell(&listing->columns, "%s", table);
    pdnn_sheet_cell(&listing->columns, "%s", column->name);
    pdnn_sheet_cell(&listing->columns, "%s", column->unit);
    pdnn_sheet_cell(&listing->columns, "%s", pdnn_column_type_name(column->type));
    pdnn_sheet_cell(&listing->columns, "%s", pdnn_str_text(&help));
    pdnn_str_finish(&help);
}

static void add_value(struct listing *listing, const struct pdnn_column *column,
                      const struct pdnn_word *word) {
    pdnn_sheet_cell(&listing->values, "%s", column->name);
    pdnn_sheet_cell(&listing->values, "%s", word->name);
    if (listing->csv) {
        pdnn_sheet_cell(&listing->values, "%s", word->meaning);
        pdnn_sheet_cell(&listing->values, "%s", word->remedy);
    } else {
        pdnn_sheet_cell(&listing->values, "%s%s%s", word->meaning, *word->remedy ? ". What to do: " : "",
                        word->remedy);
    }
}

/* The column's words, all of them or the one that was asked for; a list that several columns share only once.
 */
static void add_values(struct listing *listing, const struct pdnn_column *column, bool all) {
    for (size_t i = 0; i < listing->n_told; i++)
        if (listing->told[i] == column->words)
            return;
    size_t before = listing->values.n_cells;
    for (const struct pdnn_word *word = column->words; word && word->name; word++)
        if (all || strcmp(word->name, listing->only) == 0)
            add_value(listing, column, word);
    if (listing->values.n_cells > before && listing->n_told < N_TABLES)
        listing->told[listing->n_told++] = column->words;
}

static bool is_table(const char *name) {
    size_t t = 0;
    while (t < N_TABLES && strcmp(tables[t].name, name) != 0)
        t++;
    return t < N_TABLES;
}

/* A name that a table and a column have is the table's. */
static void collect(struct listing *listing, const struct pdnn_columns *results) {
    const char *only = listing->only;
    bool is_column = only && !is_table(only);
    for (size_t t = 0; t < N_TABLES; t++) {
        const struct pdnn_columns *columns = tables[t].columns ? tables[t].columns : results;
        bool whole = !only || strcmp(only, tables[t].name) == 0;
        for (size_t i = 0; i < columns->count; i++) {
            const struct pdnn_column *column = &columns->column[i];
            bool is_listed = whole || (is_column && strcmp(column->name, only) == 0);
            if (is_listed)
                add_column(listing, tables[t].name, column);
            add_values(listing, column, is_listed || (is_column && strcmp(only, all_words) == 0));
        }
    }
}

/* The columns of a key that has another name in files; says which name. */
static void collect_key(struct listing *listing, const struct pdnn_columns *results) {
    const char *column = pdnn_key_column(listing->only);
    char shown[PDNN_VISIBLE_TEXT];
    if (column == listing->only)
        return;
    fprintf(stderr, "the column '%s' is called '%s'\n", pdnn_visible(shown, listing->only), column);
    listing->only = column;
    collect(listing, results);
}

static enum pdnn_status unknown_name(const char *name, const struct pdnn_columns *results,
                                     struct pdnn_err *err) {
    enum { NAMES_MAX = 1024 };
    const char *names[NAMES_MAX];
    struct pdnn_str all = {0};
    size_t count = 0;
    names[count++] = all_words;
    for (size_t t = 0; t < N_TABLES; t++) {
        names[count++] = tables[t].name;
        pdnn_str_printf(&all, "%s%s", t == 0 ? "" : t + 1 < N_TABLES ? ", " : " and ", tables[t].name);
    }
    for (size_t t = 0; t < N_TABLES; t++) {
        const struct pdnn_columns *columns = tables[t].columns ? tables[t].columns : results;
        for (size_t i = 0; i < columns->count; i++) {
            if (count < NAMES_MAX)
                names[count++] = columns->column[i].name;
            for (const struct pdnn_word *word = columns->column[i].words;
                 word && word->name && count < NAMES_MAX; word++)
                names[count++] = word->name;
        }
    }
    const char *nearest = pdnn_nearest_word(name, names, count);
    if (nearest)
        pdnn_fail(err, PDNN_INVALID, "unknown table, column or value '%s', did you mean '%s'?", name,
                  nearest);
    else
        pdnn_fail(err, PDNN_INVALID, "unknown table, column or value '%s', the tables are %s", name,
                  pdnn_str_text(&all));
    pdnn_str_finish(&all);
    return PDNN_INVALID;
}

/* For people the columns and then the values; as CSV one table, the values only if there is nothing else. */
static enum pdnn_status print_listing(const struct listing *listing, struct pdnn_err *err) {
    bool has_columns = listing->columns.n_cells, has_values = listing->values.n_cells;
    enum pdnn_status status = PDNN_OK;
    if (has_columns)
        status = pdnn_sheet_print(&listing->columns, listing->csv, err);
    if (status != PDNN_OK || !has_values || (has_columns && listing->csv))
        return status;
    if (has_columns)
        printf("\n");
    return pdnn_sheet_print(&listing->values, listing->csv, err);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    struct listing listing = {.only = arguments->n_operands ? arguments->operands[0] : NULL,
                              .csv = pdnn_wants_csv(arguments)};
    struct pdnn_arena arena = {0};
    struct pdnn_columns results;
    size_t n_families = 0;
    while (pdnn_families[n_families])
        n_families++;
    pdnn_sheet_init(&listing.columns, table_columns, sizeof table_columns / sizeof table_columns[0]);
    if (listing.csv)
        pdnn_sheet_init(&listing.values, value_columns, sizeof value_columns / sizeof value_columns[0]);
    else
        pdnn_sheet_init(&listing.values, told_columns, sizeof told_columns / sizeof told_columns[0]);
    enum pdnn_status status = pdnn_results_columns(pdnn_families, n_families, false, &arena, &results, err);
    if (status == PDNN_OK)
        collect(&listing, &results);
    if (status == PDNN_OK && !listing.columns.n_cells && !listing.values.n_cells)
        collect_key(&listing, &results);
    if (status == PDNN_OK && !listing.columns.n_cells && !listing.values.n_cells)
        status = unknown_name(listing.only, &results, err);
    if (status == PDNN_OK)
        status = print_listing(&listing, err);
    pdnn_sheet_finish(&listing.columns);
    pdnn_sheet_finish(&listing.values);
    pdnn_arena_finish(&arena);
    return status;
}

static bool word(size_t index, const char **name, const char **help) {
    bool is_table = index < sizeof tables / sizeof *tables;
    *name = is_table ? tables[index].name : NULL;
    *help = "the columns of this table";
    return is_table;
}

const struct pdnn_command_def pdnn_command_columns = {
    .name = "columns",
    .summary = "Explains the columns of the tables and the words in them.",
    .operands = "[NAME]",
    .word = word,
    .max_operands = 1,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
