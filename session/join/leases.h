/* Who measures what in a sweep that many processes have joined: the log in DIR/leases/.
 *
 * The log is a row of small files, 00000000, 00000001, and so on: each complete when it appears and never
 * changed. A process writes a record under a name of its own and link()s it to the next number. Of several
 * that try, one gets the number; the others read its record and think again, so every record was made with
 * all earlier ones known. Nothing else is needed: no lock, no clock, no server. The first record is the plan,
 * on which all agree. The others are about leases; a lease's number is that of the record that claims it:
 *
 *   claim  these instances, all of them free, are the holder's
 *   kept   the holder, which was late, still has its lease; who took it to be lost starts to watch it again
 *   ended  the holder is through: these of its instances are done, the others are free
 *   lost   the holder gave no sign of life: the same, as another process found in the holder's journal;
 *          of a lease that is held no more: the holder's journal is damaged or gone, so none of its instances
 *          are done
 *
 * A sign of life is a counter in leases/beat-PART that the holder counts up. Whoever sees the same count for
 * longer than the plan's expiry, by its own monotonic clock, takes the lease to be lost; clocks of hosts are
 * never compared. A holder whose process is known to be gone is lost at once. A holder reads the log before
 * it commits a visit, and commits none to a lease that it has lost. */
#ifndef SESSION_JOIN_LEASES_H
#define SESSION_JOIN_LEASES_H

#include "base/err.h"
#include "session/join/leases_state.h"

/* Whether the directory has a log, that is, was joined. */
bool pdnn_leases_exist(const char *directory);

/* Opens the log of DIR and reads it; makes it if `plan` is given and there is none yet. PDNN_INVALID if there
 * is none, if it is of another schema or plan, with the difference named, or damaged. Release with
 * pdnn_leases_close, also after a failure. */
enum pdnn_status pdnn_leases_open(struct pdnn_leases *leases, const char *directory,
                                  const struct pdnn_lease_plan *plan, const struct pdnn_holder *self,
                                  struct pdnn_err *err);
void pdnn_leases_close(struct pdnn_leases *leases);

/* Reads what others have added. */
enum pdnn_status pdnn_leases_read(struct pdnn_leases *leases, struct pdnn_err *err);

/* Claims the instances, all of which are free. *lease: its index; SIZE_MAX if another record came first,
 * which is read by now: choose again. */
enum pdnn_status pdnn_leases_claim(struct pdnn_leases *leases, const uint32_t *instances, size_t count,
                                   uint64_t cost_us, size_t *lease, struct pdnn_err *err);

/* Ends a lease of this process, or declares another's lost; done: those of its instances that are. No effect
 * if it is not held any more. */
enum pdnn_status pdnn_leases_end(struct pdnn_leases *leases, size_t lease, const uint32_t *done,
                                 size_t n_done, struct pdnn_err *err);

/* Frees what the lease, which nobody holds, had done. No effect if another process came first. */
enum pdnn_status pdnn_leases_void(struct pdnn_leases *leases, size_t lease, struct pdnn_err *err);

/* Whether the lease is still this process's, as far as others can know. Reads the log; if signs of life came
 * late, adds a record, so that nobody else's is missed. */
enum pdnn_status pdnn_leases_check(struct pdnn_leases *leases, size_t lease, bool *is_held,
                                   struct pdnn_err *err);

/* A sign of life, unless the last one is young; cheap. Begins with the first call. */
void pdnn_leases_beat(struct pdnn_leases *leases);

/* Looks for signs of life of all other holders. */
void pdnn_leases_watch(struct pdnn_leases *leases);

/* Sets is_stale of the held leases for one who looks only once, and so has to believe the clocks: the holder
 * is gone, or its last sign of life is older than the expiry by the local clock, or by the latest one if that
 * is ahead. For showing only. */
void pdnn_leases_judge(struct pdnn_leases *leases);

#endif
