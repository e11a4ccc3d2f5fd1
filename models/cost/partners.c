#include "models/cost/partners.h"

#include "base/rng.h"

int64_t pdnn_partners_depth(const struct pdnn_instance *instance) {
    return instance->setting[PDNN_SETTING_ACCUMULATE] > 1 ? 5 : 3;
}

/* Nodes of one kind in one round, in their order. */
struct bucket {
    uint64_t key; /* 0: free */
    uint32_t count, start;
};

/* Nodes by kind and round. */
struct index {
    const struct pdnn_graph *graph;
    size_t mask;
    struct bucket *buckets;
    uint64_t *kind;             /* by node: hash of what it is, but for its round */
    uint32_t *bucket_of, *rank; /* its bucket, and its number in there */
    uint32_t *nodes;            /* of all buckets, one after the other */
};

/* Stems and ops are static, so that their addresses name them. */
static uint64_t kind_of(const struct pdnn_node *node) {
    uint64_t pass = 2 * (uint64_t)node->pass + node->recompute;
    return pdnn_rng_mix(pdnn_rng_mix((uint64_t)(uintptr_t)node->layer.stem + (uint64_t)node->layer.stack) +
                        (uint64_t)(uintptr_t)node->op + pass);
}

static uint64_t key_of(uint64_t kind, int64_t round) {
    return pdnn_rng_mix(kind + (uint64_t)round) | 1;
}

static struct bucket *find(const struct index *index, uint64_t key) {
    size_t at = key >> 32 & index->mask;
    while (index->buckets[at].key && index->buckets[at].key != key)
        at = (at + 1) & index->mask;
    return &index->buckets[at];
}

static void build(struct index *index, const struct pdnn_graph *graph, struct pdnn_arena *arena) {
    size_t count = graph->n_nodes, room = 64;
    while (room < 2 * count)
        room *= 2;
    *index = (struct index){.graph = graph,
                            .mask = room - 1,
                            .buckets = pdnn_arena_alloc(arena, room, sizeof *index->buckets),
                            .kind = pdnn_arena_alloc(arena, count + 1, sizeof *index->kind),
                            .bucket_of = pdnn_arena_alloc(arena, count + 1, sizeof *index->bucket_of),
                            .rank = pdnn_arena_alloc(arena, count + 1, sizeof *index->rank),
                            .nodes = pdnn_arena_alloc(arena, count + 1, sizeof *index->nodes)};
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        index->kind[i] = kind_of(node);
        uint64_t key = key_of(index->kind[i], node->layer.round);
        struct bucket *bucket = find(index, key);
        bucket->key = key;
        index->bucket_of[i] = (uint32_t)(bucket - index->buckets);
        index->rank[i] = bucket->count++;
    }
    uint32_t start = 0;
    for (size_t i = 0; i < room; i++) {
        index->buckets[i].start = start;
        start += index->buckets[i].count;
    }
    for (uint32_t i = 0; i < count; i++)
        index->nodes[index->buckets[index->bucket_of[i]].start + index->rank[i]] = i;
}

static void add(const struct index *deep, const struct bucket *bucket, int64_t rank, uint32_t node,
                struct pdnn_partners *partners, size_t *count) {
    if (rank >= 0 && rank < bucket->count)
        partners[(*count)++] = (struct pdnn_partners){node, deep->nodes[bucket->start + rank]};
}

struct pdnn_partners *pdnn_partners_find(const struct pdnn_graph graphs[2], int64_t depth, size_t *count) {
    struct pdnn_arena *arena = graphs[0].arena;
    struct index shallow, deep;
    struct pdnn_partners *made = pdnn_arena_alloc(arena, 2 * graphs[0].n_nodes + 1, sizeof *made);
    build(&shallow, &graphs[0], arena);
    build(&deep, &graphs[1], arena);
    const int64_t middle = (depth + 1) / 2;
    *count = 0;
    for (uint32_t i = 0; i < graphs[0].n_nodes; i++) {
        int64_t round = graphs[0].nodes[i].layer.round, rank = shallow.rank[i];
        if (round <= middle)
            add(&deep, find(&deep, key_of(shallow.kind[i], round)), rank, i, made, count);
        if (round >= middle)
            add(&deep, find(&deep, key_of(shallow.kind[i], round + 1)), rank, i, made, count);
        if (round)
            continue;
        const struct bucket *bucket = find(&deep, key_of(shallow.kind[i], 0));
        int64_t from_back = bucket->count - (int64_t)shallow.buckets[shallow.bucket_of[i]].count + rank;
        if (from_back != rank)
            add(&deep, bucket, from_back, i, made, count);
    }
    return made;
}
