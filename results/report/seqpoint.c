/* An epoch by its lengths, where a source has a seqpoint.csv: times with those that stand for others, a
 * histogram of all iterations, and the SeqPoints as a table. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/epochs/seqpoint_summary.h"
#include "results/report/html.h"
#include "results/report/page.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

struct epoch {
    const struct pdnn_report_source *source;
    struct pdnn_table table;
    struct pdnn_seqpoint_summary summary;
    struct pdnn_html_scale x, y;
};

static void put_spot(struct pdnn_str *out, const struct epoch *e, double length, double value) {
    pdnn_str_printf(out, "M");
    pdnn_html_pixel(out, pdnn_html_scale_at(&e->x, length));
    pdnn_str_printf(out, " ");
    pdnn_html_pixel(out, pdnn_html_scale_at(&e->y, value));
    pdnn_str_printf(out, "h0");
}

/* Which rows a layer of spots shows. */
static bool is_shown(const struct pdnn_table *table, size_t row, const char *chosen_by) {
    return !pdnn_table_is_empty(table, row, PDNN_SEQPOINT_TIME) &&
           (!chosen_by || pdnn_seqpoint_is_chosen(table, row, chosen_by));
}

static void put_layer(struct pdnn_str *out, const struct epoch *e, const char *css, const char *chosen_by) {
    pdnn_str_printf(out, "<path class=\"points %s\" d=\"", css);
    for (size_t i = 0; i < e->table.n_rows; i++) {
        if (is_shown(&e->table, i, chosen_by))
            put_spot(out, e, e->summary.length[i], pdnn_table_number(&e->table, i, PDNN_SEQPOINT_TIME) / 1e6);
    }
    pdnn_str_printf(out, "\"/>\n");
}

static const char *x_name(const struct epoch *e) {
    return e->summary.two ? "padded length, source + target (steps)" : "padded length (steps)";
}

static void put_times(struct pdnn_str *out, struct epoch *e, size_t number) {
    char id[sizeof "epoch-lengths" + 20];
    struct pdnn_str caption = {0};
    snprintf(id, sizeof id, "epoch-times%zu", number);
    struct pdnn_html_chart chart = {id, "Time of an iteration by its length", 860, 340, 70, 850, 26, 290};
    e->y = pdnn_html_scale(0, e->summary.longest_ns / 1e6 * 1.05, false, chart.bottom, chart.top);
    pdnn_html_chart(out, &chart, "");
    pdnn_html_x_axis(out, &chart, &e->x, x_name(e));
    pdnn_html_y_axis(out, &chart, &e->y, "time of one iteration (ms)");
    put_layer(out, e, "round c7", NULL);
    put_layer(out, e, "round c5", "sample");
    put_layer(out, e, "square c1", "seqpoint");
    pdnn_str_printf(&caption,
                    "%s: times of %zu of %zu lengths. Squares are SeqPoints, blue dots the random "
                    "sample of the model-assisted estimate.",
                    e->source->name, e->summary.timed, e->table.n_rows);
    pdnn_html_chart_end(out, pdnn_str_text(&caption));
    pdnn_str_finish(&caption);
}

static void put_bar(struct pdnn_str *out, const struct epoch *e, const char *css, double low, double high,
                    double iterations) {
    double left = pdnn_html_scale_at(&e->x, low), top = pdnn_html_scale_at(&e->y, iterations);
    pdnn_str_printf(out, "<rect class=\"%s\" x=\"", css);
    pdnn_html_pixel(out, left);
    pdnn_str_printf(out, "\" y=\"");
    pdnn_html_pixel(out, top);
    pdnn_str_printf(out, "\" width=\"");
    pdnn_html_pixel(out, fmax(1.5, pdnn_html_scale_at(&e->x, high) - left - 0.5));
    pdnn_str_printf(out, "\" height=\"");
    pdnn_html_pixel(out, pdnn_html_scale_at(&e->y, 0) - top);
    pdnn_str_printf(out, "\"/>");
}

static void put_histogram(struct pdnn_str *out, struct epoch *e, size_t number) {
    char id[sizeof "epoch-lengths" + 20];
    struct pdnn_str caption = {0};
    const struct pdnn_seqpoint_summary *s = &e->summary;
    snprintf(id, sizeof id, "epoch-lengths%zu", number);
    struct pdnn_html_chart chart = {id, "Iterations by length", 860, 200, 70, 850, 26, 150};
    e->y = pdnn_html_scale(0, s->most * 1.05, false, chart.bottom, chart.top);
    pdnn_html_chart(out, &chart, "");
    pdnn_html_x_axis(out, &chart, &e->x, x_name(e));
    pdnn_html_y_axis(out, &chart, &e->y, "iterations");
    for (size_t i = 0; i < s->n_bars; i++) {
        if (s->bar[i].iterations > 0)
            put_bar(out, e, "f7", s->bar[i].low, s->bar[i].high, s->bar[i].iterations);
    }
    for (size_t i = 0; i < e->table.n_rows; i++) {
        if (!pdnn_table_is_empty(&e->table, i, PDNN_SEQPOINT_WEIGHT))
            put_bar(out, e, "f1", s->length[i], s->length[i],
                    pdnn_seqpoint_bar_of(s, s->length[i])->iterations);
    }
    pdnn_str_printf(&caption, "%s: ", e->source->name);
    pdnn_seqpoint_sentence(&e->table, s, &caption);
    pdnn_str_printf(&caption, ". Lines stand at the SeqPoints.");
    pdnn_html_chart_end(out, pdnn_str_text(&caption));
    pdnn_str_finish(&caption);
}

static bool is_seqpoint(const struct pdnn_table *table, size_t row, const void *user) {
    (void)user;
    return !pdnn_table_is_empty(table, row, PDNN_SEQPOINT_WEIGHT);
}

static void put_seqpoints(struct pdnn_str *out, const struct epoch *e) {
    static const size_t two[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_TARGET, PDNN_SEQPOINT_ITERATIONS,
                                 PDNN_SEQPOINT_WEIGHT, PDNN_SEQPOINT_TIME};
    static const size_t one[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_ITERATIONS, PDNN_SEQPOINT_WEIGHT,
                                 PDNN_SEQPOINT_TIME};
    struct pdnn_row_list rows = pdnn_rows_all(&e->table);
    pdnn_rows_keep(&rows, &e->table, is_seqpoint, NULL);
    pdnn_html_put_table(out, &e->table, &rows,
                        (struct pdnn_table_writer){.caption = "SeqPoints",
                                                   .columns = e->summary.two ? two : one,
                                                   .n_columns = e->summary.two ? 5 : 4});
    pdnn_rows_finish(&rows);
}

static void put_epoch(struct pdnn_str *out, struct epoch *e, size_t number) {
    const struct pdnn_seqpoint_summary *s = &e->summary;
    e->x = pdnn_html_scale(s->bar[0].low, s->bar[s->n_bars - 1].high, false, 70, 850);
    if (s->timed)
        put_times(out, e, number);
    put_histogram(out, e, number);
    if (s->seqpoints)
        put_seqpoints(out, e);
}

/* A table that cannot be read is said in a sentence: the rest of the page does not need it. */
static enum pdnn_status put_source(struct pdnn_str *out, const struct pdnn_report_source *source,
                                   size_t number, struct pdnn_err *err) {
    struct epoch e = {.source = source};
    struct pdnn_arena arena = {0};
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/seqpoint.csv", source->directory) >= (int)sizeof path ||
        access(path, F_OK) != 0)
        return PDNN_OK;
    enum pdnn_status status = pdnn_seqpoint_table_read(path, &e.table, err);
    if (status == PDNN_OK)
        pdnn_seqpoint_summarize(&e.table, &arena, &e.summary);
    if (status == PDNN_OK)
        put_epoch(out, &e, number);
    if (status == PDNN_INVALID) {
        pdnn_str_printf(out, "<p>");
        pdnn_html_text(out, err->text);
        pdnn_str_printf(out, "</p>\n");
        status = PDNN_OK;
    }
    pdnn_table_finish(&e.table);
    pdnn_arena_finish(&arena);
    return status;
}

enum pdnn_status pdnn_report_put_epochs(const struct pdnn_report_page *page, struct pdnn_str *out,
                                        struct pdnn_err *err) {
    struct pdnn_str section = {0};
    enum pdnn_status status = PDNN_OK;
    for (size_t s = 0; s < page->n_sources && status == PDNN_OK; s++)
        status = put_source(&section, &page->source[s], s, err);
    if (section.length) {
        pdnn_html_section(out, "epoch", "An epoch by its lengths");
        pdnn_str_append(out, pdnn_str_text(&section), section.length);
        pdnn_html_section_end(out);
    }
    pdnn_str_finish(&section);
    return status;
}
