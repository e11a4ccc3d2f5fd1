#include "base/memory.h"
#include "base/str.h"
#include "cli/print/output.h"
#include "cli/print/result_rows.h"
#include "results/query/selection.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char description[] =
    "Prints the rows of result directories: what each model is, its time with half of its 95 % interval, rate, examples a "
    "second, share of its roof and what bounds that, flags and status. On a terminal models are shown by what varies "
    "among them; what they have in common stands above the table. --columns takes any column of results.csv. The rows "
    "of several directories are one table, in which `results` is a key like threads.";

static const struct pdnn_option_def options[] = {
    {"sort", 's', "COLUMN",
     .help = "order the rows by this column, numbers from the greatest, words from the first; COLUMN:up or "
             "COLUMN:down says which way"},
    {"top", 't', "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = INT32_MAX,
     .help = "only the first N rows"},
    PDNN_OPTION_ONLY,
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn results fc.results", "every model with its time and its place"},
    {"paradnn results fc.results --sort pct_of_roof:up --top 10",
     "the ten that are farthest from their roofs"},
    {"paradnn results cnn.results --only resnet50,mode=train --columns batch,examples_per_s --format markdown",
     "for a document: how training scales with the minibatch"},
};

/* COLUMN, COLUMN:up or COLUMN:down. */
static enum pdnn_status sort(const struct pdnn_results *results, const char *text, struct pdnn_row_list *rows,
                             struct pdnn_err *err) {
    const char *colon = strrchr(text, ':');
    char *name = pdnn_strdup(text);
    int column = -1;
    name[colon ? colon - text : (ptrdiff_t)strlen(text)] = 0;
    enum pdnn_status status =
        colon && strcmp(colon, ":up") != 0 && strcmp(colon, ":down") != 0
            ? pdnn_fail(err, PDNN_INVALID, "--sort: '%.40s' is neither :up nor :down", colon)
            : pdnn_results_ask(results, name, false, &column, err);
    if (status == PDNN_OK) {
        const bool is_text = results->table.column[column].def.kind == PDNN_KIND_TEXT;
        const struct pdnn_sort_key key = {(size_t)column, colon ? colon[1] == 'd' : !is_text};
        pdnn_rows_sort(rows, &results->table, &key, 1);
    }
    free(name);
    return status;
}

/* The rows that are asked for, whether or not they ended ok, in the order of the file or that of --sort. */
static enum pdnn_status choose_rows(const struct pdnn_selection *selection,
                                    const struct pdnn_arguments *arguments, struct pdnn_row_list *rows,
                                    struct pdnn_err *err) {
    const char *by = pdnn_argument(arguments, "sort"), *top = pdnn_argument(arguments, "top");
    const size_t count = selection->count + selection->left_out;
    for (size_t i = 0; i < count; i++)
        pdnn_rows_add(rows, selection->row[i]);
    if (by && sort(&selection->results, by, rows, err) != PDNN_OK)
        return err->status;
    const uint64_t most = top ? strtoull(top, NULL, 10) : count;
    rows->count = rows->count < most ? rows->count : (size_t)most;
    return PDNN_OK;
}

/* Keys are called as in results.csv: run_mode, not mode. */
static void name_as_in_files(struct pdnn_results *results) {
    for (int key = results->first_key; key < results->end_key; key++)
        if (key != results->results)
            results->table.column[key].def.name = pdnn_key_column(results->table.column[key].def.name);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_selection selection;
    struct pdnn_row_list rows = {0};
    struct pdnn_str out = {0};
    size_t n_only;
    const char *const *only = pdnn_argument_all(arguments, "only", &n_only);
    if (pdnn_selection_read(&selection, arguments->operands, arguments->n_operands, only, n_only, err) !=
        PDNN_OK)
        return err->status;
    enum pdnn_status status = choose_rows(&selection, arguments, &rows, err);
    if (status == PDNN_OK && pdnn_wants_text(arguments)) {
        pdnn_result_rows_append(&out, &selection, &rows);
        pdnn_text_print(&out, false);
    } else if (status == PDNN_OK) {
        name_as_in_files(&selection.results);
        struct pdnn_table_writer printer = pdnn_table_printer(arguments);
        size_t columns[PDNN_RESULT_ROWS_COLUMNS];
        if (printer.format == PDNN_FORMAT_MARKDOWN && !printer.choice) {
            printer.n_columns = pdnn_result_rows_columns(&selection, &rows, columns);
            printer.columns = columns;
        }
        status = pdnn_table_print_rows(&printer, &selection.results.table, &rows, err);
        pdnn_table_print_end(&printer);
    }
    pdnn_rows_finish(&rows);
    pdnn_selection_close(&selection);
    return status;
}

PDNN_COMMAND(results, PDNN_COMMANDS_FIRST, "RESULTS...", "Prints the rows of a sweep.", .run = run,
             .reads_directories = true);
