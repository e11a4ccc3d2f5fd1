#include "cli/projection_text.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "results/analysis/means.h"
#include "results/table/sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BEFORE = PDNN_HARDWARE_MEASURED, AFTER = PDNN_HARDWARE_PROJECTED, FOREMOST = 12 };

static void put_table(struct pdnn_sheet *table, struct pdnn_str *out) {
    pdnn_sheet_format(table, pdnn_terminal_width(STDOUT_FILENO), out);
    pdnn_sheet_finish(table);
}

static void add_ns(struct pdnn_sheet *table, double ns) {
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_cell(table, "%s", pdnn_format_ns(text, ns));
}

/* "80 -> 61" */
static void add_both(struct pdnn_sheet *table, double before, double after) {
    pdnn_sheet_cell(table, "%.0f -> %.0f", before, after);
}

static void families_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection) {
    static const struct pdnn_sheet_column columns[] = {
        {"family", PDNN_ALIGN_LEFT},    {"instances", PDNN_ALIGN_RIGHT},  {"speed-up", PDNN_ALIGN_RIGHT},
        {"least", PDNN_ALIGN_RIGHT},    {"most", PDNN_ALIGN_RIGHT},       {"compute %", PDNN_ALIGN_RIGHT},
        {"memory %", PDNN_ALIGN_RIGHT}, {"overhead %", PDNN_ALIGN_RIGHT}, {"moved %", PDNN_ALIGN_RIGHT},
    };
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < projection->n_models; i++) {
        const char *family = projection->model[i].family;
        size_t before = 0;
        while (before < i && strcmp(projection->model[before].family, family) != 0)
            before++;
        if (before < i)
            continue;
        struct pdnn_mean speedup = {0};
        double least = INFINITY, most = 0, moved = 0;
        double bound[PDNN_HARDWARE_SIDES][PDNN_BOUND_COUNT] = {{0}};
        for (size_t k = i; k < projection->n_models; k++) {
            const struct pdnn_projected *model = &projection->model[k];
            if (strcmp(model->family, family) != 0)
                continue;
            pdnn_mean_add(&speedup, log(model->speedup), 0);
            least = fmin(least, model->speedup);
            most = fmax(most, model->speedup);
            moved += model->moved_pct;
            for (size_t b = 0; b < PDNN_BOUND_COUNT; b++) {
                bound[BEFORE][b] += model->bound_pct[BEFORE][b];
                bound[AFTER][b] += model->bound_pct[AFTER][b];
            }
        }
        pdnn_sheet_cell(&table, "%s", family);
        pdnn_sheet_cell(&table, "%zu", speedup.n);
        pdnn_sheet_cell(&table, "%.2f", pdnn_mean_geometric(&speedup));
        pdnn_sheet_cell(&table, "%.2f", least);
        pdnn_sheet_cell(&table, "%.2f", most);
        for (enum pdnn_bound b = PDNN_BOUND_COMPUTE; b < PDNN_BOUND_COUNT; b++)
            add_both(&table, bound[BEFORE][b] / (double)speedup.n, bound[AFTER][b] / (double)speedup.n);
        pdnn_sheet_cell(&table, "%.0f", moved / (double)speedup.n);
    }
    put_table(&table, out);
}

void pdnn_projection_models_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection) {
    static const struct pdnn_sheet_column columns[] = {
        {"instance", PDNN_ALIGN_WRAP},    {"measured", PDNN_ALIGN_RIGHT},  {"projected", PDNN_ALIGN_RIGHT},
        {"speed-up", PDNN_ALIGN_RIGHT},   {"compute %", PDNN_ALIGN_RIGHT}, {"memory %", PDNN_ALIGN_RIGHT},
        {"overhead %", PDNN_ALIGN_RIGHT}, {"moved %", PDNN_ALIGN_RIGHT},
    };
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < projection->n_models; i++) {
        const struct pdnn_projected *model = &projection->model[i];
        pdnn_sheet_cell(&table, "%s", model->id);
        add_ns(&table, model->time_ns);
        add_ns(&table, model->projected_ns);
        pdnn_sheet_cell(&table, "%.2f", model->speedup);
        for (enum pdnn_bound b = PDNN_BOUND_COMPUTE; b < PDNN_BOUND_COUNT; b++)
            add_both(&table, model->bound_pct[BEFORE][b], model->bound_pct[AFTER][b]);
        pdnn_sheet_cell(&table, "%.0f", model->moved_pct);
    }
    put_table(&table, out);
}

/* "memory L3", "compute" */
static void add_bound(struct pdnn_sheet *table, const struct pdnn_projected_op *op, int side) {
    bool with_level = strcmp(op->bound[side], pdnn_bound_name(PDNN_BOUND_MEMORY)) == 0;
    pdnn_sheet_cell(table, "%s%s%s", op->bound[side], with_level ? " " : "",
                    with_level ? op->level[side] : "");
}

void pdnn_projection_ops_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection) {
    static const struct pdnn_sheet_column columns[] = {
        {"instance", PDNN_ALIGN_GROUP}, {"layer", PDNN_ALIGN_WRAP},     {"op", PDNN_ALIGN_LEFT},
        {"pass", PDNN_ALIGN_LEFT},      {"measured", PDNN_ALIGN_RIGHT}, {"projected", PDNN_ALIGN_RIGHT},
        {"speed-up", PDNN_ALIGN_RIGHT}, {"bound", PDNN_ALIGN_LEFT},     {"projected", PDNN_ALIGN_LEFT},
    };
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < projection->n_models; i++) {
        for (size_t k = 0; k < projection->model[i].n_ops; k++) {
            const struct pdnn_projected_op *op = &projection->model[i].op[k];
            pdnn_sheet_cell(&table, "%s", op->id);
            pdnn_sheet_cell(&table, "%s", op->layer);
            pdnn_sheet_cell(&table, "%s", op->op);
            pdnn_sheet_cell(&table, "%s", op->pass);
            add_ns(&table, op->time_ns);
            add_ns(&table, op->projected_ns);
            pdnn_sheet_cell(&table, "%.2f", op->speedup);
            add_bound(&table, op, BEFORE);
            add_bound(&table, op, AFTER);
        }
    }
    put_table(&table, out);
}

static void put_moves(struct pdnn_str *out, const struct pdnn_hardware_projection *projection, size_t most) {
    static const struct pdnn_sheet_column columns[] = {
        {"family", PDNN_ALIGN_LEFT},     {"op", PDNN_ALIGN_LEFT},        {"pass", PDNN_ALIGN_LEFT},
        {"bound", PDNN_ALIGN_LEFT},      {"then", PDNN_ALIGN_LEFT},      {"instances", PDNN_ALIGN_RIGHT},
        {"% of step", PDNN_ALIGN_RIGHT}, {"speed-up", PDNN_ALIGN_RIGHT},
    };
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < projection->n_moves && i < most; i++) {
        const struct pdnn_projected_move *move = &projection->move[i];
        pdnn_sheet_cell(&table, "%s", move->family);
        pdnn_sheet_cell(&table, "%s", move->op);
        pdnn_sheet_cell(&table, "%s", move->pass);
        pdnn_sheet_cell(&table, "%s", move->bound[BEFORE]);
        pdnn_sheet_cell(&table, "%s", move->bound[AFTER]);
        pdnn_sheet_cell(&table, "%" PRIu64, move->instances);
        pdnn_sheet_cell(&table, "%.1f", move->share_pct);
        pdnn_sheet_cell(&table, "%.2f", move->speedup);
    }
    put_table(&table, out);
}

void pdnn_projection_moves_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection) {
    put_moves(out, projection, SIZE_MAX);
}

/* least: limits below are left out. */
static void put_limits(struct pdnn_str *out, const struct pdnn_hardware_projection *projection,
                       double least) {
    static const struct pdnn_sheet_column columns[] = {
        {"family", PDNN_ALIGN_LEFT},     {"kind", PDNN_ALIGN_WRAP},   {"instances", PDNN_ALIGN_RIGHT},
        {"% of step", PDNN_ALIGN_RIGHT}, {"limit", PDNN_ALIGN_RIGHT}, {"projected %", PDNN_ALIGN_RIGHT},
        {"limit", PDNN_ALIGN_RIGHT},
    };
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < projection->n_limits; i++) {
        const struct pdnn_projected_limit *limit = &projection->limit[i];
        if (fmax(limit->limit[BEFORE], limit->limit[AFTER]) < least) /* not if it is unknown */
            continue;
        pdnn_sheet_cell(&table, "%s", limit->family);
        pdnn_sheet_cell(&table, "%s", limit->kind);
        pdnn_sheet_cell(&table, "%" PRIu64, limit->instances);
        pdnn_sheet_cell(&table, "%.1f", limit->share_pct[BEFORE]);
        pdnn_sheet_number(&table, limit->limit[BEFORE], 2, "");
        pdnn_sheet_cell(&table, "%.1f", limit->share_pct[AFTER]);
        pdnn_sheet_number(&table, limit->limit[AFTER], 2, "");
    }
    put_table(&table, out);
}

void pdnn_projection_limits_text(struct pdnn_str *out, const struct pdnn_hardware_projection *projection) {
    put_limits(out, projection, 0);
}

void pdnn_projection_overview_text(struct pdnn_str *out, const struct pdnn_hardware *hardware,
                                   const struct pdnn_hardware_projection *projection) {
    pdnn_str_printf(out, "projected: ");
    pdnn_hardware_text(hardware, out);
    if (projection->ridge[BEFORE] > 0 && projection->ridge[AFTER] > 0)
        pdnn_str_printf(out, "\nridge point in f32: %.3g -> %.3g FLOP/byte", projection->ridge[BEFORE],
                        projection->ridge[AFTER]);
    pdnn_str_printf(out, "\n\n");
    families_text(out, projection);
    pdnn_str_printf(out, "\nops that get another bound%s\n",
                    projection->n_moves > FOREMOST ? ", those with the largest shares"
                    : projection->n_moves          ? ""
                                                   : ": none");
    if (projection->n_moves)
        put_moves(out, projection, FOREMOST);
    pdnn_str_printf(out, "\nlimit: how many times as fast a step could be if these ops took no time\n");
    put_limits(out, projection, 1.05);
}
