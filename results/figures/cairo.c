/* PNG and PDF by cairo, in a build that has it. */
#include "results/figures/canvas.h"

#if PDNN_HAS_CAIRO

#include <cairo-pdf.h>
#include <math.h>

const bool pdnn_has_cairo = true;

/* PNG has twice the pixels of CSS; a point of PDF is 4/3 of them. */
static const double png_pixels = 2, pdf_points = 0.75;

static void set_ink(cairo_t *cairo, int ink) {
    cairo_set_source_rgb(cairo, (ink >> 16 & 0xff) / 255.0, (ink >> 8 & 0xff) / 255.0, (ink & 0xff) / 255.0);
}

/* Uses up the path. */
static void use_pen(cairo_t *cairo, const struct pdnn_pen *pen) {
    if (pen->fill != PDNN_NO_INK) {
        set_ink(cairo, pen->fill);
        cairo_fill_preserve(cairo);
    }
    if (pen->line != PDNN_NO_INK) {
        set_ink(cairo, pen->line);
        cairo_set_line_width(cairo, pen->width);
        cairo_set_dash(cairo, &pen->dash, pen->dash > 0, 0);
        cairo_stroke_preserve(cairo);
    }
    cairo_new_path(cairo);
}

static void put_corners(cairo_t *cairo, const struct pdnn_spot *spot, size_t count, bool closed) {
    for (size_t i = 0; i < count; i++)
        cairo_line_to(cairo, spot[i].x, -spot[i].y);
    if (closed)
        cairo_close_path(cairo);
}

/* A font that is wider than the one measured with is condensed. */
static void put_text(cairo_t *cairo, const struct pdnn_item *item) {
    const struct pdnn_font *font = &item->font;
    cairo_text_extents_t extents;
    double width = pdnn_text_width(item->text, font->size), radians = -font->degrees * atan(1) / 45;
    cairo_save(cairo);
    cairo_select_font_face(cairo, "Helvetica", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, font->size);
    cairo_text_extents(cairo, item->text, &extents);
    double part = extents.x_advance > width ? width / extents.x_advance : 1;
    cairo_translate(cairo, item->spot->x, -item->spot->y);
    cairo_rotate(cairo, radians);
    cairo_scale(cairo, part, 1);
    cairo_move_to(cairo, -extents.x_advance * (int)font->anchor / 2, 0.35 * font->size);
    set_ink(cairo, font->ink);
    cairo_show_text(cairo, item->text);
    cairo_new_path(cairo);
    cairo_restore(cairo);
}

static void put_points(cairo_t *cairo, const struct pdnn_item *item) {
    const struct pdnn_mark *mark = &item->mark;
    struct pdnn_spot corner[PDNN_CORNERS_MAX];
    size_t count = pdnn_mark_corners(mark, corner);
    const double full = 8 * atan(1);
    for (size_t i = 0; i < item->count; i++) {
        cairo_save(cairo);
        cairo_translate(cairo, item->spot[i].x, -item->spot[i].y);
        put_corners(cairo, corner, count, count > 0);
        if (!count)
            cairo_arc(cairo, 0, 0, mark->radius, 0, full);
        use_pen(cairo, &mark->pen);
        if (mark->dotted)
            cairo_arc(cairo, 0, 0, mark->radius * 0.38, 0, full);
        use_pen(cairo, &(struct pdnn_pen){.fill = PDNN_INK_WHITE, .line = PDNN_NO_INK});
        cairo_restore(cairo);
    }
}

static cairo_status_t append(void *out, const unsigned char *bytes, unsigned length) {
    pdnn_str_append(out, (const char *)bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *make_surface(const struct pdnn_canvas *canvas, double scale, bool is_pdf,
                                     struct pdnn_str *out) {
    double width = canvas->width * scale, height = canvas->height * scale;
    if (!is_pdf)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(width), (int)lround(height));
    cairo_surface_t *pdf = cairo_pdf_surface_create_for_stream(append, out, width, height);
    /* The same picture is the same file. */
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_TITLE, canvas->title ? canvas->title : "");
    return pdf;
}

enum pdnn_status pdnn_canvas_cairo(const struct pdnn_canvas *canvas, double scale, bool is_pdf,
                                   struct pdnn_str *out, struct pdnn_err *err) {
    scale *= is_pdf ? pdf_points : png_pixels;
    cairo_surface_t *surface = make_surface(canvas, scale, is_pdf, out);
    cairo_t *cairo = cairo_create(surface);
    /* Letters rounded to pixels would make a text longer than it was measured. */
    cairo_font_options_t *exact = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(exact, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(exact, CAIRO_HINT_STYLE_NONE);
    cairo_set_font_options(cairo, exact);
    cairo_font_options_destroy(exact);
    cairo_scale(cairo, scale, scale);
    set_ink(cairo, PDNN_INK_WHITE);
    cairo_paint(cairo);
    cairo_translate(cairo, 0, canvas->height);
    for (size_t i = 0; i < canvas->n_items; i++) {
        const struct pdnn_item *item = &canvas->item[i];
        if (item->kind == PDNN_ITEM_TEXT) {
            put_text(cairo, item);
        } else if (item->kind == PDNN_ITEM_POINTS) {
            put_points(cairo, item);
        } else {
            put_corners(cairo, item->spot, item->count, item->closed);
            use_pen(cairo, &item->pen);
        }
    }
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    if (status == CAIRO_STATUS_SUCCESS && !is_pdf)
        status = cairo_surface_write_to_png_stream(surface, append, out);
    cairo_surface_finish(surface);
    status = status == CAIRO_STATUS_SUCCESS ? cairo_surface_status(surface) : status;
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS
               ? PDNN_OK
               : pdnn_fail(err, PDNN_IO, "the picture cannot be drawn: %s", cairo_status_to_string(status));
}

#else

const bool pdnn_has_cairo = false;

enum pdnn_status pdnn_canvas_cairo(const struct pdnn_canvas *canvas, double scale, bool is_pdf,
                                   struct pdnn_str *out, struct pdnn_err *err) {
    (void)canvas, (void)scale, (void)out;
    return pdnn_fail(err, PDNN_UNSUPPORTED, "this build has no cairo, which writes %s: svg and tex are there",
                     is_pdf ? "PDF" : "PNG");
}

#endif
