#include "base/units.h"
#include "base/visible.h"
#include "cli/print/output.h"
#include "runtime/data/image.h"
#include "runtime/data/images.h"
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
    "`show` checks the data set in DIR, decodes its images (up to 4096 of them), and says what it holds, and how much of it was in the page cache. A data set is "
    "a directory with a manifest, dataset.txt, of a few lines that say what it is. For images, files.txt has the name "
    "and the class of each on a line, so that a directory of JPEG files becomes a data set by two short files.";

enum { NUMBER_MAX = 1 << 24 };

static const struct pdnn_option_def options[] = {
    {"count", 'n', "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = 1 << 30,
     .help = "images or rows (default: 256), or words (default: 1048576)"},
    {"size", 0, "SIZE", .help = "of images, WIDTHxHEIGHT in pixels (default: 256x256)"},
    {"encoding", 0, "ENCODING", .choices = pdnn_encoding_names,
     .help = "of images: raw, which are binary PPM files (the default), or jpeg"},
    {"quality", 0, "PERCENT", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = 100,
     .help = "of JPEG, 1 to 100 (default: 85)"},
    {"features", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = NUMBER_MAX,
     .help = "numbers in a row (default: 2000)"},
    {"vocabulary", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 3, .most = NUMBER_MAX,
     .help = "distinct words (default: 30522)"},
    {"classes", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = NUMBER_MAX,
     .help = "of images and rows (default: 1000)"},
    {"seed", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 0, .most = (double)INT64_MAX,
     .help = "of everything random (default: 1)"},
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

/* Which options a content takes. */
static const char *const uses[PDNN_DATASET_KIND_COUNT] = {
    [PDNN_DATASET_IMAGES] = "count,size,encoding,quality,classes,seed",
    [PDNN_DATASET_TOKENS] = "count,vocabulary,seed",
    [PDNN_DATASET_ROWS] = "count,features,classes,seed"};

static enum pdnn_status read_size(const char *text, struct pdnn_dataset_request *request,
                                  struct pdnn_err *err) {
    char width[16];
    const size_t length = strcspn(text, "x");
    snprintf(width, sizeof width, "%.*s", length < sizeof width ? (int)length : 0, text);
    if (!text[length] || !pdnn_parse_i64(width, &request->width) ||
        !pdnn_parse_i64(text + length + 1, &request->height) || request->width < 1 || request->height < 1 ||
        request->width > PDNN_IMAGE_SIDE_MAX || request->height > PDNN_IMAGE_SIDE_MAX)
        return pdnn_fail(err, PDNN_INVALID, "--size: '%.64s' is not WIDTHxHEIGHT with sides from 1 to %d",
                         text, PDNN_IMAGE_SIDE_MAX);
    return PDNN_OK;
}

static enum pdnn_status show(const char *directory, struct pdnn_err *err) {
    struct pdnn_dataset set;
    struct pdnn_images_found images = {0};
    struct pdnn_str out = {0};
    char size[PDNN_UNIT_TEXT], shown[PDNN_VISIBLE_TEXT];
    enum pdnn_status status = pdnn_dataset_open(directory, &set, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_pages_found found = pdnn_pages_count(&set); /* before they are read */
    if (set.kind == PDNN_DATASET_IMAGES)
        status = pdnn_images_decode(&set, &images, err);
    if (status != PDNN_OK) {
        pdnn_dataset_close(&set);
        return status;
    }
    pdnn_str_printf(&out, "kind        %s\nencoding    %s\ncount       %" PRIu64 "%s\n",
                    pdnn_dataset_kind_names[set.kind], pdnn_encoding_names[set.encoding], set.count,
                    set.kind == PDNN_DATASET_TOKENS ? " words" : "");
    if (set.kind == PDNN_DATASET_ROWS)
        pdnn_str_printf(&out, "features    %" PRId64 "\n", set.features);
    pdnn_str_printf(&out, "size        %s\n", pdnn_format_bytes(size, (double)set.bytes));
    if (images.decoded)
        pdnn_str_printf(&out, "decoded     %" PRIu64 "%s\n", images.decoded,
                        images.decoded < set.count ? ", spread evenly" : "");
    if (images.endless)
        fprintf(stderr,
                "paradnn: %s: has no end marker, but all of its pixels; %" PRIu64 " of %" PRIu64 " images\n",
                pdnn_visible(shown, images.first_endless), images.endless, images.decoded);
    if (found.all)
        pdnn_str_printf(&out, "page cache  %s: %.0f %% of %s\n", pdnn_pages_name(&found),
                        100 * (double)found.cached / (double)found.all,
                        set.files && set.count > 64 ? "the files looked at" : "it");
    pdnn_dataset_close(&set);
    pdnn_text_print(&out, false);
    return PDNN_OK;
}

static enum pdnn_status make(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_dataset_request request = {
        .directory = arguments->operands[2],
        .encoding = (enum pdnn_encoding)pdnn_argument_choice(arguments, "encoding", PDNN_ENCODING_RAW),
        .quality = pdnn_argument_whole(arguments, "quality", 85),
        .features = pdnn_argument_whole(arguments, "features", 2000),
        .vocabulary = pdnn_argument_whole(arguments, "vocabulary", 30522),
        .classes = pdnn_argument_whole(arguments, "classes", 1000),
        .seed = (uint64_t)pdnn_argument_whole(arguments, "seed", 1)};
    const char *content = arguments->operands[1], *size = pdnn_argument(arguments, "size");
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
    if (pdnn_arguments_only(arguments, content, uses[request.kind], err) != PDNN_OK ||
        read_size(size ? size : "256x256", &request, err) != PDNN_OK)
        return err->status;
    if (pdnn_argument(arguments, "quality") && request.encoding != PDNN_ENCODING_JPEG)
        return pdnn_fail(err, PDNN_INVALID, "--quality needs --encoding jpeg");
    request.count = (uint64_t)pdnn_argument_whole(arguments, "count",
                                                  request.kind == PDNN_DATASET_TOKENS ? 1 << 20 : 256);
    return pdnn_dataset_write(&request, err) == PDNN_OK ? show(request.directory, err) : err->status;
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
