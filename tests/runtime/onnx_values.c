/* What an exported network is compared with: its inputs, as runs of seed 1 have them, and its results, by the
 * ops' own reference kernels in double.
 *
 * Usage: onnx_values ID DIR, where ID may name a family's file. Writes DIR/NAME for each input, and
 * DIR/result, DIR/result2 and so on: f32 or s32 in row-major order.
 */
#include "gen/expansion/walk.h"
#include "models/onnx/network.h"
#include "runtime/plan/fill.h"
#include "tests/models/reference_run.h"

#include <stdio.h>
#include <stdlib.h>

static const struct pdnn_fill_source source = {.seed = 1, .on_one_thread = true};

static void fill(const struct pdnn_graph *graph, uint32_t tensor, double *values) {
    const struct pdnn_tensor *t = &graph->tensors[tensor];
    const int64_t count = pdnn_tensor_elements(t);
    void *plain = calloc((size_t)count, sizeof(float));
    pdnn_fill_tensor(graph, tensor, &source, plain);
    for (int64_t i = 0; i < count; i++)
        values[i] = t->dtype == PDNN_S32 ? ((int32_t *)plain)[i] : (double)((float *)plain)[i];
    free(plain);
}

static int write_values(const char *directory, const char *name, bool is_whole, const double *values,
                        int64_t count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return 1;
    for (int64_t i = 0; i < count; i++) {
        const float real = (float)values[i];
        const int32_t whole = is_whole ? (int32_t)values[i] : 0;
        fwrite(is_whole ? (const void *)&whole : &real, sizeof real, 1, file);
    }
    return fclose(file);
}

/* The first instance of the spec. */
static enum pdnn_status read_instance(const char *id, struct pdnn_instance *instance, struct pdnn_err *err) {
    struct pdnn_spec spec;
    struct pdnn_walk walk = {.next = 0};
    struct pdnn_expanded item;
    enum pdnn_status status = pdnn_spec_load(&id, 1, NULL, 0, &spec, err);
    if (status != PDNN_OK)
        return status;
    pdnn_walk_start(&walk, &spec, 1, false);
    if (pdnn_walk_next(&walk, &item, &status, err))
        *instance = item.instance;
    pdnn_walk_finish(&walk);
    pdnn_spec_finish(&spec);
    return status;
}

int main(int argc, char **argv) {
    struct pdnn_instance instance;
    struct pdnn_arena arena = {0};
    struct pdnn_export *onnx;
    struct pdnn_err err = {0};
    int failed = 0;
    if (argc != 3 || read_instance(argv[1], &instance, &err) != PDNN_OK ||
        pdnn_export_build(&instance, &arena, &onnx, &err) != PDNN_OK) {
        fprintf(stderr, "onnx_values: %s\n", argc == 3 ? err.text : "give an ID and a directory");
        return 2;
    }
    const struct pdnn_graph *graph = onnx->graph;
    double **values = reference_values(graph);
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        if (graph->tensors[i].role != PDNN_ROLE_ACTIVATION)
            fill(graph, i, values[i]);
    }
    for (size_t i = 0; i < onnx->n_values; i++) {
        const struct pdnn_export_value *value = &onnx->values[i];
        if (value->kind == PDNN_EXPORT_INPUT)
            failed |=
                write_values(argv[2], value->name, value->type != PDNN_EXPORT_F32, values[value->tensor],
                             pdnn_tensor_elements(&graph->tensors[value->tensor]));
    }
    reference_run(graph, values, 0, graph->n_nodes);
    for (size_t i = 0; i < graph->n_results; i++) {
        const uint32_t result = graph->results[i];
        failed |= write_values(argv[2], onnx->values[onnx->results[i]].name,
                               graph->tensors[result].dtype == PDNN_S32, values[result],
                               pdnn_tensor_elements(&graph->tensors[result]));
    }
    reference_values_free(graph, values);
    pdnn_arena_finish(&arena);
    return failed ? 1 : 0;
}
