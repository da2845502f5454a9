/* SPDX-License-Identifier: MIT */
/*
 * ngx_http_leak_module.c - a module of nginx: `leak SIZE;` in a location has its requests answered
 * by a short text, and loses SIZE bytes for each.
 */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

struct location {
	size_t size;
};

static void *create_location(ngx_conf_t *conf)
{
	struct location *location = ngx_pcalloc(conf->pool, sizeof(*location));

	if (location)
		location->size = NGX_CONF_UNSET_SIZE;
	return location;
}

static char *set_leak(ngx_conf_t *conf, ngx_command_t *command, void *of);

static ngx_command_t commands[] = {{ngx_string("leak"), NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1,
				    set_leak, NGX_HTTP_LOC_CONF_OFFSET,
				    offsetof(struct location, size), NULL},
				   ngx_null_command};

static ngx_http_module_t context = {NULL, NULL, NULL, NULL, NULL, NULL, create_location, NULL};

ngx_module_t ngx_http_leak_module = {NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE,
				     NULL,          NULL,     NULL,     NULL,
				     NULL,          NULL,     NULL,     NGX_MODULE_V1_PADDING};

static u_char *leak_signature(ngx_http_request_t *request, size_t size)
{
	u_char *signature = ngx_alloc(size, request->connection->log);

	if (signature)
		ngx_memset(signature, 'x', size);
	return signature;
}

static ngx_int_t answer(ngx_http_request_t *request)
{
	const struct location *location =
		ngx_http_get_module_loc_conf(request, ngx_http_leak_module);
	ngx_str_t type = ngx_string("text/plain");
	ngx_http_complex_value_t text = {.value = ngx_string("leaked\n")};
	const u_char *volatile signature;
	ngx_int_t status = ngx_http_discard_request_body(request);

	if (status != NGX_OK)
		return status;
	signature = leak_signature(request, location->size);
	if (!signature)
		return NGX_HTTP_INTERNAL_SERVER_ERROR;
	return ngx_http_send_response(request, NGX_HTTP_OK, &type, &text);
}

static char *set_leak(ngx_conf_t *conf, ngx_command_t *command, void *of)
{
	ngx_http_core_loc_conf_t *core =
		ngx_http_conf_get_module_loc_conf(conf, ngx_http_core_module);

	core->handler = answer;
	return ngx_conf_set_size_slot(conf, command, of);
}
