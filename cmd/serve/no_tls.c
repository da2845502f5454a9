/* SPDX-License-Identifier: MIT */
/*
 * no_tls.c - what libmicrohttpd's archive wants of GnuTLS, so that neither GnuTLS nor the ten
 * libraries behind it are loaded by a program that attaches to others. No server here is started
 * with TLS, so none of these functions is ever called; each would fail.
 */
#define ABSENT(name)                                                    \
	__attribute__((visibility("hidden"))) long gnutls_##name(void); \
	long gnutls_##name(void)                                        \
	{                                                               \
		return -1;                                              \
	}

ABSENT(alpn_set_protocols)
ABSENT(bye)
ABSENT(certificate_allocate_credentials)
ABSENT(certificate_free_credentials)
ABSENT(certificate_server_set_request)
ABSENT(certificate_set_dh_params)
ABSENT(certificate_set_retrieve_function2)
ABSENT(certificate_set_retrieve_function3)
ABSENT(certificate_set_x509_key_mem)
ABSENT(certificate_set_x509_key_mem2)
ABSENT(certificate_set_x509_trust_mem)
ABSENT(cipher_get)
ABSENT(credentials_set)
ABSENT(deinit)
ABSENT(dh_params_deinit)
ABSENT(dh_params_import_pkcs3)
ABSENT(dh_params_init)
ABSENT(global_deinit)
ABSENT(global_init)
ABSENT(handshake)
ABSENT(init)
ABSENT(priority_deinit)
ABSENT(priority_init)
ABSENT(priority_set)
ABSENT(protocol_get_version)
ABSENT(psk_allocate_server_credentials)
ABSENT(psk_free_server_credentials)
ABSENT(psk_set_server_credentials_function)
ABSENT(record_check_pending)
ABSENT(record_get_direction)
ABSENT(record_recv)
ABSENT(record_send)
ABSENT(session_get_ptr)
ABSENT(session_set_ptr)
ABSENT(transport_set_int2)

extern const void *gnutls_malloc;
__attribute__((visibility("hidden"))) const void *gnutls_malloc;
__attribute__((visibility("hidden"))) const char *gnutls_strerror(int number);
const char *gnutls_strerror(int number)
{
	(void)number;
	return "no TLS";
}
