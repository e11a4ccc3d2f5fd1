/* A file of lengths, which is also tried as the text of a source: what is read makes an epoch of batches of
 * two, whose SeqPoints stand for all iterations and whose sample is an order of them. */
#include "tests/fuzz/common.h"

#include "results/epochs/sample_estimate.h"
#include "results/epochs/seqpoint.h"

#include <stdlib.h>
#include <string.h>

static void check_epoch(const struct pdnn_lengths *lengths, struct pdnn_arena *arena) {
    struct pdnn_epoch epoch;
    struct pdnn_seqpoints seqpoints;
    struct pdnn_err err = {0};
    const struct pdnn_epoch_request request = {
        .lengths = lengths, .sampler = PDNN_SAMPLER_BUCKET, .batch = 2, .multiple = 1, .shard_batches = 3};
    if (!fuzz_is_ok(pdnn_epoch_make(&request, arena, &epoch, &err), &err))
        return;
    FUZZ_CHECK(epoch.n_iterations == lengths->count / 2 && epoch.waste >= 0 && epoch.waste < 1);
    const struct pdnn_seqpoint_request choice = {
        .epoch = &epoch, .key = PDNN_KEY_BOTH, .unique_max = 1, .bins = 5, .error = 0.01};
    fuzz_must(pdnn_seqpoint_select(&choice, arena, &seqpoints, &err), &err);
    double sum = 0;
    for (size_t i = 0; i < seqpoints.points.count; i++)
        sum += seqpoints.points.point[i].weight;
    FUZZ_CHECK(sum == (double)epoch.n_iterations);
    const struct pdnn_epoch_sample sample = pdnn_epoch_sample_draw(&epoch, 0, arena);
    size_t largest = 0;
    for (size_t i = 0; i < epoch.n_iterations; i++)
        largest = sample.order[i] > largest ? sample.order[i] : largest;
    FUZZ_CHECK(largest + 1 == epoch.n_iterations && sample.least <= epoch.n_iterations);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_arena arena = {0};
    struct pdnn_lengths lengths;
    struct pdnn_err err = {0};
    char *text = fuzz_text(bytes, length);
    const struct pdnn_lengths_request file = {.source = "a.txt"},
                                      drawn = {.source = text, .examples = 8, .longest = 1 << 20};
    if (length < 4096) {
        if (fuzz_is_ok(pdnn_lengths_parse("a.txt", text, &file, &arena, &lengths, &err), &err))
            check_epoch(&lengths, &arena);
        /* A path would lead outside. */
        err = (struct pdnn_err){0};
        if (strchr(text, ':') && !strchr(text, '/') &&
            fuzz_is_ok(pdnn_lengths_make(&drawn, &arena, &lengths, &err), &err))
            check_epoch(&lengths, &arena);
    }
    pdnn_arena_finish(&arena);
    free(text);
    return 0;
}
