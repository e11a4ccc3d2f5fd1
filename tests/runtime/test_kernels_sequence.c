/* Kernels of sequence models against the reference kernels of their ops: odd shapes, any number of threads,
 * streaming stores, in place; sums have the same bits with any number of threads. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "models/op.h"
#include "runtime/kernels/sequence/attention.h"
#include "runtime/kernels/sequence/ctc.h"
#include "runtime/kernels/rows/dropout.h"
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/kernels/images/resize.h"
#include "runtime/kernels/rows/mean.h"
#include "runtime/kernels/rows/moves.h"
#include "runtime/kernels/sequence/selective_scan.h"
#include "runtime/kernels/simd/vmath.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, TENSORS = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS, SEED = 5 };

/* One node: every tensor as the reference sees it, in double, and as a kernel does. */
struct fixture {
    struct pdnn_tensor tensors[TENSORS];
    double *values[TENSORS];
    void *memory[TENSORS];
    struct pdnn_graph graph;
    uint32_t input[TENSORS], output[TENSORS];
    struct pdnn_node node;
};

static uint32_t new_tensor(struct fixture *f, int64_t rows, int64_t columns) {
    uint32_t id = (uint32_t)f->graph.n_tensors++;
    int64_t elements = rows * columns;
    f->tensors[id] = (struct pdnn_tensor){.rank = 2, .dim = {rows, columns}};
    f->values[id] = new_doubles(elements);
    f->memory[id] = new_floats(elements);
    return id;
}

/* Values in [-2, 2). */
static float *add_input(struct fixture *f, int64_t rows, int64_t columns) {
    uint32_t id = new_tensor(f, rows, columns);
    float *memory = f->memory[id];
    struct pdnn_rng rng = {SEED + id, 0};
    for (int64_t i = 0; i < rows * columns; i++)
        f->values[id][i] = memory[i] = (float)(4 * pdnn_rng_double(&rng) - 2);
    f->input[f->node.n_inputs++] = id;
    return memory;
}

/* Class ids, smaller ones more often. */
static int32_t *add_ids(struct fixture *f, int64_t rows, int64_t columns, int64_t classes) {
    uint32_t id = new_tensor(f, rows, columns);
    int32_t *memory = f->memory[id];
    struct pdnn_rng rng = {SEED, 0};
    for (int64_t i = 0; i < rows * columns; i++) {
        double uniform = pdnn_rng_double(&rng);
        f->values[id][i] = memory[i] = (int32_t)(uniform * uniform * (double)classes);
    }
    f->tensors[id].dtype = PDNN_S32;
    f->input[f->node.n_inputs++] = id;
    return memory;
}

static float *add_output(struct fixture *f, int64_t rows, int64_t columns) {
    uint32_t id = new_tensor(f, rows, columns);
    f->output[f->node.n_outputs++] = id;
    return f->memory[id];
}

static void run_reference(struct fixture *f, const struct pdnn_op_def *op, enum pdnn_pass pass) {
    f->graph.tensors = f->tensors;
    f->node.input = f->input;
    f->node.output = f->output;
    f->node.op = op;
    f->node.pass = pass;
    const struct pdnn_pass_def *def = &op->pass[pass];
    int64_t doubles = def->scratch ? def->scratch(&f->graph, &f->node) : 0;
    struct pdnn_reference r = {.graph = &f->graph, .value = f->values, .scratch = new_doubles(doubles)};
    pdnn_reference_run(&r, &f->node);
    free_from(r.scratch);
}

/* Compares the node's output with a kernel's; the tolerance is relative to the largest value. */
static void check_output(const struct fixture *f, int output, const float *got, double tolerance,
                         const char *what) {
    uint32_t id = f->output[output];
    int64_t elements = pdnn_tensor_elements(&f->tensors[id]);
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < elements; i++) {
        double error = fabs((double)got[i] - f->values[id][i]);
        largest = fmax(largest, fabs(f->values[id][i]));
        worst = isfinite(error) ? fmax(worst, error) : INFINITY;
    }
    if (!(worst <= tolerance * largest + 1e-30))
        fail_msg("%s: output %d differs by %g of %g", what, output, worst, largest);
}

/* Ways to run: threads, streaming stores. */
static const struct way {
    int64_t threads;
    bool bypass;
} ways[] = {{1, false}, {2, false}, {THREADS, true}};
enum { WAYS = sizeof ways / sizeof *ways };

static const int64_t embedding_shapes[][3] = {{1, 1, 1},      {7, 3, 5},      {300, 40, 129},
                                              {64, 600, 100}, {2000, 2, 50},  {257, 70, 1032},
                                              {90, 40, 2060}, {1100, 9, 300}, {40, 700, 36}};
enum { EMBEDDING_SHAPES = sizeof embedding_shapes / sizeof *embedding_shapes };

static void test_embedding_forward(void **state) {
    (void)state;
    for (size_t i = 0; i < EMBEDDING_SHAPES; i++) {
        const int64_t *shape = embedding_shapes[i];
        struct fixture f = {0};
        struct pdnn_embedding job = {.R = shape[0], .V = shape[1], .E = shape[2]};
        job.ids = add_ids(&f, 1, job.R, job.V);
        f.tensors[f.input[0]] = (struct pdnn_tensor){.dtype = PDNN_S32, .rank = 1, .dim = {job.R}};
        job.from = add_input(&f, job.V, job.E);
        job.to = add_output(&f, job.R, job.E);
        run_reference(&f, &pdnn_op_embedding, PDNN_FORWARD);
        for (int way = 0; way < WAYS; way++) {
            memset(job.to, 0xff, (size_t)(job.R * job.E) * sizeof *job.to);
            job.bypass = ways[way].bypass;
            pdnn_embedding_forward(&job, ways[way].threads);
            check_output(&f, 0, job.to, 0, "embedding");
        }
        free_from(f.values[0]);
    }
}

/* Sums that start from 0, from other rows, and from rows updated in place. */
static void check_embedding_backward(const int64_t *shape, bool has_rest, bool in_place) {
    struct fixture f = {0};
    struct pdnn_embedding job = {.R = shape[0], .V = shape[1], .E = shape[2]};
    size_t bytes = (size_t)(job.V * job.E) * sizeof(float);
    float *first = new_floats(job.V * job.E);
    job.ids = add_ids(&f, 1, job.R, job.V);
    f.tensors[f.input[0]] = (struct pdnn_tensor){.dtype = PDNN_S32, .rank = 1, .dim = {job.R}};
    job.from = add_input(&f, job.R, job.E);
    const float *rest = has_rest ? add_input(&f, job.V, job.E) : NULL;
    job.to = add_output(&f, job.V, job.E);
    job.rest = in_place ? job.to : rest;
    job.scratch = new_array(pdnn_embedding_scratch(job.R, job.V), sizeof *job.scratch);
    run_reference(&f, &pdnn_op_embedding, PDNN_BACKWARD_WEIGHTS);
    for (int way = 0; way <= WAYS; way++) {
        memset(job.to, 0xff, bytes);
        if (in_place)
            memcpy(job.to, rest, bytes);
        job.bypass = way < WAYS && ways[way].bypass;
        pdnn_embedding_backward(&job, way < WAYS ? ways[way].threads : 64 /* more threads than rows */);
        check_output(&f, 0, job.to, 1e-5, "embedding backward");
        if (way == 0)
            memcpy(first, job.to, bytes);
        assert_memory_equal(job.to, first, bytes);
    }
    free_from(first);
}

static void test_embedding_backward(void **state) {
    (void)state;
    for (size_t i = 0; i < EMBEDDING_SHAPES; i++) {
        check_embedding_backward(embedding_shapes[i], false, false);
        check_embedding_backward(embedding_shapes[i], true, false);
        check_embedding_backward(embedding_shapes[i], true, true);
    }
}

/* The mask is the reference's, so the same elements are 0 in both. */
static void test_dropout(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 3, 4, 257, 5000, 70001};
    static const int64_t percents[] = {0, 20, 99};
    for (size_t i = 0; i < 6 * 3 * WAYS; i++) {
        int64_t n = lengths[i / WAYS / 3];
        struct fixture f = {0};
        float *x = add_input(&f, 1, n), *counter = add_input(&f, 1, 1), *y = add_output(&f, 1, n);
        f.output[f.node.n_outputs++] = f.input[1]; /* it counts steps */
        f.node.attr[PDNN_DROPOUT_PERCENT] = percents[i / WAYS % 3];
        *counter = 41;
        f.values[1][0] = 41;
        run_reference(&f, &pdnn_op_dropout, PDNN_FORWARD);
        assert_true(f.values[1][0] == 42);
        struct pdnn_dropout job = {.x = x,
                                   .y = y,
                                   .elements = n,
                                   .seed = pdnn_rng_at(f.input[1], 42),
                                   .percent = f.node.attr[PDNN_DROPOUT_PERCENT],
                                   .bypass = ways[i % WAYS].bypass};
        pdnn_dropout_run(&job, ways[i % WAYS].threads);
        check_output(&f, 0, y, 2e-7, "dropout");
        for (int64_t k = 0; k < n; k++)
            assert_true((y[k] == 0) == (f.values[2][k] == 0)); /* no x is 0 */
        job.y = x;
        job.bypass = false;
        pdnn_dropout_run(&job, ways[i % WAYS].threads);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
        free_from(f.values[0]);
    }
}

/* The first and the last rows, all of them, and one. */
static void test_moves_slice(void **state) {
    (void)state;
    static const int64_t rows[][4] = {{9, 5, 0, 2}, {9, 1, 8, 1}, {40, 1000, 0, 40}, {70, 2052, 30, 33}};
    for (size_t i = 0; i < 4 * WAYS; i++) {
        int64_t R = rows[i / WAYS][0], C = rows[i / WAYS][1], first = rows[i / WAYS][2];
        int64_t count = rows[i / WAYS][3];
        struct fixture f = {.node.attr = {[PDNN_SLICE_FIRST] = first, [PDNN_SLICE_ROWS] = count}};
        const float *dy = add_input(&f, count, C);
        float *dx = add_output(&f, R, C);
        const int64_t row = C * (int64_t)sizeof(float);
        const struct pdnn_move moves[] = {{NULL, 0, dx, row, first, row},
                                          {dy, row, dx + first * C, row, count, row},
                                          {NULL, 0, dx + (first + count) * C, row, R - first - count, row}};
        run_reference(&f, &pdnn_op_slice, PDNN_BACKWARD_DATA);
        pdnn_moves_run(moves, 3, ways[i % WAYS].bypass, ways[i % WAYS].threads);
        check_output(&f, 0, dx, 0, "slice backward");
        free_from(f.values[0]);
    }
}

/* Three matrices; the columns of some are not a multiple of a vector. */
static void test_moves_concat(void **state) {
    (void)state;
    static const int64_t widths[][3] = {{1, 2, 3}, {64, 32, 256}, {5, 64, 64}, {400, 4, 8}};
    for (size_t i = 0; i < 4 * WAYS; i++) {
        const int64_t *width = widths[i / WAYS], size = (int64_t)sizeof(float);
        int64_t R = 211, whole = width[0] + width[1] + width[2], at = 0;
        struct fixture f = {0}, back = {0};
        struct pdnn_move moves[3], parts[3];
        float *y = NULL, *dx[3];
        const float *dy = add_input(&back, R, whole);
        for (int k = 0; k < 3; k++) {
            moves[k] = (struct pdnn_move){
                add_input(&f, R, width[k]), width[k] * size, NULL, whole * size, R, width[k] * size};
            dx[k] = add_output(&back, R, width[k]);
            parts[k] = (struct pdnn_move){dy + at, whole * size, dx[k], width[k] * size, R, width[k] * size};
            at += width[k];
        }
        y = add_output(&f, R, whole);
        moves[0].to = y;
        moves[1].to = y + width[0];
        moves[2].to = y + width[0] + width[1];
        run_reference(&f, &pdnn_op_concat, PDNN_FORWARD);
        run_reference(&back, &pdnn_op_concat, PDNN_BACKWARD_DATA);
        pdnn_moves_run(moves, 3, ways[i % WAYS].bypass, ways[i % WAYS].threads);
        pdnn_moves_run(parts, 3, ways[i % WAYS].bypass, ways[i % WAYS].threads);
        check_output(&f, 0, y, 0, "concat");
        for (int k = 0; k < 3; k++)
            check_output(&back, k, dx[k], 0, "concat backward");
        free_from(back.values[0]);
    }
}

/* Where an element (n, c, h, w) is. */
static int64_t stored_at(const struct pdnn_image *image, const int64_t at[4]) {
    int64_t blocks = (image->dim[1] + image->block - 1) / image->block;
    int64_t plane = at[0] * blocks + at[1] / image->block;
    return ((plane * image->dim[2] + at[2]) * image->dim[3] + at[3]) * image->block + at[1] % image->block;
}

static int64_t stored_elements(const struct pdnn_image *image) {
    int64_t channels = (image->dim[1] + image->block - 1) / image->block * image->block;
    return image->dim[0] * channels * image->dim[2] * image->dim[3];
}

/* What the box should leave: itself, padding behind the last channel, and everything else as it was. */
static void check_box(const struct pdnn_box *box, const uint16_t *before) {
    const struct pdnn_image *image = &box->to_image;
    int64_t units = box->element_bytes / 2,
            channels = (image->dim[1] + image->block - 1) / image->block * image->block;
    const uint16_t *from = box->from, *got = box->to;
    bool clears = box->to_at[1] + box->size[1] == image->dim[1];
    for (int64_t i = 0; i < image->dim[0] * channels * image->dim[2] * image->dim[3]; i++) {
        const int64_t at[] = {i / image->dim[3] / image->dim[2] / channels,
                              i / image->dim[3] / image->dim[2] % channels, i / image->dim[3] % image->dim[2],
                              i % image->dim[3]};
        int64_t source[4];
        bool is_inside = true;
        for (int k = 0; k < 4; k++) {
            int64_t end = box->to_at[k] + box->size[k] + (k == 1 && clears ? channels - image->dim[1] : 0);
            is_inside = is_inside && at[k] >= box->to_at[k] && at[k] < end;
            source[k] = box->from_at[k] + at[k] - box->to_at[k];
        }
        for (int64_t u = 0; u < units; u++) {
            int64_t place = stored_at(image, at) * units + u;
            uint16_t expected = before[place];
            if (is_inside)
                expected = !from || at[1] >= image->dim[1]
                               ? 0
                               : from[stored_at(&box->from_image, source) * units + u];
            assert_int_equal(got[place], expected);
        }
    }
}

/* Between any two layouts: blocks that are cut on either side, elements of 16 and 32 bits, zeros. */
static void test_boxes(void **state) {
    (void)state;
    static const struct pdnn_box boxes[] = {
        {.from_image.dim = {2, 21, 5, 7},
         .to_image.dim = {3, 40, 4, 9},
         .from_at = {1, 2, 1, 3},
         .to_at = {2, 19, 0, 1},
         .size = {1, 15, 3, 4}},
        {.from_image.dim = {2, 19, 3, 2},
         .to_image.dim = {2, 30, 3, 2},
         .to_at = {0, 11, 0, 0},
         .size = {2, 19, 3, 2}},
        {.from_image.dim = {3, 64, 13, 17},
         .to_image.dim = {3, 24, 13, 17},
         .from_at = {0, 40, 0, 0},
         .size = {3, 24, 13, 17}},
    };
    for (size_t i = 0; i < 3 * 4 * 4 * 4 * WAYS; i++) {
        struct pdnn_box box = boxes[i / WAYS / 64];
        const int64_t blocks[] = {1, 8, 16, 0};
        int64_t from_block = blocks[i / WAYS % 4], to_block = blocks[i / WAYS / 4 % 4];
        box.element_bytes = i / WAYS / 16 % 2 ? 2 : 4;
        box.from_image.block = from_block ? from_block : box.from_image.dim[1];
        box.to_image.block = to_block ? to_block : box.to_image.dim[1];
        int64_t room = stored_elements(&box.to_image) * 2, source = stored_elements(&box.from_image) * 2;
        uint16_t *from = new_zeros(source, sizeof *from), *to = new_zeros(room, sizeof *to),
                 *before = new_zeros(room, sizeof *before);
        for (int64_t k = 0; k < source; k++)
            from[k] = (uint16_t)(k % 60013 + 1);
        for (int64_t k = 0; k < room; k++)
            to[k] = before[k] = (uint16_t)(k % 59999 + 1);
        box.from = i / WAYS / 32 % 2 ? NULL : from;
        box.to = to;
        pdnn_boxes_run(&box, 1, ways[i % WAYS].threads);
        check_box(&box, before);
        free_from(from);
    }
}

/* More rows than are added at once, more columns than fit a tile, rows of columns. */
static void test_mean(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{1, 3000, 70}, {3, 5, 1500}, {2, 1, 9}, {7, 2500, 1}, {40, 33, 96}};
    for (size_t i = 0; i < 5 * WAYS; i++) {
        const int64_t *s = shapes[i / WAYS], rows = s[2] == 1 ? s[0] : s[0] * s[1];
        struct fixture f = {.node.attr = {[PDNN_MEAN_ALONG] = s[2] == 1 ? PDNN_MEAN_COLUMNS : PDNN_MEAN_ROWS,
                                          [PDNN_MEAN_SEQUENCES] = s[0]}};
        struct fixture back = {.node.attr = {f.node.attr[0], f.node.attr[1]}};
        struct pdnn_mean_job job = {.outer = s[0], .n = s[1], .inner = s[2]};
        job.x = add_input(&f, rows, s[2] == 1 ? s[1] : s[2]);
        float *y = add_output(&f, s[0], s[2]), *dx;
        job.y = y;
        run_reference(&f, &pdnn_op_mean, PDNN_FORWARD);
        pdnn_mean_forward(&job, ways[i % WAYS].threads);
        check_output(&f, 0, y, 1e-6, "mean");
        job.y = add_input(&back, s[0], s[2]);
        job.x = dx = add_output(&back, rows, s[2] == 1 ? s[1] : s[2]);
        job.bypass = ways[i % WAYS].bypass;
        run_reference(&back, &pdnn_op_mean, PDNN_BACKWARD_DATA);
        pdnn_mean_backward(&job, ways[i % WAYS].threads);
        check_output(&back, 0, dx, 1e-6, "mean backward");
        free_from(f.values[0]);
    }
}

/* Planes of images from the layout (planes, block, pixels) of the reference, and to it. */
static void interleave(const float *from, float *to, int64_t planes, int64_t block, int64_t pixels,
                       bool back) {
    for (int64_t i = 0; i < planes * block * pixels; i++) {
        int64_t plane = i / pixels / block, channel = i / pixels % block;
        int64_t stored = (plane * pixels + i % pixels) * block + channel;
        to[back ? i : stored] = from[back ? stored : i];
    }
}

static void check_resize(const int64_t *s, int64_t block, int64_t kind, const struct way *way) {
    const int64_t planes = s[0], small = s[1] * s[2], large = s[3] * s[4];
    const struct pdnn_resize shape = {planes,     block, s[1], s[2], s[3], s[4], kind == PDNN_RESIZE_BILINEAR,
                                      way->bypass};
    struct fixture f = {
        .node.attr = {[PDNN_RESIZE_KIND] = kind, [PDNN_RESIZE_HEIGHT] = s[3], [PDNN_RESIZE_WIDTH] = s[4]}};
    struct fixture back = f;
    const float *x = add_input(&f, planes * block, small);
    add_output(&f, planes * block, large);
    const float *dy = add_input(&back, planes * block, large);
    add_output(&back, planes * block, small);
    f.tensors[0] = back.tensors[1] = (struct pdnn_tensor){.rank = 4, .dim = {1, planes * block, s[1], s[2]}};
    f.tensors[1] = back.tensors[0] = (struct pdnn_tensor){.rank = 4, .dim = {1, planes * block, s[3], s[4]}};
    float *from = new_floats(planes * block * (small + large)),
          *to = new_floats(planes * block * (small + large)),
          *plain = new_floats(planes * block * (small + large));
    run_reference(&f, &pdnn_op_resize, PDNN_FORWARD);
    run_reference(&back, &pdnn_op_resize, PDNN_BACKWARD_DATA);
    interleave(x, from, planes, block, small, false);
    pdnn_resize_forward(&shape, from, to, way->threads);
    interleave(to, plain, planes, block, large, true);
    check_output(&f, 0, plain, 1e-6, "resize");
    interleave(dy, from, planes, block, large, false);
    pdnn_resize_backward(&shape, from, to, way->threads);
    interleave(to, plain, planes, block, small, true);
    /* A pixel sums as many values as it gave. */
    check_output(&back, 0, plain, 1e-6 * (double)(1 + large / small), "resize backward");
    free_from(f.values[0]);
}

/* Larger, smaller, by a lot, more columns than a tile; blocks of any size. */
static void test_resize(void **state) {
    (void)state;
    static const int64_t shapes[][5] = {{2, 5, 7, 10, 14},    {3, 9, 8, 4, 3},     {1, 1, 1, 3, 5},
                                        {1, 6, 300, 11, 700}, {5, 40, 41, 80, 82}, {2, 3, 5, 7, 70},
                                        {2, 3, 600, 2, 2}};
    static const int64_t sizes[] = {1, 4, 8, 16, 5};
    for (int i = 0; i < 7 * 5 * 2 * WAYS; i++)
        check_resize(shapes[i / WAYS / 10], sizes[i / WAYS / 2 % 5],
                     i / WAYS % 2 ? PDNN_RESIZE_BILINEAR : PDNN_RESIZE_NEAREST, &ways[i % WAYS]);
}

static void test_hardtanh(void **state) {
    (void)state;
    for (size_t i = 0; i < 3 * WAYS; i++) {
        static const int64_t lengths[] = {1, 1000, 40001};
        int64_t n = lengths[i / WAYS];
        for (int backward = 0; backward < 2; backward++) {
            struct fixture f = {.node.coef = {[PDNN_HARDTANH_LOW] = -0.5, [PDNN_HARDTANH_HIGH] = 1.25}};
            struct pdnn_elementwise_job job = {.function =
                                                   backward ? PDNN_HARDTANH_BACKWARD : PDNN_HARDTANH_FORWARD,
                                               .elements = n,
                                               .coef = {-0.5F, 1.25F},
                                               .bypass = ways[i % WAYS].bypass};
            job.a = add_input(&f, 1, n);
            if (backward)
                job.b = add_input(&f, 1, n);
            job.y = add_output(&f, 1, n);
            run_reference(&f, &pdnn_op_hardtanh, backward ? PDNN_BACKWARD_DATA : PDNN_FORWARD);
            pdnn_elementwise_run(&job, ways[i % WAYS].threads);
            check_output(&f, 0, job.y, 0, "hardtanh");
            free_from(f.values[0]);
        }
    }
}

static const struct pdnn_attention attention_shapes[] = {
    {.T = 1, .S = 1, .N = 1, .H = 1, .D = 1},    {.T = 3, .S = 5, .N = 2, .H = 7, .D = 9},
    {.T = 6, .S = 1, .N = 3, .H = 129, .D = 17}, {.T = 5, .S = 9, .N = 1, .H = 300, .D = 260},
    {.T = 9, .S = 18, .N = 5, .H = 64, .D = 33},
};
enum { ATTENTION_SHAPES = sizeof attention_shapes / sizeof *attention_shapes };

static void add_attention_inputs(struct fixture *f, struct pdnn_attention *job) {
    f->node.attr[PDNN_ATTENTION_SEQUENCES] = job->N;
    f->node.attr[PDNN_ATTENTION_TRAIN] = 1;
    job->q = add_input(f, job->T * job->N, job->H);
    job->k = add_input(f, job->S * job->N, job->H);
    job->values = add_input(f, job->S * job->N, job->D);
    job->v = add_input(f, 1, job->H);
    job->g = add_input(f, 1, 1);
}

static void test_attention_forward(void **state) {
    (void)state;
    for (size_t i = 0; i < ATTENTION_SHAPES; i++) {
        struct pdnn_attention job = attention_shapes[i];
        struct fixture f = {0};
        add_attention_inputs(&f, &job);
        float *context = add_output(&f, job.T * job.N, job.D), *p = add_output(&f, job.T * job.N, job.S);
        job.scratch = new_floats(pdnn_attention_scratch(&job, THREADS));
        run_reference(&f, &pdnn_op_attention, PDNN_FORWARD);
        for (int way = 0; way < WAYS; way++) {
            pdnn_attention_forward(&job, context, p, ways[way].threads);
            check_output(&f, 1, p, 5e-6, "attention");
            memset(context, 0xff, (size_t)(job.T * job.N * job.D) * sizeof *context);
            pdnn_attention_forward(&job, context, NULL, ways[way].threads); /* NULL as in inference */
            check_output(&f, 0, context, 5e-6, "attention");
        }
        free_from(f.values[0]);
    }
}

/* p is arbitrary: backward uses it as given. */
static void test_attention_backward(void **state) {
    (void)state;
    for (size_t i = 0; i < ATTENTION_SHAPES; i++) {
        struct pdnn_attention job = attention_shapes[i];
        struct pdnn_attention_gradients gradients;
        struct fixture f = {0};
        gradients.dcontext = add_input(&f, job.T * job.N, job.D);
        add_attention_inputs(&f, &job);
        gradients.p = add_input(&f, job.T * job.N, job.S);
        gradients.dq = add_output(&f, job.T * job.N, job.H);
        gradients.dk = add_output(&f, job.S * job.N, job.H);
        gradients.dvalues = add_output(&f, job.S * job.N, job.D);
        gradients.dv = add_output(&f, 1, job.H);
        gradients.dg = add_output(&f, 1, 1);
        job.scratch = new_floats(pdnn_attention_scratch(&job, THREADS));
        float *first = new_floats(job.H);
        run_reference(&f, &pdnn_op_attention, PDNN_BACKWARD_DATA);
        for (int way = 0; way < WAYS; way++) {
            pdnn_attention_backward(&job, &gradients, ways[way].threads);
            for (int k = 0; k < 5; k++)
                check_output(&f, k, f.memory[f.output[k]], 2e-5, "attention backward");
            if (way == 0)
                memcpy(first, gradients.dv, (size_t)job.H * sizeof *first);
            assert_memory_equal(first, gradients.dv, (size_t)job.H * sizeof *first);
        }
        free_from(f.values[0]);
    }
}

static void check_ctc(struct pdnn_ctc *job, const int64_t *lengths, double tolerance) {
    struct fixture f = {0};
    float *logits = add_input(&f, job->T * job->N, job->C);
    int32_t *labels = add_ids(&f, job->L, job->N, job->C - 1);
    for (int64_t i = 0; i < job->L * job->N; i++) {
        if (i / job->N >= lengths[i % job->N])
            f.values[1][i] = labels[i] = -1;
    }
    for (int64_t i = 0; i < job->T * job->N * job->C; i++)
        f.values[0][i] = logits[i] *= 3;
    job->logits = logits;
    job->labels = labels;
    job->loss = add_output(&f, 1, 1);
    job->dlogits = add_output(&f, job->T * job->N, job->C);
    job->scale = f.node.coef[0] = 0.5;
    job->scratch = new_doubles(pdnn_ctc_scratch(job, THREADS));
    run_reference(&f, &pdnn_op_ctc_loss, PDNN_FORWARD);
    for (int way = 0; way < WAYS; way++) {
        pdnn_ctc_run(job, ways[way].threads);
        check_output(&f, 0, job->loss, tolerance, "ctc loss");
        check_output(&f, 1, job->dlogits, tolerance, "ctc gradient");
    }
    free_from(f.values[0]);
}

/* A gradient is the difference of two numbers up to 1. Short sequences, empty ones, repeated labels (with two
 * classes nearly all repeat), and the length of a recording. */
static void test_ctc(void **state) {
    (void)state;
    check_ctc(&(struct pdnn_ctc){.T = 1, .N = 1, .C = 2, .L = 1}, (int64_t[]){1}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 1, .N = 2, .C = 3, .L = 4}, (int64_t[]){0, 1}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 9, .N = 3, .C = 2, .L = 5}, (int64_t[]){5, 0, 3}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 40, .N = 5, .C = 29, .L = 11}, (int64_t[]){11, 1, 4, 0, 7}, 1e-5);
    check_ctc(&(struct pdnn_ctc){.T = 480, .N = 2, .C = 29, .L = 100}, (int64_t[]){100, 63}, 5e-5);
}

/* Two equal labels need three steps. */
static void test_ctc_impossible(void **state) {
    (void)state;
    enum { T = 2, C = 3, L = 2 };
    float logits[T * C] = {0.5F, 0, 1, 0, 2, 0}, loss, dlogits[T * C];
    const int32_t labels[L] = {1, 1};
    struct pdnn_ctc job = {.T = T,
                           .N = 1,
                           .C = C,
                           .L = L,
                           .logits = logits,
                           .labels = labels,
                           .loss = &loss,
                           .dlogits = dlogits,
                           .scale = 1};
    job.scratch = new_doubles(pdnn_ctc_scratch(&job, 1));
    pdnn_ctc_run(&job, 1);
    assert_true(isinf(loss) && loss > 0);
    for (int i = 0; i < T * C; i++)
        assert_true(isnan(dlogits[i]));
    free_from(job.scratch);
}

static void test_log_precision(void **state) {
    (void)state;
    for (float x = 1.2e-38F; x < 1e38F; x *= 1.0003F) {
        double expected = log((double)x), error = fabs((double)pdnn_log(x) - expected);
        assert_true(error <= 2e-7 * fmax(fabs(expected), 1e-2));
    }
    assert_true(pdnn_log(1.0F) == 0.0F);
}

/* Sequences of one token, of part of a chunk, of whole ones and more; parts of vectors and of groups. */
/* N, T, C, S, and by how much the steps are longer: decays to nothing, and growth. */
static const int64_t scan_shapes[][5] = {{1, 1, 1, 1, 1},    {3, 16, 5, 2, 1},   {1, 17, 64, 16, 1},
                                         {2, 33, 70, 3, 1},  {1, 40, 9, 37, 1},  {2, 48, 141, 8, 1},
                                         {1, 5, 300, 16, 1}, {1, 9, 21, 4, 900}, {2, 5, 40, 3, -1}};
enum { SCAN_SHAPES = sizeof scan_shapes / sizeof *scan_shapes };

/* Steps and rates as softplus gives them, so that states stay small. */
static void make_positive(struct fixture *f, int input, float factor) {
    const uint32_t id = f->input[input];
    float *memory = f->memory[id];
    for (int64_t i = 0; i < pdnn_tensor_elements(&f->tensors[id]); i++)
        f->values[id][i] = memory[i] = fabsf(memory[i]) * factor;
}

static struct pdnn_selective_scan add_scan(struct fixture *f, const int64_t *shape) {
    const int first = f->node.n_inputs;
    struct pdnn_selective_scan job = {.N = shape[0], .T = shape[1], .C = shape[2], .S = shape[3]};
    job.x = add_input(f, job.N * job.T, job.C);
    job.delta = add_input(f, job.N * job.T, job.C);
    job.b = add_input(f, job.N * job.T, job.S);
    job.c = add_input(f, job.N * job.T, job.S);
    job.a = add_input(f, job.C, job.S);
    job.d = add_input(f, 1, job.C);
    make_positive(f, first + PDNN_SELECTIVE_SCAN_DELTA, (float)shape[4]);
    make_positive(f, first + PDNN_SELECTIVE_SCAN_A, 1);
    f->node.attr[PDNN_SELECTIVE_SCAN_SEQUENCES] = job.N;
    return job;
}

/* From 0 or from states that are kept. */
static void check_scan_forward(const int64_t *shape, bool keeps) {
    struct fixture f = {0};
    struct pdnn_selective_scan job = add_scan(&f, shape);
    const int64_t states = keeps ? job.N * job.C * job.S : 1;
    float *y = add_output(&f, job.N * job.T, job.C), *kept = new_floats(states);
    if (keeps) {
        job.state = add_input(&f, job.N * job.C, job.S);
        memcpy(kept, job.state, (size_t)states * sizeof *kept);
        f.output[f.node.n_outputs++] = f.input[PDNN_SELECTIVE_SCAN_STATE];
        f.node.attr[PDNN_SELECTIVE_SCAN_KEPT] = 1;
    }
    run_reference(&f, &pdnn_op_selective_scan, PDNN_FORWARD);
    for (int64_t threads = 1; threads <= THREADS; threads++) {
        job.scratch = new_floats(pdnn_selective_scan_scratch(&job, threads));
        memset(y, 0xff, (size_t)(job.N * job.T * job.C) * sizeof *y);
        if (keeps)
            memcpy(job.state, kept, (size_t)states * sizeof *kept);
        pdnn_selective_scan_forward(&job, y, threads);
        check_output(&f, PDNN_SELECTIVE_SCAN_Y, y, 2e-6, "selective_scan");
        if (keeps)
            check_output(&f, PDNN_SELECTIVE_SCAN_NEW_STATE, job.state, 2e-6, "kept states");
        free_from(job.scratch);
    }
    free_from(f.values[0]);
}

static void check_scan_backward(const int64_t *shape) {
    struct fixture f = {0};
    struct pdnn_selective_scan_gradients back = {.dy = add_input(&f, shape[0] * shape[1], shape[2])};
    struct pdnn_selective_scan job = add_scan(&f, shape);
    float **const to[] = {&back.dx, &back.ddelta, &back.db, &back.dc, &back.da, &back.dd}, *first[6];
    for (int i = 0; i < 6; i++) {
        const struct pdnn_tensor *like = &f.tensors[f.input[1 + i]];
        *to[i] = add_output(&f, like->dim[0], like->dim[1]);
        first[i] = new_floats(like->dim[0] * like->dim[1]);
    }
    run_reference(&f, &pdnn_op_selective_scan, PDNN_BACKWARD_DATA);
    for (int64_t threads = 1; threads <= THREADS; threads++) {
        job.scratch = new_floats(pdnn_selective_scan_back_scratch(&job, threads));
        pdnn_selective_scan_backward(&job, &back, threads);
        for (int i = 0; i < 6; i++) {
            const size_t bytes = (size_t)pdnn_tensor_elements(&f.tensors[f.output[i]]) * sizeof(float);
            check_output(&f, i, *to[i], 1e-5, "selective_scan backward");
            if (threads == 1)
                memcpy(first[i], *to[i], bytes);
            assert_memory_equal(*to[i], first[i], bytes);
            memset(*to[i], 0xff, bytes);
        }
        free_from(job.scratch);
    }
    free_from(f.values[0]);
}

static void test_selective_scan(void **state) {
    (void)state;
    for (size_t i = 0; i < SCAN_SHAPES; i++) {
        check_scan_forward(scan_shapes[i], false);
        check_scan_forward(scan_shapes[i], true);
        check_scan_backward(scan_shapes[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedding_forward),
        cmocka_unit_test(test_embedding_backward),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_moves_slice),
        cmocka_unit_test(test_moves_concat),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_hardtanh),
        cmocka_unit_test(test_attention_forward),
        cmocka_unit_test(test_attention_backward),
        cmocka_unit_test(test_selective_scan),
        cmocka_unit_test(test_ctc),
        cmocka_unit_test(test_ctc_impossible),
        cmocka_unit_test(test_log_precision),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
