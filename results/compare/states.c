#include "results/compare/states.h"

#include "base/memory.h"
#include "base/stats.h"
#include "results/stats/means.h"
#include "runtime/protocol/standing.h"

#include <math.h>
#include <stdlib.h>

enum { NEAR, FAR, STATES };

static const char *const names[STATES] = {"near", "far"};

/* One side's visits that make its row. */
struct side {
    double *ns[STATES], *all_ns; /* medians; of all, whose distance is known or not */
    size_t count[STATES], n_all;
};

static void finish(struct side *side) {
    for (int state = 0; state < STATES; state++)
        free(side->ns[state]);
    free(side->all_ns);
}

/* Sorts them by their threads' distance: up to `between` near, beyond it far. */
static void sort_visits(const struct pdnn_instance_visits *of, double between_ns, struct side *side) {
    const struct pdnn_standing standing = pdnn_standing_of(of->visit, of->count);
    *side = (struct side){.all_ns = pdnn_alloc(of->count, sizeof *side->all_ns)};
    for (int state = 0; state < STATES; state++)
        side->ns[state] = pdnn_alloc(of->count, sizeof *side->ns[state]);
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_visit *visit = &of->visit[i];
        const double distance_ns = visit->hardware.handoff_ns;
        if (!pdnn_visit_is(visit, PDNN_VISITS_ROW, &standing))
            continue;
        side->all_ns[side->n_all++] = visit->median_ns;
        if (distance_ns > 0) {
            const int state = distance_ns > between_ns ? FAR : NEAR;
            side->ns[state][side->count[state]++] = visit->median_ns;
        }
    }
}

/* The geometric mean of the least and the greatest distance of both sides. */
static double between(const struct pdnn_instance_visits of[2]) {
    double least = INFINITY, most = 0;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < of[side].count; i++) {
            const double distance_ns = of[side].visit[i].hardware.handoff_ns;
            least = distance_ns > 0 ? fmin(least, distance_ns) : least;
            most = fmax(most, distance_ns);
        }
    return sqrt(least * most);
}

static int choose(const struct side sides[2]) {
    size_t most = 0;
    int chosen = STATES;
    for (int state = 0; state < STATES; state++) {
        const size_t a = sides[0].count[state], b = sides[1].count[state];
        if (a < PDNN_STATE_VISITS || b < PDNN_STATE_VISITS || a + b <= most)
            continue;
        most = a + b;
        chosen = state;
    }
    return chosen;
}

void pdnn_states_choose(const struct pdnn_instance_visits (*of)[2], size_t n,
                        struct pdnn_state_choice *choices) {
    struct side(*sides)[2] = pdnn_alloc(n, sizeof *sides);
    int *chosen = pdnn_alloc(n, sizeof *chosen);
    struct pdnn_scatter *scatters = pdnn_alloc(n, sizeof *scatters), pool[2];
    for (size_t i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++)
            sort_visits(&of[i][side], between(of[i]), &sides[i][side]);
        chosen[i] = choose(sides[i]);
    }
    for (int side = 0; side < 2; side++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (chosen[i] < STATES)
                scatters[count++] =
                    pdnn_visits_scatter(sides[i][side].ns[chosen[i]], sides[i][side].count[chosen[i]]);
        pool[side] = pdnn_scatter_pool(scatters, count);
    }
    for (size_t i = 0; i < n; i++) {
        choices[i] = (struct pdnn_state_choice){.name = chosen[i] < STATES ? names[chosen[i]] : NULL};
        for (int side = 0; side < 2 && choices[i].name; side++) {
            struct side *of_side = &sides[i][side];
            const struct pdnn_interval interval = pdnn_visits_interval(
                of_side->ns[chosen[i]], of_side->count[chosen[i]], pool[side], of_side->ns[1 - chosen[i]]);
            choices[i].factor[side] = interval.center / pdnn_median(of_side->all_ns, of_side->n_all);
            choices[i].half[side] = interval.high > 0 ? pdnn_log_half(interval.low, interval.high) : NAN;
        }
        finish(&sides[i][0]);
        finish(&sides[i][1]);
    }
    free(sides);
    free(chosen);
    free(scatters);
}
