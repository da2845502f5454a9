// SPDX-License-Identifier: MIT
// parca_request.js FILE: a request of --push, read by Parca's own client (@parca/client).
import assert from "assert";
import fs from "fs";
import zlib from "zlib";

import { WriteRawRequest } from "@parca/client/dist/parca/profilestore/v1alpha1/profilestore.js";

const bytes = fs.readFileSync(process.argv[2]);
assert.strictEqual(bytes[0], 0);
assert.strictEqual(bytes.readUInt32BE(1), bytes.length - 5);
const request = WriteRawRequest.fromBinary(bytes.subarray(5), { readUnknownField: "throw" });
assert.strictEqual(request.tenant, "anna");
assert.strictEqual(request.series.length, 1);
const [series] = request.series;
const labels = Object.fromEntries(series.labels.labels.map((one) => [one.name, one.value]));
assert.strictEqual(labels.__name__, "memory");
assert.strictEqual(labels.comm, "sort");
assert.strictEqual(labels.env, "test");
assert.match(labels.pid, /^[0-9]+$/);
assert.strictEqual(series.samples.length, 1);
assert(zlib.gunzipSync(series.samples[0].rawProfile).length > 100);
console.log("ok", "a request of --push");
