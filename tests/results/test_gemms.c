/* Shapes of matrix products read from rows of ops.csv, and rows of equal shape added up. */
#include "tests/cmocka_all.h"

#include "results/query/gemms.h"
#include "results/table/write.h"

#include <math.h>
#include <string.h>

static struct pdnn_op_record row(const char *op, const char *pass, const char *shape) {
    struct pdnn_op_record made = {
        .id = "a", .layer = "", .category = "linear gemm", .pass = pass, .count = 1, .implementation = ""};
    pdnn_placement_init(&made.place);
    made.time_ns_median = 10;
    made.op = op;
    made.shape = shape;
    return made;
}

/* B 2 sequences, h 3 heads of d 4, n 5, m 7; H = 12. */
static void test_gemm_parse(void **state) {
    (void)state;
    static const struct {
        const char *op, *pass, *shape;
        struct pdnn_gemm_shape expected; /* m 0: not a product */
    } rows[] = {
        {"dense", "forward", "64x20:16x20:64x16", {16, 64, 20, 1}},
        {"dense", "forward", "64x20:16x20:64x16+bias+gelu@ffn1", {16, 64, 20, 1}},
        {"dense", "forward", "64x5x2x2:16x20:64x16", {16, 64, 20, 1}},
        {"dense", "forward", "64x20:16x20:1:16:64x16,int8+bias", {16, 64, 20, 1}},
        {"dense", "backward-data", "64x16:16x20:64x20", {20, 64, 16, 1}},
        {"dense", "backward-weights", "64x20:64x16:16x20", {16, 20, 64, 1}},
        {"dense", "backward-weights", "64x5x2x2:64x16:16x20", {16, 20, 64, 1}},
        {"matmul",
         "forward",
         "10x36:14x36:6x5x7,sequences=2,heads=3,width=4,b_column=12,transpose_b=1@scores",
         {7, 5, 4, 6}},
        {"matmul",
         "forward",
         "6x5x7:14x36:10x12,sequences=2,heads=3,width=4,b_column=24,y_width=12@context",
         {4, 5, 7, 6}},
        {"matmul",
         "backward-data",
         "6x5x7:10x12:14x12,sequences=2,heads=3,width=4,transpose_a=1,y_width=12",
         {4, 7, 5, 6}},
        {"matmul",
         "backward-data",
         "6x5x7:10x12:14x36:14x36,sequences=2,heads=3,width=4,transpose_a=1,y_width=36",
         {4, 7, 5, 6}},
        {"conv2d", "forward", "1x2x8x8:2x2x3x3:1x2x8x8", {.m = 0}},
        {"dense", "forward", "64x20:16x20", {.m = 0}},
        {"dense", "forward", "64x20:16:64x16", {.m = 0}},
        {"dense", "forward", "", {.m = 0}},
        {"dense", "forward", "64x:16x20:64x16", {.m = 0}},
        {"matmul", "forward", "6x5x7:6x7x4:6x5x4", {.m = 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_op_record op = row(rows[i].op, rows[i].pass, rows[i].shape);
        struct pdnn_gemm_shape shape;
        bool is_one = pdnn_gemm_parse(&op, &shape);
        assert_int_equal(is_one, rows[i].expected.m != 0);
        if (is_one && memcmp(&shape, &rows[i].expected, sizeof shape) != 0)
            fail_msg("%s: %d x %d x %d, %d times", rows[i].shape, (int)shape.m, (int)shape.n, (int)shape.k,
                     (int)shape.batch);
    }
}

static void test_gemm_flop(void **state) {
    (void)state;
    const struct pdnn_gemm_shape one = {16, 64, 20, 3}, large = {INT64_MAX, 64, 20, 3};
    assert_int_equal(pdnn_gemm_flop(&one, 5), 2 * 16 * 64 * 20 * 3 * 5);
    assert_true(pdnn_gemm_flop(&large, 5) == PDNN_ABSENT);
}

/* Forward and backward-data with square weights have one shape; the longest-running shape comes first. */
static void test_gemms(void **state) {
    (void)state;
    struct pdnn_op_record ops[] = {
        row("dense", "forward", "64x20:20x20:64x20"), row("dense", "backward-data", "64x20:20x20:64x20"),
        row("dense", "backward-weights", "64x20:64x20:20x20"), row("relu", "forward", "64x20:64x20"),
        row("dense", "forward", "64x20:20x20:64x20")};
    struct pdnn_arena arena = {0};
    struct pdnn_str text = {0};
    for (size_t i = 0; i < 4; i++) {
        ops[i].flop_count = ops[i].in_bounds_flop_count = 1000;
        ops[i].byte_count = 100;
        ops[i].place.pct_of_roof = 50;
        ops[i].layer = "ffn1.1";
    }
    ops[4].time_ns_median = NAN;
    const struct pdnn_op_rows rows = {ops, 5, 100, "transformer"};
    struct pdnn_table table;
    struct pdnn_table_writer writer = {.out = &text, .format = PDNN_FORMAT_CSV};
    pdnn_table_init(&table, &pdnn_gemms_def);
    pdnn_table_write(&writer, &table, NULL);
    pdnn_str_clear(&text);
    pdnn_gemms(&rows, &arena, &table);
    pdnn_table_write(&writer, &table, NULL);
    pdnn_table_write_end(&writer);
    pdnn_table_finish(&table);
    assert_string_equal(pdnn_str_text(&text),
                        "a,20,64,20,1,FC GEMM,\"forward, backward-data\",2,2000,200,10,20,20,100,10,50\n"
                        "a,20,20,64,1,FC GEMM,backward-weights,1,1000,100,10,10,10,100,10,50\n");
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm_parse),
        cmocka_unit_test(test_gemm_flop),
        cmocka_unit_test(test_gemms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
