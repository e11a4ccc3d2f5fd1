#include "results/store/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct pdnn_word pdnn_bound_words[PDNN_BOUND_COUNT] = {
    {"compute", "its arithmetic at the measured peak takes longer than its memory traffic",
     "a 16-bit dtype has a higher peak; where it is far below its roof, ops.csv has the op and its "
     "implementation"},
    {"memory", "its traffic at the measured bandwidths takes longer than its arithmetic",
     "a larger minibatch, fuse or a 16-bit dtype gives more FLOP per byte"},
    {"overhead", "calling its ops at all takes longer than their arithmetic and traffic",
     "larger layers or minibatches, fuse, or fewer threads"},
};

const char *pdnn_bound_name(enum pdnn_bound bound) {
    return bound == PDNN_BOUND_UNKNOWN ? "" : pdnn_bound_words[bound - 1].name;
}

void pdnn_placement_init(struct pdnn_placement *place) {
    *place = (struct pdnn_placement){
        .gflops = NAN,
        .bw_gbs = NAN,
        .intensity_flop_per_byte = NAN,
        .attainable_gflops = NAN,
        .pct_of_roof = NAN,
        .pct_of_peak = NAN,
        .roof_ns = NAN,
    };
}

void pdnn_record_init(struct pdnn_record *record, const char *id) {
    *record = (struct pdnn_record){
        .outcome = PDNN_OUTCOME_INTERRUPTED,
        .plan_bytes = PDNN_ABSENT,
        .prepare_ns = PDNN_ABSENT,
        .time_ns_median = NAN,
        .time_ns_min = NAN,
        .time_ns_mean = NAN,
        .time_ns_p10 = NAN,
        .time_ns_p90 = NAN,
        .time_ns_mad = NAN,
        .ci_low_ns = NAN,
        .ci_high_ns = NAN,
        .samples = PDNN_ABSENT,
        .warmups = PDNN_ABSENT,
        .method = "",
        .stop_reason = "",
        .speed_index = NAN,
        .probe_gflops = NAN,
        .probe_gbs = NAN,
        .examples_per_s = NAN,
        .residual_pct = NAN,
        .infeed_pct = NAN,
        .loader_examples_per_s = NAN,
        .loader_bytes_per_s = NAN,
        .page_cache = "",
        .compute_ns = NAN,
        .skew_ns = NAN,
        .comm_ns = NAN,
        .exposed_ns = NAN,
        .hidden_pct = NAN,
        .bus_gbs = NAN,
        .allreduce_bytes = PDNN_ABSENT,
        .host = "",
    };
    snprintf(record->id, sizeof record->id, "%s", id);
    record->model_length = pdnn_id_model_length(record->id);
    pdnn_placement_init(&record->place);
}

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
