/* The sections that are text and tables. */
#include "results/report/sections.h"
#include "results/report/html.h"
#include "base/units.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
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

/* The row with the highest utilization, or n_rows. */
static size_t best_row(const struct pdnn_report_rows *rows, size_t source) {
    size_t best = rows->n_rows;
    for (size_t r = 0; r < rows->n_rows; r++) {
        double value = rows->row[r].number[PDNN_REPORT_PCT_OF_PEAK];
        if (rows->row[r].source == source && rows->row[r].is_ok && isfinite(value) &&
            (best == rows->n_rows || value > rows->row[best].number[PDNN_REPORT_PCT_OF_PEAK]))
            best = r;
    }
    return best;
}

static void put_summary(struct pdnn_str *out, const struct pdnn_report_rows *rows, size_t s) {
    const struct pdnn_report_source *source = &rows->source[s];
    size_t best = best_row(rows, s), n_ok = 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        n_ok += rows->row[r].source == s && rows->row[r].is_ok;
    pdnn_str_printf(out, "<li><b>");
    pdnn_html_text(out, source->name);
    pdnn_str_printf(
        out,
        "</b>: %zu of %zu models ended ok. %zu are bound by compute, %zu by memory, %zu by overhead; %zu "
        "are noisy.",
        n_ok, source->n_rows, count_word(rows, s, PDNN_REPORT_BOUND, "compute"),
        count_word(rows, s, PDNN_REPORT_BOUND, "memory"), count_word(rows, s, PDNN_REPORT_BOUND, "overhead"),
        count_flag(rows, s, "noisy"));
    if (best < rows->n_rows) {
        pdnn_str_printf(out, " The best reaches ");
        pdnn_html_number(out, rows->row[best].number[PDNN_REPORT_PCT_OF_PEAK], 3, "");
        pdnn_str_printf(out, " %% of the measured peak: <code>");
        pdnn_html_text(out, rows->row[best].id);
        pdnn_str_printf(out, "</code>.");
    }
    pdnn_str_printf(out, "</li>\n");
}

/* The first findings that can be told, or those that cannot; each with why, and with what would tell. */
static void put_finding_rows(const struct pdnn_report_page *page, size_t first, size_t end,
                             const char *caption, struct pdnn_str *out) {
    static const char *const words[PDNN_REPORT_VERDICT_COUNT] = {"yes", "no", "unknown"};
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
                        pdnn_report_verdict_name(finding->verdict));
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
    size_t told = 0;
    while (told < page->n_findings && page->findings[told].verdict != PDNN_REPORT_CANNOT_BE_TOLD)
        told++;
    pdnn_html_section(out, "findings", "Findings");
    pdnn_str_printf(out, "<ul>");
    for (size_t s = 0; s < rows->n_sources; s++)
        put_summary(out, rows, s);
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

static void put_roof_row(struct pdnn_str *out, const char *source, const struct pdnn_ceiling *row) {
    static const struct {
        const char *kind, *unit;
    } units[] = {{"compute", "GFLOP/s"}, {"bandwidth", "GB/s"}, {"overhead", "ns"}};
    size_t k = 0;
    while (k < sizeof units / sizeof *units && strcmp(units[k].kind, row->kind) != 0)
        k++;
    if (k == sizeof units / sizeof *units)
        return;
    pdnn_str_printf(out, "<tr>");
    pdnn_html_cell(out, source);
    pdnn_html_cell(out, row->kind);
    pdnn_html_cell(out, row->pattern);
    pdnn_html_cell(out, *row->dtype ? row->dtype : row->level);
    pdnn_str_printf(out, "<td class=\"number\">%lld</td><td class=\"number\">", (long long)row->threads);
    pdnn_html_number(out, row->value, 4, "");
    pdnn_str_printf(out, "</td><td>%s</td><td class=\"number\">", units[k].unit);
    pdnn_html_number(out, row->low, 4, "");
    pdnn_str_printf(out, " to ");
    pdnn_html_number(out, row->high, 4, "");
    pdnn_str_printf(out, "</td></tr>\n");
}

void pdnn_report_put_machine(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const char *const titles[] = {"source", "kind", "pattern",     "of", "threads",
                                         "value",  "unit", "repetitions", NULL};
    const struct pdnn_report_rows *rows = &page->rows;
    pdnn_html_section(out, "machine", "Machine and roofs");
    for (size_t s = 0; s < rows->n_sources; s++) {
        static const struct {
            const char *key, *label;
        } facts[] = {{"cpu", "processor"},         {"isa", "instruction sets"},
                     {"cores_usable", "cores"},    {"memory_bytes", "memory, bytes"},
                     {"backend_onednn", "oneDNN"}, {"written_utc", "measured"}};
        pdnn_str_printf(out, "<p><b>");
        pdnn_html_text(out, rows->source[s].name);
        pdnn_str_printf(out, "</b>");
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            struct pdnn_str value = {0};
            pdnn_environment_value(pdnn_str_text(&rows->source[s].environment), facts[i].key, &value);
            if (value.length) {
                pdnn_str_printf(out, "; %s: ", facts[i].label);
                pdnn_html_text(out, value.text);
            }
            out->failed = out->failed || value.failed;
            pdnn_str_finish(&value);
        }
        pdnn_str_printf(out, "</p>\n");
    }
    pdnn_str_printf(out, "<details><summary>All roofs</summary>");
    pdnn_html_table(out, "roofs", "Medians of repetitions, with the smallest and the largest.", titles);
    for (size_t s = 0; s < rows->n_sources; s++) {
        const struct pdnn_ceilings *ceilings = rows->source[s].ceilings;
        for (size_t i = 0; i < ceilings->count; i++)
            put_roof_row(out, rows->source[s].name, &ceilings->row[i]);
    }
    pdnn_html_table_end(out);
    pdnn_str_printf(out, "</details>\n");
    pdnn_html_section_end(out);
}

enum { STATIC_ROWS = 100 };

static void put_model_row(struct pdnn_str *out, const struct pdnn_report_rows *rows,
                          const struct pdnn_report_row *row) {
    char time[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "<tr><td><code>");
    pdnn_html_text(out, row->id);
    pdnn_str_printf(out, "</code></td><td class=\"number\">");
    if (row->is_ok) {
        double t = row->number[PDNN_REPORT_TIME_NS];
        double half =
            fmax(t - row->number[PDNN_REPORT_LOW_NS], row->number[PDNN_REPORT_HIGH_NS] - t) / t * 100;
        pdnn_html_text(out, pdnn_format_ns(time, t));
        if (isfinite(half)) {
            pdnn_str_printf(out, " \xc2\xb1 ");
            pdnn_html_number(out, half, 2, "");
            pdnn_str_printf(out, " %%");
        }
    }
    pdnn_str_printf(out, "</td><td class=\"number\">");
    pdnn_html_number(out, row->number[PDNN_REPORT_GFLOPS], 4, "");
    pdnn_str_printf(out, "</td><td class=\"number\">");
    pdnn_html_number(out, row->number[PDNN_REPORT_PCT_OF_ROOF], 3, "");
    pdnn_str_printf(out, "</td>");
    pdnn_html_cell(out, row->is_ok ? pdnn_report_word_text(rows, row, PDNN_REPORT_BOUND)
                                   : pdnn_report_word_text(rows, row, PDNN_REPORT_STATUS));
    pdnn_html_cell(out, pdnn_report_word_text(rows, row, PDNN_REPORT_FLAGS));
    pdnn_str_printf(out, "</tr>\n");
}

void pdnn_report_put_models(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const char *const titles[] = {"model", "step", "GFLOP/s", "% of roof", "bound", "flags", NULL};
    const struct pdnn_report_rows *rows = &page->rows;
    size_t shown = rows->n_rows < STATIC_ROWS ? rows->n_rows : STATIC_ROWS;
    char caption[128];
    pdnn_html_section(out, "models", "Models");
    pdnn_str_printf(out, "<div id=\"filters\" hidden></div>\n");
    for (size_t s = 0; s < rows->n_sources; s++) {
        if (rows->source[s].n_rows)
            pdnn_report_put_roofline(page, s, out);
    }
    snprintf(caption, sizeof caption, "%s%zu of %zu models, in the order of the tables.",
             shown < rows->n_rows ? "The first " : "", shown, rows->n_rows);
    pdnn_str_printf(out, "<div id=\"table\">");
    pdnn_html_table(out, "models", caption, titles);
    for (size_t r = 0; r < shown; r++)
        put_model_row(out, rows, &rows->row[r]);
    pdnn_html_table_end(out);
    pdnn_str_printf(out, "</div>\n");
    pdnn_html_section_end(out);
}

void pdnn_report_put_environment(const struct pdnn_report_page *page, struct pdnn_str *out) {
    bool any = false;
    for (size_t s = 0; s < page->rows.n_sources; s++) {
        const struct pdnn_report_source *source = &page->rows.source[s];
        if (!source->environment.length)
            continue;
        if (!any)
            pdnn_html_section(out, "environment", "Environment");
        any = true;
        pdnn_str_printf(out, "<details><summary>");
        pdnn_html_text(out, source->name);
        pdnn_str_printf(out, "</summary><pre>");
        for (const char *line = source->environment.text; *line;
             line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
            struct pdnn_str text = {0};
            pdnn_str_append(&text, line, strcspn(line, "\n"));
            pdnn_html_text(out, pdnn_str_text(&text));
            pdnn_str_append(out, "\n", 1);
            out->failed = out->failed || text.failed;
            pdnn_str_finish(&text);
        }
        pdnn_str_printf(out, "</pre></details>\n");
    }
    if (any)
        pdnn_html_section_end(out);
}
