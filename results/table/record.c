#include "results/table/record.h"

#include "results/table/number.h"
#include "runtime/protocol/visit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { CHARS_MOST = 512 }; /* of an array of chars */

static bool is_short(const struct pdnn_column_def *def) {
    return def->kind == PDNN_KIND_COUNT && def->field.size == sizeof(uint32_t);
}

/* What a TEXT cell says of the field. */
static const char *text_of(const struct pdnn_column_def *def, const void *field,
                           char buffer[PDNN_FLAGS_TEXT]) {
    switch (def->field.form) {
    case PDNN_FIELD_BORROWED:
        return *(const char *const *)field ? *(const char *const *)field : "";
    case PDNN_FIELD_TIME:
        return *(const int64_t *)field ? pdnn_utc_format(*(const int64_t *)field, buffer) : "";
    case PDNN_FIELD_WORD:
        return def->words[*(const unsigned *)field].name;
    case PDNN_FIELD_WORD_OR_NONE:
        return *(const unsigned *)field ? def->words[*(const unsigned *)field - 1].name : "";
    case PDNN_FIELD_FLAGS:
        return pdnn_flags_format(*(const unsigned *)field, buffer);
    default:
        return field;
    }
}

/* The reverse. False if the text is not a value of the field, which may have the beginning of it. */
static bool take_text(const struct pdnn_column_def *def, const char *text, void *field) {
    unsigned word = 0;
    switch (def->field.form) {
    case PDNN_FIELD_BORROWED:
        *(const char **)field = text;
        return true;
    case PDNN_FIELD_TIME:
        return !*text || pdnn_utc_parse(text, field);
    case PDNN_FIELD_WORD:
    case PDNN_FIELD_WORD_OR_NONE:
        while (def->words[word].name && strcmp(def->words[word].name, text) != 0)
            word++;
        if (!def->words[word].name)
            return !*text && def->is_optional;
        *(unsigned *)field = word + (def->field.form == PDNN_FIELD_WORD_OR_NONE);
        return true;
    case PDNN_FIELD_FLAGS:
        *(unsigned *)field = pdnn_flags_parse(text);
        return true;
    default:
        snprintf(field, def->field.size, "%s", text);
        return strlen(text) < def->field.size;
    }
}

void pdnn_record_put(struct pdnn_table *table, size_t row, const void *record) {
    char buffer[PDNN_FLAGS_TEXT];
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pdnn_column_def *def = &table->column[c].def;
        const void *field = (const char *)record + def->field.offset;
        if (!def->field.size)
            continue;
        if (def->kind == PDNN_KIND_TEXT)
            pdnn_table_set_text(table, row, c, text_of(def, field, buffer));
        else if (is_short(def))
            pdnn_table_set_count(table, row, c, *(const uint32_t *)field);
        else /* all of these kinds have 64 bits */
            memcpy(&table->column[c].count[row], field, sizeof(uint64_t));
    }
}

void pdnn_record_take(const struct pdnn_table *table, size_t row, bool has_absent, void *record) {
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pdnn_column_def *def = &table->column[c].def;
        void *field = (char *)record + def->field.offset;
        const bool takes_empty =
            def->field.form == PDNN_FIELD_BORROWED ||
            (has_absent && !is_short(def) && (def->kind == PDNN_KIND_COUNT || def->kind == PDNN_KIND_NUMBER));
        if (!def->field.size || (!takes_empty && pdnn_table_is_empty(table, row, c)))
            continue;
        if (def->kind == PDNN_KIND_TEXT)
            take_text(def, pdnn_table_text(table, row, c), field);
        else if (is_short(def))
            *(uint32_t *)field = (uint32_t)pdnn_table_count(table, row, c);
        else
            memcpy(field, &table->column[c].count[row], sizeof(uint64_t));
    }
}

enum pdnn_status pdnn_record_check(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pdnn_column_def *def = &table->column[c].def;
        assert(def->field.size <= CHARS_MOST);
        int64_t ignored[CHARS_MOST / sizeof(int64_t)];
        if ((def->kind == PDNN_KIND_TEXT && def->field.size &&
             !take_text(def, pdnn_table_text(table, row, c), ignored)) ||
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
