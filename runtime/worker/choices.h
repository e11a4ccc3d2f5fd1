/* Choices kept between processes: what a backend's tune (runtime/core/tune.h) has measured, in a file of the
 * user's cache directory. An entry is trusted only where everything is as it was: this build, the backend's
 * version, processor, cores and caches, threads, and the variables that the libraries and OpenMP read, which
 * say where threads are bound. The shape is in the entry's key, and the entry says how large the last-level
 * cache was found to be: up to four times or a quarter of that size, it is trusted. */
#ifndef RUNTIME_WORKER_CHOICES_H
#define RUNTIME_WORKER_CHOICES_H

#include "base/kept.h"
#include "base/str.h"
#include "runtime/core/tune.h"
#include "runtime/facts/host.h"

/* What a choice depends on besides its shape; borrowed. */
struct pdnn_choices_context {
    const struct pdnn_host *host;
    const char *build, *library; /* as in runtime/facts/software.h */
    const char *isa;             /* the run setting */
    int64_t threads;
    uint64_t cache_bytes;   /* as measured; 0: not measured */
    char *const *variables; /* like environ */
};

/* One line. */
void pdnn_choices_format(const struct pdnn_choices_context *context, struct pdnn_str *out);

/* The open file. */
struct pdnn_choices {
    struct pdnn_kept file;
    uint64_t cache_bytes;
};

/* Enters what the file in the directory has into tune, and adds to the file what tune measures from now on.
 * *choices must outlive tune. "": does nothing. */
void pdnn_choices_keep(struct pdnn_tune *tune, struct pdnn_choices *choices, const char *directory,
                       const struct pdnn_choices_context *context);

#endif
