#include "runtime/roofs/ladder_roofs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The rungs of each working set. */
struct sets {
    size_t count, first[PDNN_LADDER_POINTS + 1];
    struct pdnn_ceiling *rungs;
};

static struct sets sets_of(struct pdnn_ceiling *rungs, size_t n_rungs) {
    struct sets sets = {.rungs = rungs};
    for (size_t i = 0; i < n_rungs; i++) {
        if (!i || rungs[i].capacity_bytes != rungs[i - 1].capacity_bytes)
            sets.first[sets.count++] = i;
    }
    sets.first[sets.count] = n_rungs;
    return sets;
}

/* "copy" and "copy-streaming" */
static bool has_pattern(const struct pdnn_ceiling *rung, size_t pattern) {
    const char *name = pdnn_stream_pattern_name((enum pdnn_stream_pattern)pattern);
    size_t length = strlen(name);
    return strncmp(rung->pattern, name, length) == 0 &&
           (!rung->pattern[length] || rung->pattern[length] == '-');
}

/* The pattern's rung with the faster kind of store. */
static const struct pdnn_ceiling *better_store(const struct sets *sets, size_t set, size_t pattern) {
    const struct pdnn_ceiling *best = NULL;
    for (size_t i = sets->first[set]; i < sets->first[set + 1]; i++) {
        const struct pdnn_ceiling *rung = &sets->rungs[i];
        if (has_pattern(rung, pattern) && (!best || rung->value > best->value))
            best = rung;
    }
    return best;
}

static struct pdnn_ceiling roof_of(const struct sets *sets, const struct pdnn_ladder_level *level,
                                   uint64_t inner_bytes, size_t pattern) {
    uint64_t least_bytes = inner_bytes * (level->capacity_bytes ? 2 : 4);
    const struct pdnn_ceiling *best = better_store(sets, level->end - 1, pattern);
    for (size_t set = level->first; set < level->end; set++) {
        const struct pdnn_ceiling *other = better_store(sets, set, pattern);
        if (other->capacity_bytes >= least_bytes && other->value > best->value)
            best = other;
    }
    struct pdnn_ceiling roof = *best;
    snprintf(roof.kind, sizeof roof.kind, "bandwidth");
    snprintf(roof.pattern, sizeof roof.pattern, "%s",
             pdnn_stream_pattern_name((enum pdnn_stream_pattern)pattern));
    memcpy(roof.level, level->name, sizeof roof.level);
    roof.capacity_bytes = level->capacity_bytes;
    roof.reported_bytes = level->reported_bytes;
    return roof;
}

size_t pdnn_ladder_roofs(const struct pdnn_host *host, int64_t threads, struct pdnn_ceiling *rungs,
                         size_t n_rungs, struct pdnn_ceiling roofs[PDNN_LADDER_ROOFS]) {
    struct pdnn_ladder_point points[PDNN_LADDER_POINTS];
    struct pdnn_ladder_level levels[PDNN_LADDER_LEVELS];
    struct sets sets = sets_of(rungs, n_rungs);
    size_t count = 0;
    for (size_t set = 0; set < sets.count; set++) {
        points[set].bytes = rungs[sets.first[set]].capacity_bytes;
        for (size_t pattern = 0; pattern < PDNN_LADDER_PATTERNS; pattern++)
            points[set].gbs[pattern] = better_store(&sets, set, pattern)->value;
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
