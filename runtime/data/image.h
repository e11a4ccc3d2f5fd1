/* Images as loaders see them: JPEG and binary PPM to pixels, pixels to the values of a tensor; JPEG from
 * pixels, to make data sets. */
#ifndef RUNTIME_DATA_IMAGE_H
#define RUNTIME_DATA_IMAGE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RGB, 8 bits each, row by row without gaps; owned by whoever filled it. */
struct pdnn_pixels {
    const unsigned char *rgb;
    int64_t width, height;
};

enum { PDNN_IMAGE_SIDE_MAX = 1 << 15 };

/* Whether this build has JPEG, and the message for when it has not. */
bool pdnn_jpeg_is_built(void);
enum pdnn_status pdnn_jpeg_missing(struct pdnn_err *err);

/* A decoder with its pixel memory; one per thread. {0} is one that has not decoded yet. */
struct pdnn_image_decoder {
    void *jpeg;          /* the library's handle */
    unsigned char *room; /* heap: pixels of the last JPEG */
    size_t room_bytes;
    bool lacks_end; /* the last JPEG has no end marker, but all of its pixels */
};
void pdnn_image_decoder_finish(struct pdnn_image_decoder *decoder);

/* PDNN_INVALID, with what is wrong, for bytes that are not such an image, or are cut. CMYK and YCCK become
 * RGB as in Pillow and TensorFlow: (1 - C) (1 - K), of samples that Adobe's programs store inverted. The
 * pixels are valid until the next call, and no longer than the bytes. */
enum pdnn_status pdnn_image_decode_ppm(const unsigned char *bytes, size_t length, struct pdnn_pixels *pixels,
                                       struct pdnn_err *err);
enum pdnn_status pdnn_image_decode_jpeg(struct pdnn_image_decoder *decoder, const unsigned char *bytes,
                                        size_t length, struct pdnn_pixels *pixels, struct pdnn_err *err);

/* Scales the image to (3, height, width), bilinear with pixel centres aligned as OpenCV and PyTorch do, and
 * its values from [0, 255] to [-1, 1]. */
void pdnn_image_fit(const struct pdnn_pixels *pixels, int64_t width, int64_t height, float *values);

/* *bytes is heap, freed by the caller. quality: 1 to 100. */
enum pdnn_status pdnn_image_encode_jpeg(const struct pdnn_pixels *pixels, int quality, unsigned char **bytes,
                                        size_t *length, struct pdnn_err *err);

#endif
