/* The library's names for the arguments of a primitive. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_ARGUMENTS_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_ARGUMENTS_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>

struct pdnn_onednn_argument {
    int id; /* 0: no such argument */
    dnnl_query_t query;
    int index; /* index in the query */
};

/* By argument of the request: its name in the request's pass, and the query for its descriptor. */
const struct pdnn_onednn_argument *pdnn_onednn_arguments_of(const struct pdnn_onednn_request *request);

#endif
