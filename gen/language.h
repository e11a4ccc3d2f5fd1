/* The tables of all keys of a spec other than hyper-parameters and run settings (models/param.h): what the
 * reader checks, what `paradnn help spec` prints, and where a key belongs that was written elsewhere. Outside
 * gen/, only help, options and completion read it. */
#ifndef GEN_LANGUAGE_H
#define GEN_LANGUAGE_H

#include "gen/key.h"

extern const struct pdnn_key_table pdnn_spec_keys, pdnn_measure_keys, pdnn_limits_keys; /* gen/spec.c */
extern const struct pdnn_key_table pdnn_epoch_keys;                                     /* gen/seqpoint.c */
extern const struct pdnn_key_table pdnn_entry_keys, pdnn_sample_keys;                   /* gen/model.c */
extern const struct pdnn_key_table pdnn_range_keys;                                     /* gen/axis.c */
extern const struct pdnn_key_table pdnn_rows_keys;                                      /* gen/rows.c */

/* The key of a family's map that is not a hyper-parameter. */
extern const char pdnn_preset_key[];

/* Where a key with this name belongs: ", it belongs under run", ", it is a hyper-parameter of fc", ", it is a
 * model: write '- fc: {...}' under models"; "" if there is no such key. Returns buffer. */
const char *pdnn_key_place(char buffer[PDNN_PLACE_TEXT], const char *name);

/* True if some family has such a hyper-parameter. */
bool pdnn_key_is_hyper(const char *name);

/* The section that has the key: "run", "measure" or "limits"; NULL if none has. */
const char *pdnn_key_section(const char *name);

#endif
