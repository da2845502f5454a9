// SPDX-License-Identifier: MIT
// answer.js - the tab of the answer: what grows, how fast, how certain that is, and how old it is.
"use strict";

const answer = profile.meta.answer;

function formatPerSecond(bytes) {
	return (bytes > 0 ? "+" : "") + formatBytes(bytes) + "/s";
}

// The mean age of what was allocated below the function.
function ageOf(functionIndex) {
	let bytes = 0, births = 0;
	for (const node of ages ? profile.topmost((candidate) => candidate === functionIndex) : []) {
		const now = profile.tree.now[3][node];
		if (now > 0 && !Number.isNaN(profile.birth[node])) {
			bytes += now;
			births += now * profile.birth[node];
		}
	}
	return bytes > 0 ? formatTime(profile.meta.duration * (1 - births / bytes)) : "";
}

function makeAnswerRow(row, i) {
	const functionIndex = profile.name.indexOf(row.function), { slope } = row, isDecided = slope.low <= slope.high && slope.value !== 0;
	const place = row.file ? row.file.split("/").pop() + (row.line ? ":" + row.line : "") : "";
	const calls = make("ol", {}, ...row.stack.map((call) => make("li", { textContent: call })));
	const stack = row.stack.length ? [make("details", {}, make("summary", { textContent: "Stack" }), calls)] : [];
	return make("tr", {},
		make("td", { className: "verdict " + row.verdict.split(" ").pop(), textContent: row.verdict }),
		make("th", { scope: "row" }, functionIndex >= 0 ? functionLink(functionIndex) : row.function,
			make("span", { className: "quiet-text", textContent: " " + place }), ...stack),
		make("td", { className: "number slope", textContent: isDecided ? formatPerSecond(slope.value) : "" }),
		make("td", { className: "number", textContent: isDecided ? formatPerSecond(slope.low) + " \u2026 " + formatPerSecond(slope.high) : "" }),
		make("td", { className: "number last", textContent: formatBytes(row.live_bytes) }),
		make("td", { className: "number", textContent: ageOf(functionIndex) }),
		make("td", { className: "spark" }, makeSpark(answer.bars[i].map((_, at) => at), answer.bars[i])));
}

function showAnswer() {
	const [first, ...rest] = answer.lines;
	const columns = [["Verdict"], ["Function"], ["Slope", "number"], ["95% interval of the slope", "number"], ["Held", "number"], ["Mean age", "number"],
		["Over the window"]];
	byId("answer-title").textContent = first || answer.verdict;
	byId("answer-words").replaceChildren(...rest.map((line) => make("p", { textContent: line })));
	byId("answer-rows").querySelector("thead tr").replaceChildren(...makeHeadings(columns));
	byId("answer-rows").querySelector("tbody").replaceChildren(...answer.rows.map(makeAnswerRow));
	byId("answer-rows").hidden = !answer.rows.length;
	byId("answer-next").textContent = "A function's name leads to its callers and callees.";
}
