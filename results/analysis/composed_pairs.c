#include "results/analysis/composed_pairs.h"

#include "base/memory.h"
#include "runtime/facts/standing.h"
#include "runtime/facts/stats.h"

#include <stdlib.h>

/* The median over the visits of one method that count; false: there is none. */
static bool find_median(const struct pdnn_instance_visits *of, bool is_composed, double *medians,
                        double *median_ns, bool *is_predicted) {
    const struct pdnn_standing standing = pdnn_standing_of(of->visit, of->count);
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) {
        if (!(is_composed ? pdnn_visit_counts_composed(&of->visit[i], &standing)
                          : pdnn_visit_is_direct(&of->visit[i])))
            continue;
        medians[count++] = of->visit[i].median_ns;
        *is_predicted = pdnn_method_of(of->visit[i].flags) == PDNN_METHOD_PREDICTED;
    }
    if (count)
        *median_ns = pdnn_median(medians, count);
    return count > 0;
}

void pdnn_composed_pairs(const struct pdnn_visits *visits, struct pdnn_composed_pair **pairs, size_t *count) {
    size_t most = 1;
    for (size_t i = 0; i < visits->ids.count; i++)
        most = visits->of[i].count > most ? visits->of[i].count : most;
    double *medians = pdnn_alloc(most, sizeof *medians);
    *pairs = pdnn_alloc(visits->ids.count + 1, sizeof **pairs);
    *count = 0;
    for (size_t i = 0; i < visits->ids.count; i++) {
        struct pdnn_composed_pair *pair = &(*pairs)[*count];
        bool ignored;
        if (!find_median(&visits->of[i], true, medians, &pair->composed_ns, &pair->is_predicted) ||
            !find_median(&visits->of[i], false, medians, &pair->direct_ns, &ignored))
            continue;
        pair->id = visits->ids.text[i];
        ++*count;
    }
    free(medians);
}
