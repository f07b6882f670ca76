/* See filter_report.h. */
#include "tools/filter/filter_report.h"

#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "tools/output/number_text.h"

double filter_report_limit(double rate)
{
    return rate > 0 && rate < 1 ? -log2(rate) : 0;
}

bool filter_report_is_overfull(const struct bb_filter_info *info,
                               const struct bb_filter_file *parts)
{
    return parts->planned_key_count != 0 && info->key_count > parts->planned_key_count &&
           info->predicted_rate > info->target_rate;
}

enum filter_verdict filter_report_verdict(const struct bb_filter_info *info,
                                          const struct bb_filter_file *parts)
{
    /* The target of a sketch of counts is a rate of errors, not of false positives. */
    if (info->predicted_rate <= info->target_rate || info->kind == BB_FILTER_COUNT_MIN)
        return FILTER_WITHIN;
    double excess = log(info->predicted_rate / info->target_rate);
    bool is_above = filter_report_is_overfull(info, parts) ||
                    excess > FILTER_CHANCE_DEVIATIONS * info->rate_deviation;
    return is_above ? FILTER_ABOVE : FILTER_CHANCE;
}

const char *filter_verdict_text(enum filter_verdict verdict)
{
    static const char *const texts[] = {
        [FILTER_WITHIN] = "within the target",
        [FILTER_CHANCE] = "as planned, within chance of the target",
        [FILTER_ABOVE] = "above the target",
    };
    return texts[verdict];
}

const char *filter_verdict_name(enum filter_verdict verdict)
{
    static const char *const names[] = {
        [FILTER_WITHIN] = "within", [FILTER_CHANCE] = "chance", [FILTER_ABOVE] = "above"};
    return names[verdict];
}

enum exit_code filter_report_overfull(const struct command *command,
                                      const struct bb_filter_info *info,
                                      const struct bb_filter_file *parts)
{
    char message[320] = "";
    if (!filter_report_is_overfull(info, parts))
        return EXIT_FOUND;
    snprintf(message, sizeof(message),
             "the filter holds %s keys, %s were planned: its rate is now %s, the target is %s",
             number_grouped(info->key_count).text, number_grouped(parts->planned_key_count).text,
             number_rate(info->predicted_rate).text, number_rate(info->target_rate).text);
    command_warn(command, message);
    return EXIT_OVERFULL;
}

void filter_report_line(struct output *out, const char *path, const struct bb_filter_info *info)
{
    output_bytes(out, bb_bytes_of_text(path), false);
    output_print(out, ": %s, %s, %s, %.2f bits per key; predicted rate %s, target %s\n",
                 bb_filter_kind_name(info->kind), number_of(info->key_count, "key", "keys").text,
                 number_bytes(info->size_bytes).text, info->bits_per_key,
                 number_rate(info->predicted_rate).text, number_rate(info->target_rate).text);
}

void filter_report_json(json_t *object, const struct bb_filter_info *info,
                        const struct bb_filter_file *parts)
{
    json_set_text(object, "kind", bb_filter_kind_name(info->kind));
    json_set_count(object, "version", info->version);
    json_set_count(object, "keys", info->key_count);
    json_set_count(object, "planned_keys", parts->planned_key_count);
    json_set_bool(object, "overfull", filter_report_is_overfull(info, parts));
    json_set_count(object, "envelope_bytes", info->size_bytes);
    json_set_real(object, "bits_per_key", info->bits_per_key);
    json_set_real(object, "limit_bits_per_key", filter_report_limit(info->predicted_rate));
    json_set_real(object, "target_rate", info->target_rate);
    json_set_real(object, "predicted_rate", info->predicted_rate);
    json_set_real(object, "rate_deviation", info->rate_deviation);
    json_set_real(object, "fill", info->fill);
    json_set_count(object, "bits_per_probe", info->bits_per_probe);
    json_set_count(object, "saturated_counters", info->saturated_count);
    json_set_count(object, "stages", info->stage_count);
    json_set_hex64(object, "salt", info->salt);
}
