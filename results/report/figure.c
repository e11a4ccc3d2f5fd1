/* A figure: the bytes of `paradnn plot` over the command that draws it, whose points a script traces back to
 * the page's rows. */
#include "base/memory.h"
#include "results/figures/caption.h"
#include "results/figures/picture.h"
#include "results/report/page.h"
#include "results/table/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_option(struct pdnn_str *command, const char *option, const char *value) {
    if (value) {
        pdnn_str_printf(command, "%s", option);
        pdnn_shell_quote(command, value);
    }
}

/* The command, with directories without the rest of their paths, and why it draws nothing, or "". */
static void put_caption(struct pdnn_str *out, const char *kind, const struct pdnn_plot_request *request,
                        const char *why_not) {
    struct pdnn_str command = {0};
    pdnn_str_printf(&command, "paradnn plot %s", kind);
    for (size_t i = 0; i < request->n_directories; i++)
        put_option(&command, " ", pdnn_directory_name(request->directory[i], &(int){0}));
    put_option(&command, " --value ", request->value);
    put_option(&command, " --across ", request->across);
    for (size_t i = 0; i < request->n_only; i++)
        put_option(&command, " --only ", request->only[i]);
    pdnn_html_put(out, "<figcaption><code>%s</code>%s%s</figcaption></figure>\n", command.text,
                  *why_not ? ": " : "", why_not);
    pdnn_str_finish(&command);
}

/* Where the picture's table does not say, rows are those of its first directory. */
static size_t source_of(const struct pdnn_report_page *page, const struct pdnn_picture *picture, size_t row) {
    const size_t column = pdnn_table_find(&picture->data, PDNN_RESULTS_KEY);
    size_t s = 0;
    while (strcmp(page->source[s].directory, picture->request->directory[0]) != 0)
        s++;
    while (column != SIZE_MAX && s + 1 < page->data.n_sources &&
           strcmp(page->source[s].name, pdnn_table_text(&picture->data, row, column)) != 0)
        s++;
    return s;
}

/* The page's row with this source and id: pictures mostly have them in the order of the page, so that the
 * next one is tried first. */
static size_t find_row(const struct pdnn_selection *all, size_t source, const char *id, size_t next) {
    for (size_t i = 0; i < all->count; i++) {
        const size_t row = (next + i) % all->count;
        if (strcmp(pdnn_selection_get(all, row, all->id), id) == 0 &&
            pdnn_selection_source(all, row) == source)
            return row;
    }
    return SIZE_MAX;
}

/* The page's row of each point of a chart, which are the last rows of its table: `data-first` is where they
 * begin there, `data-models` their rows here. False if a point is not one of the page's rows. */
static bool put_models(struct pdnn_str *out, const struct pdnn_report_page *page,
                       const struct pdnn_picture *picture) {
    const struct pdnn_table *data = &picture->data;
    const size_t n = picture->chart.n_points, first = data->n_rows - n, with_id = pdnn_table_find(data, "id");
    const size_t id = with_id != SIZE_MAX ? with_id : pdnn_table_find(data, "name");
    size_t *rows = pdnn_alloc(n + 1, sizeof *rows), found = 0;
    for (size_t i = 0; i < n && id != SIZE_MAX && found == i; i++) {
        rows[i] = find_row(&page->all, source_of(page, picture, first + i),
                           pdnn_table_text(data, first + i, id), i ? rows[i - 1] + 1 : 0);
        found += rows[i] != SIZE_MAX;
    }
    if (n && found == n) {
        pdnn_str_printf(out, " data-first=\"%zu\" data-models=\"", first);
        pdnn_put_ranges(out, rows, n);
        pdnn_str_append(out, "\"", 1);
    }
    free(rows);
    return n && found == n;
}

/* The least row of the table that has a point; SIZE_MAX: none has. */
static size_t first_point(const struct pdnn_canvas *canvas) {
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < canvas->n_items; i++)
        for (size_t k = 0; canvas->item[i].row && k < canvas->item[i].count; k++)
            first = canvas->item[i].row[k] < first ? canvas->item[i].row[k] : first;
    return first;
}

/* What the table has of each other point, as JSON: `data-texts` is a list of "name: value" a row. */
static void put_texts(struct pdnn_str *out, const struct pdnn_picture *picture) {
    const struct pdnn_table *data = &picture->data;
    const size_t first = first_point(&picture->canvas);
    struct pdnn_str all = {0}, text = {0};
    for (size_t row = first; row < data->n_rows; row++) {
        pdnn_str_append(&all, row > first ? ",[" : "[", row > first ? 2 : 1);
        for (size_t c = 0, cells = 0; c < data->n_columns; c++) {
            if (pdnn_table_is_empty(data, row, c))
                continue;
            pdnn_str_clear(&text);
            pdnn_str_printf(&text, "%s: ", data->column[c].def.name);
            if (data->column[c].def.kind == PDNN_KIND_TEXT)
                pdnn_str_printf(&text, "%s", pdnn_table_text(data, row, c));
            else
                pdnn_number_format(&text, pdnn_table_number(data, row, c), 4);
            pdnn_str_append(&all, ",", cells++ ? 1 : 0);
            pdnn_html_json_text(&all, text.text);
        }
        pdnn_str_append(&all, "]", 1);
    }
    if (first != SIZE_MAX) {
        pdnn_str_printf(out, " data-first=\"%zu\"", first);
        pdnn_html_put(out, " data-texts=\"[%s]\"", pdnn_str_text(&all));
    }
    pdnn_str_finish(&all);
    pdnn_str_finish(&text);
}

/* "share of the measured peak (%): highest 87.9 at batch=64; lowest 5.48 at batch=1": of the column that is
 * shown, if its numbers differ, with the texts before it in which the two differ; of rows that are not
 * doubtful. */
static void put_extremes(struct pdnn_str *out, struct pdnn_picture *picture, const char *name) {
    const struct pdnn_table *data = &picture->data;
    const size_t column = name ? pdnn_table_find(data, pdnn_key_column(name)) : SIZE_MAX,
                 doubtful = pdnn_table_find(data, "doubtful");
    size_t end[2] = {0, 0};
    double best[2] = {-INFINITY, INFINITY};
    struct pdnn_str text = {0};
    for (size_t row = 0; column != SIZE_MAX && row < data->n_rows; row++) {
        const double value = pdnn_table_number(data, row, column);
        for (size_t k = 0; k < 2; k++)
            if ((k ? value < best[k] : value > best[k]) &&
                (doubtful == SIZE_MAX || !pdnn_table_count(data, row, doubtful))) {
                best[k] = value;
                end[k] = row;
            }
    }
    for (size_t k = 0; k < 2 && end[0] != end[1]; k++) {
        const char *before = " at ";
        pdnn_str_printf(&text, k ? "; lowest " : ": highest ");
        pdnn_digits_append(&text, pdnn_table_number(data, end[k], column), 3);
        for (size_t c = 0; c < column; c++) {
            const char *cell = pdnn_table_text(data, end[k], c);
            if (strcmp(cell, pdnn_table_text(data, end[!k], c)) != 0) {
                pdnn_str_printf(&text, "%s%s=%s", before, data->column[c].def.name, cell);
                before = ", ";
            }
        }
    }
    if (text.length)
        pdnn_html_put(out, "<p>%s%s.</p>\n",
                      pdnn_plot_axis(&picture->arena, &picture->selection.results,
                                     pdnn_results_named(&picture->selection.results, name)),
                      text.text);
    pdnn_str_finish(&text);
}

struct pdnn_plot_request pdnn_report_plot(const struct pdnn_report_page *page, size_t source) {
    const bool is_all = source == PDNN_REPORT_ALL || page->data.n_sources == 1;
    return (struct pdnn_plot_request){.directory = page->all.results.directory + (is_all ? 0 : source),
                                      .n_directories = is_all ? page->data.n_sources : 1,
                                      .only = page->only,
                                      .n_only = page->n_only,
                                      .selection = is_all ? &page->all : NULL};
}

/* Size of a picture's table up to which the page has it. */
enum { ROWS_MOST = 100, COLUMNS_MOST = 12 };

void pdnn_report_put_figure(const struct pdnn_report_page *page, const char *kind,
                            struct pdnn_plot_request request, struct pdnn_str *out) {
    struct pdnn_picture picture = {.scale = 0};
    struct pdnn_err err = {.status = PDNN_OK};
    if (page->n_failed == page->all.count)
        return;
    const bool drawn = pdnn_picture_draw(&picture, pdnn_plot_find(kind), &request, &err) == PDNN_OK;
    if (drawn)
        put_extremes(out, &picture, request.value);
    pdnn_str_printf(out, "<figure class=\"%s\" tabindex=\"0\"", kind);
    if (drawn && !put_models(out, page, &picture))
        put_texts(out, &picture);
    pdnn_str_printf(out, ">\n");
    if (drawn)
        pdnn_canvas_svg(&picture.canvas, picture.scale, out);
    put_caption(out, kind, &request, err.text);
    const size_t n_rows = picture.data.n_rows - picture.n_beyond;
    if (drawn && !picture.chart.n_points && n_rows <= ROWS_MOST && picture.data.n_columns <= COLUMNS_MOST) {
        struct pdnn_row_list rows = {0};
        for (size_t row = 0; row < n_rows; row++)
            pdnn_rows_add(&rows, row);
        pdnn_str_printf(out, "<details><summary>Its numbers</summary>");
        pdnn_html_put_table(out, &picture.data, &rows, picture.columns, picture.n_columns, NULL);
        pdnn_str_printf(out, "</details>\n");
        pdnn_rows_finish(&rows);
    }
    pdnn_picture_finish(&picture);
}
