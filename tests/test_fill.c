/* Seeded data: ids in their range and distributed as their kind says, sequences of all lengths. */
#include "tests/cmocka_all.h"

#include "runtime/core/plan.h"

#include <math.h>
#include <stdlib.h>

enum { COUNT = 200000, SEED = 3 };

/* The values of a tensor alone in its graph; the caller frees. */
static int32_t *ids_of(const struct pdnn_tensor *tensor) {
    struct pdnn_graph graph = {.tensors = (struct pdnn_tensor[]){*tensor}, .n_tensors = 1};
    int32_t *values = malloc(pdnn_tensor_bytes(tensor));
    assert_non_null(values);
    pdnn_fill_tensor(&graph, 0, SEED, values);
    return values;
}

static double share_of(enum pdnn_fill_kind kind, int64_t classes, int64_t id) {
    double k = (double)id, n = (double)classes;
    return kind == PDNN_FILL_CLASS ? 1 / n : log((k + 2) / (k + 1)) / log(n + 1);
}

/* Shares of the first ids within 5 standard deviations of what they should be. */
static void test_fill_ids(void **state) {
    (void)state;
    static const enum pdnn_fill_kind kinds[] = {PDNN_FILL_CLASS, PDNN_FILL_ZIPF};
    static const int64_t classes[] = {1, 2, 30, 32000};
    for (size_t i = 0; i < 2 * 4; i++) {
        enum pdnn_fill_kind kind = kinds[i % 2];
        int64_t V = classes[i / 2];
        struct pdnn_tensor tensor = {.dtype = PDNN_S32, .rank = 1, .dim = {COUNT}, .fill = {kind, (double)V}};
        int32_t *ids = ids_of(&tensor);
        int64_t *found = calloc((size_t)V, sizeof *found);
        assert_non_null(found);
        for (int64_t k = 0; k < COUNT; k++) {
            assert_in_range(ids[k], 0, V - 1);
            found[ids[k]]++;
        }
        for (int64_t id = 0; id < V && id < 20; id++) {
            double share = share_of(kind, V, id), expected = share * COUNT;
            if (fabs((double)found[id] - expected) > 5 * sqrt(expected * (1 - share)) + 1e-6)
                fail_msg("id %ld of %ld: %ld instead of %.0f", (long)id, (long)V, (long)found[id], expected);
        }
        free(found);
        free(ids);
    }
}

/* Labels end once and for all, after one step at least; every length occurs. */
static void test_fill_sequences(void **state) {
    (void)state;
    enum { T = 7, N = 1000, C = 5 };
    struct pdnn_tensor tensor = {
        .dtype = PDNN_S32, .rank = 2, .dim = {T, N}, .fill = {PDNN_FILL_SEQUENCE_CLASS, C}};
    int32_t *label = ids_of(&tensor), of_length[T + 1] = {0};
    for (int n = 0; n < N; n++) {
        int length = 0;
        while (length < T && label[length * N + n] >= 0)
            assert_true(label[length++ * N + n] < C);
        for (int t = length; t < T; t++)
            assert_int_equal(label[t * N + n], -1);
        of_length[length]++;
    }
    assert_int_equal(of_length[0], 0);
    for (int length = 1; length <= T; length++)
        assert_in_range(of_length[length], N / T / 2, 2 * N / T);
    free(label);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_ids),
        cmocka_unit_test(test_fill_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
