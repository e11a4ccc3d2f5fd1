#define _GNU_SOURCE /* madvise */
#include "runtime/backend/choose.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE_BYTES = 2 << 20, MAX_CANDIDATES = 8 };

/* Small values in f32 and bf16, normal ones in f16: both halves of an f32 are the same. A block may be larger
 * than the caches together, so all threads fill it. */
static void fill(uint32_t *words, int64_t count) {
    enum { PERIOD = 97, PATTERN = 256 * PERIOD, HALF_BITS = 16 };
    int64_t first = count < PATTERN ? count : PATTERN;
    for (int64_t i = 0; i < first; i++) {
        float value = (float)(i % PERIOD) * 0.01F - 0.5F;
        memcpy(&words[i], &value, sizeof value);
        words[i] = words[i] >> HALF_BITS << HALF_BITS | words[i] >> HALF_BITS;
    }
#pragma omp parallel for
    for (int64_t begin = PATTERN; begin < count; begin += PATTERN) {
        int64_t length = count - begin < PATTERN ? count - begin : PATTERN;
        memcpy(words + begin, words, (size_t)length * sizeof *words);
    }
}

static enum pdnn_status reserve(struct pdnn_trial *trial, uint64_t bytes, struct pdnn_err *err) {
    if (bytes > trial->room_bytes)
        return pdnn_fail(err, PDNN_TOO_BIG, "no room to measure implementations in");
    if (bytes <= trial->block_bytes)
        return PDNN_OK;
    pdnn_trial_finish(trial);
    if (posix_memalign(&trial->block, HUGE_PAGE_BYTES, bytes) != 0) {
        trial->block = NULL;
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring implementations");
    }
    trial->block_bytes = bytes;
    madvise(trial->block, bytes, MADV_HUGEPAGE);
    fill(trial->block, (int64_t)(bytes / sizeof(uint32_t)));
    return PDNN_OK;
}

void pdnn_trial_finish(struct pdnn_trial *trial) {
    free(trial->block);
    trial->block = NULL;
    trial->block_bytes = 0;
}

/* Candidates take turns on the same sets. Each begins elsewhere, so that none finds in a cache what the one
 * before it has just read. */
static uint64_t first_set(const struct pdnn_trial *trial, int i, uint64_t n_sets) {
    uint64_t n = (uint64_t)trial->n, at = (uint64_t)i;
    return n_sets < n ? at % n_sets : at * n_sets / n;
}

/* Binds all candidates to one block, kind by kind of slot. */
static enum pdnn_status bind_all(struct pdnn_trial *trial, struct pdnn_one_node *ones, struct pdnn_err *err) {
    uint64_t bytes[PDNN_ONE_NODE_KINDS] = {0}, all = 0;
    char *begin[PDNN_ONE_NODE_KINDS];
    for (int i = 0; i < trial->n; i++) {
        struct pdnn_one_node *one = &ones[i];
        if (one->program.graph)
            pdnn_one_node_place(one);
        for (int kind = 0; kind < PDNN_ONE_NODE_KINDS; kind++) {
            uint64_t needed = one->bytes[kind] * (kind == PDNN_ONE_NODE_COLD ? one->n_sets : 1);
            bytes[kind] = needed > bytes[kind] ? needed : bytes[kind];
        }
    }
    for (int kind = 0; kind < PDNN_ONE_NODE_KINDS; kind++)
        all += bytes[kind];
    enum pdnn_status status = reserve(trial, all, err);
    if (status != PDNN_OK)
        return status;
    begin[0] = trial->block;
    for (int kind = 1; kind < PDNN_ONE_NODE_KINDS; kind++)
        begin[kind] = begin[kind - 1] + bytes[kind - 1];
    for (int i = 0; i < trial->n; i++) {
        if (!ones[i].program.graph)
            continue;
        pdnn_one_node_bind(&ones[i], begin);
        ones[i].set = first_set(trial, i, ones[i].n_sets);
    }
    return PDNN_OK;
}

static enum pdnn_status prepare_group(const struct pdnn_trial *trial, int first, struct pdnn_arena *arena,
                                      struct pdnn_one_node *ones, struct pdnn_err *err) {
    struct pdnn_err reason = {0};
    int n = 0, n_fast = 0;
    for (int i = first; i < first + trial->group_size; i++) {
        struct pdnn_err refusal = {0};
        pdnn_one_node_init(&ones[i], trial->from, arena);
        enum pdnn_status status = trial->prepare(trial->user, i, &ones[i], &refusal);
        /* A layer whose own products were not tried says nothing about the way to run it. */
        if (status == PDNN_OK && ones[i].program.is_untried && !trial->is_guess)
            return pdnn_fail(err, PDNN_TOO_BIG, "no room to measure what a candidate consists of");
        if (status != PDNN_OK && status != PDNN_UNSUPPORTED)
            return pdnn_fail(err, status, "%s", refusal.text);
        reason = reason.status ? reason : refusal;
        n += status == PDNN_OK;
        n_fast += status == PDNN_OK && !pdnn_one_node_call(&ones[i])->is_reference;
        if (status != PDNN_OK)
            pdnn_program_finish(&ones[i].program);
    }
    for (int i = first; trial->shuns_reference && n_fast && i < first + trial->group_size; i++) {
        if (ones[i].program.graph && pdnn_one_node_call(&ones[i])->is_reference)
            pdnn_program_finish(&ones[i].program);
    }
    return n || trial->may_be_empty ? PDNN_OK : pdnn_fail(err, PDNN_UNSUPPORTED, "%s", reason.text);
}

/* Without memory each takes the same. */
static double run(void *state) {
    struct pdnn_one_node *one = state;
    if (!one->program.graph)
        return INFINITY;
    return one->memory ? pdnn_one_node_run(one) : 1;
}

enum pdnn_status pdnn_trial_measure(struct pdnn_trial *trial, const struct pdnn_tune_rules *rules,
                                    const bool *is_yardstick, double *ns, struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_one_node *ones = pdnn_arena_alloc(&arena, (size_t)trial->n, sizeof *ones);
    struct pdnn_tune_candidate *candidates = pdnn_arena_alloc(&arena, (size_t)trial->n, sizeof *candidates);
    enum pdnn_status status = PDNN_OK;
    for (int i = 0; i < trial->n && status == PDNN_OK; i += trial->group_size)
        status = prepare_group(trial, i, &arena, ones, err);
    if (status == PDNN_OK && !trial->is_guess)
        status = bind_all(trial, ones, err);
    for (int i = 0; i < trial->n && status == PDNN_OK; i++)
        candidates[i] = (struct pdnn_tune_candidate){.run = run,
                                                     .state = &ones[i],
                                                     .group = i / trial->group_size,
                                                     .is_yardstick = is_yardstick && is_yardstick[i]};
    if (status == PDNN_OK)
        pdnn_tune_measure(&trial->tune->share, rules, candidates, trial->n);
    for (int i = 0; i < trial->n; i++) {
        if (status == PDNN_OK)
            ns[i] = candidates[i].ns;
        pdnn_program_finish(&ones[i].program);
    }
    pdnn_arena_finish(&arena);
    return status;
}

static enum pdnn_status measure(void *state, bool is_guess, double *ns, struct pdnn_err *err) {
    const struct pdnn_choice *choice = state;
    struct pdnn_trial trial = *choice->trial;
    trial.is_guess = is_guess;
    enum pdnn_status status = pdnn_trial_measure(&trial, &choice->rules, NULL, ns, err);
    pdnn_trial_finish(&trial);
    return status;
}

enum pdnn_status pdnn_trial_choose(struct pdnn_choice *choice, int *picked, struct pdnn_err *err) {
    double ns[MAX_CANDIDATES];
    const struct pdnn_tune_question question = {.key = choice->key,
                                                .n = choice->trial->n,
                                                .compilations = choice->compilations,
                                                .measure = measure,
                                                .state = choice};
    assert(question.n <= MAX_CANDIDATES);
    enum pdnn_status status = pdnn_tune_ask(choice->trial->tune, &question, ns, err);
    if (status != PDNN_OK)
        return status;
    int best = pdnn_tune_pick(ns, question.n, choice->margin);
    if (best < 0)
        return pdnn_fail(err, PDNN_INTERNAL, "every implementation of %s fails", choice->what);
    *picked = best;
    pdnn_tune_note(choice->trial->tune, &choice->key, &best, 1);
    return PDNN_OK;
}
