/* The file or directory that a path which leads nowhere probably means: one beside it of nearly the same
 * name. */
#ifndef BASE_PATHS_NEARBY_H
#define BASE_PATHS_NEARBY_H

#include <stdbool.h>

enum { PDNN_NEARBY_TEXT = 320 };

/* True if the path ends with one of the endings and is longer; endings is NULL-terminated. */
bool pdnn_has_ending(const char *path, const char *const *endings);

/* ", did you mean 'sweeps/fc.yaml'?" for "sweeps/fc.yml", "sweeps/fc" or "sweeps/fd.yaml": of the names in
 * the path's directory that have one of the endings, the one whose part before the last dot is nearest to the
 * path's (base/str.h). "" if there is none. Returns buffer. */
const char *pdnn_nearby(char buffer[PDNN_NEARBY_TEXT], const char *path, const char *const *endings);

#endif
