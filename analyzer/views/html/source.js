// SPDX-License-Identifier: MIT
// source.js - the tab of source and machine code, of those functions whose files were at hand when the page was written.
"use strict";

const { sources, code } = profile.meta;

// "main in /usr/bin/x at 0x12e5", as the view of machine code heads it.
function codeName(entry) {
	return entry.function.replace(/ in [^ ]*( at 0x[0-9a-f]+)?$/, "");
}

function hasSource(named) {
	return sources.some((entry) => entry.function === named) || code.some((entry) => codeName(entry) === named);
}

function sourceNames() {
	return Array.from(new Set([...sources.map((entry) => entry.function), ...code.map(codeName)]));
}

function makeSourceLine([lineNumber, words, flat, cum], most) {
	const type = profile.types[profile.meta.type], cell = (className, said) => make("td", { className, textContent: said });
	const figure = (value) => cell("number", value ? formatValue(value, type) : "");
	const row = make("tr", { className: cum ? "hot" : "" }, figure(flat), figure(cum), cell("number line", String(lineNumber)), cell("code", words));
	row.style.setProperty("--part", most > 0 ? cum / most : 0);
	return row;
}

function gapRow() {
	return make("tr", { className: "gap" }, make("td", {}), make("td", {}), make("td", { className: "number line", textContent: "\u22ef" }), make("td", {}));
}

// What can be scrolled can be reached by the keyboard.
function makeRegion(element, label) {
	element.tabIndex = 0;
	element.setAttribute("role", "region");
	element.setAttribute("aria-label", label);
	return element;
}

function makeSource(entry) {
	const most = Math.max(0, ...entry.lines.map((line) => line[3])), rows = [];
	entry.lines.forEach((line, i) => {
		if (i && line[0] !== entry.lines[i - 1][0] + 1)
			rows.push(gapRow());
		rows.push(makeSourceLine(line, most));
	});
	const head = make("tr", {}, ...makeHeadings([["Self", "number"], ["Total", "number"], ["Line", "number"], ["Source"]]));
	const list = make("table", { className: "source" }, make("thead", {}, head), make("tbody", {}, ...rows));
	list.setAttribute("aria-label", "Source of " + entry.function);
	const note = entry.note ? [make("p", { className: "quiet-text", textContent: entry.note })] : [];
	return [make("h3", { textContent: entry.file }), ...note, makeRegion(make("div", { className: "scroll" }, list), "Source in " + entry.file)];
}

function makeCode(entry) {
	const words = makeRegion(make("pre", { className: "machine", textContent: entry.lines.slice(1).join("\n") }), "Machine code of " + codeName(entry));
	return [make("h3", { textContent: "Machine code: " + entry.function.slice(codeName(entry).length + 4) }), words];
}

function showSource() {
	const names = sourceNames(), named = names.includes(state.source) ? state.source : names[0];
	byId("source-function").replaceChildren(...names.map((option) => make("option", { textContent: option, selected: option === named })));
	byId("source-title").textContent = "Source";
	byId("source-body").replaceChildren(make("p", { className: "quiet-text", textContent: typeName(profile.types[profile.meta.type]) + ", of the whole profile." }),
		...sources.filter((entry) => entry.function === named).flatMap(makeSource), ...code.filter((entry) => codeName(entry) === named).flatMap(makeCode));
}
