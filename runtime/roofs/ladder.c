#include "runtime/roofs/ladder.h"

#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Minimum for the largest working set, so that it reaches DRAM behind caches the host does not report. */
static const uint64_t least_largest_bytes = UINT64_C(256) << 20;
/* Assumed when the host reports no L1. */
static const uint64_t usual_l1_bytes = UINT64_C(32) << 10;

/* A segment has at least SEGMENT_MIN points. It costs as much as segment_points outliers, so splitting one
 * off has to explain more than that. */
enum { SEGMENT_MIN = 2 };
static const double segment_points = 1.5;

/* A level that is found to be smaller than reported by less than this factor is as large as reported. */
static const double slope = 1.5;

size_t pdnn_ladder_sizes(const struct pdnn_host *host, int64_t threads, uint64_t sizes[PDNN_LADDER_POINTS]) {
    uint64_t l1 = pdnn_host_cache_bytes(host, threads, 0), all = 0, limit = host->memory_limit_bytes / 2;
    for (size_t level = 0; level < PDNN_CACHE_LEVELS; level++)
        all += pdnn_host_cache_bytes(host, threads, level);
    if (!l1)
        l1 = usual_l1_bytes * (uint64_t)threads;
    uint64_t largest = 4 * all > least_largest_bytes ? 4 * all : least_largest_bytes;
    if (limit && largest > limit)
        largest = limit;
    double size = (double)l1 / 4;
    size_t count = 0;
    /* At most PDNN_LADDER_POINTS: use a larger factor than sqrt(2) when that would take more. */
    double steps = log2((double)largest / size) * 2;
    double factor = steps > PDNN_LADDER_POINTS - 1
                        ? pow((double)largest / size, 1.0 / (PDNN_LADDER_POINTS - 1))
                        : sqrt(2);
    do {
        sizes[count++] = (uint64_t)size;
        size *= factor;
    } while (count < PDNN_LADDER_POINTS && size < (double)largest * 1.01);
    return count;
}

/* Logarithms of the points' bandwidths, made non-increasing. */
static void pool(const struct pdnn_ladder_point *points, size_t count, double *pooled) {
    for (size_t i = 0; i < count; i++) {
        pooled[i] = 0;
        for (size_t k = 0; k < PDNN_LADDER_PATTERNS; k++)
            pooled[i] += log(points[i].gbs[k]) / PDNN_LADDER_PATTERNS;
    }
    pdnn_pool_rising(pooled, count);
}

/* Median of sorted values. Points on the slope between two levels do not move it. */
static double center_of(const double *values, size_t first, size_t end) {
    size_t middle = first + (end - first) / 2;
    return (end - first) % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/* Caps the error of one point: it may lie on the slope between two levels. */
static double error_max(void) {
    return log(PDNN_LADDER_STEP) * log(PDNN_LADDER_STEP);
}

static double error_of(const double *values, size_t first, size_t end) {
    double center = center_of(values, first, end), sum = 0;
    for (size_t i = first; i < end; i++)
        sum += fmin((values[i] - center) * (values[i] - center), error_max());
    return sum;
}

/* Search state; end[] are the ends of the segments. */
struct split {
    const double *values;
    size_t count, most;
    size_t n, end[PDNN_LADDER_LEVELS];
    size_t best_n, best_end[PDNN_LADDER_LEVELS];
    double best_error; /* INFINITY: none yet */
};

/* Tries all segmentations from `first` on. before: center of the segment that ends there; error: total error
 * of all segments before, with their fixed cost. */
static void search(struct split *split, size_t first, double before, double error) {
    const double segment_error = segment_points * error_max();
    if (first == split->count && error < split->best_error) {
        split->best_error = error;
        split->best_n = split->n;
        memcpy(split->best_end, split->end, sizeof split->best_end);
    }
    if (split->n == split->most)
        return;
    for (size_t end = first + SEGMENT_MIN; end <= split->count; end++) {
        double center = center_of(split->values, first, end);
        double sum = error + segment_error + error_of(split->values, first, end);
        if (sum >= split->best_error || before - center < log(PDNN_LADDER_STEP))
            continue;
        split->end[split->n++] = end;
        search(split, end, center, sum);
        split->n--;
    }
}

static size_t find_segments(const double *values, size_t count, size_t most, size_t end[PDNN_LADDER_LEVELS]) {
    struct split split = {.values = values, .count = count, .most = most, .best_error = INFINITY};
    search(&split, 0, INFINITY, 0);
    if (!split.best_n) { /* too few points for a segment */
        end[0] = count;
        return 1;
    }
    memcpy(end, split.best_end, sizeof split.best_end);
    return split.best_n;
}

/* Interpolates where bandwidth has dropped half way, between the last point of one level and the first
 * of the next. */
static uint64_t step_at(const struct pdnn_ladder_point *points, const double *values, size_t first,
                        size_t end, size_t next_end) {
    double inner = values[end - 1], outer = values[end];
    double middle = (center_of(values, first, end) + center_of(values, end, next_end)) / 2;
    double part = inner > outer ? (inner - middle) / (inner - outer) : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    double low = log((double)points[end - 1].bytes), high = log((double)points[end].bytes);
    return (uint64_t)exp(low + part * (high - low));
}

/* Mismatch of the measured capacities and the reported levels whose bits are set, both ascending: the sum of
 * |log(measured / reported)|. INFINITY when their counts differ. */
static double misfit(const struct pdnn_host *host, int64_t threads, const struct pdnn_ladder_level *levels,
                     size_t n_caches, unsigned reported) {
    static const double unreported = 10; /* worse than any size mismatch */
    double sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < PDNN_CACHE_LEVELS; i++) {
        uint64_t bytes = pdnn_host_cache_bytes(host, threads, i);
        if (!(reported >> i & 1))
            continue;
        if (at == n_caches)
            return INFINITY;
        sum += bytes ? fabs(log((double)levels[at].capacity_bytes / (double)bytes)) : unreported;
        at++;
    }
    return at == n_caches ? sum : INFINITY;
}

static void name_levels(const struct pdnn_host *host, int64_t threads, struct pdnn_ladder_level *levels,
                        size_t n_levels) {
    unsigned best = 0;
    double least = INFINITY;
    for (unsigned reported = 0; reported < 1U << PDNN_CACHE_LEVELS; reported++) {
        double cost = misfit(host, threads, levels, n_levels - 1, reported);
        best = cost < least ? reported : best;
        least = cost < least ? cost : least;
    }
    for (size_t i = 0, at = 0; i < PDNN_CACHE_LEVELS; i++) {
        if (!(best >> i & 1))
            continue;
        snprintf(levels[at].name, sizeof levels[at].name, "L%zu", i + 1);
        levels[at++].reported_bytes = pdnn_host_cache_bytes(host, threads, i);
    }
    snprintf(levels[n_levels - 1].name, sizeof levels[n_levels - 1].name, "DRAM");
}

/* What lies beyond the reported size, or nearly as far as that, is the slope to the next level: where on it
 * bandwidth has dropped half way is another point in every measurement. */
static void settle(const struct pdnn_ladder_point *points, struct pdnn_ladder_level *level,
                   struct pdnn_ladder_level *next) {
    if (!level->reported_bytes || (double)level->capacity_bytes * slope < (double)level->reported_bytes)
        return;
    level->capacity_bytes = level->reported_bytes;
    while (level->end > level->first + 1 && points[level->end - 1].bytes > level->reported_bytes)
        next->first = --level->end;
    while (next->end > next->first + 1 && points[next->first].bytes <= level->reported_bytes)
        level->end = ++next->first;
}

size_t pdnn_ladder_split(const struct pdnn_host *host, int64_t threads,
                         const struct pdnn_ladder_point *points, size_t count,
                         struct pdnn_ladder_level levels[PDNN_LADDER_LEVELS]) {
    double values[PDNN_LADDER_POINTS];
    size_t end[PDNN_LADDER_LEVELS], most = 1, first = 0;
    for (size_t i = 0; i < PDNN_CACHE_LEVELS; i++)
        most += host->cache_bytes[i] > 0;
    if (most == 1)
        most = PDNN_LADDER_LEVELS;
    pool(points, count, values);
    size_t n_levels = find_segments(values, count, most, end);
    for (size_t i = 0; i < n_levels; i++) {
        levels[i] = (struct pdnn_ladder_level){.first = first, .end = end[i]};
        if (i + 1 < n_levels)
            levels[i].capacity_bytes = step_at(points, values, first, end[i], end[i + 1]);
        first = end[i];
    }
    name_levels(host, threads, levels, n_levels);
    for (size_t i = 0; i + 1 < n_levels; i++)
        settle(points, &levels[i], &levels[i + 1]);
    return n_levels;
}

/* The rungs of each working set, and for each pattern the one with the faster kind of store: "copy" or
 * "copy-streaming". */
struct sets {
    size_t count, first[PDNN_LADDER_POINTS + 1];
    const struct pdnn_roof_row *best[PDNN_LADDER_POINTS][PDNN_STREAM_PATTERN_COUNT];
};

static struct sets sets_of(const struct pdnn_roof_row *rungs, size_t n_rungs) {
    struct sets sets = {.count = 0};
    for (size_t i = 0; i < n_rungs; i++) {
        if (!i || rungs[i].capacity_bytes != rungs[i - 1].capacity_bytes)
            sets.first[sets.count++] = i;
        for (size_t pattern = 0; pattern < PDNN_STREAM_PATTERN_COUNT; pattern++) {
            const struct pdnn_roof_row **best = &sets.best[sets.count - 1][pattern];
            const char *name = pdnn_stream_pattern_name((enum pdnn_stream_pattern)pattern);
            if (strncmp(rungs[i].pattern, name, strlen(name)) == 0 &&
                (!*best || rungs[i].value > (*best)->value))
                *best = &rungs[i];
        }
    }
    sets.first[sets.count] = n_rungs;
    return sets;
}

static struct pdnn_roof_row roof_of(const struct sets *sets, const struct pdnn_ladder_level *level,
                                    uint64_t inner_bytes, size_t pattern) {
    uint64_t least_bytes = inner_bytes * (level->capacity_bytes ? 2 : 4);
    const struct pdnn_roof_row *best = sets->best[level->end - 1][pattern];
    for (size_t set = level->first; set < level->end; set++) {
        const struct pdnn_roof_row *other = sets->best[set][pattern];
        if (other->capacity_bytes >= least_bytes && other->value > best->value)
            best = other;
    }
    struct pdnn_roof_row roof = *best;
    snprintf(roof.kind, sizeof roof.kind, "bandwidth");
    snprintf(roof.pattern, sizeof roof.pattern, "%s",
             pdnn_stream_pattern_name((enum pdnn_stream_pattern)pattern));
    memcpy(roof.level, level->name, sizeof roof.level);
    roof.capacity_bytes = level->capacity_bytes;
    roof.reported_bytes = level->reported_bytes;
    return roof;
}

size_t pdnn_ladder_roofs(const struct pdnn_host *host, int64_t threads, struct pdnn_roof_row *rungs,
                         size_t n_rungs, struct pdnn_roof_row roofs[PDNN_LADDER_ROOFS]) {
    struct pdnn_ladder_point points[PDNN_LADDER_POINTS];
    struct pdnn_ladder_level levels[PDNN_LADDER_LEVELS];
    struct sets sets = sets_of(rungs, n_rungs);
    size_t count = 0;
    for (size_t set = 0; set < sets.count; set++) {
        points[set].bytes = rungs[sets.first[set]].capacity_bytes;
        for (size_t pattern = 0; pattern < PDNN_LADDER_PATTERNS; pattern++)
            points[set].gbs[pattern] = sets.best[set][pattern]->value;
    }
    size_t n_levels = pdnn_ladder_split(host, threads, points, sets.count, levels);
    for (size_t i = 0; i < n_levels; i++) {
        for (size_t pattern = 0; pattern < PDNN_STREAM_PATTERN_COUNT; pattern++)
            roofs[count++] = roof_of(&sets, &levels[i], i ? levels[i - 1].capacity_bytes : 0, pattern);
        for (size_t rung = sets.first[levels[i].first]; rung < sets.first[levels[i].end]; rung++)
            memcpy(rungs[rung].level, levels[i].name, sizeof rungs[rung].level);
    }
    return count;
}
