/* What a user names for output (-o): tried before the work begins, written when it is done. A file is
 * replaced atomically; behind a symbolic link, the file that the link leads to. Devices, pipes and the
 * program's own descriptors (/dev/stdout, /dev/fd/N) are written to as they are. */
#ifndef BASE_PATHS_TARGET_H
#define BASE_PATHS_TARGET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { PDNN_TARGET_TEXT = 4096 };

struct pdnn_target {
    int fd;                      /* of a stream, open for writing; -1: a file */
    char path[PDNN_TARGET_TEXT]; /* as it was given, for messages */
    char file[PDNN_TARGET_TEXT]; /* where links lead to */
};

/* True if the path names a device, a pipe or an own descriptor, which takes one text in one piece. */
bool pdnn_target_is_stream(const char *path);

/* PDNN_INVALID, with a message that names the path, if nothing can be written there: a directory, one that is
 * missing or not writable, a descriptor not open for writing, a pipe that nobody opens for reading within two
 * seconds. Changes nothing. */
enum pdnn_status pdnn_target_open(struct pdnn_target *target, const char *path, struct pdnn_err *err);

/* The same for a file in a directory of results, which may come from somebody else: a link, a device or a
 * pipe there is replaced by a file. */
enum pdnn_status pdnn_target_open_own(struct pdnn_target *target, const char *path, struct pdnn_err *err);

/* Writes the text. PDNN_IO on failure; a file is then as it was before. */
enum pdnn_status pdnn_target_write(const struct pdnn_target *target, const char *text, size_t length,
                                   struct pdnn_err *err);

/* Takes one that was not opened if its fd is -1. */
void pdnn_target_close(struct pdnn_target *target);

#endif
