/* One of several processes that srun started together. */
#ifndef CLI_SLURM_STEP_H
#define CLI_SLURM_STEP_H

#include "session/session.h"

/* True for all but the first of them if the session has instances with ranks: the ranks are started by one
 * process, on the nodes of the whole job. Says so on stderr. */
bool pdnn_is_left_to_task_0(const struct pdnn_session *session);

#endif
