/* How often the model-assisted interval contains the truth, and how far off it and SeqPoint are, over
 * resampled epochs: as many iterations, drawn with replacement from those of a measured one, each with the
 * measured time of its kind. Reads seqpoint.csv of directories in which everything was measured; runs
 * nothing.
 *
 * Usage: bench_seqpoint EPOCHS DIRECTORY... */
#include "base/rng.h"
#include "base/units.h"
#include "results/epochs/sample_estimate.h"
#include "results/epochs/seqpoint.h"
#include "results/store/seqpoint_table.h"
#include "tests/results/epochs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 2, METHODS = SIZES + 1, PATH_TEXT = 4096 };
static const size_t draws[SIZES] = {20, 40};
static const double floor_error = 1e-4;

struct errors {
    double *size[METHODS]; /* absolute errors, by epoch */
    size_t covered[SIZES];
};

/* An epoch of n iterations drawn from the table's, and the time of each of its kinds. */
static struct pdnn_epoch resample(const struct pdnn_table *table, uint64_t seed, struct pdnn_arena *arena,
                                  double **time_ns) {
    struct pdnn_epoch_kind *kind = pdnn_arena_alloc(arena, table->n_rows, sizeof *kind);
    uint64_t *count = pdnn_arena_alloc(arena, table->n_rows, sizeof *count), n = 0;
    *time_ns = pdnn_arena_alloc(arena, table->n_rows, sizeof **time_ns);
    struct pdnn_rng rng = {seed, 0};
    for (size_t i = 0; i < table->n_rows; i++) {
        count[i] = 0;
        n += pdnn_table_count(table, i, PDNN_SEQPOINT_ITERATIONS);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = pdnn_rng_below(&rng, n);
        size_t row = 0;
        while (at >= pdnn_table_count(table, row, PDNN_SEQPOINT_ITERATIONS))
            at -= pdnn_table_count(table, row++, PDNN_SEQPOINT_ITERATIONS);
        count[row]++;
    }
    size_t n_kinds = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        if (!count[i])
            continue;
        (*time_ns)[n_kinds] = pdnn_table_number(table, i, PDNN_SEQPOINT_TIME);
        kind[n_kinds++] =
            (struct pdnn_epoch_kind){.length = {pdnn_table_whole(table, i, PDNN_SEQPOINT_SOURCE),
                                                pdnn_table_whole(table, i, PDNN_SEQPOINT_TARGET)},
                                     .count = count[i]};
    }
    return epoch_of_kinds(kind, n_kinds, arena);
}

static enum pdnn_status try_epoch(const struct pdnn_table *table, size_t number, struct errors *errors,
                                  struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_seqpoints seqpoints;
    double *time_ns, value[64];
    enum pdnn_status status = PDNN_OK;
    const struct pdnn_epoch epoch = resample(table, number + 1, &arena, &time_ns);
    const struct pdnn_epoch_sample sample = pdnn_epoch_sample_draw(&epoch, number + 1, &arena);
    double truth = epoch_total(&epoch, time_ns);
    for (size_t s = 0; s < SIZES && status == PDNN_OK; s++) {
        struct pdnn_epoch_estimate estimate;
        for (size_t i = 0; i < draws[s]; i++)
            value[i] = time_ns[epoch.kind_of[sample.order[i]]];
        status = pdnn_sample_estimate(&sample, draws[s], value, &arena, &estimate, err);
        if (status != PDNN_OK)
            break;
        errors->size[s][number] = fabs(estimate.total / truth - 1);
        errors->covered[s] += estimate.low <= truth && truth <= estimate.high;
    }
    const struct pdnn_seqpoint_request request = {.epoch = &epoch,
                                                  .key = PDNN_KEY_SOURCE,
                                                  .statistic = time_ns,
                                                  .unique_max = 10,
                                                  .bins = 5,
                                                  .error = 0.01};
    if (status == PDNN_OK)
        status = pdnn_seqpoint_select(&request, &arena, &seqpoints, err);
    if (status == PDNN_OK)
        errors->size[SIZES][number] =
            fabs(pdnn_representatives_total(&seqpoints.points, time_ns) / truth - 1);
    pdnn_arena_finish(&arena);
    return status;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *directory, const char *method, double *size, size_t epochs,
                      double covered) {
    double logs = 0;
    for (size_t i = 0; i < epochs; i++)
        logs += log(fmax(size[i], floor_error));
    qsort(size, epochs, sizeof *size, compare);
    printf("%s,%s,%zu,%.3f,%.3f,%.3f", directory, method, epochs, 100 * exp(logs / (double)epochs),
           100 * size[epochs * 95 / 100], 100 * size[epochs - 1]);
    if (isnan(covered))
        printf(",\n");
    else
        printf(",%.1f\n", 100 * covered / (double)epochs);
}

static enum pdnn_status check(const char *directory, size_t epochs, struct pdnn_err *err) {
    static const char *const methods[METHODS] = {"model-assisted 20", "model-assisted 40", "seqpoint"};
    struct pdnn_table table = {0};
    struct errors errors = {0};
    char path[PATH_TEXT];
    snprintf(path, sizeof path, "%s/seqpoint.csv", directory);
    enum pdnn_status status = pdnn_seqpoint_table_read(path, &table, err);
    for (size_t i = 0; i < table.n_rows && status == PDNN_OK; i++)
        if (pdnn_table_is_empty(&table, i, PDNN_SEQPOINT_TIME))
            status = pdnn_fail(err, PDNN_INVALID, "%s: not every length was measured", path);
    for (int m = 0; m < METHODS; m++)
        errors.size[m] = calloc(epochs, sizeof **errors.size);
    for (size_t i = 0; i < epochs && status == PDNN_OK; i++)
        status = try_epoch(&table, i, &errors, err);
    for (int m = 0; m < METHODS && status == PDNN_OK; m++)
        print_row(directory, methods[m], errors.size[m], epochs, m < SIZES ? (double)errors.covered[m] : NAN);
    for (int m = 0; m < METHODS; m++)
        free(errors.size[m]);
    pdnn_table_finish(&table);
    return status;
}

int main(int argc, char **argv) {
    struct pdnn_err err = {0};
    int64_t epochs;
    if (argc < 3 || !pdnn_parse_i64(argv[1], &epochs) || epochs < 1 || epochs > 100000) {
        fprintf(stderr, "usage: bench_seqpoint EPOCHS DIRECTORY...\n");
        return 2;
    }
    printf("directory,method,epochs,geomean_pct,p95_pct,max_pct,coverage_pct\n");
    for (int i = 2; i < argc; i++)
        if (check(argv[i], (size_t)epochs, &err) != PDNN_OK) {
            fprintf(stderr, "bench_seqpoint: %s\n", err.text);
            return 1;
        }
    return 0;
}
