#include "results/figures/chart.h"
#include "results/figures/caption.h"
#include "results/figures/gnuplot.h"
#include "results/figures/names.h"
#include "results/table/csv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_LABEL = 10 };

/* In pixels: estimates for the script's 12 point font, and the distances of the legend from the frame. */
static const double letter_pixels = 9.2, letter_height_pixels = 15, line_pixels = 22, beside_pixels = 8,
                    legend_pixels = 26, entry_pixels = 46, gap_pixels = 12, caption_bottom = 8,
                    caption_pixels = 18, axis_pixels = 70, legend_letter_pixels = 8.6;

void pdnn_chart_init(struct pdnn_chart *chart) {
    *chart =
        (struct pdnn_chart){.frame = {1200, 800, 92, 876, 124, 710, INFINITY, 0, INFINITY, 0}, .n_panels = 1};
}

void pdnn_chart_fit(struct pdnn_chart *chart) {
    struct pdnn_frame *f = &chart->frame;
    for (size_t i = 0; i < chart->n_points; i++) {
        f->xmin = fmin(f->xmin, chart->point[i].spot.x / 1.3);
        f->xmax = fmax(f->xmax, chart->point[i].spot.x * 1.3);
        f->ymin = fmin(f->ymin, chart->point[i].spot.y / 1.15);
        f->ymax = fmax(f->ymax, chart->point[i].spot.y * 1.15);
    }
}

struct pdnn_chart_line *pdnn_chart_add_line(struct pdnn_chart *chart, struct pdnn_spot low,
                                            struct pdnn_spot high) {
    size_t at = chart->n_lines < PDNN_CHART_LINES_MAX ? chart->n_lines++ : PDNN_CHART_LINES_MAX - 1;
    chart->line[at] = (struct pdnn_chart_line){.low = low, .high = high};
    return &chart->line[at];
}

void pdnn_chart_line_at_1(struct pdnn_chart *chart) {
    struct pdnn_frame *f = &chart->frame;
    pdnn_chart_fit(chart);
    f->ymin = fmin(f->ymin, 1 / 1.5);
    f->ymax = fmax(f->ymax, 1.5);
    struct pdnn_chart_line *line =
        pdnn_chart_add_line(chart, (struct pdnn_spot){f->xmin, 1}, (struct pdnn_spot){f->xmax, 1});
    snprintf(line->beside, sizeof line->beside, "equally fast");
}

/* Cuts the text to the room between x and the right edge. */
static void fit_text(const struct pdnn_chart *chart, double x, char *text) {
    pdnn_plot_cut(text, (size_t)((chart->frame.width - x - 4) / legend_letter_pixels));
}

void pdnn_chart_note(struct pdnn_chart *chart, const char *format, ...) {
    va_list arguments;
    if (chart->n_notes == PDNN_CHART_NOTES_MAX)
        return;
    char *note = chart->note[chart->n_notes++];
    va_start(arguments, format);
    vsnprintf(note, PDNN_CHART_TEXT, format, arguments);
    va_end(arguments);
    fit_text(chart, chart->frame.right + legend_pixels, note);
}

/* Positions are in pixels from now on, from the lower left corner of the panel. */
struct sheet {
    const struct pdnn_chart *chart;
    struct pdnn_label_sheet label; /* of the whole picture */
    size_t panel;
    double base;                         /* of the panel in the picture */
    double y;                            /* of the next line of the legend */
    double name_y[PDNN_CHART_LINES_MAX]; /* of the names of lines, from the top down */
    size_t n_names;
};

/* A label with its left end there; look: what follows the position. */
static void put_label(struct sheet *sheet, const char *text, double x, double y, const char *look) {
    pdnn_str_printf(sheet->label.script, "set label %zu ", sheet->label.next++);
    pdnn_gnuplot_quote(sheet->label.script, text);
    pdnn_str_printf(sheet->label.script, " at screen ");
    pdnn_plot_number(sheet->label.script, x / sheet->label.width, ", screen ");
    pdnn_plot_number(sheet->label.script, (sheet->base + y) / sheet->label.height, " left ");
    pdnn_str_printf(sheet->label.script, "%s\n", look);
}

static void put_heading(struct sheet *sheet, const char *text) {
    char cut[PDNN_CHART_TEXT];
    snprintf(cut, sizeof cut, "%s", text);
    fit_text(sheet->chart, sheet->chart->frame.right + legend_pixels, cut);
    put_label(sheet, cut, sheet->chart->frame.right + legend_pixels, sheet->y,
              "font 'DejaVu Sans,12' textcolor rgb '#222222'");
    sheet->y -= line_pixels;
}

/* A point with its outline and what it means. */
static void put_entry(struct sheet *sheet, const char *text, int shape, unsigned rgb, double size,
                      bool dotted) {
    double x = sheet->chart->frame.right + legend_pixels + 10;
    char look[160], cut[PDNN_CHART_TEXT];
    snprintf(cut, sizeof cut, "%s", text);
    fit_text(sheet->chart, sheet->chart->frame.right + entry_pixels + 10, cut);
    put_label(sheet, cut, sheet->chart->frame.right + entry_pixels + 10, sheet->y,
              "font 'DejaVu Sans,12' textcolor rgb '#222222'");
    struct pdnn_str number = {0};
    pdnn_number_format(&number, size, 4);
    snprintf(look, sizeof look, "point pointtype %d pointsize %s linecolor rgb %u", shape,
             pdnn_str_text(&number), rgb);
    put_label(sheet, "", x, sheet->y, look);
    snprintf(look, sizeof look, "point pointtype %d pointsize %s linecolor rgb '#222222' linewidth 0.6",
             shape - 1, pdnn_str_text(&number));
    put_label(sheet, "", x, sheet->y, look);
    if (dotted)
        put_label(sheet, "", x, sheet->y, "point pointtype 7 pointsize 0.45 linecolor rgb 'white'");
    pdnn_str_finish(&number);
    sheet->y -= line_pixels;
}

static double usual_size(const struct pdnn_chart *chart) {
    return chart->n_points > 1000 ? 0.75 : chart->n_points > 200 ? 1.0 : 1.3;
}

/* With the first n_words words of the key, and the number of the others. */
static void put_legend(struct sheet *sheet, const struct pdnn_color_key *key, size_t n_words) {
    const struct pdnn_chart *chart = sheet->chart;
    char heading[PDNN_CHART_TEXT];
    if (key->n_words) {
        snprintf(heading, sizeof heading, "%s", chart->color_title);
        put_heading(sheet, heading);
        for (size_t i = 0; i < n_words; i++)
            put_entry(sheet, key->word[i].text, key->word[i].shape, key->word[i].rgb, 1.3, false);
        if (n_words < key->n_words) {
            size_t left_out = key->n_words - n_words + (key->n_others ? key->n_others - 1 : 0);
            snprintf(heading, sizeof heading, "and %zu more", left_out);
            put_heading(sheet, heading);
        }
        sheet->y -= gap_pixels;
    }
    if (chart->dot && chart->no_dot) {
        put_entry(sheet, chart->no_dot, 7, 0xbdbdbd, 1.3, false);
        put_entry(sheet, chart->dot, 7, 0xbdbdbd, 1.3, true);
        sheet->y -= gap_pixels;
    }
    if (chart->size_title) {
        put_heading(sheet, chart->size_title);
        for (size_t i = 0; i < 4 && chart->sizes[i] > 0; i++)
            put_entry(sheet, chart->size_name[i], 7, 0xbdbdbd, chart->sizes[i] * 1.3, false);
        sheet->y -= gap_pixels;
    }
    for (size_t i = 0; i < chart->n_notes; i++)
        put_heading(sheet, chart->note[i]);
}

/* With this many words, and a line for those left out; without the scale. */
static double legend_height(const struct pdnn_chart *chart, const struct pdnn_color_key *key,
                            size_t n_words) {
    double lines = (double)chart->n_notes, gaps = 0;
    if (key->n_words) {
        lines += (double)n_words + 1 + (n_words < key->n_words);
        gaps++;
    }
    if (chart->dot && chart->no_dot) {
        lines += 2;
        gaps++;
    }
    for (size_t i = 0; chart->size_title && i < 4 && chart->sizes[i] > 0; i++)
        lines++;
    return (lines + (chart->size_title ? 1 : 0)) * line_pixels + (gaps + 1) * gap_pixels;
}

/* In the first gap between the names of lines, from the top down, that has room for it; else in the largest,
 * without the words that have no room. The scale gets what is left. */
static void place_legend(struct sheet *sheet, const struct pdnn_color_key *key) {
    static const double scale_most = 260, scale_least = 130, scale_floor = 50, scale_gap = 34,
                        below_name = 30, above_name = 16;
    const struct pdnn_frame *f = &sheet->chart->frame;
    const double scale = key->n_words ? 0 : scale_least + scale_gap;
    double needed = legend_height(sheet->chart, key, key->n_words) + scale, room = -INFINITY;
    for (size_t names = 0; names <= sheet->n_names && room < needed; names++) {
        double start = names ? fmin(f->top - 8, sheet->name_y[names - 1] - below_name) : f->top - 8;
        double end = names < sheet->n_names ? sheet->name_y[names] + above_name : f->bottom;
        if (start - end <= room)
            continue;
        sheet->y = start;
        room = start - end;
    }
    const double end = sheet->y - room;
    size_t n_words = key->n_words;
    while (n_words > 1 && legend_height(sheet->chart, key, n_words) + scale > room)
        n_words--;
    put_legend(sheet, key, n_words);
    double scale_top = sheet->y - scale_gap;
    pdnn_plot_variable(sheet->label.script, "SCALE_TOP", sheet->base + scale_top);
    pdnn_plot_variable(sheet->label.script, "SCALE_BOTTOM",
                       sheet->base + scale_top - fmin(scale_most, fmax(scale_floor, scale_top - end)));
}

/* Names of lines at their right ends, from the top down, pushed apart where they would touch, and up from the
 * end of the axis. */
static void put_beside(struct sheet *sheet) {
    static const double name_pixels = 19, above_bottom = 10;
    const struct pdnn_frame *f = &sheet->chart->frame;
    const char *name[PDNN_CHART_LINES_MAX];
    double *y = sheet->name_y;
    for (size_t i = 0; i < sheet->chart->n_lines; i++) {
        const struct pdnn_chart_line *line = &sheet->chart->line[i];
        if (!*line->beside || line->panel != sheet->panel)
            continue;
        size_t n = sheet->n_names++;
        double own = pdnn_frame_to_pixels(f, line->high).y;
        y[n] = n ? fmin(own, y[n - 1] - name_pixels) : own;
        name[n] = line->beside;
    }
    for (size_t k = sheet->n_names; k-- > 0;)
        y[k] = fmax(y[k], k + 1 < sheet->n_names ? y[k + 1] + name_pixels : f->bottom + above_bottom);
    for (size_t k = 0; k < sheet->n_names; k++) {
        char cut[PDNN_CHART_TEXT];
        snprintf(cut, sizeof cut, "%s", name[k]);
        fit_text(sheet->chart, f->right + beside_pixels, cut);
        put_label(sheet, cut, f->right + beside_pixels, y[k],
                  "font 'DejaVu Sans,12' textcolor rgb '#222222'");
    }
}

/* Returns the lowest y above them. */
static double put_captions(struct sheet *sheet) {
    double y = caption_bottom;
    for (size_t i = 2; i-- > 0;) {
        if (!sheet->chart->caption[i])
            continue;
        put_label(sheet, sheet->chart->caption[i], sheet->chart->frame.left, y + caption_pixels / 2,
                  "font 'DejaVu Sans,11' textcolor rgb '#444444'");
        y += caption_pixels;
    }
    return y;
}

static void put_spot(struct pdnn_str *script, struct pdnn_spot spot, const char *after) {
    pdnn_plot_number(script, spot.x, " ");
    pdnn_plot_number(script, spot.y, after);
}

/* $lines, and with $masks and $slanted the texts along them. */
static void put_lines(struct pdnn_chart *chart, size_t panel, struct pdnn_arena *arena,
                      struct pdnn_str *script) {
    const struct pdnn_frame *f = &chart->frame;
    struct pdnn_label labels[PDNN_CHART_LINES_MAX];
    size_t n_labels = 0, n_pixels = 0;
    struct pdnn_spot *pixels = pdnn_arena_alloc(arena, chart->n_points + 1, sizeof *pixels);
    for (size_t i = 0; i < chart->n_points; i++) {
        if (chart->point[i].panel == panel)
            pixels[n_pixels++] = pdnn_frame_to_pixels(f, chart->point[i].spot);
    }
    pdnn_str_printf(script, "array SLANTED[%d]\n$lines << END\n", PDNN_CHART_LINES_MAX + 1);
    for (size_t i = 0; i < chart->n_lines; i++) {
        if (chart->line[i].panel != panel)
            continue;
        put_spot(script, chart->line[i].low, "\n");
        put_spot(script, chart->line[i].high, "\n\n\n");
    }
    pdnn_str_printf(script, "NaN NaN\nEND\n");
    for (size_t i = 0; i < chart->n_lines; i++) {
        const struct pdnn_chart_line *line = &chart->line[i];
        char name[32];
        if (!*line->along || line->panel != panel)
            continue;
        labels[n_labels].width = letter_pixels * (double)strlen(line->along);
        labels[n_labels].height = letter_height_pixels;
        pdnn_frame_place(f, pdnn_frame_to_pixels(f, line->low), pdnn_frame_to_pixels(f, line->high), pixels,
                         n_pixels, labels, n_labels);
        snprintf(name, sizeof name, "SLANTED[%zu]", ++n_labels);
        pdnn_gnuplot_text(script, name, line->along);
    }
    /* gnuplot crashes on filled curves without a point: a polygon without area is always there. */
    pdnn_str_printf(script, "SLANTED[%zu] = ''\n$masks << END\n", n_labels + 1);
    for (int k = 0; k < 4; k++)
        put_spot(script, (struct pdnn_spot){f->xmin, f->ymin}, k < 3 ? "\n" : "\n\n");
    for (size_t i = 0; i < n_labels; i++) {
        struct pdnn_spot corners[4];
        pdnn_frame_corners(f, &labels[i], corners);
        for (int k = 0; k < 4; k++)
            put_spot(script, corners[k], "\n");
        pdnn_str_printf(script, "\n");
    }
    pdnn_str_printf(script, "END\n$slanted << END\n");
    for (size_t i = 0; i < n_labels; i++)
        put_spot(script, pdnn_frame_to_data(f, labels[i].center), "\n");
    put_spot(script, (struct pdnn_spot){f->xmin, f->ymin}, "\nEND\n");
}

static void put_styles(const struct pdnn_chart *chart, size_t panel, struct pdnn_str *script) {
    size_t count = 0;
    pdnn_str_printf(script, "array DASHED[%d]\narray THICK[%d]\n", PDNN_CHART_LINES_MAX,
                    PDNN_CHART_LINES_MAX);
    for (size_t i = 0; i < chart->n_lines; i++) {
        if (chart->line[i].panel != panel)
            continue;
        count++;
        pdnn_str_printf(script, "DASHED[%zu] = %d\nTHICK[%zu] = %d\n", count, chart->line[i].dashed ? 2 : 1,
                        count, chart->line[i].thin ? 1 : 2);
    }
    pdnn_str_printf(script, "N_LINES = %zu\n", count);
}

static void put_points(const struct pdnn_chart *chart, size_t panel, const struct pdnn_point_color *colors,
                       struct pdnn_str *script) {
    double size = usual_size(chart);
    pdnn_str_printf(script, "$points << END\n");
    for (size_t i = 0; i < chart->n_points; i++) {
        const struct pdnn_chart_point *point = &chart->point[i];
        if (point->panel != panel)
            continue;
        put_spot(script, point->spot, " ");
        pdnn_plot_number(script, point->size * size, " ");
        pdnn_str_printf(script, "%d %u ", colors[i].shape, colors[i].rgb);
        pdnn_plot_number(script, colors[i].value, point->dotted ? " 1" : " 0");
        pdnn_str_printf(script, " %d\n", !isnan(colors[i].value));
    }
    pdnn_str_printf(script, "END\n");
}

static void put_variables(const struct sheet *sheet) {
    const struct pdnn_chart *chart = sheet->chart;
    const struct pdnn_frame *f = &chart->frame;
    struct pdnn_str *script = sheet->label.script;
    const struct {
        const char *name;
        double value;
    } variables[] = {
        {"WIDTH", f->width},
        {"HEIGHT", sheet->label.height},
        {"N_PANELS", (double)chart->n_panels},
        {"PANEL", (double)sheet->panel + 1},
        {"PANEL_TOP", sheet->base + f->height},
        {"LEFT", f->left},
        {"RIGHT", f->right},
        {"BOTTOM", sheet->base + f->bottom},
        {"TOP", sheet->base + f->top},
        {"XMIN", f->xmin},
        {"XMAX", f->xmax},
        {"YMIN", f->ymin},
        {"YMAX", f->ymax},
        {"ANGLE", pdnn_frame_angle(f) * 45 / atan(1)},
        {"OUTLINE", chart->n_points > 1000 ? 0.3 : 0.6},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        pdnn_plot_variable(script, variables[i].name, variables[i].value);
    pdnn_gnuplot_text(script, "X_TITLE", chart->x_title);
    pdnn_plot_y_title(chart->y_title, f->bottom, f->top, f->height, script);
    pdnn_plot_variable(script, "BASE", sheet->base);
}

/* Everything but the points. */
static void put_panel(struct pdnn_chart *chart, struct sheet *sheet, const struct pdnn_color_key *key,
                      struct pdnn_arena *arena) {
    struct pdnn_str *script = sheet->label.script;
    if (chart->title[sheet->panel]) {
        pdnn_plot_put_titles(script, chart->title[sheet->panel], chart->subtitle[sheet->panel]);
    }
    chart->frame.bottom = put_captions(sheet) + axis_pixels;
    put_variables(sheet);
    put_beside(sheet);
    place_legend(sheet, key);
    put_styles(chart, sheet->panel, script);
    put_lines(chart, sheet->panel, arena, script);
}

void pdnn_chart_put(struct pdnn_chart *chart, struct pdnn_arena *arena, struct pdnn_str *script) {
    size_t n = chart->n_points;
    const char **cells = pdnn_arena_alloc(arena, n + 1, sizeof *cells);
    struct pdnn_point_color *colors = pdnn_arena_alloc(arena, n + 1, sizeof *colors);
    struct pdnn_color_key key;
    for (size_t i = 0; i < n; i++)
        cells[i] = chart->point[i].color;
    pdnn_plot_color(chart->color_title, cells, n, colors, &key, script);
    for (size_t panel = 0; panel < chart->n_panels; panel++) {
        double base = chart->frame.height * (double)(chart->n_panels - 1 - panel),
               whole = chart->frame.height * (double)chart->n_panels;
        struct sheet sheet = {.chart = chart,
                              .label = {script, chart->frame.width, whole, FIRST_LABEL},
                              .panel = panel,
                              .base = base};
        put_panel(chart, &sheet, &key, arena);
        put_points(chart, panel, colors, script);
        if (panel + 1 < chart->n_panels)
            pdnn_str_append(script, pdnn_plot_script_chart, strlen(pdnn_plot_script_chart));
    }
}

enum pdnn_status pdnn_chart_write(const struct pdnn_plot_request *request, const char *kind,
                                  const struct pdnn_str *script, const struct pdnn_table *data,
                                  struct pdnn_plot_result *result, struct pdnn_err *err) {
    const struct pdnn_plot_parts parts = {
        .kind = kind, .variables = script, .embedded = pdnn_plot_script_chart, .data = data};
    return pdnn_plot_write(request, &parts, result, err);
}
