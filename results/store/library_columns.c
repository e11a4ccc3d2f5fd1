/* operators.csv: one row per measurement of an operator. These columns are written and read back. */
#include "results/table/csv.h"
#include "results/store/library.h"
#include "results/store/results.h"

static void get_status(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_library_row *library = row;
    pdnn_str_printf(cell, "%s", pdnn_outcome_name(library->visit.outcome));
}

static bool put_status(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_library_row *library = row;
    library->visit.outcome = pdnn_outcome_find(text);
    return library->visit.outcome != PDNN_OUTCOME_COUNT;
}

static void get_started(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_library_row *library = row;
    char text[PDNN_UTC_TEXT];
    pdnn_str_printf(cell, "%s", pdnn_utc_format(library->visit.started_unix_ms, text));
}

static bool put_started(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_library_row *library = row;
    return pdnn_utc_parse(text, &library->visit.started_unix_ms);
}

static void get_flags(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_library_row *library = row;
    char text[PDNN_FLAGS_TEXT];
    pdnn_str_printf(cell, "%s", pdnn_flags_format(library->visit.flags, text));
}

static bool put_flags(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_library_row *library = row;
    library->visit.flags = pdnn_flags_parse(text);
    return true;
}

#define AT(field)     .offset = offsetof(struct pdnn_library_row, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_library_row *)0)->field
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_EXACT
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)

static const struct pdnn_column columns[] = {
    {"context", "", TEXT(context),
     .help =
         "hash of all that times depend on besides the operator: program, library, processor, caches, cores, "
         "threads and their binding, isa, environment variables"},
    {"host", "", TEXT(host), .help = "name of the machine"},
    {"software", "", TEXT(software), .help = "library behind the backend, with its version"},
    {"started_utc", "", PDNN_COLUMN_WORD, .get = get_started, .put = put_started,
     .help = "start of the measurement"},
    {"operator", "", TEXT(key),
     .help =
         "backend, threads, isa, op/pass/shape, implementation in brackets; then the bytes of each operand with "
         "the bytes that the model touches between its last use and this one"},
    {"status", "", PDNN_COLUMN_WORD, .get = get_status, .put = put_status,
     .help = "outcome, as in results.csv"},
    {"reason", "", TEXT(visit.reason), .help = "why it is not ok"},
    {"footprint_bytes", "bytes", COUNT(visit.plan_bytes),
     .help = "memory that it was measured in, with what ran before it"},
    {"samples", "samples", COUNT(visit.samples), .help = "number of timed samples"},
    {"runs_per_sample", "runs", COUNT(visit.steps_per_sample), .help = "runs per sample; times are per run"},
    {"time_ns_median", "ns", NUMBER(visit.median_ns), .help = "mean over the middle half of the samples"},
    {"time_ns_min", "ns", NUMBER(visit.min_ns), .help = "minimum of the samples"},
    {"time_ns_mad", "ns", NUMBER(visit.mad_ns), .help = "median absolute deviation of the samples"},
    {"row_flags", "", PDNN_COLUMN_WORD, .get = get_flags, .put = put_flags,
     .help = "flags as in journal.csv"},
};

const struct pdnn_columns pdnn_library_columns = {"operators.csv", columns,
                                                  sizeof columns / sizeof columns[0]};
