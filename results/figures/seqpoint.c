/* `paradnn plot seqpoint`: an epoch by length, from seqpoint.csv. Above, the time of an iteration with those
 * marked that stand for others; below, how many iterations there are. The looks are in
 * results/figures/seqpoint.gp. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/epochs/seqpoint_summary.h"
#include "results/figures/caption.h"
#include "results/figures/file.h"
#include "results/figures/gnuplot.h"
#include "results/figures/names.h"
#include "results/table/write.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

/* The picture in pixels. */
static const double width = 1200, height = 800, short_height = 420, left = 96, right = 940, lower_bottom = 96,
                    lower_top = 268, upper_bottom = 292, above = 90, caption_bottom = 8, legend_x = 966,
                    entry_x = 990, line_pixels = 26;
enum { FIRST_LABEL = 10 };

/* Marks from the lowest layer to the highest, so that one kind may have several. */
static const struct mark {
    const char *chosen_by;
    const char *name;
    double size;
    int shape; /* gnuplot's, filled */
    unsigned rgb;
} marks[] = {
    {"worst", "worst single iteration", 2.3, 11, 0xcc79a7},
    {"frequent", "commonest length", 2.1, 5, 0x009e73},
    {"median", "median length", 2.1, 9, 0xf0e442},
    {"seqpoint", "SeqPoint", 1.5, 13, 0xd55e00},
    {"sample", "random sample", 0.8, 7, 0x0072b2},
};
enum { MARKS = sizeof marks / sizeof *marks };

struct picture {
    struct pdnn_table table;
    struct pdnn_seqpoint_summary summary;
    struct pdnn_arena arena;
    double height, scale; /* of times: ns per unit of the axis */
    const char *unit;
    struct pdnn_str script;
};

/* The unit in which the greatest time is at least 1. */
static void choose_unit(struct picture *p) {
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && !(p->summary.longest_ns >= units[i].ns))
        i++;
    p->scale = units[i].ns;
    p->unit = units[i].name;
}

static double time_of(const struct picture *p, size_t row) {
    return pdnn_table_number(&p->table, row, PDNN_SEQPOINT_TIME);
}

static void put_points(struct picture *p) {
    const struct pdnn_seqpoint_summary *s = &p->summary;
    pdnn_str_printf(&p->script, "$kinds << END\nNaN NaN\n");
    for (size_t i = 0; i < p->table.n_rows; i++) {
        pdnn_plot_number(&p->script, s->length[i], " ");
        pdnn_plot_number(&p->script, time_of(p, i) / p->scale, "\n");
    }
    pdnn_str_printf(&p->script, "END\n$marks << END\nNaN NaN 1 7 0\n");
    for (size_t m = 0; m < MARKS; m++) {
        for (size_t i = 0; i < p->table.n_rows; i++) {
            if (!pdnn_seqpoint_is_chosen(&p->table, i, marks[m].chosen_by) || isnan(time_of(p, i)))
                continue;
            pdnn_plot_number(&p->script, s->length[i], " ");
            pdnn_plot_number(&p->script, time_of(p, i) / p->scale, " ");
            pdnn_plot_number(&p->script, marks[m].size, " ");
            pdnn_str_printf(&p->script, "%d %u\n", marks[m].shape, marks[m].rgb);
        }
    }
    pdnn_str_printf(&p->script, "END\n");
}

static void put_bars(struct picture *p) {
    const struct pdnn_seqpoint_summary *s = &p->summary;
    pdnn_str_printf(&p->script, "$bars << END\n");
    for (size_t i = 0; i < s->n_bars; i++) {
        pdnn_plot_number(&p->script, s->bar[i].low, " ");
        pdnn_plot_number(&p->script, s->bar[i].high, " ");
        pdnn_plot_number(&p->script, s->bar[i].iterations, "\n");
    }
    pdnn_str_printf(&p->script, "END\n$stems << END\nNaN NaN\n");
    for (size_t i = 0; i < p->table.n_rows; i++) {
        if (pdnn_table_is_empty(&p->table, i, PDNN_SEQPOINT_WEIGHT))
            continue;
        pdnn_plot_number(&p->script, s->length[i], " ");
        pdnn_plot_number(&p->script, pdnn_seqpoint_bar_of(s, s->length[i])->iterations, "\n");
    }
    pdnn_str_printf(&p->script, "END\n");
}

static size_t count_chosen(const struct pdnn_table *table, const char *chosen_by) {
    size_t count = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        count += pdnn_seqpoint_is_chosen(table, i, chosen_by);
    return count;
}

/* One line: a symbol, then text; shape 0: text alone. */
static void put_entry(struct picture *p, size_t *label, double y, const char *text, const struct mark *mark) {
    if (mark->shape)
        pdnn_str_printf(&p->script,
                        "set label %zu '' at screen %.6f, screen %.6f point pointtype %d pointsize %.2f "
                        "linecolor rgb %u\n",
                        (*label)++, (legend_x + 8) / width, y / p->height, mark->shape, mark->size,
                        mark->rgb);
    pdnn_str_printf(&p->script, "set label %zu ", (*label)++);
    pdnn_gnuplot_quote(&p->script, text);
    pdnn_str_printf(&p->script, " at screen %.6f, screen %.6f left font 'DejaVu Sans,12'\n",
                    (mark->shape ? entry_x : legend_x) / width, y / p->height);
}

/* What is drawn, from the top, or beside the histogram where there are no times. */
static void put_legend(struct picture *p, size_t *label) {
    static const struct mark other = {NULL, NULL, 0.55, 7, 0x9a9a9a}, stem = {NULL, NULL, 0.9, 7, 0xd55e00};
    double y = (p->summary.timed ? p->height - above : lower_top) - 10;
    char text[96];
    for (size_t m = MARKS; m-- > 0 && p->summary.timed;) {
        size_t count = count_chosen(&p->table, marks[m].chosen_by);
        if (!count)
            continue;
        snprintf(text, sizeof text, count > 1 ? "%s (%zu)" : "%s", marks[m].name, count);
        put_entry(p, label, y, text, &marks[m]);
        y -= line_pixels;
    }
    if (p->summary.timed) {
        snprintf(text, sizeof text, "all with a time (%zu)", p->summary.timed);
        put_entry(p, label, y, text, &other);
        y = lower_top - 10;
    }
    if (p->summary.seqpoints) {
        snprintf(text, sizeof text, p->summary.seqpoints > 1 ? "the %zu SeqPoints" : "the SeqPoint",
                 p->summary.seqpoints);
        put_entry(p, label, y, text, &stem);
    }
}

static void put_titles(struct picture *p, const char *directory) {
    struct pdnn_str title = {0}, subtitle = {0};
    pdnn_str_printf(&title,
                    p->summary.timed ? "Time of an iteration by its length in " : "Iterations by length in ");
    pdnn_plot_directories(&directory, 1, &title);
    pdnn_seqpoint_sentence(&p->table, &p->summary, &subtitle);
    pdnn_plot_put_titles(&p->script, pdnn_str_text(&title), pdnn_str_text(&subtitle));
    pdnn_str_finish(&title);
    pdnn_str_finish(&subtitle);
}

static void put_frames(struct picture *p) {
    const struct pdnn_seqpoint_summary *s = &p->summary;
    double low = s->bar[0].low, high = s->bar[s->n_bars - 1].high, margin = fmax(4, (high - low) / 40);
    pdnn_plot_variable(&p->script, "WIDTH", width);
    pdnn_plot_variable(&p->script, "HEIGHT", p->height);
    pdnn_plot_variable(&p->script, "LEFT", left);
    pdnn_plot_variable(&p->script, "RIGHT", right);
    pdnn_plot_variable(&p->script, "LOWER_BOTTOM", lower_bottom);
    pdnn_plot_variable(&p->script, "LOWER_TOP", s->timed ? lower_top : p->height - above);
    pdnn_plot_variable(&p->script, "UPPER_BOTTOM", upper_bottom);
    pdnn_plot_variable(&p->script, "UPPER_TOP", p->height - above);
    pdnn_plot_variable(&p->script, "XMIN", fmax(0, low - margin));
    pdnn_plot_variable(&p->script, "XMAX", high + margin);
    pdnn_plot_variable(&p->script, "YMAX", s->timed ? s->longest_ns / p->scale * 1.08 : 1);
    pdnn_plot_variable(&p->script, "COUNT_MAX", s->most * 1.1);
    pdnn_plot_variable(&p->script, "HAS_TIMES", s->timed > 0);
}

static void write_script(struct picture *p, const char *directory) {
    char y_title[64];
    size_t label = FIRST_LABEL;
    choose_unit(p);
    p->height = p->summary.timed ? height : short_height;
    put_titles(p, directory);
    put_frames(p);
    snprintf(y_title, sizeof y_title, "time of one iteration (%s)", p->unit);
    pdnn_gnuplot_text(&p->script, "Y_TITLE", y_title);
    pdnn_gnuplot_text(&p->script, "X_TITLE",
                      p->summary.two ? "padded length, source + target (steps)" : "padded length (steps)");
    put_legend(p, &label);
    struct pdnn_label_sheet sheet = {&p->script, width, p->height, label};
    pdnn_plot_caption(p->summary.timed
                          ? "A SeqPoint stands for all iterations of its bin of lengths; the random "
                            "sample is that of the model-assisted estimate"
                          : "A SeqPoint stands for all iterations of its bin of lengths",
                      left, caption_bottom, &sheet);
    put_points(p);
    put_bars(p);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture p = {.scale = 1};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/seqpoint.csv", request->directory[0]) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", request->directory[0]);
    enum pdnn_status status = pdnn_seqpoint_table_read(path, &p.table, err);
    if (status == PDNN_OK)
        pdnn_seqpoint_summarize(&p.table, &p.arena, &p.summary);
    if (status == PDNN_OK) {
        write_script(&p, request->directory[0]);
        status = pdnn_plot_write(request,
                                 &(struct pdnn_plot_parts){.kind = "seqpoint",
                                                           .variables = &p.script,
                                                           .embedded = pdnn_plot_script_seqpoint,
                                                           .data = &p.table},
                                 &drawn, err);
        drawn.drawn = (int)(p.summary.timed ? p.summary.timed : p.table.n_rows);
        drawn.left_out = (int)p.table.n_rows - drawn.drawn;
    }
    pdnn_str_finish(&p.script);
    pdnn_table_finish(&p.table);
    pdnn_arena_finish(&p.arena);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {NULL};

const struct pdnn_plot_def pdnn_plot_seqpoint = {
    .name = "seqpoint",
    .help =
        "an epoch by length, from what `paradnn seqpoint` wrote: step times with the iterations that stand "
        "for others, and how many iterations have each length",
    .options = options,
    .directories_max = 1,
    .drawn = "lengths",
    .left_out_as = "lengths that did not run",
    .draw = draw,
};
