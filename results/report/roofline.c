/* The roofline of one source: its roofs for the thread count of most rows, and one point per model, shaped by
 * what bounds it. */
#include "results/report/html.h"
#include "results/report/page.h"
#include "base/units.h"
#include "results/rows/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct picture {
    const struct pdnn_report_page *page;
    size_t source;
    int64_t threads;
    struct pdnn_roofs roofs;
    double peak_gflops;
    size_t n_points;
    struct pdnn_html_chart chart;
    struct pdnn_html_scale x, y;
};

static const struct pdnn_selection *rows_of(const struct picture *p) {
    return &p->page->source[p->source].selection;
}

static bool is_point(const struct picture *p, size_t at) {
    return pdnn_selection_value(rows_of(p), at, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE) > 0 &&
           pdnn_selection_value(rows_of(p), at, PDNN_RESULT_GFLOPS) > 0;
}

/* The thread count of most models. */
static int64_t usual_threads(const struct picture *p) {
    const struct pdnn_selection *rows = rows_of(p);
    const int column = pdnn_results_setting(&rows->results, PDNN_SETTING_THREADS);
    struct pdnn_arena arena = {0};
    const char **value;
    int64_t threads = 1;
    size_t most = 0, n_values = pdnn_selection_distinct(rows, column, &arena, &value, NULL);
    for (size_t v = 0; v < n_values; v++) {
        size_t count = 0;
        int64_t number;
        for (size_t at = 0; at < rows->count; at++)
            count += strcmp(pdnn_selection_get(rows, at, column), value[v]) == 0;
        if (count > most && pdnn_parse_i64(value[v], &number)) {
            most = count;
            threads = number;
        }
    }
    pdnn_arena_finish(&arena);
    return threads;
}

/* The dtypes that models ran in decide which peaks are drawn; f32 where the table does not say. */
static void find_dtypes(struct picture *p) {
    const struct pdnn_selection *rows = rows_of(p);
    const int column = pdnn_results_setting(&rows->results, PDNN_SETTING_DTYPE);
    bool used[PDNN_DTYPE_COUNT] = {false};
    for (size_t at = 0; at < rows->count; at++) {
        const char *name = pdnn_selection_get(rows, at, column);
        for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++)
            used[k] = used[k] || strcmp(*name ? name : "f32", pdnn_dtype_name(k)) == 0;
    }
    for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++) {
        if (!used[k])
            p->roofs.peak_gflops[k] = 0;
        p->peak_gflops = fmax(p->peak_gflops, p->roofs.peak_gflops[k]);
    }
}

static void choose_scales(struct picture *p) {
    double xmin = INFINITY, xmax = 0, ymin = INFINITY, ymax = p->peak_gflops;
    for (size_t at = 0; at < rows_of(p)->count; at++) {
        double x = pdnn_selection_value(rows_of(p), at, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE);
        double y = pdnn_selection_value(rows_of(p), at, PDNN_RESULT_GFLOPS);
        if (!is_point(p, at))
            continue;
        p->n_points++;
        xmin = fmin(xmin, x);
        xmax = fmax(xmax, x);
        ymin = fmin(ymin, y);
        ymax = fmax(ymax, y);
    }
    for (size_t i = 0; i < p->roofs.n_levels && p->peak_gflops > 0; i++) {
        xmin = fmin(xmin, p->peak_gflops / p->roofs.level[i].gbs / 4);
        xmax = fmax(xmax, p->peak_gflops / p->roofs.level[i].gbs * 3);
    }
    p->x = pdnn_html_scale(xmin / 1.5, xmax * 1.5, true, p->chart.left, p->chart.right);
    p->y = pdnn_html_scale(fmin(ymin / 1.6, ymax / 50), ymax * 1.8, true, p->chart.bottom, p->chart.top);
}

static void put_line(struct pdnn_str *out, const struct picture *p, double x1, double y1, double x2,
                     double y2) {
    const double ends[] = {pdnn_html_scale_at(&p->x, x1), pdnn_html_scale_at(&p->y, y1),
                           pdnn_html_scale_at(&p->x, x2), pdnn_html_scale_at(&p->y, y2)};
    pdnn_str_printf(out, "<path class=\"roof\" d=\"M");
    for (size_t i = 0; i < 4; i++) {
        pdnn_str_printf(out, i == 2 ? "L" : i ? " " : "");
        pdnn_html_pixel(out, ends[i]);
    }
    pdnn_str_printf(out, "\"/>\n");
}

/* Names of slanted roofs stand right of the frame's foot where the lines enter it. */
static void put_roofs(struct pdnn_str *out, const struct picture *p) {
    double above = -INFINITY;
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        const struct pdnn_roof_level *level = &p->roofs.level[i];
        double x = fmax(p->x.low, p->y.low / level->gbs), ridge = p->peak_gflops / level->gbs;
        struct pdnn_str text = {0};
        put_line(out, p, x, x * level->gbs, ridge, p->peak_gflops);
        pdnn_str_printf(&text, "%s ", level->name);
        pdnn_html_number(&text, level->gbs, 3, "");
        pdnn_str_printf(&text, " GB/s");
        /* On the left edge, one below the other. */
        double y = fmax(pdnn_html_scale_at(&p->y, fmax(p->y.low, p->x.low * level->gbs)) - 6, above + 14);
        above = y;
        pdnn_html_label(out, p->chart.left + 6, fmin(y, p->chart.bottom - 4), PDNN_HTML_START, "roofname",
                        pdnn_str_text(&text));
        pdnn_str_finish(&text);
    }
    above = -INFINITY;
    for (size_t k = PDNN_DTYPE_COUNT; k-- > 0;) {
        double peak = p->roofs.peak_gflops[k];
        struct pdnn_str text = {0};
        if (!(peak > 0))
            continue;
        put_line(out, p, p->n_points && p->roofs.n_levels ? peak / p->roofs.level[0].gbs : p->x.low, peak,
                 p->x.high, peak);
        pdnn_str_printf(&text, "%s ", pdnn_dtype_name((enum pdnn_dtype)k));
        pdnn_html_number(&text, peak, 4, "");
        pdnn_str_printf(&text, " GFLOP/s");
        double y = fmax(pdnn_html_scale_at(&p->y, peak) - 5, above + 13);
        above = y;
        pdnn_html_label(out, p->chart.right - 4, y, PDNN_HTML_END, "roofname", pdnn_str_text(&text));
        pdnn_str_finish(&text);
    }
}

/* One path for all points of a bound: a point is a dot of the line, a triangle or a cross. */
static const struct shape {
    const char *bound, *css, *dot;
} shapes[] = {
    {"compute", "points round c0", "h0"},
    {"memory", "points square c1", "h0"},
    {"overhead", "points c2", "m-3.5 3h7l-3.5-6z"},
    {"", "points c3", "m-3-3l6 6m0-6l-6 6"},
};

static void put_points(struct pdnn_str *out, const struct picture *p) {
    const struct pdnn_selection *rows = rows_of(p);
    pdnn_str_printf(out, "<g class=\"cloud\">");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        bool any = false;
        for (size_t at = 0; at < rows->count; at++) {
            if (!is_point(p, at) ||
                strcmp(pdnn_selection_word(rows, at, PDNN_RESULT_BOUND), shapes[k].bound) != 0)
                continue;
            double x = pdnn_selection_value(rows, at, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE);
            if (!any)
                pdnn_str_printf(out, "<path class=\"%s\" d=\"", shapes[k].css);
            any = true;
            pdnn_str_printf(out, "M");
            pdnn_html_pixel(out, pdnn_html_scale_at(&p->x, x));
            pdnn_str_printf(out, " ");
            pdnn_html_pixel(out,
                            pdnn_html_scale_at(&p->y, pdnn_selection_value(rows, at, PDNN_RESULT_GFLOPS)));
            pdnn_str_printf(out, "%s", shapes[k].dot);
        }
        pdnn_str_printf(out, any ? "\"/>\n" : "");
    }
    pdnn_str_printf(out, "</g>\n");
}

static void put_legend(struct pdnn_str *out, const struct picture *p) {
    double x = p->chart.left + 8;
    pdnn_str_printf(out, "<g class=\"legend\">");
    for (size_t k = 0; k + 1 < sizeof shapes / sizeof *shapes; k++) {
        struct pdnn_str text = {0};
        pdnn_str_printf(out, "<path class=\"%s\" d=\"M", shapes[k].css);
        pdnn_html_pixel(out, x);
        pdnn_str_printf(out, " 14%s\"/>", shapes[k].dot);
        pdnn_str_printf(&text, "bound by %s", shapes[k].bound);
        pdnn_html_label(out, x + 9, 18, PDNN_HTML_START, "", pdnn_str_text(&text));
        pdnn_str_finish(&text);
        x += 150;
    }
    pdnn_str_printf(out, "</g>\n");
}

struct pdnn_report_roofs pdnn_report_find_roofs(const struct pdnn_report_page *page, size_t source) {
    struct picture p = {.page = page, .source = source};
    int64_t threads = usual_threads(&p);
    pdnn_roofs_init(&p.roofs, page->source[source].ceilings, threads);
    find_dtypes(&p);
    return (struct pdnn_report_roofs){p.roofs, threads};
}

void pdnn_report_put_roofline(const struct pdnn_report_page *page, size_t source, struct pdnn_str *out) {
    const struct pdnn_report_source *from = &page->source[source];
    struct picture p = {.page = page, .source = source};
    struct pdnn_str title = {0}, attributes = {0}, caption = {0};
    char id[32];
    snprintf(id, sizeof id, "roofline%zu", source);
    p.chart = (struct pdnn_html_chart){id, "", 860, 480, 64, 850, 44, 430};
    p.threads = usual_threads(&p);
    pdnn_roofs_init(&p.roofs, from->ceilings, p.threads);
    find_dtypes(&p);
    choose_scales(&p);
    pdnn_str_printf(&title, "Roofline of %s: %zu models", from->name, p.n_points);
    p.chart.title = pdnn_str_text(&title);
    pdnn_str_printf(&attributes, " class=\"roofline\" data-source=\"");
    pdnn_html_text(&attributes, from->name);
    pdnn_str_printf(&attributes, "\" data-x=\"");
    pdnn_html_number(&attributes, p.x.low, 12, "");
    pdnn_str_printf(&attributes, " ");
    pdnn_html_number(&attributes, p.x.high, 12, "");
    pdnn_str_printf(&attributes, " %g %g\" data-y=\"", p.x.from, p.x.to);
    pdnn_html_number(&attributes, p.y.low, 12, "");
    pdnn_str_printf(&attributes, " ");
    pdnn_html_number(&attributes, p.y.high, 12, "");
    pdnn_str_printf(&attributes, " %g %g\"", p.y.from, p.y.to);
    pdnn_html_chart(out, &p.chart, pdnn_str_text(&attributes));
    pdnn_html_x_axis(out, &p.chart, &p.x, "operational intensity, FLOP per byte");
    pdnn_html_y_axis(out, &p.chart, &p.y, "GFLOP/s");
    if (p.peak_gflops > 0)
        put_roofs(out, &p);
    put_points(out, &p);
    put_legend(out, &p);
    pdnn_str_printf(
        &caption,
        "%s: one point per model that ended ok. Lines are what this machine was measured to do with %lld "
        "thread%s: bandwidth of each level of memory (slanted) and arithmetic (level).",
        from->name, (long long)p.threads, p.threads == 1 ? "" : "s");
    pdnn_html_chart_end(out, pdnn_str_text(&caption));
    pdnn_str_finish(&title);
    pdnn_str_finish(&attributes);
    pdnn_str_finish(&caption);
}
