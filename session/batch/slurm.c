#include "session/batch/slurm.h"

#include "base/units.h"
#include "session/batch/scheduler_client.h"

#include <stdio.h>
#include <string.h>

/* A busy controller may take a minute. */
static const uint64_t patience_ns = UINT64_C(120000000000);

static const char size_name[] = "MaxArraySize";

/* MaxArraySize in what scontrol printed; false if it is not there. Task numbers are below it. */
static bool parse_array_size(const char *text, size_t *size) {
    char number[24];
    int64_t value;
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (strncmp(text, size_name, sizeof size_name - 1) == 0) {
            const char *at = text + sizeof size_name - 1;
            at += strspn(at, " ");
            at += *at == '=' ? 1 + strspn(at + 1, " ") : 0;
            snprintf(number, sizeof number, "%.*s", (int)strspn(at, "0123456789"), at);
            if (!pdnn_parse_i64(number, &value))
                return false;
            *size = (size_t)value;
            return true;
        }
        text += length + (text[length] != 0);
    }
    return false;
}

/* What a program says went wrong: the last line of its stderr, without its own name and "error: ". */
static const char *complaint_of(const struct pdnn_answer *answer, char line[PDNN_ERR_TEXT]) {
    const char *text = pdnn_str_text(&answer->errors);
    size_t end = strlen(text);
    while (end && strchr("\n\r ", text[end - 1]))
        end--;
    size_t start = end;
    while (start && text[start - 1] != '\n')
        start--;
    for (const char *mark = "error: ", *at; (at = strstr(text + start, mark)) && at < text + end;)
        start = (size_t)(at - text) + strlen(mark);
    snprintf(line, PDNN_ERR_TEXT, "%.*s", (int)(end - start), text + start);
    return line;
}

enum pdnn_status pdnn_slurm_array_limit(size_t *tasks, struct pdnn_err *err) {
    static const char *const command[] = {"scontrol", "show", "config", NULL};
    struct pdnn_answer answer;
    char line[PDNN_ERR_TEXT];
    size_t size;
    enum pdnn_status status = pdnn_scheduler_ask(command, patience_ns, &answer, err);
    if (status == PDNN_OK) {
        if (answer.exit_status)
            status = pdnn_fail(err, PDNN_IO, "scontrol show config failed: %s", complaint_of(&answer, line));
        else if (!parse_array_size(pdnn_str_text(&answer.out), &size))
            status = pdnn_fail(err, PDNN_IO, "scontrol show config has no %s", size_name);
        else if (!size)
            status = pdnn_fail(err, PDNN_INVALID, "Slurm takes no job arrays here (%s is 0)", size_name);
        else
            *tasks = size;
    }
    pdnn_answer_finish(&answer);
    return status;
}

/* "1234" or "1234;cluster", the last line: a site's wrapper may print others before it. */
static bool parse_job(const char *text, struct pdnn_slurm_job *job) {
    size_t end = strlen(text);
    while (end && strchr("\n\r ", text[end - 1]))
        end--;
    size_t start = end;
    while (start && text[start - 1] != '\n')
        start--;
    const char *line = text + start;
    size_t length = end - start, digits = strspn(line, "0123456789");
    if (!digits || digits >= sizeof job->id || digits > length)
        return false;
    size_t rest = length - digits;
    if (rest && (line[digits] != ';' || rest < 2 || rest > sizeof job->cluster))
        return false;
    snprintf(job->id, sizeof job->id, "%.*s", (int)digits, line);
    snprintf(job->cluster, sizeof job->cluster, "%.*s", rest ? (int)rest - 1 : 0, line + digits + 1);
    return true;
}

enum pdnn_status pdnn_slurm_submit(const char *const *command, struct pdnn_slurm_job *job,
                                   struct pdnn_err *err) {
    struct pdnn_answer answer;
    char line[PDNN_ERR_TEXT];
    enum pdnn_status status = pdnn_scheduler_ask(command, patience_ns, &answer, err);
    if (status == PDNN_OK) {
        if (answer.exit_status)
            status = pdnn_fail(err, PDNN_INVALID, "sbatch refused: %s",
                               *complaint_of(&answer, line) ? line : "it does not say why");
        else if (!parse_job(pdnn_str_text(&answer.out), job))
            status = pdnn_fail(err, PDNN_IO, "sbatch answered '%.200s', not with a job id",
                               pdnn_str_text(&answer.out));
    }
    pdnn_answer_finish(&answer);
    return status;
}
