/* The arguments that name specs: YAML files, and instance ids, which are written out as YAML so that checks,
 * overrides and the record treat them like any other. */
#ifndef GEN_SOURCE_H
#define GEN_SOURCE_H

#include "gen/document.h"
#include "models/family.h"

struct pdnn_source {
    const char *name; /* as typed */
    const char *text; /* the file's bytes, NUL-terminated, or what the id was written out as */
    size_t length;
    const struct pdnn_family_def *family; /* of an id, else NULL */
    struct pdnn_yaml *root;               /* its first document; a file may have more of them, as next */
};

/* An argument is an id when its first word is a family ("fc", "fc/layers=4", "cnn:resnet50") or when it holds
 * '=' or ':' and does not end in .yaml or .yml; else a path. Every document is a map. */
enum pdnn_status pdnn_source_read(const char *argument, struct pdnn_source *source, struct pdnn_arena *arena,
                                  struct pdnn_err *err);

/* Of a file: "sweeps/fc.yaml" -> "fc". NULL without memory. */
const char *pdnn_source_name(const struct pdnn_source *source, struct pdnn_arena *arena);

#endif
