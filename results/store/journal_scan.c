#define _POSIX_C_SOURCE 200809L
#include "results/store/journal_scan.h"

#include "results/store/results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum pdnn_status pdnn_journal_scan_open(struct pdnn_journal_scan *scan, const char *directory,
                                        struct pdnn_err *err) {
    *scan = (struct pdnn_journal_scan){.ops.fd = -1};
    enum pdnn_status status = pdnn_log_scan_open(&scan->visits, directory, &pdnn_journal_def, err);
    if (status == PDNN_OK && scan->visits.fd < 0)
        status = pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", scan->visits.path, strerror(ENOENT));
    return status == PDNN_OK ? pdnn_log_scan_open(&scan->ops, directory, &pdnn_journal_ops_def, err) : status;
}

void pdnn_journal_scan_rewind(struct pdnn_journal_scan *scan) {
    pdnn_log_scan_rewind(&scan->visits);
    pdnn_log_scan_rewind(&scan->ops);
}

void pdnn_journal_scan_rest(struct pdnn_journal_scan *scan) {
    pdnn_log_scan_rest(&scan->visits);
    pdnn_log_scan_rest(&scan->ops);
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

const char *pdnn_row_id(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS], char today[PDNN_ID_TEXT]) {
    char text[PDNN_ID_TEXT];
    return pdnn_instance_reprint(plain(field[PDNN_JOURNAL_ID], text, sizeof text), today);
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
static bool parse_small(struct pdnn_piece span, size_t *value) {
    *value = 0;
    for (size_t i = 0; i < span.length; i++) {
        if (span.text[i] < '0' || span.text[i] > '9')
            return false;
        *value = *value * 10 + (size_t)(span.text[i] - '0');
    }
    return span.length > 0 && span.length < 10;
}

/* False if it is not a row. */
static bool note_stray(struct pdnn_journal_scan *scan, struct pdnn_piece line) {
    struct pdnn_piece id;
    char text[PDNN_ID_TEXT], today[PDNN_ID_TEXT];
    if (pdnn_csv_split(line.text, line.length - 1, &id, 1) != PDNN_JOURNAL_OPS_COLUMNS)
        return false;
    const size_t known = scan->stray_ids.count;
    if (pdnn_texts_add(&scan->stray_ids, pdnn_instance_reprint(plain(id, text, sizeof text), today)) == known)
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
    size_t n_ops, schema;
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
