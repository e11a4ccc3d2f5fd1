/* The tables of all keys of a spec other than hyper-parameters and run settings (models/param.h): what the
 * reader checks, what `paradnn help spec` prints, and where a key belongs that was written elsewhere. Outside
 * gen/, only help, options and completion read it. */
#ifndef GEN_LANGUAGE_H
#define GEN_LANGUAGE_H

#include "gen/key.h"

/* Tables whose keys people put elsewhere: X(table, where its keys belong; NULL: under its name). The top
 * comes first. */
#define PDNN_KEY_TABLES(X)                                                                                   \
    X(spec, "at the top of a spec")                                                                          \
    X(entry, "beside a model's family")                                                                      \
    X(measure, NULL)                                                                                         \
    X(limits, NULL)                                                                                          \
    X(epoch, NULL)
#define PDNN_DECLARE_KEYS(name, where) extern const struct pdnn_key_table pdnn_##name##_keys;
PDNN_KEY_TABLES(PDNN_DECLARE_KEYS)
extern const struct pdnn_key_table pdnn_sample_keys, pdnn_range_keys, pdnn_rows_keys;

/* The key of a family's map that is not a hyper-parameter. */
extern const char pdnn_preset_key[];

/* Where a key with this name belongs: ", it belongs under run", ", it is a hyper-parameter of fc", ", it is a
 * model: write '- fc: {...}' under models"; "" if there is no such key. Returns buffer. */
const char *pdnn_key_place(char buffer[PDNN_PLACE_TEXT], const char *name);

/* True if some family has such a hyper-parameter. */
bool pdnn_key_is_hyper(const char *name);

/* True if it is a key at the top of a spec. */
bool pdnn_key_is_top(const char *name);

/* The section that has the key: "run", "measure" or "limits"; NULL if none has. */
const char *pdnn_key_section(const char *name);

#endif
