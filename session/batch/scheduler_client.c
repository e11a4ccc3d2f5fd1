#define _GNU_SOURCE /* environ, pipe2 */
#include "session/batch/scheduler_client.h"

#include "base/clock.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 2, KEPT_BYTES = 1 << 16 };

/* What is written goes into pipes. Files would not do: a script that writes to /dev/stdout opens that once
 * more, and so would write over what is there. */
static int start(const char *const *command, int pipes[STREAMS][2], pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return code;
    code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < STREAMS && !code; i++)
        code = posix_spawn_file_actions_adddup2(&actions, pipes[i][1], STDOUT_FILENO + i);
    /* posix_spawn takes char *const *, but changes nothing. */
    if (!code)
        code = posix_spawnp(pid, command[0], &actions, NULL, (char *const *)(uintptr_t)command, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Takes what the pipe holds now, of which the first KEPT_BYTES are kept: whoever writes goes on, and nobody
 * is waited for. */
static void take(int fd, struct pdnn_str *text) {
    char front[KEPT_BYTES];
    const ssize_t count = read(fd, front, sizeof front);
    const size_t room = KEPT_BYTES - text->length, got = count > 0 ? (size_t)count : 0;
    pdnn_str_append(text, front, got < room ? got : room);
}

/* Reads what the child prints until it has ended, or kills it at the deadline. What it leaves behind holds
 * nothing up. */
static bool await(pid_t pid, uint64_t deadline_ns, int pipes[STREAMS][2], struct pdnn_answer *answer,
                  int *ended) {
    const struct timespec moment = {.tv_nsec = 10000000};
    bool is_over = false, in_time = true;
    while (!is_over) {
        in_time = in_time && pdnn_clock_ns() < deadline_ns;
        if (!in_time)
            kill(pid, SIGKILL);
        is_over = waitpid(pid, ended, in_time ? WNOHANG : 0) == pid;
        take(pipes[0][0], &answer->out);
        take(pipes[1][0], &answer->errors);
        if (!is_over)
            nanosleep(&moment, NULL);
    }
    return in_time;
}

enum pdnn_status pdnn_scheduler_ask(const char *const *command, uint64_t patience_ns,
                                    struct pdnn_answer *answer, struct pdnn_err *err) {
    uint64_t deadline_ns = pdnn_clock_ns() + patience_ns;
    char patience[PDNN_UNIT_TEXT];
    int pipes[STREAMS][2] = {{-1, -1}, {-1, -1}};
    pid_t pid = 0;
    int ended = 0, code = 0;
    *answer = (struct pdnn_answer){0};
    for (int i = 0; i < STREAMS && !code; i++)
        code = pipe2(pipes[i], O_CLOEXEC) || fcntl(pipes[i][0], F_SETFL, O_NONBLOCK) ? errno : 0;
    code = code ? code : start(command, pipes, &pid);
    bool in_time = !code && await(pid, deadline_ns, pipes, answer, &ended);
    for (int i = 0; i < 2 * STREAMS; i++)
        close(pipes[i / 2][i % 2]);
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

enum { ANSWER_TEXT = 64, JOB_TEXT = 64, DIGITS_MAX = 5 };

static const uint64_t second_ns = UINT64_C(1000000000), patience_ns = UINT64_C(10000000000);

/* Reads digits, and moves *at past them. */
static bool take_number(const char **at, uint64_t *number) {
    size_t digits = strspn(*at, "0123456789");
    *number = 0;
    for (size_t i = 0; i < digits; i++)
        *number = *number * 10 + (uint64_t)(*(*at)++ - '0');
    return digits && digits <= DIGITS_MAX;
}

bool pdnn_time_left_parse(const char *text, struct pdnn_time_left *left) {
    static const char *const unlimited[] = {"UNLIMITED", "NOT_SET", "N/A"};
    uint64_t number, days = 0, seconds = 0;
    const char *at = text;
    *left = (struct pdnn_time_left){0};
    for (size_t i = 0; i < sizeof unlimited / sizeof *unlimited; i++)
        if (strcmp(text, unlimited[i]) == 0)
            return true;
    if (strchr(text, '-') && (!take_number(&at, &days) || *at++ != '-'))
        return false;
    for (int field = 0; field < 3; field++) {
        if (!take_number(&at, &number))
            return false;
        seconds = seconds * 60 + number;
        if (!*at) {
            *left = (struct pdnn_time_left){true, (days * 86400 + seconds) * second_ns, "squeue"};
            return true;
        }
        if (*at++ != ':')
            return false;
    }
    return false;
}

/* Parses the first line that squeue prints about the job. */
static enum pdnn_status ask_squeue(const char *id, struct pdnn_time_left *left, struct pdnn_err *err) {
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *task = getenv("SLURM_ARRAY_TASK_ID");
    char job[JOB_TEXT], line[ANSWER_TEXT];
    const char *const command[] = {"squeue", "-h", "-j", job, "-o", "%L", NULL};
    struct pdnn_answer answer;
    /* The last task of an array has the array's job id, which stands for all of its tasks. */
    if (array && task)
        snprintf(job, sizeof job, "%.24s_%.24s", array, task);
    else
        snprintf(job, sizeof job, "%.48s", id);
    enum pdnn_status status = pdnn_scheduler_ask(command, patience_ns, &answer, err);
    const char *text = pdnn_str_text(&answer.out);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, " \n"), text);
    if (status == PDNN_OK && (!*line || !pdnn_time_left_parse(line, left)))
        status = pdnn_fail(err, PDNN_IO, "squeue says '%s' about job %s", line, job);
    pdnn_answer_finish(&answer);
    return status;
}

enum pdnn_status pdnn_time_left(struct pdnn_time_left *left, struct pdnn_err *err) {
    static const char end_name[] = "SLURM_JOB_END_TIME";
    const char *end = getenv(end_name), *id = getenv("SLURM_JOB_ID");
    int64_t end_s;
    *left = (struct pdnn_time_left){0};
    if (end && pdnn_parse_i64(end, &end_s) && end_s > 0 && end_s < INT64_MAX / 1000) {
        int64_t left_ms = end_s * 1000 - pdnn_clock_unix_ms();
        /* A job without a limit ends in a hundred years or so. */
        if (left_ms < INT64_MAX / 1000000)
            *left = (struct pdnn_time_left){true, left_ms > 0 ? (uint64_t)left_ms * 1000000 : 0, end_name};
        return PDNN_OK;
    }
    return id && *id ? ask_squeue(id, left, err) : PDNN_OK;
}
