/* Who holds a lease: a process, known by its part, and told from any other by its kernel, its pid and the
 * time it began. */
#ifndef SESSION_JOIN_LEASE_HOLDER_H
#define SESSION_JOIN_LEASE_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

enum { PDNN_PART_TEXT = 96, PDNN_BOOT_TEXT = 40 };

struct pdnn_holder {
    char part[PDNN_PART_TEXT]; /* its directory in parts/: HOST-PID-TIME-RANDOM */
    char boot[PDNN_BOOT_TEXT]; /* id of the running kernel, new with every boot; "": not known */
    uint64_t pid_space;        /* the pid is unique in it; 0: not known */
    uint64_t pid;
    uint64_t started; /* ticks after boot: a later process may have the same pid */
};

/* This process. host: for the name of its part, which is different with every call. False if there are no
 * random numbers. */
bool pdnn_holder_init(struct pdnn_holder *holder, const char *host);

/* True if the holder is known to have ended: it ran under the kernel that `self` runs under, and is gone. */
bool pdnn_holder_is_gone(const struct pdnn_holder *holder, const struct pdnn_holder *self);

#endif
