/* The page as a whole. */
#include "results/report/report.h"
#include "base/memory.h"
#include "base/paths/folder.h"
#include "lists.h"
#include "results/report/page.h"
#include "results/store/tables.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE(name) extern const struct pdnn_report_section pdnn_section_##name;
#define ROW(name)     {#name, &pdnn_section_##name},

PDNN_SECTIONS(DECLARE)

static const struct {
    const char *name;
    const struct pdnn_report_section *of;
} sections[] = {PDNN_SECTIONS(ROW)};

/* The sections that have something, after links to them. */
static void put_page(const struct pdnn_report_page *page, struct pdnn_str *out) {
    struct pdnn_str body = {0}, links = {0}, names = {0};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const char *name = sections[i].name, *title = sections[i].of->title;
        struct pdnn_str section = {0};
        sections[i].of->put(page, &section);
        if (section.length) {
            pdnn_str_printf(&links, "<a href=\"#%s\">%s</a> ", name, title);
            pdnn_str_printf(&body,
                            "<section id=\"%s\" aria-labelledby=\"%s-title\"><h2 id=\"%s-title\">%s</h2>\n%s"
                            "</section>\n",
                            name, name, name, title, section.text);
        }
        pdnn_str_finish(&section);
    }
    for (size_t s = 0; s < page->data.n_sources; s++) {
        pdnn_str_printf(&names, !s ? "" : s + 1 < page->data.n_sources ? ", " : " and ");
        pdnn_html_text(&names, page->source[s].name);
    }
    pdnn_str_printf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '%s'; "
        "script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>paradnn: %s</title>\n"
        "<style>%s</style>\n</head>\n<body>\n<header><h1>paradnn: %s</h1>\n",
        pdnn_report_css_hash, pdnn_report_js_hash, names.text, pdnn_report_css, names.text);
    for (size_t i = 0; i < page->n_only; i++) {
        pdnn_str_printf(out, i ? ", " : "<p>Only rows with ");
        pdnn_html_text(out, page->only[i]);
    }
    pdnn_str_printf(out, "%s<nav aria-label=\"Sections\">%s</nav>\n</header>\n<main>\n%s</main>\n",
                    page->n_only ? "</p>\n" : "", pdnn_str_text(&links), pdnn_str_text(&body));
    pdnn_report_put_data(page, out);
    pdnn_str_printf(out, "<script>%s</script>\n</body>\n</html>\n", pdnn_report_js);
    pdnn_str_finish(&body);
    pdnn_str_finish(&links);
    pdnn_str_finish(&names);
}

static enum pdnn_status open_source(struct pdnn_report_page *page, size_t s, const char *progress,
                                    struct pdnn_err *err) {
    const struct pdnn_results *results = &page->all.results;
    struct pdnn_report_source *source = &page->source[s];
    source->directory = results->directory[s];
    source->name = results->name[s];
    source->progress = progress;
    source->roof_rows = pdnn_arena_alloc(&page->arena, 1, sizeof *source->roof_rows);
    pdnn_selection_part(&page->all, results->results, source->name, false, &source->selection);
    page->n_failed += source->selection.left_out;
    page->data.n_sources++;
    if (pdnn_environment_read(source->directory, &source->environment, err) != PDNN_OK)
        return err->status;
    if (!source->environment)
        source->environment = pdnn_alloc(1, 1);
    if (pdnn_path_has(source->directory, "ops.csv") &&
        pdnn_ops_reader_open(&page->data.readers[s], source->directory, err) != PDNN_OK)
        return err->status;
    /* What was imported may have no roofs. */
    return pdnn_path_has(source->directory, "ceilings.csv")
               ? pdnn_roof_rows_read_in(source->directory, source->roof_rows, err)
               : PDNN_OK;
}

static enum pdnn_status open_page(struct pdnn_report_page *page, const struct pdnn_report_request *request,
                                  struct pdnn_err *err) {
    const size_t n = request->n_directories;
    struct pdnn_selection *all = &page->all;
    const struct pdnn_selection **rows = pdnn_arena_alloc(&page->arena, n, sizeof *rows);
    page->source = pdnn_arena_alloc(&page->arena, n, sizeof *page->source);
    page->data.readers = pdnn_arena_alloc(&page->arena, n, sizeof *page->data.readers);
    page->data.rows = rows;
    for (size_t s = 0; s < n; s++)
        rows[s] = &page->source[s].selection;
    enum pdnn_status status =
        pdnn_selection_read(all, request->directories, n, request->only, request->n_only, err);
    if (status == PDNN_OK && !all->count)
        status =
            pdnn_fail(err, PDNN_INVALID, "%s/results.csv has no rows to report", request->directories[0]);
    for (size_t s = 0; s < n && status == PDNN_OK; s++)
        status = open_source(page, s, request->progress ? request->progress[s] : NULL, err);
    if (status != PDNN_OK)
        return status;
    page->name = pdnn_selection_names(all, &page->arena);
    page->n_families = pdnn_selection_distinct(all, all->family, &page->arena, &page->family, NULL);
    page->of_family = pdnn_arena_alloc(&page->arena, page->n_families, sizeof *page->of_family);
    for (size_t f = 0; f < page->n_families; f++)
        pdnn_selection_part(all, all->family, page->family[f], true, &page->of_family[f]);
    return pdnn_report_comparison_open(page, err);
}

static void close_page(struct pdnn_report_page *page) {
    pdnn_sides_finish(&page->sides);
    for (size_t i = 0; i < page->data.n_pairs; i++)
        pdnn_comparison_close(&page->comparison[i]);
    pdnn_str_finish(&page->why_no_pairs);
    for (size_t f = 0; f < page->n_families; f++)
        pdnn_selection_close(&page->of_family[f]);
    for (size_t s = 0; s < page->data.n_sources; s++) {
        pdnn_ops_reader_close(&page->data.readers[s]);
        pdnn_selection_close(&page->source[s].selection);
        free(page->source[s].environment);
    }
    pdnn_selection_close(&page->all);
    pdnn_arena_finish(&page->arena);
}

enum pdnn_status pdnn_report(const struct pdnn_report_request *request, struct pdnn_str *html,
                             struct pdnn_err *err) {
    struct pdnn_report_page page = {.only = request->only, .n_only = request->n_only};
    enum pdnn_status status = open_page(&page, request, err);
    if (status == PDNN_OK)
        put_page(&page, html);
    close_page(&page);
    return status;
}
