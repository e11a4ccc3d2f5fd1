#include "results/rows/summary.h"

#include <math.h>
#include <stdio.h>

static void keep(struct pdnn_extreme_row *row, const struct pdnn_record *record) {
    row->found = true;
    snprintf(row->id, sizeof row->id, "%s", record->id);
    row->parsed = record->parsed;
    row->instance = record->instance;
    row->place = record->place;
}

/* Of equal rows the first one stays. NaN is neither above nor below. */
static void keep_if(struct pdnn_extreme_row *row, const struct pdnn_record *record, bool beyond) {
    if (!row->found || beyond)
        keep(row, record);
}

void pdnn_summary_add(struct pdnn_summary *summary, const struct pdnn_record *record) {
    const struct pdnn_placement *place = &record->place;
    struct pdnn_extreme_row *row = summary->row;
    if (record->outcome != PDNN_OUTCOME_OK)
        return;
    summary->n_ok++;
    summary->bound[place->bound]++;
    if (!isnan(place->gflops)) {
        keep_if(&row[PDNN_EXTREME_FASTEST], record, place->gflops > row[PDNN_EXTREME_FASTEST].place.gflops);
        keep_if(&row[PDNN_EXTREME_SLOWEST], record, place->gflops < row[PDNN_EXTREME_SLOWEST].place.gflops);
    }
    if (!isnan(place->pct_of_roof))
        keep_if(&row[PDNN_EXTREME_FARTHEST], record,
                place->pct_of_roof < row[PDNN_EXTREME_FARTHEST].place.pct_of_roof);
    if (!(record->flags & PDNN_FLAG_NOISY))
        return;
    summary->n_noisy++;
    for (size_t bit = 0; bit < PDNN_FLAG_COUNT; bit++)
        summary->noisy_flag[bit] += (record->flags & (1u << bit) & ~(unsigned)PDNN_FLAG_NOISY) != 0;
}
