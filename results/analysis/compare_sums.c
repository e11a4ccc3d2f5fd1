#include "results/analysis/compare_sums.h"
#include "base/memory.h"
#include "base/texts.h"
#include "base/units.h"
#include "results/analysis/means.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A sum in the making. */
struct tally {
    struct pdnn_mean log;
    struct pdnn_ratio_sum sum;
};

static void tally_add(struct tally *tally, const struct pdnn_pair *pair) {
    struct pdnn_ratio_sum *sum = &tally->sum;
    pdnn_mean_add(&tally->log, log(pair->ratio), pair->half);
    sum->least = sum->count ? fmin(sum->least, pair->ratio) : pair->ratio;
    sum->greatest = sum->count ? fmax(sum->greatest, pair->ratio) : pair->ratio;
    sum->n_above += pair->ratio > 1;
    sum->n_decided[pair->decision]++;
    sum->count++;
}

static struct pdnn_ratio_sum tally_finish(const struct tally *tally) {
    struct pdnn_ratio_sum sum = tally->sum;
    double half = pdnn_mean_half(&tally->log);
    sum.mean = exp(tally->log.mean);
    sum.low = sum.mean * exp(-half);
    sum.high = sum.mean * exp(half);
    return sum;
}

/* Where the groups and axes of a comparison are collected. */
struct work {
    const struct pdnn_comparison *comparison;
    struct pdnn_arena *arena;
    struct pdnn_compare_sums sums;
    size_t room_groups, room_axes;
};

enum { KEY_FAMILY = -1 };

static const char *key_name(const struct work *work, int key) {
    return key == KEY_FAMILY ? "family" : work->comparison->key[key];
}

static const char *value_of(const struct pdnn_pair *pair, int key) {
    return key == KEY_FAMILY ? pair->family : pair->value[key];
}

static bool is_in(const struct pdnn_pair *pair, const char *family) {
    return !*family || strcmp(pair->family, family) == 0;
}

struct value {
    const char *text;
    size_t rank; /* order of appearance */
    struct tally tally;
};

/* Numbers ascending, then words in order of appearance. */
static int compare_values(const void *a, const void *b) {
    const struct value *x = a, *y = b;
    int order = pdnn_compare_numbers_first(x->text, y->text);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Appended to the arrays in the arena, which double when they are full. */
static void *grown(struct pdnn_arena *arena, void *array, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return array;
    size_t more = *room ? 2 * *room : 32;
    void *larger = pdnn_arena_alloc(arena, more, size);
    if (count)
        memcpy(larger, array, count * size);
    *room = more;
    return larger;
}

static void put_group(struct work *work, struct pdnn_compare_group group) {
    struct pdnn_compare_sums *sums = &work->sums;
    struct pdnn_compare_group *groups =
        grown(work->arena, sums->group, sums->n_groups, &work->room_groups, sizeof *groups);
    sums->group = groups;
    sums->group[sums->n_groups++] = group;
}

static void put_axis(struct work *work, struct pdnn_compare_axis axis) {
    struct pdnn_compare_sums *sums = &work->sums;
    struct pdnn_compare_axis *axes =
        grown(work->arena, sums->axis, sums->n_axes, &work->room_axes, sizeof *axes);
    sums->axis = axes;
    sums->axis[sums->n_axes++] = axis;
}

/* The variance within the values and around their common mean. */
static void explain(const struct value *values, size_t n_values, struct pdnn_compare_axis *axis) {
    double sum = 0, within = 0, between = 0;
    for (size_t v = 0; v < n_values; v++) {
        const struct pdnn_mean *log = &values[v].tally.log;
        axis->count += log->n;
        sum += (double)log->n * log->mean;
        within += log->squares;
    }
    double n = (double)axis->count, k = (double)n_values;
    for (size_t v = 0; v < n_values; v++) {
        const struct pdnn_mean *log = &values[v].tally.log;
        between += (double)log->n * (log->mean - sum / n) * (log->mean - sum / n);
    }
    double total = within + between;
    bool differ = total > n * 1e-24; /* equal ratios differ by rounding */
    axis->n_values = n_values;
    axis->explained = differ ? between / total : NAN;
    axis->adjusted = differ && n > k ? 1 - within / (n - k) / (total / (n - 1)) : NAN;
    axis->p_value = differ && n > k ? pdnn_f_tail(between / (k - 1) / (within / (n - k)), k - 1, n - k) : NAN;
}

/* Sorts the pairs of a scope into the values of one key; a pair without the key is in none. */
static void put_key(struct work *work, const char *family, int key, const struct pdnn_pair *const *pairs,
                    size_t n_pairs) {
    struct pdnn_texts texts = {0};
    struct value *values = pdnn_alloc(n_pairs + 1, sizeof *values);
    for (size_t i = 0; i < n_pairs; i++) {
        const char *text = value_of(pairs[i], key);
        size_t number = *text ? pdnn_texts_add(&texts, text) : SIZE_MAX;
        if (number == SIZE_MAX)
            continue;
        values[number].text = text;
        values[number].rank = number;
        tally_add(&values[number].tally, pairs[i]);
    }
    size_t n_values = texts.count;
    pdnn_texts_finish(&texts);
    struct pdnn_compare_axis axis = {.family = family, .key = key_name(work, key)};
    if (n_values > 1) {
        qsort(values, n_values, sizeof *values, compare_values);
        explain(values, n_values, &axis);
        axis.is_complete = axis.count == n_pairs;
        put_axis(work, axis);
    }
    for (size_t v = 0; v < n_values && n_values > 1; v++)
        put_group(work, (struct pdnn_compare_group){family, axis.key, values[v].text,
                                                    tally_finish(&values[v].tally)});
    free(values);
}

/* Complete axes first, then by descending share; the order of the keys if equal. */
static bool comes_before(const struct pdnn_compare_axis *a, const struct pdnn_compare_axis *b) {
    if (a->is_complete != b->is_complete)
        return a->is_complete;
    return a->adjusted > b->adjusted || (isnan(b->adjusted) && !isnan(a->adjusted));
}

static void sort_axes(struct pdnn_compare_axis *axes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct pdnn_compare_axis axis = axes[i];
        size_t k = i;
        for (; k > 0 && comes_before(&axis, &axes[k - 1]); k--)
            axes[k] = axes[k - 1];
        axes[k] = axis;
    }
}

static void put_scope(struct work *work, const char *family, const struct pdnn_pair **pairs) {
    const struct pdnn_comparison *comparison = work->comparison;
    struct tally whole = {.sum = {0}};
    size_t n_pairs = 0, first_axis = work->sums.n_axes;
    for (size_t i = 0; i < comparison->n_pairs; i++) {
        if (!is_in(&comparison->pair[i], family))
            continue;
        pairs[n_pairs++] = &comparison->pair[i];
        tally_add(&whole, &comparison->pair[i]);
    }
    put_group(work, (struct pdnn_compare_group){family, "", "", tally_finish(&whole)});
    for (int key = *family ? 0 : KEY_FAMILY; key < (int)comparison->n_keys; key++)
        put_key(work, family, key, pairs, n_pairs);
    if (work->sums.n_axes > first_axis)
        sort_axes(work->sums.axis + first_axis, work->sums.n_axes - first_axis);
}

void pdnn_compare_sums(const struct pdnn_comparison *comparison, struct pdnn_arena *arena,
                       struct pdnn_compare_sums *sums) {
    struct work work = {.comparison = comparison, .arena = arena};
    struct pdnn_texts families = {0};
    const struct pdnn_pair **pairs = pdnn_alloc(comparison->n_pairs + 1, sizeof *pairs);
    const char **name = pdnn_arena_alloc(arena, comparison->n_pairs + 1, sizeof *name);
    put_scope(&work, "", pairs);
    for (size_t i = 0; i < comparison->n_pairs; i++) {
        size_t number = pdnn_texts_add(&families, comparison->pair[i].family);
        name[number] = comparison->pair[i].family;
    }
    for (size_t i = 0; i < families.count && families.count > 1; i++)
        put_scope(&work, name[i], pairs);
    pdnn_texts_finish(&families);
    free(pairs);
    *sums = work.sums;
}

bool pdnn_compare_axis_explains(const struct pdnn_compare_sums *sums, const struct pdnn_compare_axis *axis) {
    size_t count = 0;
    for (size_t i = 0; i < sums->n_axes; i++)
        count += strcmp(sums->axis[i].family, axis->family) == 0;
    return axis->is_complete && axis->p_value * (double)count < 0.05;
}

const struct pdnn_compare_axis *pdnn_compare_best_axis(const struct pdnn_compare_sums *sums,
                                                       const char *family) {
    for (size_t i = 0; i < sums->n_axes; i++) {
        if (strcmp(sums->axis[i].family, family) == 0 && pdnn_compare_axis_explains(sums, &sums->axis[i]))
            return &sums->axis[i];
    }
    return NULL;
}
