/* Data movement: rows between matrices and boxes between images, of elements of any size. */
#ifndef RUNTIME_KERNELS_ROWS_MOVES_H
#define RUNTIME_KERNELS_ROWS_MOVES_H

#include <stdbool.h>
#include <stdint.h>

/* Copies `columns` bytes of each row of one matrix to the rows of another; strides in bytes. */
struct pdnn_move {
    const void *from; /* NULL: write zeros */
    int64_t from_stride;
    void *to;
    int64_t to_stride;
    int64_t rows, columns;
};

/* Performs all moves; their targets must not overlap. bypass: streaming stores, for results larger than the
 * caches, where the alignment of a target permits. */
void pdnn_moves_run(const struct pdnn_move *moves, int n_moves, bool bypass, int64_t threads);

/* Images (N, C, H, W) stored as [N][ceil(C / block)][H][W][block]. */
struct pdnn_image {
    int64_t dim[4], block;
};

/* Copies a box, `size` of (N, C, H, W), between images in any two layouts. A box with the last channel of
 * `to` also clears the padding channels behind it. */
struct pdnn_box {
    const void *from; /* the first image; NULL: write zeros */
    void *to;
    struct pdnn_image from_image, to_image;
    int64_t from_at[4], to_at[4], size[4];
    int64_t element_bytes; /* even */
};

void pdnn_boxes_run(const struct pdnn_box *boxes, int n_boxes, int64_t threads);

#endif
