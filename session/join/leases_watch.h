/* Signs of life: this process's own, and what others' tell. */
#ifndef SESSION_JOIN_LEASES_WATCH_H
#define SESSION_JOIN_LEASES_WATCH_H

#include "session/join/leases_state.h"

/* A sign of life, unless the last one is young; cheap. Begins with the first call. */
void pdnn_leases_beat(struct pdnn_leases *leases);

/* Looks for signs of life of all other holders. */
void pdnn_leases_watch(struct pdnn_leases *leases);

/* Sets is_stale of the held leases for one who looks only once, and so has to believe the clocks: the holder
 * is gone, or its last sign of life is older than the expiry by the local clock, or by the latest one if that
 * is ahead. For showing only. */
void pdnn_leases_judge(struct pdnn_leases *leases);

/* The name of the file with a part's counter. Returns name. */
const char *pdnn_lease_beat_name(const char *part, char name[PDNN_PART_TEXT + 8]);

#endif
