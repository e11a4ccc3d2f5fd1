/* Whole files: reading with a limit, replacing atomically, writing through short writes.
 * Messages name the path. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"

#include <stddef.h>

/* Reads the file into heap memory, NUL-terminated; the caller frees *text. length may be NULL.
 * PDNN_INVALID, with a message that names the path, for a directory, a file larger than limit_bytes, or one
 * that cannot be read. */
enum pdnn_status pdnn_file_read(const char *path, size_t limit_bytes, char **text, size_t *length,
                                struct pdnn_err *err);

/* Replaces the file's content: written to PATH.tmp beside it, synced, renamed. On failure the old file is
 * untouched. A PATH.tmp left behind by a killed process is overwritten by the next replacement. Concurrent
 * writers need a lock. */
enum pdnn_status pdnn_file_replace(const char *path, const char *text, size_t length, struct pdnn_err *err);

/* Writes all bytes to fd, retrying after EINTR and short writes. */
enum pdnn_status pdnn_fd_write(int fd, const void *bytes, size_t length, struct pdnn_err *err);

#endif
