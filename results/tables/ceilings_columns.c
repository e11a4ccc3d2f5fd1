/* ceilings.csv: one row per measured roof. These files are handed around and edited, so columns with known
 * words take no others. */
#include "models/dtype.h"
#include "results/tables/columns.h"
#include "results/table/csv.h"
#include "results/tables/record.h"
#include "runtime/facts/ceilings.h"

#include <string.h>

#define AT(field)     .offset = offsetof(struct pdnn_ceiling, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_ceiling *)0)->field
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_EXACT

static bool put(const struct pdnn_column *column, void *row, const char *text) {
    size_t length = strlen(text);
    if (length >= column->size)
        return false;
    memcpy((char *)row + column->offset, text, length + 1);
    return true;
}

static bool put_one_of(const char *const *words, const struct pdnn_column *column, void *row,
                       const char *text) {
    while (*words && strcmp(*words, text) != 0)
        words++;
    return *words && put(column, row, text);
}

static bool put_kind(const struct pdnn_column *column, void *row, const char *text) {
    static const char *const words[] = {"compute", "bandwidth", "ladder", "overhead", "probe", "link", NULL};
    return put_one_of(words, column, row, text);
}

static bool put_level(const struct pdnn_column *column, void *row, const char *text) {
    static const char *const words[] = {"", "L1", "L2", "L3", "DRAM", NULL};
    return put_one_of(words, column, row, text);
}

static bool put_dtype(const struct pdnn_column *column, void *row, const char *text) {
    bool known = !*text;
    for (enum pdnn_dtype dtype = 0; dtype < PDNN_DTYPE_COUNT; dtype++)
        known = known || strcmp(text, pdnn_dtype_name(dtype)) == 0;
    return known && put(column, row, text);
}

/* Instructions and backends give their names to patterns, so these are known by their letters only. */
static bool put_pattern(const struct pdnn_column *column, void *row, const char *text) {
    bool is_word = *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.")];
    return is_word && put(column, row, text);
}

static void get_time(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    int64_t unix_ms;
    char text[PDNN_UTC_TEXT];
    memcpy(&unix_ms, (const char *)row + column->offset, sizeof unix_ms);
    if (unix_ms)
        pdnn_str_printf(cell, "%s", pdnn_utc_format(unix_ms, text));
}

static bool put_time(const struct pdnn_column *column, void *row, const char *text) {
    int64_t unix_ms = 0;
    if (*text && !pdnn_utc_parse(text, &unix_ms))
        return false;
    memcpy((char *)row + column->offset, &unix_ms, sizeof unix_ms);
    return true;
}

static const struct pdnn_column columns[] = {
    {"kind", "", TEXT(kind), .put = put_kind, .help = "compute, bandwidth, ladder, overhead, probe or link"},
    {"pattern", "", TEXT(pattern), .put = put_pattern,
     .help =
         "compute: fma, or the processor's own instruction for the type, from registers, "
         "and gemm-BACKEND; bandwidth and ladder: read, copy, triad, update (in place), with -streaming stores; "
         "link: allreduce; otherwise a name for the measurement"},
    {"dtype", "", TEXT(dtype), .put = put_dtype,
     .help = "compute: element type; int8 is u8 times s8, accumulated in s32"},
    {"level", "", TEXT(level), .put = put_level, .help = "bandwidth and ladder: L1, L2, L3 or DRAM"},
    {"threads", "threads", PDNN_COLUMN_WHOLE, AT(threads), .help = "one per core; link: 0"},
    {"capacity_bytes", "bytes", PDNN_COLUMN_COUNT, AT(capacity_bytes),
     .help =
         "bandwidth: what the level was found to hold for these threads together, 0 for DRAM; ladder: the "
         "working set; link: the message"},
    {"value", "by kind", NUMBER(value),
     .help =
         "best repetition; compute: 1e9 FLOP/s, bandwidth and ladder: 1e9 B/s, overhead: ns; link: 1e9 B/s that "
         "each of p ranks sends in a ring, 2(p-1)/p of the message over the slowest rank's time"},
    {"low", "by kind", NUMBER(low), .help = "least of the repetitions"},
    {"high", "by kind", NUMBER(high), .help = "greatest of the repetitions"},
    {"repetitions", "", PDNN_COLUMN_WHOLE, AT(repetitions), .help = "number of repetitions"},
    {"median_value", "by kind", NUMBER(median),
     .help = "median of the repetitions; far from value if the machine was disturbed"},
    {"reported_bytes", "bytes", PDNN_COLUMN_COUNT, AT(reported_bytes),
     .help = "bandwidth: capacity of the level for these threads together, as reported by the host"},
    {"host", "", TEXT(host),
     .help = "where it was measured, in a directory that `paradnn merge` made from those of several hosts"},
    {"measured_utc", "", PDNN_COLUMN_TEXT, AT(measured_unix_ms), .get = get_time, .put = put_time,
     .help = "when the measurement ended"},
    {"checked_utc", "", PDNN_COLUMN_TEXT, AT(checked_unix_ms), .get = get_time, .put = put_time,
     .help = "when the sweep's probes confirmed roofs kept from an earlier measurement; empty if it measured "
             "them itself"},
    {"ranks", "", PDNN_COLUMN_WHOLE, AT(ranks),
     .help = "link: processes, which are started as those of a sweep with this many ranks are; else 0"},
};

const struct pdnn_columns pdnn_ceilings_columns = {"ceilings.csv", columns,
                                                   sizeof columns / sizeof columns[0]};
