#include "results/store/journal.h"

#include "base/memory.h"
#include "results/store/journal_scan.h"
#include "results/store/journal_table.h"
#include "results/table/write.h"

#include <stdlib.h>
#include <string.h>

struct pdnn_journal {
    struct pdnn_log_file visits, ops;
    struct pdnn_visits known;
};

/* Adds a visit and its ops, which are the next rows of theirs; false if there are fewer. */
static bool add_visit(const struct pdnn_table *visits, size_t row, const struct pdnn_table *ops,
                      size_t *next_op, struct pdnn_visits *known) {
    struct pdnn_visit visit = pdnn_journal_visit(visits, row);
    char today[PDNN_ID_TEXT];
    if (visit.n_ops > ops->n_rows - *next_op)
        return false;
    visit.ops = pdnn_alloc(visit.n_ops, sizeof *visit.ops);
    for (size_t i = 0; i < visit.n_ops; i++)
        visit.ops[i] = pdnn_journal_op(ops, (*next_op)++);
    pdnn_visits_add(known, pdnn_instance_reprint(pdnn_table_text(visits, row, PDNN_JOURNAL_ID), today),
                    &visit);
    free(visit.ops);
    return true;
}

enum pdnn_status pdnn_journal_parse(const char *visits_path, struct pdnn_str *visits_text,
                                    const char *ops_path, struct pdnn_str *ops_text,
                                    struct pdnn_visits *known, struct pdnn_err *err) {
    struct pdnn_table_file visits_file = {.path = visits_path, .check = pdnn_journal_check_visit},
                           ops_file = {.path = ops_path, .check = pdnn_journal_check_op};
    struct pdnn_table visits = {0}, ops = {0};
    size_t next_op = 0;
    enum pdnn_status status = pdnn_table_read_text(&visits_file, visits_text->text, visits_text->length,
                                                   &pdnn_journal_def, &visits, err);
    if (status == PDNN_OK)
        status = pdnn_table_read_text(&ops_file, ops_text->text, ops_text->length, &pdnn_journal_ops_def,
                                      &ops, err);
    for (size_t row = 0; status == PDNN_OK && row < visits.n_rows; row++)
        if (!add_visit(&visits, row, &ops, &next_op, known))
            status = pdnn_fail(err, PDNN_INVALID, "%s: lacks the ops of line %zu of %s", ops_path, row + 2,
                               visits_path);
    pdnn_table_finish(&visits);
    pdnn_table_finish(&ops);
    return status;
}

/* The header and the visits that are wanted, each with its ops or as one with none. */
static enum pdnn_status copy_rows(struct pdnn_journal_scan *scan,
                                  bool (*wants)(const void *user, const char *id), const void *user,
                                  bool with_ops, struct pdnn_str *rows, struct pdnn_err *err) {
    pdnn_table_csv_header(rows, &pdnn_journal_def);
    for (;;) {
        struct pdnn_scanned_visit visit;
        char today[PDNN_ID_TEXT];
        bool done;
        if (pdnn_journal_scan_next(scan, &visit, &done, err) != PDNN_OK || done)
            return done ? PDNN_OK : err->status;
        if (wants && !wants(user, pdnn_row_id(visit.field, today)))
            continue;
        if (with_ops) {
            pdnn_str_append(rows, visit.line.text, visit.line.length);
        } else {
            pdnn_str_append(rows, visit.line.text,
                            (size_t)(visit.field[PDNN_JOURNAL_OPS].text - visit.line.text));
            pdnn_str_append(rows, "0\n", 2);
        }
    }
}

enum pdnn_status pdnn_journal_read(const char *directory, bool (*wants)(const void *user, const char *id),
                                   const void *user, struct pdnn_visits *known, struct pdnn_err *err) {
    struct pdnn_journal_scan scan;
    struct pdnn_str rows = {0}, ops = {0};
    pdnn_table_csv_header(&ops, &pdnn_journal_ops_def);
    enum pdnn_status status = pdnn_journal_scan_open(&scan, directory, err);
    if (status == PDNN_OK)
        status = copy_rows(&scan, wants, user, false, &rows, err);
    if (status == PDNN_OK)
        status = pdnn_journal_parse(scan.visits.path, &rows, "", &ops, known, err);
    pdnn_journal_scan_close(&scan);
    pdnn_str_finish(&rows);
    pdnn_str_finish(&ops);
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
static enum pdnn_status load(struct pdnn_journal *journal, struct pdnn_err *err) {
    struct pdnn_log_file *file = &journal->ops;
    struct pdnn_str rows = {0}, ops = {0}, kept = {0};
    struct pdnn_journal_scan scan;
    pdnn_table_csv_header(&ops, &pdnn_journal_ops_def);
    enum pdnn_status status = pdnn_journal_scan_open(&scan, journal->visits.folder->path, err);
    scan.ops_rows = &ops;
    if (status == PDNN_OK)
        status = copy_rows(&scan, NULL, NULL, true, &rows, err);
    pdnn_log_file_keep(&journal->visits, &scan.visits, rows.length);
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

enum pdnn_status pdnn_journal_open(const struct pdnn_folder *folder, struct pdnn_journal **journal,
                                   struct pdnn_err *err) {
    struct pdnn_journal *made = pdnn_alloc(1, sizeof *made);
    pdnn_log_file_init(&made->visits, folder, &pdnn_journal_def);
    pdnn_log_file_init(&made->ops, folder, &pdnn_journal_ops_def);
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

/* Ops first: the visit's row commits them. */
static enum pdnn_status write_visit(struct pdnn_journal *journal, const struct pdnn_table *visits,
                                    const struct pdnn_table *ops, struct pdnn_err *err) {
    struct pdnn_str op_lines = {0}, line = {0};
    uint64_t before = journal->ops.length;
    enum pdnn_status status = PDNN_OK;
    pdnn_table_csv_rows(&op_lines, ops);
    pdnn_table_csv_rows(&line, visits);
    if (ops->n_rows)
        status = pdnn_log_file_append(&journal->ops, &op_lines, err);
    if (status == PDNN_OK) {
        status = pdnn_log_file_append(&journal->visits, &line, err);
        if (status != PDNN_OK)
            pdnn_log_file_take_back(&journal->ops, before);
    }
    pdnn_str_finish(&op_lines);
    pdnn_str_finish(&line);
    return status;
}

enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_table visits, ops;
    if (strlen(id) >= PDNN_ID_TEXT)
        return pdnn_fail(err, PDNN_INVALID, "%s: the id '%.60s...' is too long", journal->visits.path, id);
    pdnn_table_init(&visits, &pdnn_journal_def);
    pdnn_table_init(&ops, &pdnn_journal_ops_def);
    uint64_t number = pdnn_visits_of(&journal->known, id).count + 1;
    pdnn_journal_add(&visits, id, number, visit);
    for (size_t i = 0; i < visit->n_ops; i++)
        pdnn_journal_add_op(&ops, id, number, &visit->ops[i]);
    size_t next_op = 0;
    enum pdnn_status status = write_visit(journal, &visits, &ops, err);
    if (status == PDNN_OK)
        add_visit(&visits, 0, &ops, &next_op, &journal->known);
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
        status = copy_rows(&scan, keeps, user, true, &rows, err);
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
