#include "results/epochs/representatives.h"

#include <math.h>

double pdnn_representatives_total(const struct pdnn_representatives *points, const double *value) {
    double total = 0;
    for (size_t i = 0; i < points->count; i++)
        total += points->point[i].weight * value[points->point[i].kind];
    return total;
}

double pdnn_projection_error(double projected, double truth) {
    return projected == truth ? 0 : projected / truth - 1;
}

uint64_t pdnn_representatives_runs(const struct pdnn_representatives *points) {
    uint64_t runs = 0;
    for (size_t i = 0; i < points->count; i++)
        runs += points->point[i].runs;
    return runs;
}

struct pdnn_reduction pdnn_representatives_reduction(const struct pdnn_epoch *epoch,
                                                     const struct pdnn_representatives *points,
                                                     const double *value, double total) {
    double sum = 0, longest = 0;
    for (size_t i = 0; i < points->count; i++) {
        double each = value[points->point[i].kind];
        sum += (double)points->point[i].runs * each;
        longest = fmax(longest, each);
    }
    return (struct pdnn_reduction){total / sum, total / longest,
                                   (double)epoch->n_iterations / (double)pdnn_representatives_runs(points)};
}
