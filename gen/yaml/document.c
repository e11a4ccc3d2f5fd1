#include "gen/yaml/document.h"

#include "base/visible.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct anchor {
    const char *name;
    const struct pdnn_yaml *node;
    bool open; /* its node is still being read: an alias to it would be a cycle */
    struct anchor *next;
};

struct builder {
    yaml_parser_t parser;
    const char *file;
    bool whole_name;
    const char *text;
    size_t length;
    struct pdnn_arena *arena;
    struct anchor *anchors;
    int n_anchors;
    struct pdnn_yaml_count *count;
};

static const char *const kind_names[PDNN_YAML_KIND_COUNT] = {"a single value", "a map", "a list"};

bool pdnn_yaml_is_null(const struct pdnn_yaml *node) {
    return node->kind == PDNN_YAML_SCALAR && node->plain &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

const char *pdnn_yaml_kind_name(const struct pdnn_yaml *node) {
    return pdnn_yaml_is_null(node) ? "nothing" : kind_names[node->kind];
}

struct pdnn_yaml *pdnn_yaml_find(const struct pdnn_yaml *map, const char *key) {
    for (struct pdnn_yaml *child = map->first; child; child = child->next) {
        if (strcmp(child->key->text, key) == 0)
            return child;
    }
    return NULL;
}

static enum pdnn_status wrap_at(const struct pdnn_yaml *node, int column, struct pdnn_err *err) {
    if (!node->line)
        return pdnn_wrap(err, "%.200s", node->file);
    return pdnn_wrap(err, "%.400s:%d:%d", node->file, node->line, column);
}

enum pdnn_status pdnn_yaml_wrap(const struct pdnn_yaml *node, struct pdnn_err *err) {
    return wrap_at(node, node->column, err);
}

static enum pdnn_status fail_at(const struct pdnn_yaml *node, int column, struct pdnn_err *err,
                                const char *format, va_list args) {
    char text[PDNN_ERR_TEXT];
    vsnprintf(text, sizeof text, format, args);
    pdnn_fail(err, PDNN_INVALID, "%s", text);
    return wrap_at(node, column, err);
}

enum pdnn_status pdnn_yaml_fail(const struct pdnn_yaml *node, struct pdnn_err *err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    enum pdnn_status status = fail_at(node, node->column, err, format, args);
    va_end(args);
    return status;
}

enum pdnn_status pdnn_yaml_fail_in(const struct pdnn_yaml *node, size_t offset, struct pdnn_err *err,
                                   const char *format, ...) {
    int column = node->column;
    if (node->text_offset >= 0 && offset < PDNN_YAML_TEXT_BYTES)
        column += node->text_offset + (int)offset;
    va_list args;
    va_start(args, format);
    enum pdnn_status status = fail_at(node, column, err, format, args);
    va_end(args);
    return status;
}

static struct pdnn_yaml place(const struct builder *builder, yaml_mark_t mark) {
    return (struct pdnn_yaml){.file = builder->file,
                              .line = builder->whole_name ? 0 : (int)mark.line + 1,
                              .column = (int)mark.column + 1,
                              .text = "",
                              .text_offset = -1};
}

/* Line and column of a byte; columns count characters, as libyaml's marks do. */
static yaml_mark_t mark_at(const struct builder *builder, size_t offset) {
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < builder->length; i++) {
        bool is_continuation = ((unsigned char)builder->text[i] & 0xc0) == 0x80;
        mark.column += is_continuation ? 0 : 1;
        if (builder->text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

/* The byte of a line and column, the other way round; the text's length if there is none. */
static size_t offset_at(const struct builder *builder, size_t line, size_t column) {
    size_t offset = 0;
    for (; line && offset < builder->length; offset++)
        line -= builder->text[offset] == '\n';
    for (; column && offset < builder->length; column--)
        do
            offset++;
        while (offset < builder->length && ((unsigned char)builder->text[offset] & 0xc0) == 0x80);
    return offset;
}

/* True if the line's indentation contains a tab, the one YAML error that nobody sees. */
static bool line_has_tab(const struct builder *builder, size_t line) {
    size_t at = offset_at(builder, line, 0);
    while (at < builder->length && builder->text[at] == ' ')
        at++;
    return at < builder->length && builder->text[at] == '\t';
}

/* What to do about a colon where YAML allows none: that of c ? a : b, or the second one of a line; and about
 * other parts of expressions that end a value in braces. */
static const char *colon_hint(const struct builder *builder, yaml_mark_t mark) {
    const char *text = builder->text;
    const size_t line = offset_at(builder, mark.line, 0), place = offset_at(builder, mark.line, mark.column);
    size_t at = place;
    const char *context = builder->parser.context;
    if (place < builder->length && strchr(":[?", text[place]) && context && strstr(context, "flow mapping"))
        return PDNN_YAML_BRACES_HINT;
    if (place == builder->length || text[place] != ':')
        return "";
    while (at && text[at - 1] != ':' && text[at - 1] != '?')
        at--;
    if (at > 1 && text[at - 1] == '?' && isspace((unsigned char)text[at - 2]) &&
        isspace((unsigned char)text[at]))
        return "; put an expression with c ? a : b in quotes";
    return memchr(text + line, ':', place - line)
               ? "; a map inside a line needs braces, and a text with ': ' quotes"
               : "";
}

static enum pdnn_status parser_failure(const struct builder *builder, struct pdnn_err *err) {
    const yaml_parser_t *parser = &builder->parser;
    const char *problem = parser->problem ? parser->problem : "not YAML";
    if (parser->error == YAML_MEMORY_ERROR)
        return pdnn_fail(err, PDNN_NO_MEMORY, "no memory for '%.200s'", builder->file);
    if (parser->error == YAML_READER_ERROR) {
        struct pdnn_yaml at = place(builder, mark_at(builder, parser->problem_offset));
        return pdnn_yaml_fail(&at, err, "not a text file: %s", problem);
    }
    struct pdnn_yaml at = place(builder, parser->problem_mark);
    if (line_has_tab(builder, parser->problem_mark.line))
        return pdnn_yaml_fail(&at, err, "a tab in the indentation, use spaces");
    return pdnn_yaml_fail(&at, err, "not YAML: %s%s%s%s", parser->context ? parser->context : "",
                          parser->context ? ", " : "", problem, colon_hint(builder, parser->problem_mark));
}

static enum pdnn_status next_event(struct builder *builder, yaml_event_t *event, struct pdnn_err *err) {
    if (yaml_parser_parse(&builder->parser, event))
        return PDNN_OK;
    memset(event, 0, sizeof *event);
    return parser_failure(builder, err);
}

/* A node in the arena; NULL with err set if there are too many. */
static struct pdnn_yaml *new_node(struct builder *builder, const struct pdnn_yaml *value,
                                  struct pdnn_err *err) {
    builder->count->text_bytes += strlen(value->text);
    if (++builder->count->nodes > PDNN_YAML_NODES) {
        pdnn_yaml_fail(value, err, "more than %d values, aliases counted as often as used", PDNN_YAML_NODES);
        return NULL;
    }
    if (builder->count->text_bytes > PDNN_YAML_TEXTS_BYTES) {
        pdnn_yaml_fail(value, err, "more than %d bytes of keys and values, aliases counted as often as used",
                       PDNN_YAML_TEXTS_BYTES);
        return NULL;
    }
    struct pdnn_yaml *node = pdnn_arena_alloc(builder->arena, 1, sizeof *node);
    *node = *value;
    return node;
}

void pdnn_yaml_append(struct pdnn_yaml *parent, struct pdnn_yaml *child) {
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

enum pdnn_status pdnn_yaml_check_text(const struct pdnn_yaml *node, const char *text, size_t length,
                                      struct pdnn_err *err) {
    if (length > PDNN_YAML_TEXT_BYTES)
        return pdnn_yaml_fail(node, err, "a value of %zu bytes, the limit is %d", length,
                              PDNN_YAML_TEXT_BYTES);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\n') || c == 127)
            return pdnn_yaml_fail(node, err, "a control character (code %d) in a value", c);
        unsigned code;
        size_t bytes;
        const char *invisible = c < 0x80 ? NULL : pdnn_invisible(text + i, &code, &bytes);
        if (invisible)
            return pdnn_yaml_fail(node, err, "%s (U+%04X) in a value, where nobody sees it", invisible, code);
    }
    return PDNN_OK;
}

static enum pdnn_status build_scalar(struct builder *builder, const yaml_event_t *event,
                                     struct pdnn_yaml **out, struct pdnn_err *err) {
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    struct pdnn_yaml node = place(builder, event->start_mark);
    enum pdnn_status status = pdnn_yaml_check_text(&node, text, length, err);
    if (status != PDNN_OK)
        return status;
    node.plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    size_t quotes = node.plain ? 0 : 1;
    if (event->end_mark.index - event->start_mark.index == length + 2 * quotes &&
        event->end_mark.line == event->start_mark.line)
        node.text_offset = (int)quotes;
    node.text = pdnn_arena_strdup(builder->arena, text);
    *out = new_node(builder, &node, err);
    return *out ? PDNN_OK : err->status;
}

static struct pdnn_yaml *copy_tree(struct builder *builder, const struct pdnn_yaml *node,
                                   struct pdnn_err *err) {
    struct pdnn_yaml *copy = new_node(builder, node, err);
    if (!copy)
        return NULL;
    copy->first = copy->last = copy->next = NULL;
    copy->count = 0;
    for (const struct pdnn_yaml *child = node->first; child; child = child->next) {
        struct pdnn_yaml *child_copy = copy_tree(builder, child, err);
        if (!child_copy)
            return NULL;
        pdnn_yaml_append(copy, child_copy);
    }
    return copy;
}

static enum pdnn_status build_alias(struct builder *builder, const yaml_event_t *event,
                                    struct pdnn_yaml **out, struct pdnn_err *err) {
    const char *name = (const char *)event->data.alias.anchor;
    struct pdnn_yaml node = place(builder, event->start_mark);
    const struct anchor *anchor = builder->anchors;
    while (anchor && strcmp(anchor->name, name) != 0)
        anchor = anchor->next;
    if (!anchor)
        return pdnn_yaml_fail(&node, err, "alias *%.60s has no anchor before it", name);
    if (anchor->open)
        return pdnn_yaml_fail(&node, err, "anchor &%.60s contains itself", name);
    *out = copy_tree(builder, anchor->node, err);
    return *out ? PDNN_OK : err->status;
}

static enum pdnn_status open_anchor(struct builder *builder, const struct pdnn_yaml *node,
                                    const yaml_char_t *name, struct anchor **out, struct pdnn_err *err) {
    *out = NULL;
    if (!name)
        return PDNN_OK;
    if (++builder->n_anchors > PDNN_YAML_ANCHORS)
        return pdnn_yaml_fail(node, err, "more than %d anchors in a document", PDNN_YAML_ANCHORS);
    struct anchor *anchor = pdnn_arena_alloc(builder->arena, 1, sizeof *anchor);
    const char *copy = pdnn_arena_strdup(builder->arena, (const char *)name);
    *anchor = (struct anchor){.name = copy, .open = true, .next = builder->anchors};
    builder->anchors = *out = anchor;
    return PDNN_OK;
}

static enum pdnn_status build(struct builder *builder, yaml_event_t *event, int depth, struct pdnn_yaml **out,
                              struct pdnn_err *err);

/* The next node as a child of a map or list; *end is true if the map or list ended instead. */
static enum pdnn_status build_next(struct builder *builder, int depth, struct pdnn_yaml **out, bool *end,
                                   struct pdnn_err *err) {
    yaml_event_t event;
    enum pdnn_status status = next_event(builder, &event, err);
    if (status != PDNN_OK)
        return status;
    *end = event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT;
    if (!*end)
        status = build(builder, &event, depth, out, err);
    yaml_event_delete(&event);
    return status;
}

static bool is_merge(const struct pdnn_yaml *child) {
    return child->key->plain && strcmp(child->key->text, "<<") == 0;
}

/* The value that the map has of the child's key; what is searched for it counts like values. */
static enum pdnn_status find_counted(struct builder *builder, const struct pdnn_yaml *map,
                                     const struct pdnn_yaml *child, const struct pdnn_yaml **found,
                                     struct pdnn_err *err) {
    enum { SEARCHED_NODES = 32 };
    builder->count->nodes += map->count / SEARCHED_NODES;
    *found = pdnn_yaml_find(map, child->key->text);
    return builder->count->nodes <= PDNN_YAML_NODES
               ? PDNN_OK
               : pdnn_yaml_fail(map, err, "more than %d values, keys of large maps count more than once",
                                PDNN_YAML_NODES);
}

static enum pdnn_status check_once(struct builder *builder, const struct pdnn_yaml *map,
                                   const struct pdnn_yaml *child, struct pdnn_err *err) {
    const struct pdnn_yaml *first;
    enum pdnn_status status = find_counted(builder, map, child, &first, err);
    if (status != PDNN_OK || !first)
        return status;
    if (builder->whole_name)
        return pdnn_yaml_fail(child->key, err, "%.60s is given twice", child->key->text);
    return pdnn_yaml_fail(child->key, err, "%.60s is given twice, first in line %d", child->key->text,
                          first->key->line);
}

/* Appends the keys that the map does not have. */
static enum pdnn_status merge_map(struct builder *builder, struct pdnn_yaml *map, struct pdnn_yaml *from,
                                  struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    if (from->kind != PDNN_YAML_MAP)
        return pdnn_yaml_fail(from, err, "<< takes a map, such as *anchor, or a list of maps, not %s",
                              pdnn_yaml_kind_name(from));
    for (struct pdnn_yaml *child = from->first, *next; child && status == PDNN_OK; child = next) {
        const struct pdnn_yaml *own;
        next = child->next;
        status = find_counted(builder, map, child, &own, err);
        if (own)
            continue;
        child->next = NULL;
        pdnn_yaml_append(map, child);
    }
    return status;
}

/* YAML's merge key: the map gets what those of `<<` have and it has not; of several, the first counts. */
static enum pdnn_status merge(struct builder *builder, struct pdnn_yaml *map, struct pdnn_err *err) {
    struct pdnn_yaml merged = {0}, *child = map->first, *next;
    enum pdnn_status status = PDNN_OK;
    map->first = map->last = NULL;
    map->count = 0;
    for (; child; child = next) {
        next = child->next;
        child->next = NULL;
        pdnn_yaml_append(is_merge(child) ? &merged : map, child);
    }
    for (child = merged.first; child && status == PDNN_OK; child = child->next) {
        bool is_list = child->kind == PDNN_YAML_LIST;
        for (struct pdnn_yaml *from = is_list ? child->first : child; from && status == PDNN_OK;
             from = is_list ? from->next : NULL)
            status = merge_map(builder, map, from, err);
    }
    return status;
}

static enum pdnn_status build_children(struct builder *builder, struct pdnn_yaml *parent, int depth,
                                       struct pdnn_err *err) {
    bool merges = false;
    for (;;) {
        bool end;
        struct pdnn_yaml *key = NULL, *child = NULL;
        enum pdnn_status status = build_next(builder, depth, &child, &end, err);
        if (status == PDNN_OK && end && merges)
            status = merge(builder, parent, err);
        if (status != PDNN_OK || end)
            return status;
        if (parent->kind == PDNN_YAML_MAP) {
            key = child;
            if (key->kind != PDNN_YAML_SCALAR)
                return pdnn_yaml_fail(key, err, "a key is a word, not %s", pdnn_yaml_kind_name(key));
            status = build_next(builder, depth, &child, &end, err);
        }
        if (status != PDNN_OK)
            return status;
        child->key = key;
        if (key && check_once(builder, parent, child, err) != PDNN_OK)
            return err->status;
        pdnn_yaml_append(parent, child);
        merges = merges || (key && is_merge(child));
    }
}

static const yaml_char_t *event_anchor(const yaml_event_t *event) {
    return event->type == YAML_SCALAR_EVENT          ? event->data.scalar.anchor
           : event->type == YAML_MAPPING_START_EVENT ? event->data.mapping_start.anchor
                                                     : event->data.sequence_start.anchor;
}

static const yaml_char_t *event_tag(const yaml_event_t *event) {
    return event->type == YAML_SCALAR_EVENT          ? event->data.scalar.tag
           : event->type == YAML_MAPPING_START_EVENT ? event->data.mapping_start.tag
                                                     : event->data.sequence_start.tag;
}

static enum pdnn_status build(struct builder *builder, yaml_event_t *event, int depth, struct pdnn_yaml **out,
                              struct pdnn_err *err) {
    struct pdnn_yaml node = place(builder, event->start_mark);
    if (depth > PDNN_YAML_DEPTH)
        return pdnn_yaml_fail(&node, err, "nested deeper than %d levels", PDNN_YAML_DEPTH);
    if (event->type == YAML_ALIAS_EVENT)
        return build_alias(builder, event, out, err);
    if (event_tag(event))
        return pdnn_yaml_fail(&node, err, "tags such as %.60s mean nothing here",
                              (const char *)event_tag(event));
    struct anchor *anchor;
    enum pdnn_status status = open_anchor(builder, &node, event_anchor(event), &anchor, err);
    if (status != PDNN_OK)
        return status;
    if (event->type == YAML_SCALAR_EVENT) {
        status = build_scalar(builder, event, out, err);
    } else {
        node.kind = event->type == YAML_MAPPING_START_EVENT ? PDNN_YAML_MAP : PDNN_YAML_LIST;
        *out = new_node(builder, &node, err);
        status = *out ? build_children(builder, *out, depth + 1, err) : err->status;
    }
    if (status == PDNN_OK && anchor) {
        anchor->node = *out;
        anchor->open = false;
    }
    return status;
}

static const char empty_document[] = "empty, a spec has at least `models`";

/* The root of the document that starts with the event, appended to the documents before it. Anchors belong to
 * their document. */
static enum pdnn_status build_document(struct builder *builder, yaml_event_t *event, struct pdnn_yaml *all,
                                       struct pdnn_err *err) {
    struct pdnn_yaml *root = NULL;
    builder->anchors = NULL;
    builder->n_anchors = 0;
    enum pdnn_status status = build(builder, event, 0, &root, err);
    if (status != PDNN_OK)
        return status;
    if (!builder->whole_name && pdnn_yaml_is_null(root))
        return pdnn_yaml_fail(root, err, "%s", empty_document);
    pdnn_yaml_append(all, root);
    return PDNN_OK;
}

/* Stream start, documents, stream end. */
static enum pdnn_status build_stream(struct builder *builder, struct pdnn_yaml **root, struct pdnn_err *err) {
    struct pdnn_yaml all = {0};
    yaml_event_t event = {0};
    enum pdnn_status status;
    for (;;) {
        status = next_event(builder, &event, err);
        if (status != PDNN_OK || event.type == YAML_STREAM_END_EVENT)
            break;
        struct pdnn_yaml at = place(builder, event.start_mark);
        if (event.type == YAML_DOCUMENT_START_EVENT && all.count && builder->whole_name)
            status = pdnn_yaml_fail(&at, err, "a second YAML document");
        else if (event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
                 event.type != YAML_DOCUMENT_END_EVENT)
            status = build_document(builder, &event, &all, err);
        if (status != PDNN_OK)
            break;
        yaml_event_delete(&event);
    }
    yaml_event_delete(&event);
    if (status == PDNN_OK && !all.count) {
        struct pdnn_yaml at = place(builder, (yaml_mark_t){0});
        status = pdnn_yaml_fail(&at, err, "%s", builder->whole_name ? "no value" : empty_document);
    }
    if (status == PDNN_OK)
        *root = all.first;
    return status;
}

/* libyaml compares every directive with all before it. */
static enum pdnn_status check_directives(const struct builder *builder, struct pdnn_err *err) {
    const char *line = builder->text, *end = line + builder->length;
    for (int count = 0; line < end; line++) {
        if (*line == '%' && ++count > PDNN_YAML_DIRECTIVES) {
            struct pdnn_yaml at = place(builder, mark_at(builder, (size_t)(line - builder->text)));
            return pdnn_yaml_fail(&at, err, "more than %d lines that begin with %%", PDNN_YAML_DIRECTIVES);
        }
        line = memchr(line, '\n', (size_t)(end - line));
        if (!line)
            break;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_yaml_parse(const struct pdnn_yaml_input *input, struct pdnn_arena *arena,
                                 struct pdnn_yaml **root, struct pdnn_err *err) {
    const char *text = input->text;
    const size_t length = input->length;
    struct pdnn_yaml_count own = {0};
    struct builder builder = {.file = input->file,
                              .whole_name = input->whole_name,
                              .text = text,
                              .length = length,
                              .arena = arena,
                              .count = input->count ? input->count : &own};
    struct pdnn_err local = {0};
    err = err ? err : &local;
    const char *nul = memchr(text, 0, length);
    if (nul) {
        struct pdnn_yaml at = place(&builder, mark_at(&builder, (size_t)(nul - text)));
        return pdnn_yaml_fail(&at, err, "not a text file: a NUL byte");
    }
    if (check_directives(&builder, err) != PDNN_OK)
        return err->status;
    if (!yaml_parser_initialize(&builder.parser))
        return pdnn_fail(err, PDNN_NO_MEMORY, "no memory for '%.200s'", input->file);
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)text, length);
    enum pdnn_status status = build_stream(&builder, root, err);
    yaml_parser_delete(&builder.parser);
    return status;
}
