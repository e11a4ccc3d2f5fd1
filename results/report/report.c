/* The page as a whole. */
#include "results/report/report.h"
#include "results/report/assets.h"
#include "results/report/html.h"
#include "results/report/page.h"

#include <stdio.h>
#include <string.h>

static void put_head(const struct pdnn_report_page *page, struct pdnn_str *out) {
    const struct pdnn_report_rows *rows = &page->rows;
    pdnn_str_printf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '%s'; "
        "script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>paradnn: ",
        pdnn_report_css_hash, pdnn_report_js_hash);
    pdnn_html_text(out, rows->source[0].name);
    pdnn_str_printf(out, rows->n_sources > 1 ? " and " : "");
    pdnn_html_text(out, rows->n_sources > 1 ? rows->source[1].name : "");
    pdnn_str_printf(out, "</title>\n<style>%s</style>\n</head>\n", pdnn_report_css);
}

static void put_navigation(struct pdnn_str *out, const char *sections) {
    static const struct {
        const char *anchor, *name;
    } links[] = {{"findings", "Findings"},
                 {"comparison", "Comparison"},
                 {"models", "Models"},
                 {"heat", "Heat maps"},
                 {"weights", "What decides utilization"},
                 {"ops", "Where time goes"},
                 {"projection", "Other hardware"},
                 {"boxes", "Families"},
                 {"epoch", "Epoch by length"},
                 {"failures", "What did not run"},
                 {"machine", "Machine"},
                 {"environment", "Environment"}};
    pdnn_str_printf(out, "<nav aria-label=\"Sections\">");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char id[64];
        snprintf(id, sizeof id, "<section id=\"%s\"", links[i].anchor);
        if (strstr(sections, id))
            pdnn_str_printf(out, "<a href=\"#%s\">%s</a> ", links[i].anchor, links[i].name);
    }
    pdnn_str_printf(out, "</nav>\n");
}

static enum pdnn_status put_body(const struct pdnn_report_page *page, struct pdnn_str *out,
                                 struct pdnn_err *err) {
    const struct pdnn_report_rows *rows = &page->rows;
    struct pdnn_str sections = {0};
    pdnn_report_put_findings(page, &sections);
    enum pdnn_status status = pdnn_report_put_comparison(page, &sections, err);
    pdnn_report_put_models(page, &sections);
    pdnn_report_put_heat_maps(page, &sections);
    if (status == PDNN_OK)
        status = pdnn_report_put_weights(page, &sections, err);
    pdnn_report_put_op_times(page, &sections);
    if (status == PDNN_OK)
        status = pdnn_report_put_projections(page, &sections, err);
    pdnn_report_put_boxes(page, &sections);
    if (status == PDNN_OK)
        status = pdnn_report_put_epochs(page, &sections, err);
    pdnn_report_put_failures(page, &sections);
    pdnn_report_put_machine(page, &sections);
    pdnn_report_put_environment(page, &sections);
    pdnn_str_printf(out, "<body>\n<header><h1>paradnn: ");
    for (size_t s = 0; s < rows->n_sources; s++) {
        pdnn_str_printf(out, s ? " and " : "");
        pdnn_html_text(out, rows->source[s].name);
    }
    pdnn_str_printf(out, "</h1>\n");
    for (size_t i = 0; i < rows->n_only; i++) {
        pdnn_str_printf(out, i ? ", " : "<p>Only rows with ");
        pdnn_html_text(out, rows->only[i]);
    }
    pdnn_str_printf(out, rows->n_only ? "</p>\n" : "");
    put_navigation(out, pdnn_str_text(&sections));
    pdnn_str_printf(out, "</header>\n<main>\n");
    pdnn_str_append(out, pdnn_str_text(&sections), sections.length);
    pdnn_str_printf(out, "</main>\n");
    pdnn_report_put_data(page, out);
    pdnn_str_printf(out, "<script>%s</script>\n</body>\n</html>\n", pdnn_report_js);
    pdnn_str_finish(&sections);
    return status;
}

/* Without a row that ended ok and is asked for, the selection is empty and the page says so. */
static enum pdnn_status open_selection(struct pdnn_selection *selection, const struct pdnn_report_rows *rows,
                                       const char *directory, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_selection_open(selection, directory, rows->only, rows->n_only, err);
    if (status != PDNN_INVALID || !rows->n_only)
        return status;
    status = pdnn_selection_open(selection, directory, NULL, 0, err);
    selection->count = 0;
    return status;
}

enum pdnn_status pdnn_report(const struct pdnn_report_request *request, struct pdnn_str *html,
                             struct pdnn_err *err) {
    struct pdnn_report_page page = {.request = request};
    enum pdnn_status status = pdnn_report_rows_read(&page.rows, request, err);
    if (status != PDNN_OK)
        return status;
    status = pdnn_report_op_times_read(&page.rows, &page.times, err);
    if (status == PDNN_OK)
        status = pdnn_report_comparison_open(&page, err);
    if (status == PDNN_OK)
        status =
            pdnn_report_findings(&page.rows, &page.times, &page.sides, &page.findings, &page.n_findings, err);
    for (size_t s = 0; s < page.rows.n_sources && status == PDNN_OK; s++)
        status = open_selection(&page.selection[s], &page.rows, request->directories[s], err);
    if (status == PDNN_OK) {
        put_head(&page, html);
        status = put_body(&page, html, err);
    }
    pdnn_report_comparison_close(&page);
    for (size_t s = 0; s < page.rows.n_sources; s++)
        pdnn_selection_close(&page.selection[s]);
    pdnn_report_op_times_finish(&page.times);
    pdnn_report_rows_finish(&page.rows);
    return status;
}
