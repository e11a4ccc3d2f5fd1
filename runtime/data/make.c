#define _POSIX_C_SOURCE 200809L
#include "runtime/data/make.h"

#include "base/memory.h"
#include "base/file.h"
#include "base/paths/folder.h"
#include "base/rng.h"
#include "base/str.h"
#include "runtime/data/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHANNELS = 3, GRID = 24, DOCUMENT_WORDS = 400, BUFFER_WORDS = 1 << 14 };

/* A file that is being written. */
struct output {
    const char *path;
    int fd;
};

static enum pdnn_status fail_file(const char *path, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
}

static enum pdnn_status open_output(const char *path, struct output *output, struct pdnn_err *err) {
    output->path = path;
    output->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return output->fd < 0 ? fail_file(path, err) : PDNN_OK;
}

/* Syncs too: only pages that are on the disk can be dropped from the cache. */
static enum pdnn_status close_output(struct output *output, enum pdnn_status status, struct pdnn_err *err) {
    if (status == PDNN_OK && fdatasync(output->fd) != 0)
        status = fail_file(output->path, err);
    close(output->fd);
    return status;
}

static enum pdnn_status append(struct output *output, const void *bytes, size_t length,
                               struct pdnn_err *err) {
    enum pdnn_status status = pdnn_fd_write(output->fd, bytes, length, err);
    return status == PDNN_OK ? status : pdnn_wrap(err, "%s", output->path);
}

static void put_u32(unsigned char *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
}

/* Coarse random colors with smooth transitions and some noise: a JPEG of it has about as many bits per pixel
 * as one of a photograph. */
static void draw_image(const struct pdnn_dataset_request *request, uint64_t number, unsigned char *rgb) {
    uint64_t stream = pdnn_rng_at(pdnn_rng_mix(request->seed), number);
    for (int64_t y = 0; y < request->height; y++) {
        for (int64_t x = 0; x < request->width; x++) {
            float gx = (float)x * GRID / (float)request->width, gy = (float)y * GRID / (float)request->height;
            uint64_t ix = (uint64_t)gx, iy = (uint64_t)gy, pixel = (uint64_t)(y * request->width + x);
            float fx = gx - (float)ix, fy = gy - (float)iy;
            uint64_t noise = pdnn_rng_at(~stream, pixel);
            for (uint64_t c = 0; c < CHANNELS; c++) {
                float corner[4];
                for (uint64_t k = 0; k < 4; k++)
                    corner[k] =
                        (float)(pdnn_rng_at(stream,
                                            ((iy + k / 2) * (GRID + 1) + ix + k % 2) * CHANNELS + c) >>
                                56);
                float top = corner[0] + (corner[1] - corner[0]) * fx;
                float bottom = corner[2] + (corner[3] - corner[2]) * fx;
                float value = top + (bottom - top) * fy + (float)(noise >> 8 * c & 15) - 8;
                rgb[pixel * CHANNELS + c] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
    }
}

static enum pdnn_status write_image(const struct pdnn_dataset_request *request, const unsigned char *rgb,
                                    const char *path, uint64_t *bytes, struct pdnn_err *err) {
    const struct pdnn_pixels pixels = {rgb, request->width, request->height};
    struct output output = {.fd = -1};
    unsigned char *jpeg = NULL;
    char header[64];
    size_t length = (size_t)(request->width * request->height * CHANNELS), header_length = 0;
    enum pdnn_status status = PDNN_OK;
    if (request->encoding == PDNN_ENCODING_JPEG)
        status = pdnn_image_encode_jpeg(&pixels, (int)request->quality, &jpeg, &length, err);
    else
        header_length = (size_t)snprintf(header, sizeof header, "P6\n%" PRId64 " %" PRId64 "\n255\n",
                                         request->width, request->height);
    if (status == PDNN_OK)
        status = open_output(path, &output, err);
    if (status == PDNN_OK) {
        status = append(&output, header, header_length, err);
        if (status == PDNN_OK)
            status = append(&output, jpeg ? jpeg : rgb, length, err);
        status = close_output(&output, status, err);
    }
    *bytes += header_length + length;
    free(jpeg);
    return status;
}

static uint32_t label_of(const struct pdnn_dataset_request *request, uint64_t number) {
    struct pdnn_rng rng = {pdnn_rng_mix(request->seed ^ UINT64_C(0x1abe1)), number};
    return (uint32_t)pdnn_rng_below(&rng, (uint64_t)request->classes);
}

static enum pdnn_status make_images(const struct pdnn_dataset_request *request, uint64_t *bytes,
                                    struct pdnn_err *err) {
    struct pdnn_str list = {0};
    const char *ending = request->encoding == PDNN_ENCODING_JPEG ? "jpg" : "ppm";
    char path[PDNN_DATASET_PATH];
    unsigned char *rgb = pdnn_alloc((size_t)(request->width * request->height), CHANNELS);
    enum pdnn_status status = PDNN_OK;
    for (uint64_t i = 0; i < request->count && status == PDNN_OK; i++) {
        draw_image(request, i, rgb);
        snprintf(path, sizeof path, "%.1100s/%06" PRIu64 ".%s", request->directory, i, ending);
        status = write_image(request, rgb, path, bytes, err);
        pdnn_str_printf(&list, "%06" PRIu64 ".%s %" PRIu32 "\n", i, ending, label_of(request, i));
    }
    snprintf(path, sizeof path, "%.1100s/files.txt", request->directory);
    if (status == PDNN_OK)
        status = pdnn_file_replace(path, pdnn_str_text(&list), list.length, err);
    pdnn_str_finish(&list);
    free(rgb);
    return status;
}

/* Word 0 ends a document; the word of rank k is about 1/k as frequent as the first, as with PDNN_FILL_ZIPF.
 */
static uint32_t draw_word(const struct pdnn_dataset_request *request, struct pdnn_rng *rng) {
    double words = (double)request->vocabulary - 1;
    if (pdnn_rng_below(rng, DOCUMENT_WORDS) == 0)
        return 0;
    double word = expm1(pdnn_rng_double(rng) * log1p(words));
    return 1 + (uint32_t)fmin(word, words - 1);
}

/* 32-bit numbers, a buffer at a time. */
static enum pdnn_status make_numbers(const struct pdnn_dataset_request *request, const char *name,
                                     uint64_t *bytes, struct pdnn_err *err) {
    struct pdnn_rng rng = {pdnn_rng_mix(request->seed), 0};
    bool is_row = request->kind == PDNN_DATASET_ROWS;
    uint64_t row = is_row ? (uint64_t)request->features + 1 : 1, count = request->count * row;
    char path[PDNN_DATASET_PATH];
    struct output output = {.fd = -1};
    unsigned char *buffer = pdnn_alloc(BUFFER_WORDS, 4);
    snprintf(path, sizeof path, "%.1100s/%s", request->directory, name);
    enum pdnn_status status = open_output(path, &output, err);
    bool is_open = status == PDNN_OK;
    for (uint64_t at = 0; at < count && status == PDNN_OK;) {
        size_t used = 0;
        for (; used < BUFFER_WORDS && at < count; used++, at++) {
            uint32_t number = is_row && at % row == row - 1 ? label_of(request, at / row) : 0;
            float value = (float)(2 * pdnn_rng_double(&rng) - 1);
            if (is_row && at % row != row - 1)
                memcpy(&number, &value, sizeof number);
            else if (!is_row)
                number = draw_word(request, &rng);
            put_u32(buffer + 4 * used, number);
        }
        status = append(&output, buffer, 4 * used, err);
    }
    if (is_open)
        status = close_output(&output, status, err);
    *bytes = 4 * count;
    free(buffer);
    return status;
}

static enum pdnn_status write_manifest(const struct pdnn_dataset_request *request, uint64_t bytes,
                                       struct pdnn_err *err) {
    char path[PDNN_DATASET_PATH];
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "# A data set for paradnn. Made by 'paradnn data make' with seed %" PRIu64,
                    request->seed);
    if (request->kind == PDNN_DATASET_IMAGES)
        pdnn_str_printf(&text, ": %" PRId64 " x %" PRId64 " pixels, %" PRId64 " classes", request->width,
                        request->height, request->classes);
    else if (request->kind == PDNN_DATASET_TOKENS)
        pdnn_str_printf(&text, ": %" PRId64 " words, of which 0 ends a document", request->vocabulary);
    else
        pdnn_str_printf(&text, ": %" PRId64 " classes", request->classes);
    pdnn_str_printf(&text,
                    ".\nparadnn_dataset: 1\nkind: %s\nencoding: %s\ncount: %" PRIu64 "\nbytes: %" PRIu64 "\n",
                    pdnn_dataset_kind_names[request->kind], pdnn_encoding_names[request->encoding],
                    request->count, bytes);
    if (request->kind == PDNN_DATASET_ROWS)
        pdnn_str_printf(&text, "features: %" PRId64 "\n", request->features);
    snprintf(path, sizeof path, "%.1100s/dataset.txt", request->directory);
    enum pdnn_status status = pdnn_file_replace(path, pdnn_str_text(&text), text.length, err);
    pdnn_str_finish(&text);
    return status;
}

static enum pdnn_status check_empty(const char *directory, struct pdnn_err *err) {
    DIR *listing = opendir(directory);
    if (!listing)
        return fail_file(directory, err);
    bool empty = true;
    for (const struct dirent *entry; empty && (entry = readdir(listing)) != NULL;)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(listing);
    return empty ? PDNN_OK
                 : pdnn_fail(err, PDNN_INVALID, "%s: has files already; name a new directory", directory);
}

enum pdnn_status pdnn_dataset_write(const struct pdnn_dataset_request *request, struct pdnn_err *err) {
    uint64_t bytes = 0;
    if (strlen(request->directory) >= PDNN_KEPT_PATH)
        return pdnn_fail(err, PDNN_INVALID, "%.80s...: the path of a data set has at most %d letters",
                         request->directory, PDNN_KEPT_PATH - 1);
    if (request->encoding == PDNN_ENCODING_JPEG && !pdnn_jpeg_is_built())
        return pdnn_jpeg_missing(err);
    enum pdnn_status status = pdnn_folder_ensure(request->directory, err);
    if (status == PDNN_OK)
        status = check_empty(request->directory, err);
    if (status == PDNN_OK && request->kind == PDNN_DATASET_IMAGES)
        status = make_images(request, &bytes, err);
    else if (status == PDNN_OK)
        status = make_numbers(request, request->kind == PDNN_DATASET_TOKENS ? "tokens.bin" : "rows.bin",
                              &bytes, err);
    return status == PDNN_OK ? write_manifest(request, bytes, err) : status;
}
