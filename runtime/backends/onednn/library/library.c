#include "runtime/backends/onednn/library/library.h"

#include "base/memory.h"
#include "runtime/backend/library_build.h"
#include "runtime/backends/onednn/library/dnnl.h"
#include "runtime/backends/onednn/library/padding.h"
#include "runtime/backends/onednn/library/version.h"
#include "runtime/lowering/sgemm.h"
#include "runtime/protocol/software.h"

#include <dnnl_debug.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *pdnn_onednn_isa_name(void) {
    for (const struct pdnn_onednn_isa *row = pdnn_onednn_isas; row->name; row++) {
        if (row->isa == dnnl_get_effective_cpu_isa())
            return row->name;
    }
    return "unknown";
}

const char *pdnn_onednn_version(void) {
    static char text[128];
    char build[PDNN_LIBRARY_BUILD_TEXT];
    const dnnl_version_t *version = dnnl_version();
    const int commit = (int)strspn(version->hash, "0123456789abcdef"); /* "N/A": not built of a repository */
    snprintf(text, sizeof text, "oneDNN %d.%d.%d (%s), build %s%s%.*s", version->major, version->minor,
             version->patch, pdnn_onednn_isa_name(), pdnn_library_build(version, build),
             commit ? " of commit " : "", commit < 12 ? commit : 12, version->hash);
    return text;
}

const char *pdnn_onednn_path(void) {
    static char path[PDNN_SOFTWARE_PATH];
    return pdnn_library_path(dnnl_version(), path, sizeof path);
}

enum pdnn_status pdnn_onednn_limit_isa(enum pdnn_isa isa, struct pdnn_err *err) {
    const dnnl_version_t *version = dnnl_version();
    const struct pdnn_onednn_isa *row = pdnn_onednn_isas;
    while (row->name && strcmp(row->name, pdnn_isa_names[isa]) != 0)
        row++;
    if (!row->name)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: oneDNN %d.%d.%d does not know isa=%s",
                         version->major, version->minor, version->patch, pdnn_isa_names[isa]);
    /* The library refuses once anything has queried its instruction set. */
    if (dnnl_set_max_cpu_isa(row->isa) != dnnl_success || dnnl_get_effective_cpu_isa() != row->isa)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: oneDNN %d.%d.%d does not keep to isa=%s",
                         version->major, version->minor, version->patch, pdnn_isa_names[isa]);
    return PDNN_OK;
}

bool pdnn_onednn_ignores(const char *name, const char *value) {
    const char *known = strncmp(name, "ONEDNN_", 7) == 0 ? name + 7
                        : strncmp(name, "DNNL_", 5) == 0 ? name + 5
                                                         : "";
    const bool is_plain = strcasecmp(value, "NO_HINTS") == 0, is_ymm = strcasecmp(value, "PREFER_YMM") == 0;
    dnnl_fpmath_mode_t mode;
    int capacity;
    if (strcmp(known, "CPU_ISA_HINTS") == 0)
        return dnnl_get_cpu_isa_hints() == dnnl_cpu_isa_prefer_ymm ? !is_ymm : !is_plain;
    if (strcmp(known, "DEFAULT_FPMATH_MODE") == 0) {
        if (dnnl_get_default_fpmath_mode(&mode) != dnnl_success)
            return true;
        /* Generation 2 says fpmath_mode_bf16, 3 says bf16. */
        const char *text = dnnl_fpmath_mode2str(mode), *last = strrchr(text, '_');
        return strcasecmp(last ? last + 1 : text, value) != 0;
    }
    return strcmp(known, "PRIMITIVE_CACHE_CAPACITY") == 0 &&
           (dnnl_get_primitive_cache_capacity(&capacity) != dnnl_success || capacity != atoi(value));
}

static const char *const status_names[] = {
    [dnnl_success] = "success",
    [dnnl_out_of_memory] = "out of memory",
    [dnnl_invalid_arguments] = "invalid arguments",
    [dnnl_unimplemented] = "unimplemented",
    [dnnl_runtime_error] = "runtime error",
    [dnnl_not_required] = "not required",
};

enum pdnn_status pdnn_onednn_fail(struct pdnn_err *err, dnnl_status_t status, const char *what) {
    const dnnl_version_t *version = dnnl_version();
    const char *name = NULL;
    if ((size_t)status < sizeof status_names / sizeof *status_names)
        name = status_names[status];
    enum pdnn_status kind = status == dnnl_unimplemented || status == dnnl_invalid_arguments
                                ? PDNN_UNSUPPORTED
                            : status == dnnl_out_of_memory ? PDNN_NO_MEMORY
                                                           : PDNN_INTERNAL;
    return pdnn_fail(err, kind, "oneDNN %d.%d.%d answers \"%s\" to %s", version->major, version->minor,
                     version->patch, name ? name : "unknown error", what);
}

enum pdnn_status pdnn_onednn_library_create(struct pdnn_onednn_library **library, struct pdnn_err *err) {
    struct pdnn_onednn_library *made = pdnn_alloc(1, sizeof *made);
    dnnl_status_t status = dnnl_engine_create(&made->engine, dnnl_cpu, 0);
    if (status == dnnl_success)
        status = dnnl_stream_create(&made->stream, made->engine, dnnl_stream_in_order);
    if (status != dnnl_success) {
        pdnn_onednn_library_destroy(made);
        return pdnn_onednn_fail(err, status, "an engine");
    }
    made->pads_wrongly = pdnn_onednn_pads_wrongly(made);
    *library = made;
    return PDNN_OK;
}

void pdnn_onednn_library_destroy(struct pdnn_onednn_library *library) {
    if (!library)
        return;
    if (library->stream)
        dnnl_stream_destroy(library->stream);
    if (library->engine)
        dnnl_engine_destroy(library->engine);
    free(library);
}

int pdnn_onednn_sgemm(const struct pdnn_sgemm *gemm) {
    return (int)dnnl_sgemm(gemm->a_transposed ? 'T' : 'N', gemm->b_transposed ? 'T' : 'N', gemm->m, gemm->n,
                           gemm->k, 1, gemm->a, gemm->a_stride, gemm->b, gemm->b_stride,
                           gemm->accumulate ? 1 : 0, gemm->c, gemm->c_stride);
}
