/* Where a step's time goes: one bar per kind of model, divided by category of op. */
#include "results/report/html.h"
#include "results/report/page.h"

enum { COLORS = 8, CATEGORIES_SHOWN = 7 }; /* the last color is for the rest */

/* The categories with the most time over all kinds, in that order. */
static size_t choose_categories(const struct pdnn_report_op_times *times, size_t chosen[CATEGORIES_SHOWN]) {
    size_t count = 0;
    while (count < CATEGORIES_SHOWN && count < times->category.count) {
        double most = -1;
        size_t best = 0;
        for (size_t c = 0; c < times->category.count; c++) {
            double sum = 0;
            size_t k = 0;
            while (k < count && chosen[k] != c)
                k++;
            for (size_t i = 0; i < times->n_kinds; i++)
                sum += times->kind[i].share[c];
            if (k == count && sum > most) {
                most = sum;
                best = c;
            }
        }
        chosen[count++] = best;
    }
    return count;
}

static void put_part(struct pdnn_str *out, double x, double y, double width, size_t color, double share) {
    pdnn_str_printf(out, "<rect class=\"f%zu\" x=\"", color);
    pdnn_html_pixel(out, x);
    pdnn_str_printf(out, "\" y=\"");
    pdnn_html_pixel(out, y);
    pdnn_str_printf(out, "\" width=\"");
    pdnn_html_pixel(out, width);
    pdnn_str_printf(out, "\" height=\"22\"/>");
    if (width >= 34) {
        struct pdnn_str text = {0};
        pdnn_str_printf(&text, "%.0f %%", share * 100);
        pdnn_html_label(out, x + width / 2, y + 15, PDNN_HTML_MIDDLE, color % 2 ? "on-light" : "on-dark",
                        pdnn_str_text(&text));
        pdnn_str_finish(&text);
    }
}

static void put_bars(struct pdnn_str *out, const struct pdnn_report_op_times *times, const size_t *chosen,
                     size_t n_chosen, const struct pdnn_html_chart *chart) {
    for (size_t i = 0; i < times->n_kinds; i++) {
        const struct pdnn_report_kind *kind = &times->kind[i];
        double x = chart->left, y = chart->top + 32 * (double)i, rest = 1, room = chart->right - chart->left;
        struct pdnn_str name = {0};
        pdnn_str_printf(&name, "%.40s (%zu)", kind->name, kind->n);
        pdnn_html_label(out, chart->left - 8, y + 15, PDNN_HTML_END, "tick", pdnn_str_text(&name));
        pdnn_str_finish(&name);
        for (size_t k = 0; k < n_chosen; k++) {
            double share = kind->share[chosen[k]];
            put_part(out, x, y, share * room, k, share);
            x += share * room;
            rest -= share;
        }
        if (rest > 1e-6)
            put_part(out, x, y, rest * room, COLORS - 1, rest);
    }
}

static void put_legend(struct pdnn_str *out, const struct pdnn_report_op_times *times, const size_t *chosen,
                       size_t n_chosen, const struct pdnn_html_chart *chart) {
    size_t count = n_chosen + (times->category.count > n_chosen);
    for (size_t k = 0; k < count; k++) {
        double x = chart->left + 168 * (double)(k % 4), y = chart->bottom + 12 + 20 * (double)(k / 4);
        bool is_rest = k == n_chosen;
        pdnn_str_printf(out, "<rect class=\"f%zu\" x=\"", is_rest ? (size_t)COLORS - 1 : k);
        pdnn_html_pixel(out, x);
        pdnn_str_printf(out, "\" y=\"");
        pdnn_html_pixel(out, y);
        pdnn_str_printf(out, "\" width=\"12\" height=\"12\"/>");
        pdnn_html_label(out, x + 18, y + 10, PDNN_HTML_START, "",
                        is_rest ? "everything else" : times->category.text[chosen[k]]);
    }
}

void pdnn_report_put_op_times(const struct pdnn_report_page *page, struct pdnn_str *out) {
    const struct pdnn_report_op_times *times = &page->times;
    size_t chosen[CATEGORIES_SHOWN], n_chosen = choose_categories(times, chosen);
    if (!times->n_kinds)
        return;
    double bottom = 10 + 32 * (double)times->n_kinds;
    struct pdnn_html_chart chart = {
        "ops-figure", "Share of the time by category of op", 860, bottom + 60, 190, 850, 10, bottom};
    pdnn_html_section(out, "ops", "Where the time goes");
    pdnn_html_chart(out, &chart, "");
    put_bars(out, times, chosen, n_chosen, &chart);
    put_legend(out, times, chosen, n_chosen, &chart);
    pdnn_html_chart_end(
        out, "Share of the time of a step's ops by category, the mean over models, each counted alike. In "
             "parentheses: models.");
    pdnn_html_section_end(out);
}
