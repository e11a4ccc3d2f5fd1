/* An ONNX file in memory: read by protobuf-c with an allocator of which a file can only have so much, and
 * checked as far as that goes without shapes. Numbers of weights are not looked at, nor files beside it that
 * hold them. */
#ifndef GEN_ONNX_MODEL_H
#define GEN_ONNX_MODEL_H

#include "base/err.h"
#include <onnx.pb-c.h>

#include <stddef.h>
#include <stdint.h>

enum {
    PDNN_ONNX_OPSET_MIN = 11,
    PDNN_ONNX_OPSET_MAX = 23,
    PDNN_ONNX_TIMES = 6, /* memory that its messages may take: so many times the file's bytes, ... */
    PDNN_ONNX_BESIDES =
        2 << 20, /* ... and so many bytes; what is made of them takes at most twice the file and a few MiB */
    PDNN_ONNX_WHERE_TEXT = 160,
};

/* A node, with the numbers of the values that it reads and gives; -1: an optional one that is not there. */
struct pdnn_onnx_node {
    const struct Onnx__NodeProto *proto;
    const int32_t *in, *out;
};

struct pdnn_onnx {
    const char *name;               /* the file, as messages say it; borrowed */
    struct Onnx__ModelProto *proto; /* NULL: none */
    const struct Onnx__GraphProto *graph;
    int64_t opset;
    size_t length;                /* of the file */
    struct pdnn_onnx_node *nodes; /* graph->n_node */
    int32_t *ids;                 /* of all nodes */
    const char **values;          /* their names, sorted */
    int32_t n_values;
};

/* From a file's bytes, which it does not keep. PDNN_INVALID with one line for what is not protobuf, or cut;
 * an opset that is not in 11..23; operators of other domains; external data outside of the file's folder; a
 * node whose inputs are not there, or depend on it. The caller finishes it. */
enum pdnn_status pdnn_onnx_parse(const char *name, const uint8_t *bytes, size_t length,
                                 struct pdnn_onnx *onnx, struct pdnn_err *err);

/* The same of a file. */
enum pdnn_status pdnn_onnx_read(const char *path, struct pdnn_onnx *onnx, struct pdnn_err *err);

void pdnn_onnx_finish(struct pdnn_onnx *onnx);

/* The number of the value with that name, or -1. */
int32_t pdnn_onnx_value(const struct pdnn_onnx *onnx, const char *name);

/* Of a name, letters, digits and _, no digit first, as far as there is room. Returns name. */
const char *pdnn_onnx_make_name(char *name, size_t room, const char *from, size_t length);

/* "model.onnx: node 'conv1' (Conv)": what a message about a node begins with. Returns buffer. */
const char *pdnn_onnx_where(const struct pdnn_onnx *onnx, const struct Onnx__NodeProto *node,
                            char buffer[PDNN_ONNX_WHERE_TEXT]);

#endif
