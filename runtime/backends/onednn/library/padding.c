#include "runtime/backends/onednn/library/padding.h"

#include "runtime/backends/onednn/library/dnnl.h"
#include "runtime/backends/onednn/library/implementation.h"
#include "runtime/backends/onednn/library/version.h"

#include <string.h>

/* A matrix of one row and COLUMNS columns, and the block of 16 columns by ROW_BLOCK rows that it becomes. */
enum { COLUMNS = 3, COLUMN_BLOCK = 16, ROW_BLOCK = 64, BLOCK = COLUMN_BLOCK * ROW_BLOCK };

static dnnl_status_t run_reorder(const struct pdnn_onednn_library *library,
                                 const struct pdnn_onednn_layout layout[2], void *const values[2]) {
    static const int ids[] = {DNNL_ARG_FROM, DNNL_ARG_TO};
    dnnl_exec_arg_t args[2] = {{0}};
    dnnl_primitive_desc_t descriptor = NULL;
    dnnl_primitive_t primitive = NULL;
    dnnl_status_t status =
        dnnl_reorder_primitive_desc_create(&descriptor, PDNN_DNNL_DESC(&layout[0]), library->engine,
                                           PDNN_DNNL_DESC(&layout[1]), library->engine, NULL);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&primitive, descriptor);
    for (int i = 0; status == dnnl_success && i < 2; i++) {
        args[i].arg = ids[i];
        status = dnnl_memory_create(&args[i].memory, PDNN_DNNL_DESC(&layout[i]), library->engine, values[i]);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_execute(primitive, library->stream, 2, args);
    if (status == dnnl_success)
        status = dnnl_stream_wait(library->stream);
    for (int i = 0; i < 2; i++) {
        if (args[i].memory)
            dnnl_memory_destroy(args[i].memory);
    }
    if (primitive)
        dnnl_primitive_destroy(primitive);
    if (descriptor)
        dnnl_primitive_desc_destroy(descriptor);
    return status;
}

bool pdnn_onednn_pads_wrongly(const struct pdnn_onednn_library *library) {
    static const dnnl_format_tag_t tags[] = {dnnl_ab, dnnl_AB16b64a};
    float row[COLUMNS] = {1, 2, 3};
    float block[2 * BLOCK]; /* wrong zeros may lie beyond the block */
    struct pdnn_onednn_layout layout[2];
    dnnl_status_t status = dnnl_success;
    bool is_wrong = false;
    if (DNNL_VERSION_MAJOR < 3)
        return false;
    memset(layout, 0, sizeof layout);
    for (int i = 0; i < 2 * BLOCK; i++)
        block[i] = -1;
    for (int i = 0; status == dnnl_success && i < 2; i++)
        status = pdnn_onednn_desc_init(2, (const int64_t[]){1, COLUMNS}, dnnl_f32, tags[i], &layout[i]);
    if (status == dnnl_success)
        status = run_reorder(library, layout, (void *const[]){row, block});
    for (int i = 0; status == dnnl_success && i < BLOCK; i++) {
        const int column = i / ROW_BLOCK;
        const float right = i % ROW_BLOCK == 0 && column < COLUMNS ? row[column] : 0;
        is_wrong = is_wrong || block[i] < right || block[i] > right;
    }
    for (int i = 0; i < 2; i++)
        pdnn_onednn_desc_finish(&layout[i]);
    return is_wrong;
}

bool pdnn_onednn_is_wrongly_padded(const struct pdnn_onednn_request *request,
                                   const_dnnl_primitive_desc_t descriptor) {
    const struct pdnn_onednn_layout *to = request->layout[PDNN_ONEDNN_DST];
    struct pdnn_onednn_blocking blocking;
    int rank;
    if (request->kind != PDNN_ONEDNN_REORDER ||
        strcmp(pdnn_onednn_implementation_name(descriptor), "jit:uni") != 0 ||
        !pdnn_onednn_desc_blocking(to, &blocking))
        return false;
    const dnnl_dim_t *dim = pdnn_onednn_desc_dims(to, &rank);
    dnnl_dim_t block[DNNL_MAX_NDIMS];
    for (int i = 0; i < rank; i++)
        block[i] = 1;
    for (int i = 0; i < blocking.n_blocks; i++)
        block[blocking.block_dims[i]] *= blocking.block_sizes[i];
    for (int i = 0; i < rank; i++) {
        if (dim[i] % block[i] != 0)
            return true;
    }
    return false;
}
