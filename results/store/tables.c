#include "results/store/tables.h"

void pdnn_tables_init(struct pdnn_tables *tables, const struct pdnn_family_def *const *families,
                      size_t n_families) {
    *tables = (struct pdnn_tables){
        .results_writer = {.out = &tables->results_text, .format = PDNN_FORMAT_CSV},
        .ops_writer = {.out = &tables->ops_text, .format = PDNN_FORMAT_CSV},
    };
    const struct pdnn_table_def def = pdnn_results_def(families, n_families, &tables->arena);
    pdnn_table_init(&tables->results, &def);
    pdnn_table_init(&tables->ops, &pdnn_ops_def);
}

void pdnn_tables_flush(struct pdnn_tables *tables) {
    pdnn_table_write(&tables->results_writer, &tables->results, NULL);
    pdnn_table_write(&tables->ops_writer, &tables->ops, NULL);
    pdnn_table_clear(&tables->results);
    pdnn_table_clear(&tables->ops);
}

enum pdnn_status pdnn_tables_write(struct pdnn_tables *tables, const struct pdnn_folder *folder,
                                   struct pdnn_err *err) {
    pdnn_tables_flush(tables);
    pdnn_table_write_end(&tables->results_writer);
    pdnn_table_write_end(&tables->ops_writer);
    enum pdnn_status status = pdnn_folder_replace(folder, "results.csv", tables->results_text.text,
                                                  tables->results_text.length, err);
    return status == PDNN_OK
               ? pdnn_folder_replace(folder, "ops.csv", tables->ops_text.text, tables->ops_text.length, err)
               : status;
}

void pdnn_tables_finish(struct pdnn_tables *tables) {
    pdnn_table_finish(&tables->results);
    pdnn_table_finish(&tables->ops);
    pdnn_str_finish(&tables->results_text);
    pdnn_str_finish(&tables->ops_text);
    pdnn_arena_finish(&tables->arena);
}
