#include "results/stats/conformal.h"

#include "base/stats.h"

#include <math.h>

double pdnn_conformal_reach(double *scores, size_t count, double level) {
    double rank = ceil((double)(count + 1) * level - 1e-9); /* 10 * 0.9 is 9 */
    if (rank > (double)count)
        return INFINITY;
    pdnn_sort(scores, count);
    return scores[rank < 1 ? 0 : (size_t)rank - 1];
}

double pdnn_conformal_find(const struct pdnn_conformal_case *cases, size_t count,
                           const size_t stratum[PDNN_CONFORMAL_STRATA], double level, double *scratch) {
    double reach = INFINITY;
    for (int depth = 0; depth < PDNN_CONFORMAL_STRATA && isinf(reach); depth++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (cases[i].stratum[depth] == stratum[depth])
                scratch[n++] = cases[i].score;
        reach = pdnn_conformal_reach(scratch, n, level);
    }
    return reach;
}
