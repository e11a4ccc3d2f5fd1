#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS */
#include "runtime/kernels/roofs/stream.h"

#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    UNIT_FLOATS = 256, /* arrays are whole numbers of these; the widest kernel takes 128 a turn */
    CHAINS = 8,        /* an addition takes 3 or 4 cycles and two can start in each */
    PLACES = 4,        /* that a read goes on at; together they take a line of each */
    /* Arrays a multiple of 4 KiB apart would make loads wait for older stores to the same low address bits.
     * Large ones a power of two apart would also meet in the same banks of the memory: copying then ran at 19
     * GB/s or at 40, by chance. The same gap as in models/memory.c. */
    SMALL_PAD_FLOATS = 336,
    LARGE_PAD_FLOATS = (17 * 4096 + 5 * 64) / 4,
    LARGE_SLICE_BYTES = 1 << 20,
    HUGE_PAGE_BYTES = 2 << 20,
};

#define PDNN_KERNEL "runtime/kernels/roofs/stream_kernel.h"
#include "runtime/kernels/simd/isa_variants.h"

struct variant {
    bool (*usable)(void);
    float (*read)(const float *a, size_t count, uint64_t passes);
    void (*copy[2])(const float *a, float *b, size_t count); /* [bypass] */
    void (*triad[2])(const float *a, const float *b, float *c, size_t count);
};

#define VARIANT_ROW(name)                                                                                    \
    {pdnn_isa_has_##name,                                                                                    \
     read_##name,                                                                                            \
     {copy_##name, copy_bypass_##name},                                                                      \
     {triad_##name, triad_bypass_##name}},
static const struct variant variants[] = {PDNN_ISA_VARIANTS(VARIANT_ROW)};

struct pattern {
    const char *name;
    size_t arrays;
};

static const struct pattern patterns[PDNN_STREAM_PATTERN_COUNT] = {
    [PDNN_STREAM_READ] = {"read", 1},
    [PDNN_STREAM_COPY] = {"copy", 2},
    [PDNN_STREAM_TRIAD] = {"triad", 3},
};

static const struct variant *widest(void) {
    const struct variant *variant = variants;
    while (!variant->usable())
        variant++;
    return variant;
}

const char *pdnn_stream_pattern_name(enum pdnn_stream_pattern pattern) {
    return patterns[pattern].name;
}

static size_t pad_floats(const struct pdnn_stream *stream) {
    return stream->slice_bytes < LARGE_SLICE_BYTES ? SMALL_PAD_FLOATS : LARGE_PAD_FLOATS;
}

static size_t mapped_bytes(const struct pdnn_stream *stream) {
    return stream->slice_bytes + 2 * pad_floats(stream) * sizeof(float);
}

/* Values stay small whatever is done to them: read once by TRIAD, b and c are half to twice a. */
static void touch(const struct pdnn_stream *stream, int64_t thread) {
    size_t count = mapped_bytes(stream) / sizeof(float);
    for (size_t i = 0; i < count; i++)
        stream->slice[thread][i] = (float)(i % 8) * 0.125f;
}

enum pdnn_status pdnn_stream_create(struct pdnn_stream *stream, int64_t threads, uint64_t slice_bytes,
                                    struct pdnn_err *err) {
    struct pdnn_stream made = {.threads = threads};
    made.slice_bytes = (size_t)slice_bytes / PDNN_STREAM_GRAIN * PDNN_STREAM_GRAIN;
    if (made.slice_bytes == 0)
        made.slice_bytes = PDNN_STREAM_GRAIN;
    made.slice = calloc((size_t)threads, sizeof *made.slice);
    bool complete = made.slice != NULL;
    for (int64_t i = 0; complete && i < threads; i++) {
        void *slice =
            mmap(NULL, mapped_bytes(&made), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        complete = slice != MAP_FAILED;
        made.slice[i] = complete ? slice : NULL;
        if (complete && made.slice_bytes >= HUGE_PAGE_BYTES)
            madvise(slice, mapped_bytes(&made), MADV_HUGEPAGE); /* a wish: as the plans' blocks */
    }
    if (!complete) {
        pdnn_stream_destroy(&made);
        return pdnn_fail(err, PDNN_NO_MEMORY, "cannot allocate %zu bytes for each of %lld threads",
                         made.slice_bytes, (long long)threads);
    }
#pragma omp parallel num_threads((int)threads)
    touch(&made, omp_get_thread_num());
    *stream = made;
    return PDNN_OK;
}

void pdnn_stream_destroy(struct pdnn_stream *stream) {
    for (int64_t i = 0; stream->slice && i < stream->threads; i++) {
        if (stream->slice[i])
            munmap(stream->slice[i], mapped_bytes(stream));
    }
    free(stream->slice);
    *stream = (struct pdnn_stream){0};
}

/* Arrays of count floats each, `step` floats from one to the next. */
static float run_passes(const struct variant *variant, const struct pdnn_stream_job *job, float *a,
                        size_t count, size_t step) {
    float *b = a + step, *c = b + step;
    if (job->pattern == PDNN_STREAM_READ)
        return variant->read(a, count, job->passes);
    for (uint64_t pass = 0; pass < job->passes; pass++) {
        if (job->pattern == PDNN_STREAM_COPY)
            variant->copy[job->bypass](a, b, count);
        else
            variant->triad[job->bypass](a, b, c, count);
    }
    return 0;
}

uint64_t pdnn_stream_run(const struct pdnn_stream *stream, const struct pdnn_stream_job *job, float *result) {
    const struct variant *variant = widest();
    size_t arrays = patterns[job->pattern].arrays;
    size_t count = stream->slice_bytes / sizeof(float) / arrays / UNIT_FLOATS * UNIT_FLOATS;
    uint64_t bytes = 0;
    float sum = 0;
#pragma omp parallel num_threads((int)job->threads) reduction(+ : bytes, sum)
    {
        sum +=
            run_passes(variant, job, stream->slice[omp_get_thread_num()], count, count + pad_floats(stream));
        bytes += job->passes * count * arrays * sizeof(float);
    }
    *result = sum;
    return bytes;
}

uint64_t pdnn_stream_read_part(const struct pdnn_stream *stream, int64_t threads, size_t offset, size_t bytes,
                               float *result) {
    const struct variant *variant = widest();
    size_t start = offset % stream->slice_bytes;
    uint64_t total = 0;
    float sum = 0;
#pragma omp parallel num_threads((int)threads) reduction(+ : total, sum)
    {
        const float *slice = stream->slice[omp_get_thread_num()];
        size_t left = bytes, at = start;
        while (left) {
            size_t part = left < stream->slice_bytes - at ? left : stream->slice_bytes - at;
            sum += variant->read(slice + at / sizeof(float), part / sizeof(float), 1);
            left -= part;
            at = 0;
        }
        total += bytes;
    }
    *result = sum;
    return total;
}

enum pdnn_status pdnn_evictor_create(struct pdnn_stream *evictor, int64_t threads, uint64_t llc_bytes,
                                     struct pdnn_err *err) {
    return pdnn_stream_create(evictor, threads, 4 * llc_bytes / (uint64_t)threads, err);
}

/* It only reads: a cache full of stores would have to be written back, line by line, by what is timed next.
 */
uint64_t pdnn_evict(const struct pdnn_stream *evictor) {
    const struct pdnn_stream_job read = {PDNN_STREAM_READ, evictor->threads, 1, false};
    float sum;
    return pdnn_stream_run(evictor, &read, &sum);
}
