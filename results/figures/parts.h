/* The parts that bars are divided into: their names and colors, how much of a bar each takes, and the
 * legend. */
#ifndef RESULTS_FIGURES_PARTS_H
#define RESULTS_FIGURES_PARTS_H

#include "results/figures/axis.h"
#include "results/query/share_matrix.h"

enum { PDNN_BAR_PART_TEXT = 128 };

struct pdnn_bar_part {
    char name[PDNN_BAR_PART_TEXT];
    int ink;
    size_t merged_into; /* the row whose color it shares, or its own row */
};

struct pdnn_bar_parts {
    const struct pdnn_share_matrix *matrix; /* borrowed; its columns are bars */
    struct pdnn_bar_part *part;             /* by row of the matrix, in the arena */
};

/* Names and colors the rows. Groups have their own colors, and parts of one group get lighter shades of it.
 * Otherwise the largest rows get a color each, and the rest become one grey part. */
void pdnn_bar_parts_choose(struct pdnn_bar_parts *parts, const struct pdnn_share_matrix *matrix,
                           const struct pdnn_by_list *by, struct pdnn_arena *arena);

/* The percentage of a row and those merged into it. 100 % is the step, or the sum of the ops if that is
 * longer than the step. */
double pdnn_bar_part_pct(const struct pdnn_bar_parts *parts, size_t row, size_t bar);

/* The width of the longest name in the legend. */
double pdnn_bar_parts_legend_pixels(const struct pdnn_bar_parts *parts);

/* Draws the legend from the top part down, as the bars show them; a long one has the largest parts and the
 * number of the others. */
void pdnn_bar_parts_put_legend(const struct pdnn_bar_parts *parts, struct pdnn_legend *legend);

#endif
