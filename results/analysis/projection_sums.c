/* What projections of single models say together: Amdahl's limits by kind of op, and which ops change their
 * bound. */
#include "results/analysis/means.h"
#include "results/analysis/projection.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A step with a larger share of one kind consists of nothing else: there is no limit. */
#define WHOLE_STEP 0.999

/* What is summed over the ops of one model, by position in the table of the sums. */
struct sums {
    struct pdnn_hardware_projection *of;
    double (*ns)[PDNN_HARDWARE_SIDES]; /* by limit, of one model */
    double *moved_ns;                  /* by move, of one model */
    struct pdnn_mean *speedup;         /* by move, of the ops of all models */
    /* by limit, of the models that consist of other ops too */
    struct pdnn_mean (*limit)[PDNN_HARDWARE_SIDES];
};

static struct pdnn_projected_limit *find_limit(struct sums *s, const char *family, const char *kind) {
    struct pdnn_hardware_projection *p = s->of;
    size_t i = 0;
    while (i < p->n_limits &&
           (strcmp(p->limit[i].kind, kind) != 0 || strcmp(p->limit[i].family, family) != 0))
        i++;
    if (i == p->n_limits)
        p->limit[p->n_limits++] =
            (struct pdnn_projected_limit){.family = family, .kind = kind, .method = "projected"};
    return &p->limit[i];
}

static struct pdnn_projected_move *find_move(struct sums *s, const char *family,
                                             const struct pdnn_projected_op *op) {
    struct pdnn_hardware_projection *p = s->of;
    for (size_t i = 0; i < p->n_moves; i++) {
        struct pdnn_projected_move *move = &p->move[i];
        if (strcmp(move->op, op->op) == 0 && strcmp(move->pass, op->pass) == 0 &&
            strcmp(move->family, family) == 0 && strcmp(move->bound[0], op->bound[0]) == 0 &&
            strcmp(move->bound[1], op->bound[1]) == 0)
            return move;
    }
    p->move[p->n_moves] = (struct pdnn_projected_move){.family = family,
                                                       .op = op->op,
                                                       .pass = op->pass,
                                                       .bound = {op->bound[0], op->bound[1]},
                                                       .method = "projected"};
    return &p->move[p->n_moves++];
}

/* Stamps cost time, so the ops may take longer than the step. */
static double step_of(const struct pdnn_projected *model, int side) {
    double sum = 0;
    for (size_t i = 0; i < model->n_ops; i++)
        sum += side == PDNN_HARDWARE_MEASURED ? model->op[i].time_ns : model->op[i].projected_ns;
    return fmax(sum, side == PDNN_HARDWARE_MEASURED ? model->time_ns : model->projected_ns);
}

static void add_model(struct sums *s, const struct pdnn_projected *model) {
    struct pdnn_hardware_projection *p = s->of;
    for (size_t i = 0; i < p->n_limits; i++)
        s->ns[i][0] = s->ns[i][1] = 0;
    for (size_t i = 0; i < p->n_moves; i++)
        s->moved_ns[i] = 0;
    for (size_t i = 0; i < model->n_ops; i++) {
        const struct pdnn_projected_op *op = &model->op[i];
        size_t at = (size_t)(find_limit(s, model->family, op->kind) - p->limit);
        s->ns[at][PDNN_HARDWARE_MEASURED] += op->time_ns;
        s->ns[at][PDNN_HARDWARE_PROJECTED] += op->projected_ns;
        if (!op->moves)
            continue;
        at = (size_t)(find_move(s, model->family, op) - p->move);
        s->moved_ns[at] += op->time_ns;
        pdnn_mean_add(&s->speedup[at], log(op->speedup), 0);
    }
    double step[] = {step_of(model, 0), step_of(model, 1)};
    for (size_t i = 0; i < p->n_limits; i++) {
        p->limit[i].instances += s->ns[i][0] > 0;
        for (int side = 0; side < PDNN_HARDWARE_SIDES && s->ns[i][0] > 0; side++) {
            p->limit[i].share_pct[side] += s->ns[i][side] / step[side] * 100;
            if (!(s->ns[i][side] > WHOLE_STEP * step[side]))
                pdnn_mean_add(&s->limit[i][side], log(step[side] / (step[side] - s->ns[i][side])), 0);
        }
    }
    for (size_t i = 0; i < p->n_moves; i++) {
        p->move[i].instances += s->moved_ns[i] > 0;
        p->move[i].share_pct += s->moved_ns[i] / step[0] * 100;
    }
}

static int by_limit(const void *a, const void *b) {
    const struct pdnn_projected_limit *x = a, *y = b;
    int families = strcmp(x->family, y->family);
    double one = x->share_pct[PDNN_HARDWARE_MEASURED], other = y->share_pct[PDNN_HARDWARE_MEASURED];
    return families ? families : one != other ? (one < other ? 1 : -1) : strcmp(x->kind, y->kind);
}

static int by_share(const void *a, const void *b) {
    const struct pdnn_projected_move *x = a, *y = b;
    if (x->share_pct != y->share_pct)
        return x->share_pct < y->share_pct ? 1 : -1;
    int ops = strcmp(x->op, y->op);
    return ops ? ops : strcmp(x->pass, y->pass);
}

void pdnn_projection_sums(struct pdnn_hardware_projection *projection, struct pdnn_arena *arena) {
    size_t n_ops = 1;
    for (size_t i = 0; i < projection->n_models; i++)
        n_ops += projection->model[i].n_ops;
    struct sums s = {.of = projection};
    projection->limit = pdnn_arena_alloc(arena, n_ops, sizeof *projection->limit);
    projection->move = pdnn_arena_alloc(arena, n_ops, sizeof *projection->move);
    projection->n_limits = projection->n_moves = 0;
    s.ns = pdnn_arena_alloc(arena, n_ops, sizeof *s.ns);
    s.moved_ns = pdnn_arena_alloc(arena, n_ops, sizeof *s.moved_ns);
    s.speedup = pdnn_arena_alloc(arena, n_ops, sizeof *s.speedup);
    s.limit = pdnn_arena_alloc(arena, n_ops, sizeof *s.limit);
    for (size_t i = 0; i < projection->n_models; i++)
        add_model(&s, &projection->model[i]);
    for (size_t i = 0; i < projection->n_limits; i++) {
        struct pdnn_projected_limit *limit = &projection->limit[i];
        for (int side = 0; side < PDNN_HARDWARE_SIDES; side++) {
            limit->share_pct[side] /= (double)limit->instances;
            limit->limit[side] = pdnn_mean_geometric(&s.limit[i][side]);
        }
    }
    for (size_t i = 0; i < projection->n_moves; i++) {
        projection->move[i].share_pct /= (double)projection->move[i].instances;
        projection->move[i].speedup = pdnn_mean_geometric(&s.speedup[i]);
    }
    qsort(projection->limit, projection->n_limits, sizeof *projection->limit, by_limit);
    qsort(projection->move, projection->n_moves, sizeof *projection->move, by_share);
}
