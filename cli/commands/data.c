#include "base/units.h"
#include "base/visible.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "runtime/data/image.h"
#include "runtime/data/make.h"
#include "runtime/data/pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char description[] =
    "Data sets for models that read their minibatches from files: run.data=file, with the directory as `dataset` in "
    "the spec. See doc/infeed.md.\n\n"
    "`make` writes a small synthetic one into the new directory DIR. CONTENT is images, for convolutional networks; "
    "tokens, for models that read words; or rows, of features, for fully connected ones. Its bytes depend on nothing "
    "but the options. Images of any size serve every model: they are scaled to what it reads.\n\n"
    "`show` checks the data set in DIR and says what it holds, and how much of it is in the page cache. A data set is "
    "a directory with a manifest, dataset.txt, of a few lines that say what it is. For images, files.txt has the name "
    "and the class of each on a line, so that a directory of JPEG files becomes a data set by two short files.";

static const struct pdnn_option_def options[] = {
    {"count", 'n', "N", NULL, false, "images or rows (default: 256), or words (default: 1048576)"},
    {"size", 0, "SIZE", NULL, false, "of images, WIDTHxHEIGHT in pixels (default: 256x256)"},
    {"encoding", 0, "ENCODING", pdnn_encoding_names, false,
     "of images: raw, which are binary PPM files (the default), or jpeg"},
    {"quality", 0, "PERCENT", NULL, false, "of JPEG, 1 to 100 (default: 85)"},
    {"features", 0, "N", NULL, false, "numbers in a row (default: 2000)"},
    {"vocabulary", 0, "N", NULL, false, "distinct words (default: 30522)"},
    {"classes", 0, "N", NULL, false, "of images and rows (default: 1000)"},
    {"seed", 0, "N", NULL, false, "of everything random (default: 1)"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn data make images images.data --encoding jpeg --count 64", "64 JPEG files of 256 x 256 pixels"},
    {"paradnn data make tokens tokens.data --vocabulary 50257", "a million words"},
    {"paradnn data show images.data", "what is in it, and whether it is in the page cache"},
    {"paradnn run resnet18,batch=8,data=file,loaders=2 --set dataset=images.data", "a model that reads it"},
};

static const struct pdnn_help_row actions[] = {
    {"make", "write a synthetic data set of CONTENT into the new directory DIR"},
    {"show", "check the data set in DIR, and say what it holds"},
};

static bool kind(size_t index, const char **name, const char **help) {
    if (index >= sizeof actions / sizeof *actions)
        return false;
    *name = actions[index].name;
    *help = actions[index].help;
    return true;
}

/* Which options mean something for which content. */
static const struct {
    const char *option;
    bool used[PDNN_DATASET_KIND_COUNT];
} uses[] = {
    {"size", {[PDNN_DATASET_IMAGES] = true}},
    {"encoding", {[PDNN_DATASET_IMAGES] = true}},
    {"quality", {[PDNN_DATASET_IMAGES] = true}},
    {"features", {[PDNN_DATASET_ROWS] = true}},
    {"vocabulary", {[PDNN_DATASET_TOKENS] = true}},
    {"classes", {[PDNN_DATASET_IMAGES] = true, [PDNN_DATASET_ROWS] = true}},
};

static enum pdnn_status check_uses(const struct pdnn_arguments *arguments, enum pdnn_dataset_kind content,
                                   struct pdnn_err *err) {
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (pdnn_argument(arguments, uses[i].option) && !uses[i].used[content])
            return pdnn_fail(err, PDNN_INVALID, "--%s means nothing for %s", uses[i].option,
                             pdnn_dataset_kind_names[content]);
    }
    if (pdnn_argument(arguments, "quality") &&
        pdnn_argument_choice(arguments, "encoding", PDNN_ENCODING_RAW) != PDNN_ENCODING_JPEG)
        return pdnn_fail(err, PDNN_INVALID, "--quality needs --encoding jpeg");
    return PDNN_OK;
}

static enum pdnn_status read_size(const struct pdnn_arguments *arguments,
                                  struct pdnn_dataset_request *request, struct pdnn_err *err) {
    const char *text = pdnn_argument(arguments, "size");
    char width[16] = "", *cross;
    request->width = request->height = 256;
    if (!text)
        return PDNN_OK;
    snprintf(width, sizeof width, "%s", text);
    cross = strchr(width, 'x');
    if (cross)
        *cross = 0;
    if (strlen(text) >= sizeof width || !cross || !pdnn_parse_i64(width, &request->width) ||
        !pdnn_parse_i64(cross + 1, &request->height) || request->width < 1 || request->height < 1 ||
        request->width > PDNN_IMAGE_SIDE_MAX || request->height > PDNN_IMAGE_SIDE_MAX)
        return pdnn_fail(err, PDNN_INVALID, "--size: '%.64s' is not WIDTHxHEIGHT with sides from 1 to %d",
                         text, PDNN_IMAGE_SIDE_MAX);
    return PDNN_OK;
}

enum { COUNT_MAX = 1 << 30, NUMBER_MAX = 1 << 24 };

static enum pdnn_status read_request(const struct pdnn_arguments *arguments,
                                     struct pdnn_dataset_request *request, struct pdnn_err *err) {
    int64_t count = 0, seed = 0;
    bool is_text = request->kind == PDNN_DATASET_TOKENS;
    const struct {
        const char *option;
        int64_t usual, least, most, *value;
    } numbers[] = {{"count", is_text ? 1 << 20 : 256, 1, COUNT_MAX, &count},
                   {"quality", 85, 1, 100, &request->quality},
                   {"features", 2000, 1, NUMBER_MAX, &request->features},
                   {"vocabulary", 30522, 3, NUMBER_MAX, &request->vocabulary},
                   {"classes", 1000, 1, NUMBER_MAX, &request->classes},
                   {"seed", 1, 0, INT64_MAX, &seed}};
    request->encoding = (enum pdnn_encoding)pdnn_argument_choice(arguments, "encoding", PDNN_ENCODING_RAW);
    enum pdnn_status status = check_uses(arguments, request->kind, err);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == PDNN_OK; i++) {
        *numbers[i].value = numbers[i].usual;
        status = pdnn_argument_number(arguments, numbers[i].option, numbers[i].least, numbers[i].most,
                                      numbers[i].value, err);
    }
    if (status == PDNN_OK)
        status = read_size(arguments, request, err);
    request->count = (uint64_t)count;
    request->seed = (uint64_t)seed;
    return status;
}

static enum pdnn_status show(const char *directory, struct pdnn_err *err) {
    struct pdnn_dataset set;
    struct pdnn_str out = {0};
    char size[PDNN_UNIT_TEXT];
    enum pdnn_status status = pdnn_dataset_open(directory, &set, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_pages_found found = pdnn_pages_count(&set);
    pdnn_str_printf(&out, "kind        %s\nencoding    %s\ncount       %" PRIu64 "%s\n",
                    pdnn_dataset_kind_names[set.kind], pdnn_encoding_names[set.encoding], set.count,
                    set.kind == PDNN_DATASET_TOKENS ? " words" : "");
    if (set.kind == PDNN_DATASET_ROWS)
        pdnn_str_printf(&out, "features    %" PRId64 "\n", set.features);
    pdnn_str_printf(&out, "size        %s\n", pdnn_format_bytes(size, (double)set.bytes));
    if (found.all)
        pdnn_str_printf(&out, "page cache  %s: %.0f %% of %s\n", pdnn_pages_name(&found),
                        100 * (double)found.cached / (double)found.all,
                        set.files && set.count > 64 ? "the files looked at" : "it");
    pdnn_dataset_close(&set);
    pdnn_text_print(&out, false);
    return PDNN_OK;
}

static enum pdnn_status make(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_dataset_request request = {.directory = arguments->operands[2]};
    const char *content = arguments->operands[1];
    char shown[PDNN_VISIBLE_TEXT];
    while (pdnn_dataset_kind_names[request.kind] &&
           strcmp(pdnn_dataset_kind_names[request.kind], content) != 0)
        request.kind++;
    if (request.kind == PDNN_DATASET_KIND_COUNT) {
        char hint[PDNN_SUGGESTION_TEXT];
        pdnn_suggest(hint, content, pdnn_dataset_kind_names, PDNN_DATASET_KIND_COUNT);
        return pdnn_fail(err, PDNN_INVALID, "data sets hold images, tokens or rows, not '%.40s'%s",
                         pdnn_visible(shown, content), hint);
    }
    enum pdnn_status status = read_request(arguments, &request, err);
    if (status == PDNN_OK)
        status = pdnn_dataset_write(&request, err);
    return status == PDNN_OK ? show(request.directory, err) : status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    bool makes = strcmp(arguments->operands[0], actions[0].name) == 0;
    if (makes && arguments->n_operands < 3)
        return pdnn_fail(err, PDNN_INVALID,
                         "data make needs what to make and a new directory: 'paradnn data make "
                         "images DIR'");
    if (!makes && (arguments->n_operands > 2 || arguments->n_values))
        return pdnn_fail(err, PDNN_INVALID, "data show takes a directory and nothing else");
    return makes ? make(arguments, err) : show(arguments->operands[1], err);
}

PDNN_COMMAND(data, PDNN_COMMANDS_MEASURE, "ACTION CONTENT|DIR [DIR]",
             "Writes and checks data sets that models read.", .run = run, .kind = kind);
