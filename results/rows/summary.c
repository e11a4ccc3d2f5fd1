#include "results/rows/summary.h"

#include <math.h>
#include <stdio.h>

/* Of equal rows the first one stays. NaN is neither above nor below. */
static void keep_if(struct pdnn_extreme_row *kept, const struct pdnn_result *row,
                    const struct pdnn_placement *place, bool beyond) {
    if (kept->found && !beyond)
        return;
    kept->found = true;
    snprintf(kept->id, sizeof kept->id, "%s", pdnn_result_text(row, PDNN_RESULT_ID));
    kept->place = *place;
}

void pdnn_summary_add(struct pdnn_summary *summary, const struct pdnn_result *row) {
    const struct pdnn_placement place = pdnn_result_placement(row);
    const unsigned flags = pdnn_result_flags(row);
    struct pdnn_extreme_row *kept = summary->row;
    if (pdnn_result_outcome(row) != PDNN_OUTCOME_OK)
        return;
    summary->n_ok++;
    summary->bound[place.bound]++;
    const bool is_unusable = flags & PDNN_FLAG_UNUSABLE;
    summary->n_unusable += is_unusable;
    if (!isnan(place.gflops) && !is_unusable) {
        keep_if(&kept[PDNN_EXTREME_FASTEST], row, &place,
                place.gflops > kept[PDNN_EXTREME_FASTEST].place.gflops);
        keep_if(&kept[PDNN_EXTREME_SLOWEST], row, &place,
                place.gflops < kept[PDNN_EXTREME_SLOWEST].place.gflops);
    }
    if (!isnan(place.pct_of_roof) && !is_unusable)
        keep_if(&kept[PDNN_EXTREME_FARTHEST], row, &place,
                place.pct_of_roof < kept[PDNN_EXTREME_FARTHEST].place.pct_of_roof);
    if (!(flags & PDNN_FLAG_NOISY))
        return;
    summary->n_noisy++;
    for (size_t bit = 0; bit < PDNN_FLAG_COUNT; bit++)
        summary->noisy_flag[bit] += (flags & (1u << bit) & ~(unsigned)PDNN_FLAG_NOISY) != 0;
}
