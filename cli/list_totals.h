/* The sums over all instances of a spec: what `list --count` prints. */
#ifndef CLI_LIST_TOTALS_H
#define CLI_LIST_TOTALS_H

#include "gen/walk.h"

/* Walks to the end and prints the totals to stdout, the speed of the walk to stderr. */
enum pdnn_status pdnn_list_totals(struct pdnn_walk *walk, bool csv, struct pdnn_err *err);

#endif
