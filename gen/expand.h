/* Walks a spec's instances one by one, lazily, in canonical order: models as written, axes as written with
 * the last one fastest, run settings outermost. The same spec, seed and thread count give the same sequence
 * on every machine. */
#ifndef GEN_EXPAND_H
#define GEN_EXPAND_H

#include "gen/spec.h"
#include "models/cost.h"
#include "models/instance.h"

struct pdnn_expand; /* opaque */

struct pdnn_expanded {
    struct pdnn_instance instance; /* resolved: threads is a number */
    struct pdnn_totals totals;
    bool has_totals; /* it can be built and all counts fit in 64 bits; else totals are 0 */
    bool filtered;   /* `where` is false for it, or asks for counts that do not fit */
    bool invalid;    /* the values do not go together: an image smaller than the net's windows */
    /* filtered: the expression; no totals: why there are none; else "". Stays until the next instance. */
    const char *reason;
};

/* threads: what `threads: all` stands for. with_memory: totals.memory_bytes is wanted; it takes most of the
 * time, and is there anyway where a `where` asks for it. spec must outlive the walk. */
enum pdnn_status pdnn_expand_create(const struct pdnn_spec *spec, int64_t threads, bool with_memory,
                                    struct pdnn_expand **expand, struct pdnn_err *err);
void pdnn_expand_destroy(struct pdnn_expand *expand);

/* The next instance; those of a sampled model come in the order drawn (gen/sample.h), `count` of them for
 * which `where` is true, or all there are. PDNN_INVALID when a million draws in a row find none, and for an
 * invalid instance that is not one of several of its model. *done is
 * true when there is none left. Instances that an axis which does not apply would only repeat, and those a
 * sample leaves out, do not appear; an id that appeared already from another model entry, or from another
 * way to write the same values, appears again (cli/walk keeps the first). */
enum pdnn_status pdnn_expand_next(struct pdnn_expand *expand, struct pdnn_expanded *item, bool *done,
                                  struct pdnn_err *err);

#endif
