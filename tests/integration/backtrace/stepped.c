/* SPDX-License-Identifier: MIT */
/*
 * stepped WHAT GO: once the file GO exists, does some work, one instruction after the other: a
 * signal comes in behind each of them, and where the work is at an address at which it was not yet
 * (MOST_VISITS times), the handler allocates. So every instruction's way to the caller is tried,
 * and none by chance.
 *
 * WHAT names the work and the code in which it counts: `vdso` (clock_gettime and others), `plt`
 * (this program's own stubs, bound when first called), `crypto` (libcrypto, which is largely
 * hand-written; $OPENSSL_ia32cap chooses among what is written for different CPUs). In none of
 * these is a signal handler within malloc when it comes to allocate.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST_VISITS 2
#define ENOUGH_STEPS 3000 /* of an operation of libcrypto: each costs some 30 us */
#define TRAP_FLAG 0x100
#define SPAN_MAX (16ul << 20)

static uint64_t lo, hi; /* where to allocate */
static uint8_t visits[SPAN_MAX];
static volatile sig_atomic_t is_stepping;
static unsigned long steps, chosen, steps_left;
static void *volatile kept; /* a pair of malloc and free is not optimised away */

__attribute__((noinline)) static void allocate_in_handler(void)
{
	free(kept = malloc(64));
	__asm__ volatile("");
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint64_t pc = (uint64_t)registers[REG_RIP];

	(void)number;
	(void)info;
	steps++;
	if (pc >= lo && pc < hi && visits[pc - lo] < MOST_VISITS) {
		visits[pc - lo]++;
		chosen++;
		allocate_in_handler();
	}
	if (is_stepping && steps_left && --steps_left)
		registers[REG_EFL] |= TRAP_FLAG;
	else
		registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* From the caller's next instruction on. */
static void step_from_here(unsigned long most)
{
	is_stepping = 1;
	steps_left = most;
	raise(SIGTRAP);
}

static void step_no_more(void)
{
	is_stepping = 0;
}

/* ---- what counts ----------------------------------------------------------------------------- */

static void choose(uint64_t from, uint64_t to)
{
	if (to - from > SPAN_MAX)
		exit(3);
	lo = from;
	hi = to;
}

/* The executable segment of the object that an address belongs to. */
static int visit(struct dl_phdr_info *info, size_t size, void *address)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint64_t from = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    (uint64_t)address - from < segment->p_memsz) {
			choose(from, from + segment->p_memsz);
			return 1;
		}
	}
	return 0;
}

static void choose_object_of(void *address)
{
	if (!dl_iterate_phdr(visit, address))
		exit(3);
}

/* ---- work ------------------------------------------------------------------------------------ */

static void prepare_vdso(void)
{
	choose(getauxval(AT_SYSINFO_EHDR), getauxval(AT_SYSINFO_EHDR) + 2 * 4096);
}

__attribute__((noinline)) static void work_in_vdso(void)
{
	struct timespec now;

	step_from_here(100000);
	for (clockid_t clock = CLOCK_REALTIME; clock <= CLOCK_TAI; clock++) {
		clock_gettime(clock, &now);
		clock_getres(clock, &now);
	}
	time(NULL);
	step_no_more();
}

static void prepare_plt(void)
{
	choose_object_of((void *)prepare_plt);
}

__attribute__((noinline)) static void work_in_plt(void)
{
	/* Each is called twice: by way of the linker, and directly. */
	step_from_here(100000);
	for (int i = 0; i < 2; i++) {
		getppid();
		getuid();
		geteuid();
		getgid();
		getegid();
		getpgrp();
		random();
		rand();
	}
	step_no_more();
}

struct crypto {
	void *(*md_context)(void), *(*cipher_context)(void), *(*bn_new)(void), *(*bn_context)(void);
	int (*digest_init)(void *, const void *, void *),
		(*digest_update)(void *, const void *, size_t),
		(*digest_final)(void *, unsigned char *, unsigned *);
	int (*cipher_init)(void *, const void *, void *, const unsigned char *,
			   const unsigned char *, int);
	int (*cipher_update)(void *, unsigned char *, int *, const unsigned char *, int);
	void *(*to_bn)(const unsigned char *, int, void *);
	void *(*mont_new)(void);
	int (*mont_set)(void *, const void *, void *),
		(*mont_multiply)(void *, const void *, const void *, void *, void *);
} crypto;
static void *library;

static void *find(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s is missing\n", name);
		exit(3);
	}
	return found;
}

static const char *const digests[] = {"EVP_md5", "EVP_sha1", "EVP_sha256", "EVP_sha512",
				      "EVP_sha3_256"};
static const char *const ciphers[] = {"EVP_aes_128_cbc",      "EVP_aes_256_ctr",
				      "EVP_aes_128_gcm",      "EVP_aes_128_xts",
				      "EVP_camellia_128_cbc", "EVP_chacha20_poly1305"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
static void *digest_context[COUNT(digests)], *cipher_context[COUNT(ciphers)][2], *number_context;

static void prepare_crypto(void)
{
	unsigned char key[64], bytes[64];

	library = dlopen("libcrypto.so.3", RTLD_NOW);
	if (!library)
		exit(77);
	crypto = (struct crypto){find("EVP_MD_CTX_new"),
				 find("EVP_CIPHER_CTX_new"),
				 find("BN_new"),
				 find("BN_CTX_new"),
				 find("EVP_DigestInit_ex"),
				 find("EVP_DigestUpdate"),
				 find("EVP_DigestFinal_ex"),
				 find("EVP_CipherInit_ex"),
				 find("EVP_CipherUpdate"),
				 find("BN_bin2bn"),
				 find("BN_MONT_CTX_new"),
				 find("BN_MONT_CTX_set"),
				 find("BN_mod_mul_montgomery")};
	for (unsigned i = 0; i < sizeof(key); i++) {
		key[i] = (unsigned char)(i * 7 + 1);
		bytes[i] = (unsigned char)(i * 5 + 129);
	}
	for (unsigned i = 0; i < COUNT(digests); i++)
		crypto.digest_init(digest_context[i] = crypto.md_context(),
				   ((const void *(*)(void))find(digests[i]))(), NULL);
	for (unsigned i = 0; i < COUNT(ciphers); i++)
		for (int encrypt = 0; encrypt < 2; encrypt++)
			crypto.cipher_init(cipher_context[i][encrypt] = crypto.cipher_context(),
					   ((const void *(*)(void))find(ciphers[i]))(), NULL, key,
					   bytes, encrypt);
	number_context = crypto.bn_context();
	choose_object_of(find("BN_new"));
}

__attribute__((noinline)) static void work_in_crypto(void)
{
	/* Moduli of as many words as there are ways to multiply by. */
	static const int sizes[] = {40, 48, 64, 96, 128};
	static unsigned char text[640], sealed[700];
	unsigned length;
	int written;

	memset(text, 0x5a, sizeof(text));
	for (unsigned i = 0; i < COUNT(digests); i++) {
		step_from_here(ENOUGH_STEPS);
		crypto.digest_update(digest_context[i], text, sizeof(text) / 2);
		step_no_more();
		crypto.digest_final(digest_context[i], sealed, &length);
	}
	for (unsigned i = 0; i < COUNT(ciphers); i++)
		for (int encrypt = 0; encrypt < 2; encrypt++) {
			step_from_here(ENOUGH_STEPS);
			crypto.cipher_update(cipher_context[i][encrypt], sealed, &written, text,
					     sizeof(text));
			step_no_more();
		}
	for (unsigned i = 0; i < COUNT(sizes); i++) {
		unsigned char odd[128];
		void *modulus, *left, *right, *mont = crypto.mont_new(), *result = crypto.bn_new();

		memset(odd, 0xa7, sizeof(odd));
		modulus = crypto.to_bn(odd, sizes[i], NULL);
		left = crypto.to_bn(text, sizes[i], NULL);
		right = crypto.to_bn(text + 1, sizes[i], NULL);
		crypto.mont_set(mont, modulus, number_context);
		step_from_here(ENOUGH_STEPS);
		crypto.mont_multiply(result, left, right, mont, number_context);
		crypto.mont_multiply(result, left, left, mont, number_context);
		step_no_more();
	}
}

static const struct {
	const char *name;
	void (*prepare)(void), (*work)(void);
} kinds[] = {{"vdso", prepare_vdso, work_in_vdso},
	     {"plt", prepare_plt, work_in_plt},
	     {"crypto", prepare_crypto, work_in_crypto}};

int main(int count, char **argument)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	unsigned kind = 0;

	if (count != 3)
		return 2;
	while (kind < COUNT(kinds) && strcmp(kinds[kind].name, argument[1]))
		if (++kind == COUNT(kinds))
			return 2;
	kinds[kind].prepare();
	sigaction(SIGTRAP, &action, NULL);
	puts("ready");
	fflush(stdout);
	while (access(argument[2], F_OK))
		usleep(10000);
	kinds[kind].work();
	fprintf(stderr, "%lu steps, %lu allocations\n", steps, chosen);
	return 0;
}
