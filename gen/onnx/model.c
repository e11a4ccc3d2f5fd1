#define _POSIX_C_SOURCE 200809L

#include "gen/onnx/model.h"

#include "base/memory.h"
#include "base/visible.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEPTH = 32, /* of messages in each other; a model without subgraphs has 7 */
    BESIDE = 16 /* bytes that an allocation takes besides */
};

/* What is left of the memory that a file may take. */
struct budget {
    size_t left;
    bool is_spent;
};

static void *allocate(void *data, size_t bytes) {
    struct budget *budget = data;
    const size_t takes = bytes < SIZE_MAX / 2 ? bytes + BESIDE : bytes;
    void *memory = takes <= budget->left ? malloc(bytes ? bytes : 1) : NULL;
    if (memory)
        budget->left -= takes;
    budget->is_spent = budget->is_spent || !memory;
    return memory;
}

static void release(void *data, void *memory) {
    (void)data;
    free(memory);
}

const char *pdnn_onnx_make_name(char *name, size_t room, const char *from, size_t length) {
    size_t n = 0;
    if (length && *from >= '0' && *from <= '9')
        name[n++] = '_';
    for (size_t i = 0; i < length && n + 1 < room; i++) {
        const char c = from[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[n++] = is_letter ? c : '_';
    }
    name[n] = 0;
    return name;
}

const char *pdnn_onnx_where(const struct pdnn_onnx *onnx, const struct Onnx__NodeProto *node,
                            char buffer[PDNN_ONNX_WHERE_TEXT]) {
    char shown[PDNN_VISIBLE_TEXT], op[PDNN_VISIBLE_TEXT];
    const char *name = node->name && *node->name ? node->name : node->n_output ? node->output[0] : "";
    snprintf(buffer, PDNN_ONNX_WHERE_TEXT, "%s: node '%.60s' (%.30s)", onnx->name, pdnn_visible(shown, name),
             pdnn_visible(op, node->op_type ? node->op_type : ""));
    return buffer;
}

static enum pdnn_status check_opset(struct pdnn_onnx *onnx, struct pdnn_err *err) {
    const struct Onnx__ModelProto *proto = onnx->proto;
    for (size_t i = 0; i < proto->n_opset_import; i++) {
        const char *domain = proto->opset_import[i]->domain;
        if (!domain || !*domain || strcmp(domain, "ai.onnx") == 0)
            onnx->opset = proto->opset_import[i]->version;
    }
    if (onnx->opset < PDNN_ONNX_OPSET_MIN || onnx->opset > PDNN_ONNX_OPSET_MAX)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: opset %" PRId64 ", expected %d to %d: export it with opset_version=17",
                         onnx->name, onnx->opset, PDNN_ONNX_OPSET_MIN, PDNN_ONNX_OPSET_MAX);
    return PDNN_OK;
}

/* A path that stays in the folder in which it begins. */
static bool is_inside(const char *path) {
    if (*path == '/')
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (!part[2] || part[2] == '/'))
            return false;
    }
    return true;
}

static enum pdnn_status check_external(const struct pdnn_onnx *onnx, struct pdnn_err *err) {
    char name[PDNN_VISIBLE_TEXT], where[PDNN_VISIBLE_TEXT];
    for (size_t i = 0; i < onnx->graph->n_initializer; i++) {
        const struct Onnx__TensorProto *tensor = onnx->graph->initializer[i];
        for (size_t k = 0; k < tensor->n_external_data; k++) {
            const struct Onnx__StringStringEntryProto *entry = tensor->external_data[k];
            if (entry->key && strcmp(entry->key, "location") == 0 && entry->value && !is_inside(entry->value))
                return pdnn_fail(
                    err, PDNN_INVALID,
                    "%s: initializer '%.60s' has its data in '%.60s', outside of the file's folder",
                    onnx->name, pdnn_visible(name, tensor->name ? tensor->name : ""),
                    pdnn_visible(where, entry->value));
        }
    }
    return PDNN_OK;
}

/* What gives a name: a node, or -1 for what is there before all nodes. */
struct given {
    const char *name;
    ptrdiff_t by;
};

static int compare_given(const void *a, const void *b) {
    return strcmp(((const struct given *)a)->name, ((const struct given *)b)->name);
}

struct names {
    struct pdnn_onnx *onnx;
    struct given *given; /* sorted, each once */
    size_t count;
};

static void give(struct names *names, const char *name, ptrdiff_t by) {
    if (name && *name)
        names->given[names->count++] = (struct given){name, by};
}

/* All names, each once: an initializer may be an input too. */
static enum pdnn_status collect(struct names *names, struct pdnn_err *err) {
    const struct Onnx__GraphProto *graph = names->onnx->graph;
    char where[PDNN_ONNX_WHERE_TEXT], shown[PDNN_VISIBLE_TEXT];
    size_t most = graph->n_input + graph->n_initializer, count = 0;
    for (size_t i = 0; i < graph->n_node; i++)
        most += graph->node[i]->n_output;
    names->given = pdnn_alloc(most + 1, sizeof *names->given);
    for (size_t i = 0; i < graph->n_input; i++)
        give(names, graph->input[i]->name, -1);
    for (size_t i = 0; i < graph->n_initializer; i++)
        give(names, graph->initializer[i]->name, -1);
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            give(names, graph->node[i]->output[k], (ptrdiff_t)i);
    qsort(names->given, names->count, sizeof *names->given, compare_given);
    for (size_t i = 0; i < names->count; i++) {
        const struct given *next = &names->given[i], *last = count ? &names->given[count - 1] : NULL;
        const ptrdiff_t by = last && last->by > next->by ? last->by : next->by;
        if (!last || strcmp(last->name, next->name) != 0)
            names->given[count++] = *next;
        else if (by >= 0)
            return pdnn_fail(err, PDNN_INVALID, "%s: '%.60s' is computed twice, or is an input too",
                             pdnn_onnx_where(names->onnx, graph->node[by], where),
                             pdnn_visible(shown, next->name));
    }
    names->count = count;
    return PDNN_OK;
}

/* Nodes read what stands before them, as the format demands. */
static enum pdnn_status check_order(const struct names *names, struct pdnn_err *err) {
    const struct Onnx__GraphProto *graph = names->onnx->graph;
    char where[PDNN_ONNX_WHERE_TEXT], shown[PDNN_VISIBLE_TEXT];
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_input; k++) {
            const struct given key = {graph->node[i]->input[k], 0};
            const struct given *found = bsearch(&key, names->given, names->count, sizeof key, compare_given);
            if (!*key.name || (found && found->by < (ptrdiff_t)i))
                continue;
            pdnn_onnx_where(names->onnx, graph->node[i], where);
            pdnn_visible(shown, key.name);
            return found
                       ? pdnn_fail(
                             err, PDNN_INVALID,
                             "%s: its input '%.60s' comes from node %td behind it: a cycle, or nodes that are not sorted",
                             where, pdnn_visible(shown, key.name), found->by + 1)
                       : pdnn_fail(
                             err, PDNN_INVALID,
                             "%s: nothing gives its input '%.60s': no input, initializer or node has that name",
                             where, pdnn_visible(shown, key.name));
        }
    return PDNN_OK;
}

/* Gives the values numbers, and the nodes those of theirs. */
static void number(const struct names *names) {
    struct pdnn_onnx *onnx = names->onnx;
    size_t count = 0;
    for (size_t i = 0; i < onnx->graph->n_node; i++)
        count += onnx->graph->node[i]->n_input + onnx->graph->node[i]->n_output;
    int32_t *ids = onnx->ids = pdnn_alloc(count + 1, sizeof *ids);
    onnx->values = pdnn_alloc(names->count + 1, sizeof *onnx->values);
    onnx->nodes = pdnn_alloc(onnx->graph->n_node + 1, sizeof *onnx->nodes);
    onnx->n_values = (int32_t)names->count;
    for (size_t i = 0; i < names->count; i++)
        onnx->values[i] = names->given[i].name;
    for (size_t i = 0; i < onnx->graph->n_node; i++) {
        const struct Onnx__NodeProto *proto = onnx->nodes[i].proto = onnx->graph->node[i];
        onnx->nodes[i].in = ids;
        for (size_t k = 0; k < proto->n_input; k++)
            *ids++ = pdnn_onnx_value(onnx, proto->input[k]);
        onnx->nodes[i].out = ids;
        for (size_t k = 0; k < proto->n_output; k++)
            *ids++ = pdnn_onnx_value(onnx, proto->output[k]);
    }
}

static int compare_name(const void *name, const void *value) {
    return strcmp(name, *(const char *const *)value);
}

int32_t pdnn_onnx_value(const struct pdnn_onnx *onnx, const char *name) {
    const char **found =
        bsearch(name, onnx->values, (size_t)onnx->n_values, sizeof *onnx->values, compare_name);
    return found ? (int32_t)(found - onnx->values) : -1;
}

static enum pdnn_status find_names(struct pdnn_onnx *onnx, struct pdnn_err *err) {
    struct names names = {.onnx = onnx};
    enum pdnn_status status = collect(&names, err);
    if (status == PDNN_OK)
        status = check_order(&names, err);
    if (status == PDNN_OK)
        number(&names);
    free(names.given);
    return status;
}

static enum pdnn_status check_nodes(const struct pdnn_onnx *onnx, struct pdnn_err *err) {
    const struct Onnx__GraphProto *graph = onnx->graph;
    char where[PDNN_ONNX_WHERE_TEXT], shown[PDNN_VISIBLE_TEXT];
    size_t others = 0;
    const struct Onnx__NodeProto *first = NULL;
    for (size_t i = 0; i < graph->n_node; i++) {
        const char *domain = graph->node[i]->domain;
        if (!domain || !*domain || strcmp(domain, "ai.onnx") == 0)
            continue;
        first = first ? first : graph->node[i];
        others++;
    }
    if (first)
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s: the first of %zu operators of other domains than ai.onnx, here '%.40s'; only standard operators are read",
            pdnn_onnx_where(onnx, first, where), others, pdnn_visible(shown, first->domain));
    return graph->n_node ? PDNN_OK : pdnn_fail(err, PDNN_INVALID, "%s: its graph has no nodes", onnx->name);
}

/* The next number of variable length, false at the end or beyond 64 bits. */
static bool next_number(const uint8_t **at, const uint8_t *end, uint64_t *number) {
    *number = 0;
    for (int shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = *(*at)++;
        *number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* Whether bytes are whole messages, of which no more than DEPTH are in each other: protobuf-c follows any. */
static bool is_message(const ProtobufCMessageDescriptor *kind, const uint8_t *at, const uint8_t *end,
                       int depth) {
    static const int fixed[] = {[1] = 8, [5] = 4};
    while (at < end) {
        uint64_t key, size = 0;
        if (depth > DEPTH || !next_number(&at, end, &key) || key >> 3 == 0 || key >> 32)
            return false;
        const int wire = key & 7;
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(kind, (unsigned)(key >> 3));
        if (wire == 0   ? !next_number(&at, end, &size)
            : wire == 2 ? !next_number(&at, end, &size)
                        : wire != 1 && wire != 5)
            return false;
        size = wire == 0 ? 0 : wire == 2 ? size : (uint64_t)fixed[wire];
        if (size > (uint64_t)(end - at) || (wire == 2 && field && field->type == PROTOBUF_C_TYPE_MESSAGE &&
                                            !is_message(field->descriptor, at, at + size, depth + 1)))
            return false;
        at += size;
    }
    return true;
}

enum pdnn_status pdnn_onnx_parse(const char *name, const uint8_t *bytes, size_t length,
                                 struct pdnn_onnx *onnx, struct pdnn_err *err) {
    struct budget budget = {.left =
                                length < SIZE_MAX / 16 ? length * PDNN_ONNX_TIMES + PDNN_ONNX_BESIDES : 0};
    struct ProtobufCAllocator allocator = {allocate, release, &budget};
    *onnx = (struct pdnn_onnx){.name = name, .length = length};
    const bool is_whole = is_message(&onnx__model_proto__descriptor, bytes, bytes + length, 0);
    struct Onnx__ModelProto *proto = is_whole ? onnx__model_proto__unpack(&allocator, length, bytes) : NULL;
    if (!proto && budget.is_spent)
        return pdnn_fail(err, PDNN_INVALID, "%s: takes more than %d times its size in memory: not a model",
                         name, PDNN_ONNX_TIMES);
    if (!proto || !proto->graph) {
        if (proto)
            onnx__model_proto__free_unpacked(proto, &allocator);
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: not an ONNX model, or cut off: %zu bytes that are not its messages", name,
                         length);
    }
    onnx->proto = proto;
    onnx->graph = proto->graph;
    enum pdnn_status status = check_opset(onnx, err);
    if (status == PDNN_OK)
        status = check_nodes(onnx, err);
    if (status == PDNN_OK)
        status = check_external(onnx, err);
    if (status == PDNN_OK)
        status = find_names(onnx, err);
    if (status != PDNN_OK)
        pdnn_onnx_finish(onnx);
    return status;
}

enum pdnn_status pdnn_onnx_read(const char *path, struct pdnn_onnx *onnx, struct pdnn_err *err) {
    struct stat stat;
    void *bytes = MAP_FAILED;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum pdnn_status status = PDNN_OK;
    *onnx = (struct pdnn_onnx){.name = path};
    if (fd < 0 || fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode))
        status = pdnn_fail(err, PDNN_INVALID, "%s: cannot be read", path);
    else if (stat.st_size > 0)
        bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (status == PDNN_OK && bytes == MAP_FAILED)
        status = pdnn_fail(err, PDNN_INVALID, "%s: is empty, or cannot be mapped", path);
    if (status == PDNN_OK)
        status = pdnn_onnx_parse(path, bytes, (size_t)stat.st_size, onnx, err);
    if (bytes != MAP_FAILED)
        munmap(bytes, (size_t)stat.st_size);
    if (fd >= 0)
        close(fd);
    return status;
}

void pdnn_onnx_finish(struct pdnn_onnx *onnx) {
    struct ProtobufCAllocator allocator = {allocate, release, NULL};
    if (onnx->proto)
        onnx__model_proto__free_unpacked(onnx->proto, &allocator);
    free(onnx->nodes);
    free(onnx->ids);
    free(onnx->values);
    *onnx = (struct pdnn_onnx){0};
}
