#include "results/whatif/hardware.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *option, *what; /* what: in words, of all */
    const char *one, *example; /* what can be named; one is NULL: nothing */
} parts[PDNN_HARDWARE_PARTS] = {
    [PDNN_HARDWARE_COMPUTE] = {"compute", "compute", "dtype", ", or bf16=4 for one of them"},
    [PDNN_HARDWARE_BANDWIDTH] = {"bandwidth", "memory bandwidth", "level", ", or L3=2 for one of them"},
    [PDNN_HARDWARE_CACHE] = {"cache", "caches", NULL, ""},
    [PDNN_HARDWARE_OVERHEAD] = {"overhead", "overhead", NULL, ""},
};

/* A factor beyond this is a slip of the finger. */
#define FACTOR_MAX 1e6

/* Levels are known with the roofs. */
static bool is_name(enum pdnn_hardware_part part, const char *name) {
    bool found = part == PDNN_HARDWARE_BANDWIDTH && *name && strlen(name) < PDNN_LEVEL_TEXT;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT && part == PDNN_HARDWARE_COMPUTE; d++)
        found = found || strcmp(name, pdnn_dtype_name(d)) == 0;
    return found;
}

/* "2"; where there are names also "2,bf16=4" or "bf16=4". */
static enum pdnn_status parse_factors(struct pdnn_hardware *hardware, enum pdnn_hardware_part part,
                                      const char *text, struct pdnn_arena *arena, struct pdnn_err *err) {
    char *next;
    for (char *at = pdnn_arena_strdup(arena, text); at; at = next) {
        struct pdnn_hardware_change *change = &hardware->change[hardware->n_changes];
        next = parts[part].one ? strchr(at, ',') : NULL;
        if (next)
            *next++ = 0;
        char *equals = parts[part].one ? strchr(at, '=') : NULL;
        if (equals)
            *equals++ = 0;
        if (hardware->n_changes++ == PDNN_HARDWARE_CHANGES)
            return pdnn_fail(err, PDNN_INVALID, "--%s: more than %d factors", parts[part].option,
                             PDNN_HARDWARE_CHANGES);
        if (!pdnn_parse_double(equals ? equals : at, &change->factor) || !(change->factor > 0) ||
            change->factor > FACTOR_MAX)
            return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected a factor such as 2 or 1.5%s",
                             parts[part].option, text, parts[part].example);
        if (equals && !is_name(part, at))
            return pdnn_fail(err, PDNN_INVALID, "--%s names no %s with '%s'", parts[part].option,
                             parts[part].one, at);
        change->part = part;
        snprintf(change->name, sizeof change->name, "%s", equals ? at : "");
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_hardware_parse(struct pdnn_hardware *hardware,
                                     const struct pdnn_hardware_request *request, struct pdnn_arena *arena,
                                     struct pdnn_err *err) {
    const char *const texts[PDNN_HARDWARE_PARTS] = {request->compute, request->bandwidth, request->cache,
                                                    request->overhead};
    struct stat info;
    *hardware = (struct pdnn_hardware){.threads = request->threads};
    for (enum pdnn_hardware_part part = 0; part < PDNN_HARDWARE_PARTS; part++)
        if (texts[part] && parse_factors(hardware, part, texts[part], arena, err) != PDNN_OK)
            return err->status;
    if (request->onto) {
        hardware->onto = pdnn_arena_alloc(arena, 1, sizeof *hardware->onto);
        return stat(request->onto, &info) == 0 && S_ISDIR(info.st_mode)
                   ? pdnn_roof_rows_read_in(request->onto, hardware->onto, err)
                   : pdnn_roof_rows_read(request->onto, NULL, hardware->onto, err);
    }
    return hardware->n_changes || request->threads
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID,
                           "nothing would change: give --compute, --bandwidth, --cache, --overhead, --onto "
                           "or --threads");
}

static enum pdnn_status no_roofs(const struct pdnn_hardware *hardware, const struct pdnn_roof_rows *roof_rows,
                                 int64_t threads, struct pdnn_err *err) {
    struct pdnn_str has = {0}; /* "1, 2" */
    for (size_t i = 0; i < roof_rows->count; i++) {
        size_t before = 0;
        while (roof_rows->row[before].threads != roof_rows->row[i].threads)
            before++;
        if (before == i)
            pdnn_str_printf(&has, "%s%" PRId64, i ? ", " : "", roof_rows->row[i].threads);
    }
    pdnn_fail(err, PDNN_INVALID, "%s has no roofs for %" PRId64 " threads, but for %s: choose with --threads",
              hardware->onto ? "--onto" : "ceilings.csv", threads, has.length ? pdnn_str_text(&has) : "none");
    pdnn_str_finish(&has);
    return PDNN_INVALID;
}

/* The factor of the change that names this dtype or level; without one and if takes_all, the factor of a
 * change without a name; otherwise 1. */
static double factor_of(const struct pdnn_hardware *hardware, enum pdnn_hardware_part part, const char *name,
                        bool takes_all) {
    double named = NAN, of_all = 1;
    for (size_t i = 0; i < hardware->n_changes; i++) {
        const struct pdnn_hardware_change *change = &hardware->change[i];
        if (change->part == part && !*change->name && takes_all)
            of_all = change->factor;
        else if (change->part == part && *change->name && strcmp(change->name, name) == 0)
            named = change->factor;
    }
    return isnan(named) ? of_all : named;
}

static enum pdnn_status check_levels(const struct pdnn_hardware *hardware, const struct pdnn_roofs *roofs,
                                     struct pdnn_err *err) {
    for (size_t i = 0; i < hardware->n_changes; i++) {
        const struct pdnn_hardware_change *change = &hardware->change[i];
        size_t at = 0;
        if (change->part != PDNN_HARDWARE_BANDWIDTH || !*change->name)
            continue;
        while (at < roofs->n_levels && strcmp(roofs->level[at].name, change->name) != 0)
            at++;
        if (at == roofs->n_levels)
            return pdnn_fail(err, PDNN_INVALID, "--bandwidth names the level '%s'; the last one is %s",
                             change->name,
                             roofs->n_levels ? roofs->level[roofs->n_levels - 1].name : "unknown");
    }
    return PDNN_OK;
}

static bool are_none(const struct pdnn_roofs *roofs) {
    return !roofs->n_levels && !(roofs->peak_gflops[PDNN_F32] > 0);
}

enum pdnn_status pdnn_hardware_roofs(const struct pdnn_hardware *hardware,
                                     const struct pdnn_roof_rows *roof_rows, int64_t threads,
                                     struct pdnn_roofs *roofs, struct pdnn_err *err) {
    const struct pdnn_roof_rows *from = hardware->onto ? hardware->onto : roof_rows;
    const double cache = factor_of(hardware, PDNN_HARDWARE_CACHE, "", true);
    double by_level[PDNN_ROOF_LEVELS];
    int64_t count = hardware->threads ? hardware->threads : threads;
    pdnn_roofs_init(roofs, from, count);
    /* An imported platform's own number of threads, which nobody said. */
    if (hardware->onto && !hardware->threads && are_none(roofs))
        pdnn_roofs_init(roofs, from, 0);
    if (are_none(roofs))
        return no_roofs(hardware, from, count, err);
    if (check_levels(hardware, roofs, err) != PDNN_OK)
        return PDNN_INVALID;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        double factor = factor_of(hardware, PDNN_HARDWARE_COMPUTE, pdnn_dtype_name(d), true);
        roofs->peak_gflops[d] *= factor;
        roofs->product_gflops[d] *= factor;
    }
    roofs->overhead_ns *= factor_of(hardware, PDNN_HARDWARE_OVERHEAD, "", true);
    for (size_t i = roofs->n_levels; i-- > 0;) {
        struct pdnn_roof_level *level = &roofs->level[i];
        by_level[i] = factor_of(hardware, PDNN_HARDWARE_BANDWIDTH, level->name, i + 1 == roofs->n_levels);
        level->gbs *= by_level[i];
        if (level->capacity_bytes != UINT64_MAX)
            level->capacity_bytes = (uint64_t)((double)level->capacity_bytes * cache);
        if (i + 1 < roofs->n_levels)
            level->gbs = fmax(level->gbs, level[1].gbs);
    }
    for (size_t i = roofs->n_rungs; i-- > 0;) {
        struct pdnn_roof_rung *rung = &roofs->rung[i];
        rung->from_bytes = (uint64_t)((double)rung->from_bytes * cache);
        for (size_t rate = 0; rate < PDNN_TRAFFIC_COUNT; rate++) {
            rung->ns_per_byte[rate] /= by_level[rung->level];
            if (i + 1 < roofs->n_rungs)
                rung->ns_per_byte[rate] = fmin(rung->ns_per_byte[rate], rung[1].ns_per_byte[rate]);
        }
    }
    return PDNN_OK;
}

static bool is_bandwidth(const struct pdnn_roof_row *row) {
    return strcmp(row->kind, "bandwidth") == 0 || strcmp(row->kind, "ladder") == 0;
}

struct pdnn_roof_rows *pdnn_roof_rows_alike(const struct pdnn_roof_rows *of,
                                            const struct pdnn_roof_rows *with) {
    struct pdnn_roof_rows *made = pdnn_alloc(1, sizeof *made);
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_roof_row *row = &of->row[i];
        bool is_alike = !is_bandwidth(row);
        for (size_t k = 0; k < with->count && !is_alike; k++)
            is_alike = is_bandwidth(&with->row[k]) &&
                       strncmp(with->row[k].pattern, row->pattern, strcspn(row->pattern, "-")) == 0;
        if (is_alike)
            made->row[made->count++] = *row;
    }
    return made;
}

void pdnn_hardware_text(const struct pdnn_hardware *hardware, struct pdnn_str *out) {
    const size_t start = out->length;
    if (hardware->onto)
        pdnn_str_printf(out, "the roofs of --onto");
    if (hardware->threads)
        pdnn_str_printf(out, "%s%" PRId64 " thread%s", out->length > start ? ", " : "", hardware->threads,
                        hardware->threads == 1 ? "" : "s");
    for (size_t i = 0; i < hardware->n_changes; i++) {
        const struct pdnn_hardware_change *change = &hardware->change[i];
        const char *name = change->name;
        if (change->factor != 1)
            pdnn_str_printf(out, "%s%s%s%s x %g", out->length > start ? ", " : "", name, *name ? " " : "",
                            *name ? parts[change->part].option : parts[change->part].what, change->factor);
    }
    if (out->length == start)
        pdnn_str_printf(out, "nothing changes");
}
