/* Two result directories side by side: the ratio of their step times, by results/analysis/compare. */
#include "results/report/html.h"
#include "results/report/sections.h"
#include "results/analysis/compare_ops.h"
#include "results/analysis/compare_sums.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct comparison {
    const struct pdnn_comparison *of;
    const char *const *label; /* of the sides */
    struct pdnn_compare_sums sums;
};

static double share(size_t part, size_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void put_ratio(struct pdnn_str *out, const struct pdnn_ratio_sum *sum) {
    pdnn_html_number(out, sum->mean, 3, "unknown");
    pdnn_str_printf(out, " (");
    pdnn_html_number(out, sum->low, 3, "?");
    pdnn_str_printf(out, " to ");
    pdnn_html_number(out, sum->high, 3, "?");
    pdnn_str_printf(out, ")");
}

static void put_headline(struct pdnn_str *out, const struct comparison *c) {
    const struct pdnn_ratio_sum *all = &c->sums.group[0].sum;
    const struct pdnn_compare_axis *axis = pdnn_compare_best_axis(&c->sums, "");
    pdnn_str_printf(out, "<p>Of %zu models that ran on both sides, <b>", all->count);
    pdnn_html_text(out, c->label[PDNN_SIDE_B]);
    pdnn_str_printf(out, "</b> is clearly faster than <b>");
    pdnn_html_text(out, c->label[PDNN_SIDE_A]);
    pdnn_str_printf(
        out,
        "</b> in %zu (%.0f %%) and clearly slower in %zu (%.0f %%); %zu are undecided. Speed-up, geometric mean "
        "with 95 %% interval: ",
        all->n_decided[PDNN_FASTER], share(all->n_decided[PDNN_FASTER], all->count),
        all->n_decided[PDNN_SLOWER], share(all->n_decided[PDNN_SLOWER], all->count),
        all->n_decided[PDNN_UNDECIDED]);
    put_ratio(out, all);
    pdnn_str_printf(out, ".");
    if (axis) {
        pdnn_str_printf(out, " The key that explains most of the differences is <code>");
        pdnn_html_text(out, axis->key);
        pdnn_str_printf(out, "</code>, %.0f %% of their variance.", axis->adjusted * 100);
    }
    size_t moved = pdnn_comparison_has_state(c->of) ? pdnn_comparison_other_state(c->of) : 0;
    if (moved)
        pdnn_str_printf(
            out,
            " %zu found the machine in another state on either side (their read probes differ by more than "
            "15 %%), so that their intervals are too narrow.",
            moved);
    pdnn_str_printf(out, "</p>\n");
}

static void put_cells(struct pdnn_str *out, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        pdnn_str_printf(out, "<td>");
        pdnn_html_text(out, texts[i]);
        pdnn_str_printf(out, "</td>");
    }
}

enum { OPS_SHOWN = 12, UNPAIRED_SHOWN = 50 };

/* Kinds of op that change the speed-up by less are left out, apart from the first. */
static const double least_effect = 0.002;

static void put_head_of_ops(struct pdnn_str *out, const struct comparison *c, size_t n_pairs) {
    pdnn_str_printf(
        out,
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"effects\"><caption>Where the difference comes "
        "from: the effects of all kinds of op multiply to the geometric mean of %zu models; those below "
        "0.2 %% are left out.</caption><thead><tr><th scope=\"col\">op</th><th scope=\"col\">effect on the "
        "speed-up</th>",
        n_pairs);
    for (int side = 0; side < PDNN_SIDES; side++) {
        pdnn_str_printf(out, "<th scope=\"col\">%% of the time, ");
        pdnn_html_text(out, c->label[side]);
        pdnn_str_printf(out, "</th>");
    }
    pdnn_str_printf(out, "</tr></thead><tbody>\n");
}

/* The kinds of op that the difference comes from, of all families together. */
static enum pdnn_status put_ops(struct pdnn_str *out, const struct comparison *c, struct pdnn_arena *arena,
                                struct pdnn_err *err) {
    struct pdnn_compare_ops ops;
    size_t shown = 0;
    if (!pdnn_compare_has_ops(c->of))
        return PDNN_OK;
    if (pdnn_compare_ops(c->of, NULL, arena, &ops, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < ops.count && shown < OPS_SHOWN; i++) {
        const struct pdnn_compare_op *op = &ops.op[i];
        if (*op->family || !ops.n_pairs || (shown && fabs(op->effect - 1) < least_effect))
            continue;
        if (!shown++)
            put_head_of_ops(out, c, ops.n_pairs);
        const char *const name = op->is_residual ? "in no op" : op->key[PDNN_BY_OP];
        pdnn_str_printf(out, "<tr>");
        put_cells(out, &name, 1);
        const double numbers[] = {op->effect, op->share_pct[PDNN_SIDE_A], op->share_pct[PDNN_SIDE_B]};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            pdnn_str_printf(out, "<td class=\"number\">");
            pdnn_html_number(out, numbers[k], 3, "");
            pdnn_str_printf(out, "</td>");
        }
        pdnn_str_printf(out, "</tr>\n");
    }
    pdnn_str_printf(out, shown ? "</tbody></table></div>\n" : "");
    return PDNN_OK;
}

/* Rows that only one side has stay visible. */
static void put_unpaired(struct pdnn_str *out, const struct comparison *c) {
    const struct pdnn_comparison *of = c->of;
    if (!of->n_unpaired)
        return;
    pdnn_str_printf(
        out,
        "<details><summary>%zu models without a ratio</summary><div class=\"scroll\" tabindex=\"0\"><table>"
        "<thead><tr><th scope=\"col\">model</th>",
        of->n_unpaired);
    for (int side = 0; side < PDNN_SIDES; side++) {
        pdnn_str_printf(out, "<th scope=\"col\">");
        pdnn_html_text(out, c->label[side]);
        pdnn_str_printf(out, "</th>");
    }
    pdnn_str_printf(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < of->n_unpaired && i < UNPAIRED_SHOWN; i++) {
        const struct pdnn_unpaired *row = &of->unpaired[i];
        const char *const texts[] = {row->id,
                                     *row->status[PDNN_SIDE_A] ? row->status[PDNN_SIDE_A] : "no such row",
                                     *row->status[PDNN_SIDE_B] ? row->status[PDNN_SIDE_B] : "no such row"};
        pdnn_str_printf(out, "<tr>");
        put_cells(out, texts, sizeof texts / sizeof *texts);
        pdnn_str_printf(out, "</tr>\n");
    }
    pdnn_str_printf(out, "</tbody></table></div>");
    if (of->n_unpaired > UNPAIRED_SHOWN)
        pdnn_str_printf(out, "<p>and %zu more</p>", of->n_unpaired - UNPAIRED_SHOWN);
    pdnn_str_printf(out, "</details>\n");
}

static double params_of(const struct comparison *c, const struct pdnn_pair *pair) {
    double params;
    return pdnn_parse_double(pdnn_comparison_get(c->of, pair, PDNN_SIDE_A, "params"), &params) && params > 0
               ? params
               : NAN;
}

static const struct shape {
    const char *css, *dot, *name;
} shapes[PDNN_DECISION_COUNT] = {
    [PDNN_UNDECIDED] = {"points c7", "m-3-3l6 6m0-6l-6 6", "undecided"},
    [PDNN_FASTER] = {"points round c0", "h0", "clearly faster"},
    [PDNN_SLOWER] = {"points square c1", "h0", "clearly slower"},
};

static void put_points(struct pdnn_str *out, const struct comparison *c, const struct pdnn_html_scale *x,
                       const struct pdnn_html_scale *y, enum pdnn_decision decision) {
    pdnn_str_printf(out, "<path class=\"%s\" d=\"", shapes[decision].css);
    for (size_t i = 0; i < c->of->n_pairs; i++) {
        const struct pdnn_pair *pair = &c->of->pair[i];
        double params = params_of(c, pair);
        if (pair->decision != decision || !isfinite(params))
            continue;
        pdnn_str_printf(out, "M");
        pdnn_html_pixel(out, pdnn_html_scale_at(x, params));
        pdnn_str_printf(out, " ");
        pdnn_html_pixel(out, pdnn_html_scale_at(y, pair->ratio));
        pdnn_str_printf(out, "%s", shapes[decision].dot);
    }
    pdnn_str_printf(out, "\"/>\n");
}

static void put_picture(struct pdnn_str *out, const struct comparison *c) {
    struct pdnn_html_chart chart = {"speedup", "Speed-up against parameters", 860, 360, 64, 850, 44, 310};
    double xmin = INFINITY, xmax = 0, ymin = 1, ymax = 1;
    struct pdnn_str caption = {0};
    for (size_t i = 0; i < c->of->n_pairs; i++) {
        double params = params_of(c, &c->of->pair[i]);
        xmin = fmin(xmin, params);
        xmax = fmax(xmax, params);
        ymin = fmin(ymin, c->of->pair[i].ratio);
        ymax = fmax(ymax, c->of->pair[i].ratio);
    }
    struct pdnn_html_scale x = pdnn_html_scale(xmin / 1.3, xmax * 1.3, true, chart.left, chart.right);
    struct pdnn_html_scale y = pdnn_html_scale(ymin / 1.15, ymax * 1.15, true, chart.bottom, chart.top);
    pdnn_html_chart(out, &chart, "");
    pdnn_html_x_axis(out, &chart, &x, "parameters");
    pdnn_html_y_axis(out, &chart, &y, "speed-up");
    pdnn_str_printf(out, "<path class=\"roof\" d=\"M");
    pdnn_html_pixel(out, chart.left);
    pdnn_str_printf(out, " ");
    pdnn_html_pixel(out, pdnn_html_scale_at(&y, 1));
    pdnn_str_printf(out, "H");
    pdnn_html_pixel(out, chart.right);
    pdnn_str_printf(out, "\"/>\n");
    for (enum pdnn_decision d = 0; d < PDNN_DECISION_COUNT; d++) {
        double at = chart.left + 60 + 150 * (double)d;
        put_points(out, c, &x, &y, d);
        pdnn_str_printf(out, "<path class=\"%s\" d=\"M", shapes[d].css);
        pdnn_html_pixel(out, at);
        pdnn_str_printf(out, " 14%s\"/>", shapes[d].dot);
        pdnn_html_label(out, at + 9, 18, PDNN_HTML_START, "", shapes[d].name);
    }
    pdnn_str_printf(&caption,
                    "Speed-up of %s over %s, one point per model that ran on both; the line is equality.",
                    c->label[PDNN_SIDE_B], c->label[PDNN_SIDE_A]);
    pdnn_html_chart_end(out, pdnn_str_text(&caption));
    pdnn_str_finish(&caption);
}

static void put_groups(struct pdnn_str *out, const struct comparison *c) {
    pdnn_str_printf(
        out,
        "<details><summary>By family and by value of each key</summary><div class=\"scroll\" "
        "tabindex=\"0\"><table class=\"groups\"><caption>Geometric means of the speed-up with 95 %% intervals.</caption>"
        "<thead><tr><th scope=\"col\">family</th><th scope=\"col\">key</th><th scope=\"col\">value</th>"
        "<th scope=\"col\">models</th><th scope=\"col\">speed-up</th><th scope=\"col\">faster</th>"
        "<th scope=\"col\">slower</th><th scope=\"col\">undecided</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < c->sums.n_groups; i++) {
        const struct pdnn_compare_group *group = &c->sums.group[i];
        const char *const words[] = {*group->family ? group->family : "all", group->key, group->value};
        pdnn_str_printf(out, "<tr>");
        put_cells(out, words, sizeof words / sizeof *words);
        pdnn_str_printf(out, "<td class=\"number\">%zu</td><td class=\"number\">", group->sum.count);
        put_ratio(out, &group->sum);
        pdnn_str_printf(
            out,
            "</td><td class=\"number\">%zu</td><td class=\"number\">%zu</td><td class=\"number\">%zu</td></tr>\n",
            group->sum.n_decided[PDNN_FASTER], group->sum.n_decided[PDNN_SLOWER],
            group->sum.n_decided[PDNN_UNDECIDED]);
    }
    pdnn_str_printf(out, "</tbody></table></div></details>\n");
}

/* "threads=1:4" for the least and the greatest number, "backend=onednn:openblas" for the first two words;
 * NULL if the key does not vary. */
static const char *across_key(const struct pdnn_report_rows *rows, const char *name, char text[128]) {
    const struct pdnn_report_axis *axis = pdnn_report_axis_find(rows, name);
    size_t first = axis && !*axis->value[0];
    if (!axis || axis->n_values - first < 2)
        return NULL;
    snprintf(text, 128, "%s=%.40s:%.40s", name, axis->value[first],
             axis->value[axis->is_numeric ? axis->n_values - 1 : first + 1]);
    return text;
}

static enum pdnn_status open_within(struct pdnn_report_page *page, struct pdnn_err *err) {
    static const char *const platforms[] = {"backend", "isa", "threads"};
    char text[128];
    enum pdnn_status status = pdnn_fail(err, PDNN_INVALID, "one platform");
    for (size_t k = 0; k < sizeof platforms / sizeof *platforms && status == PDNN_INVALID; k++) {
        struct pdnn_compare_request request = {.directory = {page->rows.source[0].directory},
                                               .across = across_key(&page->rows, platforms[k], text),
                                               .only = page->rows.only,
                                               .n_only = page->rows.n_only};
        if (request.across)
            status = pdnn_comparison_open(&page->comparison, &request, err);
    }
    return status;
}

enum pdnn_status pdnn_report_comparison_open(struct pdnn_report_page *page, struct pdnn_err *err) {
    struct pdnn_compare_request request = {.only = page->rows.only, .n_only = page->rows.n_only};
    enum pdnn_status status;
    page->sides.pairs = NULL;
    if (page->rows.n_sources == 1) {
        status = open_within(page, err);
    } else {
        for (int side = 0; side < PDNN_SIDES; side++)
            request.directory[side] = page->rows.source[side].directory;
        status = pdnn_comparison_open(&page->comparison, &request, err);
    }
    if (status == PDNN_INVALID)
        snprintf(page->why_no_pairs, sizeof page->why_no_pairs, "%s", err->text);
    if (status == PDNN_OK) {
        const struct pdnn_comparison *opened = &page->comparison;
        page->sides.pairs = opened;
        for (int side = 0; side < PDNN_SIDES; side++)
            page->sides.name[side] = opened->n_across ? opened->label[side] : page->rows.source[side].name;
    }
    return status == PDNN_INVALID ? PDNN_OK : status;
}

void pdnn_report_comparison_close(struct pdnn_report_page *page) {
    if (page->sides.pairs)
        pdnn_comparison_close(&page->comparison);
    page->sides.pairs = NULL;
}

/* Directories that have nothing in common, or differ in too much, can still share a page: it says why there
 * is no comparison. */
enum pdnn_status pdnn_report_put_comparison(const struct pdnn_report_page *page, struct pdnn_str *out,
                                            struct pdnn_err *err) {
    struct comparison c = {.of = page->sides.pairs, .label = page->sides.name};
    struct pdnn_arena arena = {0};
    if (!c.of && page->rows.n_sources < 2)
        return PDNN_OK;
    pdnn_html_section(out, "comparison", "Comparison");
    if (c.of)
        pdnn_compare_sums(c.of, &arena, &c.sums);
    enum pdnn_status status = PDNN_OK;
    if (!c.of) {
        pdnn_str_printf(out, "<p>The two cannot be compared: ");
        pdnn_html_text(out, page->why_no_pairs);
        pdnn_str_printf(out, "</p>\n");
    } else {
        put_headline(out, &c);
        put_picture(out, &c);
        status = put_ops(out, &c, &arena, err);
        put_groups(out, &c);
        put_unpaired(out, &c);
    }
    pdnn_html_section_end(out);
    pdnn_arena_finish(&arena);
    return status;
}
