#include "results/store/tables.h"
#include "results/table/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void pdnn_tables_init(struct pdnn_tables *tables, const struct pdnn_family_def *const *families,
                      size_t n_families) {
    *tables = (struct pdnn_tables){.columns = {0}};
    pdnn_results_columns(families, n_families, false, &tables->arena, &tables->columns);
    pdnn_columns_header(&tables->columns, &tables->results);
    pdnn_columns_header(&pdnn_ops_columns, &tables->ops);
}

void pdnn_tables_add(struct pdnn_tables *tables, const struct pdnn_record *record,
                     const struct pdnn_op_record *ops, size_t n_ops) {
    pdnn_columns_row(&tables->columns, record, &tables->results);
    for (size_t i = 0; i < n_ops; i++)
        pdnn_columns_row(&pdnn_ops_columns, &ops[i], &tables->ops);
}

static enum pdnn_status replace(const struct pdnn_folder *folder, const char *name,
                                const struct pdnn_str *text, struct pdnn_err *err) {
    return pdnn_folder_replace(folder, name, pdnn_str_text(text), text->length, err);
}

enum pdnn_status pdnn_tables_write(const struct pdnn_tables *tables, const struct pdnn_folder *folder,
                                   struct pdnn_err *err) {
    enum pdnn_status status = replace(folder, "results.csv", &tables->results, err);
    return status == PDNN_OK ? replace(folder, "ops.csv", &tables->ops, err) : status;
}

void pdnn_tables_finish(struct pdnn_tables *tables) {
    pdnn_str_finish(&tables->results);
    pdnn_str_finish(&tables->ops);
    pdnn_arena_finish(&tables->arena);
}
