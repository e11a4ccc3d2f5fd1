#include "results/table/record.h"

#include <stdio.h>
#include <string.h>

static bool is_short(const struct pdnn_column_def *def) {
    return def->kind == PDNN_KIND_COUNT && def->field.size == sizeof(uint32_t);
}

void pdnn_record_put(struct pdnn_table *table, size_t row, const void *record) {
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pdnn_column_def *def = &table->column[c].def;
        const void *field = (const char *)record + def->field.offset;
        if (!def->field.size)
            continue;
        if (def->kind == PDNN_KIND_TEXT)
            pdnn_table_set_text(table, row, c, def->field.is_pointer ? *(const char *const *)field : field);
        else if (is_short(def))
            pdnn_table_set_count(table, row, c, *(const uint32_t *)field);
        else /* all of these kinds have 64 bits */
            memcpy(&table->column[c].count[row], field, sizeof(uint64_t));
    }
}

void pdnn_record_take(const struct pdnn_table *table, size_t row, void *record) {
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pdnn_column_def *def = &table->column[c].def;
        void *field = (char *)record + def->field.offset;
        if (!def->field.size || (!def->field.is_pointer && pdnn_table_is_empty(table, row, c)))
            continue;
        if (def->field.is_pointer)
            *(const char **)field = pdnn_table_text(table, row, c);
        else if (def->kind == PDNN_KIND_TEXT)
            snprintf(field, def->field.size, "%s", pdnn_table_text(table, row, c));
        else if (is_short(def))
            *(uint32_t *)field = (uint32_t)pdnn_table_count(table, row, c);
        else
            memcpy(field, &table->column[c].count[row], sizeof(uint64_t));
    }
}

enum pdnn_status pdnn_record_check(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pdnn_column_def *def = &table->column[c].def;
        bool is_array = def->kind == PDNN_KIND_TEXT && def->field.size && !def->field.is_pointer;
        if ((is_array && strlen(pdnn_table_text(table, row, c)) >= def->field.size) ||
            (is_short(def) && pdnn_table_count(table, row, c) > UINT32_MAX))
            return pdnn_table_refuse(table, row, c, err);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_table_refuse(const struct pdnn_table *table, size_t row, size_t column,
                                   struct pdnn_err *err) {
    struct pdnn_str cell = {0};
    pdnn_table_append(table, row, column, &cell);
    pdnn_fail(err, PDNN_INVALID, "'%.40s' is not a value for column '%s'", pdnn_str_text(&cell),
              table->column[column].def.name);
    pdnn_str_finish(&cell);
    return PDNN_INVALID;
}
