#include "results/store/tables.h"

void pdnn_tables_init(struct pdnn_tables *tables, const struct pdnn_family_def *const *families,
                      size_t n_families) {
    *tables = (struct pdnn_tables){.results_text = {0}};
    const struct pdnn_table_def def = pdnn_results_def(families, n_families, &tables->arena);
    pdnn_table_init(&tables->results, &def);
    pdnn_table_init(&tables->ops, &pdnn_ops_def);
}

static void flush(struct pdnn_table *table, struct pdnn_str *text) {
    (text->length ? pdnn_table_csv_rows : pdnn_table_csv)(text, table);
    pdnn_table_clear(table);
}

void pdnn_tables_flush(struct pdnn_tables *tables) {
    flush(&tables->results, &tables->results_text);
    flush(&tables->ops, &tables->ops_text);
}

enum pdnn_status pdnn_tables_write(struct pdnn_tables *tables, const struct pdnn_folder *folder,
                                   struct pdnn_err *err) {
    const struct pdnn_str *results = &tables->results_text, *ops = &tables->ops_text;
    pdnn_tables_flush(tables);
    enum pdnn_status status = pdnn_folder_replace(folder, "results.csv", results->text, results->length, err);
    return status == PDNN_OK ? pdnn_folder_replace(folder, "ops.csv", ops->text, ops->length, err) : status;
}

void pdnn_tables_finish(struct pdnn_tables *tables) {
    pdnn_table_finish(&tables->results);
    pdnn_table_finish(&tables->ops);
    pdnn_str_finish(&tables->results_text);
    pdnn_str_finish(&tables->ops_text);
    pdnn_arena_finish(&tables->arena);
}
