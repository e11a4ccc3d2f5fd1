/* The tables of `paradnn compare` as text: whole ones for --table, and the cells that its overview has too.
 */
#ifndef CLI_COMPARE_TABLES_H
#define CLI_COMPARE_TABLES_H

#include "base/str.h"
#include "base/units.h"
#include "results/table/sheet.h"
#include "results/analysis/compare_ops.h"
#include "results/analysis/compare_sums.h"

struct pdnn_compared {
    struct pdnn_comparison comparison;
    struct pdnn_compare_sums sums;
    struct pdnn_by_list by;
    struct pdnn_compare_ops ops;
    /* Of comparison.key, by place: whether two pairs that have it have different values. NULL: pairs are
     * shown by their ids, as in a pipe. */
    const bool *varies;
    bool one_family;         /* found together with varies */
    struct pdnn_arena arena; /* of sums, ops and varies */
};

/* Finds what varies among the pairs: on a terminal they are shown by that. */
void pdnn_compare_find_varying(struct pdnn_compared *compared);

/* Appends what the pairs have in common of their ids, where they are shown by the rest. */
void pdnn_compare_append_common(struct pdnn_str *out, const struct pdnn_compared *compared);

void pdnn_compare_pairs_text(struct pdnn_str *out, const struct pdnn_compared *compared);
void pdnn_compare_groups_text(struct pdnn_str *out, const struct pdnn_compared *compared);
void pdnn_compare_axes_text(struct pdnn_str *out, const struct pdnn_compared *compared);
void pdnn_compare_ops_text(struct pdnn_str *out, const struct pdnn_compared *compared);
void pdnn_compare_unpaired_text(struct pdnn_str *out, const struct pdnn_compared *compared);

/* Appends the table, fitted to the terminal, and frees it. */
void pdnn_compare_append(struct pdnn_str *out, struct pdnn_sheet *table);

/* Three significant digits; empty for NaN. Returns text. */
const char *pdnn_ratio_format(char text[PDNN_UNIT_TEXT], double ratio);

/* "1.25 to 1.39"; nothing if it is unknown. */
void pdnn_interval_append(struct pdnn_str *out, double low, double high);

enum { PDNN_RATIO_SUM_COLUMNS = 8, PDNN_PAIR_COLUMNS = 6 };
extern const struct pdnn_sheet_column pdnn_ratio_sum_columns[PDNN_RATIO_SUM_COLUMNS],
    pdnn_pair_columns[PDNN_PAIR_COLUMNS];

void pdnn_compare_add_sum(struct pdnn_sheet *table, const struct pdnn_ratio_sum *sum);
void pdnn_compare_add_pair(struct pdnn_sheet *table, const struct pdnn_compared *compared,
                           const struct pdnn_pair *pair);

/* The keys that ops are summed by and what is known of each sum, behind the family if asked for. Returns the
 * number of columns. */
size_t pdnn_compare_op_columns(struct pdnn_sheet_column *columns, const struct pdnn_by_list *by,
                               bool with_family);
void pdnn_compare_add_op(struct pdnn_sheet *table, const struct pdnn_by_list *by,
                         const struct pdnn_compare_op *op);

/* "absent" for a row that is not there. */
const char *pdnn_compare_status_name(const char *status);

#endif
