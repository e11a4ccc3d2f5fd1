/* What a minibatch of a model consists of, and how one is made: every tensor that enters the graph as data,
 * drawn as the graph says, or taken from a data set. Minibatch k is a pure function of the seed, the data set
 * and k, whoever makes it. No threads here: see infeed.h. */
#ifndef RUNTIME_INFEED_FEED_H
#define RUNTIME_INFEED_FEED_H

#include "models/graph.h"
#include "runtime/data/dataset.h"
#include "runtime/data/image.h"

#include <stdbool.h>

enum pdnn_feed_kind {
    PDNN_FEED_DRAWN,
    PDNN_FEED_IMAGE, /* (N, 3, H, W) */
    PDNN_FEED_ROW,   /* (N, features) */
    PDNN_FEED_LABEL, /* (N): the classes of the examples, modulo the tensor's number of classes */
    PDNN_FEED_WORD,  /* word ids, consecutive words of the set in the order of the tensor's elements */
    PDNN_FEED_NEXT,  /* the word after each of them */
};

/* One tensor of the minibatch. */
struct pdnn_feed_part {
    uint32_t tensor;
    enum pdnn_feed_kind kind;
    uint64_t offset, bytes; /* in a minibatch; offsets are multiples of 64 */
    uint64_t first, count;  /* its examples or words among those of the minibatch */
};

struct pdnn_feed {
    const struct pdnn_graph *graph; /* borrowed */
    uint64_t seed;
    bool drops; /* drop what was read from the page cache */
    struct pdnn_dataset set;
    bool has_set;
    int fd; /* of the one file of a set that has one; else -1 */
    struct pdnn_feed_part *parts;
    size_t n_parts;
    uint64_t bytes;    /* of one minibatch */
    uint64_t per_step; /* examples or words of the set in one minibatch */
    uint64_t
        stride; /* between consecutive examples, coprime to their number: an order that the seed decides */
};

struct pdnn_feed_request {
    const struct pdnn_graph *graph; /* outlives the feed */
    uint64_t seed;
    const char *sets; /* paths of data sets, one a line, of which the first that fits is taken; NULL: drawn */
    bool drops;
};

/* PDNN_INVALID if no set fits the model, or the one that does is damaged: the message says what it reads. */
enum pdnn_status pdnn_feed_open(struct pdnn_feed *feed, const struct pdnn_feed_request *request,
                                struct pdnn_err *err);
void pdnn_feed_close(struct pdnn_feed *feed);

/* The bytes of one minibatch of the graph. */
uint64_t pdnn_feed_bytes_of(const struct pdnn_graph *graph);

/* What one thread needs to make minibatches; {0} before the first. */
struct pdnn_feed_scratch {
    struct pdnn_image_decoder decoder;
    unsigned char *file; /* heap: the last file read */
    size_t file_room;
    float *values; /* heap: one example as f32 */
    size_t values_room;
    uint64_t read_bytes; /* from files, so far */
};
void pdnn_feed_scratch_finish(struct pdnn_feed_scratch *scratch);

/* Makes one part of minibatch `number`, as a plain array of the tensor's dtype. On the calling thread alone.
 */
enum pdnn_status pdnn_feed_fill(const struct pdnn_feed *feed, const struct pdnn_feed_part *part,
                                uint64_t number, struct pdnn_feed_scratch *scratch, void *plain,
                                struct pdnn_err *err);

/* "paradnn:drawn", "paradnn:images raw", "libjpeg-turbo:images jpeg": what makes its minibatches. */
enum { PDNN_FEED_TEXT = 48 };
const char *pdnn_feed_format(const struct pdnn_feed *feed, char buffer[PDNN_FEED_TEXT]);

#endif
