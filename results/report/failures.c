/* What did not run, by status and by reason, most frequent first. Reasons that differ only in numbers ("needs
 * 5 GiB", "needs 9 GiB") are one: each sweep that runs out of memory would have as many reasons as models. */
#include "base/memory.h"
#include "results/report/html.h"
#include "results/report/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS_SHOWN = 5, REASONS_SHOWN = 20 };

struct group {
    const char *status, *reason; /* with numbers masked, unless all its models have the same */
    size_t n, n_status;          /* models; those of all groups with this status */
    size_t model[MODELS_SHOWN];
};

struct groups {
    const struct pdnn_selection *rows;
    struct group *group;
    size_t count;
};

/* The length of the number that begins here: 12, 1,024, 5.25, 1e+09; 0 if none does. */
static size_t number_length(const char *text) {
    static const char *const between[] = {".", ",", "e+", "e-", "e"};
    size_t length = strspn(text, "0123456789"), k = 0;
    while (length && k < sizeof between / sizeof *between) {
        size_t skip = strlen(between[k]);
        bool goes_on =
            strncmp(text + length, between[k], skip) == 0 && isdigit((unsigned char)text[length + skip]);
        length += goes_on ? skip + strspn(text + length + skip, "0123456789") : 0;
        k = goes_on ? 0 : k + 1;
    }
    return length;
}

/* "needs 5.2 GiB of f32" becomes "needs N GiB of f32": digits within a word are part of a name. */
static void mask_numbers(struct pdnn_str *out, const char *text) {
    for (const char *at = text; *at;) {
        bool in_word = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        size_t length = in_word ? 0 : number_length(at);
        pdnn_str_append(out, length ? "N" : at, 1);
        at += length ? length : 1;
    }
}

/* Most frequent status first, and within it most frequent reason; the tables' order where equal. */
static int compare_groups(const void *a, const void *b) {
    const struct group *one = a, *other = b;
    if (one->n_status != other->n_status)
        return one->n_status > other->n_status ? -1 : 1;
    int order = strcmp(one->status, other->status);
    if (order)
        return order;
    if (one->n != other->n)
        return one->n > other->n ? -1 : 1;
    return one->model[0] < other->model[0] ? -1 : 1;
}

/* Equal texts of the table are one pointer. */
static void add_failure(struct groups *groups, struct pdnn_texts *keys, size_t r) {
    const char *status = pdnn_selection_word(groups->rows, r, PDNN_RESULT_STATUS);
    const char *reason = pdnn_selection_word(groups->rows, r, PDNN_RESULT_REASON);
    struct pdnn_str key = {0};
    pdnn_str_printf(&key, "%s\n", status);
    mask_numbers(&key, reason);
    size_t at = pdnn_texts_add(keys, pdnn_str_text(&key));
    pdnn_str_finish(&key);
    struct group *group = &groups->group[at];
    if (at == groups->count) {
        groups->count++;
        group->status = status;
        group->reason = reason;
    }
    if (group->reason != reason)
        group->reason = strchr(keys->text[at], '\n') + 1;
    if (group->n < MODELS_SHOWN)
        group->model[group->n] = r;
    group->n++;
}

static void find_groups(struct groups *groups, struct pdnn_texts *keys) {
    for (size_t r = 0; r < groups->rows->count; r++) {
        if (!pdnn_selection_is_ok(groups->rows, r))
            add_failure(groups, keys, r);
    }
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->count; k++)
            groups->group[i].n_status +=
                groups->group[k].status == groups->group[i].status ? groups->group[k].n : 0;
    qsort(groups->group, groups->count, sizeof *groups->group, compare_groups);
}

static void put_group(struct pdnn_str *out, const struct groups *groups, const struct group *group) {
    pdnn_str_printf(out, "<tr><td class=\"number\">%zu</td>", group->n);
    pdnn_html_cell(out, group->status);
    pdnn_html_cell(out, group->reason);
    pdnn_str_printf(out, "<td>");
    for (size_t i = 0; i < group->n && i < MODELS_SHOWN; i++) {
        pdnn_str_printf(out, i ? "<br><code>" : "<code>");
        pdnn_html_text(out, pdnn_selection_get(groups->rows, group->model[i], groups->rows->id));
        pdnn_str_printf(out, "</code>");
    }
    if (group->n > MODELS_SHOWN)
        pdnn_str_printf(out, "<br>and %zu more", group->n - MODELS_SHOWN);
    pdnn_str_printf(out, "</td></tr>\n");
}

/* The groups of one status from the first on; returns the first of the next. */
static size_t put_status(struct pdnn_str *out, const struct groups *groups, size_t first) {
    const char *status = groups->group[first].status;
    size_t end = first, n_hidden = 0;
    for (; end < groups->count && groups->group[end].status == status; end++) {
        if (end < first + REASONS_SHOWN)
            put_group(out, groups, &groups->group[end]);
        else
            n_hidden += groups->group[end].n;
    }
    if (n_hidden) {
        pdnn_str_printf(out, "<tr><td class=\"number\">%zu</td>", n_hidden);
        pdnn_html_cell(out, status);
        pdnn_str_printf(out, "<td>%zu more reason%s</td><td></td></tr>\n", end - first - REASONS_SHOWN,
                        end - first - REASONS_SHOWN == 1 ? "" : "s");
    }
    return end;
}

static enum pdnn_status put(const struct pdnn_report_page *page, struct pdnn_str *out, struct pdnn_err *err) {
    (void)err;
    static const char *const titles[] = {"models", "status", "reason", "which", NULL};
    struct pdnn_texts keys = {0};
    struct groups groups = {.rows = &page->all};
    if (!page->n_failed)
        return PDNN_OK;
    groups.group = pdnn_alloc(page->n_failed, sizeof *groups.group);
    find_groups(&groups, &keys);
    pdnn_html_table(out, "failures",
                    "Models without a time, by status and reason; N stands for numbers that differ.", titles);
    for (size_t first = 0; first < groups.count;)
        first = put_status(out, &groups, first);
    pdnn_html_table_end(out);
    pdnn_texts_finish(&keys);
    free(groups.group);
    return PDNN_OK;
}

const struct pdnn_report_section pdnn_section_failures = {"failures", "What did not run", "What did not run",
                                                          .put = put};
