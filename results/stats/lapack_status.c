#include "results/stats/lapack_status.h"

#include <lapack.h>
#include <stddef.h>

/* LAPACK calls this for an argument that it cannot accept; its own version prints and stops the program.
 * Every routine also returns the number of that argument. */
void xerbla_(const char *routine, const lapack_int *argument, size_t length);
void xerbla_(const char *routine, const lapack_int *argument, size_t length) {
    (void)routine, (void)argument, (void)length;
}

enum pdnn_status pdnn_lapack_status(const char *routine, int info, struct pdnn_err *err) {
    return info ? pdnn_fail(err, PDNN_INTERNAL, "LAPACK's %s returned %d", routine, info) : PDNN_OK;
}
