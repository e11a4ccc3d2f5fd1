/* One axis: the values that a spec gives one hyper-parameter or run setting, checked against its row. */
#ifndef GEN_AXIS_H
#define GEN_AXIS_H

#include "gen/yaml/document.h"
#include "models/instance.h"

struct pdnn_axis {
    const struct pdnn_param_def *def;
    const struct pdnn_yaml *node; /* where it was written */
    bool is_setting;
    int index; /* into an instance's settings or hyper-parameters */
    uint64_t count;
    const struct pdnn_value *values; /* `count` of them; NULL: from, from + plus, from + 2 plus, ... */
    int64_t from, plus;
    uint64_t repeat; /* of a list: the first value that equals an earlier one; 0: none does */
};

/* Reads a value, a list of values, {from, to, plus} or {from, to, times}. A value is a scalar or, for a
 * LIST, also a list of numbers. Steps of decimal numbers are exact. A range includes `to` if a step lands on
 * it. Values live in the arena. PDNN_INVALID for an empty list, a reversed range, a step that makes no
 * progress, or a range over words. */
enum pdnn_status pdnn_axis_read(const struct pdnn_param_def *def, const struct pdnn_yaml *node,
                                struct pdnn_arena *arena, struct pdnn_axis *axis, struct pdnn_err *err);

/* PDNN_INVALID for an axis whose list has a value twice, which only says something beside another axis. */
enum pdnn_status pdnn_axis_check_once(const struct pdnn_axis *axis, struct pdnn_err *err);

/* Stores value number `at` in the instance. */
static inline void pdnn_axis_apply(const struct pdnn_axis *axis, uint64_t at,
                                   struct pdnn_instance *instance) {
    struct pdnn_value value =
        axis->values ? axis->values[at] : pdnn_value_of(axis->from + (int64_t)at * axis->plus);
    if (axis->is_setting)
        instance->setting[axis->index] = value.number;
    else
        instance->hyper[axis->index] = value;
}

#endif
