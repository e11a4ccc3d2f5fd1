#include "runtime/backends/onednn/dense/costs.h"

#include <math.h>

/* A variant of a pass replaces the best one so far only if it takes at most this fraction of its time, and so
 * does a stored format for the whole step. The fraction is lower with a reorder, since that also evicts other
 * data from the caches, which is not measured here. */
static const double MARGIN = 0.9, MARGIN_WITH_REORDER = 0.8;

void pdnn_onednn_dense_costs_init(struct pdnn_onednn_dense_costs *costs) {
    struct pdnn_onednn_dense_cost *cost = &costs->cost[0][0][0];
    for (size_t i = 0; i < sizeof *costs / sizeof *cost; i++) {
        cost[i].run_ns = INFINITY;
        for (int stored = 0; stored < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; stored++)
            cost[i].reorder_ns[stored] = INFINITY;
    }
}

static double variant_ns(const struct pdnn_onednn_dense_costs *costs, int pass,
                         struct pdnn_onednn_dense_variant variant, enum pdnn_onednn_weights_format stored) {
    const struct pdnn_onednn_dense_cost *cost = &costs->cost[pass][variant.way][variant.format];
    return cost->run_ns + cost->reorder_ns[stored];
}

struct pdnn_onednn_dense_variant pdnn_onednn_dense_usual(const struct pdnn_onednn_dense_costs *costs,
                                                         enum pdnn_pass pass,
                                                         enum pdnn_onednn_weights_format stored) {
    bool has_own = isfinite(costs->cost[pass][PDNN_ONEDNN_DENSE_SMALL_BATCH][stored].run_ns);
    return (struct pdnn_onednn_dense_variant){
        has_own ? PDNN_ONEDNN_DENSE_SMALL_BATCH : PDNN_ONEDNN_DENSE_INNER_PRODUCT, stored};
}

bool pdnn_onednn_dense_cost_competes(const struct pdnn_onednn_dense_costs *costs, enum pdnn_pass pass,
                                     double run_ns, enum pdnn_onednn_weights_format stored) {
    enum pdnn_onednn_dense_way usual = pdnn_onednn_dense_usual(costs, pass, stored).way;
    return isfinite(run_ns) && !(run_ns > MARGIN * costs->cost[pass][usual][stored].run_ns);
}

/* ns of the step with the best variant of each pass. The usual variant is the first to beat. */
static double best_variants(const struct pdnn_onednn_dense_costs *costs,
                            const struct pdnn_onednn_dense_shape *shape,
                            struct pdnn_onednn_dense_choice *choice) {
    double total_ns = 0;
    for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
        if (!shape->has_pass[pass])
            continue;
        choice->variant[pass] = pdnn_onednn_dense_usual(costs, (enum pdnn_pass)pass, choice->stored);
        double best_ns = variant_ns(costs, pass, choice->variant[pass], choice->stored);
        for (int i = 0; i < PDNN_ONEDNN_DENSE_VARIANTS; i++) {
            struct pdnn_onednn_dense_variant variant = pdnn_onednn_dense_variant_at(i);
            double ns = variant_ns(costs, pass, variant, choice->stored);
            bool reorders = costs->cost[pass][variant.way][variant.format].reorder_ns[choice->stored] > 0;
            if (!isfinite(ns) || ns > (reorders ? MARGIN_WITH_REORDER : MARGIN) * best_ns)
                continue;
            best_ns = ns;
            choice->variant[pass] = variant;
        }
        total_ns += best_ns;
    }
    return total_ns;
}

bool pdnn_onednn_dense_decide(const struct pdnn_onednn_dense_costs *costs,
                              const struct pdnn_onednn_dense_shape *shape,
                              struct pdnn_onednn_dense_choice *choice) {
    int first = shape->is_placed ? (int)shape->stored : PDNN_ONEDNN_WEIGHTS_ROW_MAJOR;
    int last = shape->is_placed ? first
               : shape->pinned  ? PDNN_ONEDNN_WEIGHTS_ROW_MAJOR
                                : PDNN_ONEDNN_WEIGHTS_PACKED;
    struct pdnn_onednn_dense_choice best = {.stored = (enum pdnn_onednn_weights_format)first};
    double best_ns = 0;
    for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
        best.variant[pass] = pdnn_onednn_dense_usual(costs, (enum pdnn_pass)pass, best.stored);
        if (shape->has_pass[pass])
            best_ns += variant_ns(costs, pass, best.variant[pass], best.stored);
    }
    for (int stored = first; stored <= last; stored++) {
        struct pdnn_onednn_dense_choice tried = {.stored = (enum pdnn_onednn_weights_format)stored};
        /* Packed weights can only be stored if the forward pass has defined the packed format. */
        if (stored == PDNN_ONEDNN_WEIGHTS_PACKED &&
            !isfinite(costs->cost[PDNN_FORWARD][PDNN_ONEDNN_DENSE_INNER_PRODUCT][stored].run_ns))
            continue;
        double ns = best_variants(costs, shape, &tried);
        if (!isfinite(ns) || ns > MARGIN * best_ns)
            continue;
        best_ns = ns;
        best = tried;
    }
    if (!isfinite(best_ns)) {
        struct pdnn_onednn_dense_shape anywhere = *shape;
        anywhere.is_placed = false;
        return shape->is_placed && pdnn_onednn_dense_decide(costs, &anywhere, choice);
    }
    *choice = best;
    return true;
}
