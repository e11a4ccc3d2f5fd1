#include "results/epochs/lengths.h"
#include "base/file.h"
#include "base/paths/nearby.h"
#include "base/str.h"
#include "results/epochs/drawn_lengths.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* PDNN_EXAMPLES_MAX lines of two lengths fit. */
enum { FILE_LIMIT_BYTES = 512 << 20, ATTEMPTS = 1000 };

/* What a distribution gives: a whole number in range. */
static int64_t to_length(double value) {
    return (int64_t)fmax(1, fmin(PDNN_LENGTH_MAX, value));
}

static int64_t to_steps(const struct pdnn_shipped_lengths *shipped, const struct pdnn_frames *frames,
                        double value) {
    return shipped->is_in_seconds ? to_length(floor(value * frames->per_second) + (double)frames->plus)
                                  : to_length(floor(value + 0.5));
}

static void draw_shipped(const struct pdnn_shipped_lengths *shipped, const struct pdnn_frames *frames,
                         struct pdnn_rng *rng, int64_t length[2]) {
    if (shipped->sigma > 0) {
        double source = pdnn_lognormal_draw(shipped->mu, shipped->sigma, rng);
        double target =
            shipped->slope * source + shipped->intercept + shipped->residual * pdnn_rng_normal(rng);
        length[0] = to_steps(shipped, frames, source);
        length[1] = to_steps(shipped, frames, target);
        return;
    }
    length[0] = to_steps(shipped, frames, pdnn_quantiles_draw(&shipped->source, rng));
    if (shipped->columns > 1)
        length[1] = to_steps(shipped, frames, pdnn_quantiles_draw(&shipped->target, rng));
}

static void draw(const struct pdnn_length_source *from, const struct pdnn_frames *frames,
                 struct pdnn_rng *rng, int64_t length[2]) {
    switch (from->kind) {
    case PDNN_LENGTHS_SHIPPED:
        draw_shipped(from->shipped, frames, rng, length);
        break;
    case PDNN_LENGTHS_LOGNORMAL:
        length[0] = to_length(floor(pdnn_lognormal_draw(from->mu, from->sigma, rng) + 0.5));
        break;
    default:
        length[0] = pdnn_length_bins_draw(&from->bins, rng);
    }
}

static bool is_kept(const struct pdnn_lengths_request *request, const int64_t *length, size_t columns) {
    for (size_t c = 0; c < columns; c++) {
        if (request->longest[c] && length[c] > request->longest[c])
            return false;
    }
    return true;
}

static enum pdnn_status all_left_out(const struct pdnn_lengths_request *request, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_INVALID, "%s: (nearly) all examples are longer than the longest allowed",
                     request->source);
}

/* Those that are too long are drawn again, so that an epoch keeps its size. */
static enum pdnn_status draw_all(const struct pdnn_lengths_request *request,
                                 const struct pdnn_length_source *from, struct pdnn_arena *arena,
                                 struct pdnn_lengths *lengths, struct pdnn_err *err) {
    struct pdnn_rng rng = {pdnn_rng_seed(request->seed, "lengths"), 0};
    struct pdnn_frames frames = request->frames;
    uint64_t examples = request->examples ? request->examples
                        : from->shipped   ? from->shipped->examples
                                          : PDNN_EXAMPLES_DEFAULT;
    if (!(frames.per_second > 0))
        frames = (struct pdnn_frames){100, 1};
    *lengths = (struct pdnn_lengths){
        .source = request->source,
        .shipped = from->shipped,
        .count = examples,
        .columns = from->shipped ? from->shipped->columns : 1,
    };
    lengths->length = pdnn_arena_alloc(arena, examples * lengths->columns, sizeof *lengths->length);
    for (size_t i = 0; i < examples; i++) {
        int64_t *length = lengths->length + i * lengths->columns, drawn[2] = {0, 0};
        int attempts = 0;
        do
            draw(from, &frames, &rng, drawn);
        while (!is_kept(request, drawn, lengths->columns) && ++attempts < ATTEMPTS);
        if (attempts == ATTEMPTS)
            return all_left_out(request, err);
        memcpy(length, drawn, lengths->columns * sizeof *length);
    }
    return PDNN_OK;
}

/* In place; what is too long goes. */
static void leave_out(const struct pdnn_lengths_request *request, struct pdnn_lengths *lengths) {
    size_t kept = 0, columns = lengths->columns;
    for (size_t i = 0; i < lengths->count; i++) {
        if (!is_kept(request, lengths->length + i * columns, columns))
            continue;
        memmove(lengths->length + kept * columns, lengths->length + i * columns,
                columns * sizeof *lengths->length);
        lengths->line[kept++] = lengths->line[i];
    }
    lengths->left_out = lengths->count - kept;
    lengths->count = kept;
}

/* With replacement. */
static void redraw(const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                   struct pdnn_lengths *lengths) {
    struct pdnn_rng rng = {pdnn_rng_seed(request->seed, "lengths"), 0};
    size_t columns = lengths->columns, examples = request->examples;
    int64_t *length = pdnn_arena_alloc(arena, examples * columns, sizeof *length);
    size_t *line = pdnn_arena_alloc(arena, examples, sizeof *line);
    for (size_t i = 0; i < examples; i++) {
        size_t from = pdnn_rng_below(&rng, lengths->count);
        memcpy(length + i * columns, lengths->length + from * columns, columns * sizeof *length);
        line[i] = lengths->line[from];
    }
    lengths->length = length;
    lengths->line = line;
    lengths->count = examples;
}

static enum pdnn_status check_request(const struct pdnn_lengths_request *request, struct pdnn_err *err) {
    if (request->examples > PDNN_EXAMPLES_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%" PRIu64 " examples are too many, the most is %d",
                         request->examples, PDNN_EXAMPLES_MAX);
    return PDNN_OK;
}

enum pdnn_status pdnn_lengths_parse(const char *path, const char *text,
                                    const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                                    struct pdnn_lengths *lengths, struct pdnn_err *err) {
    struct pdnn_length_lines lines;
    enum pdnn_status status = check_request(request, err);
    if (status == PDNN_OK)
        status = pdnn_length_lines_parse(path, text, arena, &lines, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_lengths made = {.source = request->source,
                                .count = lines.count,
                                .columns = lines.columns,
                                .length = lines.length,
                                .line = lines.line};
    leave_out(request, &made);
    if (!made.count)
        return all_left_out(request, err);
    if (request->examples)
        redraw(request, arena, &made);
    *lengths = made;
    return PDNN_OK;
}

/* A word that is neither a distribution nor a file was one of them with an error. */
static enum pdnn_status unknown(const char *source, struct pdnn_err *err) {
    static const char *const endings[] = {".txt", ".csv", ".tsv", ".lengths", NULL};
    char suggestion[PDNN_SUGGESTION_TEXT], nearby[PDNN_NEARBY_TEXT];
    const char *words[32];
    size_t count = pdnn_length_words(words);
    pdnn_suggest(suggestion, source, words, count);
    return pdnn_fail(err, PDNN_INVALID, "'%.200s' is neither a length distribution nor a file%s", source,
                     *suggestion ? suggestion : pdnn_nearby(nearby, source, endings));
}

static enum pdnn_status read_file(const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                                  struct pdnn_lengths *lengths, struct pdnn_err *err) {
    char *text;
    size_t length;
    struct stat info;
    if (stat(request->source, &info) != 0 && errno == ENOENT)
        return unknown(request->source, err);
    enum pdnn_status status = pdnn_file_read(request->source, FILE_LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    status = strlen(text) == length
                 ? pdnn_lengths_parse(request->source, text, request, arena, lengths, err)
                 : pdnn_fail(err, PDNN_INVALID, "%s: has a NUL byte: not a text", request->source);
    free(text);
    return status;
}

enum pdnn_status pdnn_lengths_make(const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                                   struct pdnn_lengths *lengths, struct pdnn_err *err) {
    struct pdnn_length_source from;
    struct pdnn_lengths made;
    enum pdnn_status status = check_request(request, err);
    if (status == PDNN_OK)
        status = pdnn_length_source_parse(request->source, arena, &from, err);
    if (status == PDNN_OK)
        status = from.kind == PDNN_LENGTHS_FILE ? read_file(request, arena, &made, err)
                                                : draw_all(request, &from, arena, &made, err);
    if (status == PDNN_OK)
        *lengths = made;
    return status;
}

enum pdnn_status pdnn_lengths_check(const struct pdnn_lengths *lengths, size_t column, int64_t limit,
                                    const char *what, struct pdnn_err *err) {
    static const char *const names[] = {"source", "target"};
    for (size_t i = 0; i < lengths->count; i++) {
        int64_t length = lengths->length[i * lengths->columns + column];
        if (length <= limit)
            continue;
        const char *name = lengths->columns > 1 ? names[column] : "length";
        if (lengths->line)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s %" PRId64 " is beyond the %" PRId64 " %s",
                             lengths->source, lengths->line[i], name, length, limit, what);
        return pdnn_fail(err, PDNN_INVALID, "%s: an example of %s %" PRId64 " is beyond the %" PRId64 " %s",
                         lengths->source, name, length, limit, what);
    }
    return PDNN_OK;
}
