/* Writes the end of a table: table filter, range tombstones, root, properties, directory, footer.
 * One thread. */
#include "bloomblock/table/block_filter.h"
#include "sstable/build/table_builder.h"
#include "sstable/meta/footer.h"
#include "sstable/meta/table_directory.h"
#include "sstable/ranges/range_tombstones.h"

/* Writes a section and enters it into the directory. */
static enum bb_status write_bytes(struct bb_table_builder *builder,
                                  struct bb_table_directory *directory, enum bb_section_id id,
                                  uint16_t flags, struct bb_bytes bytes)
{
    uint64_t offset = builder->writer.offset;
    directory->sections[directory->count++] = (struct bb_section){
        .id = (uint16_t)id,
        .flags = flags,
        .offset = offset,
        .size = bytes.size,
        .checksum = bb_checksum(builder->id, BB_STORED_SECTION, offset, bytes.data, bytes.size),
    };
    return bb_table_writer_append(&builder->writer, bytes);
}

/* The same for the contents of builder->stored, as a section that readers must understand. */
static enum bb_status write_section(struct bb_table_builder *builder,
                                    struct bb_table_directory *directory, enum bb_section_id id)
{
    return write_bytes(builder, directory, id, BB_SECTION_FLAG_INCOMPATIBLE,
                       bb_buf_bytes(&builder->stored));
}

/* The table filter comes first: opening a table reads the other parts in one piece from the end of
 * the file, except in tables with a large root. */
static enum bb_status write_table_filter(struct bb_table_builder *builder,
                                         struct bb_table_directory *directory)
{
    struct bb_bytes section = {0};
    if (builder->table_filter == NULL)
        return BB_OK;
    enum bb_status status = bb_table_filter_builder_finish(builder->table_filter, builder->id,
                                                           builder->writer.offset, &section);
    if (status != BB_OK)
        return status;
    builder->properties.table_filter_size = section.size;
    return write_bytes(builder, directory, BB_SECTION_TABLE_FILTER, 0, section);
}

static enum bb_status write_range_tombstones(struct bb_table_builder *builder,
                                             struct bb_table_directory *directory)
{
    if (builder->ranges.list == NULL)
        return BB_OK;
    bb_buf_reset(&builder->stored);
    enum bb_status status = bb_range_tombstones_encode(builder->ranges.list, &builder->stored);
    return status == BB_OK ? write_section(builder, directory, BB_SECTION_RANGE_TOMBSTONES)
                           : status;
}

static enum bb_status write_root(struct bb_table_builder *builder,
                                 struct bb_table_directory *directory)
{
    bb_buf_reset(&builder->stored);
    enum bb_status status = bb_root_builder_encode(&builder->root, &builder->stored);
    return status == BB_OK ? write_section(builder, directory, BB_SECTION_ROOT) : status;
}

/* A rate is 1 if the table has no such filters: every key passes them. */
static void predict_rates(struct bb_table_builder *builder)
{
    struct bb_properties *p = &builder->properties;
    p->predicted_block_rate =
        builder->filters == NULL ? 1 : bb_block_filter_builder_rate(builder->filters);
    p->predicted_table_filter_rate =
        builder->table_filter == NULL ? 1 : bb_table_filter_builder_rate(builder->table_filter);
}

static enum bb_status write_properties(struct bb_table_builder *builder,
                                       struct bb_table_directory *directory)
{
    predict_rates(builder);
    bb_buf_reset(&builder->stored);
    enum bb_status status = bb_properties_encode(&builder->properties, &builder->stored);
    return status == BB_OK ? write_section(builder, directory, BB_SECTION_PROPERTIES) : status;
}

static enum bb_status write_directory(struct bb_table_builder *builder,
                                      const struct bb_table_directory *directory,
                                      struct bb_footer *footer)
{
    bb_buf_reset(&builder->stored);
    uint64_t offset = builder->writer.offset;
    enum bb_status status =
        bb_table_directory_encode(directory, builder->id, offset, &builder->stored);
    if (status != BB_OK)
        return status;
    footer->directory_offset = offset;
    footer->directory_size = (uint32_t)builder->stored.size;
    return bb_table_writer_append(&builder->writer, bb_buf_bytes(&builder->stored));
}

enum bb_status bb_table_builder_write_end(struct bb_table_builder *builder)
{
    struct bb_table_directory directory = {0};
    struct bb_footer footer = {.format_version = BB_FORMAT_VERSION};
    uint8_t bytes[BB_FOOTER_SIZE];
    memcpy(footer.table_id, builder->properties.table_id.data, BB_TABLE_ID_SIZE);
    enum bb_status status = write_table_filter(builder, &directory);
    if (status == BB_OK)
        status = write_range_tombstones(builder, &directory);
    if (status == BB_OK)
        status = write_root(builder, &directory);
    if (status == BB_OK)
        status = write_properties(builder, &directory);
    if (status == BB_OK)
        status = write_directory(builder, &directory, &footer);
    if (status != BB_OK)
        return status;
    bb_footer_encode(&footer, builder->writer.offset, bytes);
    return bb_table_writer_append(&builder->writer, bb_bytes_of(bytes, sizeof(bytes)));
}
