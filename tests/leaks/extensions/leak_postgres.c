/* SPDX-License-Identifier: MIT */
/*
 * leak_postgres.c - an extension of PostgreSQL: leak(bytes) loses as much in each call, by a malloc
 * of its own, as extensions do that use a library of somebody else.
 */
#include <postgres.h>

#include <fmgr.h>
#include <string.h>

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(leak);

static char *leak_document(size_t size)
{
	char *document = malloc(size);

	if (!document)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	memset(document, 1, size);
	return document;
}

Datum leak(PG_FUNCTION_ARGS)
{
	const int32 size = PG_GETARG_INT32(0);
	const char *volatile document = leak_document((size_t)size);

	PG_RETURN_INT32(document[size - 1]);
}
