#include "models/family.h"

#include "base/str.h"
#include "lists.h"

#include <string.h>

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
    const char *nearest = pdnn_nearest_word(name, names, sizeof names / sizeof *names);
    if (nearest)
        return pdnn_fail(err, PDNN_INVALID, "unknown family '%.60s', did you mean '%s'?", name, nearest);
    return pdnn_fail(err, PDNN_INVALID, "unknown family '%.60s', see 'paradnn families'", name);
}

const struct pdnn_preset *pdnn_preset_find(const struct pdnn_family_def *family, const char *name) {
    for (size_t i = 0; i < family->n_presets; i++) {
        if (strcmp(family->presets[i].name, name) == 0)
            return &family->presets[i];
    }
    return NULL;
}
