#include "results/epochs/length_source.h"
#include "base/str.h"
#include "base/units.h"

#include <string.h>

enum { COUNT_MAX = 1 << 30, NUMBER_TEXT = 32 };

static const char *const words[] = {[PDNN_LENGTHS_UNIFORM] = "uniform",
                                    [PDNN_LENGTHS_LOGNORMAL] = "lognormal",
                                    [PDNN_LENGTHS_HISTOGRAM] = "histogram"};

size_t pdnn_length_words(const char *names[32]) {
    size_t count = 0;
    for (size_t i = 0; i < pdnn_n_shipped_lengths; i++)
        names[count++] = pdnn_shipped_lengths[i].name;
    for (int kind = PDNN_LENGTHS_UNIFORM; kind <= PDNN_LENGTHS_HISTOGRAM; kind++)
        names[count++] = words[kind];
    return count;
}

/* The number in text[0, length): a whole one from 1 to most. */
static bool parse_whole(const char *text, size_t length, int64_t most, int64_t *value) {
    char digits[NUMBER_TEXT];
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    return pdnn_parse_i64(digits, value) && *value >= 1 && *value <= most;
}

/* "LOW-HIGH", or one length. */
static bool parse_range(const char *text, size_t length, struct pdnn_length_bin *bin) {
    const char *dash = memchr(text, '-', length);
    size_t first = dash ? (size_t)(dash - text) : length;
    if (!parse_whole(text, first, PDNN_LENGTH_MAX, &bin->low))
        return false;
    bin->high = bin->low;
    return !dash ||
           (parse_whole(dash + 1, length - first - 1, PDNN_LENGTH_MAX, &bin->high) && bin->high >= bin->low);
}

static bool parse_uniform(const char *text, struct pdnn_length_source *source) {
    source->bins.count = 1;
    source->bins.bin->up_to = 1;
    return parse_range(text, strlen(text), source->bins.bin);
}

/* "RANGE=COUNT,..."; bins has room. */
static bool parse_histogram(const char *text, struct pdnn_length_source *source) {
    uint64_t sum = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        struct pdnn_length_bin *bin = &source->bins.bin[source->bins.count];
        int64_t count;
        if (!equals || !parse_range(text, (size_t)(equals - text), bin) ||
            !parse_whole(equals + 1, length - (size_t)(equals - text) - 1, COUNT_MAX, &count))
            return false;
        sum += (uint64_t)count;
        bin->up_to = sum;
        source->bins.count++;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

static bool parse_lognormal(const char *text, struct pdnn_length_source *source) {
    char mu[NUMBER_TEXT];
    const char *comma = strchr(text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof mu)
        return false;
    memcpy(mu, text, (size_t)(comma - text));
    mu[comma - text] = 0;
    return pdnn_parse_double(mu, &source->mu) && pdnn_parse_double(comma + 1, &source->sigma) &&
           source->mu >= 0 && source->mu <= 16 && source->sigma > 0 && source->sigma <= 4;
}

static enum pdnn_status parse_numbers(const char *text, struct pdnn_length_source *source,
                                      struct pdnn_err *err) {
    switch (source->kind) {
    case PDNN_LENGTHS_UNIFORM:
        if (!parse_uniform(text, source))
            return pdnn_fail(err, PDNN_INVALID,
                             "'uniform:%.80s': expected uniform:LOW-HIGH, whole numbers from 1 to %d", text,
                             PDNN_LENGTH_MAX);
        return PDNN_OK;
    case PDNN_LENGTHS_LOGNORMAL:
        if (!parse_lognormal(text, source))
            return pdnn_fail(
                err, PDNN_INVALID,
                "'lognormal:%.80s': expected lognormal:MU,SIGMA of the natural logarithm, with MU "
                "from 0 to 16 and SIGMA above 0 and up to 4",
                text);
        return PDNN_OK;
    default:
        if (!parse_histogram(text, source))
            return pdnn_fail(err, PDNN_INVALID,
                             "'histogram:%.80s': expected histogram:LOW-HIGH=COUNT,LENGTH=COUNT,... of whole "
                             "numbers above 0",
                             text);
        return PDNN_OK;
    }
}

enum pdnn_status pdnn_length_source_parse(const char *text, struct pdnn_arena *arena,
                                          struct pdnn_length_source *source, struct pdnn_err *err) {
    const char *colon = strchr(text, ':');
    *source =
        (struct pdnn_length_source){.kind = PDNN_LENGTHS_FILE, .shipped = pdnn_shipped_lengths_find(text)};
    if (source->shipped)
        source->kind = PDNN_LENGTHS_SHIPPED;
    if (source->shipped || !colon || strchr(text, '/'))
        return PDNN_OK;
    for (int kind = PDNN_LENGTHS_UNIFORM; kind <= PDNN_LENGTHS_HISTOGRAM; kind++) {
        if (strlen(words[kind]) == (size_t)(colon - text) &&
            strncmp(words[kind], text, (size_t)(colon - text)) == 0)
            source->kind = (enum pdnn_length_source_kind)kind;
    }
    if (source->kind == PDNN_LENGTHS_FILE) {
        char word[NUMBER_TEXT], suggestion[PDNN_SUGGESTION_TEXT];
        size_t length = (size_t)(colon - text) < sizeof word - 1 ? (size_t)(colon - text) : sizeof word - 1;
        memcpy(word, text, length);
        word[length] = 0;
        return pdnn_fail(err, PDNN_INVALID, "'%s' is not a kind of length distribution%s", word,
                         pdnn_suggest(suggestion, word, words + PDNN_LENGTHS_UNIFORM,
                                      PDNN_LENGTHS_HISTOGRAM - PDNN_LENGTHS_UNIFORM + 1));
    }
    size_t bins = 1;
    for (const char *c = colon; *c; c++)
        bins += *c == ',';
    source->bins.bin = pdnn_arena_alloc(arena, bins, sizeof *source->bins.bin);
    return parse_numbers(colon + 1, source, err);
}

int64_t pdnn_length_bins_draw(const struct pdnn_length_bins *bins, struct pdnn_rng *rng) {
    uint64_t at = pdnn_rng_below(rng, bins->bin[bins->count - 1].up_to);
    size_t low = 0, high = bins->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (at < bins->bin[middle].up_to)
            high = middle;
        else
            low = middle + 1;
    }
    const struct pdnn_length_bin *bin = &bins->bin[low];
    return bin->low + (int64_t)pdnn_rng_below(rng, (uint64_t)(bin->high - bin->low + 1));
}

/* The lengths of one line, up to its comment; returns how many, 0 for an empty line, -1 after a failure. */
static int parse_line(const char *path, size_t line, const char *text, size_t length, int64_t value[2],
                      struct pdnn_err *err) {
    static const char between[] = " \t\r,";
    int count = 0;
    const char *comment = memchr(text, '#', length), *end = comment ? comment : text + length;
    while (text < end) {
        size_t word = 0;
        while (text < end && strchr(between, *text))
            text++;
        while (text + word < end && !strchr(between, text[word]))
            word++;
        if (!word)
            break;
        if (count == 2) {
            pdnn_fail(err, PDNN_INVALID, "%s:%zu: more than two lengths", path, line);
            return -1;
        }
        if (!parse_whole(text, word, PDNN_LENGTH_MAX, &value[count])) {
            pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.*s' is not a length: a whole number from 1 to %d", path,
                      line, (int)(word < 40 ? word : 40), text, PDNN_LENGTH_MAX);
            return -1;
        }
        count++;
        text += word;
    }
    return count;
}

enum pdnn_status pdnn_length_lines_parse(const char *path, const char *text, struct pdnn_arena *arena,
                                         struct pdnn_length_lines *lines, struct pdnn_err *err) {
    struct pdnn_length_lines made = {.count = 0};
    size_t n_lines = 1, line = 0, first_line = 0;
    for (const char *c = text; *c; c++)
        n_lines += *c == '\n';
    made.length = pdnn_arena_alloc(arena, 2 * n_lines, sizeof *made.length);
    made.line = pdnn_arena_alloc(arena, n_lines, sizeof *made.line);
    while (*text) {
        size_t length = strcspn(text, "\n");
        int64_t value[2];
        int count = parse_line(path, ++line, text, length, value, err);
        if (count < 0)
            return err->status;
        if (count && !made.count) {
            made.columns = (size_t)count;
            first_line = line;
        }
        if (count && (size_t)count != made.columns)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %d length%s, but line %zu has %zu", path, line,
                             count, count > 1 ? "s" : "", first_line, made.columns);
        if (count && made.count == PDNN_EXAMPLES_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: more than %d examples", path, line,
                             PDNN_EXAMPLES_MAX);
        if (count) {
            memcpy(made.length + made.count * made.columns, value, made.columns * sizeof *value);
            made.line[made.count++] = line;
        }
        text += length + (text[length] == '\n');
    }
    if (!made.count)
        return pdnn_fail(err, PDNN_INVALID, "%s: there are no lengths in it", path);
    *lines = made;
    return PDNN_OK;
}
