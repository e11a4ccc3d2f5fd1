/* Where the worker's program is: beside this one, as in a build directory, or where the installation has it.
 * Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_PROGRAM_H
#define RUNTIME_DRIVER_WORKER_PROGRAM_H

#include "base/err.h"

enum { PDNN_PROGRAM_TEXT = 4096 };

/* Tests put another in its place by this variable. */
#define PDNN_WORKER_VARIABLE "PARADNN_WORKER"

/* PDNN_IO, naming the paths, when it is at none of them. */
enum pdnn_status pdnn_worker_program(char path[PDNN_PROGRAM_TEXT], struct pdnn_err *err);

#endif
