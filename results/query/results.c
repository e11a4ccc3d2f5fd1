#define _POSIX_C_SOURCE 200809L /* PATH_MAX, stat */
#include "results/query/results.h"

#include "base/memory.h"
#include "base/units.h"
#include "models/zoo/catalog.h"
#include "models/instance.h"
#include "results/store/tables.h"
#include "results/table/read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <inttypes.h>
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

static bool are_same(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static const char *renamed_in(const struct pdnn_param_def *params, size_t n, const char *name, bool is_key) {
    for (size_t i = 0; i < n; i++)
        if (params[i].column && strcmp(is_key ? params[i].name : params[i].column, name) == 0)
            return is_key ? params[i].column : params[i].name;
    return NULL;
}

/* What a key's column is called in files, or a file's column as a key; the name itself if they are alike. */
static const char *renamed(const char *name, bool is_key) {
    const char *other = renamed_in(pdnn_settings, PDNN_SETTING_COUNT, name, is_key);
    for (size_t f = 0; !other && pdnn_family_at(f); f++)
        other = renamed_in(pdnn_family_at(f)->params, pdnn_family_at(f)->n_params, name, is_key);
    return other ? other : name;
}

const char *pdnn_key_column(const char *key) {
    return renamed(key, true);
}

/* A table without the column is somebody's own. One of the schema before lacks optional columns. */
static enum pdnn_status check_schema(const char *path, const struct pdnn_table *table, struct pdnn_err *err) {
    size_t column = pdnn_table_find(table, "schema");
    if (column == SIZE_MAX || !table->n_rows || pdnn_table_is_empty(table, 0, column))
        return PDNN_OK;
    const uint64_t schema = pdnn_table_count(table, 0, column);
    return schema == PDNN_SCHEMA || schema == PDNN_SCHEMA - 1 ? PDNN_OK
           : schema < PDNN_SCHEMA
               ? pdnn_fail(err, PDNN_INVALID,
                           "%s: written by an older version of paradnn (schema %" PRIu64 ", now %d)", path,
                           schema, PDNN_SCHEMA)
               : pdnn_fail(err, PDNN_INVALID, "%s:2: schema '%" PRIu64 "', this program reads %d", path,
                           schema, PDNN_SCHEMA);
}

/* Its own name, or the path where two directories have the same name. */
static const char *name_of(struct pdnn_results *results, size_t number) {
    const char *directory = results->directory[number];
    int length, other;
    const char *name = pdnn_directory_name(directory, &length);
    for (size_t i = 0; i < results->n_directories; i++)
        if (strncmp(pdnn_directory_name(results->directory[i], &other), name, (size_t)length) == 0 &&
            other == length && i != number)
            return directory;
    return pdnn_arena_printf(&results->arena, "%.*s", length, name);
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
    if (text->length)
        text->text[text->length = length] = 0;
}

/* Rows of one backend follow each other mostly, so only the last version is remembered. */
static void fill_origin(struct pdnn_results *results, size_t number) {
    struct pdnn_table *table = &results->table;
    size_t backend = pdnn_table_find(table, pdnn_settings[PDNN_SETTING_BACKEND].name),
           name = pdnn_table_find(table, PDNN_RESULTS_KEY),
           version = pdnn_table_find(table, PDNN_RESULTS_VERSION_KEY);
    const char *before = NULL;
    struct pdnn_str shown = {0};
    for (size_t row = results->first_row[number]; row < table->n_rows; row++) {
        const char *now = backend == SIZE_MAX ? "" : pdnn_table_text(table, row, backend);
        if (!before || strcmp(before, now) != 0) {
            pdnn_str_clear(&shown);
            append_version(results->directory[number], now, &shown);
        }
        before = now;
        pdnn_table_set_text(table, row, name, results->name[number]);
        pdnn_table_set_text(table, row, version, pdnn_str_text(&shown));
    }
    pdnn_str_finish(&shown);
}

/* Where a column stands in its table. */
enum section { BEFORE_KEYS, KEYS, AFTER_KEYS, SECTIONS };

static enum section section_of(const struct pdnn_table *part, size_t column) {
    return column < pdnn_table_find(part, "family")   ? BEFORE_KEYS
           : column < pdnn_table_find(part, "status") ? KEYS
                                                      : AFTER_KEYS;
}

/* A column that nobody knows has the section of its place in the file, any other that of the definition. */
static int rank_of(const struct pdnn_table *part, size_t column, const struct pdnn_table_def *def) {
    enum { FAMILY = 2 * KEYS - 1, STATUS = 2 * AFTER_KEYS - 1 };
    const size_t status = PDNN_RESULT_STATUS + def->count - PDNN_RESULT_COLUMNS;
    const char *name = pdnn_key_column(part->column[column].def.name);
    size_t at = 0;
    while (at < def->count && strcmp(def->column[at].name, name) != 0)
        at++;
    return at == def->count          ? 2 * (int)section_of(part, column)
           : at < PDNN_RESULT_FAMILY ? 2 * BEFORE_KEYS
           : at < PDNN_RESULT_STATUS ? FAMILY
           : at < status             ? 2 * KEYS
           : at == status            ? STATUS
                                     : 2 * AFTER_KEYS;
}

/* Somebody's own file may have its columns in any order. */
static void order_columns(struct pdnn_table *part, const struct pdnn_table_def *def) {
    struct pdnn_cells *ordered = pdnn_alloc(part->n_columns, sizeof *ordered);
    size_t count = 0;
    for (int rank = 0; rank < 2 * SECTIONS; rank++)
        for (size_t i = 0; i < part->n_columns; i++)
            if (rank_of(part, i, def) == rank)
                ordered[count++] = part->column[i];
    free(part->column);
    part->column = ordered;
    part->column_room = count;
}

static bool add_column(struct pdnn_table *table, const struct pdnn_column_def *column) {
    if (pdnn_table_find(table, column->name) != SIZE_MAX)
        return true;
    return table->n_columns < PDNN_TABLE_COLUMNS_MAX && pdnn_table_add_column(table, column) != SIZE_MAX;
}

/* The columns of all parts, each where it stands in the first that has it. */
static bool add_columns(struct pdnn_table *table, const struct pdnn_table *parts, size_t n) {
    static const struct pdnn_column_def name = {PDNN_RESULTS_KEY, .align = PDNN_ALIGN_WRAP},
                                        version = {PDNN_RESULTS_VERSION_KEY, .align = PDNN_ALIGN_WRAP};
    bool has_room = true;
    for (enum section section = 0; section < SECTIONS; section++) {
        if (section == AFTER_KEYS)
            has_room = has_room && add_column(table, &name) && add_column(table, &version);
        for (size_t part = 0; part < n; part++)
            for (size_t i = 0; i < parts[part].n_columns; i++)
                if (section_of(&parts[part], i) == section)
                    has_room = has_room && add_column(table, &parts[part].column[i].def);
    }
    return has_room;
}

/* The parts are finished by the caller. */
static enum pdnn_status join(struct pdnn_results *results, const struct pdnn_table *parts, size_t n,
                             struct pdnn_err *err) {
    const struct pdnn_table_def empty = {.name = parts[0].name, .help = parts[0].help};
    pdnn_table_init(&results->table, &empty);
    if (!add_columns(&results->table, parts, n))
        return pdnn_fail(err, PDNN_INVALID, "these tables have more than %d columns together",
                         PDNN_TABLE_COLUMNS_MAX);
    for (size_t part = 0; part < n; part++) {
        results->name[part] = name_of(results, part);
        results->first_row[part] = results->table.n_rows;
        for (size_t row = 0; row < parts[part].n_rows; row++)
            pdnn_table_copy_row(&results->table, &parts[part], row);
        fill_origin(results, part);
    }
    return PDNN_OK;
}

static int find(const struct pdnn_results *results, const char *name) {
    size_t column = pdnn_table_find(&results->table, name);
    return column == SIZE_MAX ? -1 : (int)column;
}

/* Fixed columns and keys; these get their own names. */
static void find_columns(struct pdnn_results *results) {
    const bool is_joined = results->n_directories > 1;
    for (size_t c = 0; c < PDNN_RESULT_COLUMNS; c++)
        results->at[c] = find(results, pdnn_results_fixed_def.column[c].name);
    results->results = is_joined ? find(results, PDNN_RESULTS_KEY) : -1;
    results->version = is_joined ? find(results, PDNN_RESULTS_VERSION_KEY) : -1;
    results->first_key = results->at[PDNN_RESULT_FAMILY] + 1;
    results->end_name = results->at[PDNN_RESULT_STATUS];
    results->end_key = is_joined ? results->version : results->end_name;
    for (int k = results->first_key; k < results->end_key; k++) {
        struct pdnn_column_def *def = &results->table.column[k].def;
        const char *key = renamed(def->name, false);
        if (pdnn_table_find(&results->table, key) == SIZE_MAX)
            def->name = key;
    }
}

/* That of results.csv, in which times may be missing. */
static struct pdnn_table_def costs_def(struct pdnn_arena *arena) {
    struct pdnn_table_def def = pdnn_results_def(NULL, 0, arena);
    struct pdnn_column_def *columns = pdnn_arena_alloc(arena, def.count, sizeof *columns);
    memcpy(columns, def.column, def.count * sizeof *columns);
    columns[PDNN_RESULT_TIME_NS_MEDIAN + def.count - PDNN_RESULT_COLUMNS].is_optional = true;
    def.column = columns;
    return def;
}

/* One directory's, from the text if there is one. */
static enum pdnn_status read_part(const char *path, struct pdnn_str *text, bool is_costs,
                                  struct pdnn_arena *arena, struct pdnn_table *part, struct pdnn_err *err) {
    struct pdnn_table_file file = {.path = path, .limit_bytes = RESULTS_LIMIT_BYTES, .is_as_in_file = true};
    const struct pdnn_table_def def = is_costs ? costs_def(arena) : pdnn_results_def(NULL, 0, arena);
    enum pdnn_status status = text ? pdnn_table_read_text(&file, text->text, text->length, &def, part, err)
                                   : pdnn_table_read(&file, &def, part, err);
    if (status != PDNN_OK)
        return status;
    order_columns(part, &def);
    pdnn_ids_reprint(part, pdnn_table_find(part, "id"));
    return check_schema(path, part, err);
}

static enum pdnn_status open_parts(struct pdnn_results *results, const char *const *directories, size_t n,
                                   struct pdnn_str *text, bool is_costs, struct pdnn_err *err) {
    struct pdnn_results opened = {.is_costs = is_costs, .n_directories = n};
    struct pdnn_table *part = pdnn_alloc(n, sizeof *part);
    const char **directory = pdnn_arena_alloc(&opened.arena, n, sizeof *directory);
    enum pdnn_status status = PDNN_OK;
    opened.directory = directory;
    opened.name = pdnn_arena_alloc(&opened.arena, n, sizeof *opened.name);
    opened.first_row = pdnn_arena_alloc(&opened.arena, n, sizeof *opened.first_row);
    for (size_t i = 0; status == PDNN_OK && i < n; i++) {
        directory[i] = pdnn_arena_strdup(&opened.arena, directories[i]);
        const char *path =
            text ? directory[i] : pdnn_arena_printf(&opened.arena, "%s/results.csv", directory[i]);
        for (size_t other = 0; status == PDNN_OK && other < i; other++)
            if (are_same(directory[i], directory[other]))
                status = pdnn_fail(err, PDNN_INVALID, "%s: named twice; name it once", directory[i]);
        if (status == PDNN_OK && !text)
            status = pdnn_catalog_read_directory(directory[i], err);
        if (status == PDNN_OK)
            status = read_part(path, text, is_costs, &opened.arena, &part[i], err);
    }
    if (status == PDNN_OK && n > 1) {
        status = join(&opened, part, n, err);
    } else if (status == PDNN_OK) {
        opened.table = part[0];
        part[0] = (struct pdnn_table){0};
        opened.name[0] = name_of(&opened, 0);
    }
    for (size_t i = 0; i < n; i++)
        pdnn_table_finish(&part[i]);
    free(part);
    if (status != PDNN_OK) {
        pdnn_results_close(&opened);
        return status;
    }
    find_columns(&opened);
    opened.text = pdnn_alloc(opened.table.n_columns, sizeof *opened.text);
    opened.shown = pdnn_alloc(1, sizeof *opened.shown);
    *results = opened;
    return PDNN_OK;
}

enum pdnn_status pdnn_results_open(struct pdnn_results *results, const char *const *directories, size_t n,
                                   struct pdnn_str *text, struct pdnn_err *err) {
    return open_parts(results, directories, n, text, false, err);
}

enum pdnn_status pdnn_results_open_costs(struct pdnn_results *results, const char *name,
                                         struct pdnn_str *text, struct pdnn_err *err) {
    return open_parts(results, &name, 1, text, true, err);
}

void pdnn_results_close(struct pdnn_results *results) {
    for (size_t c = 0; results->text && c < results->table.n_columns; c++)
        free(results->text[c]);
    free(results->text);
    if (results->shown)
        pdnn_texts_finish(results->shown);
    free(results->shown);
    pdnn_table_finish(&results->table);
    pdnn_arena_finish(&results->arena);
    *results = (struct pdnn_results){.n_directories = 0};
}

int pdnn_results_setting(const struct pdnn_results *results, enum pdnn_setting setting) {
    return find(results, pdnn_settings[setting].name);
}

int pdnn_results_named(const struct pdnn_results *results, const char *name) {
    int column = find(results, name);
    return column < 0 ? find(results, renamed(name, false)) : column;
}

enum pdnn_status pdnn_results_ask(const struct pdnn_results *results, const char *name, bool is_key,
                                  int *column, struct pdnn_err *err) {
    const int first = is_key ? results->first_key : 0,
              end = is_key ? results->end_name : (int)results->table.n_columns,
              found = pdnn_results_named(results, name);
    char suggestion[PDNN_SUGGESTION_TEXT];
    if (found >= first && found < end) {
        *column = found;
        return PDNN_OK;
    }
    const char **names = pdnn_alloc(results->table.n_columns, sizeof *names);
    size_t count = 0;
    for (int c = first; c < end; c++)
        names[count++] = pdnn_results_name(results, c);
    pdnn_param_suggest(suggestion, name, names, count);
    free(names);
    return pdnn_fail(err, PDNN_INVALID, "%s no %s '%.64s'%s",
                     results->is_costs ? "costs alone have" : "results.csv has",
                     is_key ? "hyper-parameter or run setting" : "column", name, suggestion);
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

size_t pdnn_results_source(const struct pdnn_results *results, size_t row) {
    size_t source = results->n_directories - 1;
    while (row < results->first_row[source])
        source--;
    return source;
}

size_t pdnn_results_line(const struct pdnn_results *results, size_t row) {
    return row - results->first_row[pdnn_results_source(results, row)] + 2;
}
