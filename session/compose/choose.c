#include "session/compose/choose.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static const double share_measured = 2.0 / 3;

struct priced {
    double price;
    uint32_t model;
};

static int by_price(const void *a, const void *b) {
    const struct priced *x = a, *y = b;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return (x->model > y->model) - (x->model < y->model);
}

static void sort_models(struct pdnn_choose *choose) {
    struct priced *priced = pdnn_alloc(choose->n_models + 1, sizeof *priced);
    uint32_t *models = pdnn_alloc(choose->n_operators + 1, sizeof *models);
    choose->order = pdnn_arena_alloc(&choose->arena, choose->n_models + 1, sizeof *choose->order);
    for (size_t i = 0; i < choose->n_models; i++)
        for (size_t k = 0; k < choose->models[i].count; k++)
            models[choose->models[i].operators[k]]++;
    for (size_t i = 0; i < choose->n_models; i++) {
        const struct pdnn_choose_model *model = &choose->models[i];
        priced[i] = (struct priced){model->seconds, (uint32_t)i};
        for (size_t k = 0; k < model->count; k++)
            priced[i].price += choose->operators[model->operators[k]].seconds / models[model->operators[k]];
    }
    qsort(priced, choose->n_models, sizeof *priced, by_price);
    for (size_t i = 0; i < choose->n_models; i++)
        choose->order[i] = priced[i].model;
    free(priced);
    free(models);
}

/* Takes the model if what it lacks fits. */
static void take(struct pdnn_choose *choose, struct pdnn_neighbours *neighbours, bool may_predict,
                 double budget_seconds, struct pdnn_choose_model *model) {
    double seconds = model->seconds;
    bool is_predicted = false;
    for (size_t k = 0; k < model->count; k++) {
        struct pdnn_choose_operator *one = &choose->operators[model->operators[k]];
        if (one->fate == PDNN_FATE_MEASURED)
            continue;
        is_predicted = is_predicted || one->fate == PDNN_FATE_PREDICTED;
        if (one->fate == PDNN_FATE_PREDICTED)
            continue;
        one->reason = may_predict ? pdnn_neighbours_reach(neighbours, one->key) : NULL;
        if (may_predict && !one->reason)
            is_predicted = true;
        else
            seconds += one->seconds;
    }
    if (!(choose->seconds + seconds <= budget_seconds) || isinf(seconds))
        return;
    choose->seconds += seconds;
    model->fate = is_predicted ? PDNN_FATE_PREDICTED : PDNN_FATE_MEASURED;
    for (size_t k = 0; k < model->count; k++) {
        struct pdnn_choose_operator *one = &choose->operators[model->operators[k]];
        if (one->fate != PDNN_FATE_LEFT)
            continue;
        if (may_predict && !one->reason) {
            one->fate = PDNN_FATE_PREDICTED;
            continue;
        }
        one->fate = PDNN_FATE_MEASURED;
        pdnn_neighbours_add(neighbours, one->key, 1, NAN);
    }
}

void pdnn_choose(struct pdnn_choose *choose) {
    struct pdnn_neighbours *neighbours = pdnn_neighbours_create(&choose->caches);
    sort_models(choose);
    choose->seconds = 0;
    for (size_t i = 0; i < choose->n_operators; i++) {
        struct pdnn_choose_operator *one = &choose->operators[i];
        one->fate = one->seconds > 0 ? PDNN_FATE_LEFT : PDNN_FATE_MEASURED;
        one->reason = NULL;
        if (one->fate == PDNN_FATE_MEASURED)
            pdnn_neighbours_add(neighbours, one->key, 1, NAN);
    }
    for (size_t i = 0; i < choose->n_models; i++)
        choose->models[i].fate = PDNN_FATE_LEFT;
    for (int pass = 0; pass < 2; pass++) {
        double budget_seconds = choose->budget_seconds * (pass ? 1 : share_measured);
        for (size_t i = 0; i < choose->n_models; i++) {
            struct pdnn_choose_model *model = &choose->models[choose->order[i]];
            if (model->fate == PDNN_FATE_LEFT)
                take(choose, neighbours, pass > 0, budget_seconds, model);
        }
    }
    pdnn_neighbours_destroy(neighbours);
}
