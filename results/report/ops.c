/* Where a step's time goes: by category of op for each kind of model, and for each model where those are few.
 */
#include "results/report/html.h"
#include "results/report/page.h"

enum { BARS_MOST = 60 };

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    if (!page->times.kinds.n_rows)
        return;
    if (page->all.count - page->n_failed <= BARS_MOST)
        pdnn_report_put_figure(page, "breakdown", pdnn_report_plot(page, PDNN_REPORT_BOTH), out);
    pdnn_html_put_table(out, &page->times.kinds, NULL, NULL, 0,
                        "Share of the time of a step's ops by category in %%, the mean over models, each "
                        "counted alike.");
}

const struct pdnn_report_section pdnn_section_ops = {.title = "Where the time goes", .put = put};
