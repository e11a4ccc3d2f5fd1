/* The files of the log of leases, and one record of it as text: reading one, and adding one. Private to
 * session/join. */
#ifndef SESSION_JOIN_LEASES_LOG_H
#define SESSION_JOIN_LEASES_LOG_H

#include "base/err.h"
#include "base/str.h"
#include "session/join/leases_state.h"

enum pdnn_lease_event {
    PDNN_LEASE_PLAN,
    PDNN_LEASE_CLAIM,
    PDNN_LEASE_KEPT,
    PDNN_LEASE_END,
    PDNN_LEASE_LOSS,
    PDNN_LEASE_EVENT_COUNT
};

struct pdnn_lease_record {
    uint64_t number;
    enum pdnn_lease_event event;
    struct pdnn_holder author;
    struct pdnn_lease_plan plan; /* of PLAN */
    uint64_t lease;              /* of KEPT, END, LOSS: the lease's number */
    uint64_t cost_us;            /* of CLAIM */
    uint32_t *instance;          /* of CLAIM: what is claimed; of END, LOSS: what is done. Ascending */
    size_t count;
};

enum { PDNN_LEASE_NAME_TEXT = 24 };
const char *pdnn_lease_name(uint64_t number, char name[PDNN_LEASE_NAME_TEXT]);

/* Appends the text; instances in ascending order. */
void pdnn_lease_record_format(const struct pdnn_lease_record *record, struct pdnn_str *out);

/* instances: of the plan, so that every number is smaller; 0 for the plan's own record. On success, free
 * record->instance. PDNN_INVALID, without the file's name, for anything but a whole record of this number. */
enum pdnn_status pdnn_lease_record_parse(const char *text, uint64_t number, uint64_t instances,
                                         struct pdnn_lease_record *record, struct pdnn_err *err);

/* Reads the next record and takes it into account; *found is false if there is none. PDNN_INVALID, with the
 * file's name, if it is damaged or contradicts what came before. */
enum pdnn_status pdnn_leases_step(struct pdnn_leases *leases, bool *found, struct pdnn_err *err);

/* Adds the record under the next number, which it gets. *added is false if another was first; that one is
 * read by then. */
enum pdnn_status pdnn_leases_add(struct pdnn_leases *leases, struct pdnn_lease_record *record, bool *added,
                                 struct pdnn_err *err);

/* Gives a file of the folder one more name. PDNN_BUSY, without a message, if a file has that name; over NFS
 * it may be this one. PDNN_IO otherwise. */
enum pdnn_status pdnn_leases_link(const struct pdnn_folder *folder, const char *name, const char *to,
                                  struct pdnn_err *err);

#endif
