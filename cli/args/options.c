#include "cli/args/options.h"

#include "base/memory.h"
#include "base/units.h"
#include "gen/language.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const pdnn_table_formats[] = {"table", "csv", "json", "jsonl", "markdown", NULL};
const char *const pdnn_shard_bases[] = {"0", "1", NULL};

const struct pdnn_option_def *pdnn_option_find(const struct pdnn_command_def *command, const char *word) {
    const size_t length = strcspn(word + 1, "=") - 1;
    for (size_t i = 0; i < command->n_options; i++) {
        const struct pdnn_option_def *option = &command->options[i];
        if (word[1] != '-' ? option->letter && option->letter == word[1]
                           : strlen(option->name) == length && strncmp(option->name, word + 2, length) == 0)
            return option;
    }
    return NULL;
}

/* "unknown option '--threads=1', it belongs under run: --set run.threads=VALUE", if the name is a key
 * that the command's --set takes. */
static enum pdnn_status misplaced_key(const struct pdnn_command_def *command, const char *text,
                                      const char *name, struct pdnn_err *err) {
    char place[PDNN_PLACE_TEXT];
    const char *section = pdnn_key_section(name);
    const struct pdnn_option_def *set = pdnn_option_find(command, "--set");
    if (!set || !*pdnn_key_place(place, name))
        return PDNN_OK;
    bool is_hyper = pdnn_key_is_hyper(name);
    if (strcmp(set->argument, "PARAMETER=VALUE") == 0) /* of an instance, not of a spec */
        return is_hyper || (section && strcmp(section, "run") == 0)
                   ? pdnn_fail(err, PDNN_INVALID, "unknown option '%s', it is a parameter: --set %s=VALUE",
                               text, name)
                   : PDNN_OK;
    if (section)
        return pdnn_fail(err, PDNN_INVALID, "unknown option '%s'%s: --set %s.%s=VALUE", text, place, section,
                         name);
    if (is_hyper)
        return pdnn_fail(
            err, PDNN_INVALID,
            "unknown option '%s'%s: write MODEL,%s=VALUE for an ID, --set models.0.MODEL.%s=VALUE "
            "for a SPEC",
            text, place, name, name);
    return pdnn_fail(err, PDNN_INVALID, "unknown option '%s'%s", text, place);
}

static enum pdnn_status unknown_option(const struct pdnn_command_def *command, const char *text,
                                       struct pdnn_err *err) {
    enum { NAMES_MAX = 32, NAME_ROOM = 65 };
    const char *names[NAMES_MAX] = {"help"};
    size_t n_names = 1;
    for (size_t i = 0; i < command->n_options && n_names < NAMES_MAX; i++)
        names[n_names++] = command->options[i].name;
    char name[NAME_ROOM] = "";
    strncat(name, text + strspn(text, "-"), NAME_ROOM - 1);
    name[strcspn(name, "=")] = 0;
    const char *nearest = NULL;
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].former && (text[1] == '-' ? strcmp(command->options[i].former, name) == 0
                                                          : *command->options[i].former == text[1]))
            return pdnn_fail(err, PDNN_INVALID, "unknown option '%s', it is '--%s' now", text,
                             command->options[i].name);
    for (size_t i = 0; text[1] == '-' && i < command->n_options; i++)
        for (const char *const *choice = command->options[i].choices; choice && *choice; choice++)
            if (strcmp(*choice, name) == 0)
                return pdnn_fail(err, PDNN_INVALID, "unknown option '%s', did you mean '--%s %s'?", text,
                                 command->options[i].name, name);
    if (text[1] == '-' && misplaced_key(command, text, name, err) != PDNN_OK)
        return PDNN_INVALID;
    for (size_t i = 0; *name && i < n_names && !nearest; i++)
        if (strncmp(names[i], name, strlen(name)) == 0)
            nearest = names[i];
    if (!nearest && text[1] == '-')
        nearest = pdnn_nearest_word(name, names, n_names);
    if (nearest)
        return pdnn_fail(err, PDNN_INVALID, "unknown option '%s', did you mean '--%s'?", text, nearest);
    return pdnn_fail(err, PDNN_INVALID, "unknown option '%s', see 'paradnn %s --help'", text, command->name);
}

static enum pdnn_status check_choice(const struct pdnn_option_def *option, const char *text,
                                     struct pdnn_err *err) {
    size_t count = 0;
    for (; option->choices && option->choices[count]; count++)
        if (strcmp(option->choices[count], text) == 0)
            return PDNN_OK;
    if (!option->choices)
        return PDNN_OK;
    char buffer[PDNN_SUGGESTION_TEXT];
    struct pdnn_str hint = {0};
    pdnn_str_printf(&hint, "%s", pdnn_suggest(buffer, text, option->choices, count));
    for (size_t i = 0; i < count && !*buffer; i++)
        pdnn_str_printf(&hint, "%s%s", i ? ", " : ", expected one of: ", option->choices[i]);
    pdnn_fail(err, PDNN_INVALID, "--%s cannot be '%s'%s", option->name, text, pdnn_str_text(&hint));
    pdnn_str_finish(&hint);
    return PDNN_INVALID;
}

static enum pdnn_status check_number(const struct pdnn_option_def *option, const char *text,
                                     struct pdnn_err *err) {
    const bool is_whole = option->kind == PDNN_OPTION_WHOLE;
    uint64_t ns;
    int64_t whole = 0;
    double number = 0;
    if (option->kind == PDNN_OPTION_TIME && (!pdnn_parse_time_ns(text, &ns) || !ns))
        return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected a time such as 90s or 10m", option->name,
                         text);
    if (!is_whole && option->kind != PDNN_OPTION_NUMBER)
        return PDNN_OK;
    bool is_good = is_whole ? pdnn_parse_i64(text, &whole) : pdnn_parse_double(text, &number);
    number = is_whole ? (double)whole : number;
    if (is_good && number >= option->least && number <= option->most)
        return PDNN_OK;
    if (!is_whole)
        return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected a number from %g to %g", option->name,
                         text, option->least, option->most);
    return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected a whole number from %" PRId64 " to %" PRId64,
                     option->name, text, (int64_t)option->least,
                     option->most < (double)INT64_MAX ? (int64_t)option->most : INT64_MAX);
}

static enum pdnn_status add_value(struct pdnn_arguments *arguments, const struct pdnn_option_def *option,
                                  const char *text, struct pdnn_err *err) {
    const bool is_first = !pdnn_argument(arguments, option->name);
    if (!option->repeats && !is_first)
        return pdnn_fail(err, PDNN_INVALID, "--%s is given twice", option->name);
    if (option->argument && !*text)
        return pdnn_fail(err, PDNN_INVALID, "--%s needs a %s, but it is empty", option->name,
                         option->argument);
    if (check_choice(option, text, err) != PDNN_OK || check_number(option, text, err) != PDNN_OK)
        return PDNN_INVALID;
    size_t at = arguments->n_values++;
    for (; !is_first && arguments->given[at - 1] != option; at--) {
        arguments->given[at] = arguments->given[at - 1];
        arguments->values[at] = arguments->values[at - 1];
    }
    arguments->given[at] = option;
    arguments->values[at] = text;
    return PDNN_OK;
}

/* Parses one argument that starts with '-'. It may take the next one as its value; *at moves past what was
 * used. */
static enum pdnn_status parse_option(struct pdnn_arguments *arguments, int argc, char **argv, int *at,
                                     struct pdnn_err *err) {
    const struct pdnn_command_def *command = arguments->command;
    const char *text = argv[(*at)++];
    const bool is_long = text[1] == '-';
    const char *rest = is_long ? text + strcspn(text, "=") : text + 2;
    const struct pdnn_option_def *option = pdnn_option_find(command, text);
    if (!option)
        return unknown_option(command, text, err);
    if (!option->argument && *rest)
        return pdnn_fail(err, PDNN_INVALID, "--%s takes no value", option->name);
    if (!option->argument)
        return add_value(arguments, option, "", err);
    if (*rest)
        return add_value(arguments, option, is_long ? rest + 1 : rest, err);
    arguments->open = *at == argc ? option : NULL;
    if (arguments->open)
        return pdnn_fail(err, PDNN_INVALID, "--%s needs a %s", option->name, option->argument);
    return add_value(arguments, option, argv[(*at)++], err);
}

/* Of a synopsis [B] may be left out, and "..." repeats the last without end. */
static enum pdnn_status check_operands(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const char *synopsis = arguments->command->operands;
    size_t least = 0, most = 0;
    for (const char *at = synopsis; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        least += *at != '[';
        most++;
    }
    if (arguments->n_operands > most && !strstr(synopsis, "..."))
        return pdnn_fail(err, PDNN_INVALID, "unexpected argument '%s'", arguments->operands[most]);
    if (arguments->n_operands < least)
        return pdnn_fail(err, PDNN_INVALID, "needs %s, see 'paradnn %s --help'", synopsis,
                         arguments->command->name);
    return PDNN_OK;
}

static enum pdnn_status check_rules(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    for (size_t i = 0; i < arguments->n_values; i++) {
        const struct pdnn_option_def *option = arguments->given[i];
        if (option->needs && !pdnn_argument(arguments, option->needs))
            return pdnn_fail(err, PDNN_INVALID, "--%s needs --%s", option->name, option->needs);
        for (size_t k = 0; option->excludes && k < arguments->n_values; k++) {
            const char *name = arguments->given[k]->name;
            if (pdnn_parts_have(option->excludes, ",", name, strlen(name)))
                return pdnn_fail(err, PDNN_INVALID, "--%s and --%s cannot be combined", option->name, name);
        }
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_arguments_scan(const struct pdnn_command_def *command, int argc, char **argv,
                                     struct pdnn_arguments *arguments, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    *arguments = (struct pdnn_arguments){.command = command};
    arguments->operands = pdnn_alloc((size_t)argc + 1, sizeof *arguments->operands);
    arguments->given = pdnn_alloc((size_t)argc + 1, sizeof *arguments->given);
    arguments->values = pdnn_alloc((size_t)argc + 1, sizeof *arguments->values);
    for (int at = 0; at < argc && !arguments->help && !arguments->rest && (status == PDNN_OK || !err);) {
        const char *text = argv[at];
        if (arguments->options_ended || text[0] != '-' || !text[1]) {
            arguments->operands[arguments->n_operands++] = text;
            at++;
        } else if (strcmp(text, "--") == 0) {
            at++;
            arguments->options_ended = true;
            arguments->rest = command->rest ? (const char *const *)argv + at : NULL;
            arguments->n_rest = command->rest ? (size_t)(argc - at) : 0;
        } else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
            arguments->help = true;
        } else {
            status = parse_option(arguments, argc, argv, &at, err);
        }
    }
    return status;
}

enum pdnn_status pdnn_arguments_parse(const struct pdnn_command_def *command, int argc, char **argv,
                                      struct pdnn_arguments *arguments, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_arguments_scan(command, argc, argv, arguments, err);
    if (status == PDNN_OK && !arguments->help)
        status = check_operands(arguments, err);
    if (status == PDNN_OK && !arguments->help)
        status = check_rules(arguments, err);
    return status == PDNN_OK ? PDNN_OK : pdnn_wrap(err, "%s", command->name);
}

void pdnn_arguments_finish(struct pdnn_arguments *arguments) {
    free(arguments->operands);
    free(arguments->given);
    free(arguments->values);
    *arguments = (struct pdnn_arguments){0};
}

const char *pdnn_argument(const struct pdnn_arguments *arguments, const char *option) {
    size_t count;
    const char *const *values = pdnn_argument_all(arguments, option, &count);
    return count ? values[count - 1] : NULL;
}

size_t pdnn_argument_choice(const struct pdnn_arguments *arguments, const char *option, size_t usual) {
    size_t at = 0, choice = 0;
    while (at < arguments->n_values && strcmp(arguments->given[at]->name, option) != 0)
        at++;
    if (at == arguments->n_values)
        return usual;
    while (strcmp(arguments->given[at]->choices[choice], arguments->values[at]) != 0)
        choice++;
    return choice;
}

uint64_t pdnn_argument_time(const struct pdnn_arguments *arguments, const char *option, uint64_t usual) {
    const char *text = pdnn_argument(arguments, option);
    if (text)
        pdnn_parse_time_ns(text, &usual);
    return usual;
}

int64_t pdnn_argument_whole(const struct pdnn_arguments *arguments, const char *option, int64_t usual) {
    const char *text = pdnn_argument(arguments, option);
    if (text)
        pdnn_parse_i64(text, &usual);
    return usual;
}

double pdnn_argument_number(const struct pdnn_arguments *arguments, const char *option, double usual) {
    const char *text = pdnn_argument(arguments, option);
    if (text)
        pdnn_parse_double(text, &usual);
    return usual;
}

const char *const *pdnn_argument_all(const struct pdnn_arguments *arguments, const char *option,
                                     size_t *count) {
    size_t first = 0, end;
    while (first < arguments->n_values && strcmp(arguments->given[first]->name, option) != 0)
        first++;
    for (end = first; end < arguments->n_values && arguments->given[end] == arguments->given[first];)
        end++;
    *count = end - first;
    return arguments->values + first;
}

enum pdnn_status pdnn_arguments_only(const struct pdnn_arguments *arguments, const char *what,
                                     const char *options, struct pdnn_err *err) {
    size_t i = 0, length;
    while (i < arguments->n_values &&
           pdnn_parts_have(options, ",", arguments->given[i]->name, strlen(arguments->given[i]->name)))
        i++;
    if (i == arguments->n_values)
        return PDNN_OK;
    struct pdnn_str taken = {0};
    for (const char *rest = options, *at; (at = pdnn_part_next(&rest, ",", &length));)
        pdnn_str_printf(&taken, "%s--%.*s", at == options ? "" : rest ? ", " : " and ", (int)length, at);
    pdnn_fail(err, PDNN_INVALID, "%s %s has no option --%s; it takes %s", arguments->command->name, what,
              arguments->given[i]->name, pdnn_str_text(&taken));
    pdnn_str_finish(&taken);
    return PDNN_INVALID;
}
