/* What `paradnn compare` prints for people: an overview in sentences and short tables. */
#ifndef CLI_COMPARE_TEXT_H
#define CLI_COMPARE_TEXT_H

#include "cli/compare_tables.h"

/* What is compared, the sentence that sums it up, the families, what explains the ratios, the ops, the
 * extremes, and what could not be compared. */
void pdnn_compare_overview_text(struct pdnn_str *out, const struct pdnn_compared *compared);

#endif
