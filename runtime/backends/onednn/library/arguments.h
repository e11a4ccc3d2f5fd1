/* What the library calls the arguments of a primitive. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_ARGUMENTS_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_ARGUMENTS_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

struct pdnn_onednn_argument {
    int id; /* 0: no such argument */
    dnnl_query_t query;
    int index; /* of the query */
};

/* By argument of the request: what it is called in its pass, and how to ask for its descriptor. */
const struct pdnn_onednn_argument *pdnn_onednn_arguments_of(const struct pdnn_onednn_request *request);

#endif
