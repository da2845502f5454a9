// SPDX-License-Identifier: MIT
// about.js - the tab about the profile: what every report says at its head, and what the session says of itself.
"use strict";

function percentOf(part) {
	return (100 * part).toPrecision(2) + "%";
}

// enum hi_stream_end_reason
const ENDS = [null, "after its duration", "by a signal to heapinject", "by heapinject detach", "with the process, which exited", "when the process replaced its program",
	"by the payload itself, as heapinject did not answer", "by an error of heapinject", "not yet: a snapshot of a session that went on", "when a probe was put where a function is hooked"];

// Each a word and what is said of it, in one or several lines.
function sessionFacts() {
	const { session, changes } = profile.meta, facts = [];
	if (session.version)
		facts.push(["Written by", session.version]);
	if (session.exe)
		facts.push(["Program", session.exe]);
	if (session.hooked.length)
		facts.push([session.hooked.length > 1 ? "Allocators" : "Allocator", ...session.hooked]);
	facts.push(["Not seen", session.unhooked || (session.hooked.length ? "nothing of these allocators is known that is not seen" : "no allocator is known that is not hooked")]);
	facts.push(["Sampling", formatSampling(profile.meta)]);
	if (changes.length)
		facts.push(["Changes of it", changes.map(([time, now]) => "at " + formatTime(time) + " one per " + formatBytes(now)).join("; ")]);
	if (session.frees)
		facts.push(["Frees seen", formatCount(session.frees)]);
	facts.push(["Dropped", session.droppedAllocs || session.droppedFrees
		? formatCount(session.droppedAllocs) + " allocations, " + formatCount(session.droppedFrees) + " frees" : "nothing"]);
	if (session.missedFrees)
		facts.push(["Frees that were inferred", formatCount(session.missedFrees)]);
	if (session.targetCpu > 0)
		facts.push(["Overhead", session.payloadCpu.toPrecision(2) + "\u202fs, " + percentOf(session.payloadCpu / session.targetCpu)
			+ " of the CPU time of the process" + (session.budget ? "; allowed: " + percentOf(session.budget) : "")]);
	if (session.peak)
		facts.push(["Peak", formatBytes(session.peak) + " in use at " + formatTime(session.peakTime)]);
	if (session.end)
		facts.push(["Ended", ENDS[session.end] || "by a cause that this version does not know"]);
	if (session.version)
		facts.push(["Receipt", "attach prints at its end how it left the process; the file is written before that"]);
	return facts;
}

function showAbout() {
	byId("report").textContent = profile.meta.report.join("\n");
	byId("session").replaceChildren(...sessionFacts().map(([what, ...said]) => make("div", {}, make("dt", { textContent: what }), ...said.map((line) => make("dd", { textContent: line })))));
}
