/* The table of OpenBLAS's cores, and the choice among them. */
#include "runtime/backends/openblas/core.h"

#include "runtime/host/isa.h"

#include <stddef.h>
#include <strings.h>

/* Each row maps a core to an isa; the first row of an isa has the name to ask for. `is_new`: its sgemm is no
 * other than that of the rows before it, and not every build has it, so a wider processor is no reason to ask
 * for it. */
static const struct core {
    enum pdnn_isa isa;
    const char *name;
    bool is_new;
} cores[] = {
    {PDNN_ISA_SSE41, "Penryn", false},
    {PDNN_ISA_SSE41, "Nehalem", false},
    {PDNN_ISA_SSE41, "Prescott", false}, /* SSE3: what every x86-64 runs */
    {PDNN_ISA_SSE41, "Core2", false},
    {PDNN_ISA_SSE41, "Dunnington", false},
    {PDNN_ISA_SSE41, "Atom", false},
    {PDNN_ISA_AVX, "Sandybridge", false},
    {PDNN_ISA_AVX2, "Haswell", false},
    {PDNN_ISA_AVX2, "Excavator", false},
    {PDNN_ISA_AVX2, "Zen", false},
    {PDNN_ISA_AVX512_CORE, "SkylakeX", false},
    {PDNN_ISA_AVX512_CORE_BF16, "Cooperlake", true},
    {PDNN_ISA_AVX512_CORE_AMX, "SapphireRapids", true},
    {PDNN_ISA_ASIMD, "ARMV8", false},
    {PDNN_ISA_ASIMD, "CortexA53", false},
    {PDNN_ISA_ASIMD, "CortexA55", false},
    {PDNN_ISA_ASIMD, "CortexA57", false},
    {PDNN_ISA_ASIMD, "CortexA72", false},
    {PDNN_ISA_ASIMD, "CortexA73", false},
    {PDNN_ISA_ASIMD, "CortexA76", false},
    {PDNN_ISA_ASIMD, "Falkor", false},
    {PDNN_ISA_ASIMD, "ThunderX", false},
    {PDNN_ISA_ASIMD, "ThunderX2T99", false},
    {PDNN_ISA_ASIMD, "ThunderX3T110", false},
    {PDNN_ISA_ASIMD, "TSV110", false},
    {PDNN_ISA_ASIMD, "EMAG8180", false},
    {PDNN_ISA_ASIMD, "NeoverseN1", false},
    {PDNN_ISA_SVE_128, "ARMV8SVE", true}, /* any length of vectors */
    {PDNN_ISA_SVE_128, "NeoverseN2", true},
    {PDNN_ISA_SVE_128, "NeoverseV1", true},
    {PDNN_ISA_SVE_512, "A64FX", true},
};
enum { CORES = sizeof cores / sizeof *cores };

static const struct core *find(const char *name) {
    for (size_t i = 0; i < CORES; i++) {
        if (strcasecmp(cores[i].name, name) == 0)
            return &cores[i];
    }
    return NULL;
}

static bool is_arm(enum pdnn_isa isa) {
    return isa >= PDNN_ISA_ASIMD;
}

static bool is_within(const struct core *core, enum pdnn_isa isa) {
    return core->isa <= isa && is_arm(core->isa) == is_arm(isa);
}

bool pdnn_openblas_core_is_within(const char *core, enum pdnn_isa isa) {
    const struct core *known = find(core);
    return known && is_within(known, isa);
}

/* The first row of the widest isa up to this one; NULL if there is none. */
static const struct core *best_within(enum pdnn_isa isa, bool with_new) {
    const struct core *best = NULL;
    for (size_t i = 0; i < CORES; i++) {
        if (is_within(&cores[i], isa) && (with_new || !cores[i].is_new) &&
            (!best || cores[i].isa > best->isa))
            best = &cores[i];
    }
    return best;
}

const char *pdnn_openblas_core_for(const char *core, const struct pdnn_host *host, enum pdnn_isa isa) {
    const struct core *known = find(core), *best;
    if (isa != PDNN_ISA_DEFAULT) {
        best = best_within(isa, true);
        return best && !pdnn_openblas_core_is_within(core, isa) ? best->name : NULL;
    }
    best = best_within(pdnn_isa_widest(host), false);
    return best && known && is_within(known, best->isa) && known->isa < best->isa ? best->name : NULL;
}
