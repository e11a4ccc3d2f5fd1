#include "results/compare/beside.h"
#include "base/memory.h"
#include "results/table/rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *pdnn_side_name(size_t side, char name[PDNN_SIDE_TEXT]) {
    size_t length = 0;
    for (size_t rest = side + 1; rest; rest = (rest - 1) / 26)
        length++;
    name[length] = '\0';
    for (size_t rest = side + 1; rest; rest = (rest - 1) / 26)
        name[--length] = (char)('A' + (rest - 1) % 26);
    return name;
}

/* "B saves" of side C is "C saves", and "ratio" "C ratio". */
static const char *title_of(const char *title, const char *side, struct pdnn_arena *arena) {
    const bool is_named = title[0] == 'B' && strchr(" '", title[1]);
    return pdnn_arena_printf(arena, "%s%s%s", side, is_named ? "" : " ", is_named ? title + 1 : title);
}

size_t pdnn_side_column(struct pdnn_table *table, const struct pdnn_column_def *of_b, size_t side, size_t n) {
    struct pdnn_column_def def = *of_b;
    struct pdnn_arena arena = {0};
    char name[PDNN_SIDE_TEXT];
    if (n > 1) {
        pdnn_side_name(side, name);
        def.title = title_of(pdnn_column_title(of_b), name, &arena);
        for (char *letter = name; *letter; letter++)
            *letter = (char)(*letter - 'A' + 'a');
        const bool is_b = of_b->name[0] == 'b' && (of_b->name[1] == '_' || !of_b->name[1]);
        def.name = pdnn_arena_printf(&arena, "%s%s%s", name, is_b ? "" : "_", of_b->name + is_b);
    }
    const size_t column = pdnn_table_add_column(table, &def);
    pdnn_arena_finish(&arena);
    return column;
}

static bool is_in(const size_t *columns, size_t n, size_t column) {
    for (size_t i = 0; i < n; i++)
        if (columns[i] == column)
            return true;
    return false;
}

static bool is_of_base(const struct pdnn_beside *beside, size_t column) {
    return is_in(beside->keys, beside->n_keys, column) || is_in(beside->common, beside->n_common, column);
}

/* Of the columns between two of the base's, all of one side come before the next one's, since an interval is
 * two columns. */
size_t pdnn_beside_column(const struct pdnn_beside *beside, size_t n, size_t column, size_t side) {
    size_t made = 0, first = column, end = column + 1;
    if (is_of_base(beside, column)) {
        for (size_t c = 0; c < column; c++)
            made += is_of_base(beside, c) ? 1 : n;
        return made;
    }
    while (first && !is_of_base(beside, first - 1))
        first--;
    while (end < beside->n_columns && !is_of_base(beside, end))
        end++;
    for (size_t c = 0; c < first; c++)
        made += is_of_base(beside, c) ? 1 : n;
    return made + (side - 1) * (end - first) + column - first;
}

size_t pdnn_beside_columns(const struct pdnn_beside *beside, size_t n, const size_t *columns,
                           size_t n_columns, size_t *made) {
    size_t count = 0;
    for (size_t i = 0, end; i < n_columns; i = end) {
        const bool is_base = is_of_base(beside, columns[i]);
        for (end = i + 1; !is_base && end < n_columns && !is_of_base(beside, columns[end]);)
            end++;
        for (size_t side = 1; side <= (is_base ? 1 : n); side++)
            for (size_t k = i; k < end; k++)
                made[count++] = pdnn_beside_column(beside, n, columns[k], side);
    }
    return count;
}

/* to: by table and column, where it goes. */
static void add_columns(const struct pdnn_table *first, size_t n, const struct pdnn_beside *beside,
                        struct pdnn_table *made, size_t *to) {
    const size_t n_columns = beside->n_columns;
    size_t total = 0;
    for (size_t c = 0; c < n_columns; c++)
        for (size_t t = 0; t < n; t++) {
            const size_t at = to[t * n_columns + c] = pdnn_beside_column(beside, n, c, t + 1);
            total = at + 1 > total ? at + 1 : total;
        }
    for (size_t at = 0; at < total; at++) {
        size_t from = 0;
        while (to[from] != at)
            from++;
        if (is_of_base(beside, from % n_columns))
            pdnn_table_add_column(made, &first->column[from % n_columns].def);
        else
            pdnn_side_column(made, &first->column[from % n_columns].def, from / n_columns + 1, n);
    }
}

/* The row with the keys of this one; a new one is the last. */
static size_t find_row(const struct pdnn_table *table, size_t row, const struct pdnn_beside *beside,
                       struct pdnn_texts *known) {
    struct pdnn_str key = {0};
    for (size_t k = 0; k < beside->n_keys; k++) {
        pdnn_table_append(table, row, beside->keys[k], &key);
        pdnn_str_append(&key, "\n", 1);
    }
    const size_t found = pdnn_texts_add(known, pdnn_str_text(&key));
    pdnn_str_finish(&key);
    return found;
}

/* The columns behind the definition's, which other tables need not have. */
static void copy_further(struct pdnn_table *made, size_t at, const struct pdnn_table *table, size_t row,
                         size_t first) {
    for (size_t c = first; c < table->n_columns; c++) {
        const size_t known = pdnn_table_find(made, table->column[c].def.name);
        if (known == SIZE_MAX && made->n_columns == PDNN_TABLE_COLUMNS_MAX)
            continue;
        const size_t to = known == SIZE_MAX ? pdnn_table_add_column(made, &table->column[c].def) : known;
        pdnn_table_copy_cell(made, at, to, table, row, c);
    }
}

void pdnn_tables_beside(const struct pdnn_table *const *tables, size_t n, const struct pdnn_beside *beside,
                        struct pdnn_table *made) {
    size_t *to = pdnn_alloc(n * beside->n_columns, sizeof *to);
    struct pdnn_texts known = {0};
    pdnn_table_init(made, &(struct pdnn_table_def){.name = tables[0]->name, .help = tables[0]->help});
    add_columns(tables[0], n, beside, made, to);
    for (size_t t = 0; t < n; t++)
        for (size_t row = 0; row < tables[t]->n_rows; row++) {
            const size_t at = find_row(tables[t], row, beside, &known);
            const bool is_new = at == made->n_rows;
            if (is_new)
                pdnn_table_add_row(made);
            for (size_t c = 0; c < beside->n_columns; c++)
                if (is_new || !is_of_base(beside, c))
                    pdnn_table_copy_cell(made, at, to[t * beside->n_columns + c], tables[t], row, c);
            if (is_new)
                copy_further(made, at, tables[t], row, beside->n_columns);
        }
    for (size_t c = beside->n_columns; c < tables[0]->n_columns; c++) /* also without rows */
        if (pdnn_table_find(made, tables[0]->column[c].def.name) == SIZE_MAX)
            pdnn_table_add_column(made, &tables[0]->column[c].def);
    pdnn_texts_finish(&known);
    free(to);
}
