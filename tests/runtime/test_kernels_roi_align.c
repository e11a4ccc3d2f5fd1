/* Values of boxes and their gradient against naive loops in double: every layout with its padded channels,
 * boxes in all places, split among threads. N minibatch, C channels, H W height and width. */
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"
#include "tests/runtime/stored_images.h"

#include "runtime/kernels/images/roi_align.h"

#include <math.h>
#include <omp.h>

struct regions {
    int64_t N, C, H, W, boxes, size, samples;
    float *corners, *x, *dy;
    double *y, *dx;
};

/* The weight of pixel `at` in the value at a place along an axis. */
static double weight(double place, int64_t at, int64_t length) {
    const double inside = fmin(fmax(place, 0), (double)(length - 1));
    return fmax(0, 1 - fabs(inside - (double)at));
}

static double place_of(float a, float b, int64_t length, double share) {
    const double from = fmin((double)a, (double)b), to = fmax((double)a, (double)b);
    return (from + (to - from) * share + 1) / 2 * (double)length - 0.5;
}

/* Along an axis: how much of each pixel is in each value of a box. */
static double *weights_along(const struct regions *t, float a, float b, int64_t length) {
    double *weights = new_zeros(t->size * length, sizeof *weights);
    const int64_t points = t->size * t->samples;
    for (int64_t i = 0; i < points; i++) {
        const double place = place_of(a, b, length, ((double)i + 0.5) / (double)points);
        for (int64_t at = 0; at < length; at++)
            weights[i / t->samples * length + at] += weight(place, at, length) / (double)t->samples;
    }
    return weights;
}

static void expect_box(struct regions *t, int64_t box) {
    const float *corner = t->corners + box * 4;
    double *h = weights_along(t, corner[0], corner[2], t->H),
           *w = weights_along(t, corner[1], corner[3], t->W);
    for (int64_t c = 0; c < t->C; c++) {
        const int64_t image = ((box / (t->boxes / t->N)) * t->C + c) * t->H * t->W;
        for (int64_t i = 0; i < t->size * t->size; i++) {
            const int64_t to = (box * t->C + c) * t->size * t->size + i;
            t->y[to] = 0;
            for (int64_t k = 0; k < t->H * t->W; k++) {
                const double both = h[i / t->size * t->H + k / t->W] * w[i % t->size * t->W + k % t->W];
                t->y[to] += both * (double)t->x[image + k];
                t->dx[image + k] += both * (double)t->dy[to];
            }
        }
    }
    free_from(h);
}

static struct regions new_regions(const int64_t *of) {
    struct regions t = {of[0], of[1], of[2], of[3], of[4], of[5], of[6], NULL, NULL, NULL, NULL, NULL};
    const int64_t values = t.boxes * t.C * t.size * t.size, elements = t.N * t.C * t.H * t.W;
    t.corners = new_random(t.boxes * 4, 1);
    t.x = new_random(elements, 1);
    t.dy = new_random(values, 1);
    t.y = new_doubles(values);
    t.dx = new_zeros(elements, sizeof *t.dx);
    for (int64_t i = 0; i < 4; i++)
        t.corners[i] = i < 2 ? -1 : 1; /* everything */
    for (int64_t i = 4; i < 8 && t.boxes > 1; i++)
        t.corners[i] = 0.25F; /* a point */
    for (int64_t i = 8; i < 12 && t.boxes > 2; i++)
        t.corners[i] *= 3; /* beyond the edges */
    for (int64_t box = 0; box < t.boxes; box++)
        expect_box(&t, box);
    return t;
}

static void check_regions(const struct regions *t, int64_t block, int64_t threads) {
    const struct pdnn_channels features = shape_of(t->N, t->C, t->H * t->W, block),
                               values = shape_of(t->boxes, t->C, t->size * t->size, block);
    float *x = new_stored(&features, t->x), *dy = new_stored(&values, t->dy),
          *y = new_floats(pdnn_channels_elements(&values)),
          *dx = new_floats(pdnn_channels_elements(&features));
    struct pdnn_roi_align job = {t->N,     t->C,    t->H,       t->W,       features.block,
                                 t->boxes, t->size, t->samples, t->corners, NULL};
    job.scratch = new_array(pdnn_roi_align_scratch(&job, threads), 1);
    pdnn_roi_align_forward(&job, x, y, threads);
    check_stored(&values, y, t->y, 2e-6);
    pdnn_roi_align_backward(&job, dy, dx, threads);
    check_stored(&features, dx, t->dx, 1e-5);
    free_from(x);
}

static void test_roi_align(void **state) {
    (void)state;
    static const int64_t shapes[][7] = {{2, 5, 9, 7, 4, 3, 2},  {1, 20, 16, 20, 7, 7, 2},
                                        {1, 40, 5, 1, 3, 2, 1}, {3, 13, 12, 11, 6, 1, 3},
                                        {1, 16, 1, 1, 1, 2, 2}, {2, 24, 17, 30, 8, 4, 2}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct regions t = new_regions(shapes[s]);
        for (int b = 0; b < BLOCKS * 2; b++)
            check_regions(&t, blocks[b / 2], b % 2 ? THREADS : 1);
        free_from(t.corners);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_roi_align)};
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
