#include "session/compose/choose.h"

#include <math.h>

static const double share_measured = 2.0 / 3;

/* Takes the model if what it lacks is at most `most_seconds` and fits. False if it only does not fit. */
static bool take(struct pdnn_choose *choose, struct pdnn_neighbours *neighbours, bool may_predict,
                 double budget_seconds, double most_seconds, struct pdnn_choose_model *model) {
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
    if (isinf(seconds) || seconds > most_seconds)
        return true;
    if (!(choose->seconds + seconds <= budget_seconds))
        return false;
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
    return true;
}

/* Takes models in their order, up to the first that takes a small part of the budget and does not fit: with
 * cheaper ones in its place, those taken would not be a sample of all. If there is none, longer ones too. */
static void take_all(struct pdnn_choose *choose, struct pdnn_neighbours *neighbours, bool may_predict,
                     double budget_seconds) {
    bool all_fit = true;
    for (int is_long = 0; is_long < 2 && all_fit; is_long++) {
        const double most_seconds = is_long ? INFINITY : choose->most_seconds;
        for (size_t i = 0; i < choose->n_models && (all_fit || is_long); i++) {
            struct pdnn_choose_model *model = &choose->models[choose->order[i]];
            if (model->fate == PDNN_FATE_LEFT)
                all_fit = take(choose, neighbours, may_predict, budget_seconds, most_seconds, model);
        }
    }
}

void pdnn_choose(struct pdnn_choose *choose) {
    struct pdnn_neighbours *neighbours = pdnn_neighbours_create(&choose->caches);
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
    take_all(choose, neighbours, false, choose->budget_seconds * share_measured);
    take_all(choose, neighbours, true, choose->budget_seconds);
    pdnn_neighbours_destroy(neighbours);
}
