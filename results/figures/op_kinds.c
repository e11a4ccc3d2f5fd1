#include "results/figures/op_kinds.h"
#include "base/memory.h"
#include "results/figures/caption.h"

#include <math.h>
#include <stdlib.h>

void pdnn_op_kinds_finish(struct pdnn_op_kinds *kinds) {
    pdnn_texts_finish(&kinds->names);
    free(kinds->mean);
}

size_t pdnn_op_kinds_add(struct pdnn_op_kinds *kinds, const struct pdnn_family_def *family,
                         const struct pdnn_op_record *op, size_t source, double number) {
    struct pdnn_str name = {0};
    kinds->n_sources = kinds->n_sources ? kinds->n_sources : 1;
    for (size_t k = 0; k < kinds->by.count; k++)
        pdnn_str_printf(&name, "%s%s", name.length ? ", " : "", pdnn_by_key(kinds->by.by[k], family, op));
    const size_t before = kinds->names.count, kind = pdnn_texts_add(&kinds->names, pdnn_str_text(&name));
    pdnn_str_finish(&name);
    for (size_t s = 0; s < kinds->n_sources && kind == before; s++) {
        const size_t at = kind * kinds->n_sources + s;
        kinds->mean = pdnn_grow(kinds->mean, &kinds->room, at, sizeof *kinds->mean);
        kinds->mean[at] = (struct pdnn_mean){0};
    }
    pdnn_mean_add(&kinds->mean[kind * kinds->n_sources + source], number, 0);
    return kind;
}

/* The area of a point is the op's share of its model, in per cent, but for those that would vanish. */
static double point_size(double share_pct) {
    return fmax(sqrt(fmin(share_pct, 100) / 20), 0.45);
}

struct pdnn_chart_point pdnn_op_point(const struct pdnn_op_kinds *kinds, size_t kind, struct pdnn_spot spot,
                                      double share_pct) {
    return (struct pdnn_chart_point){
        .spot = spot, .size = point_size(share_pct), .color = {kinds->names.text[kind], NAN}};
}

static double sum_of(const struct pdnn_mean *mean) {
    return mean->n ? mean->mean * (double)mean->n : 0;
}

void pdnn_op_kinds_legend(const struct pdnn_op_kinds *kinds, bool are_times, struct pdnn_chart *chart) {
    struct pdnn_arena *arena = chart->arena;
    const char **text = pdnn_arena_alloc(arena, kinds->names.count + 1, sizeof *text);
    for (size_t s = 0; s < kinds->n_sources; s++) {
        double all = 0;
        for (size_t k = 0; k < kinds->names.count; k++)
            all += sum_of(&kinds->mean[k * kinds->n_sources + s]);
        for (size_t k = 0; k < kinds->names.count; k++) {
            const struct pdnn_mean *mean = &kinds->mean[k * kinds->n_sources + s];
            text[k] = pdnn_arena_printf(arena, are_times ? "%s%s %s %%" : "%s%s %s",
                                        s ? text[k] : kinds->names.text[k], s ? "," : ":",
                                        are_times ? pdnn_plot_number(arena, sum_of(mean) / all * 100, 2)
                                                  : pdnn_plot_ratio(arena, pdnn_mean_geometric(mean)));
        }
    }
    for (size_t i = 0; i < chart->n_points; i++)
        chart->point[i].color.text = text[pdnn_texts_find(&kinds->names, chart->point[i].color.text)];
    pdnn_chart_note(chart, "size: share of its model");
    for (int share = 2; share <= 50; share *= 5)
        pdnn_chart_size(chart, pdnn_arena_printf(arena, "%d %%", share), point_size(share));
}
