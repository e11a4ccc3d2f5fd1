/* `libraries` at the top of a spec: names of directories, which the run setting `library` takes. Whether the
 * directories are there, and have a library in them, is for those who run something. Private to gen/. */
#ifndef GEN_LIBRARIES_H
#define GEN_LIBRARIES_H

#include "gen/axis.h"
#include "gen/spec.h"

/* Reads the map, or NULL, into the spec. */
enum pdnn_status pdnn_libraries_read(const struct pdnn_yaml *node, struct pdnn_spec *spec,
                                     struct pdnn_err *err);

/* Appends the axis of all libraries, where the settings do not say which. */
void pdnn_libraries_add_axis(const struct pdnn_spec *spec, struct pdnn_arena *arena,
                             struct pdnn_axis *settings, size_t *n_settings);

/* PDNN_INVALID unless the spec has all libraries that its models name, which are no more than are compared.
 */
enum pdnn_status pdnn_libraries_check(const struct pdnn_spec *spec, struct pdnn_err *err);

#endif
