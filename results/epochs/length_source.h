/* Sources of lengths as text: the words and numbers that name a distribution, and the lines of a file. */
#ifndef RESULTS_EPOCHS_LENGTH_SOURCE_H
#define RESULTS_EPOCHS_LENGTH_SOURCE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"
#include "results/epochs/shipped_lengths.h"

enum { PDNN_LENGTH_MAX = 1 << 24, PDNN_EXAMPLES_MAX = 1 << 24 };

enum pdnn_length_source_kind {
    PDNN_LENGTHS_SHIPPED,
    PDNN_LENGTHS_UNIFORM,
    PDNN_LENGTHS_LOGNORMAL,
    PDNN_LENGTHS_HISTOGRAM,
    PDNN_LENGTHS_FILE,
    PDNN_LENGTHS_KIND_COUNT
};

/* Lengths from low to high are equally likely within a bin. */
struct pdnn_length_bin {
    int64_t low, high;
    uint64_t up_to; /* counts of the bins so far, this one's included */
};

struct pdnn_length_bins {
    struct pdnn_length_bin *bin;
    size_t count;
};

struct pdnn_length_source {
    enum pdnn_length_source_kind kind;
    const struct pdnn_shipped_lengths *shipped; /* NULL: not one of these */
    struct pdnn_length_bins bins;               /* uniform and histogram */
    double mu, sigma;                           /* lognormal */
};

/* Anything but the name of a shipped distribution or a word with a colon is the path of a file; so is a path
 * with a slash. In the arena. PDNN_INVALID for an unknown word and for numbers that make no distribution. */
enum pdnn_status pdnn_length_source_parse(const char *text, struct pdnn_arena *arena,
                                          struct pdnn_length_source *source, struct pdnn_err *err);

/* The names of the shipped distributions and the words before a colon; returns how many, at most 32. */
size_t pdnn_length_words(const char *words[32]);

int64_t pdnn_length_bins_draw(const struct pdnn_length_bins *bins, struct pdnn_rng *rng);

/* The examples of a file. */
struct pdnn_length_lines {
    size_t count, columns;
    int64_t *length; /* count * columns */
    size_t *line;    /* count */
};

/* In the arena; as pdnn_lengths_make says. */
enum pdnn_status pdnn_length_lines_parse(const char *path, const char *text, struct pdnn_arena *arena,
                                         struct pdnn_length_lines *lines, struct pdnn_err *err);

#endif
