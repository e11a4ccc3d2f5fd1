/* The directions in which shares and counts move in BERT training (Pati et al., arXiv 2104.08335; derived
 * arithmetic where exact), checked on measured rows: transformer instances that agree in everything except
 * the axis in question and keys tied to it. One line per direction and set of such instances. */
#include "base/units.h"
#include "models/dtype.h"
#include "results/studies/direction_tests.h"
#include "results/studies/study.h"
#include "results/analysis/share_matrix.h"

#include <string.h>

/* What all directions are checked on. */
struct check {
    const struct pdnn_selection *selection;
    struct pdnn_direction_facts *facts;   /* by chosen row */
    const struct pdnn_family_def *family; /* of the instances that have facts; NULL: there are none */
    struct pdnn_arena *arena;
    struct pdnn_study_line *lines;
    size_t n_lines;
};

/* The row's family if its layers have the attention that the directions are about, else NULL. */
static const struct pdnn_family_def *studied_family(const struct pdnn_selection *selection, size_t at) {
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_selection_get(selection, at, selection->family));
    for (size_t i = 0; family && i < family->n_layers; i++) {
        if (family->layers[i].part == PDNN_LAYER_ATTENTION)
            return family;
    }
    return NULL;
}

static enum pdnn_status collect_facts(struct check *check, struct pdnn_ops_reader *reader,
                                      struct pdnn_err *err) {
    const struct pdnn_selection *selection = check->selection;
    int params = pdnn_csv_find(&selection->results, "params"),
        mode = pdnn_csv_find(&selection->results, "mode");
    int dtype = pdnn_csv_find(&selection->results, "dtype");
    for (size_t at = 0; at < selection->count; at++) {
        struct pdnn_op_rows rows;
        struct pdnn_direction_facts *facts = &check->facts[at];
        const struct pdnn_family_def *family = studied_family(selection, at);
        double value = 0;
        if (!family)
            continue;
        check->family = family;
        if (pdnn_selection_rows(selection, at, reader, &rows, err) != PDNN_OK)
            return err->status;
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
            if (strcmp(pdnn_dtype_name(d), pdnn_selection_get(selection, at, dtype)) == 0)
                facts->word_bytes = pdnn_dtype_bytes(d);
        }
        facts->trains = strcmp(pdnn_selection_get(selection, at, mode), "train") == 0;
        pdnn_parse_double(pdnn_selection_get(selection, at, params), &value);
        facts->params = (uint64_t)value;
        pdnn_direction_facts(family, &rows, facts);
    }
    return PDNN_OK;
}

/* Moves a text into the arena. */
static const char *keep(struct check *check, struct pdnn_str *text) {
    char *kept = pdnn_arena_strdup(check->arena, pdnn_str_text(text));
    pdnn_str_finish(text);
    return kept;
}

/* "length 128, 512; batch 32, 8": the axes that differ, and whether any of it is extrapolated. */
static const char *compared_text(struct check *check, const struct pdnn_evidence *e,
                                 const struct pdnn_axes *axes) {
    struct pdnn_str text = {0};
    for (size_t k = 0; k < axes->count; k++) {
        bool differ = false;
        const char *first = pdnn_selection_get(e->selection, e->series.at[0], axes->column[k]);
        for (size_t i = 1; i < e->series.count; i++)
            differ = differ ||
                     strcmp(first, pdnn_selection_get(e->selection, e->series.at[i], axes->column[k])) != 0;
        if (!differ)
            continue;
        pdnn_str_printf(&text, "%s%s ", text.length ? "; " : "",
                        e->selection->results.header[axes->column[k]]);
        for (size_t i = 0; i < e->series.count; i++)
            pdnn_str_printf(&text, "%s%s", i ? ", " : "",
                            pdnn_selection_get(e->selection, e->series.at[i], axes->column[k]));
    }
    bool extrapolated = false;
    for (size_t i = 0; i < e->series.count; i++)
        extrapolated = extrapolated || pdnn_selection_extrapolated(e->selection, e->series.at[i]);
    if (extrapolated)
        pdnn_str_printf(&text, "%sextrapolated", text.length ? "; " : "");
    return keep(check, &text);
}

static void check_set(struct check *check, const struct pdnn_direction *direction,
                      const struct pdnn_axes *axes, const struct pdnn_series *series, bool *covered) {
    struct pdnn_str numbers = {0}, where = {0}, id = {0};
    const struct pdnn_evidence e = {.selection = check->selection,
                                    .facts = check->facts,
                                    .series = *series,
                                    .axis = axes->count ? axes->column[0] : -1,
                                    .numbers = &numbers};
    enum pdnn_verdict verdict = direction->test(direction, &e);
    if (verdict == PDNN_VERDICT_NOT_COVERED) {
        pdnn_str_finish(&numbers);
        return;
    }
    *covered = true;
    if (axes->count) {
        pdnn_selection_where(check->selection, series->at[0], axes, &where);
        pdnn_selection_pattern(check->selection, series->at[0], axes, &id);
    }
    check->lines[check->n_lines++] = (struct pdnn_study_line){.claim = direction->name,
                                                              .verdict = verdict,
                                                              .numbers = keep(check, &numbers),
                                                              .compared = compared_text(check, &e, axes),
                                                              .where = keep(check, &where),
                                                              .id = keep(check, &id)};
}

/* Leaves out instances without rows and, if there is an axis, those that do not train. */
static void keep_usable(const struct check *check, bool trains, struct pdnn_series *series) {
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++) {
        const struct pdnn_direction_facts *facts = &check->facts[series->at[i]];
        if (facts->has_ops && (facts->trains || !trains))
            series->at[count++] = series->at[i];
    }
    series->count = count;
}

/* The column of an axis in results.csv, or -1. */
static int column_of(const struct check *check, const char *axis) {
    if (axis == pdnn_direction_minibatch && check->family)
        axis = check->family->params[check->family->minibatch_param].name;
    return pdnn_csv_find(&check->selection->results, axis);
}

static void find_sets(struct check *check, const struct pdnn_direction *direction, struct pdnn_axes *axes,
                      struct pdnn_series **sets, size_t *n_sets) {
    *axes = (struct pdnn_axes){.alike = direction->alike};
    for (size_t k = 0; k < PDNN_DIRECTION_AXES && direction->axes[k]; k++) {
        int column = column_of(check, direction->axes[k]);
        if (column < 0 && !k)
            return;
        if (column >= 0)
            axes->column[axes->count++] = column;
    }
    if (axes->count) {
        pdnn_selection_series(check->selection, axes, check->arena, sets, n_sets);
        return;
    }
    size_t count = check->selection->count;
    struct pdnn_series *all = pdnn_arena_alloc(check->arena, 1, sizeof *all);
    all->at = pdnn_arena_alloc(check->arena, count + 1, sizeof *all->at);
    for (size_t at = 0; at < count; at++)
        all->at[all->count++] = at;
    *sets = all;
    *n_sets = 1;
}

static void check_direction(struct check *check, const struct pdnn_direction *direction) {
    struct pdnn_axes axes;
    struct pdnn_series *sets = NULL;
    size_t n_sets = 0;
    bool covered = false;
    find_sets(check, direction, &axes, &sets, &n_sets);
    for (size_t i = 0; i < n_sets; i++) {
        keep_usable(check, axes.count > 0, &sets[i]);
        if (sets[i].count >= (axes.count ? 2 : 1))
            check_set(check, direction, &axes, &sets[i], &covered);
    }
    if (covered)
        return;
    check->lines[check->n_lines++] = (struct pdnn_study_line){.claim = direction->name,
                                                              .verdict = PDNN_VERDICT_NOT_COVERED,
                                                              .numbers = "",
                                                              .compared = direction->needs,
                                                              .where = "",
                                                              .id = ""};
}

static enum pdnn_status check_all(const struct pdnn_selection *selection, struct pdnn_ops_reader *reader,
                                  struct pdnn_arena *arena, struct pdnn_study_line **lines, size_t *n_lines,
                                  struct pdnn_err *err) {
    struct check check = {.selection = selection, .arena = arena};
    size_t n_rows = 0;
    while (pdnn_direction_rows[n_rows].name)
        n_rows++;
    check.facts = pdnn_arena_alloc(arena, selection->count + 1, sizeof *check.facts);
    check.lines = pdnn_arena_alloc(arena, n_rows * (selection->count + 1), sizeof *check.lines);
    enum pdnn_status status = collect_facts(&check, reader, err);
    for (size_t i = 0; status == PDNN_OK && i < n_rows; i++)
        check_direction(&check, &pdnn_direction_rows[i]);
    *lines = check.lines;
    *n_lines = check.n_lines;
    return status;
}

#define WORD(field) PDNN_COLUMN_WORD, .offset = offsetof(struct pdnn_study_line, field)

static const struct pdnn_column columns[] = {
    {"direction", "", WORD(claim), .help = "what must hold in measured runs of BERT training"},
    {"verdict", "", PDNN_COLUMN_WORD, .get = pdnn_study_get_verdict, .help = "PASS, FAIL or not covered"},
    {"numbers", "", WORD(numbers), .help = "what the verdict is based on, in the order of `compared`"},
    {"compared", "", WORD(compared), .help = "the instances compared; not covered: those that are missing"},
    {"condition", "", WORD(where),
     .help = "what distinguishes this set of instances from others in the sweep"},
    {"id", "", WORD(id), .help = "the id of all of them, with a star for what differs"},
};

const struct pdnn_columns pdnn_study_directions_columns = {"directions", columns,
                                                           sizeof columns / sizeof *columns};

const char pdnn_study_directions_help[] = "test what must hold in measured runs of BERT training";

const struct pdnn_study_def pdnn_study_directions = {
    .name = "directions",
    .help = pdnn_study_directions_help,
    .columns = &pdnn_study_directions_columns,
    .check = check_all,
};
