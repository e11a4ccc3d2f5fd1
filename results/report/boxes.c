/* How utilization spreads over the models of each family and platform. */
#include "results/report/page.h"

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    struct pdnn_plot_request request = pdnn_report_plot(page, PDNN_REPORT_ALL);
    request.value = pdnn_selection_utilization(&page->all);
    pdnn_report_put_figure(page, "boxes", request, out);
}

const struct pdnn_report_section pdnn_section_boxes = {.title = "Families", .put = put};
