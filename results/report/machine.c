/* What every source ran on: the states that the visits found it in, its roofs as a table, and its
 * environment.yaml. */
#include "results/report/page.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

enum {
    THREADS,
    MODELS,
    VISITS,
    DISTANCE_FROM,
    DISTANCE_TO,
    FAR_PCT,
    CLOCK_FROM,
    CLOCK_TO,
    SHARE_FROM,
    STEAL_TO,
    N_COLUMNS
};
#define AS(kind, show) PDNN_KIND_##kind, PDNN_SHOW_##show
static const struct pdnn_column_def state_columns[N_COLUMNS] = {
    [THREADS] = {"threads", .help = "threads of the rows"},
    [MODELS] = {"models", NULL, NULL, AS(COUNT, PLAIN), .help = "rows that ended ok"},
    [VISITS] = {"visits", NULL, NULL, AS(COUNT, PLAIN), .help = "their visits"},
    [DISTANCE_FROM] = {"handoff_from_ns", "distance from (ns)", "ns", AS(NUMBER, PLAIN),
                       .help = "least handoff_ns"},
    [DISTANCE_TO] = {"handoff_to_ns", "to (ns)", "ns", AS(NUMBER, PLAIN), .help = "greatest handoff_ns"},
    [FAR_PCT] = {"far_pct", "visits far apart", "%", AS(NUMBER, PERCENT),
                 .help = "of the visits; empty: one state"},
    [CLOCK_FROM] = {"clock_from_ghz", "clock from (GHz)", "1e9/s", AS(NUMBER, PLAIN),
                    .help = "least clock_ghz"},
    [CLOCK_TO] = {"clock_to_ghz", "to (GHz)", "1e9/s", AS(NUMBER, PLAIN), .help = "greatest clock_ghz"},
    [SHARE_FROM] = {"cpu_share_pct", "least share of the cores", "%", AS(NUMBER, PERCENT),
                    .help = "least cpu_share_pct"},
    [STEAL_TO] = {"steal_pct", "most stolen", "%", AS(NUMBER, PERCENT), .help = "greatest steal_pct"},
};
static const struct pdnn_table_def states_def = {"machine-states", "what the visits found the machine doing",
                                                 state_columns, N_COLUMNS};

static void widen(struct pdnn_table *table, size_t row, size_t column, bool is_least, double value) {
    const double seen = pdnn_table_number(table, row, column);
    pdnn_table_set_number(table, row, column, is_least ? fmin(seen, value) : fmax(seen, value));
}

static double visits_of(const struct pdnn_selection *rows, size_t at) {
    return fmax(1, pdnn_selection_value(rows, at, PDNN_RESULT_ROUNDS));
}

/* The part of a row's visits in which the threads were far apart. */
static double far_pct_of(const struct pdnn_selection *rows, size_t at, double between_ns) {
    const double moved_pct = pdnn_selection_value(rows, at, PDNN_RESULT_FAR_PCT);
    return !isnan(moved_pct)                                                     ? moved_pct
           : pdnn_selection_value(rows, at, PDNN_RESULT_HANDOFF_NS) > between_ns ? 100
                                                                                 : 0;
}

/* A row of states for each number of threads, if any of its rows has them. */
static void fill_states(const struct pdnn_selection *rows, struct pdnn_table *table) {
    static const struct {
        size_t from, to;
        enum pdnn_result_column of;
    } ranges[] = {{DISTANCE_FROM, DISTANCE_TO, PDNN_RESULT_HANDOFF_NS},
                  {CLOCK_FROM, CLOCK_TO, PDNN_RESULT_CLOCK_GHZ},
                  {SHARE_FROM, N_COLUMNS, PDNN_RESULT_CPU_SHARE_PCT},
                  {N_COLUMNS, STEAL_TO, PDNN_RESULT_STEAL_PCT}};
    const int threads = pdnn_results_setting(&rows->results, PDNN_SETTING_THREADS);
    struct pdnn_texts known = {0};
    for (size_t at = 0; at < rows->count; at++) {
        if (isnan(pdnn_selection_value(rows, at, PDNN_RESULT_CLOCK_GHZ)) &&
            isnan(pdnn_selection_value(rows, at, PDNN_RESULT_CPU_SHARE_PCT)))
            continue;
        const char *of = pdnn_selection_get(rows, at, threads);
        const size_t row = pdnn_texts_add(&known, of);
        if (row == table->n_rows) {
            pdnn_table_add_row(table);
            pdnn_table_set_text(table, row, THREADS, of);
            pdnn_table_set_count(table, row, MODELS, 0);
            pdnn_table_set_count(table, row, VISITS, 0);
        }
        pdnn_table_set_count(table, row, MODELS, pdnn_table_count(table, row, MODELS) + 1);
        pdnn_table_set_count(table, row, VISITS,
                             pdnn_table_count(table, row, VISITS) + (uint64_t)visits_of(rows, at));
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
            const double value = pdnn_selection_value(rows, at, ranges[i].of);
            if (ranges[i].from < N_COLUMNS)
                widen(table, row, ranges[i].from, true, value);
            if (ranges[i].to < N_COLUMNS)
                widen(table, row, ranges[i].to, false, value);
        }
    }
    for (size_t row = 0; row < table->n_rows; row++) {
        const double from_ns = pdnn_table_number(table, row, DISTANCE_FROM),
                     to_ns = pdnn_table_number(table, row, DISTANCE_TO);
        const double between_ns = pdnn_distances_differ(from_ns, to_ns) ? sqrt(from_ns * to_ns) : INFINITY;
        double far = 0, visits = 0;
        for (size_t at = 0; at < rows->count; at++) {
            if (strcmp(pdnn_selection_get(rows, at, threads), known.text[row]) != 0)
                continue;
            far += far_pct_of(rows, at, between_ns) * visits_of(rows, at);
            visits += visits_of(rows, at);
        }
        if (far > 0)
            pdnn_table_set_number(table, row, FAR_PCT, far / visits);
    }
    pdnn_texts_finish(&known);
}

static void put_states(const struct pdnn_report_source *source, struct pdnn_str *out) {
    struct pdnn_table states;
    size_t columns[N_COLUMNS];
    for (size_t i = 0; i < N_COLUMNS; i++)
        columns[i] = i;
    pdnn_table_init(&states, &states_def);
    fill_states(&source->selection, &states);
    if (states.n_rows)
        pdnn_html_put_table(
            out, &states, NULL, columns, N_COLUMNS,
            "States of %s beside its times: how far apart the threads were (a cache line's round trip), the "
            "clock of the slowest core, what the threads had of their cores. Times, roofs and comparisons hold "
            "within one state.",
            source->name);
    pdnn_table_finish(&states);
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const size_t columns[] = {
        PDNN_ROOF_ROW_KIND,    PDNN_ROOF_ROW_PATTERN,     PDNN_ROOF_ROW_DTYPE,       PDNN_ROOF_ROW_LEVEL,
        PDNN_ROOF_ROW_THREADS, PDNN_ROOF_ROW_STATE,       PDNN_ROOF_ROW_VALUE,       PDNN_ROOF_ROW_LOW,
        PDNN_ROOF_ROW_HIGH,    PDNN_ROOF_ROW_REPETITIONS, PDNN_ROOF_ROW_MEASUREMENTS};
    for (size_t s = 0; s < page->data.n_sources; s++) {
        const struct pdnn_report_source *source = &page->source[s];
        put_states(source, out);
        if (source->roof_rows->count) {
            pdnn_html_put(out, "<details><summary>All roofs of %s</summary>\n", source->name);
            struct pdnn_table roofs;
            pdnn_table_init(&roofs, &pdnn_ceilings_def);
            for (size_t i = 0; i < source->roof_rows->count; i++)
                if (strcmp(source->roof_rows->row[i].kind, "ladder") != 0)
                    pdnn_roof_rows_add(&source->roof_rows->row[i], &roofs);
            pdnn_html_put_table(out, &roofs, NULL, columns, sizeof columns / sizeof *columns,
                                "With the least and the greatest repetition, or of several measurements "
                                "value: arithmetic in GFLOP/s, bandwidth in GB/s, overhead in ns.");
            pdnn_table_finish(&roofs);
            pdnn_str_printf(out, "</details>\n");
        }
        if (!*source->environment)
            continue;
        pdnn_html_put(out, "<details><summary>Environment of %s</summary>\n<pre>", source->name);
        for (const char *line = source->environment; *line;
             line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
            struct pdnn_str text = {0};
            pdnn_str_append(&text, line, strcspn(line, "\n"));
            pdnn_html_put(out, "%s\n", pdnn_str_text(&text));
            pdnn_str_finish(&text);
        }
        pdnn_str_printf(out, "</pre></details>\n");
    }
}

const struct pdnn_report_section pdnn_section_machine = {.title = "Machine and roofs", .put = put};
