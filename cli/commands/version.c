#include "base/visible.h"
#include "cli/args/options.h"
#include "runtime/driver/worker/worker.h"

#include <stdio.h>

static const char description[] =
    "Prints the version of paradnn and those of the libraries behind its backends.";

/* Only the worker links the libraries, so it is asked for their versions. */
static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_host host;
    struct pdnn_worker worker = {0};
    char shown[PDNN_VISIBLE_TEXT];
    (void)arguments;
    printf("paradnn %s\n", PDNN_VERSION);
    if (pdnn_host_read(&host, err) != PDNN_OK ||
        pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, err) != PDNN_OK)
        return err->status;
    const struct pdnn_software *software = pdnn_worker_software(&worker);
    for (size_t i = 0; i < software->count; i++)
        printf("%-10s %s\n", software->row[i].backend, pdnn_visible(shown, software->row[i].version));
    pdnn_worker_stop(&worker);
    return PDNN_OK;
}

PDNN_COMMAND_BARE(version, PDNN_COMMANDS_EXPLAIN, "", "Shows the versions of paradnn and of its backends.",
                  .run = run);
