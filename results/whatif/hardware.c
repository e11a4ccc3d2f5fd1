#include "results/whatif/hardware.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void pdnn_hardware_init(struct pdnn_hardware *hardware) {
    *hardware = (struct pdnn_hardware){.memory = 1, .cache = 1, .overhead = 1};
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++)
        hardware->compute[d] = 1;
}

void pdnn_hardware_finish(struct pdnn_hardware *hardware) {
    free(hardware->onto);
    hardware->onto = NULL;
}

enum { FACTOR_TEXT = 256 };

/* A factor beyond this is a slip of the finger. */
#define FACTOR_MAX 1e6

static bool is_factor(const char *text, double *factor) {
    return pdnn_parse_double(text, factor) && *factor > 0 && *factor <= FACTOR_MAX;
}

static enum pdnn_status set_compute(struct pdnn_hardware *hardware, const char *name, double factor,
                                    struct pdnn_err *err) {
    bool found = false;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (*name && strcmp(name, pdnn_dtype_name(d)) != 0)
            continue;
        hardware->compute[d] = factor;
        found = true;
    }
    return found ? PDNN_OK : pdnn_fail(err, PDNN_INVALID, "--compute names no dtype with '%s'", name);
}

static enum pdnn_status set_level(struct pdnn_hardware *hardware, const char *name, double factor,
                                  struct pdnn_err *err) {
    if (!*name) {
        hardware->memory = factor;
        return PDNN_OK;
    }
    if (hardware->n_levels == PDNN_ROOF_LEVELS || strlen(name) >= PDNN_LEVEL_TEXT)
        return pdnn_fail(err, PDNN_INVALID, "--bandwidth names no level with '%s'", name);
    struct pdnn_hardware_level *level = &hardware->level[hardware->n_levels++];
    level->factor = factor;
    memcpy(level->name, name, strlen(name) + 1);
    return PDNN_OK;
}

/* "2", "2,bf16=4" or "bf16=4": plain factors come first, so that names refine them. */
static enum pdnn_status parse_factors(struct pdnn_hardware *hardware, const char *option, const char *text,
                                      enum pdnn_status (*set)(struct pdnn_hardware *, const char *, double,
                                                              struct pdnn_err *),
                                      struct pdnn_err *err) {
    char buffer[FACTOR_TEXT];
    if (!text)
        return PDNN_OK;
    if (snprintf(buffer, sizeof buffer, "%s", text) >= (int)sizeof buffer)
        return pdnn_fail(err, PDNN_INVALID, "--%s: the text is too long", option);
    for (char *at = buffer; at;) {
        double factor;
        char *comma = strchr(at, ',');
        if (comma)
            *comma++ = 0;
        char *equals = strchr(at, '=');
        if (equals)
            *equals++ = 0;
        if (!is_factor(equals ? equals : at, &factor))
            return pdnn_fail(err, PDNN_INVALID,
                             "--%s is '%s', expected a factor such as 2 or 1.5, or %s for one of them",
                             option, text, strcmp(option, "compute") == 0 ? "bf16=4" : "L3=2");
        if (set(hardware, equals ? at : "", factor, err) != PDNN_OK)
            return err->status;
        at = comma;
    }
    return PDNN_OK;
}

static enum pdnn_status parse_factor(const char *option, const char *text, double *factor,
                                     struct pdnn_err *err) {
    if (text && !is_factor(text, factor))
        return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected a factor such as 2 or 0.5", option, text);
    return PDNN_OK;
}

static enum pdnn_status read_onto(struct pdnn_hardware *hardware, const char *path, struct pdnn_err *err) {
    struct stat info;
    char file[4096];
    bool is_directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (snprintf(file, sizeof file, "%s%s", path, is_directory ? "/ceilings.csv" : "") >= (int)sizeof file)
        return pdnn_fail(err, PDNN_INVALID, "--onto: the path is too long");
    hardware->onto = pdnn_alloc(1, sizeof *hardware->onto);
    return pdnn_ceilings_read(file, NULL, hardware->onto, err);
}

enum pdnn_status pdnn_hardware_parse(struct pdnn_hardware *hardware,
                                     const struct pdnn_hardware_request *request, struct pdnn_err *err) {
    pdnn_hardware_init(hardware);
    if (!request->compute && !request->bandwidth && !request->cache && !request->overhead && !request->onto &&
        !request->threads)
        return pdnn_fail(err, PDNN_INVALID,
                         "nothing would change: give --compute, --bandwidth, --cache, --overhead, --onto or "
                         "--threads");
    if (request->threads && (!pdnn_parse_i64(request->threads, &hardware->threads) || hardware->threads < 1))
        return pdnn_fail(err, PDNN_INVALID, "--threads is '%s', expected a number from 1", request->threads);
    enum pdnn_status status = parse_factors(hardware, "compute", request->compute, set_compute, err);
    if (status == PDNN_OK)
        status = parse_factors(hardware, "bandwidth", request->bandwidth, set_level, err);
    if (status == PDNN_OK)
        status = parse_factor("cache", request->cache, &hardware->cache, err);
    if (status == PDNN_OK)
        status = parse_factor("overhead", request->overhead, &hardware->overhead, err);
    if (status == PDNN_OK && request->onto)
        status = read_onto(hardware, request->onto, err);
    if (status != PDNN_OK)
        pdnn_hardware_finish(hardware);
    return status;
}

/* "1, 2" */
static void put_threads(const struct pdnn_ceilings *ceilings, struct pdnn_str *out) {
    for (size_t i = 0; i < ceilings->count; i++) {
        size_t before = 0;
        while (before < i && ceilings->row[before].threads != ceilings->row[i].threads)
            before++;
        if (before == i)
            pdnn_str_printf(out, "%s%" PRId64, i ? ", " : "", ceilings->row[i].threads);
    }
}

static enum pdnn_status no_roofs(const struct pdnn_hardware *hardware, const struct pdnn_ceilings *ceilings,
                                 int64_t threads, struct pdnn_err *err) {
    struct pdnn_str has = {0};
    put_threads(ceilings, &has);
    pdnn_fail(err, PDNN_INVALID, "%s has no roofs for %" PRId64 " threads, but for %s: choose with --threads",
              hardware->onto ? "--onto" : "ceilings.csv", threads, has.length ? pdnn_str_text(&has) : "none");
    pdnn_str_finish(&has);
    return PDNN_INVALID;
}

static double factor_of(const struct pdnn_hardware *hardware, const struct pdnn_roofs *roofs, size_t level) {
    double factor = level + 1 == roofs->n_levels ? hardware->memory : 1;
    for (size_t i = 0; i < hardware->n_levels; i++) {
        if (strcmp(hardware->level[i].name, roofs->level[level].name) == 0)
            factor = hardware->level[i].factor;
    }
    return factor;
}

static enum pdnn_status check_levels(const struct pdnn_hardware *hardware, const struct pdnn_roofs *roofs,
                                     struct pdnn_err *err) {
    for (size_t i = 0; i < hardware->n_levels; i++) {
        size_t at = 0;
        while (at < roofs->n_levels && strcmp(roofs->level[at].name, hardware->level[i].name) != 0)
            at++;
        if (at == roofs->n_levels)
            return pdnn_fail(err, PDNN_INVALID, "--bandwidth names the level '%s'; the last one is %s",
                             hardware->level[i].name,
                             roofs->n_levels ? roofs->level[roofs->n_levels - 1].name : "unknown");
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_hardware_roofs(const struct pdnn_hardware *hardware,
                                     const struct pdnn_ceilings *ceilings, int64_t threads,
                                     struct pdnn_roofs *roofs, struct pdnn_err *err) {
    const struct pdnn_ceilings *from = hardware->onto ? hardware->onto : ceilings;
    int64_t count = hardware->threads ? hardware->threads : threads;
    pdnn_roofs_init(roofs, from, count);
    if (!roofs->n_levels && !(roofs->peak_gflops[PDNN_F32] > 0))
        return no_roofs(hardware, from, count, err);
    if (check_levels(hardware, roofs, err) != PDNN_OK)
        return PDNN_INVALID;
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++) {
        roofs->peak_gflops[d] *= hardware->compute[d];
        roofs->product_gflops[d] *= hardware->compute[d];
    }
    roofs->overhead_ns *= hardware->overhead;
    for (size_t i = roofs->n_levels; i-- > 0;) {
        struct pdnn_roof_level *level = &roofs->level[i];
        level->gbs *= factor_of(hardware, roofs, i);
        if (level->capacity_bytes != UINT64_MAX)
            level->capacity_bytes = (uint64_t)((double)level->capacity_bytes * hardware->cache);
        if (i + 1 < roofs->n_levels)
            level->gbs = fmax(level->gbs, level[1].gbs);
    }
    for (size_t i = roofs->n_rungs; i-- > 0;) {
        struct pdnn_roof_rung *rung = &roofs->rung[i];
        double factor = factor_of(hardware, roofs, rung->level);
        rung->from_bytes = (uint64_t)((double)rung->from_bytes * hardware->cache);
        for (size_t rate = 0; rate < PDNN_TRAFFIC_COUNT; rate++) {
            rung->ns_per_byte[rate] /= factor;
            if (i + 1 < roofs->n_rungs)
                rung->ns_per_byte[rate] = fmin(rung->ns_per_byte[rate], rung[1].ns_per_byte[rate]);
        }
    }
    return PDNN_OK;
}

static bool is_bandwidth(const struct pdnn_ceiling *row) {
    return strcmp(row->kind, "bandwidth") == 0 || strcmp(row->kind, "ladder") == 0;
}

static bool has_like(const struct pdnn_ceilings *ceilings, const struct pdnn_ceiling *row) {
    for (size_t i = 0; i < ceilings->count; i++) {
        const struct pdnn_ceiling *other = &ceilings->row[i];
        if (is_bandwidth(other) && strncmp(other->pattern, row->pattern, strcspn(row->pattern, "-")) == 0)
            return true;
    }
    return false;
}

struct pdnn_ceilings *pdnn_ceilings_alike(const struct pdnn_ceilings *of, const struct pdnn_ceilings *with) {
    struct pdnn_ceilings *made = pdnn_alloc(1, sizeof *made);
    for (size_t i = 0; i < of->count; i++) {
        if (!is_bandwidth(&of->row[i]) || has_like(with, &of->row[i]))
            made->row[made->count++] = of->row[i];
    }
    return made;
}

static void put_factor(struct pdnn_str *out, const char *what, double factor) {
    if (factor != 1)
        pdnn_str_printf(out, "%s%s x %g", out->length ? ", " : "", what, factor);
}

void pdnn_hardware_text(const struct pdnn_hardware *hardware, struct pdnn_str *out) {
    struct pdnn_str text = {0};
    char what[64];
    bool equal = true;
    if (hardware->onto)
        pdnn_str_printf(&text, "the roofs of --onto");
    if (hardware->threads)
        pdnn_str_printf(&text, "%s%" PRId64 " thread%s", text.length ? ", " : "", hardware->threads,
                        hardware->threads == 1 ? "" : "s");
    for (size_t d = 1; d < PDNN_DTYPE_COUNT; d++)
        equal = equal && hardware->compute[d] == hardware->compute[0];
    if (equal)
        put_factor(&text, "compute", hardware->compute[0]);
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT && !equal; d++) {
        snprintf(what, sizeof what, "%s compute", pdnn_dtype_name(d));
        put_factor(&text, what, hardware->compute[d]);
    }
    put_factor(&text, "memory bandwidth", hardware->memory);
    for (size_t i = 0; i < hardware->n_levels; i++) {
        snprintf(what, sizeof what, "%s bandwidth", hardware->level[i].name);
        put_factor(&text, what, hardware->level[i].factor);
    }
    put_factor(&text, "caches", hardware->cache);
    put_factor(&text, "overhead", hardware->overhead);
    pdnn_str_printf(out, "%s", text.length ? pdnn_str_text(&text) : "nothing changes");
    pdnn_str_finish(&text);
}
