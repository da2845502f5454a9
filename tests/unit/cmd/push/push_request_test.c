/* SPDX-License-Identifier: MIT */
/*
 * push_request: the bytes of the protocols, and what their statuses mean. The integration case
 * `push` has the same read by protobuf's own library.
 */
#include "push_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "pprof_time.h"
#include "unit.h"

/* A profile with a string, a time, a duration and a number: fields 6, 9, 10, 12. */
static const uint8_t message[] = {0x32, 4, 't', 'e', 'x', 't', 0x48, 0x85, 1, 0x50, 7, 0x60, 9};

static size_t pack(const uint8_t *bytes, size_t size, uint8_t *out, size_t room)
{
	z_stream stream = {.next_in = (uint8_t *)bytes,
			   .avail_in = (uInt)size,
			   .next_out = out,
			   .avail_out = (uInt)room};

	CHECK_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static size_t unpack(const uint8_t *bytes, size_t size, uint8_t *out, size_t room)
{
	z_stream stream = {.next_in = (uint8_t *)bytes,
			   .avail_in = (uInt)size,
			   .next_out = out,
			   .avail_out = (uInt)room};

	CHECK_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
	CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
	CHECK_EQ(stream.avail_in, 0);
	inflateEnd(&stream);
	return stream.total_out;
}

UNIT_TEST(a_profile_gets_another_time)
{
	static const uint8_t wanted[] = {0x32, 4,    't',  'e', 'x',  't',  0x60,
					 9,    0x48, 0xac, 2,   0x50, 0x80, 1};
	uint8_t packed[128], out[128], *timed;
	size_t size = pack(message, sizeof(message), packed, sizeof(packed));

	CHECK_EQ(pprof_time_set(packed, size, (struct pprof_time){300, 128}, &timed, &size), 0);
	CHECK_EQ(unpack(timed, size, out, sizeof(out)), sizeof(wanted));
	CHECK(!memcmp(out, wanted, sizeof(wanted)));
	free(timed);
}

/* Each cut of a profile is none, packed or not, but for those between two fields. */
UNIT_TEST(what_is_no_profile_is_refused)
{
	static const uint8_t bad[][4] = {{0x33, 1, 2, 3},
					 {0x32, 0x7f, 1, 2},
					 {0x61, 1, 2, 3},
					 {0x65, 1, 2, 3},
					 {0x80, 0x80, 0x80, 0x80}};
	const struct pprof_time time = {1, 2};
	uint8_t packed[128], *timed;
	size_t size = pack(message, sizeof(message), packed, sizeof(packed)), out_size;

	for (size_t cut = 0; cut < size; cut++)
		CHECK_EQ(pprof_time_set(packed, cut, time, &timed, &out_size), -EBADMSG);
	CHECK_EQ(pprof_time_set(packed, size + 1, time, &timed, &out_size), -EBADMSG);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		size = pack(bad[i], sizeof(bad[i]), packed, sizeof(packed));
		CHECK_EQ(pprof_time_set(packed, size, time, &timed, &out_size), -EBADMSG);
	}
}

/* A gigabyte of zeros, in a megabyte. */
UNIT_SLOW_TEST(what_would_unpack_without_end_is_refused)
{
	static uint8_t zeros[1 << 20], packed[4 << 20];
	z_stream stream = {.next_out = packed, .avail_out = sizeof(packed)};
	uint8_t *timed;
	size_t out_size;

	CHECK_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	for (int i = 0; i < 1024; i++) {
		stream.next_in = zeros;
		stream.avail_in = sizeof(zeros);
		CHECK_EQ(deflate(&stream, i < 1023 ? Z_NO_FLUSH : Z_FINISH),
			 i < 1023 ? Z_OK : Z_STREAM_END);
	}
	CHECK_EQ(pprof_time_set(packed, stream.total_out, (struct pprof_time){1, 2}, &timed,
				&out_size),
		 -EFBIG);
	deflateEnd(&stream);
}

/* Whether `text` is in the request, with its length in front. */
static bool holds(const uint8_t *bytes, size_t size, const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 1; i + length <= size; i++)
		if (!memcmp(bytes + i, text, length) && bytes[i - 1] == length)
			return true;
	return false;
}

static struct push_options options_of(enum push_protocol protocol)
{
	struct push_options options = {.url = "http://localhost:1/", .protocol = protocol};

	CHECK(!push_options_add_label(&options, "env=test"));
	CHECK(!push_options_add_label(&options, "pid="));
	CHECK(!push_options_add_label(&options, "service_name=mine"));
	return options;
}

static struct push_target target_of(const struct push_options *options)
{
	return (struct push_target){
		.options = options,
		.label = {{"service_name", "theirs"}, {"pid", "4711"}, {"hostname", "box"}},
		.label_count = 3,
		.session_id = "0123456789abcdef"};
}

static struct push_snapshot snapshot_of(uint8_t packed[128])
{
	return (struct push_snapshot){.profile = packed,
				      .size = pack(message, sizeof(message), packed, 128),
				      .unix_ns = 1,
				      .id = "id"};
}

UNIT_TEST(a_request_of_pyroscope)
{
	struct push_options options = options_of(PUSH_PYROSCOPE);
	const struct push_target target = target_of(&options);
	uint8_t *bytes, packed[128];
	const struct push_snapshot snapshot = snapshot_of(packed);
	size_t size;

	CHECK_EQ(push_request_build(&target, &snapshot, &bytes, &size), 0);
	/* series = 1, and all that follows */
	CHECK_EQ(bytes[0], 0x0a);
	CHECK_EQ(bytes[1] & 0x7f, (size - 3) & 0x7f);
	CHECK(holds(bytes, size, "__session_id__"));
	CHECK(holds(bytes, size, "memory"));
	CHECK(holds(bytes, size, "mine"));
	CHECK(holds(bytes, size, "box"));
	CHECK(holds(bytes, size, "test"));
	CHECK(holds(bytes, size, "id"));
	CHECK(!holds(bytes, size, "theirs"));
	CHECK(!holds(bytes, size, "pid"));
	free(bytes);
}

UNIT_TEST(a_request_of_parca_is_a_frame)
{
	struct push_options options = options_of(PUSH_PARCA);
	struct push_target target = target_of(&options);
	uint8_t *bytes, packed[128];
	const struct push_snapshot snapshot = snapshot_of(packed);
	size_t size;

	options.tenant = "anna";
	CHECK_EQ(push_request_build(&target, &snapshot, &bytes, &size), 0);
	CHECK_EQ(bytes[0], 0);
	CHECK_EQ(bytes[1] << 24 | bytes[2] << 16 | bytes[3] << 8 | bytes[4], size - 5);
	CHECK_EQ(bytes[5], 0x0a);
	CHECK(!memcmp(bytes + 6, "\4anna", 5));
	CHECK_EQ(bytes[11], 0x12);
	CHECK(!holds(bytes, size, "__session_id__"));
	free(bytes);
}

/* Strings by number, a type, and a sample of 7 without a stack: fields 6, 1, 2. */
static const uint8_t small[] = {0x32, 0, 0x32, 5, 's',  'p', 'a',  'c', 'e',
				0x0a, 2, 0x08, 1, 0x12, 3,   0x12, 1,   7};

UNIT_TEST(a_request_of_otlp_is_gzip)
{
	struct push_options options = options_of(PUSH_OTLP);
	struct push_target target = {.options = &options,
				     .label = {{"service.name", "theirs"},
					       {"host.name", "box"},
					       {"process.pid", "4711"}},
				     .label_count = 3};
	uint8_t *bytes, packed[128], request[1024];
	struct push_snapshot snapshot = {.profile = packed,
					 .size = pack(small, sizeof(small), packed, 128),
					 .id = "6162636465-66"};
	size_t size;

	CHECK(!push_options_add_label(&options, "service.name=mine"));
	CHECK(!push_options_add_label(&options, "host.name="));
	CHECK_EQ(push_request_build(&target, &snapshot, &bytes, &size), 0);
	size = unpack(bytes, size, request, sizeof(request));
	free(bytes);
	CHECK(holds(request, size, "service.name"));
	CHECK(holds(request, size, "mine"));
	CHECK(holds(request, size, "env"));
	CHECK(holds(request, size, "test"));
	CHECK(holds(request, size, "process.pid"));
	CHECK(holds(request, size, "space"));
	/* the id in bytes, and the pid as a number: int_value = 3 */
	CHECK(memmem(request, size,
		     "\x10"
		     "abcdef\0\0",
		     9));
	CHECK(memmem(request, size, "\x18\xe7\x24", 3));
	CHECK(!holds(request, size, "theirs"));
	CHECK(!holds(request, size, "host.name"));
	CHECK(!holds(request, size, "__name__"));
	CHECK_EQ(push_request_build(&target, &snapshot, &bytes, &size), 0);
	free(bytes);
	snapshot.size = pack(small, sizeof(small) - 1, packed, 128);
	CHECK_EQ(push_request_build(&target, &snapshot, &bytes, &size), -EBADMSG);
}

UNIT_TEST(the_address_of_otlp_may_have_its_path)
{
	struct push_options options = {.url = "http://localhost:4318/", .protocol = PUSH_OTLP};
	char url[PUSH_URL_MAX];
	const uint64_t number = push_request_url(&options, url);

	CHECK_STR(url, "http://localhost:4318/v1development/profiles");
	options.url = "http://localhost:4318/v1development/profiles/";
	CHECK_EQ(push_request_url(&options, url), number);
	CHECK_STR(url, "http://localhost:4318/v1development/profiles");
}

UNIT_TEST(addresses_differ_in_their_number)
{
	struct push_options one = {.url = "http://localhost:1/", .protocol = PUSH_PYROSCOPE};
	struct push_options same = {.url = "http://localhost:1", .protocol = PUSH_PYROSCOPE};
	struct push_options other = same, tenant = same;
	char url[PUSH_URL_MAX];
	const uint64_t number = push_request_url(&one, url);

	CHECK_STR(url, "http://localhost:1/push.v1.PusherService/Push");
	CHECK_EQ(push_request_url(&same, url), number);
	tenant.tenant = "anna";
	CHECK(push_request_url(&tenant, url) != number);
	other.protocol = PUSH_PARCA;
	CHECK(push_request_url(&other, url) != number);
	CHECK_STR(url, "http://localhost:1/parca.profilestore.v1alpha1.ProfileStoreService/"
		       "WriteRaw");
}

static bool has_header(const struct push_options *options, const char *line)
{
	static struct push_headers headers;

	push_request_headers(options, &headers);
	for (const char *const *one = headers.line; *one; one++)
		if (!strcmp(*one, line))
			return true;
	return false;
}

UNIT_TEST(headers)
{
	struct push_options options = {.protocol = PUSH_PYROSCOPE, .tenant = "anna"};

	CHECK(has_header(&options, "Content-Type: application/proto"));
	CHECK(has_header(&options, "X-Scope-OrgID: anna"));
	CHECK(!has_header(&options, "Authorization: "));
	options.protocol = PUSH_PARCA;
	memcpy(options.authorization, "Bearer x", 9);
	CHECK(has_header(&options, "Authorization: Bearer x"));
	CHECK(has_header(&options, "TE: trailers"));
	CHECK(has_header(&options, "Content-Type: application/grpc+proto"));
	CHECK(!has_header(&options, "X-Scope-OrgID: anna"));
	options.protocol = PUSH_OTLP;
	CHECK(has_header(&options, "Content-Type: application/x-protobuf"));
	CHECK(has_header(&options, "Content-Encoding: gzip"));
	CHECK(has_header(&options, "X-Scope-OrgID: anna"));
}

static enum push_verdict judged(const struct push_options *options, long status, int grpc_status)
{
	const struct hi_sent sent = {.status = status, .grpc_status = grpc_status};

	return push_request_judge(options, &sent);
}

UNIT_TEST(what_statuses_mean)
{
	const struct push_options pyroscope = {.protocol = PUSH_PYROSCOPE},
				  parca = {.protocol = PUSH_PARCA};

	CHECK_EQ(judged(&pyroscope, 200, -1), PUSH_TAKEN);
	CHECK_EQ(judged(&pyroscope, 400, -1), PUSH_REFUSED);
	CHECK_EQ(judged(&pyroscope, 429, -1), PUSH_LATER);
	CHECK_EQ(judged(&pyroscope, 503, -1), PUSH_LATER);
	CHECK_EQ(judged(&pyroscope, 401, -1), PUSH_MISDIRECTED);
	CHECK_EQ(judged(&pyroscope, 404, -1), PUSH_MISDIRECTED);
	CHECK_EQ(judged(&pyroscope, 302, -1), PUSH_MISDIRECTED);
	CHECK_EQ(judged(&parca, 200, 0), PUSH_TAKEN);
	CHECK_EQ(judged(&parca, 200, 3), PUSH_REFUSED);
	CHECK_EQ(judged(&parca, 200, 8), PUSH_LATER);
	CHECK_EQ(judged(&parca, 200, 14), PUSH_LATER);
	CHECK_EQ(judged(&parca, 200, 16), PUSH_MISDIRECTED);
	/* 200 of what is no server of gRPC takes nothing */
	CHECK_EQ(judged(&parca, 200, -1), PUSH_MISDIRECTED);
	CHECK_EQ(judged(&parca, 503, -1), PUSH_LATER);
	/* no answer, as far as is known */
	const struct hi_sent lost = {.err = -EIO, .status = 200, .was_taken = true};
	CHECK_EQ(push_request_judge(&pyroscope, &lost), PUSH_LATER);
}

/* The specification of OTLP names the four that are sent again. */
UNIT_TEST(what_statuses_of_otlp_mean)
{
	static const long later[] = {429, 502, 503, 504}, refused[] = {400, 408, 413, 422, 500},
			  misdirected[] = {301, 401, 403, 404, 405, 415};
	const struct push_options otlp = {.protocol = PUSH_OTLP};

	CHECK_EQ(judged(&otlp, 200, -1), PUSH_TAKEN);
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		CHECK_EQ(judged(&otlp, later[i], -1), PUSH_LATER);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		CHECK_EQ(judged(&otlp, refused[i], -1), PUSH_REFUSED);
	for (size_t i = 0; i < sizeof(misdirected) / sizeof(*misdirected); i++)
		CHECK_EQ(judged(&otlp, misdirected[i], -1), PUSH_MISDIRECTED);
}

static struct hi_sent answered(long status, const void *bytes, size_t size)
{
	struct hi_sent sent = {.status = status, .grpc_status = -1, .answer_size = size};

	memcpy(sent.answer, bytes, size);
	return sent;
}

UNIT_TEST(otlp_takes_a_profile_by_a_message_alone)
{
	static const char json[] = "{\"partialSuccess\":{}}", text[] = "OK\n",
			  cut[] = "\x0a\x06\x08";
	static const char unknown[] = "\x12\x02hi";
	const struct push_options otlp = {.protocol = PUSH_OTLP};
	static char large[HI_SEND_ANSWER_MAX] = "\x0a\xff\xff\x7f";
	struct hi_sent sent = answered(200, "", 0);
	char remark[HI_SEND_TEXT_MAX];

	CHECK_EQ(push_request_judge(&otlp, &sent), PUSH_TAKEN);
	sent = answered(202, unknown, sizeof(unknown) - 1);
	CHECK_EQ(push_request_judge(&otlp, &sent), PUSH_TAKEN);
	sent = answered(200, json, sizeof(json) - 1);
	CHECK_EQ(push_request_judge(&otlp, &sent), PUSH_MISDIRECTED);
	CHECK_EQ(push_request_remark(&otlp, &sent, remark), 0);
	CHECK_STR(remark, "but not by OTLP, and so has taken no profile");
	sent = answered(200, text, sizeof(text) - 1);
	CHECK_EQ(push_request_judge(&otlp, &sent), PUSH_MISDIRECTED);
	sent = answered(200, cut, sizeof(cut) - 1);
	CHECK_EQ(push_request_judge(&otlp, &sent), PUSH_MISDIRECTED);
	/* longer than what is kept of an answer */
	sent = answered(200, large, sizeof(large));
	CHECK_EQ(push_request_judge(&otlp, &sent), PUSH_TAKEN);
	CHECK_EQ(push_request_remark(&otlp, &sent, remark), 0);
	CHECK_STR(remark, "");
	/* with another status the body matters for its text alone */
	sent = answered(503, json, sizeof(json) - 1);
	CHECK_EQ(push_request_judge(&otlp, &sent), PUSH_LATER);
}

UNIT_TEST(a_remark_is_of_otlp_and_of_an_answer)
{
	static const char partial[] = "\x0a\x06\x08\x02\x12\x02"
				      "no";
	static const char status[] = "\x12\x04"
				     "full";
	struct push_options options = {.protocol = PUSH_OTLP};
	struct hi_sent sent = {.status = 200, .answer_size = sizeof(partial) - 1};
	char text[HI_SEND_TEXT_MAX];

	memcpy(sent.answer, partial, sizeof(partial));
	CHECK_EQ(push_request_remark(&options, &sent, text), 2);
	CHECK_STR(text, "no");
	options.protocol = PUSH_PYROSCOPE;
	CHECK_EQ(push_request_remark(&options, &sent, text), 0);
	CHECK_STR(text, "");
	options.protocol = PUSH_OTLP;
	sent.err = -EIO;
	CHECK_EQ(push_request_remark(&options, &sent, text), 0);
	sent = (struct hi_sent){.status = 503, .answer_size = sizeof(status) - 1};
	memcpy(sent.answer, status, sizeof(status));
	CHECK_EQ(push_request_remark(&options, &sent, text), 0);
	CHECK_STR(text, "full");
	/* a proxy answers in its own way */
	memcpy(sent.answer, "<html>", 6);
	CHECK_EQ(push_request_remark(&options, &sent, text), 0);
	CHECK_STR(text, "");
}

UNIT_MAIN()
