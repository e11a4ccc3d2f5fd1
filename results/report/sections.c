/* The sections that are text and tables. */
#include "results/report/page.h"
#include "results/report/html.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What models stand under; the ladder that the levels were found on is in ceilings.csv. */
static bool is_roof(const struct pdnn_table *table, size_t row, const void *user) {
    const char *kind = pdnn_table_text(table, row, 0);
    (void)user;
    return strcmp(kind, "compute") == 0 || strcmp(kind, "bandwidth") == 0 || strcmp(kind, "overhead") == 0;
}

static void put_roofs(const struct pdnn_report_source *source, struct pdnn_str *out) {
    static const size_t columns[] = {0, 1, 2, 3, 4, 6, 7, 8}; /* without the capacity */
    struct pdnn_str caption = {0};
    struct pdnn_table table;
    pdnn_table_init(&table, &pdnn_ceilings_def);
    for (size_t i = 0; i < source->ceilings->count; i++)
        pdnn_ceilings_add(&source->ceilings->row[i], &table);
    struct pdnn_row_list rows = pdnn_rows_all(&table);
    pdnn_rows_keep(&rows, &table, is_roof, NULL);
    pdnn_str_printf(&caption,
                    "%s: best repetitions, with the least and the greatest; arithmetic in GFLOP/s, "
                    "bandwidth in GB/s, overhead in ns.",
                    source->name);
    pdnn_html_put_table(
        out, &table, &rows,
        (struct pdnn_table_writer){.columns = columns, .n_columns = 8, .caption = pdnn_str_text(&caption)});
    pdnn_str_finish(&caption);
    pdnn_rows_finish(&rows);
    pdnn_table_finish(&table);
}

static enum pdnn_status put_machine(const struct pdnn_report_page *page, struct pdnn_str *out,
                                    struct pdnn_err *err) {
    (void)err;
    for (size_t s = 0; s < page->n_sources; s++) {
        static const struct {
            const char *key, *label;
        } facts[] = {{"cpu", "processor"},       {"isa", "instruction sets"},  {"cores_usable", "cores"},
                     {"memory_bytes", "memory"}, {"backend_onednn", "oneDNN"}, {"written_utc", "measured"}};
        pdnn_str_printf(out, "<p><b>");
        pdnn_html_text(out, page->source[s].name);
        pdnn_str_printf(out, "</b>");
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            struct pdnn_str value = {0};
            char text[PDNN_UNIT_TEXT];
            double bytes;
            bool is_bytes = strstr(facts[i].key, "_bytes") != NULL;
            pdnn_environment_value(page->source[s].environment, facts[i].key, &value);
            if (value.length) {
                pdnn_str_printf(out, "; %s: ", facts[i].label);
                pdnn_html_text(out, is_bytes && pdnn_parse_double(value.text, &bytes)
                                        ? pdnn_format_bytes(text, bytes)
                                        : value.text);
            }
            pdnn_str_finish(&value);
        }
        pdnn_str_printf(out, "</p>\n");
    }
    pdnn_str_printf(out, "<details><summary>All roofs</summary>");
    for (size_t s = 0; s < page->n_sources; s++)
        put_roofs(&page->source[s], out);
    pdnn_str_printf(out, "</details>\n");
    return PDNN_OK;
}

const struct pdnn_report_section pdnn_section_machine = {"machine", "Machine", "Machine and roofs",
                                                         .put = put_machine};

enum { STATIC_ROWS = 100 };

static void put_model_row(struct pdnn_str *out, const struct pdnn_report_page *page, size_t row) {
    const struct pdnn_selection *all = &page->all;
    const bool is_ok = pdnn_selection_is_ok(all, row);
    char time[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "<tr><td>");
    pdnn_report_put_model(out, page, all, row);
    pdnn_str_printf(out, "</td><td class=\"number\">");
    if (is_ok) {
        double half = pdnn_selection_half_pct(all, row);
        pdnn_html_text(out, pdnn_format_ns(time, pdnn_selection_step_ns(all, row)));
        if (isfinite(half)) {
            pdnn_str_printf(out, " \xc2\xb1 ");
            pdnn_html_number(out, half, 2, "");
            pdnn_str_printf(out, " %%");
        }
    }
    pdnn_str_printf(out, "</td><td class=\"number\">");
    pdnn_html_number(out, pdnn_selection_value(all, row, PDNN_RESULT_GFLOPS), 4, "");
    pdnn_str_printf(out, "</td><td class=\"number\">");
    pdnn_html_number(out, pdnn_selection_value(all, row, PDNN_RESULT_PCT_OF_ROOF), 3, "");
    pdnn_str_printf(out, "</td>");
    pdnn_html_cell(out, pdnn_selection_word(all, row, is_ok ? PDNN_RESULT_BOUND : PDNN_RESULT_STATUS));
    pdnn_html_cell(out, pdnn_selection_word(all, row, PDNN_RESULT_ROW_FLAGS));
    pdnn_str_printf(out, "</tr>\n");
}

static bool has_part(const char *id, const char *part, size_t length) {
    for (const char *at = strpbrk(id, "/,"); at; at = strpbrk(at + 1, ",")) {
        if (strncmp(at + 1, part, length) == 0 && (at[1 + length] == ',' || !at[1 + length]))
            return true;
    }
    return false;
}

/* The parts that the ids of all rows share, "input=2000, threads=2". */
static void find_shared(const struct pdnn_selection *rows, struct pdnn_str *out) {
    const char *at = strchr(pdnn_selection_get(rows, 0, rows->id), '/');
    for (size_t length; at && *at; at += 1 + length) {
        length = strcspn(at + 1, ",");
        size_t r = 0;
        while (r < rows->count && has_part(pdnn_selection_get(rows, r, rows->id), at + 1, length))
            r++;
        if (r == rows->count && length)
            pdnn_str_printf(out, "%s%.*s", out->length ? ", " : "", (int)length, at + 1);
    }
}

/* What the table's names leave out. */
static void put_shared(struct pdnn_str *out, const struct pdnn_report_page *page) {
    for (size_t family = 0; family < page->n_families; family++) {
        struct pdnn_str shared = {0};
        find_shared(&page->of_family[family], &shared);
        if (shared.length) {
            pdnn_str_printf(out, "<p class=\"shared\">All ");
            pdnn_html_text(out, page->family[family]);
            pdnn_str_printf(out, ": <code>");
            pdnn_html_text(out, pdnn_str_text(&shared));
            pdnn_str_printf(out, "</code></p>\n");
        }
        pdnn_str_finish(&shared);
    }
}

static enum pdnn_status put_models(const struct pdnn_report_page *page, struct pdnn_str *out,
                                   struct pdnn_err *err) {
    (void)err;
    static const char *const titles[] = {"model", "step", "GFLOP/s", "% of roof", "bound", "flags", NULL};
    const size_t n_rows = page->all.count, shown = n_rows < STATIC_ROWS ? n_rows : STATIC_ROWS;
    char caption[128];
    pdnn_str_printf(out, "<div id=\"filters\" hidden></div>\n");
    for (size_t s = 0; s < page->n_sources; s++) {
        const struct pdnn_report_source *source = &page->source[s];
        if (source->ceilings->count && source->selection.count)
            pdnn_report_put_figure(page, "roofline", s, (struct pdnn_plot_request){0}, out);
        else if (source->selection.count)
            pdnn_str_printf(out, "<p class=\"shared\">No roofline: no roofs were measured here.</p>\n");
    }
    snprintf(caption, sizeof caption, "%s%zu of %zu models, in the order of the tables.",
             shown < n_rows ? "The first " : "", shown, n_rows);
    put_shared(out, page);
    pdnn_str_printf(out, "<div id=\"table\">");
    pdnn_html_table(out, "models", caption, titles);
    for (size_t r = 0; r < shown; r++)
        put_model_row(out, page, r);
    pdnn_html_table_end(out);
    pdnn_str_printf(out, "</div>\n");
    return PDNN_OK;
}

const struct pdnn_report_section pdnn_section_models = {"models", "Models", "Models", .put = put_models};

static enum pdnn_status put_environment(const struct pdnn_report_page *page, struct pdnn_str *out,
                                        struct pdnn_err *err) {
    (void)err;
    for (size_t s = 0; s < page->n_sources; s++) {
        const struct pdnn_report_source *source = &page->source[s];
        if (!*source->environment)
            continue;
        pdnn_str_printf(out, "<details><summary>");
        pdnn_html_text(out, source->name);
        pdnn_str_printf(out, "</summary><pre>");
        for (const char *line = source->environment; *line;
             line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
            struct pdnn_str text = {0};
            pdnn_str_append(&text, line, strcspn(line, "\n"));
            pdnn_html_text(out, pdnn_str_text(&text));
            pdnn_str_append(out, "\n", 1);
            pdnn_str_finish(&text);
        }
        pdnn_str_printf(out, "</pre></details>\n");
    }
    return PDNN_OK;
}

const struct pdnn_report_section pdnn_section_environment = {"environment", "Environment", "Environment",
                                                             .put = put_environment};
