#define _POSIX_C_SOURCE 200809L /* access */
#include "results/store/library.h"

#include "base/memory.h"
#include "base/texts.h"
#include "results/store/log_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last measurement that a host made of an operator, by the time that it began. */
struct last {
    const char *host, *reason; /* in the arena */
    int64_t started_unix_ms;
    enum pdnn_outcome outcome;
    struct last *next;
};

struct entry {
    double *ns;
    size_t count, room;
    struct last *last; /* by host, in the arena */
};

struct pdnn_library {
    struct pdnn_folder folder;
    struct pdnn_log_file file;
    struct pdnn_texts keys; /* "CONTEXT KEY" */
    struct entry *entries;  /* by number of the key */
    size_t room;
    struct pdnn_arena arena;
};

/* FNV-1a. */
void pdnn_library_context(const char *text, char context[PDNN_LIBRARY_CONTEXT_TEXT]) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    snprintf(context, PDNN_LIBRARY_CONTEXT_TEXT, "%016" PRIx64, hash);
}

enum { FULL_KEY_TEXT = PDNN_OPERATOR_KEY_TEXT + PDNN_LIBRARY_CONTEXT_TEXT + 1 };

static void full_key(const char *context, const char *key, char text[FULL_KEY_TEXT]) {
    snprintf(text, FULL_KEY_TEXT, "%s %s", context, key);
}

static struct entry *entry_of(struct pdnn_library *library, const struct pdnn_library_row *row) {
    char text[FULL_KEY_TEXT];
    size_t before = library->keys.count;
    full_key(row->context, row->key, text);
    size_t number = pdnn_texts_add(&library->keys, text);
    library->entries = pdnn_grow(library->entries, &library->room, number, sizeof *library->entries);
    if (library->keys.count > before)
        library->entries[number] = (struct entry){.ns = NULL};
    return &library->entries[number];
}

static struct last *last_of(struct entry *entry, const char *host) {
    struct last *last = entry->last;
    while (last && strcmp(last->host, host) != 0)
        last = last->next;
    return last;
}

/* A new one precedes all times. */
static struct last *add_last(struct pdnn_library *library, struct entry *entry, const char *host) {
    struct last *last = pdnn_arena_alloc(&library->arena, 1, sizeof *last);
    const char *name = pdnn_arena_strdup(&library->arena, host);
    *last = (struct last){.host = name, .started_unix_ms = INT64_MIN, .next = entry->last};
    return last;
}

/* Any host's success outranks the failures of others, whatever their order in the file. */
static struct pdnn_library_times times_of(const struct entry *entry) {
    const struct last *best = entry->last;
    for (const struct last *last = entry->last; last; last = last->next)
        if (last->outcome == PDNN_OUTCOME_OK)
            best = last;
    return (struct pdnn_library_times){entry->ns, entry->count, best ? best->outcome : PDNN_OUTCOME_OK,
                                       best ? best->reason : ""};
}

/* Makes the row known. */
static void remember(struct pdnn_library *library, const struct pdnn_library_row *row) {
    struct entry *entry = entry_of(library, row);
    bool is_ok = row->visit.outcome == PDNN_OUTCOME_OK;
    const char *reason = pdnn_arena_strdup(&library->arena, row->visit.reason);
    if (is_ok && entry->count == entry->room) {
        size_t room = entry->room ? 2 * entry->room : 4;
        entry->ns = pdnn_resize(entry->ns, room, sizeof *entry->ns);
        entry->room = room;
    }
    struct last *last = last_of(entry, row->host);
    last = last ? last : add_last(library, entry, row->host);
    if (last->started_unix_ms == INT64_MIN)
        entry->last = last;
    if (row->visit.started_unix_ms >= last->started_unix_ms) {
        last->started_unix_ms = row->visit.started_unix_ms;
        last->outcome = row->visit.outcome;
        last->reason = reason;
    }
    if (is_ok)
        entry->ns[entry->count++] = row->visit.median_ns;
}

static enum pdnn_status parse_row(const char *path, const struct pdnn_csv *csv, size_t number,
                                  struct pdnn_library_row *row, struct pdnn_err *err) {
    *row = (struct pdnn_library_row){.visit = {.samples = 0}};
    for (size_t i = 0; i < pdnn_library_columns.count; i++) {
        const struct pdnn_column *column = &pdnn_library_columns.column[i];
        const char *text = pdnn_csv_get(csv, number, (int)i);
        if (!pdnn_column_parse(column, row, text))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.40s' is not a value for column '%s'", path,
                             csv->lines[number], text, column->name);
    }
    const struct pdnn_visit *visit = &row->visit;
    if (visit->outcome == PDNN_OUTCOME_OK && !(isfinite(visit->median_ns) && visit->median_ns > 0))
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: a row that is ok needs a time_ns_median above 0", path,
                         csv->lines[number]);
    return PDNN_OK;
}

static enum pdnn_status read_rows(struct pdnn_log_file *file,
                                  enum pdnn_status (*each)(void *user, const struct pdnn_library_row *row,
                                                           struct pdnn_err *err),
                                  void *user, struct pdnn_err *err) {
    struct pdnn_csv csv = {0};
    struct pdnn_library_row *row = pdnn_alloc(1, sizeof *row);
    enum pdnn_status status = pdnn_log_file_load(file, &csv, err);
    for (size_t i = 0; i < csv.n_rows && status == PDNN_OK; i++) {
        status = parse_row(file->path, &csv, i, row, err);
        if (status == PDNN_OK)
            status = each(user, row, err);
    }
    pdnn_csv_finish(&csv);
    free(row);
    return status;
}

static enum pdnn_status remember_row(void *user, const struct pdnn_library_row *row, struct pdnn_err *err) {
    (void)err;
    remember(user, row);
    return PDNN_OK;
}

enum pdnn_status pdnn_library_open(const char *directory, struct pdnn_library **library,
                                   struct pdnn_err *err) {
    struct pdnn_library *made = pdnn_alloc(1, sizeof *made);
    made->folder.fd = made->file.fd = -1;
    enum pdnn_status status = pdnn_folder_ensure(directory, err);
    if (status == PDNN_OK)
        status = pdnn_folder_open(&made->folder, directory, err);
    if (status == PDNN_OK) {
        pdnn_log_file_init(&made->file, &made->folder, &pdnn_library_columns);
        status = pdnn_log_file_open(&made->file, true, err);
    }
    if (status == PDNN_OK)
        status = read_rows(&made->file, remember_row, made, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_settle(&made->file, err);
    if (status != PDNN_OK) {
        pdnn_library_close(made);
        return status;
    }
    *library = made;
    return PDNN_OK;
}

void pdnn_library_close(struct pdnn_library *library) {
    if (!library)
        return;
    for (size_t i = 0; i < library->keys.count && i < library->room; i++)
        free(library->entries[i].ns);
    free(library->entries);
    pdnn_texts_finish(&library->keys);
    pdnn_arena_finish(&library->arena);
    pdnn_log_file_close(&library->file);
    pdnn_folder_close(&library->folder);
    free(library);
}

bool pdnn_library_find(const struct pdnn_library *library, const char *context, const char *key,
                       struct pdnn_library_times *times) {
    char text[FULL_KEY_TEXT];
    full_key(context, key, text);
    size_t number = pdnn_texts_find(&library->keys, text);
    if (number == SIZE_MAX)
        return false;
    const struct entry *entry = &library->entries[number];
    *times = times_of(entry);
    return true;
}

size_t pdnn_library_next(const struct pdnn_library *library, size_t at, const char *context, const char **key,
                         struct pdnn_library_times *times) {
    size_t length = strlen(context);
    while (at < library->keys.count) {
        const char *text = library->keys.text[at];
        const struct entry *entry = &library->entries[at++];
        if (strncmp(text, context, length) != 0 || text[length] != ' ')
            continue;
        *key = text + length + 1;
        *times = times_of(entry);
        return at;
    }
    return 0;
}

enum pdnn_status pdnn_library_add(struct pdnn_library *library, const struct pdnn_library_row *row,
                                  struct pdnn_err *err) {
    struct pdnn_str line = {0};
    pdnn_columns_row(&pdnn_library_columns, row, &line);
    enum pdnn_status status = pdnn_log_file_append(&library->file, &line, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_check(&library->file, err);
    pdnn_str_finish(&line);
    if (status == PDNN_OK)
        remember(library, row);
    return status;
}

enum pdnn_status pdnn_library_read(const char *directory, bool *there,
                                   enum pdnn_status (*each)(void *user, const struct pdnn_library_row *row,
                                                            struct pdnn_err *err),
                                   void *user, struct pdnn_err *err) {
    struct pdnn_folder folder;
    struct pdnn_log_file file;
    enum pdnn_status status = pdnn_folder_open(&folder, directory, err);
    if (status != PDNN_OK)
        return status;
    pdnn_log_file_init(&file, &folder, &pdnn_library_columns);
    *there = access(file.path, F_OK) == 0;
    status = read_rows(&file, each, user, err);
    pdnn_folder_close(&folder);
    return status;
}
