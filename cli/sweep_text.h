/* What `paradnn sweep` says at its end, on stderr. */
#ifndef CLI_SWEEP_TEXT_H
#define CLI_SWEEP_TEXT_H

#include "base/str.h"
#include "session/directory.h"

/* Where the wall time went; the instances by status; the fastest, the slowest and the one farthest from its
 * roof; what bounds them, and how many are noisy and why; where the tables are; commands to run next. Of a
 * sweep without tables only what it took. */
void pdnn_sweep_text(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep,
                     const struct pdnn_sweep_result *result);

/* Warns if the machine's speed was another one while the roofs were measured. */
void pdnn_sweep_warn_speed(const struct pdnn_sweep_directory *sweep);

#endif
