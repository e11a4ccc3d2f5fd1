#include "models/memory_memo.h"

#include "base/memory.h"
#include "models/build.h"
#include "models/memory.h"
#include "models/op.h"

#include <stdlib.h>
#include <string.h>

/* A node's first output, and a buffer that it would take over if the two had the same size. */
struct pair {
    uint32_t input, output;
};

struct pdnn_memory_memo {
    struct pdnn_instance key;        /* as run, without its minibatch */
    int64_t minibatch;               /* of the first graph; 0: none so far */
    bool is_affine;                  /* two graphs agree: bytes = lifetimes[i].bytes + minibatch * slope[i] */
    struct pdnn_lifetime *lifetimes; /* heap, as slope and pairs are */
    uint64_t *slope;
    struct pair *pairs;
    size_t count, room, n_pairs, pairs_room;
};

enum pdnn_status pdnn_memory_memo_create(struct pdnn_memory_memo **memo, struct pdnn_err *err) {
    *memo = pdnn_alloc(1, sizeof **memo);
    return *memo ? PDNN_OK : pdnn_fail(err, PDNN_NO_MEMORY, "no memory to remember lifetimes");
}

void pdnn_memory_memo_destroy(struct pdnn_memory_memo *memo) {
    if (!memo)
        return;
    free(memo->lifetimes);
    free(memo->slope);
    free(memo->pairs);
    free(memo);
}

/* A memo that cannot grow forgets, and everything is computed. */
static void forget(struct pdnn_memory_memo *memo) {
    memo->minibatch = 0;
    memo->is_affine = false;
}

static void keep_first(struct pdnn_memory_memo *memo, const struct pdnn_lifetime *lifetimes, size_t count,
                       int64_t minibatch) {
    if (count > memo->room) {
        free(memo->lifetimes);
        free(memo->slope);
        memo->lifetimes = pdnn_alloc(2 * count, sizeof *memo->lifetimes);
        memo->slope = pdnn_alloc(2 * count, sizeof *memo->slope);
        memo->room = memo->lifetimes && memo->slope ? 2 * count : 0;
    }
    forget(memo);
    if (count > memo->room)
        return;
    memcpy(memo->lifetimes, lifetimes, count * sizeof *lifetimes);
    memo->count = count;
    memo->minibatch = minibatch;
}

static bool add_pair(struct pdnn_memory_memo *memo, uint32_t input, uint32_t output) {
    if (input == PDNN_NONE)
        return true;
    struct pair *larger = pdnn_grow(memo->pairs, &memo->pairs_room, memo->n_pairs, sizeof *larger);
    if (!larger)
        return false;
    memo->pairs = larger;
    memo->pairs[memo->n_pairs++] = (struct pair){input, output};
    return true;
}

/* Sizes that decide something when they are equal: those of two buffers that always are, or never were. */
static bool note_pairs(struct pdnn_memory_memo *memo, const struct pdnn_graph *graph) {
    bool fits = true;
    memo->n_pairs = 0;
    for (size_t i = 0; i < graph->n_nodes && fits; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        fits = add_pair(memo, pdnn_memory_heritage(graph, node).input, node->output[0]);
        for (int k = 0; k < node->n_posts && node->pass == PDNN_FORWARD && fits; k++)
            fits = add_pair(memo, node->posts[k].input, node->output[0]);
    }
    return fits;
}

/* Bytes before gaps and alignment: the tensors' own. */
static bool find_slope(struct pdnn_lifetime *first, const struct pdnn_lifetime *second, int64_t minibatch,
                       int64_t other, uint64_t *slope) {
    const struct pdnn_lifetime *near = minibatch < other ? first : second;
    const struct pdnn_lifetime *far = minibatch < other ? second : first;
    uint64_t distance = (uint64_t)(minibatch < other ? other - minibatch : minibatch - other), growth, step;
    uint64_t least = (uint64_t)(minibatch < other ? minibatch : other), base = near->bytes;
    bool is_same = first->first == second->first && first->last == second->last &&
                   first->takes_over == second->takes_over && first->leads == second->leads &&
                   !first->bytes == !second->bytes;
    if (!is_same || __builtin_sub_overflow(far->bytes, near->bytes, &growth) || growth % distance)
        return false;
    *slope = growth / distance;
    if (__builtin_mul_overflow(*slope, least, &step) || __builtin_sub_overflow(base, step, &base))
        return false;
    first->bytes = base;
    return true;
}

static void keep_second(struct pdnn_memory_memo *memo, const struct pdnn_graph *graph,
                        const struct pdnn_lifetime *lifetimes, int64_t minibatch) {
    bool is_affine = graph->n_tensors == memo->count && note_pairs(memo, graph);
    for (size_t i = 0; i < memo->count && is_affine; i++)
        is_affine =
            find_slope(&memo->lifetimes[i], &lifetimes[i], memo->minibatch, minibatch, &memo->slope[i]);
    if (is_affine)
        memo->is_affine = true;
    else
        keep_first(memo, lifetimes, graph->n_tensors, minibatch);
}

/* Above this, the graph itself decides whether everything fits. */
static const uint64_t safe_max = UINT64_C(1) << 56;

/* The lifetimes at a minibatch; NULL if the memo does not know them. */
static struct pdnn_lifetime *extend(const struct pdnn_memory_memo *memo, int64_t minibatch,
                                    struct pdnn_arena *arena) {
    struct pdnn_lifetime *made = pdnn_arena_alloc(arena, memo->count + 1, sizeof *made);
    if (!made)
        return NULL;
    memcpy(made, memo->lifetimes, memo->count * sizeof *made);
    for (size_t i = 0; i < memo->count; i++) {
        uint64_t growth;
        if (__builtin_mul_overflow(memo->slope[i], (uint64_t)minibatch, &growth) ||
            !pdnn_add_u64(&made[i].bytes, growth) || made[i].bytes > safe_max)
            return NULL;
    }
    for (size_t i = 0; i < memo->n_pairs; i++) {
        uint32_t input = memo->pairs[i].input, output = memo->pairs[i].output;
        bool always = memo->lifetimes[input].bytes == memo->lifetimes[output].bytes &&
                      memo->slope[input] == memo->slope[output];
        if (!always && made[input].bytes == made[output].bytes)
            return NULL;
    }
    return made;
}

static bool has_key(const struct pdnn_memory_memo *memo, const struct pdnn_instance *key) {
    return memo->minibatch && memo->key.family == key->family &&
           memcmp(memo->key.hyper, key->hyper, key->family->n_params * sizeof *key->hyper) == 0 &&
           memcmp(memo->key.setting, key->setting, sizeof key->setting) == 0;
}

enum pdnn_status pdnn_memory_memo_find(struct pdnn_memory_memo *memo, const struct pdnn_instance *instance,
                                       struct pdnn_arena *arena, uint64_t *bytes, struct pdnn_err *err) {
    const struct pdnn_instance run = pdnn_instance_as_run(instance);
    struct pdnn_instance key = run;
    struct pdnn_graph graph;
    struct pdnn_lifetime *lifetimes;
    int64_t minibatch = run.hyper[run.family->minibatch_param].number;
    key.hyper[run.family->minibatch_param].number = 0;
    pdnn_arena_reset(arena);
    bool is_known = has_key(memo, &key);
    if (is_known && memo->is_affine && (lifetimes = extend(memo, minibatch, arena)) != NULL)
        return pdnn_memory_peak(lifetimes, memo->count, arena, bytes, err);
    pdnn_arena_reset(arena);
    enum pdnn_status status = pdnn_instance_graph(&run, arena, &graph, err);
    if (status == PDNN_OK)
        status = pdnn_memory_lifetimes(&graph, &lifetimes, err);
    if (status != PDNN_OK)
        return status;
    if (!is_known)
        keep_first(memo, lifetimes, graph.n_tensors, minibatch);
    else if (!memo->is_affine && memo->minibatch != minibatch)
        keep_second(memo, &graph, lifetimes, minibatch);
    memo->key = key;
    return pdnn_memory_peak(lifetimes, graph.n_tensors, arena, bytes, err);
}
