/* The lengths of the examples of a data set: read from a file, or drawn from a distribution, perhaps one that
 * is shipped as numbers. What a seed gives is the same on every machine. */
#ifndef RESULTS_EPOCHS_LENGTHS_H
#define RESULTS_EPOCHS_LENGTHS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDNN_QUANTILES_MAX = 16 };

/* The value at each probability, both ascending. Between them it is linear; outside, the nearest one. */
struct pdnn_quantiles {
    size_t count;
    double probability[PDNN_QUANTILES_MAX], value[PDNN_QUANTILES_MAX];
};

/* A public data set. Either source has quantiles, or it is log-normal and the target follows from it. */
struct pdnn_shipped_lengths {
    const char *name, *help;
    uint64_t examples;                    /* of the data set */
    size_t columns;                       /* 1, or 2: source and target */
    bool is_in_seconds;                   /* else in steps */
    struct pdnn_quantiles source, target; /* of two columns, independent of each other */
    double mu, sigma;                     /* of the logarithm of the source; sigma 0: it has quantiles */
    double slope, intercept, residual;    /* target = slope * source + intercept + residual * normal */
};

extern const struct pdnn_shipped_lengths pdnn_shipped_lengths[];
extern const size_t pdnn_n_shipped_lengths;

enum { PDNN_LENGTH_MAX = 1 << 24, PDNN_EXAMPLES_MAX = 1 << 24, PDNN_EXAMPLES_DEFAULT = 20000 };

/* Spectrogram frames of s seconds are floor(per_second * s) + plus: what a centered window every 1/per_second
 * seconds gives. Those of models/zoo/deepspeech2.yaml are 100 and 1. */
struct pdnn_frames {
    double per_second;
    int64_t plus;
};

struct pdnn_lengths_request {
    /* The name of a shipped distribution; uniform:LOW-HIGH; lognormal:MU,SIGMA (of the natural logarithm);
     * histogram:LOW-HIGH=COUNT,LENGTH=COUNT,...; otherwise the path of a file with one example per line: its
     * length, or source and target, with blanks or a comma between them. Empty lines and what follows # are
     * skipped there. A path with a slash is one in any case. */
    const char *source;
    uint64_t examples; /* from a file drawn with replacement; 0: all there are, or PDNN_EXAMPLES_DEFAULT */
    uint64_t seed;
    struct pdnn_frames frames; /* for lengths in seconds; {0}: 100 and 1 */
    /* Of source and target. Longer examples are left out of a file, or drawn again; 0: no limit. */
    int64_t longest;
};

struct pdnn_lengths {
    const char *source;
    bool is_in_seconds; /* drawn in seconds, which became steps */
    size_t count;       /* examples */
    size_t columns;     /* 1, or 2: source and target */
    int64_t *length;    /* count * columns, each at least 1, in steps of the model */
    size_t *line;       /* of the file, by example; NULL: no file */
    size_t left_out;    /* longer than `longest` */
};

/* In the arena. PDNN_INVALID with the nearest name for a source that is neither known nor a file; with
 * file:line for a line that has not as many lengths as the first one, or one outside 1 to PDNN_LENGTH_MAX;
 * for a file without lengths, and if all examples are left out. */
enum pdnn_status pdnn_lengths_make(const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                                   struct pdnn_lengths *lengths, struct pdnn_err *err);

/* The same from the text of a file; path is for messages. */
enum pdnn_status pdnn_lengths_parse(const char *path, const char *text,
                                    const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                                    struct pdnn_lengths *lengths, struct pdnn_err *err);

/* PDNN_INVALID names the first example that, rounded up, is longer than the model has positions. */
enum pdnn_status pdnn_lengths_check(const struct pdnn_lengths *lengths, int64_t multiple, int64_t positions,
                                    struct pdnn_err *err);

/* Relative error below 1e-15; of exp for |x| <= 700, of log for normal numbers above 0. */
double pdnn_same_exp(double x);
double pdnn_same_log(double x);

/* Mean 0, deviation 1: Marsaglia's polar method (SIAM Review 6, 1964). */
double pdnn_rng_normal(struct pdnn_rng *rng);

#endif
