#include "runtime/measure/probe.h"
#include "base/clock.h"
#include "base/stats.h"
#include "runtime/kernels/roofs/chain.h"
#include "runtime/kernels/roofs/fma.h"
#include "runtime/kernels/roofs/handoff.h"

/* Duration of each of the two parts: long compared with an OpenMP fork, short compared with a visit. */
enum { PART_NS = 2000000, FIRST_ITERATIONS = 20000 };

enum { FIRST_BYTES = 1366 * PDNN_STREAM_GRAIN };

enum { FORKS = 31 };

static double run_fma(const struct pdnn_dram_buffer *far, uint64_t *ns) {
    struct pdnn_probe_state *probe = &far->memory->probe;
    uint64_t start = pdnn_clock_ns();
    double flop = (double)pdnn_fma_run(far->threads, probe->iterations, &probe->result);
    *ns = pdnn_clock_ns() - start;
    return flop / (double)*ns;
}

/* Successive probes walk through the far memory, so that each one reads from DRAM. */
static double run_read(const struct pdnn_dram_buffer *far, uint64_t *ns) {
    const struct pdnn_stream *stream = &far->memory->stream;
    struct pdnn_probe_state *probe = &far->memory->probe;
    uint64_t start = pdnn_clock_ns();
    double bytes =
        (double)pdnn_stream_read_part(stream, far->threads, probe->offset, probe->bytes, &probe->result);
    *ns = pdnn_clock_ns() - start;
    probe->offset = (probe->offset + probe->bytes) % stream->slice_bytes;
    return bytes / (double)*ns;
}

/* Minimum of a few runs: a run that was interrupted must not pass for a slow one, or the calibrated amount
 * would be too small to measure. */
static uint64_t least_ns(double (*run)(const struct pdnn_dram_buffer *far, uint64_t *ns),
                         const struct pdnn_dram_buffer *far) {
    enum { RUNS = 5 };
    uint64_t least = UINT64_MAX, ns;
    for (int i = 0; i < RUNS; i++) {
        run(far, &ns);
        least = ns < least ? ns : least;
    }
    return least;
}

/* Calibrates iterations and bytes to take PART_NS with this many threads. */
static enum pdnn_status prepare(const struct pdnn_dram_buffer *far, struct pdnn_err *err) {
    struct pdnn_probe_state *probe = &far->memory->probe;
    const struct pdnn_stream *stream;
    enum pdnn_status status = pdnn_dram_buffer_get(far, &stream, err);
    if (status != PDNN_OK || (far->threads == probe->threads && stream->slice_bytes == probe->slice_bytes))
        return status;
    probe->iterations = FIRST_ITERATIONS;
    probe->bytes = FIRST_BYTES;
    probe->iterations = probe->iterations * PART_NS / (least_ns(run_fma, far) + 1) + 1;
    double bytes = (double)probe->bytes * PART_NS / (double)(least_ns(run_read, far) + 1);
    double most = (double)stream->slice_bytes;
    size_t grains = (size_t)(bytes < most ? bytes : most) / PDNN_STREAM_GRAIN;
    probe->bytes = (grains + 1) * PDNN_STREAM_GRAIN;
    probe->clock_cost_ns = pdnn_clock_read_cost_ns();
    probe->threads = far->threads;
    probe->slice_bytes = stream->slice_bytes;
    return PDNN_OK;
}

static double fork_ns(int64_t threads) {
    double ns[FORKS];
    for (int i = 0; i < FORKS; i++) {
        const uint64_t start_ns = pdnn_clock_ns();
#pragma omp parallel num_threads((int)threads)
        __asm__ volatile(""); /* or the region would be left out */
        ns[i] = (double)(pdnn_clock_ns() - start_ns);
    }
    return pdnn_median(ns, FORKS);
}

enum pdnn_status pdnn_probe(const struct pdnn_dram_buffer *far, struct pdnn_probe_rates *rates,
                            struct pdnn_err *err) {
    uint64_t ns;
    enum pdnn_status status = prepare(far, err);
    if (status != PDNN_OK)
        return status;
    *rates = (struct pdnn_probe_rates){.gflops = run_fma(far, &ns)};
    rates->clock_ghz = pdnn_chain_ghz(far->threads, far->memory->probe.clock_cost_ns);
    rates->handoff_ns = pdnn_handoff_ns(far->threads);
    rates->fork_ns = fork_ns(far->threads);
    rates->gbs = run_read(far, &ns);
    return PDNN_OK;
}
