/* The command line as tables: a command is a row, an option is a row, and the parser, --help and the manual
 * page read the same rows. Nothing here knows a command by name. */
#ifndef CLI_ARGS_OPTIONS_H
#define CLI_ARGS_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the argument of an option must be. */
enum pdnn_option_kind {
    PDNN_OPTION_TEXT,
    PDNN_OPTION_WHOLE,  /* a whole number from least to most */
    PDNN_OPTION_NUMBER, /* any number from least to most */
    PDNN_OPTION_TIME    /* above zero, such as 90s or 10m */
};

struct pdnn_option_def {
    const char *name;           /* "output": given as --output X or --output=X */
    char letter;                /* 'o': given as -o X or -oX; 0 for none */
    const char *argument;       /* "DIR"; NULL: a flag */
    const char *const *choices; /* NULL-terminated words the argument must be one of; or NULL */
    bool repeats;               /* may be given more than once */
    const char *help;           /* one sentence without a full stop, including the default */
    enum pdnn_option_kind kind; /* PDNN_OPTION_TEXT: any text, or one of the choices */
    double least, most;
    /* Another option that must be given with it, and those that cannot be, joined by commas; or NULL. */
    const char *needs, *excludes;
    /* Its name before, which is refused with a line that says the present one, as is its first letter; or
     * NULL. */
    const char *former;
};

/* Something with a name, and what is said of it. */
struct pdnn_help_row {
    const char *name, *help;
};

struct pdnn_arguments;

/* How the list of commands is divided, by what one wants to do. */
enum pdnn_command_group {
    PDNN_COMMANDS_FIRST, /* to start with */
    PDNN_COMMANDS_MEASURE,
    PDNN_COMMANDS_LOOK,
    PDNN_COMMANDS_FILES,
    PDNN_COMMANDS_EXPLAIN,
    PDNN_COMMAND_GROUPS
};

struct pdnn_command_def {
    const char *name;
    enum pdnn_command_group group;
    const char *summary;  /* one line */
    const char *operands; /* "KIND RESULTS...", "A [B]", "": the synopsis, and how many there may be */
    /* Operands, except a KIND, are result directories that exist. */
    bool reads_directories;
    bool (*takes_specs)(const char *kind); /* whether they may also be specs or ids; NULL: never */
    const char *rest; /* what comes after "--" is for another program: its name in the synopsis; or NULL */
    const char *description; /* paragraphs, with an empty line between two */
    /* The kinds the first operand may have, by index: false past the last one. NULL: not from a table. */
    bool (*kind)(size_t index, const char **name, const char **help);
    const struct pdnn_option_def *options;
    size_t n_options;
    const struct pdnn_help_row *examples;
    size_t n_examples;
    /* Its results are files only, so a closed stdout is no reason to fail. */
    bool prints_nothing;
    /* Runs the command; *arguments->some_failed: it ran to the end, but something failed (exit status 1);
     * untold: or else what was asked could not be told (3). */
    enum pdnn_status (*run)(const struct pdnn_arguments *arguments, struct pdnn_err *err);
};

/* The row of a command, from the tables that its file begins with; what else it has follows .run. */
#define PDNN_COMMAND(word, in_group, synopsis, one_line, ...)                                                \
    PDNN_COMMAND_BARE(word, in_group, synopsis, one_line, .options = options,                                \
                      .n_options = sizeof options / sizeof *options, .examples = examples,                   \
                      .n_examples = sizeof examples / sizeof *examples, __VA_ARGS__)

/* The same without options. */
#define PDNN_COMMAND_BARE(word, in_group, synopsis, one_line, ...)                                           \
    const struct pdnn_command_def pdnn_command_##word = {.name = #word,                                      \
                                                         .group = in_group,                                  \
                                                         .operands = synopsis,                               \
                                                         .summary = one_line,                                \
                                                         .description = description,                         \
                                                         __VA_ARGS__}

/* The option that the word gives, --output=X or -oX, or NULL. */
const struct pdnn_option_def *pdnn_option_find(const struct pdnn_command_def *command, const char *word);

/* A parsed command line. Everything borrows from argv except the arrays. */
struct pdnn_arguments {
    const struct pdnn_command_def *command;
    const char **operands; /* behind the last one is NULL */
    const struct pdnn_option_def *
        *given;          /* as often as it was given; those of one option follow each other */
    const char **values; /* one for each of these; "" of a flag */
    size_t n_operands, n_values;
    bool options_ended;                 /* there was a "--" */
    const struct pdnn_option_def *open; /* the last word, which lacks its argument; or NULL */
    const char *const *rest;            /* after "--", if the command has a use for it */
    size_t n_rest;
    bool help; /* --help or -h was given; nothing else was checked */
    bool *some_failed, *untold;
};

/* Parses and checks what follows the command's name; "--" ends the options, and the operands too if the
 * command has a rest. On PDNN_INVALID, err names the nearest option or choice. *arguments are the caller's to
 * finish, also after a failure. */
enum pdnn_status pdnn_arguments_parse(const struct pdnn_command_def *command, int argc, char **argv,
                                      struct pdnn_arguments *arguments, struct pdnn_err *err);

/* The same as far as words have come that may still be followed by others. err may be NULL: what is wrong is
 * passed over. */
enum pdnn_status pdnn_arguments_scan(const struct pdnn_command_def *command, int argc, char **argv,
                                     struct pdnn_arguments *arguments, struct pdnn_err *err);
void pdnn_arguments_finish(struct pdnn_arguments *arguments);

/* The last value given for the option, or NULL; "" for a flag. */
const char *pdnn_argument(const struct pdnn_arguments *arguments, const char *option);

/* The place of the option's value among its choices; `usual` where it is not given. */
size_t pdnn_argument_choice(const struct pdnn_arguments *arguments, const char *option, size_t usual);

/* The value of an option of that kind; `usual` where it is not given. */
uint64_t pdnn_argument_time(const struct pdnn_arguments *arguments, const char *option, uint64_t usual);
int64_t pdnn_argument_whole(const struct pdnn_arguments *arguments, const char *option, int64_t usual);
double pdnn_argument_number(const struct pdnn_arguments *arguments, const char *option, double usual);

/* All values of the option in the order given; they belong to the arguments. */
const char *const *pdnn_argument_all(const struct pdnn_arguments *arguments, const char *option,
                                     size_t *count);

/* PDNN_INVALID if an option is given that is not among these, joined by commas: "plot roofline has no option
 * --across; it takes ...", with what after the command's name. */
enum pdnn_status pdnn_arguments_only(const struct pdnn_arguments *arguments, const char *what,
                                     const char *options, struct pdnn_err *err);

/* Options that several commands share. */
extern const char *const pdnn_table_formats[]; /* table, csv, json, jsonl, markdown */
extern const char *const pdnn_shard_bases[];   /* 0, 1 */

/* Of what is printed with pdnn_table_print. */
#define PDNN_OPTIONS_TABLE                                                                                        \
    {"format", 0, "FORMAT", .choices = pdnn_table_formats,                                                        \
     .help =                                                                                                      \
         "table (the default); csv, json or jsonl, for programs (see paradnn columns); markdown, for documents"}, \
    {                                                                                                             \
        "columns", 0, "CHOICE",                                                                                   \
            .help =                                                                                               \
                "only these columns of the table for programs, in this order: names joined by commas, brief "     \
                "(what people plot) or all; without --format as a table for people"                               \
    }
#define PDNN_OPTION_ONLY                                                                                                               \
    {                                                                                                                                  \
        "only", 0, "CONDITIONS",                                                                                                       \
            .repeats = true,                                                                                                           \
            .help =                                                                                                                    \
                "only the rows of results.csv that meet all CONDITIONS, joined by commas: mode=train, "                                \
                "batch=32,64 for either value, params>=1e6, bound!=memory, or like an id: fc/nodes=8 or resnet50,vgg16,batch=64; may " \
                "be repeated"                                                                                                          \
    }
#define PDNN_OPTION_SET                                                                                      \
    {                                                                                                        \
        "set", 0, "KEY=VALUE",                                                                               \
            .repeats = true,                                                                                 \
            .help = "override a key of the spec, for example --set run.threads=1; may be repeated"           \
    }
#define PDNN_OPTION_LIBRARY                                                                                  \
    {                                                                                                        \
        "library", 0, "NAME=DIR",                                                                            \
            .repeats = true,                                                                                 \
            .help = "run with the oneDNN or OpenBLAS in DIR as library=NAME; of several, all are compared; " \
                    "may be repeated"                                                                        \
    }
#define PDNN_OPTIONS_HARDWARE                                                                                \
    {"compute", 0, "DTYPE=FACTOR",                                                                           \
     .help = "peak FLOP rates times this: 2, or of one dtype bf16=4, or both: 2,bf16=4"},                    \
        {"bandwidth", 0, "LEVEL=FACTOR",                                                                     \
         .help = "bandwidth of memory times this: 1.5, or of a cache level L3=2, or both: 1.5,L3=2"},        \
        {"cache", 0, "FACTOR", .help = "capacity of all caches times this"},                                 \
        {"overhead", 0, "FACTOR", .help = "cost of calling an op, and of what is in no op, times this"},     \
        {"onto", 0, "FILE", .help = "the roofs of this ceilings.csv, or of the directory that has it"}, {    \
        "threads", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = 1 << 20,                           \
                           .help = "the roofs for N threads (default: as many as each row ran on)"           \
    }
#define PDNN_OPTIONS_DISTRIBUTION                                                                            \
    {"nodes", 'n', "NUMBERS",                                                                                \
     .help = "data parallel over so many devices each, such as 2,8,64 (default: 1)"},                        \
        {"slice", 0, "NUMBERS",                                                                              \
         .help = "slice transformers over so many devices each, such as 2,4,8 (default: 1)"},                \
        {"link", 'l', "LINK",                                                                                \
         .help = "bandwidth per device and latency of a message: 12.5GB/s,2us or 200Mbit/s"},                \
        {"overlap", .help = "reduce gradients during the backward pass, in buckets"}, {                      \
        "bucket", 0, "BYTES", .help = "gradients that are reduced together (default: 25MB)"                  \
    }
#define PDNN_OPTION_SLOW                                                                                     \
    {                                                                                                        \
        "allow-slow",                                                                                        \
            .help = "run what has no fast path for its dtype anyway, in the library's reference code or on " \
                    "f32 copies; such rows have the flag slow"                                               \
    }
#define PDNN_OPTIONS_SHARD                                                                                   \
    {"shard", 0, "I/N",                                                                                      \
     .help = "only the instances of shard I of N, dealt by predicted time so that all shards end together; " \
             "auto/N takes I from the job array of Slurm, PBS, LSF, SGE, HyperQueue, Flux and others"},      \
    {                                                                                                        \
        "shard-base", 0, "0|1", .choices = pdnn_shard_bases, .needs = "shard",                               \
                                .help = "what the shards count from: 0 (the default) to N-1, or 1 to N"      \
    }
#define PDNN_OPTION_NO_CACHE                                                                                            \
    {                                                                                                                   \
        "no-cache",                                                                                                     \
            .help =                                                                                                     \
                "neither use what earlier runs measured (roofs, and the times that implementations are chosen by) nor " \
                "keep what this one measures, but for the choices that the sides of a comparison share"                 \
    }
#define PDNN_OPTION_CEILINGS                                                                                 \
    { "ceilings", 0, "FILE", .help = "take the machine's roofs from FILE instead of measuring them" }

/* Of what opens a spec and measures. */
#define PDNN_OPTIONS_MEASURE PDNN_OPTION_SET, PDNN_OPTION_CEILINGS, PDNN_OPTION_SLOW, PDNN_OPTION_NO_CACHE

#endif
