/* Follows an ONNX file at given sizes of its axes (gen/onnx/step). */
#ifndef GEN_ONNX_TRACE_H
#define GEN_ONNX_TRACE_H

#include "gen/onnx/step.h"

/* The size of dimension d of an input; below 1: it has none. */
typedef int64_t pdnn_trace_size(void *of, const struct Onnx__ValueInfoProto *input, size_t d);

/* Follows the whole file, in program.arena, which is the caller's; the results are the graph's. PDNN_INVALID
 * with one line: node and operator. */
enum pdnn_status pdnn_trace_run(struct pdnn_trace *trace, pdnn_trace_size *size, void *of);

#endif
