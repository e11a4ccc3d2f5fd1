/* Notation: N iterations in strata of N_h, of which n and n_h are drawn; design weights w = N_h / n_h; x the
 * terms of the fit, e its residuals. The fit minimizes the sum of w (t - x'B)^2 / l^2 with l the length of an
 * iteration plus the mean of all: errors grow with times, and times are not 0 at length 0. */
#include "results/epochs/sample_estimate.h"
#include "results/stats/least_squares.h"
#include "base/stats.h"

#include <assert.h>
#include <lapack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* P: the terms 1, S, T, (S + T)^2. */
enum { P = 4, LEAST_OF_STRATUM = 2 };

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

struct pdnn_epoch_sample pdnn_epoch_sample_draw(const struct pdnn_epoch *epoch, uint64_t seed,
                                                struct pdnn_arena *arena) {
    size_t n = epoch->n_iterations, most = n / (2 * LEAST_OF_STRATUM);
    size_t strata = most < 1 ? 1 : most < PDNN_STRATA ? most : PDNN_STRATA, start[PDNN_STRATA + 1];
    struct pdnn_rng rng = {pdnn_rng_seed(seed, "sample"), 0};
    struct entry *entry = pdnn_arena_alloc(arena, n, sizeof *entry);
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
    return made;
}

struct drawn {
    double scale;        /* l */
    double base, weight; /* w, and w g with g of the regression */
    double x[P];         /* the terms */
    double share[P];     /* B = sum of share * t */
};

/* 1, source, target, and the square of their sum; where means are given, relative to these and around 0, so
 * that a length that never varies is no term. */
static void put_terms(const struct pdnn_epoch_kind *kind, const double *mean, double x[P]) {
    double source = (double)kind->length[0], target = (double)kind->length[1], both = source + target;
    const double term[P] = {1, source, target, both * both};
    for (size_t c = 0; c < P; c++)
        x[c] = !c || !mean ? term[c] : mean[c] > 0 ? term[c] / mean[c] - 1 : 0;
}

/* inverse := the pseudo-inverse of the symmetric matrix m. */
static void invert(double m[P * P], double inverse[P * P]) {
    enum { WORK = 64 };
    static const double TOLERANCE = 1e-12;
    double value[P], work[WORK];
    lapack_int order = P, work_length = WORK, info = 0;
    LAPACK_dsyev("V", "U", &order, m, &order, value, work, &work_length, &info);
    assert(pdnn_lapack_is_good(info));
    memset(inverse, 0, P * P * sizeof *inverse);
    for (size_t k = 0; k < P; k++)
        for (size_t i = 0; i < P && value[k] > TOLERANCE * value[P - 1]; i++)
            for (size_t j = 0; j < P; j++)
                inverse[i * P + j] += m[k * P + i] * m[k * P + j] / value[k];
}

static double product(const double a[P], const double b[P]) {
    double sum = 0;
    for (size_t j = 0; j < P; j++)
        sum += a[j] * b[j];
    return sum;
}

/* The terms and design weights of the draws; n_h by stratum. */
static void design(const struct pdnn_epoch_sample *sample, size_t draws, struct drawn *of,
                   size_t n_h[PDNN_STRATA]) {
    const struct pdnn_epoch *epoch = sample->epoch;
    double mean[P] = {0}, x[P]; /* of the terms over the epoch; 0: there is none */
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        put_terms(&epoch->kind[k], NULL, x);
        for (size_t c = 0; c < P; c++)
            mean[c] += (double)epoch->kind[k].count * x[c] / (double)epoch->n_iterations;
    }
    for (size_t i = 0; i < draws; i++)
        n_h[sample->stratum[i]]++;
    for (size_t i = 0; i < draws; i++) {
        const size_t h = sample->stratum[i];
        of[i].scale = length_of(epoch, sample->order[i]) + mean[1] + mean[2];
        of[i].base = (double)sample->stratum_size[h] / (double)n_h[h];
        put_terms(&epoch->kind[epoch->kind_of[sample->order[i]]], mean, of[i].x);
    }
}

/* By draw its share in each coefficient, and its weight: the sums of x over the epoch are N for the first
 * term and 0 for the others; what the design weights make of them is corrected by the fit. */
static void regress(double n, size_t draws, struct drawn *of) {
    double m[P * P] = {0}, inverse[P * P], missing[P] = {n};
    for (size_t i = 0; i < draws; i++) {
        for (size_t j = 0; j < P; j++) {
            missing[j] -= of[i].base * of[i].x[j];
            for (size_t k = 0; k < P; k++)
                m[j * P + k] += of[i].base * of[i].x[j] * of[i].x[k] / (of[i].scale * of[i].scale);
        }
    }
    invert(m, inverse);
    for (size_t i = 0; i < draws; i++) {
        of[i].weight = of[i].base;
        for (size_t j = 0; j < P; j++) {
            of[i].share[j] = product(inverse + j * P, of[i].x) * of[i].base / (of[i].scale * of[i].scale);
            of[i].weight += (double)draws < n ? missing[j] * of[i].share[j] : 0;
        }
    }
}

/* Of the sum of weight * value: that of stratified sampling for these residuals. */
static double find_variance(const struct pdnn_epoch_sample *sample, size_t draws, const double *residual,
                            const size_t *n_h) {
    double variance = 0, mean[PDNN_STRATA] = {0};
    for (size_t i = 0; i < draws; i++)
        mean[sample->stratum[i]] += residual[i] / (double)n_h[sample->stratum[i]];
    for (size_t i = 0; i < draws; i++) {
        const size_t h = sample->stratum[i];
        const double size = (double)sample->stratum_size[h], drawn = (double)n_h[h],
                     apart = residual[i] - mean[h];
        if (drawn > 1)
            variance += size * size * (1 - drawn / size) / drawn * apart * apart / (drawn - 1);
    }
    return variance;
}

static double degrees_of(const struct pdnn_epoch_sample *sample, size_t draws) {
    return fmax(1, (double)draws - (double)sample->n_strata);
}

enum pdnn_status pdnn_sample_estimate(const struct pdnn_epoch_sample *sample, size_t draws,
                                      const double *value, struct pdnn_arena *arena,
                                      struct pdnn_epoch_estimate *estimate, struct pdnn_err *err) {
    const size_t all = sample->epoch->n_iterations;
    if (draws < sample->least || draws > all)
        return pdnn_fail(err, PDNN_INVALID, "an interval needs from %zu to %zu iterations, not %zu",
                         sample->least, all, draws);
    struct drawn *of = pdnn_arena_alloc(arena, draws, sizeof *of);
    double *residual = pdnn_arena_alloc(arena, draws, sizeof *residual), b[P] = {0};
    size_t n_h[PDNN_STRATA] = {0};
    struct pdnn_epoch_estimate made = {.draws = draws,
                                       .weight = pdnn_arena_alloc(arena, draws, sizeof *made.weight)};
    design(sample, draws, of, n_h);
    regress((double)all, draws, of);
    for (size_t i = 0; i < draws; i++) {
        made.weight[i] = of[i].weight;
        made.total += of[i].weight * value[i];
        for (size_t j = 0; j < P; j++)
            b[j] += of[i].share[j] * value[i];
    }
    /* What the residual would be without this draw in the fit: e / (1 - h) with h its leverage (MacKinnon and
     * White, J. Econometrics 29, 1985: HC3), times g. A draw that nearly decides a coefficient alone counts
     * at most three times. */
    for (size_t i = 0; i < draws; i++)
        residual[i] = (value[i] - product(b, of[i].x)) / fmax(0.3, 1 - product(of[i].x, of[i].share)) *
                      of[i].weight / of[i].base;
    double half = pdnn_student_t95(degrees_of(sample, draws)) *
                  sqrt(fmax(0, find_variance(sample, draws, residual, n_h)));
    made.low = made.total - half;
    made.high = made.total + half;
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
    double half =
        pdnn_sample_half_width(estimate) / (1 - 1 / sqrt(2 * fmax(2, degrees_of(sample, estimate->draws))));
    double n = (double)estimate->draws, total = (double)all;
    if (half <= target || estimate->draws == all)
        return estimate->draws;
    double ratio = target / half, inverse = ratio * ratio * (1 / n - 1 / total) + 1 / total;
    size_t rounds = (size_t)ceil((1 / inverse - n) / (double)sample->n_strata);
    size_t more = (rounds ? rounds : 1) * sample->n_strata;
    return more < all - estimate->draws ? estimate->draws + more : all;
}
