/* The files of the log of leases: reading a record, and adding one. Private to session/join. */
#ifndef SESSION_JOIN_LEASES_LOG_H
#define SESSION_JOIN_LEASES_LOG_H

#include "session/join/leases_record.h"

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
