/* Data sets: what is written reads back, and every way in which one can be damaged is said in one line that
 * names the file. Images: decoding, scaling, and bytes that are none. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "tests/cmocka_all.h"

#include "runtime/data/image.h"
#include "runtime/data/images.h"
#include "runtime/data/make.h"
#include "runtime/data/pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_TEXT = 256 };

static char room[] = "/tmp/paradnn-data-XXXXXX";

static const char *in_room(const char *name, char path[PATH_TEXT]) {
    snprintf(path, PATH_TEXT, "%s/%s", room, name);
    return path;
}

static void put_file(const char *name, const char *text, size_t length) {
    char path[PATH_TEXT];
    FILE *file = fopen(in_room(name, path), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void expect_refusal(const char *name, const char *message) {
    char path[PATH_TEXT];
    struct pdnn_dataset set;
    struct pdnn_err err = {0};
    enum pdnn_status status = pdnn_dataset_open(in_room(name, path), &set, &err);
    if (status == PDNN_OK)
        fail_msg("accepted, not refused with '%s'", message);
    if (status != PDNN_INVALID || !strstr(err.text, message))
        fail_msg("'%s' does not say '%s'", err.text, message);
    assert_null(strchr(err.text, '\n'));
}

static void test_dataset_refuses_damage(void **state) {
    (void)state;
    char path[PATH_TEXT];
    mkdir(in_room("bad", path), 0777);
    put_file("bad/tokens.bin", "abcdefgh", 8);
    put_file("bad/a.ppm", "P6 1 1 255 abc", 14);
    put_file("bad/empty.ppm", "", 0);
    static const struct {
        const char *manifest, *list, *message;
    } rows[] = {
        {"", NULL, "dataset.txt: has no line 'paradnn_dataset: ...'"},
        {"nothing", NULL, "dataset.txt:1: 'nothing' is not a key"},
        {"paradnn_dataset: 1\nkind: sounds\ncount: 2\n", NULL,
         "dataset.txt:2: kind is 'sounds', expected images, tokens, rows"},
        {"paradnn_dataset: 1\nkind: tokens\ncount: -2\n", NULL,
         "dataset.txt:3: count is '-2', expected a whole"},
        {"paradnn_dataset: 2\nkind: tokens\ncount: 2\n", NULL, "version 2, this program reads 1"},
        {"paradnn_dataset: 1\nkind: tokens\nkind: tokens\ncount: 2\n", NULL, "kind is given twice"},
        {"paradnn_dataset: 1\nkind: tokens\ncount: 3\n", NULL, "tokens.bin: has 8 bytes, 3 tokens take 12"},
        {"paradnn_dataset: 1\nkind: tokens\ncount: 2\nbytes: 9\n", NULL, "its files have 8 bytes"},
        {"paradnn_dataset: 1\nkind: tokens\nencoding: jpeg\ncount: 2\n", NULL, "tokens are raw"},
        {"paradnn_dataset: 1\nkind: rows\ncount: 2\n", NULL, "rows need a line 'features: N'"},
        {"paradnn_dataset: 1\nkind: rows\ncount: 2\nfeatures: 3\n", NULL, "rows.bin: No such file"},
        {"paradnn_dataset: 1\nkind: images\ncount: 1\n", NULL, "files.txt"},
        {"paradnn_dataset: 1\nkind: images\ncount: 2\n", "a.ppm 0\n",
         "lists 1 files, and dataset.txt says count: 2"},
        {"paradnn_dataset: 1\nkind: images\ncount: 1\n", "a.ppm\n", "files.txt:1: expected a file's name"},
        {"paradnn_dataset: 1\nkind: images\ncount: 1\n", "../a.ppm 0\n", "files.txt:1: the file must lie"},
        {"paradnn_dataset: 1\nkind: images\ncount: 2\n", "a.ppm 0\nb.ppm 0", "b.ppm: No such file"},
        {"paradnn_dataset: 1\nkind: images\ncount: 1\n", "empty.ppm 0\n", "empty.ppm: is empty"},
    };
    expect_refusal("bad", "no data set is there");
    expect_refusal("nowhere", "no data set is there");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unlink(in_room("bad/files.txt", path));
        put_file("bad/dataset.txt", rows[i].manifest, strlen(rows[i].manifest));
        if (rows[i].list)
            put_file("bad/files.txt", rows[i].list, strlen(rows[i].list));
        expect_refusal("bad", rows[i].message);
    }
    static const char good[] = "# mine\n\nparadnn_dataset: 1\nkind: images\ncount: 1\nbytes: 14\n";
    put_file("bad/dataset.txt", good, strlen(good));
    put_file("bad/files.txt", "a.ppm 7", 7);
    struct pdnn_dataset set;
    assert_int_equal(pdnn_dataset_open(in_room("bad", path), &set, NULL), PDNN_OK);
    assert_int_equal(set.files[0].label, 7);
    pdnn_dataset_close(&set);
    static const char windows[] = "\xef\xbb\xbfparadnn_dataset: 1\r\nkind: images\r\n\r\ncount: 1\r\n";
    put_file("bad/dataset.txt", windows, strlen(windows));
    put_file("bad/files.txt",
             "\xef\xbb\xbf"
             "a.ppm 7\r\n",
             12);
    assert_int_equal(pdnn_dataset_open(in_room("bad", path), &set, NULL), PDNN_OK);
    assert_string_equal(set.files[0].name, "a.ppm");
    assert_int_equal(set.files[0].label, 7);
    pdnn_dataset_close(&set);
}

static struct pdnn_dataset make(const char *name, enum pdnn_dataset_kind kind, enum pdnn_encoding encoding) {
    char path[PATH_TEXT];
    struct pdnn_err err = {0};
    struct pdnn_dataset set;
    const struct pdnn_dataset_request request = {.directory = in_room(name, path),
                                                 .kind = kind,
                                                 .encoding = encoding,
                                                 .count = 5,
                                                 .seed = 3,
                                                 .width = 130,
                                                 .height = 90,
                                                 .quality = 90,
                                                 .features = 7,
                                                 .vocabulary = 50,
                                                 .classes = 4};
    if (pdnn_dataset_write(&request, &err) != PDNN_OK || pdnn_dataset_open(path, &set, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(set.kind, kind);
    assert_int_equal(set.encoding, encoding);
    assert_int_equal(set.count, 5);
    /* A second one must not mix with it. */
    assert_int_equal(pdnn_dataset_write(&request, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "has files already"));
    return set;
}

static unsigned char *read_file(const struct pdnn_dataset *set, uint64_t file, size_t *length) {
    char path[PDNN_DATASET_PATH];
    unsigned char *bytes = malloc(1 << 16);
    assert_int_equal(pdnn_dataset_file_path(set, file, path, NULL), PDNN_OK);
    FILE *opened = fopen(path, "rb");
    assert_non_null(opened);
    *length = fread(bytes, 1, 1 << 16, opened);
    fclose(opened);
    return bytes;
}

static void test_dataset_make_reads_back(void **state) {
    (void)state;
    size_t length;
    struct pdnn_dataset set = make("rows", PDNN_DATASET_ROWS, PDNN_ENCODING_RAW);
    assert_int_equal(set.bytes, 5 * (7 + 1) * 4);
    pdnn_dataset_close(&set);
    set = make("tokens", PDNN_DATASET_TOKENS, PDNN_ENCODING_RAW);
    unsigned char *bytes = read_file(&set, 0, &length);
    assert_int_equal(length, 20);
    for (size_t i = 0; i < length; i += 4)
        assert_true(bytes[i] < 50 && !bytes[i + 1] && !bytes[i + 2] && !bytes[i + 3]);
    free(bytes);
    pdnn_dataset_close(&set);
    set = make("raw", PDNN_DATASET_IMAGES, PDNN_ENCODING_RAW);
    struct pdnn_pixels pixels;
    bytes = read_file(&set, 4, &length);
    assert_int_equal(pdnn_image_decode_ppm(bytes, length, &pixels, NULL), PDNN_OK);
    assert_true(pixels.width == 130 && pixels.height == 90 && set.files[4].label < 4);
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_image_decode_ppm(bytes, length - 1, &pixels, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "130 x 90 need 35100"));
    assert_int_equal(pdnn_image_decode_ppm((const unsigned char *)"P5 1 1 255 a", 12, &pixels, NULL),
                     PDNN_INVALID);
    assert_int_equal(
        pdnn_image_decode_ppm((const unsigned char *)"P6 99999999999999 1 255 a", 25, &pixels, NULL),
        PDNN_INVALID);
    free(bytes);
    pdnn_dataset_close(&set);
}

/* A JPEG of a picture looks like the picture; bytes that are no JPEG are refused. */
static void test_dataset_jpeg(void **state) {
    (void)state;
    struct pdnn_image_decoder decoder = {.jpeg = NULL};
    struct pdnn_pixels pixels, raw;
    struct pdnn_err err = {0};
    if (!pdnn_jpeg_is_built()) {
        assert_int_equal(pdnn_image_decode_jpeg(&decoder, (const unsigned char *)"", 0, &pixels, &err),
                         PDNN_UNSUPPORTED);
        assert_non_null(strstr(err.text, "libturbojpeg0-dev"));
        return;
    }
    struct pdnn_dataset jpeg = make("jpeg", PDNN_DATASET_IMAGES, PDNN_ENCODING_JPEG);
    char path[PATH_TEXT];
    struct pdnn_dataset same;
    assert_int_equal(pdnn_dataset_open(in_room("raw", path), &same, NULL), PDNN_OK);
    size_t length, raw_length;
    unsigned char *bytes = read_file(&jpeg, 2, &length), *raw_bytes = read_file(&same, 2, &raw_length);
    assert_true(length < raw_length);
    assert_int_equal(pdnn_image_decode_jpeg(&decoder, bytes, length, &pixels, &err), PDNN_OK);
    assert_int_equal(pdnn_image_decode_ppm(raw_bytes, raw_length, &raw, &err), PDNN_OK);
    double sum = 0;
    for (int i = 0; i < 130 * 90 * 3; i++)
        sum += abs(pixels.rgb[i] - raw.rgb[i]);
    assert_true(sum / (130 * 90 * 3) < 20);
    assert_int_equal(pdnn_image_decode_jpeg(&decoder, raw_bytes, raw_length, &pixels, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "libjpeg-turbo: "));
    pdnn_image_decoder_finish(&decoder);
    free(bytes);
    free(raw_bytes);
    pdnn_dataset_close(&jpeg);
    pdnn_dataset_close(&same);
}

#if PDNN_HAS_JPEG
#include <turbojpeg.h>

enum { SIDE = 24 };

/* A picture in one colour. CMYK becomes YCCK with Adobe's marker, whose last byte says so. */
static unsigned char *encode(const unsigned char color[4], enum TJPF format, int sampling, int flags,
                             unsigned long *length) {
    unsigned char pixels[SIDE * SIDE * 4], *made = NULL, *copy;
    const size_t bytes = (size_t)tjPixelSize[format];
    tjhandle handle = tjInitCompress();
    for (size_t i = 0; i < SIDE * SIDE; i++)
        memcpy(pixels + i * bytes, color, bytes);
    *length = 0;
    assert_int_equal(tjCompress2(handle, pixels, SIDE, 0, SIDE, format, &made, length, sampling, 100, flags),
                     0);
    copy = memcpy(malloc(*length + 2), made, *length);
    tjFree(made);
    tjDestroy(handle);
    return copy;
}

static unsigned char *find_adobe(unsigned char *bytes, size_t length) {
    for (size_t i = 0; i + 12 < length; i++)
        if (memcmp(bytes + i, "Adobe", 5) == 0)
            return bytes + i;
    fail();
    return NULL;
}

static void expect_color(struct pdnn_image_decoder *decoder, const unsigned char *bytes, size_t length,
                         const int rgb[3]) {
    struct pdnn_pixels pixels;
    struct pdnn_err err = {0};
    if (pdnn_image_decode_jpeg(decoder, bytes, length, &pixels, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(pixels.width, SIDE);
    for (int i = 0; i < SIDE * SIDE * 3; i++)
        assert_true(abs(pixels.rgb[i] - rgb[i % 3]) <= 3);
}

/* Inverted samples (200, 100, 50, 128) are 255 (1 - C) (1 - K) = (100, 50, 25), those as they are (27, 77,
 * 102). Grey, progressive and sampled pictures stay what they were. */
static void test_jpeg_of_each_space(void **state) {
    (void)state;
    static const unsigned char cmyk[4] = {200, 100, 50, 128}, red[4] = {180, 40, 60, 0},
                               grey[4] = {90, 0, 0, 0};
    struct pdnn_image_decoder decoder = {.jpeg = NULL};
    unsigned long length;
    unsigned char *bytes = encode(cmyk, TJPF_CMYK, TJSAMP_444, 0, &length);
    expect_color(&decoder, bytes, length, (const int[]){100, 50, 25});
    free(bytes);
    const struct {
        enum TJPF format;
        int sampling, flags, rgb[3];
        const unsigned char *color;
    } rows[] = {{TJPF_CMYK, TJSAMP_420, 0, {100, 50, 25}, cmyk},
                {TJPF_CMYK, TJSAMP_444, TJFLAG_PROGRESSIVE, {100, 50, 25}, cmyk},
                {TJPF_RGB, TJSAMP_444, 0, {180, 40, 60}, red},
                {TJPF_RGB, TJSAMP_420, TJFLAG_PROGRESSIVE, {180, 40, 60}, red},
                {TJPF_GRAY, TJSAMP_GRAY, 0, {90, 90, 90}, grey}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes = encode(rows[i].color, rows[i].format, rows[i].sampling, rows[i].flags, &length);
        expect_color(&decoder, bytes, length, rows[i].rgb);
        free(bytes);
    }
    /* Without a transform, the samples are those of CMYK: what YCCK has of luma and chroma. */
    static const unsigned char plain[4] = {255, 255, 255, 128};
    bytes = encode(plain, TJPF_CMYK, TJSAMP_444, 0, &length);
    find_adobe(bytes, length)[11] = 0;
    const int luma = 0; /* 255 - 255, and chroma 128 */
    expect_color(&decoder, bytes, length, (const int[]){luma, 64, 64});
    memcpy(find_adobe(bytes, length), "other", 5);
    expect_color(&decoder, bytes, length, (const int[]){127, 63, 63});
    free(bytes);
    pdnn_image_decoder_finish(&decoder);
}

/* A missing end marker loses nothing; each other cut is an error. */
static void test_jpeg_that_is_cut(void **state) {
    (void)state;
    static const unsigned char red[4] = {180, 40, 60, 0};
    struct pdnn_image_decoder decoder = {.jpeg = NULL};
    struct pdnn_pixels pixels;
    unsigned long length;
    unsigned char *bytes = encode(red, TJPF_RGB, TJSAMP_444, 0, &length);
    expect_color(&decoder, bytes, length, (const int[]){180, 40, 60});
    assert_false(decoder.lacks_end);
    expect_color(&decoder, bytes, length - 2, (const int[]){180, 40, 60});
    assert_true(decoder.lacks_end);
    for (size_t cut = 3; cut < length; cut += 7) {
        struct pdnn_err err = {0};
        if (pdnn_image_decode_jpeg(&decoder, bytes, length - cut, &pixels, &err) == PDNN_OK)
            fail_msg("without its last %zu of %zu bytes", cut, (size_t)length);
        assert_false(decoder.lacks_end);
        assert_non_null(strstr(err.text, "libjpeg-turbo: "));
    }
    free(bytes);
    pdnn_image_decoder_finish(&decoder);
}
#endif

static void expect_not(bool is_jpeg, const char *bytes, const char *message) {
    struct pdnn_image_decoder decoder = {.jpeg = NULL};
    struct pdnn_pixels pixels;
    struct pdnn_err err = {0};
    const unsigned char *at = (const unsigned char *)bytes;
    const enum pdnn_status status = is_jpeg ? pdnn_image_decode_jpeg(&decoder, at, 12, &pixels, &err)
                                            : pdnn_image_decode_ppm(at, 12, &pixels, &err);
    assert_int_equal(status, PDNN_INVALID);
    if (*message ? !strstr(err.text, message) : strstr(err.text, "it is a") != NULL)
        fail_msg("'%s' is not '%s'", err.text, message);
    pdnn_image_decoder_finish(&decoder);
}

static void test_image_of_another_kind(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"\x89PNG\r\n\x1a\n0000", ": it is a PNG"},
                                          {"GIF89a000000", ": it is a GIF"},
                                          {"RIFF0000WEBP", ": it is a WebP"},
                                          {"BM0000000000", ": it is a BMP"},
                                          {"<!DOCTYPE ht", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_not(false, rows[i][0], rows[i][1]);
        if (pdnn_jpeg_is_built())
            expect_not(true, rows[i][0], rows[i][1]);
    }
    expect_not(false, "\xff\xd8\xff\xe0\0\x10JFIF\0\1", ": it is a JPEG");
    if (pdnn_jpeg_is_built())
        expect_not(true, "\xff\xd8\xff\xe0\0\x10JFIF\0\1", "");
}

/* All of a data set's images are decoded, and the first that does not says how many do not. */
static void test_images_decode(void **state) {
    (void)state;
    char path[PATH_TEXT];
    struct pdnn_dataset set = make("decoded", PDNN_DATASET_IMAGES, PDNN_ENCODING_RAW);
    struct pdnn_images_found found;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_images_decode(&set, &found, &err), PDNN_OK);
    assert_int_equal(found.decoded, 5);
    assert_int_equal(found.endless, 0);
    for (size_t i = 1; i < 4; i += 2) {
        snprintf(path, sizeof path, "decoded/%s", set.files[i].name);
        put_file(path, "GIF89a000000", 12);
    }
    assert_int_equal(pdnn_images_decode(&set, &found, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, set.files[1].name));
    assert_non_null(strstr(err.text, ": it is a GIF; 2 of 5 images do not decode"));
    pdnn_dataset_close(&set);
}

/* The same size: planes of exact values. Another size: a ramp stays a ramp, between the pixels' centres. */
static void test_image_fit(void **state) {
    (void)state;
    enum { IN = 4, OUT = 8, BIG = 300 };
    unsigned char rgb[IN * IN * 3];
    float same[3 * IN * IN], larger[3 * OUT * OUT];
    static float big[3 * BIG * BIG];
    for (int y = 0; y < IN; y++)
        for (int x = 0; x < IN; x++)
            for (int c = 0; c < 3; c++)
                rgb[(y * IN + x) * 3 + c] = (unsigned char)(40 * x + 10 * y + c);
    const struct pdnn_pixels pixels = {rgb, IN, IN};
    pdnn_image_fit(&pixels, IN, IN, same);
    pdnn_image_fit(&pixels, OUT, OUT, larger);
    pdnn_image_fit(&pixels, BIG, BIG, big);
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < IN * IN; i++)
            assert_true(fabsf(same[c * IN * IN + i] - ((float)rgb[i * 3 + c] / 127.5F - 1)) < 1e-6F);
        for (int y = 1; y < OUT - 1; y++)
            for (int x = 1; x < OUT - 1; x++) {
                float value = 40 * ((float)x / 2 - 0.25F) + 10 * ((float)y / 2 - 0.25F) + (float)c;
                assert_true(fabsf(larger[(c * OUT + y) * OUT + x] - (value / 127.5F - 1)) < 1e-5F);
            }
        /* Columns beyond the first chunk, and edges that repeat. */
        assert_true(fabsf(big[(c * BIG + 150) * BIG + 150] - ((60 + 15 + (float)c + 0.33F) / 127.5F - 1)) <
                    5e-3F);
        assert_true(fabsf(big[(c * BIG + BIG - 1) * BIG + BIG - 1] - ((150 + (float)c) / 127.5F - 1)) <
                    1e-5F);
    }
}

/* What was just written and synced is in the cache, and what was dropped is not, where the file system can.
 */
static void test_pages(void **state) {
    (void)state;
    char path[PATH_TEXT];
    struct pdnn_dataset set;
    assert_int_equal(pdnn_dataset_open(in_room("raw", path), &set, NULL), PDNN_OK);
    assert_int_equal(pdnn_pages_load(&set, UINT64_MAX, NULL), PDNN_OK);
    struct pdnn_pages_found found = pdnn_pages_count(&set);
    assert_int_equal(found.cached, found.all);
    assert_string_equal(pdnn_pages_name(&found), "warm");
    assert_int_equal(pdnn_pages_drop(&set, NULL), PDNN_OK);
    found = pdnn_pages_count(&set);
    if (found.cached)
        print_message("this file system keeps %llu of %llu pages\n", (unsigned long long)found.cached,
                      (unsigned long long)found.all);
    assert_string_equal(pdnn_pages_name(&(struct pdnn_pages_found){1, 100}), "dropped");
    assert_string_equal(pdnn_pages_name(&(struct pdnn_pages_found){50, 100}), "mixed");
    assert_string_equal(pdnn_pages_name(&(struct pdnn_pages_found){0, 0}), "");
    pdnn_dataset_close(&set);
}

static int make_room(void **state) {
    (void)state;
    return mkdtemp(room) ? 0 : -1;
}

static int clear_room(void **state) {
    (void)state;
    char command[PATH_TEXT];
    snprintf(command, sizeof command, "rm -rf '%s'", room);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dataset_refuses_damage),
        cmocka_unit_test(test_dataset_make_reads_back),
        cmocka_unit_test(test_dataset_jpeg),
#if PDNN_HAS_JPEG
        cmocka_unit_test(test_jpeg_of_each_space),
        cmocka_unit_test(test_jpeg_that_is_cut),
#endif
        cmocka_unit_test(test_image_of_another_kind),
        cmocka_unit_test(test_images_decode),
        cmocka_unit_test(test_image_fit),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, make_room, clear_room);
}
