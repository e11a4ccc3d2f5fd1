#include "results/epochs/epoch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An example on its way into a batch. */
struct place {
    int64_t key;   /* what is sorted by */
    size_t before; /* where it was; equal ones keep their order */
    size_t example;
};

static int compare_places(const void *a, const void *b) {
    const struct place *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return (one->before > other->before) - (one->before < other->before);
}

static void sort_places(struct place *place, size_t count) {
    for (size_t i = 0; i < count; i++)
        place[i].before = i;
    qsort(place, count, sizeof *place, compare_places);
}

/* The order of the examples, in batches; whoever comes last, at random, is left over. */
static struct place *arrange(const struct pdnn_epoch_request *request, struct pdnn_arena *arena) {
    const struct pdnn_lengths *lengths = request->lengths;
    struct pdnn_rng rng = {pdnn_rng_seed(request->seed, "epoch"), 0};
    size_t batch = request->batch, batches = lengths->count / batch, columns = lengths->columns;
    size_t shard = batch * request->shard_batches;
    struct place *place = pdnn_arena_alloc(arena, lengths->count, sizeof *place);
    for (size_t i = 0; i < lengths->count; i++) {
        int64_t source = lengths->length[i * columns];
        int64_t target = columns > 1 ? lengths->length[i * columns + 1] : 0;
        bool by_sum = request->sampler == PDNN_SAMPLER_BUCKET;
        place[i] = (struct place){by_sum ? source + target : source * 2 * PDNN_LENGTH_MAX + target, 0, i};
    }
    pdnn_rng_shuffle(&rng, place, lengths->count, sizeof *place);
    if (request->sampler == PDNN_SAMPLER_SORTED)
        sort_places(place, batches * batch);
    if (request->sampler == PDNN_SAMPLER_BUCKET) {
        for (size_t at = 0; at < batches * batch; at += shard)
            sort_places(place + at, batches * batch - at < shard ? batches * batch - at : shard);
        pdnn_rng_shuffle(&rng, place, batches, batch * sizeof *place);
    }
    return place;
}

static int compare_kinds(const void *a, const void *b) {
    const struct pdnn_epoch_kind *one = a, *other = b;
    for (int i = 0; i < 2; i++)
        if (one->length[i] != other->length[i])
            return one->length[i] < other->length[i] ? -1 : 1;
    return 0;
}

/* padded: one per iteration, with a count of 1. */
static void count_kinds(struct pdnn_epoch *epoch, const struct pdnn_epoch_kind *padded,
                        struct pdnn_arena *arena) {
    struct pdnn_epoch_kind *kind = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *kind);
    epoch->kind_of = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *epoch->kind_of);
    memcpy(kind, padded, epoch->n_iterations * sizeof *kind);
    qsort(kind, epoch->n_iterations, sizeof *kind, compare_kinds);
    for (size_t i = 0; i < epoch->n_iterations; i++) {
        if (i && compare_kinds(&kind[epoch->n_kinds - 1], &kind[i]) == 0)
            kind[epoch->n_kinds - 1].count++;
        else
            kind[epoch->n_kinds++] = kind[i];
    }
    epoch->kind = kind;
    for (size_t i = 0; i < epoch->n_iterations; i++) {
        const struct pdnn_epoch_kind *found =
            bsearch(&padded[i], kind, epoch->n_kinds, sizeof *kind, compare_kinds);
        epoch->kind_of[i] = (size_t)(found - kind);
    }
}

static enum pdnn_status make_batches(const struct pdnn_epoch_request *request, struct pdnn_arena *arena,
                                     struct pdnn_epoch *epoch, struct pdnn_err *err) {
    const struct pdnn_lengths *lengths = request->lengths;
    size_t columns = lengths->columns, batch = request->batch;
    if (lengths->count < request->batch)
        return pdnn_fail(err, PDNN_INVALID, "%s: %zu example%s, fewer than the %" PRIu64 " of one batch",
                         lengths->source, lengths->count, lengths->count > 1 ? "s" : "", request->batch);
    const struct place *order = arrange(request, arena);
    epoch->n_iterations = lengths->count / batch;
    epoch->left_over = lengths->count % batch;
    epoch->example = pdnn_arena_alloc(arena, epoch->n_iterations * batch * columns, sizeof *epoch->example);
    struct pdnn_epoch_kind *padded = pdnn_arena_alloc(arena, epoch->n_iterations, sizeof *padded);
    double sum = 0, sum_padded = 0;
    for (size_t i = 0; i < epoch->n_iterations; i++) {
        padded[i].count = 1;
        for (size_t c = 0; c < columns; c++) {
            int64_t longest = 0;
            for (size_t k = i * batch; k < (i + 1) * batch; k++) {
                int64_t length = lengths->length[order[k].example * columns + c];
                epoch->example[k * columns + c] = length;
                longest = length > longest ? length : longest;
                sum += (double)length;
            }
            padded[i].length[c] = (longest + request->multiple - 1) / request->multiple * request->multiple;
            sum_padded += (double)padded[i].length[c] * (double)batch;
        }
    }
    count_kinds(epoch, padded, arena);
    epoch->waste = 1 - sum / sum_padded;
    return PDNN_OK;
}

static enum pdnn_status make_stream(const struct pdnn_epoch_request *request, struct pdnn_arena *arena,
                                    struct pdnn_epoch *epoch, struct pdnn_err *err) {
    const struct pdnn_lengths *lengths = request->lengths;
    uint64_t steps = 0;
    if (lengths->columns > 1)
        return pdnn_fail(err, PDNN_INVALID, "%s: a stream has one length per example, not two",
                         lengths->source);
    if (request->window < 1 || request->window > PDNN_LENGTH_MAX)
        return pdnn_fail(err, PDNN_INVALID, "a stream's window is from 1 to %d steps", PDNN_LENGTH_MAX);
    for (size_t i = 0; i < lengths->count; i++)
        steps += (uint64_t)lengths->length[i];
    uint64_t iterations = steps / request->batch / (uint64_t)request->window;
    if (!iterations)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: %" PRIu64 " steps are fewer than %" PRIu64 " streams of %" PRId64 " need",
                         lengths->source, steps, request->batch, request->window);
    if (iterations > PDNN_EXAMPLES_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%s: %" PRIu64 " iterations are too many, the most is %d",
                         lengths->source, iterations, PDNN_EXAMPLES_MAX);
    epoch->n_iterations = iterations;
    epoch->n_kinds = 1;
    epoch->left_over = (size_t)(steps - iterations * request->batch * (uint64_t)request->window);
    epoch->kind = pdnn_arena_alloc(arena, 1, sizeof *epoch->kind);
    epoch->kind_of = pdnn_arena_alloc(arena, iterations, sizeof *epoch->kind_of);
    *epoch->kind = (struct pdnn_epoch_kind){{request->window, 0}, iterations};
    return PDNN_OK;
}

enum pdnn_status pdnn_epoch_make(const struct pdnn_epoch_request *request, struct pdnn_arena *arena,
                                 struct pdnn_epoch *epoch, struct pdnn_err *err) {
    struct pdnn_epoch made = {
        .sampler = request->sampler, .columns = request->lengths->columns, .batch = request->batch};
    if (request->batch < 1 || request->batch > PDNN_EXAMPLES_MAX)
        return pdnn_fail(err, PDNN_INVALID, "a batch has from 1 to %d examples", PDNN_EXAMPLES_MAX);
    enum pdnn_status status = request->sampler == PDNN_SAMPLER_STREAM
                                  ? make_stream(request, arena, &made, err)
                                  : make_batches(request, arena, &made, err);
    if (status == PDNN_OK)
        *epoch = made;
    return status;
}

const int64_t *pdnn_epoch_example(const struct pdnn_epoch *epoch, size_t iteration, size_t at) {
    if (!epoch->example)
        return epoch->kind[epoch->kind_of[iteration]].length;
    return epoch->example + (iteration * epoch->batch + at) * epoch->columns;
}
