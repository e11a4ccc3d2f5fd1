#include "gen/onnx/step.h"

#include <string.h>

bool pdnn_numbers_room(struct pdnn_trace *trace, struct pdnn_value_of *value, double **number) {
    const int64_t count = pdnn_strided_elements(value);
    if (count > (int64_t)(PDNN_TRACE_NUMBERS + trace->onnx->length / (PDNN_TRACE_SHARE / 4) - trace->numbers))
        return false;
    trace->numbers += (size_t)count;
    value->kind = PDNN_VALUE_NUMBERS;
    value->node = trace->node;
    value->number = *number = pdnn_arena_room(trace->program.arena, (size_t)count, sizeof **number);
    return true;
}

static double half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    double value = (bits & 1023) + (exponent ? 1024 : 0);
    for (int e = exponent ? exponent : 1; e < 25; e++)
        value /= 2;
    for (int e = 25; e < exponent; e++)
        value *= 2;
    return bits >> 15 ? -value : value;
}

/* Number k of raw bytes, which are little-endian as this machine is; the type has that many bytes. */
static double raw_number(const uint8_t *at, int type) {
#define RAW(kind)                                                                                            \
    {                                                                                                        \
        kind value;                                                                                          \
        memcpy(&value, at, sizeof value);                                                                    \
        return (double)value;                                                                                \
    }
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        RAW(float)
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        RAW(double)
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        RAW(int64_t)
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
        RAW(int32_t)
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT16:
        RAW(int16_t)
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT8:
        RAW(int8_t)
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16: {
        uint16_t bits;
        memcpy(&bits, at, sizeof bits);
        return half(bits);
    }
    default:
        return *at;
    }
#undef RAW
}

static size_t bytes_of(int type) {
    static const unsigned char bytes[] = {
        [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT] = 4, [ONNX__TENSOR_PROTO__DATA_TYPE__UINT8] = 1,
        [ONNX__TENSOR_PROTO__DATA_TYPE__INT8] = 1,  [ONNX__TENSOR_PROTO__DATA_TYPE__INT16] = 2,
        [ONNX__TENSOR_PROTO__DATA_TYPE__INT32] = 4, [ONNX__TENSOR_PROTO__DATA_TYPE__INT64] = 8,
        [ONNX__TENSOR_PROTO__DATA_TYPE__BOOL] = 1,  [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16] = 2,
        [ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE] = 8};
    return type > 0 && (size_t)type < sizeof bytes ? bytes[type] : 0;
}

bool pdnn_numbers_are_real(int type) {
    return type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT || type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ||
           type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE || type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
}

/* Number k of a tensor that has its data. */
static double number_of(const struct Onnx__TensorProto *tensor, size_t k) {
    const int type = tensor->data_type;
    if (tensor->has_raw_data)
        return raw_number(tensor->raw_data.data + k * bytes_of(type), type);
    if (tensor->n_int64_data)
        return (double)tensor->int64_data[k];
    if (tensor->n_float_data)
        return (double)tensor->float_data[k];
    if (tensor->n_double_data)
        return tensor->double_data[k];
    return type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ? half((uint16_t)tensor->int32_data[k])
                                                          : (double)tensor->int32_data[k];
}

bool pdnn_numbers_are_few(const struct pdnn_value_of *value) {
    return pdnn_strided_elements(value) <= PDNN_TRACE_NUMBERS;
}

double pdnn_numbers_at(const struct pdnn_value_of *value, int64_t k) {
    int64_t at = value->offset;
    for (int d = value->rank; d-- > 0; k /= value->dim[d])
        at += k % value->dim[d] * value->stride[d];
    return value->number ? value->number[at] : number_of(value->tensor, (size_t)at);
}

double pdnn_numbers_broadcast(const struct pdnn_value_of *value, int rank, const int64_t *dim, int64_t k) {
    int64_t at = 0, step = 1;
    for (int d = rank; d-- > 0; k /= dim[d]) {
        const int own = d - (rank - value->rank);
        if (own < 0)
            continue;
        at += value->dim[own] == 1 ? 0 : k % dim[d] * step;
        step *= value->dim[own];
    }
    return pdnn_numbers_at(value, at);
}

int64_t pdnn_numbers_whole(const struct pdnn_value_of *value, int64_t k) {
    const double number = pdnn_numbers_at(value, k), far = 0x1p62;
    return number > far ? (int64_t)far : number > -far ? (int64_t)number : -(int64_t)far; /* NaN: far below */
}

/* How many numbers a tensor has in the file; 0 where its type is none that is read. */
static size_t count_of(const struct Onnx__TensorProto *tensor) {
    const size_t bytes = bytes_of(tensor->data_type);
    return tensor->n_external_data || !bytes ? 0
           : tensor->has_raw_data            ? tensor->raw_data.len / bytes
           : tensor->n_int64_data            ? tensor->n_int64_data
           : tensor->n_float_data            ? tensor->n_float_data
           : tensor->n_double_data           ? tensor->n_double_data
                                             : tensor->n_int32_data;
}

bool pdnn_numbers_tensor(struct pdnn_trace *trace, const struct Onnx__TensorProto *tensor,
                         struct pdnn_value_of *value) {
    for (size_t d = 0; d < tensor->n_dims; d++)
        if (tensor->dims[d] == 0) { /* an empty list, as of Slice's axes */
            value->kind = PDNN_VALUE_NUMBERS;
            value->rank = 1;
            value->dim[0] = 0;
            value->is_whole = true;
            return true;
        }
    if (!pdnn_strided_shape(trace, value, (int)tensor->n_dims, tensor->dims))
        return false;
    const size_t count = (size_t)pdnn_strided_elements(value), has = count_of(tensor);
    value->kind = PDNN_VALUE_REFUSED;
    value->node = trace->node;
    value->is_whole = !pdnn_numbers_are_real(tensor->data_type);
    if (tensor->n_external_data || !bytes_of(tensor->data_type))
        return true;
    if (has != count)
        return pdnn_trace_fail(trace, "a tensor of %zu numbers has %zu", count, has);
    value->kind = PDNN_VALUE_NUMBERS;
    value->tensor = tensor;
    return true;
}

bool pdnn_numbers_known(const struct pdnn_value_of *value, struct pdnn_value_of *result) {
    *result = *value;
    if (value->kind != PDNN_VALUE_WEIGHT || !value->tensor)
        return value->kind == PDNN_VALUE_NUMBERS;
    size_t count = 1;
    for (size_t d = 0; d < value->tensor->n_dims; d++)
        count *= (size_t)value->tensor->dims[d];
    result->kind = PDNN_VALUE_NUMBERS;
    return count_of(value->tensor) == count;
}

bool pdnn_numbers_scalar(const struct pdnn_value_of *value, double *number) {
    struct pdnn_value_of known;
    if (!value || pdnn_strided_elements(value) != 1 || !pdnn_numbers_known(value, &known))
        return false;
    *number = pdnn_numbers_at(&known, 0);
    return true;
}

bool pdnn_numbers_compact(struct pdnn_trace *trace, const struct pdnn_value_of *value,
                          struct pdnn_value_of *result) {
    double *number;
    const int64_t count = pdnn_strided_elements(value);
    if (!pdnn_numbers_room(trace, result, &number))
        return pdnn_trace_fail(trace, "more constants than are followed");
    for (int64_t k = 0; k < count; k++)
        number[k] = pdnn_numbers_at(value, k);
    return true;
}

bool pdnn_numbers_are_by_diagonal(const struct pdnn_value_of *value, int rank, const int64_t *dim) {
    const int r = value->rank;
    bool is = value->kind == PDNN_VALUE_NUMBERS;
    for (int d = 0; d < rank - 2; d++)
        is = is && dim[d] == 1;
    if (!is || pdnn_strided_elements(value) == 1)
        return is;
    return r >= 2 && rank >= 2 && value->dim[r - 1] == dim[rank - 1] && value->dim[r - 2] == dim[rank - 2] &&
           value->stride[r - 1] == -value->stride[r - 2];
}

bool pdnn_numbers_band(struct pdnn_trace *trace, struct pdnn_value_of *value, double **number) {
    const int r = value->rank;
    struct pdnn_value_of diagonals = *value;
    const int64_t count = value->dim[r - 2] + value->dim[r - 1] - 1;
    if (!pdnn_strided_shape(trace, &diagonals, 1, &count) || !pdnn_numbers_room(trace, &diagonals, number))
        return false;
    value->kind = PDNN_VALUE_NUMBERS;
    value->node = trace->node;
    value->number = *number;
    value->offset = value->dim[r - 2] - 1;
    value->stride[r - 2] = -1;
    value->stride[r - 1] = 1;
    return true;
}

int64_t pdnn_numbers_different(const struct pdnn_value_of *value) {
    const int r = value->rank;
    return r >= 2 && pdnn_numbers_are_by_diagonal(value, r, value->dim)
               ? value->dim[r - 2] + value->dim[r - 1] - 1
               : pdnn_strided_elements(value);
}

int64_t pdnn_numbers_place(const struct pdnn_value_of *value, int64_t i) {
    const int r = value->rank;
    if (r < 2 || !pdnn_numbers_are_by_diagonal(value, r, value->dim))
        return i;
    const int64_t right = i - (value->dim[r - 2] - 1);
    return right < 0 ? -right * value->dim[r - 1] : right;
}
