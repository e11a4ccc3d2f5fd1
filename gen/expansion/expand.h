/* Iterates lazily over a spec's instances in canonical order: models as written, axes as written with
 * the last one fastest, run settings outermost. The same spec and seed give the same sequence on every
 * machine, up to the number that `threads: all` stands for. */
#ifndef GEN_EXPANSION_EXPAND_H
#define GEN_EXPANSION_EXPAND_H

#include "gen/spec.h"
#include "models/cost/cost.h"
#include "models/instance.h"

struct pdnn_expand; /* opaque */

struct pdnn_expanded {
    struct pdnn_instance instance; /* resolved; threads is 0 for `all` as the word, else a number */
    struct pdnn_totals totals;
    bool has_totals; /* the graph can be built and all counts fit in 64 bits; else totals are 0 */
    bool filtered;   /* `where` is false for it, or asks for counts that do not fit */
    bool invalid;    /* the values contradict each other: an image smaller than the network's windows */
    /* The expression if filtered; the cause if there are no totals; else "". Valid until
     * the next instance. */
    const char *reason;
};

/* threads: what `threads: all` stands for; 0: no host's number, the word stays, and `where` is true if it is
 * with some number. with_memory: compute totals.memory_bytes, which takes most of the
 * time and happens anyway if `where` uses it. spec must outlive the iteration. */
struct pdnn_expand *pdnn_expand_create(const struct pdnn_spec *spec, int64_t threads, bool with_memory);
void pdnn_expand_destroy(struct pdnn_expand *expand);

/* The next instance; *done is true if there is none left. A sampled model's instances come in the order drawn
 * (gen/expansion/sample.h): `count` of them, each another one, for which `where` is true on some host, or all
 * there are. On a host where it is false they are filtered. PDNN_INVALID if a second's worth of draws in a
 * row find none (a million, fewer if `where` uses costs), or for an invalid instance that is the only one of
 * its model. Instances left out by a sample, or that would only repeat another along an axis that does not
 * apply, do not appear. Without a sample, an id that came up before, from another way to write the same
 * values, appears again, and so does that of another model entry or of a number of threads that `all` stands
 * for (gen/expansion/walk keeps the first). */
enum pdnn_status pdnn_expand_next(struct pdnn_expand *expand, struct pdnn_expanded *item, bool *done,
                                  struct pdnn_err *err);

#endif
