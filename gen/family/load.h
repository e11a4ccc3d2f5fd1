/* Families of users, from a file or from a spec, which may hold one as a map: to the catalog
 * (models/zoo/catalog.h), where they stay to the end of the process. What says the same as before is the same
 * family. */
#ifndef GEN_FAMILY_LOAD_H
#define GEN_FAMILY_LOAD_H

#include "gen/yaml/document.h"
#include "models/family.h"

/* True for a document that is a family: a map with the key `family`. */
bool pdnn_family_is(const struct pdnn_yaml *root);

/* Adds the family of a map, of which it keeps a copy. PDNN_INVALID with file:line:col. */
enum pdnn_status pdnn_family_define(const struct pdnn_yaml *root, const struct pdnn_family_def **family,
                                    struct pdnn_err *err);

/* The same of a file's first document, which must be the only one. */
enum pdnn_status pdnn_family_define_file(const struct pdnn_yaml *root, const struct pdnn_family_def **family,
                                         struct pdnn_err *err);

/* Adds the families of a spec: those of the list `families`. Maps take the place of paths, so that the spec's
 * record holds them. */
enum pdnn_status pdnn_families_load(struct pdnn_yaml *root, struct pdnn_yaml_count *count,
                                    struct pdnn_arena *arena, struct pdnn_err *err);

/* Gives a spec the list `families` with the family, unless that ships. */
enum pdnn_status pdnn_families_put(struct pdnn_yaml *root, const struct pdnn_family_def *family,
                                   struct pdnn_arena *arena, struct pdnn_err *err);

#endif
