#include "cli/args/help.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"

#include <string.h>

static const char description[] =
    "Without TOPIC, says what paradnn is and lists the commands. TOPIC is a command, whose --help is printed, or "
    "spec: the language of specs, with every key, its values, its default and an example.";

static const struct pdnn_help_row examples[] = {
    {"paradnn help plot", "the kinds of picture and their options"},
    {"paradnn help spec", "how to write a spec"},
};

static const char spec_topic[] = "spec";

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const char *topic = *arguments->operands;
    const bool is_spec = topic && strcmp(topic, spec_topic) == 0;
    const struct pdnn_command_def *command = topic ? pdnn_command_find(topic) : NULL;
    struct pdnn_str text = {0};
    if (topic && !is_spec && !command)
        return pdnn_command_unknown(topic, err);
    if (is_spec)
        pdnn_spec_page_format(&text, pdnn_help_width());
    else
        pdnn_help_format(&text, command, false);
    pdnn_text_print(&text, true);
    return PDNN_OK;
}

PDNN_COMMAND_BARE(help, PDNN_COMMANDS_EXPLAIN, "[TOPIC]", "Explains a command, or the language of specs.",
                  .examples = examples, .n_examples = sizeof examples / sizeof *examples, .run = run);
