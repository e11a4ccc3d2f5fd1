/* What hardware counters counted, from visits to rows. */
#include "tests/cmocka_all.h"

#include "tests/near.h"
#include "tests/results/made_row.h"

#include <math.h>
#include <string.h>

#define ID   "fc/layers=1,nodes=8,input=16,output=4,batch=2,mode=infer,threads=2"
#define DEEP "transformer/layers=5,hidden=8,heads=2,length=4,vocabulary=9,batch=2,threads=2,layers_run=2"

#define NUMBER(column) pdnn_result_number(&made.row, PDNN_RESULT_##column)
#define COUNT(column)  pdnn_result_count(&made.row, PDNN_RESULT_##column)

static struct made_row made; /* the last one */

static int finish(void **state) {
    (void)state;
    made_row_finish(&made);
    return 0;
}

enum { VISITS = 4, OPS = 3 };

/* Of a reorder, which is a row of its own in any model. */
static struct pdnn_visit_op reorder(const char *shape, struct pdnn_counted counted) {
    struct pdnn_visit_op op = {.count = 1, .bytes = 64, .time_ns = 10, .implementation = "own"};
    snprintf(op.key, sizeof op.key, "reorder/forward/%s", shape);
    op.counted = counted;
    return op;
}

static void make_rows(const char *id, struct pdnn_visit *visits, size_t count) {
    struct pdnn_visits known = {.room = 0};
    for (size_t i = 0; i < count; i++) {
        visits[i].median_ns = visits[i].mean_ns = 100;
        visits[i].samples = visits[i].steps_per_sample = 1;
        pdnn_visits_add(&known, id, &visits[i]);
    }
    const struct pdnn_aggregate_input input = {.id = id, .of = pdnn_visits_of(&known, id)};
    made_row_make(&input, &made);
    pdnn_visits_finish(&known);
}

/* NULL: the row is not there. */
static const struct pdnn_counted *find(const char *shape) {
    for (size_t i = 0; i < made.n_ops; i++)
        if (strcmp(made.op[i].shape, shape) == 0)
            return &made.op[i].counted;
    return NULL;
}

static void assert_absent(const struct pdnn_counted *counted) {
    assert_true(counted->instructions == PDNN_ABSENT && isnan(counted->ipc) && isnan(counted->effective_ghz));
}

/* Medians over the visits that were counted; empty, and not 0, without any. */
static void test_row(void **state) {
    (void)state;
    struct pdnn_visit visits[VISITS] = {{.ops = NULL}};
    make_rows(ID, visits, VISITS);
    assert_true(COUNT(INSTRUCTIONS) == PDNN_ABSENT && isnan(NUMBER(IPC)) && isnan(NUMBER(EFFECTIVE_GHZ)));
    visits[0].counted.of = (struct pdnn_counted){4, 1000, 2};
    visits[2].counted.of = (struct pdnn_counted){3, 1201, 1};
    visits[3].counted.of = (struct pdnn_counted){2, 9000, 1.5};
    make_rows(ID, visits, VISITS);
    assert_int_equal(COUNT(INSTRUCTIONS), 1201);
    assert_near(NUMBER(IPC), 1.5, 1e-12);
    assert_near(NUMBER(EFFECTIVE_GHZ), 3, 1e-12);
}

/* Means over the visits that were counted, the parts of one visit together. */
static void test_ops(void **state) {
    static const struct pdnn_counted none = {0, 0, 0};
    (void)state;
    struct pdnn_visit_op ops[VISITS][OPS] = {
        {reorder("a", (struct pdnn_counted){4, 1000, 2}), reorder("b", (struct pdnn_counted){4, 500, 0.5}),
         reorder("c", none)},
        {reorder("a", none), reorder("b", none), reorder("c", none)},
        {reorder("a", (struct pdnn_counted){4, 600, 2}), reorder("a", (struct pdnn_counted){2, 600, 1}),
         reorder("c", none)},
        {reorder("a", none), reorder("a", (struct pdnn_counted){4, 500, 1}), reorder("c", none)},
    };
    struct pdnn_visit visits[VISITS] = {{.ops = NULL}};
    for (size_t i = 0; i < VISITS; i++) {
        visits[i].ops = ops[i];
        visits[i].n_ops = i < VISITS - 1 ? OPS : 0;
    }
    make_rows(ID, visits, VISITS);
    assert_int_equal(find("a")->instructions, (1000 + 600 + 600) / 2);
    assert_near(find("a")->ipc, 2200.0 / (500 + 300 + 600), 1e-12);
    assert_near(find("a")->effective_ghz, 1400.0 / (125 + 75 + 300), 1e-12);
    assert_int_equal(find("b")->instructions, 500);
    assert_absent(find("c"));
    visits[VISITS - 1].n_ops = OPS;
    make_rows(ID, visits, VISITS);
    assert_int_equal(find("a")->instructions, (1000 + 600 + 600 + 500) / 3);
}

/* Where two layers of five ran, ops stand for all five, and of the step nothing is known. */
static void test_fewer_layers(void **state) {
    (void)state;
    struct pdnn_visit_op op = reorder("a", (struct pdnn_counted){4, 1000, 2});
    struct pdnn_visit visit = {.ops = &op, .n_ops = 1, .counted = {.of = {4, 5000, 2}}};
    make_rows(DEEP, &visit, 1);
    assert_int_equal(find("a")->instructions, 2500);
    assert_near(find("a")->ipc, 2, 1e-12);
    assert_near(find("a")->effective_ghz, 4, 1e-12);
    assert_true(COUNT(INSTRUCTIONS) == PDNN_ABSENT);
    assert_near(NUMBER(IPC), 2, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_fewer_layers),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
