/* What is drawn takes only additions, multiplications, divisions and square roots, which IEEE 754 rounds
 * alike everywhere: logarithms and exponentials are sums of series here, since those of the C library differ
 * between versions. Not fused: a * b + c is rounded twice on every machine. */
#pragma STDC FP_CONTRACT OFF
#include "results/epochs/lengths.h"
#include "base/file.h"
#include "base/paths/nearby.h"
#include "base/str.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* PDNN_EXAMPLES_MAX lines of two lengths fit. */
enum { FILE_LIMIT_BYTES = 512 << 20, ATTEMPTS = 1000, COUNT_MAX = 1 << 30, NUMBER_TEXT = 32 };

/* One length, in seconds. */
#define SECONDS(...)                                                                                         \
    .columns = 1, .is_in_seconds = true,                                                                     \
    .source = {15, {0, .001, .005, .01, .05, .1, .25, .5, .75, .9, .95, .99, .995, .999, 1}, {__VA_ARGS__}}
#define AZURE_PROBABILITIES .05, .25, .5, .75, .9, .95, .99

const struct pdnn_shipped_lengths pdnn_shipped_lengths[] = {
    /* LibriSpeech (Panayotov et al., ICASSP 2015, CC BY 4.0), in seconds: the manifest statistics of
     * k2-fsa/icefall; but for the last, with copies at 0.9 and 1.1 times the speed. */
    {"librispeech-clean-100", "100 hours of read speech, 28,539 utterances", 28539,
     SECONDS(1.3, 1.9, 2.2, 2.5, 4.2, 6.4, 11.4, 13.8, 15.3, 16.7, 17.3, 18.1, 18.4, 18.8, 27.2)},
    {"librispeech-clean-360", "360 hours of read speech, 104,014 utterances", 104014,
     SECONDS(1.0, 1.8, 2.2, 2.5, 4.2, 6.2, 11.2, 13.7, 15.3, 16.6, 17.3, 18.1, 18.4, 18.8, 33.0)},
    {"librispeech-other-500", "500 hours of harder read speech, 148,688 utterances", 148688,
     SECONDS(0.8, 1.7, 2.1, 2.3, 3.5, 5.0, 9.8, 13.4, 15.1, 16.5, 17.2, 18.1, 18.4, 18.9, 31.0)},
    {"librispeech-dev-clean", "5 hours of read speech for validation, 2,703 utterances", 2703,
     SECONDS(1.4, 1.6, 1.8, 1.9, 2.4, 2.7, 3.8, 5.9, 9.3, 13.3, 16.4, 23.8, 28.5, 32.3, 32.6)},
    /* IWSLT 2015 en-vi, in words: English log-normal, fitted to tst2012 and tst2013 (2,821 pairs), Vietnamese
     * by regression on it (correlation 0.95). */
    {"iwslt15-en-vi", "English talks and their Vietnamese translations, 133,317 sentence pairs", 133317,
     .columns = 2, .mu = 2.772, .sigma = 0.635, .slope = 1.2, .intercept = 0.7, .residual = 4.6},
    /* Azure LLM inference trace of 2023 (Patel et al., Splitwise, ISCA 2024, CC BY 4.0); context and
     * generated tokens are taken as independent, outside the 5th and 99th percentile as those. */
    {"azure-chat", "requests to a conversational service, context and generated tokens, 19,366 of them",
     19366, .columns = 2, .source = {7, {AZURE_PROBABILITIES}, {181, 396, 1020, 1189, 2734, 4083, 4142}},
     .target = {7, {AZURE_PROBABILITIES}, {41, 85, 129, 395, 424, 451, 601}}},
    {"azure-code", "requests to a service that completes code, context and generated tokens, 8,819 of them",
     8819, .columns = 2, .source = {7, {AZURE_PROBABILITIES}, {75, 578, 1469, 2745, 5186, 7302, 7436}},
     .target = {7, {AZURE_PROBABILITIES}, {6, 9, 13, 24, 55, 90, 252}}},
};
const size_t pdnn_n_shipped_lengths = sizeof pdnn_shipped_lengths / sizeof pdnn_shipped_lengths[0];

static const double ln_2_high = 0x1.62e42feep-1, ln_2_low = 0x1.a39ef35793c76p-33,
                    ln_2 = 0x1.62e42fefa39efp-1;

double pdnn_same_exp(double x) {
    double power = floor(x / ln_2 + 0.5), rest = (x - power * ln_2_high) - power * ln_2_low, sum = 1;
    for (int i = 18; i > 0; i--)
        sum = 1 + sum * rest / i;
    return ldexp(sum, (int)power);
}

double pdnn_same_log(double x) {
    int power;
    double part = frexp(x, &power), sum = 0;
    if (part < 0x1.6a09e667f3bcdp-1) {
        part *= 2;
        power--;
    }
    /* log(part) = 2 artanh(s) */
    double s = (part - 1) / (part + 1), square = s * s;
    for (int i = 25; i > 0; i -= 2)
        sum = sum * square + 1.0 / i;
    return power * ln_2 + 2 * s * sum;
}

double pdnn_rng_normal(struct pdnn_rng *rng) {
    for (;;) {
        double x = 2 * pdnn_rng_double(rng) - 1, y = 2 * pdnn_rng_double(rng) - 1, square = x * x + y * y;
        if (square > 0 && square < 1)
            return x * sqrt(-2 * pdnn_same_log(square) / square);
    }
}

/* What lengths are drawn from. */
struct distribution {
    const struct pdnn_shipped_lengths *numbers; /* without a name: the user's; NULL: a file is read */
    /* Lengths from low to high are equally likely within a bin; none: those of the numbers. */
    struct bin {
        int64_t low, high;
        uint64_t up_to; /* counts of the bins so far, this one's included */
    } * bin;
    size_t n_bins;
};

static bool parse_whole(const char *text, int64_t most, int64_t *value) {
    return pdnn_parse_i64(text, value) && *value >= 1 && *value <= most;
}

/* Ends the text at the first such character; returns what is behind it, or NULL. */
static char *cut_at(char *text, char character) {
    char *found = strchr(text, character);
    if (found)
        *found++ = 0;
    return found;
}

/* "LOW-HIGH", or one length. */
static bool parse_range(char *text, struct bin *bin) {
    const char *high = cut_at(text, '-');
    return parse_whole(text, PDNN_LENGTH_MAX, &bin->low) &&
           parse_whole(high ? high : text, PDNN_LENGTH_MAX, &bin->high) && bin->high >= bin->low;
}

/* "RANGE=COUNT,..."; there is room for the bins. */
static bool parse_bins(char *text, struct distribution *made) {
    uint64_t sum = 0;
    for (char *at = text, *next; at; at = next) {
        struct bin *bin = &made->bin[made->n_bins++];
        int64_t number;
        next = cut_at(at, ',');
        const char *count = cut_at(at, '=');
        if (!count || !parse_range(at, bin) || !parse_whole(count, COUNT_MAX, &number))
            return false;
        bin->up_to = sum += (uint64_t)number;
    }
    return true;
}

/* "MU,SIGMA" */
static bool parse_lognormal(char *text, struct pdnn_shipped_lengths *numbers) {
    const char *sigma = cut_at(text, ',');
    return sigma && pdnn_parse_double(text, &numbers->mu) && pdnn_parse_double(sigma, &numbers->sigma) &&
           numbers->mu >= 0 && numbers->mu <= 16 && numbers->sigma > 0 && numbers->sigma <= 4;
}

enum { UNIFORM, LOGNORMAL, HISTOGRAM, KINDS };
static const char *const words[KINDS] = {"uniform", "lognormal", "histogram"};
static const char *const expected[KINDS] = {
    "LOW-HIGH, whole numbers from 1 to 16777216",
    "MU,SIGMA of the natural logarithm, with MU from 0 to 16 and SIGMA above 0 and up to 4",
    "LOW-HIGH=COUNT,LENGTH=COUNT,... of whole numbers above 0"};
_Static_assert(PDNN_LENGTH_MAX == 16777216, "as the texts say");

static enum pdnn_status parse_distribution(const char *text, struct pdnn_arena *arena,
                                           struct distribution *made, struct pdnn_err *err) {
    char suggestion[PDNN_SUGGESTION_TEXT], *word = pdnn_arena_strdup(arena, text), *rest = cut_at(word, ':');
    size_t kind = 0, bins = 1;
    *made = (struct distribution){.numbers = NULL};
    for (size_t i = 0; i < pdnn_n_shipped_lengths; i++)
        if (strcmp(pdnn_shipped_lengths[i].name, text) == 0)
            made->numbers = &pdnn_shipped_lengths[i];
    if (made->numbers || !rest || strchr(text, '/'))
        return PDNN_OK;
    while (kind < KINDS && strcmp(words[kind], word) != 0)
        kind++;
    if (kind == KINDS)
        return pdnn_fail(err, PDNN_INVALID, "'%.31s' is not a kind of length distribution%s", word,
                         pdnn_suggest(suggestion, word, words, KINDS));
    struct pdnn_shipped_lengths *numbers = pdnn_arena_alloc(arena, 1, sizeof *numbers);
    *numbers = (struct pdnn_shipped_lengths){.examples = PDNN_EXAMPLES_DEFAULT, .columns = 1};
    made->numbers = numbers;
    for (const char *c = rest; *c; c++)
        bins += *c == ',';
    made->bin = pdnn_arena_alloc(arena, bins, sizeof *made->bin);
    made->bin->up_to = made->n_bins = kind == UNIFORM;
    if (kind == UNIFORM     ? parse_range(rest, made->bin)
        : kind == LOGNORMAL ? parse_lognormal(rest, numbers)
                            : parse_bins(rest, made))
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID, "'%.96s': expected %s:%s", text, word, expected[kind]);
}

static int64_t draw_bin(const struct distribution *from, struct pdnn_rng *rng) {
    const uint64_t at = pdnn_rng_below(rng, from->bin[from->n_bins - 1].up_to);
    const struct bin *bin = from->bin;
    while (at >= bin->up_to)
        bin++;
    return bin->low + (int64_t)pdnn_rng_below(rng, (uint64_t)(bin->high - bin->low + 1));
}

static double draw_quantile(const struct pdnn_quantiles *quantiles, struct pdnn_rng *rng) {
    const double *p = quantiles->probability, *value = quantiles->value;
    double at = pdnn_rng_double(rng);
    size_t i = 0;
    while (i < quantiles->count && p[i] <= at)
        i++;
    if (i == 0 || i == quantiles->count)
        return value[i ? i - 1 : 0];
    return value[i - 1] + (value[i] - value[i - 1]) * (at - p[i - 1]) / (p[i] - p[i - 1]);
}

static void draw(const struct distribution *from, const struct pdnn_frames *frames, struct pdnn_rng *rng,
                 int64_t length[2]) {
    const struct pdnn_shipped_lengths *numbers = from->numbers;
    const bool is_lognormal = numbers->sigma > 0;
    double value[2];
    if (from->n_bins) {
        length[0] = draw_bin(from, rng);
        return;
    }
    value[0] = is_lognormal
                   ? pdnn_same_exp(fmax(-700, fmin(700, numbers->mu + numbers->sigma * pdnn_rng_normal(rng))))
                   : draw_quantile(&numbers->source, rng);
    if (numbers->columns > 1)
        value[1] = is_lognormal ? numbers->slope * value[0] + numbers->intercept +
                                      numbers->residual * pdnn_rng_normal(rng)
                                : draw_quantile(&numbers->target, rng);
    for (size_t c = 0; c < numbers->columns; c++) {
        double steps = numbers->is_in_seconds ? floor(value[c] * frames->per_second) + (double)frames->plus
                                              : floor(value[c] + 0.5);
        length[c] = (int64_t)fmax(1, fmin(PDNN_LENGTH_MAX, steps));
    }
}

static bool is_kept(const struct pdnn_lengths_request *request, const int64_t *length, size_t columns) {
    return !request->longest ||
           (length[0] <= request->longest && (columns < 2 || length[1] <= request->longest));
}

static enum pdnn_status all_left_out(const struct pdnn_lengths_request *request, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_INVALID, "%s: (nearly) all examples are longer than the longest allowed",
                     request->source);
}

/* Those that are too long are drawn again, so that an epoch keeps its size. */
static enum pdnn_status draw_all(const struct pdnn_lengths_request *request, const struct distribution *from,
                                 struct pdnn_arena *arena, struct pdnn_lengths *lengths,
                                 struct pdnn_err *err) {
    struct pdnn_rng rng = {pdnn_rng_seed(request->seed, "lengths"), 0};
    const struct pdnn_frames frames =
        request->frames.per_second > 0 ? request->frames : (struct pdnn_frames){100, 1};
    struct pdnn_lengths made = {.source = request->source,
                                .is_in_seconds = from->numbers->is_in_seconds,
                                .count = request->examples ? request->examples : from->numbers->examples,
                                .columns = from->numbers->columns};
    made.length = pdnn_arena_alloc(arena, made.count * made.columns, sizeof *made.length);
    for (size_t i = 0; i < made.count; i++) {
        int64_t *length = made.length + i * made.columns;
        int attempts = 0;
        do
            draw(from, &frames, &rng, length);
        while (!is_kept(request, length, made.columns) && ++attempts < ATTEMPTS);
        if (attempts == ATTEMPTS)
            return all_left_out(request, err);
    }
    *lengths = made;
    return PDNN_OK;
}

/* With replacement. */
static void redraw(const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                   struct pdnn_lengths *lengths) {
    struct pdnn_rng rng = {pdnn_rng_seed(request->seed, "lengths"), 0};
    const struct pdnn_lengths from = *lengths;
    lengths->count = request->examples;
    lengths->length = pdnn_arena_alloc(arena, lengths->count * from.columns, sizeof *lengths->length);
    lengths->line = pdnn_arena_alloc(arena, lengths->count, sizeof *lengths->line);
    for (size_t i = 0; i < lengths->count; i++) {
        size_t at = pdnn_rng_below(&rng, from.count);
        memcpy(lengths->length + i * from.columns, from.length + at * from.columns,
               from.columns * sizeof *from.length);
        lengths->line[i] = from.line[at];
    }
}

/* The lengths of one line, up to its comment; none in an empty one. */
static enum pdnn_status parse_line(const char *path, size_t line, const char *text, int64_t value[2],
                                   size_t *count, struct pdnn_err *err) {
    static const char between[] = " \t\r,", behind[] = " \t\r,#\n";
    char digits[NUMBER_TEXT];
    *count = 0;
    for (size_t word;; text += word) {
        text += strspn(text, between);
        word = strcspn(text, behind);
        if (!word)
            return PDNN_OK;
        if (*count == 2)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: more than two lengths", path, line);
        snprintf(digits, sizeof digits, "%.*s", (int)word, text);
        if (word >= sizeof digits || !parse_whole(digits, PDNN_LENGTH_MAX, &value[(*count)++]))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.*s' is not a length: a whole number from 1 to %d",
                             path, line, (int)(word < 40 ? word : 40), text, PDNN_LENGTH_MAX);
    }
}

enum pdnn_status pdnn_lengths_parse(const char *path, const char *text,
                                    const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                                    struct pdnn_lengths *lengths, struct pdnn_err *err) {
    struct pdnn_lengths made = {.source = request->source};
    size_t n_lines = 1, first_line = 0;
    for (const char *c = text; *c; c++)
        n_lines += *c == '\n';
    made.length = pdnn_arena_alloc(arena, 2 * n_lines, sizeof *made.length);
    made.line = pdnn_arena_alloc(arena, n_lines, sizeof *made.line);
    for (size_t line = 1; line <= n_lines; line++) {
        int64_t value[2];
        size_t count;
        if (parse_line(path, line, text, value, &count, err) != PDNN_OK)
            return err->status;
        text += strcspn(text, "\n") + (line < n_lines);
        if (!count)
            continue;
        first_line = made.columns ? first_line : line;
        made.columns = made.columns ? made.columns : count;
        if (count != made.columns)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %zu length%s, but line %zu has %zu", path, line,
                             count, count > 1 ? "s" : "", first_line, made.columns);
        if (made.count + made.left_out == PDNN_EXAMPLES_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: more than %d examples", path, line,
                             PDNN_EXAMPLES_MAX);
        if (is_kept(request, value, count)) {
            memcpy(made.length + made.count * made.columns, value, count * sizeof *value);
            made.line[made.count++] = line;
        } else {
            made.left_out++;
        }
    }
    if (!made.columns)
        return pdnn_fail(err, PDNN_INVALID, "%s: there are no lengths in it", path);
    if (!made.count)
        return all_left_out(request, err);
    if (request->examples)
        redraw(request, arena, &made);
    *lengths = made;
    return PDNN_OK;
}

/* A word that is neither a distribution nor a file was one of them with an error. */
static enum pdnn_status unknown(const char *source, struct pdnn_arena *arena, struct pdnn_err *err) {
    static const char *const endings[] = {".txt", ".csv", ".tsv", ".lengths", NULL};
    char suggestion[PDNN_SUGGESTION_TEXT], nearby[PDNN_NEARBY_TEXT];
    const char **names = pdnn_arena_alloc(arena, pdnn_n_shipped_lengths + KINDS, sizeof *names);
    for (size_t i = 0; i < pdnn_n_shipped_lengths; i++)
        names[i] = pdnn_shipped_lengths[i].name;
    memcpy(names + pdnn_n_shipped_lengths, words, sizeof words);
    pdnn_suggest(suggestion, source, names, pdnn_n_shipped_lengths + KINDS);
    return pdnn_fail(err, PDNN_INVALID, "'%.200s' is neither a length distribution nor a file%s", source,
                     *suggestion ? suggestion : pdnn_nearby(nearby, source, endings));
}

static enum pdnn_status read_file(const struct pdnn_lengths_request *request, struct pdnn_arena *arena,
                                  struct pdnn_lengths *lengths, struct pdnn_err *err) {
    char *text;
    size_t length;
    struct stat info;
    if (stat(request->source, &info) != 0 && errno == ENOENT)
        return unknown(request->source, arena, err);
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
    struct distribution from;
    if (request->examples > PDNN_EXAMPLES_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%" PRIu64 " examples are too many, the most is %d",
                         request->examples, PDNN_EXAMPLES_MAX);
    if (parse_distribution(request->source, arena, &from, err) != PDNN_OK)
        return err->status;
    return from.numbers ? draw_all(request, &from, arena, lengths, err)
                        : read_file(request, arena, lengths, err);
}

enum pdnn_status pdnn_lengths_check(const struct pdnn_lengths *lengths, int64_t multiple, int64_t positions,
                                    struct pdnn_err *err) {
    static const char *const names[] = {"source", "target"};
    const size_t columns = lengths->columns;
    for (size_t i = 0; i < lengths->count * columns; i++) {
        char line[NUMBER_TEXT] = "", rounded[2 * NUMBER_TEXT] = "";
        const int64_t length = lengths->length[i];
        if ((length + multiple - 1) / multiple * multiple <= positions)
            continue;
        if (lengths->line)
            snprintf(line, sizeof line, ":%zu", lengths->line[i / columns]);
        if (length <= positions)
            snprintf(rounded, sizeof rounded, ", rounded up to a multiple of %" PRId64 ",", multiple);
        return pdnn_fail(err, PDNN_INVALID,
                         "%s%s: %s%s %" PRId64 "%s is beyond the %" PRId64 " positions of the model",
                         lengths->source, line, lengths->line ? "" : "an example of ",
                         columns > 1 ? names[i % columns] : "length", length, rounded, positions);
    }
    return PDNN_OK;
}
