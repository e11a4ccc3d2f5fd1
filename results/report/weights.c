/* Which hyper-parameters decide utilization, of every source. */
#include "results/report/page.h"

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    for (size_t s = 0; s < page->data.n_sources; s++)
        pdnn_report_put_figure(page, "weights", pdnn_report_plot(page, s), out);
}

const struct pdnn_report_section pdnn_section_weights = {.title = "What decides utilization", .put = put};
