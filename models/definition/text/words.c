#include "models/definition/text/words.h"

const struct pdnn_fill_word pdnn_fill_words[] = {
    {"uniform", PDNN_FILL_UNIFORM, false},
    {"constant", PDNN_FILL_CONSTANT, false},
    {"near_one", PDNN_FILL_NEAR_ONE, false},
    {"id", PDNN_FILL_CONSTANT, true},
    {"class", PDNN_FILL_CLASS, false},
    {"zipf", PDNN_FILL_ZIPF, false},
    {"position", PDNN_FILL_POSITION, false},
    {"stride", PDNN_FILL_STRIDE, false},
    {"masked", PDNN_FILL_MASKED, false},
    {"sequence_class", PDNN_FILL_SEQUENCE_CLASS, false},
    {"sequence_mask", PDNN_FILL_SEQUENCE_MASK, false},
    {"window_mask", PDNN_FILL_WINDOW_MASK, false},
    {0},
};

const char *const pdnn_axis_type_words[] = {"int", "decimal", "list", "choice", "switch", NULL};

const char *const pdnn_switch_words[] = {"no", "yes", NULL};

const char *const pdnn_layer_part_words[] = {
    "other",   "embedding",          "dense",        "convolution", "recurrent", "projection", "attention",
    "softmax", "additive_attention", "feed_forward", "activation",  "norm",      "output",     NULL};
_Static_assert(sizeof pdnn_layer_part_words / sizeof *pdnn_layer_part_words == PDNN_LAYER_COUNT + 1,
               "a word a part");
