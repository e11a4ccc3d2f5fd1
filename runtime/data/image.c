#include "runtime/data/image.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int channels = 3;

/* A number of a PPM header, after blanks and comments. */
static bool read_number(const unsigned char *bytes, size_t length, size_t *at, int64_t *number) {
    *number = 0;
    while (*at < length && (strchr(" \t\r\n", bytes[*at]) || bytes[*at] == '#')) {
        bool is_comment = bytes[(*at)++] == '#';
        while (is_comment && *at < length && bytes[*at] != '\n')
            ++*at;
    }
    size_t begin = *at;
    while (*at < length && bytes[*at] >= '0' && bytes[*at] <= '9' && *number <= PDNN_IMAGE_SIDE_MAX)
        *number = *number * 10 + (bytes[(*at)++] - '0');
    return *at > begin && *number > 0 && *number <= PDNN_IMAGE_SIDE_MAX;
}

/* What the bytes are instead of the image that they should be, ", it is a PNG", by how such files begin. */
static const char *other_kind(const unsigned char *bytes, size_t length) {
    static const struct {
        const char *begin, *kind;
    } kinds[] = {{"\x89PNG", ": it is a PNG"}, {"GIF8", ": it is a GIF"},         {"RIFF", ": it is a WebP"},
                 {"II*", ": it is a TIFF"},    {"MM", ": it is a TIFF"},          {"BM", ": it is a BMP"},
                 {"P6", ": it is a PPM"},      {"\xff\xd8\xff", ": it is a JPEG"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length > strlen(kinds[i].begin) && memcmp(bytes, kinds[i].begin, strlen(kinds[i].begin)) == 0)
            return kinds[i].kind;
    return "";
}

enum pdnn_status pdnn_image_decode_ppm(const unsigned char *bytes, size_t length, struct pdnn_pixels *pixels,
                                       struct pdnn_err *err) {
    int64_t width, height, most;
    size_t at = 2;
    bool good = length > 2 && bytes[0] == 'P' && bytes[1] == '6' && read_number(bytes, length, &at, &width) &&
                read_number(bytes, length, &at, &height) && read_number(bytes, length, &at, &most) &&
                most == 255 && at < length;
    if (!good)
        return pdnn_fail(err, PDNN_INVALID, "is not a binary PPM with 255 as its largest value (P6)%s",
                         length > 1 && bytes[0] == 'P' ? "" : other_kind(bytes, length));
    at++;
    if (length - at != (size_t)(width * height * channels))
        return pdnn_fail(err, PDNN_INVALID, "has %zu bytes of pixels, %lld x %lld need %lld", length - at,
                         (long long)width, (long long)height, (long long)(width * height * channels));
    *pixels = (struct pdnn_pixels){bytes + at, width, height};
    return PDNN_OK;
}

static float scale(float value) {
    return value * (1 / 127.5F) - 1;
}

/* Where an output column or row reads: two neighbours and the weight of the second. */
struct tap {
    int64_t first, second;
    float weight;
};

static struct tap tap_at(int64_t i, int64_t out, int64_t in) {
    float at = ((float)i + 0.5F) * (float)in / (float)out - 0.5F;
    float low = floorf(at);
    int64_t first = (int64_t)low, last = in - 1;
    struct tap tap = {first, first + 1, at - low};
    tap.first = tap.first < 0 ? 0 : tap.first > last ? last : tap.first;
    tap.second = tap.second < 0 ? 0 : tap.second > last ? last : tap.second;
    return tap;
}

enum { COLUMNS = 128 };

/* Columns [begin, begin + COLUMNS) of the output, as far as there are any. */
static void fit_columns(const struct pdnn_pixels *pixels, int64_t begin, int64_t width, int64_t height,
                        float *values) {
    int64_t count = width - begin < COLUMNS ? width - begin : COLUMNS, plane = width * height;
    struct tap columns[COLUMNS];
    for (int64_t x = 0; x < count; x++)
        columns[x] = tap_at(begin + x, width, pixels->width);
    for (int64_t y = 0; y < height; y++) {
        const struct tap row = tap_at(y, height, pixels->height);
        const unsigned char *above = pixels->rgb + row.first * pixels->width * channels;
        const unsigned char *below = pixels->rgb + row.second * pixels->width * channels;
        float *out = values + y * width + begin;
        for (int64_t x = 0; x < count; x++) {
            const unsigned char *a = above + columns[x].first * channels,
                                *b = above + columns[x].second * channels;
            const unsigned char *d = below + columns[x].first * channels,
                                *e = below + columns[x].second * channels;
            for (int c = 0; c < channels; c++) {
                float top = (float)a[c] + (float)(b[c] - a[c]) * columns[x].weight;
                float bottom = (float)d[c] + (float)(e[c] - d[c]) * columns[x].weight;
                out[c * plane + x] = scale(top + (bottom - top) * row.weight);
            }
        }
    }
}

void pdnn_image_fit(const struct pdnn_pixels *pixels, int64_t width, int64_t height, float *values) {
    int64_t plane = width * height;
    bool same = pixels->width == width && pixels->height == height;
    for (int64_t i = 0; same && i < plane; i++)
        for (int c = 0; c < channels; c++)
            values[c * plane + i] = scale((float)pixels->rgb[i * channels + c]);
    for (int64_t x = 0; !same && x < width; x += COLUMNS)
        fit_columns(pixels, x, width, height, values);
}

bool pdnn_jpeg_is_built(void) {
    return PDNN_HAS_JPEG;
}

enum pdnn_status pdnn_jpeg_missing(struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED,
                     "this build has no JPEG: install libturbojpeg0-dev and build again, or use raw images");
}

#if PDNN_HAS_JPEG
#include <turbojpeg.h>

void pdnn_image_decoder_finish(struct pdnn_image_decoder *decoder) {
    if (decoder->jpeg)
        tjDestroy(decoder->jpeg);
    free(decoder->room);
    *decoder = (struct pdnn_image_decoder){0};
}

static enum pdnn_status fail_jpeg(void *handle, enum pdnn_status status, struct pdnn_err *err) {
    return pdnn_fail(err, status, "libjpeg-turbo: %s", tjGetErrorStr2(handle));
}

/* Whether one of Adobe's programs wrote it, by its marker: the samples of CMYK are inverted then. */
static bool is_adobe(const unsigned char *bytes, size_t length) {
    enum { SCAN = 0xda, APP14 = 0xee };
    for (size_t at = 2; at + 9 < length && bytes[at] == 0xff && bytes[at + 1] != SCAN;) {
        const size_t segment = 2 + ((size_t)bytes[at + 2] << 8 | bytes[at + 3]);
        if (bytes[at + 1] == APP14 && memcmp(bytes + at + 4, "Adobe", 5) == 0)
            return true;
        at += bytes[at + 1] == 0xff ? 1 : segment; /* markers may be padded */
    }
    return false;
}

/* In place, from the front: three bytes are fewer than four. */
static void cmyk_to_rgb(unsigned char *pixels, size_t count, bool is_inverted) {
    const unsigned flip = is_inverted ? 0 : 255;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *from = pixels + 4 * i;
        const unsigned key = from[3] ^ flip;
        for (size_t c = 0; c < 3; c++)
            pixels[3 * i + c] = (unsigned char)(((from[c] ^ flip) * key + 127) / 255);
    }
}

/* As djpeg decodes by default: accurate DCT, smooth upsampling. What is cut within its pixels is an error,
 * which the library takes for a warning. */
static enum pdnn_status decode(struct pdnn_image_decoder *decoder, const unsigned char *bytes, size_t length,
                               struct pdnn_pixels *pixels, struct pdnn_err *err) {
    int width = 0, height = 0, sampling, space; /* which a file of tables alone leaves as they are */
    if (tjDecompressHeader3(decoder->jpeg, bytes, length, &width, &height, &sampling, &space) != 0)
        return pdnn_fail(err, PDNN_INVALID, "libjpeg-turbo: %s%s", tjGetErrorStr2(decoder->jpeg),
                         length > 1 && bytes[0] == 0xff ? "" : other_kind(bytes, length));
    if (width < 1 || height < 1)
        return pdnn_fail(err, PDNN_INVALID, "libjpeg-turbo: there is no image in it");
    if (width > PDNN_IMAGE_SIDE_MAX || height > PDNN_IMAGE_SIDE_MAX)
        return pdnn_fail(err, PDNN_INVALID, "is an image of %d x %d, at most %d are read", width, height,
                         PDNN_IMAGE_SIDE_MAX);
    const bool has_key = space == TJCS_CMYK || space == TJCS_YCCK;
    const size_t count = (size_t)width * (size_t)height, need = count * (has_key ? 4 : 3);
    if (need > decoder->room_bytes) {
        decoder->room = pdnn_resize(decoder->room, need, 1);
        decoder->room_bytes = need;
    }
    if (tjDecompress2(decoder->jpeg, bytes, length, decoder->room, width, 0, height,
                      has_key ? TJPF_CMYK : TJPF_RGB, 0) != 0)
        return fail_jpeg(decoder->jpeg, PDNN_INVALID, err);
    if (has_key)
        cmyk_to_rgb(decoder->room, count, is_adobe(bytes, length));
    *pixels = (struct pdnn_pixels){decoder->room, width, height};
    return PDNN_OK;
}

enum pdnn_status pdnn_image_decode_jpeg(struct pdnn_image_decoder *decoder, const unsigned char *bytes,
                                        size_t length, struct pdnn_pixels *pixels, struct pdnn_err *err) {
    static const unsigned char end[] = {0xff, 0xd9};
    decoder->lacks_end = false;
    if (!decoder->jpeg && !(decoder->jpeg = tjInitDecompress()))
        return pdnn_fail(err, PDNN_NO_MEMORY, "libjpeg-turbo: no decoder");
    enum pdnn_status status = decode(decoder, bytes, length, pixels, err);
    if (status == PDNN_OK || tjGetErrorCode(decoder->jpeg) != TJERR_WARNING)
        return status;
    /* With an end marker, there is nothing to warn of but what is missing before it. */
    unsigned char *whole = pdnn_alloc(length + sizeof end, 1);
    memcpy(whole, bytes, length);
    memcpy(whole + length, end, sizeof end);
    status = decode(decoder, whole, length + sizeof end, pixels, err);
    decoder->lacks_end = status == PDNN_OK;
    free(whole);
    return status;
}

enum pdnn_status pdnn_image_encode_jpeg(const struct pdnn_pixels *pixels, int quality, unsigned char **bytes,
                                        size_t *length, struct pdnn_err *err) {
    tjhandle handle = tjInitCompress();
    unsigned char *made = NULL;
    unsigned long made_bytes = 0;
    if (!handle)
        return pdnn_fail(err, PDNN_NO_MEMORY, "libjpeg-turbo: no encoder");
    enum pdnn_status status = PDNN_OK;
    if (tjCompress2(handle, pixels->rgb, (int)pixels->width, 0, (int)pixels->height, TJPF_RGB, &made,
                    &made_bytes, TJSAMP_420, quality, 0) != 0)
        status = fail_jpeg(handle, PDNN_INTERNAL, err);
    *bytes = NULL;
    if (status == PDNN_OK) {
        *bytes = memcpy(pdnn_alloc(made_bytes, 1), made, made_bytes);
        *length = made_bytes;
    }
    tjFree(made);
    tjDestroy(handle);
    return status;
}
#else
void pdnn_image_decoder_finish(struct pdnn_image_decoder *decoder) {
    *decoder = (struct pdnn_image_decoder){0};
}

enum pdnn_status pdnn_image_decode_jpeg(struct pdnn_image_decoder *decoder, const unsigned char *bytes,
                                        size_t length, struct pdnn_pixels *pixels, struct pdnn_err *err) {
    (void)decoder, (void)bytes, (void)length, (void)pixels;
    return pdnn_jpeg_missing(err);
}

enum pdnn_status pdnn_image_encode_jpeg(const struct pdnn_pixels *pixels, int quality, unsigned char **bytes,
                                        size_t *length, struct pdnn_err *err) {
    (void)pixels, (void)quality, (void)bytes, (void)length;
    return pdnn_jpeg_missing(err);
}
#endif
