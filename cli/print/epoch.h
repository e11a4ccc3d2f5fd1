/* What `paradnn seqpoint` says to people: the epoch, the SeqPoints, and what every method projects. */
#ifndef CLI_PRINT_EPOCH_H
#define CLI_PRINT_EPOCH_H

#include "base/str.h"
#include "session/seqpoint/run.h"

/* kinds: seqpoint.csv as it is now; a column is added. */
void pdnn_epoch_text(struct pdnn_str *out, const struct pdnn_seqpoint_run *run, struct pdnn_table *kinds);

#endif
