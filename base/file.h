/* Whole files: reading with a limit and without waiting, replacing atomically, writing through short writes.
 * Messages name the path. base/paths/target writes what a user named for output, base/paths/folder into a
 * directory that is held open. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"

#include <stddef.h>

/* How many bytes of the text are UTF-8's byte order mark, which spreadsheets and editors put first: 3 or 0.
 */
size_t pdnn_text_mark(const char *text, size_t length);

/* Reads the file, without such a mark, into heap memory, NUL-terminated; the caller frees *text. length may
 * be NULL.
 * PDNN_INVALID, with a message that names the path, for a directory, a device, a pipe, a file larger than
 * limit_bytes, or one that cannot be read; it never waits for a pipe's writer. The exception are pipes named
 * as an own descriptor, /dev/stdin or /dev/fd/N: whoever started the program handed it that pipe. */
enum pdnn_status pdnn_file_read(const char *path, size_t limit_bytes, char **text, size_t *length,
                                struct pdnn_err *err);

/* The same for an open descriptor of any kind, up to its end; messages call it `name`. */
enum pdnn_status pdnn_fd_read(int fd, const char *name, size_t limit_bytes, char **text, size_t *length,
                              struct pdnn_err *err);

/* Replaces the file's content: written to a new file beside it, of a name that nobody can foresee, synced,
 * renamed. A link is replaced, not followed. On failure the old file is untouched. A killed process may leave
 * paradnn-*.tmp behind. Concurrent writers need a lock. */
enum pdnn_status pdnn_file_replace(const char *path, const char *text, size_t length, struct pdnn_err *err);

/* The same for a name relative to the open directory, or AT_FDCWD; messages name `path`. */
enum pdnn_status pdnn_file_replace_at(int directory, const char *name, const char *path, const char *text,
                                      size_t length, struct pdnn_err *err);

/* Makes a file that is complete when it appears, by a hard link. PDNN_BUSY, without a message, if there is
 * one of that name; over NFS it may be this one. PDNN_UNSUPPORTED if the file system has no links. A
 * paradnn-*.tmp that somebody removes meanwhile is written once more. */
enum pdnn_status pdnn_file_add_at(int directory, const char *name, const char *path, const char *text,
                                  size_t length, struct pdnn_err *err);

/* Whether replacing would work, as far as can be known: PDNN_INVALID if there is a directory of that name or
 * no file can be made beside it. Changes nothing. */
enum pdnn_status pdnn_file_try_at(int directory, const char *name, const char *path, struct pdnn_err *err);

/* The number of the own descriptor that the path names (/dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N,
 * /proc/self/fd/N), or -1. */
int pdnn_file_descriptor(const char *path);

/* Turns O_NONBLOCK, with which a descriptor was opened, off. */
enum pdnn_status pdnn_fd_make_blocking(int fd, const char *path, struct pdnn_err *err);

/* Writes all bytes to fd, retrying after EINTR and short writes. */
enum pdnn_status pdnn_fd_write(int fd, const void *bytes, size_t length, struct pdnn_err *err);

#endif
