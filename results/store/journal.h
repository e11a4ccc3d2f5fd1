/* journal.csv and journal-ops.csv: one row per visit, and one per visit and op, appended and synced as they
 * are measured; the source of every other table. A visit's ops are on disk before its row, which commits
 * them. Opening the journal drops a last line cut short by a crash, and ops whose visit has no row; nothing
 * else is ever removed, except by pdnn_journal_prune. Ids are reprinted in today's form when read. */
#ifndef RESULTS_STORE_JOURNAL_H
#define RESULTS_STORE_JOURNAL_H

#include "models/instance.h"
#include "results/store/log_file.h"
#include "results/table/rows.h"
#include "runtime/protocol/visit.h"

/* A row per visit. */
enum pdnn_journal_column {
#define JOURNAL_COLUMN(word, ...) PDNN_JOURNAL_##word,
#include "results/store/columns/journal.inc"
#undef JOURNAL_COLUMN
    PDNN_JOURNAL_COLUMNS
};
extern const struct pdnn_table_def pdnn_journal_def;

/* A row per visit and op. */
enum pdnn_journal_ops_column {
#define JOURNAL_OPS_COLUMN(word, ...) PDNN_JOURNAL_OPS_##word,
#include "results/store/columns/journal-ops.inc"
#undef JOURNAL_OPS_COLUMN
    PDNN_JOURNAL_OPS_COLUMNS
};
extern const struct pdnn_table_def pdnn_journal_ops_def;

/* Both files read from front to back in blocks: for directories too large for memory, and for those that
 * somebody is still writing. Takes no lock and changes nothing. A visit is where its bytes are. */
struct pdnn_journal_scan {
    struct pdnn_log_scan visits, ops;
    struct pdnn_str *ops_rows; /* gets the visits' rows of journal-ops.csv, NULL: not wanted; set once open */
    /* Instances of the rows between those, which a killed prune left, and the line of the first of each. */
    struct pdnn_texts stray_ids;
    struct pdnn_row_list stray_lines;
};

/* The id in a field of the file, in today's form, in `today`. */
const char *pdnn_piece_id(struct pdnn_piece id, char today[PDNN_ID_TEXT]);

/* What the fields of a row say of the outcome, start, median and flags, by which visits are counted
 * (runtime/protocol/standing.h); all else is 0, as is a start that cannot be read. */
struct pdnn_visit pdnn_row_visit(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS]);

/* Everything after the visit's number: a copy of the visit has the same. */
struct pdnn_piece pdnn_row_rest(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS]);

/* A committed visit. */
struct pdnn_scanned_visit {
    struct pdnn_piece line; /* with its newline; valid until the next call, as are the fields */
    struct pdnn_piece field[PDNN_JOURNAL_COLUMNS];
    uint64_t offset;                 /* of the line in journal.csv */
    uint64_t ops_offset, ops_length; /* of its rows in journal-ops.csv */
};

/* PDNN_INVALID if the directory has no journal.csv, or a file has another header than this version writes.
 * A missing journal-ops.csv is empty. Release with pdnn_journal_scan_close, also after a failure. */
enum pdnn_status pdnn_journal_scan_open(struct pdnn_journal_scan *scan, const char *directory,
                                        struct pdnn_err *err);

/* As of a pdnn_log_scan: back to the first visit. */
void pdnn_journal_scan_rewind(struct pdnn_journal_scan *scan);

/* The next visit with all its ops; *done if there is none left. PDNN_INVALID, with path and line, for a
 * damaged row, a row of another schema, or ops that are not the visit's. */
enum pdnn_status pdnn_journal_scan_next(struct pdnn_journal_scan *scan, struct pdnn_scanned_visit *visit,
                                        bool *done, struct pdnn_err *err);

void pdnn_journal_scan_close(struct pdnn_journal_scan *scan);

/* A struct pdnn_visit_op whose texts belong to the store; equal texts are one pointer. */
struct pdnn_measured_op {
    const char *key, *layer, *implementation;
    uint64_t bytes;
    struct pdnn_extra_traffic extra;
    double time_ns;
    struct pdnn_counted counted;
    uint32_t count;
};

struct pdnn_measured_ops {
    const struct pdnn_measured_op *op;
    size_t count;
};

/* One instance's visits, in order. */
struct pdnn_instance_visits {
    struct pdnn_visit *visit; /* n_ops 0, ops NULL */
    struct pdnn_measured_ops *ops;
    size_t count, room;
};

/* Visits in memory, by instance: each text is stored once, so memory grows with the visits and the distinct
 * ops, not with their product. {0} is empty. */
struct pdnn_visits {
    struct pdnn_texts ids;   /* by instance, in order of first visit */
    struct pdnn_texts texts; /* of the ops */
    struct pdnn_arena arena; /* the ops */
    struct pdnn_instance_visits *of;
    size_t room;
};

/* Keeps a copy of the visit (borrowed) and of its ops. */
void pdnn_visits_add(struct pdnn_visits *visits, const char *id, const struct pdnn_visit *visit);

/* The instance's visits, borrowed until the next change; all zero if there are none. */
struct pdnn_instance_visits pdnn_visits_of(const struct pdnn_visits *visits, const char *id);

/* How many visits the instance with the most of them has; 1 if there are none. */
size_t pdnn_visits_most(const struct pdnn_visits *visits);

void pdnn_visits_finish(struct pdnn_visits *visits);

/* A journal that is open for appending. */
struct pdnn_journal {
    struct pdnn_log_file visits, ops; /* torn: opening dropped something incomplete */
    struct pdnn_visits known;         /* all visits, whether or not a spec still names the instance */
};

/* Adds the visits in these parts of the two files, each beginning with its header; both texts are changed.
 * Without ops (NULL), visits have none. The paths are for messages. */
enum pdnn_status pdnn_journal_parse(const char *visits_path, struct pdnn_str *visits_text,
                                    const char *ops_path, struct pdnn_str *ops_text,
                                    struct pdnn_visits *known, struct pdnn_err *err);

/* Opens or creates journal.csv in the folder (borrowed until the journal is closed) for appending, and reads
 * what it has. Holds an exclusive lock: PDNN_BUSY if another process writes to the directory. A journal
 * of the schema before is converted (results/store/log_file.h). One with another header, or that cannot be
 * written to, is PDNN_INVALID and stays as it is. */
enum pdnn_status pdnn_journal_open(const struct pdnn_folder *folder, struct pdnn_journal **journal,
                                   struct pdnn_err *err);

/* Adds the visits in DIR/journal.csv, without their ops, to those known: all, or with wants those of the
 * instances for which it says so, whose ids are in today's form. Takes no lock and leaves out an incomplete
 * last row, so somebody may be writing there. */
enum pdnn_status pdnn_journal_read(const char *directory, bool (*wants)(const void *user, const char *id),
                                   const void *user, struct pdnn_visits *known, struct pdnn_err *err);

/* PDNN_IO if rows go where nobody will find them: the directory, or one of the two files in it, was deleted,
 * moved or replaced since the journal was opened. */
enum pdnn_status pdnn_journal_check(const struct pdnn_journal *journal, struct pdnn_err *err);

void pdnn_journal_close(struct pdnn_journal *journal); /* takes NULL */

/* Appends the visit (borrowed) and its ops, and syncs. If that fails, the journal is as it was before. */
enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err);

/* Drops the instances that `keeps` denies, by their ids in today's form. journal.csv is replaced in one step,
 * which commits it; journal-ops.csv follows, here or on the next opening. *journal is opened again, or NULL
 * after a failure behind the commit: PDNN_BUSY if another process has taken the directory since. */
enum pdnn_status pdnn_journal_prune(struct pdnn_journal **journal,
                                    bool (*keeps)(const void *user, const char *id), const void *user,
                                    struct pdnn_err *err);

#endif
