#include "runtime/facts/host_openmp.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum effect { COUNTED, PASSED, MATCHED };

/* Variables without a row are overridden. */
static const struct row {
    const char *name;
    enum effect effect;
    const char *values[3]; /* values that are obeyed; empty: all */
} rows[] = {
    {"OMP_NUM_THREADS", COUNTED, {NULL}},
    {"OMP_THREAD_LIMIT", COUNTED, {NULL}},
    {"OMP_WAIT_POLICY", PASSED, {"active", "passive"}},
    {"OMP_STACKSIZE", PASSED, {NULL}},
    {"GOMP_STACKSIZE", PASSED, {NULL}},
    {"KMP_STACKSIZE", PASSED, {NULL}},
    {"GOMP_SPINCOUNT", PASSED, {NULL}},
    {"KMP_BLOCKTIME", PASSED, {NULL}},
    {"OMP_DISPLAY_ENV", PASSED, {NULL}},
    {"OMP_DISPLAY_AFFINITY", PASSED, {NULL}},
    {"OMP_AFFINITY_FORMAT", PASSED, {NULL}},
    {"GOMP_DEBUG", PASSED, {NULL}},
    {"OMP_PLACES", MATCHED, {"cores"}},
    {"OMP_PROC_BIND", MATCHED, {"close", "true"}},
    {"OMP_DYNAMIC", MATCHED, {"false"}},
    {"OMP_NESTED", MATCHED, {"false"}},
    {"OMP_MAX_ACTIVE_LEVELS", MATCHED, {"1"}},
};

static const char *value_of(const char *variable) {
    return variable + strcspn(variable, "=") + (strchr(variable, '=') != NULL);
}

static const struct row *find_row(const char *variable) {
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, variable, length) == 0)
            return &rows[i];
    }
    return NULL;
}

/* Parses "4", or "4,2" with counts for nested teams, which paradnn does not use. 0 if
 * there is no such number. */
static int64_t parse_count(const char *text) {
    char copy[24];
    int64_t count;
    size_t length = strcspn(text, ", ");
    if (!length || length >= sizeof copy)
        return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    return pdnn_parse_i64(copy, &count) && count > 0 ? count : 0;
}

static bool is_obeyed(const char *variable) {
    const struct row *row = find_row(variable);
    const char *value = value_of(variable);
    if (!row)
        return false;
    if (row->effect == COUNTED)
        return parse_count(value) > 0;
    bool matches = !row->values[0];
    for (size_t i = 0; i < sizeof row->values / sizeof *row->values && row->values[i]; i++)
        matches = matches || strcasecmp(row->values[i], value) == 0;
    return matches;
}

static const char *find(char *const *variables, const char *name) {
    size_t length = strlen(name);
    for (; *variables; variables++) {
        if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
            return *variables;
    }
    return NULL;
}

void pdnn_openmp_counts(char *const *variables, int64_t *num_threads, int64_t *thread_limit) {
    const char *number = find(variables, "OMP_NUM_THREADS"), *limit = find(variables, "OMP_THREAD_LIMIT");
    *num_threads = number ? parse_count(value_of(number)) : 0;
    *thread_limit = limit ? parse_count(value_of(limit)) : 0;
}

bool pdnn_openmp_is_variable(const char *variable) {
    return strncmp(variable, "OMP_", 4) == 0 || strncmp(variable, "GOMP_", 5) == 0 ||
           strncmp(variable, "KMP_", 4) == 0;
}

bool pdnn_openmp_is_passed(const char *variable) {
    const struct row *row = find_row(variable);
    return row && row->effect == PASSED && is_obeyed(variable);
}

bool pdnn_openmp_setting(size_t index, const struct pdnn_host *host, char *const *variables,
                         struct pdnn_str *out) {
    static const char *const fixed[] = {"OMP_PROC_BIND=close", "OMP_DYNAMIC=false", "OMP_WAIT_POLICY=active"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    if (index == FIXED) {
        pdnn_str_printf(out, "OMP_NUM_THREADS=%" PRId64, host->threads);
    } else if (index == FIXED + 1) {
        char *places = pdnn_host_places(host);
        pdnn_str_printf(out, "OMP_PLACES=%s", places ? places : "");
        out->failed = out->failed || !places;
        free(places);
    } else if (index < FIXED) {
        size_t name = strcspn(fixed[index], "=");
        char *const *variable = variables;
        while (*variable &&
               (strncmp(*variable, fixed[index], name + 1) != 0 || !pdnn_openmp_is_passed(*variable)))
            variable++;
        pdnn_str_printf(out, "%s", *variable ? *variable : fixed[index]);
    }
    return index <= FIXED + 1;
}

void pdnn_openmp_sort(char *const *variables, struct pdnn_str *obeyed, struct pdnn_str *overridden) {
    for (; *variables; variables++) {
        if (!pdnn_openmp_is_variable(*variables))
            continue;
        struct pdnn_str *list = is_obeyed(*variables) ? obeyed : overridden;
        pdnn_str_printf(list, "%s%s", list->length ? " " : "", *variables);
    }
}
