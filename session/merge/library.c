/* operators.csv of the merged directory: the rows of all sources' libraries, each once. */
#include "results/store/library.h"
#include "results/table/write.h"
#include "session/merge/job.h"

/* Appends the table without rows that were copied: those are alike in all columns. */
static void append_distinct(const struct pdnn_table *table, struct pdnn_str *text) {
    struct pdnn_table_writer writer = {.out = text, .format = PDNN_FORMAT_CSV};
    struct pdnn_row_list distinct = {0};
    size_t keys[PDNN_LIBRARY_COLUMNS];
    for (size_t i = 0; i < PDNN_LIBRARY_COLUMNS; i++)
        keys[i] = i;
    struct pdnn_groups alike = pdnn_groups_make(table, NULL, keys, PDNN_LIBRARY_COLUMNS);
    for (size_t i = 0; i < alike.count; i++)
        pdnn_rows_add(&distinct, alike.group[i].at[0]);
    pdnn_table_write(&writer, table, &distinct);
    pdnn_table_write_end(&writer);
    pdnn_rows_finish(&distinct);
    pdnn_groups_finish(&alike);
}

enum pdnn_status pdnn_merge_write_library(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_table joined, table;
    struct pdnn_str text = {0};
    enum pdnn_status status = PDNN_OK;
    bool there;
    pdnn_table_init(&joined, &pdnn_library_def);
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        status = pdnn_library_read(job->source[i].path, &there, &table, err);
        for (size_t row = 0; row < table.n_rows; row++)
            pdnn_table_copy_row(&joined, &table, row);
        pdnn_table_finish(&table);
    }
    append_distinct(&joined, &text);
    if (status == PDNN_OK && joined.n_rows)
        status = pdnn_folder_replace(&job->output, "operators.csv", text.text, text.length, err);
    pdnn_str_finish(&text);
    pdnn_table_finish(&joined);
    return status;
}
