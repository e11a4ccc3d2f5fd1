/* Packing: buffers that live at the same time never overlap, unless one takes over the other's memory, and
 * the block is hardly larger than the largest sum of what is alive. */
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "models/build.h"
#include "models/cost/memory.h"
#include "models/cost/packing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool share(const struct pdnn_lifetime *all, size_t i, size_t j) {
    while (all[i].takes_over != PDNN_NONE)
        i = all[i].takes_over;
    while (all[j].takes_over != PDNN_NONE)
        j = all[j].takes_over;
    return i == j;
}

static void check_packing(const struct pdnn_lifetime *all, size_t count, uint64_t total) {
    for (size_t i = 0; i < count; i++) {
        if (!all[i].bytes)
            continue;
        assert_int_equal(all[i].offset % PDNN_MEMORY_ALIGN, 0);
        assert_true(all[i].offset + all[i].bytes <= total);
        for (size_t j = 0; j < count; j++) {
            bool overlap_time = all[j].first <= all[i].last && all[i].first <= all[j].last;
            bool apart = all[i].offset + all[i].bytes <= all[j].offset ||
                         all[j].offset + all[j].bytes <= all[i].offset;
            if (i != j && all[j].bytes && overlap_time && !apart && !share(all, i, j))
                fail_msg("buffers %zu and %zu overlap", i, j);
        }
    }
}

static void test_memory_pack_random(void **state) {
    (void)state;
    struct pdnn_rng rng = {42, 0};
    for (int round = 0; round < 300; round++) {
        size_t count = 1 + pdnn_rng_below(&rng, 60);
        struct pdnn_lifetime *all = calloc(count, sizeof *all);
        struct pdnn_arena arena = {0};
        struct pdnn_err err = {0};
        uint64_t total, peak, sum = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t first = (uint32_t)pdnn_rng_below(&rng, 30);
            all[i] = (struct pdnn_lifetime){.bytes = pdnn_rng_below(&rng, 5000),
                                            .first = first,
                                            .last = first + (uint32_t)pdnn_rng_below(&rng, 10),
                                            .takes_over = PDNN_NONE};
            if (pdnn_rng_below(&rng, 8) == 0)
                all[i].last = UINT32_MAX;
            sum += (all[i].bytes + 63) & ~UINT64_C(63);
        }
        assert_int_equal(pdnn_memory_pack(all, count, &arena, &total, &err), PDNN_OK);
        assert_int_equal(pdnn_memory_peak(all, count, &arena, &peak, &err), PDNN_OK);
        assert_true(peak <= total && total <= sum);
        check_packing(all, count, total);
        pdnn_arena_finish(&arena);
        free(all);
    }
}

/* Leading buffers keep their offsets, whatever else is packed and however large it is. */
static void test_memory_pack_leads(void **state) {
    (void)state;
    uint64_t offset[3];
    for (uint64_t round = 0; round < 3; round++) {
        struct pdnn_lifetime all[6] = {{.bytes = 100 << round, .last = UINT32_MAX},
                                       {.bytes = 300, .last = UINT32_MAX, .leads = true},
                                       {.bytes = 9000 >> round, .first = 1, .last = 2},
                                       {.bytes = 700 * round, .last = UINT32_MAX},
                                       {.bytes = 5000, .last = UINT32_MAX, .leads = true},
                                       {.bytes = 64, .last = UINT32_MAX, .leads = true}};
        struct pdnn_arena arena = {0};
        struct pdnn_err err = {0};
        uint64_t total;
        for (int i = 0; i < 6; i++)
            all[i].takes_over = PDNN_NONE;
        assert_int_equal(pdnn_memory_pack(all, 6, &arena, &total, &err), PDNN_OK);
        check_packing(all, 6, total);
        const uint64_t leading[3] = {all[1].offset, all[4].offset, all[5].offset};
        if (round == 0)
            memcpy(offset, leading, sizeof offset);
        assert_memory_equal(offset, leading, sizeof offset);
        assert_true(all[0].offset > leading[2]);
        pdnn_arena_finish(&arena);
    }
}

/* Ten buffers used one after the other need the space of two. */
static void test_memory_pack_reuses(void **state) {
    (void)state;
    struct pdnn_lifetime all[10];
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    uint64_t total;
    for (uint32_t i = 0; i < 10; i++)
        all[i] = (struct pdnn_lifetime){.bytes = 1024, .first = i, .last = i + 1, .takes_over = PDNN_NONE};
    assert_int_equal(pdnn_memory_pack(all, 10, &arena, &total, &err), PDNN_OK);
    assert_int_equal(total, 2048);
    pdnn_arena_finish(&arena);
}

/* Four large arrays whose size is a power of two: no two start at the same offset within a page. */
static void test_memory_pack_staggers(void **state) {
    (void)state;
    struct pdnn_lifetime all[4];
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    uint64_t total;
    for (uint32_t i = 0; i < 4; i++)
        all[i] = (struct pdnn_lifetime){.bytes = 4 << 20, .last = UINT32_MAX, .takes_over = PDNN_NONE};
    assert_int_equal(pdnn_memory_pack(all, 4, &arena, &total, &err), PDNN_OK);
    check_packing(all, 4, total);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++)
            assert_int_not_equal(all[i].offset % 4096, all[k].offset % 4096);
    }
    pdnn_arena_finish(&arena);
}

static void test_memory_lifetimes_fc(void **state) {
    (void)state;
    static const struct {
        const char *id;
        uint64_t total;
    } rows[] = {
        /* x 8x64, W 2 of 64x64 and 64x64, b 3 of 64; two activations at a time,
         * bias and relu in place; all f32 */
        {"fc/layers=2,nodes=64,input=64,output=64,batch=8,mode=infer",
         4 * (8 * 64 + 3 * (64 * 64 + 64) + 2 * 8 * 64)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        struct pdnn_lifetime *all;
        uint64_t total;
        assert_int_equal(pdnn_instance_parse(rows[i].id, &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        all = pdnn_memory_lifetimes(&graph);
        assert_int_equal(pdnn_memory_pack(all, pdnn_memory_count(&graph), &arena, &total, &err), PDNN_OK);
        check_packing(all, pdnn_memory_count(&graph), total);
        assert_int_equal(total, rows[i].total);
        pdnn_arena_finish(&arena);
    }
}

/* No block is further above the peak than one that places buffers by size alone, a thousandth aside. */
static void test_memory_pack_graphs(void **state) {
    (void)state;
    static const struct {
        const char *id;
        double most; /* the block over the peak */
    } rows[] = {
        {"fc/layers=6,nodes=40,input=30,output=20,batch=9", 1},
        {"fc/layers=128,nodes=40,input=30,output=20,batch=9,fuse=none,optimizer=adam", 1},
        {"fc/layers=6,nodes=400,output=20,batch=9,mode=infer,dtype=int8", 1},
        {"cnn:resnet18,batch=3", 1.008},
        {"cnn:resnet50,fuse=none", 1.004},
        {"cnn:vgg16,mode=infer", 1},
        {"rnn/cell=lstm,batch=7,bidirectional=yes", 1.001},
        {"rnn/cell=gru,accumulate=2", 1.013},
        {"gnmt", 1.001},
        {"deepspeech2/batch=5", 1.001},
        {"transformer/layers=32", 1.001},
        {"transformer/layers=3,checkpoint=layer,fuse=blocks,dtype=bf16", 1.001},
        {"transformer/layers=2,architecture=encoder-decoder,objective=causal-lm,accumulate=3", 1.001},
        {"gpt2,phase=decode,mode=infer", 1.001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance;
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        struct pdnn_lifetime *all;
        uint64_t total, peak;
        if (pdnn_instance_parse(rows[i].id, &instance, &err) != PDNN_OK ||
            pdnn_instance_graph(&instance, &arena, &graph, &err) != PDNN_OK)
            fail_msg("%s: %s", rows[i].id, err.text);
        all = pdnn_memory_lifetimes(&graph);
        assert_int_equal(pdnn_memory_pack(all, pdnn_memory_count(&graph), &arena, &total, &err), PDNN_OK);
        assert_int_equal(pdnn_memory_peak(all, pdnn_memory_count(&graph), &arena, &peak, &err), PDNN_OK);
        check_packing(all, pdnn_memory_count(&graph), total);
        if (total < peak || (double)total > rows[i].most * (double)peak)
            fail_msg("%s: %" PRIu64 " bytes for a peak of %" PRIu64, rows[i].id, total, peak);
        pdnn_arena_finish(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_pack_leads),   cmocka_unit_test(test_memory_pack_random),
        cmocka_unit_test(test_memory_pack_reuses),  cmocka_unit_test(test_memory_pack_staggers),
        cmocka_unit_test(test_memory_lifetimes_fc), cmocka_unit_test(test_memory_pack_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
