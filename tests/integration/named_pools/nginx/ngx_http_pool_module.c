/* SPDX-License-Identifier: MIT */
/*
 * ngx_http_pool_module.c - a module of nginx with a pool that outlives requests. A request for
 * /pool/COMMAND fills it (fill), frees some of what is large (free), empties it (reset) or destroys
 * it (destroy). The answer is what was asked for and is there, in bytes and blocks, and then the
 * bytes that the structures of the pool itself say are taken.
 */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#define BLOCKS 200
#define SMALL 16    /* and multiples of that: nginx aligns what is small */
#define LARGE 10000 /* more than a block of the pool, so that malloc gives it */

static ngx_pool_t *pool;
static void *large[BLOCKS];
static size_t asked, blocks;
/* ngx_reset_pool leaves room for a whole head in each of its blocks, not only in the first */
static size_t left_by_reset;

static __attribute__((noinline)) void pool_fill(ngx_log_t *log)
{
	if (!pool)
		pool = ngx_create_pool(4096, log);
	for (size_t i = 0; i < BLOCKS; i++) {
		const size_t size = SMALL * (i % 20 + 1);

		(void)!ngx_palloc(pool, size);
		(void)!ngx_pnalloc(pool, size);
		(void)!ngx_pcalloc(pool, size);
		large[i] = ngx_palloc(pool, LARGE + i);
		asked += 3 * size + LARGE + i;
		blocks += 4;
	}
}

static void pool_free(void)
{
	for (size_t i = 0; i < BLOCKS; i += 2) {
		if (!large[i] || ngx_pfree(pool, large[i]) != NGX_OK)
			continue;
		large[i] = NULL;
		asked -= LARGE + i;
		blocks--;
	}
}

static void reset(void)
{
	left_by_reset = 0;
	for (const ngx_pool_t *block = pool->d.next; block; block = block->d.next)
		left_by_reset += sizeof(ngx_pool_t) - sizeof(ngx_pool_data_t);
	ngx_reset_pool(pool);
}

static void forget(void)
{
	asked = blocks = 0;
	ngx_memzero(large, sizeof(large));
}

static size_t held(void)
{
	size_t bytes = 0 - left_by_reset;

	if (!pool)
		return 0;
	for (const ngx_pool_t *block = pool; block; block = block->d.next) {
		const u_char *start =
			(const u_char *)block +
			(block == pool ? sizeof(ngx_pool_t) : sizeof(ngx_pool_data_t));
		bytes += (size_t)(block->d.last - ngx_align_ptr(start, NGX_ALIGNMENT));
	}
	for (const ngx_pool_large_t *one = pool->large; one; one = one->next)
		bytes -= sizeof(*one); /* which lies in the pool itself */
	for (size_t i = 0; i < BLOCKS; i++)
		bytes += large[i] ? LARGE + i : 0;
	return bytes;
}

static ngx_int_t answer(ngx_http_request_t *request)
{
	static u_char said[128];
	ngx_str_t type = ngx_string("text/plain");
	ngx_http_complex_value_t text = {.value = {.data = said}};
	const u_char *command = request->uri.data + sizeof("/pool/") - 1;
	const ngx_int_t status = ngx_http_discard_request_body(request);

	if (status != NGX_OK)
		return status;
	switch (*command) {
	case 'f':
		if (command[1] == 'i')
			pool_fill(ngx_cycle->log);
		else
			pool_free();
		break;
	case 'r':
		reset();
		forget();
		break;
	case 'd':
		ngx_destroy_pool(pool);
		pool = NULL;
		left_by_reset = 0;
		forget();
		break;
	}
	text.value.len = (size_t)(ngx_sprintf(said, "%uz %uz %uz\n", asked, blocks, held()) - said);
	return ngx_http_send_response(request, NGX_HTTP_OK, &type, &text);
}

static char *set_pool(ngx_conf_t *conf, ngx_command_t *command, void *of)
{
	ngx_http_core_loc_conf_t *core =
		ngx_http_conf_get_module_loc_conf(conf, ngx_http_core_module);

	(void)command;
	(void)of;
	core->handler = answer;
	return NGX_CONF_OK;
}

static ngx_command_t commands[] = {{ngx_string("pool"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS,
				    set_pool, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
				   ngx_null_command};

static ngx_http_module_t context = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};

ngx_module_t ngx_http_pool_module = {NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE,
				     NULL,          NULL,     NULL,     NULL,
				     NULL,          NULL,     NULL,     NGX_MODULE_V1_PADDING};
