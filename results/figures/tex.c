/* A PGF picture for LaTeX (package pgf), in the document's own sans serif letters. */
#include "results/figures/canvas.h"

#include <math.h>
#include <string.h>

/* TeX points of a unit. */
static const double unit_points = 72.27 / 96;

static void put_color(struct pdnn_str *out, const char *command, int ink) {
    pdnn_str_printf(out, "\\definecolor{c}{HTML}{%06X}\\%s{c}", (unsigned)ink, command);
}

static void put_spot(struct pdnn_str *out, struct pdnn_spot spot, double points) {
    pdnn_str_printf(out, "{\\pgfqpoint{%.2fpt}{%.2fpt}}", spot.x * points, spot.y * points);
}

static void put_pen(struct pdnn_str *out, const struct pdnn_pen *pen, double points) {
    if (pen->fill != PDNN_NO_INK)
        put_color(out, "pgfsetfillcolor", pen->fill);
    if (pen->line == PDNN_NO_INK)
        return;
    put_color(out, "pgfsetstrokecolor", pen->line);
    pdnn_str_printf(out, "\\pgfsetlinewidth{%.2fpt}", pen->width * points);
    if (pen->dash > 0)
        pdnn_str_printf(out, "\\pgfsetdash{{%.2fpt}{%.2fpt}}{0pt}", pen->dash * points, pen->dash * points);
    else
        pdnn_str_printf(out, "\\pgfsetdash{}{0pt}");
}

static const char *use_of(const struct pdnn_pen *pen) {
    return pen->fill == PDNN_NO_INK ? "stroke" : pen->line == PDNN_NO_INK ? "fill" : "stroke,fill";
}

static void put_corners(struct pdnn_str *out, const struct pdnn_spot *spot, size_t count, bool closed,
                        double points) {
    for (size_t i = 0; i < count; i++) {
        pdnn_str_printf(out, i ? "\\pgfpathlineto" : "\\pgfpathmoveto");
        put_spot(out, spot[i], points);
    }
    pdnn_str_printf(out, closed ? "\\pgfpathclose" : "");
}

/* What TeX would read as a command, and letters that its usual fonts may lack. */
static void put_letters(struct pdnn_str *out, const char *text) {
    static const struct {
        const char *letter, *tex;
    } letters[] = {{"\\", "\\textbackslash{}"}, {"^", "\\textasciicircum{}"},
                   {"~", "\\textasciitilde{}"}, {"<", "\\textless{}"},
                   {">", "\\textgreater{}"},    {"|", "\\textbar{}"},
                   {"\"", "\\textquotedbl{}"},  {"-", "{-}"},
                   {"`", "\\textasciigrave{}"}, {"'", "\\textquotesingle{}"},
                   {"\u00b1", "$\\pm$"},        {"\u00d7", "$\\times$"},
                   {"\u00b5", "$\\mu$"}};
    while (*text) {
        size_t k = 0, step = 1;
        while (k < sizeof letters / sizeof *letters &&
               strncmp(text, letters[k].letter, strlen(letters[k].letter)) != 0)
            k++;
        while ((text[step] & 0xc0) == 0x80)
            step++;
        if (strchr("{}$&#_%", *text))
            pdnn_str_printf(out, "\\%c", *text);
        else if (k < sizeof letters / sizeof *letters)
            pdnn_str_printf(out, "%s", letters[k].tex);
        else
            pdnn_str_append(out, (unsigned char)*text < 0x80 ? text : "?", 1);
        text += step;
    }
}

static void put_text(struct pdnn_str *out, const struct pdnn_item *item, double points) {
    static const char *const anchors[] = {"left,", "", "right,"};
    const struct pdnn_font *font = &item->font;
    struct pdnn_spot at = {item->spot->x, item->spot->y};
    double angle = font->degrees * atan(1) / 45, down = 0.35 * font->size;
    at.x += down * sin(angle);
    at.y -= down * cos(angle);
    put_color(out, "pgfsetfillcolor", font->ink);
    pdnn_str_printf(out, "\\pgftext[%sbase,at=", anchors[font->anchor]);
    put_spot(out, at, points);
    pdnn_str_printf(out, ",rotate=%.2f]{\\sffamily\\fontsize{%.2f}{%.2f}\\selectfont\\color{c}",
                    font->degrees, font->size * points, font->size * points);
    put_letters(out, item->text);
    pdnn_str_printf(out, "}\n");
}

static void put_points(struct pdnn_str *out, const struct pdnn_item *item, double points) {
    const struct pdnn_mark *mark = &item->mark;
    struct pdnn_spot corner[PDNN_CORNERS_MAX];
    size_t count = pdnn_mark_corners(mark, corner);
    put_pen(out, &mark->pen, points);
    pdnn_str_printf(out, "\\def\\m#1#2{\\begin{pgfscope}\\pgftransformshift{\\pgfqpoint{#1pt}{#2pt}}");
    put_corners(out, corner, count, count > 0, points);
    if (!count)
        pdnn_str_printf(out, "\\pgfpathcircle{\\pgfpointorigin}{%.2fpt}", mark->radius * points);
    pdnn_str_printf(out, "\\pgfusepath{%s}", use_of(&mark->pen));
    if (mark->dotted)
        pdnn_str_printf(out,
                        "\\pgfsetfillcolor{white}\\pgfpathcircle{\\pgfpointorigin}{%.2fpt}\\pgfusepath{fill}",
                        mark->radius * 0.38 * points);
    pdnn_str_printf(out, "\\end{pgfscope}}%%\n");
    for (size_t i = 0; i < item->count; i++)
        pdnn_str_printf(out, "\\m{%.2f}{%.2f}%s", item->spot[i].x * points, item->spot[i].y * points,
                        i % 8 == 7 || i + 1 == item->count ? "%\n" : "");
}

void pdnn_canvas_tex(const struct pdnn_canvas *canvas, double scale, struct pdnn_str *out) {
    const double points = scale * unit_points;
    pdnn_str_printf(
        out,
        "%% needs \\usepackage{pgf,textcomp} and \\usepackage[T1]{fontenc}\n\\begin{pgfpicture}%%\n"
        "\\pgfpathrectangle{\\pgfpointorigin}{\\pgfqpoint{%.2fpt}{%.2fpt}}\\pgfusepath{use as bounding box}%%\n",
        canvas->width * points, canvas->height * points);
    for (size_t i = 0; i < canvas->n_items; i++) {
        const struct pdnn_item *item = &canvas->item[i];
        pdnn_str_printf(out, "\\begin{pgfscope}");
        if (item->kind == PDNN_ITEM_PATH) {
            put_pen(out, &item->pen, points);
            put_corners(out, item->spot, item->count, item->closed, points);
            pdnn_str_printf(out, "\\pgfusepath{%s}", use_of(&item->pen));
        } else if (item->kind == PDNN_ITEM_TEXT) {
            put_text(out, item, points);
        } else {
            put_points(out, item, points);
        }
        pdnn_str_printf(out, "\\end{pgfscope}%%\n");
    }
    pdnn_str_printf(out, "\\end{pgfpicture}%%\n");
}
