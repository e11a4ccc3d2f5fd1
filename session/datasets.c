#define _XOPEN_SOURCE 700 /* realpath */
#include "session/datasets.h"

#include "runtime/data/dataset.h"
#include "runtime/data/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Workers may run elsewhere than this process, so paths are made absolute. */
static enum pdnn_status add(const char *name, struct pdnn_str *paths, struct pdnn_str *text,
                            struct pdnn_err *err) {
    char shown[PDNN_DATASET_TEXT];
    struct pdnn_dataset set;
    char *path = realpath(name, NULL);
    if (!path)
        return pdnn_fail(err, PDNN_INVALID, "dataset: %s: %s", name, strerror(errno));
    enum pdnn_status status = pdnn_dataset_open(path, &set, err);
    if (status == PDNN_OK) {
        pdnn_str_printf(paths, "%s%s", paths->length ? "\n" : "", path);
        pdnn_str_printf(text, "%s%s", text->length ? "; " : "", pdnn_dataset_format(&set, shown));
        if (set.encoding == PDNN_ENCODING_JPEG && !pdnn_jpeg_is_built())
            status = pdnn_jpeg_missing(err);
        pdnn_dataset_close(&set);
    }
    free(path);
    return status == PDNN_OK ? status : pdnn_wrap(err, "dataset");
}

enum pdnn_status pdnn_datasets_find(const struct pdnn_spec *spec, char paths[PDNN_REQUEST_SETS],
                                    struct pdnn_str *text, struct pdnn_err *err) {
    struct pdnn_str found = {0};
    enum pdnn_status status = PDNN_OK;
    if (!spec->n_datasets)
        return pdnn_fail(
            err, PDNN_INVALID,
            "data=file needs a data set, and the spec names none: add 'dataset: DIR', or give --set "
            "dataset=DIR ('paradnn data make' writes data sets)");
    for (size_t i = 0; i < spec->n_datasets && status == PDNN_OK; i++)
        status = add(spec->datasets[i], &found, text, err);
    if (status == PDNN_OK && found.length >= PDNN_REQUEST_SETS)
        status = pdnn_fail(err, PDNN_INVALID, "dataset: the paths of all data sets have at most %d letters",
                           PDNN_REQUEST_SETS - 1);
    if (status == PDNN_OK)
        memcpy(paths, pdnn_str_text(&found), found.length + 1);
    pdnn_str_finish(&found);
    return status;
}
