/* A fault of oneDNN 3's generated reorders (jit:uni; found in 3.7.2 and 3.12.1, absent in 2.6): which
 * dimension they walk first depends on the size of the innermost cache, and if a block does not fit in it,
 * the zeros of the padding overwrite values. Real caches hold every block, but under a hypervisor the library
 * may read another size: on a hosted Zen 5 it went wrong just as it does in an emulator where the size is
 * made 2 bytes. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_PADDING_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_PADDING_H

#include "runtime/backends/onednn/library/request.h"

#include <dnnl.h>
#include <stdbool.h>

struct pdnn_onednn_library;

/* Runs a small reorder that has the largest blocks, and looks. False if it cannot be run. */
bool pdnn_onednn_pads_wrongly(const struct pdnn_onednn_library *library);

/* Whether the descriptor is of a reorder that the fault may hit where there is the fault. */
bool pdnn_onednn_is_wrongly_padded(const struct pdnn_onednn_request *request,
                                   const_dnnl_primitive_desc_t descriptor);

#endif
