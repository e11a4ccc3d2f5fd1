/* `paradnn plot seqpoint`: an epoch by length, from seqpoint.csv. Above, the time of an iteration with those
 * marked that stand for others; below, how many iterations there are. */
#include "results/epochs/seqpoint_summary.h"
#include "results/figures/caption.h"
#include "results/figures/picture.h"

#include <math.h>
#include <stdlib.h>

/* The lower frame, the upper one, and what is beside them. */
static const double short_height = 420, least_height = 560, left = 96, right_gap = 260, lower_bottom = 96,
                    lower_top = 268, upper_bottom = 292, above = 90, caption_bottom = 8, legend_gap = 26;

/* Marks from the lowest layer to the highest, so that one kind may have several. */
static const struct mark {
    const char *chosen_by;
    const char *name;
    struct pdnn_mark mark;
} marks[] = {
    {NULL, "all with a time", {PDNN_CIRCLE, 2.5, {0x9a9a9a, PDNN_NO_INK, 0, 0}, false}},
    {"worst", "worst single iteration", {PDNN_DOWNWARD, 9.5, {0xcc79a7, PDNN_INK_TEXT, 0.8, 0}, false}},
    {"frequent", "commonest length", {PDNN_SQUARE, 9, {0x009e73, PDNN_INK_TEXT, 0.8, 0}, false}},
    {"median", "median length", {PDNN_TRIANGLE, 9, {0xf0e442, PDNN_INK_TEXT, 0.8, 0}, false}},
    {"seqpoint", "SeqPoint", {PDNN_DIAMOND, 6.5, {0xd55e00, PDNN_INK_TEXT, 0.8, 0}, false}},
    {"sample", "random sample", {PDNN_CIRCLE, 3.5, {0x0072b2, PDNN_INK_TEXT, 0.8, 0}, false}},
};
enum { MARKS = sizeof marks / sizeof *marks };

static const struct pdnn_mark stem = {PDNN_CIRCLE, 4, {0xd55e00, PDNN_NO_INK, 0, 0}, false};

struct picture {
    struct pdnn_picture *in;
    struct pdnn_seqpoint_summary summary;
    double height, base, right; /* base: of all but a legend below */
    struct pdnn_scale x, times, counts;
};

static double time_of(const struct picture *p, size_t row) {
    return pdnn_table_number(&p->in->data, row, PDNN_SEQPOINT_TIME) * 1e-6;
}

static bool has_mark(const struct picture *p, size_t row, const struct mark *mark) {
    return !isnan(time_of(p, row)) &&
           (!mark->chosen_by || pdnn_seqpoint_is_chosen(&p->in->data, row, mark->chosen_by));
}

static void draw_times(struct picture *p) {
    for (size_t m = 0; m < MARKS; m++)
        for (size_t i = 0; i < p->in->data.n_rows; i++) {
            const struct pdnn_spot spot = {pdnn_scale_at(&p->x, p->summary.length[i]),
                                           pdnn_scale_at(&p->times, time_of(p, i))};
            if (has_mark(p, i, &marks[m]))
                pdnn_draw_points(&p->in->canvas, &spot, &i, 1, marks[m].mark);
        }
}

static void draw_counts(struct picture *p) {
    const struct pdnn_seqpoint_summary *s = &p->summary;
    double zero = pdnn_scale_at(&p->counts, 0);
    for (size_t i = 0; i < s->n_bars; i++)
        pdnn_draw_box(&p->in->canvas, pdnn_scale_at(&p->x, s->first + s->width * (double)i), zero,
                      pdnn_scale_at(&p->x, s->first + s->width * (double)(i + 1)),
                      pdnn_scale_at(&p->counts, s->bar[i]), pdnn_pen_fill(0x9fb4c7));
    for (size_t i = 0; i < p->in->data.n_rows; i++) {
        if (pdnn_table_is_empty(&p->in->data, i, PDNN_SEQPOINT_WEIGHT))
            continue;
        double x = pdnn_scale_at(&p->x, s->length[i]),
               y = pdnn_scale_at(&p->counts, s->bar[pdnn_seqpoint_bar_of(s, s->length[i])]);
        pdnn_draw_line(&p->in->canvas, x, zero, x, y, pdnn_pen_line(stem.pen.fill, 1.6));
        pdnn_draw_point(&p->in->canvas, x, y, stem);
    }
}

/* What is drawn, from the top. */
static void list_entries(struct picture *p, struct pdnn_entries *entries) {
    struct pdnn_arena *arena = &p->in->arena;
    const size_t seqpoints = p->summary.seqpoints;
    for (size_t m = MARKS; m-- > 0;) {
        size_t count = 0;
        for (size_t i = 0; i < p->in->data.n_rows; i++)
            count += has_mark(p, i, &marks[m]);
        if (count)
            pdnn_entries_add(entries,
                             pdnn_arena_printf(arena, count > 1 ? "%s (%zu)" : "%s", marks[m].name, count),
                             &marks[m].mark);
    }
    if (seqpoints)
        pdnn_entries_add(
            entries,
            pdnn_arena_printf(arena, seqpoints > 1 ? "the %zu SeqPoints" : "the SeqPoint", seqpoints), &stem);
}

static void draw_titles(struct picture *p) {
    struct pdnn_str subtitle = {0};
    const char *title = pdnn_arena_printf(
        &p->in->arena, "%s by %slength in %s", p->summary.timed ? "Time of an iteration" : "Iterations",
        p->summary.timed ? "its " : "", pdnn_plot_directory(&p->in->arena, p->in->request->directory[0]));
    pdnn_seqpoint_sentence(&p->in->data, &p->summary, &subtitle);
    pdnn_draw_titles(&p->in->canvas, left, p->height,
                     &(struct pdnn_titles){title, pdnn_plot_keep(&p->in->arena, &subtitle)});
}

static void draw_frames(struct picture *p) {
    const struct pdnn_seqpoint_summary *s = &p->summary;
    double low = s->first, high = s->first + s->width * (double)s->n_bars,
           margin = fmax(4, (high - low) / 40);
    p->x = (struct pdnn_scale){
        .low = fmax(0, low - margin), .high = high + margin, .from = left, .to = p->right};
    p->counts = (struct pdnn_scale){.high = s->most * 1.1,
                                    .from = p->base + lower_bottom,
                                    .to = s->timed ? p->base + lower_top : p->height - above};
    p->times = (struct pdnn_scale){
        .high = s->longest_ns * 1e-6 * 1.08, .from = p->base + upper_bottom, .to = p->height - above};
    const struct pdnn_frame_axis lengths = {.scale = p->x,
                                            .title = s->two ? "padded length, source + target (steps)"
                                                            : "padded length (steps)"},
                                 none = {.scale = p->x, .bare = true},
                                 counts = {.scale = p->counts, .title = "iterations", .grid = true},
                                 times = {
                                     .scale = p->times, .title = "time of one iteration (ms)", .grid = true};
    pdnn_draw_frame(&p->in->canvas, &lengths, &counts);
    if (s->timed)
        pdnn_draw_frame(&p->in->canvas, &none, &times);
}

static void describe(struct picture *p) {
    const bool wide = p->in->width >= PDNN_WIDE_ENOUGH;
    struct pdnn_canvas *canvas = &p->in->canvas;
    struct pdnn_entries entries = {0};
    list_entries(p, &entries);
    p->right = p->in->width - (wide ? right_gap : 16);
    canvas->width = p->in->width;
    p->base = wide ? 0 : pdnn_entries_draw_below(&entries, caption_bottom, canvas);
    p->height = canvas->height =
        p->base + (p->summary.timed ? fmax(p->in->height, least_height) : short_height);
    draw_titles(p);
    draw_frames(p);
    draw_counts(p);
    draw_times(p);
    if (wide)
        pdnn_entries_draw(&entries, canvas, p->right + legend_gap, p->height - above - 10);
    pdnn_draw_caption(canvas, left, p->base + caption_bottom,
                      p->summary.timed
                          ? "A SeqPoint stands for all iterations of its bin of lengths; the random "
                            "sample is that of the model-assisted estimate"
                          : "A SeqPoint stands for all iterations of its bin of lengths");
    free(entries.entry);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const char *path = pdnn_arena_printf(&picture->arena, "%s/seqpoint.csv", picture->request->directory[0]);
    if (pdnn_seqpoint_table_read(path, &picture->data, err) != PDNN_OK)
        return err->status;
    pdnn_seqpoint_summarize(&picture->data, &picture->arena, &p.summary);
    describe(&p);
    picture->drawn = p.summary.timed ? p.summary.timed : picture->data.n_rows;
    picture->left_out = picture->data.n_rows - picture->drawn;
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_seqpoint = {
    .name = "seqpoint",
    .help =
        "an epoch by length, from what `paradnn seqpoint` wrote: step times with the iterations that stand "
        "for others, and how many iterations have each length",
    .options = (const char *const[]){NULL},
    .directories_max = 1,
    .drawn = "lengths",
    .left_out_as = "lengths that did not run",
    .draw = draw,
};
