/* What measurements on this machine depend on besides what is measured, as a text: this build, a library's
 * version, processor, cores and caches, threads, and the variables that the libraries and OpenMP read, which
 * say where threads are bound. What processes keep (base/paths/kept.h) is kept under such a text. */
#ifndef RUNTIME_HOST_ENVIRONMENT_KEY_H
#define RUNTIME_HOST_ENVIRONMENT_KEY_H

#include "base/str.h"
#include "runtime/host/host.h"

#include <stdbool.h>

/* All pointers are borrowed. */
struct pdnn_environment_key {
    const struct pdnn_host *host;
    const char *build, *library; /* as in runtime/protocol/software.h */
    const char *isa;             /* the run setting */
    int64_t threads;
    char *const *variables; /* like environ */
    bool is_any_library;    /* those do not count that say where libraries are */
};

/* Appends the text, which is one line. */
void pdnn_environment_key_format(const struct pdnn_environment_key *context, struct pdnn_str *out);

#endif
