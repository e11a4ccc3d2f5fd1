#include "results/stats/least_squares.h"

#include <assert.h>
#include <lapack.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* LAPACK calls this for an argument that it cannot accept; its own version prints and stops the program.
 * Every routine also returns the number of that argument. */
void xerbla_(const char *routine, const lapack_int *argument, size_t length);
void xerbla_(const char *routine, const lapack_int *argument, size_t length) {
    (void)routine, (void)argument, (void)length;
}

bool pdnn_lapack_is_good(int info) {
    return info == 0;
}

static const double TOLERANCE = 1e-7;

/* Columns centered and scaled to length 1, and the factors of those in `of`. */
struct factors {
    size_t n_rows, count, *of;
    double *unit;        /* by column of x: (x - mean) / norm */
    double *mean, *norm; /* by column of x */
    double *q, *r;       /* q: n_rows * count; r: upper triangle, leading dimension n_rows */
    double *tau, *work;
    lapack_int work_length;
};

static double mean_of(const double *values, size_t count) {
    double sum = 0, correction = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    sum /= (double)count;
    /* A second pass takes out the first one's rounding. */
    for (size_t i = 0; i < count; i++)
        correction += values[i] - sum;
    return sum + correction / (double)count;
}

static bool is_constant(const double *values, size_t count) {
    double low = values[0], high = values[0];
    for (size_t i = 1; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return high - low <= 1e-12 * fmax(fabs(low), fabs(high));
}

/* Writes values - mean to `centered` and returns its length. */
static double center(const double *values, size_t count, double mean, double *centered) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        centered[i] = values[i] - mean;
        largest = fmax(largest, fabs(centered[i]));
    }
    for (size_t i = 0; i < count && largest > 0; i++)
        sum += centered[i] / largest * (centered[i] / largest);
    return largest * sqrt(sum);
}

static void prepare(struct factors *f, const double *x, size_t n_rows, size_t n_columns,
                    struct pdnn_arena *arena, struct pdnn_least_squares *fit) {
    enum { BLOCK = 64 };
    *f = (struct factors){
        .n_rows = n_rows,
        .of = pdnn_arena_alloc(arena, n_columns + 1, sizeof *f->of),
        .unit = pdnn_arena_alloc(arena, n_rows * (n_columns + 1), sizeof *f->unit),
        .mean = pdnn_arena_alloc(arena, n_columns + 1, sizeof *f->mean),
        .norm = pdnn_arena_alloc(arena, n_columns + 1, sizeof *f->norm),
        .q = pdnn_arena_alloc(arena, n_rows * (n_columns + 1), sizeof *f->q),
        .r = pdnn_arena_alloc(arena, n_rows * (n_columns + 1), sizeof *f->r),
        .tau = pdnn_arena_alloc(arena, n_columns + 1, sizeof *f->tau),
        .work = pdnn_arena_alloc(arena, BLOCK * (n_columns + 1), sizeof *f->work),
        .work_length = (lapack_int)(BLOCK * (n_columns + 1)),
    };
    for (size_t j = 0; j < n_columns; j++) {
        double *unit = f->unit + j * n_rows;
        if (is_constant(x + j * n_rows, n_rows)) {
            fit->column[j].rank = PDNN_RANK_CONSTANT;
            continue;
        }
        f->mean[j] = mean_of(x + j * n_rows, n_rows);
        f->norm[j] = center(x + j * n_rows, n_rows, f->mean[j], unit);
        for (size_t i = 0; i < n_rows; i++)
            unit[i] /= f->norm[j];
        fit->column[j].spread = f->norm[j] / sqrt((double)(n_rows - 1));
        f->of[f->count++] = j;
    }
}

/* b := the inverse of the leading triangle, times b (count * n_b). */
static void solve(const struct factors *f, size_t count, size_t n_b, double *b) {
    lapack_int rows = (lapack_int)f->n_rows, columns = (lapack_int)count, right = (lapack_int)n_b, info = 0;
    if (count)
        LAPACK_dtrtrs("U", "N", "N", &columns, &right, f->r, &rows, b, &columns, &info);
    assert(pdnn_lapack_is_good(info));
}

/* Factors as many columns as the rows allow, and takes out whichever is a combination of those before it,
 * until none is. */
static void reduce(struct factors *f, struct pdnn_arena *arena, struct pdnn_least_squares *fit) {
    const size_t n = f->n_rows;
    double *combination = f->work; /* large enough for a column of r */
    for (;;) {
        size_t count = f->count < n - 1 ? f->count : n - 1, k = 0;
        lapack_int rows = (lapack_int)n, columns = (lapack_int)count, info = 0;
        for (size_t j = 0; j < count; j++)
            memcpy(f->r + j * n, f->unit + f->of[j] * n, n * sizeof *f->r);
        LAPACK_dgeqrf(&rows, &columns, f->r, &rows, f->tau, f->work, &f->work_length, &info);
        assert(pdnn_lapack_is_good(info));
        while (k < count && fabs(f->r[k * n + k]) >= TOLERANCE)
            k++;
        if (k == count)
            return;
        struct pdnn_least_squares_column *column = &fit->column[f->of[k]];
        column->rank = PDNN_RANK_COLLINEAR;
        column->uses = pdnn_arena_alloc(arena, fit->n_columns, sizeof *column->uses);
        memcpy(combination, f->r + k * n, k * sizeof *combination);
        solve(f, k, 1, combination);
        for (size_t j = 0; j < k; j++)
            column->uses[f->of[j]] = fabs(combination[j]) > 1e-6;
        memmove(f->of + k, f->of + k + 1, (f->count - k - 1) * sizeof *f->of);
        f->count--;
    }
}

/* Weights of the unit columns: the inverse of r times q' y; fitted values are q q' y around the mean. After
 * reduce: q is formed from its reflections. */
static void find_weights(const struct factors *f, const double *centered, double mean,
                         struct pdnn_arena *arena, struct pdnn_least_squares *fit) {
    size_t n = f->n_rows, k = f->count;
    double *along = pdnn_arena_alloc(arena, k + 1, sizeof *along);
    lapack_int rows = (lapack_int)n, columns = (lapack_int)k, info = 0;
    memcpy(f->q, f->r, n * k * sizeof *f->q);
    if (k)
        LAPACK_dorgqr(&rows, &columns, &columns, f->q, &rows, f->tau, f->work, &f->work_length, &info);
    assert(pdnn_lapack_is_good(info));
    for (size_t i = 0; i < n; i++)
        fit->row[i] = (struct pdnn_least_squares_row){.fitted = mean, .leverage = 1 / (double)n};
    for (size_t j = 0; j < k; j++) {
        const double *q = f->q + j * n;
        for (size_t i = 0; i < n; i++)
            along[j] += q[i] * centered[i];
        for (size_t i = 0; i < n; i++) {
            fit->row[i].fitted += along[j] * q[i];
            fit->row[i].leverage += q[i] * q[i];
        }
    }
    solve(f, k, 1, along);
    fit->intercept = mean;
    for (size_t j = 0; j < k; j++) {
        size_t at = f->of[j];
        fit->column[at].weight = along[j] / f->norm[at];
        fit->intercept -= fit->column[at].weight * f->mean[at];
    }
}

/* The covariance of the weights is deviation^2 times the inverse of r'r, whose diagonal for unit columns is
 * the variance inflation. */
static void find_errors(const struct factors *f, struct pdnn_arena *arena, struct pdnn_least_squares *fit) {
    size_t k = f->count;
    double *inverse = pdnn_arena_alloc(arena, k * k + 1, sizeof *inverse), around = 0;
    for (size_t j = 0; j < k; j++)
        inverse[j * k + j] = 1;
    solve(f, k, k, inverse);
    for (size_t j = 0; j < k; j++) {
        struct pdnn_least_squares_column *column = &fit->column[f->of[j]];
        double sum = 0;
        for (size_t l = j; l < k; l++)
            sum += inverse[l * k + j] * inverse[l * k + j];
        column->inflation = sum;
        column->std_error = fit->deviation * sqrt(sum) / f->norm[f->of[j]];
    }
    /* The intercept is the fit at x = 0. */
    for (size_t l = 0; l < k; l++) {
        double sum = 0;
        for (size_t j = 0; j <= l; j++)
            sum += inverse[l * k + j] * f->mean[f->of[j]] / f->norm[f->of[j]];
        around += sum * sum;
    }
    fit->intercept_error = fit->deviation * sqrt(1 / (double)f->n_rows + around);
}

static void judge_rows(const double *y, double total, struct pdnn_least_squares *fit) {
    const double alone = 1e-10, rounding = 1e-12;
    double squares = 0, predicted = 0;
    for (size_t i = 0; i < fit->n_rows; i++) {
        struct pdnn_least_squares_row *row = &fit->row[i];
        bool determined = 1 - row->leverage < alone;
        row->leverage = determined ? 1 : row->leverage;
        row->residual = y[i] - row->fitted;
        double left_out = determined ? NAN : row->residual / (1 - row->leverage);
        squares += row->residual * row->residual;
        predicted += left_out * left_out;
    }
    bool exact = squares <= rounding * rounding * total;
    fit->deviation = sqrt(squares / fit->degrees);
    fit->r2 = 1 - squares / total;
    fit->r2_adjusted = 1 - (1 - fit->r2) * (double)(fit->n_rows - 1) / fit->degrees;
    fit->r2_leave_one_out = 1 - predicted / total;
    for (size_t i = 0; i < fit->n_rows; i++) {
        struct pdnn_least_squares_row *row = &fit->row[i];
        double rest = 1 - row->leverage;
        double others = (squares - row->residual * row->residual / rest) / (fit->degrees - 1);
        bool known = !exact && fit->degrees > 1 && rest > 0 && others > 0;
        row->studentized = known ? row->residual / sqrt(others * rest) : NAN;
    }
}

enum pdnn_status pdnn_least_squares(const double *x, const double *y, size_t n_rows, size_t n_columns,
                                    struct pdnn_arena *arena, struct pdnn_least_squares *fit,
                                    struct pdnn_err *err) {
    struct pdnn_least_squares made = {.n_rows = n_rows, .n_columns = n_columns};
    struct factors f;
    if (n_rows < 3)
        return pdnn_fail(err, PDNN_INVALID, "%zu rows are too few for a fit", n_rows);
    if (n_rows > INT_MAX / 2 || n_columns > SHRT_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%zu rows and %zu columns are too many for a fit", n_rows,
                         n_columns);
    if (is_constant(y, n_rows))
        return pdnn_fail(err, PDNN_INVALID, "all %zu values are equal", n_rows);
    double *centered = pdnn_arena_alloc(arena, n_rows, sizeof *centered);
    made.column = pdnn_arena_alloc(arena, n_columns + 1, sizeof *made.column);
    made.row = pdnn_arena_alloc(arena, n_rows, sizeof *made.row);
    for (size_t j = 0; j < n_columns; j++)
        made.column[j] = (struct pdnn_least_squares_column){PDNN_RANK_FULL, 0, NAN, NAN, NAN, NULL};
    double mean = mean_of(y, n_rows), length = center(y, n_rows, mean, centered);
    prepare(&f, x, n_rows, n_columns, arena, &made);
    reduce(&f, arena, &made);
    if (f.count + 2 > n_rows)
        return pdnn_fail(err, PDNN_INVALID, "%zu rows are too few for %zu weights and an intercept", n_rows,
                         f.count);
    find_weights(&f, centered, mean, arena, &made);
    made.spread = length / sqrt((double)(n_rows - 1));
    made.degrees = (double)(n_rows - f.count - 1);
    judge_rows(y, length * length, &made);
    find_errors(&f, arena, &made);
    *fit = made;
    return PDNN_OK;
}
