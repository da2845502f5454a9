# SPDX-License-Identifier: MIT
"""A server of profiles: server.py pyroscope|parca|otlp GENERATED SCRIPT LOG [PORT] [CERTIFICATE].

GENERATED has the modules that protoc has made of the protocol's files and of pprof's profile.proto.
Prints "port N". SCRIPT has what is done with requests, a line for each, and the last one for all
that follow: ok, a status of HTTP or the name of one of gRPC (with "after N": Retry-After), slow N
(answers after N seconds), page N (answers with a page and status N), text (answers 200 and OK),
lost (takes it, and ends the connection), hang (does nothing for a minute), and for OTLP partial N
(takes it but for N of its Profiles), warn (takes it, with a warning). LOG gets an object for each
request: what was in it, and whether it was taken. ADDRESS in the environment is where it listens
(127.0.0.1).
"""
import gzip
import http.server
import json
import os
import re
import ssl
import sys
import threading
import time
import uuid
from concurrent import futures

SERVER, GENERATED, SCRIPT, LOG = sys.argv[1:5]
PORT = int(sys.argv[5]) if len(sys.argv) > 5 else 0
ADDRESS = os.environ.get("ADDRESS", "127.0.0.1")
sys.path.insert(0, GENERATED)

import otlp  # noqa: E402
import profile_pb2  # noqa: E402
import profiles_service_pb2  # noqa: E402
import profilestore_pb2  # noqa: E402
import push_pb2  # noqa: E402

lock = threading.Lock()


def next_action():
    with lock:
        with open(SCRIPT, encoding="ascii") as file:
            lines = file.read().split("\n")
        lines = [line for line in lines if line]
        if len(lines) > 1:
            with open(SCRIPT + ".new", "w", encoding="ascii") as file:
                file.write("\n".join(lines[1:]) + "\n")
            os.replace(SCRIPT + ".new", SCRIPT)
        return lines[0].split()


def log(entry):
    with lock, open(LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def check(condition, what):
    if not condition:
        raise ValueError(what)


def read_profile(raw):
    """What the servers look at, by their own rules: what they would refuse is refused."""
    check(raw[:2] == b"\x1f\x8b", "not gzip")
    profile = profile_pb2.Profile()
    profile.ParseFromString(gzip.decompress(raw))
    strings = profile.string_table
    check(strings[0] == "", "the first string is not empty")
    for kind in (profile.mapping, profile.location, profile.function):
        check([one.id for one in kind] == list(range(1, len(kind) + 1)), "ids are not in order")
    types = [(strings[one.type], strings[one.unit]) for one in profile.sample_type]
    check(all(len(one.value) == len(types) for one in profile.sample), "values without a type")
    check(
        all(0 < one <= len(profile.location) for sample in profile.sample
            for one in sample.location_id), "no such location")
    inuse = types.index(("inuse_space", "bytes"))
    names = {strings[one.name] for one in profile.function}
    return {
        "time": profile.time_nanos, "duration": profile.duration_nanos,
        "inuse": sum(one.value[inuse] for one in profile.sample),
        "period": strings[profile.period_type.type], "keeps": "keep" in names,
    }


def read_labels(labels):
    result = {}
    for label in labels:
        check(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", label.name), f"a label {label.name}")
        check(label.name not in result, f"two labels {label.name}")
        check(label.value, f"an empty label {label.name}")
        result[label.name] = label.value
    check(result.get("__name__"), "no name")
    return result


def read_pyroscope(body):
    request = push_pb2.PushRequest()
    request.ParseFromString(body)
    check(len(request.series) == 1 and len(request.series[0].samples) == 1, "not one profile")
    sample = request.series[0].samples[0]
    check(str(uuid.UUID(sample.ID)) == sample.ID, "no UUID")
    return {"id": sample.ID, "labels": read_labels(request.series[0].labels),
            **read_profile(sample.raw_profile)}


def read_parca(request):
    check(len(request.series) == 1 and len(request.series[0].samples) == 1, "not one profile")
    series = request.series[0]
    return {"tenant": request.tenant, "labels": read_labels(series.labels.labels),
            **read_profile(series.samples[0].raw_profile)}


def read_otlp(body):
    request = profiles_service_pb2.ExportProfilesServiceRequest()
    request.ParseFromString(gzip.decompress(body))
    return otlp.read_request(request)


class Pyroscope(http.server.BaseHTTPRequestHandler):
    """Connect: an ordinary POST, whose errors are JSON."""

    protocol_version = "HTTP/1.1"
    expected_path = "/push.v1.PusherService/Push"
    expected_headers = (("Content-Type", "application/proto"), ("Content-Encoding", None))
    read = staticmethod(read_pyroscope)

    @staticmethod
    def error(text):
        return f'{{"code": "test", "message": "{text}"}}'.encode()

    @staticmethod
    def success(action):
        return push_pb2.PushResponse().SerializeToString()

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        action = next_action()
        try:
            check(self.path == self.expected_path, "another path")
            check(all(self.headers[name] == value for name, value in self.expected_headers),
                  "other headers")
            entry = self.read(body)
        except Exception as error:
            log({"wrong": str(error)})
            self.answer(400, self.error("invalid_argument"))
            return
        entry.update(authorization=self.headers["Authorization"], action=action[0],
                     tenant=self.headers["X-Scope-OrgID"], at=time.time(), taken=False)
        if action[0] == "hang":
            log(entry)
            time.sleep(60)
            self.close_connection = True
        elif action[0] == "lost":
            log({**entry, "taken": True})
            self.close_connection = True
        elif action[0] in ("ok", "slow", "partial", "warn"):
            time.sleep(float(action[1]) if action[0] == "slow" else 0)
            log({**entry, "taken": True})
            self.answer(200, self.success(action))
        elif action[0] == "text":
            log(entry)
            self.answer(200, b"OK\n", [("Content-Type", "text/plain")])
        elif action[0] == "page":
            log(entry)
            self.answer(int(action[1]), b"<html>", [("Content-Type", "text/html; charset=utf-8")])
        else:
            log(entry)
            after = [("Retry-After", action[2])] if action[1:2] == ["after"] else []
            # a terminal would take this for a colour
            self.answer(int(action[0]), self.error(f"as asked \x1b[31m{action[0]}"), after)


class Otlp(Pyroscope):
    """OTLP/HTTP with protobuf, whose errors are google.rpc.Status."""

    expected_path = "/v1development/profiles"
    expected_headers = (("Content-Type", "application/x-protobuf"), ("Content-Encoding", "gzip"))
    read = staticmethod(read_otlp)

    @staticmethod
    def error(text):
        return profiles_service_pb2.Status(code=14, message=text).SerializeToString()

    @staticmethod
    def success(action):
        response = profiles_service_pb2.ExportProfilesServiceResponse()
        if action[0] == "partial":
            response.partial_success.rejected_profiles = int(action[1])
            response.partial_success.error_message = "not these \x1b[31m"
        elif action[0] == "warn":
            response.partial_success.error_message = "soon no more"
        return response.SerializeToString()


def serve_http(handler):
    server = http.server.ThreadingHTTPServer((ADDRESS, PORT), handler)
    server.daemon_threads = True
    if len(sys.argv) > 6:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[6])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("port", server.server_address[1], flush=True)
    server.serve_forever()


def write_raw(request, context):
    import grpc

    action = next_action()
    try:
        entry = read_parca(request)
    except Exception as error:
        log({"wrong": str(error)})
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
    metadata = dict(context.invocation_metadata())
    entry.update(authorization=metadata.get("authorization"), action=action[0], at=time.time(),
                 taken=action[0] in ("ok", "slow"))
    if action[0] == "slow":
        time.sleep(float(action[1]))
    log(entry)
    if not entry["taken"]:
        context.abort(getattr(grpc.StatusCode, action[0]), f"as asked: {action[0]}")
    return profilestore_pb2.WriteRawResponse()


def serve_parca():
    import grpc

    handler = grpc.unary_unary_rpc_method_handler(
        write_raw, profilestore_pb2.WriteRawRequest.FromString,
        profilestore_pb2.WriteRawResponse.SerializeToString)
    server = grpc.server(futures.ThreadPoolExecutor(4),
                         options=[("grpc.max_receive_message_length", 64 << 20)])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
        "parca.profilestore.v1alpha1.ProfileStoreService", {"WriteRaw": handler})])
    port = server.add_insecure_port(f"{ADDRESS}:{PORT}")
    server.start()
    print("port", port, flush=True)
    server.wait_for_termination()


if SERVER == "parca":
    serve_parca()
else:
    serve_http(Otlp if SERVER == "otlp" else Pyroscope)
