/* An open oneDNN, as the files of this directory share it. Private to this directory. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_DNNL_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_DNNL_H

#include "base/err.h"

#include <dnnl.h>
#include <stdbool.h>

struct pdnn_onednn_library {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    bool pads_wrongly; /* padding.h */
};

/* Returns PDNN_UNSUPPORTED if the library does not implement what was asked, else an error: "oneDNN 2.6.3
 * answers "unimplemented" to a primitive". */
enum pdnn_status pdnn_onednn_fail(struct pdnn_err *err, dnnl_status_t status, const char *what);

#endif
