/* Totals over all instances of a spec, as `list --count` prints them. */
#ifndef CLI_LIST_TOTALS_H
#define CLI_LIST_TOTALS_H

#include "cli/options.h"
#include "gen/spec.h"
#include "runtime/facts/host.h"
#include "session/shard.h"

/* Walks over the shard of the spec to its end, then prints the totals on stdout, and on stderr the speed of
 * the walk and how long a sweep takes here. */
enum pdnn_status pdnn_list_totals(const struct pdnn_spec *spec, const struct pdnn_host *host,
                                  struct pdnn_shard_deal *deal, struct pdnn_walk *walk,
                                  const struct pdnn_arguments *arguments, struct pdnn_err *err);

#endif
