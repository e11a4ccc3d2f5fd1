#include "models/definition/message.h"

#include <stdarg.h>
#include <stdio.h>

enum { TRACED = 2 };

enum pdnn_status pdnn_definition_fail(const struct pdnn_definition *definition, int32_t place,
                                      struct pdnn_err *err, const char *format, ...) {
    char text[PDNN_ERR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (place > 0 && definition->file)
        return pdnn_fail(err, PDNN_INVALID, "%s:%d:%d: %s", definition->file, PDNN_PLACE_LINE(place),
                         PDNN_PLACE_COLUMN(place), text);
    return pdnn_fail(err, PDNN_INVALID, "%s: %s", definition->name, text);
}

static const char *say_number(struct pdnn_rational number, char buffer[PDNN_DATUM_TEXT]) {
    char text[PDNN_RATIONAL_TEXT];
    pdnn_rational_format(text, number);
    if (pdnn_rational_is_whole(number))
        snprintf(buffer, PDNN_DATUM_TEXT, "%s", text);
    else
        snprintf(buffer, PDNN_DATUM_TEXT, "%s = %.6g", text, pdnn_rational_to_double(number));
    return buffer;
}

const char *pdnn_datum_say(const struct pdnn_build *build, const struct pdnn_datum *datum,
                           char buffer[PDNN_DATUM_TEXT]) {
    char part[PDNN_DATUM_TEXT], shape[PDNN_SHAPE_TEXT];
    size_t used = 0;
    switch (datum->kind) {
    case PDNN_DATUM_NUMBER:
        return say_number(datum->number, buffer);
    case PDNN_DATUM_REAL:
        snprintf(buffer, PDNN_DATUM_TEXT, "%.6g", datum->real);
        return buffer;
    case PDNN_DATUM_WORD:
        snprintf(buffer, PDNN_DATUM_TEXT, "%.100s", datum->word->text);
        return buffer;
    case PDNN_DATUM_TENSOR:
        snprintf(buffer, PDNN_DATUM_TEXT, "%s",
                 pdnn_tensor_shape(&build->graph->tensors[datum->tensor], shape));
        return buffer;
    case PDNN_DATUM_LIST:
        *buffer = 0;
        for (size_t i = 0; i < datum->list->count && used < PDNN_DATUM_TEXT - 1; i++)
            used += (size_t)snprintf(buffer + used, PDNN_DATUM_TEXT - used, "%s%s", i ? "-" : "",
                                     pdnn_datum_say(build, &datum->list->at[i], part));
        return buffer;
    case PDNN_DATUM_NONE:
    case PDNN_DATUM_RESULTS:
    case PDNN_DATUM_LAYER:
        break;
    }
    *buffer = 0;
    return buffer;
}

const char *pdnn_datum_kind(const struct pdnn_build *build, const struct pdnn_datum *datum,
                            char buffer[PDNN_DATUM_TEXT]) {
    char shape[PDNN_SHAPE_TEXT];
    static const char *const kinds[] = {
        [PDNN_DATUM_NONE] = "nothing",
        [PDNN_DATUM_NUMBER] = "a number",
        [PDNN_DATUM_REAL] = "an inexact number",
        [PDNN_DATUM_WORD] = "a word",
        [PDNN_DATUM_LIST] = "a list",
        [PDNN_DATUM_TENSOR] = "a tensor",
        [PDNN_DATUM_RESULTS] = "several results",
        [PDNN_DATUM_LAYER] = "a layer",
    };
    if (datum->kind == PDNN_DATUM_WORD)
        snprintf(buffer, PDNN_DATUM_TEXT, "the word '%.60s'", datum->word->text);
    else if (datum->kind == PDNN_DATUM_TENSOR)
        snprintf(buffer, PDNN_DATUM_TEXT, "the tensor %s",
                 pdnn_tensor_shape(&build->graph->tensors[datum->tensor], shape));
    else
        snprintf(buffer, PDNN_DATUM_TEXT, "%s", kinds[datum->kind]);
    return buffer;
}

/* ", in unit called at 40:9 with f=64, stride=1": the innermost calls. */
static void put_trace(const struct pdnn_build *build, struct pdnn_str *out) {
    for (int i = build->depth; i-- > 0 && i >= build->depth - TRACED;) {
        const struct pdnn_entry_code *call = build->trace[i];
        const struct pdnn_definition_block *block = call->block->block;
        int32_t place = call->entry->place;
        char value[PDNN_DATUM_TEXT];
        pdnn_str_printf(out, ", in %s", block->name);
        if (place)
            pdnn_str_printf(out, " called at %d:%d", PDNN_PLACE_LINE(place), PDNN_PLACE_COLUMN(place));
        for (size_t k = 0; k < block->n_parameters; k++) {
            const struct pdnn_datum *datum = &build->frames[i + 1][block->n_inputs + k];
            pdnn_str_printf(out, "%s%s=%s", k ? ", " : " with ", block->parameters[k].name,
                            pdnn_datum_say(build, datum, value));
        }
    }
}

bool pdnn_build_fail(struct pdnn_build *build, int32_t place, const char *format, ...) {
    char text[PDNN_ERR_TEXT / 2], layer[PDNN_LAYER_TEXT] = "";
    struct pdnn_str trace = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (build->layer.stem >= 0 && build->graph)
        pdnn_layer_format(build->graph->layer, layer);
    put_trace(build, &trace);
    pdnn_definition_fail(build->compiled->definition, place, build->err, "%s%s%s%s%.400s", text,
                         *layer ? "; layer '" : "", layer, *layer ? "'" : "", pdnn_str_text(&trace));
    pdnn_str_finish(&trace);
    return false;
}

/* What a name was given: the argument or default of a parameter, a value of let; the term itself where it is
 * more than such a name. */
static const struct pdnn_term *given(const struct pdnn_build *build, const struct pdnn_term *term) {
    const struct pdnn_compiled *compiled = build->compiled;
    int depth = build->frame == build->frames[build->depth] ? build->depth : 0;
    for (const struct pdnn_term *next = term; next; term = next ? next : term) {
        const int let = term->slot - (int)compiled->definition->n_axes;
        next = NULL;
        if (term->kind == PDNN_TERM_GLOBAL && let >= 0 && let < (int)compiled->definition->n_lets)
            next = compiled->lets[let];
        if (term->kind != PDNN_TERM_LOCAL || depth == 0)
            continue;
        const struct pdnn_entry_code *call = build->trace[depth - 1];
        const int parameter = term->slot - (int)call->block->block->n_inputs;
        if (parameter < 0 || parameter >= (int)call->block->block->n_parameters)
            continue;
        next = call->block->defaults[parameter];
        for (size_t i = 0; i < call->n_values; i++)
            if (call->values[i].slot == term->slot) {
                next = call->values[i].term;
                depth--;
                break;
            }
    }
    return term;
}

bool pdnn_term_wrong(struct pdnn_build *build, const struct pdnn_term *term, const char *what,
                     struct pdnn_rational value, const char *expected) {
    const struct pdnn_term *from = given(build, term);
    const struct pdnn_datum datum = {.kind = PDNN_DATUM_NUMBER, .number = value};
    struct pdnn_str said = {0};
    char text[PDNN_DATUM_TEXT], comes[48] = "";
    if (from->kind != PDNN_TERM_CONSTANT) {
        pdnn_expression_say(from->from, &said);
        pdnn_str_printf(&said, " = ");
    }
    if (from != term)
        snprintf(comes, sizeof comes, "; it comes from %d:%d", PDNN_PLACE_LINE(from->from->offset),
                 PDNN_PLACE_COLUMN(from->from->offset));
    pdnn_build_fail(build, PDNN_PLACE_LINE(term->from->offset) ? term->from->offset : build->place,
                    "%s is %.200s%s, expected %s%s", what, pdnn_str_text(&said),
                    pdnn_datum_say(build, &datum, text), expected, comes);
    pdnn_str_finish(&said);
    return false;
}
