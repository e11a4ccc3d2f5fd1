#define _POSIX_C_SOURCE 200809L /* PATH_MAX, stat */
#include "results/query/results.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "models/instance.h"
#include "results/store/ids.h"
#include "results/store/tables.h"
#include "results/table/read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RESULTS_LIMIT_BYTES ((size_t)1 << 32)

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

/* The n-th of all parameters: the run settings, then those of each family; NULL past the last one. */
static const struct pdnn_param_def *param_at(size_t n) {
    if (n < PDNN_SETTING_COUNT)
        return &pdnn_settings[n];
    n -= PDNN_SETTING_COUNT;
    for (size_t f = 0; pdnn_families[f]; f++) {
        if (n < pdnn_families[f]->n_params)
            return &pdnn_families[f]->params[n];
        n -= pdnn_families[f]->n_params;
    }
    return NULL;
}

const char *pdnn_key_column(const char *key) {
    const struct pdnn_param_def *param;
    for (size_t i = 0; (param = param_at(i)); i++)
        if (param->column && strcmp(param->name, key) == 0)
            return param->column;
    return key;
}

/* The key whose column has another name in files, or that name. */
static const char *key_of(const char *column) {
    const struct pdnn_param_def *param;
    for (size_t i = 0; (param = param_at(i)); i++)
        if (param->column && strcmp(param->column, column) == 0)
            return param->name;
    return column;
}

/* The tables of the directories while they become one. */
struct reading {
    struct pdnn_results *results;
    char **text; /* of the files */
    size_t *length, n;
    const char **path;              /* of the files */
    struct pdnn_table_def known;    /* all columns of all families */
    struct pdnn_column_def *column; /* those that the files have, in their order */
    size_t n_columns;
};

/* Where a column stands in its own file, which the table keeps. */
enum section { BEFORE_KEYS, KEYS, AFTER_KEYS, SECTIONS };

/* What every results.csv has. */
static bool is_needed(const char *name) {
    static const char *const needed[] = {"id", "family", "status", "time_ns_median"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (strcmp(name, needed[i]) == 0)
            return true;
    return false;
}

static void add_column(struct reading *r, const char *name) {
    for (size_t i = 0; i < r->n_columns; i++)
        if (strcmp(r->column[i].name, name) == 0)
            return;
    size_t k = 0;
    while (k < r->known.count && strcmp(r->known.column[k].name, name) != 0)
        k++;
    struct pdnn_column_def *column = &r->column[r->n_columns++];
    *column = k < r->known.count
                  ? r->known.column[k]
                  : (struct pdnn_column_def){.name = pdnn_arena_strdup(&r->results->arena, name),
                                             .align = PDNN_ALIGN_WRAP};
    column->is_optional = !is_needed(name);
}

/* The names of the file's columns; its text stays as it is. */
static enum pdnn_status scan_header(const struct reading *r, size_t part, struct pdnn_csv_scan *scan,
                                    char **copy, struct pdnn_err *err) {
    size_t length = strcspn(r->text[part], "\n") + 1;
    length = length < r->length[part] ? length : r->length[part];
    *copy = pdnn_alloc(length + 1, 1);
    memcpy(*copy, r->text[part], length);
    return pdnn_csv_scan_start(scan, r->path[part], *copy, length, PDNN_CSV_STRICT, err);
}

static size_t place_of(const struct pdnn_csv_scan *scan, enum pdnn_result_column column) {
    static const char *const names[] = {[PDNN_RESULT_FAMILY] = "family", [PDNN_RESULT_STATUS] = "status"};
    size_t i = 0;
    while (i < scan->n_columns && strcmp(scan->header[i], names[column]) != 0)
        i++;
    return i;
}

static enum pdnn_status add_columns(struct reading *r, struct pdnn_err *err) {
    struct pdnn_csv_scan *scan = pdnn_alloc(r->n, sizeof *scan);
    char **copy = pdnn_alloc(r->n, sizeof *copy);
    size_t room = r->known.count + 2; /* also `results` and `version` */
    enum pdnn_status status = PDNN_OK;
    for (size_t part = 0; status == PDNN_OK && part < r->n; part++) {
        status = scan_header(r, part, &scan[part], &copy[part], err);
        room += scan[part].n_columns;
    }
    r->column = pdnn_arena_alloc(&r->results->arena, room, sizeof *r->column);
    for (enum section section = 0; status == PDNN_OK && section < SECTIONS; section++) {
        if (section == AFTER_KEYS && r->n > 1) {
            add_column(r, PDNN_RESULTS_KEY);
            add_column(r, PDNN_RESULTS_VERSION_KEY);
        }
        for (size_t part = 0; part < r->n; part++) {
            size_t family = place_of(&scan[part], PDNN_RESULT_FAMILY),
                   outcome = place_of(&scan[part], PDNN_RESULT_STATUS);
            for (size_t i = 0; i < scan[part].n_columns; i++)
                if ((i <= family ? BEFORE_KEYS : i < outcome ? KEYS : AFTER_KEYS) == section)
                    add_column(r, scan[part].header[i]);
        }
    }
    for (size_t i = 0; i < r->known.count; i++)
        if (is_needed(r->known.column[i].name))
            add_column(r, r->known.column[i].name);
    if (status == PDNN_OK && r->n_columns > PDNN_TABLE_COLUMNS_MAX)
        status = pdnn_fail(err, PDNN_INVALID, "these tables have more than %d columns together",
                           PDNN_TABLE_COLUMNS_MAX);
    for (size_t part = 0; part < r->n; part++)
        free(copy[part]);
    free(copy);
    free(scan);
    return status;
}

/* A table without the column is somebody's own. */
static enum pdnn_status check_schema(const char *path, const struct pdnn_table *table, struct pdnn_err *err) {
    size_t column = pdnn_table_find(table, "schema");
    if (column == SIZE_MAX || !table->n_rows || pdnn_table_is_empty(table, 0, column))
        return PDNN_OK;
    uint64_t schema = pdnn_table_count(table, 0, column);
    if (schema < PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s: written by an older version of paradnn (schema %d, now %d)",
                         path, (int)schema, PDNN_SCHEMA);
    if (schema > PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s:2: schema '%llu', this program reads %d", path,
                         (unsigned long long)schema, PDNN_SCHEMA);
    return PDNN_OK;
}

/* Its own name, or the path where two directories have the same name. */
static void name_directories(struct reading *r) {
    const char *const *directory = r->results->directory;
    for (size_t i = 0; i < r->n; i++) {
        bool unique = true;
        int length;
        const char *name = pdnn_directory_name(directory[i], &length);
        for (size_t k = 0; k < r->n; k++)
            unique = unique && (k == i || !same_name(directory[i], directory[k]));
        r->results->name[i] =
            unique ? pdnn_arena_printf(&r->results->arena, "%.*s", length, name) : directory[i];
    }
}

/* The version of a backend in a directory: the name and number that environment.yaml begins with, or the
 * software that was imported. */
static void append_version(const char *directory, const char *backend, struct pdnn_str *text) {
    char key[64];
    snprintf(key, sizeof key, "backend_%.40s", backend);
    pdnn_environment_get(directory, "software", text);
    if (text->length)
        return;
    pdnn_environment_get(directory, key, text);
    const char *value = pdnn_str_text(text);
    size_t length = strcspn(value, " ");
    if (value[length] && value[length + 1] != '(')
        length += 1 + strcspn(value + length + 1, " ");
    if (text->length) {
        text->text[length] = 0;
        text->length = length;
    }
}

/* Rows of one backend follow each other mostly, so only the last version is remembered. */
static void fill_origin(struct reading *r, size_t part, size_t first) {
    struct pdnn_table *table = &r->results->table;
    size_t backend = pdnn_table_find(table, pdnn_settings[PDNN_SETTING_BACKEND].name),
           results = pdnn_table_find(table, PDNN_RESULTS_KEY),
           version = pdnn_table_find(table, PDNN_RESULTS_VERSION_KEY);
    const char *before = NULL;
    struct pdnn_str shown = {0};
    for (size_t row = first; row < table->n_rows; row++) {
        const char *now = backend == SIZE_MAX ? "" : pdnn_table_text(table, row, backend);
        if (!before || strcmp(before, now) != 0) {
            pdnn_str_clear(&shown);
            append_version(r->results->directory[part], now, &shown);
        }
        before = now;
        pdnn_table_set_text(table, row, results, r->results->name[part]);
        pdnn_table_set_text(table, row, version, pdnn_str_text(&shown));
    }
    pdnn_str_finish(&shown);
}

static enum pdnn_status take_part(struct reading *r, size_t part, const struct pdnn_table_def *def,
                                  struct pdnn_err *err) {
    struct pdnn_results *results = r->results;
    struct pdnn_table_file file = {.path = r->path[part], .mode = PDNN_CSV_STRICT};
    struct pdnn_table table;
    enum pdnn_status status = pdnn_table_read_text(&file, r->text[part], r->length[part], def, &table, err);
    if (status != PDNN_OK)
        return status;
    status = check_schema(r->path[part], &table, err);
    pdnn_ids_reprint(&table, pdnn_table_find(&table, "id"));
    if (status == PDNN_OK && r->n > 1) {
        size_t first = results->table.n_rows;
        for (size_t row = 0; row < table.n_rows; row++)
            pdnn_table_copy_row(&results->table, &table, row);
        fill_origin(r, part, first);
        pdnn_table_finish(&table);
    } else {
        pdnn_table_finish(&results->table);
        results->table = table;
    }
    return status;
}

static int find(const struct pdnn_results *results, const char *name) {
    size_t column = pdnn_table_find(&results->table, name);
    return column == SIZE_MAX ? -1 : (int)column;
}

/* Fixed columns and keys; these get their own names. */
static void find_columns(struct reading *r) {
    struct pdnn_results *results = r->results;
    const size_t n_params = r->known.count - PDNN_RESULT_COLUMNS;
    for (size_t c = 0; c < PDNN_RESULT_COLUMNS; c++)
        results->at[c] = find(results, r->known.column[c + (c < PDNN_RESULT_STATUS ? 0 : n_params)].name);
    results->results = r->n > 1 ? find(results, PDNN_RESULTS_KEY) : -1;
    results->version = r->n > 1 ? find(results, PDNN_RESULTS_VERSION_KEY) : -1;
    results->first_key = results->at[PDNN_RESULT_FAMILY] + 1;
    results->end_name = results->at[PDNN_RESULT_STATUS];
    results->end_key = r->n > 1 ? results->version : results->end_name;
    for (int k = results->first_key; k < results->end_key; k++) {
        struct pdnn_column_def *def = &results->table.column[k].def;
        const char *key = key_of(def->name);
        if (pdnn_table_find(&results->table, key) == SIZE_MAX)
            def->name = key;
    }
}

static enum pdnn_status take_parts(struct reading *r, struct pdnn_err *err) {
    struct pdnn_results *results = r->results;
    size_t n_families = 0;
    while (pdnn_families[n_families])
        n_families++;
    r->known = pdnn_results_def(pdnn_families, n_families, &results->arena);
    enum pdnn_status status = add_columns(r, err);
    const struct pdnn_table_def def = {r->known.name, r->known.help, r->column, r->n_columns};
    pdnn_table_init(&results->table, &def);
    name_directories(r);
    for (size_t part = 0; status == PDNN_OK && part < r->n; part++) {
        results->first_row[part] = results->table.n_rows;
        status = take_part(r, part, &def, err);
    }
    if (status != PDNN_OK)
        return status;
    results->source = pdnn_alloc(results->table.n_rows + 1, sizeof *results->source);
    for (size_t row = 0, part = 0; row < results->table.n_rows; row++) {
        while (part + 1 < r->n && row >= results->first_row[part + 1])
            part++;
        results->source[row] = part;
    }
    find_columns(r);
    results->text = pdnn_alloc(results->table.n_columns, sizeof *results->text);
    results->shown = pdnn_alloc(1, sizeof *results->shown);
    return PDNN_OK;
}

static void begin(struct reading *r, struct pdnn_results *results, const char *const *directories, size_t n) {
    *results = (struct pdnn_results){.n_directories = n};
    const char **kept = pdnn_arena_alloc(&results->arena, n, sizeof *kept);
    for (size_t i = 0; i < n; i++)
        kept[i] = pdnn_arena_strdup(&results->arena, directories[i]);
    results->directory = kept;
    results->name = pdnn_arena_alloc(&results->arena, n, sizeof *results->name);
    results->first_row = pdnn_alloc(n, sizeof *results->first_row);
    *r = (struct reading){.results = results,
                          .n = n,
                          .text = pdnn_alloc(n, sizeof *r->text),
                          .length = pdnn_alloc(n, sizeof *r->length),
                          .path = pdnn_arena_alloc(&results->arena, n, sizeof *r->path)};
}

static enum pdnn_status end(struct reading *r, enum pdnn_status status, struct pdnn_results *results,
                            struct pdnn_err *err) {
    if (status == PDNN_OK)
        status = take_parts(r, err);
    for (size_t part = 0; part < r->n; part++)
        free(r->text[part]);
    free(r->text);
    free(r->length);
    if (status == PDNN_OK)
        *results = *r->results;
    else
        pdnn_results_close(r->results);
    return status;
}

enum pdnn_status pdnn_results_open(struct pdnn_results *results, const char *const *directories, size_t n,
                                   struct pdnn_err *err) {
    struct pdnn_results opened;
    struct reading r;
    enum pdnn_status status = PDNN_OK;
    begin(&r, &opened, directories, n);
    for (size_t part = 0; status == PDNN_OK && part < n; part++) {
        for (size_t other = 0; status == PDNN_OK && other < part; other++)
            if (pdnn_same_directory(directories[part], directories[other]))
                status = pdnn_fail(err, PDNN_INVALID, "%s: named twice", directories[part]);
        r.path[part] = pdnn_arena_printf(&opened.arena, "%s/results.csv", directories[part]);
        if (status == PDNN_OK)
            status = pdnn_file_read(r.path[part], RESULTS_LIMIT_BYTES, &r.text[part], &r.length[part], err);
    }
    return end(&r, status, results, err);
}

enum pdnn_status pdnn_results_parse(struct pdnn_results *results, const char *path,
                                    const struct pdnn_str *text, struct pdnn_err *err) {
    struct pdnn_results opened;
    struct reading r;
    begin(&r, &opened, &path, 1);
    r.path[0] = opened.directory[0];
    r.length[0] = text->length;
    r.text[0] = pdnn_alloc(text->length + 1, 1);
    memcpy(r.text[0], pdnn_str_text(text), text->length);
    return end(&r, PDNN_OK, results, err);
}

void pdnn_results_close(struct pdnn_results *results) {
    for (size_t c = 0; results->text && c < results->table.n_columns; c++)
        free(results->text[c]);
    free(results->text);
    if (results->shown)
        pdnn_texts_finish(results->shown);
    free(results->shown);
    free(results->source);
    free(results->first_row);
    pdnn_table_finish(&results->table);
    pdnn_arena_finish(&results->arena);
    *results = (struct pdnn_results){.n_directories = 0};
}

int pdnn_results_setting(const struct pdnn_results *results, enum pdnn_setting setting) {
    return find(results, pdnn_settings[setting].name);
}

int pdnn_results_named(const struct pdnn_results *results, const char *name) {
    int column = find(results, name);
    return column < 0 ? find(results, key_of(name)) : column;
}

/* The column, which is one of those from `first` to before `end`. */
static enum pdnn_status ask(const struct pdnn_results *results, const char *name, int first, int end,
                            const char *what, int *column, struct pdnn_err *err) {
    char suggestion[PDNN_SUGGESTION_TEXT];
    int found = pdnn_results_named(results, name);
    if (found >= first && found < end) {
        *column = found;
        return PDNN_OK;
    }
    const char **names = pdnn_alloc(results->table.n_columns + 1, sizeof *names);
    size_t count = 0;
    for (int c = first; c < end; c++)
        names[count++] = pdnn_results_name(results, c);
    pdnn_suggest(suggestion, name, names, count);
    free(names);
    return pdnn_fail(err, PDNN_INVALID, "results.csv has no %s '%.64s'%s", what, name, suggestion);
}

enum pdnn_status pdnn_results_ask(const struct pdnn_results *results, const char *name, int *column,
                                  struct pdnn_err *err) {
    return ask(results, name, 0, (int)results->table.n_columns, "column", column, err);
}

enum pdnn_status pdnn_results_ask_key(const struct pdnn_results *results, const char *name, int *column,
                                      struct pdnn_err *err) {
    return ask(results, name, results->first_key, results->end_name, "hyper-parameter or run setting", column,
               err);
}

const char *pdnn_results_name(const struct pdnn_results *results, int column) {
    return results->table.column[column].def.name;
}

/* The whole column at once: who asks for one cell asks for the others. */
static void make_texts(const struct pdnn_results *results, size_t column) {
    struct pdnn_str text = {0};
    const char **made = pdnn_alloc(results->table.n_rows + 1, sizeof *made);
    for (size_t row = 0; row < results->table.n_rows; row++) {
        pdnn_str_clear(&text);
        pdnn_table_append(&results->table, row, column, &text);
        size_t number = pdnn_texts_add(results->shown, pdnn_str_text(&text));
        made[row] = results->shown->text[number];
    }
    pdnn_str_finish(&text);
    results->text[column] = made;
}

const char *pdnn_results_text(const struct pdnn_results *results, size_t row, int column) {
    if (column < 0)
        return "";
    if (results->table.column[column].def.kind == PDNN_KIND_TEXT)
        return pdnn_table_text(&results->table, row, (size_t)column);
    if (!results->text[column])
        make_texts(results, (size_t)column);
    return results->text[column][row];
}

double pdnn_results_number(const struct pdnn_results *results, size_t row, int column) {
    double number;
    if (column < 0)
        return NAN;
    if (results->table.column[column].def.kind != PDNN_KIND_TEXT)
        return pdnn_table_number(&results->table, row, (size_t)column);
    return pdnn_parse_double(pdnn_table_text(&results->table, row, (size_t)column), &number) ? number : NAN;
}

size_t pdnn_results_line(const struct pdnn_results *results, size_t row) {
    return row - results->first_row[results->source[row]] + 2;
}
