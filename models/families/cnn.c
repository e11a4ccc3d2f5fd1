/* cnn: convolutional networks of three kinds. `residual` and `bottleneck` are ResNets in the v1 layout (He,
 * Zhang, Ren, Sun, 2016), post-activation, as parameterized by ParaDnn (Wang, Wei, Brooks, MLSys 2020): a
 * stem, four groups of `blocks` blocks with f, 2f, 4f and 8f channels (times 4 after a bottleneck), and a
 * head. The first block of every group has a projection shortcut; with `shortcut: identity`, only if the
 * shape changes. `plain` stacks convolutions with bias in stages that each end in max-pooling, followed by
 * hidden dense layers, like VGG (Simonyan, Zisserman, 2015) and AlexNet (Krizhevsky, Sutskever, Hinton, 2012;
 * one tower). Trained with softmax cross-entropy over `output` classes. */
#include "models/attributes.h"
#include "models/families/net.h"
#include "models/forward.h"
#include "models/instance.h"
#include "models/op.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    BLOCK,
    BLOCKS,
    FILTERS,
    IMAGE,
    OUTPUT,
    BATCH,
    POOL,
    STRIDE_ON,
    SHORTCUT,
    ACTIVATION,
    KERNEL,
    STRIDE,
    PADDING,
    WINDOW,
    DENSE,
    N_PARAMS
};

enum { BLOCK_RESIDUAL, BLOCK_BOTTLENECK, BLOCK_PLAIN };
enum { POOL_GLOBAL, POOL_7X7 };
enum { STRIDE_ON_3X3, STRIDE_ON_1X1 };
enum { SHORTCUT_PROJECTION, SHORTCUT_IDENTITY };
enum { GROUPS = 4, EXPANSION = 4, COLORS = 3, SAME = -1, NO_DENSE = -1 };

static const char *const blocks[] = {"residual", "bottleneck", "plain", NULL};
static const char *const pools[] = {"global", "7x7", NULL};
static const char *const strides[] = {"3x3", "1x1", NULL};
static const char *const shortcuts[] = {"projection", "identity", NULL};
static const char *const activations[] = {"relu", "sigmoid", "tanh", NULL};
static const struct pdnn_op_def *const activation_ops[] = {&pdnn_op_relu, &pdnn_op_sigmoid, &pdnn_op_tanh};

static const struct pdnn_param_def params[N_PARAMS] = {
    [BLOCK] = {PDNN_ROW_CHOICE("block", blocks, BLOCK_BOTTLENECK),
               .help = "residual: two 3x3; bottleneck: 1x1, 3x3, 1x1; plain: no shortcuts",
               .example = "[residual, bottleneck]"},
    [BLOCKS] = {PDNN_ROW_LIST("blocks", 1, 512, 2),
                .help = "number of blocks in each group; plain: of convolutions in each stage",
                .example = "[[3, 4, 6, 3], 2]"},
    [FILTERS] = {PDNN_ROW_LIST("filters", 1, 4096, 64),
                 .help = "channels of the first group, doubled in each following group up to 8 times; "
                         "plain: may be a list",
                 .example = "[16, 64]"},
    [IMAGE] = {PDNN_ROW_INT("image", 1, 1 << 16, 224), .unit = "pixels",
               .help = "height and width of the 3-channel image", .example = "[64, 224]"},
    [OUTPUT] = {PDNN_ROW_INT("output", 1, 1 << 24, 1000), .help = "output units; classes in training",
                .example = "10"},
    [BATCH] = {PDNN_ROW_INT("batch", 1, 1 << 24, 64), .help = "minibatch: images per step",
               .example = "[1, 32]"},
    [POOL] = {PDNN_ROW_CHOICE("pool", pools, POOL_GLOBAL),
              .help = "average pooling in the head: over all pixels, or 7x7 with stride 1 (ParaDnn)",
              .example = "7x7"},
    [STRIDE_ON] = {PDNN_ROW_CHOICE("stride_on", strides, STRIDE_ON_3X3),
                   .help = "which convolution has the group's stride (3x3: v1.5, 1x1: v1)", .example = "1x1"},
    [SHORTCUT] = {PDNN_ROW_CHOICE("shortcut", shortcuts, 0),
                  .help = "projection: in the first block of every group (ParaDnn); identity: "
                          "only where the shape changes, so not in the first group (ResNet)",
                  .example = "identity"},
    [ACTIVATION] = {PDNN_ROW_CHOICE("activation", activations, 0),
                    .help = "after convolutions, shortcuts and hidden dense layers",
                    .example = "[relu, tanh]"},
    [KERNEL] = {PDNN_ROW_LIST("kernel", 1, 255, 3), .help = "kernel height and width, by stage",
                .example = "[3, 5-3]"},
    [STRIDE] = {PDNN_ROW_LIST("stride", 1, 255, 1), .help = "stride of a stage's first convolution",
                .example = "2-1"},
    [PADDING] = {PDNN_ROW_LIST("padding", 0, 254, SAME), PDNN_ROW_WORD("same", SAME),
                 .help = "zeros on each side, by stage; same = (kernel - 1) / 2", .example = "[same, 2-1]"},
    [WINDOW] = {PDNN_ROW_LIST("window", 0, 11, 2), .column = "pool_window", /* SQL reserves the word */
                .help = "max-pooling with stride 2 after each stage; 0 = none", .example = "[2, 0]"},
    [DENSE] = {PDNN_ROW_LIST("dense", 1, 1 << 16, NO_DENSE), PDNN_ROW_WORD("none", NO_DENSE),
               .help = "units of the hidden dense layers", .example = "[none, 4096-4096]"},
};

#define RESNET "filters=64,image=224,output=1000,batch=64,pool=global,"
#define PLAIN  "block=plain,image=224,output=1000,batch=64,dense=4096-4096,"
#define VGG    PLAIN "filters=64,kernel=3,stride=1,padding=same,window=2,"

static const struct pdnn_preset presets[] = {
    {"resnet18", RESNET "block=residual,blocks=2,shortcut=identity", "ResNet-18: 11,689,512 parameters"},
    {"resnet34", RESNET "block=residual,blocks=3-4-6-3,shortcut=identity",
     "ResNet-34: 21,797,672 parameters"},
    {"resnet50", RESNET "block=bottleneck,blocks=3-4-6-3,stride_on=3x3",
     "ResNet-50 v1.5: 25,557,032 parameters"},
    {"resnet101", RESNET "block=bottleneck,blocks=3-4-23-3,stride_on=3x3",
     "ResNet-101 v1.5: 44,549,160 parameters"},
    {"resnet152", RESNET "block=bottleneck,blocks=3-8-36-3,stride_on=3x3",
     "ResNet-152 v1.5: 60,192,808 parameters"},
    {"vgg11", VGG "blocks=1-1-2-2-2", "VGG-11: 132,863,336 parameters"},
    {"vgg13", VGG "blocks=2-2-2-2-2", "VGG-13: 133,047,848 parameters"},
    {"vgg16", VGG "blocks=2-2-3-3-3", "VGG-16: 138,357,544 parameters"},
    {"vgg19", VGG "blocks=2-2-4-4-4", "VGG-19: 143,667,240 parameters"},
    {"alexnet",
     PLAIN "blocks=1-1-1-1-1,filters=64-192-384-256-256,kernel=11-5-3-3-3,stride=4-1-1-1-1,"
           "padding=2-2-1-1-1,window=3-3-0-0-3",
     "AlexNet with one tower: 61,100,840 parameters"},
};

/* The kinds of block that a parameter applies to, one bit each; 0: all. */
static const unsigned only_for[N_PARAMS] = {
    [POOL] = 1 << BLOCK_RESIDUAL | 1 << BLOCK_BOTTLENECK,
    [STRIDE_ON] = 1 << BLOCK_BOTTLENECK,
    [SHORTCUT] = 1 << BLOCK_RESIDUAL, /* in a bottleneck network the first group changes the shape, too */
    [KERNEL] = 1 << BLOCK_PLAIN,
    [STRIDE] = 1 << BLOCK_PLAIN,
    [PADDING] = 1 << BLOCK_PLAIN,
    [WINDOW] = 1 << BLOCK_PLAIN,
    [DENSE] = 1 << BLOCK_PLAIN,
};

static bool applies(const struct pdnn_instance *instance, size_t param) {
    return !only_for[param] || only_for[param] >> instance->hyper[BLOCK].number & 1;
}

/* The per-stage lists of a plain network, and how many numbers trimming keeps. A single number of filters
 * doubles from stage to stage, two equal numbers mean the same for all stages, so filters keep two. */
static const struct {
    int param, least;
} by_stage[] = {{BLOCKS, 1}, {FILTERS, 2}, {KERNEL, 1}, {STRIDE, 1}, {PADDING, 1}, {WINDOW, 1}};
enum { BY_STAGE = sizeof by_stage / sizeof *by_stage };

/* The longest list determines the number of stages. */
static int stages_of(const struct pdnn_value *hyper) {
    int stages = 1;
    for (int i = 0; i < BY_STAGE; i++) {
        int n = pdnn_list_length(hyper[by_stage[i].param]);
        stages = n > stages ? n : stages;
    }
    return stages;
}

/* Trims repeats at the end of lists. If no other list gives the number of stages, `blocks`
 * keeps its full length. */
static void resolve_stages(struct pdnn_value *hyper) {
    int stages = stages_of(hyper);
    for (int i = 0; i < BY_STAGE; i++)
        hyper[by_stage[i].param] = pdnn_list_trim(hyper[by_stage[i].param], by_stage[i].least);
    if (stages_of(hyper) < stages)
        hyper[BLOCKS] = pdnn_list_take(hyper[BLOCKS], stages);
}

static struct pdnn_value same_padding(struct pdnn_value kernel) {
    int64_t numbers[PDNN_LIST_MAX];
    int n = pdnn_list_length(kernel);
    for (int i = 0; i < n; i++)
        numbers[i] = (pdnn_list_at(kernel, i) - 1) / 2;
    return pdnn_list_make(numbers, n);
}

static void resolve(struct pdnn_instance *instance) {
    struct pdnn_value *hyper = instance->hyper, groups = pdnn_list_trim(hyper[BLOCKS], 1);
    if (hyper[BLOCK].number == BLOCK_PLAIN) {
        hyper[PADDING] = hyper[PADDING].number == SAME ? same_padding(hyper[KERNEL]) : hyper[PADDING];
        resolve_stages(hyper);
    } else if (pdnn_list_length(hyper[BLOCKS]) == GROUPS && pdnn_list_length(groups) == 1) {
        hyper[BLOCKS] = groups;
    }
}

/* A graph being built. */
struct net {
    struct pdnn_net base;
    const struct pdnn_value *hyper;
    int64_t block; /* number of the residual block, from 1 on */
};

struct shape {
    int64_t filters, kernel, stride, padding;
};

static uint32_t convolve(struct net *net, uint32_t x, struct shape shape) {
    int64_t C = pdnn_net_width(&net->base, x), kernel = shape.kernel;
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CONV2D_STRIDE_H] = shape.stride,
                                      [PDNN_CONV2D_STRIDE_W] = shape.stride,
                                      [PDNN_CONV2D_PADDING_H] = shape.padding,
                                      [PDNN_CONV2D_PADDING_W] = shape.padding};
    uint32_t w = pdnn_graph_weight(net->base.graph, 4, (int64_t[]){shape.filters, C, kernel, kernel},
                                   pdnn_net_relu_fill(C * kernel * kernel));
    return pdnn_graph_forward(net->base.graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs);
}

static uint32_t activate(struct net *net, uint32_t x) {
    return pdnn_graph_forward(net->base.graph, activation_ops[net->hyper[ACTIVATION].number],
                              (uint32_t[]){x, PDNN_NONE}, NULL);
}

static uint32_t pool(struct net *net, uint32_t x, enum pdnn_pool2d_kind kind, struct shape shape) {
    int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_POOL2D_KIND] = kind,
        [PDNN_POOL2D_KERNEL_H] = shape.kernel,
        [PDNN_POOL2D_KERNEL_W] = shape.kernel,
        [PDNN_POOL2D_STRIDE_H] = shape.stride,
        [PDNN_POOL2D_STRIDE_W] = shape.stride,
        [PDNN_POOL2D_PADDING_H] = shape.padding,
        [PDNN_POOL2D_PADDING_W] = shape.padding,
        [PDNN_POOL2D_TRAIN] = kind == PDNN_POOL2D_MAX && net->base.train,
    };
    return pdnn_graph_forward(net->base.graph, &pdnn_op_pool2d, (uint32_t[]){x, PDNN_NONE}, attrs);
}

/* Fails unless earlier layers leave as many pixels as the key asks for. */
static void require(struct net *net, uint32_t x, int64_t least, const char *key) {
    struct pdnn_graph *graph = net->base.graph;
    char layer[PDNN_LAYER_TEXT];
    if (graph->err.status != PDNN_OK || graph->tensors[x].dim[2] >= least)
        return;
    pdnn_fail(&graph->err, PDNN_INVALID,
              "image=%" PRId64 " leaves %" PRId64 "x%" PRId64 " pixels for %s, too few for %s",
              net->hyper[IMAGE].number, graph->tensors[x].dim[2], graph->tensors[x].dim[3],
              pdnn_layer_format(graph->layer, layer), key);
}

static uint32_t convolve_normalized(struct net *net, uint32_t x, struct shape shape) {
    return pdnn_net_normalize(&net->base, convolve(net, x, shape));
}

/* ParaDnn projects in the first block of every group, the published networks only where the shape changes. */
static bool projects(const struct net *net, uint32_t x, int64_t channels, int64_t stride, bool is_first) {
    bool same_shape = stride == 1 && pdnn_net_width(&net->base, x) == channels;
    return is_first && !(same_shape && net->hyper[SHORTCUT].number == SHORTCUT_IDENTITY);
}

/* The shortcut comes first, so that the last op of the branch can add it to its result. */
static uint32_t block(struct net *net, uint32_t x, int64_t filters, int64_t stride, bool is_first) {
    bool bottleneck = net->hyper[BLOCK].number == BLOCK_BOTTLENECK;
    int64_t channels = filters * (bottleneck ? EXPANSION : 1);
    bool first = !bottleneck || net->hyper[STRIDE_ON].number == STRIDE_ON_1X1;
    uint32_t shortcut = x, y = x;
    if (projects(net, x, channels, stride, is_first)) {
        pdnn_net_layer(&net->base, "projection", net->block);
        shortcut = convolve_normalized(net, x, (struct shape){channels, 1, stride, 0});
    }
    pdnn_net_layer(&net->base, "block", net->block);
    if (bottleneck)
        y = activate(net, convolve_normalized(net, y, (struct shape){filters, 1, first ? stride : 1, 0}));
    y = convolve_normalized(net, y, (struct shape){filters, 3, bottleneck && first ? 1 : stride, 1});
    y = activate(net, y);
    y = bottleneck ? convolve_normalized(net, y, (struct shape){channels, 1, 1, 0})
                   : convolve_normalized(net, y, (struct shape){filters, 3, 1, 1});
    y = pdnn_graph_forward(net->base.graph, &pdnn_op_add, (uint32_t[]){y, shortcut, PDNN_NONE}, NULL);
    return activate(net, y);
}

static uint32_t residual(struct net *net, uint32_t x) {
    const struct pdnn_value *hyper = net->hyper;
    pdnn_net_layer(&net->base, "stem", 0);
    x = activate(net, convolve_normalized(net, x, (struct shape){hyper[FILTERS].number, 7, 2, 3}));
    x = pool(net, x, PDNN_POOL2D_MAX, (struct shape){0, 3, 2, 1});
    for (int group = 0; group < GROUPS; group++) {
        int64_t n_blocks = pdnn_list_at(hyper[BLOCKS], group);
        for (int64_t i = 0; i < n_blocks; i++) {
            net->block++;
            pdnn_graph_segment_begin(net->base.graph);
            x = block(net, x, hyper[FILTERS].number << group, i == 0 && group > 0 ? 2 : 1, i == 0);
            pdnn_graph_segment_end(net->base.graph);
        }
    }
    pdnn_net_layer(&net->base, "head", 0);
    int64_t kernel = hyper[POOL].number == POOL_7X7 ? 7 : net->base.graph->tensors[x].dim[2];
    require(net, x, kernel, "pool=7x7");
    return pool(net, x, PDNN_POOL2D_AVERAGE, (struct shape){0, kernel, 1, 0});
}

static uint32_t plain(struct net *net, uint32_t x) {
    const struct pdnn_value *hyper = net->hyper;
    for (int i = 0, stages = stages_of(hyper); i < stages; i++) {
        int64_t kernel = pdnn_list_at(hyper[KERNEL], i), window = pdnn_list_at(hyper[WINDOW], i),
                padding = pdnn_list_at(hyper[PADDING], i);
        char key[80];
        bool doubles = pdnn_list_length(hyper[FILTERS]) == 1;
        int64_t filters =
            doubles ? hyper[FILTERS].number << (i < 3 ? i : 3) : pdnn_list_at(hyper[FILTERS], i);
        pdnn_net_layer(&net->base, "stage", i + 1);
        pdnn_graph_segment_begin(net->base.graph);
        for (int64_t k = 0; k < pdnn_list_at(hyper[BLOCKS], i); k++) {
            int64_t stride = k ? 1 : pdnn_list_at(hyper[STRIDE], i), inputs = pdnn_net_width(&net->base, x);
            snprintf(key, sizeof key, "padding=%" PRId64 " with kernel=%" PRId64, padding, kernel);
            require(net, x, kernel - 2 * padding, key);
            x = convolve(net, x, (struct shape){filters, kernel, stride, padding});
            x = activate(net, pdnn_net_bias(&net->base, x, inputs * kernel * kernel));
        }
        snprintf(key, sizeof key, "window=%" PRId64, window);
        require(net, x, window, key);
        if (window)
            x = pool(net, x, PDNN_POOL2D_MAX, (struct shape){0, window, 2, 0});
        pdnn_graph_segment_end(net->base.graph);
    }
    for (int i = 0; i < pdnn_list_length(hyper[DENSE]); i++) {
        pdnn_net_layer(&net->base, "dense", i + 1);
        x = activate(net, pdnn_net_hidden(&net->base, x, pdnn_list_at(hyper[DENSE], i)));
    }
    return x;
}

/* Residual networks have four groups: `blocks` holds one number or four. Padding is smaller than its kernel,
 * or whole windows would lie on it. */
static enum pdnn_status check(const struct pdnn_value *hyper, struct pdnn_err *err) {
    int n_blocks = pdnn_list_length(hyper[BLOCKS]);
    bool is_plain = hyper[BLOCK].number == BLOCK_PLAIN;
    char given[PDNN_PARAM_TEXT];
    for (int i = 0; is_plain && i < stages_of(hyper); i++) {
        int64_t kernel = pdnn_list_at(hyper[KERNEL], i), padding = pdnn_list_at(hyper[PADDING], i);
        if (padding >= kernel)
            return pdnn_fail(err, PDNN_INVALID, "kernel=%" PRId64 " is not larger than padding=%" PRId64,
                             kernel, padding);
    }
    if (!is_plain && n_blocks != 1 && n_blocks != GROUPS)
        return pdnn_fail(err, PDNN_INVALID, "blocks=%s has %d numbers, expected one or %d, for each group",
                         pdnn_param_format(&params[BLOCKS], hyper[BLOCKS], given), n_blocks, GROUPS);
    if (!is_plain && pdnn_list_length(hyper[FILTERS]) != 1)
        return pdnn_fail(err, PDNN_INVALID, "filters=%s is for block=plain, expected one number",
                         pdnn_param_format(&params[FILTERS], hyper[FILTERS], given));
    return PDNN_OK;
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    struct net net = {pdnn_net_init(instance, graph, hyper[BATCH].number, 0), hyper, 0};
    int64_t pixels = hyper[IMAGE].number;
    uint32_t x = pdnn_net_input(&net.base, 4, (int64_t[]){net.base.batch, COLORS, pixels, pixels});
    if (check(hyper, &graph->err) != PDNN_OK)
        return;
    x = hyper[BLOCK].number == BLOCK_PLAIN ? plain(&net, x) : residual(&net, x);
    pdnn_net_layer(&net.base, "output", 0);
    pdnn_net_classify(&net.base, pdnn_net_hidden(&net.base, x, hyper[OUTPUT].number));
}

static const struct pdnn_layer_def layers[] = {
    {"stem", PDNN_LAYER_CONVOLUTION},       {"block", PDNN_LAYER_CONVOLUTION},
    {"projection", PDNN_LAYER_CONVOLUTION}, {"head", PDNN_LAYER_CONVOLUTION},
    {"stage", PDNN_LAYER_CONVOLUTION},      {"dense", PDNN_LAYER_DENSE},
    {"output", PDNN_LAYER_OUTPUT},          {"loss", PDNN_LAYER_OUTPUT},
};

const struct pdnn_family_def pdnn_family_cnn = {
    .name = "cnn",
    .help = "convolutional: residual and bottleneck networks (ResNet, ParaDnn), plain ones (VGG, AlexNet)",
    PDNN_FAMILY_TABLES(params, presets, layers),
    .minibatch_param = BATCH,
    .depth_param = -1, /* convolutions without padding shrink the image, so blocks may all differ */
    .build = build,
    .quantizes = true,
    .applies = applies,
    .resolve = resolve,
    .convolves = true,
    .has_segments = true, /* residual blocks, or the stages of a plain network */
};
