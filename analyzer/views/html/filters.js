// SPDX-License-Identifier: MIT
// filters.js - what the tabs leave out: stacks, frames, other profiles, other times, other threads.
"use strict";

function pathOf(node) {
	const { tree } = profile, path = [];
	for (let at = node; at > 0; at = tree.parent[at])
		path.unshift(tree.functionOf[at]);
	return path;
}

// As far as the path is still there.
function nodeAt(path) {
	const { tree } = profile;
	let node = 0;
	for (const functionIndex of path) {
		const next = tree.children[node].find((child) => tree.functionOf[child] === functionIndex);
		if (next === undefined)
			break;
		node = next;
	}
	return node;
}

// All anew, of other figures; the zoom stays where it was as far as that is still there.
function refilter() {
	const path = pathOf(state.view.zoom), wasComparison = profile.isComparison, wasExact = profile.isExact;
	profile.select(filterOf());
	state.view = { zoom: nodeAt(path), around: state.view.around };
	state.history = [];
	byId("back").disabled = true;
	if (wasComparison !== profile.isComparison || wasExact !== profile.isExact)
		table.setColumns();
	table.type = undefined;
	showColors();
	showControls();
	selectTab(state.tab, false); // a tab may have come or gone
	showAll();
}

function setFilter(field, value) {
	state[field] = value;
	refilter();
	say("All views show the part that is chosen.");
}

function snapshotName(index) {
	const { file, duration } = profile.meta.snapshots[index];
	return (index + 1) + ". " + file + (duration ? ", " + formatTime(duration) : "");
}

function makeFilters() {
	const { snapshots } = profile.meta;
	for (const id of ["focus", "ignore", "hide"])
		byId(id).addEventListener("input", (event) => {
			const isPattern = !event.target.value || compile(event.target.value);
			event.target.setAttribute("aria-invalid", String(!isPattern));
			state[id] = event.target.value;
			if (isPattern)
				refilter();
		});
	byId("filters").addEventListener("submit", (event) => event.preventDefault());
	byId("filter").addEventListener("click", () => openFilters(byId("filters").hidden));
	byId("fold").addEventListener("change", (event) => {
		state.fold = event.target.checked;
		refilter();
	});
	byId("fold").parentElement.hidden = !profile.hasFolded;
	if (!snapshots || profile.meta.nodes.base)
		return;
	for (const [id, first] of [["snapshot", "as on the command line"], ["against", "nothing"]]) {
		byId(id + "-choice").hidden = false;
		const options = snapshots.map((_, i) => make("option", { value: String(i), textContent: snapshotName(i) }));
		byId(id).replaceChildren(make("option", { value: "-1", textContent: first }), ...options);
		byId(id).addEventListener("change", (event) => {
			state[id] = Number(event.target.value);
			state.range = null;
			state.thread = -1;
			refilter();
		});
	}
}

function openFilters(isOpen) {
	byId("filters").hidden = !isOpen;
	byId("filter").setAttribute("aria-expanded", String(isOpen));
}

// What is left out, each with a way back.
function showChips() {
	const chips = [], chip = (words, field, value) => {
		const end = () => {
			setFilter(field, value);
			byId("filter").focus();
		};
		chips.push(make("button", { type: "button", textContent: words + " \u00d7", title: "No longer", onclick: end }));
	};
	if (state.snapshot >= 0)
		chip(snapshotName(state.snapshot), "snapshot", -1);
	if (state.against >= 0)
		chip("compared with " + snapshotName(state.against), "against", -1);
	if (state.range)
		chip("allocated " + formatRange(state.range) + " and still in use", "range", null);
	if (state.thread >= 0)
		chip("thread " + threadName(state.thread), "thread", -1);
	for (const field of ["focus", "ignore", "hide"])
		if (state[field])
			chip(field + " " + state[field], field, "");
	byId("chips").replaceChildren(...chips);
	byId("chips").hidden = !chips.length;
}

// Every control as the state has it.
function showControls() {
	for (const id of ["search", "focus", "ignore", "hide"])
		if (byId(id).value !== state[id])
			byId(id).value = state[id];
	byId("fold").checked = state.fold;
	byId("vanished").checked = state.withVanished;
	byId("snapshot").value = String(state.snapshot);
	byId("against").value = String(state.against);
	document.querySelector("[name=shape][value=" + (state.isFlame ? "flame" : "icicle") + "]").checked = true;
	document.querySelector("[name=order][value=" + (state.byName ? "name" : "weight") + "]").checked = true;
	byId("vanished-switch").hidden = !profile.isComparison;
	makeTypes();
	showChips();
}
