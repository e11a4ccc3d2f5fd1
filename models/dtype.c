#include "models/dtype.h"

static const struct {
    const char *name;
    size_t bytes;
} dtypes[PDNN_DTYPE_COUNT] = {
    [PDNN_F32] = {"f32", 4},   [PDNN_BF16] = {"bf16", 2}, [PDNN_F16] = {"f16", 2},
    [PDNN_INT8] = {"int8", 1}, [PDNN_S32] = {"s32", 4},   [PDNN_U8] = {"u8", 1},
};

const char *pdnn_dtype_name(enum pdnn_dtype dtype) {
    return dtypes[dtype].name;
}

size_t pdnn_dtype_bytes(enum pdnn_dtype dtype) {
    return dtypes[dtype].bytes;
}
