/* What a definition must be beyond what compiling tells: built, with its defaults. */
#ifndef MODELS_DEFINITION_CHECK_H
#define MODELS_DEFINITION_CHECK_H

#include "models/family.h"

/* Builds the defaults, with several minibatches and depths. PDNN_INVALID if that fails, if weights, `repeat`
 * or `when` depend on the minibatch, or if sizes and costs are not affine in minibatch and depth, on which
 * models/cost/cost_memo relies; or if ids could be longer than PDNN_ID_TEXT. Once for a definition and
 * process is enough. */
enum pdnn_status pdnn_definition_check(const struct pdnn_family_def *family, struct pdnn_err *err);

/* Compares what presets say of themselves with their graphs in inference, with one example: `params`, and
 * `macs`, multiply-adds of dense and recurrent layers, convolutions and products of attention, whole
 * whatever is masked. PDNN_INVALID
 * for the first that is wrong. */
enum pdnn_status pdnn_family_check_claims(const struct pdnn_family_def *family, struct pdnn_err *err);

#endif
