#define _POSIX_C_SOURCE 200809L
#include "results/plots/gnuplot.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void pdnn_gnuplot_quote(struct pdnn_str *script, const char *text) {
    pdnn_str_append(script, "'", 1);
    for (; *text; text++) {
        if (*text == '\'')
            pdnn_str_append(script, "''", 2);
        else
            pdnn_str_append(script, (unsigned char)*text < 0x20 ? " " : text, 1);
    }
    pdnn_str_append(script, "'", 1);
}

void pdnn_gnuplot_text(struct pdnn_str *script, const char *name, const char *text) {
    pdnn_str_printf(script, "%s = ", name);
    pdnn_gnuplot_quote(script, text);
    pdnn_str_append(script, "\n", 1);
}

/* Creates a temporary file; path lets gnuplot open it. */
static enum pdnn_status make_temporary(char path[PATH_MAX], int *fd, struct pdnn_err *err) {
    const char *directory = getenv("TMPDIR");
    int written =
        snprintf(path, PATH_MAX, "%s/paradnn-plot-XXXXXX", directory && *directory ? directory : "/tmp");
    if (written < 0 || written >= PATH_MAX)
        return pdnn_fail(err, PDNN_INVALID, "TMPDIR: the path is too long");
    *fd = mkstemp(path);
    if (*fd < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", path, strerror(errno));
    return PDNN_OK;
}

/* stdout is data and belongs to the caller, so gnuplot's output goes to message_fd. */
static enum pdnn_status spawn_and_wait(const char *path, int message_fd, int *exit_status,
                                       struct pdnn_err *err) {
    char program[] = "gnuplot", script[PATH_MAX];
    char *const arguments[] = {program, script, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    snprintf(script, sizeof script, "%s", path);
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return pdnn_fail(err, PDNN_NO_MEMORY, "cannot start gnuplot: %s", strerror(code));
    code = posix_spawn_file_actions_adddup2(&actions, message_fd, STDERR_FILENO);
    if (!code)
        code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!code)
        code = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!code)
        code = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code == ENOENT)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "gnuplot is not installed; it draws the pictures (Debian package gnuplot-nox)");
    if (code)
        return pdnn_fail(err, PDNN_IO, "cannot start gnuplot: %s", strerror(code));
    while (waitpid(child, exit_status, 0) < 0) {
        if (errno != EINTR)
            return pdnn_fail(err, PDNN_IO, "cannot wait for gnuplot: %s", strerror(errno));
    }
    return PDNN_OK;
}

/* gnuplot repeats the command, marks a position below it, and says what is wrong in its last line. */
static enum pdnn_status report_failure(int message_fd, struct pdnn_err *err) {
    char message[512] = "";
    off_t end = lseek(message_fd, 0, SEEK_END), room = (off_t)sizeof message - 1;
    ssize_t length = pread(message_fd, message, sizeof message - 1, end > room ? end - room : 0);
    while (length > 0 && message[length - 1] == '\n')
        length--;
    message[length > 0 ? length : 0] = 0;
    const char *last = strrchr(message, '\n');
    return pdnn_fail(err, PDNN_IO, "gnuplot failed: %s", last ? last + 1 : message);
}

enum pdnn_status pdnn_gnuplot_run(const struct pdnn_str *script, struct pdnn_err *err) {
    char script_path[PATH_MAX] = "", message_path[PATH_MAX] = "";
    int script_fd = -1, message_fd = -1, exit_status = 0;
    enum pdnn_status status = make_temporary(script_path, &script_fd, err);
    if (status != PDNN_OK)
        return status;
    status = script->failed ? pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the plot")
                            : pdnn_fd_write(script_fd, pdnn_str_text(script), script->length, err);
    if (status == PDNN_OK)
        status = make_temporary(message_path, &message_fd, err);
    if (status == PDNN_OK)
        status = spawn_and_wait(script_path, message_fd, &exit_status, err);
    if (status == PDNN_OK && exit_status != 0)
        status = report_failure(message_fd, err);
    unlink(script_path);
    close(script_fd);
    if (message_fd >= 0) {
        unlink(message_path);
        close(message_fd);
    }
    return status;
}
