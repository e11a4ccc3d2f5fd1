/* `libraries` at the top of a spec: names of directories, which the run setting `library` takes. Whether the
 * directories are there, and have a library in them, is for those who run something. */
#ifndef GEN_LIBRARIES_H
#define GEN_LIBRARIES_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { PDNN_SPEC_LIBRARIES = 16 };

struct pdnn_axis;
struct pdnn_spec_model;
struct pdnn_yaml;

/* A directory whose libraries workers load before others. */
struct pdnn_spec_library {
    int64_t name;                 /* the value of the run setting */
    const char *directory;        /* as written */
    const struct pdnn_yaml *node; /* where it is written */
};

struct pdnn_spec_libraries {
    struct pdnn_spec_library row[PDNN_SPEC_LIBRARIES];
    size_t count;
};

/* Reads the map, or NULL. *libraries starts as {0}. */
enum pdnn_status pdnn_libraries_read(const struct pdnn_yaml *node, struct pdnn_spec_libraries *libraries,
                                     struct pdnn_err *err);

/* Appends the axis of all libraries to the settings, which have room for it, unless they say which. */
void pdnn_libraries_add_axis(const struct pdnn_spec_libraries *libraries, struct pdnn_arena *arena,
                             struct pdnn_axis *settings, size_t *n_settings);

/* PDNN_INVALID unless all that the models' axes name are there, and are at most `most`. */
enum pdnn_status pdnn_libraries_check(const struct pdnn_spec_libraries *libraries,
                                      const struct pdnn_spec_model *models, size_t n_models, size_t most,
                                      struct pdnn_err *err);

#endif
