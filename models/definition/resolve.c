#include "models/definition/resolve.h"

#include "models/definition/values.h"
#include "models/instance.h"

#include <string.h>

enum { ROOM = 96 };

/* A build that only evaluates axes: it has no graph, and small ones need no memory. */
struct axes_only {
    struct pdnn_build build;
    struct pdnn_arena arena;
    struct pdnn_err err;
    struct pdnn_datum room[ROOM];
};

static void begin_axes(struct axes_only *only, const struct pdnn_compiled *compiled,
                       const struct pdnn_instance *instance) {
    struct pdnn_build *build = &only->build;
    only->arena = (struct pdnn_arena){0};
    only->err.status = PDNN_OK;
    *build = (struct pdnn_build){.compiled = compiled,
                                 .instance = instance,
                                 .arena = &only->arena,
                                 .err = &only->err,
                                 .in = PDNN_NONE,
                                 .layer = {-1, 0, false},
                                 .share = -1,
                                 .trains = instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN};
    const size_t count = compiled->definition->n_axes + compiled->definition->n_lets + 1,
                 all = count + compiled->n_caches;
    build->globals = all <= ROOM ? only->room : pdnn_arena_alloc(&only->arena, all, sizeof *build->globals);
    build->caches = build->globals + count;
    memset(build->caches, 0, compiled->n_caches * sizeof *build->caches);
    pdnn_values_mode(build);
    for (size_t i = 0; i < compiled->definition->n_axes; i++)
        build->globals[i] = pdnn_axis_value(build, i);
}

/* A whole number, or a list of them; false for anything else. */
static bool as_value(const struct pdnn_definition_axis *axis, const struct pdnn_datum *datum,
                     struct pdnn_value *value) {
    int64_t numbers[PDNN_LIST_MAX];
    size_t count = datum->kind == PDNN_DATUM_LIST ? datum->list->count : 1;
    if (count < 1 || count > PDNN_LIST_MAX || (count > 1 && axis->type != PDNN_AXIS_LIST))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_datum *one = datum->kind == PDNN_DATUM_LIST ? &datum->list->at[i] : datum;
        struct pdnn_rational scaled = one->number;
        if (one->kind != PDNN_DATUM_NUMBER ||
            (axis->type == PDNN_AXIS_DECIMAL &&
             !pdnn_rational_multiply(scaled, pdnn_rational_whole(PDNN_MILLION), &scaled)) ||
            !pdnn_rational_is_whole(scaled) || scaled.numerator < axis->min || scaled.numerator > axis->max)
            return false;
        numbers[i] = scaled.numerator;
    }
    *value = pdnn_list_make(numbers, (int)count);
    return true;
}

static void derive(const struct pdnn_compiled *compiled, struct pdnn_instance *instance,
                   struct pdnn_build *build) {
    const struct pdnn_definition *definition = compiled->definition;
    for (size_t i = 0; i < definition->n_axes; i++) {
        const struct pdnn_definition_axis *axis = &definition->axes[i];
        struct pdnn_datum datum;
        if (!pdnn_axis_is_derived(axis, instance->hyper[i]) || !pdnn_hyper_applies(instance, i))
            continue;
        if (pdnn_term_evaluate(build, compiled->fallbacks[i], &datum) &&
            as_value(axis, &datum, &instance->hyper[i]))
            build->globals[i] = pdnn_axis_value(build, i);
        build->err->status = PDNN_OK;
    }
}

static int longest_of(const struct pdnn_compiled *compiled, const struct pdnn_instance *instance) {
    int longest = 1;
    for (size_t i = 0; i < compiled->definition->n_together; i++) {
        int length = pdnn_list_length(instance->hyper[compiled->together[i]]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* The longest list says how many steps there are: trailing repeats go, and where then none says it any more,
 * the first list keeps its length. */
static void shorten(const struct pdnn_compiled *compiled, struct pdnn_instance *instance) {
    const struct pdnn_definition *definition = compiled->definition;
    const int longest = longest_of(compiled, instance);
    for (size_t i = 0; i < definition->n_together; i++) {
        int axis = compiled->together[i];
        instance->hyper[axis] = pdnn_list_trim(instance->hyper[axis], definition->axes[axis].least);
    }
    if (longest_of(compiled, instance) < longest) {
        int first = compiled->together[0];
        instance->hyper[first] = pdnn_list_take(instance->hyper[first], longest);
    }
}

static void unite_equal(const struct pdnn_definition *definition, struct pdnn_instance *instance) {
    for (size_t i = 0; i < definition->n_axes; i++) {
        const int equal = definition->axes[i].equal;
        if (!equal || pdnn_list_length(instance->hyper[i]) != equal)
            continue;
        const struct pdnn_value one = pdnn_list_trim(instance->hyper[i], 1);
        if (pdnn_list_length(one) == 1)
            instance->hyper[i] = one;
    }
}

static bool has_derived(const struct pdnn_compiled *compiled, const struct pdnn_instance *instance) {
    const struct pdnn_definition *definition = compiled->definition;
    for (size_t i = 0; i < definition->n_axes; i++)
        if (pdnn_axis_is_derived(&definition->axes[i], instance->hyper[i]) && pdnn_hyper_applies(instance, i))
            return true;
    return false;
}

void pdnn_definition_resolve(const struct pdnn_compiled *compiled, struct pdnn_instance *instance) {
    struct axes_only only;
    bool together = true;
    if (!compiled->definition->n_together && !has_derived(compiled, instance)) {
        unite_equal(compiled->definition, instance);
        return;
    }
    begin_axes(&only, compiled, instance);
    derive(compiled, instance, &only.build);
    if (compiled->together_when && !pdnn_term_holds(&only.build, compiled->together_when, &together))
        together = false;
    if (compiled->definition->n_together && together)
        shorten(compiled, instance);
    else
        unite_equal(compiled->definition, instance);
    pdnn_arena_finish(&only.arena);
}

int64_t pdnn_definition_target(const struct pdnn_compiled *compiled, int64_t source) {
    struct pdnn_instance instance;
    struct axes_only only;
    struct pdnn_rational target = {source, 1};
    if (!compiled->target_of)
        return source;
    pdnn_instance_init(&instance, &compiled->family);
    instance.hyper[compiled->family.lengths->source] = pdnn_value_of(source);
    begin_axes(&only, compiled, &instance);
    if (!pdnn_values_begin(&only.build) || !pdnn_term_number(&only.build, compiled->target_of, &target))
        target = pdnn_rational_whole(source);
    pdnn_arena_finish(&only.arena);
    return pdnn_rational_floor(target).numerator;
}
