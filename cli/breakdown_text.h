/* The text output of `paradnn breakdown`: tables of shares, instances side by side, matrix products, and
 * directions. */
#ifndef CLI_BREAKDOWN_TEXT_H
#define CLI_BREAKDOWN_TEXT_H

#include "base/str.h"
#include "results/studies/study.h"
#include "results/analysis/gemms.h"
#include "results/analysis/share_matrix.h"

/* One instance: its headline and the table of its shares. */
void pdnn_breakdown_text(struct pdnn_str *out, const struct pdnn_selection *selection, size_t at,
                         const struct pdnn_by_list *by, const struct pdnn_share *shares, size_t n_shares);

/* The instances of a series and their shares. */
struct pdnn_across {
    const struct pdnn_selection *selection;
    const struct pdnn_axes *axes;
    const struct pdnn_series *series;
    const struct pdnn_by_list *by;
    const struct pdnn_share_matrix *matrix;
};

/* One column per instance, headed by its values on the axes; columns that do not fit continue below. */
void pdnn_across_text(struct pdnn_str *out, const struct pdnn_across *across);

void pdnn_gemms_text(struct pdnn_str *out, const struct pdnn_selection *selection, size_t at,
                     const struct pdnn_gemm *gemms, size_t n_gemms);

/* One line per check; a line that names no instances holds for all of them. */
void pdnn_study_text(struct pdnn_str *out, const struct pdnn_selection *selection,
                     const struct pdnn_study_line *lines, size_t n_lines);

#endif
