#define _POSIX_C_SOURCE 200809L
#include "runtime/driver/worker/worker_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to this program's directory; PDNN_LIBEXEC is the path from bindir to libexecdir/paradnn. */
static const char *const places[] = {"paradnn-worker", PDNN_LIBEXEC "/paradnn-worker"};
static const char *const mpi_places[] = {"paradnn-worker-mpi", PDNN_LIBEXEC "/paradnn-worker-mpi"};

bool pdnn_worker_mpi_program(char path[PDNN_PROGRAM_TEXT]) {
    for (size_t i = 0; i < sizeof mpi_places / sizeof *mpi_places; i++) {
        if (pdnn_program_beside(mpi_places[i], path) && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

enum pdnn_status pdnn_worker_program(char path[PDNN_PROGRAM_TEXT], struct pdnn_err *err) {
    const char *other = getenv(PDNN_WORKER_VARIABLE);
    if (other) {
        int length = snprintf(path, PDNN_PROGRAM_TEXT, "%s", other);
        if (length > 0 && length < PDNN_PROGRAM_TEXT && access(path, X_OK) == 0)
            return PDNN_OK;
        return pdnn_fail(err, PDNN_IO, "no worker program at '%.200s' (" PDNN_WORKER_VARIABLE "): %s", other,
                         strerror(errno));
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!pdnn_program_beside(places[i], path))
            return pdnn_fail(err, PDNN_IO, "cannot find the worker program: this program has no path");
        if (access(path, X_OK) == 0)
            return PDNN_OK;
        if (errno != ENOENT)
            return pdnn_fail(err, PDNN_IO, "the worker program %s cannot be executed: %s", path,
                             strerror(errno));
    }
    char directory[PDNN_PROGRAM_TEXT];
    pdnn_program_beside("", directory);
    return pdnn_fail(err, PDNN_IO, "no worker program at %s%s or %s%s", directory, places[0], directory,
                     places[1]);
}
