#include "runtime/kernels/sequence/ctc.h"

#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/kernels/simd/vmath.h"

#include <math.h>
#include <string.h>

/* `never` is the log probability of unreachable states: finite, so that differences are numbers, and far
 * below that of any path. PAD such states surround the states of a step. A state counts as STATE_ELEMENTS
 * elements when deciding whether the work is enough for all threads. */
static const double never = -1e30, hardly = -1e29;
enum { PAD = 2, LINE = 8, STATE_ELEMENTS = 16 };

/* One sequence: its index n, and the number of states of its labels. Logs are summed in double,
 * since a likelihood can be as small as exp(-T log C); the term added to the larger of two logs
 * needs only float precision. */
struct sequence {
    const struct pdnn_ctc *job;
    int64_t n, S, end;
    double *all;    /* (T): log of the sum of exp of the logits */
    double *alpha;  /* (T, PAD + S) */
    double *beta;   /* (S) */
    double *next;   /* (S + PAD): beta of the next step with its log p */
    double *emit;   /* (S): log p of each state's class */
    double *skip;   /* (S + PAD): 0 if a path may skip from two states before, else never */
    double *states; /* (C): total share of the states of a class */
    double *worth;  /* (S) */
    int32_t *class; /* (S) */
};

static int64_t whole_lines(int64_t n) {
    return (n + LINE - 1) / LINE * LINE;
}

static int64_t room_of(const struct pdnn_ctc *job) {
    int64_t S = 2 * job->L + 1;
    return whole_lines(job->T + job->T * (PAD + S) + 7 * (S + PAD) + job->C);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_ctc_scratch, (const struct pdnn_ctc *job, int64_t threads), (job, threads)) {
    return whole_lines(job->N) + threads * room_of(job);
}

static struct sequence lay_out(const struct pdnn_ctc *job, int64_t index) {
    int64_t S = 2 * job->L + 1;
    struct sequence q = {.job = job, .S = S};
    q.all = job->scratch + whole_lines(job->N) + index * room_of(job);
    q.alpha = q.all + job->T;
    q.beta = q.alpha + job->T * (PAD + S);
    q.next = q.beta + S;
    q.emit = q.next + S + PAD;
    q.skip = q.emit + S;
    q.worth = q.skip + S + PAD;
    q.states = q.worth + S;
    q.class = (int32_t *)(q.states + job->C);
    return q;
}

static const float *row_of(const struct sequence *q, int64_t t) {
    return q->job->logits + (t * q->job->N + q->n) * q->job->C;
}

static double *alpha_of(const struct sequence *q, int64_t t) {
    return q->alpha + t * (PAD + q->S) + PAD;
}

/* State 2l + 1 is label l; the other states are blanks. */
static void read_labels(struct sequence *q) {
    const int32_t *label = q->job->labels + q->n;
    int64_t N = q->job->N, length = 0;
    while (length < q->job->L && label[length * N] >= 0)
        length++;
    q->end = 2 * length;
    for (int64_t s = 0; s < q->S + PAD; s++)
        q->skip[s] = never;
    for (int64_t l = 0; l < q->job->L; l++) {
        q->class[2 * l] = 0;
        q->class[2 * l + 1] = label[l * N] < 0 ? 0 : label[l * N] + 1;
        if (l > 0 && label[l * N] != label[(l - 1) * N])
            q->skip[2 * l + 1] = 0;
    }
    q->class[q->S - 1] = 0;
}

static double log_sum_exp(const float *x, int64_t n) {
    float max = x[0], sum = 0;
#pragma omp simd reduction(max : max)
    for (int64_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += pdnn_exp(x[i] - max);
    return (double)max + (double)pdnn_log(sum);
}

static void read_emissions(const struct sequence *q, int64_t t) {
    const float *x = row_of(q, t);
    for (int64_t s = 0; s < q->S; s++)
        q->emit[s] = (double)x[q->class[s]] - q->all[t];
}

/* log(exp a + exp b + exp c). */
static inline double log_sum(double a, double b, double c) {
    double max = a > b ? a : b;
    max = max > c ? max : c;
    float sum = pdnn_exp((float)(a - max)) + pdnn_exp((float)(b - max)) + pdnn_exp((float)(c - max));
    return max + (double)pdnn_log(sum);
}

static void step_forward(const double *before, const double *skip, const double *emit, double *restrict after,
                         int64_t S) {
#pragma omp simd
    for (int64_t s = 0; s < S; s++)
        after[s] = log_sum(before[s], before[s - 1], before[s - 2] + skip[s]) + emit[s];
}

static void step_back(const double *next, const double *skip, double *restrict beta, int64_t S) {
#pragma omp simd
    for (int64_t s = 0; s < S; s++)
        beta[s] = log_sum(next[s], next[s + 1], next[s + 2] + skip[s + 2]);
}

/* Sums with `never` stay far below every reachable state, so nothing needs clamping. */
static void go_forward(const struct sequence *q) {
    for (int64_t t = 0; t < q->job->T; t++) {
        double *alpha = alpha_of(q, t);
        alpha[-1] = alpha[-2] = never;
        read_emissions(q, t);
        if (t > 0)
            step_forward(alpha_of(q, t - 1), q->skip, q->emit, alpha, q->S);
        for (int64_t s = 0; t == 0 && s < q->S; s++)
            alpha[s] = s < 2 ? q->emit[s] : never;
    }
}

/* Share of all paths that pass through each state. */
static void weigh(const double *alpha, const double *beta, double likelihood, double *restrict worth,
                  int64_t S) {
#pragma omp simd
    for (int64_t s = 0; s < S; s++)
        worth[s] = (double)pdnn_exp((float)(alpha[s] + beta[s] - likelihood));
}

static void put_gradient(const struct sequence *q, int64_t t, double likelihood) {
    const float *x = row_of(q, t);
    float *dx = q->job->dlogits + (x - q->job->logits);
    double factor = q->job->scale / (double)q->job->N;
    weigh(alpha_of(q, t), q->beta, likelihood, q->worth, q->S);
    memset(q->states, 0, (size_t)q->job->C * sizeof *q->states);
    for (int64_t s = 0; s < q->S; s++)
        q->states[q->class[s]] += q->worth[s];
    for (int64_t c = 0; c < q->job->C; c++) {
        double p = (double)pdnn_exp((float)((double)x[c] - q->all[t]));
        dx[c] = likelihood < hardly ? NAN : (float)((p - q->states[c]) * factor);
    }
}

static void go_back(const struct sequence *q, double likelihood) {
    for (int64_t t = q->job->T; t-- > 0;) {
        if (t == q->job->T - 1) {
            for (int64_t s = 0; s < q->S; s++)
                q->beta[s] = s == q->end || s == q->end - 1 ? 0 : never;
        } else {
            step_back(q->next, q->skip, q->beta, q->S);
        }
        put_gradient(q, t, likelihood);
        read_emissions(q, t);
        for (int64_t s = 0; s < q->S; s++)
            q->next[s] = q->beta[s] + q->emit[s];
        q->next[q->S] = q->next[q->S + 1] = never;
    }
}

static double run_sequence(struct sequence *q) {
    read_labels(q);
    for (int64_t t = 0; t < q->job->T; t++)
        q->all[t] = log_sum_exp(row_of(q, t), q->job->C);
    go_forward(q);
    const double *last = alpha_of(q, q->job->T - 1);
    double likelihood = log_sum(last[q->end], last[q->end - 1], never); /* end 0: last[-1] is never */
    go_back(q, likelihood);
    return likelihood < hardly ? -INFINITY : likelihood;
}

static void run_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_ctc *job = work;
    struct sequence q = lay_out(job, index);
    struct pdnn_span mine = pdnn_span_of(job->N, 1, index, parts);
    for (q.n = mine.begin; q.n < mine.end; q.n++)
        job->scratch[q.n] = run_sequence(&q);
}

PDNN_KERNEL(pdnn_ctc_run, (const struct pdnn_ctc *job, int64_t threads), (job, threads)) {
    struct pdnn_ctc copy = *job;
    double total = 0;
    pdnn_team_run(threads, job->T * job->N * (2 * job->L + 1) * STATE_ELEMENTS, run_part, &copy);
    for (int64_t n = 0; n < job->N; n++)
        total -= job->scratch[n];
    *job->loss = (float)(job->scale * total / (double)job->N);
}
