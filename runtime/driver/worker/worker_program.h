/* Finds the worker program: next to this one, as in a build directory, or where it is installed.
 * Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_PROGRAM_H
#define RUNTIME_DRIVER_WORKER_WORKER_PROGRAM_H

#include "base/err.h"
#include "base/paths/program.h"

/* Environment variable with which tests substitute another program. */
#define PDNN_WORKER_VARIABLE "PARADNN_WORKER"

/* PDNN_IO, naming the paths that were tried, if there is no program at any of them. */
enum pdnn_status pdnn_worker_program(char path[PDNN_PROGRAM_TEXT], struct pdnn_err *err);

/* The same for the worker that is several ranks; false in a build without MPI. */
bool pdnn_worker_mpi_program(char path[PDNN_PROGRAM_TEXT]);

#endif
