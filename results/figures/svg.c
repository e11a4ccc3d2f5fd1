/* SVG that a page can hold as it is: no style, no script, no reference to anything outside; names of symbols
 * say how they look, so that those of several pictures may be one. */
#include "base/memory.h"
#include "results/figures/canvas.h"
#include "results/table/escape.h"

#include <math.h>
#include <stdlib.h>

/* With one digit behind the point, and none where that is 0. */
static void put_number(struct pdnn_str *out, double value) {
    const long tenths = lround(value * 10);
    pdnn_str_append(out, "-", tenths < 0);
    pdnn_str_append_i64(out, labs(tenths) / 10);
    if (tenths % 10)
        pdnn_str_printf(out, ".%ld", labs(tenths) % 10);
}

static void put_attribute(struct pdnn_str *out, const char *name, double value) {
    pdnn_str_printf(out, " %s=\"", name);
    put_number(out, value);
    pdnn_str_append(out, "\"", 1);
}

static void put_ink(struct pdnn_str *out, const char *name, int ink) {
    pdnn_str_printf(out, ink == PDNN_NO_INK ? " %s=\"none\"" : " %s=\"#%06x\"", name, (unsigned)ink);
}

static void put_pen(struct pdnn_str *out, const struct pdnn_pen *pen) {
    put_ink(out, "fill", pen->fill);
    if (pen->line == PDNN_NO_INK)
        return;
    put_ink(out, "stroke", pen->line);
    put_attribute(out, "stroke-width", pen->width);
    if (pen->dash > 0)
        put_attribute(out, "stroke-dasharray", pen->dash);
}

/* Numbers one after the other need a space only before a digit. */
static void put_next(struct pdnn_str *out, char command, double value) {
    if (command)
        pdnn_str_append(out, &command, 1);
    else if (lround(value * 10) >= 0)
        pdnn_str_append(out, " ", 1);
    put_number(out, value);
}

static void put_path(struct pdnn_str *out, const struct pdnn_item *item, double height) {
    pdnn_str_printf(out, "<path");
    put_pen(out, &item->pen);
    pdnn_str_printf(out, " d=\"");
    for (size_t i = 0; i < item->count; i++) {
        double x = item->spot[i].x, y = height - item->spot[i].y;
        bool level = i && lround(item->spot[i].y * 10) == lround(item->spot[i - 1].y * 10),
             upright = i && lround(x * 10) == lround(item->spot[i - 1].x * 10);
        if (level) {
            put_next(out, 'H', x);
        } else if (upright) {
            put_next(out, 'V', y);
        } else {
            put_next(out, i ? 'L' : 'M', x);
            put_next(out, 0, y);
        }
    }
    pdnn_str_printf(out, "%s\"/>\n", item->closed ? "Z" : "");
}

static void put_text(struct pdnn_str *out, const struct pdnn_item *item, double height) {
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    const struct pdnn_font *font = &item->font;
    double x = item->spot->x, y = height - item->spot->y;
    pdnn_str_printf(out, "<text%s", anchors[font->anchor]);
    put_attribute(out, "x", x);
    put_attribute(out, "y", y + 0.35 * font->size);
    if (font->size != PDNN_FONT_SMALL)
        put_attribute(out, "font-size", font->size);
    if (font->ink != PDNN_INK_TEXT)
        put_ink(out, "fill", font->ink);
    if (font->degrees != 0) {
        pdnn_str_printf(out, " transform=\"rotate(");
        put_number(out, -font->degrees);
        put_next(out, ' ', x);
        put_next(out, ' ', y);
        pdnn_str_printf(out, ")\"");
    }
    pdnn_str_append(out, ">", 1);
    pdnn_html_text(out, item->text);
    pdnn_str_printf(out, "</text>\n");
}

static void put_ink_name(struct pdnn_str *out, int ink) {
    pdnn_str_printf(out, ink == PDNN_NO_INK ? "none-" : "%x-", (unsigned)ink);
}

static void put_mark_name(struct pdnn_str *out, const struct pdnn_mark *mark) {
    pdnn_str_printf(out, "mark-%d-%ld-", mark->symbol, lround(mark->radius * 100));
    put_ink_name(out, mark->pen.fill);
    put_ink_name(out, mark->pen.line);
    pdnn_str_printf(out, "%ld%s", mark->pen.line == PDNN_NO_INK ? 0 : lround(mark->pen.width * 10),
                    mark->dotted ? "-dot" : "");
}

static void put_mark(struct pdnn_str *out, const struct pdnn_mark *mark) {
    struct pdnn_spot corner[PDNN_CORNERS_MAX];
    size_t count = pdnn_mark_corners(mark, corner);
    pdnn_str_printf(out, "<marker id=\"");
    put_mark_name(out, mark);
    pdnn_str_printf(out, "\" overflow=\"visible\" markerUnits=\"userSpaceOnUse\"><%s",
                    count ? "path" : "circle");
    put_pen(out, &mark->pen);
    if (!count)
        pdnn_str_printf(out, " r=\"%.2f\"/>", mark->radius);
    for (size_t i = 0; i < count; i++)
        pdnn_str_printf(out, "%s%.2f %.2f", i ? "L" : " d=\"M", corner[i].x, -corner[i].y);
    pdnn_str_printf(out, count ? "Z\"/>" : "");
    if (mark->dotted)
        pdnn_str_printf(out, "<circle fill=\"#ffffff\" r=\"%.2f\"/>", mark->radius * 0.38);
    pdnn_str_printf(out, "</marker>\n");
}

void pdnn_put_ranges(struct pdnn_str *out, const size_t *numbers, size_t count) {
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && numbers[next] == numbers[next - 1] + 1; next++)
            ;
        pdnn_str_append(out, " ", i ? 1 : 0);
        pdnn_str_append_u64(out, numbers[i]);
        if (next > i + 1) {
            pdnn_str_append(out, "-", 1);
            pdnn_str_append_u64(out, numbers[next - 1]);
        }
    }
}

static void put_points(struct pdnn_str *out, const struct pdnn_item *item, double height) {
    static const char *const ends[] = {"start", "mid", "end"};
    pdnn_str_printf(out, "<path fill=\"none\"");
    if (item->row) {
        pdnn_str_printf(out, " data-rows=\"");
        pdnn_put_ranges(out, item->row, item->count);
        pdnn_str_append(out, "\"", 1);
    }
    for (size_t i = item->count > 1 ? 0 : 2; i < 3; i++) {
        pdnn_str_printf(out, " marker-%s=\"url(#", ends[i]);
        put_mark_name(out, &item->mark);
        pdnn_str_printf(out, ")\"");
    }
    pdnn_str_printf(out, " d=\"");
    for (size_t i = 0; i < item->count; i++) {
        put_next(out, i ? 0 : 'M', item->spot[i].x);
        put_next(out, 0, height - item->spot[i].y);
    }
    pdnn_str_printf(out, "\"/>\n");
}

void pdnn_canvas_svg(const struct pdnn_canvas *canvas, double scale, struct pdnn_str *out) {
    pdnn_str_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"");
    pdnn_html_text(out, canvas->title ? canvas->title : "");
    pdnn_str_append(out, "\"", 1);
    put_attribute(out, "width", canvas->width * scale);
    put_attribute(out, "height", canvas->height * scale);
    pdnn_str_printf(out, " viewBox=\"0 0 ");
    put_number(out, canvas->width);
    put_next(out, 0, canvas->height);
    pdnn_str_printf(
        out,
        "\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', 'DejaVu Sans Condensed', "
        "sans-serif\" font-size=\"%d\" fill=\"#%06x\">\n",
        PDNN_FONT_SMALL, PDNN_INK_TEXT);
    const struct pdnn_mark **marks = pdnn_alloc(canvas->n_items, sizeof *marks);
    for (size_t i = 0, n_marks = 0; i < canvas->n_items; i++) {
        const struct pdnn_item *item = &canvas->item[i];
        size_t same = 0;
        while (same < n_marks && !pdnn_mark_is_same(marks[same], &item->mark))
            same++;
        if (item->kind == PDNN_ITEM_POINTS && same == n_marks)
            put_mark(out, marks[n_marks++] = &item->mark);
    }
    free(marks);
    pdnn_str_printf(out, "<path fill=\"#ffffff\" d=\"M0 0H");
    put_number(out, canvas->width);
    put_next(out, 'V', canvas->height);
    pdnn_str_printf(out, "H0Z\"/>\n");
    for (size_t i = 0; i < canvas->n_items; i++) {
        static void (*const put[])(struct pdnn_str * out, const struct pdnn_item *item, double height) = {
            [PDNN_ITEM_PATH] = put_path, [PDNN_ITEM_TEXT] = put_text, [PDNN_ITEM_POINTS] = put_points};
        put[canvas->item[i].kind](out, &canvas->item[i], canvas->height);
    }
    pdnn_str_printf(out, "</svg>\n");
}
