#define _POSIX_C_SOURCE 200809L
/* The backend `openblas`: dense passes, products of heads and unrolled recurrent layers through OpenBLAS's
 * sgemm, everything else on our own kernels. All tensors are plain row-major. The library must be the OpenMP
 * build, so that its threads are the kernels' threads. */
#include "runtime/steps/steps.h"

#include <cblas.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

extern const struct pdnn_backend_def pdnn_backend_openblas;

enum { PARALLEL_OPENMP = 2 }; /* openblas_get_parallel() in the OpenMP build */

struct openblas {
    struct pdnn_step_options own;
};

static const char *version(void) {
    return openblas_get_config();
}

/* When it is loaded, the library picks its kernels by the name of a processor. Each row maps a name to an
 * isa; the first row of an isa has the name to ask for. */
static const char variable[] = "OPENBLAS_CORETYPE";
static const struct core {
    enum pdnn_isa isa;
    const char *name;
} cores[] = {
    {PDNN_ISA_SSE41, "Penryn"},
    {PDNN_ISA_SSE41, "Nehalem"},
    {PDNN_ISA_AVX, "Sandybridge"},
    {PDNN_ISA_AVX2, "Haswell"},
    {PDNN_ISA_AVX2, "Excavator"},
    {PDNN_ISA_AVX2, "Zen"},
    {PDNN_ISA_AVX512_CORE, "SkylakeX"},
    {PDNN_ISA_AVX512_CORE_BF16, "Cooperlake"},
    {PDNN_ISA_AVX512_CORE_AMX, "SapphireRapids"},
};
enum { CORES = sizeof cores / sizeof *cores };

/* Whether the kernels that were picked stay within the isa; unknown ones might not. */
static bool is_within(enum pdnn_isa isa) {
    for (size_t i = 0; i < CORES; i++) {
        if (strcasecmp(cores[i].name, openblas_get_corename()) == 0)
            return cores[i].isa <= isa;
    }
    return false;
}

static const char *isa_variable(enum pdnn_isa isa) {
    static char text[64];
    const struct core *core = cores;
    if (isa == PDNN_ISA_DEFAULT || is_within(isa))
        return NULL;
    for (size_t i = 1; i < CORES; i++) {
        if (cores[i].isa <= isa && cores[i].isa > core->isa)
            core = &cores[i];
    }
    snprintf(text, sizeof text, "%s=%s", variable, core->name);
    return text;
}

static enum pdnn_status limit_isa(enum pdnn_isa isa, struct pdnn_err *err) {
    if (!is_within(isa))
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "openblas: isa=%s, and OpenBLAS still uses its kernels for %s", pdnn_isa_names[isa],
                         openblas_get_corename());
    return PDNN_OK;
}

static enum pdnn_status open_openblas(int64_t threads, uint64_t cache_bytes, void **state,
                                      struct pdnn_err *err) {
    if (openblas_get_parallel() != PARALLEL_OPENMP)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "openblas: the library found is not its OpenMP build, whose threads would be ours "
                         "(Debian: libopenblas0-openmp)");
    struct openblas *openblas = malloc(sizeof *openblas);
    if (!openblas)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a backend");
    *openblas = (struct openblas){pdnn_step_options(threads, cache_bytes)};
    omp_set_num_threads((int)threads);
    *state = openblas;
    return PDNN_OK;
}

static void close_openblas(void *state) {
    free(state);
}

static int sgemm(const struct pdnn_sgemm *g) {
    cblas_sgemm(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
                g->b_transposed ? CblasTrans : CblasNoTrans, (blasint)g->m, (blasint)g->n, (blasint)g->k,
                1.0F, g->a, (blasint)g->a_stride, g->b, (blasint)g->b_stride, g->accumulate ? 1.0F : 0.0F,
                g->c, (blasint)g->c_stride);
    return 0;
}

static const struct pdnn_sgemm_library library = {
    .name = "openblas", .sgemm = sgemm, .title = "OpenBLAS", .most = INT_MAX};

static enum pdnn_status compile(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err) {
    const struct openblas *openblas = state;
    const struct pdnn_steps steps = {.backend = &pdnn_backend_openblas,
                                     .state = state,
                                     .program = program,
                                     .options = &openblas->own,
                                     .library = &library};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].n_posts)
            return pdnn_fail(err, PDNN_UNSUPPORTED, "openblas: OpenBLAS has no post-ops; use fuse=none");
    }
    return pdnn_steps_compile(&steps, err);
}

const struct pdnn_backend_def pdnn_backend_openblas = {
    .name = "openblas",
    .help = "matrix products by OpenBLAS, the rest by our own kernels; no fusion",
    .version = version,
    .isa_variable = isa_variable,
    .limit_isa = limit_isa,
    .open = open_openblas,
    .close = close_openblas,
    .compile = compile,
};
