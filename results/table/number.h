/* Numbers as decimal text and back, exact and without a locale. */
#ifndef RESULTS_TABLE_NUMBER_H
#define RESULTS_TABLE_NUMBER_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Significant digits: enough to distinguish any two doubles, and enough for tables and plots. */
enum { PDNN_DIGITS_EXACT = 17, PDNN_DIGITS_TABLE = 6 };

/* Appends the number in decimal: the shortest text of at most `digits` significant digits that reads
 * back as the same number, or the nearest such text. An integer part is never rounded away. Appends
 * nothing for NaN and infinities. */
void pdnn_number_format(struct pdnn_str *out, double value, int digits);

/* What pdnn_parse_double accepts, several times as fast where 15 digits and a small exponent are enough, as
 * in tables. */
bool pdnn_number_parse(const char *text, double *value);

/* Accepts digits only: no sign, no blanks, no overflow. */
bool pdnn_count_parse(const char *text, uint64_t *count);

#endif
