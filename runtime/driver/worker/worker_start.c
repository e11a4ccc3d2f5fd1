#define _GNU_SOURCE

#include "base/memory.h"
#include "base/str.h"
#include "runtime/driver/worker/worker_ask.h"
#include "runtime/driver/worker/worker_environment.h"
#include "runtime/driver/worker/worker_link.h"
#include "runtime/driver/worker/worker_program.h"
#include "runtime/driver/worker/worker_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Loading the libraries takes about 50 ms; only a machine that is swapping takes this long. */
static const uint64_t start_limit_ns = UINT64_C(60000000000);

/* Makes the kernel kill the worker when memory runs out, not the driver with all its results. */
static void volunteer_for_oom(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    /* If this is not allowed, the driver is no worse off than before. */
    ssize_t ignored = write(fd, "1000", 4);
    (void)ignored;
    close(fd);
}

/* Where exec has failed: says why, as the last words. */
static _Noreturn void end_unstarted(const char *program) {
    const char *cause = strerror(errno);
    const char *const words[] = {program, ": ", cause, "\n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ssize_t ignored = write(STDERR_FILENO, words[i], strlen(words[i]));
        (void)ignored;
    }
    _exit(127);
}

/* Signals are for the driver. Ignored ones stay ignored across exec; mpirun handles its own, in a group of
 * its own, and ends its ranks. */
static void prepare_worker(int fd) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
    volunteer_for_oom();
    fcntl(fd, F_SETFD, 0);
}

static void prepare_mpirun(void) {
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
}

/* Runs between fork and exec: system calls only. */
static _Noreturn void become(int fd, int error_fd, pid_t parent, const char *program, char *const *arguments,
                             char *const *environment) {
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, fd < 0 ? SIGTERM : SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (fd < 0)
        prepare_mpirun();
    else
        prepare_worker(fd);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(error_fd, STDOUT_FILENO);
    dup2(error_fd, STDERR_FILENO);
    execvpe(program, arguments, environment);
    end_unstarted(program);
}

enum pdnn_status pdnn_worker_spawn(struct pdnn_worker *worker, int fd, const char *program,
                                   char *const *arguments, char *const *environment, struct pdnn_err *err) {
    int errors[2] = {-1, -1};
    pid_t parent = getpid(), pid = -1;
    if (pipe2(errors, O_CLOEXEC) == 0) {
        pid = fork();
        if (pid == 0)
            become(fd, errors[1], parent, program, arguments, environment);
    }
    int cause = errno;
    if (errors[1] >= 0)
        close(errors[1]);
    worker->link->error_fd = errors[0];
    if (pid < 0)
        return pdnn_fail(err, PDNN_IO, "cannot start %s: %s", program, strerror(cause));
    worker->pid = pid;
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    return PDNN_OK;
}

static bool is_sound(const struct pdnn_software *software) {
    bool sound = software->count <= PDNN_SOFTWARE_MAX;
    for (size_t i = 0; sound && i < software->count; i++)
        sound = memchr(software->row[i].backend, 0, sizeof software->row[i].backend) &&
                memchr(software->row[i].version, 0, sizeof software->row[i].version) &&
                memchr(software->row[i].path, 0, sizeof software->row[i].path);
    return sound;
}

/* A worker of another build may send anything after its build, or nothing. */
static enum pdnn_status read_welcome(const struct pdnn_message *answer, const char *program,
                                     struct pdnn_welcome *welcome, struct pdnn_err *err) {
    if (answer->kind != PDNN_MESSAGE_HELLO || answer->body_bytes < sizeof welcome->build)
        return pdnn_fail(err, PDNN_IO, "%s is not a worker of this program's build, %s", program, pdnn_build);
    memcpy(welcome->build, answer->body, sizeof welcome->build);
    welcome->build[sizeof welcome->build - 1] = 0;
    if (strcmp(welcome->build, pdnn_build) != 0)
        return pdnn_fail(err, PDNN_IO,
                         "%s is build %s, but this program is build %s: both must be the same build", program,
                         welcome->build, pdnn_build);
    if (answer->body_bytes != sizeof *welcome)
        return pdnn_fail(err, PDNN_IO, "the worker's answer was garbled");
    memcpy(welcome, answer->body, sizeof *welcome);
    if (!is_sound(&welcome->software))
        return pdnn_fail(err, PDNN_IO, "the worker's answer was garbled");
    welcome->variables[sizeof welcome->variables - 1] = 0;
    welcome->ignored[sizeof welcome->ignored - 1] = 0;
    return PDNN_OK;
}

static enum pdnn_status greet(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                              const char *program, struct pdnn_welcome *welcome, struct pdnn_err *err) {
    struct pdnn_hello hello = {.host = *start->host,
                               .memory_limit_bytes = start->memory_limit_bytes,
                               .isa = start->kind.isa,
                               .library = start->kind.library ? start->kind.library->name : 0};
    const struct pdnn_part body = {&hello, sizeof hello};
    const struct pdnn_watch watch = {.time_limit_ns = start_limit_ns};
    struct pdnn_message answer;
    struct pdnn_fate fate;
    memcpy(hello.build, pdnn_build, sizeof hello.build);
    enum pdnn_status status = pdnn_worker_ask(worker, PDNN_MESSAGE_HELLO, &body, &watch, &answer, &fate, err);
    if (status != PDNN_OK)
        return status;
    if (fate.outcome != PDNN_OUTCOME_OK)
        return pdnn_fail(err, PDNN_IO, "the worker did not start: %s", fate.reason);
    return read_welcome(&answer, program, welcome, err);
}

/* welcome->variables lists those it should have been started with. */
static enum pdnn_status start_once(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                                   const char *more, struct pdnn_welcome *welcome, struct pdnn_err *err) {
    const struct pdnn_library_dir *library = start->kind.library;
    struct pdnn_str lines = {0};
    char program[PDNN_PROGRAM_TEXT];
    pdnn_str_printf(&lines, "%s", more);
    if (library)
        pdnn_library_dir_variable(library, &lines);
    *worker = (struct pdnn_worker){.kind = start->kind, .link = pdnn_alloc(1, sizeof *worker->link)};
    worker->link->fd = worker->link->error_fd = -1;
    worker->link->memory_limit_bytes = start->memory_limit_bytes;
    worker->link->is_ranks = start->ranks > 0;
    enum pdnn_status status = start->connect(worker, start, pdnn_str_text(&lines), program, err);
    pdnn_str_finish(&lines);
    if (status == PDNN_OK)
        status = greet(worker, start, program, welcome, err);
    if (status == PDNN_OK && library)
        status = pdnn_library_dir_check(library, &welcome->software, err);
    if (status == PDNN_OK) {
        worker->link->software = welcome->software;
        memcpy(worker->link->ignored, welcome->ignored, sizeof welcome->ignored);
    } else {
        pdnn_worker_stop(worker);
    }
    return status;
}

enum pdnn_status pdnn_worker_begin(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                                   const char *variables, struct pdnn_err *err) {
    struct pdnn_welcome welcome, again;
    enum pdnn_status status = start_once(worker, start, variables, &welcome, err);
    if (status != PDNN_OK || !welcome.variables[0])
        return status;
    pdnn_worker_stop(worker);
    status = start_once(worker, start, welcome.variables, &again, err);
    if (status == PDNN_OK)
        memcpy(worker->link->variables, welcome.variables, sizeof welcome.variables);
    return status;
}

static enum pdnn_status connect_one(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                                    const char *more, char program[PDNN_PROGRAM_TEXT], struct pdnn_err *err) {
    char name[] = "paradnn-worker", number[16], *const arguments[] = {name, number, NULL};
    struct pdnn_arena arena = {0};
    int sockets[2];
    if (pdnn_worker_program(program, err) != PDNN_OK)
        return err->status;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return pdnn_fail(err, PDNN_IO, "cannot start %s: %s", program, strerror(errno));
    worker->link->fd = sockets[0];
    snprintf(number, sizeof number, "%d", sockets[1]);
    enum pdnn_status status = pdnn_worker_spawn(worker, sockets[1], program, arguments,
                                                pdnn_worker_environment(&arena, start->host, more), err);
    close(sockets[1]);
    pdnn_arena_finish(&arena);
    return status;
}

enum pdnn_status pdnn_worker_start(struct pdnn_worker *worker, const struct pdnn_host *host,
                                   struct pdnn_worker_kind kind, uint64_t memory_limit_bytes,
                                   struct pdnn_err *err) {
    const struct pdnn_worker_start start = {host, kind, memory_limit_bytes, 0, connect_one};
    enum pdnn_status status = pdnn_host_process_check(err);
    return status == PDNN_OK ? pdnn_worker_begin(worker, &start, "", err) : status;
}

struct pdnn_worker_kind pdnn_worker_kind_of(const struct pdnn_instance *instance,
                                            const struct pdnn_library_dirs *libraries) {
    return (struct pdnn_worker_kind){
        (enum pdnn_isa)instance->setting[PDNN_SETTING_ISA],
        pdnn_library_dir_find(libraries, instance->setting[PDNN_SETTING_LIBRARY])};
}

bool pdnn_worker_is(const struct pdnn_worker *worker, struct pdnn_worker_kind kind) {
    return worker->kind.isa == kind.isa && worker->kind.library == kind.library;
}

const char *pdnn_worker_ignored(const struct pdnn_worker *worker) {
    return worker->link->ignored;
}

const struct pdnn_software *pdnn_worker_software(const struct pdnn_worker *worker) {
    return &worker->link->software;
}
