/* The infeed: what a step reads is the same whoever prepares it, and different in every step; it is what the
 * data set holds; a file that is damaged meanwhile ends the run with its name. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "runtime/backend/threads.h"
#include "runtime/data/make.h"
#include "runtime/infeed/infeed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_reference;

enum { STEPS = 5, PATH_TEXT = 256 };

static char room[] = "/tmp/paradnn-infeed-XXXXXX";
static struct pdnn_host host;
static char sets[PATH_TEXT * 4];

static const char *const models[] = {
    "fc/layers=2,nodes=12,input=10,output=6,batch=4",
    "fc/layers=2,nodes=12,input=10,output=6,batch=4,dtype=bf16,mode=infer",
    "cnn/block=plain,blocks=1,filters=4,image=16,output=5,batch=3",
    "rnn/cell=gru,embedding=8,vocabulary=20,length=5,batch=3",
    "transformer/layers=1,hidden=8,heads=2,ffn=16,vocabulary=30,length=6,objective=masked-lm,predictions=2,batch=2,dropout=0",
};
/* Of the one whose images a library may store in a layout of its own. */
enum { LIBRARY_LAYOUT = 2, MODELS = sizeof models / sizeof *models };

/* FNV-1a over the data that a step reads and, for the backend that never chooses between implementations, the
 * weights that it leaves behind. */
static uint64_t hash_of(const struct pdnn_plan *plan, uint64_t hash) {
    for (uint32_t i = 0; i < plan->graph->n_tensors; i++) {
        enum pdnn_role role = plan->graph->tensors[i].role;
        bool counts = role == PDNN_ROLE_INPUT || role == PDNN_ROLE_LABEL ||
                      (role == PDNN_ROLE_WEIGHT && plan->backend == &pdnn_backend_reference);
        if (!counts || !pdnn_plan_has(plan, i))
            continue;
        size_t bytes = (size_t)pdnn_tensor_bytes(&plan->graph->tensors[i]);
        unsigned char *plain = malloc(bytes);
        struct pdnn_err err = {0};
        if (pdnn_plan_get(plan, i, plain, &err) == PDNN_OK)
            for (size_t k = 0; k < bytes; k++)
                hash = (hash ^ plain[k]) * UINT64_C(0x100000001b3);
        free(plain);
    }
    return hash;
}

/* A model, what feeds it, and its plan. */
struct fixture {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct opened backend;
    struct pdnn_plan plan;
    struct pdnn_feed feed;
};

static void open_fixture(struct fixture *f, const struct pdnn_backend_def *def, const char *id, bool reads) {
    struct pdnn_err err = {0};
    const struct pdnn_plan_options options = {.seed = CHECK_SEED, .allow_slow = true};
    *f = (struct fixture){.backend = open_backend(def)};
    build_instance(id, &f->arena, &f->graph);
    must(pdnn_plan_create(&f->plan, def, f->backend.state, &f->graph, &options, &err), &err);
    must(pdnn_feed_open(
             &f->feed,
             &(struct pdnn_feed_request){.graph = &f->graph, .seed = CHECK_SEED, .sets = reads ? sets : NULL},
             &err),
         &err);
}

static void close_fixture(struct fixture *f) {
    pdnn_feed_close(&f->feed);
    pdnn_plan_destroy(&f->plan);
    close_backend(&f->backend);
    pdnn_arena_finish(&f->arena);
}

static struct pdnn_infeed *start(const struct fixture *f, int64_t loaders) {
    struct pdnn_infeed *infeed = NULL;
    struct pdnn_err err = {0};
    must(pdnn_infeed_create(&(struct pdnn_infeed_request){&f->feed, loaders, &host, CHECK_THREADS}, &infeed,
                            &err),
         &err);
    return infeed;
}

/* Hash after each of some steps; loaders: -1 for data that stays. */
static void run(const struct pdnn_backend_def *def, const char *id, bool reads, int64_t loaders,
                uint64_t hash[STEPS]) {
    struct fixture f;
    open_fixture(&f, def, id, reads);
    struct pdnn_infeed *infeed = loaders < 0 ? NULL : start(&f, loaders);
    for (int i = 0; i < STEPS; i++) {
        assert_int_equal(infeed ? pdnn_infeed_take(infeed, &f.plan) : 0, 0);
        assert_int_equal(pdnn_plan_run(&f.plan), 0);
        hash[i] = hash_of(&f.plan, UINT64_C(0xcbf29ce484222325));
    }
    pdnn_infeed_destroy(infeed);
    close_fixture(&f);
}

static void test_infeed_same_for_any_loaders(void **state) {
    (void)state;
    static const int64_t loaders[] = {1, 3};
    static const struct pdnn_backend_def *const backends[] = {&pdnn_backend_reference, &pdnn_backend_onednn};
    for (int b = 0; b < 2; b++) {
        for (size_t m = 0; m < MODELS; m++) {
            if (b == 1 && m != LIBRARY_LAYOUT)
                continue;
            for (int reads = 0; reads < 2; reads++) {
                uint64_t in_line[STEPS], other[STEPS], resident[STEPS];
                run(backends[b], models[m], reads, 0, in_line);
                run(backends[b], models[m], reads, -1, resident);
                for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
                    run(backends[b], models[m], reads, loaders[i], other);
                    if (memcmp(in_line, other, sizeof in_line) != 0)
                        fail_msg("%s, %s, reads %d: %d loaders feed other data than none", backends[b]->name,
                                 models[m], reads, (int)loaders[i]);
                }
                if (!reads)
                    assert_true(in_line[0] == resident[0]);
                for (int k = 1; k < STEPS; k++)
                    assert_true(in_line[k] != in_line[k - 1] && in_line[k] != resident[k]);
            }
        }
    }
}

/* Each example of the set comes once in an epoch, with its own label. */
static void test_infeed_reads_the_set(void **state) {
    (void)state;
    struct fixture f;
    struct pdnn_err err = {0};
    struct pdnn_feed_scratch scratch = {.read_bytes = 0};
    open_fixture(&f, &pdnn_backend_reference, models[0], true);
    enum { ROWS = 12, FEATURES = 10, BATCH = 4 };
    float file[ROWS][FEATURES + 1], rows[BATCH][FEATURES];
    int32_t labels[BATCH], seen[ROWS] = {0};
    char path[PDNN_DATASET_PATH];
    assert_int_equal(f.feed.n_parts, 2);
    must(pdnn_dataset_file_path(&f.feed.set, 0, path, &err), &err);
    FILE *opened = fopen(path, "rb");
    assert_int_equal(fread(file, sizeof file, 1, opened), 1);
    fclose(opened);
    for (uint64_t k = 0; k < ROWS / BATCH; k++) {
        must(pdnn_feed_fill(&f.feed, &f.feed.parts[0], k, &scratch, rows, &err), &err);
        must(pdnn_feed_fill(&f.feed, &f.feed.parts[1], k, &scratch, labels, &err), &err);
        for (int n = 0; n < BATCH; n++) {
            int at = 0;
            int32_t label;
            while (at < ROWS && memcmp(rows[n], file[at], sizeof rows[n]) != 0)
                at++;
            assert_true(at < ROWS);
            memcpy(&label, &file[at][FEATURES], sizeof label);
            assert_int_equal(labels[n], label % 6);
            seen[at]++;
        }
    }
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(scratch.read_bytes, ROWS * (FEATURES + 1) * 4);
    pdnn_feed_scratch_finish(&scratch);
    close_fixture(&f);
}

static void test_infeed_refuses_sets(void **state) {
    (void)state;
    static const struct {
        const char *id, *message;
    } rows[] = {
        {"fc/layers=1,nodes=4,input=11,output=3,batch=2", "has rows of 10"},
        {"deepspeech2/hidden=8,layers=2,labels=3,batch=2,frames=91",
         "no data sets for what this model reads"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_feed feed;
        struct pdnn_err err = {0};
        build_instance(rows[i].id, &arena, &graph);
        const struct pdnn_feed_request request = {.graph = &graph, .seed = 1, .sets = sets};
        assert_int_equal(pdnn_feed_open(&feed, &request, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' does not say '%s'", err.text, rows[i].message);
        pdnn_arena_finish(&arena);
    }
}

/* With and without loaders. Comes last, since it spoils the images. */
static void test_infeed_reports_damage(void **state) {
    (void)state;
    for (int64_t loaders = 0; loaders < 3; loaders++) {
        struct fixture f;
        struct pdnn_err err = {0};
        char path[PDNN_DATASET_PATH];
        open_fixture(&f, &pdnn_backend_reference, models[2], true);
        must(pdnn_dataset_file_path(&f.feed.set, 3, path, &err), &err);
        FILE *spoilt = fopen(path, "r+b");
        fputs("P5", spoilt); /* as long as before, which is all that is checked at first */
        fclose(spoilt);
        struct pdnn_infeed *infeed = start(&f, loaders);
        int code = 0;
        for (int i = 0; i < STEPS && !code; i++)
            code = pdnn_infeed_take(infeed, &f.plan);
        assert_int_not_equal(code, 0);
        assert_int_equal(pdnn_infeed_error(infeed, &err), PDNN_INVALID);
        assert_non_null(strstr(err.text, path));
        pdnn_infeed_destroy(infeed);
        close_fixture(&f);
    }
}

static void test_infeed_alone(void **state) {
    (void)state;
    for (int64_t loaders = 0; loaders < 3; loaders++) {
        struct fixture f;
        struct pdnn_err err = {0};
        struct pdnn_infeed_alone alone = {.minibatches = 0};
        open_fixture(&f, &pdnn_backend_reference, models[0], true);
        const struct pdnn_infeed_request request = {&f.feed, loaders, &host, CHECK_THREADS};
        must(pdnn_infeed_measure(&request, 1000000, &alone, &err), &err);
        assert_true(alone.minibatches >= 2 && alone.minibatch_ns > 0);
        assert_true(alone.read_bytes == 4 * 11 * 4); /* 4 rows of 10 numbers and a class */
        close_fixture(&f);
    }
}

static int make_sets(void **state) {
    static const struct pdnn_dataset_request requests[] = {
        {"images", PDNN_DATASET_IMAGES, PDNN_ENCODING_RAW, 10, 1, 20, 18, 0, 0, 0, 100},
        {"tokens", PDNN_DATASET_TOKENS, PDNN_ENCODING_RAW, 101, 1, 0, 0, 0, 0, 40, 0},
        {"rows", PDNN_DATASET_ROWS, PDNN_ENCODING_RAW, 12, 1, 0, 0, 0, 10, 0, 100},
    };
    struct pdnn_err err = {0};
    (void)state;
    if (!mkdtemp(room) || pdnn_host_read(&host, &err) != PDNN_OK)
        return -1;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct pdnn_dataset_request request = requests[i];
        char path[PATH_TEXT];
        snprintf(path, sizeof path, "%s/%s", room, request.directory);
        request.directory = path;
        if (pdnn_dataset_write(&request, &err) != PDNN_OK)
            return -1;
        strcat(strcat(sets, path), "\n");
    }
    return 0;
}

static int clear_room(void **state) {
    (void)state;
    char command[PATH_TEXT];
    snprintf(command, sizeof command, "rm -rf '%s'", room);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_infeed_same_for_any_loaders), cmocka_unit_test(test_infeed_reads_the_set),
        cmocka_unit_test(test_infeed_refuses_sets),         cmocka_unit_test(test_infeed_alone),
        cmocka_unit_test(test_infeed_reports_damage),
    };
    return cmocka_run_group_tests(tests, make_sets, clear_room);
}
