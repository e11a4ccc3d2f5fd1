#include "results/figures/canvas.h"
#include "base/visible.h"

#include <string.h>

struct pdnn_pen pdnn_pen_line(int ink, double width) {
    return (struct pdnn_pen){.fill = PDNN_NO_INK, .line = ink, .width = width};
}

struct pdnn_pen pdnn_pen_fill(int ink) {
    return (struct pdnn_pen){.fill = ink, .line = PDNN_NO_INK};
}

int pdnn_ink_on(int ink) {
    const double luma = 0.299 * (ink >> 16) + 0.587 * (ink >> 8 & 0xff) + 0.114 * (ink & 0xff);
    return luma < 140 ? PDNN_INK_WHITE : PDNN_INK_DARK;
}

bool pdnn_mark_is_same(const struct pdnn_mark *a, const struct pdnn_mark *b) {
    return a->symbol == b->symbol && a->radius == b->radius && a->pen.fill == b->pen.fill &&
           a->pen.line == b->pen.line && a->pen.width == b->pen.width && a->dotted == b->dotted;
}

/* Copies what it points to, but its text. */
static void add_item(struct pdnn_canvas *canvas, struct pdnn_item item) {
    struct pdnn_spot *spots = pdnn_arena_alloc(&canvas->arena, item.count, sizeof *spots);
    item.spot = memcpy(spots, item.spot, item.count * sizeof *spots);
    if (item.row) {
        size_t *rows = pdnn_arena_alloc(&canvas->arena, item.count, sizeof *rows);
        item.row = memcpy(rows, item.row, item.count * sizeof *rows);
    }
    canvas->item = pdnn_arena_grow(&canvas->arena, canvas->item, &canvas->room, canvas->n_items, sizeof item);
    canvas->item[canvas->n_items++] = item;
}

void pdnn_draw_path(struct pdnn_canvas *canvas, const struct pdnn_spot *spots, size_t count, bool closed,
                    struct pdnn_pen pen) {
    add_item(canvas, (struct pdnn_item){PDNN_ITEM_PATH, spots, count, .closed = closed, .pen = pen});
}

void pdnn_draw_line(struct pdnn_canvas *canvas, double x, double y, double to_x, double to_y,
                    struct pdnn_pen pen) {
    const struct pdnn_spot spots[] = {{x, y}, {to_x, to_y}};
    pdnn_draw_path(canvas, spots, 2, false, pen);
}

void pdnn_draw_box(struct pdnn_canvas *canvas, double left, double bottom, double right, double top,
                   struct pdnn_pen pen) {
    const struct pdnn_spot spots[] = {{left, bottom}, {right, bottom}, {right, top}, {left, top}};
    pdnn_draw_path(canvas, spots, 4, true, pen);
}

void pdnn_draw_points(struct pdnn_canvas *canvas, const struct pdnn_spot *spots, const size_t *rows,
                      size_t count, struct pdnn_mark mark) {
    add_item(canvas, (struct pdnn_item){PDNN_ITEM_POINTS, spots, count, .mark = mark, .row = rows});
}

void pdnn_draw_point(struct pdnn_canvas *canvas, double x, double y, struct pdnn_mark mark) {
    pdnn_draw_points(canvas, &(struct pdnn_spot){x, y}, NULL, 1, mark);
}

void pdnn_draw_text(struct pdnn_canvas *canvas, double x, double y, struct pdnn_font font, const char *text) {
    struct pdnn_str shown = {0};
    for (size_t length = strlen(text); length;) {
        unsigned code;
        size_t hidden, letter = pdnn_visible_letter(text, length), step = letter ? letter : 1;
        bool is_seen = letter && !pdnn_invisible(text, &code, &hidden);
        pdnn_str_append(&shown, is_seen ? text : "???", step);
        text += step;
        length -= step;
    }
    if (shown.length)
        add_item(canvas, (struct pdnn_item){PDNN_ITEM_TEXT, &(struct pdnn_spot){x, y}, 1, .font = font,
                                            .text = pdnn_arena_strdup(&canvas->arena, shown.text)});
    pdnn_str_finish(&shown);
}

/* Of ASCII from the space on, in thousandths of the size: Adobe's metrics of Helvetica. */
static const short letter_width[] = {
    278, 278, 355, 556, 556, 889, 667, 222, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 222, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

/* Two bytes begin letters of Europe and its neighbors, more than that those of the whole width. */
static double width_of(unsigned char first) {
    static const double european = 667, whole = 1000;
    if (first >= 0x80)
        return (first < 0xc0 ? 0 : first < 0xe0 ? european : whole) / 1000;
    return (first < ' ' || first == 0x7f ? 0 : letter_width[first - ' ']) / 1000.0;
}

double pdnn_text_part_width(const char *text, size_t length, double size) {
    double width = 0;
    for (size_t i = 0; i < length; i++)
        width += width_of((unsigned char)text[i]);
    return width * size;
}

double pdnn_text_width(const char *text, double size) {
    return pdnn_text_part_width(text, strlen(text), size);
}

/* What a text may be wider than its line: sums of widths are rounded. */
static const double rounding = 1e-6;

/* Those that fit, of the bytes of whole letters; at least one letter. */
static size_t letters_within(const char *text, size_t length, double size, double width) {
    size_t within = 0;
    width += rounding;
    for (size_t at = 0; at < length; at++) {
        width -= width_of((unsigned char)text[at]) * size;
        if ((width >= 0 || !within) && (text[at + 1] & 0xc0) != 0x80)
            within = at + 1;
    }
    return within;
}

size_t pdnn_text_line(const char *text, double size, double width) {
    size_t length = strcspn(text, " \n");
    for (size_t next; text[length] == ' '; length = next) {
        next = length + 1 + strcspn(text + length + 1, " \n");
        if (pdnn_text_part_width(text, next, size) > width + rounding)
            break;
    }
    return letters_within(text, length, size, width);
}

size_t pdnn_mark_corners(const struct pdnn_mark *mark, struct pdnn_spot corners[PDNN_CORNERS_MAX]) {
    /* A part's corners, and how often it is there, each time turned by a right angle. */
    static const struct {
        size_t count, turns;
        struct pdnn_spot corner[5];
    } shapes[PDNN_SYMBOL_COUNT] = {
        [PDNN_TRIANGLE] = {3, 1, {{-1.05, -0.8}, {1.05, -0.8}, {0, 1.1}}},
        [PDNN_SQUARE] = {1, 4, {{-0.88, -0.88}}},
        [PDNN_DIAMOND] = {1, 4, {{-1.15, 0}}},
        [PDNN_DOWNWARD] = {3, 1, {{-1.05, 0.8}, {1.05, 0.8}, {0, -1.1}}},
        [PDNN_CROSS] = {3, 4, {{-1, -1.25}, {0, -0.25}, {1, -1.25}}},
        [PDNN_PENTAGON] = {5, 1, {{-0.65, -0.89}, {0.65, -0.89}, {1.05, 0.34}, {0, 1.1}, {-1.05, 0.34}}},
    };
    const size_t count = shapes[mark->symbol].count, all = count * shapes[mark->symbol].turns;
    for (size_t i = 0; i < all; i++) {
        const struct pdnn_spot corner = shapes[mark->symbol].corner[i % count];
        corners[i] = i < count ? (struct pdnn_spot){corner.x * mark->radius, corner.y * mark->radius}
                               : (struct pdnn_spot){0 - corners[i - count].y, corners[i - count].x};
    }
    return all;
}
