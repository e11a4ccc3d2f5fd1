/* The libraries that workers load instead of those that they find by themselves: a directory with a name,
 * which comes first where the dynamic linker looks. */
#ifndef RUNTIME_DRIVER_WORKER_LIBRARY_DIR_H
#define RUNTIME_DRIVER_WORKER_LIBRARY_DIR_H

#include "base/err.h"
#include "base/str.h"
#include "runtime/protocol/software.h"

#include <stdint.h>

struct pdnn_library_dir {
    int64_t name;                      /* the value of the run setting (models/param.h) */
    const char *directory;             /* absolute */
    const struct pdnn_software *known; /* borrowed: what it was at first; NULL: not known yet */
};

struct pdnn_library_dirs {
    const struct pdnn_library_dir *row;
    size_t count;
};

/* NULL: none has the name. */
const struct pdnn_library_dir *pdnn_library_dir_find(const struct pdnn_library_dirs *libraries, int64_t name);

/* Appends the line "LD_LIBRARY_PATH=DIR:...", with what the user's own environment has behind it. */
void pdnn_library_dir_variable(const struct pdnn_library_dir *library, struct pdnn_str *lines);

/* PDNN_INVALID unless a worker that was started with the library loaded what the directory has; also if that
 * is none of the libraries that workers need, or another build than is known. */
enum pdnn_status pdnn_library_dir_check(const struct pdnn_library_dir *library,
                                        const struct pdnn_software *loaded, struct pdnn_err *err);

#endif
