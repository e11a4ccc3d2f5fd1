/* Notation: N iterations in strata of N_h, of which n and n_h are drawn; design weights w = N_h / n_h; x the
 * terms of the fit, e its residuals. The fit minimizes the sum of w (t - x'B)^2 / l^2 with l the length of an
 * iteration, source + target, and the mean of all: errors grow with times, and times are not 0 at length 0.
 */
#include "results/epochs/sample_estimate.h"
#include "base/rng.h"
#include "results/stats/lapack_status.h"
#include "base/stats.h"

#include <lapack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P = PDNN_ASSISTED_TERMS, SQUARE = 3, LEAST_OF_STRATUM = 2 };

static double length_of(const struct pdnn_epoch *epoch, size_t iteration) {
    const struct pdnn_epoch_kind *kind = &epoch->kind[epoch->kind_of[iteration]];
    return (double)(kind->length[0] + kind->length[1]);
}

/* An iteration on its way into a stratum. */
struct entry {
    size_t kind, iteration;
    int64_t length;
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *one = a, *other = b;
    if (one->length != other->length)
        return one->length < other->length ? -1 : 1;
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    return (one->iteration > other->iteration) - (one->iteration < other->iteration);
}

/* Where each stratum begins among the entries, and after the last one its end: equal parts of the sum of
 * lengths, each with at least LEAST_OF_STRATUM iterations. */
static void cut(const struct entry *entry, size_t count, size_t strata, size_t *start) {
    double total = 0, sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        total += (double)entry[i].length;
    for (size_t h = 0; h < strata; h++) {
        size_t last = count - (strata - 1 - h) * LEAST_OF_STRATUM;
        double until = total * (double)(h + 1) / (double)strata;
        start[h] = at;
        while (at < last && (at < start[h] + LEAST_OF_STRATUM || sum + (double)entry[at].length / 2 < until))
            sum += (double)entry[at++].length;
    }
    start[strata] = count;
}

/* One draw of each stratum in turn, as long as it has any. */
static void deal(const struct entry *entry, const size_t *start, struct pdnn_epoch_sample *sample) {
    size_t draws = 0, n = sample->epoch->n_iterations;
    for (size_t round = 0; draws < n; round++) {
        for (size_t h = 0; h < sample->n_strata; h++) {
            if (start[h] + round >= start[h + 1])
                continue;
            sample->order[draws] = entry[start[h] + round].iteration;
            sample->stratum[draws++] = h;
        }
        if (round + 1 == LEAST_OF_STRATUM)
            sample->least = draws;
    }
    size_t fit = P + 2;
    sample->least = sample->least < fit ? fit : sample->least;
    sample->least = sample->least < n ? sample->least : n;
}

void pdnn_epoch_sample_draw(const struct pdnn_epoch_sample_request *request, struct pdnn_arena *arena,
                            struct pdnn_epoch_sample *sample) {
    const struct pdnn_epoch *epoch = request->epoch;
    size_t n = epoch->n_iterations, most = n / (2 * LEAST_OF_STRATUM);
    size_t strata = request->strata ? request->strata : PDNN_STRATA_DEFAULT;
    strata = strata > most ? (most ? most : 1) : strata;
    struct pdnn_rng rng = {pdnn_rng_seed(request->seed, "sample"), 0};
    struct entry *entry = pdnn_arena_alloc(arena, n, sizeof *entry);
    size_t *start = pdnn_arena_alloc(arena, strata + 1, sizeof *start);
    struct pdnn_epoch_sample made = {
        .epoch = epoch,
        .order = pdnn_arena_alloc(arena, n, sizeof *made.order),
        .stratum = pdnn_arena_alloc(arena, n, sizeof *made.stratum),
        .stratum_size = pdnn_arena_alloc(arena, strata, sizeof *made.stratum_size),
        .n_strata = strata,
    };
    for (size_t i = 0; i < n; i++)
        entry[i] = (struct entry){epoch->kind_of[i], i, (int64_t)length_of(epoch, i)};
    qsort(entry, n, sizeof *entry, compare_entries);
    cut(entry, n, strata, start);
    for (size_t h = 0; h < strata; h++) {
        made.stratum_size[h] = start[h + 1] - start[h];
        pdnn_rng_shuffle(&rng, entry + start[h], made.stratum_size[h], sizeof *entry);
    }
    deal(entry, start, &made);
    *sample = made;
}

/* The first draws as a sample, and what makes values from it a total. */
struct design {
    const struct pdnn_epoch_sample *sample;
    size_t draws;
    size_t *drawn;         /* n_h, by stratum */
    double mean[P];        /* of the terms over the epoch; 0: there is none */
    double *x;             /* draws * P */
    double *base, *weight; /* by draw: w, and w g with g of the regression */
    double *share;         /* draws * P: B = sum of share * t */
};

/* 1, source, target, and the square of their sum; where means are given, relative to these and around 0, so
 * that a length that never varies is no term. */
static void put_terms(const struct pdnn_epoch *epoch, size_t kind, const double *mean, double x[P]) {
    const int64_t *length = epoch->kind[kind].length;
    double sum = (double)(length[0] + length[1]);
    x[SQUARE] = sum * sum;
    for (size_t c = 0; c < 2; c++)
        x[c + 1] = (double)length[c];
    x[0] = 1;
    for (size_t c = 1; c < P && mean; c++)
        x[c] = mean[c] > 0 ? x[c] / mean[c] - 1 : 0;
}

static void find_means(const struct pdnn_epoch *epoch, double mean[P]) {
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        double x[P];
        put_terms(epoch, k, NULL, x);
        for (size_t c = 0; c < P; c++)
            mean[c] += (double)epoch->kind[k].count * x[c] / (double)epoch->n_iterations;
    }
}

/* inverse := the pseudo-inverse of the symmetric matrix m. */
static enum pdnn_status invert(double m[P * P], double inverse[P * P], struct pdnn_err *err) {
    enum { WORK = 64 };
    static const double TOLERANCE = 1e-12;
    double value[P], work[WORK];
    lapack_int order = P, work_length = WORK, info = 0;
    LAPACK_dsyev("V", "U", &order, m, &order, value, work, &work_length, &info);
    if (pdnn_lapack_status("dsyev", (int)info, err) != PDNN_OK)
        return err->status;
    memset(inverse, 0, P * P * sizeof *inverse);
    for (size_t k = 0; k < P; k++) {
        if (value[k] <= TOLERANCE * value[P - 1])
            continue;
        for (size_t i = 0; i < P; i++) {
            for (size_t j = 0; j < P; j++)
                inverse[i * P + j] += m[k * P + i] * m[k * P + j] / value[k];
        }
    }
    return PDNN_OK;
}

/* What the error of a draw is taken to grow with. */
static double scale_of(const struct design *d, size_t i) {
    return length_of(d->sample->epoch, d->sample->order[i]) + d->mean[1] + d->mean[2];
}

/* By draw: its share in each coefficient. */
static enum pdnn_status find_shares(struct design *d, struct pdnn_err *err) {
    double m[P * P] = {0}, inverse[P * P];
    for (size_t i = 0; i < d->draws; i++) {
        double length = scale_of(d, i);
        for (size_t j = 0; j < P; j++) {
            for (size_t k = 0; k < P; k++)
                m[j * P + k] += d->base[i] * d->x[i * P + j] * d->x[i * P + k] / (length * length);
        }
    }
    if (invert(m, inverse, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < d->draws; i++) {
        double length = scale_of(d, i);
        for (size_t j = 0; j < P; j++) {
            double sum = 0;
            for (size_t k = 0; k < P; k++)
                sum += inverse[j * P + k] * d->x[i * P + k];
            d->share[i * P + j] = sum * d->base[i] / (length * length);
        }
    }
    return PDNN_OK;
}

/* The sums of x over the epoch are N for the first term and 0 for the others; what the design weights make of
 * them is corrected by the fit. */
static void find_weights(struct design *d) {
    double missing[P] = {(double)d->sample->epoch->n_iterations};
    for (size_t i = 0; i < d->draws; i++) {
        for (size_t j = 0; j < P; j++)
            missing[j] -= d->base[i] * d->x[i * P + j];
    }
    for (size_t i = 0; i < d->draws; i++) {
        d->weight[i] = d->base[i];
        for (size_t j = 0; j < P && d->draws < d->sample->epoch->n_iterations; j++)
            d->weight[i] += missing[j] * d->share[i * P + j];
    }
}

static enum pdnn_status make_design(const struct pdnn_epoch_sample *sample, size_t draws,
                                    struct pdnn_arena *arena, struct design *d, struct pdnn_err *err) {
    if (draws < sample->least || draws > sample->epoch->n_iterations)
        return pdnn_fail(err, PDNN_INVALID, "an interval needs from %zu to %zu iterations, not %zu",
                         sample->least, sample->epoch->n_iterations, draws);
    *d = (struct design){
        .sample = sample,
        .draws = draws,
        .drawn = pdnn_arena_alloc(arena, sample->n_strata, sizeof *d->drawn),
        .x = pdnn_arena_alloc(arena, draws * P, sizeof *d->x),
        .base = pdnn_arena_alloc(arena, draws, sizeof *d->base),
        .weight = pdnn_arena_alloc(arena, draws, sizeof *d->weight),
        .share = pdnn_arena_alloc(arena, draws * P, sizeof *d->share),
    };
    find_means(sample->epoch, d->mean);
    for (size_t i = 0; i < draws; i++)
        d->drawn[sample->stratum[i]]++;
    for (size_t i = 0; i < draws; i++) {
        size_t h = sample->stratum[i];
        d->base[i] = (double)sample->stratum_size[h] / (double)d->drawn[h];
        put_terms(sample->epoch, sample->epoch->kind_of[sample->order[i]], d->mean, d->x + i * P);
    }
    if (find_shares(d, err) != PDNN_OK)
        return err->status;
    find_weights(d);
    return PDNN_OK;
}

/* What the residual would be without this draw in the fit: e / (1 - h) with h its leverage (MacKinnon and
 * White, J. Econometrics 29, 1985: HC3). A draw that nearly decides a coefficient alone counts at most three
 * times. */
static double left_out(const struct design *d, size_t i, double residual) {
    static const double LEAST = 0.3;
    double leverage = 0;
    for (size_t j = 0; j < P; j++)
        leverage += d->x[i * P + j] * d->share[i * P + j];
    return residual / fmax(LEAST, 1 - leverage);
}

/* Of the sum of weight * value: that of stratified sampling for the residuals times g. residual: by draw, is
 * overwritten; mean: room for one number per stratum. */
static double find_variance(const struct design *d, double *residual, double *mean) {
    const struct pdnn_epoch_sample *sample = d->sample;
    double variance = 0;
    memset(mean, 0, sample->n_strata * sizeof *mean);
    for (size_t i = 0; i < d->draws; i++) {
        residual[i] = left_out(d, i, residual[i]) * d->weight[i] / d->base[i];
        mean[sample->stratum[i]] += residual[i] / (double)d->drawn[sample->stratum[i]];
    }
    for (size_t i = 0; i < d->draws; i++) {
        size_t h = sample->stratum[i];
        double size = (double)sample->stratum_size[h], drawn = (double)d->drawn[h],
               apart = residual[i] - mean[h];
        if (drawn > 1)
            variance += size * size * (1 - drawn / size) / drawn * apart * apart / (drawn - 1);
    }
    return variance;
}

static void fit(const struct design *d, const double *value, double coefficient[P]) {
    for (size_t j = 0; j < P; j++) {
        coefficient[j] = 0;
        for (size_t i = 0; i < d->draws; i++)
            coefficient[j] += d->share[i * P + j] * value[i];
    }
}

static double residual_of(const struct design *d, const double coefficient[P], const double *value,
                          size_t i) {
    double fitted = 0;
    for (size_t j = 0; j < P; j++)
        fitted += coefficient[j] * d->x[i * P + j];
    return value[i] - fitted;
}

static double weigh(const struct design *d, const double *value) {
    double total = 0;
    for (size_t i = 0; i < d->draws; i++)
        total += d->weight[i] * value[i];
    return total;
}

static double degrees_of(const struct pdnn_epoch_sample *sample, size_t draws) {
    return fmax(1, (double)draws - (double)sample->n_strata);
}

enum pdnn_status pdnn_sample_estimate(const struct pdnn_epoch_sample *sample, size_t draws,
                                      const double *value, struct pdnn_arena *arena,
                                      struct pdnn_epoch_estimate *estimate, struct pdnn_err *err) {
    struct design d = {0};
    double b[P];
    if (make_design(sample, draws, arena, &d, err) != PDNN_OK)
        return err->status;
    double *residual = pdnn_arena_alloc(arena, draws + sample->n_strata, sizeof *residual);
    struct pdnn_epoch_estimate made = {
        .draws = draws, .total = weigh(&d, value), .degrees = degrees_of(sample, draws), .weight = d.weight};
    fit(&d, value, b);
    for (size_t i = 0; i < draws; i++)
        residual[i] = residual_of(&d, b, value, i);
    made.std_error = sqrt(fmax(0, find_variance(&d, residual, residual + draws)));
    double half = pdnn_student_t95(made.degrees) * made.std_error;
    made.low = made.total - half;
    made.high = made.total + half;
    made.coefficient[0] = b[0];
    for (size_t j = 1; j < P; j++) {
        bool is_term = d.mean[j] > 0;
        made.coefficient[0] -= is_term ? b[j] : 0;
        made.coefficient[j] = is_term ? b[j] / d.mean[j] : 0;
    }
    *estimate = made;
    return PDNN_OK;
}

double pdnn_sample_half_width(const struct pdnn_epoch_estimate *estimate) {
    return estimate->total != 0 ? (estimate->high - estimate->low) / 2 / fabs(estimate->total) : 0;
}

/* The variance is c (1/n - 1/N): solved for n, with today's quantile of t, and rounded up to whole rounds. A
 * half width is itself uncertain, by 1 / sqrt(2 degrees) of itself: it has to be that much smaller than the
 * target, since looking again and again would otherwise end where it is small by chance. */
size_t pdnn_sample_draws_needed(const struct pdnn_epoch_sample *sample,
                                const struct pdnn_epoch_estimate *estimate, double target) {
    size_t all = sample->epoch->n_iterations;
    double half = pdnn_sample_half_width(estimate) / (1 - 1 / sqrt(2 * fmax(2, estimate->degrees)));
    double n = (double)estimate->draws, total = (double)all;
    if (half <= target || estimate->draws == all)
        return estimate->draws;
    double ratio = target / half, inverse = ratio * ratio * (1 / n - 1 / total) + 1 / total;
    size_t rounds = (size_t)ceil((1 / inverse - n) / (double)sample->n_strata);
    size_t more = (rounds ? rounds : 1) * sample->n_strata;
    return more < all - estimate->draws ? estimate->draws + more : all;
}
