#define _GNU_SOURCE
#include "runtime/driver/link.h"

#include "base/arena.h"
#include "runtime/core/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Loading the libraries takes some 50 ms; so long only on a machine that is down on its knees. */
static const uint64_t start_limit_ns = UINT64_C(60000000000);

const struct pdnn_worker_setting pdnn_worker_settings[] = {
    {"OMP_PROC_BIND", "close"}, {"OMP_WAIT_POLICY", "active"}, {"OMP_DYNAMIC", "false"}, {0}};
enum { SETTINGS = sizeof pdnn_worker_settings / sizeof *pdnn_worker_settings };

/* "NAME=value" in the place of what there is of that name, or appended; false when out of memory. */
static bool set_variable(struct pdnn_arena *arena, char **variables, size_t *count, const char *pair) {
    size_t name = strcspn(pair, "=") + 1, at = 0;
    while (at < *count && strncmp(variables[at], pair, name) != 0)
        at++;
    *count += at == *count;
    return (variables[at] = pdnn_arena_strdup(arena, pair)) != NULL;
}

/* What a library reads when it is loaded has to be there before. */
static bool set_isa(struct pdnn_arena *arena, char **variables, size_t *count, enum pdnn_isa isa) {
    bool complete = true;
    for (const struct pdnn_backend_def *const *backend = pdnn_backends; *backend && complete; backend++) {
        const char *pair = (*backend)->isa_variable ? (*backend)->isa_variable(isa) : NULL;
        complete = !pair || set_variable(arena, variables, count, pair);
    }
    return complete;
}

static size_t count_backends(void) {
    size_t count = 0;
    while (pdnn_backends[count])
        count++;
    return count;
}

/* Our environment with what is missing added; in the arena. NULL: out of memory. */
static char **worker_environment(struct pdnn_arena *arena, const struct pdnn_host *host, enum pdnn_isa isa) {
    size_t count = 0;
    while (environ[count])
        count++;
    char **variables = pdnn_arena_alloc(arena, count + SETTINGS + count_backends() + 2, sizeof *variables);
    char *places = pdnn_host_places(host);
    bool complete = variables && places;
    if (complete)
        memcpy(variables, environ, count * sizeof *variables);
    if (complete && !getenv("OMP_PLACES"))
        complete = (variables[count++] = pdnn_arena_printf(arena, "OMP_PLACES=%s", places));
    for (const struct pdnn_worker_setting *setting = pdnn_worker_settings; complete && setting->name;
         setting++) {
        if (!getenv(setting->name))
            complete =
                (variables[count++] = pdnn_arena_printf(arena, "%s=%s", setting->name, setting->value));
    }
    complete = complete && set_isa(arena, variables, &count, isa);
    free(places);
    return complete ? variables : NULL;
}

/* So that the kernel, short of memory, takes the worker and not the driver with all its results. */
static void volunteer_for_oom(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    /* Where it is not allowed the driver is no worse off than before. */
    ssize_t ignored = write(fd, "1000", 4);
    (void)ignored;
    close(fd);
}

/* Between fork and exec: system calls only. */
static _Noreturn void become_worker(int fd, int error_fd, pid_t parent, char *const *arguments,
                                    char *const *environment) {
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    /* Ignored signals stay ignored across exec. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    volunteer_for_oom();
    dup2(error_fd, STDOUT_FILENO);
    dup2(error_fd, STDERR_FILENO);
    fcntl(fd, F_SETFD, 0);
    execve("/proc/self/exe", arguments, environment);
    _exit(127);
}

static enum pdnn_status spawn(struct pdnn_worker *worker, struct pdnn_arena *arena,
                              const struct pdnn_host *host, struct pdnn_err *err) {
    int sockets[2] = {-1, -1}, errors[2] = {-1, -1};
    pid_t parent = getpid(), pid = -1;
    char **environment = worker_environment(arena, host, worker->isa);
    if (!environment)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a worker");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0 && pipe2(errors, O_CLOEXEC) == 0) {
        char name[] = "paradnn", command[] = "worker", number[16];
        snprintf(number, sizeof number, "%d", sockets[1]);
        char *const arguments[] = {name, command, number, NULL};
        pid = fork();
        if (pid == 0)
            become_worker(sockets[1], errors[1], parent, arguments, environment);
    }
    int cause = errno;
    if (sockets[1] >= 0)
        close(sockets[1]);
    if (errors[1] >= 0)
        close(errors[1]);
    worker->link->fd = sockets[0];
    worker->link->error_fd = errors[0];
    if (pid < 0)
        return pdnn_fail(err, PDNN_IO, "cannot start a worker: %s", strerror(cause));
    worker->pid = pid;
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    return PDNN_OK;
}

static enum pdnn_status greet(struct pdnn_worker *worker, const struct pdnn_host *host,
                              uint64_t memory_limit_bytes, struct pdnn_err *err) {
    struct pdnn_hello hello = {.host = *host, .memory_limit_bytes = memory_limit_bytes, .isa = worker->isa};
    const struct pdnn_part body = {&hello, sizeof hello};
    const struct pdnn_waiting waiting = {.limit_ns = start_limit_ns};
    struct pdnn_message answer;
    struct pdnn_fate fate;
    enum pdnn_status status =
        pdnn_worker_ask(worker, PDNN_MESSAGE_HELLO, &body, &waiting, &answer, &fate, err);
    if (status != PDNN_OK)
        return status;
    if (fate.outcome != PDNN_OUTCOME_OK)
        return pdnn_fail(err, PDNN_IO, "the worker does not start: %s", fate.reason);
    return PDNN_OK;
}

enum pdnn_status pdnn_worker_start(struct pdnn_worker *worker, const struct pdnn_host *host,
                                   enum pdnn_isa isa, uint64_t memory_limit_bytes, struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    enum pdnn_status status;
    *worker = (struct pdnn_worker){.isa = isa, .link = calloc(1, sizeof *worker->link)};
    if (!worker->link)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a worker");
    worker->link->fd = worker->link->error_fd = -1;
    worker->link->memory_limit_bytes = memory_limit_bytes;
    status = spawn(worker, &arena, host, err);
    if (status == PDNN_OK)
        status = greet(worker, host, memory_limit_bytes, err);
    if (status != PDNN_OK)
        pdnn_worker_stop(worker);
    pdnn_arena_finish(&arena);
    return status;
}

bool pdnn_worker_alive(struct pdnn_worker *worker) {
    if (worker->pid && waitpid(worker->pid, NULL, WNOHANG) != 0) {
        worker->pid = 0;
        pdnn_worker_stop(worker);
    }
    return worker->pid != 0;
}

void pdnn_worker_stop(struct pdnn_worker *worker) {
    if (worker->pid) {
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (worker->link) {
        if (worker->link->fd >= 0)
            close(worker->link->fd);
        if (worker->link->error_fd >= 0)
            close(worker->link->error_fd);
        pdnn_inbox_finish(&worker->link->inbox);
        free(worker->link);
    }
    *worker = (struct pdnn_worker){0};
}
