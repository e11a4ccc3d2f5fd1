/* What LAPACK returns as a status, and its handler of bad arguments, which would print and exit. */
#ifndef RESULTS_STATS_LAPACK_STATUS_H
#define RESULTS_STATS_LAPACK_STATUS_H

#include "base/err.h"

/* PDNN_OK for info 0; else PDNN_INTERNAL with the routine's name and info. Whoever calls LAPACK calls this,
 * so that the handler beside it is linked in place of LAPACK's own. */
enum pdnn_status pdnn_lapack_status(const char *routine, int info, struct pdnn_err *err);

#endif
