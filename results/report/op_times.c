/* Where the time goes: a table of categories of op by kind of model, and the models themselves. */
#include "results/report/html.h"
#include "results/report/page.h"

/* The mean shares of the categories of op by kind of model. */
static void put_shares(const struct pdnn_report_op_times *times, struct pdnn_str *out) {
    static const struct pdnn_column_def columns[] = {
        {"kind", "models of", NULL, .help = "kind of model"},
        {"models", "models", NULL, PDNN_KIND_COUNT, .help = "models of that kind"}};
    struct pdnn_table table;
    pdnn_table_init(&table, &(struct pdnn_table_def){"op times", "shares by kind of model", columns, 2});
    for (size_t c = 0; c < times->category.count; c++)
        pdnn_table_add_column(&table, &(struct pdnn_column_def){.name = times->category.text[c],
                                                                .kind = PDNN_KIND_NUMBER,
                                                                .show = PDNN_SHOW_SHARE,
                                                                .decimals = 1,
                                                                .help = "mean share of the time of ops"});
    for (size_t i = 0; i < times->n_kinds; i++) {
        size_t row = pdnn_table_add_row(&table);
        pdnn_table_set_text(&table, row, 0, times->kind[i].name);
        pdnn_table_set_count(&table, row, 1, times->kind[i].n);
        for (size_t c = 0; c < times->category.count; c++)
            if (times->kind[i].share[c] > 0)
                pdnn_table_set_number(&table, row, 2 + c, times->kind[i].share[c]);
    }
    pdnn_html_put_table(out, &table, NULL,
                        (struct pdnn_table_writer){.caption =
                                                       "Share of the time of a step's ops by category, the "
                                                       "mean over models, each counted alike."});
    pdnn_table_finish(&table);
}

/* With a bar for each model where they are few. */
static enum pdnn_status put_ops(const struct pdnn_report_page *page, struct pdnn_str *out,
                                struct pdnn_err *err) {
    enum { BARS_MOST = 30 };
    (void)err;
    if (!page->times.n_kinds)
        return PDNN_OK;
    for (size_t s = 0; s < page->n_sources; s++)
        if (page->source[s].selection.count && page->source[s].selection.count <= BARS_MOST)
            pdnn_report_put_figure(page, "breakdown", s, (struct pdnn_plot_request){0}, out);
    put_shares(&page->times, out);
    return PDNN_OK;
}

const struct pdnn_report_section pdnn_section_ops = {"ops", "Where time goes", "Where the time goes",
                                                     .put = put_ops};
