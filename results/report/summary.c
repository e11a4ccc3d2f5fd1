/* The first section: in a few lines what every source is and how well it did, then what was published and
 * whether it holds here. */
#include "base/memory.h"
#include "base/units.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/store/tables.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_word(const struct pdnn_selection *rows, enum pdnn_result_column column,
                         const char *text) {
    size_t count = 0;
    for (size_t at = 0; at < rows->count; at++)
        count += strcmp(pdnn_selection_word(rows, at, column), text) == 0;
    return count;
}

static size_t count_flag(const struct pdnn_selection *rows, const char *flag) {
    size_t count = 0;
    for (size_t at = 0; at < rows->count; at++)
        count += strstr(pdnn_selection_word(rows, at, PDNN_RESULT_ROW_FLAGS), flag) != NULL;
    return count;
}

/* The values of rows, sorted, and the rows with the least and the greatest. */
struct values {
    double *value;
    size_t n, least, greatest;
};

typedef double value_of_row(const struct pdnn_selection *rows, size_t at);

static double peak_of(const struct pdnn_selection *rows, size_t at) {
    return pdnn_selection_value(rows, at, PDNN_RESULT_PCT_OF_PEAK);
}

static double roof_of(const struct pdnn_selection *rows, size_t at) {
    return pdnn_selection_value(rows, at, PDNN_RESULT_PCT_OF_ROOF);
}

static struct values collect(const struct pdnn_selection *rows, value_of_row *of_row, double *room) {
    struct values found = {.value = room};
    for (size_t at = 0; at < rows->count; at++) {
        double value = of_row(rows, at);
        if (!isfinite(value))
            continue;
        if (!found.n || value < of_row(rows, found.least))
            found.least = at;
        if (!found.n || value > of_row(rows, found.greatest))
            found.greatest = at;
        found.value[found.n++] = value;
    }
    pdnn_sort(found.value, found.n);
    return found;
}

/* What tells a row from others of its source, "fc nodes=256 batch=4": the family if there are several, and
 * the keys that vary within it. The script has the same names. */
static void put_label(struct pdnn_str *out, const struct pdnn_report_page *page,
                      const struct pdnn_selection *rows, size_t at) {
    const struct pdnn_results *results = &rows->results;
    struct pdnn_str label = {0};
    size_t f = 0;
    while (strcmp(page->family[f], pdnn_selection_get(rows, at, rows->family)) != 0)
        f++;
    if (page->n_families > 1)
        pdnn_str_printf(&label, "%s", page->family[f]);
    for (int column = results->first_key; column < results->end_key; column++) {
        bool varies = page->all.key[column].values && page->of_family[f].key[column].varies;
        const char *value = pdnn_selection_get(rows, at, column);
        if (column != results->results && varies && *value)
            pdnn_str_printf(&label, "%s%s=%s", label.length ? " " : "", pdnn_results_name(results, column),
                            value);
    }
    pdnn_html_text(out, label.length ? label.text : pdnn_selection_get(rows, at, rows->id));
    pdnn_str_finish(&label);
}

void pdnn_report_put_model(struct pdnn_str *out, const struct pdnn_report_page *page,
                           const struct pdnn_selection *rows, size_t at) {
    pdnn_str_printf(out, "<code title=\"");
    pdnn_html_text(out, pdnn_selection_get(rows, at, rows->id));
    pdnn_str_printf(out, "\">");
    put_label(out, page, rows, at);
    pdnn_str_printf(out, "</code>");
}

static void put_number(struct pdnn_str *out, double value, int digits, const char *unit) {
    pdnn_html_number(out, value, digits, "");
    pdnn_str_printf(out, "%s", unit);
}

static void put_fact(struct pdnn_str *out, const struct pdnn_report_source *source, const char *key,
                     const char *unit, const char **between) {
    struct pdnn_str value = {0};
    pdnn_environment_value(source->environment, key, &value);
    if (value.length) {
        pdnn_str_printf(out, "%s", *between);
        pdnn_html_text(out, value.text);
        pdnn_str_printf(out, "%s", unit);
        *between = ", ";
    }
    pdnn_str_finish(&value);
}

/* The library of a source's rows; "" where they have several. */
static const char *backend_of(const struct pdnn_selection *rows) {
    const int column = pdnn_results_setting(&rows->results, PDNN_SETTING_BACKEND);
    return column >= 0 && rows->count && !rows->key[column].varies ? pdnn_selection_get(rows, 0, column) : "";
}

/* The thread count of most models. */
static int64_t usual_threads(const struct pdnn_selection *rows) {
    const int column = pdnn_results_setting(&rows->results, PDNN_SETTING_THREADS);
    struct pdnn_arena arena = {0};
    const char **value;
    int64_t threads = 1;
    size_t most = 0, n_values = pdnn_selection_distinct(rows, column, &arena, &value, NULL);
    for (size_t v = 0; v < n_values; v++) {
        size_t count = 0;
        int64_t number;
        for (size_t at = 0; at < rows->count; at++)
            count += strcmp(pdnn_selection_get(rows, at, column), value[v]) == 0;
        if (count > most && pdnn_parse_i64(value[v], &number)) {
            most = count;
            threads = number;
        }
    }
    pdnn_arena_finish(&arena);
    return threads;
}

/* The dtypes that models ran in decide which peaks are named; f32 where the table does not say. */
static void find_dtypes(const struct pdnn_selection *rows, struct pdnn_roofs *roofs) {
    const int column = pdnn_results_setting(&rows->results, PDNN_SETTING_DTYPE);
    bool used[PDNN_DTYPE_COUNT] = {false};
    for (size_t at = 0; at < rows->count; at++) {
        const char *name = pdnn_selection_get(rows, at, column);
        for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++)
            used[k] = used[k] || strcmp(*name ? name : "f32", pdnn_dtype_name(k)) == 0;
    }
    for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++)
        if (!used[k])
            roofs->peak_gflops[k] = 0;
}

/* "AMD EPYC, 2 cores, oneDNN 2.6.3, f32 528 GFLOP/s, DRAM 86 GB/s" */
static void put_platform(struct pdnn_str *out, const struct pdnn_report_page *page, size_t s) {
    const struct pdnn_report_source *source = &page->source[s];
    struct pdnn_roofs roofs;
    const char *between = ": ";
    char library[64];
    pdnn_roofs_init(&roofs, source->ceilings, usual_threads(&source->selection));
    find_dtypes(&source->selection, &roofs);
    snprintf(library, sizeof library, "backend_%.40s", backend_of(&source->selection));
    put_fact(out, source, "cpu", "", &between);
    put_fact(out, source, "cores_usable", " cores", &between);
    put_fact(out, source, library, "", &between);
    for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++) {
        if (roofs.peak_gflops[k] > 0) {
            pdnn_str_printf(out, "%s%s ", between, pdnn_dtype_name(k));
            put_number(out, roofs.peak_gflops[k], 4, " GFLOP/s");
            between = ", ";
        }
    }
    if (roofs.n_levels) {
        const struct pdnn_roof_level *last = &roofs.level[roofs.n_levels - 1];
        pdnn_str_printf(out, "%s", between);
        pdnn_html_text(out, last->name);
        pdnn_str_printf(out, " ");
        put_number(out, last->gbs, 3, " GB/s");
    }
}

/* "12 to 88 %, median 60 %" and what this is of. */
static void put_range(struct pdnn_str *out, const struct values *values, const char *of) {
    put_number(out, values->value[0], 3, " to ");
    put_number(out, values->value[values->n - 1], 3, " %, median ");
    put_number(out, pdnn_quantile_sorted(values->value, values->n, 0.5), 3, " %");
    pdnn_str_printf(out, " %s: ", of);
}

/* What is said of the values of all rows, and which of the two models at the ends is named. */
static const struct {
    value_of_row *of_row;
    const char *says, *of;
    bool names_greatest;
} ranges[] = {
    {peak_of, "FLOP rates are", "of the measured peak; most", true},
    {roof_of, "Given what bounds each, they reach", "of their roofs; farthest below", false},
};

static void put_summary(struct pdnn_str *out, const struct pdnn_report_page *page, size_t s, double *room) {
    const struct pdnn_report_source *source = &page->source[s];
    const struct pdnn_selection *rows = &source->selection;
    const size_t n_rows = rows->count + rows->left_out;
    pdnn_str_printf(out, "<li><b>");
    pdnn_html_text(out, source->name);
    pdnn_str_printf(out, "</b>");
    put_platform(out, page, s);
    const size_t compute = count_word(rows, PDNN_RESULT_BOUND, "compute"),
                 memory = count_word(rows, PDNN_RESULT_BOUND, "memory"),
                 overhead = count_word(rows, PDNN_RESULT_BOUND, "overhead");
    pdnn_str_printf(out, "<ul><li>%zu of %zu models ended ok", rows->count, n_rows);
    if (compute + memory + overhead)
        pdnn_str_printf(out, ": %zu are bound by compute, %zu by memory, %zu by overhead", compute, memory,
                        overhead);
    pdnn_str_printf(out,
                    rows->count && !(compute + memory + overhead) ? "; what bounds them is not known." : ".");
    pdnn_str_printf(out, rows->left_out ? " <a href=\"#failures\">What did not run</a></li>\n" : "</li>\n");
    if (source->progress) {
        pdnn_str_printf(out, "<li>");
        pdnn_html_text(out, source->progress);
        pdnn_str_printf(out, ".</li>\n");
    }
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct values found = collect(rows, ranges[i].of_row, room);
        if (!found.n)
            continue;
        pdnn_str_printf(out, "<li>%s ", ranges[i].says);
        put_range(out, &found, ranges[i].of);
        pdnn_report_put_model(out, page, rows, ranges[i].names_greatest ? found.greatest : found.least);
        pdnn_str_printf(out, ".</li>\n");
    }
    struct values found = collect(rows, pdnn_selection_half_pct, room);
    if (found.n) {
        pdnn_str_printf(out, "<li>Half of the 95 %% intervals of step times are within \xc2\xb1 ");
        put_number(out, pdnn_quantile_sorted(found.value, found.n, 0.5), 2, " %");
        pdnn_str_printf(out, "; %zu models are noisy.</li>\n", count_flag(rows, "noisy"));
    }
    pdnn_str_printf(out, "</ul></li>\n");
}

/* The first findings that can be told, or those that cannot; each with why, and with what would tell. */
static void put_finding_rows(const struct pdnn_report_page *page, size_t first, size_t end,
                             const char *caption, struct pdnn_str *out) {
    static const char *const words[PDNN_VERDICT_COUNT] = {"yes", "no", "unknown"};
    const char *const one[] = {"no.", "published observation", "here", "why", NULL};
    const char *const two[] = {"no.", "published observation", "source", "here", "why", NULL};
    pdnn_html_table(out, "findings", caption, page->n_sources > 1 ? two : one);
    for (size_t i = first; i < end; i++) {
        const struct pdnn_report_finding *finding = &page->findings[i];
        pdnn_str_printf(out, "<tr><td>");
        if (finding->number)
            pdnn_str_printf(out, "%d", finding->number);
        pdnn_str_printf(out, "</td>");
        pdnn_html_cell(out, finding->claim);
        if (page->n_sources > 1)
            pdnn_html_cell(out,
                           finding->source == PDNN_REPORT_BOTH ? "both" : page->source[finding->source].name);
        pdnn_str_printf(out, "<td class=\"%s\">%s</td><td>", words[finding->verdict],
                        pdnn_verdict_name(finding->verdict));
        pdnn_html_text(out, finding->sentence);
        if (finding->tells) {
            pdnn_str_printf(out, " <i>Would tell:</i> ");
            pdnn_html_text(out, finding->tells);
        }
        pdnn_str_printf(out, "</td></tr>\n");
    }
    pdnn_html_table_end(out);
}

static enum pdnn_status put(const struct pdnn_report_page *page, struct pdnn_str *out, struct pdnn_err *err) {
    (void)err;
    double *room = pdnn_alloc(page->all.count + 1, sizeof *room);
    size_t told = 0;
    while (told < page->n_findings && page->findings[told].verdict != PDNN_CANNOT_BE_TOLD)
        told++;
    pdnn_str_printf(out, "<ul>");
    for (size_t s = 0; s < page->n_sources; s++)
        put_summary(out, page, s, room);
    free(room);
    pdnn_str_printf(out, "</ul>\n");
    if (told)
        put_finding_rows(
            page, 0, told,
            "What was published about other machines, and what these tables say. Numbers are those of "
            "table 1 in Wang, Wei and Brooks (2020).",
            out);
    pdnn_str_printf(out, "<details><summary>%zu that these tables cannot tell</summary>",
                    page->n_findings - told);
    put_finding_rows(page, told, page->n_findings, "Why not, and which data would tell.", out);
    pdnn_str_printf(out, "</details>\n");
    return PDNN_OK;
}

const struct pdnn_report_section pdnn_section_findings = {"findings", "Findings", "Findings", .put = put};
