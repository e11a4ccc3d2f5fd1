/* journal.csv: one row per visit. These columns are written and read back. */
#include "results/columns.h"
#include "results/csv.h"
#include "results/journal.h"
#include "results/record.h"

#include <string.h>

static void get_status(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    pdnn_str_printf(cell, "%s", pdnn_outcome_name(journal->visit.outcome));
}

static bool put_status(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    journal->visit.outcome = pdnn_outcome_find(text);
    return journal->visit.outcome != PDNN_OUTCOME_COUNT;
}

static void get_started(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    char text[PDNN_UTC_TEXT];
    pdnn_str_printf(cell, "%s", pdnn_utc_format(journal->visit.started_unix_ms, text));
}

static bool put_started(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    return pdnn_utc_parse(text, &journal->visit.started_unix_ms);
}

static void get_stop(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    if (journal->visit.samples)
        pdnn_str_printf(cell, "%s", pdnn_stop_name(journal->visit.stop));
}

static bool put_stop(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    if (!*text)
        return true;
    journal->visit.stop = pdnn_stop_find(text);
    return journal->visit.stop != PDNN_STOP_COUNT;
}

static void get_flags(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    char text[PDNN_FLAGS_TEXT];
    pdnn_str_printf(cell, "%s", pdnn_flags_format(journal->visit.flags, text));
}

static bool put_flags(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    journal->visit.flags = pdnn_flags_parse(text);
    return true;
}

/* The text stays where it lies: whoever reads the journal keeps it. */
static bool put_ops(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    journal->ops = text;
    return true;
}

#define AT(field)     .offset = offsetof(struct pdnn_journal_row, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_journal_row *)0)->field
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_EXACT
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)

static const struct pdnn_column columns[] = {
    {"schema", "", COUNT(schema), .help = "version of this table"},
    {"id", "", TEXT(id), .help = "the instance"},
    {"visit", "", COUNT(number), .help = "number of the instance's visit, from 1"},
    {"status", "", PDNN_COLUMN_WORD, .get = get_status, .put = put_status,
     .help = "how it ended, as in results.csv"},
    {"reason", "", TEXT(visit.reason), .help = "why it is not ok"},
    {"started_utc", "", PDNN_COLUMN_WORD, .get = get_started, .put = put_started, .help = "when it began"},
    {"prepare_ns", "ns", COUNT(visit.prepare_ns), .help = "graph, primitives, layouts, memory and data"},
    {"plan_bytes", "bytes", COUNT(visit.plan_bytes), .help = "memory that was allocated"},
    {"samples", "samples", COUNT(visit.samples), .help = "timed"},
    {"steps_per_sample", "steps", COUNT(visit.steps_per_sample),
     .help = "short steps are batched; times are per step"},
    {"warmups", "samples", COUNT(visit.warmups), .help = "before them"},
    {"time_ns_median", "ns", NUMBER(visit.median_ns), .help = "of the samples"},
    {"time_ns_min", "ns", NUMBER(visit.min_ns), .help = "of the samples"},
    {"time_ns_mean", "ns", NUMBER(visit.mean_ns), .help = "of the samples"},
    {"time_ns_p10", "ns", NUMBER(visit.p10_ns), .help = "of the samples"},
    {"time_ns_p90", "ns", NUMBER(visit.p90_ns), .help = "of the samples"},
    {"time_ns_mad", "ns", NUMBER(visit.mad_ns), .help = "median absolute deviation of the samples"},
    {"stamped_ns", "ns", NUMBER(visit.stamped_ns),
     .help = "median whole time of a step with each op stamped"},
    {"probe_gflops", "1e9 FLOP/s", NUMBER(visit.probe_gflops), .help = "FMA probe beside the visit; 0: none"},
    {"probe_gbs", "1e9 B/s", NUMBER(visit.probe_gbs), .help = "DRAM read probe beside the visit; 0: none"},
    {"stop_reason", "", PDNN_COLUMN_WORD, .get = get_stop, .put = put_stop,
     .help = "why it took no more samples"},
    {"flags", "", PDNN_COLUMN_WORD, .get = get_flags, .put = put_flags, .help = "of this visit, joined by |"},
    {"ops", "", PDNN_COLUMN_WORD, AT(ops), .put = put_ops,
     .help = "op/pass/shape|implementation|count|reorder bytes|ns, joined by ;"},
};

const struct pdnn_columns pdnn_journal_columns = {"journal.csv", columns, sizeof columns / sizeof columns[0]};
