#define _GNU_SOURCE /* environ, memfd_create */
#include "session/batch/scheduler_client.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 2, KEPT_BYTES = 1 << 16 };

/* Writes go into files and not into pipes: nobody has to read while the child runs, and a process that it
 * leaves behind holds nothing up. */
static int start(const char *const *command, const int files[STREAMS], pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return code;
    code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < STREAMS && !code; i++)
        code = posix_spawn_file_actions_adddup2(&actions, files[i], STDOUT_FILENO + i);
    /* posix_spawn takes char *const *, but changes nothing. */
    if (!code)
        code = posix_spawnp(pid, command[0], &actions, NULL, (char *const *)(uintptr_t)command, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Waits for the child, or kills it at the deadline. */
static bool await(pid_t pid, uint64_t deadline_ns, int *ended) {
    const struct timespec moment = {.tv_nsec = 10000000};
    while (waitpid(pid, ended, WNOHANG) != pid) {
        if (pdnn_clock_ns() >= deadline_ns) {
            kill(pid, SIGKILL);
            while (waitpid(pid, ended, 0) < 0 && errno == EINTR) {
            }
            return false;
        }
        nanosleep(&moment, NULL);
    }
    return true;
}

/* Appends the front of the file, and closes it. */
static void take(int fd, struct pdnn_str *text) {
    char *front = pdnn_alloc(KEPT_BYTES, 1);
    ssize_t count = fd < 0 ? 0 : pread(fd, front, KEPT_BYTES, 0);
    pdnn_str_append(text, front, count > 0 ? (size_t)count : 0);
    free(front);
    if (fd >= 0)
        close(fd);
}

enum pdnn_status pdnn_scheduler_ask(const char *const *command, uint64_t patience_ns,
                                    struct pdnn_answer *answer, struct pdnn_err *err) {
    uint64_t deadline_ns = pdnn_clock_ns() + patience_ns;
    char patience[PDNN_UNIT_TEXT];
    pid_t pid = 0;
    int ended = 0;
    *answer = (struct pdnn_answer){0};
    const int files[STREAMS] = {memfd_create("out", MFD_CLOEXEC), memfd_create("errors", MFD_CLOEXEC)};
    int code = files[0] < 0 || files[1] < 0 ? errno : start(command, files, &pid);
    bool in_time = !code && await(pid, deadline_ns, &ended);
    take(files[0], &answer->out);
    take(files[1], &answer->errors);
    if (code)
        return pdnn_fail(err, PDNN_IO, "cannot run %s: %s", command[0], strerror(code));
    answer->exit_status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    if (!in_time)
        return pdnn_fail(err, PDNN_IO, "%s has not ended within %s", command[0],
                         pdnn_format_ns(patience, (double)patience_ns));
    return PDNN_OK;
}

void pdnn_answer_finish(struct pdnn_answer *answer) {
    pdnn_str_finish(&answer->out);
    pdnn_str_finish(&answer->errors);
}
