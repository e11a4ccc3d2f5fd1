#include "runtime/driver/sweep/sweep_groups.h"

#include "base/memory.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>

/* Nothing is decided later. */
static size_t most_turns(const struct pdnn_paired_groups *groups) {
    const size_t last = pdnn_looks[PDNN_LOOKS - 1];
    return groups->rules.rounds > last ? groups->rules.rounds : last;
}

const struct pdnn_paired_group *pdnn_paired_group_of(const struct pdnn_paired_groups *groups, size_t task) {
    return &groups->group[groups->side[task].group];
}

static void form(struct pdnn_paired_groups *groups, const size_t *numbers) {
    size_t most = 0;
    for (size_t i = 0; i < groups->n_sides; i++)
        most = numbers[i] > most ? numbers[i] : most;
    uint32_t *by_number = pdnn_alloc(most + 1, sizeof *by_number); /* from 1; 0: none yet */
    for (size_t i = 0; i < groups->n_sides; i++) {
        uint32_t *known = &by_number[numbers[i]];
        const size_t at = numbers[i] && *known ? *known - 1 : groups->count++;
        struct pdnn_paired_group *group = &groups->group[at];
        assert(group->n < PDNN_PAIRS_SIDES);
        *known = (uint32_t)at + 1;
        groups->side[i].group = (uint32_t)at;
        groups->comparisons += group->n > 0 ? groups->rules.shards : 0;
        group->member[group->n++] = (uint32_t)i;
    }
    free(by_number);
}

void pdnn_paired_init(struct pdnn_paired_groups *groups, const struct pdnn_paired_rules *rules,
                      const size_t *numbers, size_t n_tasks) {
    *groups = (struct pdnn_paired_groups){.rules = *rules, .n_sides = n_tasks};
    groups->side = pdnn_alloc(n_tasks + 1, sizeof *groups->side);
    groups->group = pdnn_alloc(n_tasks + 1, sizeof *groups->group);
    groups->order = pdnn_alloc(n_tasks + 1, sizeof *groups->order);
    form(groups, numbers);
}

void pdnn_paired_finish(struct pdnn_paired_groups *groups) {
    for (size_t i = 0; i < groups->n_sides; i++)
        free(groups->side[i].turns);
    free(groups->side);
    free(groups->group);
    free(groups->order);
    free(groups->logs);
    free(groups->scratch);
    *groups = (struct pdnn_paired_groups){.count = 0};
}

void pdnn_paired_order(struct pdnn_paired_groups *groups, size_t pass, const uint32_t *spread,
                       uint32_t *order) {
    size_t count = 0, at = 0;
    for (size_t i = 0; i < groups->n_sides; i++)
        if (pdnn_paired_group_of(groups, spread[i])->member[0] == spread[i])
            groups->order[count++] = groups->side[spread[i]].group;
    struct pdnn_rng rng = {pdnn_rng_at(groups->rules.seed, pass), 0};
    if (pass > 1)
        pdnn_rng_shuffle(&rng, groups->order, count, sizeof *groups->order);
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_paired_group *group = &groups->group[groups->order[i]];
        for (size_t k = 0; k < group->n; k++)
            order[at++] = group->member[pass % 2 ? k : group->n - 1 - k];
    }
}

void pdnn_paired_mark(struct pdnn_paired_groups *groups, size_t task, struct pdnn_visit *visit) {
    struct pdnn_paired_group *group = &groups->group[groups->side[task].group];
    const size_t turn = groups->side[task].n_turns;
    const struct pdnn_visit_choices *first = &group->first, *own = &visit->choices;
    if (!own->questions)
        return;
    if (!first->questions || group->first_turn != turn) {
        group->first = *own;
        group->first_turn = turn;
    } else if (first->questions == own->questions && first->answers != own->answers) {
        visit->flags |= PDNN_FLAG_OTHER_CHOICES;
    }
}

void pdnn_paired_add(struct pdnn_paired_groups *groups, size_t task, struct pdnn_turn turn,
                     uint64_t spent_ns) {
    struct pdnn_paired_side *side = &groups->side[task];
    side->turns = pdnn_grow(side->turns, &side->room, side->n_turns, sizeof *side->turns);
    side->turns[side->n_turns++] = turn;
    side->visits += turn.ns > 0;
    side->spent_ns += spent_ns;
}

/* The first open member of a group; n: all have ended. */
static size_t first_of(const struct pdnn_paired_groups *groups, const struct pdnn_paired_group *group) {
    size_t first = 0;
    while (first < group->n && groups->side[group->member[first]].closed)
        first++;
    return first;
}

/* What was decided beside a first member says nothing of the next one. */
void pdnn_paired_end(struct pdnn_paired_groups *groups, size_t task) {
    struct pdnn_paired_group *group = &groups->group[groups->side[task].group];
    const size_t first = first_of(groups, group);
    groups->side[task].closed = true;
    for (size_t k = 0; first < group->n && group->member[first] == task && k < group->n; k++)
        group->verdict[k] = PDNN_PAIRED_UNDECIDED;
}

static bool is_look(size_t count) {
    for (int look = 0; look < PDNN_LOOKS; look++)
        if (pdnn_looks[look] == count)
            return true;
    return false;
}

/* Looks at the pairs of two sides. What an earlier look decided stays. */
static enum pdnn_paired look(struct pdnn_paired_groups *groups, const struct pdnn_paired_side *a,
                             const struct pdnn_paired_side *b, enum pdnn_paired before, bool is_first) {
    if (before != PDNN_PAIRED_UNDECIDED)
        return before;
    if (groups->logs_room < a->n_turns) {
        groups->logs_room = a->n_turns + most_turns(groups);
        groups->logs = pdnn_resize(groups->logs, groups->logs_room, sizeof *groups->logs);
        groups->scratch = pdnn_resize(groups->scratch, groups->logs_room, sizeof *groups->scratch);
    }
    const size_t count = pdnn_pairs_logs(a->turns, a->n_turns, b->turns, b->n_turns, groups->logs);
    if (!is_first && !is_look(count) && a->visits > groups->rules.rounds)
        return before;
    return pdnn_pairs_judge(groups->logs, count, groups->comparisons, groups->rules.precision,
                            groups->scratch);
}

/* Whether the verdict of every open member beside the first one is known. */
static bool is_decided(struct pdnn_paired_groups *groups, struct pdnn_paired_group *group, size_t first,
                       bool is_first) {
    bool all = true;
    for (size_t k = first + 1; k < group->n; k++) {
        const struct pdnn_paired_side *a = &groups->side[group->member[first]],
                                      *b = &groups->side[group->member[k]];
        if (b->closed)
            continue;
        group->verdict[k] = look(groups, a, b, group->verdict[k], is_first);
        all = all && group->verdict[k] != PDNN_PAIRED_UNDECIDED;
    }
    return all;
}

void pdnn_paired_judge(struct pdnn_paired_groups *groups, size_t task, bool is_first) {
    struct pdnn_paired_group *group = &groups->group[groups->side[task].group];
    const size_t rounds = groups->rules.rounds;
    const size_t first = first_of(groups, group);
    size_t n = 0, least = SIZE_MAX, most = 0, visits = SIZE_MAX;
    uint64_t spent_ns = 0;
    for (size_t k = first; k < group->n; k++) {
        const struct pdnn_paired_side *side = &groups->side[group->member[k]];
        if (side->closed)
            continue;
        n++;
        least = side->n_turns < least ? side->n_turns : least;
        most = side->n_turns > most ? side->n_turns : most;
        visits = side->visits < visits ? side->visits : visits;
        spent_ns += side->spent_ns;
    }
    group->is_within = n && least < most;
    group->round = group->is_within ? most : most + 1;
    group->has_rounds = n && least == most && visits >= rounds;
    group->is_open = n && (least < most || most < most_turns(groups));
    if (!group->is_open || !group->has_rounds)
        return;
    const bool has_time = spent_ns + spent_ns / most <= groups->rules.max_time_ns;
    group->is_open = n > 1 && rounds > 1 && has_time && !is_decided(groups, group, first, is_first);
}
