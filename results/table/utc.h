/* Points in time as the tables have them. */
#ifndef RESULTS_TABLE_UTC_H
#define RESULTS_TABLE_UTC_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-05-01T12:00:00.123Z" and back; false if the text is not such a time. Returns buffer. */
enum { PDNN_UTC_TEXT = 96 };
const char *pdnn_utc_format(int64_t unix_ms, char buffer[PDNN_UTC_TEXT]);
bool pdnn_utc_parse(const char *text, int64_t *unix_ms);

#endif
