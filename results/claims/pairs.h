/* What the claims about two platforms share. */
#ifndef RESULTS_CLAIMS_PAIRS_H
#define RESULTS_CLAIMS_PAIRS_H

#include "models/family.h"
#include "results/claims/claims.h"

/* Whether it ran a network of this kind; NULL: of any. */
bool pdnn_report_is_of(const struct pdnn_comparison *pairs, size_t pair, pdnn_report_network *network);

/* Logarithms of the speed-ups of B over A. */
struct pdnn_mean pdnn_report_speed_ups(const struct pdnn_comparison *pairs, pdnn_report_network *network);

/* 1 if B is the faster platform by logarithms of such speed-ups, -1 if A is, 0 if that is open. */
int pdnn_report_faster_side(struct pdnn_mean_interval logs);

/* Otherwise says that there are none. */
bool pdnn_report_has_pairs(struct pdnn_report_question *question);

/* Whether environment.yaml says the same of both machines; whether that holds and one key alone differs. */
bool pdnn_report_is_same_machine(const struct pdnn_comparison *pairs);
bool pdnn_report_differ_only_in(const struct pdnn_report_question *question, const char *key);

/* Claims in files of their own: of ops, and of versions of the software. */
void pdnn_report_memory_bound_gain_more(struct pdnn_report_question *question);
void pdnn_report_newer_doubles_some(struct pdnn_report_question *question);
void pdnn_report_newer_is_faster(struct pdnn_report_question *question);

#endif
