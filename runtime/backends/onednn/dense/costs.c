#include "runtime/backends/onednn/dense/costs.h"

#include <math.h>

/* What replaces the best so far takes at most this part of its time, of a pass and of the whole step; with a
 * reorder less, since that also pushes other data out of the caches, which nothing here measures. */
static const double MARGIN = 0.9, MARGIN_WITH_REORDER = 0.8;

void pdnn_dense_costs_init(struct pdnn_dense_costs *costs) {
    struct pdnn_dense_cost *cost = &costs->cost[0][0][0];
    for (size_t i = 0; i < sizeof *costs / sizeof *cost; i++) {
        cost[i].run_ns = INFINITY;
        for (int home = 0; home < PDNN_WEIGHTS_FORMAT_COUNT; home++)
            cost[i].reorder_ns[home] = INFINITY;
    }
}

static double least(double a, double b) {
    return a < b ? a : b;
}

void pdnn_dense_costs_merge(struct pdnn_dense_costs *costs, const struct pdnn_dense_costs *more) {
    struct pdnn_dense_cost *cost = &costs->cost[0][0][0];
    const struct pdnn_dense_cost *other = &more->cost[0][0][0];
    for (size_t i = 0; i < sizeof *costs / sizeof *cost; i++) {
        cost[i].run_ns = least(cost[i].run_ns, other[i].run_ns);
        for (int home = 0; home < PDNN_WEIGHTS_FORMAT_COUNT; home++)
            cost[i].reorder_ns[home] = least(cost[i].reorder_ns[home], other[i].reorder_ns[home]);
    }
}

static double variant_ns(const struct pdnn_dense_costs *costs, int pass, struct pdnn_dense_variant variant,
                         enum pdnn_weights_format home) {
    const struct pdnn_dense_cost *cost = &costs->cost[pass][variant.way][variant.format];
    return cost->run_ns + cost->reorder_ns[home];
}

struct pdnn_dense_variant pdnn_dense_usual(const struct pdnn_dense_costs *costs, enum pdnn_pass pass,
                                           enum pdnn_weights_format home) {
    bool has_own = isfinite(costs->cost[pass][PDNN_DENSE_OWN][home].run_ns);
    return (struct pdnn_dense_variant){has_own ? PDNN_DENSE_OWN : PDNN_DENSE_INNER_PRODUCT, home};
}

bool pdnn_dense_cost_competes(const struct pdnn_dense_costs *costs, enum pdnn_pass pass, double run_ns,
                              enum pdnn_weights_format home) {
    enum pdnn_dense_way usual = pdnn_dense_usual(costs, pass, home).way;
    return isfinite(run_ns) && !(run_ns > MARGIN * costs->cost[pass][usual][home].run_ns);
}

/* ns of the step with the best variant of each pass, the usual one first. */
static double best_variants(const struct pdnn_dense_costs *costs, const struct pdnn_dense_shape *shape,
                            struct pdnn_dense_choice *choice) {
    double total_ns = 0;
    for (int pass = 0; pass < PDNN_DENSE_PASSES; pass++) {
        if (!shape->has_pass[pass])
            continue;
        choice->variant[pass] = pdnn_dense_usual(costs, (enum pdnn_pass)pass, choice->home);
        double best_ns = variant_ns(costs, pass, choice->variant[pass], choice->home);
        for (int i = 0; i < PDNN_DENSE_VARIANTS; i++) {
            struct pdnn_dense_variant variant = pdnn_dense_variant_at(i);
            double ns = variant_ns(costs, pass, variant, choice->home);
            bool reorders = costs->cost[pass][variant.way][variant.format].reorder_ns[choice->home] > 0;
            if (!isfinite(ns) || ns > (reorders ? MARGIN_WITH_REORDER : MARGIN) * best_ns)
                continue;
            best_ns = ns;
            choice->variant[pass] = variant;
        }
        total_ns += best_ns;
    }
    return total_ns;
}

bool pdnn_dense_decide(const struct pdnn_dense_costs *costs, const struct pdnn_dense_shape *shape,
                       struct pdnn_dense_choice *choice) {
    int first = shape->has_home ? (int)shape->home : PDNN_WEIGHTS_ROW_MAJOR;
    int last = shape->has_home ? first : shape->pinned ? PDNN_WEIGHTS_ROW_MAJOR : PDNN_WEIGHTS_PACKED;
    struct pdnn_dense_choice best = {.home = (enum pdnn_weights_format)first};
    double best_ns = 0;
    for (int pass = 0; pass < PDNN_DENSE_PASSES; pass++) {
        best.variant[pass] = pdnn_dense_usual(costs, (enum pdnn_pass)pass, best.home);
        if (shape->has_pass[pass])
            best_ns += variant_ns(costs, pass, best.variant[pass], best.home);
    }
    for (int home = first; home <= last; home++) {
        struct pdnn_dense_choice tried = {.home = (enum pdnn_weights_format)home};
        /* There is a packed layout to live in only where the forward pass has made one. */
        if (home == PDNN_WEIGHTS_PACKED &&
            !isfinite(costs->cost[PDNN_FORWARD][PDNN_DENSE_INNER_PRODUCT][home].run_ns))
            continue;
        double ns = best_variants(costs, shape, &tried);
        if (!isfinite(ns) || ns > MARGIN * best_ns)
            continue;
        best_ns = ns;
        best = tried;
    }
    if (!isfinite(best_ns)) {
        struct pdnn_dense_shape anywhere = *shape;
        anywhere.has_home = false;
        return shape->has_home && pdnn_dense_decide(costs, &anywhere, choice);
    }
    *choice = best;
    return true;
}
