/* Seeded data: ids in range and distributed as their kind says, sequences of all lengths. */
#include "tests/cmocka_all.h"

#include "runtime/plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 200000 };
static const struct pdnn_fill_source seeded = {.seed = 3};

/* The values of a tensor that is alone in its graph; the caller frees them. */
static int32_t *ids_of(const struct pdnn_tensor *tensor) {
    struct pdnn_graph graph = {.tensors = (struct pdnn_tensor[]){*tensor}, .n_tensors = 1};
    int32_t *values = malloc(pdnn_tensor_bytes(tensor));
    assert_non_null(values);
    pdnn_fill_tensor(&graph, 0, &seeded, values);
    return values;
}

static double share_of(enum pdnn_fill_kind kind, int64_t classes, int64_t id) {
    double k = (double)id, n = (double)classes;
    return kind == PDNN_FILL_CLASS ? 1 / n : log((k + 2) / (k + 1)) / log(n + 1);
}

/* Within 5 standard deviations of the expected share. */
static void check_share(int64_t found, int64_t of, double share, int64_t id) {
    double expected = share * (double)of;
    if (fabs((double)found - expected) > 5 * sqrt(expected * (1 - share)) + 1e-6)
        fail_msg("%ld: %ld instead of %.0f", (long)id, (long)found, expected);
}

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
            assert_true(ids[k] >= 0 && ids[k] <= V - 1);
            found[ids[k]]++;
        }
        for (int64_t id = 0; id < V && id < 20; id++) {
            check_share(found[id], COUNT, share_of(kind, V, id), id);
        }
        free(found);
        free(ids);
    }
}

/* Once a sequence's labels end they do not resume; it has at least one, and every length occurs. */
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
        assert_true(of_length[length] >= N / T / 2 && of_length[length] <= 2 * N / T);
    free(label);
}

/* 0, then the scale to the end; every length occurs. */
static void test_fill_sequence_mask(void **state) {
    (void)state;
    enum { T = 7, N = 1000 };
    const float scale = -10000;
    struct pdnn_tensor tensor = {
        .dtype = PDNN_F32, .rank = 2, .dim = {N, T}, .fill = {PDNN_FILL_SEQUENCE_MASK, (double)scale}};
    struct pdnn_graph graph = {.tensors = &tensor, .n_tensors = 1};
    float mask[N * T];
    int32_t of_length[T + 1] = {0};
    pdnn_fill_tensor(&graph, 0, &seeded, mask);
    for (int n = 0; n < N; n++) {
        int length = 0;
        while (length < T && mask[n * T + length] == 0)
            length++;
        for (int t = length; t < T; t++)
            assert_true(mask[n * T + t] == scale);
        of_length[length]++;
    }
    assert_int_equal(of_length[0], 0);
    for (int length = 1; length <= T; length++)
        assert_true(of_length[length] >= N / T / 2 && of_length[length] <= 2 * N / T);
}

/* The region of a row or a column of an image that was rolled by half a window, as published code slices it.
 */
static int region_of(int64_t at, int64_t side, int64_t window) {
    const int64_t ends[] = {side - window, side - window / 2, side};
    int region = 0;
    while (at >= ends[region])
        region++;
    return region;
}

/* Row by row of windows: what is of one region is 0, all else the scale, whatever the seed and the rank. */
static void test_fill_window_mask(void **state) {
    static const int64_t sizes[][2] = {{4, 2}, {6, 3}, {6, 2}, {8, 4}, {14, 7}, {3, 1}};
    const struct pdnn_fill_source other = {.seed = 5, .rank = 1};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t side = sizes[k][0], w = sizes[k][1], line = side / w, n = w * w;
        struct pdnn_tensor tensor = {.role = PDNN_ROLE_INPUT,
                                     .dtype = PDNN_F32,
                                     .rank = 3,
                                     .dim = {line * line, n, n},
                                     .fill = {PDNN_FILL_WINDOW_MASK, -100}};
        struct pdnn_graph graph = {.tensors = &tensor, .n_tensors = 1};
        float *mask = malloc(pdnn_tensor_bytes(&tensor)), *again = malloc(pdnn_tensor_bytes(&tensor));
        assert_true(mask && again);
        pdnn_fill_tensor(&graph, 0, &seeded, mask);
        pdnn_fill_tensor(&graph, 0, &other, again);
        assert_memory_equal(mask, again, pdnn_tensor_bytes(&tensor));
        for (int64_t e = 0, hidden = 0; e < line * line * n * n; e++) {
            const int64_t window = e / n / n, i = e / n % n, j = e % n, y = window / line * w,
                          x = window % line * w;
            const bool seen = region_of(y + i / w, side, w) == region_of(y + j / w, side, w) &&
                              region_of(x + i % w, side, w) == region_of(x + j % w, side, w);
            assert_true(mask[e] == (seen ? 0 : -100));
            hidden += !seen;
            assert_true(e + 1 < line * line * n * n || (hidden > 0) == (w > 1));
        }
        free(mask);
        free(again);
    }
}

static void test_window_mask_refused(void **state) {
    static const int64_t dims[][3] = {{3, 4, 4}, {4, 3, 3}, {4, 4, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const struct pdnn_tensor tensor = {.role = PDNN_ROLE_INPUT,
                                           .rank = 3,
                                           .dim = {dims[i][0], dims[i][1], dims[i][2]},
                                           .fill = {PDNN_FILL_WINDOW_MASK, -1},
                                           .of = PDNN_NONE};
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        char expected[160];
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        pdnn_graph_tensor(&graph, &tensor);
        assert_int_equal(pdnn_graph_status(&graph, &err), PDNN_INVALID);
        snprintf(expected, sizeof expected,
                 "window_mask: expected (W, n, n) with squares of W windows and of n positions, not "
                 "(%" PRId64 "x%" PRId64 "x%" PRId64 ")",
                 dims[i][0], dims[i][1], dims[i][2]);
        assert_string_equal(err.text, expected);
        pdnn_arena_finish(&arena);
    }
}

/* Labels have the given targets' lengths, masks the sources'; a length is at least 1 and at most the
 * tensor's, and the given ones repeat. */
static void test_fill_given_lengths(void **state) {
    (void)state;
    enum { T = 7, N = 10, C = 5, GIVEN = 4 };
    static const int64_t source[GIVEN] = {3, 7, 1, 5}, target[GIVEN] = {7, 1, 7, 4};
    const struct pdnn_example_lengths lengths = {
        .count = GIVEN, .source = {3, 9, 1, 5}, .target = {7, 0, 70000, 4}};
    const struct pdnn_fill_source given = {.seed = 3, .lengths = &lengths};
    struct pdnn_tensor tensors[] = {
        {.dtype = PDNN_S32, .rank = 2, .dim = {T, N}, .fill = {PDNN_FILL_SEQUENCE_CLASS, C}},
        {.dtype = PDNN_F32, .rank = 2, .dim = {N, T}, .fill = {PDNN_FILL_SEQUENCE_MASK, -1}},
        {.dtype = PDNN_S32, .rank = 2, .dim = {1, N}, .fill = {PDNN_FILL_SEQUENCE_CLASS, C}}};
    const struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 3};
    int32_t label[T * N], last[N];
    float mask[N * T];
    pdnn_fill_tensor(&graph, 0, &given, label);
    pdnn_fill_tensor(&graph, 1, &given, mask);
    pdnn_fill_tensor(&graph, 2, &given, last);
    for (int n = 0; n < N; n++) {
        assert_true(last[n] >= 0);
        for (int t = 0; t < T; t++) {
            assert_int_equal(label[t * N + n] >= 0, t < target[n % GIVEN]);
            assert_int_equal(mask[n * T + t] >= 0, t < source[n % GIVEN]);
        }
    }
}

/* Positions restart with each sequence; strides give its first row. */
static void test_fill_rows(void **state) {
    (void)state;
    enum { B = 5, N = 7 };
    struct pdnn_tensor tensor = {
        .dtype = PDNN_S32, .rank = 1, .dim = {B * N}, .fill = {PDNN_FILL_POSITION, N}};
    int32_t *position = ids_of(&tensor);
    tensor.fill.kind = PDNN_FILL_STRIDE;
    tensor.dim[0] = B;
    int32_t *first = ids_of(&tensor);
    for (int i = 0; i < B * N; i++)
        assert_int_equal(position[i], i % N);
    for (int b = 0; b < B; b++)
        assert_int_equal(first[b], b * N);
    free(position);
    free(first);
}

/* Ascending rows of their own sequence. Every row is equally frequent, and rows 0 and 1 occur together as
 * often as any pair. */
static void test_fill_masked(void **state) {
    (void)state;
    enum { B = 20000, N = 9 };
    for (int P = 1; P <= N; P++) {
        struct pdnn_tensor tensor = {
            .dtype = PDNN_S32, .rank = 2, .dim = {B, P}, .fill = {PDNN_FILL_MASKED, N}};
        int32_t *row = ids_of(&tensor), of_row[N] = {0}, both = 0;
        for (int i = 0; i < B * P; i++) {
            assert_true(row[i] >= i / P * N && row[i] <= i / P * N + N - 1);
            assert_true(i % P == 0 || row[i] > row[i - 1]);
            of_row[row[i] % N]++;
            both += i % P == 1 && row[i] % N == 1;
        }
        double share = (double)P / N;
        for (int t = 0; t < N; t++)
            check_share(of_row[t], B, share, t);
        check_share(both, B, share * (P - 1) / (N - 1), P);
        free(row);
    }
}

/* Int8 weights times their row's scale are the f32 weights after folding; the largest of each row is 63. */
static void test_fill_quantized_weights(void **state) {
    (void)state;
    enum { ROWS = 5, LENGTH = 300, W = 0, SCALE, GAMMA, MEAN, VARIANCE, TENSORS };
    static const struct pdnn_fold fold = {GAMMA, MEAN, VARIANCE, PDNN_NONE, 1e-5, false};
    const struct pdnn_fill near_one = {PDNN_FILL_NEAR_ONE, 0.5};
    for (int k = 0; k < 2; k++) {
        const struct pdnn_tensor channel = {.rank = 1, .dim = {ROWS}, .fill = near_one, .of = PDNN_NONE};
        struct pdnn_tensor tensors[TENSORS] = {
            [W] = {.role = PDNN_ROLE_WEIGHT,
                   .rank = 4,
                   .dim = {ROWS, LENGTH / 4, 2, 2},
                   .fill = {PDNN_FILL_UNIFORM, 0.3},
                   .fold = k ? &fold : NULL},
            [SCALE] = {.rank = 1, .dim = {ROWS}, .fill = {.kind = PDNN_FILL_WEIGHT_SCALE}, .of = W},
            [GAMMA] = channel,
            [MEAN] = channel,
            [VARIANCE] = channel,
        };
        const struct pdnn_graph graph = {.tensors = tensors, .n_tensors = TENSORS};
        float plain[ROWS * LENGTH], scale[ROWS];
        int8_t values[ROWS * LENGTH];
        pdnn_fill_tensor(&graph, W, &seeded, plain);
        tensors[W].dtype = PDNN_INT8;
        pdnn_fill_tensor(&graph, W, &seeded, values);
        pdnn_fill_tensor(&graph, SCALE, &seeded, scale);
        for (int r = 0; r < ROWS; r++) {
            int most = 0;
            for (int i = r * LENGTH; i < (r + 1) * LENGTH; i++) {
                assert_true(fabsf(plain[i] - (float)values[i] * scale[r]) <= 0.501F * scale[r]);
                most = abs(values[i]) > most ? abs(values[i]) : most;
            }
            assert_int_equal(most, 63);
        }
    }
}

/* Whether element i can be what the kind says. */
static bool is_of_kind(enum pdnn_fill_kind kind, double value, int i) {
    enum { SCALE = 3 };
    switch (kind) {
    case PDNN_FILL_ZERO:
        return value == 0;
    case PDNN_FILL_CONSTANT:
        return value == SCALE;
    case PDNN_FILL_UNIFORM:
        return fabs(value) <= SCALE && value != 0;
    case PDNN_FILL_NEAR_ONE:
        return fabs(value - 1) <= SCALE && value != 1;
    case PDNN_FILL_POSITION:
        return value == i % SCALE;
    case PDNN_FILL_STRIDE:
        return value == i * SCALE;
    case PDNN_FILL_MASKED: /* rows of two columns */
        return (int)value / SCALE == i / 2;
    case PDNN_FILL_SEQUENCE_MASK:
    case PDNN_FILL_WINDOW_MASK:
        return value == 0 || value == SCALE;
    case PDNN_FILL_SEQUENCE_CLASS:
        return value >= -1 && value < SCALE;
    default:
        return value >= 0 && value < SCALE;
    }
}

/* A graph either refuses a kind for a dtype, or it is filled as the kind says. Int8 weights and the scales of
 * their rows need each other and are above; what is u8 is always computed. */
static void test_fill_every_kind(void **state) {
    (void)state;
    enum { ROWS = 4, MOST = ROWS * ROWS * ROWS };
    int n_filled[PDNN_FILL_COUNT] = {0};
    for (int i = 0; i < PDNN_U8 * PDNN_FILL_COUNT; i++) {
        enum pdnn_fill_kind kind = (enum pdnn_fill_kind)(i % PDNN_FILL_COUNT);
        struct pdnn_tensor tensor = {.role = PDNN_ROLE_INPUT,
                                     .dtype = (enum pdnn_dtype)(i / PDNN_FILL_COUNT),
                                     .rank = 2,
                                     .dim = {ROWS, 2},
                                     .fill = {kind, 3},
                                     .of = PDNN_NONE};
        if (kind == PDNN_FILL_WINDOW_MASK) {
            tensor.rank = 3;
            tensor.dim[1] = tensor.dim[2] = ROWS;
        }
        const int elements = (int)pdnn_tensor_elements(&tensor);
        bool is_weight =
            kind == PDNN_FILL_WEIGHT_SCALE || (tensor.dtype == PDNN_INT8 && kind == PDNN_FILL_UNIFORM);
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        float plain[MOST] = {0};
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        pdnn_graph_tensor(&graph, &tensor);
        if (pdnn_graph_status(&graph, NULL) == PDNN_OK && !is_weight) {
            pdnn_fill_tensor(&graph, 0, &seeded, plain);
            for (int k = 0; k < elements; k++) {
                double value = pdnn_dtype_load(tensor.dtype, plain, k);
                if (!is_of_kind(kind, value, k))
                    fail_msg("%s, kind %d: element %d is %g", pdnn_dtype_name(tensor.dtype), (int)kind, k,
                             value);
            }
            n_filled[kind]++;
        }
        pdnn_arena_finish(&arena);
    }
    for (int kind = 0; kind < PDNN_FILL_COUNT; kind++)
        assert_true(n_filled[kind] > 0 || kind == PDNN_FILL_WEIGHT_SCALE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_ids),
        cmocka_unit_test(test_fill_sequences),
        cmocka_unit_test(test_fill_sequence_mask),
        cmocka_unit_test(test_fill_window_mask),
        cmocka_unit_test(test_window_mask_refused),
        cmocka_unit_test(test_fill_rows),
        cmocka_unit_test(test_fill_given_lengths),
        cmocka_unit_test(test_fill_masked),
        cmocka_unit_test(test_fill_quantized_weights),
        cmocka_unit_test(test_fill_every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
