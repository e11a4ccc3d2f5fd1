#define _POSIX_C_SOURCE 200809L /* stat */
#include "results/query/several.h"
#include "base/memory.h"
#include "results/query/results_reader.h"
#include "results/store/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *pdnn_directory_name(const char *directory, int *length) {
    size_t end = strlen(directory);
    while (end > 1 && directory[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && directory[start - 1] != '/')
        start--;
    *length = (int)(end - start);
    return directory + start;
}

static bool same_name(const char *a, const char *b) {
    int length[2];
    a = pdnn_directory_name(a, &length[0]);
    b = pdnn_directory_name(b, &length[1]);
    return length[0] == length[1] && memcmp(a, b, (size_t)length[0]) == 0;
}

bool pdnn_same_directory(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Where a column stands in its own table, which the merged one keeps. */
enum section { BEFORE_KEYS, KEYS, AFTER_KEYS, SECTIONS };

/* The merged table while it is made. */
struct merge {
    const char *const *directory;
    size_t n;
    struct pdnn_arena *arena;
    struct pdnn_several *several;
    const char *name[PDNN_CSV_COLUMNS_MAX]; /* of the columns, by section */
    size_t n_names;
    const char **shown; /* by directory: its value of `results` */
};

static enum pdnn_status read_part(struct merge *m, size_t part, struct pdnn_err *err) {
    for (size_t other = 0; other < part; other++) {
        if (pdnn_same_directory(m->directory[part], m->directory[other]))
            return pdnn_fail(err, PDNN_INVALID, "%s: named twice", m->directory[part]);
    }
    struct pdnn_csv *csv = &m->several->part[part];
    if (pdnn_results_read(m->directory[part], csv, m->arena, err) != PDNN_OK)
        return err->status;
    m->several->n_parts++;
    m->several->table.n_rows += csv->n_rows;
    return PDNN_OK;
}

/* Its own name, or the path where two directories have the same name. */
static void name_directories(struct merge *m) {
    m->shown = pdnn_arena_alloc(m->arena, m->n, sizeof *m->shown);
    for (size_t i = 0; i < m->n; i++) {
        bool unique = true;
        int length;
        const char *name = pdnn_directory_name(m->directory[i], &length);
        for (size_t k = 0; k < m->n; k++)
            unique = unique && (k == i || !same_name(m->directory[i], m->directory[k]));
        m->shown[i] = unique ? pdnn_arena_printf(m->arena, "%.*s", length, name)
                             : pdnn_arena_strdup(m->arena, m->directory[i]);
    }
}

static enum section section_of(const struct pdnn_csv *csv, size_t column) {
    return column <= (size_t)pdnn_csv_find(csv, "family")  ? BEFORE_KEYS
           : column < (size_t)pdnn_csv_find(csv, "status") ? KEYS
                                                           : AFTER_KEYS;
}

static bool add_name(struct merge *m, const char *name) {
    for (size_t i = 0; i < m->n_names; i++) {
        if (strcmp(m->name[i], name) == 0)
            return true;
    }
    if (m->n_names == PDNN_CSV_COLUMNS_MAX)
        return false;
    m->name[m->n_names++] = name;
    return true;
}

static enum pdnn_status merge_headers(struct merge *m, struct pdnn_err *err) {
    bool good = true;
    for (enum section section = 0; section < SECTIONS; section++) {
        if (section == AFTER_KEYS)
            good = add_name(m, PDNN_SEVERAL_RESULTS) && add_name(m, PDNN_SEVERAL_VERSION) && good;
        for (size_t part = 0; part < m->n; part++) {
            const struct pdnn_csv *csv = &m->several->part[part];
            for (size_t i = 0; i < csv->n_columns; i++) {
                if (section_of(csv, i) == section)
                    good = add_name(m, csv->header[i]) && good;
            }
        }
    }
    return good ? PDNN_OK
                : pdnn_fail(err, PDNN_INVALID, "these tables have more than %d columns together",
                            PDNN_CSV_COLUMNS_MAX);
}

/* The version of a backend in a directory: the name and number that environment.yaml begins with, or the
 * software that was imported. In the arena. */
static const char *version_of(struct merge *m, size_t part, const char *backend) {
    struct pdnn_str text = {0};
    char key[64];
    snprintf(key, sizeof key, "backend_%.40s", backend);
    pdnn_environment_get(m->directory[part], "software", &text);
    if (!text.length) {
        pdnn_environment_get(m->directory[part], key, &text);
        const char *value = pdnn_str_text(&text);
        size_t length = strcspn(value, " ");
        if (value[length] && value[length + 1] != '(')
            length += 1 + strcspn(value + length + 1, " ");
        if (text.length)
            text.text[length] = 0;
    }
    const char *kept = pdnn_arena_strdup(m->arena, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return kept;
}

/* The cells of one directory's rows from `row` on. Rows of one backend follow each other mostly, so only the
 * last version is remembered. */
static void fill_part(struct merge *m, size_t part, size_t row) {
    const struct pdnn_csv *csv = &m->several->part[part];
    struct pdnn_csv *table = &m->several->table;
    int column[PDNN_CSV_COLUMNS_MAX], results = pdnn_csv_find(table, PDNN_SEVERAL_RESULTS),
                                      version = pdnn_csv_find(table, PDNN_SEVERAL_VERSION),
                                      backend = pdnn_csv_find(csv, "backend");
    const char *before = NULL, *shown = "";
    for (size_t i = 0; i < table->n_columns; i++)
        column[i] = pdnn_csv_find(csv, table->header[i]);
    for (size_t r = 0; r < csv->n_rows; r++) {
        const char **cells = &table->cells[(row + r) * table->n_columns],
                   *now = pdnn_csv_get(csv, r, backend);
        for (size_t i = 0; i < table->n_columns; i++)
            cells[i] = pdnn_csv_get(csv, r, column[i]);
        if (!before || strcmp(before, now) != 0)
            shown = version_of(m, part, now);
        before = now;
        cells[results] = m->shown[part];
        cells[version] = shown;
        table->lines[row + r] = csv->lines[r];
        m->several->source[row + r] = part;
    }
}

static void merge_rows(struct merge *m) {
    struct pdnn_csv *table = &m->several->table;
    size_t row = 0;
    table->n_columns = m->n_names;
    table->header = pdnn_alloc(m->n_names, sizeof *table->header);
    table->cells = pdnn_alloc(table->n_rows * m->n_names + 1, sizeof *table->cells);
    table->lines = pdnn_alloc(table->n_rows + 1, sizeof *table->lines);
    m->several->source = pdnn_alloc(table->n_rows + 1, sizeof *m->several->source);
    memcpy(table->header, m->name, m->n_names * sizeof *m->name);
    for (size_t part = 0; part < m->n; part++) {
        fill_part(m, part, row);
        row += m->several->part[part].n_rows;
    }
}

enum pdnn_status pdnn_several_read(const char *const *directories, size_t n, struct pdnn_arena *arena,
                                   struct pdnn_several *several, struct pdnn_err *err) {
    struct pdnn_several made = {.part = pdnn_alloc(n, sizeof *made.part)};
    struct merge *m = pdnn_alloc(1, sizeof *m);
    enum pdnn_status status = PDNN_OK;
    *m = (struct merge){.directory = directories, .n = n, .arena = arena, .several = &made};
    for (size_t part = 0; status == PDNN_OK && part < n; part++)
        status = read_part(m, part, err);
    if (status == PDNN_OK)
        status = merge_headers(m, err);
    if (status == PDNN_OK) {
        name_directories(m);
        merge_rows(m);
        *several = made;
    } else {
        pdnn_csv_finish(&made.table);
        pdnn_several_finish(&made);
    }
    free(m);
    return status;
}

void pdnn_several_finish(struct pdnn_several *several) {
    for (size_t i = 0; i < several->n_parts; i++)
        pdnn_csv_finish(&several->part[i]);
    free(several->part);
    free(several->source);
    *several = (struct pdnn_several){.n_parts = 0};
}
