#include "models/varying.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

void pdnn_varying_finish(struct pdnn_varying *varying) {
    free(varying->family);
    *varying = (struct pdnn_varying){0};
}

static struct pdnn_varying_family *find(const struct pdnn_varying *varying,
                                        const struct pdnn_family_def *family) {
    size_t i = 0;
    while (i < varying->n_families && varying->family[i].first.family != family)
        i++;
    return i < varying->n_families ? &varying->family[i] : NULL;
}

static struct pdnn_varying_family *add_family(struct pdnn_varying *varying,
                                              const struct pdnn_instance *first) {
    varying->family = pdnn_resize(varying->family, varying->n_families + 1, sizeof *varying->family);
    struct pdnn_varying_family *family = &varying->family[varying->n_families++];
    *family = (struct pdnn_varying_family){.first = *first};
    return family;
}

/* What does not apply counts as its default, so that training beside inference varies in the mode alone. */
static int64_t value_in_effect(const struct pdnn_instance *instance, size_t setting) {
    bool applies = pdnn_setting_applies(instance, (enum pdnn_setting)setting);
    return applies ? instance->setting[setting] : pdnn_settings[setting].fallback;
}

void pdnn_varying_add(struct pdnn_varying *varying, const struct pdnn_instance *instance) {
    struct pdnn_varying_family *of = find(varying, instance->family);
    of = of ? of : add_family(varying, instance);
    for (size_t i = 0; i < instance->family->n_params; i++)
        of->hyper[i] = of->hyper[i] || pdnn_hyper_applies(&of->first, i) != pdnn_hyper_applies(instance, i) ||
                       !pdnn_value_equal(of->first.hyper[i], instance->hyper[i]);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        varying->setting[i] = varying->setting[i] ||
                              value_in_effect(&varying->family[0].first, i) != value_in_effect(instance, i);
    varying->count++;
}

void pdnn_varying_leave_out(struct pdnn_varying *varying, const char *key) {
    const int setting = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, key);
    if (setting >= 0)
        varying->setting[setting] = PDNN_LEFT_OUT;
    for (size_t f = 0; f < varying->n_families; f++) {
        const struct pdnn_family_def *family = varying->family[f].first.family;
        const int hyper = pdnn_param_find(family->params, family->n_params, key);
        if (hyper >= 0)
            varying->family[f].hyper[hyper] = PDNN_LEFT_OUT;
    }
}

/* Appends "key=value" of what was asked for: what varies in this family, or what does not. */
static void append_hypers(const struct pdnn_varying_family *of, const struct pdnn_instance *instance,
                          enum pdnn_varies varies, const char *separator, struct pdnn_str *out) {
    const struct pdnn_param_def *params = instance->family->params;
    char number[PDNN_PARAM_TEXT];
    for (size_t i = 0; i < instance->family->n_params; i++)
        if (of->hyper[i] == varies && pdnn_hyper_applies(instance, i))
            pdnn_str_printf(out, "%s%s=%s", out->length ? separator : "", params[i].name,
                            pdnn_param_format(&params[i], instance->hyper[i], number));
}

static void append_settings(const struct pdnn_varying *varying, const struct pdnn_instance *instance,
                            enum pdnn_varies varies, const char *separator, struct pdnn_str *out) {
    char number[PDNN_PARAM_TEXT];
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        bool usual = instance->setting[i] == pdnn_settings[i].fallback;
        if (varying->setting[i] != varies || !pdnn_setting_applies(instance, (enum pdnn_setting)i) ||
            (usual && varies == PDNN_SAME))
            continue;
        pdnn_str_printf(out, "%s%s=%s", out->length ? separator : "", pdnn_settings[i].name,
                        pdnn_param_format(&pdnn_settings[i], pdnn_value_of(instance->setting[i]), number));
    }
}

const char *pdnn_varying_label(const struct pdnn_varying *varying, const struct pdnn_instance *instance,
                               char buffer[PDNN_ID_TEXT]) {
    const struct pdnn_varying_family *of = find(varying, instance->family);
    struct pdnn_str pairs = {0};
    if (!of || varying->count < 2)
        return pdnn_instance_format(instance, buffer);
    append_hypers(of, instance, PDNN_VARIES, ",", &pairs);
    append_settings(varying, instance, PDNN_VARIES, ",", &pairs);
    const char *name = varying->n_families > 1 || !pairs.length ? instance->family->name : "";
    snprintf(buffer, PDNN_ID_TEXT, "%s%s%s", name, *name && pairs.length ? "/" : "", pdnn_str_text(&pairs));
    pdnn_str_finish(&pairs);
    return buffer;
}

void pdnn_varying_common(const struct pdnn_varying *varying, struct pdnn_str *out) {
    bool one = varying->n_families == 1;
    if (varying->count < 2)
        return;
    struct pdnn_str text = {0};
    if (!one)
        append_settings(varying, &varying->family[0].first, PDNN_SAME, ", ", &text);
    for (size_t i = 0; i < varying->n_families; i++) {
        const struct pdnn_varying_family *of = &varying->family[i];
        struct pdnn_str pairs = {0};
        append_hypers(of, &of->first, PDNN_SAME, ", ", &pairs);
        if (one)
            append_settings(varying, &of->first, PDNN_SAME, ", ", &pairs);
        if (one || pairs.length)
            pdnn_str_printf(&text, "%s%s%s%s", text.length ? "; " : "", of->first.family->name,
                            !pairs.length ? ""
                            : one         ? ", "
                                          : ": ",
                            pdnn_str_text(&pairs));
        pdnn_str_finish(&pairs);
    }
    pdnn_str_append(out, pdnn_str_text(&text), text.length);
    pdnn_str_finish(&text);
}
