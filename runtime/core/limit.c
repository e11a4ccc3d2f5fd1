#include "runtime/core/limit.h"

#include "runtime/facts/isa.h"
#include "runtime/kernels/gemm/tiles.h"

void pdnn_isa_limit_kernels(enum pdnn_isa isa) {
    pdnn_tiles_limit(pdnn_isa_lanes(isa));
}
