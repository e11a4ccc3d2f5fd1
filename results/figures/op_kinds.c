#include "results/figures/op_kinds.h"
#include "results/query/op_groups.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 160 };

static const char *key_of(enum pdnn_by by, const struct pdnn_family_def *family,
                          const struct pdnn_op_record *op) {
    switch (by) {
    case PDNN_BY_GROUP:
        return family ? pdnn_op_groups[pdnn_op_group_of(family, op)].name : op->category;
    case PDNN_BY_PASS:
        return op->pass;
    case PDNN_BY_LAYER:
        return op->layer;
    case PDNN_BY_OP:
        return op->op;
    default:
        return op->category;
    }
}

enum pdnn_status pdnn_op_kinds_find(struct pdnn_op_kinds *kinds, const struct pdnn_family_def *family,
                                    const struct pdnn_op_record *op, struct pdnn_arena *arena, size_t *kind,
                                    struct pdnn_err *err) {
    char name[NAME_TEXT] = "";
    size_t at = 0;
    for (size_t k = 0; k < kinds->by.count; k++) {
        size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, "%s%s", used ? ", " : "",
                 key_of(kinds->by.by[k], family, op));
    }
    while (at < kinds->count && strcmp(kinds->kind[at].name, name) != 0)
        at++;
    if (at == PDNN_OP_KINDS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "more than %d kinds of op: choose fewer with --by or --only",
                         PDNN_OP_KINDS_MAX);
    if (at == kinds->count) {
        const char *kept = pdnn_arena_strdup(arena, name);
        kinds->kind[kinds->count++] = (struct pdnn_op_kind){.name = kept};
    }
    *kind = at;
    return PDNN_OK;
}

/* The area of a point is the op's share of its model, in per cent, but for those that would vanish. */
static double point_size(double share_pct) {
    return fmax(sqrt(fmin(share_pct, 100) / 20), 0.45);
}

struct pdnn_chart_point pdnn_op_point(const struct pdnn_op_kinds *kinds, size_t kind, struct pdnn_spot spot,
                                      double share_pct) {
    return (struct pdnn_chart_point){
        .spot = spot, .size = point_size(share_pct), .color = kinds->kind[kind].name};
}

static const char *text_of(const struct pdnn_op_kinds *kinds, const char *name) {
    size_t k = 0;
    while (kinds->kind[k].name != name)
        k++;
    return kinds->kind[k].text;
}

void pdnn_op_kinds_legend(const struct pdnn_op_kinds *kinds, struct pdnn_chart *chart) {
    static const double shares[] = {2, 10, 50};
    static const char *const names[] = {"2 %", "10 %", "50 %"};
    for (size_t i = 0; i < chart->n_points; i++)
        chart->point[i].color = text_of(kinds, chart->point[i].color);
    chart->size_title = "size: share of its model";
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        chart->sizes[i] = point_size(shares[i]);
        chart->size_name[i] = names[i];
    }
}
