#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "base/visible.h"
#include "gen/source.h"
#include "results/query/results.h"
#include "results/store/results.h"

#include <stdio.h>
#include <string.h>

static const char description[] =
    "Lists the columns of the tables in a result directory and of those that analyses print as CSV, in order, all of "
    "them or those of one TABLE, which 'tables' lists; a COLUMN, in every table that has it; a MODEL, the columns of its parameters; or 'brief', for the columns that --columns brief leaves. An empty field means not available.\n\n"
    "Statuses, stop reasons, bounds and flags are explained below the columns that hold them, with what to do about "
    "each. WORD is one of them; 'words' lists all of them, as CSV too.";

static const struct pdnn_option_def options[] = {PDNN_OPTIONS_TABLE};

static const struct pdnn_help_row examples[] = {
    {"paradnn columns results", "what each column of results.csv means"},
    {"paradnn columns pct_of_roof", "the same of one column"},
    {"paradnn columns ./mynet.yaml", "the columns that a family's parameters have"},
    {"paradnn columns noisy", "what this flag says, and what to do about it"},
};

static const struct pdnn_column_def column_columns[] = {
    {"table", .align = PDNN_ALIGN_GROUP, .help = "the table that has the column"},
    {"column", .help = "its name in files"},
    {"unit", .rank = 2, .help = "of its values"},
    {"type", .rank = 1, .help = "text, count, integer or number"},
    {"help", .align = PDNN_ALIGN_WRAP, .help = "what it means"},
};
static const struct pdnn_table_def columns_def = {"columns", "the columns of tables", column_columns, 5};

/* People see the remedy behind the meaning. */
static const struct pdnn_column_def value_columns[] = {
    {"column", .align = PDNN_ALIGN_GROUP, .help = "the column that holds it"},
    {"value", .help = "the word"},
    {"meaning", "meaning, and what to do", .align = PDNN_ALIGN_WRAP, .help = "what it says"},
    {"remedy", .show = PDNN_SHOW_NEVER, .help = "what to do about it"},
};
static const struct pdnn_table_def values_def = {"words", "the words in tables", value_columns, 4};

static const struct pdnn_column_def table_columns[] = {
    {"table", .help = "its name"},
    {"place", .help = "file: NAME.csv of a result directory; printed: by a command"},
    {"help", .align = PDNN_ALIGN_WRAP, .help = "what it has"},
};
static const struct pdnn_table_def tables_def = {"tables", "the tables", table_columns, 3};

static const char all_tables[] = "tables", all_words[] = "words", all_brief[] = "brief";

/* What is listed. */
struct listing {
    const char *only; /* NULL: everything */
    bool for_people;
    struct pdnn_table_def def[PDNN_TABLE_DEFS];
    struct pdnn_table columns, values;
};

static void add_column(struct listing *listing, const char *table, const struct pdnn_column_def *column) {
    struct pdnn_str help = {0};
    pdnn_str_printf(&help, "%s", column->help);
    for (const struct pdnn_word *word = column->words; word && word->name; word++)
        pdnn_str_printf(&help, "%s%s", word == column->words ? ": " : ", ", word->name);
    const char *const texts[] = {table, column->name, column->unit, pdnn_kind_name(column->kind),
                                 pdnn_str_text(&help)};
    pdnn_table_add_texts(&listing->columns, 5, texts);
    pdnn_str_finish(&help);
}

/* A word that several columns share is told once. */
static void add_value(struct listing *listing, const char *column, const struct pdnn_word *word) {
    struct pdnn_str told = {0};
    pdnn_str_printf(&told, "%s%s%s", word->meaning, *word->remedy ? ". What to do: " : "", word->remedy);
    const char *meaning = listing->for_people ? pdnn_str_text(&told) : word->meaning;
    const char *const texts[] = {column, word->name, meaning, word->remedy};
    size_t row = 0;
    while (row < listing->values.n_rows &&
           (strcmp(pdnn_table_text(&listing->values, row, 1), word->name) != 0 ||
            strcmp(pdnn_table_text(&listing->values, row, 2), meaning) != 0))
        row++;
    if (row == listing->values.n_rows)
        pdnn_table_add_texts(&listing->values, 4, texts);
    pdnn_str_finish(&told);
}

/* A name that a table and a column have is the table's. */
static void collect(struct listing *listing) {
    const char *only = listing->only;
    bool is_column = only;
    for (size_t t = 0; t < PDNN_TABLE_DEFS; t++)
        is_column = is_column && strcmp(pdnn_table_defs[t]->name, only) != 0;
    for (size_t t = 0; t < PDNN_TABLE_DEFS; t++) {
        const struct pdnn_table_def *def = &listing->def[t];
        const bool whole = !only || strcmp(only, def->name) == 0;
        for (size_t i = 0; i < def->count; i++) {
            const struct pdnn_column_def *column = &def->column[i];
            bool is_listed =
                whole || (is_column && (strcmp(column->name, only) == 0 ||
                                        (strcmp(only, all_brief) == 0 && column->show != PDNN_SHOW_NEVER)));
            if (is_listed)
                add_column(listing, def->name, column);
            for (const struct pdnn_word *word = column->words; word && word->name; word++)
                if (is_listed ||
                    (is_column && (strcmp(only, all_words) == 0 || strcmp(only, word->name) == 0)))
                    add_value(listing, column->name, word);
        }
    }
}

/* The columns of results.csv that the hyper-parameters of a family have, if the name is a model's or that of
 * a family's file. */
static void collect_model(struct listing *listing) {
    struct pdnn_arena arena = {0};
    struct pdnn_yaml_count count = {0};
    struct pdnn_source source = {0};
    if (pdnn_source_is(listing->only) &&
        pdnn_source_read(listing->only, &count, &source, &arena, NULL) == PDNN_OK && source.family) {
        const struct pdnn_table_def def = pdnn_results_def(&source.family, 1, &arena);
        for (size_t i = 0; i < def.count; i++)
            for (size_t k = 0; k < source.family->n_params; k++)
                if (strcmp(def.column[i].name, pdnn_param_column(&source.family->params[k])) == 0)
                    add_column(listing, def.name, &def.column[i]);
    }
    pdnn_arena_finish(&arena);
}

static enum pdnn_status unknown_name(const struct listing *listing, struct pdnn_err *err) {
    struct pdnn_texts names = {0};
    char buffer[PDNN_SUGGESTION_TEXT];
    pdnn_texts_add(&names, all_words);
    pdnn_texts_add(&names, all_tables);
    pdnn_texts_add(&names, all_brief);
    for (size_t t = 0; t < PDNN_TABLE_DEFS; t++) {
        const struct pdnn_table_def *def = &listing->def[t];
        pdnn_texts_add(&names, def->name);
        for (size_t i = 0; i < def->count; i++) {
            pdnn_texts_add(&names, def->column[i].name);
            for (const struct pdnn_word *word = def->column[i].words; word && word->name; word++)
                pdnn_texts_add(&names, word->name);
        }
    }
    const char *hint = pdnn_param_suggest(buffer, listing->only, names.text, names.count);
    pdnn_texts_finish(&names);
    return pdnn_fail(err, PDNN_INVALID, "unknown table, column or value '%s'%s", listing->only,
                     *hint ? hint : "; 'paradnn columns tables' lists the tables");
}

/* For people the columns and then the values; for programs one table, values only if there is no other. */
static enum pdnn_status print_listing(struct listing *listing, const struct pdnn_arguments *arguments,
                                      struct pdnn_err *err) {
    const bool has_columns = listing->columns.n_rows;
    if (has_columns && pdnn_table_print_prose(&listing->columns, arguments, err) != PDNN_OK)
        return err->status;
    if (!listing->values.n_rows || (has_columns && !listing->for_people))
        return PDNN_OK;
    if (has_columns)
        printf("\n");
    return pdnn_table_print_prose(&listing->values, arguments, err);
}

static enum pdnn_status print_tables(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_table table;
    pdnn_table_init(&table, &tables_def);
    for (size_t t = 0; t < PDNN_TABLE_DEFS; t++) {
        const struct pdnn_table_def *def = pdnn_table_defs[t];
        const char *const texts[] = {def->name, t < PDNN_TABLE_FILES ? "file" : "printed", def->help};
        pdnn_table_add_texts(&table, 3, texts);
    }
    return pdnn_table_print_prose(&table, arguments, err);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    if (arguments->n_operands && strcmp(arguments->operands[0], all_tables) == 0)
        return print_tables(arguments, err);
    struct listing listing = {.only = *arguments->operands, .for_people = pdnn_wants_text(arguments)};
    struct pdnn_arena arena = {0};
    char shown[PDNN_VISIBLE_TEXT];
    pdnn_table_init(&listing.columns, &columns_def);
    pdnn_table_init(&listing.values, &values_def);
    const struct pdnn_table_def results = pdnn_results_def(NULL, 0, &arena);
    enum pdnn_status status = PDNN_OK;
    for (size_t t = 0; t < PDNN_TABLE_DEFS; t++)
        listing.def[t] = t ? *pdnn_table_defs[t] : results;
    collect(&listing);
    const char *column = listing.only ? pdnn_key_column(listing.only) : NULL;
    if (!listing.columns.n_rows && !listing.values.n_rows && column != listing.only) {
        fprintf(stderr, "the column '%s' is called '%s'\n", pdnn_visible(shown, listing.only), column);
        listing.only = column;
        collect(&listing);
    }
    if (!listing.columns.n_rows && !listing.values.n_rows)
        collect_model(&listing);
    if (!listing.columns.n_rows && !listing.values.n_rows)
        status = unknown_name(&listing, err);
    if (status == PDNN_OK)
        status = print_listing(&listing, arguments, err);
    pdnn_table_finish(&listing.columns);
    pdnn_table_finish(&listing.values);
    pdnn_arena_finish(&arena);
    return status;
}

PDNN_COMMAND(columns, PDNN_COMMANDS_EXPLAIN, "[TABLE|COLUMN|MODEL|WORD]",
             "Explains the columns of the tables and the words in them.", .run = run);
