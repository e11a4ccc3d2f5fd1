/* The roofs' kernels, and the evictor, do the work they count. */
#include "tests/cmocka_all.h"
#include "tests/near.h"

#include "runtime/measure/evict.h"
#include "runtime/kernels/roofs/fma.h"
#include "runtime/kernels/roofs/stream.h"

/* Eight grains: 6144 floats in a slice. */
enum { SLICE_BYTES = 8 * PDNN_STREAM_GRAIN, SLICE_FLOATS = SLICE_BYTES / 4, UNIT_FLOATS = 256 };

static struct pdnn_stream make(int64_t threads) {
    struct pdnn_stream stream;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_stream_create(&stream, threads, SLICE_BYTES, &err), PDNN_OK);
    assert_int_equal(stream.slice_bytes, SLICE_BYTES);
    return stream;
}

static void test_fma_run_counts(void **state) {
    (void)state;
    float result = 0, twice = 0;
    uint64_t once = pdnn_fma_run(1, 1000, &result);
    assert_true(once > 0 && once % 2000 == 0);
    assert_int_equal(pdnn_fma_run(1, 3000, &result), 3 * once);
    /* Every lane ends as 2, or close to it: the sum is twice the number of chains times lanes. */
    assert_near((double)result, (double)once / 1000, 0.01);
    assert_int_equal(pdnn_fma_run(2, 1000, &twice), 2 * once);
    assert_near((double)twice, 2 * (double)result, 0.01);
}

static void test_stream_create_rounds(void **state) {
    (void)state;
    static const struct {
        uint64_t asked;
        size_t made;
    } rows[] = {{0, PDNN_STREAM_GRAIN},
                {1, PDNN_STREAM_GRAIN},
                {PDNN_STREAM_GRAIN * 2 - 1, PDNN_STREAM_GRAIN},
                {PDNN_STREAM_GRAIN * 5 + 7, PDNN_STREAM_GRAIN * 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_stream stream;
        assert_int_equal(pdnn_stream_create(&stream, 1, rows[i].asked, NULL), PDNN_OK);
        assert_int_equal(stream.slice_bytes, rows[i].made);
        pdnn_stream_destroy(&stream);
        pdnn_stream_destroy(&stream);
    }
}

static void test_stream_create_without_memory(void **state) {
    (void)state;
    struct pdnn_stream stream = {.threads = 99};
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_stream_create(&stream, 2, UINT64_C(1) << 62, &err), PDNN_NO_MEMORY);
    assert_int_equal(stream.threads, 99);
}

static void test_stream_run_read_sums_all(void **state) {
    (void)state;
    struct pdnn_stream stream = make(2);
    for (size_t i = 0; i < SLICE_FLOATS; i++)
        stream.slice[0][i] = stream.slice[1][i] = (float)(i % 16);
    const struct pdnn_stream_job job = {.pattern = PDNN_STREAM_READ, .threads = 2, .passes = 3};
    float result = 0;
    assert_int_equal(pdnn_stream_run(&stream, &job, &result), 2 * 3 * SLICE_BYTES);
    assert_near((double)result, 2 * 3 * SLICE_FLOATS * 7.5, 0);
    const struct pdnn_stream_job single = {.pattern = PDNN_STREAM_READ, .threads = 1, .passes = 1};
    assert_int_equal(pdnn_stream_run(&stream, &single, &result), SLICE_BYTES);
    pdnn_stream_destroy(&stream);
}

/* The copy starts somewhere after the first half. */
static void test_stream_run_copies_all(void **state) {
    (void)state;
    const size_t count = SLICE_FLOATS / 2;
    for (int bypass = 0; bypass < 2; bypass++) {
        struct pdnn_stream stream = make(1);
        float *slice = stream.slice[0], result;
        for (size_t i = 0; i < count; i++)
            slice[i] = (float)(i + 100);
        const struct pdnn_stream_job job = {
            .pattern = PDNN_STREAM_COPY, .threads = 1, .passes = 2, .bypass = bypass};
        assert_int_equal(pdnn_stream_run(&stream, &job, &result), 2 * 2 * count * 4);
        size_t start = count;
        while (start < 2 * count && slice[start] < 100)
            start++;
        assert_true(start < 2 * count);
        for (size_t i = 0; i < count; i++)
            assert_true(slice[start + i] == slice[i]);
        pdnn_stream_destroy(&stream);
    }
}

static void test_stream_run_triad_adds(void **state) {
    (void)state;
    const size_t count = SLICE_FLOATS / 3 / UNIT_FLOATS * UNIT_FLOATS;
    for (int bypass = 0; bypass < 2; bypass++) {
        struct pdnn_stream stream = make(1);
        float *slice = stream.slice[0], result;
        for (size_t i = 0; i < SLICE_FLOATS; i++)
            slice[i] = 2;
        const struct pdnn_stream_job job = {
            .pattern = PDNN_STREAM_TRIAD, .threads = 1, .passes = 1, .bypass = bypass};
        assert_int_equal(pdnn_stream_run(&stream, &job, &result), 3 * count * 4);
        assert_true(slice[0] == 2 && slice[2 * count - 1] == 2);
        assert_true(slice[SLICE_FLOATS - 1] == 3);
        pdnn_stream_destroy(&stream);
    }
}

static void test_stream_run_updates_in_place(void **state) {
    (void)state;
    const size_t count = SLICE_FLOATS / 2 / UNIT_FLOATS * UNIT_FLOATS;
    struct pdnn_stream stream = make(1);
    float *slice = stream.slice[0], result;
    for (size_t i = 0; i < SLICE_FLOATS; i++)
        slice[i] = i < count ? 2 : 6;
    const struct pdnn_stream_job job = {.pattern = PDNN_STREAM_UPDATE, .threads = 1, .passes = 2};
    assert_int_equal(pdnn_stream_run(&stream, &job, &result), 2 * 3 * count * 4);
    assert_true(slice[0] == 2 && slice[count - 1] == 2);
    assert_true(slice[SLICE_FLOATS - 1] == 3); /* 6, 4, 3 */
    pdnn_stream_destroy(&stream);
}

static void test_stream_read_part_wraps(void **state) {
    (void)state;
    struct pdnn_stream stream = make(1);
    for (size_t i = 0; i < SLICE_FLOATS; i++)
        stream.slice[0][i] = (float)(i * 4 / PDNN_STREAM_GRAIN); /* the grain's number */
    static const struct {
        size_t offset, grains;
        double sum; /* over the numbers of the grains read */
    } rows[] = {{0, 1, 0}, {0, 8, 28}, {7, 1, 7}, {7, 2, 7}, {6, 4, 14}, {8, 3, 3}, {3, 16, 56}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float result;
        uint64_t bytes = pdnn_stream_read_part(&stream, 1, rows[i].offset * PDNN_STREAM_GRAIN,
                                               rows[i].grains * PDNN_STREAM_GRAIN, &result);
        assert_int_equal(bytes, rows[i].grains * PDNN_STREAM_GRAIN);
        assert_near((double)result, rows[i].sum * PDNN_STREAM_GRAIN / 4, 0);
    }
    pdnn_stream_destroy(&stream);
}

static void test_evictor_reads_everything(void **state) {
    (void)state;
    const struct pdnn_host host = {.cache_bytes = {PDNN_STREAM_GRAIN, 6 * PDNN_STREAM_GRAIN},
                                   .cache_cores = {1, 2}};
    assert_int_equal(pdnn_host_last_cache_bytes(&host, 2), 6 * PDNN_STREAM_GRAIN);
    assert_int_equal(pdnn_host_last_cache_bytes(&host, 3), 12 * PDNN_STREAM_GRAIN);
    /* Limits that leave four times the caches, twice, and less. */
    static const uint64_t cache = 1000 * PDNN_STREAM_GRAIN;
    struct pdnn_far_memory memory = {0};
    static const struct {
        uint64_t limit, bytes, passes;
    } rows[] = {{16, 4, 1}, {12, 3, 2}, {8, 2, 2}, {4, 2, 2}, {3, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_dram_buffer far = {2, cache, rows[i].limit * cache, &memory};
        struct pdnn_evictor evictor;
        struct pdnn_err err;
        assert_int_equal(pdnn_dram_buffer_bytes(&far), rows[i].bytes * cache);
        enum pdnn_status status = pdnn_evictor_init(&evictor, &far, &err);
        assert_int_equal(status, rows[i].bytes ? PDNN_OK : PDNN_TOO_BIG);
        if (!rows[i].bytes)
            continue;
        assert_int_equal(pdnn_far_memory_bytes(&memory), rows[i].bytes * cache);
        assert_int_equal(pdnn_evictor_run(&evictor), rows[i].passes * rows[i].bytes * cache);
    }
    pdnn_stream_destroy(&memory.stream);
}

static void test_far_stays_within_the_limit(void **state) {
    (void)state;
    const struct pdnn_stream *stream;
    struct pdnn_far_memory memory = {0};
    const struct pdnn_dram_buffer two = {2, 0, UINT64_C(1) << 40, &memory};
    const struct pdnn_dram_buffer one = {1, 0, UINT64_C(1) << 40, &memory}, tight = {1, 0, 8 << 20, &memory};
    assert_int_equal(pdnn_dram_buffer_get(&two, &stream, NULL), PDNN_OK);
    assert_int_equal(stream->threads, 2);
    assert_int_equal(pdnn_dram_buffer_get(&one, &stream, NULL), PDNN_OK);
    assert_int_equal(stream->threads, 2); /* kept */
    assert_int_equal(pdnn_dram_buffer_get(&tight, &stream, NULL), PDNN_OK);
    assert_true(pdnn_far_memory_bytes(&memory) <= 2 << 20);
    pdnn_stream_destroy(&memory.stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fma_run_counts),
        cmocka_unit_test(test_stream_create_rounds),
        cmocka_unit_test(test_stream_create_without_memory),
        cmocka_unit_test(test_stream_run_read_sums_all),
        cmocka_unit_test(test_stream_run_copies_all),
        cmocka_unit_test(test_stream_run_triad_adds),
        cmocka_unit_test(test_stream_run_updates_in_place),
        cmocka_unit_test(test_stream_read_part_wraps),
        cmocka_unit_test(test_evictor_reads_everything),
        cmocka_unit_test(test_far_stays_within_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
