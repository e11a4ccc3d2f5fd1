/* Lets sweeps on one machine know of each other. Each holds a lock on a small file of its own in
 * $PARADNN_PRESENCE_DIR, by default /dev/shm or else /tmp, that says which cores it measures on. Nothing
 * there is trusted: files are created exclusively, opened without following links or blocking, and what they
 * say is only shown. */
#ifndef SESSION_JOIN_PRESENCE_H
#define SESSION_JOIN_PRESENCE_H

#include "base/str.h"
#include "runtime/host/host.h"

/* {0} is none. */
struct pdnn_presence {
    char path[256]; /* "": none */
    int fd;
};

/* Announces this process with its cores and its result directory, and appends one line for each other sweep
 * that is running on one of these cores: "pid 123 in /a/b.results". Where no file can be made, nobody learns
 * of this sweep, but it still sees others. */
void pdnn_presence_begin(struct pdnn_presence *presence, const struct pdnn_host *host, const char *directory,
                         struct pdnn_str *others);

void pdnn_presence_end(struct pdnn_presence *presence);

#endif
