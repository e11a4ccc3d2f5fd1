/* Which shard this is, and which instances it has. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/str.h"
#include "base/texts.h"
#include "session/join/shard.h"
#include "tests/gen/spec_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes this the environment: name, value, ... */
static void see(const char *const *variables) {
    static const char *const *before;
    for (const char *const *at = before; at && *at; at += 2)
        unsetenv(at[0]);
    for (const char *const *at = variables; at && *at; at += 2)
        setenv(at[0], at[1], 1);
    before = variables;
}

#define SLURM(id, first, last, count)                                                                        \
    "SLURM_ARRAY_TASK_ID", id, "SLURM_ARRAY_TASK_MIN", first, "SLURM_ARRAY_TASK_MAX", last,                  \
        "SLURM_ARRAY_TASK_COUNT", count, NULL

static void test_shard_parse(void **state) {
    (void)state;
    static const struct {
        const char *text, *base, *variables[9];
        uint32_t index, count;
        const char *error; /* part of the message; NULL: none */
    } rows[] = {
        {NULL, NULL, {NULL}, 0, 0, NULL},
        {"0/1", NULL, {NULL}, 0, 1, NULL},
        {"3/16", NULL, {NULL}, 3, 16, NULL},
        {"3/16", "0", {NULL}, 3, 16, NULL},
        {"3/16", "1", {NULL}, 2, 16, NULL},
        {"16/16", "1", {NULL}, 15, 16, NULL},
        {"auto/16", NULL, {"SLURM_ARRAY_TASK_ID", "15", NULL}, 15, 16, NULL},
        {"auto/16", "1", {"PBS_ARRAY_INDEX", "1", NULL}, 0, 16, NULL},
        {"auto/16", "1", {"LSB_JOBINDEX", "2", NULL}, 1, 16, NULL},
        {"auto/16", "1", {"SGE_TASK_ID", "16", NULL}, 15, 16, NULL},
        /* Outside of an array of its own, a batch system says so, and another may have one. */
        {"auto/4",
         NULL,
         {"SLURM_ARRAY_TASK_ID", "2", "SGE_TASK_ID", "undefined", "LSB_JOBINDEX", "0", NULL},
         2,
         4,
         NULL},
        {"auto/4", NULL, {"SLURM_ARRAY_TASK_ID", "2", "PBS_ARRAY_INDEX", "2", NULL}, 2, 4, NULL},
        {"auto/4",
         NULL,
         {"SLURM_ARRAY_TASK_ID", "2", "PBS_ARRAY_INDEX", "3", NULL},
         0,
         0,
         "SLURM_ARRAY_TASK_ID is 2 but PBS_ARRAY_INDEX is 3"},
        {"auto/4", NULL, {"SGE_TASK_ID", "undefined", NULL}, 0, 0, "not in a job array, none of SLURM_ARRAY"},
        {"auto/4",
         NULL,
         {NULL},
         0,
         0,
         "LSB_JOBINDEX, SGE_TASK_ID, HQ_TASK_ID, FLUX_JOB_CC, PJM_BULKNUM, AWS_BATCH_JOB_ARRAY_INDEX, "
         "JOB_COMPLETION_INDEX has a number; another variable is given itself: --shard \"$VARIABLE/4\""},
        {"auto/8", "1", {"HQ_TASK_ID", "8", NULL}, 7, 8, NULL},
        {"auto/8", NULL, {"HQ_TASK_ID", "8", NULL}, 0, 0, "from HQ_TASK_ID, and 8 is not one of 0 to 7"},
        {"auto/8", NULL, {"FLUX_JOB_CC", "0", NULL}, 0, 8, NULL},
        {"auto/8", NULL, {"PJM_BULKNUM", "3", NULL}, 3, 8, NULL},
        {"auto/8",
         NULL,
         {"AWS_BATCH_JOB_ARRAY_INDEX", "7", "AWS_BATCH_JOB_ARRAY_SIZE", "8", NULL},
         7,
         8,
         NULL},
        {"auto/8", NULL, {"JOB_COMPLETION_INDEX", "2", NULL}, 2, 8, NULL},
        {"auto/4", NULL, {"SGE_TASK_ID", "two", NULL}, 0, 0, "SGE_TASK_ID is 'two', not a number"},
        {"auto/4", NULL, {"SLURM_ARRAY_TASK_ID", "4", NULL}, 0, 0, "from SLURM_ARRAY_TASK_ID, and 4 is not"},
        {"auto/4", "1", {"SGE_TASK_ID", "0", NULL}, 0, 0, "0 is not one of 1 to 4 (--shard-base 1)"},
        /* The array as a whole: for these shards, for others, for some of them. */
        {"auto/4", NULL, {SLURM("2", "0", "3", "4")}, 2, 4, NULL},
        {"auto/4", "1", {SLURM("2", "1", "4", "4")}, 1, 4, NULL},
        {"auto/16", NULL, {SLURM("7", "3", "7", "2")}, 7, 16, NULL},
        {"auto/16", NULL, {SLURM("0", "0", "15", "2")}, 0, 16, NULL},
        {"auto/16", NULL, {SLURM("0", "0", "3", "2")}, 0, 16, NULL},
        {"auto/4",
         NULL,
         {SLURM("2", "1", "4", "4")},
         0,
         0,
         "tasks 1 to 4 (SLURM_ARRAY_TASK_MAX), and the shards are 0 to 3: add --shard-base 1"},
        {"auto/4", "1", {SLURM("2", "0", "3", "4")}, 0, 0, "and the shards are 1 to 4: add --shard-base 0"},
        {"auto/16",
         NULL,
         {SLURM("2", "0", "3", "4")},
         0,
         0,
         "tasks 0 to 3 (SLURM_ARRAY_TASK_MAX), and the shards are 0 to 15: make it 0-15; to run some shards "
         "only, give their numbers"},
        {"auto/4", NULL, {SLURM("2", "0", "15", "16")}, 0, 0, "and the shards are 0 to 3: make it 0-3"},
        {"auto/16",
         "1",
         {"SGE_TASK_ID", "1", "SGE_TASK_FIRST", "1", "SGE_TASK_LAST", "4", NULL},
         0,
         0,
         "tasks 1 to 4 (SGE_TASK_LAST)"},
        {"auto/16",
         "1",
         {"SGE_TASK_ID", "9", "SGE_TASK_FIRST", "9", "SGE_TASK_LAST", "9", NULL},
         8,
         16,
         NULL},
        {"auto/16", "1", {"LSB_JOBINDEX", "3", "LSB_JOBINDEX_END", "16", NULL}, 2, 16, NULL},
        {"auto/16", "1", {"LSB_JOBINDEX", "3", "LSB_JOBINDEX_END", "4", NULL}, 0, 0, "(LSB_JOBINDEX_END)"},
        {"auto/16", "0", {"PBS_ARRAYID", "3", NULL}, 3, 16, NULL},
        {"4/4", NULL, {NULL}, 0, 0, "4 is not one of 0 to 3 (--shard-base 0)"},
        {"-1/4", NULL, {NULL}, 0, 0, "-1 is not one of 0 to 3"},
        {"0/4", "1", {NULL}, 0, 0, "0 is not one of 1 to 4"},
        {"0/0", NULL, {NULL}, 0, 0, "there can be 1 to 100000 shards"},
        {"0/100001", NULL, {NULL}, 0, 0, "there can be 1 to 100000 shards"},
        {"0/-1", NULL, {NULL}, 0, 0, "there can be 1 to 100000 shards"},
        {"3", NULL, {NULL}, 0, 0, "expected i/N or auto/N"},
        {"/3", NULL, {NULL}, 0, 0, "expected i/N or auto/N"},
        {"1/", NULL, {NULL}, 0, 0, "expected i/N or auto/N"},
        {"1/2/3", NULL, {NULL}, 0, 0, "expected i/N or auto/N"},
        {"1/4 ", NULL, {NULL}, 0, 0, "expected i/N or auto/N"},
        {"00000000000000000000000001/4", NULL, {NULL}, 0, 0, "expected i/N or auto/N"},
        {NULL, "1", {NULL}, 0, 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_shard shard;
        struct pdnn_err err = {0};
        see(rows[i].variables);
        enum pdnn_status status = pdnn_shard_parse(rows[i].text, rows[i].base, &shard, &err);
        if (status != (rows[i].error ? PDNN_INVALID : PDNN_OK) ||
            (rows[i].error && !strstr(err.text, rows[i].error)))
            fail_msg("row %zu: %s", i, err.text);
        if (rows[i].error)
            continue;
        assert_int_equal(shard.index, rows[i].index);
        assert_int_equal(shard.count, rows[i].count);
    }
    see(NULL);
}

static void test_shard_array_tasks(void **state) {
    (void)state;
    static const struct {
        const char *text, *variables[9];
        uint32_t tasks;
    } rows[] = {
        {NULL, {SLURM("2", "0", "3", "4")}, 0},
        {"2/16", {SLURM("2", "0", "3", "4")}, 0},
        {"auto/16", {SLURM("2", "0", "3", "4")}, 4},
        {"auto/16", {"PBS_ARRAY_INDEX", "2", NULL}, 0},
        {"auto/16", {NULL}, 0},
        {"auto/16", {"AWS_BATCH_JOB_ARRAY_INDEX", "2", "AWS_BATCH_JOB_ARRAY_SIZE", "4", NULL}, 4},
        {"auto/16", {"SGE_TASK_ID", "9", "SGE_TASK_FIRST", "9", "SGE_TASK_LAST", "10", NULL}, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        see(rows[i].variables);
        assert_int_equal(pdnn_shard_array_tasks(rows[i].text), rows[i].tasks);
    }
    see(NULL);
}

static void test_shard_format(void **state) {
    (void)state;
    char text[PDNN_SHARD_TEXT];
    const struct pdnn_shard whole = {0}, last = {PDNN_SHARDS_MAX - 1, PDNN_SHARDS_MAX};
    assert_string_equal(pdnn_shard_format(&whole, text), "");
    assert_string_equal(pdnn_shard_format(&last, text), "99999/100000");
}

static void load(struct pdnn_spec *spec, const char *const *arguments, size_t n_arguments) {
    struct pdnn_err err = {0};
    if (pdnn_spec_load(arguments, n_arguments, NULL, 0, spec, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

/* Appends the ids that the shard has on a host with so many cores, each in [], and returns how many; models:
 * gets the ids without their threads. */
static size_t list(const struct pdnn_spec *spec, const struct pdnn_shard *shard, int64_t threads,
                   struct pdnn_str *ids, struct pdnn_texts *models) {
    struct pdnn_shard_deal deal;
    struct pdnn_walk walk = {0};
    struct pdnn_expanded item;
    struct pdnn_err err = {0};
    char id[PDNN_ID_TEXT];
    size_t count = 0;
    assert_int_equal(pdnn_shard_deal(shard, spec, threads, &deal, &err), PDNN_OK);
    walk.only = deal.mine;
    pdnn_walk_start(&walk, spec, threads, false);
    enum pdnn_status status;
    for (; pdnn_walk_next(&walk, &item, &status, &err); count++) {
        pdnn_str_printf(ids, "[%s]", pdnn_instance_format(&item.instance, id));
        item.instance.setting[PDNN_SETTING_THREADS] = 0;
        if (models)
            pdnn_texts_add(models, pdnn_instance_format(&item.instance, id));
    }
    assert_int_equal(status, PDNN_OK);
    pdnn_walk_finish(&walk);
    free(deal.mine);
    return count;
}

static const char *const forwards[] = {
    "fc/layers=1,nodes=8,batch=2", "fc/layers=2,nodes=8,batch=2",
    "fc/layers=64,nodes=4096",     "rnn/layers=1",
    "cnn:resnet50,batch=8",        "fc/layers=64,nodes=4096,mode=infer",
    "fc/layers=1,nodes=8,batch=2", "rnn/layers=1,batch=2",
    "fc/layers=32,nodes=4096",     "transformer/layers=2",
};
enum { N_IDS = sizeof forwards / sizeof *forwards, N_UNIQUE = N_IDS - 1, SHARDS = 4 };

/* Every instance is in exactly one shard, whatever the order of the arguments. */
static void test_shard_deal(void **state) {
    (void)state;
    const char *backwards[N_IDS];
    struct pdnn_spec spec, reversed;
    size_t total = 0;
    struct pdnn_str all = {0}, whole = {0};
    for (size_t i = 0; i < N_IDS; i++)
        backwards[i] = forwards[N_IDS - 1 - i];
    load(&spec, forwards, N_IDS);
    load(&reversed, backwards, N_IDS);
    for (uint32_t i = 0; i < SHARDS; i++) {
        const struct pdnn_shard shard = {i, SHARDS};
        struct pdnn_str ids = {0}, others = {0};
        size_t count = list(&spec, &shard, 2, &ids, NULL);
        assert_int_equal(list(&reversed, &shard, 2, &others, NULL), count);
        assert_int_equal(ids.length, others.length);
        for (char *at = ids.text; count; count--) {
            char *end = strchr(at, ']');
            char after = end[1];
            end[1] = 0;
            assert_non_null(strstr(others.text, at));
            assert_null(strstr(pdnn_str_text(&all), at));
            pdnn_str_printf(&all, "%s", at);
            end[1] = after;
            at = end + 1;
            total++;
        }
        pdnn_str_finish(&ids);
        pdnn_str_finish(&others);
    }
    assert_int_equal(total, N_UNIQUE);
    const struct pdnn_shard everything = {0};
    assert_int_equal(list(&spec, &everything, 2, &whole, NULL), N_UNIQUE);
    assert_int_equal(whole.length, all.length);
    pdnn_str_finish(&all);
    pdnn_str_finish(&whole);
    pdnn_spec_finish(&spec);
    pdnn_spec_finish(&reversed);
}

/* More shards than instances: the rest are empty. */
static void test_shard_deal_few(void **state) {
    (void)state;
    struct pdnn_spec spec;
    size_t total = 0;
    load(&spec, forwards, 2);
    for (uint32_t i = 0; i < 5; i++) {
        const struct pdnn_shard shard = {i, 5};
        struct pdnn_str ids = {0};
        total += list(&spec, &shard, 2, &ids, NULL);
        pdnn_str_finish(&ids);
    }
    assert_int_equal(total, 2);
    pdnn_spec_finish(&spec);
}

#define MIX                                                                                                  \
    "models:\n  - fc: {layers: [1, 2, 4, 8], nodes: [16, 64, 256, 1024, 2048], batch: [1, 16, 64]}\n"        \
    "  - rnn: {layers: [1, 2], embedding: [64, 256], batch: [1, 16]}\n"

/* Shards are parts of the spec, whatever the cores of the hosts that run them. */
static void test_shard_deal_on_hosts(void **state) {
    (void)state;
    static const char *const texts[] = {
        MIX,
        "run: {threads: [all, 2]}\n" MIX,
        "run: {threads: [4, 1, all, 2], ranks: [1, 2]}\n" MIX,
        "limits: {memory: 1MiB}\nrun: {threads: [all, 1]}\n" MIX,
        "run: {threads: [all, 2]}\n" MIX "    where: memory / threads > 1e5 or threads > 3\n",
        "run: {threads: [all, 2]}\n" MIX "    where: threads > 1\n    sample: {count: 5}\n"
        "  - fc: {nodes: [64, 16]}\n    rows: {columns: [layers, batch], values: [[4, 1], [8, 1], [4, 1]]}\n",
    };
    static const int64_t hosts[] = {1, 2, 4, 96};
    static const struct pdnn_shard everything = {0};
    enum { PARTS = 3 };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pdnn_spec spec;
        struct pdnn_texts models[PARTS] = {{0}};
        spec_file_must_load(texts[i], NULL, &spec);
        for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++) {
            struct pdnn_str whole = {0}, ids = {0};
            size_t count = list(&spec, &everything, hosts[k], &whole, NULL), held = 0;
            for (uint32_t part = 0; part < PARTS; part++) {
                const struct pdnn_shard shard = {part, PARTS};
                struct pdnn_texts here = {0};
                held += list(&spec, &shard, hosts[k], &ids, k ? &here : &models[part]);
                for (size_t m = 0; k && m < here.count; m++)
                    assert_true(pdnn_texts_find(&models[part], here.text[m]) != SIZE_MAX);
                assert_true(k == 0 || here.count == models[part].count);
                pdnn_texts_finish(&here);
            }
            assert_int_equal(held, count);
            for (char *at = strtok(whole.text, "]"); at; at = strtok(NULL, "]"))
                assert_non_null(strstr(ids.text, at));
            assert_int_equal(whole.length, ids.length);
            pdnn_str_finish(&whole);
            pdnn_str_finish(&ids);
        }
        for (size_t part = 0; part < PARTS; part++)
            pdnn_texts_finish(&models[part]);
        pdnn_spec_finish(&spec);
    }
}

/* Sides that are compared are dealt whole, however many shards there are. */
static void test_shard_deal_of_pairs(void **state) {
    (void)state;
    struct pdnn_spec spec;
    size_t shards = 0;
    spec_file_must_load("run: {fuse: [none, post-ops]}\nmodels: [{fc: {nodes: [8, 64, 16]}}]", NULL, &spec);
    assert_int_equal(spec.measure.order, PDNN_ORDER_PAIRED);
    for (uint32_t i = 0; i < 9; i++) {
        const struct pdnn_shard shard = {i, 9};
        struct pdnn_str ids = {0};
        const size_t count = list(&spec, &shard, 2, &ids, NULL);
        assert_int_equal(count % 2, 0);
        shards += count > 0;
        pdnn_str_finish(&ids);
    }
    assert_int_equal(shards, 3);
    pdnn_spec_finish(&spec);
}

/* Numbers of threads that are written out are dealt apart: a sweep over them has many shards. */
static void test_shard_deal_of_threads(void **state) {
    (void)state;
    struct pdnn_spec spec;
    spec_file_must_load(
        "measure: {order: shuffled}\nrun: {threads: [1, 2, 3, 4]}\nmodels: [{fc: {nodes: 64}}]", NULL, &spec);
    for (uint32_t i = 0; i < 4; i++) {
        const struct pdnn_shard shard = {i, 4};
        struct pdnn_str ids = {0};
        assert_int_equal(list(&spec, &shard, 2, &ids, NULL), 1);
        pdnn_str_finish(&ids);
    }
    pdnn_spec_finish(&spec);
}

/* On two cores, all of them and two are one instance. */
static void test_shard_deal_predicts_once(void **state) {
    (void)state;
    static const char *const texts[] = {
        "measure: {order: shuffled}\nrun: {threads: [all, 2]}\nmodels: [{fc: {nodes: [8, 64]}}]",
        "run: {threads: 2}\nmodels: [{fc: {nodes: [8, 64]}}]"};
    static const struct pdnn_shard shard = {0, 1};
    double seconds[2];
    for (size_t i = 0; i < 2; i++) {
        struct pdnn_spec spec;
        struct pdnn_shard_deal deal;
        spec_file_must_load(texts[i], NULL, &spec);
        assert_int_equal(pdnn_shard_deal(&shard, &spec, 2, &deal, NULL), PDNN_OK);
        seconds[i] = deal.seconds_all;
        free(deal.mine);
        pdnn_spec_finish(&spec);
    }
    assert_true(seconds[0] == seconds[1] && seconds[0] > 0);
}

/* What one entry filters and another keeps runs, and costs what it does. */
static void test_shard_deal_of_what_is_kept(void **state) {
    (void)state;
    static const struct pdnn_shard shard = {0, 1};
    struct pdnn_spec spec;
    struct pdnn_shard_deal deal;
    spec_file_must_load("models: [{fc: {nodes: 64}, where: nodes < 10}, {fc: {nodes: 64}}]", NULL, &spec);
    assert_int_equal(pdnn_shard_deal(&shard, &spec, 2, &deal, NULL), PDNN_OK);
    assert_int_equal(deal.count, 1);
    assert_true(deal.seconds > 0);
    free(deal.mine);
    pdnn_spec_finish(&spec);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_shard_check(void **state) {
    (void)state;
    char directory[] = "/tmp/pdnn_test_shard_XXXXXX", path[64];
    const struct pdnn_shard whole = {0}, third = {3, 16}, fourth = {4, 16};
    struct pdnn_err err = {0};
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/environment.yaml", directory);
    assert_int_equal(pdnn_shard_check(&third, directory, &err), PDNN_OK);
    write_file(path, "written_utc: \"2026\"\nshard: \"3/16\"\n");
    assert_int_equal(pdnn_shard_check(&third, directory, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "shard 3/16 was dealt by an earlier version, by the cores of its host"));
    write_file(path, "written_utc: \"2026\"\nshard: \"3/16\"\nshard_rule: \"" PDNN_SHARD_RULE "\"\n");
    assert_int_equal(pdnn_shard_check(&third, directory, &err), PDNN_OK);
    assert_int_equal(pdnn_shard_check(&fourth, directory, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "holds shard 3/16, and this is shard 4/16 (counted from 0)"));
    assert_int_equal(pdnn_shard_check(&whole, directory, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "holds shard 3/16, and this is the whole sweep"));
    write_file(path, "written_utc: \"2026\"\n");
    assert_int_equal(pdnn_shard_check(&whole, directory, &err), PDNN_OK);
    assert_int_equal(pdnn_shard_check(&third, directory, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "holds a whole sweep, and this is shard 3/16"));
    unlink(path);
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shard_parse),
        cmocka_unit_test(test_shard_format),
        cmocka_unit_test(test_shard_deal_on_hosts),
        cmocka_unit_test(test_shard_deal_of_pairs),
        cmocka_unit_test(test_shard_deal_of_threads),
        cmocka_unit_test(test_shard_deal_predicts_once),
        cmocka_unit_test(test_shard_deal_of_what_is_kept),
        cmocka_unit_test(test_shard_deal),
        cmocka_unit_test(test_shard_deal_few),
        cmocka_unit_test(test_shard_check),
        cmocka_unit_test(test_shard_array_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
