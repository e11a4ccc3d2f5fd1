/* What `sweep --dry-run` says: which instances would run, how long that takes, and what a budget reaches. */
#ifndef CLI_PRINT_DRY_RUN_H
#define CLI_PRINT_DRY_RUN_H

#include "session/session.h"

/* Prints on stderr. Roofs come from ceilings_file, if the session has read one, from earlier sweeps, or from
 * measuring for a few seconds. Writes no result directory. */
enum pdnn_status pdnn_dry_run(struct pdnn_session *session, const char *ceilings_file, struct pdnn_err *err);

#endif
