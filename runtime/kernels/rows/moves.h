/* Data movement in f32: columns between matrices, and images (N, C, F, T) to sequences of their columns. */
#ifndef RUNTIME_KERNELS_ROWS_MOVES_H
#define RUNTIME_KERNELS_ROWS_MOVES_H

#include <stdbool.h>
#include <stdint.h>

/* Copies `columns` floats of each row of one matrix to the rows of another; strides in floats. */
struct pdnn_move {
    const float *from; /* NULL: write zeros */
    int64_t from_stride;
    float *to;
    int64_t to_stride;
    int64_t rows, columns;
};

/* Performs all moves; their targets must not overlap. bypass: streaming stores, for results larger than the
 * caches, where the alignment of a target permits. */
void pdnn_moves_run(const struct pdnn_move *moves, int n_moves, bool bypass, int64_t threads);

/* Images: N of C channels, F rows and T columns, stored as [N][ceil(C / block)][F][T][block] with zeros in
 * padding channels. Sequences: (T*N, C*F); column t of image n is row t*N + n. */
struct pdnn_sequence {
    int64_t N, C, F, T, block;
};

void pdnn_sequence_forward(const struct pdnn_sequence *shape, const float *images, float *sequences,
                           int64_t threads);
void pdnn_sequence_backward(const struct pdnn_sequence *shape, const float *sequences, float *images,
                            int64_t threads);

#endif
