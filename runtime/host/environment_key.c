#include "runtime/host/environment_key.h"

#include "runtime/host/host_openmp.h"

#include <inttypes.h>
#include <string.h>

/* Control characters in a variable become spaces: the context is one line. */
static void append_variable(struct pdnn_str *out, const char *variable) {
    size_t begin = out->length;
    pdnn_str_printf(out, "; %s", variable);
    for (size_t i = begin; i < out->length; i++)
        out->text[i] = (unsigned char)out->text[i] < ' ' ? ' ' : out->text[i];
}

/* The order of an environment's variables means nothing. */
static void append_variables(struct pdnn_str *out, char *const *variables, bool is_any_library) {
    static const char path[] = "LD_LIBRARY_PATH=";
    const char *last = NULL;
    for (;;) {
        const char *next = NULL;
        for (char *const *at = variables; *at; at++) {
            if (pdnn_openmp_is_setting(*at) &&
                !(is_any_library && strncmp(*at, path, sizeof path - 1) == 0) &&
                (!last || strcmp(*at, last) > 0) && (!next || strcmp(*at, next) < 0))
                next = *at;
        }
        if (!next)
            return;
        append_variable(out, next);
        last = next;
    }
}

void pdnn_environment_key_format(const struct pdnn_environment_key *context, struct pdnn_str *out) {
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
    append_variables(out, context->variables, context->is_any_library);
}
