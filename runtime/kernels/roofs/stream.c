#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS */
#include "runtime/kernels/roofs/stream.h"

#include "runtime/kernels/roofs/stream_loops.h"

#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    /* Arrays a multiple of 4 KiB apart would suffer 4K aliasing: loads wait for older stores with the same
     * low address bits. Large arrays a power of two apart would also hit the same memory banks: copy then ran
     * at 19 or 40 GB/s, at random. The gap is the one of models/cost/memory.c. */
    SMALL_PAD_FLOATS = 336,
    LARGE_PAD_FLOATS = (17 * 4096 + 5 * 64) / 4,
    LARGE_SLICE_BYTES = 1 << 20,
    HUGE_PAGE_BYTES = 2 << 20,
};

struct pattern {
    const char *name;
    size_t arrays;
    size_t moves; /* elements read and written per element of an array */
};

static const struct pattern patterns[PDNN_STREAM_PATTERN_COUNT] = {
    [PDNN_STREAM_READ] = {"read", 1, 1},
    [PDNN_STREAM_COPY] = {"copy", 2, 2},
    [PDNN_STREAM_TRIAD] = {"triad", 3, 3},
    [PDNN_STREAM_UPDATE] = {"update", 2, 3},
};

const char *pdnn_stream_pattern_name(enum pdnn_stream_pattern pattern) {
    return patterns[pattern].name;
}

static size_t pad_floats(const struct pdnn_stream *stream) {
    return stream->slice_bytes < LARGE_SLICE_BYTES ? SMALL_PAD_FLOATS : LARGE_PAD_FLOATS;
}

static size_t mapped_bytes(const struct pdnn_stream *stream) {
    return stream->slice_bytes + 2 * pad_floats(stream) * sizeof(float);
}

/* Values that stay small under every pattern: after a pass of TRIAD, b and c are half to twice a. */
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
            madvise(slice, mapped_bytes(&made), MADV_HUGEPAGE); /* a hint, as for the blocks of plans */
    }
    if (!complete) {
        pdnn_fail(err, PDNN_NO_MEMORY, "cannot allocate %zu bytes for each of %lld threads", made.slice_bytes,
                  (long long)threads);
        pdnn_stream_destroy(&made);
        return PDNN_NO_MEMORY;
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

/* Whole units of each array, within the part that the job asks for. */
static struct pdnn_stream_arrays arrays_of(const struct pdnn_stream *stream,
                                           const struct pdnn_stream_job *job, float *slice) {
    size_t bytes =
        job->slice_bytes && job->slice_bytes < stream->slice_bytes ? job->slice_bytes : stream->slice_bytes;
    size_t units = bytes / sizeof(float) / patterns[job->pattern].arrays / PDNN_STREAM_UNIT_FLOATS;
    size_t first = 0, end = units;
    if (job->parts) {
        first = units * (size_t)(job->part % job->parts) / (size_t)job->parts;
        end = units * (size_t)(job->part % job->parts + 1) / (size_t)job->parts;
    }
    return (struct pdnn_stream_arrays){slice + first * PDNN_STREAM_UNIT_FLOATS,
                                       (end - first) * PDNN_STREAM_UNIT_FLOATS,
                                       units * PDNN_STREAM_UNIT_FLOATS + pad_floats(stream)};
}

uint64_t pdnn_stream_run(const struct pdnn_stream *stream, const struct pdnn_stream_job *job, float *result) {
    uint64_t bytes = 0;
    float sum = 0;
#pragma omp parallel num_threads((int)job->threads) reduction(+ : bytes, sum)
    {
        const struct pdnn_stream_arrays mine = arrays_of(stream, job, stream->slice[omp_get_thread_num()]);
        sum += pdnn_stream_passes(job, &mine);
        bytes += job->passes * mine.count * patterns[job->pattern].moves * sizeof(float);
    }
    *result = sum;
    return bytes;
}

uint64_t pdnn_stream_read_part(const struct pdnn_stream *stream, int64_t threads, size_t offset, size_t bytes,
                               float *result) {
    const struct pdnn_stream_job once = {.pattern = PDNN_STREAM_READ, .threads = threads, .passes = 1};
    size_t start = offset % stream->slice_bytes;
    uint64_t total = 0;
    float sum = 0;
#pragma omp parallel num_threads((int)threads) reduction(+ : total, sum)
    {
        size_t left = bytes, at = start;
        while (left) {
            size_t part = left < stream->slice_bytes - at ? left : stream->slice_bytes - at;
            const struct pdnn_stream_arrays mine = {stream->slice[omp_get_thread_num()] + at / sizeof(float),
                                                    part / sizeof(float), 0};
            sum += pdnn_stream_passes(&once, &mine);
            left -= part;
            at = 0;
        }
        total += bytes;
    }
    *result = sum;
    return total;
}
