/* Candidates for one word of a command line, and what an operand or an option's argument may be. */
#ifndef CLI_ARGS_COMPLETE_VALUES_H
#define CLI_ARGS_COMPLETE_VALUES_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Files that the shell offers besides the candidates. */
enum pdnn_complete_files {
    PDNN_COMPLETE_NONE,
    PDNN_COMPLETE_FILES,
    PDNN_COMPLETE_DIRECTORIES,
    PDNN_COMPLETE_SPECS, /* YAML files */
};

/* Candidates for one word, of which the user has typed a part. */
struct pdnn_completion {
    const char *word;
    size_t kept; /* letters of the word before the part that is being completed: "--set=", "fc/nodes=8," */
    enum pdnn_complete_files files;
    struct pdnn_str lines; /* "\nCANDIDATE\tHELP", each a whole word, once; its last letter is one of ,./:= if
                              more must follow */
};

/* Adds the candidate `name` + `suffix` after what is kept, if the word begins like it. */
void pdnn_complete_add(struct pdnn_completion *completion, const char *name, const char *suffix,
                       const char *help);

struct pdnn_option_def;

/* Adds what an operand or an option's argument may be. `name` is its name in the tables ("DIR"); option may
 * be NULL. False if nothing says what such an argument is. */
bool pdnn_complete_argument(struct pdnn_completion *completion, const char *name,
                            const struct pdnn_option_def *option);

#endif
