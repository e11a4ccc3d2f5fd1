/* Networks as ONNX files: the graph, which is small, and beside it one file of data. */
#ifndef GEN_ONNX_WRITE_H
#define GEN_ONNX_WRITE_H

#include "base/err.h"
#include "models/onnx/nodes.h"

enum { PDNN_EXPORT_IR = 8 }; /* version of the format, of the release that has opset 17 */

struct pdnn_export_file {
    const char *path; /* of the graph; the data is in the file `path`.data */
    const char *id;   /* of the instance: the graph's name */
    /* Whether weights and state are written, with the values that runs of that seed begin with. Otherwise all
     * are the same block of zeros, as large as the largest of them, which takes no room on disk. */
    bool with_weights;
    uint64_t seed;
};

struct pdnn_export_sizes {
    uint64_t graph_bytes;
    uint64_t data_bytes; /* 0: there is no such file */
};

/* Replaces the two files, and says their sizes. The graph also says how the values of each input are drawn,
 * as metadata: its name, and "zipf 50257". PDNN_INVALID where the path is no file's, PDNN_IO on failure; the
 * graph is then as it was before. */
enum pdnn_status pdnn_export_write(const struct pdnn_export *onnx, const struct pdnn_export_file *file,
                                   struct pdnn_export_sizes *sizes, struct pdnn_err *err);

#endif
