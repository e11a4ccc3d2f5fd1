/* A stage of a composition: which of the composed models also run. */
#include "base/memory.h"
#include "base/rng.h"
#include "session/compose/state.h"

#include <stdlib.h>

struct candidate {
    unsigned class; /* lower ones are taken first */
    uint64_t hash;  /* of the seed and the model's id: where it stands does not depend on other models */
    size_t task;
};

static int by_hash(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static int by_class(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return x->class != y->class ? (x->class < y->class ? -1 : 1) : by_hash(a, b);
}

/* With a budget, those that earlier runs composed and ran come first, which had another part of the models to
 * draw from. */
static void add(const struct compose *compose, size_t task, struct candidate *candidates, size_t *count) {
    const struct pdnn_standing standing = pdnn_sweep_directory_standing(compose->sweep, task);
    const size_t *rounds = standing.rounds;
    bool is_old = compose->rules.deadline_ns && rounds[PDNN_METHOD_DIRECT] &&
                  (rounds[PDNN_METHOD_COMPOSED] || rounds[PDNN_METHOD_PREDICTED]);
    unsigned class = is_old ? 0 : compose->of[task].is_sampled ? 1 : 2;
    uint64_t hash = pdnn_rng_seed(compose->request->seed, compose->session->tasks[task].id);
    candidates[(*count)++] = (struct candidate){class, hash, task};
}

/* The first of them, as many as there are to be. */
static size_t take(const struct compose *compose, struct candidate *candidates, size_t count) {
    size_t wanted = compose->request->validate + compose->request->calibrate;
    qsort(candidates, count, sizeof *candidates, by_class);
    count = count < wanted ? count : wanted;
    qsort(candidates, count, sizeof *candidates, by_hash);
    return count;
}

void pdnn_compose_draw_samples(struct compose *compose, double budget_seconds) {
    struct pdnn_compose_choice choice = {0};
    size_t count = 0;
    if (!compose->request->validate && !compose->request->calibrate)
        return;
    pdnn_compose_plan_choose(&compose->plan, compose->request->extrapolate, budget_seconds, &choice);
    struct candidate *candidates = pdnn_alloc(choice.choose.n_models + 1, sizeof *candidates);
    for (size_t i = 0; i < choice.choose.n_models; i++) {
        if (choice.choose.models[i].fate != PDNN_FATE_LEFT && !compose->plan.models[i].is_small)
            add(compose, i, candidates, &count);
    }
    count = take(compose, candidates, count);
    for (size_t i = 0; i < count; i++)
        compose->of[candidates[i].task].is_sampled = true;
    free(candidates);
    pdnn_compose_choice_finish(&choice);
}

void pdnn_compose_give_samples(struct compose *compose) {
    size_t count = 0, n_tasks = compose->session->n_tasks;
    struct candidate *candidates = pdnn_alloc(n_tasks + 1, sizeof *candidates);
    for (size_t i = 0; i < n_tasks; i++)
        if (compose->of[i].role == ROLE_COMPOSED)
            add(compose, i, candidates, &count);
    count = take(compose, candidates, count);
    for (size_t i = 0; i < count; i++)
        compose->of[candidates[i].task].role =
            i < compose->request->validate ? ROLE_VALIDATES : ROLE_CALIBRATES;
    free(candidates);
}
