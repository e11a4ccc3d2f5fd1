/* Each claim about BERT on small tables: where it holds, where it fails, and where nothing covers it. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/claims/claim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 256 };

static char directory[] = "/tmp/pdnn_test_claims_XXXXXX";

static void write_text(const char *name, const char *header, const char *rows) {
    char path[PATH_ROOM];
    struct pdnn_str text = {0};
    struct pdnn_err err = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    pdnn_str_printf(&text, "%s%s", header, rows);
    assert_int_equal(pdnn_file_replace(path, pdnn_str_text(&text), text.length, &err), PDNN_OK);
    pdnn_str_finish(&text);
}

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state) {
    static const char *const names[] = {"results.csv", "ops.csv"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_ROOM];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    return rmdir(directory);
}

static const char results_header[] =
    "id,family,layers,hidden,heads,ffn,length,batch,qkv,mode,dtype,accumulate,checkpoint,status,params,time_ns_median\n";
static const char ops_header[] =
    "id,layer,op,category,op_pass,op_shape,executions,byte_count,time_ns_median,pct_of_roof\n";

/* A step of 1000 ns of a model with the given values. */
#define RUN(id, layers, hidden, heads, ffn, length, batch, qkv, accumulate, checkpoint)                      \
    id ",transformer," layers "," hidden "," heads "," ffn "," length "," batch "," qkv                      \
       ",train,f32," accumulate "," checkpoint ",ok,100,1000\n"
#define BATCH(id, batch)              RUN(id, "2", "8", "2", "32", "16", batch, "fused", "1", "none")
#define LENGTH(id, length, batch)     RUN(id, "2", "8", "2", "32", length, batch, "fused", "1", "none")
#define WIDTH(id, hidden, heads, ffn) RUN(id, "2", hidden, heads, ffn, "16", "4", "fused", "1", "none")
#define LAYERS(id, layers)            RUN(id, layers, "8", "2", "32", "16", "4", "fused", "1", "none")
#define ACCUMULATE(id, k)             RUN(id, "2", "8", "2", "32", "16", "4", "fused", k, "none")
#define CHECKPOINT(id, checkpoint)    RUN(id, "2", "8", "2", "32", "16", "4", "fused", "1", checkpoint)
#define QKV(id, qkv)                  RUN(id, "2", "8", "2", "32", "16", "4", qkv, "1", "none")

#define OP(id, layer, op, category, pass, shape, count, bytes, ns)                                           \
    id "," layer "," op "," category "," pass ",\"" shape "\"," count "," bytes "," ns ",50\n"
#define STAGE1(id, bytes, ns)                                                                                \
    OP(id, "ffn1.1", "lamb_direction", "optimizer stage 1", "update", "100", "1", bytes, ns)
#define STAGE2(id, bytes, ns)                                                                                \
    OP(id, "ffn1.1", "lamb_apply", "optimizer stage 2", "update", "100", "1", bytes, ns)
#define SOFTMAX(id, ns) OP(id, "softmax1", "softmax", "softmax", "forward", "4x4", "1", "10", ns)
#define PRODUCT(id, count, ns)                                                                               \
    OP(id, "ffn1.1..ffn1.2", "dense", "linear gemm", "forward", "64x8:32x8:64x32", count, "10", ns)
#define EMBEDDING(id, ns) OP(id, "embedding", "embedding", "embedding", "forward", "9x8", "1", "10", ns)
#define UNKNOWN(id, ns)   OP(id, "nowhere", "slice", "data movement", "forward", "9x8", "1", "10", ns)
#define SUM(id, bytes)    OP(id, "ffn1.1", "add", "add", "backward-weights", "9x8", "1", bytes, "10")
/* T 64, H 8, each product with a bias: 4 * (3 * (64 * 8 + 8 * 8 + 64 * 8) + 3 * 8), and 4 *
 * (4 * 64 * 8 + 3 * 8 * 8 + 24). */
#define SEPARATE(id, stem, bytes)                                                                            \
    OP(id, stem, "dense", "linear gemm", "forward", "64x8:8x8:64x8+bias@q", "1", bytes, "10")
#define THREE(id) SEPARATE(id, "query1", "4384") SEPARATE(id, "key1", "4384") SEPARATE(id, "value1", "4384")
#define ONE(id, bytes)                                                                                       \
    OP(id, "qkv1", "dense", "linear gemm", "forward", "64x8:24x8:64x24+bias@qkv", "1", bytes, "10")

static const struct {
    const char *claim, *results, *ops;
    enum pdnn_verdict verdict;
    const char *numbers, *compared;
} cases[] = {
    {"optimizer share falls with the batch", BATCH("a", "16") BATCH("b", "4") BATCH("c", "32"),
     STAGE1("a", "7", "100") STAGE2("a", "3", "50") STAGE1("b", "7", "200") STAGE2("b", "3", "50")
         STAGE1("c", "7", "40") STAGE2("c", "3", "20"),
     PDNN_HOLDS, "25.00 %, 15.00 %, 6.00 %", "batch 4, 16, 32"},
    {"optimizer share falls with the batch", BATCH("a", "4") BATCH("b", "16") BATCH("c", "32"),
     STAGE1("a", "7", "100") STAGE1("b", "7", "50") STAGE1("c", "7", "50"), PDNN_DOES_NOT_HOLD,
     "10.00 %, 5.00 %, 5.00 %", "batch 4, 16, 32"},
    {"optimizer share falls with the batch", BATCH("a", "4"), STAGE1("a", "7", "100"), PDNN_CANNOT_BE_TOLD,
     "", "training with two or more batches, such as 4, 16 and 32"},
    {"softmax share grows with the length at as many tokens",
     LENGTH("a", "512", "4") LENGTH("b", "128", "16") LENGTH("c", "512", "8"),
     SOFTMAX("a", "200") SOFTMAX("b", "100") SOFTMAX("c", "50"), PDNN_HOLDS, "10.00 %, 20.00 %",
     "length 128, 512; batch 16, 4"},
    {"softmax share grows with the length at as many tokens",
     LENGTH("a", "128", "16") LENGTH("b", "512", "4"), SOFTMAX("a", "200") SOFTMAX("b", "200"),
     PDNN_DOES_NOT_HOLD, "20.00 %, 20.00 %", "length 128, 512; batch 16, 4"},
    {"softmax share grows with the length at as many tokens",
     LENGTH("a", "128", "16") LENGTH("b", "512", "16"), SOFTMAX("a", "100") SOFTMAX("b", "200"),
     PDNN_CANNOT_BE_TOLD, "", "of equal batch times length"},
    {"GEMM share grows with the width", WIDTH("a", "8", "2", "32") WIDTH("b", "16", "4", "64"),
     PRODUCT("a", "1", "500") PRODUCT("b", "1", "600"), PDNN_HOLDS, "50.00 %, 60.00 %",
     "hidden 8, 16; heads 2, 4; ffn 32, 64"},
    {"GEMM share grows with the width", WIDTH("a", "8", "2", "32") WIDTH("b", "16", "2", "64"),
     PRODUCT("a", "1", "500") PRODUCT("b", "1", "400"), PDNN_DOES_NOT_HOLD, "50.00 %, 40.00 %",
     "hidden 8, 16"},
    {"GEMM share grows with the width", WIDTH("a", "8", "2", "32") WIDTH("b", "16", "4", "32"),
     PRODUCT("a", "1", "500") PRODUCT("b", "1", "600"), PDNN_CANNOT_BE_TOLD, "", "two or more widths"},
    {"GEMM share grows with the width", WIDTH("a", "8", "2", "32") WIDTH("b", "16", "8", "64"),
     PRODUCT("a", "1", "500") PRODUCT("b", "1", "600"), PDNN_CANNOT_BE_TOLD, "", "two or more widths"},
    {"optimizer share grows with the width", WIDTH("a", "8", "2", "32") WIDTH("b", "16", "2", "64"),
     STAGE1("a", "7", "10") STAGE1("b", "7", "11"), PDNN_HOLDS, "1.00 %, 1.10 %", "hidden 8, 16; ffn 32, 64"},
    {"optimizer share grows with the width", WIDTH("a", "8", "2", "32") WIDTH("b", "16", "2", "64"),
     STAGE1("a", "7", "10") STAGE1("b", "7", "9"), PDNN_DOES_NOT_HOLD, "1.00 %, 0.90 %",
     "hidden 8, 16; ffn 32, 64"},
    {"shares in the layers hardly move with their number", LAYERS("a", "2") LAYERS("b", "4"),
     EMBEDDING("a", "500") PRODUCT("a", "1", "300") SOFTMAX("a", "200") EMBEDDING("b", "100")
         PRODUCT("b", "1", "580") SOFTMAX("b", "320"),
     PDNN_HOLDS, "moves most, by 4.44 points", "layers 2, 4"},
    {"shares in the layers hardly move with their number", LAYERS("a", "2") LAYERS("b", "4"),
     PRODUCT("a", "1", "600") SOFTMAX("a", "400") PRODUCT("b", "1", "660") SOFTMAX("b", "340"),
     PDNN_DOES_NOT_HOLD, "moves most, by 6.00 points", "layers 2, 4"},
    {"embedding and output shares fall with the layers", LAYERS("a", "2") LAYERS("b", "4"),
     EMBEDDING("a", "500") EMBEDDING("b", "100"), PDNN_HOLDS, "50.00 %, 10.00 %", "layers 2, 4"},
    {"embedding and output shares fall with the layers", LAYERS("a", "2") LAYERS("b", "4"),
     EMBEDDING("a", "100") EMBEDDING("b", "100"), PDNN_DOES_NOT_HOLD, "10.00 %, 10.00 %", "layers 2, 4"},
    {"k-step accumulation divides optimizer work per sequence by k",
     ACCUMULATE("a", "1") ACCUMULATE("b", "4"),
     PRODUCT("a", "2", "10") STAGE1("a", "700", "10") STAGE2("a", "600", "10") PRODUCT("b", "8", "10")
         STAGE1("b", "700", "10") STAGE2("b", "600", "10"),
     PDNN_HOLDS, "1, 0.25 of the bytes per sequence", "accumulate 1, 4"},
    {"k-step accumulation divides optimizer work per sequence by k",
     ACCUMULATE("a", "1") ACCUMULATE("b", "4"),
     PRODUCT("a", "2", "10") STAGE1("a", "700", "10") STAGE2("a", "600", "10") PRODUCT("b", "8", "10")
         STAGE1("b", "701", "10") STAGE2("b", "600", "10"),
     PDNN_DOES_NOT_HOLD, "1, 0.2502 of the bytes per sequence", "accumulate 1, 4"},
    {"k-step accumulation divides optimizer work per sequence by k",
     ACCUMULATE("a", "2") ACCUMULATE("b", "4"),
     PRODUCT("a", "4", "10") STAGE1("a", "7", "10") PRODUCT("b", "8", "10") STAGE1("b", "7", "10"),
     PDNN_CANNOT_BE_TOLD, "", "accumulate=1 and another number"},
    /* 100 parameters: 1200 bytes each time, and 40 that are added within every micro-step. */
    {"accumulation adds 3p words per micro-step",
     ACCUMULATE("a", "1") ACCUMULATE("b", "2") ACCUMULATE("c", "4"),
     SUM("a", "40") SUM("b", "1280") SUM("c", "3760"), PDNN_HOLDS, "3p, 3p words", "accumulate 1, 2, 4"},
    {"accumulation adds 3p words per micro-step", ACCUMULATE("a", "1") ACCUMULATE("b", "2"),
     PRODUCT("a", "1", "10") SUM("b", "1600"), PDNN_DOES_NOT_HOLD, "4p words", "accumulate 1, 2"},
    {"checkpointing multiplies matrix FLOP by 4/3", CHECKPOINT("a", "none") CHECKPOINT("b", "layer"),
     PRODUCT("a", "6", "10") PRODUCT("b", "8", "10") EMBEDDING("b", "10"), PDNN_HOLDS,
     "262144 / 196608 matrix FLOP of the layers = 1.33333", "checkpoint none, layer"},
    {"checkpointing multiplies matrix FLOP by 4/3", CHECKPOINT("a", "none") CHECKPOINT("b", "layer"),
     PRODUCT("a", "6", "10") PRODUCT("b", "7", "10"), PDNN_DOES_NOT_HOLD, "= 1.16667",
     "checkpoint none, layer"},
    {"QKV fusion cuts the bytes of that GEMM", QKV("a", "separate") QKV("b", "fused"),
     THREE("a") ONE("b", "9056"), PDNN_HOLDS,
     "31.37 % fewer bytes, 8960 instead of 13056; 2T / (6T + 3H) = 31.37 % at T = 64, H = 8",
     "qkv separate, fused"},
    {"QKV fusion cuts the bytes of that GEMM", QKV("a", "separate") QKV("b", "fused"),
     THREE("a") ONE("b", "9060"), PDNN_DOES_NOT_HOLD, "8964 instead of 13056", "qkv separate, fused"},
    {"other stays below 3 %", BATCH("a", "4") LENGTH("b", "512", "4"), UNKNOWN("a", "10") UNKNOWN("b", "29"),
     PDNN_HOLDS, "2.90 % at most, of 2 instances", ""},
    {"other stays below 3 %", BATCH("a", "4") LENGTH("b", "512", "4"), UNKNOWN("a", "10") UNKNOWN("b", "31"),
     PDNN_DOES_NOT_HOLD, "3.10 % at most, of 2 instances", ""},
};

/* What the tables, written anew, say of all claims that come from there. */
struct checked {
    struct pdnn_selection selection;
    struct pdnn_ops_reader reader;
    struct pdnn_table table;
    size_t told[PDNN_VERDICT_COUNT];
};

static void check(struct checked *c, const struct pdnn_claim_list *list, const char *results,
                  const char *ops) {
    struct pdnn_err err = {0};
    *c = (struct checked){.told = {0}};
    write_text("results.csv", results_header, results);
    write_text("ops.csv", ops_header, ops);
    if (pdnn_selection_open_all(&c->selection, &(const char *){directory}, 1, NULL, 0, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(pdnn_ops_reader_open(&c->reader, directory, &err), PDNN_OK);
    pdnn_table_init(&c->table, &pdnn_claims_report_def);
    const struct pdnn_selection *const rows[] = {&c->selection};
    const struct pdnn_claim_data data = {.rows = rows, .n_sources = 1, .readers = &c->reader};
    pdnn_claims_check(&data, list, &c->table, c->told);
}

static void finish(struct checked *c) {
    pdnn_table_finish(&c->table);
    pdnn_ops_reader_close(&c->reader);
    pdnn_selection_close(&c->selection);
}

static void test_claims_of_bert(void **state) {
    static const char *const verdicts[] = {"holds", "does not hold", "cannot be told"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct checked c;
        size_t n_found = 0;
        check(&c, &pdnn_bert_claims, cases[i].results, cases[i].ops);
        for (size_t k = 0; k < c.table.n_rows; k++) {
            const char *verdict = pdnn_table_text(&c.table, k, PDNN_CLAIM_VERDICT);
            const char *numbers = pdnn_table_text(&c.table, k, PDNN_CLAIM_NUMBERS);
            const char *compared = pdnn_table_text(&c.table, k, PDNN_CLAIM_COMPARED);
            if (strcmp(pdnn_table_text(&c.table, k, PDNN_CLAIM_TEXT), cases[i].claim) != 0)
                continue;
            n_found++;
            if (strcmp(verdict, verdicts[cases[i].verdict]) != 0 || !strstr(numbers, cases[i].numbers) ||
                !strstr(compared, cases[i].compared))
                fail_msg("case %zu: %s: %s: %s (%s)", i, cases[i].claim, verdict, numbers, compared);
        }
        assert_int_equal(n_found, 1);
        finish(&c);
    }
}

/* Instances that differ in more than the axis belong to different sets, each with its own line. */
static void test_claims_of_several_sets(void **state) {
    struct checked c;
    (void)state;
    check(&c, &pdnn_bert_claims,
          LENGTH("a", "128", "4") LENGTH("b", "512", "4") LENGTH("c", "128", "8") LENGTH("d", "512", "8"),
          STAGE1("a", "7", "20") STAGE1("b", "7", "20") STAGE1("c", "7", "10") STAGE1("d", "7", "30"));
    assert_string_equal(pdnn_table_text(&c.table, 0, PDNN_CLAIM_WHERE), "length=128");
    assert_string_equal(pdnn_table_text(&c.table, 0, PDNN_CLAIM_VERDICT), "holds");
    assert_string_equal(pdnn_table_text(&c.table, 1, PDNN_CLAIM_WHERE), "length=512");
    assert_string_equal(pdnn_table_text(&c.table, 1, PDNN_CLAIM_VERDICT), "does not hold");
    assert_string_equal(pdnn_table_text(&c.table, 1, PDNN_CLAIM_NUMBERS), "2.00 %, 3.00 %");
    finish(&c);
}

/* One model without rows in ops.csv decides nothing: each claim says what would. */
static void test_claims_cannot_be_told(void **state) {
    (void)state;
    const struct pdnn_claim_list *const lists[] = {&pdnn_source_claims, &pdnn_pair_claims, &pdnn_bert_claims};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct checked c;
        check(&c, lists[i], BATCH("a", "4"), "");
        assert_true(c.table.n_rows > 8);
        assert_int_equal(c.told[PDNN_CANNOT_BE_TOLD], c.table.n_rows);
        assert_int_equal(c.told[PDNN_HOLDS] + c.told[PDNN_DOES_NOT_HOLD], 0);
        for (size_t k = 0; k < c.table.n_rows; k++) {
            assert_string_equal(pdnn_table_text(&c.table, k, PDNN_CLAIM_VERDICT), "cannot be told");
            assert_false(pdnn_table_is_empty(&c.table, k, PDNN_CLAIM_COMPARED));
        }
        finish(&c);
    }
}

/* Those about BERT are not asked of other networks. */
static void test_claims_of_other_networks(void **state) {
    struct checked c;
    (void)state;
    check(&c, &pdnn_bert_claims, "a,fc,2,,,,,4,,train,f32,1,none,ok,100,1000\n", "");
    assert_int_equal(c.table.n_rows, 0);
    finish(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_claims_of_bert, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claims_of_several_sets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claims_cannot_be_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claims_of_other_networks, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
