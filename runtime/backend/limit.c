#include "runtime/backend/limit.h"

#include "runtime/host/isa.h"
#include "runtime/kernels/simd/level.h"

void pdnn_isa_limit_kernels(enum pdnn_isa isa) {
    pdnn_level_limit(pdnn_isa_lanes(isa));
}
