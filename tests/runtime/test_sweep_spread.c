#include "runtime/driver/sweep/sweep_spread.h"
#include "base/rng.h"
#include "tests/cmocka_all.h"

#include <math.h>
#include <stdio.h>

enum { MOST = 2000, KEYS = 5, VALUES = 16 };

/* A spec of three families in two modes, whose axes are not the same; and what each instance has. */
static struct pdnn_instance instances[MOST];
static const struct pdnn_instance *pointers[MOST];
static int has[MOST][KEYS];
static size_t n_instances;

static void add(const char *id, const int keys[KEYS]) {
    assert_int_equal(pdnn_instance_parse(id, &instances[n_instances], NULL), PDNN_OK);
    pdnn_instance_settle(&instances[n_instances]);
    pointers[n_instances] = &instances[n_instances];
    for (int key = 0; key < KEYS; key++)
        has[n_instances][key] = keys[key];
    n_instances++;
}

static void make_spec(void) {
    char id[PDNN_ID_TEXT];
    n_instances = 0;
    for (int mode = 0; mode < 2; mode++) {
        const char *name = mode ? "train" : "infer";
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 9; b++)
                for (int c = 0; c < 4; c++) {
                    snprintf(id, sizeof id, "fc/layers=%d,nodes=%d,batch=%d,mode=%s", 4 << a, 32 << b,
                             64 << c, name);
                    add(id, (int[KEYS]){0, mode, a, b, c});
                }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 5; b++)
                for (int c = 0; c < 4; c++) {
                    static const char *const cells[] = {"rnn", "lstm", "gru"};
                    snprintf(id, sizeof id, "rnn/cell=%s,layers=%d,embedding=512,batch=%d,mode=%s", cells[a],
                             1 + 2 * b, 16 << c, name);
                    add(id, (int[KEYS]){1, mode, a, b, c});
                }
        for (int a = 0; a < 8; a++) {
            snprintf(id, sizeof id, "resnet50,batch=%d,mode=%s", 1 << a, name);
            add(id, (int[KEYS]){2, mode, a, 0, 0});
        }
    }
}

/* The most by which the number of instances with a value of a key, or of the first keys with a pair of
 * values, differs from its share in any prefix. Values of axes are told apart by family. */
static void discrepancy(const uint32_t *order, double *of_one, double *of_two) {
    static size_t total[KEYS][KEYS][VALUES][VALUES][3], seen[KEYS][KEYS][VALUES][VALUES][3];
    *of_one = *of_two = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n_instances; i++) {
            const int *of = has[order[i]];
            for (int x = 0; x < KEYS; x++)
                for (int y = x; y < KEYS; y++)
                    (pass ? seen : total)[x][y][of[x]][of[y]][x > 1 || y > 1 ? of[0] : 0]++;
            for (int x = 0; x < KEYS * pass; x++)
                for (int y = x; y < KEYS; y++)
                    for (int p = 0; p < VALUES; p++)
                        for (int q = 0; q < VALUES; q++)
                            for (int f = 0; f < 3; f++) {
                                const double share =
                                    (double)(total[x][y][p][q][f] * (i + 1)) / (double)n_instances;
                                double *most = x == y ? of_one : of_two;
                                *most = fmax(*most, fabs((double)seen[x][y][p][q][f] - share));
                            }
        }
    }
    for (int x = 0; x < KEYS; x++)
        for (int y = 0; y < KEYS; y++)
            for (int p = 0; p < VALUES; p++)
                for (int q = 0; q < VALUES; q++)
                    for (int f = 0; f < 3; f++)
                        total[x][y][p][q][f] = seen[x][y][p][q][f] = 0;
}

static void test_spread_every_prefix(void **state) {
    static uint32_t order[MOST];
    static bool met[MOST];
    double of_one, of_two;
    (void)state;
    make_spec();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct pdnn_rng rng = {seed, 0};
        pdnn_sweep_spread(pointers, n_instances, seed, order);
        for (size_t i = 0; i < n_instances; i++)
            met[i] = false;
        for (size_t i = 0; i < n_instances; i++) {
            assert_false(met[order[i]]);
            met[order[i]] = true;
        }
        discrepancy(order, &of_one, &of_two);
        assert_true(of_one < 4 && of_two < 5);
        pdnn_rng_shuffle(&rng, order, n_instances, sizeof *order);
        discrepancy(order, &of_one, &of_two);
        assert_true(of_one > 8 && of_two > 8);
    }
}

static void test_spread_is_seeded(void **state) {
    static uint32_t one[MOST], same[MOST], other[MOST];
    (void)state;
    make_spec();
    pdnn_sweep_spread(pointers, n_instances, 1, one);
    pdnn_sweep_spread(pointers, n_instances, 1, same);
    pdnn_sweep_spread(pointers, n_instances, 2, other);
    assert_memory_equal(one, same, n_instances * sizeof *one);
    assert_memory_not_equal(one, other, n_instances * sizeof *one);
    pdnn_sweep_spread(pointers, 0, 1, one);
    pdnn_sweep_spread(pointers, 1, 1, one);
    assert_int_equal(one[0], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread_every_prefix),
        cmocka_unit_test(test_spread_is_seeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
