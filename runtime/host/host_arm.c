/* Tables of Arm's processors and hwcaps. */
#include "runtime/host/host_arm.h"

#include <stddef.h>
#include <stdio.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

/* The MIDR register's implementer and part number: Arm's manuals ("MIDR_EL1"), and those of the makers. */
static const struct {
    unsigned implementer, part;
    const char *name;
} models[] = {
    {0x41, 0xd03, "Cortex-A53"},       {0x41, 0xd07, "Cortex-A57"},  {0x41, 0xd08, "Cortex-A72"},
    {0x41, 0xd09, "Cortex-A73"},       {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},
    {0x41, 0xd40, "Neoverse-V1"},      {0x41, 0xd41, "Cortex-A78"},  {0x41, 0xd44, "Cortex-X1"},
    {0x41, 0xd49, "Neoverse-N2"},      {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd84, "Neoverse-V3"},
    {0x41, 0xd8e, "Neoverse-N3"},      {0x43, 0x0af, "ThunderX2"},   {0x46, 0x001, "A64FX"},
    {0x48, 0xd01, "Kunpeng-920"},      {0x50, 0x000, "X-Gene"},      {0x61, 0x022, "Apple-M1"},
    {0x61, 0x023, "Apple-M1"},         {0x61, 0x032, "Apple-M2"},    {0x61, 0x033, "Apple-M2"},
    {0xc0, 0xac3, "Ampere-1"},         {0xc0, 0xac4, "Ampere-1A"},   {0xc0, 0xac5, "Ampere-1B"},
    {0x6d, 0xd49, "Azure-Cobalt-100"},
};

void pdnn_hostarm_model(unsigned long implementer, unsigned long part, char model[PDNN_HOST_TEXT]) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (models[i].implementer == implementer && models[i].part == part) {
            snprintf(model, PDNN_HOST_TEXT, "%s", models[i].name);
            return;
        }
    }
    snprintf(model, PDNN_HOST_TEXT, "implementer 0x%02lx part 0x%03lx", implementer, part);
}

#if defined(__aarch64__)

static const struct {
    unsigned long type, bit;
    const char *word;
} features[] = {
    {AT_HWCAP, HWCAP_ASIMD, "asimd"},       {AT_HWCAP, HWCAP_ASIMDHP, "asimdhp"},
    {AT_HWCAP, HWCAP_ASIMDDP, "asimddp"},   {AT_HWCAP2, HWCAP2_BF16, "bf16"},
    {AT_HWCAP2, HWCAP2_I8MM, "i8mm"},       {AT_HWCAP, HWCAP_SVE, "sve"},
    {AT_HWCAP2, HWCAP2_SVE2, "sve2"},       {AT_HWCAP2, HWCAP2_SVEBF16, "svebf16"},
    {AT_HWCAP2, HWCAP2_SVEI8MM, "svei8mm"},
};

static void append(char isa[PDNN_HOST_TEXT], size_t *used, const char *word) {
    if (*used < PDNN_HOST_TEXT)
        *used += (size_t)snprintf(isa + *used, PDNN_HOST_TEXT - *used, "%s%s", *used ? " " : "", word);
}

void pdnn_hostarm_isa(char isa[PDNN_HOST_TEXT]) {
    size_t used = 0;
    isa[0] = 0;
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (getauxval(features[i].type) & features[i].bit)
            append(isa, &used, features[i].word);
    }
    int bytes = getauxval(AT_HWCAP) & HWCAP_SVE ? prctl(PR_SVE_GET_VL) : 0;
    if (bytes > 0 && (bytes & PR_SVE_VL_LEN_MASK) >= 256 / 8)
        append(isa, &used, "sve_256");
    if (bytes > 0 && (bytes & PR_SVE_VL_LEN_MASK) >= 512 / 8)
        append(isa, &used, "sve_512");
}

#else

void pdnn_hostarm_isa(char isa[PDNN_HOST_TEXT]) {
    (void)isa;
}

#endif
