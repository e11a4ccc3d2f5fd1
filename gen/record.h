/* The spec as a sweep stores it: one YAML file that gives the same instances again. Private to gen/. */
#ifndef GEN_RECORD_H
#define GEN_RECORD_H

#include "gen/source.h"

/* Where a spec was read from. */
struct pdnn_origin {
    const struct pdnn_source *sources;
    size_t n_sources;
    const char *const *sets; /* the overrides */
    size_t n_sets;
    struct pdnn_yaml *const *roots; /* all documents of all sources, after overrides */
    size_t n_roots;
    size_t governor; /* index of the document whose sweep, seed, measure and limits apply */
};

/* Writes the documents under comments that name sources and overrides. The first document gets the governor's
 * values, since that is where they are looked for when the text is read again. *text lives in the arena. */
enum pdnn_status pdnn_origin_record(const struct pdnn_origin *origin, struct pdnn_arena *arena,
                                    const char **text, struct pdnn_err *err);

#endif
