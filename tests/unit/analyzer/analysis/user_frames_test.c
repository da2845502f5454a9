/* SPDX-License-Identifier: MIT */
/* user_frames_test.c - which frame is looked at first, by names, object files and stacks. */
#include <errno.h>

#include "unit.h"

#include "sample_profile.h"
#include "thin_layers.h"
#include "user_frames.h"
#include "wrapper_names.h"

static struct user_frames open_with(const struct profile *profile, const char *wrapper,
				    const char *no_wrapper)
{
	const struct user_frames_options options = {wrapper, no_wrapper};
	char complaint[PATTERN_COMPLAINT_MAX];
	struct user_frames frames;

	CHECK_EQ(user_frames_open(profile, &options, &frames, complaint), 0);
	return frames;
}

static const char *name_of(const struct user_frames *frames, uint32_t call)
{
	return frames->functions.name[frames->functions.call[call].function];
}

/* The first function to look at in the stack that was added last, and its frame. */
static void check_last(const struct profile *profile, const char *function, uint32_t frame)
{
	struct user_frames frames = open_with(profile, NULL, NULL);
	struct user_frame first;

	CHECK(user_frame_of(&frames, (uint32_t)profile->stack_count - 1, &first));
	CHECK_STR(name_of(&frames, first.call), function);
	CHECK_EQ(first.frame, frame);
	user_frames_close(&frames);
}

/* The same for a stack of its own, "root;...;leaf". */
static void check_stack(const char *names, const char *function, uint32_t frame)
{
	struct profile profile = sample_open();

	sample_stack(&profile, names, 1, 100);
	check_last(&profile, function, frame);
	profile_close(&profile);
}

UNIT_TEST(names_in_the_list)
{
	check_stack("main;load;malloc", "load", 1);
	check_stack("main;load;strdup;malloc", "load", 2);
	check_stack("main;load;fopen;_IO_file_doallocate", "load", 2);
	check_stack("main;index;std::vector::push_back;std::vector::_M_realloc_insert;"
		    "std::allocator_traits::allocate;std::__new_allocator::allocate;operator new",
		    "index", 5);
	check_stack("main;setCommand;dictAdd;zmalloc", "dictAdd", 1);
	check_stack("main;exec_simple_query;parse;MemoryContextAllocZero;AllocSetAlloc;malloc",
		    "parse", 3);
	check_stack("main;ngx_init_cycle;ngx_pcalloc;ngx_palloc_large;ngx_alloc", "ngx_init_cycle",
		    3);
	check_stack("main;PyEval_EvalCode;PyList_New;_PyObject_GC_New;PyMem_RawMalloc",
		    "PyList_New", 2);
	check_stack("main;widget_new;g_strdup;g_malloc", "widget_new", 2);
	check_stack("main;prepare;sqlite3DbMallocRawNN;sqlite3Malloc", "prepare", 2);
	check_stack("main;v8::internal::Zone::Expand;v8::internal::Malloced::operator new",
		    "v8::internal::Zone::Expand", 1);
	check_stack("thread_native_entry;ImmutableOopMapSet::build_from;AllocateHeap;os::malloc",
		    "ImmutableOopMapSet::build_from", 2);
	check_stack("GraphKit::load_object_klass;Arena::grow;Chunk::operator new;"
		    "ChunkPool::allocate;os::malloc",
		    "GraphKit::load_object_klass", 4);
	/* What is called by a library belongs to the program. */
	check_stack("main;sort_all;qsort;compare;malloc", "compare", 1);
	/* Names that only resemble those in the list. */
	check_stack("main;palloc_table", "palloc_table", 0);
	check_stack("main;strdup_all;strdup", "strdup_all", 1);
	check_stack("main;stdlib_load;malloc", "stdlib_load", 1);
}

UNIT_TEST(names_as_other_tools_write_them)
{
	check_stack("main;load(char const*);operator new(unsigned long)", "load(char const*)", 1);
	check_stack("main;load;malloc@@GLIBC_2.2.5", "load", 1);
	check_stack("main;load;xmalloc.constprop.0;malloc", "load", 2);
}

static bool is_listed(const char *name, bool has_rust)
{
	struct wrapper_names names;
	char *plain = wrapper_names_plain(name);

	CHECK(plain);
	wrapper_names_open(&names);
	const bool result = wrapper_names_find(&names, plain, has_rust) != WRAPPER_NONE;
	free(plain);
	return result;
}

/* A frame of sample_profile.h cannot have names with angle brackets. */
UNIT_TEST(names_with_brackets)
{
	CHECK(is_listed("void std::vector<int, std::allocator<int> >::"
			"_M_realloc_insert<int const&>(int const&)",
			false));
	CHECK(!is_listed("void load<std::vector<int> >(std::vector<int>&)", false));
	CHECK(is_listed("<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter", true));
	CHECK(is_listed("<T as alloc::slice::hack::ConvertVec>::to_vec", true));
	CHECK(!is_listed("<app::Tree as core::clone::Clone>::clone", true));
	CHECK(!is_listed("[unknown]", true));
}

UNIT_TEST(rust)
{
	check_stack("main;app::load;alloc::vec::Vec::push;alloc::raw_vec::RawVec::grow_one;"
		    "alloc::alloc::alloc;__rust_alloc",
		    "app::load", 4);
	check_stack("main;core::iter::fold;app::load;core::iter::fold;__rustc::__rust_alloc",
		    "app::load", 2);
	/* Namespaces of a C++ program. */
	check_stack("main;core::Engine::load;operator new", "core::Engine::load", 1);
	check_stack("main;alloc::report;operator new", "alloc::report", 1);
}

/* The module of that path; a frame at the address in it, without a name if that is NULL. */
static uint32_t frame_in(struct profile *profile, const char *path, const char *name,
			 uint64_t address)
{
	const struct profile_module module = {
		.lo = 0x10000, .hi = 0x20000, .path = (char *)(uintptr_t)path};
	uint32_t index = 0, frame;

	while (index < profile->module_count && strcmp(profile->module[index].path, path) != 0)
		index++;
	if (index == profile->module_count)
		CHECK_EQ(profile_add_module(profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(profile, address, (int32_t)index, &frame), 0);
	if (name)
		CHECK_EQ(profile_frame_lines(
				 &profile->frame[frame],
				 &(struct profile_line){.function = (char *)(uintptr_t)name}, 1),
			 0);
	return frame;
}

UNIT_TEST(object_files)
{
	static const char *const libraries[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/libc-2.31.so",
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/libstdc++.so.6.0.30",
		"/lib/libgcc_s.so.1",
		"/usr/lib/libjemalloc.so.2",
		"/usr/lib/libtcmalloc_minimal.so.4",
		"/usr/lib/libmimalloc.so.2.0",
		"/lib/ld-musl-x86_64.so.1",
		"/lib/libc.musl-x86_64.so.1",
		"[vdso]",
	};
	static const char *const others[] = {"/opt/libc.so/server", "/usr/lib/libcrypto.so.3",
					     "/usr/lib/libcurl.so.4", ""};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		struct profile profile = sample_open();
		const uint32_t leaf_first[] = {frame_in(&profile, libraries[i], NULL, 0x11000),
					       frame_in(&profile, libraries[i], "run", 0x12000),
					       frame_in(&profile, "/srv/app", NULL, 0x13000)};

		sample_frames(&profile, leaf_first, 3, 1, 100);
		check_last(&profile, "app+0x12fff", 2);
		profile_close(&profile);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK(!wrapper_names_has_module(others[i]));
}

/* Whether the function of that name is skipped, wherever it is called. */
static bool skips(const struct profile *profile, const char *function, const char *wrapper,
		  const char *no_wrapper)
{
	struct user_frames frames = open_with(profile, wrapper, no_wrapper);
	const uint32_t calls = frames.functions.first[profile->frame_count];
	size_t found = 0, skipped = 0;

	for (uint32_t call = 0; call < calls; call++) {
		if (strcmp(name_of(&frames, call), function) == 0) {
			found++;
			skipped += user_frames_skips(&frames, call);
		}
	}
	user_frames_close(&frames);
	CHECK(found && (skipped == 0 || skipped == found));
	return skipped > 0;
}

UNIT_TEST(code_without_a_name_in_an_allocator)
{
	check_stack("main;copy;MemoryContextAlloc;?;malloc", "copy", 3);
	check_stack("main;copy;MemoryContextAlloc;?;?", "copy", 3);
	/* It is the program's: a library called it back. */
	check_stack("main;sort_all;qsort;?;malloc", "0x1f03e", 1);
	check_stack("main;copy;MemoryContextAlloc;log_line;?;malloc", "0x1f03e", 1);
	check_stack("main;copy;MemoryContextAlloc;?;?;?;?;?;malloc", "0x1f03e", 1);

	struct profile profile = sample_open();
	sample_stack(&profile, "main;copy;MemoryContextAlloc;?;malloc", 1, 100);
	CHECK(skips(&profile, "0x1f03e", NULL, NULL));
	CHECK(!skips(&profile, "0x1f03e", NULL, "^0x1f03e$"));
	profile_close(&profile);
}

UNIT_TEST(nothing_but_skipped_frames)
{
	check_stack("malloc", "malloc", 0);
	check_stack("fopen;malloc", "fopen", 1);
	check_stack("?;malloc", "0x1f03e", 1);
	check_stack("_start;__libc_start_main;strdup;malloc", "strdup", 1);
	check_stack("_start", "_start", 0);

	struct profile profile = sample_open();
	const uint32_t leaf_first[] = {frame_in(&profile, "/lib/libc.so.6", "setlocale", 0x11000),
				       frame_in(&profile, "/lib/libc.so.6", NULL, 0x12000)};
	sample_frames(&profile, leaf_first, 2, 1, 100);
	check_last(&profile, "setlocale", 0);
	profile_close(&profile);

	/* A stack without frames. */
	struct user_frame first;
	struct profile empty = sample_open();
	sample_frames(&empty, NULL, 0, 1, 100);
	struct user_frames frames = open_with(&empty, NULL, NULL);
	size_t count = 1;
	CHECK(!user_frame_of(&frames, 0, &first));
	user_frames_unfold(&frames, 0, &count);
	CHECK_EQ(count, 0);
	user_frames_close(&frames);
	profile_close(&empty);
}

UNIT_TEST(thin_layers)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;a;pool_alloc;malloc", 1, 100);
	sample_stack(&profile, "main;b;pool_alloc;malloc", 1, 100);
	CHECK(!skips(&profile, "pool_alloc", NULL, NULL)); /* two callers */
	sample_stack(&profile, "main;a;c;a;pool_alloc;malloc", 1, 100);
	CHECK(!skips(&profile, "pool_alloc", NULL, NULL));
	sample_stack(&profile, "main;c;pool_alloc;malloc", 1, 100);
	CHECK(skips(&profile, "pool_alloc", NULL, NULL));
	CHECK(!skips(&profile, "a", NULL, NULL));
	check_last(&profile, "c", 2);
	/* It calls something that is no allocator. */
	sample_stack(&profile, "main;c;pool_alloc;log_line;malloc", 1, 100);
	CHECK(!skips(&profile, "pool_alloc", NULL, NULL));
	profile_close(&profile);
}

UNIT_TEST(layers_above_each_other)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;a;my_calloc;my_raw_alloc;malloc", 1, 100);
	sample_stack(&profile, "main;b;my_calloc;my_raw_alloc;malloc", 1, 100);
	sample_stack(&profile, "main;c;my_calloc;my_raw_alloc;malloc", 1, 100);
	/* my_raw_alloc has one caller, but three functions lead to it. */
	CHECK(skips(&profile, "my_raw_alloc", NULL, NULL));
	CHECK(skips(&profile, "my_calloc", NULL, NULL));
	check_last(&profile, "c", 3);
	/* The lower one is none: nor is the upper one. */
	sample_stack(&profile, "main;c;my_calloc;my_raw_alloc;log_line;malloc", 1, 100);
	CHECK(!skips(&profile, "my_raw_alloc", NULL, NULL));
	CHECK(!skips(&profile, "my_calloc", NULL, NULL));
	profile_close(&profile);
}

UNIT_TEST(what_is_no_layer)
{
	static const char *const names[] = {"load_table", "leak_alloc_cache", "alloc_row",
					    "list_dealloc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct profile profile = sample_open();

		for (int caller = 'a'; caller < 'f'; caller++) {
			char names_of_stack[64];

			snprintf(names_of_stack, sizeof(names_of_stack), "main;%c;%s;malloc",
				 caller, names[i]);
			sample_stack(&profile, names_of_stack, 1, 100);
		}
		CHECK(!skips(&profile, names[i], NULL, NULL));
		profile_close(&profile);
	}
	/* One caller, at several places. */
	check_stack("main;leak_alloc;malloc", "leak_alloc", 1);
}

UNIT_TEST(names_of_layers)
{
	static const char *const layers[] = {
		"pool_alloc",  "checked_realloc_array", "MemAlloc",         "Pool::allocate",
		"kvmalloc",    "mem_alloc_or_die",      "buf_calloc_n",     "my_strdup_internal",
		"dbMallocRaw", "vm_memalign",           "talloc_zero_array"};
	static const char *const others[] = {"load_table",
					     "alloc_cache",
					     "leak_alloc_cache",
					     "alloc_row",
					     "allocations",
					     "malloc_stats",
					     "dealloc",
					     "pool_dealloc",
					     "Allocator",
					     "Alloc::load",
					     "is_allocated",
					     "strdupe",
					     ""};

	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (!wrapper_names_may_be(layers[i]))
			UNIT_FAIL("%s is none", layers[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (wrapper_names_may_be(others[i]))
			UNIT_FAIL("%s is one", others[i]);
}

UNIT_TEST(what_the_user_says)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;load;grow;xmalloc;malloc", 1, 100);
	CHECK(skips(&profile, "xmalloc", NULL, NULL));
	CHECK(!skips(&profile, "grow", NULL, NULL));
	CHECK(skips(&profile, "grow", "^grow$", NULL));
	CHECK(!skips(&profile, "xmalloc", NULL, "^x"));
	CHECK(!skips(&profile, "grow", "gr", "ow")); /* out goes before in */
	profile_close(&profile);

	char complaint[PATTERN_COMPLAINT_MAX] = "";
	struct user_frames frames;
	CHECK_EQ(profile_open(&profile), 0);
	CHECK_EQ(user_frames_open(&profile, &(struct user_frames_options){.no_wrapper = "("},
				  &frames, complaint),
		 -EINVAL);
	CHECK(*complaint);
	profile_close(&profile);
}

/* The calls of a stack to look at, "root;...;leaf". */
static void check_unfolded(const struct profile *profile, const char *names)
{
	struct user_frames frames = open_with(profile, NULL, NULL);
	char text[256] = "";
	size_t count;
	const uint32_t *calls =
		user_frames_unfold(&frames, (uint32_t)profile->stack_count - 1, &count);

	while (count-- > 0) {
		strcat(text, name_of(&frames, calls[count]));
		strcat(text, count ? ";" : "");
	}
	CHECK_STR(text, names);
	user_frames_close(&frames);
}

static void check_unfolds(const char *names, const char *left)
{
	struct profile profile = sample_open();

	sample_stack(&profile, names, 1, 100);
	check_unfolded(&profile, left);
	profile_close(&profile);
}

UNIT_TEST(start_frames)
{
	check_unfolds("_start;__libc_start_main;__libc_start_call_main;main;load;malloc",
		      "main;load");
	check_unfolds("_start;__libc_start_main@@GLIBC_2.34;main;load", "main;load");
	check_unfolds("clone3;start_thread;worker;load", "worker;load");
	check_unfolds("_start_c;libc_start_main_stage2;main", "main");
	check_unfolds("__clone;start;worker", "worker"); /* musl's */
	check_unfolds("clone3;start_thread;start;load", "start;load");
	check_unfolds("main;std::sort;compare;malloc", "main;std::sort;compare");
	/* The program calls it, so it remains. */
	check_unfolds("main;clone;load", "main;clone;load");
	check_unfolds("inner<outer;strdup;malloc", "outer;inner");
	check_unfolds("?;__libc_start_main;main;load", "main;load"); /* _start of a stripped file */
	check_unfolds("?;main;load", "0x1f03e;main;load");

	/* glibc without names. */
	struct profile profile = sample_open();
	const uint32_t leaf_first[] = {
		frame_in(&profile, "/usr/bin/server", NULL, 0x11000),
		frame_in(&profile, "/lib/libc.so.6", NULL, 0x12000),
		frame_in(&profile, "/lib/libc.so.6", "__libc_start_main", 0x13000),
		frame_in(&profile, "/usr/bin/server", NULL, 0x14000),
	};
	sample_frames(&profile, leaf_first, 4, 1, 100);
	check_unfolded(&profile, "server+0x10fff");
	profile_close(&profile);
}

UNIT_TEST(inlined_lines)
{
	struct profile profile = sample_open();

	/* std::vector was inlined into load, and that into main. */
	sample_stack(&profile, "std::vector::push_back<load<main;operator new", 1, 100);
	check_last(&profile, "load", 1);

	struct user_frames frames = open_with(&profile, NULL, NULL);
	struct user_frame first;
	CHECK(user_frame_of(&frames, 0, &first));
	char *label = user_frames_label(&frames, first.call);
	CHECK_STR(label, "load file.c:11");
	free(label);
	user_frames_close(&frames);
	/* By name, whatever the rows of a view are. */
	profile.meta.granularity = PROFILE_FILES;
	check_last(&profile, "load", 1);
	profile_close(&profile);
}

UNIT_MAIN()
