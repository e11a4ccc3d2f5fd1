/* Costs of a sweep's instances without building a graph for each: see models/cost/cost.h. */
#include "models/cost/cost.h"

#include "base/memory.h"
#include "models/build.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "models/cost/partners.h"

#include <stdlib.h>
#include <string.h>

/* Outlines take up to BYTES_MAX; one that does not fit any more takes the place of all. */
enum {
    SLOTS = 1 << 13,
    WAYS = 4,
    BYTES_MAX = 24 << 20,
    FIELDS = sizeof(struct pdnn_totals) / sizeof(uint64_t)
};

_Static_assert(sizeof(struct pdnn_totals) == FIELDS * sizeof(uint64_t), "totals are counts only");

/* A struct pdnn_totals, count by count. */
union counts {
    struct pdnn_totals totals;
    uint64_t count[FIELDS];
};

/* How far a node is beyond its limit (pdnn_pass_def.saturation): base + minibatch * slope. */
struct margin {
    int64_t base, slope;
};

/* A chunk of memory (models/cost/memory.h) of bytes + minibatch * slope. */
struct life {
    uint64_t bytes, slope;
    uint32_t first, last;
};

/* Two chunks that would be one if they had the same size. */
struct pair {
    uint32_t a, b;
};

/* What costs and memory need of a graph, for every minibatch: counts, and the lifetimes of its memory, as
 * affine functions of the minibatch. */
struct shape {
    union counts base, slope; /* base + minibatch * slope */
    size_t n_calls, n_margins, n_lives, n_pairs;
    struct margin *margins;
    struct life *lives;
    struct pair *pairs;
};

/* From the base on, counts are affine in the family's depth: the first layer differs from those after it. */
enum { MOST_EXCEPTIONS = 8, MOST_SHAPES = 2, COST_DEPTH_BASE = 1 };

/* What is known of the instances with one key: at one minibatch, or, with two of them, of all for which the
 * slopes hold. */
struct outline {
    struct pdnn_instance_print print;
    int64_t depth;       /* of the first shape */
    int n_shapes;        /* 2: the second one is a layer deeper, and all deeper models follow */
    bool has_lives;      /* and not only counts */
    bool is_affine;      /* slopes are known */
    int64_t minibatch;   /* without slopes, the only one */
    int64_t least, most; /* with slopes: for which minibatches they hold */
    int n_exceptions;
    int64_t exceptions[MOST_EXCEPTIONS]; /* except for these, where a pair has one size by accident */
    struct shape shapes[MOST_SHAPES];
    size_t n_partners;
    struct pdnn_partners *partners; /* calls of the two shapes */
    size_t bytes;                   /* of the heap */
};

struct pdnn_cost_memo {
    struct pdnn_instance key; /* of the last slot found */
    struct pdnn_instance_print print;
    bool has_key;
    size_t bytes;
    struct pdnn_arena scratch;
    struct outline *slots[SLOTS][WAYS];
    uint32_t next_way; /* of a slot without room */
};

struct pdnn_cost_memo *pdnn_cost_memo_create(void) {
    return pdnn_alloc(1, sizeof(struct pdnn_cost_memo));
}

static void forget_all(struct pdnn_cost_memo *memo) {
    for (size_t i = 0; i < SLOTS * WAYS; i++) {
        free(memo->slots[i / WAYS][i % WAYS]);
        memo->slots[i / WAYS][i % WAYS] = NULL;
    }
    memo->bytes = 0;
}

void pdnn_cost_memo_destroy(struct pdnn_cost_memo *memo) {
    if (!memo)
        return;
    forget_all(memo);
    pdnn_arena_finish(&memo->scratch);
    free(memo);
}

static void note_margins(const struct pdnn_graph *graph, struct shape *shape) {
    shape->margins = pdnn_arena_room(graph->arena, graph->n_nodes + 1, sizeof *shape->margins);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_pass_def *pass = &node->op->pass[node->pass];
        if (!pass->saturation)
            continue;
        const struct pdnn_saturation is = pass->saturation(graph, node);
        shape->margins[shape->n_margins++] = (struct margin){.base = is.size - is.limit};
    }
}

static void add_pair(struct shape *shape, const uint32_t *chunk_of, uint32_t input, uint32_t output) {
    if (input != PDNN_NONE && chunk_of[input] != chunk_of[output] && chunk_of[input] != PDNN_NONE)
        shape->pairs[shape->n_pairs++] = (struct pair){chunk_of[input], chunk_of[output]};
}

static void note_lives(const struct pdnn_graph *graph, struct shape *shape) {
    const struct pdnn_lifetime *lifetimes = pdnn_memory_lifetimes(graph);
    size_t count = pdnn_memory_count(graph) + 1;
    struct pdnn_chunk *chunks = pdnn_arena_room(graph->arena, count, sizeof *chunks);
    uint32_t *chunk_of = pdnn_arena_room(graph->arena, count, sizeof *chunk_of);
    shape->lives = pdnn_arena_room(graph->arena, count, sizeof *shape->lives);
    shape->pairs =
        pdnn_arena_room(graph->arena, graph->n_nodes * (1 + PDNN_NODE_POSTS) + 1, sizeof *shape->pairs);
    shape->n_calls = graph->n_nodes;
    shape->n_lives = pdnn_memory_chunks(lifetimes, pdnn_memory_count(graph), chunks, chunk_of);
    for (size_t i = 0; i < shape->n_lives; i++)
        shape->lives[i] =
            (struct life){.bytes = chunks[i].bytes, .first = chunks[i].first, .last = chunks[i].last};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        add_pair(shape, chunk_of, pdnn_memory_heritage(graph, node).input, node->output[0]);
        for (int k = 0; k < node->n_posts && node->pass == PDNN_FORWARD; k++)
            add_pair(shape, chunk_of, node->posts[k].input, node->output[0]);
    }
}

/* Builds the graphs of an outline whose kind is given, in the arena. */
static enum pdnn_status build(struct outline *outline, const struct pdnn_instance *instance,
                              struct pdnn_arena *arena, struct pdnn_err *err) {
    struct pdnn_instance of_depth = *instance;
    struct pdnn_graph graphs[MOST_SHAPES];
    enum pdnn_status status = PDNN_OK;
    pdnn_arena_reset(arena);
    outline->minibatch = instance->hyper[instance->family->minibatch_param].number;
    for (int i = 0; i < outline->n_shapes && status == PDNN_OK; i++) {
        struct shape *shape = &outline->shapes[i];
        if (instance->family->depth_param >= 0)
            of_depth.hyper[instance->family->depth_param].number = outline->depth + i;
        status = pdnn_instance_graph(&of_depth, arena, &graphs[i], err);
        if (status == PDNN_OK)
            status = pdnn_cost_graph(&graphs[i], &shape->base.totals, err);
        if (status == PDNN_OK && outline->has_lives)
            note_lives(&graphs[i], shape);
        if (status == PDNN_OK)
            note_margins(&graphs[i], shape);
    }
    if (status == PDNN_OK && outline->has_lives && outline->n_shapes == MOST_SHAPES)
        outline->partners = pdnn_partners_find(graphs, outline->depth, &outline->n_partners);
    return status;
}

static void *place(char **at, const void *from, size_t count, size_t size) {
    void *there = *at;
    if (count)
        memcpy(there, from, count * size);
    *at += count * size;
    return there;
}

/* A copy of the outline on the heap, as one piece. */
static struct outline *copy_out(const struct outline *outline) {
    size_t bytes = sizeof *outline + outline->n_partners * sizeof *outline->partners;
    for (int i = 0; i < outline->n_shapes; i++)
        bytes += outline->shapes[i].n_margins * sizeof(struct margin) +
                 outline->shapes[i].n_lives * sizeof(struct life) +
                 outline->shapes[i].n_pairs * sizeof(struct pair);
    struct outline *copy = pdnn_alloc(1, bytes);
    *copy = *outline;
    copy->bytes = bytes;
    char *at = (char *)(copy + 1);
    for (int i = 0; i < outline->n_shapes; i++) {
        const struct shape *shape = &outline->shapes[i];
        copy->shapes[i].margins = place(&at, shape->margins, shape->n_margins, sizeof *shape->margins);
        copy->shapes[i].lives = place(&at, shape->lives, shape->n_lives, sizeof *shape->lives);
        copy->shapes[i].pairs = place(&at, shape->pairs, shape->n_pairs, sizeof *shape->pairs);
    }
    copy->partners = place(&at, outline->partners, outline->n_partners, sizeof *outline->partners);
    return copy;
}

/* The nearer and the farther of two minibatches. */
struct minibatches {
    uint64_t near, distance;
};

/* From values at two minibatches to a slope and the value at 0; false if that is not how the two are related.
 */
static bool split(struct minibatches at, uint64_t near, uint64_t far, uint64_t *base, uint64_t *slope) {
    uint64_t step, growth;
    if (__builtin_sub_overflow(far, near, &growth) || growth % at.distance)
        return false;
    *slope = growth / at.distance;
    return !__builtin_mul_overflow(*slope, at.near, &step) && !__builtin_sub_overflow(near, step, base);
}

static bool split_shape(struct minibatches at, const struct shape *near, const struct shape *far,
                        struct shape *made) {
    bool fits = near->n_calls == far->n_calls && near->n_lives == far->n_lives;
    for (size_t i = 0; i < FIELDS && fits; i++)
        fits =
            split(at, near->base.count[i], far->base.count[i], &made->base.count[i], &made->slope.count[i]);
    for (size_t i = 0; i < near->n_lives && fits; i++) {
        const struct life *a = &near->lives[i], *b = &far->lives[i];
        struct life *life = &made->lives[i];
        uint64_t base = 0, slope = 0;
        fits = a->first == b->first && a->last == b->last && split(at, a->bytes, b->bytes, &base, &slope);
        *life = (struct life){base, slope, a->first, a->last};
    }
    return fits;
}

static bool add_exception(struct outline *outline, int64_t minibatch) {
    for (int i = 0; i < outline->n_exceptions; i++) {
        if (outline->exceptions[i] == minibatch)
            return true;
    }
    if (outline->n_exceptions == MOST_EXCEPTIONS)
        return false;
    outline->exceptions[outline->n_exceptions++] = minibatch;
    return true;
}

/* The minibatches at which two chunks that are apart have the same size, and might be one. */
static bool find_exceptions(struct outline *outline, const struct shape *shape) {
    bool fits = true;
    for (size_t i = 0; i < shape->n_pairs && fits; i++) {
        const struct life *a = &shape->lives[shape->pairs[i].a], *b = &shape->lives[shape->pairs[i].b];
        const struct life *steep = a->slope > b->slope ? a : b, *flat = steep == a ? b : a;
        uint64_t rise = steep->slope - flat->slope;
        if (rise && flat->bytes > steep->bytes && (flat->bytes - steep->bytes) % rise == 0)
            fits = add_exception(outline, (int64_t)((flat->bytes - steep->bytes) / rise));
    }
    return fits;
}

static int64_t floor_of_ratio(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Bounds the minibatches to those at which every node is on the same side of its limit as at the near one. */
static bool bound(struct outline *outline, struct minibatches at, const struct shape *near,
                  const struct shape *far, struct shape *made) {
    bool fits = near->n_margins == far->n_margins;
    for (size_t i = 0; i < near->n_margins && fits; i++) {
        int64_t from = near->margins[i].base, to = far->margins[i].base, slope = 0, step = 0, base = 0;
        fits = (from >= 0) == (to >= 0) && !__builtin_sub_overflow(to, from, &slope) &&
               slope % (int64_t)at.distance == 0;
        slope /= (int64_t)at.distance;
        fits = fits && !__builtin_mul_overflow(slope, (int64_t)at.near, &step) &&
               !__builtin_sub_overflow(from, step, &base);
        if (!fits)
            return false;
        made->margins[i] = (struct margin){base, slope};
        /* rise * minibatch <= most */
        int64_t rise = from >= 0 ? -slope : slope, most = from >= 0 ? base : -1 - base;
        if (rise > 0 && floor_of_ratio(most, rise) < outline->most)
            outline->most = floor_of_ratio(most, rise);
        if (rise < 0 && -floor_of_ratio(most, -rise) > outline->least)
            outline->least = -floor_of_ratio(most, -rise);
    }
    return fits;
}

/* Gives an outline slopes from another minibatch's; false if they do not belong together, and then the
 * outline is useless. */
static bool combine(struct outline *outline, const struct outline *other) {
    if (outline->minibatch == other->minibatch)
        return false;
    bool is_near = outline->minibatch < other->minibatch, fits = true;
    const struct outline *near = is_near ? outline : other, *far = is_near ? other : outline;
    const struct minibatches at = {(uint64_t)near->minibatch, (uint64_t)(far->minibatch - near->minibatch)};
    outline->least = 1;
    outline->most = INT64_MAX;
    outline->is_affine = true;
    for (int i = 0; i < outline->n_shapes && fits; i++)
        fits = bound(outline, at, &near->shapes[i], &far->shapes[i], &outline->shapes[i]) &&
               split_shape(at, &near->shapes[i], &far->shapes[i], &outline->shapes[i]) &&
               find_exceptions(outline, &outline->shapes[i]);
    return fits;
}

static bool is_of(const struct outline *outline, const struct outline *other) {
    return outline && outline->print.a == other->print.a && outline->print.b == other->print.b;
}

static void put(struct pdnn_cost_memo *memo, struct outline **way, struct outline *outline) {
    memo->bytes += outline->bytes;
    memo->bytes -= *way ? (*way)->bytes : 0;
    free(*way);
    *way = outline;
}

/* Joins an outline of the same key, or has a way of its own: the minibatches of a sweep may be on both sides
 * of a limit. */
static void keep(struct pdnn_cost_memo *memo, struct outline **slot, const struct outline *made) {
    for (int i = 0; i < WAYS; i++) {
        if (!is_of(slot[i], made) || slot[i]->is_affine)
            continue;
        struct outline *joined = copy_out(slot[i]);
        if (combine(joined, made)) {
            put(memo, &slot[i], joined);
            return;
        }
        free(joined);
    }
    struct outline *copy = copy_out(made);
    if (memo->bytes + copy->bytes > BYTES_MAX)
        forget_all(memo);
    uint32_t way = 0;
    while (way < WAYS && slot[way])
        way++;
    put(memo, &slot[way < WAYS ? way : memo->next_way++ % WAYS], copy);
}

static bool holds(const struct outline *outline, int64_t minibatch) {
    if (!outline->is_affine)
        return outline->minibatch == minibatch;
    bool is_exception = false;
    for (int i = 0; i < outline->n_exceptions; i++)
        is_exception = is_exception || outline->exceptions[i] == minibatch;
    return minibatch >= outline->least && minibatch <= outline->most && !is_exception;
}

/* *value = base + factor * slope. */
static bool extend(uint64_t base, uint64_t factor, uint64_t slope, uint64_t *value) {
    uint64_t growth;
    return !__builtin_mul_overflow(factor, slope, &growth) && !__builtin_add_overflow(base, growth, value);
}

/* The same from values at two depths, of which the second may be the smaller. */
static bool extend_depth(uint64_t base, uint64_t next, uint64_t layers, uint64_t *value) {
    uint64_t fall;
    if (next >= base)
        return extend(base, layers, next - base, value);
    *value = __builtin_mul_overflow(layers, base - next, &fall) || fall > base ? 0 : base - fall;
    return true;
}

/* Where a reading is taken: minibatch 0 where an outline knows only one. */
struct reading {
    uint64_t minibatch, layers; /* beyond the first shape's depth */
    uint64_t most;              /* a size above it is not known */
};

static bool read_counts(const struct outline *outline, struct reading at, union counts *counts) {
    bool fits = true;
    for (size_t i = 0; i < FIELDS && fits; i++) {
        uint64_t value[MOST_SHAPES] = {0};
        for (int k = 0; k < outline->n_shapes && fits; k++)
            fits = extend(outline->shapes[k].base.count[i], at.minibatch, outline->shapes[k].slope.count[i],
                          &value[k]) &&
                   value[k] <= at.most;
        counts->count[i] = value[0];
        if (at.layers)
            fits = fits && extend_depth(value[0], value[1], at.layers, &counts->count[i]) &&
                   counts->count[i] <= at.most;
    }
    return fits;
}

static bool read_loads(const struct shape *shape, struct reading at, struct pdnn_arena *scratch,
                       struct pdnn_loads *loads) {
    bool fits = true;
    pdnn_loads_init(loads, shape->n_calls, scratch);
    for (size_t i = 0; i < shape->n_lives && fits; i++) {
        const struct life *life = &shape->lives[i];
        uint64_t bytes;
        fits = extend(life->bytes, at.minibatch, life->slope, &bytes) && bytes <= at.most &&
               pdnn_loads_add(loads, pdnn_memory_room(bytes), life->first, life->last);
    }
    return fits && pdnn_loads_sum(loads);
}

static bool read_peak(const struct outline *outline, struct reading at, struct pdnn_arena *scratch,
                      uint64_t *peak) {
    struct pdnn_loads loads[MOST_SHAPES];
    bool fits = read_loads(&outline->shapes[0], at, scratch, &loads[0]);
    *peak = 0;
    for (size_t i = 0; i < outline->shapes[0].n_calls && fits && !at.layers; i++)
        *peak = loads[0].born[i] > *peak ? loads[0].born[i] : *peak;
    if (!at.layers)
        return fits;
    fits = fits && read_loads(&outline->shapes[1], at, scratch, &loads[1]);
    for (size_t i = 0; i < outline->n_partners && fits; i++) {
        uint64_t load;
        fits = extend_depth(loads[0].born[outline->partners[i].shallow],
                            loads[1].born[outline->partners[i].deep], at.layers, &load);
        *peak = load > *peak ? load : *peak;
    }
    return fits;
}

/* A depth with its outline. */
struct place {
    const struct pdnn_instance *instance;
    int64_t minibatch, depth;
    bool with_memory;
};

static struct place place_of(const struct pdnn_instance *instance, bool with_memory) {
    const struct pdnn_family_def *family = instance->family;
    return (struct place){.instance = instance,
                          .minibatch = instance->hyper[family->minibatch_param].number,
                          .depth = family->depth_param < 0 ? 0 : instance->hyper[family->depth_param].number,
                          .with_memory = with_memory};
}

/* Adds peak memory to counts, if the outline has lives. */
static bool read_outline(const struct outline *outline, const struct place *place, uint64_t most,
                         struct pdnn_arena *scratch, struct pdnn_totals *totals) {
    const struct reading at = {.minibatch = outline->is_affine ? (uint64_t)place->minibatch : 0,
                               .layers = (uint64_t)(place->depth - outline->depth),
                               .most = most};
    union counts counts;
    uint64_t peak = 0;
    if (!read_counts(outline, at, &counts) || (outline->has_lives && !read_peak(outline, at, scratch, &peak)))
        return false;
    *totals = counts.totals;
    totals->memory_bytes = peak;
    return true;
}

/* An outline of the right kind for the place, without its graphs. */
static struct outline outline_for(const struct place *place) {
    bool has_depth = place->instance->family->depth_param >= 0;
    int64_t base = place->with_memory ? pdnn_partners_depth(place->instance) : COST_DEPTH_BASE;
    bool is_deep = has_depth && place->depth > base;
    return (struct outline){.depth = is_deep ? base : place->depth,
                            .n_shapes = is_deep ? MOST_SHAPES : 1,
                            .has_lives = place->with_memory};
}

/* The instance under which a record is kept: without its minibatch and without the settings that no graph
 * depends on. A record that serves all depths from the base on is kept under depth 0; one that has no
 * lifetimes, under a depth below 0. */
static struct pdnn_instance key_of(const struct place *place, const struct outline *kind) {
    static const enum pdnn_setting others[] = {
        PDNN_SETTING_BACKEND, PDNN_SETTING_THREADS,    PDNN_SETTING_CACHE,
        PDNN_SETTING_ISA,     PDNN_SETTING_LAYERS_RUN, PDNN_SETTING_DATA,
        PDNN_SETTING_LOADERS, PDNN_SETTING_PAGES,      PDNN_SETTING_LIBRARY,
    };
    struct pdnn_instance key = *place->instance;
    const struct pdnn_family_def *family = key.family;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        key.setting[others[i]] = 0;
    key.hyper[family->minibatch_param].number = kind->has_lives ? 0 : -1;
    if (family->depth_param >= 0)
        key.hyper[family->depth_param].number = kind->n_shapes > 1 ? 0 : place->depth;
    return key;
}

static struct outline **find_slot(struct pdnn_cost_memo *memo, const struct place *place,
                                  struct outline *kind) {
    const struct pdnn_instance key = key_of(place, kind);
    const struct pdnn_family_def *family = key.family;
    bool is_last = memo->has_key && memo->key.family == family &&
                   memcmp(memo->key.hyper, key.hyper, family->n_params * sizeof *key.hyper) == 0 &&
                   memcmp(memo->key.setting, key.setting, sizeof key.setting) == 0;
    if (!is_last) {
        memo->print = pdnn_instance_print(&key);
        memo->key = key;
        memo->has_key = true;
    }
    kind->print = memo->print;
    return memo->slots[kind->print.a % SLOTS];
}

static enum pdnn_status overflow(struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_OVERFLOW,
                     "a FLOP, byte or memory count of this model does not fit in 64 bits");
}

/* Above this, a graph of the same minibatch decides whether everything fits. */
static const uint64_t safe_max = UINT64_C(1) << 56;

/* memo may be NULL. */
static enum pdnn_status find(struct pdnn_cost_memo *memo, const struct place *place, struct pdnn_arena *arena,
                             struct pdnn_totals *totals, struct pdnn_err *err) {
    struct outline made = outline_for(place);
    struct outline **slot = memo ? find_slot(memo, place, &made) : NULL;
    for (int i = 0; slot && i < WAYS; i++) {
        if (!is_of(slot[i], &made) || !holds(slot[i], place->minibatch))
            continue;
        pdnn_arena_reset(&memo->scratch);
        pdnn_arena_reset(arena);
        if (read_outline(slot[i], place, safe_max, &memo->scratch, totals))
            return PDNN_OK;
    }
    enum pdnn_status status = build(&made, place->instance, arena, err);
    if (status != PDNN_OK)
        return status;
    if (memo)
        keep(memo, slot, &made);
    return read_outline(&made, place, UINT64_MAX, arena, totals) ? PDNN_OK : overflow(err);
}

static enum pdnn_status find_both(struct pdnn_cost_memo *memo, const struct pdnn_instance *instance,
                                  bool with_memory, struct pdnn_arena *arena, struct pdnn_totals *totals,
                                  struct pdnn_err *err) {
    const struct pdnn_instance run = pdnn_instance_as_run(instance);
    const struct place whole = place_of(instance, with_memory), part = place_of(&run, with_memory);
    struct pdnn_totals made, as_run;
    enum pdnn_status status = find(memo, &whole, arena, &made, err);
    if (status == PDNN_OK && with_memory && part.depth != whole.depth) {
        status = find(memo, &part, arena, &as_run, err);
        made.memory_bytes = as_run.memory_bytes;
    }
    if (status == PDNN_OK)
        *totals = made;
    return status;
}

enum pdnn_status pdnn_cost_memo_find(struct pdnn_cost_memo *memo, const struct pdnn_instance *instance,
                                     bool with_memory, struct pdnn_arena *arena, struct pdnn_totals *totals,
                                     struct pdnn_err *err) {
    return find_both(memo, instance, with_memory, arena, totals, err);
}

enum pdnn_status pdnn_cost_instance(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                    bool with_memory, struct pdnn_totals *totals, struct pdnn_err *err) {
    return find_both(NULL, instance, with_memory, arena, totals, err);
}
