#include "results/import/roofs.h"

#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum pdnn_status parse_one(struct pdnn_given_roofs *given, const char *part, struct pdnn_err *err) {
    static const double least = 1e-6, most = 1e12;
    const char *equals = strchr(part, '='), *number = equals ? equals + 1 : part;
    char name[16];
    struct pdnn_value dtype = pdnn_value_of(PDNN_F32);
    double peak;
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - part) : 0, part);
    if (equals && pdnn_param_parse(&pdnn_settings[PDNN_SETTING_DTYPE], name, &dtype, err) != PDNN_OK)
        return pdnn_wrap(err, "--peak");
    if (!pdnn_parse_double(number, &peak) || !(peak >= least && peak <= most))
        return pdnn_fail(err, PDNN_INVALID, "--peak is '%s', expected a number from %g to %g", number, least,
                         most);
    if (given->peak_gflops[dtype.number] > 0)
        return pdnn_fail(err, PDNN_INVALID, "--peak has %s twice", name);
    given->peak_gflops[dtype.number] = peak;
    given->is_named = equals;
    return PDNN_OK;
}

enum pdnn_status pdnn_given_roofs_parse(struct pdnn_given_roofs *given, const char *peak,
                                        double bandwidth_gbs, struct pdnn_err *err) {
    size_t length;
    const bool is_list = peak && strchr(peak, ',');
    given->bandwidth_gbs = bandwidth_gbs;
    for (const char *part; (part = pdnn_part_next(&peak, ",", &length));) {
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)length, part);
        if (is_list && !strchr(text, '='))
            return pdnn_fail(err, PDNN_INVALID, "--peak: '%s' in a list is not DTYPE=N", text);
        if (parse_one(given, text, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

void pdnn_given_roofs_finish(struct pdnn_given_roofs *given) {
    pdnn_texts_finish(&given->taken);
}

/* A number without a dtype is that of the first instance. */
static enum pdnn_status name_peak(struct pdnn_given_roofs *given, int64_t dtype, struct pdnn_err *err) {
    double *peak = given->peak_gflops;
    enum pdnn_dtype of = PDNN_F32;
    while (of < PDNN_DTYPE_COUNT && !(peak[of] > 0))
        of++;
    if (given->is_named || of == PDNN_DTYPE_COUNT || (int64_t)of == dtype)
        return PDNN_OK;
    const char *had = pdnn_dtype_name(of), *has = pdnn_dtype_name((enum pdnn_dtype)dtype);
    if (given->taken.count)
        return pdnn_fail(err, PDNN_INVALID,
                         "--peak is one number, and the file has %s and %s: give --peak %s=N,%s=N", had, has,
                         had, has);
    peak[dtype] = peak[of];
    peak[of] = 0;
    return PDNN_OK;
}

enum pdnn_status pdnn_given_roofs_add(struct pdnn_given_roofs *given, const struct pdnn_instance *instance,
                                      struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    const int64_t threads = instance->setting[PDNN_SETTING_THREADS],
                  dtype = instance->setting[PDNN_SETTING_DTYPE];
    if (name_peak(given, dtype, err) != PDNN_OK)
        return err->status;
    struct pdnn_roof_row roofs[] = {
        {.kind = "compute", .pattern = "given", .value = given->peak_gflops[dtype]},
        {.kind = "bandwidth", .pattern = "read", .level = "DRAM", .value = given->bandwidth_gbs}};
    snprintf(roofs[0].dtype, sizeof roofs[0].dtype, "%s", pdnn_dtype_name((enum pdnn_dtype)dtype));
    for (size_t i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "%" PRIi64 " %s", threads, roofs[i].dtype);
        const size_t before = given->taken.count;
        if (!(roofs[i].value > 0) || pdnn_texts_add(&given->taken, name) < before)
            continue;
        /* Fewer than there are numbers of threads times dtypes. */
        assert(roof_rows->count < PDNN_ROOF_ROWS_MAX);
        roofs[i].threads = threads;
        roofs[i].low = roofs[i].high = roofs[i].median = roofs[i].value;
        roofs[i].repetitions = 1;
        roof_rows->row[roof_rows->count++] = roofs[i];
    }
    return PDNN_OK;
}

bool pdnn_given_roofs_lack(const struct pdnn_given_roofs *given, int64_t dtype) {
    return given->bandwidth_gbs > 0 && !(given->peak_gflops[dtype] > 0);
}
