#include "runtime/data/images.h"

#include "base/file.h"
#include "runtime/data/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 30 };

static enum pdnn_status decode(const struct pdnn_dataset *dataset, const char *path,
                               struct pdnn_image_decoder *decoder, struct pdnn_err *err) {
    struct pdnn_pixels pixels;
    char *text;
    size_t length;
    enum pdnn_status status = pdnn_file_read(path, FILE_LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    const unsigned char *bytes = (const unsigned char *)text;
    status = dataset->encoding == PDNN_ENCODING_JPEG
                 ? pdnn_image_decode_jpeg(decoder, bytes, length, &pixels, err)
                 : pdnn_image_decode_ppm(bytes, length, &pixels, err);
    free(text);
    return status == PDNN_OK ? status : pdnn_wrap(err, "%s", path);
}

enum pdnn_status pdnn_images_decode(const struct pdnn_dataset *dataset, struct pdnn_images_found *found,
                                    struct pdnn_err *err) {
    const bool reads = dataset->encoding != PDNN_ENCODING_JPEG || pdnn_jpeg_is_built();
    const uint64_t all = reads ? dataset->count : 0,
                   count = all < PDNN_IMAGES_LOOKED_AT ? all : PDNN_IMAGES_LOOKED_AT;
    struct pdnn_image_decoder decoder = {.jpeg = NULL};
    struct pdnn_err first = {0};
    uint64_t bad = 0;
    *found = (struct pdnn_images_found){.decoded = count};
    for (uint64_t i = 0; i < count; i++) {
        char path[PDNN_DATASET_PATH];
        struct pdnn_err cause = {0};
        decoder.lacks_end = false;
        if (pdnn_dataset_file_path(dataset, i * all / count, path, &cause) != PDNN_OK ||
            decode(dataset, path, &decoder, &cause) != PDNN_OK)
            first = bad++ ? first : cause;
        if (decoder.lacks_end && !found->endless++)
            strcpy(found->first_endless, path);
    }
    pdnn_image_decoder_finish(&decoder);
    if (!bad)
        return PDNN_OK;
    return pdnn_fail(err, first.status, "%s; %" PRIu64 " of %" PRIu64 " images do not decode", first.text,
                     bad, count);
}
