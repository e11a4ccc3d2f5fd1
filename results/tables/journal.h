/* journal.csv and journal-ops.csv: one row per visit, and one per visit and op, appended and synced as it
 * happens; the source of every other table. A visit's ops are on disk before its row in journal.csv, and that
 * row commits them: what a crash left of a last line, or of ops whose visit has no row, is dropped when the
 * journal is opened, and nothing else is ever removed or rewritten.
 *
 * Schema 1 had the ops packed into the row of journal.csv: such rows are read like others, and what comes
 * after them is written as schema 2. Which one a row has is in its column. Ids that an
 * earlier version wrote are printed as today's when they are read. */
#ifndef RESULTS_TABLES_JOURNAL_H
#define RESULTS_TABLES_JOURNAL_H

#include "base/err.h"
#include "models/instance.h"
#include "results/tables/visits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row of journal.csv: the visit without its ops. */
struct pdnn_journal_row {
    uint64_t schema;
    char id[PDNN_ID_TEXT];
    uint64_t number;         /* of the instance's visits, from 1 */
    struct pdnn_visit visit; /* n_ops 0, ops NULL */
    const char *ops;         /* how many rows journal-ops.csv has of it; schema 1: the ops themselves */
};

/* One row of journal-ops.csv. */
struct pdnn_journal_op_row {
    char id[PDNN_ID_TEXT];
    uint64_t visit;
    char op[PDNN_OP_KEY_TEXT], pass[PDNN_OP_KEY_TEXT], shape[PDNN_OP_KEY_TEXT]; /* the key, at its slashes */
    char layer[PDNN_OP_LAYER_TEXT], implementation[PDNN_IMPLEMENTATION_TEXT];
    uint64_t count, bytes;
    double time_ns;
};

struct pdnn_journal; /* opaque */

/* Opens DIR/journal.csv for appending, or makes it, and reads what is there. Holds an exclusive lock:
 * PDNN_INVALID when another process writes the directory. A journal with another header is PDNN_INVALID and
 * stays as it is. */
enum pdnn_status pdnn_journal_open(const char *directory, struct pdnn_journal **journal,
                                   struct pdnn_err *err);

/* Takes NULL. */
void pdnn_journal_close(struct pdnn_journal *journal);

/* True when opening dropped something that was not complete. */
bool pdnn_journal_was_torn(const struct pdnn_journal *journal);

/* Appends the visit (borrowed) and its ops, synced. When that fails (disk full), the journal is as it was
 * before. */
enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err);

/* Everything in it, whether a spec still names the instance or not. */
const struct pdnn_visits *pdnn_journal_visits(const struct pdnn_journal *journal);

#endif
