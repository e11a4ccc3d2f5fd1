/* Who measures what in a sweep that many processes have joined: the log in DIR/leases/.
 *
 * The log is a row of small files, 00000000, 00000001, and so on: each complete when it appears and never
 * changed. A process writes a record under a temporary name and link()s it to the next number. Of several
 * that try, one gets the number; the others read its record and think again, so every record was made with
 * all earlier ones known. Nothing else is needed: no lock, no clock, no server. The first record is the plan,
 * on which all agree. The others are about leases; a lease's number is that of the record that claims it:
 *
 *   claim  these instances, all of them free, are the holder's
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
#include "base/paths/folder.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDNN_PART_TEXT = 96, PDNN_BOOT_TEXT = 40 };

/* Who holds a lease: a process, known by its part, and told from any other by its kernel, its pid and the
 * time it began. */
struct pdnn_holder {
    char part[PDNN_PART_TEXT]; /* its directory in parts/: HOST-PID-TIME-RANDOM */
    char boot[PDNN_BOOT_TEXT]; /* id of the running kernel, new with every boot; "": not known */
    uint64_t pid_space;        /* the pid is unique in it; 0: not known */
    uint64_t pid;
    uint64_t started; /* ticks after boot: a later process may have the same pid */
};

/* This process. host: for the name of its part, which is different with every call. */
struct pdnn_holder pdnn_holder_self(const char *host);

/* True if the holder is known to have ended: it ran under the kernel that `self` runs under, and is gone. */
bool pdnn_holder_is_gone(const struct pdnn_holder *holder, const struct pdnn_holder *self);

/* What all who join must agree on. */
struct pdnn_lease_plan {
    uint64_t instances;
    uint64_t instances_hash; /* of their ids in order, but for the number of threads */
    uint64_t expiry_ns;      /* 0 in a request: what the others have, or two minutes */
    uint64_t allow_slow;     /* 0 or 1 */
};

enum pdnn_lease_state { PDNN_LEASE_HELD, PDNN_LEASE_ENDED, PDNN_LEASE_LOST };

struct pdnn_lease {
    uint64_t number; /* of its record */
    enum pdnn_lease_state state;
    struct pdnn_holder holder;
    uint32_t *instance; /* heap: their numbers in the order of the spec */
    size_t count, done; /* instances; those that were done when it ended or was lost */
    uint32_t *finished; /* heap: the latter, ascending */
    bool is_checked;    /* the holder's journal was read to its end after that */
    bool is_void;       /* it is damaged or gone */
    bool is_adopted;    /* its visits are known to who opened the log */
    /* Of pdnn_leases_watch, if held. */
    uint64_t beat, seen_ns; /* the counter, and when it had another value last; 0: it was never read */
    bool has_beaten;        /* and has changed since: somebody is alive */
    bool is_stale;          /* the holder is gone, or the counter has not changed for the plan's expiry */
};

/* By instance; otherwise it is the index of the lease that has it. */
enum { PDNN_LEASE_FREE = -1, PDNN_LEASE_DONE = -2 };

struct pdnn_leases {
    struct pdnn_folder folder; /* DIR/leases */
    struct pdnn_holder self;
    struct pdnn_lease_plan plan;
    uint64_t next; /* number of the next record */
    struct pdnn_lease *lease;
    size_t count, room;
    int32_t *state_of;       /* by instance */
    uint64_t beats, beat_ns; /* signs of life so far, and when the last one was */
};

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

/* A sign of life, unless the last one is young; cheap. */
void pdnn_leases_beat(struct pdnn_leases *leases);

/* Looks for signs of life of all other holders. */
void pdnn_leases_watch(struct pdnn_leases *leases);

/* Sets is_stale of the held leases for one who looks only once, and so has to believe the clocks: the holder
 * is gone, or its last sign of life is older than the expiry by the local clock, or by the latest one if that
 * is ahead. For showing only. */
void pdnn_leases_judge(struct pdnn_leases *leases);

enum pdnn_lease_event {
    PDNN_LEASE_PLAN,
    PDNN_LEASE_CLAIM,
    PDNN_LEASE_END,
    PDNN_LEASE_LOSS,
    PDNN_LEASE_EVENT_COUNT
};

struct pdnn_lease_record {
    uint64_t number;
    enum pdnn_lease_event event;
    struct pdnn_holder author;
    struct pdnn_lease_plan plan; /* of PLAN */
    uint64_t lease;              /* of END, LOSS: the lease's number */
    uint64_t cost_us;            /* of CLAIM */
    uint32_t *instance;          /* of CLAIM: what is claimed; of END, LOSS: what is done. Ascending */
    size_t count;
};

/* Appends the text; instances in ascending order. */
void pdnn_lease_record_format(const struct pdnn_lease_record *record, struct pdnn_str *out);

/* instances: of the plan, so that every number is smaller; 0 for the plan's own record. On success, free
 * record->instance. PDNN_INVALID, without the file's name, for anything but a whole record of this number. */
enum pdnn_status pdnn_lease_record_parse(const char *text, uint64_t number, uint64_t instances,
                                         struct pdnn_lease_record *record, struct pdnn_err *err);

/* pdnn_folder_add, with what to do where the file system has no hard links. */
enum pdnn_status pdnn_leases_put(const struct pdnn_folder *folder, const char *name, const char *text,
                                 size_t length, struct pdnn_err *err);

#endif
