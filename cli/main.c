/* paradnn: finds the command, parses its arguments, runs it, and turns its status into an exit status. Errors
 * are written to stderr here and nowhere else. Commands write only what is not an error there: progress,
 * warnings, summaries. */
#define _POSIX_C_SOURCE 200809L
#include "base/visible.h"
#include "cli/args/help.h"
#include "cli/args/registry.h"
#include "cli/print/progress.h"
#include "cli/print/output.h"
#include "gen/family/shipped.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FINE = 0, EXIT_SOME_FAILED = 1, EXIT_USAGE = 2, EXIT_UNTOLD = 3, EXIT_INTERRUPTED = 130 };

/* One line, whatever the arguments, file names and cells that it quotes. */
static void print_error(const struct pdnn_err *err) {
    char shown[PDNN_VISIBLE_TEXT];
    fprintf(stderr, "paradnn: %s\n", pdnn_visible(shown, err->text));
}

static int run_command(const struct pdnn_command_def *command, int argc, char **argv) {
    struct pdnn_err err = {0};
    struct pdnn_arguments arguments = {0};
    bool some_failed = false, untold = false;
    struct pdnn_str help = {0};
    enum pdnn_status status = pdnn_arguments_parse(command, argc, argv, &arguments, &err);
    arguments.some_failed = &some_failed;
    arguments.untold = &untold;
    if (status == PDNN_OK && !arguments.help)
        status = pdnn_operands_check(&arguments, &err);
    if (status == PDNN_OK && arguments.help) {
        pdnn_help_format(&help, command, false);
        pdnn_text_print(&help, true);
    } else if (status == PDNN_OK && !command->prints_nothing &&
               (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        status = pdnn_fail(&err, PDNN_IO, "cannot write to standard output");
    } else if (status == PDNN_OK) {
        if (command->prints_nothing)
            pdnn_interrupt_survive_readers();
        status = command->run(&arguments, &err);
    }
    pdnn_arguments_finish(&arguments);
    if (status == PDNN_OK)
        return some_failed ? EXIT_SOME_FAILED : untold ? EXIT_UNTOLD : EXIT_FINE;
    print_error(&err);
    return status == PDNN_INVALID || status == PDNN_BUSY ? EXIT_USAGE
           : status == PDNN_INTERRUPTED                  ? EXIT_INTERRUPTED
                                                         : EXIT_SOME_FAILED;
}

static int dispatch(int argc, char **argv) {
    struct pdnn_str text = {0};
    if (argc < 2) {
        pdnn_help_format(&text, NULL, false);
        fputs(pdnn_str_text(&text), stderr);
        pdnn_str_finish(&text);
        return EXIT_USAGE;
    }
    static const char *const same[][2] = {
        {"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};
    const bool is_manual = strcmp(argv[1], "--man") == 0;
    const char *name = argv[is_manual && argc > 2 ? 2 : 1];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        name = strcmp(name, same[i][0]) == 0 ? same[i][1] : name;
    const struct pdnn_command_def *command = pdnn_command_find(name);
    if (strcmp(argv[1], "--complete") == 0)
        pdnn_complete(&text, argc - 2, argv + 2);
    else if (is_manual && (command || argc == 2))
        pdnn_help_format(&text, command, true);
    else if (command)
        return run_command(command, argc - 2, argv + 2);
    if (text.length) {
        pdnn_text_print(&text, true);
        return EXIT_FINE;
    }
    struct pdnn_err err = {0};
    pdnn_command_unknown(name, &err);
    print_error(&err);
    return EXIT_USAGE;
}

/* If a standard stream is closed, the next file opened gets its descriptor, and messages would end up in the
 * journal. What stands in for stdout cannot be written to either. */
static bool open_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd)
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    if (!open_standard_streams())
        return EXIT_SOME_FAILED;
    /* A file that reaches `ulimit -f` fails like one on a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    pdnn_families_ship();
    int status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "paradnn: cannot write to standard output\n");
        return status == EXIT_FINE ? EXIT_SOME_FAILED : status;
    }
    return status;
}
