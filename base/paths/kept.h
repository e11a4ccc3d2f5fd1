/* What measurements found, kept between processes: files of lines below the user's cache directory. One file
 * holds the entries of one context, a text that states everything they depend on; its hash names the file and
 * seals each line, so that an entry is never seen in another context. Nothing here fails: what cannot be read
 * is not there, what cannot be written is not kept, and a torn, changed or foreign line is skipped. Any
 * number of processes may use a file at once, since each entry is a single write at its end. */
#ifndef BASE_PATHS_KEPT_H
#define BASE_PATHS_KEPT_H

#include <stdint.h>

enum { PDNN_KEPT_PATH = 1024, PDNN_KEPT_FILE = PDNN_KEPT_PATH + 64 };

/* Bounds: files of one kind in a directory, the oldest go first; bytes of a file, which starts over beyond.
 */
enum { PDNN_KEPT_FILES = 64, PDNN_KEPT_BYTES = 4 << 20 };

/* $XDG_CACHE_HOME/paradnn, or ~/.cache/paradnn; "" if neither is set to an absolute path or it is too long.
 * variables: like environ. */
void pdnn_kept_directory(char *const *variables, char directory[PDNN_KEPT_PATH]);

/* {0} reads nothing and keeps nothing. */
struct pdnn_kept {
    char path[PDNN_KEPT_FILE]; /* "DIRECTORY/KIND-0123456789abcdef.txt"; "" if the directory is "" */
    uint64_t seal;
};

/* Opens the file of the context, a text without line breaks, which is the first line of a new file. */
void pdnn_kept_open(struct pdnn_kept *cache, const char *directory, const char *kind, const char *context);

/* Calls entry for each intact entry, oldest first. */
void pdnn_kept_read(const struct pdnn_kept *cache, void (*entry)(void *user, const char *text), void *user);

/* Adds an entry, a text without line breaks. */
void pdnn_kept_add(const struct pdnn_kept *cache, const char *text);

#endif
