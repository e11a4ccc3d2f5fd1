/* The two files of a journal read from front to back in blocks: for directories too large for memory, and for
 * those that somebody is still writing. Takes no lock and changes nothing. A visit is where its bytes are;
 * what its columns mean is known to results/store/journal. */
#ifndef RESULTS_STORE_JOURNAL_SCAN_H
#define RESULTS_STORE_JOURNAL_SCAN_H

#include "base/err.h"
#include "base/paths/folder.h"
#include "base/str.h"
#include "models/instance.h"
#include "results/store/journal_table.h"
#include "results/table/csv.h"
#include "runtime/protocol/visit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of the two files, and the block of it in memory. */
struct pdnn_scan_file {
    int fd; /* -1: not open */
    char path[PDNN_FOLDER_TEXT];
    char *block;
    size_t at, used, room; /* in the block */
    uint64_t offset;       /* of the block in the file */
    uint64_t line;         /* lines taken so far */
};

struct pdnn_journal_scan {
    struct pdnn_scan_file visits, ops;
    bool torn; /* the last line of journal.csv was incomplete and was left out */
    /* Get the rows of journal-ops.csv: those of the visits, and those between them, which a killed prune
     * left; NULL: not wanted. To be set once it is open. */
    struct pdnn_str *ops_rows, *strays;
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
