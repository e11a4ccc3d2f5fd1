#include "tests/models/reference_run.h"

#include "base/rng.h"
#include "models/cost/lifetimes.h"
#include "models/transform/quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double **reference_values(const struct pdnn_graph *graph) {
    double **values = calloc(graph->n_tensors, sizeof *values);
    for (size_t i = 0; i < graph->n_tensors; i++)
        values[i] = calloc((size_t)pdnn_tensor_elements(&graph->tensors[i]), sizeof **values);
    return values;
}

void reference_values_free(const struct pdnn_graph *graph, double **values) {
    for (size_t i = 0; i < graph->n_tensors; i++)
        free(values[i]);
    free(values);
}

static double draw(struct pdnn_rng *rng, const struct pdnn_fill *fill) {
    switch (fill->kind) {
    case PDNN_FILL_CLASS:
    case PDNN_FILL_ZIPF: /* any ids will do here */
    case PDNN_FILL_SEQUENCE_CLASS:
        return (double)pdnn_rng_below(rng, (uint64_t)fill->scale);
    case PDNN_FILL_UNIFORM:
        return fill->scale * (2 * pdnn_rng_double(rng) - 1);
    case PDNN_FILL_NEAR_ONE:
        return 1 + fill->scale * (2 * pdnn_rng_double(rng) - 1);
    case PDNN_FILL_CONSTANT:
        return fill->scale;
    default:
        return 0;
    }
}

/* Gives each of N sequences a length from 1 to T steps: labels are (T, N), masks (..., T). */
static void cut_sequences(const struct pdnn_tensor *tensor, double *values, struct pdnn_rng *rng) {
    bool is_mask = tensor->fill.kind == PDNN_FILL_SEQUENCE_MASK;
    int64_t T = tensor->dim[is_mask ? tensor->rank - 1 : 0], N = pdnn_tensor_elements(tensor) / T;
    for (int64_t n = 0; n < N; n++) {
        for (int64_t t = 1 + (int64_t)pdnn_rng_below(rng, (uint64_t)T); t < T; t++)
            values[is_mask ? n * T + t : t * N + n] = is_mask ? tensor->fill.scale : -1;
    }
}

/* Row numbers: exact for kinds without randomness, evenly spaced for masked ones. */
static void place_rows(const struct pdnn_tensor *tensor, double *values) {
    int64_t elements = pdnn_tensor_elements(tensor), scale = (int64_t)tensor->fill.scale;
    for (int64_t i = 0; i < elements; i++) {
        if (tensor->fill.kind == PDNN_FILL_POSITION)
            values[i] = (double)(i % scale);
        else if (tensor->fill.kind == PDNN_FILL_STRIDE)
            values[i] = (double)(i * scale);
        else if (tensor->fill.kind == PDNN_FILL_MASKED)
            values[i] = (double)(i * scale / tensor->dim[1]);
        else if (tensor->fill.kind == PDNN_FILL_WINDOW_MASK)
            values[i] = pdnn_window_mask_hides(tensor, i) ? tensor->fill.scale : 0;
    }
}

/* Applies the fold, so that the result is what an unfused graph computes from the same values. */
static void apply_fold(const struct pdnn_graph *graph, double **values, uint32_t tensor) {
    const struct pdnn_fold *fold = graph->tensors[tensor].fold;
    int64_t C = graph->tensors[fold->variance].dim[0];
    int64_t per_channel = pdnn_tensor_elements(&graph->tensors[tensor]) / C;
    for (int64_t i = 0; i < C * per_channel; i++) {
        int64_t c = i / per_channel;
        double gamma = fold->gamma == PDNN_NONE ? 1 : values[fold->gamma][c];
        double factor = gamma / sqrt(values[fold->variance][c] + fold->epsilon);
        double bias = fold->bias == PDNN_NONE ? 0 : values[fold->bias][c];
        if (fold->is_shift)
            values[tensor][i] =
                (tensor == fold->mean ? 0 : values[tensor][i]) + (bias - values[fold->mean][c]) * factor;
        else
            values[tensor][i] *= factor;
    }
}

/* Int8 weights and the scales of their rows, as in models/transform/quantize.h. */
static void quantize_weights(const struct pdnn_graph *graph, double **values, uint32_t scales) {
    uint32_t weights = graph->tensors[scales].of;
    int64_t rows = graph->tensors[weights].dim[0];
    int64_t per_row = pdnn_tensor_elements(&graph->tensors[weights]) / rows;
    for (int64_t r = 0; r < rows; r++) {
        double *row = values[weights] + r * per_row, most = 0;
        for (int64_t i = 0; i < per_row; i++)
            most = fmax(most, fabs(row[i]));
        values[scales][r] = most > 0 ? most / PDNN_QUANTIZED_WEIGHT_MOST : 1;
        for (int64_t i = 0; i < per_row; i++)
            row[i] = rint(row[i] / values[scales][r]);
    }
}

void reference_fill(const struct pdnn_graph *graph, double **values, uint64_t seed) {
    struct pdnn_rng rng = {seed, 0};
    for (size_t i = 0; i < graph->n_tensors; i++) {
        int64_t elements = pdnn_tensor_elements(&graph->tensors[i]);
        for (int64_t k = 0; pdnn_role_is_resident(graph->tensors[i].role) && k < elements; k++)
            values[i][k] = draw(&rng, &graph->tensors[i].fill);
        if (graph->tensors[i].fill.kind == PDNN_FILL_SEQUENCE_CLASS ||
            graph->tensors[i].fill.kind == PDNN_FILL_SEQUENCE_MASK)
            cut_sequences(&graph->tensors[i], values[i], &rng);
        place_rows(&graph->tensors[i], values[i]);
    }
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        if (graph->tensors[i].fold)
            apply_fold(graph, values, i);
    }
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        if (graph->tensors[i].fill.kind == PDNN_FILL_WEIGHT_SCALE)
            quantize_weights(graph, values, i);
    }
}

uint64_t reference_run(const struct pdnn_graph *graph, double **values, size_t first, size_t last) {
    struct pdnn_reference r = {.graph = graph, .value = values};
    for (size_t i = first; i < last; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_pass_def *pass = &node->op->pass[node->pass];
        size_t bytes = pass->scratch ? (size_t)pass->scratch(graph, node) * sizeof(double) : 0;
        r.scratch = malloc(bytes + 1);
        memset(r.scratch, 0xff, bytes); /* NaN: nothing may rely on its contents */
        pdnn_reference_run(&r, node);
        free(r.scratch);
    }
    return r.flop;
}
