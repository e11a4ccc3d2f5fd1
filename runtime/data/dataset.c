#define _POSIX_C_SOURCE 200809L
#include "runtime/data/dataset.h"

#include "base/memory.h"
#include "base/file.h"
#include "base/paths/folder.h"
#include "base/str.h"
#include "base/units.h"
#include "base/visible.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const pdnn_dataset_kind_names[] = {"images", "tokens", "rows", NULL};
const char *const pdnn_encoding_names[] = {"raw", "jpeg", NULL};

static const char manifest_name[] = "dataset.txt", list_name[] = "files.txt";
static const char *const data_names[PDNN_DATASET_KIND_COUNT] = {NULL, "tokens.bin", "rows.bin"};

enum { MANIFEST_LIMIT_BYTES = 1 << 16, LIST_LIMIT_BYTES = 1 << 28, VERSION = 1 };
static const int64_t most_features = 1 << 24;

/* The manifest as it is read. */
struct manifest {
    int64_t version, count, bytes, features, kind, encoding;
};

static const struct key {
    const char *name;
    size_t offset;
    const char *const *words; /* NULL: a number from 1 */
    bool optional;
} keys[] = {
    {"paradnn_dataset", offsetof(struct manifest, version), NULL, false},
    {"kind", offsetof(struct manifest, kind), pdnn_dataset_kind_names, false},
    {"encoding", offsetof(struct manifest, encoding), pdnn_encoding_names, true},
    {"count", offsetof(struct manifest, count), NULL, false},
    {"bytes", offsetof(struct manifest, bytes), NULL, true},
    {"features", offsetof(struct manifest, features), NULL, true},
};
enum { KEYS = sizeof keys / sizeof *keys };

static const struct key *find_key(const char *name) {
    size_t i = 0;
    while (i < KEYS && strcmp(keys[i].name, name) != 0)
        i++;
    return i < KEYS ? &keys[i] : NULL;
}

static bool parse_value(const struct key *key, const char *text, int64_t *value) {
    if (!key->words)
        return pdnn_parse_i64(text, value) && *value > 0;
    for (*value = 0; key->words[*value]; ++*value)
        if (strcmp(key->words[*value], text) == 0)
            return true;
    return false;
}

/* Cuts the next line off the text, without its CR if it has one; NULL after the last. */
static char *next_line(char **text) {
    char *line = *text, *end = line + strcspn(line, "\n");
    if (!*line)
        return NULL;
    *text = *end ? end + 1 : end;
    *end = 0;
    if (end > line && end[-1] == '\r')
        end[-1] = 0;
    return line;
}

/* One "key: value". */
static enum pdnn_status read_line(const char *path, size_t number, char *line, struct manifest *manifest,
                                  bool seen[KEYS], struct pdnn_err *err) {
    char shown[PDNN_VISIBLE_TEXT];
    char *colon = strstr(line, ": ");
    if (colon)
        *colon = 0;
    const struct key *key = colon ? find_key(line) : NULL;
    if (!key)
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s:%zu: '%.40s' is not a key of a data set's manifest; they are paradnn_dataset, kind, "
            "encoding, count, bytes and features",
            path, number, pdnn_visible(shown, line));
    if (seen[key - keys])
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s is given twice", path, number, key->name);
    seen[key - keys] = true;
    int64_t *value = (int64_t *)(void *)((char *)manifest + key->offset);
    if (parse_value(key, colon + 2, value))
        return PDNN_OK;
    struct pdnn_str words = {0};
    for (size_t i = 0; key->words && key->words[i]; i++)
        pdnn_str_printf(&words, "%s%s", i ? ", " : "", key->words[i]);
    pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s is '%.40s', expected %s", path, number, key->name,
              pdnn_visible(shown, colon + 2), key->words ? pdnn_str_text(&words) : "a whole number from 1");
    pdnn_str_finish(&words);
    return PDNN_INVALID;
}

static enum pdnn_status read_manifest(const char *path, char *text, struct manifest *manifest,
                                      struct pdnn_err *err) {
    bool seen[KEYS] = {false};
    size_t number = 0;
    for (char *line; (line = next_line(&text));) {
        number++;
        if (*line && *line != '#' && read_line(path, number, line, manifest, seen, err) != PDNN_OK)
            return err->status;
    }
    for (size_t i = 0; i < KEYS; i++) {
        if (!seen[i] && !keys[i].optional)
            return pdnn_fail(err, PDNN_INVALID, "%s: has no line '%s: ...'", path, keys[i].name);
    }
    if (manifest->version != VERSION)
        return pdnn_fail(err, PDNN_INVALID, "%s: version %" PRId64 ", this program reads %d", path,
                         manifest->version, VERSION);
    if (manifest->kind == PDNN_DATASET_ROWS && (!manifest->features || manifest->features > most_features))
        return pdnn_fail(err, PDNN_INVALID, "%s: rows need a line 'features: N' with N from 1 to %" PRId64,
                         path, most_features);
    if (manifest->kind != PDNN_DATASET_IMAGES && manifest->encoding != PDNN_ENCODING_RAW)
        return pdnn_fail(err, PDNN_INVALID, "%s: %s are raw, and cannot have another encoding", path,
                         pdnn_dataset_kind_names[manifest->kind]);
    return PDNN_OK;
}

/* A line "NAME LABEL". A name stays in the directory, so that nobody's list reads other files. */
static enum pdnn_status read_file_line(const char *path, size_t number, char *line,
                                       struct pdnn_dataset_file *file, struct pdnn_err *err) {
    char *space = strrchr(line, ' ');
    int64_t label;
    if (!space || space == line || !pdnn_parse_i64(space + 1, &label) || label < 0 || label > INT32_MAX)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s:%zu: expected a file's name and its class, a whole number from 0", path, number);
    *space = 0;
    if (*line == '/' || strstr(line, ".."))
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: the file must lie in the directory of the list", path,
                         number);
    *file = (struct pdnn_dataset_file){line, (int32_t)label};
    return PDNN_OK;
}

static enum pdnn_status read_list(const char *path, struct pdnn_dataset *dataset, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_file_read(path, LIST_LIMIT_BYTES, &dataset->list, NULL, err);
    if (status != PDNN_OK)
        return status;
    size_t n_lines = 0, number = 0;
    for (const char *at = dataset->list; *at; at++)
        n_lines += *at == '\n' || !at[1];
    dataset->files = pdnn_alloc(n_lines, sizeof *dataset->files);
    char *text = dataset->list;
    for (char *line; (line = next_line(&text));) {
        status = read_file_line(path, number + 1, line, &dataset->files[number], err);
        if (status != PDNN_OK)
            return status;
        number++;
    }
    if (number != dataset->count)
        return pdnn_fail(err, PDNN_INVALID, "%s: lists %zu files, and %s says count: %" PRIu64, path, number,
                         manifest_name, dataset->count);
    return PDNN_OK;
}

uint64_t pdnn_dataset_files(const struct pdnn_dataset *dataset) {
    return dataset->files ? dataset->count : 1;
}

static enum pdnn_status path_in(const char *directory, const char *name, char path[PDNN_DATASET_PATH],
                                struct pdnn_err *err) {
    int length = snprintf(path, PDNN_DATASET_PATH, "%s/%s", directory, name);
    if (length < 0 || length >= PDNN_DATASET_PATH)
        return pdnn_fail(err, PDNN_INVALID, "%.200s: the path of '%.80s' in it is too long", directory, name);
    return PDNN_OK;
}

enum pdnn_status pdnn_dataset_file_path(const struct pdnn_dataset *dataset, uint64_t file,
                                        char path[PDNN_DATASET_PATH], struct pdnn_err *err) {
    const char *name = dataset->files ? dataset->files[file].name : data_names[dataset->kind];
    return path_in(dataset->path, name, path, err);
}

/* The bytes of all files, whose number is what the manifest says if it says one. */
static enum pdnn_status check_files(struct pdnn_dataset *dataset, uint64_t said, struct pdnn_err *err) {
    char path[PDNN_DATASET_PATH];
    uint64_t sum = 0, wanted = 0;
    for (uint64_t i = 0; i < pdnn_dataset_files(dataset); i++) {
        struct stat info;
        enum pdnn_status status = pdnn_dataset_file_path(dataset, i, path, err);
        if (status != PDNN_OK)
            return status;
        if (stat(path, &info) != 0)
            return pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
        if (!S_ISREG(info.st_mode) || !info.st_size)
            return pdnn_fail(err, PDNN_INVALID, "%s: %s", path,
                             S_ISREG(info.st_mode) ? "is empty" : "is not a file");
        sum += (uint64_t)info.st_size;
    }
    if (dataset->kind != PDNN_DATASET_IMAGES) {
        uint64_t each = 4 * ((uint64_t)dataset->features + 1); /* of a row: with its label */
        if (__builtin_mul_overflow(dataset->count, each, &wanted))
            wanted = UINT64_MAX;
        if (sum != wanted)
            return pdnn_fail(err, PDNN_INVALID, "%s: has %" PRIu64 " bytes, %" PRIu64 " %s take %" PRIu64,
                             path, sum, dataset->count, pdnn_dataset_kind_names[dataset->kind], wanted);
    }
    if (said && sum != said)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: its files have %" PRIu64 " bytes, and %s says bytes: %" PRIu64
                         "; some are cut or were changed",
                         dataset->path, sum, manifest_name, said);
    dataset->bytes = sum;
    return PDNN_OK;
}

enum pdnn_status pdnn_dataset_open(const char *path, struct pdnn_dataset *dataset, struct pdnn_err *err) {
    struct pdnn_dataset made = {.count = 0};
    struct manifest manifest = {.version = 0};
    char name[PDNN_DATASET_PATH], *text = NULL;
    if (strlen(path) >= sizeof made.path)
        return pdnn_fail(err, PDNN_INVALID, "%.80s...: the path of a data set has at most %zu letters", path,
                         sizeof made.path - 1);
    strcpy(made.path, path);
    enum pdnn_status status = path_in(path, manifest_name, name, err);
    if (status == PDNN_OK)
        status = pdnn_file_read(name, MANIFEST_LIMIT_BYTES, &text, NULL, err);
    if (status != PDNN_OK && !pdnn_path_has(path, manifest_name) && errno == EACCES)
        return status;
    if (status != PDNN_OK)
        return status == PDNN_INVALID
                   ? pdnn_fail(err, PDNN_INVALID,
                               "%s: no data set is there: it has no readable %s ('paradnn data "
                               "make' writes data sets)",
                               path, manifest_name)
                   : status;
    status = read_manifest(name, text, &manifest, err);
    free(text);
    made.kind = (enum pdnn_dataset_kind)manifest.kind;
    made.encoding = (enum pdnn_encoding)manifest.encoding;
    made.count = (uint64_t)manifest.count;
    made.features = made.kind == PDNN_DATASET_ROWS ? manifest.features : 0;
    if (status == PDNN_OK && made.kind == PDNN_DATASET_IMAGES)
        status = path_in(path, list_name, name, err);
    if (status == PDNN_OK && made.kind == PDNN_DATASET_IMAGES)
        status = read_list(name, &made, err);
    if (status == PDNN_OK)
        status = check_files(&made, (uint64_t)manifest.bytes, err);
    if (status == PDNN_OK)
        *dataset = made;
    else
        pdnn_dataset_close(&made);
    return status;
}

void pdnn_dataset_close(struct pdnn_dataset *dataset) {
    free(dataset->files);
    free(dataset->list);
    *dataset = (struct pdnn_dataset){.count = 0};
}

const char *pdnn_dataset_format(const struct pdnn_dataset *dataset, char buffer[PDNN_DATASET_TEXT]) {
    snprintf(buffer, PDNN_DATASET_TEXT, "%s %s, %" PRIu64 " in %s", pdnn_dataset_kind_names[dataset->kind],
             pdnn_encoding_names[dataset->encoding], dataset->count, dataset->path);
    return buffer;
}
