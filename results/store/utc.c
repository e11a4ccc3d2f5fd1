#include "results/store/utc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Days since 1970-01-01 of a proleptic Gregorian date, and back. Source: H. Hinnant, "chrono-compatible
 * low-level date algorithms"; the C library's inverse of gmtime is not in POSIX. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void civil_from_days(int64_t days, int64_t *year, int64_t *month, int64_t *day) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    *day = day_of_year - (153 * shifted + 2) / 5 + 1;
    *month = shifted < 10 ? shifted + 3 : shifted - 9;
    *year = year_of_era + era * 400 + (*month <= 2);
}

enum { MS_PER_DAY = 86400000 };

const char *pdnn_utc_format(int64_t unix_ms, char buffer[PDNN_UTC_TEXT]) {
    int64_t days = unix_ms / MS_PER_DAY - (unix_ms % MS_PER_DAY < 0);
    int64_t ms = unix_ms - days * MS_PER_DAY;
    int64_t year, month, day;
    civil_from_days(days, &year, &month, &day);
    snprintf(buffer, PDNN_UTC_TEXT,
             "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T%02" PRId64 ":%02" PRId64 ":%02" PRId64 ".%03" PRId64
             "Z",
             year, month, day, ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return buffer;
}

bool pdnn_utc_parse(const char *text, int64_t *unix_ms) {
    int year, month, day, hour, minute, second, ms, used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour, &minute, &second, &ms,
               &used) != 7 ||
        !used || text[used])
        return false;
    int64_t parsed = days_from_civil(year, month, day) * MS_PER_DAY +
                     (((int64_t)hour * 60 + minute) * 60 + second) * 1000 + ms;
    char again[PDNN_UTC_TEXT];
    /* There is only one spelling; this also refuses the 30th of February. */
    if (strcmp(pdnn_utc_format(parsed, again), text) != 0)
        return false;
    *unix_ms = parsed;
    return true;
}
