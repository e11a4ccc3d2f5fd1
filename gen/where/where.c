#include "gen/where/where.h"

#include "base/memory.h"
#include "gen/where/names.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pdnn_where {
    const struct pdnn_yaml *node;
    struct pdnn_where_code *code;
    struct pdnn_where_names names;
    struct pdnn_parsed_presets presets; /* of the family, once one is asked for */
};

/* An error in a constant part would occur for every instance, and a NaN stored from there could silently make
 * comparisons false. */
static enum pdnn_status compile(struct pdnn_where *where, const struct pdnn_family_def *family,
                                struct pdnn_err *err) {
    feclearexcept(FE_ALL_EXCEPT);
    enum pdnn_status status = pdnn_where_read(where->node, family, &where->names, &where->code, err);
    int raised = fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    if (status != PDNN_OK)
        return status;
    if (raised & FE_DIVBYZERO)
        return pdnn_yaml_fail(where->node, err, "where divides by zero: '%.200s'", where->node->text);
    if (raised)
        return pdnn_yaml_fail(where->node, err, "where has a part that is not a finite number: '%.200s'",
                              where->node->text);
    return PDNN_OK;
}

enum pdnn_status pdnn_where_create(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                   struct pdnn_where **where, struct pdnn_err *err) {
    struct pdnn_where *made = pdnn_alloc(1, sizeof *made);
    made->node = node;
    enum pdnn_status status = compile(made, family, err);
    if (status == PDNN_OK)
        *where = made;
    else
        pdnn_where_destroy(made);
    return status;
}

void pdnn_where_destroy(struct pdnn_where *where) {
    if (!where)
        return;
    pdnn_where_code_destroy(where->code);
    free(where);
}

bool pdnn_where_uses_costs(const struct pdnn_where *where) {
    return where->names.used >> PDNN_WHERE_COSTS != 0;
}

bool pdnn_where_uses_threads(const struct pdnn_where *where) {
    return where->names.used >> (PDNN_WHERE_SETTINGS + PDNN_SETTING_THREADS) & 1;
}

bool pdnn_where_uses_memory(const struct pdnn_where *where) {
    for (size_t i = 0; i < pdnn_where_n_costs; i++) {
        bool is_used = where->names.used >> (PDNN_WHERE_COSTS + i) & 1;
        if (is_used && pdnn_where_costs[i].offset == offsetof(struct pdnn_totals, memory_bytes))
            return true;
    }
    return false;
}

static enum pdnn_status eval_failure(const struct pdnn_where *where, const struct pdnn_instance *instance,
                                     const char *problem, struct pdnn_err *err) {
    char id[PDNN_ID_TEXT];
    return pdnn_yaml_fail(where->node, err, "where %s for %s: '%.200s'", problem,
                          pdnn_instance_format(instance, id), where->node->text);
}

/* A parameter that does not apply equals no word (-1) and is NaN as a number: comparisons are
 * false, != is true. */
static enum pdnn_status read_hyper(const struct pdnn_where *where, const struct pdnn_instance *instance,
                                   size_t param, double *value, struct pdnn_err *err) {
    const struct pdnn_param_def *def = &instance->family->params[param];
    struct pdnn_value hyper = instance->hyper[param];
    if (!pdnn_hyper_applies(instance, param)) {
        *value = def->type == PDNN_PARAM_CHOICE ? -1.0 : (double)NAN;
        return PDNN_OK;
    }
    *value = pdnn_param_double(def, hyper.number);
    if (def->type != PDNN_PARAM_LIST || pdnn_list_length(hyper) == 1)
        return PDNN_OK;
    char text[PDNN_PARAM_TEXT], problem[128];
    snprintf(problem, sizeof problem, "takes %.40s as a number, which is %s,", def->name,
             pdnn_param_format(def, hyper, text));
    return eval_failure(where, instance, problem, err);
}

static enum pdnn_status read_slot(const struct pdnn_where *where, int slot,
                                  const struct pdnn_instance *instance, const struct pdnn_totals *totals,
                                  double *value, struct pdnn_err *err) {
    if (slot < PDNN_WHERE_SETTINGS)
        return read_hyper(where, instance, (size_t)slot, value, err);
    if (slot < PDNN_WHERE_COSTS) {
        enum pdnn_setting setting = (enum pdnn_setting)(slot - PDNN_WHERE_SETTINGS);
        *value = pdnn_setting_applies(instance, setting) ? (double)instance->setting[setting] : -1.0;
        return PDNN_OK;
    }
    uint64_t count;
    memcpy(&count, (const char *)totals + pdnn_where_costs[slot - PDNN_WHERE_COSTS].offset, sizeof count);
    *value = (double)count;
    return PDNN_OK;
}

/* Whether the instance is the test's preset, or would be the same with the list, or the word, of the test. */
static bool is_equal(struct pdnn_where *where, const struct pdnn_instance *instance,
                     const struct pdnn_where_test *test) {
    struct pdnn_instance other = *instance;
    if (test->preset)
        return pdnn_instance_preset(instance, &where->presets) == test->preset;
    if (test->slot >= PDNN_WHERE_SETTINGS)
        return instance->setting[test->slot - PDNN_WHERE_SETTINGS] == test->list.number;
    other.hyper[test->slot] = test->list;
    pdnn_instance_resolve(&other, 1);
    return pdnn_hyper_applies(instance, (size_t)test->slot) &&
           memcmp(other.hyper, instance->hyper, sizeof other.hyper) == 0;
}

/* Sets the variables; *is_partial is true if one of them does not apply. */
static enum pdnn_status bind(struct pdnn_where *where, const struct pdnn_instance *instance,
                             const struct pdnn_totals *totals, bool *is_partial, struct pdnn_err *err) {
    *is_partial = false;
    for (uint64_t rest = where->names.used; rest; rest &= rest - 1) {
        int slot = __builtin_ctzll(rest);
        enum pdnn_status status = read_slot(where, slot, instance, totals, &where->names.values[slot], err);
        if (status != PDNN_OK)
            return status;
        *is_partial = *is_partial || isnan(where->names.values[slot]);
    }
    for (size_t i = 0; i < where->names.n_tests; i++)
        where->names.holds[i] = is_equal(where, instance, &where->names.tests[i]) ? 1.0 : 0.0;
    return PDNN_OK;
}

enum pdnn_status pdnn_where_eval(struct pdnn_where *where, const struct pdnn_instance *instance,
                                 const struct pdnn_totals *totals, bool *holds, struct pdnn_err *err) {
    bool is_partial;
    enum pdnn_status status = bind(where, instance, totals, &is_partial, err);
    if (status != PDNN_OK)
        return status;
    feclearexcept(FE_ALL_EXCEPT);
    double result = pdnn_where_code_eval(where->code);
    if (fetestexcept(FE_DIVBYZERO))
        return eval_failure(where, instance, "divides by zero", err);
    /* Comparing a NaN raises FE_INVALID. */
    bool raised = fetestexcept(is_partial ? FE_OVERFLOW : FE_INVALID | FE_OVERFLOW);
    if (raised || isnan(result))
        return eval_failure(where, instance, "has a part that is not a finite number", err);
    *holds = result != 0;
    return PDNN_OK;
}
