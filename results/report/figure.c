/* Pictures of the page: the same bytes as those of `paradnn plot --format svg`. */
#include "results/figures/picture.h"
#include "results/report/html.h"
#include "results/report/page.h"

bool pdnn_report_put_figure(const struct pdnn_report_page *page, const char *kind, size_t source,
                            struct pdnn_plot_request request, struct pdnn_str *out) {
    const bool both = source == PDNN_REPORT_BOTH;
    const char *directories[2] = {page->source[both ? 0 : source].directory, page->source[1].directory};
    struct pdnn_plot_result made = {.n_paths = 0};
    struct pdnn_err why = {0};
    request.directory = directories;
    request.n_directories = both ? page->n_sources : 1;
    request.only = page->only;
    request.n_only = page->n_only;
    request.format = PDNN_PLOT_SVG;
    request.as_text = true;
    request.selection = page->n_sources == 1 ? &page->source[0].selection : NULL;
    if (pdnn_picture_make(pdnn_plot_find(kind), &request, &made, &why) != PDNN_OK) {
        pdnn_str_printf(out, "<p class=\"shared\">No picture: ");
        pdnn_html_text(out, why.text);
        pdnn_str_printf(out, "</p>\n");
        return false;
    }
    pdnn_str_printf(out, "<figure class=\"%s\" data-source=\"", kind);
    pdnn_html_text(out, both ? "" : page->source[source].name);
    pdnn_str_printf(out, "\">%s</figure>\n", pdnn_str_text(&made.data));
    pdnn_str_finish(&made.data);
    return true;
}
