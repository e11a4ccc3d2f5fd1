/* paradnn-worker-mpi: the worker as one of several ranks, which the driver has mpirun start. Arguments: the
 * path of the driver's socket, which rank 0 connects to, and the number of ranks. The only file that calls
 * MPI, and nothing beyond MPI-3. */
#define _GNU_SOURCE
#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "runtime/backend/tune.h"
#include "runtime/distributed/world.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TAG_REQUEST = 1, PIECE = 1 << 30, NAP_NS = 200000 };

/* What the functions of the world get. */
struct mpi_world {
    struct pdnn_world world;
    MPI_Comm requests;     /* requests cannot be taken for anything else */
    unsigned char **heard; /* the last one, until the next comes */
};

static MPI_Datatype type_of(bool is_double) {
    return is_double ? MPI_DOUBLE : MPI_FLOAT;
}

/* MPI-3 counts are ints. */
static int sum(void *values, size_t count, bool is_double) {
    char *at = values;
    size_t bytes = is_double ? sizeof(double) : sizeof(float);
    while (count) {
        size_t some = count < PIECE ? count : PIECE;
        int code = MPI_Allreduce(MPI_IN_PLACE, at, (int)some, type_of(is_double), MPI_SUM, MPI_COMM_WORLD);
        if (code != MPI_SUCCESS)
            return code;
        at += some * bytes;
        count -= some;
    }
    return 0;
}

/* What is too large for one call is summed at once. */
static int start(void *values, size_t count, bool is_double, void **request) {
    *request = NULL;
    if (count > PIECE)
        return sum(values, count, is_double);
    MPI_Request *made = *request = pdnn_alloc(1, sizeof *made);
    return MPI_Iallreduce(MPI_IN_PLACE, values, (int)count, type_of(is_double), MPI_SUM, MPI_COMM_WORLD,
                          made);
}

static int test(void **request, bool *done) {
    int flag = 1;
    int code = *request ? MPI_Test(*request, &flag, MPI_STATUS_IGNORE) : 0;
    *done = flag;
    if (flag)
        free(*request);
    return code;
}

static int wait_for(void **request) {
    int code = *request ? MPI_Wait(*request, MPI_STATUS_IGNORE) : 0;
    free(*request);
    return code;
}

static void tell(const struct pdnn_world *world, enum pdnn_message_kind kind, const void *body,
                 size_t bytes) {
    const struct mpi_world *mine = (const struct mpi_world *)world;
    unsigned char *message = pdnn_alloc(bytes + sizeof(double), 1);
    double number = (double)kind; /* as wide as a body's strictest member */
    memcpy(message, &number, sizeof number);
    if (bytes)
        memcpy(message + sizeof number, body, bytes);
    for (int rank = 1; rank < world->ranks; rank++)
        MPI_Send(message, (int)(bytes + sizeof number), MPI_BYTE, rank, TAG_REQUEST, mine->requests);
    free(message);
}

/* A waiting receive would spin on a core that others may be measured on. */
static void hear(const struct pdnn_world *world, struct pdnn_message *message) {
    const struct mpi_world *mine = (const struct mpi_world *)world;
    const struct timespec nap = {.tv_nsec = NAP_NS};
    MPI_Status status;
    int found = 0, bytes;
    double number;
    while (MPI_Iprobe(0, TAG_REQUEST, mine->requests, &found, &status) == MPI_SUCCESS && !found)
        nanosleep(&nap, NULL);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    free(*mine->heard);
    unsigned char *heard = *mine->heard = pdnn_alloc((size_t)bytes, 1);
    MPI_Recv(heard, bytes, MPI_BYTE, 0, TAG_REQUEST, mine->requests, MPI_STATUS_IGNORE);
    memcpy(&number, heard, sizeof number);
    *message = (struct pdnn_message){(enum pdnn_message_kind)number, heard + sizeof number,
                                     (size_t)bytes - sizeof number};
}

static void share(void *bytes, size_t length) {
    MPI_Bcast(bytes, (int)length, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void max(double *values, size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void meet(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static void agree(double *ns, int n) {
    share(ns, (size_t)n * sizeof *ns);
}

static int call_driver(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    strcpy(address.sun_path, path);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? fd : -1;
}

/* The driver looks for a line that begins so (runtime/driver/worker/worker_autopsy.c). */
static void end(const char *text) {
    char line[PDNN_ERR_TEXT + 64];
    int length = snprintf(line, sizeof line, "paradnn-worker-mpi: %s\n", text);
    pdnn_fd_write(STDERR_FILENO, line, (size_t)length, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int fail(const char *text) {
    end(text);
    return 1;
}

static int run(const char *path, int64_t expected) {
    struct pdnn_err err = {0};
    MPI_Comm host;
    unsigned char *heard = NULL;
    struct mpi_world mine = {.heard = &heard};
    struct pdnn_world *world = &mine.world;
    MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->ranks);
    if (world->ranks != expected) {
        pdnn_fail(
            &err, PDNN_INVALID,
            "mpirun started worlds of %d process instead of one of %lld: it is of another MPI than this build",
            world->ranks, (long long)expected);
        return fail(err.text);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &world->local_rank);
    MPI_Comm_size(host, &world->local_ranks);
    int first = world->rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, host);
    world->is_beside_0 = first == 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine.requests);
    world->wire = (struct pdnn_wire){world->ranks, sum, start, test, wait_for};
    world->tell = tell;
    world->hear = hear;
    world->share = share;
    world->max = max;
    world->meet = meet;
    world->end = end;
    pdnn_tune_agree = agree;
    int fd = world->rank ? -1 : call_driver(path);
    if (!world->rank && fd < 0)
        return fail("rank 0 cannot reach the program that started it: it must run on that program's host");
    if (pdnn_gradient_allreduce_open(&world->wire, &err) != PDNN_OK ||
        pdnn_worker_serve_world(world, fd, &err) != PDNN_OK)
        return fail(err.text);
    pdnn_gradient_allreduce_close();
    free(heard);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv) {
    int64_t expected;
    int provided;
    if (argc != 3 || !pdnn_parse_i64(argv[2], &expected))
        return 2;
    /* These are for the driver, which ends mpirun. */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGXCPU, SIG_IGN);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED)
        return fail("this MPI library lets only one thread communicate");
    return run(argv[1], expected);
}
