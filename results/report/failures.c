/* What did not run, by status and by reason, most frequent first. Reasons that differ only in numbers ("needs
 * 5 GiB", "needs 9 GiB") are one: each sweep that runs out of memory would have as many reasons as models. */
#include "base/texts.h"
#include "results/report/page.h"

#include <ctype.h>
#include <string.h>

enum { MODELS_SHOWN = 5, REASONS_SHOWN = 20 };

enum { MODELS, STATUS, REASON, WHICH, N_COLUMNS };
static const struct pdnn_column_def columns[N_COLUMNS] = {
    [MODELS] = {"models", NULL, NULL, PDNN_KIND_COUNT, .help = "models with this reason"},
    [STATUS] = {"status", .help = "how they ended"},
    [REASON] = {"reason", .help = "why, with N for numbers unless all have the same"},
    [WHICH] = {"which", "the first of them", .help = "names of the first of them"},
};
static const struct pdnn_table_def def = {"failures", "models without a time", columns, N_COLUMNS};

/* The length of the number that begins here: 12, 1,024, 5.25, 1e+09; 0 if none does. */
static size_t number_length(const char *text) {
    size_t length = isdigit((unsigned char)*text) ? strspn(text, "0123456789.,e+-") : 0;
    while (length && !isdigit((unsigned char)text[length - 1]))
        length--;
    return length;
}

/* "needs 5.2 GiB of f32" becomes "needs N GiB of f32": digits within a word are part of a name. */
static void mask_numbers(struct pdnn_str *out, const char *text) {
    for (const char *at = text; *at;) {
        bool in_word = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        size_t length = in_word ? 0 : number_length(at);
        pdnn_str_append(out, length ? "N" : at, 1);
        at += length ? length : 1;
    }
}

/* The model joins the row of its status and reason. */
static void add_failure(struct pdnn_table *table, struct pdnn_texts *keys,
                        const struct pdnn_report_page *page, size_t at) {
    const struct pdnn_selection *rows = &page->all;
    const char *status = pdnn_selection_word(rows, at, PDNN_RESULT_STATUS),
               *reason = pdnn_selection_word(rows, at, PDNN_RESULT_REASON);
    struct pdnn_str key = {0};
    pdnn_str_printf(&key, "%s\n", status);
    mask_numbers(&key, reason);
    const size_t row = pdnn_texts_add(keys, pdnn_str_text(&key));
    if (row == table->n_rows) {
        pdnn_table_add_row(table);
        pdnn_table_set_count(table, row, MODELS, 0);
        pdnn_table_set_text(table, row, STATUS, status);
        pdnn_table_set_text(table, row, REASON, reason);
    }
    if (strcmp(pdnn_table_text(table, row, REASON), reason) != 0)
        pdnn_table_set_text(table, row, REASON, strchr(keys->text[row], '\n') + 1);
    const uint64_t n = pdnn_table_count(table, row, MODELS);
    if (n < MODELS_SHOWN)
        pdnn_table_set_text(table, row, WHICH,
                            pdnn_arena_printf(&table->names, "%s%s%s", pdnn_table_text(table, row, WHICH),
                                              n ? "; " : "", page->name[rows->row[at]]));
    pdnn_table_set_count(table, row, MODELS, n + 1);
    pdnn_str_finish(&key);
}

/* Most frequent first; the tables' order where equal. */
static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    struct pdnn_texts keys = {0};
    struct pdnn_table table;
    pdnn_table_init(&table, &def);
    for (size_t at = 0; at < page->all.count; at++)
        if (!pdnn_selection_is_ok(&page->all, at))
            add_failure(&table, &keys, page, at);
    struct pdnn_row_list rows = pdnn_rows_all(&table);
    pdnn_rows_sort(&rows, &table, &(struct pdnn_sort_key){MODELS, true}, 1);
    const size_t n_reasons = rows.count;
    rows.count = n_reasons < REASONS_SHOWN ? n_reasons : REASONS_SHOWN;
    pdnn_html_put_table(out, &table, &rows, NULL, 0,
                        "Models without a time, by status and reason; N stands for numbers that differ. "
                        "%zu of %zu reasons.",
                        rows.count, n_reasons);
    pdnn_rows_finish(&rows);
    pdnn_table_finish(&table);
    pdnn_texts_finish(&keys);
}

const struct pdnn_report_section pdnn_section_failures = {.title = "What did not run", .put = put};
