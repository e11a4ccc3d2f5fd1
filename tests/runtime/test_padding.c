/* Reorders into oneDNN's padded layouts, on this machine and where the library pads wrongly: every value
 * arrives, the padding is zero, and where it pads wrongly nothing runs that may. */
#include "tests/cmocka_all.h"

#include "runtime/backends/onednn/library/dnnl.h"
#include "runtime/backends/onednn/library/implementation.h"
#include "runtime/backends/onednn/library/layout.h"
#include "runtime/backends/onednn/library/library.h"
#include "runtime/backends/onednn/library/padding.h"
#include "runtime/backends/onednn/library/primitive.h"
#include "runtime/backends/onednn/library/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 64 * 1024, SENTINEL = 0xa5 };

struct target {
    int rank;
    int64_t dim[4];
    dnnl_format_tag_t tag;
    bool may_be_wrong;
};

static const struct target targets[] = {
    {4, {4, 3, 3, 3}, dnnl_AcdB16a2b, true},    /* weights of three channels */
    {4, {17, 5, 2, 2}, dnnl_ABcd8b16a2b, true}, /* both dimensions padded */
    {4, {4, 3, 3, 3}, dnnl_ABcd8b8a, true},
    {4, {4, 3, 3, 3}, dnnl_Acdb32a, true}, /* one block, but of more than 16 */
    {2, {4, 3}, dnnl_AB16b64a, true},
    {2, {33, 31}, dnnl_BA16a64b2a, true},
    {4, {16, 4, 3, 3}, dnnl_AcdB16a2b, false}, /* whole */
    {4, {2, 3, 4, 4}, dnnl_aBcd16b, true},     /* images */
    {4, {2, 3, 4, 4}, dnnl_acdb, false},
};
static const dnnl_data_type_t types[] = {dnnl_f32, dnnl_bf16, dnnl_f16};
static const int type_bytes[] = {4, 2, 2};

/* Positive numbers of every type, different for neighbours. */
static void fill(unsigned char *values, int64_t count, int bytes) {
    for (int64_t i = 0; i < count; i++) {
        memset(values + i * bytes, 0, (size_t)bytes);
        values[i * bytes + bytes - 1] = (unsigned char)(0x30 + i % 11);
        values[i * bytes + bytes - 2] = (unsigned char)(i % 125);
    }
}

/* Runs from -> to; "" if the library has no such reorder. */
static void run(struct pdnn_onednn_pool *pool, const struct pdnn_onednn_layout *from, void *source,
                const struct pdnn_onednn_layout *to, void *target, char name[64]) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_REORDER, .pass = PDNN_FORWARD};
    struct pdnn_onednn_primitive *reorder;
    struct pdnn_err err = {0};
    request.layout[PDNN_ONEDNN_SRC] = from;
    request.layout[PDNN_ONEDNN_DST] = to;
    name[0] = '\0';
    const enum pdnn_status status = pdnn_onednn_primitive_create(pool, &request, &reorder, &err);
    if (status == PDNN_UNSUPPORTED)
        return;
    assert_int_equal(status, PDNN_OK);
    snprintf(name, 64, "%s", pdnn_onednn_primitive_name(reorder));
    void *scratch = malloc(pdnn_onednn_primitive_bytes(reorder, PDNN_ONEDNN_SCRATCHPAD) + 1);
    assert_non_null(scratch);
    pdnn_onednn_primitive_bind(reorder, PDNN_ONEDNN_SRC, source);
    pdnn_onednn_primitive_bind(reorder, PDNN_ONEDNN_DST, target);
    if (pdnn_onednn_primitive_bytes(reorder, PDNN_ONEDNN_SCRATCHPAD))
        pdnn_onednn_primitive_bind(reorder, PDNN_ONEDNN_SCRATCHPAD, scratch);
    assert_int_equal(pdnn_onednn_primitive_run(reorder), 0);
    pdnn_onednn_primitive_destroy(reorder);
    free(scratch);
}

static int64_t count_nonzero(const unsigned char *values, int64_t count, int bytes) {
    static const unsigned char zero[4];
    int64_t nonzero = 0;
    for (int64_t i = 0; i < count; i++)
        nonzero += memcmp(values + i * bytes, zero, (size_t)bytes) != 0;
    return nonzero;
}

static void check(struct pdnn_onednn_library *library, const struct target *target, int type) {
    struct pdnn_onednn_pool pool = {.library = library};
    struct pdnn_onednn_layout *padded = pdnn_onednn_pool_add(&pool);
    const int bytes = type_bytes[type];
    int64_t count = 1;
    char name[64];
    for (int i = 0; i < target->rank; i++)
        count *= target->dim[i];
    assert_int_equal(pdnn_onednn_desc_init(target->rank, target->dim, types[type], target->tag, padded),
                     dnnl_success);
    const struct pdnn_onednn_layout *plain = pdnn_onednn_layout_plain(&pool, padded);
    const uint64_t padded_bytes = pdnn_onednn_layout_bytes(padded);
    unsigned char *before = malloc(VALUES_MAX), *after = malloc(VALUES_MAX), *between = malloc(VALUES_MAX);
    assert_true(before && after && between);
    assert_true(2 * padded_bytes <= VALUES_MAX && count * bytes <= VALUES_MAX);
    fill(before, count, bytes);
    memset(between, SENTINEL, VALUES_MAX);
    memset(after, SENTINEL, VALUES_MAX);
    run(&pool, plain, before, padded, between, name);
    assert_true(name[0] || types[type] != dnnl_f32);
    if (name[0]) {
        if (library->pads_wrongly && target->may_be_wrong)
            assert_string_not_equal(name, "onednn:jit:uni");
        assert_int_equal(count_nonzero(between, (int64_t)padded_bytes / bytes, bytes), count);
        assert_int_equal(between[padded_bytes], SENTINEL);
        run(&pool, padded, between, plain, after, name);
        assert_memory_equal(before, after, (size_t)(count * bytes));
    }
    free(before);
    free(after);
    free(between);
    pdnn_onednn_pool_finish(&pool);
}

static void check_all(bool pads_wrongly) {
    struct pdnn_onednn_library *library;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_onednn_library_create(&library, &err), PDNN_OK);
    library->pads_wrongly = library->pads_wrongly || pads_wrongly;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        for (int type = 0; type < (int)(sizeof types / sizeof *types); type++)
            check(library, &targets[i], type);
    }
    pdnn_onednn_library_destroy(library);
}

static void test_this_machine(void **state) {
    (void)state;
    check_all(false);
}

static void test_where_padded_wrongly(void **state) {
    (void)state;
    if (DNNL_VERSION_MAJOR < 3)
        skip();
    check_all(true);
}

/* The library's own first choice for a reorder is kept but for those that may be wrong. */
static void test_what_may_be_wrong(void **state) {
    (void)state;
    struct pdnn_onednn_library *library;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_onednn_library_create(&library, &err), PDNN_OK);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const struct target *target = &targets[i];
        struct pdnn_onednn_pool pool = {.library = library};
        struct pdnn_onednn_layout *to = pdnn_onednn_pool_add(&pool);
        dnnl_primitive_desc_t descriptor;
        struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_REORDER, .pass = PDNN_FORWARD};
        assert_int_equal(pdnn_onednn_desc_init(target->rank, target->dim, dnnl_f32, target->tag, to),
                         dnnl_success);
        request.layout[PDNN_ONEDNN_DST] = to;
        request.layout[PDNN_ONEDNN_SRC] = pdnn_onednn_layout_plain(&pool, to);
        assert_int_equal(
            dnnl_reorder_primitive_desc_create(&descriptor, PDNN_DNNL_DESC(request.layout[PDNN_ONEDNN_SRC]),
                                               library->engine, PDNN_DNNL_DESC(to), library->engine, NULL),
            dnnl_success);
        const bool is_generated = strcmp(pdnn_onednn_implementation_name(descriptor), "jit:uni") == 0;
        assert_int_equal(pdnn_onednn_is_wrongly_padded(&request, descriptor),
                         is_generated && target->may_be_wrong);
        dnnl_primitive_desc_destroy(descriptor);
        pdnn_onednn_pool_finish(&pool);
    }
    pdnn_onednn_library_destroy(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_where_padded_wrongly),
        cmocka_unit_test(test_what_may_be_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
