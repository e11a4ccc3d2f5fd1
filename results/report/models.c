/* The roofline of all sources, the filters that the script fills, and the table of rows. */
#include "results/report/page.h"

/* What the table's names leave out: the keys that all rows of a family share, "input=2000, threads=2". */
static void put_shared(struct pdnn_str *out, const struct pdnn_report_page *page) {
    const struct pdnn_results *results = &page->all.results;
    for (size_t f = 0; f < page->n_families; f++) {
        const struct pdnn_selection *rows = &page->of_family[f];
        const char *between = "<p class=\"shared\">All ";
        for (int column = rows->family; column < results->end_key; column++) {
            const char *value = pdnn_selection_get(rows, 0, column);
            if (pdnn_selection_key(rows, column)->varies || !*value || column == results->results)
                continue;
            pdnn_str_printf(out, "%s", between);
            pdnn_html_put(out, "%s%s%s", column == rows->family ? "" : pdnn_results_name(results, column),
                          column == rows->family ? "" : "=", value);
            between = column == rows->family ? ": " : ", ";
        }
        pdnn_str_printf(out, "</p>\n");
    }
}

/* One picture, unless a source has no roofs. */
static void put_rooflines(const struct pdnn_report_page *page, struct pdnn_str *out) {
    bool is_one = true;
    for (size_t s = 0; s < page->data.n_sources; s++)
        is_one = is_one && page->source[s].roof_rows->count > 0;
    for (size_t s = 0; s < page->data.n_sources; s++) {
        if (!page->source[s].roof_rows->count)
            pdnn_html_put(out, "<p>%s has no measured roofs, so it has no roofline.</p>\n",
                          page->source[s].name);
        else if (!is_one || !s)
            pdnn_report_put_figure(page, "roofline", pdnn_report_plot(page, is_one ? PDNN_REPORT_ALL : s),
                                   out);
    }
}

/* What is there without the script, which has all rows. */
static void put_first_rows(const struct pdnn_report_page *page, struct pdnn_str *out) {
    enum { ROWS = 100 };
    static const enum pdnn_result_column columns[] = {
        PDNN_RESULT_ID,          PDNN_RESULT_STATUS, PDNN_RESULT_TIME_NS_MEDIAN, PDNN_RESULT_GFLOPS,
        PDNN_RESULT_PCT_OF_ROOF, PDNN_RESULT_BOUND,  PDNN_RESULT_ROW_FLAGS};
    const struct pdnn_results *results = &page->all.results;
    size_t shown[sizeof columns / sizeof *columns], n = 0;
    struct pdnn_row_list rows = {0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (results->at[columns[i]] >= 0)
            shown[n++] = (size_t)results->at[columns[i]];
    for (size_t i = 0; i < page->all.count && i < ROWS; i++)
        pdnn_rows_add(&rows, page->all.row[i]);
    pdnn_html_put_table(out, &results->table, &rows, shown, n,
                        "%zu of %zu models, in the order of the tables.", rows.count, page->all.count);
    pdnn_rows_finish(&rows);
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    pdnn_str_printf(out, "<div id=\"filters\" hidden></div>\n");
    put_rooflines(page, out);
    put_shared(out, page);
    pdnn_str_printf(out, "<div id=\"table\">");
    put_first_rows(page, out);
    pdnn_str_printf(out, "</div>\n");
}

const struct pdnn_report_section pdnn_section_models = {.title = "Models", .put = put};
