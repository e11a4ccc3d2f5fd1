/* Words of a definition's file and of its canonical text. */
#ifndef MODELS_DEFINITION_TEXT_WORDS_H
#define MODELS_DEFINITION_TEXT_WORDS_H

#include "models/definition/definition.h"

/* What a tensor may be filled with; ends with a row without a word. */
struct pdnn_fill_word {
    const char *word;
    enum pdnn_fill_kind kind;
    bool is_id;
};
extern const struct pdnn_fill_word pdnn_fill_words[];

/* By enum pdnn_axis_type and enum pdnn_layer_part; NULL-terminated. The choices of a switch. */
extern const char *const pdnn_axis_type_words[], *const pdnn_layer_part_words[], *const pdnn_switch_words[];

#endif
