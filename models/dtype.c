#include "models/dtype.h"

#include "base/half.h"

#include <float.h>
#include <math.h>

static double load_f32(const void *array, int64_t i) {
    return (double)((const float *)array)[i];
}

static double load_bf16(const void *array, int64_t i) {
    return (double)pdnn_bf16_value(((const uint16_t *)array)[i]);
}

static double load_f16(const void *array, int64_t i) {
    return (double)pdnn_f16_value(((const uint16_t *)array)[i]);
}

static double load_int8(const void *array, int64_t i) {
    return (double)((const int8_t *)array)[i];
}

static double load_s32(const void *array, int64_t i) {
    return (double)((const int32_t *)array)[i];
}

static void store_f32(void *array, int64_t i, double value) {
    ((float *)array)[i] = (float)value;
}

static void store_bf16(void *array, int64_t i, double value) {
    ((uint16_t *)array)[i] = pdnn_bf16_of((float)value);
}

static void store_f16(void *array, int64_t i, double value) {
    ((uint16_t *)array)[i] = pdnn_f16_of((float)value);
}

static void store_int8(void *array, int64_t i, double value) {
    ((int8_t *)array)[i] = (int8_t)lrint(value);
}

static void store_s32(void *array, int64_t i, double value) {
    ((int32_t *)array)[i] = (int32_t)lrint(value);
}

const uint8_t pdnn_dtype_sizes[PDNN_DTYPE_COUNT] = {
    [PDNN_F32] = 4, [PDNN_BF16] = 2, [PDNN_F16] = 2, [PDNN_INT8] = 1, [PDNN_S32] = 4, [PDNN_U8] = 1,
};

static const struct {
    const char *name;
    double epsilon;
    double (*load)(const void *array, int64_t i);
    void (*store)(void *array, int64_t i, double value);
} dtypes[PDNN_DTYPE_COUNT] = {
    [PDNN_F32] = {"f32", FLT_EPSILON, load_f32, store_f32},
    [PDNN_BF16] = {"bf16", 0x1p-7, load_bf16, store_bf16},
    [PDNN_F16] = {"f16", 0x1p-10, load_f16, store_f16},
    [PDNN_INT8] = {"int8", 0, load_int8, store_int8},
    [PDNN_S32] = {"s32", 0, load_s32, store_s32},
    [PDNN_U8] = {"u8", 0, NULL, NULL},
};

const char *pdnn_dtype_name(enum pdnn_dtype dtype) {
    return dtypes[dtype].name;
}

bool pdnn_dtype_is_half(enum pdnn_dtype dtype) {
    return dtype == PDNN_BF16 || dtype == PDNN_F16;
}

double pdnn_dtype_epsilon(enum pdnn_dtype dtype) {
    return dtypes[dtype].epsilon;
}

double pdnn_dtype_load(enum pdnn_dtype dtype, const void *array, int64_t i) {
    return dtypes[dtype].load(array, i);
}

void pdnn_dtype_store(enum pdnn_dtype dtype, void *array, int64_t i, double value) {
    dtypes[dtype].store(array, i, value);
}
