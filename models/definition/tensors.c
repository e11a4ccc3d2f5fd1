#include "models/definition/tensors.h"

#include "models/definition/message.h"
#include "models/forward.h"

#include <inttypes.h>
#include <stdio.h>

static bool evaluate_fill(struct pdnn_build *build, const struct pdnn_definition_tensor *row,
                          const struct pdnn_tensor_code *code, struct pdnn_fill *fill) {
    *fill = (struct pdnn_fill){.kind = row->fill, .scale = 1};
    return !code->fill_by || pdnn_term_real(build, code->fill_by, &fill->scale);
}

static bool evaluate_dims(struct pdnn_build *build, const struct pdnn_definition_tensor *row,
                          const struct pdnn_tensor_code *code, int64_t *dim) {
    for (size_t i = 0; i < row->rank; i++)
        if (!pdnn_term_whole(build, code->shape[i], code->what, 1, &dim[i]))
            return false;
    return true;
}

static bool is_whole_fill(enum pdnn_fill_kind kind) {
    return kind == PDNN_FILL_CLASS || kind == PDNN_FILL_ZIPF || kind == PDNN_FILL_POSITION ||
           kind == PDNN_FILL_STRIDE || kind == PDNN_FILL_MASKED || kind == PDNN_FILL_SEQUENCE_CLASS;
}

/* Masks are f32 whatever the data's type. */
static bool is_mask(enum pdnn_fill_kind kind) {
    return kind == PDNN_FILL_SEQUENCE_MASK || kind == PDNN_FILL_WINDOW_MASK;
}

static bool make_input(struct pdnn_build *build, int input, uint32_t *made) {
    const struct pdnn_definition_tensor *row = &build->compiled->definition->inputs[input];
    const struct pdnn_tensor_code *code = &build->compiled->inputs[input];
    struct pdnn_tensor tensor = {.role = PDNN_ROLE_INPUT,
                                 .dtype = row->is_id || is_whole_fill(row->fill) ? PDNN_S32
                                          : is_mask(row->fill)                   ? PDNN_F32
                                                                                 : build->graph->dtype,
                                 .rank = (int)row->rank,
                                 .of = PDNN_NONE};
    if (!evaluate_dims(build, row, code, tensor.dim) || !evaluate_fill(build, row, code, &tensor.fill))
        return false;
    *made = pdnn_graph_tensor(build->graph, &tensor);
    return build->err->status == PDNN_OK;
}

/* name[0] to name[count - 1]; all are made when one is read. */
static bool make_inputs(struct pdnn_build *build, int input) {
    const struct pdnn_tensor_code *code = &build->compiled->inputs[input];
    struct pdnn_indexed *all = &build->repeated[input];
    struct pdnn_datum variable, *frame = build->frame;
    int64_t count;
    if (!pdnn_term_whole(build, code->count, "repeat", 1, &count))
        return false;
    if (count > PDNN_ROUNDS_MAX)
        return pdnn_build_fail(build, code->count->from->offset, "repeat is %" PRId64 ", expected at most %d",
                               count, PDNN_ROUNDS_MAX);
    all->at = pdnn_arena_alloc(build->arena, (size_t)count, sizeof *all->at);
    build->frame = &variable;
    bool fine = true;
    for (int64_t i = 0; i < count && fine; i++) {
        variable = (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(i)};
        fine = make_input(build, input, &all->at[i]);
    }
    all->count = (size_t)count;
    build->frame = frame;
    return fine;
}

bool pdnn_build_input(struct pdnn_build *build, int input, struct pdnn_datum *datum) {
    if (build->compiled->definition->inputs[input].count) {
        if (!build->repeated[input].count && !make_inputs(build, input))
            return false;
        *datum = (struct pdnn_datum){.kind = PDNN_DATUM_RESULTS, .results = &build->repeated[input]};
        return true;
    }
    if (build->inputs[input] == PDNN_NONE && !make_input(build, input, &build->inputs[input]))
        return false;
    *datum = (struct pdnn_datum){.kind = PDNN_DATUM_TENSOR, .tensor = build->inputs[input]};
    return true;
}

static bool make_weight(struct pdnn_build *build, size_t weight) {
    const struct pdnn_definition_tensor *row = &build->compiled->definition->weights[weight];
    const struct pdnn_tensor_code *code = &build->compiled->weights[weight];
    struct pdnn_graph *graph = build->graph;
    int64_t dim[PDNN_RANK_MAX];
    struct pdnn_fill fill;
    bool holds = true, replays = graph->replays;
    if (code->when && !pdnn_term_holds(build, code->when, &holds))
        return false;
    if (!holds)
        return true;
    if (!evaluate_dims(build, row, code, dim) || !evaluate_fill(build, row, code, &fill))
        return false;
    graph->replays = replays && !(graph->unneeded && graph->unneeded[graph->n_unneeded + weight]);
    build->weights[weight] =
        (row->is_state ? pdnn_graph_state : pdnn_graph_weight)(graph, (int)row->rank, dim, fill);
    graph->replays = replays;
    return build->err->status == PDNN_OK;
}

/* The definition's weights are made together, in their order, when the first of them is used. */
bool pdnn_build_weight(struct pdnn_build *build, int32_t place, int weight, uint32_t *made) {
    const struct pdnn_definition *definition = build->compiled->definition;
    for (size_t i = 0; !build->has_weights && i < definition->n_weights; i++)
        if (!make_weight(build, i))
            return false;
    build->has_weights = true;
    *made = build->weights[weight];
    return *made != PDNN_NONE ||
           pdnn_build_fail(build, place, "there is no weight '%s' here: its 'when' does not hold",
                           definition->weights[weight].name);
}
