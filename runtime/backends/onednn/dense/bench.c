#include "runtime/backends/onednn/dense/bench.h"

#include <stdlib.h>

enum { LINE_BYTES = 64 };

static bool is_reference(const struct pdnn_onednn_dense_candidate *candidate) {
    const struct pdnn_onednn_primitive *primitive = candidate->made.primitive;
    return primitive && pdnn_onednn_primitive_is_reference(primitive);
}

const struct pdnn_onednn_dense_candidate *
pdnn_onednn_dense_bench_find(const struct pdnn_onednn_dense_bench *bench, enum pdnn_pass pass,
                             enum pdnn_onednn_dense_way way, enum pdnn_onednn_weights_format format) {
    for (int i = 0; i < bench->n_candidates; i++) {
        const struct pdnn_onednn_dense_candidate *candidate = &bench->candidate[i];
        if (candidate->pass == pass && candidate->variant.way == way && candidate->variant.format == format)
            return candidate;
    }
    return NULL;
}

/* If PACKED turns out to be one of the plain formats, it is not a candidate of its own. */
static bool is_double(const struct pdnn_onednn_dense_bench *bench,
                      const struct pdnn_onednn_dense_candidate *candidate) {
    if (candidate->variant.format != PDNN_ONEDNN_WEIGHTS_PACKED)
        return false;
    for (int format = 0; format < PDNN_ONEDNN_WEIGHTS_PACKED; format++) {
        const struct pdnn_onednn_dense_candidate *plain = pdnn_onednn_dense_bench_find(
            bench, candidate->pass, PDNN_ONEDNN_DENSE_INNER_PRODUCT, (enum pdnn_onednn_weights_format)format);
        if (plain && pdnn_onednn_layout_equal(plain->made.weights, candidate->made.weights))
            return true;
    }
    return false;
}

/* Collects every way to do the pass. Reference implementations count only if there is nothing else. */
static enum pdnn_status collect_pass(struct pdnn_onednn_dense_bench *bench, enum pdnn_pass pass,
                                     struct pdnn_err *err) {
    int first = bench->n_candidates;
    struct pdnn_onednn_dense_candidate last_resort = {0};
    for (int i = 0; i < PDNN_ONEDNN_DENSE_VARIANTS; i++) {
        struct pdnn_onednn_dense_candidate *candidate = &bench->candidate[bench->n_candidates];
        *candidate = (struct pdnn_onednn_dense_candidate){
            .bench = bench, .pass = pass, .variant = pdnn_onednn_dense_variant_at(i)};
        struct pdnn_err refusal = {0};
        enum pdnn_status status = pdnn_onednn_dense_pass_create(
            bench->library, &bench->shape, pass, candidate->variant, &candidate->made, &refusal);
        if (status != PDNN_OK && err && (i == 0 || status != PDNN_UNSUPPORTED))
            *err = refusal;
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status != PDNN_OK) {
            pdnn_onednn_dense_pass_destroy(&last_resort.made);
            return status;
        }
        if (is_reference(candidate) && !last_resort.made.primitive)
            last_resort = *candidate;
        else if (is_reference(candidate) || is_double(bench, candidate))
            pdnn_onednn_dense_pass_destroy(&candidate->made);
        else
            bench->n_candidates++;
    }
    if (bench->n_candidates > first) {
        pdnn_onednn_dense_pass_destroy(&last_resort.made);
        return PDNN_OK;
    }
    if (!last_resort.made.primitive)
        return PDNN_UNSUPPORTED;
    bench->candidate[bench->n_candidates++] = last_resort;
    return PDNN_OK;
}

static uint64_t scratch_bytes(const struct pdnn_onednn_dense_pass *made) {
    return made->primitive ? pdnn_onednn_primitive_scratchpad_bytes(made->primitive) : 0;
}

uint64_t pdnn_onednn_dense_bench_most_bytes(const struct pdnn_step_options *options) {
    return 2 * options->cache_bytes;
}

static enum pdnn_status allocate(struct pdnn_onednn_dense_bench *bench, struct pdnn_err *err) {
    const struct pdnn_onednn_dense_shape *shape = &bench->shape;
    const struct pdnn_onednn_dense_dtypes dtype = pdnn_onednn_dense_dtypes_of(shape);
    uint64_t x = (uint64_t)(shape->N * shape->I) * pdnn_dtype_bytes(dtype.x), scratch = 0, w = 0;
    uint64_t y = (uint64_t)(shape->N * shape->O) * pdnn_dtype_bytes(dtype.y);
    for (int i = 0; i < bench->n_candidates; i++) {
        const struct pdnn_onednn_dense_pass *made = &bench->candidate[i].made;
        uint64_t bytes = pdnn_onednn_layout_bytes(made->weights);
        w = bytes > w ? bytes : w;
        bytes = scratch_bytes(made);
        scratch = bytes > scratch ? bytes : scratch;
    }
    uint64_t pair = 2 * (w + LINE_BYTES), step = (uint64_t)shape->footprint_bytes;
    uint64_t most = pdnn_onednn_dense_bench_most_bytes(bench->options);
    bench->moved_bytes = step < most ? step : most;
    bench->moved_bytes = bench->moved_bytes > pair ? bench->moved_bytes : pair;
    uint64_t out = x > y ? x : y;
    out = w > out ? w : out;
    const struct {
        struct pdnn_onednn_block *block;
        uint64_t bytes;
        int lines_off;
    } blocks[] = {{&bench->x, x, 0},
                  {&bench->w, w, 5},
                  {&bench->y, y, 10},
                  {&bench->b, (uint64_t)shape->O * pdnn_dtype_bytes(dtype.b), 15},
                  {&bench->out, out, 20},
                  {&bench->scratch, scratch, 25},
                  {&bench->moved, bench->moved_bytes, 0}};
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < sizeof blocks / sizeof *blocks; i++)
        status = pdnn_onednn_block_new(blocks[i].block, blocks[i].bytes, blocks[i].lines_off,
                                       &bench->room_bytes, err);
    return status;
}

static enum pdnn_status bind_candidate(struct pdnn_onednn_dense_bench *bench,
                                       struct pdnn_onednn_dense_candidate *candidate, struct pdnn_err *err) {
    struct pdnn_onednn_dense_pass *made = &candidate->made;
    enum pdnn_pass pass = candidate->pass;
    bool bias = pass == PDNN_FORWARD ? bench->shape.bias
                                     : pass == PDNN_BACKWARD_WEIGHTS && bench->shape.bias_gradient;
    void *x = pass == PDNN_BACKWARD_DATA ? bench->out.data : bench->x.data;
    void *w = pass == PDNN_BACKWARD_WEIGHTS ? bench->out.data : bench->w.data;
    void *y = pass == PDNN_FORWARD ? bench->out.data : bench->y.data;
    if (!made->primitive) {
        made->small_batch.x = x;
        made->small_batch.w = w;
        made->small_batch.b = bias ? bench->b.data : NULL;
        made->small_batch.y = y;
        return PDNN_OK;
    }
    enum pdnn_status status = pdnn_onednn_primitive_bind(made->primitive, made->x, x, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_bind(made->primitive, made->w, w, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_bind(made->primitive, made->y, y, err);
    if (status == PDNN_OK && bias)
        status = pdnn_onednn_primitive_bind(made->primitive, made->b, bench->b.data, err);
    if (status == PDNN_OK && bench->shape.is_scaled)
        status = pdnn_onednn_primitive_bind(made->primitive, PDNN_ONEDNN_SCALE, bench->b.data, err);
    if (status == PDNN_OK && scratch_bytes(made))
        status =
            pdnn_onednn_primitive_bind(made->primitive, PDNN_ONEDNN_SCRATCHPAD, bench->scratch.data, err);
    return status;
}

char *pdnn_onednn_dense_bench_place(struct pdnn_onednn_dense_bench *bench, uint64_t bytes) {
    uint64_t room = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    if (bench->used_bytes + room > bench->moved_bytes)
        bench->used_bytes = 0;
    char *place = (char *)bench->moved.data + bench->used_bytes;
    bench->used_bytes += room;
    return place;
}

/* With few rows, nearly all traffic is weights, so they must be as cold as in the step: each run uses another
 * place. NULL: leave the weights where they are. */
static void *weights_place(const struct pdnn_onednn_dense_candidate *candidate) {
    struct pdnn_onednn_dense_bench *bench = candidate->bench;
    bool moves = bench->shape.N <= PDNN_DENSE_FEW_ROWS && candidate->pass != PDNN_BACKWARD_WEIGHTS;
    return moves ? pdnn_onednn_dense_bench_place(bench, pdnn_onednn_layout_bytes(candidate->made.weights))
                 : NULL;
}

int pdnn_onednn_dense_bench_run(const void *state) {
    const struct pdnn_onednn_dense_candidate *candidate = state;
    const struct pdnn_onednn_dense_pass *made = &candidate->made;
    struct pdnn_dense_few_job job = made->small_batch;
    void *w = weights_place(candidate);
    if (!made->primitive) {
        job.w = w ? w : job.w;
        pdnn_dense_few_run(&job, candidate->bench->options->threads);
        return 0;
    }
    if (w && pdnn_onednn_primitive_bind(made->primitive, made->w, w, NULL) != PDNN_OK)
        return -1;
    return pdnn_onednn_primitive_run(made->primitive);
}

enum pdnn_status pdnn_onednn_dense_bench_bind(struct pdnn_onednn_dense_bench *bench, uint64_t room_bytes,
                                              struct pdnn_err *err) {
    bench->room_bytes = room_bytes;
    enum pdnn_status status = allocate(bench, err);
    for (int i = 0; status == PDNN_OK && i < bench->n_candidates; i++)
        status = bind_candidate(bench, &bench->candidate[i], err);
    return status;
}

enum pdnn_status pdnn_onednn_dense_bench_create(struct pdnn_onednn_library *library,
                                                const struct pdnn_step_options *options,
                                                const struct pdnn_onednn_dense_shape *shape,
                                                struct pdnn_onednn_dense_bench **bench,
                                                struct pdnn_err *err) {
    struct pdnn_onednn_dense_bench *made = calloc(1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring layouts");
    made->library = library;
    made->options = options;
    made->shape = *shape;
    enum pdnn_status status = PDNN_OK;
    for (int pass = 0; status == PDNN_OK && pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
        if (made->shape.has_pass[pass])
            status = collect_pass(made, (enum pdnn_pass)pass, err);
    }
    if (status != PDNN_OK) {
        pdnn_onednn_dense_bench_destroy(made);
        return status;
    }
    *bench = made;
    return PDNN_OK;
}

void pdnn_onednn_dense_bench_destroy(struct pdnn_onednn_dense_bench *bench) {
    if (!bench)
        return;
    for (int i = 0; i < bench->n_candidates; i++)
        pdnn_onednn_dense_pass_destroy(&bench->candidate[i].made);
    void *memory[] = {bench->x.memory,   bench->w.memory,       bench->b.memory,     bench->y.memory,
                      bench->out.memory, bench->scratch.memory, bench->moved.memory, bench};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
}
