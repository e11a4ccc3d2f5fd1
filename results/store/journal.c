#define _POSIX_C_SOURCE 200809L
#include "results/store/journal.h"

#include "base/memory.h"
#include "models/zoo/catalog.h"
#include "results/store/results.h"
#include "results/table/record.h"
#include "results/table/write.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT  .kind = PDNN_KIND_COUNT
#define NUMBER .kind = PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT

#define AT(member)       .field = PDNN_FIELD(pdnn_visit, member)
#define AS(form, member) .field = PDNN_FIELD_AS(form, pdnn_visit, member)
#define OP_AT(member)    .field = PDNN_FIELD(pdnn_visit_op, member)

#define JOURNAL_COLUMN(word, ...) [PDNN_JOURNAL_##word] = {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/store/columns/journal.inc"
};
const struct pdnn_table_def pdnn_journal_def = {
    "journal", "one row per visit to an instance, appended as it happens; the source of the tables", columns,
    PDNN_JOURNAL_COLUMNS};

#define JOURNAL_OPS_COLUMN(word, ...) [PDNN_JOURNAL_OPS_##word] = {__VA_ARGS__},
static const struct pdnn_column_def op_columns[] = {
#include "results/store/columns/journal-ops.inc"
};
const struct pdnn_table_def pdnn_journal_ops_def = {
    "journal-ops", "one row per visit and operator, written before the visit's row commits them", op_columns,
    PDNN_JOURNAL_OPS_COLUMNS};

/* What is 0 was not measured: the visit did not get that far. With samples, a 0 of theirs is a 0. */
static bool is_measured(const struct pdnn_table *journal, size_t row, size_t column,
                        const struct pdnn_visit *visit) {
    if (column >= PDNN_JOURNAL_SAMPLES && column <= PDNN_JOURNAL_TIME_NS_MAD)
        return visit->samples > 0;
    if (column >= PDNN_JOURNAL_PAGE_FAULTS && column <= PDNN_JOURNAL_STEAL_PCT)
        return visit->hardware.has_usage;
    return column == PDNN_JOURNAL_PAGE_CACHE || pdnn_table_number(journal, row, column) != 0;
}

/* Add the visit, which is the instance's of that number, and one of its ops. A row is one line, whatever the
 * texts hold. */
static void put_visit(struct pdnn_table *journal, const char *id, uint64_t number,
                      const struct pdnn_visit *visit) {
    const size_t row = pdnn_table_add_row(journal);
    pdnn_record_put(journal, row, visit);
    for (size_t column = PDNN_JOURNAL_PREPARE_NS; column <= PDNN_JOURNAL_IPC; column++)
        if (!is_measured(journal, row, column, visit))
            pdnn_table_set_empty(journal, row, column);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_SCHEMA, PDNN_SCHEMA);
    pdnn_table_set_text(journal, row, PDNN_JOURNAL_ID, id);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_VISIT, number);
    if (!visit->samples)
        pdnn_table_set_empty(journal, row, PDNN_JOURNAL_STOP_REASON);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_OPS, visit->n_ops);
    pdnn_log_row_flatten(journal, row);
}

static void put_op(struct pdnn_table *ops, const char *id, uint64_t number, const struct pdnn_visit_op *op) {
    const size_t row = pdnn_table_add_row(ops);
    pdnn_record_put(ops, row, op);
    pdnn_table_set_text(ops, row, PDNN_JOURNAL_OPS_ID, id);
    pdnn_table_set_count(ops, row, PDNN_JOURNAL_OPS_VISIT, number);
    for (size_t column = PDNN_JOURNAL_OPS_EFFECTIVE_GHZ; column <= PDNN_JOURNAL_OPS_IPC; column++)
        if (!op->counted.instructions)
            pdnn_table_set_empty(ops, row, column);
    const char *rest = op->key; /* split at its first two slashes */
    for (size_t column = PDNN_JOURNAL_OPS_OP; column <= PDNN_JOURNAL_OPS_OP_SHAPE; column++) {
        size_t length = column == PDNN_JOURNAL_OPS_OP_SHAPE ? strlen(rest) : strcspn(rest, "/");
        char part[PDNN_OP_KEY_TEXT];
        snprintf(part, sizeof part, "%.*s", (int)length, rest);
        pdnn_table_set_text(ops, row, column, part);
        rest += length + (rest[length] == '/');
    }
    pdnn_log_row_flatten(ops, row);
}

/* The key of the row's op, or false if it is too long for one. */
static bool join_key(const struct pdnn_table *ops, size_t row, char key[PDNN_OP_KEY_TEXT]) {
    int length = snprintf(key, PDNN_OP_KEY_TEXT, "%s/%s/%s", pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP),
                          pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP_PASS),
                          pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP_SHAPE));
    return length >= 0 && length < PDNN_OP_KEY_TEXT;
}

static enum pdnn_status check_visit(const struct pdnn_table *journal, size_t row, struct pdnn_err *err) {
    if (strlen(pdnn_table_text(journal, row, PDNN_JOURNAL_ID)) >= PDNN_ID_TEXT)
        return pdnn_table_refuse(journal, row, PDNN_JOURNAL_ID, err);
    return pdnn_record_check(journal, row, err);
}

static enum pdnn_status check_op(const struct pdnn_table *ops, size_t row, struct pdnn_err *err) {
    char key[PDNN_OP_KEY_TEXT];
    if (!join_key(ops, row, key))
        return pdnn_table_refuse(ops, row, PDNN_JOURNAL_OPS_OP_SHAPE, err);
    return pdnn_record_check(ops, row, err);
}

enum pdnn_status pdnn_journal_scan_open(struct pdnn_journal_scan *scan, const char *directory,
                                        struct pdnn_err *err) {
    *scan = (struct pdnn_journal_scan){.ops.fd = -1};
    enum pdnn_status status = pdnn_catalog_read_directory(directory, err);
    if (status == PDNN_OK)
        status = pdnn_log_scan_open(&scan->visits, directory, &pdnn_journal_def, err);
    if (status == PDNN_OK && scan->visits.fd < 0)
        status = pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", scan->visits.path, strerror(ENOENT));
    return status == PDNN_OK ? pdnn_log_scan_open(&scan->ops, directory, &pdnn_journal_ops_def, err) : status;
}

void pdnn_journal_scan_rewind(struct pdnn_journal_scan *scan) {
    pdnn_log_scan_rewind(&scan->visits);
    pdnn_log_scan_rewind(&scan->ops);
}

void pdnn_journal_scan_close(struct pdnn_journal_scan *scan) {
    pdnn_log_scan_close(&scan->visits);
    pdnn_log_scan_close(&scan->ops);
    pdnn_texts_finish(&scan->stray_ids);
    pdnn_rows_finish(&scan->stray_lines);
}

/* A piece as a text of its own, without its quotes. */
static const char *plain(struct pdnn_piece piece, char *buffer, size_t size) {
    size_t quoted = piece.length > 1 && *piece.text == '"', length = piece.length - 2 * quoted;
    length = length < size ? length : size - 1;
    memcpy(buffer, piece.text + quoted, length);
    buffer[length] = 0;
    return buffer;
}

const char *pdnn_piece_id(struct pdnn_piece id, char today[PDNN_ID_TEXT]) {
    return pdnn_instance_reprint(plain(id, today, PDNN_ID_TEXT), today);
}

struct pdnn_visit pdnn_row_visit(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS]) {
    char text[PDNN_FLAGS_TEXT];
    struct pdnn_visit visit = {.outcome =
                                   pdnn_outcome_find(plain(field[PDNN_JOURNAL_STATUS], text, sizeof text))};
    visit.flags = pdnn_flags_parse(plain(field[PDNN_JOURNAL_ROW_FLAGS], text, sizeof text));
    visit.median_ns = strtod(plain(field[PDNN_JOURNAL_TIME_NS_MEDIAN], text, sizeof text), NULL);
    if (!pdnn_utc_parse(plain(field[PDNN_JOURNAL_STARTED_UTC], text, sizeof text), &visit.started_unix_ms))
        visit.started_unix_ms = 0;
    return visit;
}

struct pdnn_piece pdnn_row_rest(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS]) {
    const struct pdnn_piece number = field[PDNN_JOURNAL_VISIT], last = field[PDNN_JOURNAL_COLUMNS - 1];
    const char *rest = number.text + number.length;
    return (struct pdnn_piece){rest, (size_t)(last.text + last.length - rest)};
}

/* At most nine digits: no visit has more ops. */
static bool parse_small(struct pdnn_piece piece, uint64_t *value) {
    char text[PDNN_U64_DIGITS];
    return piece.length < 10 && pdnn_count_parse(plain(piece, text, sizeof text), value);
}

/* False if it is not a row. */
static bool note_stray(struct pdnn_journal_scan *scan, struct pdnn_piece line) {
    struct pdnn_piece id;
    char today[PDNN_ID_TEXT];
    if (pdnn_csv_split(line.text, line.length - 1, &id, 1) != PDNN_JOURNAL_OPS_COLUMNS)
        return false;
    const size_t known = scan->stray_ids.count;
    if (pdnn_texts_add(&scan->stray_ids, pdnn_piece_id(id, today)) == known)
        pdnn_rows_add(&scan->stray_lines, scan->ops.line);
    return true;
}

/* Ops begin with the visit's id and number, as its own row has them behind its schema. Rows of other
 * instances before the first of them were left by a killed prune. */
static enum pdnn_status take_ops(struct pdnn_journal_scan *scan, struct pdnn_scanned_visit *visit,
                                 size_t count, struct pdnn_err *err) {
    const struct pdnn_piece id = visit->field[PDNN_JOURNAL_ID], number = visit->field[PDNN_JOURNAL_VISIT];
    struct pdnn_log_scan *file = &scan->ops;
    const size_t key = (size_t)(number.text + number.length - id.text) + 1;
    char name[PDNN_ID_TEXT];
    plain(id, name, sizeof name);
    visit->ops_offset = file->offset + file->at;
    visit->ops_length = 0;
    for (size_t taken = 0; taken < count;) {
        struct pdnn_piece line;
        if (pdnn_log_scan_line(file, &line, err) != PDNN_OK)
            return err->status;
        if (!line.text)
            return pdnn_fail(err, PDNN_INVALID, "%s: ends before visit %.*s of %s has its %zu ops",
                             file->path, (int)number.length, number.text, name, count);
        bool is_of_id = line.length > id.length && memcmp(line.text, id.text, id.length) == 0 &&
                        line.text[id.length] == ',';
        if (!taken && !is_of_id && note_stray(scan, line))
            continue;
        if (line.length <= key || memcmp(line.text, id.text, key) != 0)
            return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": is not op %zu of visit %.*s of %s",
                             file->path, file->line, taken + 1, (int)number.length, number.text, name);
        if (!taken++)
            visit->ops_offset = file->offset + file->at - line.length;
        if (scan->ops_rows)
            pdnn_str_append(scan->ops_rows, line.text, line.length);
        visit->ops_length += line.length;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_journal_scan_next(struct pdnn_journal_scan *scan, struct pdnn_scanned_visit *visit,
                                        bool *done, struct pdnn_err *err) {
    struct pdnn_log_scan *file = &scan->visits;
    uint64_t n_ops, schema;
    *done = false;
    if (pdnn_log_scan_row(file, &visit->line, visit->field, PDNN_JOURNAL_COLUMNS, err) != PDNN_OK)
        return err->status;
    *done = !visit->line.text;
    if (*done)
        return PDNN_OK;
    visit->offset = file->offset + file->at - visit->line.length;
    const struct pdnn_piece first = visit->field[PDNN_JOURNAL_SCHEMA], last = visit->field[PDNN_JOURNAL_OPS];
    if (!parse_small(first, &schema) || schema != PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": schema %.*s, this program reads %d", file->path,
                         file->line, (int)first.length, first.text, PDNN_SCHEMA);
    if (!parse_small(last, &n_ops))
        return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": ops: '%.*s' is not a count", file->path,
                         file->line, (int)last.length, last.text);
    return take_ops(scan, visit, n_ops, err);
}

static const char *intern(struct pdnn_visits *visits, const char *text) {
    size_t number = pdnn_texts_add(&visits->texts, text); /* which may move the array */
    return visits->texts.text[number];
}

void pdnn_visits_add(struct pdnn_visits *visits, const char *id, const struct pdnn_visit *visit) {
    struct pdnn_measured_op *ops = pdnn_arena_alloc(&visits->arena, visit->n_ops + 1, sizeof *ops);
    for (size_t i = 0; i < visit->n_ops; i++) {
        const struct pdnn_visit_op *op = &visit->ops[i];
        ops[i] = (struct pdnn_measured_op){intern(visits, op->key),
                                           intern(visits, op->layer),
                                           intern(visits, op->implementation),
                                           op->bytes,
                                           op->extra,
                                           op->time_ns,
                                           op->counted,
                                           op->count};
    }
    visits->of = pdnn_grow(visits->of, &visits->room, visits->ids.count, sizeof *visits->of);
    size_t before = visits->ids.count, number = pdnn_texts_add(&visits->ids, id);
    if (number == before)
        visits->of[number] = (struct pdnn_instance_visits){0};
    struct pdnn_instance_visits *of = &visits->of[number];
    size_t room = of->room; /* of both */
    of->ops = pdnn_grow(of->ops, &room, of->count, sizeof *of->ops);
    of->visit = pdnn_grow(of->visit, &of->room, of->count, sizeof *of->visit);
    of->ops[of->count] = (struct pdnn_measured_ops){ops, visit->n_ops};
    of->visit[of->count] = *visit;
    of->visit[of->count].ops = NULL;
    of->visit[of->count++].n_ops = 0;
}

struct pdnn_instance_visits pdnn_visits_of(const struct pdnn_visits *visits, const char *id) {
    size_t number = pdnn_texts_find(&visits->ids, id);
    return number == SIZE_MAX ? (struct pdnn_instance_visits){0} : visits->of[number];
}

size_t pdnn_visits_most(const struct pdnn_visits *visits) {
    size_t most = 1;
    for (size_t i = 0; i < visits->ids.count; i++)
        most = visits->of[i].count > most ? visits->of[i].count : most;
    return most;
}

void pdnn_visits_finish(struct pdnn_visits *visits) {
    for (size_t i = 0; i < visits->ids.count; i++) {
        free(visits->of[i].visit);
        free(visits->of[i].ops);
    }
    free(visits->of);
    pdnn_texts_finish(&visits->ids);
    pdnn_texts_finish(&visits->texts);
    pdnn_arena_finish(&visits->arena);
    *visits = (struct pdnn_visits){0};
}

/* Adds a visit and its ops, which are the next rows of theirs, or none (NULL); false if there are fewer. */
static bool add_visit(const struct pdnn_table *visits, size_t row, const struct pdnn_table *ops,
                      size_t *next_op, struct pdnn_visits *known) {
    struct pdnn_visit visit = {.n_ops = ops ? pdnn_table_count(visits, row, PDNN_JOURNAL_OPS) : 0};
    char today[PDNN_ID_TEXT];
    if (ops && visit.n_ops > ops->n_rows - *next_op)
        return false;
    pdnn_record_take(visits, row, false, &visit);
    visit.hardware.has_usage = !pdnn_table_is_empty(visits, row, PDNN_JOURNAL_PAGE_FAULTS);
    if (pdnn_table_is_empty(visits, row, PDNN_JOURNAL_STEAL_PCT))
        visit.hardware.steal_pct = NAN;
    visit.ops = pdnn_alloc(visit.n_ops, sizeof *visit.ops);
    for (size_t i = 0; i < visit.n_ops; i++) {
        pdnn_record_take(ops, *next_op, false, &visit.ops[i]);
        join_key(ops, (*next_op)++, visit.ops[i].key);
    }
    pdnn_visits_add(known, pdnn_instance_reprint(pdnn_table_text(visits, row, PDNN_JOURNAL_ID), today),
                    &visit);
    free(visit.ops);
    return true;
}

enum pdnn_status pdnn_journal_parse(const char *visits_path, struct pdnn_str *visits_text,
                                    const char *ops_path, struct pdnn_str *ops_text,
                                    struct pdnn_visits *known, struct pdnn_err *err) {
    struct pdnn_table_file visits_file = {.path = visits_path, .check = check_visit},
                           ops_file = {.path = ops_path, .check = check_op};
    struct pdnn_table visits = {0}, ops = {0};
    size_t next_op = 0;
    enum pdnn_status status = pdnn_table_read_text(&visits_file, visits_text->text, visits_text->length,
                                                   &pdnn_journal_def, &visits, err);
    if (status == PDNN_OK && ops_text)
        status = pdnn_table_read_text(&ops_file, ops_text->text, ops_text->length, &pdnn_journal_ops_def,
                                      &ops, err);
    for (size_t row = 0; status == PDNN_OK && row < visits.n_rows; row++)
        if (!add_visit(&visits, row, ops_text ? &ops : NULL, &next_op, known))
            status = pdnn_fail(err, PDNN_INVALID, "%s: lacks the ops of line %zu of %s", ops_path, row + 2,
                               visits_path);
    pdnn_table_finish(&visits);
    pdnn_table_finish(&ops);
    return status;
}

/* The header and the visits that are wanted. */
static enum pdnn_status copy_rows(struct pdnn_journal_scan *scan,
                                  bool (*wants)(const void *user, const char *id), const void *user,
                                  struct pdnn_str *rows, struct pdnn_err *err) {
    pdnn_table_csv_header(rows, &pdnn_journal_def);
    for (;;) {
        struct pdnn_scanned_visit visit;
        char today[PDNN_ID_TEXT];
        bool done;
        if (pdnn_journal_scan_next(scan, &visit, &done, err) != PDNN_OK || done)
            return done ? PDNN_OK : err->status;
        if (wants && !wants(user, pdnn_piece_id(visit.field[PDNN_JOURNAL_ID], today)))
            continue;
        pdnn_str_append(rows, visit.line.text, visit.line.length);
    }
}

enum pdnn_status pdnn_journal_read(const char *directory, bool (*wants)(const void *user, const char *id),
                                   const void *user, struct pdnn_visits *known, struct pdnn_err *err) {
    struct pdnn_journal_scan scan;
    struct pdnn_str rows = {0};
    enum pdnn_status status = pdnn_journal_scan_open(&scan, directory, err);
    if (status == PDNN_OK)
        status = copy_rows(&scan, wants, user, &rows, err);
    if (status == PDNN_OK)
        status = pdnn_journal_parse(scan.visits.path, &rows, NULL, NULL, known, err);
    pdnn_journal_scan_close(&scan);
    pdnn_str_finish(&rows);
    return status;
}

/* Strays are ops of instances that a killed prune has dropped, or the file was edited. */
static enum pdnn_status check_strays(const struct pdnn_journal *journal, const struct pdnn_journal_scan *scan,
                                     struct pdnn_err *err) {
    for (size_t i = 0; i < scan->stray_ids.count; i++)
        if (pdnn_texts_find(&journal->known.ids, scan->stray_ids.text[i]) != SIZE_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: an op of %s that belongs to none of its visits",
                             scan->ops.path, scan->stray_lines.at[i], scan->stray_ids.text[i]);
    return PDNN_OK;
}

/* Completes what a killed prune left: journal-ops.csv without the ops of instances that are gone. */
static enum pdnn_status load(struct pdnn_journal *journal, bool *is_older, struct pdnn_err *err) {
    struct pdnn_log_file *file = &journal->ops;
    struct pdnn_str rows = {0}, ops = {0}, kept = {0};
    struct pdnn_journal_scan scan;
    pdnn_table_csv_header(&ops, &pdnn_journal_ops_def);
    enum pdnn_status status = pdnn_journal_scan_open(&scan, journal->visits.folder->path, err);
    scan.ops_rows = &ops;
    if (status == PDNN_OK)
        status = copy_rows(&scan, NULL, NULL, &rows, err);
    *is_older = scan.visits.is_older || scan.ops.is_older;
    pdnn_log_file_keep(&journal->visits, &scan.visits, scan.visits.mark + rows.length);
    pdnn_log_file_keep(file, &scan.ops, scan.ops.offset + scan.ops.at);
    if (scan.stray_ids.count)
        pdnn_str_append(&kept, ops.text, ops.length);
    if (status == PDNN_OK)
        status = pdnn_journal_parse(journal->visits.path, &rows, file->path, &ops, &journal->known, err);
    if (status == PDNN_OK)
        status = check_strays(journal, &scan, err);
    if (status == PDNN_OK && kept.length) {
        status = pdnn_folder_replace(file->folder, file->name, kept.text, kept.length, err);
        file->length = kept.length;
    }
    pdnn_journal_scan_close(&scan);
    pdnn_str_finish(&rows);
    pdnn_str_finish(&ops);
    pdnn_str_finish(&kept);
    return status;
}

/* Of the schema before: the files are converted, each by itself, and opened again. */
static enum pdnn_status convert(struct pdnn_journal *journal, struct pdnn_journal **opened,
                                struct pdnn_err *err) {
    const struct pdnn_folder *folder = journal->visits.folder;
    enum pdnn_status status = pdnn_log_file_convert(folder, &pdnn_journal_ops_def, err);
    if (status == PDNN_OK)
        status = pdnn_log_file_convert(folder, &pdnn_journal_def, err);
    pdnn_journal_close(journal);
    return status == PDNN_OK ? pdnn_journal_open(folder, opened, err) : status;
}

enum pdnn_status pdnn_journal_open(const struct pdnn_folder *folder, struct pdnn_journal **journal,
                                   struct pdnn_err *err) {
    struct pdnn_journal *made = pdnn_alloc(1, sizeof *made);
    pdnn_log_file_init(&made->visits, folder, &pdnn_journal_def);
    pdnn_log_file_init(&made->ops, folder, &pdnn_journal_ops_def);
    /* Once the existing contents are valid, files may change. */
    bool is_older = false;
    enum pdnn_status status = pdnn_log_file_open(&made->visits, true, err);
    if (status == PDNN_OK)
        status = pdnn_catalog_read_directory(folder->path, err);
    if (status == PDNN_OK)
        status = load(made, &is_older, err);
    if (status == PDNN_OK && is_older)
        return convert(made, journal, err);
    if (status != PDNN_OK || pdnn_log_file_open(&made->ops, false, err) != PDNN_OK ||
        pdnn_log_file_settle(&made->ops, err) != PDNN_OK ||
        pdnn_log_file_settle(&made->visits, err) != PDNN_OK) {
        pdnn_journal_close(made);
        return err->status;
    }
    *journal = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_journal_check(const struct pdnn_journal *journal, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_folder_check(journal->visits.folder, err);
    status = status == PDNN_OK ? pdnn_log_file_check(&journal->visits, err) : status;
    return status == PDNN_OK ? pdnn_log_file_check(&journal->ops, err) : status;
}

void pdnn_journal_close(struct pdnn_journal *journal) {
    if (!journal)
        return;
    pdnn_log_file_close(&journal->ops);
    pdnn_log_file_close(&journal->visits);
    pdnn_visits_finish(&journal->known);
    free(journal);
}

enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_table visits, ops;
    struct pdnn_str line = {0}, op_lines = {0};
    const uint64_t number = pdnn_visits_of(&journal->known, id).count + 1, before = journal->ops.length;
    enum pdnn_status status = PDNN_OK;
    if (strlen(id) >= PDNN_ID_TEXT)
        return pdnn_fail(err, PDNN_INVALID, "%s: the id '%.60s...' is too long", journal->visits.path, id);
    pdnn_table_init(&visits, &pdnn_journal_def);
    pdnn_table_init(&ops, &pdnn_journal_ops_def);
    put_visit(&visits, id, number, visit);
    for (size_t i = 0; i < visit->n_ops; i++)
        put_op(&ops, id, number, &visit->ops[i]);
    pdnn_table_csv_rows(&line, &visits);
    pdnn_table_csv_rows(&op_lines, &ops);
    /* Ops first: the visit's row commits them. */
    if (visit->n_ops)
        status = pdnn_log_file_append(&journal->ops, &op_lines, err);
    if (status == PDNN_OK && (status = pdnn_log_file_append(&journal->visits, &line, err)) != PDNN_OK)
        pdnn_log_file_take_back(&journal->ops, before);
    if (status == PDNN_OK)
        add_visit(&visits, 0, &ops, &(size_t){0}, &journal->known);
    pdnn_str_finish(&line);
    pdnn_str_finish(&op_lines);
    pdnn_table_finish(&visits);
    pdnn_table_finish(&ops);
    return status;
}

enum pdnn_status pdnn_journal_prune(struct pdnn_journal **journal,
                                    bool (*keeps)(const void *user, const char *id), const void *user,
                                    struct pdnn_err *err) {
    const struct pdnn_folder *folder = (*journal)->visits.folder;
    struct pdnn_journal_scan scan;
    struct pdnn_str rows = {0};
    enum pdnn_status status = pdnn_journal_scan_open(&scan, folder->path, err);
    if (status == PDNN_OK)
        status = copy_rows(&scan, keeps, user, &rows, err);
    if (status == PDNN_OK)
        status = pdnn_folder_replace(folder, (*journal)->visits.name, rows.text, rows.length, err);
    pdnn_journal_scan_close(&scan);
    pdnn_str_finish(&rows);
    if (status != PDNN_OK)
        return status;
    /* Its rows are gone; opening it again completes the other file. */
    pdnn_journal_close(*journal);
    *journal = NULL;
    return pdnn_journal_open(folder, journal, err);
}
