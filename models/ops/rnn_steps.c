#include "models/ops/rnn_steps.h"

#include <string.h>

/* The sum that a gate's recurrent product is added to: lbr_gru's candidate has one of its own. */
static int64_t sum_of_gate(const struct pdnn_rnn_geometry *g, int64_t gate) {
    return gate == g->G - 1 && g->sums > g->G ? g->G : gate;
}

/* y += w x. */
static void multiply(struct pdnn_reference *r, const double *w, int64_t rows, int64_t columns,
                     const double *x, double *y) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < columns; k++) {
            y[i] += w[i * columns + k] * x[k];
            r->flop += 2;
        }
    }
}

/* x += w^T y. */
static void multiply_transposed(struct pdnn_reference *r, const double *w, int64_t rows, int64_t columns,
                                const double *y, double *x) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < columns; k++) {
            x[k] += w[i * columns + k] * y[i];
            r->flop += 2;
        }
    }
}

/* w += y x^T. */
static void add_product(struct pdnn_reference *r, const double *y, int64_t rows, const double *x,
                        int64_t columns, double *w) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < columns; k++) {
            w[i * columns + k] += y[i] * x[k];
            r->flop += 2;
        }
    }
}

/* One run over the steps. Tensor pointers point to the start of the tensor. */
struct run {
    struct pdnn_reference *r;
    struct pdnn_rnn_geometry g;
    const double *x, *w, *u, *b, *dy;
    double *y, *saved; /* saved may be NULL */
    double *dw, *du, *db, *dx;
    /* Scratch. Per row: sum (sums*H), gated, dgated and zeros (H). Kept from step to
     * step: c, dh and dc (N, H). */
    double *sum, *gated, *dgated, *zeros, *c, *dh, *dc;
};

static int64_t row_scratch(const struct pdnn_rnn_geometry *g) {
    return (g->sums + 3) * g->H;
}

static void take_scratch(struct run *run) {
    int64_t H = run->g.H;
    run->sum = run->r->scratch;
    run->gated = run->sum + run->g.sums * H;
    run->dgated = run->gated + H;
    run->zeros = run->dgated + H;
    memset(run->zeros, 0, (size_t)H * sizeof(double));
}

/* The row of y that holds step k of sequence n, or -1 before the first step. k counts steps in
 * the order of execution. */
static int64_t row_at(const struct run *run, int64_t k, int64_t n) {
    bool reverse = run->r->node->attr[PDNN_RNN_REVERSE];
    return k < 0 ? -1 : (reverse ? run->g.T - 1 - k : k) * run->g.N + n;
}

/* Unit j of a row, with h of the step before. The caller sets c_before. */
static struct pdnn_cell_unit load_unit(const struct run *run, int64_t before, int64_t j) {
    int64_t H = run->g.H;
    struct pdnn_cell_unit unit = {.h_before = before < 0 ? 0 : run->y[before * H + j]};
    for (int64_t s = 0; s < run->g.sums; s++)
        unit.sum[s] = run->sum[s * H + j];
    return unit;
}

static void store_sums(const struct run *run, const struct pdnn_cell_unit *unit, int64_t j) {
    for (int64_t s = 0; s < run->g.sums; s++)
        run->sum[s * run->g.H + j] = unit->sum[s];
    run->r->flop += unit->flop;
}

static void add_bias(const struct run *run) {
    const struct pdnn_rnn_geometry *g = &run->g;
    int64_t n_vectors = g->two_biases ? 2 * g->G : g->sums;
    for (int64_t v = 0; v < n_vectors; v++) {
        int64_t s = g->two_biases && v >= g->G ? sum_of_gate(g, v - g->G) : v;
        for (int64_t j = 0; j < g->H; j++) {
            run->sum[s * g->H + j] += run->b[v * g->H + j];
            run->r->flop += 1;
        }
    }
}

/* Adds one gate's recurrent product to its sum. */
static void add_recurrent(const struct run *run, int64_t gate, const double *h) {
    int64_t H = run->g.H;
    multiply(run->r, run->u + gate * H * H, H, H, h, run->sum + sum_of_gate(&run->g, gate) * H);
}

static void forward_row(struct run *run, int64_t k, int64_t n) {
    const struct pdnn_rnn_geometry *g = &run->g;
    int64_t H = g->H, row = row_at(run, k, n), before = row_at(run, k - 1, n);
    int64_t plain_gates = pdnn_rnn_math(g)->reset ? g->G - 1 : g->G;
    const double *h = before < 0 ? run->zeros : run->y + before * H;
    memset(run->sum, 0, (size_t)(g->sums * H) * sizeof(double));
    add_bias(run);
    multiply(run->r, run->w, g->G * H, g->I, run->x + row * g->I, run->sum);
    for (int64_t gate = 0; gate < plain_gates; gate++)
        add_recurrent(run, gate, h);
    for (int64_t j = 0; pdnn_rnn_math(g)->reset && j < H; j++) {
        struct pdnn_cell_unit unit = load_unit(run, before, j);
        pdnn_rnn_math(g)->reset(&unit);
        store_sums(run, &unit, j);
        run->gated[j] = unit.gated;
    }
    if (pdnn_rnn_math(g)->reset)
        add_recurrent(run, g->G - 1, run->gated);
    for (int64_t j = 0; j < H; j++) {
        struct pdnn_cell_unit unit = load_unit(run, before, j);
        unit.c_before = run->c[n * H + j];
        pdnn_rnn_math(g)->forward(&unit);
        run->r->flop += unit.flop;
        run->y[row * H + j] = unit.h;
        run->c[n * H + j] = unit.c;
        for (int s = 0; run->saved && s < g->cell->n_saved; s++)
            run->saved[(row * g->cell->n_saved + s) * H + j] = unit.saved[s];
    }
}

int64_t pdnn_rnn_forward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    struct pdnn_rnn_geometry g = pdnn_rnn_geometry(graph, node);
    return row_scratch(&g) + g.N * g.H;
}

void pdnn_rnn_forward(struct pdnn_reference *r) {
    struct run run = {.r = r,
                      .g = pdnn_rnn_geometry(r->graph, r->node),
                      .x = pdnn_ref_in(r, PDNN_RNN_X),
                      .w = pdnn_ref_in(r, PDNN_RNN_W),
                      .u = pdnn_ref_in(r, PDNN_RNN_U),
                      .b = pdnn_ref_in(r, PDNN_RNN_B),
                      .y = pdnn_ref_out(r, PDNN_RNN_Y),
                      .saved = r->node->n_outputs > PDNN_RNN_SAVED ? pdnn_ref_out(r, PDNN_RNN_SAVED) : NULL};
    take_scratch(&run);
    run.c = run.zeros + run.g.H;
    memset(run.c, 0, (size_t)(run.g.N * run.g.H) * sizeof(double));
    for (int64_t k = 0; k < run.g.T; k++) {
        for (int64_t n = 0; n < run.g.N; n++)
            forward_row(&run, k, n);
    }
}

static struct pdnn_cell_unit load_backward_unit(const struct run *run, int64_t row, int64_t before,
                                                int64_t j) {
    int64_t H = run->g.H, S = run->g.cell->n_saved;
    struct pdnn_cell_unit unit = load_unit(run, before, j);
    unit.h = run->y[row * H + j];
    for (int64_t s = 0; s < S; s++)
        unit.saved[s] = run->saved[(row * S + s) * H + j];
    /* c is the last saved value of cells that have a c; other cells ignore c_before. */
    unit.c_before = S && before >= 0 ? run->saved[(before * S + S - 1) * H + j] : 0;
    return unit;
}

/* Gradients of a row's sums, and of the state before it without the recurrent products. */
static void backward_units(struct run *run, int64_t k, int64_t n) {
    const struct pdnn_rnn_geometry *g = &run->g;
    int64_t H = g->H, row = row_at(run, k, n), before = row_at(run, k - 1, n);
    for (int64_t j = 0; j < H; j++) {
        struct pdnn_cell_unit unit = load_backward_unit(run, row, before, j);
        unit.dh = run->dy[row * H + j] + run->dh[n * H + j];
        unit.dc = run->dc[n * H + j];
        run->r->flop += 1;
        pdnn_rnn_math(g)->backward(&unit);
        store_sums(run, &unit, j);
        run->dh[n * H + j] = unit.dh;
        run->dc[n * H + j] = unit.dc;
    }
    if (!pdnn_rnn_math(g)->reset_backward)
        return;
    memset(run->dgated, 0, (size_t)H * sizeof(double));
    multiply_transposed(run->r, run->u + (g->G - 1) * H * H, H, H, run->sum + (g->G - 1) * H, run->dgated);
    for (int64_t j = 0; j < H; j++) {
        struct pdnn_cell_unit unit = load_backward_unit(run, row, before, j);
        unit.dh = run->dh[n * H + j];
        unit.dgated = run->dgated[j];
        pdnn_rnn_math(g)->reset_backward(&unit);
        store_sums(run, &unit, j);
        run->gated[j] = unit.gated;
        run->dh[n * H + j] = unit.dh;
    }
}

static void add_bias_gradients(const struct run *run) {
    const struct pdnn_rnn_geometry *g = &run->g;
    for (int64_t s = 0; s < g->sums; s++) {
        int64_t v = g->two_biases && s == g->G ? 2 * g->G - 1 : s;
        for (int64_t j = 0; j < g->H; j++) {
            run->db[v * g->H + j] += run->sum[s * g->H + j];
            run->r->flop += 1;
        }
    }
}

static void backward_row(struct run *run, int64_t k, int64_t n) {
    const struct pdnn_rnn_geometry *g = &run->g;
    int64_t H = g->H, row = row_at(run, k, n), before = row_at(run, k - 1, n);
    const double *h = before < 0 ? run->zeros : run->y + before * H, *x = run->x + row * g->I;
    backward_units(run, k, n);
    for (int64_t gate = 0; gate < g->G; gate++) {
        bool is_gated = pdnn_rnn_math(g)->reset && gate == g->G - 1;
        const double *ds = run->sum + sum_of_gate(g, gate) * H;
        if (!is_gated)
            multiply_transposed(run->r, run->u + gate * H * H, H, H, ds, run->dh + n * H);
        add_product(run->r, ds, H, is_gated ? run->gated : h, H, run->du + gate * H * H);
    }
    add_bias_gradients(run);
    add_product(run->r, run->sum, g->G * H, x, g->I, run->dw);
    if (run->dx)
        multiply_transposed(run->r, run->w, g->G * H, g->I, run->sum, run->dx + row * g->I);
}

int64_t pdnn_rnn_backward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    struct pdnn_rnn_geometry g = pdnn_rnn_geometry(graph, node);
    return row_scratch(&g) + 2 * g.N * g.H;
}

static void clear_outputs(const struct pdnn_reference *r) {
    for (int k = 0; k < r->node->n_outputs; k++)
        memset(pdnn_ref_out(r, k), 0,
               (size_t)pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, k)) * sizeof(double));
}

void pdnn_rnn_backward(struct pdnn_reference *r) {
    struct run run = {.r = r,
                      .g = pdnn_rnn_geometry(r->graph, r->node),
                      .dy = pdnn_ref_in(r, PDNN_RNN_BACK_DY),
                      .x = pdnn_ref_in(r, PDNN_RNN_BACK_X),
                      .y = pdnn_ref_in(r, PDNN_RNN_BACK_Y),
                      .w = pdnn_ref_in(r, PDNN_RNN_BACK_W),
                      .u = pdnn_ref_in(r, PDNN_RNN_BACK_U),
                      .saved = r->node->n_inputs > PDNN_RNN_BACK_SAVED ? pdnn_ref_in(r, PDNN_RNN_BACK_SAVED)
                                                                       : NULL,
                      .dw = pdnn_ref_out(r, PDNN_RNN_BACK_DW),
                      .du = pdnn_ref_out(r, PDNN_RNN_BACK_DU),
                      .db = pdnn_ref_out(r, PDNN_RNN_BACK_DB),
                      .dx = r->node->n_outputs > PDNN_RNN_BACK_DX ? pdnn_ref_out(r, PDNN_RNN_BACK_DX) : NULL};
    const struct pdnn_rnn_geometry *g = &run.g;
    take_scratch(&run);
    run.dh = run.zeros + g->H;
    run.dc = run.dh + g->N * g->H;
    memset(run.dh, 0, (size_t)(2 * g->N * g->H) * sizeof(double));
    clear_outputs(r);
    for (int64_t k = g->T; k-- > 0;) {
        for (int64_t n = 0; n < g->N; n++)
            backward_row(&run, k, n);
    }
    for (int64_t gate = 0; g->two_biases && gate < g->G; gate++) {
        if (sum_of_gate(g, gate) == gate)
            memcpy(run.db + (g->G + gate) * g->H, run.db + gate * g->H, (size_t)g->H * sizeof(double));
    }
}
