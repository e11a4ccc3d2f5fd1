#define _POSIX_C_SOURCE 200809L
/* The backend `openblas`: dense passes, products of heads and unrolled recurrent layers through OpenBLAS's
 * sgemm, everything else by our own kernels. All tensors are plain row-major. It must be the OpenMP build, so
 * that its threads are the kernels' threads. */
#include "models/op.h"
#include "runtime/steps/half.h"
#include "runtime/steps/heads.h"
#include "runtime/steps/own.h"
#include "runtime/steps/rnn.h"
#include "runtime/steps/slow.h"
#include "runtime/steps/step.h"

#include <cblas.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

extern const struct pdnn_backend_def pdnn_backend_openblas;

enum { PARALLEL_OPENMP = 2 }; /* what openblas_get_parallel answers for it */

struct openblas {
    struct pdnn_own_options own;
};

/* c (m, n) = op(a) op(b), row-major; k is the length of the sums. */
struct gemm {
    CBLAS_TRANSPOSE a_transposed, b_transposed;
    blasint m, n, k, a_stride, b_stride;
    uint32_t a_slot, b_slot, c_slot;
    const float *a, *b;
    float *c;
};

static const char *version(void) {
    return openblas_get_config();
}

/* The library picks its kernels by the name of a processor, when it is loaded: what each name stands for. Of
 * each isa the first is the one to ask for. */
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

/* Whether the kernels that were picked use no more than the isa; unknown ones might. */
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

static enum pdnn_status open_openblas(int64_t threads, void **state, struct pdnn_err *err) {
    if (openblas_get_parallel() != PARALLEL_OPENMP)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "openblas: the library found is not its OpenMP build, whose threads would be ours "
                         "(Debian: libopenblas0-openmp)");
    struct openblas *openblas = malloc(sizeof *openblas);
    if (!openblas)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a backend");
    *openblas = (struct openblas){pdnn_own_options(threads)};
    omp_set_num_threads((int)threads);
    *state = openblas;
    return PDNN_OK;
}

static void close_openblas(void *state) {
    free(state);
}

static enum pdnn_status bind(void *state, void *const *memory, struct pdnn_err *err) {
    struct gemm *gemm = state;
    (void)err;
    gemm->a = memory[gemm->a_slot];
    gemm->b = memory[gemm->b_slot];
    gemm->c = memory[gemm->c_slot];
    return PDNN_OK;
}

static int run(void *state) {
    const struct gemm *g = state;
    cblas_sgemm(CblasRowMajor, g->a_transposed, g->b_transposed, g->m, g->n, g->k, 1.0F, g->a, g->a_stride,
                g->b, g->b_stride, 0.0F, g->c, g->n);
    return 0;
}

/* Of a matrix, or of what is seen as one: all dimensions but the first. */
static int64_t width_of(const struct pdnn_tensor *tensor) {
    return pdnn_tensor_elements(tensor) / tensor->dim[0];
}

/* N minibatch, I inputs, O outputs; x (N, I), w (O, I), y (N, O). */
static struct gemm gemm_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *a = pdnn_node_in(graph, node, 0), *b = pdnn_node_in(graph, node, 1);
    struct gemm gemm = {.a_slot = node->input[0], .b_slot = node->input[1], .c_slot = node->output[0]};
    blasint N = (blasint)a->dim[0], a_width = (blasint)width_of(a), b_width = (blasint)width_of(b);
    gemm.a_transposed = gemm.b_transposed = CblasNoTrans;
    gemm.a_stride = a_width;
    gemm.b_stride = b_width;
    if (node->pass == PDNN_FORWARD) { /* y = x w^T */
        gemm.b_transposed = CblasTrans;
        gemm.m = N;
        gemm.n = (blasint)b->dim[0];
        gemm.k = a_width;
    } else if (node->pass == PDNN_BACKWARD_DATA) { /* dx = dy w */
        gemm.m = N;
        gemm.n = b_width;
        gemm.k = a_width;
    } else { /* dw = dy^T x: the inputs are x, dy */
        gemm.a_slot = node->input[1];
        gemm.b_slot = node->input[0];
        gemm.a_transposed = CblasTrans;
        gemm.a_stride = b_width;
        gemm.b_stride = a_width;
        gemm.m = b_width;
        gemm.n = a_width;
        gemm.k = N;
    }
    return gemm;
}

static enum pdnn_status check_dense(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                    struct pdnn_err *err) {
    const struct pdnn_tensor *a = pdnn_node_in(graph, node, 0), *b = pdnn_node_in(graph, node, 1);
    if (a->dtype != PDNN_F32)
        return pdnn_step_unsupported("openblas", graph, node, err);
    const int64_t dims[] = {a->dim[0], width_of(a), b->dim[0], width_of(b)};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        if (dims[i] > INT_MAX)
            return pdnn_fail(err, PDNN_UNSUPPORTED,
                             "openblas: dense with a dimension beyond the library's 32-bit integers");
    }
    return PDNN_OK;
}

static enum pdnn_status compile_dense(struct pdnn_program *program, uint32_t index, struct pdnn_err *err) {
    const struct pdnn_node *node = &program->graph->nodes[index];
    enum pdnn_status status = check_dense(program->graph, node, err);
    if (status != PDNN_OK)
        return status;
    struct gemm *gemm = pdnn_arena_alloc(&program->arena, 1, sizeof *gemm);
    if (!gemm)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    *gemm = gemm_of(program->graph, node);
    struct pdnn_step step = pdnn_step_of_node(program->graph, index);
    snprintf(step.implementation, sizeof step.implementation, "openblas:sgemm");
    step.work = (struct pdnn_work){gemm, bind, run, NULL};
    return pdnn_program_step(program, &step, err);
}

static int sgemm(const struct pdnn_sgemm *g) {
    cblas_sgemm(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
                g->b_transposed ? CblasTrans : CblasNoTrans, (blasint)g->m, (blasint)g->n, (blasint)g->k,
                1.0F, g->a, (blasint)g->a_stride, g->b, (blasint)g->b_stride, g->accumulate ? 1.0F : 0.0F,
                g->c, (blasint)g->c_stride);
    return 0;
}

static bool fits_library(const struct pdnn_heads *heads) {
    return heads->rows <= INT_MAX && heads->columns <= INT_MAX && heads->row_stride <= INT_MAX;
}

static enum pdnn_status compile_heads(const struct openblas *openblas, struct pdnn_program *program,
                                      uint32_t index, struct pdnn_err *err) {
    const struct pdnn_node *node = &program->graph->nodes[index];
    const struct pdnn_heads_multiply multiply = {.product = pdnn_heads_product_of(program->graph, node),
                                                 .threads = openblas->own.threads,
                                                 .sgemm = sgemm};
    const struct pdnn_heads_product *p = &multiply.product;
    if (pdnn_node_in(program->graph, node, 0)->dtype != PDNN_F32)
        return pdnn_step_unsupported("openblas", program->graph, node, err);
    if (!fits_library(&p->a) || !fits_library(&p->b) || !fits_library(&p->y))
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "openblas: matmul with a dimension beyond the library's 32-bit integers");
    return pdnn_heads_compile(&multiply, program, index, "openblas:sgemm", err);
}

static const struct pdnn_rnn_library rnn_library = {"openblas", sgemm};

static enum pdnn_status compile_rnn(const struct openblas *openblas, struct pdnn_program *program,
                                    uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    if (graph->rnn == PDNN_RECURRENCE_FUSED)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "openblas: OpenBLAS has no recurrent layers; use rnn=unrolled");
    for (int i = 0; i < node->n_inputs; i++) {
        const struct pdnn_tensor *input = pdnn_node_in(graph, node, i);
        if (input->dtype != PDNN_F32)
            return pdnn_step_unsupported("openblas", graph, node, err);
        if (input->dim[0] > INT_MAX || (input->rank > 1 && input->dim[1] > INT_MAX))
            return pdnn_fail(err, PDNN_UNSUPPORTED,
                             "openblas: rnn with a dimension beyond the library's 32-bit integers");
    }
    return pdnn_rnn_compile(&rnn_library, openblas->own.threads, program, index, err);
}

/* The library multiplies in f32 alone. */
static enum pdnn_status compile_half(struct openblas *openblas, struct pdnn_program *program, uint32_t index,
                                     struct pdnn_err *err) {
    const struct pdnn_graph *graph = program->graph;
    if (!program->allow_slow)
        return pdnn_slow_refuse("openblas", "sgemm", graph, &graph->nodes[index], err);
    return pdnn_slow_compile(&pdnn_backend_openblas, openblas, openblas->own.threads, program, index, err);
}

static enum pdnn_status compile(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err) {
    struct openblas *openblas = state;
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        bool found = true;
        bool multiplies =
            node->op == &pdnn_op_dense || node->op == &pdnn_op_rnn || node->op == &pdnn_op_matmul;
        if (node->n_posts)
            status = pdnn_fail(err, PDNN_UNSUPPORTED, "openblas: OpenBLAS has no post-ops; use fuse=none");
        else if (multiplies && pdnn_half_is_used(graph, node))
            status = compile_half(openblas, program, i, err);
        else if (node->op == &pdnn_op_dense)
            status = compile_dense(program, i, err);
        else if (node->op == &pdnn_op_rnn)
            status = compile_rnn(openblas, program, i, err);
        else if (node->op == &pdnn_op_matmul)
            status = compile_heads(openblas, program, i, err);
        else
            status = pdnn_own_compile(&openblas->own, program, i, &found, err);
        if (status == PDNN_OK && !found)
            status = pdnn_step_unsupported("openblas", graph, node, err);
    }
    return status;
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
