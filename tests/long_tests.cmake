# When several tests run in parallel, the long ones start first: a long test at the end leaves the
# other processors idle. Their own order does not matter, if they start before the many short tests.
set(BB_LONG_TESTS bench_compare bench_mixed bench_skip crash_crash_test crash_indexes_test crash_ingest_test
    crash_manifest_test crash_repair_test crash_short_histories_test explore_memtable_test explore_store_test
    fault_allocation_alloc_test fault_closed_calls_alloc_test fault_file_fault_test fault_full_disk_test
    fault_index_alloc_test fault_repair_test fork_store_test golden_read_skip_test golden_read_table_test
    house_check_format interleaving_interleaving_test leveldb_thread model_estimate_test model_model_test
    redis_bloom_test redis_cluster_test redis_store_test tool_cluster_test tool_command_test tool_filter_sets_test
    tool_filter_test tool_import_test tool_index_test tool_kill_test tool_load_test tool_measure_test
    tool_reference_test tool_repair_test tool_select_file_test tool_select_test tool_store_test tool_table_test
    unit_kv_checkpoint_test unit_kv_db_budget_test unit_kv_hostile_manifest_test unit_kv_ingest_trouble_test
    unit_kv_memtable_test unit_kv_memtable_thread_test unit_kv_moved_store_test unit_kv_range_request_test
    unit_kv_read_only_snapshot_test unit_kv_scrub_test unit_kv_select_threads_test unit_skip_lines_alloc_test
    unit_skip_lines_growth_test unit_skip_lines_test unit_skip_segment_ribbon_test unit_sstable_table_test
    unit_standalone_plan_test)

# Called at the end of each folder with tests.
function(bb_start_long_tests_first)
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(name IN LISTS tests)
        if(name IN_LIST BB_LONG_TESTS)
            set_tests_properties(${name} PROPERTIES COST 10)
        endif()
    endforeach()
endfunction()
