/* Numbers and points in time as text and back, exact and without a locale. */
#ifndef RESULTS_TABLE_NUMBER_H
#define RESULTS_TABLE_NUMBER_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Significant digits: enough to distinguish any two doubles, and enough for tables and plots. */
enum { PDNN_DIGITS_EXACT = 17, PDNN_DIGITS_TABLE = 6 };

/* Appends the shortest text of at most `digits` significant digits that reads back as the same number, or the
 * nearest such text, with its whole integer part; nothing for NaN and infinities. */
void pdnn_number_format(struct pdnn_str *out, double value, int digits);

/* What pdnn_parse_double accepts, several times as fast where 15 digits and a small exponent are enough, as
 * in tables. */
bool pdnn_number_parse(const char *text, double *value);

/* Accepts digits only: no sign, no blanks, no overflow. */
bool pdnn_count_parse(const char *text, uint64_t *count);

/* "2026-05-01T12:00:00.123Z" and back; false if the text is not such a time. Returns buffer. */
enum { PDNN_UTC_TEXT = 96 };
const char *pdnn_utc_format(int64_t unix_ms, char buffer[PDNN_UTC_TEXT]);
bool pdnn_utc_parse(const char *text, int64_t *unix_ms);

#endif
