/* The two files of a journal read from front to back in blocks: for directories too large for memory, and for
 * those that somebody is still writing. Takes no lock and changes nothing. A visit is where its bytes are;
 * what its columns mean is known to results/store/journal. */
#ifndef RESULTS_STORE_JOURNAL_SCAN_H
#define RESULTS_STORE_JOURNAL_SCAN_H

#include "models/instance.h"
#include "results/store/journal_table.h"
#include "results/store/log_file.h"
#include "results/table/rows.h"
#include "runtime/protocol/visit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdnn_journal_scan {
    struct pdnn_log_scan visits, ops;
    struct pdnn_str *ops_rows; /* gets the visits' rows of journal-ops.csv, NULL: not wanted; set once open */
    /* Instances of the rows between those, which a killed prune left, and the line of the first of each. */
    struct pdnn_texts stray_ids;
    struct pdnn_row_list stray_lines;
};

/* Of the fields of a row of journal.csv, as they stand in the file. The id in today's form, in `today`; "" if
 * there is no such id. */
const char *pdnn_row_id(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS], char today[PDNN_ID_TEXT]);

/* What they say of the visit's outcome, start, median and flags, by which visits are counted
 * (runtime/protocol/standing.h); all else is 0. A start that cannot be read is 0. */
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

/* Starts at the first visit again. */
void pdnn_journal_scan_rewind(struct pdnn_journal_scan *scan);

/* Frees the memory of a scan; the files stay open, for reading visits where they are and for a rewind. */
void pdnn_journal_scan_rest(struct pdnn_journal_scan *scan);

/* The next visit with all its ops; *done if there is none left. PDNN_INVALID, with path and line, for a
 * damaged row, a row of another schema, or ops that are not the visit's. */
enum pdnn_status pdnn_journal_scan_next(struct pdnn_journal_scan *scan, struct pdnn_scanned_visit *visit,
                                        bool *done, struct pdnn_err *err);

void pdnn_journal_scan_close(struct pdnn_journal_scan *scan);

#endif
