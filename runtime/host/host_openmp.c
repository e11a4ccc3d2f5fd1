#include "runtime/host/host_openmp.h"

#include "base/units.h"

#include <string.h>
#include <strings.h>

enum effect { COUNTED, GRANTED, PASSED, MATCHED, DROPPED };

#define BOUND    "each thread is bound to a core of its own (taskset chooses which)"
#define NUMBER   "that is no number of threads"
#define NOT_READ "libgomp does not read them"
#define TALKS    "what is measured would take longer"
#define UNKNOWN  "paradnn does not know what they do"
#define IGNORED  "the library does not know such a value, or has no code for it here"

/* Libraries' variables without a row are dropped. What a scheduler sets is for others as well, so that it
 * stays as it is. */
static const struct row {
    const char *name; /* DNNL_ is another spelling of ONEDNN_ */
    enum effect effect;
    bool is_setting;       /* changes what is computed or how fast */
    const char *values[3]; /* values that are obeyed; empty: all */
    const char *why;       /* the others are not */
} rows[] = {
    {"OMP_NUM_THREADS", COUNTED, false, {NULL}, NUMBER},
    {"OMP_THREAD_LIMIT", COUNTED, false, {NULL}, NUMBER},
    {"SLURM_CPUS_PER_TASK", GRANTED, false, {NULL}, NUMBER},
    {"SLURM_CPUS_ON_NODE", GRANTED, false, {NULL}, NUMBER},
    {"PBS_NCPUS", GRANTED, false, {NULL}, NUMBER},
    {"PBS_NUM_PPN", GRANTED, false, {NULL}, NUMBER},
    {"NSLOTS", GRANTED, false, {NULL}, NUMBER},
    {"LSB_DJOB_NUMPROC", GRANTED, false, {NULL}, NUMBER},
    {"OMP_WAIT_POLICY", PASSED, true, {"active", "passive"}, "it is active or passive"},
    {"OMP_STACKSIZE", PASSED, false, {NULL}, NULL},
    {"GOMP_STACKSIZE", PASSED, false, {NULL}, NULL},
    {"GOMP_SPINCOUNT", PASSED, true, {NULL}, NULL},
    {"OMP_DISPLAY_ENV", PASSED, false, {NULL}, NULL},
    {"OMP_DISPLAY_AFFINITY", PASSED, false, {NULL}, NULL},
    {"OMP_AFFINITY_FORMAT", PASSED, false, {NULL}, NULL},
    {"OMP_PLACES", MATCHED, false, {"cores"}, BOUND},
    {"OMP_PROC_BIND", MATCHED, false, {"close", "true"}, BOUND},
    {"OMP_DYNAMIC", MATCHED, false, {"false"}, BOUND},
    {"OMP_NESTED", MATCHED, false, {"false"}, BOUND},
    {"OMP_MAX_ACTIVE_LEVELS", MATCHED, false, {"1"}, BOUND},
    {"GOMP_CPU_AFFINITY", DROPPED, false, {NULL}, BOUND},
    {"GOMP_DEBUG", DROPPED, false, {NULL}, TALKS},
    {"KMP_AFFINITY", DROPPED, false, {NULL}, BOUND},
    {"KMP_STACKSIZE", DROPPED, false, {NULL}, NOT_READ},
    {"KMP_BLOCKTIME", DROPPED, false, {NULL}, NOT_READ},
    {"ONEDNN_VERBOSE", DROPPED, false, {NULL}, TALKS},
    {"ONEDNN_VERBOSE_TIMESTAMP", DROPPED, false, {NULL}, TALKS},
    {"ONEDNN_JIT_DUMP", DROPPED, false, {NULL}, TALKS},
    {"ONEDNN_JIT_PROFILE", DROPPED, false, {NULL}, TALKS},
    {"ONEDNN_MAX_CPU_ISA", DROPPED, false, {NULL}, "the setting isa says it, for kernels of our own too"},
    {"ONEDNN_CPU_ISA_HINTS", PASSED, true, {NULL}, NULL},
    {"ONEDNN_DEFAULT_FPMATH_MODE", PASSED, true, {NULL}, NULL},
    {"ONEDNN_PRIMITIVE_CACHE_CAPACITY", PASSED, true, {NULL}, NULL},
    {"LD_PRELOAD", PASSED, true, {NULL}, NULL},
    {"LD_LIBRARY_PATH", PASSED, true, {NULL}, NULL},
    {"LD_AUDIT", PASSED, true, {NULL}, NULL},
    {"LD_BIND_NOW", PASSED, true, {NULL}, NULL},
    {"LD_DEBUG", DROPPED, false, {NULL}, TALKS},
    {"GLIBC_TUNABLES", PASSED, true, {NULL}, NULL},
    {"MALLOC_ARENA_MAX", PASSED, true, {NULL}, NULL},
    {"MALLOC_ARENA_TEST", PASSED, true, {NULL}, NULL},
    {"MALLOC_CHECK_", PASSED, true, {NULL}, NULL},
    {"MALLOC_CONF", PASSED, true, {NULL}, NULL}, /* of jemalloc, preloaded */
    {"MALLOC_MMAP_MAX_", PASSED, true, {NULL}, NULL},
    {"MALLOC_MMAP_THRESHOLD_", PASSED, true, {NULL}, NULL},
    {"MALLOC_PERTURB_", PASSED, true, {NULL}, NULL},
    {"MALLOC_TOP_PAD_", PASSED, true, {NULL}, NULL},
    {"MALLOC_TRIM_THRESHOLD_", PASSED, true, {NULL}, NULL},
    {"OPENBLAS_CORETYPE", PASSED, true, {NULL}, NULL},
    {"OPENBLAS_L2_SIZE", PASSED, true, {NULL}, NULL},
    {"OPENBLAS_VERBOSE", DROPPED, false, {NULL}, TALKS},
    {"OPENBLAS_NUM_THREADS", DROPPED, false, {NULL}, "the setting threads says how many"},
    {"HWLOC_SYNTHETIC", DROPPED, false, {NULL}, "the machine that counts is this one"},
    {"HWLOC_XMLFILE", DROPPED, false, {NULL}, "the machine that counts is this one"},
    {"HWLOC_FSROOT", DROPPED, false, {NULL}, "the machine that counts is this one"},
};

static const char *value_of(const char *variable) {
    return variable + strcspn(variable, "=") + (strchr(variable, '=') != NULL);
}

static const struct row *find_row(const char *variable) {
    static const char other[] = "DNNL_", usual[] = "ONEDNN_";
    bool is_other = strncmp(variable, other, strlen(other)) == 0;
    const char *name = variable + (is_other ? strlen(other) : 0);
    size_t length = strcspn(name, "=");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *own = rows[i].name;
        if (is_other)
            own = strncmp(own, usual, strlen(usual)) == 0 ? own + strlen(usual) : "";
        if (strlen(own) == length && memcmp(own, name, length) == 0)
            return &rows[i];
    }
    return NULL;
}

/* Parses "4", or "4,2" with counts for nested teams, which paradnn does not use; with blanks, as libgomp
 * does. 0 if there is no such number. */
static int64_t parse_count(const char *text) {
    static const char blanks[] = " \t\n";
    char copy[24];
    int64_t count;
    text += strspn(text, blanks);
    size_t length = strcspn(text, ", \t\n"), after = length + strspn(text + length, blanks);
    if (!length || length >= sizeof copy || (text[after] && text[after] != ','))
        return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    return pdnn_parse_i64(copy, &count) && count > 0 ? count : 0;
}

static bool is_obeyed(const char *variable) {
    const struct row *row = find_row(variable);
    const char *value = value_of(variable);
    if (!row || row->effect == DROPPED)
        return false;
    if (row->effect == COUNTED || row->effect == GRANTED)
        return parse_count(value) > 0;
    bool matches = !row->values[0];
    for (size_t i = 0; i < sizeof row->values / sizeof *row->values && row->values[i]; i++)
        matches = matches || strcasecmp(row->values[i], value) == 0;
    return matches;
}

void pdnn_openmp_counts(char *const *variables, int64_t *num_threads, int64_t *thread_limit) {
    *num_threads = *thread_limit = 0;
    for (; *variables; variables++) {
        const struct row *row = find_row(*variables);
        if (!row || (row->effect != COUNTED && row->effect != GRANTED))
            continue;
        int64_t *least = strcmp(row->name, "OMP_THREAD_LIMIT") == 0 ? thread_limit : num_threads;
        const int64_t count = parse_count(value_of(*variables));
        *least = count && (!*least || count < *least) ? count : *least;
    }
}

/* Whether people are told what becomes of it. */
static bool is_told(const char *variable) {
    static const char *const prefixes[] = {"OMP_",  "GOMP_",     "KMP_",   "ONEDNN_",
                                           "DNNL_", "OPENBLAS_", "MALLOC_"};
    bool is_told = find_row(variable) != NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        is_told = is_told || strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0;
    return is_told;
}

bool pdnn_openmp_is_variable(const char *variable) {
    const struct row *row = find_row(variable);
    return is_told(variable) && !(row && row->effect == GRANTED);
}

bool pdnn_openmp_is_setting(const char *variable) {
    const struct row *row = find_row(variable);
    return row && row->is_setting && is_obeyed(variable);
}

bool pdnn_openmp_is_passed(const char *variable) {
    const struct row *row = find_row(variable);
    return row && row->effect == PASSED && is_obeyed(variable);
}

/* Whether the worker says that a library ignores it. */
static bool is_ignored(const char *variable, const char *ignored) {
    return pdnn_parts_have(ignored, "\n", variable, strlen(variable));
}

/* Why a variable is not obeyed; NULL if it is, or is none. */
static const char *refusal(const char *variable, const char *ignored) {
    if (is_told(variable) && is_obeyed(variable))
        return is_ignored(variable, ignored) ? IGNORED : NULL;
    const struct row *row = find_row(variable);
    return !is_told(variable) ? NULL : row && row->why ? row->why : UNKNOWN;
}

bool pdnn_openmp_setting(size_t index, char *const *variables, const char *ignored, const char **name,
                         const char **value) {
    const struct row *row = rows, *end = rows + sizeof rows / sizeof *rows;
    /* How threads wait is among what pdnn_host_setting has. */
    for (; row < end && (!row->is_setting || strncmp(row->name, "OMP_", 4) == 0 || index--); row++)
        ;
    if (row == end)
        return false;
    *name = row->name;
    *value = "";
    for (; *variables; variables++) /* the usual spelling wins, as in oneDNN */
        if (find_row(*variables) == row && !is_ignored(*variables, ignored) &&
            (!**value || strncmp(*variables, "DNNL_", 5) != 0))
            *value = value_of(*variables);
    return true;
}

const char *pdnn_openmp_library(const char *variable) {
    return strncmp(variable, "OPENBLAS_", 9) == 0                                       ? "openblas"
           : strncmp(variable, "ONEDNN_", 7) == 0 || strncmp(variable, "DNNL_", 5) == 0 ? "onednn"
                                                                                        : NULL;
}

void pdnn_openmp_sort(char *const *variables, const char *ignored, struct pdnn_str *obeyed,
                      struct pdnn_str *overridden) {
    for (; *variables; variables++) {
        if (!is_told(*variables))
            continue;
        struct pdnn_str *list = refusal(*variables, ignored) ? overridden : obeyed;
        pdnn_str_printf(list, "%s%s", list->length ? " " : "", *variables);
    }
}

/* Whether what becomes of the variable is told where these backends run. */
static bool is_of(const char *variable, const char *const *backends) {
    const char *library = pdnn_openmp_library(variable);
    if (!library || !backends)
        return true;
    while (*backends && strcmp(*backends, library) != 0)
        backends++;
    return *backends != NULL;
}

/* The first variable with this refusal and all that share it, with the reason. */
static void tell_like(char *const *first, const char *why, const char *ignored, const char *const *backends,
                      struct pdnn_str *out) {
    const bool is_void = why && strcmp(why, IGNORED) == 0; /* obeyed if the library knew the value */
    pdnn_str_printf(out, "%s%s", out->length ? "; " : "",
                    !why      ? "obeyed"
                    : is_void ? "ignored"
                              : "overridden");
    for (char *const *like = first; *like; like++)
        if (is_told(*like) && is_of(*like, backends) && refusal(*like, ignored) == why)
            pdnn_str_printf(out, " %s", *like);
    if (why)
        pdnn_str_printf(out, ", since %s", why);
}

void pdnn_openmp_tell(char *const *variables, const char *ignored, const char *const *backends,
                      struct pdnn_str *out) {
    for (int is_refused = 0; is_refused < 2; is_refused++)
        for (char *const *first = variables; *first; first++) {
            const char *why = refusal(*first, ignored);
            bool is_said = !is_told(*first) || !is_of(*first, backends) || (why != NULL) != is_refused;
            for (char *const *before = variables; before < first && !is_said; before++)
                is_said = is_told(*before) && is_of(*before, backends) && refusal(*before, ignored) == why;
            if (!is_said)
                tell_like(first, why, ignored, backends, out);
        }
}
