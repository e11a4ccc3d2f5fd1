/* Costs of a sweep's instances without building a graph for each: see models/cost.h. */
#include "models/cost.h"

#include "base/memory.h"
#include "base/rng.h"
#include "models/build.h"
#include "models/op.h"

#include <stdlib.h>
#include <string.h>

/* 10 MB. */
enum { SLOTS = 1 << 15, FIELDS = sizeof(struct pdnn_totals) / sizeof(uint64_t) };

_Static_assert(sizeof(struct pdnn_totals) == FIELDS * sizeof(uint64_t), "totals are counts only");

/* A struct pdnn_totals, count by count. */
union counts {
    struct pdnn_totals totals;
    uint64_t count[FIELDS];
};

/* Which nodes of the graphs are at their limit (pdnn_pass_def.saturation). */
struct pattern {
    uint64_t hash;
    bool up, down; /* it is the same for all larger minibatches, for all smaller ones */
};

/* Costs at one minibatch: of depth 1, and what each further layer adds. Without a depth, of the instance. */
struct line {
    int64_t minibatch;
    union counts base, layer;
    bool has_layer;
    struct pattern pattern;
};

/* What is known of the instances with one key. With two lines, each count is constant + minibatch * slope. */
struct slot {
    struct pdnn_instance_print print; /* {0}: free */
    int n_lines;
    bool is_affine;
    int64_t least, most; /* minibatches for which the slopes hold */
    struct line line;    /* the first one */
    union counts base_slope, layer_slope;
};

struct pdnn_cost_memo {
    struct pdnn_instance key; /* of the last slot found, with neither depth nor minibatch */
    struct slot *last;
    struct slot slots[SLOTS];
};

enum pdnn_status pdnn_cost_memo_create(struct pdnn_cost_memo **memo, struct pdnn_err *err) {
    *memo = pdnn_alloc(1, sizeof **memo);
    return *memo ? PDNN_OK : pdnn_fail(err, PDNN_NO_MEMORY, "no memory to remember costs");
}

void pdnn_cost_memo_destroy(struct pdnn_cost_memo *memo) {
    free(memo);
}

static void note_pattern(const struct pdnn_graph *graph, struct pattern *pattern) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_pass_def *pass = &node->op->pass[node->pass];
        if (!pass->saturation)
            continue;
        const struct pdnn_saturation is = pass->saturation(graph, node);
        pattern->hash = pdnn_rng_mix(pattern->hash + 2 * i + is.at_limit);
        pattern->up = pattern->up && is.at_limit && is.limit_is_fixed;
        pattern->down = pattern->down && !is.at_limit && is.limit_is_fixed;
    }
}

static enum pdnn_status build_counts(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                     union counts *counts, struct pattern *pattern, struct pdnn_err *err) {
    struct pdnn_graph graph;
    pdnn_arena_reset(arena);
    enum pdnn_status status = pdnn_instance_graph(instance, arena, &graph, err);
    if (status == PDNN_OK)
        status = pdnn_cost_graph(&graph, &counts->totals, err);
    if (status == PDNN_OK)
        note_pattern(&graph, pattern);
    return status;
}

/* Builds what one line needs: two shallow graphs, or the instance's own if its family has no depth. */
static enum pdnn_status build_line(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                   struct line *line, struct pdnn_err *err) {
    int depth = instance->family->depth_param;
    struct pdnn_instance shallow = *instance;
    union counts next = {0};
    *line = (struct line){.minibatch = instance->hyper[instance->family->minibatch_param].number,
                          .pattern = {.up = true, .down = true}};
    if (depth < 0)
        return build_counts(instance, arena, &line->base, &line->pattern, err);
    line->has_layer = instance->hyper[depth].number > PDNN_COST_DEPTH_BASE;
    shallow.hyper[depth].number = PDNN_COST_DEPTH_BASE;
    enum pdnn_status status = build_counts(&shallow, arena, &line->base, &line->pattern, err);
    shallow.hyper[depth].number = PDNN_COST_DEPTH_BASE + 1;
    if (status == PDNN_OK && line->has_layer)
        status = build_counts(&shallow, arena, &next, &line->pattern, err);
    for (int i = 0; i < FIELDS && status == PDNN_OK && line->has_layer; i++) {
        if (__builtin_sub_overflow(next.count[i], line->base.count[i], &line->layer.count[i]))
            status = pdnn_fail(err, PDNN_INTERNAL, "a deeper model costs less");
    }
    return status;
}

/* From values at two minibatches, `distance` apart, to a slope and the value at 0; false if that is not how
 * the two are related. */
static bool split(uint64_t *near, uint64_t far, uint64_t *slope, uint64_t minibatch, uint64_t distance) {
    uint64_t step, growth;
    if (__builtin_sub_overflow(far, *near, &growth) || growth % distance)
        return false;
    *slope = growth / distance;
    return !__builtin_mul_overflow(*slope, minibatch, &step) && !__builtin_sub_overflow(*near, step, near);
}

/* Turns the slot's line and another one into constants and slopes; false if they do not belong together. */
static bool combine(struct slot *slot, const struct line *other) {
    const struct line *near = &slot->line, *far = other;
    if (slot->n_lines != 1 || slot->is_affine || near->has_layer != far->has_layer ||
        near->pattern.hash != far->pattern.hash || near->minibatch == far->minibatch)
        return false;
    if (near->minibatch > far->minibatch) {
        near = other;
        far = &slot->line;
    }
    struct slot made = *slot;
    uint64_t distance = (uint64_t)(far->minibatch - near->minibatch);
    bool is_affine = true;
    made.line = *near;
    for (int i = 0; i < FIELDS && is_affine; i++)
        is_affine = split(&made.line.base.count[i], far->base.count[i], &made.base_slope.count[i],
                          (uint64_t)near->minibatch, distance) &&
                    split(&made.line.layer.count[i], far->layer.count[i], &made.layer_slope.count[i],
                          (uint64_t)near->minibatch, distance);
    if (!is_affine)
        return false;
    made.is_affine = true;
    made.least = near->pattern.down ? 1 : near->minibatch;
    made.most = far->pattern.up ? INT64_MAX : far->minibatch;
    *slot = made;
    return true;
}

/* Whether the slopes also hold at the line's minibatch, from now on. */
static bool widen(struct slot *slot, const struct line *line) {
    if (!slot->is_affine || slot->line.has_layer != line->has_layer ||
        slot->line.pattern.hash != line->pattern.hash)
        return false;
    slot->least = line->minibatch < slot->least ? line->minibatch : slot->least;
    slot->most = line->minibatch > slot->most ? line->minibatch : slot->most;
    return true;
}

/* What does not go with the slot's lines starts it afresh. */
static void add_line(struct slot *slot, const struct line *line) {
    if (!combine(slot, line) && !widen(slot, line))
        *slot = (struct slot){.print = slot->print, .n_lines = 1, .line = *line};
}

/* Above this, the graph itself decides whether everything fits. */
static const uint64_t safe_max = UINT64_C(1) << 62;

/* *value = constant + factor * slope; false if it is above safe_max. */
static bool extend(uint64_t constant, uint64_t factor, uint64_t slope, uint64_t *value) {
    uint64_t growth;
    return !__builtin_mul_overflow(factor, slope, &growth) &&
           !__builtin_add_overflow(constant, growth, value) && *value <= safe_max;
}

/* The instance's counts from its slot; false if the slot does not tell them. */
static bool read_slot(const struct slot *slot, const struct pdnn_instance *instance, union counts *counts) {
    const struct pdnn_family_def *family = instance->family;
    int64_t minibatch = instance->hyper[family->minibatch_param].number;
    uint64_t layers = family->depth_param < 0
                          ? 0
                          : (uint64_t)(instance->hyper[family->depth_param].number - PDNN_COST_DEPTH_BASE);
    bool is_line = !slot->is_affine && slot->line.minibatch == minibatch;
    if (layers && !slot->line.has_layer)
        return false;
    if (!is_line && !(slot->is_affine && minibatch >= slot->least && minibatch <= slot->most))
        return false;
    uint64_t examples = is_line ? 0 : (uint64_t)minibatch, base, layer;
    bool fits = true;
    for (int i = 0; i < FIELDS && fits; i++)
        fits = extend(slot->line.base.count[i], examples, slot->base_slope.count[i], &base) &&
               extend(slot->line.layer.count[i], examples, slot->layer_slope.count[i], &layer) &&
               extend(base, layers, layer, &counts->count[i]);
    return fits;
}

static struct slot *find_slot(struct pdnn_cost_memo *memo, const struct pdnn_instance *instance) {
    const struct pdnn_family_def *family = instance->family;
    struct pdnn_instance key = *instance;
    key.hyper[family->minibatch_param].number = 0;
    if (family->depth_param >= 0)
        key.hyper[family->depth_param].number = 0;
    if (memo->last && memo->key.family == family &&
        memcmp(memo->key.hyper, key.hyper, family->n_params * sizeof *key.hyper) == 0 &&
        memcmp(memo->key.setting, key.setting, sizeof key.setting) == 0)
        return memo->last;
    const struct pdnn_instance_print print = pdnn_instance_print(&key);
    struct slot *slot = &memo->slots[print.a % SLOTS];
    if (slot->print.a != print.a || slot->print.b != print.b)
        *slot = (struct slot){.print = print};
    memo->key = key;
    memo->last = slot;
    return slot;
}

enum pdnn_status pdnn_cost_memo_find(struct pdnn_cost_memo *memo, const struct pdnn_instance *instance,
                                     struct pdnn_arena *arena, struct pdnn_totals *totals,
                                     struct pdnn_err *err) {
    struct slot *slot = find_slot(memo, instance), made = {.n_lines = 1};
    union counts counts;
    bool is_known = slot->n_lines && read_slot(slot, instance, &counts);
    if (is_known) {
        pdnn_arena_reset(arena);
    } else if (build_line(instance, arena, &made.line, NULL) == PDNN_OK) {
        is_known = read_slot(&made, instance, &counts);
        add_line(slot, &made.line);
    }
    if (!is_known)
        return pdnn_cost_instance(instance, arena, false, totals, err);
    *totals = counts.totals;
    return PDNN_OK;
}
