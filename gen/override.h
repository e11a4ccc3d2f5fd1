/* `--set key=value`: changes documents before they are checked, so that overrides obey the same
 * rules as the file. */
#ifndef GEN_OVERRIDE_H
#define GEN_OVERRIDE_H

#include "gen/yaml/document.h"

#define PDNN_OVERRIDE_PLACE "--set %.160s" /* of a setting: what messages about it begin with */

/* setting: "measure.rounds=3", "models.0.fc.batch=[64, 128]"; the value is YAML, which shares `count` with
 * the documents. A missing key is added. Models are counted from 0 through all documents; every other key is
 * set in each document.
 * PDNN_INVALID if it is not key=value, or if the path runs into a scalar or a model that is not there. */
enum pdnn_status pdnn_override_apply(const char *setting, struct pdnn_yaml *const *roots, size_t n_roots,
                                     struct pdnn_yaml_count *count, struct pdnn_arena *arena,
                                     struct pdnn_err *err);

#endif
