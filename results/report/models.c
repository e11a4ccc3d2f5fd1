/* The roofline of all sources, the filters that the script fills, and the table of rows. */
#include "results/report/html.h"
#include "results/report/page.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What tells a row from others of its source, "fc nodes=256 batch=4": the family if there are several, and
 * the keys that vary within it. The script has the same names. */
void pdnn_report_put_model(struct pdnn_str *out, const struct pdnn_report_page *page,
                           const struct pdnn_selection *rows, size_t at) {
    const struct pdnn_results *results = &rows->results;
    const char *id = pdnn_selection_get(rows, at, rows->id);
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
    pdnn_str_printf(out, "<code title=\"");
    pdnn_html_text(out, id);
    pdnn_str_printf(out, "\">");
    pdnn_html_text(out, label.length ? label.text : id);
    pdnn_str_printf(out, "</code>");
    pdnn_str_finish(&label);
}

enum { STATIC_ROWS = 100 };

static void put_model_row(struct pdnn_str *out, const struct pdnn_report_page *page, size_t row) {
    const struct pdnn_selection *all = &page->all;
    const bool is_ok = pdnn_selection_is_ok(all, row);
    char time[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "<tr><td>");
    pdnn_report_put_model(out, page, all, row);
    pdnn_str_printf(out, "</td><td class=\"number\">");
    if (is_ok) {
        const double low = pdnn_selection_value(all, row, PDNN_RESULT_CI_LOW_NS);
        pdnn_str_printf(out, "%s", pdnn_format_ns(time, pdnn_selection_step_ns(all, row)));
        if (isfinite(low)) {
            pdnn_str_printf(out, " (%s to ", pdnn_format_ns(time, low));
            pdnn_format_ns(time, pdnn_selection_value(all, row, PDNN_RESULT_CI_HIGH_NS));
            pdnn_str_printf(out, "%s)", time);
        }
    }
    pdnn_str_printf(out, "</td><td class=\"number\">");
    pdnn_html_number(out, pdnn_selection_value(all, row, PDNN_RESULT_GFLOPS), 4, "");
    pdnn_str_printf(out, "</td><td class=\"number\">");
    pdnn_html_number(out, pdnn_selection_value(all, row, PDNN_RESULT_PCT_OF_ROOF), 3, "");
    pdnn_str_printf(out, "</td>");
    pdnn_html_cell(out, pdnn_selection_word(all, row, is_ok ? PDNN_RESULT_BOUND : PDNN_RESULT_STATUS));
    pdnn_html_cell(out, pdnn_selection_word(all, row, PDNN_RESULT_ROW_FLAGS));
    pdnn_str_printf(out, "</tr>\n");
}

/* What the table's names leave out: the keys that all rows of a family share, "input=2000, threads=2". */
static void put_shared(struct pdnn_str *out, const struct pdnn_report_page *page) {
    const struct pdnn_results *results = &page->all.results;
    for (size_t f = 0; f < page->n_families; f++) {
        const struct pdnn_selection *rows = &page->of_family[f];
        const char *between = "<p class=\"shared\">All ";
        for (int column = rows->family; column < results->end_key; column++) {
            const char *value = pdnn_selection_get(rows, 0, column);
            if (rows->key[column].varies || !*value || column == results->results)
                continue;
            pdnn_str_printf(out, "%s", between);
            if (column != rows->family)
                pdnn_str_printf(out, "%s=", pdnn_results_name(results, column));
            pdnn_html_text(out, value);
            between = column == rows->family ? ": " : ", ";
        }
        pdnn_str_printf(out, "</p>\n");
    }
}

/* One picture, unless a source has no roofs. */
static void put_rooflines(const struct pdnn_report_page *page, struct pdnn_str *out) {
    size_t n = 0;
    for (size_t s = 0; s < page->n_sources; s++)
        n += page->source[s].ceilings->count > 0;
    const bool is_one = n == page->n_sources;
    for (size_t s = 0; s < (is_one ? 1 : page->n_sources); s++) {
        if (page->source[s].ceilings->count)
            pdnn_report_put_figure(page, "roofline", pdnn_report_plot(page, is_one ? PDNN_REPORT_BOTH : s),
                                   out);
        else
            pdnn_html_say(out, "%s has no measured roofs, so it has no roofline.", page->source[s].name);
    }
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const char *const titles[] = {
        "model", "step (95 % interval)", "GFLOP/s", "% of roof", "bound", "flags", NULL};
    const size_t n_rows = page->all.count, shown = n_rows < STATIC_ROWS ? n_rows : STATIC_ROWS;
    char caption[128];
    pdnn_str_printf(out, "<div id=\"filters\" hidden></div>\n");
    put_rooflines(page, out);
    snprintf(caption, sizeof caption, "%s%zu of %zu models, in the order of the tables.",
             shown < n_rows ? "The first " : "", shown, n_rows);
    put_shared(out, page);
    pdnn_str_printf(out, "<div id=\"table\">");
    pdnn_html_table(out, "models", caption, titles);
    for (size_t r = 0; r < shown; r++)
        put_model_row(out, page, r);
    pdnn_html_table_end(out);
    pdnn_str_printf(out, "</div>\n");
}

const struct pdnn_report_section pdnn_section_models = {.title = "Models", .put = put};
