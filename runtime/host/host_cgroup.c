#define _POSIX_C_SOURCE 200809L
#include "runtime/host/host_cgroup.h"

#include "base/str.h"
#include "runtime/host/host_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Version 1 writes "no limit" as the largest whole number of pages, so anything this large is one. */
static const uint64_t unlimited_bytes = UINT64_C(1) << 60;

static void limit_quota(struct pdnn_cgroup *cgroup, double quota_us, double period_us) {
    if (quota_us <= 0 || period_us <= 0)
        return;
    double cpus = quota_us / period_us;
    if (cgroup->quota_cpus <= 0 || cpus < cgroup->quota_cpus)
        cgroup->quota_cpus = cpus;
}

/* In either version. */
static void count_stops(struct pdnn_cgroup *cgroup, const char *directory) {
    uint64_t stops;
    char *stat = pdnn_hostfiles_read(directory, "/cpu.stat");
    if (stat && pdnn_hostfiles_entry(stat, "nr_throttled", &stops))
        cgroup->quota_stops += stops;
    free(stat);
}

static bool read_number(const char *directory, const char *name, uint64_t *number) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path && pdnn_hostfiles_number("", path, number);
}

struct memory_files {
    const char *limit, *usage, *inactive;
};

/* The kernel reclaims inactive file pages under memory pressure, so they count as free; the
 * kubelet does the same. */
static void limit_memory(struct pdnn_cgroup *cgroup, const char *directory,
                         const struct memory_files *files) {
    uint64_t limit, usage, inactive = 0;
    if (!read_number(directory, files->limit, &limit) || limit >= unlimited_bytes ||
        !read_number(directory, files->usage, &usage))
        return;
    char *stat = pdnn_hostfiles_read(directory, "/memory.stat");
    if (stat)
        pdnn_hostfiles_entry(stat, files->inactive, &inactive);
    free(stat);
    usage -= inactive < usage ? inactive : usage;
    uint64_t headroom = usage < limit ? limit - usage : 0;
    if (headroom < cgroup->headroom_bytes)
        cgroup->headroom_bytes = headroom;
}

/* Version 2: "max 100000" or "150000 100000". */
static void read_unified(const char *directory, struct pdnn_cgroup *cgroup) {
    static const struct memory_files most = {"memory.max", "memory.current", "inactive_file"};
    static const struct memory_files throttled = {"memory.high", "memory.current", "inactive_file"};
    double quota_us, period_us;
    char *text = pdnn_hostfiles_read(directory, "/cpu.max");
    if (text && sscanf(text, "%lf %lf", &quota_us, &period_us) == 2)
        limit_quota(cgroup, quota_us, period_us);
    free(text);
    count_stops(cgroup, directory);
    limit_memory(cgroup, directory, &most);
    limit_memory(cgroup, directory, &throttled);
}

static void read_memory(const char *directory, struct pdnn_cgroup *cgroup) {
    static const struct memory_files files = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                              "total_inactive_file"};
    limit_memory(cgroup, directory, &files);
}

/* A quota of -1 means none and does not parse as a number here. */
static void read_cpu(const char *directory, struct pdnn_cgroup *cgroup) {
    uint64_t quota_us, period_us;
    if (read_number(directory, "cpu.cfs_quota_us", &quota_us) &&
        read_number(directory, "cpu.cfs_period_us", &period_us))
        limit_quota(cgroup, (double)quota_us, (double)period_us);
    count_stops(cgroup, directory);
}

struct hierarchy {
    const char *controller; /* "": the unified hierarchy of version 2 */
    const char *filesystem;
    void (*read)(const char *directory, struct pdnn_cgroup *cgroup);
};

static const struct hierarchy hierarchies[] = {
    {"", "cgroup2", read_unified},
    {"memory", "cgroup", read_memory},
    {"cpu", "cgroup", read_cpu},
};

/* An empty list contains the empty word. */
static bool list_has(const char *list, const char *word) {
    return pdnn_parts_have(list, ",", word, strlen(word));
}

/* Finds the process's path in the hierarchy, from lines "4:memory,hugetlb:/path". */
static bool find_path(const char *cgroups, const struct hierarchy *hierarchy, char path[PATH_MAX]) {
    for (const char *line = cgroups; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *list = strchr(line, ':'), *end = list ? strchr(list + 1, ':') : NULL;
        char controllers[256];
        if (!end || memchr(line, '\n', (size_t)(end - line)))
            continue;
        snprintf(controllers, sizeof controllers, "%.*s", (int)(end - list - 1), list + 1);
        if (!list_has(controllers, hierarchy->controller))
            continue;
        snprintf(path, PATH_MAX, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
        return true;
    }
    return false;
}

/* Finds the mount point and the directory of the hierarchy that is mounted there, from lines "36 31 0:33
 * /docker/x /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory". */
static bool find_mount(const char *mounts, const struct hierarchy *hierarchy, char *top, char *point) {
    for (const char *line = mounts; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char type[64], options[512], whole[2 * PATH_MAX];
        snprintf(whole, sizeof whole, "%.*s", (int)strcspn(line, "\n"), line);
        const char *rest = strstr(whole, " - ");
        if (!rest || sscanf(whole, "%*s %*s %*s %4095s %4095s", top, point) != 2 ||
            sscanf(rest, " - %63s %*s %511s", type, options) != 2)
            continue;
        if (strcmp(type, hierarchy->filesystem) == 0 &&
            (!*hierarchy->controller || list_has(options, hierarchy->controller)))
            return true;
    }
    return false;
}

/* Reads the group's directory and each one above it, up to the mount point. */
static void walk(const char *root, const char *own, int mount_length, const struct hierarchy *hierarchy,
                 struct pdnn_cgroup *cgroup) {
    char directory[3 * PATH_MAX];
    int base = (int)strlen(root) + mount_length;
    int length = snprintf(directory, sizeof directory, "%s%s", root, own);
    if (length < base || (size_t)length >= sizeof directory)
        return;
    for (;;) {
        hierarchy->read(directory, cgroup);
        char *slash = strrchr(directory, '/');
        if (!slash || slash - directory < base)
            return;
        *slash = 0;
    }
}

/* The process's directory in the hierarchy, without root; false if it is not mounted. *base is the length of
 * the mount point. */
static bool find_directory(const char *cgroups, const char *mounts, const struct hierarchy *hierarchy,
                           char directory[2 * PATH_MAX], int *base) {
    char path[PATH_MAX], top[PATH_MAX], point[PATH_MAX];
    if (!find_path(cgroups, hierarchy, path) || !find_mount(mounts, hierarchy, top, point))
        return false;
    /* In a container, the mount may show only the container's part of the path. */
    size_t shown = strcmp(top, "/") == 0 ? 0 : strlen(top);
    bool below = strncmp(path, top, shown) == 0 && (path[shown] == '/' || !path[shown]);
    const char *rest = below ? path + shown : path;
    int length = snprintf(directory, 2 * PATH_MAX, "%s%s", point, strcmp(rest, "/") == 0 ? "" : rest);
    *base = (int)strlen(point);
    return length > 0 && length < 2 * PATH_MAX;
}

void pdnn_cgroup_read(const char *root, struct pdnn_cgroup *cgroup) {
    *cgroup = (struct pdnn_cgroup){.headroom_bytes = UINT64_MAX};
    char *cgroups = pdnn_hostfiles_read(root, "/proc/self/cgroup");
    char *mounts = pdnn_hostfiles_read(root, "/proc/self/mountinfo");
    for (size_t i = 0; cgroups && mounts && i < sizeof hierarchies / sizeof *hierarchies; i++) {
        char directory[2 * PATH_MAX];
        int base;
        if (find_directory(cgroups, mounts, &hierarchies[i], directory, &base))
            walk(root, directory, base, &hierarchies[i], cgroup);
    }
    free(cgroups);
    free(mounts);
}

uint64_t pdnn_quota_stops_read(const char *root) {
    struct pdnn_cgroup cgroup;
    pdnn_cgroup_read(root, &cgroup);
    return cgroup.quota_stops;
}

/* The number after "oom_kill " in the file; false if there is none. */
static bool read_kills(const char *root, const char *path, uint64_t *count) {
    char *text = pdnn_hostfiles_read(root, path);
    bool found = text && pdnn_hostfiles_entry(text, "oom_kill", count);
    free(text);
    return found;
}

struct pdnn_oom_kills pdnn_oom_kills_read(const char *root) {
    static const char *const files[] = {"memory.events", "memory.oom_control"}; /* as in hierarchies */
    struct pdnn_oom_kills kills = {0};
    char *cgroups = pdnn_hostfiles_read(root, "/proc/self/cgroup");
    char *mounts = pdnn_hostfiles_read(root, "/proc/self/mountinfo");
    for (size_t i = 0; cgroups && mounts && !kills.of_group && i < sizeof files / sizeof *files; i++) {
        char directory[2 * PATH_MAX], path[3 * PATH_MAX];
        int base;
        if (!find_directory(cgroups, mounts, &hierarchies[i], directory, &base))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        kills.of_group = read_kills(root, path, &kills.count);
    }
    free(cgroups);
    free(mounts);
    if (!kills.of_group)
        read_kills(root, "/proc/vmstat", &kills.count);
    return kills;
}
