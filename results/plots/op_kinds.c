#include "results/plots/op_kinds.h"
#include "results/analysis/op_groups.h"

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
        if (!kept)
            return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the plot");
        kinds->kind[kinds->count++] = (struct pdnn_op_kind){.name = kept};
    }
    *kind = at;
    return PDNN_OK;
}

double pdnn_op_point_size(double share_pct) {
    return fmax(sqrt(fmin(share_pct, 100) / 20), 0.45);
}
