/* ParaDnn's labels and states in this program's words. */
#ifndef RESULTS_IMPORT_LABELS_H
#define RESULTS_IMPORT_LABELS_H

#include "base/err.h"
#include "base/str.h"
#include "runtime/protocol/visit.h"

/* Appends the id, without run settings, of a label such as
 * layer_32-node_512-input_8000-output_200-bs_1024; `set` are the texts "KEY=VALUE" that follow it.
 * PDNN_INVALID says what is wrong: a word that no family has, or that is missing or there twice; a value that
 * is not a number; something that labels of this kind do not say and that is not set. */
enum pdnn_status pdnn_label_id(const char *label, const char *const *set, size_t n_set, struct pdnn_str *id,
                               struct pdnn_err *err);

/* The outcome of a state such as OOM, or one of our own; "" is ok. PDNN_INVALID with the nearest. */
enum pdnn_status pdnn_state_outcome(const char *state, enum pdnn_outcome *outcome, struct pdnn_err *err);

#endif
