#include "models/varying.h"

#include "base/memory.h"
#include "models/zoo/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pdnn_varying_finish(struct pdnn_varying *varying) {
    for (size_t i = 0; i < varying->n_presets; i++)
        free(varying->presets[i]);
    free(varying->presets);
    free(varying->family);
    *varying = (struct pdnn_varying){0};
}

/* The parsed presets of the family; NULL: it was not met. */
static struct pdnn_parsed_presets *presets_of(const struct pdnn_varying *varying,
                                              const struct pdnn_family_def *family) {
    for (size_t i = 0; i < varying->n_presets; i++)
        if (varying->presets[i]->family == family)
            return varying->presets[i];
    return NULL;
}

/* The preset by which people know the model: not one that is called like its family. */
static const struct pdnn_preset *preset_of(const struct pdnn_instance *instance,
                                           struct pdnn_parsed_presets *presets) {
    const struct pdnn_preset *preset = pdnn_instance_preset(instance, presets);
    return preset && strcmp(preset->name, instance->family->name) != 0 ? preset : NULL;
}

static struct pdnn_varying_family *find(const struct pdnn_varying *varying,
                                        const struct pdnn_instance *instance) {
    struct pdnn_parsed_presets *presets = presets_of(varying, instance->family);
    const struct pdnn_preset *preset = presets ? preset_of(instance, presets) : NULL;
    for (size_t i = 0; i < varying->n_families; i++)
        if (varying->family[i].first.family == instance->family && varying->family[i].preset == preset)
            return &varying->family[i];
    return NULL;
}

static struct pdnn_varying_family *add_family(struct pdnn_varying *varying,
                                              const struct pdnn_instance *first) {
    struct pdnn_parsed_presets *presets = presets_of(varying, first->family);
    varying->family = pdnn_resize(varying->family, varying->n_families + 1, sizeof *varying->family);
    struct pdnn_varying_family *family = &varying->family[varying->n_families++];
    if (!presets) {
        varying->presets = pdnn_resize(varying->presets, varying->n_presets + 1, sizeof *varying->presets);
        presets = varying->presets[varying->n_presets++] = pdnn_alloc(1, sizeof *presets);
    }
    *family = (struct pdnn_varying_family){.first = *first, .preset = preset_of(first, presets)};
    return family;
}

/* What does not apply counts as its default, so that training beside inference varies in the mode alone. */
static int64_t value_in_effect(const struct pdnn_instance *instance, size_t setting) {
    bool applies = pdnn_setting_applies(instance, (enum pdnn_setting)setting);
    return applies ? instance->setting[setting] : pdnn_settings[setting].fallback.number;
}

void pdnn_varying_add(struct pdnn_varying *varying, const struct pdnn_instance *instance) {
    struct pdnn_varying_family *of = find(varying, instance);
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

/* Appends "key=value" of what was asked for: what varies in this family, or what does not. What a preset's
 * name says already is left out. */
static void append_hypers(const struct pdnn_varying_family *of, const struct pdnn_instance *instance,
                          enum pdnn_varies varies, const char *separator, struct pdnn_str *out) {
    const struct pdnn_param_def *params = instance->family->params;
    struct pdnn_instance named = *instance;
    char number[PDNN_PARAM_TEXT];
    if (of->preset) {
        pdnn_instance_init_preset(&named, instance->family, of->preset);
        pdnn_instance_resolve(&named, instance->setting[PDNN_SETTING_THREADS]);
    }
    for (size_t i = 0; i < instance->family->n_params; i++)
        if (of->hyper[i] == varies && pdnn_hyper_applies(instance, i) &&
            !(of->preset && varies == PDNN_SAME && pdnn_value_equal(named.hyper[i], instance->hyper[i])))
            pdnn_str_printf(out, "%s%s=%s", out->length ? separator : "", params[i].name,
                            pdnn_param_format(&params[i], instance->hyper[i], number));
}

static void append_settings(const struct pdnn_varying *varying, const struct pdnn_instance *instance,
                            enum pdnn_varies varies, const char *separator, struct pdnn_str *out) {
    char number[PDNN_PARAM_TEXT];
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        bool usual = instance->setting[i] == pdnn_settings[i].fallback.number;
        if (varying->setting[i] != varies || !pdnn_setting_applies(instance, (enum pdnn_setting)i) ||
            (usual && varies == PDNN_SAME))
            continue;
        pdnn_str_printf(out, "%s%s=%s", out->length ? separator : "", pdnn_settings[i].name,
                        pdnn_param_format(&pdnn_settings[i], pdnn_value_of(instance->setting[i]), number));
    }
}

/* Appends what people call its instances: "resnet50", "fc", or "rnn:paper-min" where others have such a
 * preset, too. */
static void append_name(struct pdnn_str *out, const struct pdnn_varying_family *of) {
    const struct pdnn_family_def *family = of->first.family;
    struct pdnn_model_name model;
    const bool is_own = of->preset && pdnn_model_find(of->preset->name, false, &model, NULL) == PDNN_OK;
    pdnn_str_printf(out, "%s%s%s", is_own ? "" : family->name, of->preset && !is_own ? ":" : "",
                    of->preset ? of->preset->name : "");
}

const char *pdnn_varying_label(const struct pdnn_varying *varying, const struct pdnn_instance *instance,
                               char buffer[PDNN_ID_TEXT]) {
    const struct pdnn_varying_family *of = find(varying, instance);
    struct pdnn_str pairs = {0}, name = {0};
    if (!of)
        return pdnn_instance_format(instance, buffer);
    if (varying->count < 2)
        return pdnn_instance_name(instance, buffer);
    append_hypers(of, instance, PDNN_VARIES, ",", &pairs);
    append_settings(varying, instance, PDNN_VARIES, ",", &pairs);
    if (varying->n_families > 1 || !pairs.length)
        append_name(&name, of);
    if (name.length && pairs.length)
        pdnn_str_append(&name, of->preset ? "," : "/", 1);
    snprintf(buffer, PDNN_ID_TEXT, "%s%s", pdnn_str_text(&name), pdnn_str_text(&pairs));
    pdnn_str_finish(&name);
    pdnn_str_finish(&pairs);
    return buffer;
}

const char *pdnn_instance_name(const struct pdnn_instance *instance, char buffer[PDNN_ID_TEXT]) {
    struct pdnn_varying alone = {0};
    struct pdnn_str pairs = {0};
    pdnn_varying_add(&alone, instance);
    const struct pdnn_varying_family *of = &alone.family[0];
    if (of->preset) {
        append_name(&pairs, of);
        append_hypers(of, instance, PDNN_SAME, ",", &pairs);
        append_settings(&alone, instance, PDNN_SAME, ",", &pairs);
        snprintf(buffer, PDNN_ID_TEXT, "%s", pdnn_str_text(&pairs));
    } else {
        pdnn_instance_format(instance, buffer);
    }
    pdnn_str_finish(&pairs);
    pdnn_varying_finish(&alone);
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
        if (one || pairs.length) {
            pdnn_str_printf(&text, "%s", text.length ? "; " : "");
            append_name(&text, of);
            pdnn_str_printf(&text, "%s%s", !pairs.length ? "" : one ? ", " : ": ", pdnn_str_text(&pairs));
        }
        pdnn_str_finish(&pairs);
    }
    pdnn_str_append(out, pdnn_str_text(&text), text.length);
    pdnn_str_finish(&text);
}
