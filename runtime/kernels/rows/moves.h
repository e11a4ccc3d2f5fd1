/* Moving f32 data: columns between matrices, and images (N, C, F, T) to sequences of their columns. */
#ifndef RUNTIME_KERNELS_ROWS_MOVES_H
#define RUNTIME_KERNELS_ROWS_MOVES_H

#include <stdbool.h>
#include <stdint.h>

/* `columns` floats each from one row of a matrix to that of another; strides in floats. */
struct pdnn_move {
    const float *from; /* NULL: zeros */
    int64_t from_stride;
    float *to;
    int64_t to_stride;
    int64_t rows, columns;
};

/* Does all moves, whose targets do not overlap. bypass: streaming stores, for results that no cache holds,
 * where a target's alignment allows it. */
void pdnn_moves_run(const struct pdnn_move *moves, int n_moves, bool bypass, int64_t threads);

/* N images of C channels, F rows and T columns, stored as [N][ceil(C / block)][F][T][block], whose channels
 * past C are 0; sequences (T*N, C*F): column t of image n is row t*N + n. */
struct pdnn_sequence {
    int64_t N, C, F, T, block;
};

void pdnn_sequence_forward(const struct pdnn_sequence *shape, const float *images, float *sequences,
                           int64_t threads);
void pdnn_sequence_backward(const struct pdnn_sequence *shape, const float *sequences, float *images,
                            int64_t threads);

#endif
