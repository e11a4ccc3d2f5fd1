#include "runtime/plan/plan_set.h"

#include "models/sharing.h"
#include "base/clock.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void destroy(struct pdnn_plan_member *member) {
    pdnn_plan_destroy(&member->plan);
    pdnn_arena_finish(&member->arena);
    free(member);
}

/* The link to the member with this key, or the link at the end of the list. */
static struct pdnn_plan_member **find(struct pdnn_plan_set *set, const char *key) {
    struct pdnn_plan_member **link = &set->first;
    while (*link && strcmp((*link)->key, key) != 0)
        link = &(*link)->next;
    return link;
}

static enum pdnn_status build(struct pdnn_plan_set *set, const char *key, struct pdnn_plan_member *member,
                              struct pdnn_err *err) {
    member->key = pdnn_arena_strdup(&member->arena, key);
    enum pdnn_status status = set->source.build(set->source.user, key, &member->arena, &member->graph, err);
    if (status == PDNN_OK && set->first)
        status = pdnn_graph_shares(&member->graph, &set->first->graph, err);
    return status;
}

/* Candidates are measured beside what other members have in the block. */
static uint64_t trial_bytes(const struct pdnn_plan_set *set) {
    uint64_t room = pdnn_plan_room(&set->options.plan);
    return room > set->block_bytes ? room - set->block_bytes : 0;
}

static enum pdnn_status compile(struct pdnn_plan_set *set, struct pdnn_plan_member *member,
                                struct pdnn_err *err) {
    struct pdnn_plan *plan = &member->plan;
    *plan = (struct pdnn_plan){.backend = set->backend, .state = set->state, .graph = &member->graph};
    pdnn_program_init(&plan->program, &member->graph);
    plan->program.opens_weights = set->opens_weights;
    plan->program.allow_slow = set->options.plan.allow_slow;
    plan->program.trial_bytes = trial_bytes(set);
    plan->program.like = set->first ? &set->first->plan.program : NULL;
    enum pdnn_status status = pdnn_plan_compile(plan, err);
    plan->program.like = NULL;
    return status;
}

/* Verifies what a backend guarantees for programs that share weights: same sizes, same offsets. */
static enum pdnn_status check_places(const struct pdnn_plan *plan, const struct pdnn_plan *other,
                                     struct pdnn_err *err) {
    uint32_t i = pdnn_shared_next(plan->graph, 0), j = pdnn_shared_next(other->graph, 0);
    for (; i != PDNN_NONE;
         i = pdnn_shared_next(plan->graph, i + 1), j = pdnn_shared_next(other->graph, j + 1)) {
        if (plan->program.slots[i].bytes != other->program.slots[j].bytes ||
            plan->offset[i] != other->offset[j])
            return pdnn_fail(err, PDNN_INTERNAL, "%s: shared weights lie in two ways", plan->backend->name);
    }
    return PDNN_OK;
}

static const uint64_t spare_bytes = UINT64_C(1) << 20;

/* Allocates the block for the first member, with room for what other choices of implementations may take of
 * the others, which counts where models are small. */
static enum pdnn_status found(struct pdnn_plan_set *set, const struct pdnn_plan *plan, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_plan_check(plan, &set->options.plan, err);
    if (status != PDNN_OK)
        return status;
    uint64_t most_bytes = pdnn_plan_room(&set->options.plan) - pdnn_plan_moved_bytes(plan);
    const uint64_t wanted_bytes = 2 * plan->block_bytes + spare_bytes;
    set->room_bytes = wanted_bytes < most_bytes ? wanted_bytes : most_bytes;
    for (size_t i = 0; i < plan->program.n_slots; i++)
        set->shared_bytes += pdnn_plan_is_shared(plan, i) ? plan->program.slots[i].bytes : 0;
    return pdnn_block_map(set->room_bytes, true, &set->block, err);
}

static enum pdnn_status prepare(struct pdnn_plan_set *set, const char *key, struct pdnn_plan_member *member,
                                struct pdnn_err *err) {
    struct pdnn_plan *plan = &member->plan;
    enum pdnn_status status = build(set, key, member, err);
    if (status == PDNN_OK)
        status = compile(set, member, err);
    if (status == PDNN_OK)
        status = set->first ? check_places(plan, &set->first->plan, err) : found(set, plan, err);
    if (status == PDNN_OK && plan->block_bytes > set->room_bytes)
        status = pdnn_fail(err, PDNN_TOO_BIG,
                           "needs %" PRIu64 " bytes, the block of the set has room for %" PRIu64
                           ": it must be made for its largest member",
                           plan->block_bytes, set->room_bytes);
    if (status == PDNN_OK)
        pdnn_plan_bind(plan, set->block);
    const struct pdnn_fill_source source = {.seed = set->options.plan.seed};
    if (status == PDNN_OK && !set->first)
        status = pdnn_plan_fill(plan, true, &source, err);
    return status;
}

static void put_first(struct pdnn_plan_set *set, struct pdnn_plan_member *member) {
    member->next = set->first;
    set->first = member;
}

/* Drops the least recently used members beyond the bound; never the first. */
static void trim(struct pdnn_plan_set *set) {
    size_t kept = set->options.kept ? set->options.kept : PDNN_PLAN_SET_KEPT;
    struct pdnn_plan_member *last = set->first;
    for (size_t i = 1; i < kept && last->next; i++)
        last = last->next;
    while (last->next) {
        struct pdnn_plan_member *gone = last->next;
        last->next = gone->next;
        set->filled = set->filled == gone ? NULL : set->filled;
        set->n_members--;
        destroy(gone);
    }
}

/* Drops all members and the block. */
static void clear(struct pdnn_plan_set *set) {
    while (set->first) {
        struct pdnn_plan_member *gone = set->first;
        set->first = gone->next;
        destroy(gone);
    }
    pdnn_block_unmap(set->block, set->room_bytes);
    set->block = NULL;
    set->filled = NULL;
    set->room_bytes = set->block_bytes = set->shared_bytes = 0;
    set->n_members = 0;
}

static enum pdnn_status add(struct pdnn_plan_set *set, const char *key, struct pdnn_err *err) {
    struct pdnn_plan_member *member = pdnn_alloc(1, sizeof *member);
    enum pdnn_status status = prepare(set, key, member, err);
    if (status != PDNN_OK) {
        destroy(member);
        if (!set->first)
            clear(set);
        return status;
    }
    set->block_bytes =
        member->plan.block_bytes > set->block_bytes ? member->plan.block_bytes : set->block_bytes;
    set->n_members++;
    set->n_prepared++;
    put_first(set, member);
    trim(set);
    return PDNN_OK;
}

/* When a member cannot read the inference weights as stored, the set starts over with weights that all
 * members can reorder. This loses nothing: inference does not change weights. Training never needs it. */
static enum pdnn_status add_or_open(struct pdnn_plan_set *set, const char *key, struct pdnn_err *err) {
    enum pdnn_status status = add(set, key, err);
    bool can_open = set->first && set->first->graph.loss == PDNN_NONE && !set->opens_weights;
    if (status != PDNN_UNSUPPORTED || !can_open)
        return status;
    clear(set);
    set->opens_weights = true;
    status = add(set, set->largest, err);
    return status == PDNN_OK && !*find(set, key) ? add(set, key, err) : status;
}

/* Resets what is private to the member: the data of the step, and zeros that its program relies on. */
static enum pdnn_status renew(struct pdnn_plan_set *set, struct pdnn_plan_member *member,
                              struct pdnn_err *err) {
    struct pdnn_plan *plan = &member->plan;
    set->filled = NULL;
    for (size_t i = 0; i < plan->program.n_slots; i++) {
        const struct pdnn_slot *slot = &plan->program.slots[i];
        if (slot->resident && !pdnn_plan_is_shared(plan, i))
            memset(plan->memory[i], 0, slot->bytes);
    }
    pdnn_program_bind(&plan->program, plan->memory); /* what calls kept there is gone */
    const struct pdnn_fill_source source = {.seed = set->options.plan.seed, .lengths = &set->lengths};
    enum pdnn_status status = pdnn_plan_fill(plan, false, &source, err);
    if (status == PDNN_OK)
        set->filled = member;
    return status;
}

/* Notes the lengths for the next data; returns whether they are others than those of the data that is there.
 */
static bool take_lengths(struct pdnn_plan_set *set, const struct pdnn_example_lengths *lengths) {
    static const struct pdnn_example_lengths drawn = {0};
    const struct pdnn_example_lengths *taken = lengths ? lengths : &drawn;
    size_t bytes = taken->count * sizeof *taken->source;
    bool is_other = set->lengths.count != taken->count ||
                    memcmp(set->lengths.source, taken->source, bytes) != 0 ||
                    memcmp(set->lengths.target, taken->target, bytes) != 0;
    if (is_other)
        set->lengths = *taken;
    return is_other;
}

enum pdnn_status pdnn_plan_set_get(struct pdnn_plan_set *set, const char *key,
                                   const struct pdnn_example_lengths *lengths,
                                   const struct pdnn_plan_member **member, struct pdnn_err *err) {
    uint64_t started_ns = pdnn_clock_ns();
    struct pdnn_plan_member **link = find(set, key), *kept = *link;
    enum pdnn_status status = PDNN_OK;
    if (kept) {
        *link = kept->next;
        put_first(set, kept);
    } else {
        status = add_or_open(set, key, err);
    }
    bool is_other = take_lengths(set, lengths);
    if (status == PDNN_OK && (is_other || set->filled != set->first))
        status = renew(set, set->first, err);
    if (status != PDNN_OK)
        return status;
    if (!kept)
        set->first->prepare_ns = pdnn_clock_ns() - started_ns;
    *member = set->first;
    return PDNN_OK;
}

enum pdnn_status pdnn_plan_set_init(struct pdnn_plan_set *set, const struct pdnn_backend_def *backend,
                                    void *state, const struct pdnn_plan_source *source, const char *largest,
                                    const struct pdnn_plan_set_options *options, struct pdnn_err *err) {
    const struct pdnn_plan_member *member;
    *set = (struct pdnn_plan_set){.backend = backend, .state = state, .source = *source, .options = *options};
    set->largest = pdnn_strdup(largest);
    return pdnn_plan_set_get(set, largest, NULL, &member, err);
}

void pdnn_plan_set_finish(struct pdnn_plan_set *set) {
    clear(set);
    free(set->largest);
    *set = (struct pdnn_plan_set){0};
}
