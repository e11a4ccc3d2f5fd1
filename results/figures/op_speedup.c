/* `paradnn plot op_speedup`: the ratio of two platforms' times for each op of each model, against its
 * operational intensity. */
#include "results/figures/caption.h"
#include "results/figures/picture.h"
#include "base/memory.h"
#include "results/query/share_matrix.h"
#include "results/figures/op_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct picture {
    struct pdnn_picture *in;
    struct pdnn_op_record *first; /* A's rows of a pair: B's may come from the same reader */
    size_t first_room;
    struct pdnn_op_kinds *kinds;
};

/* The other side's row of the same op. Both sides have their rows in the same order mostly. */
static const struct pdnn_op_record *find_other(const struct pdnn_op_rows *rows, size_t guess,
                                               const struct pdnn_op_record *op) {
    for (size_t k = 0; k < rows->count; k++) {
        const struct pdnn_op_record *other = &rows->op[(guess + k) % rows->count];
        if (pdnn_op_is_same(op, other))
            return other;
    }
    return NULL;
}

enum { ID, FAMILY, OP, LAYER, OP_PASS, INTENSITY, SPEEDUP, SHARE_PCT_A, SHARE_PCT_B };

static enum pdnn_status add_op(struct picture *p, size_t number, const struct pdnn_op_record *a,
                               const struct pdnn_op_record *b, struct pdnn_err *err) {
    const struct pdnn_comparison *c = &p->in->comparison;
    double share[PDNN_SIDES] = {a->time_ns_median / pdnn_pair_ns(c, number, PDNN_SIDE_A) * 100,
                                b ? b->time_ns_median / pdnn_pair_ns(c, number, PDNN_SIDE_B) * 100 : 0};
    double x = a->place.intensity_flop_per_byte;
    size_t kind;
    if (!b || !(a->time_ns_median > 0) || !(b->time_ns_median > 0) || !(x > 0) ||
        fmax(share[0], share[1]) < PDNN_OP_LEAST_SHARE_PCT) {
        p->in->left_out++;
        return PDNN_OK;
    }
    if (pdnn_op_kinds_find(p->kinds, pdnn_family_find(pdnn_table_text(&c->pairs, number, PDNN_PAIR_FAMILY)),
                           a, &p->in->arena, &kind, err) != PDNN_OK)
        return err->status;
    double ratio = a->time_ns_median / b->time_ns_median;
    pdnn_mean_add(&p->kinds->kind[kind].mean, log(ratio), 0);
    struct pdnn_table *data = &p->in->data;
    size_t row = pdnn_picture_add_point(
        p->in, pdnn_op_point(p->kinds, kind, (struct pdnn_spot){x, ratio}, fmax(share[0], share[1])));
    pdnn_table_set_text(data, row, ID, pdnn_table_text(&c->pairs, number, PDNN_PAIR_ID));
    pdnn_table_set_text(data, row, FAMILY, pdnn_table_text(&c->pairs, number, PDNN_PAIR_FAMILY));
    pdnn_table_set_text(data, row, OP, a->op);
    pdnn_table_set_text(data, row, LAYER, a->layer);
    pdnn_table_set_text(data, row, OP_PASS, a->pass);
    pdnn_table_set_number(data, row, INTENSITY, x);
    pdnn_table_set_number(data, row, SPEEDUP, ratio);
    pdnn_table_set_number(data, row, SHARE_PCT_A, share[PDNN_SIDE_A]);
    pdnn_table_set_number(data, row, SHARE_PCT_B, share[PDNN_SIDE_B]);
    return PDNN_OK;
}

static void keep_first(struct picture *p, const struct pdnn_op_rows *rows) {
    if (rows->count > p->first_room) {
        p->first = pdnn_resize(p->first, rows->count, sizeof *p->first);
        p->first_room = rows->count;
    }
    if (rows->count)
        memcpy(p->first, rows->op, rows->count * sizeof *p->first);
}

static enum pdnn_status add_pair(struct picture *p, size_t number, struct pdnn_err *err) {
    const struct pdnn_comparison *c = &p->in->comparison;
    int other = c->n_directories > 1 ? PDNN_SIDE_B : PDNN_SIDE_A;
    enum pdnn_status status = PDNN_OK;
    const struct pdnn_op_rows a = pdnn_selection_rows(pdnn_comparison_side(c, PDNN_SIDE_A),
                                                      c->at[number][PDNN_SIDE_A], p->in->ops[PDNN_SIDE_A]);
    keep_first(p, &a);
    const struct pdnn_op_rows b = pdnn_selection_rows(pdnn_comparison_side(c, PDNN_SIDE_B),
                                                      c->at[number][PDNN_SIDE_B], p->in->ops[other]);
    for (size_t i = 0; status == PDNN_OK && i < a.count; i++)
        status = add_op(p, number, &p->first[i], b.count ? find_other(&b, i, &p->first[i]) : NULL, err);
    return status;
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    pdnn_picture_table(
        p->in, "id family op layer op_pass #intensity_flop_per_byte #speedup #share_pct_a #share_pct_b kind");
    for (size_t i = 0; i < p->in->comparison.pairs.n_rows && status == PDNN_OK; i++)
        status = add_pair(p, i, err);
    if (status == PDNN_OK && !p->in->chart.n_points)
        status = pdnn_fail(err, PDNN_INVALID, "ops.csv: no op with arithmetic has a time on both sides");
    return status;
}

/* What the legend says: the kind and the geometric mean of its ratios. */
static void name_kinds(struct picture *p) {
    for (size_t k = 0; k < p->kinds->count; k++) {
        struct pdnn_op_kind *kind = &p->kinds->kind[k];
        const char *mean = pdnn_plot_number(&p->in->arena, pdnn_mean_geometric(&kind->mean), 3);
        kind->text = pdnn_arena_printf(&p->in->arena, "%s: %s", kind->name, mean);
    }
}

static void describe(struct picture *p) {
    char a[PDNN_SIDE_TEXT], b[PDNN_SIDE_TEXT];
    struct pdnn_chart *chart = &p->in->chart;
    p->in->chart.titles[0] = pdnn_plot_compare_titles(&p->in->arena, "Ops: speed-up", &p->in->comparison);
    chart->x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    chart->y_title = pdnn_arena_printf(&p->in->arena, "time of %s over that of %s",
                                       pdnn_plot_side(&p->in->comparison, PDNN_SIDE_A, a),
                                       pdnn_plot_side(&p->in->comparison, PDNN_SIDE_B, b));
    chart->color_title = "kind: geometric mean";
    pdnn_op_kinds_legend(p->kinds, chart);
    chart->caption[0] =
        "Each point is one op of one model that both ran. Above the line the second platform is "
        "faster.";
    chart->caption[1] =
        "Shares below 1 % on both sides, ops without arithmetic, and those of one side are left out.";
    pdnn_chart_line_at_1(chart);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const char *by = picture->request->by ? picture->request->by : "op";
    struct picture p = {.in = picture, .kinds = pdnn_arena_alloc(&picture->arena, 1, sizeof *p.kinds)};
    const bool done = pdnn_by_parse(by, &p.kinds->by, err) == PDNN_OK &&
                      pdnn_picture_compare(picture, err) == PDNN_OK &&
                      pdnn_picture_open_ops(picture, err) == PDNN_OK && collect_points(&p, err) == PDNN_OK;
    if (done) {
        name_kinds(&p);
        describe(&p);
    }
    free(p.first);
    return done ? PDNN_OK : err->status;
}

const struct pdnn_plot_def pdnn_plot_op_speedup = {
    .name = "op_speedup",
    .help =
        "the ratio of two platforms' times for each op that takes at least 1 % of its model's time, against "
        "its operational intensity, for one or two RESULTS; --across what is to differ, --by op (the "
        "default), category, group, pass, layer or a combination colors them, --only",
    .options = (const char *const[]){"across", "by", "only", NULL},
    .directories_max = 2,
    .drawn = "ops",
    .left_out_as = "ops of one side, with a small share or without arithmetic",
    .draw = draw,
};
