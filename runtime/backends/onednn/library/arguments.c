#include "runtime/backends/onednn/library/arguments.h"

/* x, w, b and y in every pass, for primitives that have all of them. */
static const struct pdnn_onednn_argument linear[PDNN_PASS_COUNT][PDNN_ONEDNN_ARG_COUNT] = {
    [PDNN_FORWARD] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0},
                      {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                      {DNNL_ARG_BIAS, dnnl_query_weights_md, 1},
                      {DNNL_ARG_DST, dnnl_query_dst_md, 0}},
    [PDNN_BACKWARD_DATA] = {{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, 0},
                            {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                            {0},
                            {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0}},
    [PDNN_BACKWARD_WEIGHTS] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0},
                               {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, 0},
                               {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 1},
                               {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0}},
};

static const struct pdnn_onednn_argument moved[PDNN_ONEDNN_ARG_COUNT] = {
    {DNNL_ARG_SRC, dnnl_query_src_md, 0}, {0}, {0}, {DNNL_ARG_DST, dnnl_query_dst_md, 0}};

static const struct pdnn_onednn_argument recurrent[PDNN_ONEDNN_ARG_COUNT] = {
    [PDNN_ONEDNN_SRC] = {DNNL_ARG_SRC_LAYER, dnnl_query_src_md, 0},
    [PDNN_ONEDNN_WEIGHTS] = {DNNL_ARG_WEIGHTS_LAYER, dnnl_query_weights_md, 0},
    [PDNN_ONEDNN_RECURRENT] = {DNNL_ARG_WEIGHTS_ITER, dnnl_query_weights_md, 1},
    [PDNN_ONEDNN_BIAS] = {DNNL_ARG_BIAS, dnnl_query_weights_md, 2},
    [PDNN_ONEDNN_DST] = {DNNL_ARG_DST_LAYER, dnnl_query_dst_md, 0},
    [PDNN_ONEDNN_WORKSPACE] = {DNNL_ARG_WORKSPACE, dnnl_query_workspace_md, 0},
    [PDNN_ONEDNN_DIFF_SRC] = {DNNL_ARG_DIFF_SRC_LAYER, dnnl_query_diff_src_md, 0},
    [PDNN_ONEDNN_DIFF_WEIGHTS] = {DNNL_ARG_DIFF_WEIGHTS_LAYER, dnnl_query_diff_weights_md, 0},
    [PDNN_ONEDNN_DIFF_RECURRENT] = {DNNL_ARG_DIFF_WEIGHTS_ITER, dnnl_query_diff_weights_md, 1},
    [PDNN_ONEDNN_DIFF_BIAS] = {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 2},
    [PDNN_ONEDNN_DIFF_DST] = {DNNL_ARG_DIFF_DST_LAYER, dnnl_query_diff_dst_md, 0},
    [PDNN_ONEDNN_STATE] = {DNNL_ARG_SRC_ITER, dnnl_query_src_md, 1},
    [PDNN_ONEDNN_STATE_C] = {DNNL_ARG_SRC_ITER_C, dnnl_query_src_md, 2},
    [PDNN_ONEDNN_DIFF_STATE] = {DNNL_ARG_DIFF_SRC_ITER, dnnl_query_diff_src_md, 1},
    [PDNN_ONEDNN_DIFF_STATE_C] = {DNNL_ARG_DIFF_SRC_ITER_C, dnnl_query_diff_src_md, 2},
};

const struct pdnn_onednn_argument *pdnn_onednn_arguments_of(const struct pdnn_onednn_request *request) {
    if (request->kind == PDNN_ONEDNN_RNN)
        return recurrent;
    return request->kind == PDNN_ONEDNN_REORDER ? moved : linear[request->pass];
}
