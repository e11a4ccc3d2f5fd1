#define _GNU_SOURCE /* qsort_r */
#include "session/join/shard.h"

#include "base/memory.h"
#include "base/str.h"
#include "base/texts.h"
#include "base/units.h"
#include "results/store/tables.h"
#include "session/predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t batch_max_us = UINT64_C(600000000), first_batch_us = UINT64_C(30000000);
enum { FIRST_WORKERS = 8 };

static const double cost_max_us = 1e13;

uint64_t pdnn_deal_cost(double seconds) {
    double us = ceil(seconds * 1e6);
    return us > 0 ? (uint64_t)fmin(us, cost_max_us) : 0;
}

static int longest_first(const void *left, const void *right, void *user) {
    const struct pdnn_deal_item *items = user;
    const struct pdnn_deal_item *a = &items[*(const uint32_t *)left], *b = &items[*(const uint32_t *)right];
    if (a->cost_us != b->cost_us)
        return a->cost_us < b->cost_us ? 1 : -1;
    return strcmp(a->id, b->id);
}

void pdnn_deal_order(const struct pdnn_deal_item *items, size_t n_items, uint32_t *order) {
    for (size_t i = 0; i < n_items; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n_items, sizeof *order, longest_first, (void *)(uintptr_t)items);
}

void pdnn_deal_shards(const struct pdnn_deal_item *items, size_t n_items, size_t n_shards, uint32_t *shard) {
    struct hand {
        uint64_t load_us;
        size_t n_items;
    } *hands = pdnn_alloc(n_shards, sizeof *hands);
    uint32_t *order = pdnn_alloc(n_items + 1, sizeof *order);
    pdnn_deal_order(items, n_items, order);
    for (size_t i = 0; i < n_items; i++) {
        size_t least = 0;
        for (size_t s = 1; s < n_shards; s++) {
            const struct hand *a = &hands[s], *b = &hands[least];
            bool is_less = a->load_us != b->load_us ? a->load_us < b->load_us : a->n_items < b->n_items;
            least = is_less ? s : least;
        }
        shard[order[i]] = (uint32_t)least;
        hands[least].load_us += items[order[i]].cost_us;
        hands[least].n_items++;
    }
    free(order);
    free(hands);
}

size_t pdnn_deal_fit(const struct pdnn_deal_time *time, const uint64_t *visit_ns, const bool *is_late,
                     const uint32_t *items, size_t n_items, uint32_t *fitting, bool *has_late) {
    const bool is_sample = time->sample_most_ns > 0;
    size_t count = 0;
    *has_late = false;
    for (int longer = 0; longer <= is_sample; longer++)
        for (size_t i = 0; i < n_items; i++) {
            const uint32_t item = items[i];
            const double ns = (double)visit_ns[item];
            if (is_sample && longer != (ns * (double)time->rounds > time->sample_most_ns))
                continue;
            if (!is_late[item] && time->left_ns > 0 && ns <= time->left_ns) {
                fitting[count++] = item;
                continue;
            }
            *has_late = true;
            if (is_sample && !longer)
                return count;
        }
    return count;
}

size_t pdnn_deal_batch(const uint64_t *cost_us, size_t n_items, size_t workers, uint64_t last_us) {
    uint64_t left_us = 0, sum_us = 0, cap_us = last_us > first_batch_us / 2 ? 2 * last_us : first_batch_us;
    size_t count = 0, least = last_us ? 1 : FIRST_WORKERS;
    for (size_t i = 0; i < n_items; i++)
        left_us += cost_us[i];
    uint64_t most_us = left_us / (2 * (workers > least ? workers : least));
    cap_us = cap_us < batch_max_us ? cap_us : batch_max_us;
    most_us = most_us < cap_us ? most_us : cap_us;
    while (count < n_items && (!count || sum_us + cost_us[count] <= most_us))
        sum_us += cost_us[count++];
    return count;
}

enum { NUMBER_TEXT = 24 };

/* Where batch systems put the number of an array's task, what they put there outside of arrays, and where
 * they put the first and the last number, and how many there are; NULL: nowhere. */
static const struct array_variable {
    const char *name, *none, *first, *last, *count;
} array_variables[] = {
    {"SLURM_ARRAY_TASK_ID", "", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"},
    {"PBS_ARRAY_INDEX", "", NULL, NULL, NULL},
    {"PBS_ARRAYID", "", NULL, NULL, NULL},
    {"LSB_JOBINDEX", "0", NULL, "LSB_JOBINDEX_END", NULL},
    {"SGE_TASK_ID", "undefined", "SGE_TASK_FIRST", "SGE_TASK_LAST", NULL},
    {"HQ_TASK_ID", "", NULL, NULL, NULL},
    {"FLUX_JOB_CC", "", NULL, NULL, NULL},
    {"PJM_BULKNUM", "", NULL, NULL, NULL},
    {"AWS_BATCH_JOB_ARRAY_INDEX", "", NULL, NULL, "AWS_BATCH_JOB_ARRAY_SIZE"},
    {"JOB_COMPLETION_INDEX", "", NULL, NULL, NULL},
};

static int64_t number_of(const char *name, int64_t fallback) {
    const char *text = name ? getenv(name) : NULL;
    int64_t number;
    return text && pdnn_parse_i64(text, &number) ? number : fallback;
}

/* An array that begins with the first shard and is not as long as the shards are, or has tasks that are none
 * of them, was meant to be another one: all of its tasks say so, and not only those that have no shard. Any
 * other part of the shards may be the ones that are to run again. */
static enum pdnn_status check_array(const char *text, const struct array_variable *variable, int64_t first,
                                    int64_t count, struct pdnn_err *err) {
    const int64_t end = first + count - 1;
    const int64_t from = number_of(variable->first, first), to = number_of(variable->last, end);
    const int64_t tasks = number_of(variable->count, to - from + 1);
    char hint[128];
    bool is_short = from == first && to < end && tasks == to - from + 1;
    if (from >= first && to <= end && !is_short)
        return PDNN_OK;
    if (from == 1 - first && to == end + 1 - 2 * first)
        snprintf(hint, sizeof hint, "add --shard-base %" PRId64, from);
    else
        snprintf(hint, sizeof hint,
                 "make it %" PRId64 "-%" PRId64 "; to run some shards only, give their numbers", first, end);
    return pdnn_fail(err, PDNN_INVALID,
                     "--shard is '%s' in a job array of tasks %" PRId64 " to %" PRId64
                     " (%s), and the shards are %" PRId64 " to %" PRId64 ": %s",
                     text, from, to, variable->last, first, end, hint);
}

/* *found: the variable that has the number. text: "auto/16". */
static enum pdnn_status find_index(const char *text, const struct array_variable **found, int64_t *index,
                                   struct pdnn_err *err) {
    const char *name = NULL;
    for (size_t i = 0; i < sizeof array_variables / sizeof *array_variables; i++) {
        const char *here = array_variables[i].name, *value = getenv(here);
        int64_t number;
        if (!value || !*value || strcmp(value, array_variables[i].none) == 0)
            continue;
        if (!pdnn_parse_i64(value, &number))
            return pdnn_fail(err, PDNN_INVALID, "--shard auto: %s is '%.32s', not a number", here, value);
        if (name && number != *index)
            return pdnn_fail(err, PDNN_INVALID,
                             "--shard auto: %s is %" PRId64 " but %s is %" PRId64 ", give the number itself",
                             name, *index, here, number);
        name = here;
        *found = &array_variables[i];
        *index = number;
    }
    if (name)
        return PDNN_OK;
    struct pdnn_str names = {0};
    for (size_t i = 0; i < sizeof array_variables / sizeof *array_variables; i++)
        pdnn_str_printf(&names, "%s%s", i ? ", " : "", array_variables[i].name);
    pdnn_fail(err, PDNN_INVALID,
              "--shard auto: not in a job array, none of %s has a number; another variable is given "
              "itself: --shard \"$VARIABLE%s\"",
              pdnn_str_text(&names), strchr(text, '/'));
    pdnn_str_finish(&names);
    return PDNN_INVALID;
}

enum pdnn_status pdnn_shard_parse(const char *text, const char *base, struct pdnn_shard *shard,
                                  struct pdnn_err *err) {
    char number[NUMBER_TEXT];
    const char *slash = text ? strchr(text, '/') : NULL;
    const struct array_variable *variable = NULL;
    int64_t index = 0, count, first = base && strcmp(base, "1") == 0;
    *shard = (struct pdnn_shard){0};
    if (!text)
        return PDNN_OK;
    size_t length = slash ? (size_t)(slash - text) : sizeof number;
    snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : 0), text);
    bool is_auto = strcmp(number, "auto") == 0;
    if (length >= sizeof number || !pdnn_parse_i64(slash + 1, &count) ||
        (!is_auto && !pdnn_parse_i64(number, &index)))
        return pdnn_fail(err, PDNN_INVALID, "--shard is '%s', expected i/N or auto/N, such as 3/16", text);
    if (count < 1 || count > PDNN_SHARDS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "--shard is '%s', but there can be 1 to %d shards", text,
                         PDNN_SHARDS_MAX);
    if (is_auto && find_index(text, &variable, &index, err) != PDNN_OK)
        return err->status;
    if (variable && check_array(text, variable, first, count, err) != PDNN_OK)
        return err->status;
    if (index < first || index - first >= count)
        return pdnn_fail(err, PDNN_INVALID,
                         "--shard is '%s'%s%s, and %" PRId64 " is not one of %" PRId64 " to %" PRId64
                         " (--shard-base %" PRId64 ")",
                         text, variable ? " from " : "", variable ? variable->name : "", index, first,
                         first + count - 1, first);
    *shard = (struct pdnn_shard){(uint32_t)(index - first), (uint32_t)count};
    return PDNN_OK;
}

uint32_t pdnn_shard_array_tasks(const char *text) {
    const struct array_variable *variable = NULL;
    int64_t index;
    if (!text || strncmp(text, "auto/", 5) != 0 || find_index(text, &variable, &index, NULL) != PDNN_OK)
        return 0;
    int64_t from = number_of(variable->first, 0), to = number_of(variable->last, -1);
    int64_t tasks = number_of(variable->count, variable->first ? to - from + 1 : 0);
    return tasks > 0 && tasks <= PDNN_SHARDS_MAX ? (uint32_t)tasks : 0;
}

const char *pdnn_shard_format(const struct pdnn_shard *shard, char buffer[PDNN_SHARD_TEXT]) {
    *buffer = 0;
    if (shard->count)
        snprintf(buffer, PDNN_SHARD_TEXT, "%" PRIu32 "/%" PRIu32, shard->index, shard->count);
    return buffer;
}

/* What `threads: all` counts as: the same on every host, and like a node's. */
enum { NOMINAL_THREADS = 16 };

/* An instance of the spec, with `threads: all` as the word. */
struct dealt {
    const char *with_all; /* the id of the same with all threads */
    const char *group;    /* the id without the setting that paired order compares; NULL: it has no group */
    uint64_t cost_us;
    double seconds; /* with this host's threads; 0 where it is another one then */
};

static double predict(const struct pdnn_spec *spec, const struct pdnn_expanded *item, int64_t threads) {
    struct pdnn_instance instance = item->instance;
    pdnn_instance_resolve(&instance, threads);
    return pdnn_predict(NULL, spec, &instance, &item->totals).total;
}

static struct dealt take(const struct pdnn_spec *spec, const struct pdnn_expanded *item, int64_t threads,
                         struct pdnn_arena *arena) {
    const uint64_t limit_bytes = spec->limits.memory_bytes;
    struct pdnn_instance model = item->instance;
    char text[PDNN_ID_TEXT];
    model.setting[PDNN_SETTING_THREADS] = 0;
    struct dealt made = {.with_all = pdnn_arena_strdup(arena, pdnn_instance_format(&model, text))};
    if (spec->measure.order == PDNN_ORDER_PAIRED)
        made.group =
            pdnn_arena_strdup(arena, pdnn_instance_group(&item->instance, spec->measure.compared, text));
    const bool runs = !item->filtered && !item->invalid && item->has_totals &&
                      (!limit_bytes || item->totals.memory_bytes <= limit_bytes);
    if (runs) {
        made.cost_us = pdnn_deal_cost(predict(spec, item, NOMINAL_THREADS));
        made.seconds = predict(spec, item, threads);
    }
    return made;
}

/* The first of those that are dealt as one with instance i so far. */
static size_t first_of(uint32_t *one, size_t i) {
    while (one[i] != i)
        i = one[i] = one[one[i]];
    return i;
}

static void join(uint32_t *one, size_t i, size_t k) {
    const size_t a = first_of(one, i), b = first_of(one, k);
    one[a > b ? a : b] = (uint32_t)(a < b ? a : b);
}

/* Sets one[] so that instances which are dealt as one have the same first_of: where all threads may be as
 * many as another instance asks for, and sides that are compared. */
static void unite(const struct dealt *dealt, const struct pdnn_texts *ids, uint32_t *one) {
    struct pdnn_texts groups = {0};
    uint32_t *first = pdnn_alloc(ids->count + 1, sizeof *first);
    for (size_t i = 0; i < ids->count; i++)
        one[i] = (uint32_t)i;
    for (size_t i = 0; i < ids->count; i++) {
        const size_t with_all = pdnn_texts_find(ids, dealt[i].with_all), before = groups.count;
        if (with_all != SIZE_MAX)
            join(one, i, with_all);
        if (!dealt[i].group)
            continue;
        const size_t group = pdnn_texts_add(&groups, dealt[i].group);
        first[group] = group == before ? (uint32_t)i : first[group];
        join(one, i, first[group]);
    }
    pdnn_texts_finish(&groups);
    free(first);
}

static void deal_all(const struct dealt *dealt, const struct pdnn_texts *ids, uint32_t n_shards,
                     uint32_t *shards) {
    struct pdnn_deal_item *items = pdnn_alloc(ids->count + 1, sizeof *items);
    uint32_t *one = pdnn_alloc(ids->count + 1, sizeof *one);
    unite(dealt, ids, one);
    for (size_t i = 0; i < ids->count; i++) {
        items[i].id = ids->text[i];
        items[first_of(one, i)].cost_us += dealt[i].cost_us;
    }
    pdnn_deal_shards(items, ids->count, n_shards, shards);
    for (size_t i = 0; i < ids->count; i++)
        shards[i] = shards[first_of(one, i)];
    free(items);
    free(one);
}

enum pdnn_status pdnn_shard_deal(const struct pdnn_shard *shard, const struct pdnn_spec *spec,
                                 int64_t threads, struct pdnn_shard_deal *deal, struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_texts ids = {0};
    struct dealt *dealt = NULL;
    struct pdnn_instance_set here = {0}; /* with this host's threads */
    uint32_t *points = NULL;             /* what each point of the spec is */
    size_t n_points = 0, points_room = 0, room = 0;
    struct pdnn_expanded item;
    enum pdnn_status status = PDNN_OK;
    *deal = (struct pdnn_shard_deal){0};
    if (!shard->count)
        return PDNN_OK;
    struct pdnn_expand *expand = pdnn_expand_create(spec, 0, true);
    for (bool done = false; (status = pdnn_expand_next(expand, &item, &done, err)) == PDNN_OK && !done;) {
        char text[PDNN_ID_TEXT];
        const size_t before = ids.count,
                     at = pdnn_texts_add(&ids, pdnn_instance_format(&item.instance, text));
        points = pdnn_grow(points, &points_room, n_points, sizeof *points);
        points[n_points++] = (uint32_t)at;
        dealt = at == before ? pdnn_grow(dealt, &room, at, sizeof *dealt) : dealt;
        if (at < before && (item.filtered || dealt[at].cost_us))
            continue;
        dealt[at] = take(spec, &item, threads, &arena);
        pdnn_instance_resolve(&item.instance, threads);
        if (dealt[at].cost_us && !pdnn_instance_set_add(&here, &item.instance))
            dealt[at].seconds = 0;
    }
    pdnn_expand_destroy(expand);
    pdnn_instance_set_finish(&here);
    if (status == PDNN_OK) {
        uint32_t *shards = pdnn_alloc(ids.count + 1, sizeof *shards);
        deal_all(dealt, &ids, shard->count, shards);
        *deal = (struct pdnn_shard_deal){.count = ids.count,
                                         .mine = pdnn_alloc(n_points + 1, sizeof *deal->mine)};
        for (size_t i = 0; i < n_points; i++)
            deal->mine[i] = shards[points[i]] == shard->index;
        for (size_t i = 0; i < ids.count; i++) {
            deal->seconds += shards[i] == shard->index ? dealt[i].seconds : 0;
            deal->seconds_all += dealt[i].seconds;
        }
        free(shards);
    }
    pdnn_texts_finish(&ids);
    pdnn_arena_finish(&arena);
    free(points);
    free(dealt);
    return status;
}

enum pdnn_status pdnn_shard_check(const struct pdnn_shard *shard, const char *directory,
                                  struct pdnn_err *err) {
    char now[PDNN_SHARD_TEXT];
    struct pdnn_str written = {0}, before = {0}, rule = {0};
    pdnn_environment_get(directory, "written_utc", &written);
    pdnn_environment_get(directory, "shard", &before);
    pdnn_environment_get(directory, "shard_rule", &rule);
    pdnn_shard_format(shard, now);
    const char *then = pdnn_str_text(&before);
    enum pdnn_status status = PDNN_OK;
    if (written.length && strcmp(then, now) != 0)
        status =
            pdnn_fail(err, PDNN_INVALID,
                      "%s: holds %s%.16s, and this is %s%s%s; one directory holds one part of a sweep, "
                      "use another with -o",
                      directory, *then ? "shard " : "a whole sweep", then,
                      *now ? "shard " : "the whole sweep", now, *then || *now ? " (counted from 0)" : "");
    else if (*then && strcmp(pdnn_str_text(&rule), PDNN_SHARD_RULE) != 0)
        status =
            pdnn_fail(err, PDNN_INVALID,
                      "%s: shard %.16s was dealt by an earlier version, by the cores of its host, and has "
                      "other instances now; begin all shards of the sweep again, with -o",
                      directory, then);
    pdnn_str_finish(&written);
    pdnn_str_finish(&before);
    pdnn_str_finish(&rule);
    return status;
}
