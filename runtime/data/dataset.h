/* A data set on disk: a directory with a manifest, dataset.txt, that says what is in it, and its files. Reads
 * and checks manifests; what the files hold is decoded by runtime/infeed, which may not trust them either. */
#ifndef RUNTIME_DATA_DATASET_H
#define RUNTIME_DATA_DATASET_H

#include "base/err.h"
#include "base/paths/kept.h"

#include <stdbool.h>
#include <stdint.h>

enum pdnn_dataset_kind {
    PDNN_DATASET_IMAGES, /* files.txt: a line per example, "NAME LABEL" */
    PDNN_DATASET_TOKENS, /* tokens.bin: word ids, 32-bit little-endian, document after document */
    PDNN_DATASET_ROWS, /* rows.bin: per example `features` 32-bit floats and a 32-bit label, little-endian */
    PDNN_DATASET_KIND_COUNT
};

enum pdnn_encoding {
    PDNN_ENCODING_RAW, /* images: binary PPM (P6); the others: as above */
    PDNN_ENCODING_JPEG,
    PDNN_ENCODING_COUNT
};

/* "images", "tokens", "rows"; "raw", "jpeg": NULL-terminated, in the order of the enums. */
extern const char *const pdnn_dataset_kind_names[], *const pdnn_encoding_names[];

struct pdnn_dataset_file {
    const char *name; /* relative to the directory */
    int32_t label;
};

struct pdnn_dataset {
    char path[PDNN_KEPT_PATH];
    enum pdnn_dataset_kind kind;
    enum pdnn_encoding encoding;
    uint64_t count;                  /* of examples; of words */
    uint64_t bytes;                  /* of all files but the manifest and the list */
    int64_t features;                /* rows */
    struct pdnn_dataset_file *files; /* images: `count` of them; else NULL */
    char *list;                      /* heap: the text of files.txt, which the names are in */
};

/* Reads the manifest and the list, and checks that every file is there and that they have as many bytes as
 * the manifest says. PDNN_INVALID, with a message that names the file and the line: what is wrong with it.
 * *dataset is written only on success. */
enum pdnn_status pdnn_dataset_open(const char *path, struct pdnn_dataset *dataset, struct pdnn_err *err);
void pdnn_dataset_close(struct pdnn_dataset *dataset);

/* How many files hold its examples, and the path of one of them. PDNN_INVALID if it is too long. */
uint64_t pdnn_dataset_files(const struct pdnn_dataset *dataset);
enum { PDNN_DATASET_PATH = PDNN_KEPT_PATH + 512 };
enum pdnn_status pdnn_dataset_file_path(const struct pdnn_dataset *dataset, uint64_t file,
                                        char path[PDNN_DATASET_PATH], struct pdnn_err *err);

/* "images raw, 256 in /data/images": kind, encoding, number and place. Returns buffer. */
enum { PDNN_DATASET_TEXT = PDNN_KEPT_PATH + 96 };
const char *pdnn_dataset_format(const struct pdnn_dataset *dataset, char buffer[PDNN_DATASET_TEXT]);

#endif
