/* The family whisper, in double: FLOP against a counting run and by hand, gradients, depth, fusion, decoding,
 * and what is refused. Presets' claims are the test `zoo`'s. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"

#include "models/op.h"

#define SMALL "whisper/layers=2,hidden=8,heads=2,frames=6,vocabulary=7,batch=2"

static void test_graphs(void **state) {
    static const char *const ids[] = {SMALL ",mels=3,length=4", SMALL ",phase=decode,context=5,mode=infer"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(ids[i], &arena, &graph);
        check_flop_counts(&graph, ids[i]);
        if (i == 0)
            check_gradients_at_once(&graph, 1);
        pdnn_arena_finish(&arena);
        check_depth_costs(ids[i]);
        check_fusion(ids[i]);
    }
}

/* A token while decoding: in each of 4 layers of 384 six products of 384 by 384 (keys and values of the
 * recording are there), two of 384 by 1,536, and two with each of 100 tokens and 1,500 moments; then the
 * vocabulary. */
static void test_decoding(void **state) {
    const uint64_t layer = 6 * 384 * 384 + 2 * 384 * 1536 + 2 * 384 * (100 + 1500);
    (void)state;
    assert_int_equal(products_flop("whisper:whisper-tiny,phase=decode,context=100,mode=infer"),
                     2 * (4 * layer + 384 * 51865));
}

static void test_loss_falls(void **state) {
    (void)state;
    check_loss_falls(SMALL ",mels=3,length=4,optimizer=adam", 100, 0.9);
}

static void test_refused(void **state) {
    (void)state;
    check_invalid("whisper/hidden=384,heads=5", "hidden=384 is not a multiple of heads=5");
    check_invalid("whisper/frames=7", "frames=7 are not even");
    check_invalid("whisper/phase=decode,mode=train", "phase=decode is for mode=infer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_loss_falls),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
