#include "results/rows/summary.h"

#include <math.h>
#include <stdio.h>

void pdnn_summary_add(struct pdnn_summary *summary, const struct pdnn_result *row) {
    const struct pdnn_placement place = pdnn_result_placement(row);
    const unsigned flags = pdnn_result_flags(row);
    /* By what they are extreme; of equal rows the first one stays. */
    const double rank[PDNN_EXTREME_COUNT] = {place.gflops, -place.gflops,
                                             pdnn_roof_is_known(&place) ? -place.pct_of_roof : NAN};
    if (pdnn_result_outcome(row) != PDNN_OUTCOME_OK)
        return;
    summary->n_ok++;
    summary->bound[place.bound]++;
    const bool is_unusable = flags & PDNN_FLAG_UNUSABLE;
    summary->n_unusable += is_unusable;
    summary->n_busy += is_unusable && (flags & PDNN_FLAG_PREEMPTED);
    for (size_t i = 0; i < PDNN_EXTREME_COUNT && !is_unusable; i++) {
        struct pdnn_extreme_row *kept = &summary->row[i];
        if (isnan(rank[i]) || (kept->found && !(rank[i] > kept->rank)))
            continue;
        *kept = (struct pdnn_extreme_row){.found = true, .rank = rank[i], .place = place};
        snprintf(kept->id, sizeof kept->id, "%s", pdnn_result_text(row, PDNN_RESULT_ID));
    }
    if (!(flags & PDNN_FLAG_NOISY))
        return;
    summary->n_noisy++;
    for (size_t bit = 0; bit < PDNN_FLAG_COUNT; bit++)
        summary->noisy_flag[bit] += (flags & (1u << bit) & ~(unsigned)PDNN_FLAG_NOISY) != 0;
}
