#define _POSIX_C_SOURCE 200809L
#include "runtime/host/host_files.h"

#include "base/file.h"
#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

/* Enough for /proc/cpuinfo on the largest machines. */
enum { FILE_LIMIT_BYTES = 16 << 20 };

char *pdnn_hostfiles_read(const char *root, const char *path) {
    char full[PATH_MAX], *text = NULL;
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof full)
        return NULL;
    return pdnn_file_read(full, FILE_LIMIT_BYTES, &text, NULL, NULL) == PDNN_OK ? text : NULL;
}

static bool parse_number(const char *text, uint64_t *number) {
    text += strspn(text, " \t");
    if (!isdigit((unsigned char)*text))
        return false;
    *number = strtoull(text, NULL, 10);
    return true;
}

bool pdnn_hostfiles_number(const char *root, const char *path, uint64_t *number) {
    char *text = pdnn_hostfiles_read(root, path);
    bool found = text && parse_number(text, number);
    free(text);
    return found;
}

bool pdnn_hostfiles_entry(const char *text, const char *key, uint64_t *number) {
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == '\t'))
            return parse_number(line + length, number);
    }
    return false;
}

/* Finds what follows "key :" on its first line, without the line end. False if there is no such line. */
static bool find_field(const char *text, const char *key, const char **field, size_t *length) {
    size_t key_length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *rest = line + key_length;
        if (strncmp(line, key, key_length) != 0)
            continue;
        rest += strspn(rest, " \t");
        if (*rest != ':')
            continue;
        rest++;
        rest += strspn(rest, " \t");
        *field = rest;
        *length = strcspn(rest, "\n");
        return true;
    }
    return false;
}

/* A field such as "0xd4f". */
static bool find_hex(const char *text, const char *key, unsigned long *number) {
    const char *field;
    size_t length;
    if (!find_field(text, key, &field, &length))
        return false;
    *number = strtoul(field, NULL, 16);
    return true;
}

/* The flags that decide which kernels a library picks, as /proc/cpuinfo names them on x86 and Arm. */
static const char *const isa_words[] = {
    "sse4_1",   "avx",      "avx2",        "fma",         "avx_vnni",    "avx_ne_convert",
    "avx512f",  "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16",
    "amx_int8", "amx_fp16", "asimd",       "asimdhp",     "asimddp",     "bf16",
    "i8mm",     "sve",      "sve2",        "svebf16",     "svei8mm",
};

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

/* "Neoverse-V2" for the numbers of /proc/cpuinfo; the numbers themselves where the table does not know them.
 */
static void find_arm_model(unsigned long implementer, unsigned long part, char model[PDNN_HOST_TEXT]) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (models[i].implementer == implementer && models[i].part == part) {
            snprintf(model, PDNN_HOST_TEXT, "%s", models[i].name);
            return;
        }
    }
    snprintf(model, PDNN_HOST_TEXT, "implementer 0x%02lx part 0x%03lx", implementer, part);
}

static void append(char isa[PDNN_HOST_TEXT], size_t *used, const char *word) {
    if (*used < PDNN_HOST_TEXT)
        *used += (size_t)snprintf(isa + *used, PDNN_HOST_TEXT - *used, "%s%s", *used ? " " : "", word);
}

void pdnn_hostfiles_cpu(const char *root, char model[PDNN_HOST_TEXT], char isa[PDNN_HOST_TEXT]) {
    const char *field;
    size_t length, used = 0;
    unsigned long implementer, part;
    model[0] = isa[0] = 0;
    char *text = pdnn_hostfiles_read(root, "/proc/cpuinfo");
    if (!text)
        return;
    if (find_field(text, "model name", &field, &length))
        snprintf(model, PDNN_HOST_TEXT, "%.*s", (int)(length < PDNN_HOST_TEXT ? length : PDNN_HOST_TEXT),
                 field);
    else if (find_hex(text, "CPU implementer", &implementer) && find_hex(text, "CPU part", &part))
        find_arm_model(implementer, part, model);
    if (find_field(text, "flags", &field, &length) || find_field(text, "Features", &field, &length)) {
        text[field - text + (ptrdiff_t)length] = 0;
        for (size_t i = 0; i < sizeof isa_words / sizeof *isa_words; i++) {
            if (pdnn_parts_have(field, " ", isa_words[i], strlen(isa_words[i])))
                append(isa, &used, isa_words[i]);
        }
    }
    free(text);
}

void pdnn_hostfiles_generation(const char *root, char generation[PDNN_HOST_TEXT]) {
    static const char *const keys[] = {"vendor_id", "cpu family", "model"};
    const char *field[3];
    size_t length[3], found = 0;
    char *text = pdnn_hostfiles_read(root, "/proc/cpuinfo");
    generation[0] = 0;
    while (text && found < 3 && find_field(text, keys[found], &field[found], &length[found]))
        found++;
    if (found == 3)
        snprintf(generation, PDNN_HOST_TEXT, "%.*s family %.*s model %.*s", (int)length[0], field[0],
                 (int)length[1], field[1], (int)length[2], field[2]);
    free(text);
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

void pdnn_hostfiles_hwcaps(char isa[PDNN_HOST_TEXT]) {
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

void pdnn_hostfiles_hwcaps(char isa[PDNN_HOST_TEXT]) {
    (void)isa;
}

#endif

void pdnn_hostfiles_memory(const char *root, uint64_t *total_bytes, uint64_t *available_bytes) {
    *total_bytes = *available_bytes = 0;
    uint64_t kib;
    char *text = pdnn_hostfiles_read(root, "/proc/meminfo");
    if (text && pdnn_hostfiles_entry(text, "MemTotal:", &kib))
        *total_bytes = kib * 1024;
    if (text &&
        (pdnn_hostfiles_entry(text, "MemAvailable:", &kib) || pdnn_hostfiles_entry(text, "MemFree:", &kib)))
        *available_bytes = kib * 1024;
    free(text);
    struct sysinfo kernel; /* some services see a /proc without meminfo */
    if (!*available_bytes && !*root && sysinfo(&kernel) == 0) {
        *total_bytes = (uint64_t)kernel.totalram * kernel.mem_unit;
        *available_bytes = ((uint64_t)kernel.freeram + kernel.bufferram) * kernel.mem_unit;
    }
}

void pdnn_hostfiles_governor(const char *root, int pu, char governor[PDNN_HOST_TEXT]) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", pu);
    char *text = pdnn_hostfiles_read(root, path);
    snprintf(governor, PDNN_HOST_TEXT, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
    free(text);
}

/* A line of a processing unit, "cpu3 user nice system idle iowait irq softirq steal ..."; false for others.
 */
static bool parse_steal(const char *line, int *unit, uint64_t *ticks) {
    enum { STEAL = 7 };
    char *at;
    if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
        return false;
    *unit = (int)strtol(line + 3, &at, 10);
    for (int field = 0; field <= STEAL; field++) {
        if (*at != ' ')
            return false;
        *ticks = strtoull(at, &at, 10);
    }
    return true;
}

double pdnn_hostfiles_steal_ns(const char *root, const int *units, int64_t count) {
    char *text = pdnn_hostfiles_read(root, "/proc/stat");
    double ns = 0;
    int64_t found = 0;
    for (const char *line = text; line && *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
        int unit;
        uint64_t ticks;
        if (!parse_steal(line, &unit, &ticks))
            continue;
        for (int64_t i = 0; i < count; i++) {
            if (units[i] != unit)
                continue;
            ns += (double)ticks * 1e9 / (double)sysconf(_SC_CLK_TCK);
            found++;
        }
    }
    free(text);
    return found == count ? ns : NAN;
}

uint64_t pdnn_hostfiles_throttle_count(const char *root) {
    static const char *const counters[] = {"core_throttle_count", "package_throttle_count"};
    char path[PATH_MAX];
    uint64_t sum = 0, count;
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu", root);
    DIR *directory = opendir(path);
    for (struct dirent *entry = NULL; directory && (entry = readdir(directory));) {
        if (strncmp(entry->d_name, "cpu", 3) != 0 || !isdigit((unsigned char)entry->d_name[3]))
            continue;
        for (size_t i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/%s/thermal_throttle/%s", entry->d_name,
                     counters[i]);
            if (pdnn_hostfiles_number(root, path, &count))
                sum += count;
        }
    }
    if (directory)
        closedir(directory);
    return sum;
}
