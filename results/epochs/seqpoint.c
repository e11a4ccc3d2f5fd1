#include "results/epochs/seqpoint.h"

#include <math.h>
#include <stdlib.h>

enum { UNIQUE_MAX = 10, BINS = 5 };
static const double ERROR = 0.01;

/* A group of iterations and the bin that it falls into. */
struct binned {
    size_t bin, group;
};

static int compare_binned(const void *a, const void *b) {
    const struct binned *one = a, *other = b;
    if (one->bin != other->bin)
        return one->bin < other->bin ? -1 : 1;
    return (one->group > other->group) - (one->group < other->group);
}

static int compare_points(const void *a, const void *b) {
    const struct pdnn_representative *one = a, *other = b;
    return (one->kind > other->kind) - (one->kind < other->kind);
}

/* The ranges of the keys. */
struct ranges {
    int64_t low[2], high[2];
};

static struct ranges find_ranges(const struct pdnn_length_groups *groups) {
    struct ranges ranges = {{INT64_MAX, INT64_MAX}, {0, 0}};
    for (size_t i = 0; i < groups->count; i++) {
        for (int d = 0; d < 2; d++) {
            int64_t key = groups->group[i].key[d];
            ranges.low[d] = key < ranges.low[d] ? key : ranges.low[d];
            ranges.high[d] = key > ranges.high[d] ? key : ranges.high[d];
        }
    }
    return ranges;
}

/* Of `bins` bins of equal width; the longest length belongs to the last. */
static size_t bin_of(const struct ranges *ranges, const struct pdnn_length_group *group, size_t bins) {
    size_t bin = 0;
    for (int d = 0; d < 2; d++) {
        uint64_t width = (uint64_t)(ranges->high[d] - ranges->low[d]),
                 offset = (uint64_t)(group->key[d] - ranges->low[d]);
        uint64_t at = width ? offset * bins / width : 0;
        bin = bin * bins + (at < bins ? at : bins - 1);
    }
    return bin;
}

/* The group whose statistic is nearest to the mean of all of them, standing for their iterations. */
static struct pdnn_representative represent(const struct pdnn_length_groups *groups,
                                            const struct binned *binned, size_t count) {
    const struct pdnn_length_group *best = &groups->group[binned->group];
    double sum = 0, iterations = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_length_group *group = &groups->group[binned[i].group];
        iterations += (double)group->count;
        sum += (double)group->count * group->mean;
    }
    double mean = sum / iterations;
    for (size_t i = 1; i < count; i++) {
        const struct pdnn_length_group *group = &groups->group[binned[i].group];
        double distance = fabs(group->mean - mean), least = fabs(best->mean - mean);
        bool is_tie = pdnn_length_is_tie(distance, least, mean);
        bool is_shorter = group->key[0] + group->key[1] < best->key[0] + best->key[1];
        if (is_tie ? is_shorter : distance < least)
            best = group;
    }
    return (struct pdnn_representative){best->kind, iterations, 1};
}

static void take_all(const struct pdnn_length_groups *groups, struct pdnn_representatives *points) {
    points->count = groups->count;
    for (size_t i = 0; i < groups->count; i++)
        points->point[i] =
            (struct pdnn_representative){groups->group[i].kind, (double)groups->group[i].count, 1};
}

/* One for each bin that is not empty. */
static void take_bins(const struct pdnn_length_groups *groups, size_t bins, struct binned *binned,
                      struct pdnn_representatives *points) {
    struct ranges ranges = find_ranges(groups);
    for (size_t i = 0; i < groups->count; i++)
        binned[i] = (struct binned){bin_of(&ranges, &groups->group[i], bins), i};
    qsort(binned, groups->count, sizeof *binned, compare_binned);
    points->count = 0;
    for (size_t start = 0, end; start < groups->count; start = end) {
        for (end = start + 1; end < groups->count && binned[end].bin == binned[start].bin;)
            end++;
        points->point[points->count++] = represent(groups, binned + start, end - start);
    }
}

enum pdnn_status pdnn_seqpoint_select(const struct pdnn_seqpoint_request *request, struct pdnn_arena *arena,
                                      struct pdnn_seqpoints *seqpoints, struct pdnn_err *err) {
    struct pdnn_length_groups groups;
    size_t unique_max = request->unique_max ? request->unique_max : UNIQUE_MAX;
    size_t bins = request->bins ? request->bins : BINS;
    double allowed = request->error > 0 ? request->error : ERROR;
    if (pdnn_length_groups(request->epoch, request->key, request->statistic, arena, &groups, err) != PDNN_OK)
        return err->status;
    struct binned *binned = pdnn_arena_alloc(arena, groups.count, sizeof *binned);
    struct pdnn_seqpoints made = {.distinct = groups.count};
    made.points.point = pdnn_arena_alloc(arena, groups.count, sizeof *made.points.point);
    if (request->key == PDNN_KEY_BOTH && request->epoch->columns > 1)
        bins = (size_t)ceil(sqrt((double)bins));
    for (;; bins++) {
        bool each = groups.count <= unique_max || bins >= groups.count;
        if (each)
            take_all(&groups, &made.points);
        else
            take_bins(&groups, bins, binned, &made.points);
        qsort(made.points.point, made.points.count, sizeof *made.points.point, compare_points);
        made.bins = each ? 0 : bins;
        made.error =
            pdnn_projection_error(pdnn_representatives_total(&made.points, groups.statistic), groups.total);
        if (each || fabs(made.error) <= allowed)
            break;
    }
    *seqpoints = made;
    return PDNN_OK;
}
