#include "results/epochs/length_groups.h"

#include <math.h>
#include <stdlib.h>

const char *const pdnn_seqpoint_keys[] = {"source", "target", "sum", "maximum", "both", NULL};

/* What is taken for an iteration's length where one number is needed: of both, their sum. */
static int64_t length_by_key(enum pdnn_seqpoint_key key, const struct pdnn_epoch_kind *kind) {
    int64_t source = kind->length[0], target = kind->length[1];
    switch (key) {
    case PDNN_KEY_SOURCE:
        return source;
    case PDNN_KEY_TARGET:
        return target;
    case PDNN_KEY_MAXIMUM:
        return source > target ? source : target;
    default:
        return source + target;
    }
}

bool pdnn_length_is_tie(double one, double other, double scale) {
    return fabs(one - other) <= 1e-12 * fabs(scale);
}

/* A kind on its way into a group. */
struct member {
    int64_t key[2];
    size_t kind;
};

static int compare_members(const void *a, const void *b) {
    const struct member *one = a, *other = b;
    for (int i = 0; i < 2; i++) {
        if (one->key[i] != other->key[i])
            return one->key[i] < other->key[i] ? -1 : 1;
    }
    return (one->kind > other->kind) - (one->kind < other->kind);
}

static double both_lengths(const struct pdnn_epoch *epoch, size_t kind) {
    return (double)(epoch->kind[kind].length[0] + epoch->kind[kind].length[1]);
}

/* The members of one group: its mean, and the kind nearest to it. */
static struct pdnn_length_group summarize(const struct pdnn_epoch *epoch, const double *statistic,
                                          const struct member *member, size_t count) {
    struct pdnn_length_group group = {.key = {member->key[0], member->key[1]}, .kind = member->kind};
    double sum = 0, sum_of_lengths = 0;
    for (size_t i = 0; i < count; i++) {
        double iterations = (double)epoch->kind[member[i].kind].count;
        group.count += epoch->kind[member[i].kind].count;
        sum += iterations * statistic[member[i].kind];
        sum_of_lengths += iterations * both_lengths(epoch, member[i].kind);
    }
    group.mean = count > 1 ? sum / (double)group.count : statistic[member->kind];
    double middle = sum_of_lengths / (double)group.count;
    for (size_t i = 1; i < count; i++) {
        double best = fabs(statistic[group.kind] - group.mean),
               distance = fabs(statistic[member[i].kind] - group.mean);
        bool is_tie = pdnn_length_is_tie(distance, best, group.mean);
        if (is_tie ? fabs(both_lengths(epoch, member[i].kind) - middle) <
                         fabs(both_lengths(epoch, group.kind) - middle)
                   : distance < best)
            group.kind = member[i].kind;
    }
    return group;
}

enum pdnn_status pdnn_length_groups(const struct pdnn_epoch *epoch, enum pdnn_seqpoint_key key,
                                    const double *statistic, struct pdnn_arena *arena,
                                    struct pdnn_length_groups *groups, struct pdnn_err *err) {
    struct member *member = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *member);
    double *length = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *length);
    struct pdnn_length_groups made = {
        .group = pdnn_arena_alloc(arena, epoch->n_kinds, sizeof *made.group),
        .statistic = statistic ? statistic : length,
    };
    if (epoch->columns < 2 && key != PDNN_KEY_SOURCE && key != PDNN_KEY_BOTH)
        key = PDNN_KEY_SOURCE;
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        const struct pdnn_epoch_kind *kind = &epoch->kind[k];
        bool both = key == PDNN_KEY_BOTH;
        length[k] = (double)length_by_key(key, kind);
        member[k] = (struct member){{both ? kind->length[0] : length_by_key(key, kind), //
                                     both ? kind->length[1] : 0},
                                    k};
        if (!(made.statistic[k] >= 0) || !isfinite(made.statistic[k]))
            return pdnn_fail(err, PDNN_INVALID, "a statistic of an iteration is negative or not a number");
        made.total += (double)kind->count * made.statistic[k];
    }
    if (!(made.total > 0))
        return pdnn_fail(err, PDNN_INVALID, "the statistic is 0 for all iterations");
    qsort(member, epoch->n_kinds, sizeof *member, compare_members);
    for (size_t start = 0, end; start < epoch->n_kinds; start = end) {
        for (end = start + 1; end < epoch->n_kinds && member[end].key[0] == member[start].key[0] &&
                              member[end].key[1] == member[start].key[1];)
            end++;
        made.group[made.count++] = summarize(epoch, made.statistic, member + start, end - start);
    }
    *groups = made;
    return PDNN_OK;
}
