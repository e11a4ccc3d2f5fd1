#include "runtime/worker/choices.h"

#include "runtime/facts/host_openmp.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 4096 };

/* Control characters in a variable become spaces: the context is one line. */
static void append_variable(struct pdnn_str *out, const char *variable) {
    size_t begin = out->length;
    pdnn_str_printf(out, "; %s", variable);
    for (size_t i = begin; !out->failed && i < out->length; i++)
        out->text[i] = (unsigned char)out->text[i] < ' ' ? ' ' : out->text[i];
}

static bool matters(const char *variable) {
    return pdnn_openmp_is_variable(variable) || strncmp(variable, "ONEDNN_", 7) == 0 ||
           strncmp(variable, "DNNL_", 5) == 0 || strncmp(variable, "OPENBLAS_", 9) == 0;
}

/* The order of an environment's variables means nothing. */
static void append_variables(struct pdnn_str *out, char *const *variables) {
    const char *last = NULL;
    for (;;) {
        const char *next = NULL;
        for (char *const *at = variables; *at; at++) {
            if (matters(*at) && (!last || strcmp(*at, last) > 0) && (!next || strcmp(*at, next) < 0))
                next = *at;
        }
        if (!next)
            return;
        append_variable(out, next);
        last = next;
    }
}

void pdnn_choices_format(const struct pdnn_choices_context *context, struct pdnn_str *out) {
    const struct pdnn_host *host = context->host;
    pdnn_str_printf(out, "paradnn %s; %s; isa=%s; %s; %s", context->build, context->library, context->isa,
                    host->cpu, host->isa);
    for (int level = 0; level < PDNN_CACHE_LEVELS; level++)
        pdnn_str_printf(out, "; L%d %" PRIu64 "/%" PRId64, level + 1, host->cache_bytes[level],
                        host->cache_cores[level]);
    pdnn_str_printf(out, "; cores %" PRId64 " nodes %" PRId64 " quota %g; threads %" PRId64 " on",
                    host->threads, host->numa_nodes, host->quota_cpus, context->threads);
    for (int64_t i = 0; i < context->threads && i < PDNN_HOST_CORES_MAX; i++)
        pdnn_str_printf(out, " %d", host->core_pu[i]);
    append_variables(out, context->variables);
}

static void add(void *keeper, const struct pdnn_tune_key *key, const double *ns, int n, int compilations) {
    const struct pdnn_choices *choices = keeper;
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%" PRIu64 " %d %d", choices->cache_bytes, compilations, n);
    for (int i = 0; i < n; i++) {
        if (isfinite(ns[i]))
            pdnn_str_printf(&text, " %.17g", ns[i]);
        else
            pdnn_str_printf(&text, " inf");
    }
    pdnn_str_printf(&text, " %s", key->text);
    if (!text.failed)
        pdnn_kept_add(&choices->file, text.text);
    pdnn_str_finish(&text);
}

/* The sizes found for one cache differ between runs, by up to 2.8 where others use it too. */
static bool is_alike(uint64_t bytes, uint64_t others) {
    return bytes / 4 <= others && others / 4 <= bytes && (bytes == 0) == (others == 0);
}

/* The cache that the entry at *text was measured with is like this one; *text then moves behind it. */
static bool read_cache(const char **text, uint64_t bytes) {
    char *end;
    unsigned long long measured = strtoull(*text, &end, 10);
    if (end == *text || *end != ' ' || !is_alike(measured, bytes))
        return false;
    *text = end + 1;
    return true;
}

/* A whole number from 1 to most at *text, which then moves behind it; 0: there is none. */
static int read_count(const char **text, long most) {
    char *end;
    long count = strtol(*text, &end, 10);
    bool is_good = end > *text && *end == ' ' && count >= 1 && count <= most;
    *text = is_good ? end + 1 : *text;
    return is_good ? (int)count : 0;
}

/* Times are positive, or infinite for what fails; not everything fails. */
static bool read_times(const char **text, double *ns, int n) {
    bool any = false;
    for (int i = 0; i < n; i++) {
        char *end;
        ns[i] = strtod(*text, &end);
        if (end == *text || *end != ' ' || !(ns[i] >= 0))
            return false;
        any = any || isfinite(ns[i]);
        *text = end + 1;
    }
    return any;
}

struct recall {
    struct pdnn_tune *tune;
    uint64_t cache_bytes;
};

static void recall_one(void *user, const char *text) {
    struct recall *recall = user;
    struct pdnn_tune_key key = {0};
    if (!read_cache(&text, recall->cache_bytes))
        return;
    int compilations = read_count(&text, 1000), n = compilations ? read_count(&text, NUMBERS_MAX) : 0;
    double *ns = n ? malloc((size_t)n * sizeof *ns) : NULL;
    if (ns && read_times(&text, ns, n)) {
        pdnn_tune_key_add(&key, "%s", text);
        if (key.length && key.length < sizeof key.text)
            pdnn_tune_recall(recall->tune, &key, ns, n, compilations,
                             NULL); /* out of memory: measured again */
    }
    free(ns);
}

void pdnn_choices_keep(struct pdnn_tune *tune, struct pdnn_choices *choices, const char *directory,
                       const struct pdnn_choices_context *context) {
    struct pdnn_str text = {0};
    if (!directory[0])
        return;
    pdnn_choices_format(context, &text);
    if (!text.failed) {
        struct recall recall = {tune, context->cache_bytes};
        choices->cache_bytes = context->cache_bytes;
        pdnn_kept_open(&choices->file, directory, "choices", text.text);
        pdnn_kept_read(&choices->file, recall_one, &recall);
        tune->keep = add;
        tune->keeper = choices;
    }
    pdnn_str_finish(&text);
}
