/* Whole files: reading with a limit, replacing atomically, writing through short writes. Messages name the
 * path. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"

#include <stddef.h>

/* Reads the file into heap memory, NUL-terminated; the caller frees *text. length may be NULL. A directory, a
 * file larger than limit_bytes or one that cannot be read is PDNN_INVALID with a message that names the path.
 */
enum pdnn_status pdnn_file_read(const char *path, size_t limit_bytes, char **text, size_t *length,
                                struct pdnn_err *err);

/* Replaces the file by text: written to PATH.tmp beside it, synced, renamed. On failure the old file is
 * untouched. What a kill leaves as PATH.tmp, the next replacement takes over; two at once need a lock. */
enum pdnn_status pdnn_file_replace(const char *path, const char *text, size_t length, struct pdnn_err *err);

/* Writes all bytes to fd, through EINTR and short writes. */
enum pdnn_status pdnn_fd_write(int fd, const void *bytes, size_t length, struct pdnn_err *err);

#endif
