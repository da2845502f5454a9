# SPDX-License-Identifier: MIT
"""Requests of OTLP as the specification has them, and what is in the same profile as a file.

The directory of the modules that protoc has made is in sys.path. As a program, otlp.py GENERATED
LOG FILE...: each of these .pb.gz is in the server's log, with the same stacks, labels and figures.
"""
import collections
import gzip
import json
import sys

# of OpenTelemetry's semantic conventions
NAMES = {"thread": "thread.name", "thread_id": "thread.id"}
BUILD_ID = "process.executable.build_id.gnu"


def check(condition, what):
    if not condition:
        raise ValueError(what)


def value_of(any_value):
    kind = any_value.WhichOneof("value")
    check(kind, "a value of nothing")
    value = getattr(any_value, kind)
    return [value_of(one) for one in value.values] if kind == "array_value" else value


def frame(address, lines, mapping, build_id):
    return f"{address:#x} in {mapping} {build_id}: " + ", ".join(lines)


class Dictionary:
    """Tables whose entry 0 is the zero value, and in which all is used and nothing is twice."""

    TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")

    def __init__(self, message):
        self.table = {name: getattr(message, f"{name}_table") for name in self.TABLES}
        self.used = {name: {0} for name in self.TABLES}
        for name, table in self.table.items():
            check(len(table), f"the table {name} is empty")
            zero = table[0] if name == "string" else table[0].SerializeToString()
            check(not zero, f"the first {name} is not the zero value")
            entries = [one if name == "string" else one.SerializeToString() for one in table]
            check(len(set(entries)) == len(entries), f"one {name} is there twice")

    def get(self, name, index):
        check(0 <= index < len(self.table[name]), f"there is no {name} {index}")
        self.used[name].add(index)
        return self.table[name][index]

    def attributes(self, indices):
        result = {}
        for index in indices:
            check(index, "an attribute of nothing")
            one = self.get("attribute", index)
            key = self.get("string", one.key_strindex)
            check(key and key not in result, f"the attribute {key!r}")
            result[key] = value_of(one.value)
            if self.get("string", one.unit_strindex):
                result[key] = (result[key], self.get("string", one.unit_strindex))
        return result

    def line(self, line):
        function = self.get("function", line.function_index)
        texts = [self.get("string", getattr(function, f"{name}_strindex"))
                 for name in ("name", "system_name", "filename")]
        check(texts[0], "a function without a name")
        return f"{texts} {line.line}"

    def frame(self, index):
        check(index, "a location of nothing")
        location = self.get("location", index)
        mapping = self.get("mapping", location.mapping_index)
        build_id = self.attributes(mapping.attribute_indices).get(BUILD_ID, "")
        return frame(location.address, [self.line(one) for one in location.lines],
                     self.get("string", mapping.filename_strindex), build_id)

    def stack(self, index):
        return [self.frame(one) for one in self.get("stack", index).location_indices]

    def check_use(self):
        for name, table in self.table.items():
            check(len(self.used[name]) == len(table), f"{name}s that nothing uses")


def key_of(stack, labels):
    return json.dumps([stack, sorted(labels.items())])


def read_profile(dictionary, profile):
    strings = [dictionary.get("string", index) for index in (
        profile.sample_type.type_strindex, profile.sample_type.unit_strindex,
        profile.period_type.type_strindex, profile.period_type.unit_strindex)]
    check(strings[2:] == ["space", "bytes"] and profile.period > 0, "the period")
    check(len(profile.profile_id) == 16 and any(profile.profile_id), "the id")
    check(dictionary.attributes(profile.attribute_indices)["pprof.profile.comment"][0]
          .startswith("heapinject"), "the comments")
    figures = {}
    for sample in profile.samples:
        check(len(sample.values) == 1 and not sample.timestamps_unix_nano, "the values")
        check(not sample.link_index, "a link")
        key = key_of(dictionary.stack(sample.stack_index),
                     dictionary.attributes(sample.attribute_indices))
        check(key not in figures, "two samples are alike")
        figures[key] = sample.values[0]
    return "/".join(strings[:2]), figures


def read_request(request):
    """What a server looks at; the stacks and figures of all types, and the rest for the log."""
    whole = request.ByteSize()
    request.DiscardUnknownFields()
    check(request.ByteSize() == whole, "unknown fields")
    dictionary = Dictionary(request.dictionary)
    check(len(request.resource_profiles) == 1, "not one resource")
    resource = request.resource_profiles[0]
    check(len(resource.scope_profiles) == 1, "not one scope")
    scope = resource.scope_profiles[0]
    check(scope.scope.name == "heapinject" and scope.scope.version, "the scope")
    types = dict(read_profile(dictionary, one) for one in scope.profiles)
    order = ["inuse_space/bytes", "alloc_objects/count", "alloc_space/bytes",
             "inuse_objects/count"]
    if "resident_space/bytes" in types:  # the process was still there to be looked at
        order += ["resident_space/bytes", "swapped_space/bytes"]
    if "mmap_space/bytes" in types:  # they were asked for
        order += ["mmap_objects/count", "mmap_space/bytes", "inuse_mmap_objects/count",
                  "inuse_mmap_space/bytes"]
        order += ["resident_mmap_space/bytes"] if "resident_space/bytes" in types else []
    check(list(types) == order, f"the types {list(types)}")
    check(len({one.profile_id for one in scope.profiles}) == len(order), "ids are alike")
    check(len({one.time_unix_nano for one in scope.profiles}) == 1, "times differ")
    dictionary.check_use()
    labels = {one.key: value_of(one.value) for one in resource.resource.attributes}
    check(isinstance(labels.get("process.pid", 0), int), "the pid is no number")
    names = {dictionary.get("string", one.name_strindex)
             for one in request.dictionary.function_table}
    first = scope.profiles[0]
    return {
        "id": first.profile_id.hex(), "time": first.time_unix_nano,
        "duration": first.duration_nano, "period": "space", "keeps": "keep" in names,
        "inuse": sum(types["inuse_space/bytes"].values()), "figures": types,
        "labels": {key: str(value) for key, value in labels.items()},
    }


def read_file(path):
    """The figures of a .pb.gz as those of a request. Samples that are alike are added up."""
    import profile_pb2

    profile = profile_pb2.Profile()
    with gzip.open(path) as file:
        profile.ParseFromString(file.read())
    text = profile.string_table

    def line_of(line):
        function = profile.function[line.function_id - 1]
        texts = [text[one] for one in (function.name, function.system_name, function.filename)]
        return f"{texts} {line.line}"

    def frame_of(location_id):
        location = profile.location[location_id - 1]
        mapping = profile.mapping[location.mapping_id - 1] if location.mapping_id else None
        return frame(location.address, [line_of(one) for one in location.line],
                     text[mapping.filename] if mapping else "",
                     text[mapping.build_id] if mapping else "")

    types = {f"{text[one.type]}/{text[one.unit]}": collections.Counter()
             for one in profile.sample_type}
    for sample in profile.sample:
        labels = {}
        for label in sample.label:
            value = text[label.str] if label.str else label.num
            value = int(value) if text[label.key] == "thread_id" else value
            value = (value, text[label.num_unit]) if label.num_unit else value
            labels[NAMES.get(text[label.key], text[label.key])] = value
        key = key_of([frame_of(one) for one in sample.location_id], labels)
        for counter, value in zip(types.values(), sample.value):
            if value:
                counter[key] += value
    return {name: dict(counter) for name, counter in types.items()}


def main():
    sys.path.insert(0, sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        taken = [json.loads(line) for line in file]
    taken = [one["figures"] for one in taken if one.get("taken")]
    for path in sys.argv[3:]:
        figures = read_file(path)
        check(any(figures["inuse_space/bytes"]), f"{path} has nothing in use")
        check(any("keep" in key for key in figures["inuse_space/bytes"]), f"{path} has no names")
        check("mmap_space/bytes" in figures, f"{path} has no mappings")
        check(figures in taken, f"{path} did not come as it is")
    check(len(sys.argv[3:]) == len(taken), f"{len(taken)} profiles came")
    print(len(taken), "profiles as in their files")


if __name__ == "__main__":
    main()
