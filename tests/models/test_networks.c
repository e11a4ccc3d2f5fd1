/* Networks in stages, ConvNeXt, ShuffleNetV2 and the U-Net of Stable Diffusion: FLOP against a counting run,
 * gradients by finite differences, fusion, totals at several depths and minibatches, and what is refused.
 * Published totals are claims of presets. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const ids[] = {
    "convnext/depths=1-2,widths=4-6,kernel=3,image=18,output=3,batch=2",
    "shufflenet_v2/widths=4-6-8-5,repeats=1-2-1,image=36,output=3,batch=2",
    "sd_unet/widths=4-8,repeats=1,heads=2,groups=2,text=3,tokens=3,image=4,colors=3,batch=2",
    "sd_unet/widths=4-4-8,repeats=2,heads=1,groups=4,text=5,tokens=2,image=8,batch=1",
};

static void test_networks(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(ids[i], &arena, &graph);
        check_flop_counts(&graph, ids[i]);
        check_gradients_at_once(&graph, 2);
        pdnn_arena_finish(&arena);
        check_fusion(ids[i]);
    }
}

static int64_t normed_dense(int64_t in, int64_t out) { /* with biases, and a norm before */
    return 2 * in + in * out + out;
}

/* Two stages of `depth` blocks, 4 and 6 channels, 3 classes; kernels of 3 pixels. */
static int64_t convnext_params(int64_t depth) {
    int64_t params = 4 * (3 * 4 * 4) + 4 + 2 * 4 + (2 * 4 + 4 * 6 * 2 * 2 + 6) + normed_dense(6, 3);
    for (int64_t c = 4; c <= 6; c += 2)
        params += depth * (c * 3 * 3 + c + normed_dense(c, 4 * c) + 4 * c * c + c + c);
    return params;
}

/* Three stages of 1 + depth blocks of 4, 6 and 8 channels, and 5 at the end; a batchnorm has two values of a
 * channel. */
static int64_t shufflenet_params(int64_t depth) {
    int64_t params = 24 * 3 * 9 + 2 * 24 + 8 * 5 + 2 * 5 + 5 * 3 + 3;
    for (int64_t c = 4, before = 24; c <= 8; before = c, c += 2) {
        const int64_t half = c / 2, deep = half * 9 + 2 * half;
        params += (before * 9 + 2 * before) + (before * half + 2 * half);
        params += (before * half + 2 * half) + deep + (half * half + 2 * half);
        params += depth * (2 * (half * half + 2 * half) + deep);
    }
    return params;
}

static int64_t unit_params(int64_t in, int64_t out) { /* the time has 16 values */
    return 16 * out + out + 2 * in + 9 * in * out + out + 2 * out + 9 * out * out + out +
           (in == out ? 0 : in * out + out);
}

static int64_t mixed_params(int64_t c, int64_t text) {
    const int64_t images = 2 * c + 2 * (c * c + c), rows = 3 * 2 * c, itself = 4 * c * c + c,
                  words = 2 * c * c + 2 * c * text + c, gated = 2 * (4 * c * c + 4 * c) + 4 * c * c + c;
    return images + rows + itself + words + gated;
}

/* Levels of 4 and 8 channels of `depth` blocks, the first of which attends to a text of width 3. */
static int64_t sd_unet_params(int64_t depth) {
    int64_t params = (4 * 16 + 16) + (16 * 16 + 16) + (9 * 4 * 4 + 4);
    params += depth * (unit_params(4, 4) + mixed_params(4, 3)) + 9 * 4 * 4 + 4;
    params += unit_params(4, 8) + (depth - 1) * unit_params(8, 8);
    params += 2 * unit_params(8, 8) + mixed_params(8, 3);
    params += depth * unit_params(8 + 8, 8) + unit_params(8 + 4, 8) + 9 * 8 * 8 + 8;
    params += unit_params(8 + 4, 4) + depth * unit_params(4 + 4, 4) + (depth + 1) * mixed_params(4, 3);
    return params + 2 * 4 + 9 * 4 * 4 + 4;
}

enum { ID_ROOM = 128 };

static void convnext_id(char id[ID_ROOM], int depth, int batch) {
    snprintf(id, ID_ROOM, "convnext/depths=%d-%d,widths=4-6,kernel=3,image=16,output=3,batch=%d", depth,
             depth, batch);
}

static void shufflenet_id(char id[ID_ROOM], int depth, int batch) {
    const int blocks = 1 + depth; /* the first is of another kind */
    snprintf(id, ID_ROOM, "shufflenet_v2/widths=4-6-8-5,repeats=%d-%d-%d,image=32,output=3,batch=%d", blocks,
             blocks, blocks, batch);
}

static void sd_unet_id(char id[ID_ROOM], int depth, int batch) {
    snprintf(id, ID_ROOM, "sd_unet/widths=4-8,repeats=%d,heads=2,groups=2,text=3,tokens=3,image=4,batch=%d",
             depth, batch);
}

static const struct {
    void (*id)(char id[ID_ROOM], int depth, int batch);
    int64_t (*params)(int64_t depth);
} families[] = {
    {convnext_id, convnext_params}, {shufflenet_id, shufflenet_params}, {sd_unet_id, sd_unet_params}};

static struct pdnn_totals totals_at(size_t family, int depth, int batch) {
    char id[ID_ROOM];
    families[family].id(id, depth, batch);
    return totals_of(id);
}

/* FLOP of the ops, and bytes but for those of the weights, grow by the same with each block and image. */
static void check_growth(size_t family, int depth, int batch) {
    const struct pdnn_cost at = totals_at(family, depth, batch).cost, least = totals_at(family, 1, 1).cost,
                           deeper = totals_at(family, 2, 1).cost, more = totals_at(family, 1, 2).cost,
                           both = totals_at(family, 2, 2).cost;
    const uint64_t d = (uint64_t)depth - 1, b = (uint64_t)batch - 1;
    const uint64_t flop = least.flop_count + d * (deeper.flop_count - least.flop_count) +
                          b * (more.flop_count - least.flop_count) +
                          d * b * (both.flop_count + least.flop_count - deeper.flop_count - more.flop_count);
    const uint64_t bytes = least.activation_bytes + d * (deeper.activation_bytes - least.activation_bytes) +
                           b * (more.activation_bytes - least.activation_bytes) +
                           d * b *
                               (both.activation_bytes + least.activation_bytes - deeper.activation_bytes -
                                more.activation_bytes);
    if (at.flop_count != flop || at.activation_bytes != bytes)
        fail_msg("family %zu depth %d batch %d: %" PRIu64 " FLOP, %" PRIu64 " bytes instead of %" PRIu64
                 ", %" PRIu64,
                 family, depth, batch, at.flop_count, at.activation_bytes, flop, bytes);
}

static void test_totals(void **state) {
    enum { DEPTHS = 5, BATCHES = 3 };
    (void)state;
    for (size_t family = 0; family < sizeof families / sizeof *families; family++)
        for (int at = 0; at < DEPTHS * BATCHES; at++) {
            const int depth = 1 + at / BATCHES, batch = 1 + at % BATCHES;
            assert_int_equal(totals_at(family, depth, batch).params, families[family].params(depth));
            check_growth(family, depth, batch);
        }
}

/* What is refused, and beside it what just fits. */
static void test_invalid(void **state) {
    static const struct {
        const char *id, *reason; /* NULL: none */
    } rows[] = {
        {"convnext/depths=1-1-1,widths=4-6,image=16,batch=1", "depths has 3 stages, widths 2"},
        {"convnext/depths=1-1,widths=4-6,kernel=4,image=16,batch=1", "kernel=4 is even"},
        {"convnext/depths=1-1,widths=4-6,image=7,batch=1",
         "image=7 is smaller than the 8 pixels that 2 stages need"},
        {"convnext/depths=1-1,widths=4-6,image=8,batch=1", NULL},
        {"shufflenet_v2/widths=4-6-8,image=32,batch=1",
         "widths has 3 values instead of 4: three stages and the last convolution"},
        {"shufflenet_v2/repeats=1-2,image=32,batch=1", "repeats has 2 values instead of 3"},
        {"shufflenet_v2/widths=4-7-8-5,image=32,batch=1", "widths[1]=7 is odd"},
        {"shufflenet_v2/widths=4-6-8-5,image=32,batch=1", NULL},
        {"sd_unet/widths=8-8-8,groups=4,image=6,batch=1", "image=6 is not a multiple of 4, as 3 levels need"},
        {"sd_unet/widths=8-8-8,groups=4,heads=3,image=8,batch=1", "8 channels are not a multiple of heads=3"},
        {"sd_unet/widths=8-6,groups=4,heads=1,image=8,batch=1",
         "groupnorm: groups=4 does not divide 6 channels"},
        {"sd_unet/widths=8-8-8,groups=4,image=8,batch=1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].reason)
            check_invalid(rows[i].id, rows[i].reason);
        else
            assert_true(totals_of(rows[i].id).params > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
