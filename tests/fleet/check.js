// SPDX-License-Identifier: MIT
// check.js DAEMONSET CONTAINER PARCA: see tests/fleet/run. Ends with an error that says what is wrong.
"use strict";
const assert = require("assert");
const fs = require("fs");
const yaml = require("js-yaml");

const read = (file) => yaml.loadAll(fs.readFileSync(file, "utf8"));
const [daemonset, container, parca] = process.argv.slice(2);

function validate(object) {
  const models = require(`kubernetes-models/${object.apiVersion}/${object.kind}`);
  new models[object.kind](object).validate();
  console.log("ok", object.kind, object.metadata.name);
}

const objects = read(daemonset);
objects.forEach(validate);
for (const object of objects.slice(1))
  assert(object.kind === "Namespace" || object.metadata.namespace === "heapinject", object.kind);

// an ephemeral container, as kubectl debug makes one of the file
validate({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "ephemeral-container" },
  spec: {
    containers: [{ name: "app", image: "app" }],
    ephemeralContainers: [
      { name: "heapinject", image: "heapinject", targetContainerName: "app", ...read(container)[0] },
    ],
  },
});

// the fields that pkg/config of Parca knows, which refuses others
const known = {
  object_storage: ["bucket"],
  bucket: ["type", "config"],
  scrape_configs: ["job_name", "scrape_interval", "scrape_timeout", "scheme", "params",
    "authorization", "static_configs", "profiling_config", "relabel_configs"],
  authorization: ["type", "credentials", "credentials_file"],
  static_configs: ["targets", "labels"],
  profiling_config: ["pprof_config", "path_prefix"],
  pprof_config: ["memory", "block", "goroutine", "mutex", "process_cpu"],
  memory: ["enabled", "path", "delta", "keep_sample_type"],
};
function check(name, value) {
  if (Array.isArray(value)) return value.forEach((one) => check(name, one));
  if (!known[name]) return;
  for (const [key, inner] of Object.entries(value)) {
    assert(known[name].includes(key), `${name} of Parca knows no ${key}`);
    check(key, inner);
  }
}
const [config] = read(parca);
assert.deepStrictEqual(Object.keys(config), ["object_storage", "scrape_configs"]);
Object.entries(config).forEach(([name, value]) => check(name, value));
// Parca's own default is the interval and three seconds; what is not longer is refused
assert(!config.scrape_configs[0].scrape_timeout);
console.log("ok", "parca.yaml");
