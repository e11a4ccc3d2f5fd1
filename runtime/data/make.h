/* Writes small synthetic data sets: smooth random images, words with the frequencies of a language in
 * documents of random lengths, rows of uniform values. The same request writes the same bytes. */
#ifndef RUNTIME_DATA_MAKE_H
#define RUNTIME_DATA_MAKE_H

#include "runtime/data/dataset.h"

struct pdnn_dataset_request {
    const char *directory; /* made; must not exist, or be empty */
    enum pdnn_dataset_kind kind;
    enum pdnn_encoding encoding;
    uint64_t count; /* of examples; of words */
    uint64_t seed;
    int64_t width, height; /* images */
    int64_t quality;       /* JPEG, 1 to 100 */
    int64_t features;      /* rows */
    int64_t vocabulary;    /* tokens: distinct words, document ends included */
    int64_t classes;       /* of labels */
};

/* Synced when it returns; the manifest is written last, so that a directory with one is whole. PDNN_INVALID
 * if the directory cannot be made or has files, PDNN_UNSUPPORTED without JPEG in the build. */
enum pdnn_status pdnn_dataset_write(const struct pdnn_dataset_request *request, struct pdnn_err *err);

#endif
