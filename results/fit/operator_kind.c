#include "results/fit/operator_kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No part becomes longer than it is in the key, which fits. */
struct reader {
    const char *at;
    char *to;
    struct pdnn_operator_kind *kind;
};

static void copy(struct reader *reader, size_t count) {
    memcpy(reader->to, reader->at, count);
    reader->to += count;
    reader->at += count;
}

static size_t count_digits(const char *text) {
    return strspn(text, "0123456789");
}

/* A size becomes a number of the kind, and # in its text. */
static bool take_size(struct reader *reader) {
    struct pdnn_operator_kind *kind = reader->kind;
    if (kind->n_sizes == PDNN_KIND_NUMBERS || !count_digits(reader->at))
        return false;
    double size = strtod(reader->at, NULL);
    kind->size[kind->n_sizes++] = size > 0 ? log2(size) : -1;
    reader->at += count_digits(reader->at);
    *reader->to++ = '#';
    return true;
}

/* The operand that is a convolution's weights, whose last two sizes are its window; -1: another op. */
static int window_operand(const char *op) {
    if (strncmp(op, "conv", 4) != 0)
        return -1;
    return strstr(op, "/backward-weights") ? 2 : 1;
}

/* "64x128x50x50:32x128x1x1:64x32x50x50" up to the attributes. */
static bool take_tensors(struct reader *reader, int window) {
    int operand = 0, size = 0;
    while (*reader->at && *reader->at != ',' && *reader->at != ' ' && *reader->at != '+' &&
           *reader->at != '@') {
        bool is_kept = operand == window && size >= 2;
        size_t digits = count_digits(reader->at);
        if (digits && is_kept) {
            copy(reader, digits);
        } else if (digits) {
            if (!take_size(reader))
                return false;
        } else {
            operand += *reader->at == ':';
            size = *reader->at == ':' ? 0 : size + (*reader->at == 'x');
            copy(reader, 1);
        }
    }
    return true;
}

/* ",cell=2,steps=10 [implementation]" */
static bool take_attributes(struct reader *reader, const char *end) {
    static const char steps[] = ",steps=";
    while (reader->at < end) {
        if (strncmp(reader->at, steps, strlen(steps)) == 0) {
            copy(reader, strlen(steps));
            if (!take_size(reader))
                return false;
        } else {
            copy(reader, 1);
        }
    }
    return true;
}

/* Those of the key's " threads=2 ". */
static const struct pdnn_kind_caches *caches_of(const char *key, const struct pdnn_kind_caches *caches) {
    static const char name[] = " threads=";
    const char *text = strstr(key, name);
    int64_t threads = text ? strtoll(text + strlen(name), NULL, 10) : 1;
    while (caches->next && caches->threads != threads)
        caches = caches->next;
    return caches;
}

/* "64KiB" as the number of the cache that holds so much, or the number of caches. */
static bool take_distance(struct reader *reader, const struct pdnn_kind_caches *caches) {
    char *end;
    if (!count_digits(reader->at))
        return false;
    uint64_t bytes = strtoull(reader->at, &end, 10);
    bytes <<= *end == 'M' ? 20 : 10;
    size_t level = 0;
    while (level < caches->count && caches->bytes[level] < bytes)
        level++;
    reader->at = end + strspn(end, "KMiB");
    *reader->to++ = (char)('0' + level);
    return true;
}

/* " 2097152b16@64MiB* 16384@128MiB 409600=0" */
static bool take_operands(struct reader *reader, const struct pdnn_kind_caches *caches) {
    while (*reader->at) {
        if (*reader->at == ' ') {
            copy(reader, 1);
            reader->at += count_digits(reader->at);
        } else if (*reader->at == '@') {
            copy(reader, 1);
            if (!take_distance(reader, caches))
                return false;
        } else {
            copy(reader, 1);
        }
    }
    return true;
}

bool pdnn_operator_kind_parse(const char *key, const struct pdnn_kind_caches *caches,
                              struct pdnn_operator_kind *kind) {
    const char *state = strrchr(key, ']'), *pass = strchr(key, '/');
    const char *shape = pass ? strchr(pass + 1, '/') : NULL, *op = pass;
    *kind = (struct pdnn_operator_kind){.n_sizes = 0};
    if (!state || !shape || shape > state || strlen(key) >= sizeof kind->text)
        return false;
    while (op > key && op[-1] != ' ')
        op--;
    snprintf(kind->op, sizeof kind->op, "%.*s", (int)(shape - op), op);
    struct reader reader = {key, kind->text, kind};
    copy(&reader, (size_t)(shape + 1 - key));
    if (!take_tensors(&reader, window_operand(kind->op)) || !take_attributes(&reader, state + 1))
        return false;
    if (!take_operands(&reader, caches_of(key, caches)))
        return false;
    *reader.to = 0;
    return true;
}
