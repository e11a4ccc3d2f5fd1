/* The first section: in a few lines what every source is and how well it did, then what was published and
 * whether it holds here. */
#include "base/memory.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/store/tables.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_word(const struct pdnn_report_rows *rows, size_t source, enum pdnn_report_word word,
                         const char *text) {
    size_t count = 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        count += rows->row[r].source == source && rows->row[r].is_ok &&
                 strcmp(pdnn_report_word_text(rows, &rows->row[r], word), text) == 0;
    return count;
}

static size_t count_flag(const struct pdnn_report_rows *rows, size_t source, const char *flag) {
    size_t count = 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        count += rows->row[r].source == source && rows->row[r].is_ok &&
                 strstr(pdnn_report_word_text(rows, &rows->row[r], PDNN_REPORT_FLAGS), flag) != NULL;
    return count;
}

/* The values of the rows that ended ok, sorted, and the rows with the least and the greatest. */
struct values {
    double *value;
    size_t n, least, greatest;
};

typedef double value_of_row(const struct pdnn_report_row *row);

static double peak_of(const struct pdnn_report_row *row) {
    return row->number[PDNN_REPORT_PCT_OF_PEAK];
}

static double roof_of(const struct pdnn_report_row *row) {
    return row->number[PDNN_REPORT_PCT_OF_ROOF];
}

static struct values collect(const struct pdnn_report_rows *rows, size_t source, value_of_row *of_row,
                             double *room) {
    struct values found = {.value = room};
    for (size_t r = 0; r < rows->n_rows; r++) {
        double value = of_row(&rows->row[r]);
        if (rows->row[r].source != source || !rows->row[r].is_ok || !isfinite(value))
            continue;
        if (!found.n || value < of_row(&rows->row[found.least]))
            found.least = r;
        if (!found.n || value > of_row(&rows->row[found.greatest]))
            found.greatest = r;
        found.value[found.n++] = value;
    }
    pdnn_sort(found.value, found.n);
    return found;
}

void pdnn_report_put_model(struct pdnn_str *out, const struct pdnn_report_rows *rows, size_t row) {
    struct pdnn_str label = {0};
    pdnn_report_label(rows, row, &label);
    pdnn_str_printf(out, "<code title=\"");
    pdnn_html_text(out, rows->row[row].id);
    pdnn_str_printf(out, "\">");
    pdnn_html_text(out, pdnn_str_text(&label));
    pdnn_str_printf(out, "</code>");
    pdnn_str_finish(&label);
}

static void put_number(struct pdnn_str *out, double value, int digits, const char *unit) {
    pdnn_html_number(out, value, digits, "");
    pdnn_str_printf(out, "%s", unit);
}

static void put_fact(struct pdnn_str *out, const struct pdnn_report_source *source, const char *key,
                     const char *unit, const char **between) {
    struct pdnn_str value = {0};
    pdnn_environment_value(pdnn_str_text(&source->environment), key, &value);
    if (value.length) {
        pdnn_str_printf(out, "%s", *between);
        pdnn_html_text(out, value.text);
        pdnn_str_printf(out, "%s", unit);
        *between = ", ";
    }
    pdnn_str_finish(&value);
}

/* The library of a source's rows; "" where they have several. */
static const char *backend_of(const struct pdnn_report_rows *rows, size_t s) {
    size_t first = rows->source[s].first_row;
    const char *backend = pdnn_report_setting(rows, first, PDNN_SETTING_BACKEND);
    for (size_t r = first; r < first + rows->source[s].n_rows; r++) {
        if (strcmp(pdnn_report_setting(rows, r, PDNN_SETTING_BACKEND), backend) != 0)
            return "";
    }
    return backend;
}

/* "AMD EPYC, 2 cores, oneDNN 2.6.3, f32 528 GFLOP/s, DRAM 86 GB/s" */
static void put_platform(struct pdnn_str *out, const struct pdnn_report_page *page, size_t s) {
    const struct pdnn_report_source *source = &page->rows.source[s];
    struct pdnn_report_roofs roofs = pdnn_report_find_roofs(page, s);
    const char *between = ": ";
    char library[64];
    snprintf(library, sizeof library, "backend_%.40s", backend_of(&page->rows, s));
    put_fact(out, source, "cpu", "", &between);
    put_fact(out, source, "cores_usable", " cores", &between);
    put_fact(out, source, library, "", &between);
    for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++) {
        if (roofs.of.peak_gflops[k] > 0) {
            pdnn_str_printf(out, "%s%s ", between, pdnn_dtype_name(k));
            put_number(out, roofs.of.peak_gflops[k], 4, " GFLOP/s");
            between = ", ";
        }
    }
    if (roofs.of.n_levels) {
        const struct pdnn_roof_level *last = &roofs.of.level[roofs.of.n_levels - 1];
        pdnn_str_printf(out, "%s", between);
        pdnn_html_text(out, last->name);
        pdnn_str_printf(out, " ");
        put_number(out, last->gbs, 3, " GB/s");
    }
}

/* "12 to 88 %, median 60 %" and what this is of, with the model that stands out. */
static void put_range(struct pdnn_str *out, const struct pdnn_report_rows *rows, const struct values *values,
                      const char *of, size_t model) {
    put_number(out, values->value[0], 3, " to ");
    put_number(out, values->value[values->n - 1], 3, " %, median ");
    put_number(out, pdnn_quantile_sorted(values->value, values->n, 0.5), 3, " %");
    pdnn_str_printf(out, " %s: ", of);
    pdnn_report_put_model(out, rows, model);
    pdnn_str_printf(out, ".</li>\n");
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
    const struct pdnn_report_rows *rows = &page->rows;
    const struct pdnn_report_source *source = &rows->source[s];
    size_t n_ok = 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        n_ok += rows->row[r].source == s && rows->row[r].is_ok;
    pdnn_str_printf(out, "<li><b>");
    pdnn_html_text(out, source->name);
    pdnn_str_printf(out, "</b>");
    put_platform(out, page, s);
    pdnn_str_printf(
        out, "<ul><li>%zu of %zu models ended ok: %zu are bound by compute, %zu by memory, %zu by overhead.",
        n_ok, source->n_rows, count_word(rows, s, PDNN_REPORT_BOUND, "compute"),
        count_word(rows, s, PDNN_REPORT_BOUND, "memory"), count_word(rows, s, PDNN_REPORT_BOUND, "overhead"));
    pdnn_str_printf(out,
                    n_ok < source->n_rows ? " <a href=\"#failures\">What did not run</a></li>\n" : "</li>\n");
    if (page->request->progress[s]) {
        pdnn_str_printf(out, "<li>");
        pdnn_html_text(out, page->request->progress[s]);
        pdnn_str_printf(out, ".</li>\n");
    }
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct values found = collect(rows, s, ranges[i].of_row, room);
        if (!found.n)
            continue;
        pdnn_str_printf(out, "<li>%s ", ranges[i].says);
        put_range(out, rows, &found, ranges[i].of, ranges[i].names_greatest ? found.greatest : found.least);
    }
    struct values found = collect(rows, s, pdnn_report_half_pct, room);
    if (found.n) {
        pdnn_str_printf(out, "<li>Half of the 95 %% intervals of step times are within \xc2\xb1 ");
        put_number(out, pdnn_quantile_sorted(found.value, found.n, 0.5), 2, " %");
        pdnn_str_printf(out, "; %zu models are noisy.</li>\n", count_flag(rows, s, "noisy"));
    }
    pdnn_str_printf(out, "</ul></li>\n");
}

/* The first findings that can be told, or those that cannot; each with why, and with what would tell. */
static void put_finding_rows(const struct pdnn_report_page *page, size_t first, size_t end,
                             const char *caption, struct pdnn_str *out) {
    static const char *const words[PDNN_VERDICT_COUNT] = {"yes", "no", "unknown"};
    const struct pdnn_report_rows *rows = &page->rows;
    const char *const one[] = {"no.", "published observation", "here", "why", NULL};
    const char *const two[] = {"no.", "published observation", "source", "here", "why", NULL};
    pdnn_html_table(out, "findings", caption, rows->n_sources > 1 ? two : one);
    for (size_t i = first; i < end; i++) {
        const struct pdnn_report_finding *finding = &page->findings[i];
        pdnn_str_printf(out, "<tr><td>");
        if (finding->number)
            pdnn_str_printf(out, "%d", finding->number);
        pdnn_str_printf(out, "</td>");
        pdnn_html_cell(out, finding->claim);
        if (rows->n_sources > 1)
            pdnn_html_cell(out,
                           finding->source == PDNN_REPORT_BOTH ? "both" : rows->source[finding->source].name);
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

void pdnn_report_put_findings(const struct pdnn_report_page *page, struct pdnn_str *out) {
    const struct pdnn_report_rows *rows = &page->rows;
    double *room = pdnn_alloc(rows->n_rows + 1, sizeof *room);
    size_t told = 0;
    while (told < page->n_findings && page->findings[told].verdict != PDNN_CANNOT_BE_TOLD)
        told++;
    pdnn_html_section(out, "findings", "Findings");
    pdnn_str_printf(out, "<ul>");
    for (size_t s = 0; s < rows->n_sources; s++)
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
    pdnn_html_section_end(out);
}
