/* See filter_report.h. */
#include "tools/filter/filter_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "tools/output/number_text.h"

double filter_report_limit(double rate)
{
    return rate > 0 && rate < 1 ? -log2(rate) : 0;
}

/* True if the rate is above the target by more than chance. */
static bool is_above_chance(const struct bb_filter_info *info)
{
    return info->predicted_rate > info->target_rate &&
           log(info->predicted_rate / info->target_rate) >
               FILTER_CHANCE_DEVIATIONS * info->rate_deviation;
}

/* The count is not enough: the count of a union is an estimate from its bits. */
bool filter_report_is_overfull(const struct bb_filter_info *info,
                               const struct bb_filter_file *parts)
{
    return parts->planned_key_count != 0 && info->key_count > parts->planned_key_count &&
           is_above_chance(info);
}

enum filter_verdict filter_report_verdict(const struct bb_filter_info *info)
{
    /* The target of a sketch of counts is a rate of errors, not of false positives. */
    if (info->predicted_rate <= info->target_rate || info->kind == BB_FILTER_COUNT_MIN)
        return FILTER_WITHIN;
    return is_above_chance(info) ? FILTER_ABOVE : FILTER_CHANCE;
}

const char *filter_verdict_text(enum filter_verdict verdict)
{
    static const char *const texts[] = {
        [FILTER_WITHIN] = "within the target",
        [FILTER_CHANCE] = "within chance of the target",
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

/* The reason and the remedy. The rate of a ribbon is the same for all keys. */
static void explain_above(const struct bb_filter_info *info, const struct bb_filter_file *parts,
                          char *ret_text, size_t size)
{
    if (info->kind == BB_FILTER_NONE)
        snprintf(ret_text, size, "kind none passes every key; choose another --kind");
    else if (filter_report_is_overfull(info, parts))
        snprintf(ret_text, size,
                 "it holds %s keys, %s were planned; create it with --keys %" PRIu64 " or more",
                 number_grouped(info->key_count).text,
                 number_grouped(parts->planned_key_count).text, info->key_count);
    else if (info->kind == BB_FILTER_RIBBON)
        snprintf(ret_text, size, "a part of it could not be built; create it again");
    else
        snprintf(ret_text, size,
                 "its keys set more bits than random keys do; create it with --kind ribbon, whose "
                 "rate does not depend on the keys");
}

enum exit_code filter_report_target(const struct command *command,
                                    const struct bb_filter_info *info,
                                    const struct bb_filter_file *parts, double target_rate)
{
    char reason[192] = "";
    char message[384] = "";
    struct bb_filter_info wanted = *info;
    if (target_rate != 0)
        wanted.target_rate = target_rate;
    if (filter_report_verdict(&wanted) != FILTER_ABOVE)
        return EXIT_FOUND;
    explain_above(&wanted, parts, reason, sizeof(reason));
    /* A filter without bits has the target 1. */
    const char *target = info->kind == BB_FILTER_NONE ? "the rate that was given" : "its target";
    snprintf(message, sizeof(message), "the rate of the filter is %s, %s is %s: %s",
             number_rate(wanted.predicted_rate).text, target, number_rate(wanted.target_rate).text,
             reason);
    command_warn(command, message);
    return EXIT_ABOVE_TARGET;
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
