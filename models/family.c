#include "models/family.h"

#include "base/str.h"
#include "lists.h"
#include "models/graph.h"

#include <stdio.h>
#include <string.h>

enum { PRESETS_MAX = 64 }; /* considered when looking for the nearest one */

#define DECLARE(name) extern const struct pdnn_family_def pdnn_family_##name;
PDNN_FAMILIES(DECLARE)

#define ROW(name) &pdnn_family_##name,
const struct pdnn_family_def *const pdnn_families[] = {PDNN_FAMILIES(ROW) NULL};

#define NAME(name) #name,
static const char *const names[] = {PDNN_FAMILIES(NAME)};

const struct pdnn_family_def *pdnn_family_find(const char *name) {
    for (size_t i = 0; pdnn_families[i]; i++) {
        if (strcmp(pdnn_families[i]->name, name) == 0)
            return pdnn_families[i];
    }
    return NULL;
}

enum pdnn_status pdnn_family_unknown(const char *name, struct pdnn_err *err) {
    char buffer[PDNN_SUGGESTION_TEXT];
    const char *hint = pdnn_suggest(buffer, name, names, sizeof names / sizeof *names);
    return pdnn_fail(err, PDNN_INVALID, "unknown family '%.60s'%s", name,
                     *hint ? hint : ", see 'paradnn families'");
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

enum pdnn_status pdnn_preset_unknown(const struct pdnn_family_def *family, const char *name,
                                     struct pdnn_err *err) {
    const char *words[PRESETS_MAX];
    char buffer[PDNN_SUGGESTION_TEXT], elsewhere[PDNN_SUGGESTION_TEXT];
    size_t count = 0;
    for (; count < family->n_presets && count < PRESETS_MAX; count++)
        words[count] = family->presets[count].name;
    const char *hint = pdnn_suggest(buffer, name, words, count);
    snprintf(elsewhere, sizeof elsewhere, ", see 'paradnn families %.40s'", family->name);
    return pdnn_fail(err, PDNN_INVALID, "%s has no preset '%.60s'%s", family->name, name,
                     *hint ? hint : elsewhere);
}
