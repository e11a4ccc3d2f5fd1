#include "models/family.h"

#include "lists.h"
#include "models/graph.h"

#include <stdio.h>
#include <string.h>

enum { PRESETS_MAX = 64 }; /* considered when looking for the nearest one */

#define DECLARE(name) extern const struct pdnn_family_def pdnn_family_##name;
PDNN_FAMILIES(DECLARE)

#define ROW(name) &pdnn_family_##name,
const struct pdnn_family_def *const pdnn_families[] = {PDNN_FAMILIES(ROW) NULL};

const struct pdnn_family_def *pdnn_family_find(const char *name) {
    for (size_t i = 0; pdnn_families[i]; i++) {
        if (strcmp(pdnn_families[i]->name, name) == 0)
            return pdnn_families[i];
    }
    return NULL;
}

const struct pdnn_layer_def *pdnn_layer_find(const struct pdnn_family_def *family, const char *layer) {
    for (size_t i = 0; i < family->n_layers; i++) {
        if (pdnn_layer_has_stem(layer, family->layers[i].stem))
            return &family->layers[i];
    }
    return NULL;
}

const struct pdnn_preset *pdnn_preset_find(const struct pdnn_family_def *family, const char *name) {
    for (size_t i = 0; i < family->n_presets; i++) {
        if (strcmp(family->presets[i].name, name) == 0)
            return &family->presets[i];
    }
    return NULL;
}

static bool is_name(const char *name, const char *text, size_t length) {
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

bool pdnn_model_is_known(const char *name, size_t length) {
    for (size_t i = 0; pdnn_families[i]; i++) {
        if (is_name(pdnn_families[i]->name, name, length))
            return true;
        for (size_t k = 0; k < pdnn_families[i]->n_presets; k++) {
            if (is_name(pdnn_families[i]->presets[k].name, name, length))
                return true;
        }
    }
    return false;
}

/* ", did you mean 'rnn/cell=lstm'?", of a word that one hyper-parameter of one family may be. */
static void suggest_choice(char buffer[PDNN_SUGGESTION_TEXT], const char *name, bool in_yaml) {
    size_t count = 0;
    for (size_t i = 0; pdnn_families[i]; i++)
        for (size_t k = 0; k < pdnn_families[i]->n_params; k++) {
            const struct pdnn_param_def *param = &pdnn_families[i]->params[k];
            for (const char *const *word = param->choices; word && *word; word++)
                if (pdnn_word_is_same(*word, name) && count++ == 0)
                    snprintf(buffer, PDNN_SUGGESTION_TEXT, ", did you mean '%s%s%s%s%s%s'?",
                             pdnn_families[i]->name, in_yaml ? ": {" : "/", param->name, in_yaml ? ": " : "=",
                             *word, in_yaml ? "}" : "");
        }
    if (count > 1)
        *buffer = 0;
}

/* Sizes of a network are numbers at the end of its name: resnet200 is near all that are called resnet. */
const char *pdnn_model_suggest(char buffer[PDNN_SUGGESTION_TEXT], const char *name, bool in_yaml) {
    const char *words[PRESETS_MAX];
    char stem[64];
    size_t count = 0;
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "0123456789"), name);
    for (size_t i = 0; pdnn_families[i] && count < PRESETS_MAX; i++)
        words[count++] = pdnn_families[i]->name;
    for (size_t i = 0; pdnn_families[i]; i++) {
        for (size_t k = 0; k < pdnn_families[i]->n_presets && count < PRESETS_MAX; k++)
            words[count++] = pdnn_families[i]->presets[k].name;
    }
    if (!*pdnn_suggest(buffer, name, words, count))
        suggest_choice(buffer, name, in_yaml);
    if (!*buffer && strlen(stem) >= 3)
        pdnn_suggest(buffer, stem, words, count);
    return buffer;
}

static enum pdnn_status unknown_model(const char *name, bool in_yaml, struct pdnn_err *err) {
    char buffer[PDNN_SUGGESTION_TEXT];
    return pdnn_fail(err, PDNN_INVALID, "unknown model '%.60s'%s", name,
                     *pdnn_model_suggest(buffer, name, in_yaml) ? buffer : ", see 'paradnn families'");
}

/* "paper-min is a preset of fc and rnn, write fc:paper-min or rnn:paper-min" */
static enum pdnn_status several_models(const char *name, const struct pdnn_family_def *const *owners,
                                       size_t count, bool in_yaml, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s is a preset of", name);
    for (size_t i = 0; i < count; i++)
        pdnn_str_printf(&text, "%s %s", i == 0 ? "" : i + 1 < count ? "," : " and", owners[i]->name);
    pdnn_str_printf(&text, ", write");
    for (size_t i = 0; i < count; i++)
        pdnn_str_printf(&text, "%s %s%s%s%s",
                        i == 0          ? ""
                        : i + 1 < count ? ","
                                        : " or",
                        owners[i]->name, in_yaml ? ": {preset: " : ":", name, in_yaml ? "}" : "");
    pdnn_fail(err, PDNN_INVALID, "%s", pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return PDNN_INVALID;
}

enum pdnn_status pdnn_model_find(const char *name, bool in_yaml, struct pdnn_model_name *model,
                                 struct pdnn_err *err) {
    enum { OWNERS_MAX = 8 };
    const struct pdnn_family_def *owners[OWNERS_MAX];
    size_t count = 0;
    struct pdnn_model_name found = {.family = pdnn_family_find(name)};
    for (size_t i = 0; !found.family && pdnn_families[i] && count < OWNERS_MAX; i++) {
        if (pdnn_preset_find(pdnn_families[i], name))
            owners[count++] = pdnn_families[i];
    }
    if (count > 1)
        return several_models(name, owners, count, in_yaml, err);
    if (count)
        found = (struct pdnn_model_name){owners[0], pdnn_preset_find(owners[0], name)};
    if (!found.family)
        return unknown_model(name, in_yaml, err);
    *model = found;
    return PDNN_OK;
}

enum pdnn_status pdnn_preset_unknown(const struct pdnn_family_def *family, const char *name,
                                     struct pdnn_err *err) {
    const char *words[PRESETS_MAX];
    char buffer[PDNN_SUGGESTION_TEXT], elsewhere[PDNN_SUGGESTION_TEXT];
    size_t count = 0;
    for (; count < family->n_presets && count < PRESETS_MAX; count++)
        words[count] = family->presets[count].name;
    const char *hint = pdnn_suggest(buffer, name, words, count);
    snprintf(elsewhere, sizeof elsewhere, ", see 'paradnn families %.40s'", family->name);
    for (size_t i = 0; !*hint && pdnn_families[i]; i++) {
        for (size_t k = 0; k < pdnn_families[i]->n_presets; k++) {
            const char *preset = pdnn_families[i]->presets[k].name;
            if (pdnn_word_is_same(preset, name))
                return pdnn_fail(err, PDNN_INVALID, "%s has no preset '%.60s', did you mean '%s:%s'?",
                                 family->name, name, pdnn_families[i]->name, preset);
        }
    }
    return pdnn_fail(err, PDNN_INVALID, "%s has no preset '%.60s'%s", family->name, name,
                     *hint ? hint : elsewhere);
}
