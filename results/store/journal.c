#include "results/store/journal.h"

#include "base/file.h"
#include "base/memory.h"
#include "results/store/columns.h"
#include "results/store/journal_scan.h"
#include "results/store/log_file.h"
#include "results/store/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_COLUMN = 1 };

struct pdnn_journal {
    struct pdnn_log_file visits, ops;
    struct pdnn_visits known;
};

/* What was read of both files, and how far reading has got. */
struct loading {
    struct pdnn_visits *known;
    const char *visits_path, *ops_path; /* for messages */
    struct pdnn_csv visits, ops;
    size_t next_op;
    struct pdnn_texts visited; /* the ids in journal.csv, once a row of journal-ops.csv was not as expected */
    bool *pruned; /* by row of journal-ops.csv: its instance is not in journal.csv; NULL: none is */
    struct pdnn_visit_op *room; /* for the ops of one visit */
    size_t n_room;
};

static enum pdnn_status parse_row(const struct pdnn_columns *columns, const char *path,
                                  const struct pdnn_csv *csv, size_t number, void *row,
                                  struct pdnn_err *err) {
    for (size_t i = 0; i < columns->count; i++) {
        const struct pdnn_column *column = &columns->column[i];
        const char *cell = pdnn_csv_get(csv, number, (int)i);
        if (!pdnn_column_parse(column, row, cell))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.40s' is not a value for column '%s'", path,
                             csv->lines[number], cell, column->name);
    }
    return PDNN_OK;
}

/* The reverse of split_key. */
static bool join_key(const struct pdnn_journal_op_row *row, char key[PDNN_OP_KEY_TEXT]) {
    const char *const parts[] = {row->op, row->pass, row->shape};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i]);
        if (used + length + 1 > PDNN_OP_KEY_TEXT)
            return false;
        memcpy(key + used, parts[i], length);
        used += length;
        key[used++] = '/';
    }
    key[used - 1] = 0;
    return true;
}

static bool take_op(const struct pdnn_journal_op_row *row, struct pdnn_visit_op *op) {
    memcpy(op->layer, row->layer, sizeof op->layer);
    memcpy(op->implementation, row->implementation, sizeof op->implementation);
    op->count = (uint32_t)row->count;
    op->bytes = row->bytes;
    op->time_ns = row->time_ns;
    return join_key(row, op->key) && row->count <= UINT32_MAX;
}

static void make_room(struct loading *loading, size_t count) {
    if (count <= loading->n_room)
        return;
    loading->room = pdnn_resize(loading->room, count, sizeof *loading->room);
    loading->n_room = count;
}

/* Whether journal.csv no longer has the instance of this row of journal-ops.csv: `paradnn prune` was killed
 * between the two files. */
static bool is_pruned(struct loading *loading, size_t number) {
    for (size_t i = 0; i < loading->visits.n_rows && !loading->pruned; i++)
        pdnn_texts_add(&loading->visited, pdnn_csv_get(&loading->visits, i, ID_COLUMN));
    if (!loading->pruned)
        loading->pruned = pdnn_alloc(loading->ops.n_rows + 1, sizeof *loading->pruned);
    const char *id = pdnn_csv_get(&loading->ops, number, 0);
    return loading->pruned[number] = pdnn_texts_find(&loading->visited, id) == SIZE_MAX;
}

static void skip_pruned(struct loading *loading, const char *id) {
    while (loading->next_op < loading->ops.n_rows &&
           strcmp(pdnn_csv_get(&loading->ops, loading->next_op, 0), id) != 0 &&
           is_pruned(loading, loading->next_op))
        loading->next_op++;
}

/* The next `count` rows of journal-ops.csv, which belong to this visit. */
static enum pdnn_status load_ops(struct loading *loading, const struct pdnn_journal_row *row, size_t count,
                                 struct pdnn_err *err) {
    const char *path = loading->ops_path;
    if (count)
        skip_pruned(loading, row->id);
    if (count > loading->ops.n_rows - loading->next_op)
        return pdnn_fail(err, PDNN_INVALID, "%s: ends before visit %" PRIu64 " of %s has its %zu ops", path,
                         row->number, row->id, count);
    make_room(loading, count);
    for (size_t i = 0; i < count; i++) {
        struct pdnn_journal_op_row op = {.visit = 0};
        size_t number = loading->next_op++;
        if (parse_row(&pdnn_journal_ops_columns, path, &loading->ops, number, &op, err) != PDNN_OK)
            return err->status;
        if (strcmp(op.id, row->id) != 0 || op.visit != row->number || !take_op(&op, &loading->room[i]))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: is not op %zu of visit %" PRIu64 " of %s", path,
                             loading->ops.lines[number], i + 1, row->number, row->id);
    }
    return PDNN_OK;
}

static enum pdnn_status load_visit(struct loading *loading, size_t number, struct pdnn_err *err) {
    const char *path = loading->visits_path;
    struct pdnn_journal_row row = {.schema = 0};
    char id[PDNN_ID_TEXT];
    enum pdnn_status status = parse_row(&pdnn_journal_columns, path, &loading->visits, number, &row, err);
    if (status != PDNN_OK)
        return status;
    if (row.schema != PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: schema %" PRIu64 ", this program reads %d", path,
                         loading->visits.lines[number], row.schema, PDNN_SCHEMA);
    if (load_ops(loading, &row, (size_t)row.n_ops, err) != PDNN_OK)
        return err->status;
    row.visit.ops = loading->room;
    row.visit.n_ops = (size_t)row.n_ops;
    pdnn_visits_add(loading->known, pdnn_instance_reprint(row.id, id), &row.visit);
    return PDNN_OK;
}

static void finish_loading(struct loading *loading) {
    pdnn_csv_finish(&loading->visits);
    pdnn_csv_finish(&loading->ops);
    pdnn_texts_finish(&loading->visited);
    free(loading->pruned);
    free(loading->room);
}

/* Completes what a killed prune left: journal-ops.csv without the ops of instances that are gone. */
static enum pdnn_status drop_pruned(struct pdnn_journal *journal, const struct loading *loading,
                                    struct pdnn_err *err) {
    struct pdnn_str kept = {0};
    char *text;
    enum pdnn_status status = pdnn_file_read(journal->ops.path, SIZE_MAX >> 1, &text, NULL, err);
    if (status != PDNN_OK)
        return status;
    pdnn_columns_header(&pdnn_journal_ops_columns, &kept);
    for (size_t i = 0; i < loading->next_op; i++) {
        size_t from = pdnn_csv_row_offset(&loading->ops, i);
        size_t end = i + 1 < loading->ops.n_rows ? pdnn_csv_row_offset(&loading->ops, i + 1)
                                                 : loading->ops.complete_bytes;
        if (!loading->pruned[i])
            pdnn_str_append(&kept, text + from, end - from);
    }
    free(text);
    status =
        pdnn_folder_replace(journal->ops.folder, pdnn_journal_ops_columns.table, kept.text, kept.length, err);
    if (status == PDNN_OK)
        journal->ops.length = kept.length;
    pdnn_str_finish(&kept);
    return status;
}

static enum pdnn_status load(struct pdnn_journal *journal, struct pdnn_err *err) {
    struct loading loading = {
        .known = &journal->known, .visits_path = journal->visits.path, .ops_path = journal->ops.path};
    enum pdnn_status status = pdnn_log_file_load(&journal->visits, &loading.visits, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_load(&journal->ops, &loading.ops, err);
    for (size_t i = 0; status == PDNN_OK && i < loading.visits.n_rows; i++)
        status = load_visit(&loading, i, err);
    if (status == PDNN_OK && loading.next_op < loading.ops.n_rows)
        pdnn_log_file_keep(&journal->ops, pdnn_csv_row_offset(&loading.ops, loading.next_op));
    if (status == PDNN_OK && loading.pruned)
        status = drop_pruned(journal, &loading, err);
    finish_loading(&loading);
    return status;
}

/* The text becomes the table's, also on failure. */
static enum pdnn_status parse_text(const char *path, struct pdnn_str *text, struct pdnn_csv *csv,
                                   struct pdnn_err *err) {
    char *taken = text->text;
    size_t length = text->length;
    *text = (struct pdnn_str){0};
    return pdnn_csv_parse(path, taken, length, PDNN_CSV_STRICT, csv, err);
}

enum pdnn_status pdnn_journal_parse(const char *path, struct pdnn_str *visits, struct pdnn_str *ops,
                                    struct pdnn_visits *known, struct pdnn_err *err) {
    struct loading loading = {.known = known, .visits_path = path, .ops_path = path};
    enum pdnn_status status = parse_text(path, visits, &loading.visits, err);
    if (status == PDNN_OK)
        status = parse_text(path, ops, &loading.ops, err);
    for (size_t i = 0; status == PDNN_OK && i < loading.visits.n_rows; i++)
        status = load_visit(&loading, i, err);
    finish_loading(&loading);
    return status;
}

/* Each row with no ops. */
static enum pdnn_status copy_rows(struct pdnn_journal_scan *scan,
                                  bool (*wants)(const void *user, const char *id), const void *user,
                                  struct pdnn_str *rows, struct pdnn_err *err) {
    for (;;) {
        struct pdnn_scanned_visit visit;
        char today[PDNN_ID_TEXT];
        bool done;
        if (pdnn_journal_scan_next(scan, &visit, &done, err) != PDNN_OK || done)
            return done ? PDNN_OK : err->status;
        if (wants && !wants(user, pdnn_row_id(&visit.fields, today)))
            continue;
        pdnn_str_append(rows, visit.line.text, (size_t)(visit.fields.ops.text - visit.line.text));
        pdnn_str_append(rows, "0\n", 2);
    }
}

enum pdnn_status pdnn_journal_read(const char *directory, bool (*wants)(const void *user, const char *id),
                                   const void *user, struct pdnn_visits *known, struct pdnn_err *err) {
    struct pdnn_journal_scan scan;
    struct pdnn_str rows = {0}, ops = {0};
    pdnn_columns_header(&pdnn_journal_columns, &rows);
    pdnn_columns_header(&pdnn_journal_ops_columns, &ops);
    enum pdnn_status status = pdnn_journal_scan_open(&scan, directory, err);
    if (status == PDNN_OK)
        status = copy_rows(&scan, wants, user, &rows, err);
    if (status == PDNN_OK)
        status = pdnn_journal_parse(scan.visits.path, &rows, &ops, known, err);
    pdnn_journal_scan_close(&scan);
    pdnn_str_finish(&rows);
    pdnn_str_finish(&ops);
    return status;
}

enum pdnn_status pdnn_journal_open(const struct pdnn_folder *folder, struct pdnn_journal **journal,
                                   struct pdnn_err *err) {
    struct pdnn_journal *made = pdnn_alloc(1, sizeof *made);
    pdnn_log_file_init(&made->visits, folder, &pdnn_journal_columns);
    pdnn_log_file_init(&made->ops, folder, &pdnn_journal_ops_columns);
    enum pdnn_status status = pdnn_log_file_open(&made->visits, true, err);
    if (status == PDNN_OK)
        status = load(made, err);
    /* The existing contents are valid; from here on files may change. */
    if (status == PDNN_OK)
        status = pdnn_log_file_open(&made->ops, false, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_settle(&made->ops, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_settle(&made->visits, err);
    if (status != PDNN_OK) {
        pdnn_journal_close(made);
        return status;
    }
    *journal = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_journal_check(const struct pdnn_journal *journal, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_folder_check(journal->visits.folder, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_check(&journal->visits, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_check(&journal->ops, err);
    return status;
}

void pdnn_journal_close(struct pdnn_journal *journal) {
    if (!journal)
        return;
    pdnn_log_file_close(&journal->ops);
    pdnn_log_file_close(&journal->visits);
    pdnn_visits_finish(&journal->known);
    free(journal);
}

bool pdnn_journal_was_torn(const struct pdnn_journal *journal) {
    return journal->visits.torn || journal->ops.torn;
}

const struct pdnn_visits *pdnn_journal_visits(const struct pdnn_journal *journal) {
    return &journal->known;
}

/* A row must be one line, whatever a library's message contains. */
static void flatten(char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20)
            *text = ' ';
    }
}

/* Copies up to the next slash and steps over it; if `last`, copies all that is left. */
static void split_key(const char **at, bool last, char part[PDNN_OP_KEY_TEXT]) {
    size_t length = last ? strlen(*at) : strcspn(*at, "/");
    memcpy(part, *at, length);
    part[length] = 0;
    flatten(part);
    *at += length + ((*at)[length] == '/');
}

static void put_op(const struct pdnn_journal_row *visit, const struct pdnn_visit_op *op,
                   struct pdnn_str *lines) {
    struct pdnn_journal_op_row row = {
        .visit = visit->number, .count = op->count, .bytes = op->bytes, .time_ns = op->time_ns};
    const char *at = op->key;
    memcpy(row.id, visit->id, sizeof row.id);
    split_key(&at, false, row.op);
    split_key(&at, false, row.pass);
    split_key(&at, true, row.shape);
    memcpy(row.layer, op->layer, sizeof row.layer);
    memcpy(row.implementation, op->implementation, sizeof row.implementation);
    flatten(row.layer);
    flatten(row.implementation);
    pdnn_columns_row(&pdnn_journal_ops_columns, &row, lines);
}

/* Ops first: the visit's row commits them. */
static enum pdnn_status write_visit(struct pdnn_journal *journal, const struct pdnn_journal_row *row,
                                    const struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_str ops = {0}, line = {0};
    uint64_t before = journal->ops.length;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < visit->n_ops; i++)
        put_op(row, &visit->ops[i], &ops);
    pdnn_columns_row(&pdnn_journal_columns, row, &line);
    if (visit->n_ops)
        status = pdnn_log_file_append(&journal->ops, &ops, err);
    if (status == PDNN_OK) {
        status = pdnn_log_file_append(&journal->visits, &line, err);
        if (status != PDNN_OK)
            pdnn_log_file_take_back(&journal->ops, before);
    }
    pdnn_str_finish(&ops);
    pdnn_str_finish(&line);
    return status;
}

enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_journal_row row = {.schema = PDNN_SCHEMA, .visit = *visit};
    if (strlen(id) >= sizeof row.id)
        return pdnn_fail(err, PDNN_INVALID, "%s: the id '%.60s...' is too long", journal->visits.path, id);
    memcpy(row.id, id, strlen(id) + 1);
    flatten(row.id);
    flatten(row.visit.reason);
    row.number = pdnn_visits_of(&journal->known, row.id).count + 1;
    row.n_ops = visit->n_ops;
    /* Memory first: what is on disk must also be in memory. */
    pdnn_visits_add(&journal->known, row.id, &row.visit);
    enum pdnn_status status = write_visit(journal, &row, visit, err);
    if (status != PDNN_OK)
        pdnn_visits_drop_last(&journal->known, row.id);
    return status;
}

enum pdnn_status pdnn_journal_prune(struct pdnn_journal **journal, bool (*drops)(void *user, const char *id),
                                    void *user, struct pdnn_err *err) {
    struct pdnn_journal *open = *journal;
    const struct pdnn_folder *folder = open->visits.folder;
    struct pdnn_csv rows = {0};
    struct pdnn_str kept = {0};
    char *text = NULL, id[PDNN_ID_TEXT];
    enum pdnn_status status = pdnn_log_file_load(&open->visits, &rows, err);
    if (status == PDNN_OK)
        status = pdnn_file_read(open->visits.path, SIZE_MAX >> 1, &text, NULL, err);
    pdnn_columns_header(&pdnn_journal_columns, &kept);
    for (size_t i = 0; i < rows.n_rows && status == PDNN_OK; i++) {
        size_t from = pdnn_csv_row_offset(&rows, i);
        size_t end = i + 1 < rows.n_rows ? pdnn_csv_row_offset(&rows, i + 1) : rows.complete_bytes;
        if (!drops(user, pdnn_instance_reprint(pdnn_csv_get(&rows, i, ID_COLUMN), id)))
            pdnn_str_append(&kept, text + from, end - from);
    }
    free(text);
    pdnn_csv_finish(&rows);
    if (status == PDNN_OK)
        status = pdnn_folder_replace(folder, pdnn_journal_columns.table, kept.text, kept.length, err);
    pdnn_str_finish(&kept);
    if (status != PDNN_OK)
        return status;
    /* Its rows are gone; opening it again completes the other file. */
    pdnn_journal_close(open);
    *journal = NULL;
    return pdnn_journal_open(folder, journal, err);
}
