#define _POSIX_C_SOURCE 200809L
#include "runtime/infeed/feed.h"

#include "base/memory.h"
#include "base/checked.h"
#include "base/rng.h"
#include "base/str.h"
#include "runtime/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGN = 64, COLORS = 3, FILE_BYTES_MAX = 1 << 30 };

static bool is_number(const struct pdnn_tensor *t) {
    return t->dtype == PDNN_F32 || pdnn_dtype_is_half(t->dtype);
}

static bool is_data(const struct pdnn_tensor *t) {
    return t->role == PDNN_ROLE_INPUT || t->role == PDNN_ROLE_LABEL;
}

/* Data that changes from one minibatch to the next: positions, the first rows of sequences and masks of
 * windows do not. */
static bool changes(const struct pdnn_tensor *t) {
    switch (t->fill.kind) {
    case PDNN_FILL_ZERO:
    case PDNN_FILL_CONSTANT:
    case PDNN_FILL_POSITION:
    case PDNN_FILL_STRIDE:
    case PDNN_FILL_WINDOW_MASK:
        return false;
    default:
        return is_data(t);
    }
}

static bool is_drawn_id(const struct pdnn_tensor *t) {
    return t->dtype == PDNN_S32 && (t->fill.kind == PDNN_FILL_ZIPF || t->fill.kind == PDNN_FILL_CLASS);
}

/* The number of words, if the graph reads any: of inputs with ids, those of the largest range are words, and
 * the others say something about them. */
static double vocabulary_of(const struct pdnn_graph *graph) {
    double most = 0;
    for (size_t i = 0; i < graph->n_tensors; i++) {
        const struct pdnn_tensor *t = &graph->tensors[i];
        if (t->role == PDNN_ROLE_INPUT && is_drawn_id(t) && t->fill.scale > most)
            most = t->fill.scale;
    }
    return most;
}

/* The tensor that says what kind of examples the graph reads; PDNN_NONE: of no kind that sets have. */
static uint32_t find_input(const struct pdnn_graph *graph, enum pdnn_dataset_kind *kind) {
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        const struct pdnn_tensor *t = &graph->tensors[i];
        bool is_uniform = t->role == PDNN_ROLE_INPUT && t->fill.kind == PDNN_FILL_UNIFORM && is_number(t);
        bool is_image = is_uniform && t->rank == 4 && t->dim[1] == COLORS;
        if (is_image || (is_uniform && t->rank == 2) || (t->role == PDNN_ROLE_INPUT && is_drawn_id(t))) {
            *kind = is_image ? PDNN_DATASET_IMAGES : is_uniform ? PDNN_DATASET_ROWS : PDNN_DATASET_TOKENS;
            return i;
        }
    }
    return PDNN_NONE;
}

static enum pdnn_feed_kind kind_of(const struct pdnn_feed *feed, const struct pdnn_tensor *t) {
    bool is_label = t->role == PDNN_ROLE_LABEL && t->fill.kind == PDNN_FILL_CLASS;
    if (!feed->has_set)
        return PDNN_FEED_DRAWN;
    if (feed->set.kind == PDNN_DATASET_TOKENS) {
        bool is_word = is_drawn_id(t) && t->fill.scale == vocabulary_of(feed->graph);
        return is_word ? t->role == PDNN_ROLE_LABEL ? PDNN_FEED_NEXT : PDNN_FEED_WORD : PDNN_FEED_DRAWN;
    }
    if (is_label)
        return PDNN_FEED_LABEL;
    if (t->role != PDNN_ROLE_INPUT || t->fill.kind != PDNN_FILL_UNIFORM || !is_number(t))
        return PDNN_FEED_DRAWN;
    return feed->set.kind == PDNN_DATASET_IMAGES ? PDNN_FEED_IMAGE : PDNN_FEED_ROW;
}

uint64_t pdnn_feed_bytes_of(const struct pdnn_graph *graph) {
    uint64_t sum = 0;
    for (size_t i = 0; i < graph->n_tensors; i++) {
        if (changes(&graph->tensors[i]))
            sum += (pdnn_tensor_bytes(&graph->tensors[i]) + ALIGN - 1) / ALIGN * ALIGN;
    }
    return sum;
}

static void list_parts(struct pdnn_feed *feed) {
    const struct pdnn_graph *graph = feed->graph;
    uint64_t next[PDNN_FEED_NEXT + 1] = {0};
    feed->parts = pdnn_alloc(graph->n_tensors, sizeof *feed->parts);
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        const struct pdnn_tensor *t = &graph->tensors[i];
        if (!changes(t))
            continue;
        enum pdnn_feed_kind kind = kind_of(feed, t);
        bool by_example = kind == PDNN_FEED_IMAGE || kind == PDNN_FEED_ROW;
        uint64_t count = (uint64_t)(by_example ? t->dim[0] : pdnn_tensor_elements(t));
        feed->parts[feed->n_parts++] =
            (struct pdnn_feed_part){i, kind, feed->bytes, pdnn_tensor_bytes(t), next[kind], count};
        next[kind] += count;
        feed->bytes += (pdnn_tensor_bytes(t) + ALIGN - 1) / ALIGN * ALIGN;
    }
    feed->per_step = next[PDNN_FEED_IMAGE] + next[PDNN_FEED_ROW] + next[PDNN_FEED_WORD];
}

static uint64_t find_stride(uint64_t seed, uint64_t count) {
    uint64_t stride = pdnn_rng_mix(seed) % count;
    while (pdnn_gcd(stride, count) != 1)
        stride = (stride + 1) % count;
    return count == 1 ? 1 : stride;
}

/* Whether the set is what the graph reads; *why says what is wrong with one of the right kind. */
static bool fits(const struct pdnn_dataset *set, enum pdnn_dataset_kind kind, const struct pdnn_tensor *input,
                 struct pdnn_str *why) {
    if (set->kind != kind)
        return false;
    if (kind == PDNN_DATASET_ROWS && set->features != input->dim[1]) {
        pdnn_str_printf(why, "; %.200s has rows of %" PRId64, set->path, set->features);
        return false;
    }
    return true;
}

static enum pdnn_status no_set(enum pdnn_dataset_kind kind, const struct pdnn_tensor *input,
                               const struct pdnn_str *why, struct pdnn_err *err) {
    char wanted[64] = "";
    if (kind == PDNN_DATASET_ROWS)
        snprintf(wanted, sizeof wanted, " of %" PRId64 " features", input->dim[1]);
    return pdnn_fail(err, PDNN_INVALID,
                     "data=file: no data set of the spec has the %s%s that the model reads%s",
                     pdnn_dataset_kind_names[kind], wanted, pdnn_str_text(why));
}

/* Opens the first of the sets that fits. */
static enum pdnn_status find_set(struct pdnn_feed *feed, const char *sets, struct pdnn_err *err) {
    enum pdnn_dataset_kind kind = PDNN_DATASET_KIND_COUNT;
    uint32_t input = find_input(feed->graph, &kind);
    struct pdnn_str why = {0};
    enum pdnn_status status = PDNN_OK;
    if (input == PDNN_NONE)
        return pdnn_fail(
            err, PDNN_INVALID,
            "data=file: there are no data sets for what this model reads, only for images of three "
            "colors, words and rows of features");
    const struct pdnn_tensor *tensor = &feed->graph->tensors[input];
    for (const char *at = sets; *at && !feed->has_set && status == PDNN_OK;) {
        char path[PDNN_KEPT_PATH];
        size_t length = strcspn(at, "\n");
        snprintf(path, sizeof path, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
        status = pdnn_dataset_open(path, &feed->set, err);
        feed->has_set = status == PDNN_OK && fits(&feed->set, kind, tensor, &why);
        if (status == PDNN_OK && !feed->has_set)
            pdnn_dataset_close(&feed->set);
    }
    if (status == PDNN_OK && !feed->has_set)
        status = no_set(kind, tensor, &why, err);
    pdnn_str_finish(&why);
    return status;
}

static enum pdnn_status open_set(struct pdnn_feed *feed, const char *sets, struct pdnn_err *err) {
    char path[PDNN_DATASET_PATH];
    enum pdnn_status status = find_set(feed, sets, err);
    if (status != PDNN_OK)
        return status;
    if (feed->set.encoding == PDNN_ENCODING_JPEG && !pdnn_jpeg_is_built())
        return pdnn_jpeg_missing(err);
    feed->stride = find_stride(feed->seed, feed->set.count);
    if (feed->set.files)
        return PDNN_OK;
    status = pdnn_dataset_file_path(&feed->set, 0, path, err);
    if (status == PDNN_OK && (feed->fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        status = pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
    return status;
}

enum pdnn_status pdnn_feed_open(struct pdnn_feed *feed, const struct pdnn_feed_request *request,
                                struct pdnn_err *err) {
    struct pdnn_feed made = {
        .graph = request->graph, .seed = request->seed, .drops = request->drops, .fd = -1};
    enum pdnn_status status = request->sets ? open_set(&made, request->sets, err) : PDNN_OK;
    if (status != PDNN_OK) {
        pdnn_feed_close(&made);
        return status;
    }
    list_parts(&made);
    *feed = made;
    return PDNN_OK;
}

void pdnn_feed_close(struct pdnn_feed *feed) {
    if (feed->has_set && feed->fd >= 0)
        close(feed->fd);
    pdnn_dataset_close(&feed->set);
    free(feed->parts);
    *feed = (struct pdnn_feed){.fd = -1};
}

void pdnn_feed_scratch_finish(struct pdnn_feed_scratch *scratch) {
    pdnn_image_decoder_finish(&scratch->decoder);
    free(scratch->file);
    free(scratch->values);
    *scratch = (struct pdnn_feed_scratch){.read_bytes = 0};
}

/* Makes room for a number of elements of that size. */
static void *ensure(void *items, size_t *room, size_t count, size_t size) {
    if (count <= *room)
        return items;
    *room = count;
    return pdnn_resize(items, count, size);
}

/* Reads bytes [at, at + length) of an open file into the scratch. */
static enum pdnn_status read_at(const struct pdnn_feed *feed, int fd, const char *path, uint64_t at,
                                size_t length, struct pdnn_feed_scratch *scratch, struct pdnn_err *err) {
    size_t got = 0;
    enum pdnn_status status = PDNN_OK;
    scratch->file = ensure(scratch->file, &scratch->file_room, length, 1);
    while (status == PDNN_OK && got < length) {
        ssize_t more = pread(fd, scratch->file + got, length - got, (off_t)(at + got));
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            status = pdnn_fail(err, PDNN_INVALID, "%s: %s", path,
                               more < 0 ? strerror(errno) : "is shorter than when the sweep began");
        else
            got += (size_t)more;
    }
    scratch->read_bytes += got;
    if (feed->drops)
        posix_fadvise(fd, (off_t)at, (off_t)length, POSIX_FADV_DONTNEED);
    return status;
}

static enum pdnn_status read_whole(const struct pdnn_feed *feed, const char *path, size_t *length,
                                   struct pdnn_feed_scratch *scratch, struct pdnn_err *err) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size <= 0 || info.st_size > FILE_BYTES_MAX) {
        enum pdnn_status status = pdnn_fail(err, PDNN_INVALID, "%s: %s", path,
                                            fd < 0 ? strerror(errno) : "is empty, or larger than 1 GiB");
        if (fd >= 0)
            close(fd);
        return status;
    }
    *length = (size_t)info.st_size;
    enum pdnn_status status = read_at(feed, fd, path, 0, *length, scratch, err);
    close(fd);
    return status;
}

/* The example that comes at this place: every epoch has each once, in an order of its own. */
static uint64_t example_at(const struct pdnn_feed *feed, uint64_t place) {
    uint64_t count = feed->set.count, epoch = place / count;
    uint64_t shift = pdnn_rng_at(feed->seed, epoch) % count;
    return (uint64_t)((((pdnn_u128)(place % count) * feed->stride) + shift) % count);
}

static void store(enum pdnn_dtype dtype, const float *values, size_t count, void *plain, int64_t first) {
    if (dtype == PDNN_F32) {
        memcpy((float *)plain + first, values, count * sizeof *values);
        return;
    }
    for (size_t i = 0; i < count; i++)
        pdnn_dtype_store(dtype, plain, first + (int64_t)i, (double)values[i]);
}

static enum pdnn_status make_image(const struct pdnn_feed *feed, const struct pdnn_tensor *t,
                                   uint64_t example, int64_t n, struct pdnn_feed_scratch *scratch,
                                   void *plain, struct pdnn_err *err) {
    int64_t elements = COLORS * t->dim[2] * t->dim[3];
    char path[PDNN_DATASET_PATH];
    struct pdnn_pixels pixels;
    size_t length = 0;
    enum pdnn_status status = pdnn_dataset_file_path(&feed->set, example, path, err);
    if (status == PDNN_OK)
        status = read_whole(feed, path, &length, scratch, err);
    if (status != PDNN_OK)
        return status;
    status = feed->set.encoding == PDNN_ENCODING_JPEG
                 ? pdnn_image_decode_jpeg(&scratch->decoder, scratch->file, length, &pixels, err)
                 : pdnn_image_decode_ppm(scratch->file, length, &pixels, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "%s", path);
    if (t->dtype == PDNN_F32) {
        pdnn_image_fit(&pixels, t->dim[3], t->dim[2], (float *)plain + n * elements);
        return PDNN_OK;
    }
    scratch->values =
        ensure(scratch->values, &scratch->values_room, (size_t)elements, sizeof *scratch->values);
    pdnn_image_fit(&pixels, t->dim[3], t->dim[2], scratch->values);
    store(t->dtype, scratch->values, (size_t)elements, plain, n * elements);
    return PDNN_OK;
}

static uint32_t get_u32(const unsigned char *bytes) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

static enum pdnn_status read_record(const struct pdnn_feed *feed, uint64_t first, uint64_t words,
                                    struct pdnn_feed_scratch *scratch, struct pdnn_err *err) {
    return read_at(feed, feed->fd, feed->set.path, 4 * first, (size_t)(4 * words), scratch, err);
}

static enum pdnn_status make_row(const struct pdnn_feed *feed, const struct pdnn_tensor *t, uint64_t example,
                                 int64_t n, struct pdnn_feed_scratch *scratch, void *plain,
                                 struct pdnn_err *err) {
    uint64_t features = (uint64_t)feed->set.features;
    enum pdnn_status status = read_record(feed, example * (features + 1), features, scratch, err);
    scratch->values = ensure(scratch->values, &scratch->values_room, features, sizeof *scratch->values);
    for (uint64_t i = 0; status == PDNN_OK && i < features; i++) {
        uint32_t bits = get_u32(scratch->file + 4 * i);
        memcpy(&scratch->values[i], &bits, sizeof bits);
    }
    if (status == PDNN_OK)
        store(t->dtype, scratch->values, features, plain, n * (int64_t)features);
    return status;
}

static enum pdnn_status make_label(const struct pdnn_feed *feed, const struct pdnn_tensor *t,
                                   uint64_t example, int64_t n, struct pdnn_feed_scratch *scratch,
                                   void *plain, struct pdnn_err *err) {
    uint64_t features = (uint64_t)feed->set.features;
    uint32_t label = feed->set.files ? (uint32_t)feed->set.files[example].label : 0;
    if (!feed->set.files) {
        enum pdnn_status status = read_record(feed, example * (features + 1) + features, 1, scratch, err);
        if (status != PDNN_OK)
            return status;
        label = get_u32(scratch->file);
    }
    ((int32_t *)plain)[n] = (int32_t)(label % (uint32_t)t->fill.scale);
    return PDNN_OK;
}

/* `count` words from this place on; after the last word comes the first. */
static enum pdnn_status make_words(const struct pdnn_feed *feed, const struct pdnn_tensor *t, uint64_t place,
                                   uint64_t count, struct pdnn_feed_scratch *scratch, int32_t *ids,
                                   struct pdnn_err *err) {
    for (uint64_t done = 0; done < count;) {
        uint64_t at = (place + done) % feed->set.count, more = feed->set.count - at;
        more = more < count - done ? more : count - done;
        enum pdnn_status status = read_record(feed, at, more, scratch, err);
        if (status != PDNN_OK)
            return status;
        for (uint64_t i = 0; i < more; i++)
            ids[done + i] = (int32_t)(get_u32(scratch->file + 4 * i) % (uint32_t)t->fill.scale);
        done += more;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_feed_fill(const struct pdnn_feed *feed, const struct pdnn_feed_part *part,
                                uint64_t number, struct pdnn_feed_scratch *scratch, void *plain,
                                struct pdnn_err *err) {
    const struct pdnn_tensor *t = &feed->graph->tensors[part->tensor];
    uint64_t place = number * feed->per_step + part->first;
    enum pdnn_status status = PDNN_OK;
    if (part->kind == PDNN_FEED_DRAWN) {
        const struct pdnn_fill_source source = {
            .seed = number ? pdnn_rng_at(~feed->seed, number) : feed->seed, .on_one_thread = true};
        pdnn_fill_tensor(feed->graph, part->tensor, &source, plain);
        return PDNN_OK;
    }
    if (part->kind == PDNN_FEED_WORD || part->kind == PDNN_FEED_NEXT)
        return make_words(feed, t, place + (part->kind == PDNN_FEED_NEXT), part->count, scratch, plain, err);
    for (uint64_t n = 0; n < part->count && status == PDNN_OK; n++) {
        uint64_t example = example_at(feed, place + n);
        status = part->kind == PDNN_FEED_IMAGE ? make_image(feed, t, example, (int64_t)n, scratch, plain, err)
                 : part->kind == PDNN_FEED_ROW
                     ? make_row(feed, t, example, (int64_t)n, scratch, plain, err)
                     : make_label(feed, t, example, (int64_t)n, scratch, plain, err);
    }
    return status;
}

const char *pdnn_feed_format(const struct pdnn_feed *feed, char buffer[PDNN_FEED_TEXT]) {
    bool is_jpeg = feed->has_set && feed->set.encoding == PDNN_ENCODING_JPEG;
    snprintf(buffer, PDNN_FEED_TEXT, "%s:%s%s%s", is_jpeg ? "libjpeg-turbo" : "paradnn",
             feed->has_set ? pdnn_dataset_kind_names[feed->set.kind] : "drawn", feed->has_set ? " " : "",
             feed->has_set ? pdnn_encoding_names[feed->set.encoding] : "");
    return buffer;
}
