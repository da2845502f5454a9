/* SPDX-License-Identifier: MIT */
/* wrapper_names.c - see wrapper_names.h. */
#include "wrapper_names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "hi_path.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/*
 * What allocates and does nothing else, so that what it calls is the allocator, too. A trailing *
 * matches any rest of a name, a leading one any beginning.
 */
static const char *const allocators[] = {
	/* C */
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"recallocarray",
	"memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"mmap",
	"mmap64",
	"sbrk",
	"__sbrk",
	"__GI___sbrk",
	"brk",
	"__libc_malloc*",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_reallocarray",
	"__libc_memalign",
	"__libc_valloc",
	"__libc_pvalloc",
	"__libc_alloc_buffer*",
	"__malloc_*",
	"__GI___libc_*alloc*",
	"_int_malloc",
	"_int_realloc",
	"_int_memalign",
	"_mid_memalign",
	"sysmalloc*",
	"tcache_init*",
	"checked_request2size",
	"__simple_malloc",
	"strdup",
	"strndup",
	"__strdup",
	"__strndup",
	"wcsdup",
	"__wcsdup",
	/* put between the program and malloc */
	"__wrap_malloc",
	"__wrap_calloc",
	"__wrap_realloc",
	"__wrap_memalign",
	"__wrap_strdup",
	/* C++ */
	"operator new",
	"operator new[]",
	"*::operator new",
	"*::operator new[]",
	/* Rust */
	"__rust_alloc*",
	"__rust_realloc*",
	"__rustc::__r*",
	"__rdl_*",
	"__rg_*",
	/* allocators built into a program, by the prefixes that they are built with */
	"je_*",
	"_rjem_*",
	"imalloc*",
	"tc_malloc*",
	"tc_calloc",
	"tc_realloc",
	"tc_memalign",
	"tc_new*",
	"tcmalloc::*",
	"(anonymous namespace)::do_malloc*",
	"(anonymous namespace)::do_memalign*",
	"mi_malloc*",
	"mi_calloc*",
	"mi_zalloc*",
	"mi_realloc*",
	"mi_rezalloc*",
	"mi_recalloc*",
	"mi_heap_*",
	"mi_new",
	"mi_new_n",
	"mi_new_nothrow",
	"mi_new_aligned*",
	"mi_new_realloc*",
	"mi_strdup",
	"mi_strndup",
	"_mi_*",
	"rpmalloc*",
	"rpcalloc",
	"rprealloc",
	/* names that many programs give to a malloc that does not fail */
	"xmalloc",
	"xcalloc",
	"xrealloc",
	"xreallocarray",
	"xzalloc",
	"xnmalloc",
	"xnrealloc",
	"x2realloc",
	"x2nrealloc",
	"xpalloc",
	"ximalloc",
	"xicalloc",
	"xirealloc",
	"xcharalloc",
	"xmemdup",
	"xmemdupz",
	"xmemdup0",
	"xstrdup",
	"xstrndup",
	"xasprintf",
	"xvasprintf",
	"xstrfmt",
	"do_xmalloc",
	"safe_malloc",
	"safe_calloc",
	"safe_realloc",
	"safe_strdup",
	"emalloc",
	"ecalloc",
	"erealloc",
	"estrdup",
	"my_malloc",
	"my_realloc",
	"my_strdup",
	"my_strndup",
	"malloc_or_die",
	"malloc_multiply",
	"realloc_multiply",
	/* GLib */
	"g_malloc*",
	"g_realloc*",
	"g_try_malloc*",
	"g_try_realloc*",
	"g_aligned_alloc*",
	"g_slice_*",
	"g_memdup*",
	"g_strdup*",
	"g_strndup",
	"g_strnfill",
	"g_strconcat",
	"g_strjoin*",
	"g_strsplit*",
	"g_string_*",
	"g_array_*",
	"g_ptr_array_*",
	"g_byte_array_*",
	"g_list_*",
	"g_slist_*",
	"g_queue_*",
	/* APR */
	"apr_palloc*",
	"apr_pcalloc*",
	"apr_pmemdup",
	"apr_pstrdup",
	"apr_pstrndup",
	"apr_pstrmemdup",
	"apr_pstrcat*",
	"apr_psprintf",
	"apr_pvsprintf",
	"psprintf_flush",
	"apr_allocator_alloc",
	"allocator_alloc",
	"apr_array_make",
	"apr_array_push*",
	"apr_bucket_alloc",
	/* redis and valkey */
	"zmalloc*",
	"zcalloc*",
	"zrealloc*",
	"ztrymalloc*",
	"ztrycalloc*",
	"ztryrealloc*",
	"zstrdup",
	"valkey_malloc*",
	"valkey_calloc*",
	"valkey_realloc*",
	"hi_malloc",
	"hi_calloc",
	"hi_realloc",
	/* PostgreSQL */
	"palloc",
	"palloc0",
	"palloc_extended",
	"palloc_aligned",
	"repalloc*",
	"pstrdup",
	"pnstrdup",
	"psprintf",
	"pg_malloc*",
	"pg_realloc*",
	"pg_strdup",
	"guc_malloc",
	"guc_realloc",
	"guc_strdup",
	"MemoryContextAlloc*",
	"MemoryContextStrdup",
	"MemoryContextCreate",
	"AllocSetAlloc*",
	"AllocSetRealloc",
	"AllocSetContextCreate*",
	"GenerationAlloc*",
	"GenerationRealloc",
	"GenerationContextCreate",
	"SlabAlloc*",
	"SlabContextCreate",
	"BumpAlloc*",
	"BumpContextCreate",
	/* nginx */
	"ngx_alloc",
	"ngx_calloc",
	"ngx_memalign",
	"ngx_palloc*",
	"ngx_pnalloc",
	"ngx_pcalloc",
	"ngx_pmemalign",
	"ngx_create_pool",
	"ngx_pstrdup",
	"ngx_array_create",
	"ngx_array_push*",
	"ngx_list_create",
	"ngx_list_push",
	"ngx_create_temp_buf",
	"ngx_alloc_chain_link",
	/* SQLite */
	"sqlite3Malloc*",
	"sqlite3Realloc*",
	"sqlite3DbMalloc*",
	"sqlite3DbRealloc*",
	"sqlite3DbStrDup",
	"sqlite3DbStrNDup",
	"sqlite3DbSpanDup",
	"sqlite3MemMalloc",
	"sqlite3MemRealloc",
	"sqlite3_malloc*",
	"sqlite3_realloc*",
	"sqlite3_mprintf",
	"sqlite3_vmprintf",
	"sqlite3MPrintf",
	"sqlite3VMPrintf",
	"sqlite3PageMalloc",
	"sqlite3StrAccumEnlarge*",
	"mallocWithAlarm",
	"dbMallocRawFinish",
	"dbReallocFinish",
	/* Python */
	"PyMem_*",
	"_PyMem_*",
	"PyObject_Malloc",
	"PyObject_Calloc",
	"PyObject_Realloc",
	"_PyObject_Malloc",
	"_PyObject_Calloc",
	"_PyObject_Realloc",
	"_PyObject_Arena*",
	"pymalloc_alloc",
	"pymalloc_realloc",
	"allocate_from_new_pool",
	/* the virtual machine of Java */
	"os::malloc",
	"os::realloc",
	"os::strdup",
	"os::strdup_check_oom",
	"AllocateHeap",
	"ReallocateHeap",
	"ChunkPool::allocate",
	"Arena::grow",
	"Arena::Amalloc*",
	"Arena::Arealloc",
	"resource_allocate_bytes",
	/* PHP, Perl, Ruby, Lua */
	"_emalloc*",
	"_ecalloc",
	"_erealloc*",
	"_estrdup",
	"_estrndup",
	"_safe_emalloc",
	"_safe_malloc",
	"_safe_realloc",
	"__zend_malloc",
	"__zend_calloc",
	"__zend_realloc",
	"zend_mm_*",
	"Perl_safesys*",
	"Perl_savepv*",
	"Perl_more_bodies",
	"Perl_sv_grow*",
	"ruby_xmalloc*",
	"ruby_xcalloc*",
	"ruby_xrealloc*",
	"ruby_strdup",
	"rb_xmalloc*",
	"rb_xcalloc*",
	"rb_xrealloc*",
	"luaM_*",
	"l_alloc",
	/* other libraries */
	"CRYPTO_malloc",
	"CRYPTO_zalloc",
	"CRYPTO_calloc",
	"CRYPTO_realloc",
	"CRYPTO_clear_realloc",
	"CRYPTO_strdup",
	"CRYPTO_strndup",
	"CRYPTO_memdup",
	"xmlStrdup",
	"xmlStrndup",
	"xmlMallocLoc",
	"xmlReallocLoc",
	"av_malloc*",
	"av_mallocz*",
	"av_calloc",
	"av_realloc*",
	"av_strdup",
	"av_fast_malloc*",
	"av_fast_realloc",
	"node::Malloc*",
	"node::Realloc*",
	"node::UncheckedMalloc*",
	"node::UncheckedRealloc*",
	"v8::internal::AllocWithRetry",
	"v8::base::Malloc",
};

/* What allocates for its caller and may call the program back, or free other things meanwhile. */
static const char *const libraries[] = {
	/* C */
	"asprintf",
	"vasprintf",
	"__asprintf*",
	"__vasprintf*",
	"getline",
	"getdelim",
	"__getline",
	"__getdelim",
	"getcwd",
	"realpath",
	"realpath_stk",
	"fopen",
	"fopen64",
	"fdopen",
	"freopen",
	"popen",
	"fopencookie",
	"open_memstream",
	"opendir",
	"fdopendir",
	"__opendir*",
	"__alloc_dir",
	"scandir",
	"scandir64",
	"setvbuf",
	"_IO_*",
	"__fopen_internal",
	"qsort",
	"qsort_r",
	"__qsort_r",
	"regcomp",
	"getaddrinfo",
	"setlocale",
	"dlopen",
	"__dlopen*",
	"_dl_*",
	"__tls_get_addr",
	"pthread_create",
	"__pthread_create*",
	/* sanitizers */
	"__interceptor_*",
	"___interceptor_*",
	/* C++ */
	"std::*",
	"__gnu_cxx::*",
	"__cxxabiv1::*",
	"__cxa_*",
	/* Rust */
	"hashbrown::*",
	"<std::*",
	"<hashbrown::*",
	"alloc::*",
	"core::*",
	"<alloc::*",
	"<core::*",
	"<T as alloc::*",
	"<T as core::*",
	"<&T as core::*",
	"<I as core::*",
	"<F as core::*",
	/* GLib */
	"g_hash_table_*",
	/* APR */
	"apr_pool_create*",
	/* Python */
	"PyObject_GC_Resize",
	"_PyObject_GC_*",
	"_PyObject_New*",
	"PyType_GenericAlloc",
	"_PyType_AllocNoTrack",
	/* PHP, Perl, Ruby, Lua */
	"objspace_xmalloc*",
	"objspace_xcalloc*",
	"objspace_xrealloc*",
};
#define ALLOCATORS LENGTH(allocators)
#define NAMES (ALLOCATORS + LENGTH(libraries))
_Static_assert(NAMES <= WRAPPER_NAMES_MAX, "next[] has room for all names");

/* The beginnings of names of object files. */
static const char *const modules[] = {
	"libc.so",     "libc-2.",      "libc.musl-",  "ld-linux",     "ld-2.",
	"ld-musl-",    "ld.so",        "ld64.so",     "libpthread",   "libdl.so",
	"libdl-2.",    "librt.so",     "librt-2.",    "libstdc++.so", "libgcc_s",
	"libc++.so",   "libc++abi.so", "libjemalloc", "libtcmalloc",  "libmimalloc",
	"librpmalloc", "libsnmalloc",  "libhoard",    "libscudo",     "linux-vdso.so",
	"[vdso]",      "[vsyscall]",   "[kernel",
};

static const char *const starts[] = {
	"_start",
	"_start_c",
	"__libc_start_main",
	"__libc_start_main_impl",
	"__libc_start_call_main",
	"libc_start_main_stage2",
	"generic_start_main",
	"start_thread",
	"clone",
	"clone3",
	"__clone",
	"__clone3",
	"__clone_internal",
};

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *pattern_at(size_t index)
{
	return index < ALLOCATORS ? allocators[index] : libraries[index - ALLOCATORS];
}

void wrapper_names_open(struct wrapper_names *out_names)
{
	*out_names = (struct wrapper_names){0};
	for (size_t i = 0; i < NAMES; i++) {
		const unsigned char first = (unsigned char)*pattern_at(i);

		out_names->next[i] = out_names->first[first];
		out_names->first[first] = (uint16_t)(i + 1);
	}
}

char *wrapper_names_plain(const char *function)
{
	char *plain = strdup(function);

	/* Rust's names with angle brackets at the beginning are nothing without them. */
	if (plain && *plain != '<' && strpbrk(plain, "<( "))
		demangle_shorten(plain);
	if (plain)
		demangle_cut_marks(plain);
	if (plain && !*plain)
		strcpy(plain, function);
	return plain;
}

static bool matches(const char *pattern, const char *name)
{
	const size_t length = strlen(pattern);

	if (*pattern == '*') {
		const size_t size = strlen(name);
		return size >= length - 1 && strcmp(name + size - (length - 1), pattern + 1) == 0;
	}
	return pattern[length - 1] == '*' ? strncmp(name, pattern, length - 1) == 0
					  : strcmp(name, pattern) == 0;
}

/* Whether the pattern is one of Rust's that mean something else elsewhere. */
static bool is_only_rust(const char *pattern)
{
	return starts_with(pattern, "alloc::") || starts_with(pattern, "core::");
}

static enum wrapper_kind kind_in_bucket(const struct wrapper_names *names, unsigned char first,
					const char *plain, bool has_rust)
{
	for (uint16_t i = names->first[first]; i; i = names->next[i - 1]) {
		const char *pattern = pattern_at(i - 1u);

		if (matches(pattern, plain) && (has_rust || !is_only_rust(pattern)))
			return i <= ALLOCATORS ? WRAPPER_ALLOCATOR : WRAPPER_LIBRARY;
	}
	return WRAPPER_NONE;
}

enum wrapper_kind wrapper_names_find(const struct wrapper_names *names, const char *plain,
				     bool has_rust)
{
	const enum wrapper_kind kind =
		kind_in_bucket(names, (unsigned char)*plain, plain, has_rust);

	return kind ? kind : kind_in_bucket(names, '*', plain, has_rust);
}

bool wrapper_names_is_rust(const char *plain)
{
	static const char *const signs[] = {
		"__rust_",  "__rustc::", "__rdl_alloc", "alloc::alloc::",       "alloc::raw_vec::",
		"<alloc::", "<core::",   "std::rt::",   "core::ops::function::"};

	for (size_t i = 0; i < LENGTH(signs); i++) {
		if (starts_with(plain, signs[i]))
			return true;
	}
	return false;
}

/*
 * The length of the word at text: up to an underscore, a colon, a digit, or a capital letter that
 * follows a small one.
 */
static size_t word_length(const char *text)
{
	size_t length = 0;

	while (isalpha((unsigned char)text[length]) &&
	       !(length && isupper((unsigned char)text[length]) &&
		 islower((unsigned char)text[length - 1])))
		length++;
	return length;
}

static bool is_word_of(const char *word, size_t length, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(words[i]) == length && strncasecmp(word, words[i], length) == 0)
			return true;
	}
	return false;
}

static bool is_allocating(const char *word, size_t length)
{
	static const char *const endings[] = {"alloc", "memalign", "strdup", "strndup", "memdup"};
	static const char *const words[] = {"allocate", "reallocate"}, *const others[] = {
									       "dealloc"};

	if (is_word_of(word, length, others, LENGTH(others)))
		return false;
	for (size_t i = 0; i < LENGTH(endings); i++) {
		const size_t ending = strlen(endings[i]);

		if (length >= ending &&
		    strncasecmp(word + length - ending, endings[i], ending) == 0)
			return true;
	}
	return is_word_of(word, length, words, LENGTH(words));
}

/* Whether the word after "alloc" only says how. */
static bool is_modifier(const char *word, size_t length)
{
	static const char *const words[] = {
		"aligned",  "array",  "bytes",    "checked", "chunk",  "clear",  "debug", "die",
		"ex",       "extend", "extended", "fail",    "fast",   "fatal",  "func",  "hook",
		"impl",     "in",     "internal", "locked",  "mem",    "memory", "noerr", "nofail",
		"null",     "or",     "raw",      "real",    "safe",   "size",   "slow",  "try",
		"unlocked", "usable", "wrapper",  "zero",    "zeroed",
	};

	return length == 1 || is_word_of(word, length, words, LENGTH(words));
}

bool wrapper_names_may_be(const char *plain)
{
	bool is_layer = false;

	for (const char *at = plain; *at;) {
		const size_t length = word_length(at);

		if (length && is_allocating(at, length))
			is_layer = true;
		else if (length && !is_modifier(at, length))
			is_layer = false;
		at += length ? length : 1;
	}
	return is_layer;
}

bool wrapper_names_has_module(const char *path)
{
	const char *name = hi_base_name(path);

	for (size_t i = 0; i < LENGTH(modules); i++) {
		if (starts_with(name, modules[i]))
			return true;
	}
	return false;
}

bool wrapper_names_is_start(const char *plain)
{
	for (size_t i = 0; i < LENGTH(starts); i++) {
		if (strcmp(plain, starts[i]) == 0)
			return true;
	}
	return false;
}
