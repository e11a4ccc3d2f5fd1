#define _POSIX_C_SOURCE 200809L
/* The backend `openblas`: dense passes, products of heads and unrolled recurrent layers through OpenBLAS's
 * sgemm, everything else on our own kernels. All tensors are plain row-major. The library must be the OpenMP
 * build, so that its threads are the kernels' threads. */
#include "base/memory.h"
#include "runtime/backend/library_build.h"
#include "runtime/backends/openblas/core.h"
#include "runtime/lowering/calls.h"
#include "runtime/protocol/software.h"

#include <cblas.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct pdnn_backend_def pdnn_backend_openblas;

enum { PARALLEL_OPENMP = 2 }; /* openblas_get_parallel() in the OpenMP build */

static const char *version(void) {
    static char text[PDNN_SOFTWARE_TEXT];
    char build[PDNN_LIBRARY_BUILD_TEXT];
    const char *config = openblas_get_config();
    snprintf(text, sizeof text, "%s, build %s", config, pdnn_library_build(config, build));
    return text;
}

static const char *path(void) {
    static char text[PDNN_SOFTWARE_PATH];
    return pdnn_library_path(openblas_get_config(), text, sizeof text);
}

/* The user's own choice of a core wins, except over an isa that it does not stay within. */
static const char *isa_variable(const struct pdnn_host *host, enum pdnn_isa isa) {
    static const char variable[] = "OPENBLAS_CORETYPE";
    static char text[64];
    if (isa == PDNN_ISA_DEFAULT && getenv(variable))
        return NULL;
    const char *core = pdnn_openblas_core_for(openblas_get_corename(), host, isa);
    if (!core)
        return NULL;
    snprintf(text, sizeof text, "%s=%s", variable, core);
    return text;
}

static enum pdnn_status limit_isa(enum pdnn_isa isa, struct pdnn_err *err) {
    if (!pdnn_openblas_core_is_within(openblas_get_corename(), isa))
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "openblas: isa=%s, and OpenBLAS still uses its kernels for %s", pdnn_isa_names[isa],
                         openblas_get_corename());
    return PDNN_OK;
}

/* It takes another core, not always the usual one, where it has none of that name for this processor. */
static bool ignores(const char *name, const char *value) {
    if (strcmp(name, "OPENBLAS_L2_SIZE") == 0)
        return atoi(value) == 0;
    return strcmp(name, "OPENBLAS_CORETYPE") == 0 && strcasecmp(value, openblas_get_corename()) != 0;
}

static enum pdnn_status open_openblas(const struct pdnn_call_options *options, void **state,
                                      struct pdnn_err *err) {
    if (openblas_get_parallel() != PARALLEL_OPENMP)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "openblas: the library found is not its OpenMP build, whose threads would be ours "
                         "(Debian: libopenblas0-openmp)");
    struct pdnn_call_options *own = pdnn_alloc(1, sizeof *own);
    *own = *options;
    omp_set_num_threads((int)options->threads);
    *state = own;
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
    .name = "openblas", .sgemm = sgemm, .core = openblas_get_corename, .title = "OpenBLAS", .most = INT_MAX};

static enum pdnn_status compile(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err) {
    const struct pdnn_calls calls = {.backend = &pdnn_backend_openblas,
                                     .state = state,
                                     .program = program,
                                     .options = state,
                                     .library = &library};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].n_posts)
            return pdnn_fail(err, PDNN_UNSUPPORTED, "openblas: OpenBLAS has no post-ops; use fuse=none");
    }
    return pdnn_calls_compile(&calls, err);
}

const struct pdnn_backend_def pdnn_backend_openblas = {
    .name = "openblas",
    .help = "matrix products by OpenBLAS, the rest by our own kernels; no fusion",
    .version = version,
    .path = path,
    .isa_variable = isa_variable,
    .limit_isa = limit_isa,
    .ignores = ignores,
    .open = open_openblas,
    .close = close_openblas,
    .compile = compile,
};
