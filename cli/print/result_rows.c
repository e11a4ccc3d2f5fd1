#include "cli/print/result_rows.h"

#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "models/varying.h"

#include <unistd.h>

static bool is_empty(const struct pdnn_table *table, const struct pdnn_row_list *rows, size_t column) {
    for (size_t i = 0; i < rows->count; i++)
        if (!pdnn_table_is_empty(table, rows->at[i], column))
            return false;
    return true;
}

size_t pdnn_result_rows_columns(struct pdnn_selection *selection, const struct pdnn_row_list *rows,
                                size_t columns[PDNN_RESULT_ROWS_COLUMNS]) {
    static const enum pdnn_result_column shown[] = {PDNN_RESULT_TIME_NS_MEDIAN, PDNN_RESULT_CI_HALF_PCT,
                                                    PDNN_RESULT_GFLOPS,         PDNN_RESULT_EXAMPLES_PER_S,
                                                    PDNN_RESULT_PCT_OF_ROOF,    PDNN_RESULT_BOUND,
                                                    PDNN_RESULT_ROW_FLAGS,      PDNN_RESULT_STATUS};
    const struct pdnn_results *results = &selection->results;
    struct pdnn_table *table = &selection->results.table;
    size_t n = 0;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const int column = results->at[shown[i]];
        if (column < 0 || is_empty(table, rows, (size_t)column))
            continue;
        if (shown[i] == PDNN_RESULT_CI_HALF_PCT) {
            table->column[column].def.title = "+-";
            table->column[column].def.show = PDNN_SHOW_PERCENT;
        }
        columns[n++] = (size_t)column;
    }
    if (results->results >= 0)
        columns[n++] = (size_t)results->results;
    columns[n++] = (size_t)selection->id;
    return n;
}

void pdnn_result_rows_append(struct pdnn_str *out, struct pdnn_selection *selection,
                             const struct pdnn_row_list *rows) {
    struct pdnn_table *table = &selection->results.table;
    const size_t id = (size_t)selection->id, n = pdnn_terminal_width(STDOUT_FILENO) ? rows->count : 0;
    struct pdnn_varying varying = {0};
    struct pdnn_instance instance;
    size_t columns[PDNN_RESULT_ROWS_COLUMNS];
    char label[PDNN_ID_TEXT];
    for (size_t i = 0; i < n; i++)
        if (pdnn_instance_parse(pdnn_table_text(table, rows->at[i], id), &instance, NULL) == PDNN_OK)
            pdnn_varying_add(&varying, &instance);
    pdnn_common_append(out, &varying);
    for (size_t i = 0; i < n; i++)
        if (pdnn_instance_parse(pdnn_table_text(table, rows->at[i], id), &instance, NULL) == PDNN_OK)
            pdnn_table_set_text(table, rows->at[i], id, pdnn_varying_label(&varying, &instance, label));
    pdnn_table_show(out, table, rows, columns, pdnn_result_rows_columns(selection, rows, columns));
    pdnn_varying_finish(&varying);
}
