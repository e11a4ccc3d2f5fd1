#include "gen/onnx/built.h"

#include "gen/family/family.h"
#include "models/build.h"
#include "models/definition/compile.h"

#include <string.h>

/* The dimensions as a tensor has them. */
static struct pdnn_tensor shape_of(const struct pdnn_draft_entry *entry, const int64_t *dim) {
    struct pdnn_tensor shape = {.rank = entry->rank};
    memcpy(shape.dim, dim, (size_t)shape.rank * sizeof *dim);
    return shape;
}

static enum pdnn_status compare(const char *file, const struct pdnn_graph *graph,
                                const struct pdnn_draft *program, const int64_t *dim, struct pdnn_err *err) {
    char is[PDNN_SHAPE_TEXT], was[PDNN_SHAPE_TEXT];
    if (graph->n_results != (size_t)program->n_results)
        return pdnn_fail(err, PDNN_INVALID, "%s: became a network of %zu results, it has %d", file,
                         graph->n_results, program->n_results);
    for (int i = 0; i < program->n_results; i++) {
        const struct pdnn_draft_entry *entry = program->entry[program->result[i]];
        const struct pdnn_tensor shape = shape_of(entry, dim), *built = &graph->tensors[graph->results[i]];
        if (!pdnn_tensor_same_shape(&shape, built))
            return pdnn_fail(err, PDNN_INVALID,
                             "%s: became another network, whose result %d is %s and not %s", file, i + 1,
                             pdnn_tensor_shape(built, is), pdnn_tensor_shape(&shape, was));
        dim += entry->rank;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_built_check(const char *file, const struct pdnn_str *text,
                                  const struct pdnn_polynomial_axes *axes, const struct pdnn_draft *program,
                                  const int64_t *const *dims, struct pdnn_err *err) {
    const int points = pdnn_polynomial_points(axes);
    struct pdnn_arena arena = {0}, built = {0};
    const struct pdnn_definition *definition;
    const struct pdnn_family_def *family;
    struct pdnn_err problem = {0};
    enum pdnn_status status =
        pdnn_family_parse(file, pdnn_str_text(text), text->length, &arena, &definition, &problem);
    if (status == PDNN_OK)
        status = pdnn_definition_family(definition, false, &arena, &family, &problem);
    for (int k = 0; k < points && status == PDNN_OK; k++) {
        int64_t size[PDNN_POLYNOMIAL_AXES];
        struct pdnn_instance instance;
        struct pdnn_graph graph;
        pdnn_instance_init(&instance, family);
        instance.setting[PDNN_SETTING_MODE] = PDNN_MODE_INFER;
        pdnn_polynomial_point(axes, k, size);
        for (int i = 0; i < axes->count; i++)
            instance.hyper[i] = pdnn_value_of(size[i]);
        pdnn_instance_resolve(&instance, 1);
        status = pdnn_instance_forward(&instance, &built, &graph, &problem);
        if (status == PDNN_OK && compare(file, &graph, program, dims[k], err) != PDNN_OK)
            break;
        pdnn_arena_reset(&built);
    }
    if (status != PDNN_OK)
        pdnn_fail(err, PDNN_INVALID, "%s: became a family that cannot be built: %s", file, problem.text);
    pdnn_arena_finish(&built);
    pdnn_arena_finish(&arena);
    return err->status;
}
