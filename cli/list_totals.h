/* Totals over all instances of a spec, as `list --count` prints them. */
#ifndef CLI_LIST_TOTALS_H
#define CLI_LIST_TOTALS_H

#include "session/shard.h"

/* Walks over the shard to its end, then prints the totals on stdout and the speed of the walk on stderr. */
enum pdnn_status pdnn_list_totals(struct pdnn_shard_deal *deal, struct pdnn_walk *walk, bool csv,
                                  struct pdnn_err *err);

#endif
