#include "results/compare/composed_pairs.h"

#include "base/memory.h"
#include "runtime/protocol/standing.h"

#include <math.h>
#include <stdlib.h>

void pdnn_composed_pairs(const struct pdnn_visits *visits, struct pdnn_composed_pair **pairs, size_t *count) {
    double *scratch = pdnn_alloc(pdnn_visits_most(visits), sizeof *scratch);
    *pairs = pdnn_alloc(visits->ids.count + 1, sizeof **pairs);
    *count = 0;
    for (size_t i = 0; i < visits->ids.count; i++) {
        struct pdnn_composed_pair *pair = &(*pairs)[*count];
        const struct pdnn_visit *visit = visits->of[i].visit;
        size_t n = visits->of[i].count;
        const struct pdnn_standing standing = pdnn_standing_of(visit, n);
        pair->id = visits->ids.text[i];
        pair->composed_ns = pdnn_visits_median_ns(visit, n, PDNN_VISITS_COMPOSED, scratch);
        pair->direct_ns = pdnn_visits_median_ns(visit, n, PDNN_VISITS_DIRECT, scratch);
        pair->is_predicted = pdnn_standing_composed(&standing) == PDNN_METHOD_PREDICTED;
        *count += !isnan(pair->composed_ns) && !isnan(pair->direct_ns);
    }
    free(scratch);
}
