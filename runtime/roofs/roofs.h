/* Measures the machine's roofs. Runs in a worker. */
#ifndef RUNTIME_ROOFS_ROOFS_H
#define RUNTIME_ROOFS_ROOFS_H

#include "base/err.h"
#include "runtime/protocol/roof_rows.h"

struct pdnn_host;
struct pdnn_backend_def;
struct pdnn_roofs_request;

/* Measures all roofs for one thread count in rounds, until its seconds are over but a few times at least, and
 * appends the rows; with 0 seconds the probes alone, for a tenth of a second and without progress. When its
 * limit is over, it goes on without bandwidths, which take most of the time; they do not begin after a
 * quarter of it. backends: NULL-terminated; each one's GEMM is tried (a graph of one dense op). The caller
 * has bound the threads. progress (may be NULL) is called between jobs with the fraction done. */
enum pdnn_status pdnn_roof_rows_measure(const struct pdnn_host *host,
                                        const struct pdnn_backend_def *const *backends,
                                        const struct pdnn_roofs_request *request,
                                        void (*progress)(void *user, double fraction), void *user,
                                        struct pdnn_roof_rows *roof_rows, struct pdnn_err *err);

#endif
