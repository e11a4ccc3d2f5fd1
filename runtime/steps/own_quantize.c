/* quantize and dequantize on our kernels. */
#include "runtime/steps/own_step.h"
#include "runtime/kernels/rows/quantize.h"

uint64_t pdnn_own_quantize_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_quantize_scratch(own->threads) * sizeof(int32_t);
}

void pdnn_own_quantize(const struct pdnn_own *own) {
    const struct pdnn_quantize_job job = {
        .x = own->in[0],
        .q = own->out[0],
        .scale = own->out[1],
        .scratch = own->scratch,
        .elements = own->elements,
        .zero_point = own->zero_point,
    };
    pdnn_quantize_run(&job, own->threads);
}

uint64_t pdnn_own_dequantize_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_channels_padded(&own->shape) * sizeof(float);
}

void pdnn_own_dequantize(const struct pdnn_own *own) {
    const struct pdnn_dequantize_job job = {
        .shape = own->shape,
        .x = own->in[0],
        .x_scale = own->in[1],
        .w_scale = own->in[2],
        .y = own->out[0],
        .factor = own->scratch,
    };
    pdnn_dequantize_run(&job, own->threads);
}
