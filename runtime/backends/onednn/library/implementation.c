#include "runtime/backends/onednn/library/implementation.h"

#include <string.h>

/* The library counts a matrix product as direct convolution, so the implementation's
 * name tells them apart. */
const dnnl_alg_kind_t pdnn_onednn_algorithms[PDNN_ALGORITHM_COUNT] = {
    [PDNN_ALGORITHM_AUTO] = dnnl_convolution_auto,
    [PDNN_ALGORITHM_DIRECT] = dnnl_convolution_direct,
    [PDNN_ALGORITHM_WINOGRAD] = dnnl_convolution_winograd,
    [PDNN_ALGORITHM_GEMM] = dnnl_convolution_direct,
};

dnnl_prop_kind_t pdnn_onednn_forward_prop(const struct pdnn_onednn_request *request) {
    bool is_training = request->trains || request->pass != PDNN_FORWARD;
    return is_training ? dnnl_forward_training : dnnl_forward_inference;
}

const char *pdnn_onednn_implementation_name(const_dnnl_primitive_desc_t descriptor) {
    const char *name;
    dnnl_status_t status = dnnl_primitive_desc_query(descriptor, dnnl_query_impl_info_str, 0, &name);
    return status == dnnl_success ? name : "";
}

/* oneDNN 2.6's int8 code for 1x1 kernels with a stride, which first gathers the strided pixels, gives results
 * that differ from process to process when it runs on more than one thread. Nothing says that 3.x does not.
 */
static bool is_racy_convolution(const struct pdnn_onednn_request *request, const char *name) {
    bool strides = request->stride[0] > 1 || request->stride[1] > 1;
    return request->kind == PDNN_ONEDNN_CONVOLUTION && strides && strstr(name, "int8_1x1");
}

/* The int8 convolution over a matrix product has generated code only on x86-64 for what comes after the
 * product. Elsewhere it adds the sum before the other post-ops, whatever their order, so that the summand is
 * scaled as well. */
static bool is_sum_scaled(const struct pdnn_onednn_request *request, const char *name) {
#if defined(__x86_64__)
    const bool is_in_order = true;
#else
    const bool is_in_order = false;
#endif
    if (is_in_order || request->kind != PDNN_ONEDNN_CONVOLUTION || !request->layout[PDNN_ONEDNN_SCALE])
        return false;
    return request->n_post_ops && !request->post_op[0].activation && strstr(name, "gemm");
}

bool pdnn_onednn_is_wanted(const struct pdnn_onednn_request *request,
                           const_dnnl_primitive_desc_t descriptor) {
    const char *name = pdnn_onednn_implementation_name(descriptor);
    if (is_racy_convolution(request, name) || is_sum_scaled(request, name))
        return false;
    if (request->algorithm == PDNN_ALGORITHM_DIRECT)
        return !strstr(name, "gemm") && !strstr(name, "ref");
    return request->algorithm != PDNN_ALGORITHM_GEMM || strstr(name, "gemm");
}
