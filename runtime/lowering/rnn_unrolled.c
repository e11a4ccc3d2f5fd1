#include "runtime/lowering/rnn_unrolled.h"

#include "models/op.h"
#include "runtime/lowering/call.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/kernels/sequence/rnn_cell.h"
#include "runtime/kernels/gemm/rnn_product.h"
#include "runtime/kernels/simd/level.h"

#include <stdio.h>
#include <string.h>

/* The kernels that a cell runs, in order. gru has two per step, with the candidate's product between them. */
static const struct parts {
    enum pdnn_rnn_cell forward[2], backward[2];
} parts[PDNN_CELL_COUNT] = {
    [PDNN_CELL_RNN] = {{PDNN_RNN_TANH}, {PDNN_RNN_TANH_BACKWARD}},
    [PDNN_CELL_LSTM] = {{PDNN_RNN_LSTM}, {PDNN_RNN_LSTM_BACKWARD}},
    [PDNN_CELL_GRU] = {{PDNN_RNN_GRU_RESET, PDNN_RNN_GRU},
                       {PDNN_RNN_GRU_BACKWARD, PDNN_RNN_GRU_RESET_BACKWARD}},
    [PDNN_CELL_LBR_GRU] = {{PDNN_RNN_LBR_GRU}, {PDNN_RNN_LBR_GRU_BACKWARD}},
};

/* From this number of steps on, packing U pays off. */
enum { PACKING_STEPS = 4 };

/* U h' splits into two products if the candidate needs its own: gru multiplies r * h',
 * lbr_gru keeps the product. */
enum { PLAIN_GATES, CANDIDATE, U_PARTS };

/* Offsets in the scratch, in floats. What a pass does not need takes no space. */
struct places {
    int64_t zeros;      /* (N, H): the state before the first step */
    int64_t bias;       /* (sums*H): sums of the two bias vectors per gate */
    int64_t gates;      /* (R, sums*H): forward, gates that are not saved; backward, gradients of the sums */
    int64_t c;          /* (N, H): forward, c if it is not saved; backward, its gradient */
    int64_t dh;         /* (N, H) */
    int64_t gated;      /* (N, H), or (R, H) over all steps for the gradient of U */
    int64_t dgated;     /* (N, H) */
    int64_t columns;    /* scratch of pdnn_column_sums */
    int64_t u[U_PARTS]; /* packed, if there are enough steps */
    int64_t total;
};

static int64_t take(int64_t *total, int64_t floats) {
    const int64_t line = 16;
    int64_t at = *total;
    *total += (floats + line - 1) / line * line;
    return at;
}

/* Number of gates in a part of U; part_begin is the first of them. */
static int64_t part_gates(const struct pdnn_rnn_unrolled *rnn, int part) {
    bool splits = rnn->cell == PDNN_CELL_GRU || rnn->cell == PDNN_CELL_LBR_GRU;
    int64_t candidates = splits ? 1 : 0;
    return part == PLAIN_GATES ? rnn->G - candidates : candidates;
}

static int64_t part_begin(const struct pdnn_rnn_unrolled *rnn, int part) {
    return part == PLAIN_GATES ? 0 : part_gates(rnn, PLAIN_GATES);
}

static bool packs(const struct pdnn_rnn_unrolled *rnn) {
    return rnn->T >= PACKING_STEPS;
}

static void place_packed(const struct pdnn_rnn_unrolled *rnn, struct places *p) {
    for (int part = 0; packs(rnn) && part < U_PARTS; part++) {
        int64_t units = part_gates(rnn, part) * rnn->H;
        p->u[part] = take(&p->total, rnn->is_backward ? pdnn_rnn_packed_floats(units, rnn->H)
                                                      : pdnn_rnn_packed_floats(rnn->H, units));
    }
}

static struct places places_of(const struct pdnn_rnn_unrolled *rnn) {
    struct places p = {0};
    int64_t R = rnn->T * rnn->N, N = rnn->N, H = rnn->H;
    bool is_gru = rnn->cell == PDNN_CELL_GRU, is_lstm = rnn->cell == PDNN_CELL_LSTM;
    p.zeros = take(&p.total, N * H);
    place_packed(rnn, &p);
    if (rnn->is_backward) {
        p.gates = take(&p.total, R * rnn->sums * H);
        p.c = take(&p.total, is_lstm ? N * H : 0);
        p.dh = take(&p.total, N * H);
        p.gated = take(&p.total, is_gru ? R * H : 0);
        p.dgated = take(&p.total, is_gru ? N * H : 0);
        p.columns = take(&p.total, pdnn_column_sums_scratch(R, rnn->sums * H, rnn->threads));
        return p;
    }
    bool keeps = rnn->is_train && pdnn_cells[rnn->cell].n_saved;
    p.bias = take(&p.total, rnn->has_two_biases ? rnn->sums * H : 0);
    p.gates = take(&p.total, keeps || rnn->cell == PDNN_CELL_RNN ? 0 : R * rnn->sums * H);
    p.c = take(&p.total, is_lstm && !keeps ? N * H : 0);
    p.gated = take(&p.total, is_gru ? N * H : 0);
    return p;
}

uint64_t pdnn_rnn_unrolled_scratch_bytes(const struct pdnn_rnn_unrolled *rnn) {
    return (uint64_t)places_of(rnn).total * sizeof(float);
}

/* One run over the steps: where the gates' values and c are stored, and their strides from row to row. */
struct run {
    const struct pdnn_rnn_unrolled *rnn;
    struct places places;
    float *gates, *c;
    int64_t gates_stride, c_stride;
    struct pdnn_rnn_cell_job job;
};

static int multiply_packed(const struct run *run, int part, const struct pdnn_sgemm *gemm) {
    const struct pdnn_rnn_product_job job = {.N = gemm->m,
                                             .K = gemm->k,
                                             .C = gemm->n,
                                             .a = gemm->a,
                                             .packed = run->rnn->scratch + run->places.u[part],
                                             .c = gemm->c,
                                             .a_stride = gemm->a_stride,
                                             .c_stride = gemm->c_stride,
                                             .accumulate = gemm->accumulate};
    pdnn_rnn_product_run(&job, run->rnn->threads);
    return 0;
}

/* Multiplies with a part of U; c.accumulate adds to c instead of overwriting it.
 *   Forward: c (N, gates*H) = a (N, H) times the part transposed.
 *   Backward: c (N, H) = a (N, gates*H) times the part. */
static int multiply(const struct run *run, int part, struct pdnn_sgemm c) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    int64_t units = part_gates(rnn, part) * rnn->H;
    c.m = rnn->N;
    c.n = rnn->is_backward ? rnn->H : units;
    c.k = rnn->is_backward ? units : rnn->H;
    c.b = rnn->u + part_begin(rnn, part) * rnn->H * rnn->H;
    c.b_stride = rnn->H;
    c.b_transposed = !rnn->is_backward;
    return packs(rnn) ? multiply_packed(run, part, &c) : rnn->library->sgemm(&c);
}

static void pack(const struct run *run) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    for (int part = 0; packs(rnn) && part < U_PARTS; part++) {
        int64_t units = part_gates(rnn, part) * rnn->H;
        const float *u = rnn->u + part_begin(rnn, part) * rnn->H * rnn->H;
        float *packed = rnn->scratch + run->places.u[part];
        if (rnn->is_backward)
            pdnn_rnn_pack(u, units, rnn->H, false, packed, rnn->threads);
        else
            pdnn_rnn_pack(u, rnn->H, units, true, packed, rnn->threads);
    }
}

/* The first row of step k in the order of execution. */
static int64_t row_at(const struct pdnn_rnn_unrolled *rnn, int64_t k) {
    return (rnn->is_reverse ? rnn->T - 1 - k : k) * rnn->N;
}

/* Gates and c live where the cell saves them, or in the scratch if `saved` is NULL; the plain rnn cell
 * has its only gate in y. */
static struct run begin(const struct pdnn_rnn_unrolled *rnn) {
    struct run run = {.rnn = rnn, .places = places_of(rnn)};
    int64_t H = rnn->H;
    run.gates = rnn->saved ? rnn->saved : rnn->scratch + run.places.gates;
    run.gates_stride = rnn->sums * H;
    run.c = rnn->scratch + run.places.c;
    if (rnn->cell == PDNN_CELL_RNN) {
        run.gates = rnn->y;
        run.gates_stride = H;
    } else if (rnn->saved) {
        run.gates_stride = pdnn_cells[rnn->cell].n_saved * H;
        run.c = rnn->saved + rnn->sums * H;
        run.c_stride = run.gates_stride;
    }
    memset(rnn->scratch + run.places.zeros, 0, (size_t)(rnn->N * H) * sizeof(float));
    run.job = (struct pdnn_rnn_cell_job){.N = rnn->N, .H = H, .gates_stride = run.gates_stride};
    return run;
}

/* Both passes: points the job at the values of step k and at the state before it. */
static void point_at(struct run *run, int64_t k) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    struct pdnn_rnn_cell_job *job = &run->job;
    const float *zeros = rnn->scratch + run->places.zeros;
    int64_t row = row_at(rnn, k), before = row_at(rnn, k - 1);
    bool keeps_c = run->c_stride != 0;
    job->gates = run->gates + row * run->gates_stride;
    job->h = rnn->y + row * rnn->H;
    job->h_before = k ? rnn->y + before * rnn->H : zeros;
    job->c = run->c + (keeps_c ? row * run->c_stride : 0);
    job->c_stride = job->c_before_stride = keeps_c ? run->c_stride : rnn->H;
    job->c_before = keeps_c ? run->c + before * run->c_stride : run->c;
    if (!k) {
        job->c_before = zeros;
        job->c_before_stride = rnn->H;
    }
}

static int run_part(struct run *run, enum pdnn_rnn_cell cell) {
    run->job.cell = cell;
    pdnn_rnn_cell_run(&run->job, run->rnn->threads);
    return 0;
}

/* Adds the products with h' to the input products, which completes all sums except for the bias and gru's
 * candidate. lbr_gru's candidate keeps its recurrent product in a sum of its own. */
static int add_recurrent(struct run *run) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    struct pdnn_sgemm sums = {.a = run->job.h_before,
                              .a_stride = rnn->H,
                              .c = run->job.gates,
                              .c_stride = run->gates_stride,
                              .accumulate = true};
    int error = multiply(run, PLAIN_GATES, sums);
    if (error || rnn->cell != PDNN_CELL_LBR_GRU)
        return error;
    sums.c += rnn->G * rnn->H;
    sums.accumulate = false;
    return multiply(run, CANDIDATE, sums);
}

static int forward_call(struct run *run, int64_t k) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    const struct parts *cell = &parts[rnn->cell];
    point_at(run, k);
    int error = add_recurrent(run);
    if (error)
        return error;
    run_part(run, cell->forward[0]);
    if (rnn->cell != PDNN_CELL_GRU)
        return 0;
    error = multiply(run, CANDIDATE,
                     (struct pdnn_sgemm){.a = run->job.gated,
                                         .a_stride = rnn->H,
                                         .c = run->job.gates + (rnn->G - 1) * rnn->H,
                                         .c_stride = run->gates_stride,
                                         .accumulate = true});
    return error ? error : run_part(run, cell->forward[1]);
}

/* Merges the two bias vectors per gate into one per sum. */
static void add_biases(const struct pdnn_rnn_unrolled *rnn, float *bias) {
    int64_t gates = rnn->G * rnn->H, shared = gates - (rnn->sums > rnn->G ? rnn->H : 0);
    const float *iter = rnn->b + gates;
    for (int64_t i = 0; i < gates; i++)
        bias[i] = rnn->b[i] + (i < shared ? iter[i] : 0);
    memcpy(bias + gates, iter + shared, (size_t)(gates - shared) * sizeof *bias);
}

static int run_forward(const struct pdnn_rnn_unrolled *rnn) {
    struct run run = begin(rnn);
    float *bias = rnn->scratch + run.places.bias;
    if (rnn->has_two_biases)
        add_biases(rnn, bias);
    run.job.bias = rnn->has_two_biases ? bias : rnn->b;
    run.job.gated = rnn->scratch + run.places.gated;
    const struct pdnn_sgemm inputs = {.b_transposed = true,
                                      .m = rnn->T * rnn->N,
                                      .n = rnn->G * rnn->H,
                                      .k = rnn->I,
                                      .a = rnn->x,
                                      .b = rnn->w,
                                      .c = run.gates,
                                      .a_stride = rnn->I,
                                      .b_stride = rnn->I,
                                      .c_stride = run.gates_stride};
    int error = rnn->library->sgemm(&inputs);
    pack(&run);
    for (int64_t k = 0; !error && k < rnn->T; k++)
        error = forward_call(&run, k);
    return error;
}

/* Gradients of the sums, then of the state before. gru's candidate needs a product in between. */
static int backward_call(struct run *run, int64_t k) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    const struct parts *cell = &parts[rnn->cell];
    struct pdnn_rnn_cell_job *job = &run->job;
    int64_t row = row_at(rnn, k), H = rnn->H;
    bool is_gru = rnn->cell == PDNN_CELL_GRU, is_lbr = rnn->cell == PDNN_CELL_LBR_GRU;
    struct pdnn_sgemm dh = {
        .a_stride = job->dsums_stride, .c = job->dh, .c_stride = H, .accumulate = is_gru || is_lbr};
    point_at(run, k);
    job->dsums = rnn->scratch + run->places.gates + row * job->dsums_stride;
    job->dy = rnn->dy + row * H;
    job->gated = rnn->scratch + run->places.gated + row * H;
    int error = run_part(run, cell->backward[0]);
    struct pdnn_sgemm candidate = dh;
    if (is_gru) {
        candidate.a = job->dsums + (rnn->G - 1) * H;
        candidate.c = rnn->scratch + run->places.dgated;
        candidate.accumulate = false;
        job->dgated = candidate.c;
        error = multiply(run, CANDIDATE, candidate);
        error = error ? error : run_part(run, cell->backward[1]);
    }
    dh.a = job->dsums;
    error = error ? error : multiply(run, PLAIN_GATES, dh);
    dh.a = job->dsums + rnn->G * H;
    return error || !is_lbr ? error : multiply(run, CANDIDATE, dh);
}

/* Completes a product whose a holds gradients of sums and whose b and c have `columns` columns. */
static int multiply_sums(const struct run *run, int64_t columns, struct pdnn_sgemm product) {
    product.n = columns;
    product.a_stride = run->job.dsums_stride;
    product.b_stride = product.c_stride = columns;
    return run->rnn->library->sgemm(&product);
}

/* dU of some gates: the gradients `ds` of their sums, transposed, times h of the step before. The first step
 * is skipped because its h' is 0. */
static int gradient_of_u(const struct run *run, const float *ds, int64_t first_gate, int64_t gates) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    int64_t N = rnn->N, H = rnn->H;
    struct pdnn_sgemm du = {.a_transposed = true,
                            .m = gates * H,
                            .k = (rnn->T - 1) * N,
                            .a = ds + (rnn->is_reverse ? 0 : N) * run->job.dsums_stride,
                            .b = rnn->y + (rnn->is_reverse ? N : 0) * H,
                            .c = rnn->du + first_gate * H * H};
    if (du.k)
        return multiply_sums(run, H, du);
    memset(du.c, 0, (size_t)(gates * H * H) * sizeof *du.c);
    return 0;
}

/* dU of gru's candidate, which was multiplied with r * h'. */
static int gradient_of_candidate(const struct run *run, const float *ds) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    int64_t H = rnn->H, first = (rnn->G - 1) * H;
    const struct pdnn_sgemm du = {.a_transposed = true,
                                  .m = H,
                                  .k = rnn->T * rnn->N,
                                  .a = ds + first,
                                  .b = rnn->scratch + run->places.gated,
                                  .c = rnn->du + first * H};
    return multiply_sums(run, H, du);
}

/* The biases beside U h' have the same gradients as those beside W x, except for lbr_gru's candidate. */
static void gradient_of_b(const struct run *run, const float *ds) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    int64_t gates = rnn->G * rnn->H, shared = gates - (rnn->sums > rnn->G ? rnn->H : 0);
    const struct pdnn_column_sums sums = {.N = rnn->T * rnn->N,
                                          .C = run->job.dsums_stride,
                                          .dy = ds,
                                          .sums = rnn->db,
                                          .scratch = rnn->scratch + run->places.columns};
    pdnn_column_sums(&sums, rnn->threads);
    if (!rnn->has_two_biases)
        return;
    memmove(rnn->db + gates + shared, rnn->db + gates, (size_t)(gates - shared) * sizeof *rnn->db);
    memcpy(rnn->db + gates, rnn->db, (size_t)shared * sizeof *rnn->db);
}

static int gradients(const struct run *run) {
    const struct pdnn_rnn_unrolled *rnn = run->rnn;
    const float *ds = rnn->scratch + run->places.gates;
    int64_t gates = rnn->G * rnn->H, R = rnn->T * rnn->N;
    const struct pdnn_sgemm dw = {
        .a_transposed = true, .m = gates, .k = R, .a = ds, .b = rnn->x, .c = rnn->dw};
    const struct pdnn_sgemm dx = {.m = R, .k = gates, .a = ds, .b = rnn->w, .c = rnn->dx};
    gradient_of_b(run, ds);
    int error = multiply_sums(run, rnn->I, dw);
    if (!error && rnn->dx)
        error = multiply_sums(run, rnn->I, dx);
    error = error ? error : gradient_of_u(run, ds, 0, part_gates(rnn, PLAIN_GATES));
    if (!error && rnn->cell == PDNN_CELL_GRU)
        error = gradient_of_candidate(run, ds);
    else if (!error && rnn->cell == PDNN_CELL_LBR_GRU)
        error = gradient_of_u(run, ds + gates, rnn->G - 1, 1);
    return error;
}

static int run_backward(const struct pdnn_rnn_unrolled *rnn) {
    struct run run = begin(rnn);
    size_t state_bytes = (size_t)(rnn->N * rnn->H) * sizeof(float);
    run.job.dsums_stride = rnn->sums * rnn->H;
    run.job.dh = rnn->scratch + run.places.dh;
    run.job.dc = rnn->scratch + run.places.c;
    memset(run.job.dh, 0, state_bytes);
    if (rnn->cell == PDNN_CELL_LSTM)
        memset(run.job.dc, 0, state_bytes);
    int error = 0;
    pack(&run);
    for (int64_t k = rnn->T; !error && k-- > 0;)
        error = backward_call(&run, k);
    return error ? error : gradients(&run);
}

int pdnn_rnn_unrolled_run(const struct pdnn_rnn_unrolled *rnn) {
    return rnn->is_backward ? run_backward(rnn) : run_forward(rnn);
}

/* The node's layer, without addresses. */
static struct pdnn_rnn_unrolled unrolled_of(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                            const struct pdnn_sgemm_library *library, int64_t threads) {
    struct pdnn_rnn_geometry g = pdnn_rnn_geometry(graph, node);
    return (struct pdnn_rnn_unrolled){
        .library = library,
        .threads = threads,
        .cell = (enum pdnn_cell)node->attr[PDNN_RNN_CELL],
        .is_backward = node->pass == PDNN_BACKWARD_DATA,
        .is_reverse = node->attr[PDNN_RNN_REVERSE],
        .is_train = node->attr[PDNN_RNN_TRAIN],
        .has_two_biases = g.two_biases,
        .T = g.T,
        .N = g.N,
        .I = g.I,
        .H = g.H,
        .G = g.G,
        .sums = g.sums,
    };
}

/* A call's state: the layer, and where its addresses come from. */
struct call {
    struct pdnn_rnn_unrolled rnn;
    const struct pdnn_node *node; /* borrowed from the graph */
    uint32_t scratch_slot;
};

static void *input_of(const struct call *call, void *const *memory, int i) {
    return i < call->node->n_inputs ? memory[call->node->input[i]] : NULL;
}

static void *output_of(const struct call *call, void *const *memory, int i) {
    return i < call->node->n_outputs ? memory[call->node->output[i]] : NULL;
}

static void bind(void *state, void *const *memory) {
    struct call *call = state;
    struct pdnn_rnn_unrolled *rnn = &call->rnn;
    rnn->scratch = memory[call->scratch_slot];
    if (!rnn->is_backward) {
        rnn->x = input_of(call, memory, PDNN_RNN_X);
        rnn->w = input_of(call, memory, PDNN_RNN_W);
        rnn->u = input_of(call, memory, PDNN_RNN_U);
        rnn->b = input_of(call, memory, PDNN_RNN_B);
        rnn->y = output_of(call, memory, PDNN_RNN_Y);
        rnn->saved = output_of(call, memory, PDNN_RNN_SAVED);
        return;
    }
    rnn->dy = input_of(call, memory, PDNN_RNN_BACK_DY);
    rnn->x = input_of(call, memory, PDNN_RNN_BACK_X);
    rnn->y = input_of(call, memory, PDNN_RNN_BACK_Y);
    rnn->w = input_of(call, memory, PDNN_RNN_BACK_W);
    rnn->u = input_of(call, memory, PDNN_RNN_BACK_U);
    rnn->saved = input_of(call, memory, PDNN_RNN_BACK_SAVED);
    rnn->dw = output_of(call, memory, PDNN_RNN_BACK_DW);
    rnn->du = output_of(call, memory, PDNN_RNN_BACK_DU);
    rnn->db = output_of(call, memory, PDNN_RNN_BACK_DB);
    rnn->dx = output_of(call, memory, PDNN_RNN_BACK_DX);
}

static int run_call(void *state) {
    const struct call *call = state;
    return pdnn_rnn_unrolled_run(&call->rnn);
}

struct pdnn_extra_traffic pdnn_rnn_extra(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_rnn_geometry g = pdnn_rnn_geometry(graph, node);
    const int u = node->pass == PDNN_FORWARD ? PDNN_RNN_U : PDNN_RNN_BACK_U;
    const uint64_t u_bytes = pdnn_tensor_bytes(pdnn_node_in(graph, node, u)),
                   sums_and_states = (uint64_t)g.sums + 2;
    return (struct pdnn_extra_traffic){.read_bytes = (uint64_t)(g.T - 1) * u_bytes,
                                       .set_bytes =
                                           u_bytes + (uint64_t)(g.N * g.H) * sums_and_states * sizeof(float)};
}

/* Packing reads the weights once more, and writes them. */
static struct pdnn_extra_traffic extra_of(const struct pdnn_rnn_unrolled *rnn, const struct pdnn_graph *graph,
                                          const struct pdnn_node *node) {
    const uint64_t u_bytes = (uint64_t)(rnn->G * rnn->H * rnn->H) * sizeof(float);
    struct pdnn_extra_traffic extra = pdnn_rnn_extra(graph, node);
    if (packs(rnn))
        pdnn_extra_traffic_add(&extra, &(struct pdnn_extra_traffic){u_bytes, u_bytes, 0});
    return extra;
}

void pdnn_rnn_compile(const struct pdnn_sgemm_library *library, int64_t threads, struct pdnn_program *program,
                      uint32_t node) {
    const struct pdnn_node *n = &program->graph->nodes[node];
    struct call *state = pdnn_arena_alloc(&program->arena, 1, sizeof *state);
    *state = (struct call){.rnn = unrolled_of(program->graph, n, library, threads), .node = n};
    struct pdnn_call call = pdnn_call_of_node(program->graph, node);
    state->scratch_slot = pdnn_call_scratch(&call, program, pdnn_rnn_unrolled_scratch_bytes(&state->rnn));
    snprintf(call.implementation, sizeof call.implementation, "paradnn:rnn unrolled %s %s", library->name,
             pdnn_level_name());
    call.extra = extra_of(&state->rnn, program->graph, n);
    call.work = (struct pdnn_work){state, bind, run_call, NULL};
    pdnn_program_call(program, &call);
}
