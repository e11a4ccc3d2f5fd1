/* journal.csv: one row per visit, appended and synced as it happens, the source of every other table. A row
 * is one line; what a crash left of a last one is dropped when the journal is opened, and nothing else is
 * ever removed or rewritten. In memory, the visits are grouped by instance id, whether a spec still names it
 * or not; ids that an earlier version wrote are printed as today's. */
#ifndef RESULTS_TABLES_JOURNAL_H
#define RESULTS_TABLES_JOURNAL_H

#include "base/err.h"
#include "models/instance.h"
#include "runtime/facts/visit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row: the visit without its ops, which stay packed until somebody asks. */
struct pdnn_journal_row {
    uint64_t schema;
    char id[PDNN_ID_TEXT];
    uint64_t number;         /* of the instance's visits, from 1 */
    struct pdnn_visit visit; /* n_ops 0, ops NULL */
    const char *ops; /* packed: key|implementation|count|bytes|ns;..., %XX for what would be a separator */
};

struct pdnn_journal; /* opaque */

/* Opens DIR/journal.csv for appending, or makes it, and reads what is there. Holds an exclusive lock:
 * PDNN_INVALID when another process writes the directory. A journal with another header is PDNN_INVALID and
 * stays as it is. */
enum pdnn_status pdnn_journal_open(const char *directory, struct pdnn_journal **journal,
                                   struct pdnn_err *err);

/* Takes NULL. */
void pdnn_journal_close(struct pdnn_journal *journal);

/* True when opening dropped an incomplete last line. */
bool pdnn_journal_was_torn(const struct pdnn_journal *journal);

/* Appends the visit (borrowed) as one write, synced. When that fails (disk full), the journal is as it was
 * before. */
enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err);

/* The instances seen, in order of their first visit. */
size_t pdnn_journal_count(const struct pdnn_journal *journal);
const char *pdnn_journal_id(const struct pdnn_journal *journal, size_t instance);

/* Which instance has that id, or SIZE_MAX. */
size_t pdnn_journal_find(const struct pdnn_journal *journal, const char *id);

/* The instance's visits in order, with their ops unpacked, or without (ops NULL) when with_ops is false:
 * heap, freed with pdnn_visits_free. */
enum pdnn_status pdnn_journal_visits(const struct pdnn_journal *journal, size_t instance, bool with_ops,
                                     struct pdnn_visit **visits, size_t *n_visits, struct pdnn_err *err);
void pdnn_visits_free(struct pdnn_visit *visits, size_t n_visits);

#endif
