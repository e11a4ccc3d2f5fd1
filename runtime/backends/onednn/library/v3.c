/* version.h for oneDNN 3.x: memory descriptors are handles with queries, and one call makes a primitive
 * descriptor from them and the attributes. */
#include "runtime/backends/onednn/library/version.h"

#include "runtime/backends/onednn/library/implementation.h"
#include "runtime/backends/onednn/library/post_ops.h"

const struct pdnn_onednn_isa pdnn_onednn_isas[] = {
    {dnnl_cpu_isa_default, "default"},
#if defined(__aarch64__)
    /* Arm's have no names in the header; the library counts them with the values of x86's. */
    {dnnl_cpu_isa_sse41, "asimd"},
    {dnnl_cpu_isa_avx, "sve_128"},
    {dnnl_cpu_isa_avx2, "sve_256"},
    {dnnl_cpu_isa_avx2_vnni, "sve_384"},
    {dnnl_cpu_isa_avx512_core, "sve_512"},
#else
    {dnnl_cpu_isa_sse41, "sse41"},
    {dnnl_cpu_isa_avx, "avx"},
    {dnnl_cpu_isa_avx2, "avx2"},
    {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
    {dnnl_cpu_isa_avx2_vnni_2, "avx2_vnni_2"},
    {dnnl_cpu_isa_avx512_core, "avx512_core"},
    {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
    {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
    {dnnl_cpu_isa_avx512_core_fp16, "avx512_core_fp16"},
    {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
    {dnnl_cpu_isa_avx512_core_amx_fp16, "avx512_core_amx_fp16"},
#endif
    {0, NULL},
};

dnnl_status_t pdnn_onednn_desc_init(int rank, const int64_t *dim, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_create_with_tag(&layout->desc, rank, dim, type, tag);
}

dnnl_status_t pdnn_onednn_desc_strided(int rank, const int64_t *dim, dnnl_data_type_t type,
                                       const int64_t *stride, struct pdnn_onednn_layout *layout) {
    return dnnl_memory_desc_create_with_strides(&layout->desc, rank, dim, type, stride);
}

dnnl_status_t pdnn_onednn_desc_part(const struct pdnn_onednn_layout *layout, const int64_t *dim,
                                    struct pdnn_onednn_layout *part) {
    const dnnl_dims_t begin = {0};
    return dnnl_memory_desc_create_submemory(&part->desc, layout->desc, dim, begin);
}

dnnl_status_t pdnn_onednn_desc_copy(const struct pdnn_onednn_layout *layout,
                                    struct pdnn_onednn_layout *copy) {
    return dnnl_memory_desc_clone(&copy->desc, layout->desc);
}

void pdnn_onednn_desc_finish(struct pdnn_onednn_layout *layout) {
    if (layout->desc)
        dnnl_memory_desc_destroy(layout->desc);
}

uint64_t pdnn_onednn_desc_bytes(const struct pdnn_onednn_layout *layout) {
    return layout->desc ? dnnl_memory_desc_get_size(layout->desc) : 0;
}

dnnl_status_t pdnn_onednn_desc_query(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what, int index,
                                     struct pdnn_onednn_layout *layout) {
    const_dnnl_memory_desc_t desc = dnnl_primitive_desc_query_md(descriptor, what, index);
    return desc ? dnnl_memory_desc_clone(&layout->desc, desc) : dnnl_success;
}

static const dnnl_dim_t *query_dims(const struct pdnn_onednn_layout *layout, dnnl_query_t what) {
    const dnnl_dims_t *dims;
    return dnnl_memory_desc_query(layout->desc, what, &dims) == dnnl_success ? *dims : NULL;
}

bool pdnn_onednn_desc_blocking(const struct pdnn_onednn_layout *layout,
                               struct pdnn_onednn_blocking *blocking) {
    dnnl_format_kind_t kind;
    if (dnnl_memory_desc_query(layout->desc, dnnl_query_format_kind, &kind) != dnnl_success ||
        kind != dnnl_blocked ||
        dnnl_memory_desc_query(layout->desc, dnnl_query_ndims_s32, &blocking->rank) != dnnl_success ||
        dnnl_memory_desc_query(layout->desc, dnnl_query_inner_nblks_s32, &blocking->n_blocks) != dnnl_success)
        return false;
    blocking->strides = query_dims(layout, dnnl_query_strides);
    blocking->block_dims = query_dims(layout, dnnl_query_inner_idxs);
    blocking->block_sizes = query_dims(layout, dnnl_query_inner_blks);
    return blocking->strides && blocking->block_dims && blocking->block_sizes;
}

const dnnl_dim_t *pdnn_onednn_desc_dims(const struct pdnn_onednn_layout *layout, int *rank) {
    *rank = 0;
    dnnl_memory_desc_query(layout->desc, dnnl_query_ndims_s32, rank);
    return query_dims(layout, dnnl_query_dims);
}

dnnl_data_type_t pdnn_onednn_desc_type(const struct pdnn_onednn_layout *layout) {
    dnnl_data_type_t type = dnnl_data_type_undef;
    dnnl_memory_desc_query(layout->desc, dnnl_query_data_type, &type);
    return type;
}

const bool pdnn_onednn_zero_point_is_argument = true;

dnnl_status_t pdnn_onednn_set_zero_point(dnnl_primitive_attr_t attributes, int32_t zero_point) {
    (void)zero_point;
    return dnnl_primitive_attr_set_zero_points_mask(attributes, DNNL_ARG_SRC, 0);
}

dnnl_status_t pdnn_onednn_append_sum(dnnl_post_ops_t post_ops, float factor) {
    return dnnl_post_ops_append_sum(post_ops, factor, 0, dnnl_data_type_undef);
}

dnnl_status_t pdnn_onednn_append_post_op(dnnl_post_ops_t post_ops, const struct pdnn_onednn_post_op *post) {
    if (!post->activation)
        return pdnn_onednn_append_sum(post_ops, 1);
    return dnnl_post_ops_append_eltwise(post_ops, (dnnl_alg_kind_t)post->activation->algorithm, post->alpha,
                                        post->beta);
}

dnnl_status_t pdnn_onednn_describe_next(struct pdnn_onednn_description *d) {
    dnnl_status_t status = dnnl_primitive_desc_next_impl(d->made);
    return status == dnnl_last_impl_reached ? dnnl_unimplemented : status;
}

void pdnn_onednn_describe_finish(struct pdnn_onednn_description *d) {
    if (d->made)
        dnnl_primitive_desc_destroy(d->made);
}
