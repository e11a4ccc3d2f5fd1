/* Utilization over two keys, for each family over its own axes. */
#include "results/report/page.h"

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    struct pdnn_plot_request request = pdnn_report_plot(page, PDNN_REPORT_ALL);
    struct pdnn_arena arena = {0};
    const char **only = pdnn_arena_alloc(&arena, page->n_only + 1, sizeof *only);
    for (size_t i = 0; i < page->n_only; i++)
        only[i] = page->only[i];
    request.value = pdnn_selection_utilization(&page->all);
    for (size_t f = 0; f < page->n_families; f++) {
        if (page->n_families > 1) {
            only[page->n_only] = pdnn_arena_printf(&arena, "family=%s", page->family[f]);
            request.only = only;
            request.n_only = page->n_only + 1;
            request.selection = &page->of_family[f];
        }
        pdnn_report_put_figure(page, "heatmap", request, out);
    }
    pdnn_arena_finish(&arena);
}

const struct pdnn_report_section pdnn_section_heat = {.title = "Heat maps", .put = put};
