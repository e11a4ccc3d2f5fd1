/* The page as a whole. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/report/report.h"
#include "base/memory.h"
#include "results/report/assets.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/store/tables.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_head(const struct pdnn_report_page *page, struct pdnn_str *out) {
    pdnn_str_printf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '%s'; "
        "script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>paradnn: ",
        pdnn_report_css_hash, pdnn_report_js_hash);
    pdnn_html_text(out, page->source[0].name);
    pdnn_str_printf(out, page->n_sources > 1 ? " and " : "");
    pdnn_html_text(out, page->n_sources > 1 ? page->source[1].name : "");
    pdnn_str_printf(out, "</title>\n<style>%s</style>\n</head>\n", pdnn_report_css);
}

static const struct pdnn_report_section
    heat = {"heat", "Heat maps", "Heat maps", NULL, "heatmap", true},
    weights = {"weights", "What decides utilization", "What decides utilization", NULL, "weights", false},
    boxes = {"boxes", "Families", "Utilization of each family", NULL, "boxes", false};

/* In the order of the page. */
static const struct pdnn_report_section *const sections[] = {&pdnn_section_findings,
                                                             &pdnn_section_comparison,
                                                             &pdnn_section_models,
                                                             &heat,
                                                             &weights,
                                                             &pdnn_section_ops,
                                                             &pdnn_section_projection,
                                                             &boxes,
                                                             &pdnn_section_epoch,
                                                             &pdnn_section_failures,
                                                             &pdnn_section_machine,
                                                             &pdnn_section_environment};

/* Sections that have something to say, and links to them. */
static enum pdnn_status put_sections(const struct pdnn_report_page *page, struct pdnn_str *links,
                                     struct pdnn_str *out, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && status == PDNN_OK; i++) {
        const struct pdnn_report_section *section = sections[i];
        const char *anchor = section->anchor;
        struct pdnn_str body = {0};
        if (section->put)
            status = section->put(page, &body, err);
        for (size_t s = 0; s < page->n_sources && section->kind && (!s || !section->is_of_both); s++)
            pdnn_report_put_figure(page, section->kind, section->is_of_both ? PDNN_REPORT_BOTH : s,
                                   (struct pdnn_plot_request){0}, &body);
        if (body.length) {
            pdnn_str_printf(links, "<a href=\"#%s\">%s</a> ", anchor, section->name);
            pdnn_str_printf(out,
                            "<section id=\"%s\" aria-labelledby=\"%s-title\"><h2 id=\"%s-title\">%s</h2>\n",
                            anchor, anchor, anchor, section->title);
            pdnn_str_append(out, body.text, body.length);
            pdnn_str_printf(out, "</section>\n");
        }
        pdnn_str_finish(&body);
    }
    return status;
}

static enum pdnn_status put_body(const struct pdnn_report_page *page, struct pdnn_str *out,
                                 struct pdnn_err *err) {
    struct pdnn_str body = {0}, links = {0};
    enum pdnn_status status = put_sections(page, &links, &body, err);
    pdnn_str_printf(out, "<body>\n<header><h1>paradnn: ");
    for (size_t s = 0; s < page->n_sources; s++) {
        pdnn_str_printf(out, s ? " and " : "");
        pdnn_html_text(out, page->source[s].name);
    }
    pdnn_str_printf(out, "</h1>\n");
    for (size_t i = 0; i < page->n_only; i++) {
        pdnn_str_printf(out, i ? ", " : "<p>Only rows with ");
        pdnn_html_text(out, page->only[i]);
    }
    pdnn_str_printf(out, page->n_only ? "</p>\n" : "");
    pdnn_str_printf(out, "<nav aria-label=\"Sections\">%s</nav>\n</header>\n<main>\n", pdnn_str_text(&links));
    pdnn_str_append(out, pdnn_str_text(&body), body.length);
    pdnn_str_printf(out, "</main>\n");
    pdnn_report_put_data(page, out);
    pdnn_str_printf(out, "<script>%s</script>\n</body>\n</html>\n", pdnn_report_js);
    pdnn_str_finish(&body);
    pdnn_str_finish(&links);
    return status;
}

static enum pdnn_status open_source(struct pdnn_report_page *page, size_t s, const char *progress,
                                    struct pdnn_err *err) {
    const struct pdnn_results *results = &page->all.results;
    struct pdnn_report_source *source = &page->source[s];
    char path[PATH_MAX];
    source->directory = results->directory[s];
    source->name = results->name[s];
    source->progress = progress;
    source->ceilings = pdnn_alloc(1, sizeof *source->ceilings);
    pdnn_selection_part(&page->all, results->results, source->name, &source->selection);
    pdnn_selection_leave_failed(&source->selection);
    page->n_failed += source->selection.left_out;
    page->n_sources++;
    if (pdnn_environment_read(source->directory, &source->environment, err) != PDNN_OK)
        return err->status;
    if (!source->environment)
        source->environment = pdnn_alloc(1, 1);
    if (snprintf(path, sizeof path, "%s/ceilings.csv", source->directory) >= PATH_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", source->directory);
    /* What was imported has no roofs. */
    return access(path, F_OK) == 0 ? pdnn_ceilings_read(path, NULL, source->ceilings, err) : PDNN_OK;
}

static enum pdnn_status open_page(struct pdnn_report_page *page, const struct pdnn_report_request *request,
                                  struct pdnn_err *err) {
    const size_t n = request->n_directories;
    struct pdnn_selection *all = &page->all;
    enum pdnn_status status =
        pdnn_selection_read(all, request->directories, n, request->only, request->n_only, err);
    if (status == PDNN_OK && !all->count)
        status =
            pdnn_fail(err, PDNN_INVALID, "%s/results.csv has no rows to report", request->directories[0]);
    for (size_t s = 0; s < n && status == PDNN_OK; s++)
        status = open_source(page, s, request->progress[s], err);
    if (status != PDNN_OK)
        return status;
    page->n_families = pdnn_selection_distinct(all, all->family, &page->arena, &page->family, NULL);
    page->of_family = pdnn_arena_alloc(&page->arena, page->n_families, sizeof *page->of_family);
    for (size_t f = 0; f < page->n_families; f++)
        pdnn_selection_part(all, all->family, page->family[f], &page->of_family[f]);
    status = pdnn_report_op_times_read(all, &page->times, err);
    if (status == PDNN_OK)
        status = pdnn_report_comparison_open(page, err);
    return status == PDNN_OK ? pdnn_report_find(page, err) : status;
}

static void close_page(struct pdnn_report_page *page) {
    pdnn_report_comparison_close(page);
    pdnn_report_op_times_finish(&page->times);
    for (size_t f = 0; f < page->n_families; f++)
        pdnn_selection_close(&page->of_family[f]);
    for (size_t s = 0; s < page->n_sources; s++) {
        pdnn_selection_close(&page->source[s].selection);
        free(page->source[s].ceilings);
        free(page->source[s].environment);
    }
    pdnn_selection_close(&page->all);
    pdnn_arena_finish(&page->arena);
}

enum pdnn_status pdnn_report(const struct pdnn_report_request *request, struct pdnn_str *html,
                             struct pdnn_err *err) {
    struct pdnn_report_page page = {.only = request->only, .n_only = request->n_only};
    enum pdnn_status status = open_page(&page, request, err);
    if (status == PDNN_OK) {
        put_head(&page, html);
        status = put_body(&page, html, err);
    }
    close_page(&page);
    return status;
}
