#define _DEFAULT_SOURCE /* timegm */
#include "results/table/utc.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const char *pdnn_utc_format(int64_t unix_ms, char buffer[PDNN_UTC_TEXT]) {
    const int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    const time_t seconds = (time_t)((unix_ms - ms) / 1000);
    struct tm utc = {0};
    gmtime_r(&seconds, &utc);
    snprintf(buffer, PDNN_UTC_TEXT, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900LL,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, (int)ms);
    return buffer;
}

bool pdnn_utc_parse(const char *text, int64_t *unix_ms) {
    struct tm utc = {0};
    int ms, used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour,
               &utc.tm_min, &utc.tm_sec, &ms, &used) != 7 ||
        !used || text[used])
        return false;
    utc.tm_year -= 1900;
    utc.tm_mon--;
    const int64_t parsed = (int64_t)timegm(&utc) * 1000 + ms;
    char again[PDNN_UTC_TEXT];
    /* There is only one spelling; this also refuses the 30th of February. */
    if (strcmp(pdnn_utc_format(parsed, again), text) != 0)
        return false;
    *unix_ms = parsed;
    return true;
}
