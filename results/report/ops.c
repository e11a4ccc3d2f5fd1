/* Where a step's time goes: by category of op for each kind of model, and for each model where those are few.
 */
#include "results/report/html.h"
#include "results/report/page.h"

enum { BARS_MOST = 60 };

static void put_kinds(const struct pdnn_report_op_times *times, struct pdnn_str *out) {
    static const struct pdnn_column_def columns[] = {
        {"kind", NULL, NULL, .help = "models of a family, and of a mode and a source where those vary"},
        {"models", NULL, NULL, PDNN_KIND_COUNT, .help = "models of this kind"}};
    static const struct pdnn_table_def def = {"kinds", "mean shares of time by kind of model", columns, 2};
    struct pdnn_table table;
    pdnn_table_init(&table, &def);
    for (size_t c = 0; c < times->category.count; c++)
        pdnn_table_add_column(&table, &(struct pdnn_column_def){.name = times->category.text[c],
                                                                .kind = PDNN_KIND_NUMBER,
                                                                .show = PDNN_SHOW_FIXED,
                                                                .decimals = 1,
                                                                .help = "mean share of the ops' time"});
    for (size_t k = 0; k < times->n_kinds; k++) {
        const size_t row = pdnn_table_add_row(&table);
        pdnn_table_set_text(&table, row, 0, times->kind[k].name);
        pdnn_table_set_count(&table, row, 1, times->kind[k].n);
        for (size_t c = 0; c < times->category.count; c++)
            pdnn_table_set_number(&table, row, 2 + c, times->kind[k].share[c] * 100);
    }
    pdnn_html_put_table(out, &table, NULL, NULL, 0,
                        "Share of the time of a step's ops by category in %%, the mean over models, each "
                        "counted alike.");
    pdnn_table_finish(&table);
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    if (!page->times.n_kinds)
        return;
    if (page->all.count - page->n_failed <= BARS_MOST)
        pdnn_report_put_figure(page, "breakdown", pdnn_report_plot(page, PDNN_REPORT_BOTH), out);
    put_kinds(&page->times, out);
}

const struct pdnn_report_section pdnn_section_ops = {.title = "Where the time goes", .put = put};
