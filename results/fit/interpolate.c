#include "results/fit/interpolate.h"
#include "results/stats/least_squares.h"

#include "base/memory.h"
#include "base/texts.h"
#include "base/stats.h"

#include <lapack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fit: so many of the nearest, in at most so many sizes, with slopes that are drawn to zero this much. */
enum { NEAREST = 16, SLOPES_MAX = 10 };
static const double ridge = 1e-3, closest_octaves = 0.25, quantile = 0.9;

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

/* "64x128x50x50:32x128x1x1:64x32x50x50,cell=2,steps=10 [implementation] 2097152b16@64MiB* 16384@128MiB
 * 409600=0" with the state of the operands behind the bracket. */
static bool take_rest(struct reader *reader, const char *bracket, const struct pdnn_kind_caches *caches) {
    static const char steps[] = ",steps=";
    const char *tensors_end = reader->at + strcspn(reader->at, ", +@"), *op = reader->kind->op;
    /* The operand that is a convolution's weights, whose last two sizes are its window; -1: another op. */
    const int window = strncmp(op, "conv", 4) != 0 ? -1 : strstr(op, "/backward-weights") ? 2 : 1;
    int operand = 0, size = 0;
    bool good = true;
    while (good && *reader->at) {
        const char *at = reader->at;
        const bool is_tensor = at<tensors_end, is_state = at> bracket,
                   is_steps = !is_tensor && !is_state && strncmp(at, steps, strlen(steps)) == 0;
        if (is_tensor && count_digits(at) && !(operand == window && size >= 2)) {
            good = take_size(reader);
            continue;
        }
        operand += *at == ':';
        size = *at == ':' ? 0 : size + (*at == 'x');
        copy(reader, is_steps ? strlen(steps) : 1);
        if (is_steps)
            good = take_size(reader);
        else if (is_state && *at == '@')
            good = take_distance(reader, caches);
        else if (is_state && *at == ' ')
            reader->at += count_digits(reader->at);
    }
    return good;
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
    if (!take_rest(&reader, state, caches_of(key, caches)))
        return false;
    *reader.to = 0;
    return true;
}

struct member {
    double log_use; /* NaN: not measured yet */
    double error;   /* log of predicted over measured time, from the others; NaN: they do not reach */
    double size[];
};

/* All operators of a kind. */
struct kind {
    struct member **member;
    size_t count, room, n_sizes, op; /* op: its number in ops */
    size_t twin[PDNN_KIND_NUMBERS];  /* the first size that all members have equal to this one */
    bool is_checked;                 /* the errors are those of the present members */
    double typical;                  /* error of a prediction, as of `typical_of` */
    uint64_t typical_of;
};

struct pdnn_neighbours {
    struct pdnn_kind_caches caches;
    struct pdnn_texts kinds, ops;
    struct pdnn_arena arena; /* kinds and their members */
    struct kind *kind;       /* by number */
    size_t room;
    uint64_t version; /* number of members ever */
};

struct pdnn_neighbours *pdnn_neighbours_create(const struct pdnn_kind_caches *caches) {
    struct pdnn_neighbours *made = pdnn_alloc(1, sizeof *made);
    made->caches = *caches;
    return made;
}

void pdnn_neighbours_destroy(struct pdnn_neighbours *neighbours) {
    if (!neighbours)
        return;
    pdnn_arena_finish(&neighbours->arena);
    pdnn_texts_finish(&neighbours->kinds);
    pdnn_texts_finish(&neighbours->ops);
    free(neighbours);
}

/* The first size that no member tells from this one. */
static size_t find_twin(const struct kind *kind, size_t size) {
    for (size_t first = 0; first < size; first++) {
        size_t i = 0;
        while (i < kind->count && kind->member[i]->size[first] == kind->member[i]->size[size])
            i++;
        if (i == kind->count)
            return first;
    }
    return size;
}

void pdnn_neighbours_add(struct pdnn_neighbours *neighbours, const char *key, double floor_ns,
                         double time_ns) {
    struct pdnn_operator_kind parsed;
    if (!pdnn_operator_kind_parse(key, &neighbours->caches, &parsed) || !(floor_ns > 0) ||
        (!isnan(time_ns) && !(time_ns > 0)))
        return;
    struct pdnn_arena *arena = &neighbours->arena;
    const size_t before = neighbours->kinds.count, number = pdnn_texts_add(&neighbours->kinds, parsed.text);
    neighbours->kind =
        pdnn_arena_grow(arena, neighbours->kind, &neighbours->room, before, sizeof *neighbours->kind);
    struct kind *kind = &neighbours->kind[number];
    if (number == before)
        *kind = (struct kind){.n_sizes = parsed.n_sizes, .op = pdnn_texts_add(&neighbours->ops, parsed.op)};
    struct member *made = pdnn_arena_alloc(arena, 1, sizeof *made + parsed.n_sizes * sizeof *made->size);
    made->log_use = log(floor_ns / time_ns);
    made->error = NAN;
    memcpy(made->size, parsed.size, parsed.n_sizes * sizeof *made->size);
    kind->member = pdnn_arena_grow(arena, kind->member, &kind->room, kind->count, sizeof *kind->member);
    kind->member[kind->count++] = made;
    kind->is_checked = false;
    neighbours->version++;
    for (size_t i = 0; i < kind->n_sizes; i++)
        if (kind->count == 1 || made->size[kind->twin[i]] != made->size[i])
            kind->twin[i] = find_twin(kind, i);
}

/* A place among the members of its kind. */
struct place {
    struct kind *kind;
    const double *size;
    const struct member *without;           /* left out; NULL: none */
    bool needs_times;                       /* members that were not measured yet do not count */
    size_t used[PDNN_KIND_NUMBERS], n_used; /* the sizes that tell it and the members apart */
    struct near {
        const struct member *member;
        double octaves2; /* squared */
    } near[NEAREST];
    size_t n_near, n_within;
};

/* The nearest members in reach, by distance. */
static void note(struct place *place, const struct member *member, double octaves2) {
    size_t at = place->n_near < NEAREST ? place->n_near++ : NEAREST;
    while (at > 0 && place->near[at - 1].octaves2 > octaves2) {
        if (at < NEAREST)
            place->near[at] = place->near[at - 1];
        at--;
    }
    if (at < NEAREST)
        place->near[at] = (struct near){member, octaves2};
}

static const char too_few[] =
    "fewer than 2 measured neighbours of its implementation and state of the caches";

/* Says why the place cannot be predicted, or NULL. */
static const char *look_around(struct place *place) {
    const struct kind *kind = place->kind;
    double low[PDNN_KIND_NUMBERS], high[PDNN_KIND_NUMBERS];
    const double most = log2(PDNN_NEIGHBOUR_FACTOR) + 1e-9;
    for (size_t i = 0; i < kind->n_sizes; i++)
        if (kind->twin[i] == i || place->size[i] != place->size[kind->twin[i]])
            place->used[place->n_used++] = i;
    for (size_t j = 0; j < place->n_used; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (size_t i = 0; i < kind->count; i++) {
        const struct member *member = kind->member[i];
        double farthest = 0, sum = 0;
        if (member == place->without || (place->needs_times && isnan(member->log_use)))
            continue;
        for (size_t j = 0; j < place->n_used && farthest <= most; j++) {
            double off = fabs(member->size[place->used[j]] - place->size[place->used[j]]);
            farthest = off > farthest ? off : farthest;
            sum += off * off;
        }
        if (farthest > most)
            continue;
        place->n_within++;
        note(place, member, sum);
        for (size_t j = 0; j < place->n_used; j++) {
            low[j] = fmin(low[j], member->size[place->used[j]]);
            high[j] = fmax(high[j], member->size[place->used[j]]);
        }
    }
    if (place->n_within < PDNN_NEIGHBOURS_LEAST)
        return too_few;
    for (size_t j = 0; j < place->n_used; j++) {
        double size = place->size[place->used[j]];
        if (low[j] > size + 1e-9 || high[j] < size - 1e-9)
            return "beyond its measured neighbours";
    }
    return NULL;
}

/* The intercept of a weighted fit around the place, which is the origin. Without slopes where they would be
 * more than half as many as the neighbours. */
static double fit(const struct place *place) {
    double matrix[SLOPES_MAX + 1][SLOPES_MAX + 1] = {{0}}, right[SLOPES_MAX + 1] = {0};
    double low = INFINITY, high = -INFINITY, sum = 0;
    size_t slopes = place->n_used <= SLOPES_MAX && 2 * place->n_used <= place->n_near ? place->n_used : 0;
    for (size_t i = 0; i < place->n_near; i++) {
        const struct member *member = place->near[i].member;
        double weight = 1 / (place->near[i].octaves2 + closest_octaves * closest_octaves),
               row[SLOPES_MAX + 1];
        sum += weight;
        low = fmin(low, member->log_use);
        high = fmax(high, member->log_use);
        row[0] = 1;
        for (size_t j = 0; j < slopes; j++)
            row[j + 1] = member->size[place->used[j]] - place->size[place->used[j]];
        for (size_t r = 0; r <= slopes; r++) {
            right[r] += weight * row[r] * member->log_use;
            for (size_t c = 0; c <= slopes; c++)
                matrix[r][c] += weight * row[r] * row[c];
        }
    }
    for (size_t j = 1; j <= slopes; j++)
        matrix[j][j] += ridge * sum;
    lapack_int order = (lapack_int)slopes + 1, one = 1, room = SLOPES_MAX + 1, pivots[SLOPES_MAX + 1],
               info = 0;
    LAPACK_dgesv(&order, &one, &matrix[0][0], &room, pivots, right, &room, &info);
    bool good = pdnn_lapack_is_good(info);
    for (size_t i = 0; i <= slopes; i++)
        good = good && fabs(matrix[i][i]) > 1e-12;
    return good ? fmin(fmax(right[0], low), high) : (low + high) / 2;
}

/* Finds what predicts a key; says why nothing does, or NULL. */
static const char *reach(const struct pdnn_neighbours *neighbours, const char *key,
                         struct pdnn_operator_kind *parsed, struct place *place) {
    if (!pdnn_operator_kind_parse(key, &neighbours->caches, parsed))
        return "its key has no sizes";
    size_t number = pdnn_texts_find(&neighbours->kinds, parsed->text);
    if (number == SIZE_MAX)
        return too_few;
    place->kind = &neighbours->kind[number];
    place->size = parsed->size;
    return look_around(place);
}

const char *pdnn_neighbours_reach(const struct pdnn_neighbours *neighbours, const char *key) {
    struct pdnn_operator_kind parsed;
    struct place place = {.needs_times = false};
    return reach(neighbours, key, &parsed, &place);
}

static void check(struct kind *kind) {
    for (size_t i = 0; i < kind->count && !kind->is_checked; i++) {
        struct member *member = kind->member[i];
        struct place place = {.kind = kind, .size = member->size, .without = member, .needs_times = true};
        member->error = NAN;
        if (!isnan(member->log_use) && !look_around(&place))
            member->error = member->log_use - fit(&place);
    }
    kind->is_checked = true;
}

/* What nine of ten errors, as logarithms of times, have at most: of the members of one kind, or of one op, or
 * of all (the number of ops). NaN: too few are known. */
static double typical_error(const struct pdnn_neighbours *neighbours, const struct kind *only, size_t op) {
    double *errors = pdnn_alloc(neighbours->version + 1, sizeof *errors);
    size_t count = 0;
    for (size_t i = 0; i < neighbours->kinds.count; i++) {
        struct kind *kind = &neighbours->kind[i];
        if (only ? only != kind : op < neighbours->ops.count && op != kind->op)
            continue;
        check(kind);
        for (size_t k = 0; k < kind->count; k++)
            if (!isnan(kind->member[k]->error))
                errors[count++] = fabs(kind->member[k]->error);
    }
    pdnn_sort(errors, count);
    const double typical = count >= PDNN_LEFT_OUT_LEAST ? pdnn_quantile_sorted(errors, count, quantile) : NAN;
    free(errors);
    return typical;
}

/* Of the least pool that has enough errors: the kind, the op, all; NaN: none has. */
static double error_of(const struct pdnn_neighbours *neighbours, struct kind *kind) {
    const struct kind *const kinds[] = {kind, NULL, NULL};
    const size_t ops[] = {0, kind->op, neighbours->ops.count};
    const bool is_known = kind->typical_of == neighbours->version;
    kind->typical = is_known ? kind->typical : NAN;
    kind->typical_of = neighbours->version;
    for (size_t i = 0; i < 3 && !is_known && isnan(kind->typical); i++)
        kind->typical = typical_error(neighbours, kinds[i], ops[i]);
    return kind->typical;
}

const char *pdnn_neighbours_predict(struct pdnn_neighbours *neighbours, const char *key, double floor_ns,
                                    struct pdnn_prediction_of_operator *prediction) {
    struct pdnn_operator_kind parsed;
    struct place place = {.needs_times = true};
    const char *reason = floor_ns > 0 ? reach(neighbours, key, &parsed, &place) : "its key has no sizes";
    if (reason)
        return reason;
    double error = error_of(neighbours, place.kind), time_ns = floor_ns / exp(fit(&place));
    if (isnan(error))
        return "too few measured neighbours to know the error from";
    *prediction = (struct pdnn_prediction_of_operator){time_ns, time_ns * exp(-error), time_ns * exp(error),
                                                       place.n_within};
    return NULL;
}
