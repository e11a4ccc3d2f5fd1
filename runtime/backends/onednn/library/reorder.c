#include "runtime/backends/onednn/library/reorder.h"

#include "runtime/kernels/simd/level.h"
#include "runtime/kernels/gemm/transpose.h"

#include <stdio.h>

/* Whether one layout is row-major and the other column-major. */
static enum pdnn_status is_transpose(const struct pdnn_onednn_layout *from,
                                     const struct pdnn_onednn_layout *to, const int64_t dim[2],
                                     bool *transpose, bool *from_rows, struct pdnn_err *err) {
    struct pdnn_onednn_layout *rows = NULL, *columns = NULL;
    enum pdnn_status status = pdnn_onednn_layout_create(PDNN_F32, 2, dim, PDNN_ONEDNN_ROW_MAJOR, &rows, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_layout_create(PDNN_F32, 2, dim, PDNN_ONEDNN_COLUMN_MAJOR, &columns, err);
    if (status == PDNN_OK) {
        *from_rows = pdnn_onednn_layout_equal(from, rows) && pdnn_onednn_layout_equal(to, columns);
        *transpose =
            *from_rows || (pdnn_onednn_layout_equal(from, columns) && pdnn_onednn_layout_equal(to, rows));
    }
    pdnn_onednn_layout_destroy(rows);
    pdnn_onednn_layout_destroy(columns);
    return status;
}

enum pdnn_status pdnn_onednn_reorder_create(struct pdnn_onednn_library *library,
                                            const struct pdnn_step_options *options,
                                            const struct pdnn_onednn_layout *from,
                                            const struct pdnn_onednn_layout *to, const int64_t *dim,
                                            struct pdnn_onednn_reorder *reorder, struct pdnn_err *err) {
    bool transpose = false, from_rows = false;
    struct pdnn_onednn_reorder made = {.threads = options->threads};
    enum pdnn_status status = dim ? is_transpose(from, to, dim, &transpose, &from_rows, err) : PDNN_OK;
    if (status != PDNN_OK)
        return status;
    if (transpose) {
        made.bypass = pdnn_onednn_layout_bytes(to) >= options->cache_bytes / PDNN_STEP_BYPASS_TRANSPOSE;
        made.rows = from_rows ? dim[0] : dim[1];
        made.columns = from_rows ? dim[1] : dim[0];
    } else {
        struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_REORDER, .pass = PDNN_FORWARD};
        request.layout[PDNN_ONEDNN_SRC] = from;
        request.layout[PDNN_ONEDNN_DST] = to;
        status = pdnn_onednn_primitive_create(library, &request, &made.primitive, err);
    }
    if (status == PDNN_OK)
        *reorder = made;
    return status;
}

void pdnn_onednn_reorder_destroy(struct pdnn_onednn_reorder *reorder) {
    pdnn_onednn_primitive_destroy(reorder->primitive);
    reorder->primitive = NULL;
}

const char *pdnn_onednn_reorder_name(const struct pdnn_onednn_reorder *reorder,
                                     char buffer[PDNN_ONEDNN_REORDER_TEXT]) {
    if (reorder->primitive)
        return pdnn_onednn_primitive_name(reorder->primitive);
    snprintf(buffer, PDNN_ONEDNN_REORDER_TEXT, "paradnn:transpose %s", pdnn_level_name());
    return buffer;
}

uint64_t pdnn_onednn_reorder_scratch_bytes(const struct pdnn_onednn_reorder *reorder) {
    return reorder->primitive ? pdnn_onednn_primitive_scratchpad_bytes(reorder->primitive) : 0;
}

void pdnn_onednn_reorder_bind(struct pdnn_onednn_reorder *reorder, void *from, void *to, void *scratch) {
    reorder->from = from;
    reorder->to = to;
    if (!reorder->primitive)
        return;
    pdnn_onednn_primitive_bind(reorder->primitive, PDNN_ONEDNN_SRC, from);
    pdnn_onednn_primitive_bind(reorder->primitive, PDNN_ONEDNN_DST, to);
    if (pdnn_onednn_reorder_scratch_bytes(reorder))
        pdnn_onednn_primitive_bind(reorder->primitive, PDNN_ONEDNN_SCRATCHPAD, scratch);
}

int pdnn_onednn_reorder_run(const struct pdnn_onednn_reorder *reorder) {
    if (reorder->primitive)
        return pdnn_onednn_primitive_run(reorder->primitive);
    pdnn_transpose(reorder->from, reorder->to, reorder->rows, reorder->columns, reorder->threads,
                   reorder->bypass);
    return 0;
}
