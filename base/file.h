/* Whole files: reading with a limit and without waiting, replacing atomically, writing through short writes.
 * Messages name the path. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"

#include <stddef.h>

/* Reads the file into heap memory, NUL-terminated; the caller frees *text. length may be NULL.
 * PDNN_INVALID, with a message that names the path, for a directory, a device, a pipe, a file larger than
 * limit_bytes, or one that cannot be read; it never waits for a pipe's writer. The exception are pipes named
 * as an own descriptor, /dev/stdin or /dev/fd/N: whoever started the program handed it that pipe. */
enum pdnn_status pdnn_file_read(const char *path, size_t limit_bytes, char **text, size_t *length,
                                struct pdnn_err *err);

/* Replaces the file's content: written to a new file beside it, of a name that nobody can foresee, synced,
 * renamed. A link is replaced, not followed. On failure the old file is untouched. A killed process may leave
 * paradnn-*.tmp behind. Concurrent writers need a lock. */
enum pdnn_status pdnn_file_replace(const char *path, const char *text, size_t length, struct pdnn_err *err);

/* Removes the paradnn-*.tmp that killed processes left in a directory that nobody else writes to. */
void pdnn_file_clean(const char *directory);

/* Writes to a path that the user named: replaces a regular file, behind a link too; writes into a device or a
 * pipe. A pipe that nobody reads is PDNN_IO. */
enum pdnn_status pdnn_file_write(const char *path, const char *text, size_t length, struct pdnn_err *err);

/* Writes all bytes to fd, retrying after EINTR and short writes. */
enum pdnn_status pdnn_fd_write(int fd, const void *bytes, size_t length, struct pdnn_err *err);

#endif
