/* What the files of this directory share of an open oneDNN; for them only. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_DNNL_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_DNNL_H

#include "base/err.h"

#include <dnnl.h>

struct pdnn_onednn_library {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};

/* PDNN_UNSUPPORTED where the library has no such thing, else what went wrong: "oneDNN 2.6.3 answers
 * "unimplemented" to a primitive". */
enum pdnn_status pdnn_onednn_fail(struct pdnn_err *err, dnnl_status_t status, const char *what);

#endif
