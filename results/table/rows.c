#define _GNU_SOURCE /* qsort_r */
#include "results/table/rows.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void pdnn_rows_finish(struct pdnn_row_list *rows) {
    free(rows->at);
    *rows = (struct pdnn_row_list){0};
}

void pdnn_rows_add(struct pdnn_row_list *rows, size_t row) {
    rows->at = pdnn_grow(rows->at, &rows->room, rows->count, sizeof *rows->at);
    rows->at[rows->count++] = row;
}

struct pdnn_row_list pdnn_rows_all(const struct pdnn_table *table) {
    struct pdnn_row_list rows = {.at = pdnn_alloc(table->n_rows, sizeof *rows.at), .room = table->n_rows};
    for (; rows.count < table->n_rows; rows.count++)
        rows.at[rows.count] = rows.count;
    return rows;
}

struct order {
    const struct pdnn_table *table;
    const struct pdnn_sort_key *keys;
    size_t n_keys;
};

/* Where a row of the list is. */
struct place {
    size_t row, at;
};

static int compare(const void *left, const void *right, void *user) {
    const struct order *order = user;
    const struct place *a = left, *b = right;
    for (size_t i = 0; i < order->n_keys; i++) {
        const struct pdnn_sort_key *key = &order->keys[i];
        int sign = pdnn_table_compare(order->table, key->column, a->row, b->row);
        if (key->is_descending && !pdnn_table_is_empty(order->table, a->row, key->column) &&
            !pdnn_table_is_empty(order->table, b->row, key->column))
            sign = -sign;
        if (sign)
            return sign;
    }
    return (a->at > b->at) - (a->at < b->at);
}

void pdnn_rows_sort(struct pdnn_row_list *rows, const struct pdnn_table *table,
                    const struct pdnn_sort_key *keys, size_t n_keys) {
    struct order order = {table, keys, n_keys};
    struct place *places = pdnn_alloc(rows->count, sizeof *places);
    for (size_t i = 0; i < rows->count; i++)
        places[i] = (struct place){rows->at[i], i};
    qsort_r(places, rows->count, sizeof *places, compare, &order);
    for (size_t i = 0; i < rows->count; i++)
        rows->at[i] = places[i].row;
    free(places);
}

/* The cells of the keys as one text: each with its length behind it, so that no two lists give the same. */
static void append_key(struct pdnn_str *text, const struct pdnn_table *table, size_t row, const size_t *keys,
                       size_t n_keys) {
    pdnn_str_clear(text);
    for (size_t i = 0; i < n_keys; i++) {
        const size_t start = text->length;
        pdnn_table_append(table, row, keys[i], text);
        pdnn_str_append(text, ":", 1);
        pdnn_str_append_u64(text, text->length - start);
        pdnn_str_append(text, ":", 1);
    }
}

struct pdnn_groups pdnn_groups_make(const struct pdnn_table *table, const struct pdnn_row_list *rows,
                                    const size_t *keys, size_t n_keys) {
    struct pdnn_groups groups = {0};
    struct pdnn_texts texts = {0};
    struct pdnn_str key = {0};
    size_t count = rows ? rows->count : table->n_rows;
    for (size_t i = 0; i < count; i++) {
        const size_t row = rows ? rows->at[i] : i;
        append_key(&key, table, row, keys, n_keys);
        size_t group = pdnn_texts_add(&texts, pdnn_str_text(&key));
        if (group == groups.count) {
            groups.group = pdnn_grow(groups.group, &groups.room, groups.count, sizeof *groups.group);
            groups.group[groups.count++] = (struct pdnn_row_list){0};
        }
        pdnn_rows_add(&groups.group[group], row);
    }
    pdnn_str_finish(&key);
    pdnn_texts_finish(&texts);
    return groups;
}

void pdnn_groups_finish(struct pdnn_groups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        pdnn_rows_finish(&groups->group[i]);
    free(groups->group);
    *groups = (struct pdnn_groups){0};
}

void pdnn_table_copy_cell(struct pdnn_table *to, size_t to_row, size_t to_column,
                          const struct pdnn_table *from, size_t row, size_t column) {
    const struct pdnn_cells *cells = &from->column[column];
    struct pdnn_cells *target = &to->column[to_column];
    assert(cells->def.kind == target->def.kind);
    if (cells->def.kind == PDNN_KIND_TEXT)
        pdnn_table_set_text(to, to_row, to_column, pdnn_table_text(from, row, column));
    else
        target->count[to_row] = cells->count[row]; /* all of these kinds have 64 bits */
}

/* Mostly the columns of both have the same order. */
size_t pdnn_table_copy_row(struct pdnn_table *to, const struct pdnn_table *from, size_t row) {
    size_t made = pdnn_table_add_row(to), next = 0;
    for (size_t i = 0; i < to->n_columns; i++) {
        const char *name = to->column[i].def.name;
        const bool is_next = next < from->n_columns && strcmp(from->column[next].def.name, name) == 0;
        const size_t column = is_next ? next : pdnn_table_find(from, name);
        if (column == SIZE_MAX)
            continue;
        pdnn_table_copy_cell(to, made, i, from, row, column);
        next = column + 1;
    }
    return made;
}

/* The column that a row's cell goes to, made for the first such row; SIZE_MAX if there is none. */
static size_t column_across(const struct pdnn_table *table, const struct pdnn_pivot *pivot, size_t row,
                            struct pdnn_table *made) {
    struct pdnn_str name = {0};
    struct pdnn_column_def def = table->column[pivot->value].def;
    pdnn_table_append(table, row, pivot->across, &name);
    def.name = pdnn_str_text(&name);
    def.title = NULL;
    size_t column = name.length ? pdnn_table_find(made, def.name) : SIZE_MAX;
    if (column != SIZE_MAX && column < pivot->n_keys) /* a value that is called as a key is */
        column = SIZE_MAX;
    else if (column == SIZE_MAX && name.length && made->n_columns < PDNN_TABLE_COLUMNS_MAX)
        column = pdnn_table_add_column(made, &def);
    pdnn_str_finish(&name);
    return column;
}

void pdnn_table_pivot(const struct pdnn_table *table, const struct pdnn_pivot *pivot,
                      struct pdnn_table *made) {
    const struct pdnn_table_def empty = {.name = table->name, .help = table->help};
    struct pdnn_groups groups = pdnn_groups_make(table, NULL, pivot->keys, pivot->n_keys);
    pdnn_table_init(made, &empty);
    for (size_t i = 0; i < pivot->n_keys; i++)
        pdnn_table_add_column(made, &table->column[pivot->keys[i]].def);
    for (size_t row = 0; row < table->n_rows; row++)
        column_across(table, pivot, row, made);
    for (size_t g = 0; g < groups.count; g++) {
        const struct pdnn_row_list *rows = &groups.group[g];
        size_t target = pdnn_table_add_row(made);
        for (size_t c = 0; c < pivot->n_keys; c++)
            pdnn_table_copy_cell(made, target, c, table, rows->at[0], pivot->keys[c]);
        for (size_t i = 0; i < rows->count; i++) {
            size_t column = column_across(table, pivot, rows->at[i], made);
            if (column != SIZE_MAX && pdnn_table_is_empty(made, target, column))
                pdnn_table_copy_cell(made, target, column, table, rows->at[i], pivot->value);
        }
    }
    pdnn_groups_finish(&groups);
}
