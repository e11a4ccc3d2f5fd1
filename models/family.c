#include "models/family.h"

#include "models/graph.h"

#include <string.h>

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
