#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "base/visible.h"
#include "cli/print/output.h"
#include "session/prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char description[] =
    "Drops the rows of an earlier spec from a sweep's directory: the instances that its spec.yaml does not name. It "
    "says which, and asks; an answer other than y drops nothing, with exit status 0. Where nobody can be asked, it "
    "needs --yes.\n\n"
    "The old journal is kept beside the new one, as journal-DATE.csv and journal-ops-DATE.csv; nothing reads them, "
    "and renamed back they restore everything. The tables are made again. It refuses while a sweep works in DIR. If "
    "it is killed, DIR has either its old journal or the new one, and running it again completes the tables.";

static const struct pdnn_option_def options[] = {
    PDNN_OPTION_ONLY,
    {"yes", 'y', .help = "do not ask"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn prune fc.results", "drop what spec.yaml does not name now, after asking"},
    {"paradnn prune fc.results --only mode=train,batch=1,2 --yes", "of these, only some"},
};

enum { SHOWN = 20 };

static void print_plan(const struct pdnn_prune *prune) {
    const struct pdnn_texts *dropped = &prune->dropped;
    bool is_terminal = isatty(STDOUT_FILENO);
    struct pdnn_str out = {0};
    for (size_t i = 0; i < dropped->count && (!is_terminal || i < SHOWN); i++)
        pdnn_str_printf(&out, "%s\n", dropped->text[i]);
    if (is_terminal && dropped->count > SHOWN)
        pdnn_str_printf(&out, "and %zu more\n", dropped->count - SHOWN);
    pdnn_text_print(&out, true);
    fprintf(stderr, "%zu instance%s that spec.yaml does not name, with %zu visit%s, to drop; %zu to keep",
            dropped->count, dropped->count == 1 ? "" : "s", prune->visits, prune->visits == 1 ? "" : "s",
            prune->kept);
    if (prune->spared)
        fprintf(stderr, ", %zu of them not in spec.yaml either, but not chosen by --only", prune->spared);
    fputc('\n', stderr);
}

/* Only a line that begins with y is a yes. */
static bool is_wanted(void) {
    char answer[64];
    fprintf(stderr, "drop them? [y/N] ");
    const bool yes = fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
    if (!yes)
        fprintf(stderr, "%snothing was dropped\n", feof(stdin) ? "\n" : "");
    return yes;
}

/* Any other answer was asked for too, so it is a success. */
static enum pdnn_status prune_directory(struct pdnn_prune *prune, const struct pdnn_arguments *arguments,
                                        struct pdnn_err *err) {
    char shown[PDNN_VISIBLE_TEXT];
    const char *directory = pdnn_visible(shown, arguments->operands[0]);
    const bool asks = prune->dropped.count && !pdnn_argument(arguments, "yes");
    print_plan(prune);
    if (asks && !isatty(STDIN_FILENO))
        return pdnn_fail(err, PDNN_INVALID,
                         "nothing was dropped: prune needs --yes where nobody can be asked");
    if (asks && !is_wanted())
        return PDNN_OK;
    if (pdnn_prune_commit(prune, err) != PDNN_OK)
        return err->status;
    if (prune->dropped.count)
        fprintf(stderr, "the old journal: %s/%s, %s/%s\n", directory, prune->aside[0], directory,
                prune->aside[1]);
    fprintf(stderr, "tables: %s/results.csv, %s/ops.csv\n", directory, directory);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_prune *prune = pdnn_alloc(1, sizeof *prune);
    size_t n_only;
    const char *const *only = pdnn_argument_all(arguments, "only", &n_only);
    prune->sweep.folder.fd = -1;
    enum pdnn_status status = pdnn_prune_open(prune, arguments->operands[0], only, n_only, err);
    if (status == PDNN_OK)
        status = prune_directory(prune, arguments, err);
    pdnn_prune_close(prune);
    free(prune);
    return status;
}

PDNN_COMMAND(prune, PDNN_COMMANDS_FILES, "DIR", "Drops the rows of an earlier spec.", .run = run,
             .reads_directories = true);
