/* The kernel that rearranges axes, element by element, in all layouts of images. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "runtime/kernels/rows/rearrange.h"

#include <omp.h>
#include <string.h>

enum { THREADS = 3, AXES = PDNN_REARRANGE_AXES, SIDES = PDNN_REARRANGE_SIDES };

/* Axes in the order of x; `order` is that of the result. */
struct shape {
    int64_t size[AXES];
    int order[AXES];
    bool begins[SIDES][AXES]; /* by place: whether it is the first axis of a dimension */
    bool is_image[SIDES];
};

static const struct shape shapes[] = {
    /* (n c h w) to rows, and back. */
    {{2, 20, 5, 7}, {0, 2, 3, 1}, {{1, 1, 1, 1}, {1, 0, 0, 1}}, {true, false}},
    {{3, 64, 14, 14}, {0, 2, 3, 1}, {{1, 1, 1, 1}, {1, 0, 0, 1}}, {true, false}},
    {{2, 5, 7, 20}, {0, 3, 1, 2}, {{1, 0, 0, 1}, {1, 1, 1, 1}}, {false, true}},
    {{2, 30, 41, 48}, {0, 3, 1, 2}, {{1, 0, 0, 1}, {1, 1, 1, 1}}, {false, true}},
    /* Columns to steps. */
    {{2, 32, 21, 30}, {3, 0, 1, 2}, {{1, 1, 1, 1}, {1, 0, 1, 0}}, {true, false}},
    {{1, 1, 1, 1}, {3, 0, 1, 2}, {{1, 1, 1, 1}, {1, 0, 1, 0}}, {true, false}},
    /* Channels that change places: 2 x 58, 4 x 8, 3 x 16. */
    {{2, 2, 58, 7, 7}, {0, 2, 1, 3, 4}, {{1, 1, 0, 1, 1}, {1, 1, 0, 1, 1}}, {true, true}},
    {{1, 4, 8, 9, 31}, {0, 2, 1, 3, 4}, {{1, 1, 0, 1, 1}, {1, 1, 0, 1, 1}}, {true, true}},
    {{2, 3, 16, 6, 5}, {0, 2, 1, 4, 3}, {{1, 1, 0, 1, 1}, {1, 1, 0, 1, 1}}, {true, true}},
    /* Pixels of channels. */
    {{2, 8, 2, 2, 5, 6}, {0, 1, 4, 2, 5, 3}, {{1, 1, 0, 0, 1, 1}, {1, 1, 1, 0, 1, 0}}, {true, true}},
    /* Windows of rows, and transposes. */
    {{2, 3, 7, 4, 7, 24}, {0, 1, 3, 2, 4, 5}, {{1, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 1}}, {false, false}},
    {{2, 3, 2, 4, 2, 10}, {0, 1, 3, 4, 2, 5}, {{1, 0, 0, 0, 0, 1}, {1, 0, 0, 1, 0, 0}}, {false, false}},
    {{3, 196, 100}, {0, 2, 1}, {{1, 0, 1}, {1, 0, 1}}, {false, false}},
    {{1, 1000, 333}, {0, 2, 1}, {{1, 0, 1}, {1, 0, 1}}, {false, false}},
    {{2, 3, 4, 5, 6, 7}, {5, 4, 3, 2, 1, 0}, {{1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}, {false, false}},
    {{40000}, {0}, {{1}, {1}}, {false, false}},
};

static int count_axes(const struct shape *s) {
    int n = 0;
    while (n < AXES && s->size[n])
        n++;
    return n;
}

static int axis_at(const struct shape *s, int side, int place) {
    return side == PDNN_REARRANGE_FROM ? place : s->order[place];
}

/* The dimensions of a side. */
static void find_dims(const struct shape *s, int side, int64_t dim[AXES]) {
    int rank = 0;
    for (int i = 0; i < count_axes(s); i++) {
        if (s->begins[side][i])
            dim[rank++] = 1;
        dim[rank - 1] *= s->size[axis_at(s, side, i)];
    }
}

/* Where the element is that has `at` of each axis. */
static int64_t place_of(const struct shape *s, int side, int64_t block, const int64_t *at) {
    int64_t dim[AXES] = {0}, index[AXES] = {0}, place = 0;
    int rank = 0;
    find_dims(s, side, dim);
    for (int i = 0; i < count_axes(s); i++) {
        const int axis = axis_at(s, side, i);
        rank += s->begins[side][i];
        index[rank - 1] = index[rank - 1] * s->size[axis] + at[axis];
    }
    if (s->is_image[side]) {
        const int64_t blocks = (dim[1] + block - 1) / block, pixel = index[2] * dim[3] + index[3];
        return ((index[0] * blocks + index[1] / block) * dim[2] * dim[3] + pixel) * block + index[1] % block;
    }
    for (int d = 0; d < rank; d++)
        place = place * dim[d] + index[d];
    return place;
}

/* What lowering makes of the shape. */
static void fill_job(const struct shape *s, const int64_t *block, struct pdnn_rearrange_job *job) {
    job->n_axes = count_axes(s);
    for (int side = 0; side < SIDES; side++) {
        int64_t dim[AXES] = {0}, stride = s->is_image[side] ? block[side] : 1;
        int d = 0;
        find_dims(s, side, dim);
        struct pdnn_channels image = {dim[0], dim[1], dim[2] * dim[3], block[side], PDNN_STORED_F32};
        for (int i = 0; i < job->n_axes; i++)
            d += s->begins[side][i];
        if (s->is_image[side])
            job->image[side] = image;
        for (int i = job->n_axes, inner = 1; i-- > 0;) {
            struct pdnn_rearrange_axis *axis = &job->axes[axis_at(s, side, i)];
            axis->size = s->size[axis_at(s, side, i)];
            axis->is_channel[side] = s->is_image[side] && d == 2;
            axis->stride[side] = axis->is_channel[side] ? inner : stride;
            stride *= axis->is_channel[side] ? 1 : axis->size;
            inner *= axis->is_channel[side] ? (int)axis->size : 1;
            if (s->begins[side][i] && d-- == 2 && s->is_image[side])
                stride = pdnn_channels_padded(&image) * image.pixels;
        }
    }
}

static int64_t room_of(const struct shape *s, int side, int64_t block) {
    int64_t dim[AXES] = {0}, elements = 1;
    find_dims(s, side, dim);
    for (int i = 0; i < count_axes(s); i++)
        elements *= s->size[i];
    return s->is_image[side] ? elements / dim[1] * ((dim[1] + block - 1) / block * block) : elements;
}

static void check(const struct shape *s, const int64_t *block, int bytes, int64_t threads, bool bypass) {
    const int64_t rooms[] = {room_of(s, 0, block[0]), room_of(s, 1, block[1])};
    unsigned char *from = new_zeros(rooms[0], (size_t)bytes), *to = new_array(rooms[1] + 16, (size_t)bytes);
    unsigned char *expected = new_zeros(rooms[1], (size_t)bytes);
    struct pdnn_rearrange_job job = {.from = from, .to = to, .element_bytes = bytes, .bypass = bypass};
    int64_t elements = 1;
    for (int i = 0; i < count_axes(s); i++)
        elements *= s->size[i];
    for (int64_t i = 0; i < elements; i++) {
        int64_t at[AXES] = {0}, left = i;
        const uint32_t value = (uint32_t)(i + 1) * 2654435761U;
        for (int k = count_axes(s); k-- > 0; left /= s->size[k])
            at[k] = left % s->size[k];
        memcpy(from + place_of(s, 0, block[0], at) * bytes, &value, (size_t)bytes);
        memcpy(expected + place_of(s, 1, block[1], at) * bytes, &value, (size_t)bytes);
    }
    fill_job(s, block, &job);
    pdnn_rearrange_run(&job, threads);
    assert_memory_equal(to, expected, (size_t)(rooms[1] * bytes));
    for (int64_t i = 0; i < 16 * bytes; i++) /* nothing behind it */
        assert_int_equal(to[rooms[1] * bytes + i], 0xff);
    free_from(from);
}

static void test_rearrange(void **state) {
    (void)state;
    static const int64_t blocks[] = {1, 8, 16, 0};
    enum { BLOCKS = sizeof blocks / sizeof *blocks };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t k = 0; k < BLOCKS * BLOCKS; k++) {
            int64_t dim[AXES] = {0}, block[] = {blocks[k / BLOCKS], blocks[k % BLOCKS]};
            bool is_another = true;
            for (int side = 0; side < SIDES; side++) {
                find_dims(&shapes[i], side, dim);
                is_another = is_another && (shapes[i].is_image[side] || block[side] == 1);
                block[side] = block[side] ? block[side] : dim[1]; /* channels last */
            }
            for (int way = 0; way < 8 && is_another; way++)
                check(&shapes[i], block, way & 1 ? 2 : 4, way & 2 ? THREADS : 1, way & 4);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rearrange)};
    int failed = 0;
    omp_set_num_threads(THREADS);
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
