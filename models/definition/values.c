#include "models/definition/values.h"

#include "models/definition/message.h"
#include "models/instance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct pdnn_datum number(int64_t value) {
    return (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(value)};
}

static struct pdnn_datum list_of(struct pdnn_build *build, struct pdnn_value value) {
    int count = pdnn_list_length(value);
    struct pdnn_data_list *list =
        pdnn_arena_alloc(build->arena, 1, sizeof *list + (size_t)count * sizeof(struct pdnn_datum));
    list->count = (size_t)count;
    list->repeats_last = true;
    for (int i = 0; i < count; i++)
        list->at[i] = number(pdnn_list_at(value, i));
    return (struct pdnn_datum){.kind = PDNN_DATUM_LIST, .list = list};
}

bool pdnn_axis_is_derived(const struct pdnn_definition_axis *axis, struct pdnn_value value) {
    return value.number < 0 && axis->word && axis->fallback;
}

struct pdnn_datum pdnn_axis_value(struct pdnn_build *build, size_t i) {
    const struct pdnn_definition_axis *axis = &build->compiled->definition->axes[i];
    const struct pdnn_value value = build->instance->hyper[i];
    struct pdnn_datum datum = number(value.number);
    switch (axis->type) {
    case PDNN_AXIS_INT:
    case PDNN_AXIS_SWITCH:
        break;
    case PDNN_AXIS_DECIMAL:
        pdnn_rational_make(value.number, PDNN_MILLION, &datum.number);
        break;
    case PDNN_AXIS_LIST:
        return list_of(build, value);
    case PDNN_AXIS_CHOICE:
        datum.kind = PDNN_DATUM_WORD;
        datum.word = build->compiled->choices[build->compiled->first_choice[i] + value.number];
        break;
    }
    return datum;
}

/* Axes whose values are derived come after those that have them. */
static bool evaluate_axes(struct pdnn_build *build) {
    const struct pdnn_definition *definition = build->compiled->definition;
    for (size_t i = 0; i < definition->n_axes; i++)
        build->globals[i] = pdnn_axis_value(build, i);
    for (size_t i = 0; i < definition->n_axes; i++)
        if (pdnn_axis_is_derived(&definition->axes[i], build->instance->hyper[i]) &&
            pdnn_hyper_applies(build->instance, i) &&
            !pdnn_term_evaluate(build, build->compiled->fallbacks[i], &build->globals[i]))
            return false;
    return true;
}

void pdnn_values_mode(struct pdnn_build *build) {
    build->globals[pdnn_compiled_mode(build->compiled)] = (struct pdnn_datum){
        .kind = PDNN_DATUM_WORD, .word = build->trains ? build->compiled->train : build->compiled->infer};
}

bool pdnn_values_begin(struct pdnn_build *build) {
    const struct pdnn_compiled *compiled = build->compiled;
    const struct pdnn_definition *definition = compiled->definition;
    const size_t count = definition->n_axes + definition->n_lets + 1;
    build->globals = pdnn_arena_alloc(build->arena, count + compiled->n_caches, sizeof *build->globals);
    build->caches = build->globals + count;
    pdnn_values_mode(build);
    if (!evaluate_axes(build))
        return false;
    for (size_t i = 0; i < definition->n_lets; i++)
        if (!pdnn_term_evaluate(build, compiled->lets[i], &build->globals[pdnn_compiled_let(compiled, i)]))
            return false;
    return true;
}

const char *pdnn_axis_say(const struct pdnn_build *build, int axis, char buffer[PDNN_DATUM_TEXT]) {
    char text[PDNN_PARAM_TEXT];
    snprintf(buffer, PDNN_DATUM_TEXT, "%s",
             pdnn_param_format(&build->compiled->family.params[axis], build->instance->hyper[axis], text));
    return buffer;
}

/* The axes and lets that an expression names, "length=2048, positions=1024". */
static void put_names(const struct pdnn_build *build, const struct pdnn_expression *expression,
                      struct pdnn_str *out) {
    const struct pdnn_definition *definition = build->compiled->definition;
    char text[PDNN_DATUM_TEXT];
    for (size_t i = 0; i < expression->n_operands; i++)
        put_names(build, expression->operands[i], out);
    if (expression->kind != PDNN_EXPRESSION_NAME)
        return;
    for (size_t i = 0; i < definition->n_axes + definition->n_lets; i++) {
        bool is_axis = i < definition->n_axes;
        const char *name = is_axis ? definition->axes[i].name : definition->lets[i - definition->n_axes].name;
        if (strcmp(name, expression->text) == 0)
            pdnn_str_printf(out, "%s%s=%s", out->length ? ", " : "", name,
                            is_axis ? pdnn_axis_say(build, (int)i, text)
                                    : pdnn_datum_say(build, &build->globals[i], text));
    }
}

bool pdnn_values_deny(struct pdnn_build *build, const struct pdnn_definition_require *require) {
    struct pdnn_str values = {0}, said = {0};
    put_names(build, require->that, &values);
    pdnn_expression_say(require->that, &said);
    pdnn_build_fail(build, require->place, "require: %s does not hold with %s", pdnn_str_text(&said),
                    pdnn_str_text(&values));
    pdnn_str_finish(&values);
    pdnn_str_finish(&said);
    return false;
}
