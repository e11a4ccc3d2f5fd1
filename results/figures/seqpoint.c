/* `paradnn plot seqpoint`: an epoch by length, from seqpoint.csv. Above, the time of an iteration with those
 * marked that stand for others; below, how many iterations there are. */
#include "results/figures/picture.h"
#include "base/units.h"
#include "results/store/seqpoint_table.h"

#include <math.h>

/* The lower frame, the upper one, and what is beside them. */
static const double short_height = 420, least_height = 560, left = 96, right_gap = 260, lower_bottom = 96,
                    lower_top = 268, upper_bottom = 292, above = 90, caption_bottom = 8, caption_line = 18,
                    legend_gap = 26;

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

enum { BARS_MAX = 64 };

/* seqpoint.csv with one length per row, a histogram of the iterations, and what the SeqPoints say of the
 * epoch. */
struct picture {
    struct pdnn_picture *in;
    const struct pdnn_table *table;
    bool two;       /* lengths per iteration; then each is source + target */
    double *length; /* by row */
    double shortest, longest;
    double iterations, most; /* of the epoch; in one bar */
    double bar[BARS_MAX];    /* iterations; bar i is from first + i * width to the next one */
    double first, width;
    size_t n_bars;
    size_t seqpoints, timed; /* rows */
    double longest_ns;       /* greatest time; NaN: there is none */
    double total_ns;         /* of the epoch; NaN unless all rows have a time */
    double projected_ns;     /* by the SeqPoints; NaN unless all of them have one */
    struct pdnn_scale x, times, counts;
};

/* The bar that a length falls into. */
static size_t bar_of(const struct picture *p, double length) {
    return (size_t)floor((length - p->first) / p->width);
}

/* Bars are multiples of the greatest number that divides all differences of lengths: lengths that were
 * rounded up to multiples make no comb of bars. */
static void put_bars(struct picture *p) {
    double grid = 0;
    for (size_t i = 1; i < p->table->n_rows; i++)
        for (double a = fabs(p->length[i] - p->length[0]), rest; a > 0; a = rest) {
            rest = fmod(grid, a);
            grid = a;
        }
    grid = grid > 0 ? grid : 1;
    p->width = grid * ceil(((p->longest - p->shortest) / grid + 1) / BARS_MAX);
    p->first = p->shortest - grid / 2;
    p->n_bars = bar_of(p, p->longest) + 1;
    for (size_t i = 0; i < p->table->n_rows; i++) {
        double *bar = &p->bar[bar_of(p, p->length[i])];
        *bar += pdnn_table_number(p->table, i, PDNN_SEQPOINT_ITERATIONS);
        p->most = fmax(p->most, *bar);
    }
}

static void summarize(struct picture *p) {
    p->two = pdnn_table_whole(p->table, 0, PDNN_SEQPOINT_TARGET) > 0;
    p->length = pdnn_arena_alloc(&p->in->arena, p->table->n_rows, sizeof *p->length);
    for (size_t i = 0; i < p->table->n_rows; i++) {
        const double iterations = pdnn_table_number(p->table, i, PDNN_SEQPOINT_ITERATIONS),
                     weight = pdnn_table_number(p->table, i, PDNN_SEQPOINT_WEIGHT),
                     time_ns = pdnn_table_number(p->table, i, PDNN_SEQPOINT_TIME);
        p->length[i] = (double)(pdnn_table_whole(p->table, i, PDNN_SEQPOINT_SOURCE) +
                                pdnn_table_whole(p->table, i, PDNN_SEQPOINT_TARGET));
        p->shortest = fmin(p->shortest, p->length[i]);
        p->longest = fmax(p->longest, p->length[i]);
        p->iterations += iterations;
        p->timed += isnan(time_ns) ? 0 : 1;
        p->longest_ns = fmax(p->longest_ns, time_ns);
        p->total_ns += iterations * time_ns;
        p->seqpoints += isnan(weight) ? 0 : 1;
        p->projected_ns += isnan(weight) ? 0 : weight * time_ns;
    }
    put_bars(p);
}

/* "2083 iterations of 84 lengths; 7 SeqPoints project 41.2 s, all iterations take 41.3 s: -0.24 %" as far as
 * it is known. */
static const char *sentence_of(const struct picture *p) {
    char time[PDNN_UNIT_TEXT];
    struct pdnn_str out = {0};
    pdnn_str_printf(&out, "%.0f iteration%s of %zu %s%s%s", p->iterations, p->iterations == 1 ? "" : "s",
                    p->table->n_rows, p->two ? "pair" : "length", p->table->n_rows == 1 ? "" : "s",
                    p->two ? " of lengths" : "");
    if (p->seqpoints)
        pdnn_str_printf(&out, "; %zu SeqPoint%s", p->seqpoints, p->seqpoints == 1 ? "" : "s");
    if (p->seqpoints && !isnan(p->projected_ns))
        pdnn_str_printf(&out, " project%s %s", p->seqpoints == 1 ? "s" : "",
                        pdnn_format_ns(time, p->projected_ns));
    if (p->seqpoints && !isnan(p->total_ns))
        pdnn_str_printf(&out, ", all iterations take %s: %+.2f %%", pdnn_format_ns(time, p->total_ns),
                        100 * (p->projected_ns / p->total_ns - 1));
    return pdnn_plot_keep(&p->in->arena, &out);
}

static double time_of(const struct picture *p, size_t row) {
    return pdnn_table_number(p->table, row, PDNN_SEQPOINT_TIME) * 1e-6;
}

static bool has_mark(const struct picture *p, size_t row, const struct mark *mark) {
    return !isnan(time_of(p, row)) &&
           (!mark->chosen_by || pdnn_seqpoint_is_chosen(p->table, row, mark->chosen_by));
}

static bool is_inside(const struct picture *p, size_t row) {
    return pdnn_scale_holds(&p->x, p->length[row]) && pdnn_scale_holds(&p->times, time_of(p, row));
}

static void draw_times(struct picture *p) {
    for (size_t m = 0; m < MARKS; m++)
        for (size_t i = 0; i < p->table->n_rows; i++) {
            const struct pdnn_spot spot = {pdnn_scale_at(&p->x, p->length[i]),
                                           pdnn_scale_at(&p->times, time_of(p, i))};
            if (has_mark(p, i, &marks[m]) && is_inside(p, i))
                pdnn_draw_points(&p->in->canvas, &spot, &i, 1, marks[m].mark);
        }
}

static void draw_counts(struct picture *p) {
    const double zero = pdnn_scale_at(&p->counts, 0);
    for (size_t i = 0; i < p->n_bars; i++) {
        const double low = p->first + p->width * (double)i, high = low + p->width;
        if (low < p->x.high && high > p->x.low)
            pdnn_draw_box(&p->in->canvas, pdnn_scale_within(&p->x, low), zero, pdnn_scale_within(&p->x, high),
                          pdnn_scale_at(&p->counts, p->bar[i]), pdnn_pen_fill(0x9fb4c7));
    }
    for (size_t i = 0; i < p->table->n_rows; i++) {
        const double x = pdnn_scale_at(&p->x, p->length[i]),
                     y = pdnn_scale_at(&p->counts, p->bar[bar_of(p, p->length[i])]);
        if (pdnn_table_is_empty(p->table, i, PDNN_SEQPOINT_WEIGHT) || !pdnn_scale_holds(&p->x, p->length[i]))
            continue;
        pdnn_draw_line(&p->in->canvas, x, zero, x, y, pdnn_pen_line(stem.pen.fill, 1.6));
        pdnn_draw_point(&p->in->canvas, x, y, stem);
    }
}

/* What is drawn, from the top. */
static void list_entries(struct picture *p) {
    struct pdnn_arena *arena = &p->in->arena;
    for (size_t m = MARKS; m-- > 0;) {
        size_t count = 0;
        for (size_t i = 0; i < p->table->n_rows; i++)
            count += has_mark(p, i, &marks[m]);
        if (count)
            pdnn_entries_add(&p->in->legend,
                             pdnn_arena_printf(arena, count > 1 ? "%s (%zu)" : "%s", marks[m].name, count),
                             marks[m].mark);
    }
    if (p->seqpoints)
        pdnn_entries_add(
            &p->in->legend,
            pdnn_arena_printf(arena, p->seqpoints > 1 ? "the %zu SeqPoints" : "the SeqPoint", p->seqpoints),
            stem);
}

static void draw_frames(struct picture *p, double right, double base, double height) {
    const double low = p->first, high = low + p->width * (double)p->n_bars,
                 margin = fmax(4, (high - low) / 40);
    p->x =
        (struct pdnn_scale){.low = fmax(0, low - margin), .high = high + margin, .from = left, .to = right};
    p->counts = (struct pdnn_scale){.high = p->most * 1.1,
                                    .from = base + lower_bottom,
                                    .to = p->timed ? base + lower_top : height - above};
    p->times = (struct pdnn_scale){
        .high = p->longest_ns * 1e-6 * 1.08, .from = base + upper_bottom, .to = height - above};
    pdnn_scale_narrow(&p->x, p->in->chart.x_range);
    pdnn_scale_narrow(&p->times, p->in->chart.y_range);
    pdnn_draw_frame(&p->in->canvas,
                    &(struct pdnn_frame_axis){.scale = p->x,
                                              .title = p->two ? "padded length, source + target (steps)"
                                                              : "padded length (steps)"},
                    &(struct pdnn_frame_axis){.scale = p->counts, .title = "iterations", .grid = true});
    if (p->timed)
        pdnn_draw_frame(&p->in->canvas, &(struct pdnn_frame_axis){.scale = p->x, .bare = true},
                        &(struct pdnn_frame_axis){
                            .scale = p->times, .title = "time of one iteration (ms)", .grid = true});
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture, .table = &picture->data, .shortest = INFINITY, .longest_ns = NAN};
    struct pdnn_canvas *canvas = &picture->canvas;
    const char *directory = picture->request->directory[0],
               *path = pdnn_arena_printf(&picture->arena, "%s/seqpoint.csv", directory);
    if (pdnn_seqpoint_table_read(path, &picture->data, err) != PDNN_OK)
        return err->status;
    summarize(&p);
    list_entries(&p);
    const bool wide = canvas->width >= PDNN_WIDE_ENOUGH;
    const char *caption =
        pdnn_arena_printf(&picture->arena, "A SeqPoint stands for all iterations of its bin of lengths%s",
                          p.timed ? "; the random sample is that of the model-assisted estimate" : "");
    const double right = canvas->width - (wide ? right_gap : 16),
                 below = wide ? 0 : pdnn_entries_draw_below(&picture->legend, caption_bottom, canvas),
                 /* of all but a legend below and lines of the caption that one alone would not need */
        base = below + pdnn_draw_caption(canvas, left, below + caption_bottom, caption) - caption_line;
    const char *title = pdnn_arena_printf(&picture->arena, "%s length in %s",
                                          p.timed ? "Time of an iteration by its" : "Iterations by",
                                          pdnn_plot_directory(&picture->arena, directory));
    canvas->height = base + (p.timed ? fmax(canvas->height, least_height) : short_height);
    const double height = canvas->height;
    pdnn_put_titles(canvas, left, (struct pdnn_titles){title, sentence_of(&p)});
    draw_frames(&p, right, base, height);
    draw_counts(&p);
    draw_times(&p);
    if (wide)
        pdnn_entries_draw(&picture->legend, canvas, right + legend_gap, height - above - 10);
    picture->drawn = p.timed ? p.timed : picture->data.n_rows;
    picture->left_out = picture->data.n_rows - picture->drawn;
    for (size_t i = 0; i < picture->data.n_rows; i++)
        picture->chart.n_outside +=
            p.timed ? has_mark(&p, i, marks) && !is_inside(&p, i) : !pdnn_scale_holds(&p.x, p.length[i]);
    picture->drawn -= picture->chart.n_outside;
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_seqpoint = {
    .name = "seqpoint",
    .help =
        "an epoch by length, from what `paradnn seqpoint` wrote: step times with the iterations that stand "
        "for others, and how many iterations have each length; of one of RESULTS",
    .options = (const char *const[]){NULL},
    .takes_one = true,
    .drawn = "lengths",
    .left_out_as = "lengths that did not run",
    .draw = draw,
};
