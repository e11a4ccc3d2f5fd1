#include "models/param.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool pdnn_value_equal(struct pdnn_value a, struct pdnn_value b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

int pdnn_list_length(struct pdnn_value list) {
    return list.number < 0 ? 0 : 1 + (int)list.n_more;
}

int64_t pdnn_list_at(struct pdnn_value list, int i) {
    int last = i < list.n_more ? i : (int)list.n_more;
    return last ? list.more[last - 1] : list.number;
}

struct pdnn_value pdnn_list_make(const int64_t *numbers, int n) {
    assert(n >= 1 && n <= PDNN_LIST_MAX);
    struct pdnn_value list = {.number = numbers[0], .n_more = n - 1};
    for (int i = 1; i < n; i++)
        list.more[i - 1] = numbers[i];
    return list;
}

struct pdnn_value pdnn_list_take(struct pdnn_value list, int n) {
    int64_t numbers[PDNN_LIST_MAX];
    for (int i = 0; i < n; i++)
        numbers[i] = pdnn_list_at(list, i);
    return list.number < 0 ? list : pdnn_list_make(numbers, n);
}

struct pdnn_value pdnn_list_trim(struct pdnn_value list, int least) {
    int n = pdnn_list_length(list);
    while (n > least && n > 1 && pdnn_list_at(list, n - 1) == pdnn_list_at(list, n - 2))
        n--;
    return pdnn_list_take(list, n);
}

int pdnn_param_find(const struct pdnn_param_def *defs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(defs[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static size_t count_choices(const struct pdnn_param_def *def) {
    size_t count = 0;
    while (def->choices[count])
        count++;
    return count;
}

/* What other tools call hyper-parameters, run settings, their words, and keys of measure and limits. A word
 * of theirs may stand for several of ours, of which a model has one. */
static const struct {
    const char *ours, *theirs;
} synonyms[] = {
    {"layers", "num_layers"},
    {"layers", "n_layers"},
    {"layers", "n_layer"},
    {"layers", "num_hidden_layers"},
    {"layers", "depth"},
    {"length", "seq_len"},
    {"length", "seq_length"},
    {"length", "sequence_length"},
    {"length", "max_length"},
    {"length", "max_seq_len"},
    {"length", "timesteps"},
    {"positions", "n_ctx"},
    {"positions", "n_positions"},
    {"positions", "max_position_embeddings"},
    {"vocabulary", "vocab_size"},
    {"vocabulary", "n_vocab"},
    {"vocabulary", "vocab"},
    {"heads", "n_head"},
    {"heads", "n_heads"},
    {"heads", "num_heads"},
    {"heads", "num_attention_heads"},
    {"hidden", "hidden_size"},
    {"nodes", "hidden_size"},
    {"hidden", "hidden_dim"},
    {"nodes", "hidden_dim"},
    {"hidden", "d_model"},
    {"hidden", "n_embd"},
    {"nodes", "units"},
    {"hidden", "units"},
    {"nodes", "neurons"},
    {"nodes", "width"},
    {"filters", "width"},
    {"embedding", "embedding_size"},
    {"embedding", "embedding_dim"},
    {"ffn", "intermediate_size"},
    {"ffn", "dim_feedforward"},
    {"ffn", "ffn_dim"},
    {"ffn", "d_ff"},
    {"ffn", "n_inner"},
    {"types", "type_vocab_size"},
    {"predictions", "max_predictions_per_seq"},
    {"output", "num_classes"},
    {"output", "n_classes"},
    {"output", "classes"},
    {"output", "out_features"},
    {"output", "output_size"},
    {"input", "in_features"},
    {"input", "input_size"},
    {"image", "input_size"},
    {"image", "image_size"},
    {"image", "img_size"},
    {"image", "resolution"},
    {"filters", "channels"},
    {"filters", "num_filters"},
    {"kernel", "kernel_size"},
    {"activation", "hidden_act"},
    {"activation", "activation_function"},
    {"batch", "batch_size"},
    {"batch", "minibatch"},
    {"batch", "bs"},
    {"dropout", "dropout_rate"},
    {"threads", "num_threads"},
    {"threads", "n_threads"},
    {"threads", "cores"},
    {"dtype", "precision"},
    {"dtype", "datatype"},
    {"f32", "float"},
    {"f32", "float32"},
    {"f32", "fp32"},
    {"f32", "single"},
    {"f16", "float16"},
    {"f16", "fp16"},
    {"f16", "half"},
    {"bf16", "bfloat16"},
    {"int8", "i8"},
    {"int8", "s8"},
    {"int8", "u8"},
    {"infer", "inference"},
    {"infer", "eval"},
    {"infer", "forward"},
    {"train", "training"},
    {"gelu_tanh", "gelu_new"},
    {"gelu_tanh", "gelu_fast"},
    {"gelu_tanh", "gelu_pytorch_tanh"},
    {"rounds", "iterations"},
    {"rounds", "repetitions"},
    {"rounds", "repeats"},
    {"time", "timeout"},
};

/* The one of the words that other tools call `word`; NULL if there is none. */
static const char *find_synonym(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        if (!pdnn_word_is_same(word, synonyms[i].theirs))
            continue;
        for (size_t k = 0; k < count; k++)
            if (strcmp(words[k], synonyms[i].ours) == 0)
                return words[k];
    }
    return NULL;
}

const char *pdnn_param_suggest(char buffer[PDNN_SUGGESTION_TEXT], const char *word, const char *const *words,
                               size_t count) {
    const char *synonym = find_synonym(word, words, count);
    if (!synonym)
        return pdnn_suggest(buffer, word, words, count);
    snprintf(buffer, PDNN_SUGGESTION_TEXT, ", did you mean '%.64s'?", synonym);
    return buffer;
}

/* YAML's other words for yes and no, in Python's and R's case too. */
static bool is_switch(const struct pdnn_param_def *def, const char *text, struct pdnn_value *value) {
    static const char *const words[][2] = {{"true", "yes"}, {"on", "yes"}, {"false", "no"}, {"off", "no"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; strcasecmp(text, words[i][0]) == 0 && def->choices[k]; k++)
            if (strcmp(def->choices[k], words[i][1]) == 0) {
                *value = pdnn_value_of((int64_t)k);
                return true;
            }
    return false;
}

static enum pdnn_status unknown_choice(const struct pdnn_param_def *def, const char *text,
                                       struct pdnn_err *err) {
    char all[256] = "";
    size_t used = 0;
    for (size_t i = 0; def->choices[i] && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", def->choices[i]);
    char buffer[PDNN_SUGGESTION_TEXT];
    const char *hint = pdnn_param_suggest(buffer, text, def->choices, count_choices(def));
    return pdnn_fail(err, PDNN_INVALID, "%s is '%.40s'%s%s%s%s", def->name, text, hint,
                     *hint ? " (one of: " : ", expected one of: ", all, *hint ? ")" : "");
}

static const char *number_word(const struct pdnn_param_def *def) {
    return def->type == PDNN_PARAM_DECIMAL ? "number" : "whole number";
}

static enum pdnn_status not_a_number(const struct pdnn_param_def *def, const char *text,
                                     struct pdnn_err *err) {
    const char *dots = strstr(text, "..");
    int64_t low, high;
    double real;
    char from[24], low_text[PDNN_PARAM_TEXT], high_text[PDNN_PARAM_TEXT];
    snprintf(from, sizeof from, "%.*s", dots ? (int)(dots - text) : 0, text);
    if (dots && pdnn_param_parse_number(def, from, &low) == PDNN_NUMBER_WHOLE &&
        pdnn_param_parse_number(def, dots + 2, &high) == PDNN_NUMBER_WHOLE)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s is '%.40s', expected a %s; a range is {from: %s, to: %s, times: 2}, or plus",
                         def->name, text, number_word(def), pdnn_param_format_number(def, low, low_text),
                         pdnn_param_format_number(def, high, high_text));
    if (def->type == PDNN_PARAM_DECIMAL && isdigit((unsigned char)*text) && pdnn_parse_double(text, &real))
        return pdnn_fail(err, PDNN_INVALID, "%s is '%.40s', expected at most 6 digits behind the point",
                         def->name, text);
    const char *list = def->type != PDNN_PARAM_LIST ? ""
                       : def->word                  ? ", a list such as 3-4-6-3"
                                                    : " or a list such as 3-4-6-3";
    return pdnn_fail(err, PDNN_INVALID, "%s is '%.40s', expected a %s%s%s%s%s", def->name, text,
                     number_word(def), list, def->word ? " or '" : "", def->word ? def->word : "",
                     def->word ? "'" : "");
}

bool pdnn_name_pack(const char *text, int64_t *number) {
    const size_t length = strlen(text), base = sizeof PDNN_NAME_LETTERS - 1;
    int64_t packed = 0;
    if (!length || length > PDNN_NAME_LENGTH || strspn(text, PDNN_NAME_LETTERS) < length)
        return false;
    for (; *text; text++)
        packed = packed * (int64_t)base + (strchr(PDNN_NAME_LETTERS, *text) - PDNN_NAME_LETTERS) + 1;
    *number = packed;
    return true;
}

const char *pdnn_name_unpack(int64_t number, char text[PDNN_NAME_LENGTH + 1]) {
    const int64_t base = sizeof PDNN_NAME_LETTERS - 1;
    char letters[PDNN_NAME_LENGTH];
    size_t length = 0;
    assert(number >= 0 && number <= PDNN_NAME_MAX);
    for (; number; number = (number - 1) / base)
        letters[length++] = PDNN_NAME_LETTERS[(number - 1) % base];
    for (size_t i = 0; i < length; i++)
        text[i] = letters[length - 1 - i];
    text[length] = 0;
    return text;
}

static enum pdnn_status parse_name(const struct pdnn_param_def *def, const char *text,
                                   struct pdnn_value *value, struct pdnn_err *err) {
    int64_t number;
    if (!pdnn_name_pack(text, &number))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s is '%.40s', expected '%s' or a name of 1 to %d of a-z, 0-9, '.', '-' and '_'",
                         def->name, text, def->word, PDNN_NAME_LENGTH);
    *value = pdnn_value_of(number);
    return PDNN_OK;
}

/* Two or more numbers separated by '-'. */
static enum pdnn_status parse_list(const struct pdnn_param_def *def, const char *text,
                                   struct pdnn_value *value, struct pdnn_err *err) {
    int64_t numbers[PDNN_LIST_MAX];
    int n = 0;
    enum pdnn_status status = PDNN_OK;
    for (const char *at = text, *end; at && status == PDNN_OK; at = *end ? end + 1 : NULL, n++) {
        char number[24];
        end = at + strcspn(at, "-");
        if (n == PDNN_LIST_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s is '%.60s', expected up to %d numbers", def->name, text,
                             PDNN_LIST_MAX);
        snprintf(number, sizeof number, "%.*s", (int)(end - at), at);
        if (pdnn_parse_i64(number, &numbers[n]))
            status = pdnn_param_check_number(def, numbers[n], err);
        else
            status = pdnn_fail(err, PDNN_INVALID, "%s is '%s', expected a whole number", def->name, number);
    }
    if (status == PDNN_OK)
        *value = pdnn_list_make(numbers, n);
    else
        pdnn_wrap(err, "'%.60s'", text);
    return status;
}

enum pdnn_status pdnn_param_parse(const struct pdnn_param_def *def, const char *text,
                                  struct pdnn_value *value, struct pdnn_err *err) {
    if (def->type == PDNN_PARAM_CHOICE) {
        for (size_t i = 0; def->choices[i]; i++) {
            if (strcmp(def->choices[i], text) == 0) {
                *value = pdnn_value_of((int64_t)i);
                return PDNN_OK;
            }
        }
        return is_switch(def, text, value) ? PDNN_OK : unknown_choice(def, text, err);
    }
    if (def->word && strcmp(def->word, text) == 0) {
        *value = pdnn_value_of(def->word_value);
        return PDNN_OK;
    }
    if (def->type == PDNN_PARAM_NAME)
        return parse_name(def, text, value, err);
    char low[PDNN_PARAM_TEXT], high[PDNN_PARAM_TEXT], bare[24]; /* without the unit, which may follow */
    size_t length = strlen(text), unit = strlen(pdnn_param_unit(def));
    if (unit && length > unit && length - unit < sizeof bare &&
        strcmp(text + length - unit, def->unit) == 0) {
        snprintf(bare, sizeof bare, "%.*s", (int)(length - unit), text);
        text = bare;
    }
    int64_t number;
    enum pdnn_number_kind kind = pdnn_param_parse_number(def, text, &number);
    if (kind == PDNN_NUMBER_TOO_LARGE)
        return pdnn_fail(err, PDNN_INVALID, "%s is '%.40s', which is too large, expected %s to %s", def->name,
                         text, pdnn_param_format_number(def, def->min, low),
                         pdnn_param_format_number(def, def->max, high));
    if (kind == PDNN_NUMBER_OTHER) {
        bool has_more = def->type == PDNN_PARAM_LIST && strchr(text, '-');
        return has_more ? parse_list(def, text, value, err) : not_a_number(def, text, err);
    }
    enum pdnn_status status = pdnn_param_check_number(def, number, err);
    if (status == PDNN_OK)
        *value = pdnn_value_of(number);
    return status;
}

enum pdnn_status pdnn_param_check_number(const struct pdnn_param_def *def, int64_t number,
                                         struct pdnn_err *err) {
    if (number >= def->min && number <= def->max)
        return PDNN_OK;
    char text[PDNN_PARAM_TEXT], low[PDNN_PARAM_TEXT], high[PDNN_PARAM_TEXT];
    return pdnn_fail(err, PDNN_INVALID, "%s is %s, expected %s to %s", def->name,
                     pdnn_param_format_number(def, number, text),
                     pdnn_param_format_number(def, def->min, low),
                     pdnn_param_format_number(def, def->max, high));
}

enum pdnn_number_kind pdnn_param_parse_number(const struct pdnn_param_def *def, const char *text,
                                              int64_t *number) {
    return def->type == PDNN_PARAM_DECIMAL ? pdnn_parse_millionths(text, number)
                                           : pdnn_parse_whole(text, number);
}

/* Returns the end. */
static char *put_number(char *at, int64_t number) {
    if (number < 0)
        *at++ = '-';
    return at + pdnn_u64_digits(at, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* Millionths without zeros at the end; returns the end. */
static char *put_decimal(char *at, int64_t millionths) {
    int64_t whole = millionths / PDNN_MILLION, rest = millionths % PDNN_MILLION;
    if (millionths < 0 && !whole)
        *at++ = '-';
    at = put_number(at, whole);
    if (!rest)
        return at;
    *at++ = '.';
    for (int64_t unit = PDNN_MILLION / 10; rest; rest %= unit, unit /= 10)
        *at++ = (char)('0' + (rest < 0 ? -rest : rest) / unit);
    return at;
}

const char *pdnn_param_format_number(const struct pdnn_param_def *def, int64_t number,
                                     char buffer[PDNN_PARAM_TEXT]) {
    char *end = def->type == PDNN_PARAM_DECIMAL ? put_decimal(buffer, number) : put_number(buffer, number);
    *end = 0;
    return buffer;
}

const char *pdnn_param_format(const struct pdnn_param_def *def, struct pdnn_value value,
                              char buffer[PDNN_PARAM_TEXT]) {
    if (def->type == PDNN_PARAM_CHOICE)
        return def->choices[value.number];
    if (def->word && value.number == def->word_value)
        return def->word;
    if (def->type == PDNN_PARAM_DECIMAL)
        return pdnn_param_format_number(def, value.number, buffer);
    if (def->type == PDNN_PARAM_NAME)
        return pdnn_name_unpack(value.number, buffer);
    char *end = put_number(buffer, value.number);
    for (int i = 0; i < value.n_more; i++) {
        *end++ = '-';
        end = put_number(end, value.more[i]);
    }
    *end = 0;
    return buffer;
}
