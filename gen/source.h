/* The arguments that name specs: YAML files, "-" for standard input, instance ids and families' files, which
 * are rewritten as YAML so that checks, overrides and the record treat them like any other spec. */
#ifndef GEN_SOURCE_H
#define GEN_SOURCE_H

#include "gen/yaml/document.h"
#include "models/family.h"

struct pdnn_source {
    const char *name; /* as typed, or "stdin"; of an installed spec, its path */
    const char *text; /* the file's bytes, NUL-terminated, or the YAML of the id */
    size_t length;
    const struct pdnn_family_def *family; /* of an id or a family's file, else NULL */
    bool is_file;                         /* its name is that of a file, after which a sweep may be called */
    bool installed;                       /* a spec that came with the program */
    struct pdnn_yaml *root;               /* its first document; any others follow through `next` */
};

/* A family's file stands for its family: "mynet.yaml", "./mynet.yaml,batch=8", "./mynet.yaml:small"; the
 * family is then in the catalog. Another argument is an id if its first word is a family or preset
 * ("fc/layers=4", "resnet50") or if it contains
 * '=' or ':' and does not end in .yaml or .yml; otherwise it is a path. A relative path that leads nowhere
 * may also name a spec that was installed with the program: "sweeps/fc.yaml", "fc.yaml", "paper-fc"; messages
 * about any other say what was probably meant. Every document is a map. `count` limits the nodes of all
 * files together; the few of an id are not counted in it. */
enum pdnn_status pdnn_source_read(const char *argument, struct pdnn_yaml_count *count,
                                  struct pdnn_source *source, struct pdnn_arena *arena, struct pdnn_err *err);

/* Whether an argument is an id, or the name of a YAML file. */
bool pdnn_source_is(const char *argument);

/* A file's name: "sweeps/fc.yaml" -> "fc". NULL for what is not a file: an id, standard input, and the pipe
 * of
 * <(command), of which one is called like the other. */
const char *pdnn_source_name(const struct pdnn_source *source, struct pdnn_arena *arena);

#endif
