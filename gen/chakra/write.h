/* Graphs as MLCommons Chakra's execution traces (gen/chakra/chakra.proto): a message of the whole, then one
 * for each node, each behind its length. */
#ifndef GEN_CHAKRA_WRITE_H
#define GEN_CHAKRA_WRITE_H

#include "base/str.h"
#include "models/graph.h"

/* Appends the trace of one rank, whose graph this is. A node depends on what wrote the tensors that it reads,
 * and, by control, on what used those before that it writes. All-reduces of a bucket are one collective of
 * its bytes, where its last gradient is; what stands for the others is METADATA. time_ns: of each node, NaN
 * where it is not known, which leaves its duration away. */
enum pdnn_status pdnn_chakra_append(const struct pdnn_graph *graph, const char *id, int64_t rank,
                                    const double *time_ns, struct pdnn_str *trace, struct pdnn_err *err);

#endif
