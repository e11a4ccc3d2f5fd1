#include "results/store/journal.h"

#include "base/memory.h"
#include "results/store/journal_scan.h"
#include "results/store/journal_table.h"
#include "results/store/log_file.h"
#include "results/table/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pdnn_journal {
    struct pdnn_log_file visits, ops;
    struct pdnn_visits known;
};

/* What was read of both files, and how far reading has got. */
struct loading {
    struct pdnn_visits *known;
    const char *visits_path, *ops_path; /* for messages */
    struct pdnn_table visits, ops;
    size_t next_op;
    struct pdnn_texts visited; /* the ids in journal.csv, once a row of journal-ops.csv was not as expected */
    bool *pruned; /* by row of journal-ops.csv: its instance is not in journal.csv; NULL: none is */
    struct pdnn_visit_op *room; /* for the ops of one visit */
    size_t n_room;
};

static void make_room(struct loading *loading, size_t count) {
    if (count <= loading->n_room)
        return;
    loading->room = pdnn_resize(loading->room, count, sizeof *loading->room);
    loading->n_room = count;
}

static const char *op_id(const struct loading *loading, size_t number) {
    return pdnn_table_text(&loading->ops, number, PDNN_JOURNAL_OPS_ID);
}

/* Whether journal.csv no longer has the instance of this row of journal-ops.csv: `paradnn prune` was killed
 * between the two files. */
static bool is_pruned(struct loading *loading, size_t number) {
    for (size_t i = 0; i < loading->visits.n_rows && !loading->pruned; i++)
        pdnn_texts_add(&loading->visited, pdnn_table_text(&loading->visits, i, PDNN_JOURNAL_ID));
    if (!loading->pruned)
        loading->pruned = pdnn_alloc(loading->ops.n_rows + 1, sizeof *loading->pruned);
    return loading->pruned[number] = pdnn_texts_find(&loading->visited, op_id(loading, number)) == SIZE_MAX;
}

static void skip_pruned(struct loading *loading, const char *id) {
    while (loading->next_op < loading->ops.n_rows && strcmp(op_id(loading, loading->next_op), id) != 0 &&
           is_pruned(loading, loading->next_op))
        loading->next_op++;
}

/* The visit's rows of journal-ops.csv, which are the next ones. */
static enum pdnn_status load_ops(struct loading *loading, const char *id, uint64_t visit, size_t count,
                                 struct pdnn_err *err) {
    const char *path = loading->ops_path;
    if (count)
        skip_pruned(loading, id);
    if (count > loading->ops.n_rows - loading->next_op)
        return pdnn_fail(err, PDNN_INVALID, "%s: ends before visit %" PRIu64 " of %s has its %zu ops", path,
                         visit, id, count);
    make_room(loading, count);
    for (size_t i = 0; i < count; i++) {
        size_t number = loading->next_op++;
        if (strcmp(op_id(loading, number), id) != 0 ||
            pdnn_table_count(&loading->ops, number, PDNN_JOURNAL_OPS_VISIT) != visit)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: is not op %zu of visit %" PRIu64 " of %s", path,
                             number + 2, i + 1, visit, id);
        loading->room[i] = pdnn_journal_op(&loading->ops, number);
    }
    return PDNN_OK;
}

static enum pdnn_status load_visit(struct loading *loading, size_t number, struct pdnn_err *err) {
    const char *id = pdnn_table_text(&loading->visits, number, PDNN_JOURNAL_ID);
    struct pdnn_visit visit = pdnn_journal_visit(&loading->visits, number);
    char today[PDNN_ID_TEXT];
    if (load_ops(loading, id, pdnn_table_count(&loading->visits, number, PDNN_JOURNAL_VISIT), visit.n_ops,
                 err) != PDNN_OK)
        return err->status;
    visit.ops = loading->room;
    pdnn_visits_add(loading->known, pdnn_instance_reprint(id, today), &visit);
    return PDNN_OK;
}

static void finish_loading(struct loading *loading) {
    pdnn_table_finish(&loading->visits);
    pdnn_table_finish(&loading->ops);
    pdnn_texts_finish(&loading->visited);
    free(loading->pruned);
    free(loading->room);
}

/* Completes what a killed prune left: journal-ops.csv without the ops of instances that are gone. */
static enum pdnn_status drop_pruned(struct pdnn_journal *journal, const struct loading *loading,
                                    struct pdnn_err *err) {
    struct pdnn_str kept = {0};
    bool *keeps = pdnn_alloc(loading->next_op + 1, sizeof *keeps);
    for (size_t i = 0; i < loading->next_op; i++)
        keeps[i] = !loading->pruned[i];
    enum pdnn_status status = pdnn_log_file_copy(&journal->ops, loading->next_op, keeps, &kept, err);
    if (status == PDNN_OK)
        status = pdnn_folder_replace(journal->ops.folder, journal->ops.name, kept.text, kept.length, err);
    if (status == PDNN_OK)
        journal->ops.length = kept.length;
    pdnn_str_finish(&kept);
    free(keeps);
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
        status = pdnn_log_file_keep(&journal->ops, loading.next_op, err);
    if (status == PDNN_OK && loading.pruned)
        status = drop_pruned(journal, &loading, err);
    finish_loading(&loading);
    return status;
}

enum pdnn_status pdnn_journal_parse(const char *path, struct pdnn_str *visits, struct pdnn_str *ops,
                                    struct pdnn_visits *known, struct pdnn_err *err) {
    struct loading loading = {.known = known, .visits_path = path, .ops_path = path};
    struct pdnn_table_file visits_file = {.path = path, .check = pdnn_journal_check_visit},
                           ops_file = {.path = path, .check = pdnn_journal_check_op};
    enum pdnn_status status = pdnn_table_read_text(&visits_file, visits->text, visits->length,
                                                   &pdnn_journal_def, &loading.visits, err);
    if (status == PDNN_OK)
        status =
            pdnn_table_read_text(&ops_file, ops->text, ops->length, &pdnn_journal_ops_def, &loading.ops, err);
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
    pdnn_table_csv_header(&rows, &pdnn_journal_def);
    pdnn_table_csv_header(&ops, &pdnn_journal_ops_def);
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
    pdnn_log_file_init(&made->visits, folder, &pdnn_journal_def, pdnn_journal_check_visit);
    pdnn_log_file_init(&made->ops, folder, &pdnn_journal_ops_def, pdnn_journal_check_op);
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
    /* Memory first: what is on disk must also be in memory, as it is there. */
    struct pdnn_visit kept = *visit;
    id = pdnn_table_text(&visits, 0, PDNN_JOURNAL_ID);
    snprintf(kept.reason, sizeof kept.reason, "%s", pdnn_table_text(&visits, 0, PDNN_JOURNAL_REASON));
    pdnn_visits_add(&journal->known, id, &kept);
    enum pdnn_status status = write_visit(journal, &visits, &ops, err);
    if (status != PDNN_OK)
        pdnn_visits_drop_last(&journal->known, id);
    pdnn_table_finish(&visits);
    pdnn_table_finish(&ops);
    return status;
}

enum pdnn_status pdnn_journal_prune(struct pdnn_journal **journal, bool (*drops)(void *user, const char *id),
                                    void *user, struct pdnn_err *err) {
    struct pdnn_journal *open = *journal;
    const struct pdnn_folder *folder = open->visits.folder;
    struct pdnn_table rows;
    struct pdnn_str kept = {0};
    char today[PDNN_ID_TEXT];
    enum pdnn_status status = pdnn_log_file_load(&open->visits, &rows, err);
    bool *keeps = pdnn_alloc(rows.n_rows + 1, sizeof *keeps);
    for (size_t i = 0; i < rows.n_rows; i++)
        keeps[i] = !drops(user, pdnn_instance_reprint(pdnn_table_text(&rows, i, PDNN_JOURNAL_ID), today));
    if (status == PDNN_OK)
        status = pdnn_log_file_copy(&open->visits, rows.n_rows, keeps, &kept, err);
    free(keeps);
    pdnn_table_finish(&rows);
    if (status == PDNN_OK)
        status = pdnn_folder_replace(folder, open->visits.name, kept.text, kept.length, err);
    pdnn_str_finish(&kept);
    if (status != PDNN_OK)
        return status;
    /* Its rows are gone; opening it again completes the other file. */
    pdnn_journal_close(open);
    *journal = NULL;
    return pdnn_journal_open(folder, journal, err);
}
