/* Short names of models: only what varies within their family. */
#include "results/query/rows.h"

#include <string.h>

/* The family and the source, which have names of their own, come first. */
static size_t first_key(const struct pdnn_report_rows *rows) {
    return rows->n_sources > 1 ? 2 : 1;
}

void pdnn_report_labels_find(struct pdnn_report_rows *rows) {
    const struct pdnn_report_axis *families = &rows->axis[0];
    size_t *first = pdnn_arena_alloc(&rows->arena, families->n_values + 1, sizeof *first);
    rows->varies =
        pdnn_arena_alloc(&rows->arena, families->n_values * rows->n_axes + 1, sizeof *rows->varies);
    for (size_t r = rows->n_rows; r-- > 0;)
        first[families->of_row[r]] = r;
    for (size_t r = 0; r < rows->n_rows; r++) {
        size_t family = families->of_row[r];
        for (size_t k = first_key(rows); k < rows->n_axes; k++)
            rows->varies[family * rows->n_axes + k] |=
                rows->axis[k].of_row[r] != rows->axis[k].of_row[first[family]];
    }
}

void pdnn_report_label(const struct pdnn_report_rows *rows, size_t row, struct pdnn_str *out) {
    size_t family = rows->axis[0].of_row[row], named = 0;
    bool has_families = rows->axis[0].n_values > 1;
    if (has_families)
        pdnn_str_printf(out, "%s", rows->axis[0].value[family]);
    for (size_t k = first_key(rows); k < rows->n_axes; k++) {
        const char *value = rows->axis[k].value[rows->axis[k].of_row[row]];
        if (rows->varies[family * rows->n_axes + k] && *value)
            pdnn_str_printf(out, "%s%s=%s", named++ || has_families ? " " : "", rows->axis[k].name, value);
    }
    if (!named && !has_families)
        pdnn_str_printf(out, "%s", rows->row[row].id);
}

static bool has_part(const char *id, const char *part, size_t length) {
    for (const char *at = strpbrk(id, "/,"); at; at = strpbrk(at + 1, ",")) {
        if (strncmp(at + 1, part, length) == 0 && (at[1 + length] == ',' || !at[1 + length]))
            return true;
    }
    return false;
}

void pdnn_report_shared(const struct pdnn_report_rows *rows, size_t family, struct pdnn_str *out) {
    const size_t *of_row = rows->axis[0].of_row;
    size_t first = 0, n_parts = 0;
    while (first < rows->n_rows && of_row[first] != family)
        first++;
    const char *at = first < rows->n_rows ? strchr(rows->row[first].id, '/') : NULL;
    for (size_t length; at && *at; at += 1 + length) {
        length = strcspn(at + 1, ",");
        size_t r = first;
        while (r < rows->n_rows && (of_row[r] != family || has_part(rows->row[r].id, at + 1, length)))
            r++;
        if (r == rows->n_rows && length)
            pdnn_str_printf(out, "%s%.*s", n_parts++ ? ", " : "", (int)length, at + 1);
    }
}
