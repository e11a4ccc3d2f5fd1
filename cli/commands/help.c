#include "cli/args/help.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "cli/args/spec_page.h"
#include "models/instance.h"

#include <string.h>

static const char *const paragraphs[] = {
    "Without TOPIC, says what paradnn is and lists the commands. TOPIC is a command, whose --help is printed, or "
    "spec: the language of specs, with every key, its values, its default and an example.",
    NULL,
};

static const char *const formats[] = {"text", "markdown", NULL};

static const struct pdnn_option_def options[] = {
    {"format", 0, "FORMAT", formats, false,
     "text (the default), or markdown for the topic spec, which is doc/spec.md"},
};

static const struct pdnn_example examples[] = {
    {"paradnn help plot", "the kinds of picture and their options"},
    {"paradnn help spec", "how to write a spec"},
};

static const char spec_topic[] = "spec";

static enum pdnn_status unknown_topic(const char *topic, struct pdnn_err *err) {
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX];
    char buffer[PDNN_SUGGESTION_TEXT];
    size_t count = 0;
    names[count++] = spec_topic;
    for (size_t i = 0; pdnn_commands[i] && count < NAMES_MAX; i++)
        names[count++] = pdnn_commands[i]->name;
    if (pdnn_instance_is_named(topic))
        return pdnn_fail(err, PDNN_INVALID, "help: %s is a model, see 'paradnn families %.*s'", topic,
                         (int)strcspn(topic, "/:,"), topic);
    const char *hint = pdnn_suggest(buffer, topic, names, count);
    return pdnn_fail(err, PDNN_INVALID, "help: unknown topic '%s'%s", topic,
                     *hint ? hint : ", expected a command or spec");
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    const char *topic = arguments->n_operands ? arguments->operands[0] : NULL;
    bool is_spec = topic && strcmp(topic, spec_topic) == 0;
    bool markdown = pdnn_argument_choice(arguments, "format", 0);
    const struct pdnn_command_def *command = topic ? pdnn_command_find(topic) : NULL;
    struct pdnn_str text = {0};
    (void)some_failed;
    if (markdown && !is_spec)
        return pdnn_fail(err, PDNN_INVALID, "help: only spec has --format markdown");
    if (is_spec)
        pdnn_spec_page_format(&text, markdown, pdnn_help_width());
    else if (command)
        pdnn_help_format(&text, command);
    else if (topic)
        return unknown_topic(topic, err);
    else
        pdnn_help_format(&text, NULL);
    pdnn_text_print(&text, true);
    return PDNN_OK;
}

const struct pdnn_command_def pdnn_command_help = {
    .name = "help",
    .group = PDNN_COMMANDS_EXPLAIN,
    .summary = "Explains a command, or the language of specs.",
    .operands = "[TOPIC]",
    PDNN_COMMAND_TEXTS,
    .run = run,
};
