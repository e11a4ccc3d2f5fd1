/* One of several processes that a launcher (mpirun, srun) started together. All of them work; only what one
 * process starts on all nodes, instances with ranks, is left to the first of them. */
#ifndef CLI_LAUNCHER_H
#define CLI_LAUNCHER_H

#include "session/session.h"

/* True if a launcher started others beside this process. */
bool pdnn_launcher_has_others(void);

/* *is_left is true for all but the first of them if the session has instances with ranks; says so on stderr.
 * A shard is a sweep of its own, whose ranks nobody else starts. PDNN_INVALID for the first one if the others
 * are on hosts that it cannot learn. */
enum pdnn_status pdnn_launcher_leave(const struct pdnn_session *session, bool *is_left, struct pdnn_err *err);

#endif
