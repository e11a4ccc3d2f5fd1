#include "runtime/kernels/sequence/rnn_cell.h"

#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/kernels/simd/vmath.h"

/* LINE floats are a cache line. Threads share rows if there are at least MANY per thread, else columns. */
enum { LINE = 16, MANY = 4 };

PDNN_INLINE float sigmoid(float x) {
    return 1.0F / (1.0F + pdnn_exp(-x));
}

/* All kernels work on units [j, end) of row n. */

static void tanh_forward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    const float *b = job->bias;
    float *h = job->gates + n * job->gates_stride;
#pragma omp simd
    for (int64_t i = j; i < end; i++)
        h[i] = pdnn_tanh(h[i] + b[i]);
}

static void tanh_backward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    const float *h = job->gates + n * job->gates_stride, *dy = job->dy + n * job->H;
    const float *dh = job->dh + n * job->H;
    float *dsum = job->dsums + n * job->dsums_stride;
#pragma omp simd
    for (int64_t i = j; i < end; i++)
        dsum[i] = (dy[i] + dh[i]) * (1.0F - h[i] * h[i]);
}

static void lstm_forward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *bi = job->bias, *bf = bi + H, *bg = bf + H, *bo = bg + H;
    const float *c_before = job->c_before + n * job->c_before_stride;
    float *gi = job->gates + n * job->gates_stride, *gf = gi + H, *gg = gf + H, *go = gg + H;
    float *c = job->c + n * job->c_stride, *h = job->h + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float i = sigmoid(gi[k] + bi[k]), f = sigmoid(gf[k] + bf[k]);
        float g = pdnn_tanh(gg[k] + bg[k]), o = sigmoid(go[k] + bo[k]);
        float new_c = f * c_before[k] + i * g;
        gi[k] = i;
        gf[k] = f;
        gg[k] = g;
        go[k] = o;
        c[k] = new_c;
        h[k] = o * pdnn_tanh(new_c);
    }
}

static void lstm_backward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *gi = job->gates + n * job->gates_stride, *gf = gi + H, *gg = gf + H, *go = gg + H;
    const float *c = job->c + n * job->c_stride, *c_before = job->c_before + n * job->c_before_stride;
    const float *dy = job->dy + n * H, *dh = job->dh + n * H;
    float *di = job->dsums + n * job->dsums_stride, *df = di + H, *dg = df + H, *d_o = dg + H;
    float *dc = job->dc + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float i = gi[k], f = gf[k], g = gg[k], o = go[k], tanh_c = pdnn_tanh(c[k]), dh_k = dy[k] + dh[k];
        float dc_k = dc[k] + dh_k * o * (1.0F - tanh_c * tanh_c);
        di[k] = dc_k * g * i * (1.0F - i);
        df[k] = dc_k * c_before[k] * f * (1.0F - f);
        dg[k] = dc_k * i * (1.0F - g * g);
        d_o[k] = dh_k * tanh_c * o * (1.0F - o);
        dc[k] = dc_k * f;
    }
}

static void gru_reset(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *bu = job->bias, *br = bu + H, *h_before = job->h_before + n * H;
    float *gu = job->gates + n * job->gates_stride, *gr = gu + H, *gated = job->gated + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float r = sigmoid(gr[k] + br[k]);
        gu[k] = sigmoid(gu[k] + bu[k]);
        gr[k] = r;
        gated[k] = r * h_before[k];
    }
}

static void gru_forward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *bo = job->bias + 2 * H, *h_before = job->h_before + n * H;
    float *gu = job->gates + n * job->gates_stride, *go = gu + 2 * H, *h = job->h + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float o = pdnn_tanh(go[k] + bo[k]), u = gu[k];
        go[k] = o;
        h[k] = u * h_before[k] + (1.0F - u) * o;
    }
}

static void gru_backward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *gu = job->gates + n * job->gates_stride, *go = gu + 2 * H;
    const float *h_before = job->h_before + n * H, *dy = job->dy + n * H;
    float *du = job->dsums + n * job->dsums_stride, *d_o = du + 2 * H, *dh = job->dh + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float u = gu[k], o = go[k], dh_k = dy[k] + dh[k];
        du[k] = dh_k * (h_before[k] - o) * u * (1.0F - u);
        d_o[k] = dh_k * (1.0F - u) * (1.0F - o * o);
        dh[k] = dh_k * u;
    }
}

static void gru_reset_backward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *gr = job->gates + n * job->gates_stride + H, *h_before = job->h_before + n * H;
    const float *dgated = job->dgated + n * H;
    float *dr = job->dsums + n * job->dsums_stride + H, *dh = job->dh + n * H, *gated = job->gated + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float r = gr[k], dgated_k = dgated[k], before = h_before[k];
        dr[k] = dgated_k * before * r * (1.0F - r);
        dh[k] += dgated_k * r;
        gated[k] = r * before;
    }
}

static void lbr_gru_forward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *bu = job->bias, *br = bu + H, *bo = br + H, *bp = bo + H, *h_before = job->h_before + n * H;
    float *gu = job->gates + n * job->gates_stride, *gr = gu + H, *go = gr + H, *gp = go + H;
    float *h = job->h + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float u = sigmoid(gu[k] + bu[k]), r = sigmoid(gr[k] + br[k]), product = gp[k] + bp[k];
        float o = pdnn_tanh(go[k] + bo[k] + r * product);
        gu[k] = u;
        gr[k] = r;
        go[k] = o;
        gp[k] = product;
        h[k] = u * h_before[k] + (1.0F - u) * o;
    }
}

static void lbr_gru_backward(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) {
    int64_t H = job->H;
    const float *gu = job->gates + n * job->gates_stride, *gr = gu + H, *go = gr + H, *gp = go + H;
    const float *h_before = job->h_before + n * H, *dy = job->dy + n * H;
    float *du = job->dsums + n * job->dsums_stride, *dr = du + H, *d_o = dr + H, *dp = d_o + H;
    float *dh = job->dh + n * H;
#pragma omp simd
    for (int64_t k = j; k < end; k++) {
        float u = gu[k], r = gr[k], o = go[k], dh_k = dy[k] + dh[k];
        float do_k = dh_k * (1.0F - u) * (1.0F - o * o);
        du[k] = dh_k * (h_before[k] - o) * u * (1.0F - u);
        dr[k] = do_k * gp[k] * r * (1.0F - r);
        d_o[k] = do_k;
        dp[k] = do_k * r;
        dh[k] = dh_k * u;
    }
}

static void (*const kernels[])(const struct pdnn_rnn_cell_job *job, int64_t n, int64_t j, int64_t end) = {
    [PDNN_RNN_TANH] = tanh_forward,         [PDNN_RNN_TANH_BACKWARD] = tanh_backward,
    [PDNN_RNN_LSTM] = lstm_forward,         [PDNN_RNN_LSTM_BACKWARD] = lstm_backward,
    [PDNN_RNN_GRU_RESET] = gru_reset,       [PDNN_RNN_GRU] = gru_forward,
    [PDNN_RNN_GRU_BACKWARD] = gru_backward, [PDNN_RNN_GRU_RESET_BACKWARD] = gru_reset_backward,
    [PDNN_RNN_LBR_GRU] = lbr_gru_forward,   [PDNN_RNN_LBR_GRU_BACKWARD] = lbr_gru_backward,
};
_Static_assert(sizeof kernels / sizeof *kernels == PDNN_RNN_CELL_COUNT, "one kernel per row");

static void run_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_rnn_cell_job *job = work;
    struct pdnn_span rows = {0, job->N}, units = {0, job->H};
    if (job->N >= MANY * parts)
        rows = pdnn_span_of(job->N, 1, index, parts);
    else
        units = pdnn_span_of(job->H, LINE, index, parts);
    for (int64_t n = rows.begin; n < rows.end; n++)
        kernels[job->cell](job, n, units.begin, units.end);
}

PDNN_KERNEL(pdnn_rnn_cell_run, (const struct pdnn_rnn_cell_job *job, int64_t threads), (job, threads)) {
    struct pdnn_rnn_cell_job copy = *job;
    pdnn_team_run(threads, job->N * job->H, run_part, &copy);
}
