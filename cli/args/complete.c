#include "cli/args/complete.h"

#include "cli/args/complete_values.h"
#include "cli/args/registry.h"

#include <string.h>

/* What the words before the last one say about it. */
struct place {
    const struct pdnn_command_def *command;
    const struct pdnn_option_def *argument_of; /* the last word is the argument of this option */
    size_t n_operands;                         /* before the last word */
    bool options_ended, rest;
};

/* The option that the word gives, or NULL. */
static const struct pdnn_option_def *find_option(const struct pdnn_command_def *command, const char *word) {
    size_t length = strcspn(word + 1, "=") - 1;
    for (size_t i = 0; i < command->n_options; i++) {
        const struct pdnn_option_def *option = &command->options[i];
        if (word[1] != '-' ? option->letter && option->letter == word[1]
                           : strlen(option->name) == length && strncmp(option->name, word + 2, length) == 0)
            return option;
    }
    return NULL;
}

/* True if the argument is in the option's own word: --set=KEY=VALUE, -oDIR. */
static bool has_argument(const char *word) {
    return word[1] == '-' ? strchr(word, '=') != NULL : word[2] != 0;
}

static struct place find_place(const char *const *words, size_t count) {
    struct place place = {.command = pdnn_command_find(words[0])};
    for (size_t i = 1; place.command && i + 1 < count && !place.rest; i++) {
        const char *word = words[i];
        if (place.options_ended || word[0] != '-' || !word[1]) {
            place.n_operands++;
        } else if (strcmp(word, "--") == 0) {
            place.options_ended = true;
            place.rest = place.command->rest != NULL;
        } else {
            const struct pdnn_option_def *option = find_option(place.command, word);
            if (option && option->argument && !has_argument(word) && ++i + 1 == count)
                place.argument_of = option;
        }
    }
    return place;
}

static void add_commands(struct pdnn_completion *completion) {
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        pdnn_complete_add(completion, (*command)->name, "", (*command)->summary);
}

/* Before any command. */
static void complete_first(struct pdnn_completion *completion) {
    add_commands(completion);
    if (completion->word[0] != '-')
        return;
    pdnn_complete_add(completion, "--help", "", "show help and exit");
    pdnn_complete_add(completion, "--version", "", "show versions and exit");
    pdnn_complete_add(completion, "--man", "", "print a manual page and exit");
}

static bool is_given(const struct pdnn_command_def *command, const struct pdnn_option_def *option,
                     const char *const *words, size_t count) {
    for (size_t i = 1; i + 1 < count; i++)
        if (words[i][0] == '-' && words[i][1] && find_option(command, words[i]) == option)
            return true;
    return false;
}

static void add_options(struct pdnn_completion *completion, const struct pdnn_command_def *command,
                        const char *const *words, size_t count) {
    for (size_t i = 0; i < command->n_options; i++) {
        const struct pdnn_option_def *option = &command->options[i];
        struct pdnn_str name = {0};
        pdnn_str_printf(&name, "--%s", option->name);
        if (option->repeats || !is_given(command, option, words, count))
            pdnn_complete_add(completion, pdnn_str_text(&name), "", option->help);
        pdnn_str_finish(&name);
    }
    pdnn_complete_add(completion, "--help", "", "show help and exit");
}

/* Operand `number`, by the names in the synopsis: "KIND RESULTS...", "A [B]", "SPEC|ID...", whose first name
 * stands for both. */
static void add_operand(struct pdnn_completion *completion, const struct pdnn_command_def *command,
                        size_t number) {
    bool (*words)(size_t index, const char **name, const char **help) =
        command->kind ? command->kind : command->word;
    const char *name, *help, *at = command->operands;
    if (number >= pdnn_operand_counts(command->operands).most)
        return;
    for (size_t i = 0; !number && words && words(i, &name, &help); i++)
        pdnn_complete_add(completion, name, "", help);
    for (size_t i = 0; i < number && strchr(at, ' '); i++)
        at = strchr(at, ' ') + 1;
    at += strspn(at, "[");
    char first[32];
    size_t length = strcspn(at, "|.] ");
    if (!length || length >= sizeof first)
        return;
    memcpy(first, at, length);
    first[length] = 0;
    pdnn_complete_argument(completion, first, NULL);
}

static void complete_word(struct pdnn_completion *completion, const char *const *words, size_t count) {
    const struct place place = find_place(words, count);
    const char *word = completion->word;
    if (!place.command || place.rest)
        return;
    const struct pdnn_option_def *option = place.argument_of;
    if (!option && !place.options_ended && word[0] == '-' && word[1]) {
        option = find_option(place.command, word);
        if (!option || !option->argument || !has_argument(word)) {
            add_options(completion, place.command, words, count);
            return;
        }
        completion->kept = word[1] == '-' ? (size_t)(strchr(word, '=') - word) + 1 : 2;
    }
    if (option) {
        pdnn_complete_argument(completion, option->argument, option);
        return;
    }
    add_operand(completion, place.command, place.n_operands);
    if (word[0] == '-' && !place.options_ended)
        add_options(completion, place.command, words, count);
}

void pdnn_complete(struct pdnn_str *out, const char *const *words, size_t count) {
    static const char *const files[] = {
        [PDNN_COMPLETE_NONE] = "none",
        [PDNN_COMPLETE_FILES] = "files",
        [PDNN_COMPLETE_DIRECTORIES] = "directories",
        [PDNN_COMPLETE_SPECS] = "specs",
    };
    struct pdnn_completion completion = {.word = count ? words[count - 1] : ""};
    if (count < 2)
        complete_first(&completion);
    else if (count == 2 && strcmp(words[0], "--man") == 0)
        add_commands(&completion);
    else
        complete_word(&completion, words, count);
    pdnn_str_printf(out, "%s%s\n", files[completion.files], pdnn_str_text(&completion.lines));
    pdnn_str_finish(&completion.lines);
}
