/* Who runs what: dealing to shards, batches for workers, and both simulated with the predicted costs of the
 * published sweeps. */
#include "tests/cmocka_all.h"

#include "gen/expansion/walk.h"
#include "session/join/shard.h"
#include "session/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 16, THREADS = 16, ITEMS_MAX = 10000, LETTERS = 8 };

static const char *sweeps; /* the directory */

static void deal(const struct pdnn_deal_item *items, size_t n_items, size_t n_shards, uint32_t *shard,
                 uint64_t *load_us) {
    pdnn_deal_shards(items, n_items, n_shards, shard);
    for (size_t i = 0; load_us && i < n_shards; i++)
        load_us[i] = 0;
    for (size_t i = 0; load_us && i < n_items; i++)
        load_us[shard[i]] += items[i].cost_us;
}

static void test_deal_shards(void **state) {
    (void)state;
    static const struct pdnn_deal_item items[] = {{"a", 3}, {"b", 5}, {"c", 4}, {"d", 3}, {"e", 3}};
    uint32_t shard[5];
    uint64_t load_us[2];
    deal(items, 5, 2, shard, load_us);
    /* b | c, then a to c, d to b, e to c: 7 was less than 8. */
    static const uint32_t expected[] = {1, 0, 1, 0, 1};
    assert_memory_equal(shard, expected, sizeof expected);
    assert_int_equal(load_us[0], 8);
    assert_int_equal(load_us[1], 10);
}

/* What costs nothing is spread too. */
static void test_deal_shards_of_no_cost(void **state) {
    (void)state;
    static const struct pdnn_deal_item items[] = {{"d", 0}, {"c", 0}, {"b", 0}, {"a", 0}};
    uint32_t shard[4];
    deal(items, 4, 3, shard, NULL);
    static const uint32_t expected[] = {0, 2, 1, 0};
    assert_memory_equal(shard, expected, sizeof expected);
}

/* Any order of the items gives the same deal, and no shard has more than the mean and the longest item. */
static void test_deal_shards_any_order(void **state) {
    (void)state;
    enum { N = 500, SHARDS = 7 };
    static char ids[N][LETTERS];
    static struct pdnn_deal_item items[N], shuffled[N];
    static uint32_t first[N], second[N], from[N];
    uint64_t load_us[SHARDS], total_us = 0;
    for (size_t i = 0; i < N; i++) {
        snprintf(ids[i], LETTERS, "%zu", i * 7919 % 1000);
        items[i] = (struct pdnn_deal_item){ids[i], i * i % 97};
        total_us += items[i].cost_us;
        from[i] = (uint32_t)(i * 211 % N);
        shuffled[i] = (struct pdnn_deal_item){"", 0};
    }
    deal(items, N, SHARDS, first, load_us);
    for (size_t i = 0; i < N; i++)
        shuffled[i] = items[from[i]];
    deal(shuffled, N, SHARDS, second, NULL);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(second[i], first[from[i]]);
    for (size_t i = 0; i < SHARDS; i++)
        assert_true(load_us[i] <= total_us / SHARDS + 97);
}

/* What there is time for, in its order. A balanced sample ends at the first that there is no time for; what
 * takes long is not part of it, and comes after it as far as it fits. */
static void test_deal_fit(void **state) {
    (void)state;
    enum { N = 7, NONE = N };
    static const uint64_t visit_ns[N] = {30, 10, 200, 20, 500, 10, 40};
    static const uint32_t order[N] = {4, 6, 1, 3, 2, 0, 5};
    static const struct {
        struct pdnn_deal_time time;
        uint32_t late; /* has turned out to have no time */
        size_t count;
        uint32_t fitting[N];
        bool has_late;
    } rows[] = {
        {{INFINITY, 0, 3}, NONE, 7, {4, 6, 1, 3, 2, 0, 5}, false},
        {{INFINITY, 0, 3}, 1, 6, {4, 6, 3, 2, 0, 5}, true},
        {{30, 0, 3}, NONE, 4, {1, 3, 0, 5}, true},
        {{0, 0, 3}, NONE, 0, {0}, true},
        {{-5, 100, 3}, NONE, 0, {0}, true},
        {{600, 1e9, 3}, NONE, 7, {4, 6, 1, 3, 2, 0, 5}, false},
        {{600, 120, 3}, NONE, 7, {6, 1, 3, 0, 5, 4, 2}, false},
        {{300, 120, 3}, NONE, 6, {6, 1, 3, 0, 5, 2}, true},
        {{35, 120, 3}, NONE, 0, {0}, true},          /* 6 is the first */
        {{35, 119, 3}, NONE, 4, {1, 3, 0, 5}, true}, /* and here it takes long */
        {{25, 119, 3}, NONE, 2, {1, 3}, true},
        {{600, 120, 3}, 3, 2, {6, 1}, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is_late[N + 1] = {false}, has_late;
        uint32_t fitting[N];
        is_late[rows[i].late] = true;
        assert_int_equal(pdnn_deal_fit(&rows[i].time, visit_ns, is_late, order, N, fitting, &has_late),
                         rows[i].count);
        assert_memory_equal(fitting, rows[i].fitting, rows[i].count * sizeof *fitting);
        assert_int_equal(has_late, rows[i].has_late);
    }
}

static void test_deal_batch(void **state) {
    (void)state;
    static const uint64_t minute_us = 60000000;
    static const struct {
        uint64_t minutes[6];
        size_t count, workers, batch, last; /* last: minutes */
    } rows[] = {
        {{20, 9, 4}, 3, 1, 1, 10},          /* longer than ten minutes, alone */
        {{9, 8, 7, 6, 5, 4}, 6, 1, 1, 10},  /* ten minutes at most */
        {{6, 4, 4, 4, 4, 4}, 6, 1, 2, 10},  /* ten minutes */
        {{2, 2, 2, 2, 2, 2}, 6, 1, 3, 10},  /* half of the rest */
        {{2, 2, 2, 2, 2, 2}, 6, 3, 1, 10},  /* a sixth */
        {{2, 2, 2, 2, 2, 2}, 6, 50, 1, 10}, /* always one */
        {{1, 0, 0, 0, 0, 0}, 6, 0, 1, 10},  {{0, 0}, 2, 2, 2, 10}, {{0}, 0, 2, 0, 10},
        {{2, 2, 2, 2, 2, 2}, 6, 1, 2, 2}, /* at most twice the last one */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t cost_us[6];
        for (size_t k = 0; k < 6; k++)
            cost_us[k] = rows[i].minutes[k] * minute_us;
        assert_int_equal(pdnn_deal_batch(cost_us, rows[i].count, rows[i].workers, rows[i].last * minute_us),
                         rows[i].batch);
    }
}

/* A first batch is half a minute, and made as if there were eight workers. */
static void test_deal_first_batch(void **state) {
    (void)state;
    enum { N = 240 };
    uint64_t cost_us[N];
    for (size_t i = 0; i < N; i++)
        cost_us[i] = 5000000;
    assert_int_equal(pdnn_deal_batch(cost_us, N, 1, 0), 6);
    assert_int_equal(pdnn_deal_batch(cost_us, N / 5, 1, 0), 3);
    assert_int_equal(pdnn_deal_batch(cost_us, N / 5, 16, 0), 1);
    assert_int_equal(pdnn_deal_batch(cost_us, N / 5, 1, 1), 6);
}

static void test_deal_cost(void **state) {
    (void)state;
    assert_int_equal(pdnn_deal_cost(0), 0);
    assert_int_equal(pdnn_deal_cost(1e-9), 1);
    assert_int_equal(pdnn_deal_cost(1.5), 1500000);
    assert_true(pdnn_deal_cost(INFINITY) >= UINT64_C(100) * 86400 * 1000000);
    assert_true(pdnn_deal_cost(INFINITY) < UINT64_MAX / 1000000);
}

/* All instances of a sweep at 16 threads, longest first. */
struct load {
    struct pdnn_arena arena;
    struct pdnn_deal_item item[ITEMS_MAX];
    uint64_t cost_us[ITEMS_MAX]; /* longest first */
    size_t count;
    double total_us;
};

static void load_init(struct load *load, const char *name) {
    char path[1024], id[PDNN_ID_TEXT];
    const char *const paths[] = {path};
    struct pdnn_spec spec;
    struct pdnn_walk walk = {0};
    struct pdnn_expanded item;
    struct pdnn_err err = {0};
    static uint32_t order[ITEMS_MAX];
    snprintf(path, sizeof path, "%s/%s", sweeps, name);
    assert_int_equal(pdnn_spec_load(paths, 1, NULL, 0, &spec, &err), PDNN_OK);
    pdnn_walk_start(&walk, &spec, THREADS, true);
    enum pdnn_status status;
    while (pdnn_walk_next(&walk, &item, &status, &err)) {
        assert_true(load->count < ITEMS_MAX);
        double seconds = pdnn_predict(NULL, &spec, &item.instance, &item.totals).total;
        load->item[load->count] =
            (struct pdnn_deal_item){pdnn_arena_strdup(&load->arena, pdnn_instance_format(&item.instance, id)),
                                    pdnn_deal_cost(seconds)};
        load->total_us += (double)load->item[load->count++].cost_us;
    }
    assert_int_equal(status, PDNN_OK);
    pdnn_walk_finish(&walk);
    pdnn_spec_finish(&spec);
    pdnn_deal_order(load->item, load->count, order);
    for (size_t i = 0; i < load->count; i++)
        load->cost_us[i] = load->item[order[i]].cost_us;
}

static double speed_of(size_t worker) {
    return 1 - 0.2 * (double)worker / (WORKERS - 1);
}

/* What an instance really takes, as a multiple of its prediction: 1, or between 1/2 and 2 if predictions err.
 */
static double truth_of(size_t item, bool errs) {
    return errs ? exp2(2 * (double)(item * 2654435761u % 4096) / 4095 - 1) : 1;
}

/* When the last worker ends. Each claims another batch as soon as its own is done. */
static double simulate_workers(const struct load *load, bool errs, size_t *batches) {
    double end_us[WORKERS] = {0}, last_us = 0;
    uint64_t batch_us[WORKERS] = {0};
    *batches = 0;
    for (size_t at = 0; at < load->count;) {
        size_t next = 0;
        for (size_t i = 1; i < WORKERS; i++)
            next = end_us[i] < end_us[next] ? i : next;
        size_t size = pdnn_deal_batch(load->cost_us + at, load->count - at, WORKERS, batch_us[next]);
        batch_us[next] = 0;
        for (size_t i = 0; i < size; i++, at++) {
            batch_us[next] += load->cost_us[at];
            end_us[next] += (double)load->cost_us[at] * truth_of(at, errs) / speed_of(next);
        }
        ++*batches;
    }
    for (size_t i = 0; i < WORKERS; i++)
        last_us = fmax(last_us, end_us[i]);
    return last_us;
}

/* No schedule ends before all shards have their mean share, or before the longest instance has run on the
 * fastest worker. */
static void check_end(const char *what, double end_us, double work_us, double longest_us) {
    double bound_us = fmax(work_us, longest_us);
    print_message("%s: ends after %.3f h, %.3f %% above the lower bound\n", what, end_us / 3.6e9,
                  (end_us / bound_us - 1) * 100);
    assert_true(end_us >= bound_us * (1 - 1e-9));
    assert_true(end_us <= bound_us * 1.02);
}

static void check_sweep(const char *name) {
    static uint32_t shard[ITEMS_MAX];
    struct load *load = calloc(1, sizeof *load);
    uint64_t load_us[WORKERS], most_us = 0;
    double speed = 0, true_us = 0;
    size_t batches;
    assert_non_null(load);
    load_init(load, name);
    double longest_us = (double)load->cost_us[0];
    deal(load->item, load->count, WORKERS, shard, load_us);
    for (size_t i = 0; i < WORKERS; i++) {
        most_us = load_us[i] > most_us ? load_us[i] : most_us;
        speed += speed_of(i);
    }
    print_message("%s: %zu instances, %.1f h, the longest %.1f s\n", name, load->count,
                  load->total_us / 3.6e9, longest_us * 1e-6);
    check_end("16 shards", (double)most_us, load->total_us / WORKERS, longest_us);
    double end_us = simulate_workers(load, false, &batches);
    check_end("16 workers", end_us, load->total_us / speed, longest_us);
    for (size_t i = 0; i < load->count; i++)
        true_us += (double)load->cost_us[i] * truth_of(i, true);
    end_us = simulate_workers(load, true, &batches);
    check_end("16 workers, costs off by up to 2", end_us, true_us / speed, 0);
    print_message("%zu batches\n", batches);
    pdnn_arena_finish(&load->arena);
    free(load);
}

static void test_deal_paper_cnn(void **state) {
    (void)state;
    check_sweep("paper-cnn.yaml");
}

static void test_deal_paper_fc(void **state) {
    (void)state;
    check_sweep("paper-fc.yaml");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deal_shards),
        cmocka_unit_test(test_deal_shards_of_no_cost),
        cmocka_unit_test(test_deal_shards_any_order),
        cmocka_unit_test(test_deal_batch),
        cmocka_unit_test(test_deal_fit),
        cmocka_unit_test(test_deal_first_batch),
        cmocka_unit_test(test_deal_cost),
        cmocka_unit_test(test_deal_paper_cnn),
        cmocka_unit_test(test_deal_paper_fc),
    };
    sweeps = argc > 1 ? argv[1] : "sweeps";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
