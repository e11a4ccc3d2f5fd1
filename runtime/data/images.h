/* Whether the images of a data set decode, as a sweep's loaders will decode them. */
#ifndef RUNTIME_DATA_IMAGES_H
#define RUNTIME_DATA_IMAGES_H

#include "runtime/data/dataset.h"

enum { PDNN_IMAGES_LOOKED_AT = 4096 };

struct pdnn_images_found {
    uint64_t decoded; /* all, or PDNN_IMAGES_LOOKED_AT of them, spread evenly */
    uint64_t endless; /* JPEG files among them without an end marker, but with all pixels */
    char first_endless[PDNN_DATASET_PATH]; /* the first of these */
};

/* PDNN_INVALID with the first file that does not decode, why, and how many do not. A build without JPEG
 * decodes none. */
enum pdnn_status pdnn_images_decode(const struct pdnn_dataset *dataset, struct pdnn_images_found *found,
                                    struct pdnn_err *err);

#endif
