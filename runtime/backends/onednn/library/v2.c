/* version.h for oneDNN 2.x, whose operation and memory descriptors are structures. */
#include "runtime/backends/onednn/library/version.h"

#include "runtime/backends/onednn/library/implementation.h"
#include "runtime/backends/onednn/library/post_ops.h"

const struct pdnn_onednn_isa pdnn_onednn_isas[] = {
    {dnnl_cpu_isa_all, "all"},
#if defined(__aarch64__)
    /* Arm's have no names in the header; the library counts them with the values of x86's. */
    {dnnl_cpu_isa_sse41, "asimd"},
    {dnnl_cpu_isa_avx, "sve_128"},
    {dnnl_cpu_isa_avx2, "sve_256"},
    {dnnl_cpu_isa_avx512_mic, "sve_384"},
    {dnnl_cpu_isa_avx512_mic_4ops, "sve_512"},
#else
    {dnnl_cpu_isa_sse41, "sse41"},
    {dnnl_cpu_isa_avx, "avx"},
    {dnnl_cpu_isa_avx2, "avx2"},
    {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
    {dnnl_cpu_isa_avx512_mic, "avx512_mic"},
    {dnnl_cpu_isa_avx512_mic_4ops, "avx512_mic_4ops"},
    {dnnl_cpu_isa_avx512_core, "avx512_core"},
    {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
    {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
    {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
#endif
    {0, NULL},
};

dnnl_status_t pdnn_onednn_desc_init(int rank, const int64_t *dim, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_init_by_tag(&layout->desc, rank, dim, type, tag);
}

dnnl_status_t pdnn_onednn_desc_strided(int rank, const int64_t *dim, dnnl_data_type_t type,
                                       const int64_t *stride, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_init_by_strides(&layout->desc, rank, dim, type, stride);
}

dnnl_status_t pdnn_onednn_desc_part(const struct pdnn_onednn_layout *layout, const int64_t *dim,
                                    struct pdnn_onednn_layout *part) {
    const dnnl_dims_t begin = {0};
    return dnnl_memory_desc_init_submemory(&part->desc, &layout->desc, dim, begin);
}

dnnl_status_t pdnn_onednn_desc_copy(const struct pdnn_onednn_layout *layout,
                                    struct pdnn_onednn_layout *copy) {
    copy->desc = layout->desc;
    return dnnl_success;
}

void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout) {
    (void)layout;
}

uint64_t pdnn_onednn_desc_bytes(const struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_get_size(&layout->desc);
}

dnnl_status_t pdnn_onednn_desc_query(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what, int index,
                                     struct pdnn_onednn_layout *layout) {
    const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(descriptor, what, index);
    if (desc)
        layout->desc = *desc;
    return dnnl_success;
}

bool pdnn_onednn_desc_blocking(const struct pdnn_onednn_layout *layout,
                               struct pdnn_onednn_blocking *blocking) {
    const dnnl_blocking_desc_t *described = &layout->desc.format_desc.blocking;
    if (layout->desc.format_kind != dnnl_blocked)
        return false;
    *blocking = (struct pdnn_onednn_blocking){
        .rank = layout->desc.ndims,
        .n_blocks = described->inner_nblks,
        .strides = described->strides,
        .block_dims = described->inner_idxs,
        .block_sizes = described->inner_blks,
    };
    return true;
}

const dnnl_dim_t *pdnn_onednn_desc_dims(const struct pdnn_onednn_layout *layout, int *rank) {
    *rank = layout->desc.ndims;
    return layout->desc.dims;
}

dnnl_data_type_t pdnn_onednn_desc_type(const struct pdnn_onednn_layout *layout) {
    return layout->desc.data_type;
}

const bool pdnn_onednn_zero_point_is_argument = false;

dnnl_status_t pdnn_onednn_set_zero_point(dnnl_primitive_attr_t attributes, int32_t zero_point) {
    return dnnl_primitive_attr_set_zero_points(attributes, DNNL_ARG_SRC, 1, 0, &zero_point);
}

dnnl_status_t pdnn_onednn_append_sum(dnnl_post_ops_t post_ops, float factor) {
    return dnnl_post_ops_append_sum(post_ops, factor);
}

dnnl_status_t pdnn_onednn_append_post_op(dnnl_post_ops_t post_ops, const struct pdnn_onednn_post_op *post) {
    if (!post->activation)
        return pdnn_onednn_append_sum(post_ops, 1);
    return dnnl_post_ops_append_eltwise(post_ops, 1, (dnnl_alg_kind_t)post->activation->algorithm,
                                        post->alpha, post->beta);
}

static dnnl_status_t fetch(struct pdnn_onednn_description *d, dnnl_status_t status) {
    if (status != dnnl_success)
        return status == dnnl_iterator_ends ? dnnl_unimplemented : status;
    d->made = dnnl_primitive_desc_iterator_fetch(d->iterator);
    return d->made ? dnnl_success : dnnl_out_of_memory;
}

dnnl_status_t pdnn_onednn_describe_first(struct pdnn_onednn_description *d, dnnl_status_t status) {
    if (status == dnnl_success)
        status = dnnl_primitive_desc_iterator_create(&d->iterator, &d->operation, d->attributes, d->engine,
                                                     d->hint);
    return fetch(d, status);
}

dnnl_status_t pdnn_onednn_describe_next(struct pdnn_onednn_description *d) {
    if (!d->iterator) /* a reorder */
        return dnnl_unimplemented;
    dnnl_primitive_desc_destroy(d->made);
    d->made = NULL;
    return fetch(d, dnnl_primitive_desc_iterator_next(d->iterator));
}

void pdnn_onednn_describe_finish(struct pdnn_onednn_description *d) {
    if (d->made)
        dnnl_primitive_desc_destroy(d->made);
    if (d->iterator)
        dnnl_primitive_desc_iterator_destroy(d->iterator);
}
