/* journal.csv and journal-ops.csv: one row per visit, and one per visit and op, appended and synced as they
 * are measured; the source of every other table. A visit's ops are on disk before its row in journal.csv, and
 * that row commits them. Opening the journal drops a last line cut short by a crash, and ops whose visit has
 * no row; nothing else is ever removed or rewritten, except by pdnn_journal_prune.
 * A journal of another schema is refused; ids are reprinted in today's form when read. */
#ifndef RESULTS_STORE_JOURNAL_H
#define RESULTS_STORE_JOURNAL_H

#include "base/paths/folder.h"
#include "base/str.h"
#include "models/instance.h"
#include "results/store/visits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdnn_journal; /* opaque */

/* Adds the visits in these parts of the two files, each beginning with its header; both texts are changed.
 * The paths are for messages. */
enum pdnn_status pdnn_journal_parse(const char *visits_path, struct pdnn_str *visits_text,
                                    const char *ops_path, struct pdnn_str *ops_text,
                                    struct pdnn_visits *known, struct pdnn_err *err);

/* Opens or creates journal.csv in the folder (borrowed until the journal is closed) for appending, and reads
 * what it has. Holds an exclusive lock: PDNN_BUSY if another process writes to the directory. A journal
 * with another header, or that cannot be written to, is PDNN_INVALID and stays as it is. */
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

/* Takes NULL. */
void pdnn_journal_close(struct pdnn_journal *journal);

/* True if opening dropped something incomplete. */
bool pdnn_journal_was_torn(const struct pdnn_journal *journal);

/* Appends the visit (borrowed) and its ops, and syncs. If that fails (disk full), the
 * journal is as it was before. */
enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err);

/* Drops the instances that are not kept by what `keeps` says of their ids in today's form. journal.csv is
 * replaced in one step, which commits it; journal-ops.csv follows, here or when the journal is opened again.
 * *journal is opened again, or is NULL after a failure behind the commit: PDNN_BUSY if another process has
 * taken the directory since. */
enum pdnn_status pdnn_journal_prune(struct pdnn_journal **journal,
                                    bool (*keeps)(const void *user, const char *id), const void *user,
                                    struct pdnn_err *err);

/* All visits in the journal, whether or not a spec still names the instance. */
const struct pdnn_visits *pdnn_journal_visits(const struct pdnn_journal *journal);

#endif
