/* seqpoint.csv as pictures show it: one length per row, a histogram of the iterations, and what the SeqPoints
 * say of the epoch. */
#ifndef RESULTS_EPOCHS_SEQPOINT_SUMMARY_H
#define RESULTS_EPOCHS_SEQPOINT_SUMMARY_H

#include "base/arena.h"
#include "results/store/seqpoint_table.h"

/* Bars are at most this many. */
enum { PDNN_SEQPOINT_BARS_MAX = 64 };

struct pdnn_seqpoint_summary {
    bool two;       /* lengths per iteration; then each is source + target */
    double *length; /* by row */
    double shortest, longest;
    double iterations, most;            /* of the epoch; in one bar */
    double bar[PDNN_SEQPOINT_BARS_MAX]; /* iterations; bar i is from first + i * width to the next one */
    double first, width;
    size_t n_bars;
    size_t seqpoints, timed; /* rows */
    double longest_ns;       /* greatest time; NaN: there is none */
    double total_ns;         /* of the epoch; NaN unless all rows have a time */
    double projected_ns;     /* by the SeqPoints; NaN unless all of them have one */
};

/* In the arena. */
void pdnn_seqpoint_summarize(const struct pdnn_table *table, struct pdnn_arena *arena,
                             struct pdnn_seqpoint_summary *summary);

/* The bar that a length falls into. */
size_t pdnn_seqpoint_bar_of(const struct pdnn_seqpoint_summary *summary, double length);

/* Appends "2083 iterations of 84 lengths; 7 SeqPoints project 41.2 s, all iterations take 41.3 s: -0.24 %" as
 * far as it is known. */
void pdnn_seqpoint_sentence(const struct pdnn_table *table, const struct pdnn_seqpoint_summary *summary,
                            struct pdnn_str *out);

#endif
