#include "results/store/library.h"

#include "base/memory.h"
#include "base/texts.h"
#include "results/store/log_file.h"
#include "results/table/record.h"
#include "results/table/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN .show = PDNN_SHOW_NEVER
#define COUNT  .kind = PDNN_KIND_COUNT
#define NUMBER .kind = PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT

#define AT(member)       .field = PDNN_FIELD(pdnn_visit, member)
#define AS(form, member) .field = PDNN_FIELD_AS(form, pdnn_visit, member)

#define LIBRARY_COLUMN(word, ...) [PDNN_LIBRARY_##word] = {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/store/columns/operators.inc"
};
const struct pdnn_table_def pdnn_library_def = {
    "operators", "one row per measurement of an operator, which compose adds", columns, PDNN_LIBRARY_COLUMNS};

/* The last measurement that a host made of an operator, by the time that it began. */
struct last {
    const char *host, *reason; /* in the arena */
    int64_t started_unix_ms;
    enum pdnn_outcome outcome;
    struct last *next;
};

struct entry { /* all of it in the arena */
    double *ns;
    size_t count, room;
    struct last *last; /* by host */
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

static struct entry *entry_of(struct pdnn_library *library, const char *context, const char *key) {
    char text[FULL_KEY_TEXT];
    size_t before = library->keys.count;
    snprintf(text, sizeof text, "%s %s", context, key);
    size_t number = pdnn_texts_add(&library->keys, text);
    library->entries = pdnn_grow(library->entries, &library->room, number, sizeof *library->entries);
    if (library->keys.count > before)
        library->entries[number] = (struct entry){.ns = NULL};
    return &library->entries[number];
}

/* A new one precedes all times. */
static struct last *last_of(struct pdnn_library *library, struct entry *entry, const char *host) {
    struct last *last = entry->last;
    while (last && strcmp(last->host, host) != 0)
        last = last->next;
    if (last)
        return last;
    last = pdnn_arena_alloc(&library->arena, 1, sizeof *last);
    *last = (struct last){
        .host = pdnn_arena_strdup(&library->arena, host), .started_unix_ms = INT64_MIN, .next = entry->last};
    return entry->last = last;
}

/* Any host's success outranks the failures of others, whatever their order in the file. */
static struct pdnn_library_times times_of(const struct entry *entry) {
    const struct last *best = entry->last; /* there is one from the first row on */
    for (const struct last *last = best; last; last = last->next)
        if (last->outcome == PDNN_OUTCOME_OK)
            best = last;
    return (struct pdnn_library_times){entry->ns, entry->count, best->outcome, best->reason};
}

/* Makes the row known. */
static void remember(struct pdnn_library *library, const struct pdnn_table *table, size_t row) {
    struct entry *entry = entry_of(library, pdnn_table_text(table, row, PDNN_LIBRARY_CONTEXT),
                                   pdnn_table_text(table, row, PDNN_LIBRARY_OPERATOR));
    struct last *last = last_of(library, entry, pdnn_table_text(table, row, PDNN_LIBRARY_HOST));
    struct pdnn_visit visit = {0};
    pdnn_record_take(table, row, false, &visit);
    if (visit.started_unix_ms >= last->started_unix_ms) {
        last->started_unix_ms = visit.started_unix_ms;
        last->outcome = visit.outcome;
        last->reason = pdnn_arena_strdup(&library->arena, visit.reason);
    }
    if (visit.outcome != PDNN_OUTCOME_OK)
        return;
    entry->ns = pdnn_arena_grow(&library->arena, entry->ns, &entry->room, entry->count, sizeof *entry->ns);
    entry->ns[entry->count++] = visit.median_ns;
}

static enum pdnn_status check_row(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    struct pdnn_visit visit = {0};
    if (pdnn_record_check(table, row, err) != PDNN_OK)
        return err->status;
    pdnn_record_take(table, row, false, &visit);
    if (visit.outcome == PDNN_OUTCOME_OK && !(isfinite(visit.median_ns) && visit.median_ns > 0))
        return pdnn_fail(err, PDNN_INVALID, "a row that is ok needs a time_ns_median above 0");
    return PDNN_OK;
}

/* Where the library is given, it has the file open, and keeps its complete rows. */
static enum pdnn_status read_rows(const char *directory, struct pdnn_library *library,
                                  struct pdnn_table *table, struct pdnn_err *err) {
    struct pdnn_log_scan scan;
    struct pdnn_table_file read = {.path = scan.path, .check = check_row};
    struct pdnn_str rows = {0};
    pdnn_table_csv_header(&rows, &pdnn_library_def);
    enum pdnn_status status = pdnn_log_scan_open(&scan, directory, &pdnn_library_def, err);
    for (struct pdnn_piece line = {"", 0}; status == PDNN_OK && line.text;) {
        status = pdnn_log_scan_row(&scan, &line, NULL, 0, err);
        if (status == PDNN_OK && line.text)
            pdnn_str_append(&rows, line.text, line.length);
    }
    if (library)
        pdnn_log_file_keep(&library->file, &scan, scan.mark + rows.length);
    if (status == PDNN_OK)
        status = pdnn_table_read_text(&read, rows.text, rows.length, &pdnn_library_def, table, err);
    pdnn_log_scan_close(&scan);
    pdnn_str_finish(&rows);
    return status;
}

enum pdnn_status pdnn_library_open(const char *directory, struct pdnn_library **library,
                                   struct pdnn_err *err) {
    struct pdnn_library *made = pdnn_alloc(1, sizeof *made);
    struct pdnn_table table = {0};
    made->folder.fd = -1;
    enum pdnn_status status = pdnn_folder_ensure(directory, err);
    if (status == PDNN_OK)
        status = pdnn_folder_open(&made->folder, directory, err);
    pdnn_log_file_init(&made->file, &made->folder, &pdnn_library_def);
    if (status == PDNN_OK)
        status = pdnn_log_file_open(&made->file, true, err);
    if (status == PDNN_OK)
        status = read_rows(directory, made, &table, err);
    for (size_t row = 0; row < table.n_rows; row++)
        remember(made, &table, row);
    pdnn_table_finish(&table);
    if (status == PDNN_OK)
        status = pdnn_log_file_settle(&made->file, err);
    if (status == PDNN_OK)
        *library = made;
    else
        pdnn_library_close(made);
    return status;
}

void pdnn_library_close(struct pdnn_library *library) {
    if (!library)
        return;
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
    snprintf(text, sizeof text, "%s %s", context, key);
    size_t number = pdnn_texts_find(&library->keys, text);
    if (number != SIZE_MAX)
        *times = times_of(&library->entries[number]);
    return number != SIZE_MAX;
}

size_t pdnn_library_next(const struct pdnn_library *library, size_t at, const char *context, const char **key,
                         struct pdnn_library_times *times) {
    size_t length = strlen(context);
    while (at < library->keys.count) {
        const char *text = library->keys.text[at];
        *times = times_of(&library->entries[at++]);
        *key = text + length + 1;
        if (strncmp(text, context, length) == 0 && text[length] == ' ')
            return at;
    }
    return 0;
}

enum pdnn_status pdnn_library_add(struct pdnn_library *library, const struct pdnn_library_row *measured,
                                  struct pdnn_err *err) {
    struct pdnn_str line = {0};
    struct pdnn_table table;
    pdnn_table_init(&table, &pdnn_library_def);
    const size_t row = pdnn_table_add_texts(&table, 1, &measured->context);
    pdnn_record_put(&table, row, measured->visit);
    pdnn_table_set_text(&table, row, PDNN_LIBRARY_HOST, measured->host);
    pdnn_table_set_text(&table, row, PDNN_LIBRARY_SOFTWARE, measured->software);
    pdnn_table_set_text(&table, row, PDNN_LIBRARY_OPERATOR, measured->key);
    pdnn_log_row_flatten(&table, row);
    pdnn_table_csv_rows(&line, &table);
    enum pdnn_status status = pdnn_log_file_append(&library->file, &line, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_check(&library->file, err);
    if (status == PDNN_OK)
        remember(library, &table, row);
    pdnn_str_finish(&line);
    pdnn_table_finish(&table);
    return status;
}

enum pdnn_status pdnn_library_read(const char *directory, struct pdnn_table *table, struct pdnn_err *err) {
    *table = (struct pdnn_table){0};
    return read_rows(directory, NULL, table, err);
}
