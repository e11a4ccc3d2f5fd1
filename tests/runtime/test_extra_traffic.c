/* What implementations move besides the compulsory bytes, by hand: recurrent weights again at each step,
 * patches of a convolution, what statistics are taken of, keys and values of attention, copies in another
 * type; and nothing else. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/op.h"

#include <omp.h>
#include <stdint.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_openblas, pdnn_backend_reference;

#define LSTM   "rnn/cell=lstm,layers=1,embedding=512,hidden=512,vocabulary=32,"
#define GRU    "rnn/cell=gru,layers=1,embedding=8,hidden=8,vocabulary=32,batch=2,length=5,"
#define GNMT   "gnmt/hidden=8,layers=2,vocabulary=20,source=5,target=4,batch=3,mode=train,rnn=fused"
#define CNN    "cnn/block=plain,blocks=1,filters=16,image=32,output=5,batch=3,mode=train,optimizer=sgd,"
#define RESNET "cnn/block=residual,blocks=1,filters=16,image=32,output=5,batch=3,"

enum { LSTM_U = 4 * 512 * 512 * 4, LSTM_ROW = 512 * 4, GRU_U = 3 * 8 * 8 * 4 };

enum {
    PIXEL_PATCHES = (3 * 49 * 16 * 16 + 4 * 9 * 8 * 8 + 16 * 4 * 4 + 8 * 9 * 4 * 4 + 32 * 2 * 2 +
                     16 * 9 * 2 * 2 + 64 + 32 * 9) *
                    4,
    /* The stem's, then those of 3x3 pixels in each channel. */
    DEPTHWISE_PATCHES = (27 * 16 * 16 + 9 * (8 * 16 * 16 + (16 + 32) * 8 * 8 + (32 + 64) * 4 * 4 +
                                             (64 + 5 * 128) * 2 * 2 + 128 + 256)) *
                        4,
    RESNET_IMAGES = 3 * (16 * 256 + 3 * (16 * 64 + 32 * 16 + 64 * 4 + 128)) * 4,
};

/* The calls of one op and pass together; those of other ops move nothing more, recurrent layers, batch
 * normalization and convolutions (whose gradients of weights have patches on AVX2) apart. */
static const struct row {
    const struct pdnn_backend_def *backend;
    const char *id;
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
    struct pdnn_extra_traffic extra;
} rows[] = {
    /* Packed first, then read at each of 50 steps, between which a step touches four sums and two states. */
    {&pdnn_backend_onednn,
     LSTM "batch=1,length=50,mode=infer,rnn=unrolled",
     &pdnn_op_rnn,
     PDNN_FORWARD,
     {50 * LSTM_U, LSTM_U, LSTM_U + 6 * LSTM_ROW}},
    {&pdnn_backend_openblas,
     LSTM "batch=64,length=50,mode=infer",
     &pdnn_op_rnn,
     PDNN_FORWARD,
     {50 * LSTM_U, LSTM_U, LSTM_U + 64 * 6 * LSTM_ROW}},
    {&pdnn_backend_onednn,
     LSTM "batch=64,length=50,mode=train,rnn=unrolled",
     &pdnn_op_rnn,
     PDNN_BACKWARD_DATA,
     {50 * LSTM_U, LSTM_U, LSTM_U + 64 * 6 * LSTM_ROW}},
    /* The library keeps weights packed; three steps are too few to pack them. */
    {&pdnn_backend_onednn,
     LSTM "batch=1,length=50,mode=infer,rnn=fused",
     &pdnn_op_rnn,
     PDNN_FORWARD,
     {49 * LSTM_U, 0, LSTM_U + 6 * LSTM_ROW}},
    {&pdnn_backend_openblas,
     LSTM "batch=1,length=3,mode=infer",
     &pdnn_op_rnn,
     PDNN_FORWARD,
     {2 * LSTM_U, 0, LSTM_U + 6 * LSTM_ROW}},
    {&pdnn_backend_openblas,
     GRU "mode=train",
     &pdnn_op_rnn,
     PDNN_BACKWARD_DATA,
     {5 * GRU_U, GRU_U, GRU_U + 2 * 5 * 8 * 4}},
    {&pdnn_backend_onednn,
     LSTM "batch=1,length=1,mode=infer,rnn=fused",
     &pdnn_op_rnn,
     PDNN_FORWARD,
     {0, 0, LSTM_U + 6 * LSTM_ROW}},
    /* Three sequences of four target and five source steps, two at a time. */
    {&pdnn_backend_onednn,
     GNMT,
     &pdnn_op_attention,
     PDNN_FORWARD,
     {3 * 3 * 5 * (8 + 8) * 4, 0, 2 * 5 * (8 + 8) * 4}},
    {&pdnn_backend_onednn,
     GNMT,
     &pdnn_op_attention,
     PDNN_BACKWARD_DATA,
     {3 * 3 * 5 * 8 * 4, 0, 2 * 5 * 8 * 4}},
    /* Patches of 3x3 pixels in 3 channels around 32x32 pixels, of three images. */
    {&pdnn_backend_onednn,
     CNN "algorithm=gemm",
     &pdnn_op_conv2d,
     PDNN_FORWARD,
     {3 * 27 * 32 * 32 * 4, 3 * 27 * 32 * 32 * 4, 2 * 27 * 32 * 32 * 4}},
    {&pdnn_backend_onednn,
     CNN "algorithm=gemm",
     &pdnn_op_conv2d,
     PDNN_BACKWARD_WEIGHTS,
     {3 * 27 * 32 * 32 * 4, 3 * 27 * 32 * 32 * 4, 2 * 27 * 32 * 32 * 4}},
    /* 7x7 to 16x16 pixels, then 3x3, and single pixels in strides; none where each pixel is a patch. */
    {&pdnn_backend_onednn,
     "cnn/block=bottleneck,blocks=1,filters=4,image=32,output=5,batch=1,mode=infer,algorithm=gemm",
     &pdnn_op_conv2d,
     PDNN_FORWARD,
     {PIXEL_PATCHES, PIXEL_PATCHES, 3 * 49 * 16 * 16 * 4}},
    {&pdnn_backend_onednn,
     "mobilenet_v1/width=0.25,image=32,output=5,batch=1,mode=infer,algorithm=gemm",
     &pdnn_op_conv2d,
     PDNN_FORWARD,
     {DEPTHWISE_PATCHES, DEPTHWISE_PATCHES, 27 * 16 * 16 * 4}},
    {&pdnn_backend_onednn, CNN "algorithm=direct", &pdnn_op_conv2d, PDNN_FORWARD, {0}},
    /* Batch statistics take a reading of x of their own, their gradients one of dy and of x; running ones
       none. */
    {&pdnn_backend_onednn,
     RESNET "mode=train",
     &pdnn_op_batchnorm,
     PDNN_FORWARD,
     {RESNET_IMAGES, 0, 3 * 16 * 16 * 16 * 4}},
    {&pdnn_backend_onednn,
     RESNET "mode=train",
     &pdnn_op_batchnorm,
     PDNN_BACKWARD_DATA,
     {2 * RESNET_IMAGES, 0, 2 * 3 * 16 * 16 * 16 * 4}},
    {&pdnn_backend_onednn, RESNET "mode=infer", &pdnn_op_batchnorm, PDNN_FORWARD, {0}},
    /* x (2, 4), w (8, 4), y (2, 8), then (2, 8), (2, 8), (2, 2), each copy in whole cache lines. */
    {&pdnn_backend_openblas,
     "fc/layers=1,nodes=8,input=4,output=2,batch=2,mode=infer,dtype=bf16",
     &pdnn_op_dense,
     PDNN_FORWARD,
     {(8 + 32 + 16 + 16 + 16 + 4) * 4, (8 + 32 + 16 + 16 + 16 + 4) * 4, (16 + 32 + 16) * 4}},
    {&pdnn_backend_onednn,
     "fc/layers=3,nodes=8,input=4,output=2,batch=2,mode=train",
     &pdnn_op_dense,
     PDNN_FORWARD,
     {0}},
};

static void test_compile_extra_traffic(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        struct opened backend = open_backend(row->backend);
        struct pdnn_extra_traffic extra = {0};
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_program program;
        struct pdnn_err err = {0};
        pdnn_arena_init(&arena);
        build_instance(row->id, &arena, &graph);
        pdnn_program_init(&program, &graph);
        program.allow_slow = true;
        must(row->backend->compile(backend.state, &graph, &program, &err), &err);
        for (size_t k = 0; k < program.n_calls; k++) {
            const struct pdnn_call *call = &program.calls[k];
            const struct pdnn_node *node = call->node == PDNN_NONE ? NULL : &graph.nodes[call->node];
            if (node && node->op == row->op && node->pass == row->pass)
                pdnn_extra_traffic_add(&extra, &call->extra);
            else if (!node || (node->op != row->op && node->op != &pdnn_op_rnn &&
                               node->op != &pdnn_op_batchnorm && node->op != &pdnn_op_conv2d))
                assert_true(call->extra.read_bytes == 0 && call->extra.written_bytes == 0);
        }
        /* The library may unroll images in parts, and chooses how channels lie. */
        if ((row->op == &pdnn_op_conv2d || row->op == &pdnn_op_batchnorm) && extra.set_bytes > 0 &&
            extra.set_bytes < row->extra.set_bytes)
            extra.set_bytes = row->extra.set_bytes;
        if (memcmp(&extra, &row->extra, sizeof extra) != 0)
            fail_msg("%s: %ju read, %ju written, within %ju", row->id, (uintmax_t)extra.read_bytes,
                     (uintmax_t)extra.written_bytes, (uintmax_t)extra.set_bytes);
        pdnn_program_finish(&program);
        pdnn_arena_finish(&arena);
        close_backend(&backend);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile_extra_traffic)};
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
