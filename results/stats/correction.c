#include "results/stats/correction.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static double ratio_of(const struct pdnn_correction_row *row) {
    return fmin(fmax(row->direct_ns / row->composed_ns, 0.5), 2);
}

static bool counts(const struct pdnn_correction_row *row) {
    return row->composed_ns > 0 && row->direct_ns > 0;
}

/* kind: SIZE_MAX for all. */
static double fit(const struct pdnn_correction_row *rows, size_t n_rows, const double *model_ns, size_t kind,
                  double towards) {
    double weights = PDNN_CORRECTION_SHRINK, sum = PDNN_CORRECTION_SHRINK * towards;
    for (size_t i = 0; i < n_rows; i++) {
        if (!counts(&rows[i]) || (kind != SIZE_MAX && rows[i].kind != kind))
            continue;
        double weight = rows[i].composed_ns / model_ns[rows[i].model];
        weights += weight;
        sum += weight * ratio_of(&rows[i]);
    }
    return sum / weights;
}

void pdnn_correction_fit(const struct pdnn_correction_row *rows, size_t n_rows, size_t n_models,
                         size_t n_kinds, double *factor) {
    double *model_ns = pdnn_alloc(n_models + 1, sizeof *model_ns);
    for (size_t i = 0; i < n_rows; i++)
        model_ns[rows[i].model] += counts(&rows[i]) ? rows[i].composed_ns : 0;
    double common = fit(rows, n_rows, model_ns, SIZE_MAX, 1);
    for (size_t kind = 0; kind < n_kinds; kind++)
        factor[kind] = fit(rows, n_rows, model_ns, kind, common);
    free(model_ns);
}
