/* Numbers with units as people write them (12GiB, 5s, 2%) and as people read them (1.2 TFLOP, 3.4 ms). */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* A decimal integer with an optional sign; false for anything else, trailing text or overflow. */
bool pdnn_parse_i64(const char *text, int64_t *value);

/* What a text is, that should be a whole number. */
enum pdnn_number_kind { PDNN_NUMBER_WHOLE, PDNN_NUMBER_TOO_LARGE, PDNN_NUMBER_OTHER };

/* A whole number as people write it: "1e3", "4k" (4000), "4Ki" (4096), with k, M, G and Ki, Mi, Gi; or as
 * other programs do: "64.0", "1E+07". Exact: "1.5e3" is whole, "1.5" is not. */
enum pdnn_number_kind pdnn_parse_whole(const char *text, int64_t *value);

/* The same in millionths: "0.5" is 500000. Exact: there are at most six digits behind the point. */
enum pdnn_number_kind pdnn_parse_millionths(const char *text, int64_t *value);

/* A finite decimal number ('.' whatever the locale); false for anything else or trailing text. */
bool pdnn_parse_double(const char *text, double *value);

/* How two cells of a column are ordered: numbers by value and before words; 0 for two words. */
int pdnn_compare_numbers_first(const char *one, const char *other);

/* "4096", "64KiB", "12GiB", "1.5GB" -> bytes. 1 GB = 1e9, 1 GiB = 2^30. */
bool pdnn_parse_bytes(const char *text, uint64_t *bytes);

/* "5s", "250ms", "10us", "3m", "2h", "700ns" -> nanoseconds. A bare number is an error, since its unit
 * is anyone's guess. */
bool pdnn_parse_time_ns(const char *text, uint64_t *ns);

/* "2%" -> 0.02. */
bool pdnn_parse_percent(const char *text, double *fraction);

enum { PDNN_UNIT_TEXT = 32 };

/* "1.23 GFLOP": three significant digits with an SI prefix. Returns buffer. */
const char *pdnn_format_si(char buffer[PDNN_UNIT_TEXT], double value, const char *unit);

/* "1.23 GiB". Returns buffer. */
const char *pdnn_format_bytes(char buffer[PDNN_UNIT_TEXT], double bytes);

/* "1.23 ms". Returns buffer. */
const char *pdnn_format_ns(char buffer[PDNN_UNIT_TEXT], double ns);

/* "41 s", "3 min", "2 h 05 min". Returns buffer. */
enum { PDNN_DURATION_TEXT = 48 };
const char *pdnn_duration_format(char buffer[PDNN_DURATION_TEXT], double seconds);

#endif
