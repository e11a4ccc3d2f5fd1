#include "results/compare/settle.h"
#include "results/figures/picture.h"
#include "base/units.h"
#include "results/query/shares.h"
#include "results/table/write.h"

#include "lists.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH_MOST_MM = 1050 };

#define DECLARE(name) extern const struct pdnn_plot_def pdnn_plot_##name;
#define ROW(name)     &pdnn_plot_##name,

PDNN_PLOTS(DECLARE)

const struct pdnn_plot_def *const pdnn_plots[] = {PDNN_PLOTS(ROW) NULL};

const char *const pdnn_plot_formats[] = {"svg", "png", "pdf", "tex", "csv", NULL};

const struct pdnn_plot_def *pdnn_plot_find(const char *name) {
    const struct pdnn_plot_def *const *plot = pdnn_plots;
    while (*plot && strcmp((*plot)->name, name) != 0)
        plot++;
    return *plot;
}

enum pdnn_status pdnn_picture_select(struct pdnn_picture *picture, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = picture->request;
    if (request->selection) {
        pdnn_selection_part(request->selection, -1, "", false, &picture->selection);
        return PDNN_OK;
    }
    return pdnn_selection_open_all(&picture->selection, request->directory, request->n_directories,
                                   request->only, request->n_only, err);
}

enum pdnn_status pdnn_picture_compare(struct pdnn_picture *picture, bool needs_all, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = picture->request;
    const size_t first = request->n_directories > 1;
    picture->comparisons =
        pdnn_arena_alloc(&picture->arena, request->n_directories, sizeof *picture->comparisons);
    for (size_t other = first; other < request->n_directories; other++) {
        struct pdnn_comparison *made = &picture->comparisons[picture->n_comparisons];
        struct pdnn_err why = {0};
        enum pdnn_status status =
            pdnn_comparison_make(made, &picture->selection, other, request->across, &why);
        const bool is_made = status == PDNN_OK;
        picture->n_comparisons += is_made;
        status = is_made ? pdnn_comparison_settle(made, &why) : status;
        if (status != PDNN_OK && (is_made || needs_all || !pdnn_comparison_is_refused(status))) {
            *err = why;
            if (request->n_directories > 2)
                pdnn_wrap(err, "%.512s", request->directory[other]);
            return status;
        }
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_picture_compare_panels(struct pdnn_picture *picture, const char *what,
                                             struct pdnn_err *err) {
    struct pdnn_chart *chart = &picture->chart;
    if (picture->n_comparisons > PDNN_CHART_PANELS_MAX)
        return pdnn_fail(err, PDNN_INVALID,
                         "%zu result directories besides the first are more than %d panels",
                         picture->n_comparisons, PDNN_CHART_PANELS_MAX);
    chart->n_panels = picture->n_comparisons;
    for (size_t k = 0; k < picture->n_comparisons; k++)
        chart->titles[k] = pdnn_plot_compare_titles(&picture->arena, what, &picture->comparisons[k]);
    return PDNN_OK;
}

void pdnn_picture_part(const struct pdnn_picture *picture, size_t source, struct pdnn_selection *part) {
    const struct pdnn_results *results = &picture->selection.results;
    const bool several = results->n_directories > 1;
    pdnn_selection_part(&picture->selection, several ? results->results : -1,
                        several ? results->name[source] : "", false, part);
}

enum pdnn_status pdnn_picture_source_panels(struct pdnn_picture *picture, const char *what,
                                            struct pdnn_err *err) {
    const struct pdnn_results *results = &picture->selection.results;
    const size_t n = results->n_directories;
    if (n > PDNN_CHART_PANELS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%zu result directories are more than %d panels", n,
                         PDNN_CHART_PANELS_MAX);
    picture->of_sources = n > 1;
    picture->chart.n_panels = n;
    for (size_t s = 0; s < n; s++) {
        struct pdnn_selection part;
        pdnn_picture_part(picture, s, &part);
        part.results.directory += s;
        part.results.n_directories = 1;
        picture->chart.titles[s] = pdnn_plot_titles(&picture->arena, what, &part, NULL);
        pdnn_selection_close(&part);
    }
    return PDNN_OK;
}

void pdnn_picture_note(struct pdnn_picture *picture, size_t panel, const char *note) {
    const char **text = &picture->chart.titles[panel].subtitle;
    const char last = (*text)[strlen(*text) - 1];
    if (picture->chart.n_panels == 1)
        pdnn_chart_note(&picture->chart, "%s", note);
    else
        *text = pdnn_arena_printf(&picture->arena, "%s%s%s", *text, last == ':' || last == ',' ? " " : "; ",
                                  note + strspn(note, " "));
}

size_t pdnn_picture_pair_row(const struct pdnn_comparison *comparison, size_t pair) {
    return comparison->selection.row[comparison->at[pair][PDNN_SIDE_B]];
}

void pdnn_picture_table(struct pdnn_picture *picture, const char *names) {
    pdnn_table_init(&picture->data, &(struct pdnn_table_def){.name = "plot", .help = "what is drawn"});
    if (picture->of_sources)
        names = pdnn_arena_printf(&picture->arena, PDNN_RESULTS_KEY " %s", names);
    for (const char *name = names; *name; name += strcspn(name, " "), name += *name == ' ') {
        struct pdnn_column_def column = {.kind = *name == '#'   ? PDNN_KIND_NUMBER
                                                 : *name == '+' ? PDNN_KIND_COUNT
                                                                : PDNN_KIND_TEXT};
        name += column.kind != PDNN_KIND_TEXT;
        size_t length = strcspn(name, " ");
        column.name = memcpy(pdnn_arena_alloc(&picture->arena, length + 1, 1), name, length);
        while (pdnn_table_find(&picture->data, column.name) != SIZE_MAX)
            column.name = pdnn_arena_printf(&picture->arena, "%s_", column.name);
        pdnn_table_add_column(&picture->data, &column);
    }
}

const char *pdnn_picture_name(struct pdnn_picture *picture, int column) {
    char *name = pdnn_arena_strdup(&picture->arena,
                                   pdnn_key_column(pdnn_results_name(&picture->selection.results, column)));
    for (char *at = name; *at; at++)
        *at = strchr(" #+", *at) ? '_' : *at;
    return name;
}

/* Fills the last row's columns from `first` to the one before `end`. */
static void fill_row(struct pdnn_table *data, size_t first, size_t end, va_list cells) {
    const size_t row = data->n_rows - 1;
    for (size_t column = first; column < end; column++) {
        const enum pdnn_kind kind = data->column[column].def.kind;
        if (kind == PDNN_KIND_NUMBER)
            pdnn_table_set_number(data, row, column, va_arg(cells, double));
        else if (kind == PDNN_KIND_COUNT)
            pdnn_table_set_count(data, row, column, va_arg(cells, size_t));
        else
            pdnn_table_set_text(data, row, column, va_arg(cells, const char *));
    }
}

void pdnn_picture_fill(struct pdnn_picture *picture, size_t first, ...) {
    va_list cells;
    va_start(cells, first);
    fill_row(&picture->data, first, picture->data.n_columns, cells);
    va_end(cells);
}

size_t pdnn_picture_row(struct pdnn_picture *picture, size_t panel) {
    const size_t row = pdnn_table_add_row(&picture->data);
    if (picture->of_sources)
        pdnn_table_set_text(&picture->data, row, 0, picture->selection.results.name[panel]);
    return row;
}

void pdnn_picture_point(struct pdnn_picture *picture, struct pdnn_chart_point point, ...) {
    const size_t row = pdnn_picture_row(picture, point.panel), last = picture->data.n_columns - 1;
    va_list cells;
    va_start(cells, point);
    fill_row(&picture->data, picture->of_sources, last, cells);
    va_end(cells);
    pdnn_table_set_text(&picture->data, row, last, point.color.text);
    pdnn_chart_add_point(&picture->chart, point);
}

const char *pdnn_picture_id(const struct pdnn_picture *picture, size_t at) {
    return pdnn_selection_get(&picture->selection, at, picture->selection.id);
}

struct pdnn_chart_point pdnn_picture_place(const struct pdnn_picture *picture, size_t at,
                                           struct pdnn_spot spot, int color) {
    return (struct pdnn_chart_point){.spot = spot,
                                     .doubtful = pdnn_plot_notes(&picture->selection, at) & PDNN_NOTES_DOUBT,
                                     .color = {pdnn_selection_get(&picture->selection, at, color),
                                               pdnn_selection_number(&picture->selection, at, color)}};
}

/* "85mm", "8.5cm", "3.3in" or "240pt" in pixels of CSS. */
static enum pdnn_status parse_length(struct pdnn_picture *picture, const char *option, const char *text,
                                     double *pixels, struct pdnn_err *err) {
    static const struct {
        const char *unit;
        double pixels;
    } units[] = {{"mm", 96 / 25.4}, {"cm", 96 / 2.54}, {"in", 96}, {"pt", 96 / 72.0}};
    static const double least = 150, most = WIDTH_MOST_MM * 96 / 25.4 + 1;
    const size_t digits = strlen(text) < 2 ? 0 : strlen(text) - 2;
    const char *number = pdnn_arena_printf(&picture->arena, "%.*s", (int)digits, text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].unit) != 0 || !pdnn_parse_double(number, pixels))
            continue;
        *pixels *= units[i].pixels;
        if (*pixels >= least && *pixels <= most)
            return PDNN_OK;
        return pdnn_fail(err, PDNN_INVALID, "--%s %s: a picture is between 40mm and 1050mm wide and high",
                         option, text);
    }
    return pdnn_fail(err, PDNN_INVALID, "--%s %s: a length has a unit, as in 85mm, 8.5cm, 3.3in or 240pt",
                     option, text);
}

/* "0.1:100" as its low and high ends, one of which may be left out. */
static enum pdnn_status parse_range(struct pdnn_picture *picture, const char *option, const char *text,
                                    bool is_positive, struct pdnn_spot *range, struct pdnn_err *err) {
    const char *colon = text ? strchr(text, ':') : NULL;
    if (!text)
        return PDNN_OK;
    const char *low = pdnn_arena_printf(&picture->arena, "%.*s", (int)(colon ? colon - text : 0), text);
    if (!colon || (*low && !pdnn_parse_double(low, &range->x)) ||
        (colon[1] && !pdnn_parse_double(colon + 1, &range->y)) || range->x >= range->y ||
        (is_positive && (range->x <= 0 || range->y <= 0)))
        return pdnn_fail(err, PDNN_INVALID, "--%s %s: a range is LOW:HIGH%s, as in 0.1:100, 1: or :100",
                         option, text, is_positive ? " of numbers above 0" : "");
    return PDNN_OK;
}

static enum pdnn_status choose_size(struct pdnn_picture *picture, struct pdnn_err *err) {
    static const double usual_width = 1200, usual_height = 800, css_points = 0.75;
    const struct pdnn_plot_request *request = picture->request;
    struct pdnn_canvas *canvas = &picture->canvas;
    const double usual_font = PDNN_FONT * css_points;
    canvas->width = usual_width;
    canvas->no_title = request->no_title;
    canvas->no_caption = request->no_caption;
    picture->scale = request->font_size ? request->font_size / usual_font : 1;
    if (request->width && parse_length(picture, "width", request->width, &canvas->width, err) != PDNN_OK)
        return err->status;
    canvas->height = request->width && canvas->width < usual_width ? canvas->width * 0.75 : usual_height;
    if (request->height && parse_length(picture, "height", request->height, &canvas->height, err) != PDNN_OK)
        return err->status;
    picture->width = canvas->width;
    canvas->width /= picture->scale;
    canvas->height /= picture->scale;
    return PDNN_OK;
}

/* The format of a picture's extension, or NULL; *length is that of the path without it. */
static const char *format_of(const char *path, size_t *length) {
    *length = strlen(path);
    const char *end = *length > 4 ? path + *length - 4 : "";
    for (const char *const *format = pdnn_plot_formats; *format; format++)
        if (*end == '.' && strcmp(end + 1, *format) == 0) {
            *length -= 4;
            return *format;
        }
    return NULL;
}

/* Whether the file's name ends with what is no format, "x.jpg": nobody means a file x.jpg.svg. */
static bool is_other_format(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end = strrchr(name, '.');
    return end && end != name && end[1] && !format_of(path, &(size_t){0});
}

/* A path that the user named may be a link; a link in a result directory may come from somebody else and is
 * replaced. */
static enum pdnn_status open_target(struct pdnn_picture *picture, const char *kind, const char *extension,
                                    struct pdnn_target *target, struct pdnn_err *err) {
    const char *output = picture->request->output;
    size_t length;
    if (!output)
        return pdnn_target_open_own(
            target,
            pdnn_arena_printf(&picture->arena, "%s/%s.%s", picture->request->directory[0], kind, extension),
            err);
    format_of(output, &length);
    if (!pdnn_target_is_stream(output))
        output = pdnn_arena_printf(&picture->arena, "%.*s.%s", (int)length, output, extension);
    return pdnn_target_open(target, output, err);
}

static enum pdnn_status format_picture(const struct pdnn_picture *picture, const char *format,
                                       struct pdnn_str *out, struct pdnn_err *err) {
    const bool is_pdf = strcmp(format, "pdf") == 0;
    struct pdnn_table_writer writer = {
        .out = out, .format = PDNN_FORMAT_CSV, .columns = picture->columns, .n_columns = picture->n_columns};
    if (is_pdf || strcmp(format, "png") == 0)
        return pdnn_canvas_cairo(&picture->canvas, picture->scale, is_pdf, out, err);
    if (strcmp(format, "svg") == 0) {
        pdnn_canvas_svg(&picture->canvas, picture->scale, out);
    } else if (strcmp(format, "tex") == 0) {
        pdnn_canvas_tex(&picture->canvas, picture->scale, out);
    } else {
        pdnn_table_write(&writer, &picture->data, NULL);
        pdnn_table_write_end(&writer);
    }
    return PDNN_OK;
}

/* Every format is drawn before the first file is replaced. */
static enum pdnn_status write_files(struct pdnn_picture *picture, const char *kind,
                                    struct pdnn_plot_result *result, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = picture->request;
    const bool is_stream = request->output && pdnn_target_is_stream(request->output);
    const char *wanted[2] = {request->format};
    if (!wanted[0] && request->output && !is_stream) {
        wanted[0] = format_of(request->output, &(size_t){0});
        if (is_other_format(request->output))
            return pdnn_fail(
                err, PDNN_INVALID,
                "%s: a picture is .svg, .png, .pdf or .tex, and its data .csv; otherwise name one "
                "with --format",
                request->output);
    }
    if (!wanted[0]) {
        wanted[0] = "svg";
        wanted[1] = is_stream || !pdnn_has_cairo ? NULL : "png";
    }
    if (!request->output && strcmp(wanted[0], "csv") == 0)
        return format_picture(picture, wanted[0], &result->data, err);
    struct pdnn_target target[2] = {{.fd = -1}, {.fd = -1}};
    struct pdnn_str text[2] = {{0}, {0}};
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < 2 && wanted[i] && status == PDNN_OK; i++) {
        status = open_target(picture, kind, wanted[i], &target[i], err);
        if (status == PDNN_OK)
            status = format_picture(picture, wanted[i], &text[i], err);
    }
    for (size_t i = 0; i < 2 && wanted[i]; i++) {
        if (status == PDNN_OK)
            status = pdnn_target_write(&target[i], pdnn_str_text(&text[i]), text[i].length, err);
        if (status == PDNN_OK && !is_stream)
            memcpy(result->path[result->n_paths++], target[i].path, sizeof target[i].path);
        pdnn_target_close(&target[i]);
        pdnn_str_finish(&text[i]);
    }
    return status;
}

/* Whether a text is within the picture, which a tenth of a letter may leave. */
static bool text_fits(const struct pdnn_canvas *canvas, const struct pdnn_item *item) {
    const struct pdnn_font *font = &item->font;
    const double slack = font->size / 10, width = pdnn_text_width(item->text, font->size),
                 before = font->anchor == PDNN_START    ? 0
                          : font->anchor == PDNN_MIDDLE ? width / 2
                                                        : width;
    const bool upright = font->degrees == 90;
    const double at = upright ? item->spot->y : item->spot->x, end = upright ? canvas->height : canvas->width;
    return (font->degrees != 0 && !upright) || (at - before >= -slack && at - before + width <= end + slack);
}

/* A size that the user chose may be too small for what must be drawn: then that is wider, leaves the canvas,
 * or lacks the end of an axis' title. */
static bool fits_size(const struct pdnn_picture *picture) {
    static const double slack = 2;
    const struct pdnn_canvas *canvas = &picture->canvas;
    bool fits = !canvas->is_short && canvas->width * picture->scale <= picture->width + slack;
    for (size_t i = 0; i < canvas->n_items && fits; i++) {
        const struct pdnn_item *item = &canvas->item[i];
        for (size_t k = 0; k < item->count && fits; k++) {
            const struct pdnn_spot at = item->spot[k];
            fits =
                fmin(at.x, at.y) >= -slack && at.x <= canvas->width + slack && at.y <= canvas->height + slack;
        }
        fits = fits && (item->kind != PDNN_ITEM_TEXT || text_fits(canvas, item));
    }
    return fits;
}

/* What the request names for an option of columns; NULL: nothing. */
static const char *named(const struct pdnn_plot_request *request, const char *option) {
    return !option                        ? NULL
           : strcmp(option, "x") == 0     ? request->x
           : strcmp(option, "value") == 0 ? request->value
                                          : request->color;
}

/* What the kind of picture reads; the colors' title is their column. */
static enum pdnn_status open_source(struct pdnn_picture *picture, const struct pdnn_plot_def *def,
                                    struct pdnn_err *err) {
    enum pdnn_status status = def->of == PDNN_PLOT_OWN ? PDNN_OK : pdnn_picture_select(picture, err);
    if (status == PDNN_OK && def->of == PDNN_PLOT_PAIRS)
        status = pdnn_picture_compare(picture, true, err);
    for (size_t i = 0; i < PDNN_PLOT_COLUMNS_MAX && def->column[i].usual && status == PDNN_OK; i++) {
        const char *option = def->column[i].option;
        const char *name = named(picture->request, option);
        status = pdnn_results_ask(&picture->selection.results, name ? name : def->column[i].usual, false,
                                  &picture->column[i], err);
        if (status == PDNN_OK && option && strcmp(option, "color") == 0)
            picture->chart.color_title =
                pdnn_plot_axis(&picture->arena, &picture->selection.results, picture->column[i]);
    }
    picture->ops = picture->request->ops;
    if (def->reads_ops && !picture->ops && status == PDNN_OK)
        status = pdnn_selection_ops_open(&picture->selection, &picture->ops, err);
    return status;
}

enum pdnn_status pdnn_picture_draw(struct pdnn_picture *picture, const struct pdnn_plot_def *def,
                                   const struct pdnn_plot_request *request, struct pdnn_err *err) {
    picture->request = request;
    if (choose_size(picture, err) != PDNN_OK)
        return err->status;
    picture->legend.arena = &picture->arena;
    pdnn_chart_init(&picture->chart, picture->canvas.width, picture->canvas.height, &picture->arena);
    if (parse_range(picture, "xrange", request->x_range, def->none, &picture->chart.x_range, err) !=
            PDNN_OK ||
        parse_range(picture, "yrange", request->y_range, def->none, &picture->chart.y_range, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = open_source(picture, def, err);
    if (status == PDNN_OK)
        status = def->draw(picture, err);
    if (status == PDNN_OK && def->none && !picture->chart.n_points)
        status = pdnn_fail(err, PDNN_INVALID, "%s: %s", request->directory[0], def->none);
    if (status == PDNN_OK && picture->chart.n_points) {
        pdnn_chart_draw(&picture->chart, picture->data.n_rows - picture->chart.n_points, &picture->canvas);
        picture->drawn = picture->chart.n_points - picture->chart.n_outside;
    }
    return status;
}

void pdnn_picture_finish(struct pdnn_picture *picture) {
    pdnn_arena_finish(&picture->canvas.arena);
    if (!picture->request->ops)
        pdnn_selection_ops_close(&picture->selection, picture->ops);
    for (size_t i = 0; i < picture->n_comparisons; i++)
        pdnn_comparison_close(&picture->comparisons[i]);
    pdnn_selection_close(&picture->selection);
    pdnn_table_finish(&picture->data);
    pdnn_arena_finish(&picture->arena);
}

/* Says the least width of whole millimetres that holds the picture, found by halving, if there is one. */
static enum pdnn_status refuse_size(const struct pdnn_plot_def *def, const struct pdnn_plot_request *request,
                                    int low, struct pdnn_err *err) {
    int high = WIDTH_MOST_MM + 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        struct pdnn_plot_request wider = *request;
        struct pdnn_picture picture = {.scale = 0};
        struct pdnn_err ignored = {0};
        char width[32];
        snprintf(width, sizeof width, "%dmm", middle);
        wider.width = width;
        const bool fits =
            pdnn_picture_draw(&picture, def, &wider, &ignored) == PDNN_OK && fits_size(&picture);
        *(fits ? &high : &low) = middle;
        pdnn_picture_finish(&picture);
    }
    if (high > WIDTH_MOST_MM)
        return pdnn_fail(
            err, PDNN_INVALID,
            "this picture of %s does not fit in such a size: make it higher, or its letters smaller",
            def->name);
    return pdnn_fail(
        err, PDNN_INVALID,
        "this picture of %s does not fit in such a size: with these letters it takes --width %dmm", def->name,
        high);
}

enum pdnn_status pdnn_picture_make(const struct pdnn_plot_def *def, const struct pdnn_plot_request *request,
                                   struct pdnn_plot_result *result, struct pdnn_err *err) {
    struct pdnn_plot_result made = {.n_paths = 0};
    struct pdnn_picture picture = {.scale = 0};
    enum pdnn_status status = pdnn_picture_draw(&picture, def, request, err);
    if (status == PDNN_OK && (request->width || request->height) && !fits_size(&picture))
        status = refuse_size(def, request, (int)(picture.width * 25.4 / 96), err);
    if (status == PDNN_OK)
        status = write_files(&picture, def->name, &made, err);
    made.drawn = picture.drawn;
    made.left_out = picture.left_out;
    made.outside = picture.chart.n_outside;
    if (status == PDNN_OK)
        *result = made;
    pdnn_picture_finish(&picture);
    return status;
}
