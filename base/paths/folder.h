/* A directory held open while files in it are written: they all go into this directory, whatever becomes of
 * its path meanwhile. */
#ifndef BASE_PATHS_FOLDER_H
#define BASE_PATHS_FOLDER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { PDNN_FOLDER_TEXT = 4096 };

struct pdnn_folder {
    int fd;                      /* -1: not open */
    char path[PDNN_FOLDER_TEXT]; /* as it was given, for messages and for reading */
};

/* PDNN_INVALID, with a message that names the link's target, for a link that leads nowhere. */
enum pdnn_status pdnn_link_check(const char *path, struct pdnn_err *err);

/* Makes the directory unless there is one. PDNN_INVALID, with a message that names the path, if it cannot. */
enum pdnn_status pdnn_folder_ensure(const char *path, struct pdnn_err *err);

/* PDNN_INVALID, with a message that names the path, if there is no such directory or its files would have
 * names that are too long. */
enum pdnn_status pdnn_folder_open(struct pdnn_folder *folder, const char *path, struct pdnn_err *err);
void pdnn_folder_close(struct pdnn_folder *folder);

/* PDNN_IO if the path no longer leads to this directory: it was deleted, moved or replaced. */
enum pdnn_status pdnn_folder_check(const struct pdnn_folder *folder, struct pdnn_err *err);

/* "DIRECTORY/NAME"; false if that is too long. */
bool pdnn_path_join(char path[PDNN_FOLDER_TEXT], const char *directory, const char *name);

/* Whether the directory has a file or directory of that name; errno says why not. */
bool pdnn_path_has(const char *directory, const char *name);

/* The path of a file in it, for messages and for reading; the name has fewer than 64 letters. Returns buffer.
 */
const char *pdnn_folder_path(const struct pdnn_folder *folder, const char *name,
                             char buffer[PDNN_FOLDER_TEXT]);

/* As in base/file: replaces or adds the file of this name; tells whether replacing would work. */
enum pdnn_status pdnn_folder_replace(const struct pdnn_folder *folder, const char *name, const char *text,
                                     size_t length, struct pdnn_err *err);
enum pdnn_status pdnn_folder_add(const struct pdnn_folder *folder, const char *name, const char *text,
                                 size_t length, struct pdnn_err *err);
enum pdnn_status pdnn_folder_try(const struct pdnn_folder *folder, const char *name, struct pdnn_err *err);

/* Makes a directory that only this process knows, below $TMPDIR or, where that is unset or long, /tmp. False,
 * with errno and path "", if it cannot. */
enum { PDNN_FOLDER_OWN_TEXT = 64 };
bool pdnn_folder_make_own(char path[PDNN_FOLDER_OWN_TEXT]);

/* Removes it with the files in it; "": does nothing. */
void pdnn_folder_remove_own(const char *path);

/* Removes the paradnn-*.tmp that killed processes left in a directory where nobody else replaces a file. */
void pdnn_folder_clean(const struct pdnn_folder *folder);

#endif
