/* ParaDnn's labels and states in this program's words. */
#ifndef RESULTS_IMPORT_LABELS_H
#define RESULTS_IMPORT_LABELS_H

#include "base/str.h"
#include "models/instance.h"
#include "runtime/protocol/visit.h"

/* Parses a label such as layer_32-node_512-input_8000-output_200-bs_1024 together with the settings
 * "KEY=VALUE" that it does not say. PDNN_INVALID names the label and what is wrong with it: a word that no
 * family has, or that is missing or there twice; a value that is not a number or out of range; something that
 * labels of this kind do not say and that is not set. */
enum pdnn_status pdnn_label_parse(const char *label, const char *const *set, size_t n_set,
                                  struct pdnn_instance *instance, struct pdnn_err *err);

/* The outcome of a state such as OOM; PDNN_OUTCOME_COUNT for an unknown one. */
enum pdnn_outcome pdnn_state_outcome(const char *state);

/* ", did you mean 'OOM'?" */
const char *pdnn_state_suggest(const char *state, char buffer[PDNN_SUGGESTION_TEXT]);

#endif
