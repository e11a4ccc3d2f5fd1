/* Seeded data. Every value is a pure function of (seed, tensor, index), so all backends and thread counts see
 * the same numbers. No value is a denormal f32: uniform values are multiples of scale * 2^-24, rounded for
 * 16-bit tensors. Folds are computed from the seeded values of the tensors they combine, whether or not those
 * are part of the program. */
#include "base/rng.h"
#include "models/transform/quantize.h"
#include "runtime/plan/fill.h"

#include <assert.h>
#include <math.h>

static int32_t class_at(uint64_t stream, uint64_t i, int64_t classes) {
    return (int32_t)((pdnn_rng_at(stream, i) >> 32) * (uint64_t)classes >> 32);
}

/* By inversion: exponential of a uniform number. */
static int32_t zipf_at(uint64_t stream, uint64_t i, int64_t classes) {
    double uniform = (double)(pdnn_rng_at(stream, i) >> 11) * 0x1p-53;
    int64_t id = (int64_t)expm1(uniform * log1p((double)classes));
    return (int32_t)(id < classes ? id : classes - 1); /* rounding may give the bound itself */
}

/* The lengths of the sequences of one tensor. */
struct sequences {
    uint64_t stream;
    const int32_t *given; /* NULL: drawn */
    uint32_t n_given;
    int64_t T; /* the longest */
};

/* Length of sequence n, 1 to T steps. */
static int64_t length_at(const struct sequences *of, int64_t n) {
    if (!of->given)
        return 1 + class_at(pdnn_rng_mix(of->stream), (uint64_t)n, of->T);
    int64_t length = of->given[n % of->n_given];
    return length < 1 ? 1 : length > of->T ? of->T : length;
}

/* T steps of N sequences, time-major. */
static void fill_sequences(const struct pdnn_tensor *tensor, const struct sequences *of, int32_t *values) {
    int64_t T = of->T, N = tensor->dim[1], classes = (int64_t)tensor->fill.scale;
    for (int64_t i = 0; i < T * N; i++)
        values[i] = i / N < length_at(of, i % N) ? class_at(of->stream, (uint64_t)i, classes) : -1;
}

/* Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2 S): row t is taken with probability
 * (rows still wanted) / (rows left). */
static void fill_masked(const struct pdnn_tensor *tensor, uint64_t stream, int32_t *values) {
    int64_t B = tensor->dim[0], P = tensor->dim[1], n = (int64_t)tensor->fill.scale;
    assert(P <= n);
    for (int64_t b = 0; b < B; b++) {
        struct pdnn_rng rng = {pdnn_rng_at(stream, (uint64_t)b), 0};
        int64_t taken = 0;
        for (int64_t t = 0; t < n && taken < P; t++) {
            if ((int64_t)pdnn_rng_below(&rng, (uint64_t)(n - t)) < P - taken)
                values[b * P + taken++] = (int32_t)(b * n + t);
        }
    }
}

/* Kinds whose elements are drawn one by one, whatever their index. */
static bool is_drawn(enum pdnn_fill_kind kind) {
    return kind == PDNN_FILL_UNIFORM || kind == PDNN_FILL_CLASS || kind == PDNN_FILL_ZIPF;
}

static int32_t id_at(const struct pdnn_fill *fill, uint64_t stream, int64_t i) {
    int64_t scale = (int64_t)fill->scale;
    switch (fill->kind) {
    case PDNN_FILL_ZIPF:
        return zipf_at(stream, (uint64_t)i, scale);
    case PDNN_FILL_POSITION:
        return (int32_t)(i % scale);
    case PDNN_FILL_STRIDE:
        return (int32_t)(i * scale);
    case PDNN_FILL_CLASS:
        return class_at(stream, (uint64_t)i, scale);
    case PDNN_FILL_CONSTANT:
        return (int32_t)scale;
    default: /* the graph refuses other kinds */
        assert(fill->kind == PDNN_FILL_ZERO);
        return 0;
    }
}

static void fill_ids(const struct pdnn_tensor *tensor, uint64_t stream, int64_t first, int32_t *values) {
    int64_t elements = pdnn_tensor_elements(tensor);
    if (tensor->fill.kind == PDNN_FILL_MASKED)
        fill_masked(tensor, stream, values);
    else
        for (int64_t i = 0; i < elements; i++)
            values[i] = id_at(&tensor->fill, stream, first + i);
}

/* Integers below 128. */
static void fill_bytes(const struct pdnn_tensor *tensor, uint64_t stream, int8_t *values) {
    int64_t elements = pdnn_tensor_elements(tensor);
    assert(tensor->fill.scale <= 128);
    for (int64_t i = 0; i < elements; i++)
        values[i] = (int8_t)id_at(&tensor->fill, stream, i);
}

/* Sequences of T steps each, sequence-major. */
static void fill_sequence_mask(const struct pdnn_tensor *tensor, const struct sequences *of, float *values) {
    int64_t elements = pdnn_tensor_elements(tensor), T = of->T;
    for (int64_t i = 0; i < elements; i++)
        values[i] = i % T < length_at(of, i / T) ? 0 : (float)tensor->fill.scale;
}

static void fill_window_mask(const struct pdnn_tensor *tensor, float *values) {
    int64_t elements = pdnn_tensor_elements(tensor);
    for (int64_t i = 0; i < elements; i++)
        values[i] = pdnn_window_mask_hides(tensor, i) ? (float)tensor->fill.scale : 0;
}

static float raw_at(const struct pdnn_graph *graph, uint32_t tensor, uint64_t seed, int64_t i) {
    return pdnn_fill_at(&graph->tensors[tensor].fill, pdnn_rng_at(seed, tensor), i);
}

static double fold_factor(const struct pdnn_graph *graph, const struct pdnn_fold *fold, uint64_t seed,
                          int64_t c) {
    double variance = raw_at(graph, fold->variance, seed, c);
    double gamma = fold->gamma == PDNN_NONE ? 1 : raw_at(graph, fold->gamma, seed, c);
    return gamma / sqrt(variance + fold->epsilon);
}

static void put(enum pdnn_dtype dtype, void *plain, int64_t i, float value) {
    if (dtype == PDNN_F32)
        ((float *)plain)[i] = value;
    else
        pdnn_dtype_store(dtype, plain, i, (double)value);
}

static void fill_folded(const struct pdnn_graph *graph, uint32_t tensor, uint64_t seed, void *plain) {
    const struct pdnn_tensor *t = &graph->tensors[tensor];
    const struct pdnn_fold *fold = t->fold;
    int64_t elements = pdnn_tensor_elements(t);
    int64_t C = graph->tensors[fold->variance].dim[0], per_channel = elements / C;
#pragma omp parallel for if (elements > 65536)
    for (int64_t c = 0; c < C; c++) {
        double factor = fold_factor(graph, fold, seed, c);
        double mean = raw_at(graph, fold->mean, seed, c);
        double bias = fold->bias == PDNN_NONE ? 0 : raw_at(graph, fold->bias, seed, c);
        double shift = tensor == fold->mean ? 0 : raw_at(graph, tensor, seed, c);
        if (fold->is_shift)
            put(t->dtype, plain, c, (float)(shift + (bias - mean) * factor));
        for (int64_t i = c * per_channel; !fold->is_shift && i < (c + 1) * per_channel; i++)
            put(t->dtype, plain, i, (float)(raw_at(graph, tensor, seed, i) * factor));
    }
}

/* One row of weights (an output unit or channel) as f32. */
struct row {
    const struct pdnn_fill *fill;
    uint64_t stream;
    int64_t begin, end;
    double factor; /* of the fold */
};

static struct row row_of(const struct pdnn_graph *graph, uint32_t weights, uint64_t seed, int64_t row) {
    const struct pdnn_tensor *t = &graph->tensors[weights];
    int64_t length = pdnn_tensor_elements(t) / t->dim[0];
    double factor = t->fold ? fold_factor(graph, t->fold, seed, row) : 1;
    return (struct row){&t->fill, pdnn_rng_at(seed, weights), row * length, (row + 1) * length, factor};
}

static float row_at(const struct row *row, int64_t i) {
    return (float)(pdnn_fill_at(row->fill, row->stream, i) * row->factor);
}

static float row_scale(const struct row *row) {
    float most = 0;
    for (int64_t i = row->begin; i < row->end; i++)
        most = fmaxf(most, fabsf(row_at(row, i)));
    return most > 0 ? most / PDNN_QUANTIZED_WEIGHT_MOST : 1;
}

/* Formula: models/transform/quantize.h. */
static void fill_quantized(const struct pdnn_graph *graph, uint32_t weights, uint64_t seed, int8_t *values) {
    int64_t rows = graph->tensors[weights].dim[0];
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        struct row row = row_of(graph, weights, seed, r);
        float scale = row_scale(&row);
        for (int64_t i = row.begin; i < row.end; i++)
            values[i] = (int8_t)lrintf(row_at(&row, i) / scale);
    }
}

static void fill_scales(const struct pdnn_graph *graph, uint32_t weights, uint64_t seed, float *values) {
    int64_t rows = graph->tensors[weights].dim[0];
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        struct row row = row_of(graph, weights, seed, r);
        values[r] = row_scale(&row);
    }
}

/* Labels have the targets' lengths, masks the sources'. Returns false if the tensor has no sequences. */
static bool find_sequences(const struct pdnn_tensor *t, const struct pdnn_example_lengths *lengths,
                           uint64_t stream, struct sequences *of) {
    bool is_label = t->fill.kind == PDNN_FILL_SEQUENCE_CLASS;
    if (!is_label && t->fill.kind != PDNN_FILL_SEQUENCE_MASK)
        return false;
    *of = (struct sequences){.stream = stream, .T = t->dim[is_label ? 0 : t->rank - 1]};
    if (lengths && lengths->count) {
        of->given = is_label ? lengths->target : lengths->source;
        of->n_given = lengths->count;
    }
    return true;
}

void pdnn_fill_tensor(const struct pdnn_graph *graph, uint32_t tensor, const struct pdnn_fill_source *source,
                      void *plain) {
    const struct pdnn_tensor *t = &graph->tensors[tensor];
    int64_t elements = pdnn_tensor_elements(t);
    uint64_t seed = source->seed, stream = pdnn_rng_at(seed, tensor);
    struct sequences sequences = {0};
    bool is_data = t->role == PDNN_ROLE_INPUT || t->role == PDNN_ROLE_LABEL;
    int64_t first = is_data && is_drawn(t->fill.kind) ? source->rank * elements : 0;
    if (is_data && source->rank && !is_drawn(t->fill.kind))
        stream = pdnn_rng_at(stream, (uint64_t)source->rank);
    bool has_sequences = find_sequences(t, source->lengths, stream, &sequences);
    if (t->dtype == PDNN_S32 && has_sequences) {
        fill_sequences(t, &sequences, plain);
        return;
    }
    if (t->dtype == PDNN_S32) {
        fill_ids(t, stream, first, plain);
        return;
    }
    if (t->dtype == PDNN_INT8 && t->role != PDNN_ROLE_WEIGHT) {
        fill_bytes(t, stream, plain);
        return;
    }
    if (t->dtype == PDNN_INT8) {
        fill_quantized(graph, tensor, seed, plain);
        return;
    }
    if (t->fill.kind == PDNN_FILL_WEIGHT_SCALE) {
        fill_scales(graph, t->of, seed, plain);
        return;
    }
    assert(t->dtype == PDNN_F32 || pdnn_dtype_is_half(t->dtype));
    if (has_sequences) {
        assert(t->dtype == PDNN_F32);
        fill_sequence_mask(t, &sequences, plain);
        return;
    }
    if (t->fill.kind == PDNN_FILL_WINDOW_MASK) {
        fill_window_mask(t, plain);
        return;
    }
    if (t->fold) {
        fill_folded(graph, tensor, seed, plain);
        return;
    }
#pragma omp parallel for if (elements > 65536 && !source->on_one_thread)
    for (int64_t i = 0; i < elements; i++)
        put(t->dtype, plain, i, pdnn_fill_at(&t->fill, stream, first + i));
}
