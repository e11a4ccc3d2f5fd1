/* `paradnn plot seqpoint`: an epoch by length, from seqpoint.csv. Above, the time of an iteration with those
 * marked that stand for others; below, how many iterations there are. */
#include "results/figures/picture.h"
#include "base/units.h"
#include "results/store/seqpoint_table.h"

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

enum { BARS_MAX = 64 };

/* seqpoint.csv with one length per row, a histogram of the iterations, and what the SeqPoints say of the
 * epoch. */
struct summary {
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
};

static int64_t length_of(const struct pdnn_table *table, size_t row) {
    return pdnn_table_whole(table, row, PDNN_SEQPOINT_SOURCE) +
           pdnn_table_whole(table, row, PDNN_SEQPOINT_TARGET);
}

/* The greatest number of which all differences of lengths are multiples: lengths that were rounded up to
 * multiples make no comb of bars. */
static int64_t find_grid(const struct pdnn_table *table) {
    int64_t grid = 0;
    for (size_t i = 1; i < table->n_rows; i++) {
        int64_t a = length_of(table, i) - length_of(table, 0), b = grid;
        a = a < 0 ? -a : a;
        while (b) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        grid = a;
    }
    return grid ? grid : 1;
}

/* The bar that a length falls into. */
static size_t bar_of(const struct summary *summary, double length) {
    return (size_t)floor((length - summary->first) / summary->width);
}

static void put_bars(const struct pdnn_table *table, struct summary *summary) {
    double grid = (double)find_grid(table), steps = (summary->longest - summary->shortest) / grid + 1;
    summary->width = grid * ceil(steps / BARS_MAX);
    summary->first = summary->shortest - grid / 2;
    summary->n_bars = bar_of(summary, summary->longest) + 1;
    for (size_t i = 0; i < table->n_rows; i++) {
        double *bar = &summary->bar[bar_of(summary, summary->length[i])];
        *bar += pdnn_table_number(table, i, PDNN_SEQPOINT_ITERATIONS);
        summary->most = fmax(summary->most, *bar);
    }
}

static void summarize(const struct pdnn_table *table, struct pdnn_arena *arena, struct summary *summary) {
    struct summary made = {.two = pdnn_table_whole(table, 0, PDNN_SEQPOINT_TARGET) > 0,
                           .length = pdnn_arena_alloc(arena, table->n_rows, sizeof *made.length),
                           .shortest = INFINITY,
                           .longest_ns = NAN};
    for (size_t i = 0; i < table->n_rows; i++) {
        double iterations = pdnn_table_number(table, i, PDNN_SEQPOINT_ITERATIONS);
        double weight = pdnn_table_number(table, i, PDNN_SEQPOINT_WEIGHT);
        double time_ns = pdnn_table_number(table, i, PDNN_SEQPOINT_TIME);
        made.length[i] = (double)length_of(table, i);
        made.shortest = fmin(made.shortest, made.length[i]);
        made.longest = fmax(made.longest, made.length[i]);
        made.iterations += iterations;
        made.timed += isnan(time_ns) ? 0 : 1;
        made.longest_ns = fmax(made.longest_ns, time_ns);
        made.total_ns += iterations * time_ns;
        if (!isnan(weight)) {
            made.seqpoints++;
            made.projected_ns += weight * time_ns;
        }
    }
    if (!made.seqpoints)
        made.projected_ns = NAN;
    put_bars(table, &made);
    *summary = made;
}

/* Appends "2083 iterations of 84 lengths; 7 SeqPoints project 41.2 s, all iterations take 41.3 s: -0.24 %" as
 * far as it is known. */
static void put_sentence(const struct pdnn_table *table, const struct summary *summary,
                         struct pdnn_str *out) {
    char projected[PDNN_UNIT_TEXT], total[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "%.0f iteration%s of %zu %s", summary->iterations,
                    summary->iterations == 1 ? "" : "s", table->n_rows,
                    summary->two         ? table->n_rows == 1 ? "pair of lengths" : "pairs of lengths"
                    : table->n_rows == 1 ? "length"
                                         : "lengths");
    if (!summary->seqpoints)
        return;
    pdnn_str_printf(out, "; %zu SeqPoint%s", summary->seqpoints, summary->seqpoints == 1 ? "" : "s");
    if (isnan(summary->projected_ns))
        return;
    pdnn_str_printf(out, " project%s %s", summary->seqpoints == 1 ? "s" : "",
                    pdnn_format_ns(projected, summary->projected_ns));
    if (!isnan(summary->total_ns))
        pdnn_str_printf(out, ", all iterations take %s: %+.2f %%", pdnn_format_ns(total, summary->total_ns),
                        100 * (summary->projected_ns / summary->total_ns - 1));
}

struct picture {
    struct pdnn_picture *in;
    struct summary summary;
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
    const struct summary *s = &p->summary;
    double zero = pdnn_scale_at(&p->counts, 0);
    for (size_t i = 0; i < s->n_bars; i++)
        pdnn_draw_box(&p->in->canvas, pdnn_scale_at(&p->x, s->first + s->width * (double)i), zero,
                      pdnn_scale_at(&p->x, s->first + s->width * (double)(i + 1)),
                      pdnn_scale_at(&p->counts, s->bar[i]), pdnn_pen_fill(0x9fb4c7));
    for (size_t i = 0; i < p->in->data.n_rows; i++) {
        if (pdnn_table_is_empty(&p->in->data, i, PDNN_SEQPOINT_WEIGHT))
            continue;
        double x = pdnn_scale_at(&p->x, s->length[i]),
               y = pdnn_scale_at(&p->counts, s->bar[bar_of(s, s->length[i])]);
        pdnn_draw_line(&p->in->canvas, x, zero, x, y, pdnn_pen_line(stem.pen.fill, 1.6));
        pdnn_draw_point(&p->in->canvas, x, y, stem);
    }
}

/* What is drawn, from the top. */
static void list_entries(struct picture *p) {
    struct pdnn_arena *arena = &p->in->arena;
    const size_t seqpoints = p->summary.seqpoints;
    for (size_t m = MARKS; m-- > 0;) {
        size_t count = 0;
        for (size_t i = 0; i < p->in->data.n_rows; i++)
            count += has_mark(p, i, &marks[m]);
        if (count)
            pdnn_entries_add(&p->in->legend,
                             pdnn_arena_printf(arena, count > 1 ? "%s (%zu)" : "%s", marks[m].name, count),
                             &marks[m].mark);
    }
    if (seqpoints)
        pdnn_entries_add(
            &p->in->legend,
            pdnn_arena_printf(arena, seqpoints > 1 ? "the %zu SeqPoints" : "the SeqPoint", seqpoints), &stem);
}

static void draw_titles(struct picture *p) {
    struct pdnn_str subtitle = {0};
    const char *title = pdnn_arena_printf(
        &p->in->arena, "%s by %slength in %s", p->summary.timed ? "Time of an iteration" : "Iterations",
        p->summary.timed ? "its " : "", pdnn_plot_directory(&p->in->arena, p->in->request->directory[0]));
    put_sentence(&p->in->data, &p->summary, &subtitle);
    pdnn_draw_titles(&p->in->canvas, left, p->height,
                     &(struct pdnn_titles){title, pdnn_plot_keep(&p->in->arena, &subtitle)});
}

static void draw_frames(struct picture *p) {
    const struct summary *s = &p->summary;
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
    list_entries(p);
    p->right = p->in->width - (wide ? right_gap : 16);
    canvas->width = p->in->width;
    p->base = wide ? 0 : pdnn_entries_draw_below(&p->in->legend, caption_bottom, canvas);
    p->height = canvas->height =
        p->base + (p->summary.timed ? fmax(p->in->height, least_height) : short_height);
    draw_titles(p);
    draw_frames(p);
    draw_counts(p);
    draw_times(p);
    if (wide)
        pdnn_entries_draw(&p->in->legend, canvas, p->right + legend_gap, p->height - above - 10);
    pdnn_draw_caption(canvas, left, p->base + caption_bottom,
                      p->summary.timed
                          ? "A SeqPoint stands for all iterations of its bin of lengths; the random "
                            "sample is that of the model-assisted estimate"
                          : "A SeqPoint stands for all iterations of its bin of lengths");
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const char *path = pdnn_arena_printf(&picture->arena, "%s/seqpoint.csv", picture->request->directory[0]);
    if (pdnn_seqpoint_table_read(path, &picture->data, err) != PDNN_OK)
        return err->status;
    summarize(&picture->data, &picture->arena, &p.summary);
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
