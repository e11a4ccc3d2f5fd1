/* Copies an array whose axes come in another order: images to rows and back, shuffled channels, windows,
 * transposes. */
#ifndef RUNTIME_KERNELS_ROWS_REARRANGE_H
#define RUNTIME_KERNELS_ROWS_REARRANGE_H

#include "runtime/kernels/images/channels.h"

enum { PDNN_REARRANGE_FROM, PDNN_REARRANGE_TO, PDNN_REARRANGE_SIDES, PDNN_REARRANGE_AXES = 6 };

/* An axis of both arrays. */
struct pdnn_rearrange_axis {
    int64_t size;
    int64_t stride[PDNN_REARRANGE_SIDES]; /* in elements; along an image's channels, in channels */
    bool is_channel[PDNN_REARRANGE_SIDES];
};

struct pdnn_rearrange_job {
    const void *from;
    void *to;
    int element_bytes; /* 2 or 4 */
    int n_axes;
    struct pdnn_rearrange_axis axes[PDNN_REARRANGE_AXES];
    /* How channels lie, of a side that is an image; channel c is then at
     * (c / block * pixels) * block + c % block. */
    struct pdnn_channels image[PDNN_REARRANGE_SIDES];
    bool bypass; /* streaming stores where the alignment permits */
};

/* Writes all of `to`, padding channels included. */
void pdnn_rearrange_run(const struct pdnn_rearrange_job *job, int64_t threads);

#endif
