/* What a picture is drawn on: a list of paths, texts and points, in units of a CSS pixel from the lower left
 * corner, that writers turn into files: SVG and TeX always, PNG and PDF where the build has cairo. */
#ifndef RESULTS_FIGURES_CANVAS_H
#define RESULTS_FIGURES_CANVAS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct pdnn_spot {
    double x, y;
};

/* The inks of all pictures, 0xRRGGBB. */
enum {
    PDNN_NO_INK = -1,
    PDNN_INK_WHITE = 0xffffff,
    PDNN_INK_TEXT = 0x222222,
    PDNN_INK_DARK = 0x1a1a1a, /* of a text on a light color, which stays light on a dark page */
    PDNN_INK_SOFT = 0x444444, /* frames, and what is said in passing */
    PDNN_INK_LINE = 0x555555, /* lines that data are compared with */
    PDNN_INK_BAND = 0xd6dbe2, /* what such a line ranges over */
    PDNN_INK_GRID = 0xe4e4e4
};

/* Sizes of texts. */
enum { PDNN_FONT_TITLE = 20, PDNN_FONT = 15, PDNN_FONT_SMALL = 13 };

enum pdnn_anchor { PDNN_START, PDNN_MIDDLE, PDNN_END };

struct pdnn_font {
    double size;
    int ink;
    enum pdnn_anchor anchor; /* which part of the text stands at its spot; its middle by height always does */
    double degrees;          /* counterclockwise */
};

struct pdnn_pen {
    int fill, line; /* inks; PDNN_NO_INK: none */
    double width;
    double dash; /* 0: a continuous line */
};

enum pdnn_symbol {
    PDNN_CIRCLE,
    PDNN_TRIANGLE,
    PDNN_SQUARE,
    PDNN_DIAMOND,
    PDNN_DOWNWARD,
    PDNN_PENTAGON,
    PDNN_CROSS, /* not one that tells words apart */
    PDNN_SYMBOL_COUNT,
    PDNN_WORD_SYMBOLS = PDNN_CROSS
};

struct pdnn_mark {
    enum pdnn_symbol symbol;
    double radius;
    struct pdnn_pen pen;
    bool dotted; /* has a white dot */
};

bool pdnn_mark_is_same(const struct pdnn_mark *a, const struct pdnn_mark *b);

enum pdnn_item_kind { PDNN_ITEM_PATH, PDNN_ITEM_TEXT, PDNN_ITEM_POINTS };

struct pdnn_item {
    enum pdnn_item_kind kind;
    const struct pdnn_spot *spot;
    size_t count;
    bool closed;           /* a path */
    struct pdnn_pen pen;   /* of a path */
    struct pdnn_mark mark; /* of points */
    const size_t *row;     /* of points: their rows in the picture's table; NULL: none */
    const char *text;      /* letters only */
    struct pdnn_font font;
};

/* {0} is empty; width and height are set before it is written. What it holds is in its arena. */
struct pdnn_canvas {
    double width, height;
    const char *title;         /* for readers that cannot see */
    bool no_title, no_caption; /* what surrounds a picture that a paper says itself */
    bool is_short;             /* an axis, or its title, has less room than it needs */
    struct pdnn_item *item;
    size_t n_items, room;
    struct pdnn_arena arena;
};

struct pdnn_pen pdnn_pen_line(int ink, double width);
struct pdnn_pen pdnn_pen_fill(int ink);

/* White or the usual ink, whichever is read better on this one. */
int pdnn_ink_on(int ink);

/* Everything is copied. */
void pdnn_draw_path(struct pdnn_canvas *canvas, const struct pdnn_spot *spots, size_t count, bool closed,
                    struct pdnn_pen pen);
void pdnn_draw_line(struct pdnn_canvas *canvas, double x, double y, double to_x, double to_y,
                    struct pdnn_pen pen);
void pdnn_draw_box(struct pdnn_canvas *canvas, double left, double bottom, double right, double top,
                   struct pdnn_pen pen);

/* Points of one series, which a reader can trace back to their rows. */
void pdnn_draw_points(struct pdnn_canvas *canvas, const struct pdnn_spot *spots, const size_t *rows,
                      size_t count, struct pdnn_mark mark);
void pdnn_draw_point(struct pdnn_canvas *canvas, double x, double y, struct pdnn_mark mark);

/* Each byte of control characters, of letters that nobody sees and of what is not UTF-8 becomes a question
 * mark; an empty text is nothing. */
void pdnn_draw_text(struct pdnn_canvas *canvas, double x, double y, struct pdnn_font font, const char *text);

/* The width of a text in Helvetica, or in what has its measures; that of its first bytes. */
double pdnn_text_width(const char *text, double size);
double pdnn_text_part_width(const char *text, size_t length, double size);

/* How many bytes of the text are its first line: the words that fit, or of a longer one the letters. */
size_t pdnn_text_line(const char *text, double size, double width);

/* The corners of a mark around 0; none of a circle. Returns how many. */
enum { PDNN_CORNERS_MAX = 12 };
size_t pdnn_mark_corners(const struct pdnn_mark *mark, struct pdnn_spot corners[PDNN_CORNERS_MAX]);

/* The picture as a file. `scale`: CSS pixels per unit. Cairo writes PNG or PDF, where the build has it;
 * without it the status is PDNN_UNSUPPORTED. */
void pdnn_canvas_svg(const struct pdnn_canvas *canvas, double scale, struct pdnn_str *out);
void pdnn_canvas_tex(const struct pdnn_canvas *canvas, double scale, struct pdnn_str *out);
enum pdnn_status pdnn_canvas_cairo(const struct pdnn_canvas *canvas, double scale, bool is_pdf,
                                   struct pdnn_str *out, struct pdnn_err *err);
extern const bool pdnn_has_cairo;

/* Appends numbers in their order, "0-3 7", as the SVG has the rows of points. */
void pdnn_put_ranges(struct pdnn_str *out, const size_t *numbers, size_t count);

#endif
