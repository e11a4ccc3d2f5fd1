/* Lets sweeps on one machine know of each other. Each holds a lock on a small file of its own in
 * $PARADNN_PRESENCE_DIR, by default /dev/shm or else /tmp, that says which cores it measures on. Nothing
 * there is trusted: files are created exclusively, opened without following links or blocking, and what they
 * say is shown, and says which of its own cores a sweep takes first. */
#ifndef SESSION_JOIN_PRESENCE_H
#define SESSION_JOIN_PRESENCE_H

#include "base/str.h"
#include "runtime/host/host.h"

/* {0} is none. */
struct pdnn_presence {
    char path[256]; /* "": none */
    int fd;
};

/* Announces this process with the cores that it measures on and its result directory, and appends one line
 * for each other sweep that is running on one of these cores: "pid 123 in /a/b.results". Where no file can be
 * made, nobody learns of this sweep, but it still sees others. */
void pdnn_presence_begin(struct pdnn_presence *presence, const int *cores, int64_t n_cores,
                         const char *directory, struct pdnn_str *others);

/* The same beside others that do: puts the host's cores that no other sweep has before the others, and takes
 * the first n_cores. Of two that begin at once, one chooses first. */
void pdnn_presence_begin_beside(struct pdnn_presence *presence, struct pdnn_host *host, int64_t n_cores,
                                const char *directory, struct pdnn_str *others);

void pdnn_presence_end(struct pdnn_presence *presence);

#endif
