// SPDX-License-Identifier: MIT
// state.js - what the user has chosen, and the address that shows the same: all of it stands in the fragment of the page's URL.
//
// A field has the name it has in the address. What is as it is at first is left out there.
"use strict";

const profile = new Profile(JSON.parse(byId("profile").textContent));
const state = {
	tab: "flame",
	type: profile.meta.type,
	isFlame: true,
	byName: false,
	withVanished: false,
	pattern: null,
	search: "",
	color: "module",
	view: { zoom: 0, around: null }, // a node of the tree, or a function with callers and callees
	history: [],
	fold: true,
	snapshot: -1,
	against: -1,
	range: null, // slices of the ages, the first and the last
	thread: -1,
	focus: "",
	ignore: "",
	hide: "",
	source: "", // the function whose source is shown
	calls: 40, // functions in the call graph
};

// null where there is no pattern, or none that can be understood yet.
function compile(text) {
	try {
		return text ? new RegExp(text, /[A-Z]/.test(text) ? "" : "i") : null;
	} catch {
		return null;
	}
}

function filterOf() {
	const { fold, snapshot, against, thread, range } = state;
	return {
		fold, snapshot, against, thread,
		from: range ? range[0] : null, to: range ? range[1] : null,
		focus: compile(state.focus), ignore: compile(state.ignore), hide: compile(state.hide),
	};
}

const numberField = { read: Number, write: String }, textField = { read: String, write: String };
const flagField = { read: (value) => value === "1", write: (value) => value ? "1" : "0" };
const FIELDS = {
	tab: textField, type: numberField, isFlame: flagField, byName: flagField, withVanished: flagField, search: textField, color: textField,
	fold: flagField, snapshot: numberField, against: numberField,
	thread: numberField, focus: textField, ignore: textField, hide: textField, source: textField, calls: numberField,
	range: { read: (value) => value.split("-").map(Number), write: (range) => range.join("-") },
};
const KEYS = { isFlame: "flame", byName: "byname", withVanished: "vanished" };
const atFirst = { ...state };

function keyOf(field) {
	return KEYS[field] || field;
}

function fragmentOf() {
	const parts = [], { zoom, around } = state.view;
	for (const [field, { write }] of Object.entries(FIELDS))
		if (field === "tab" || (state[field] !== atFirst[field] && state[field] !== null))
			parts.push(keyOf(field) + "=" + encodeURIComponent(write(state[field])));
	if (around !== null)
		parts.push("around=" + encodeURIComponent(profile.nameOf(around)));
	else if (zoom)
		parts.push("zoom=" + zoom);
	return "#" + parts.join("&");
}

// Keeps what does not make sense in this page as it is at first.
function readFragment(fragment) {
	const given = new Map(fragment.replace(/^#/, "").split("&").map((part) => {
		const at = part.indexOf("=");
		try {
			return [part.slice(0, Math.max(at, 0)), decodeURIComponent(part.slice(at + 1))];
		} catch {
			return ["", ""];
		}
	}));
	for (const [field, { read }] of Object.entries(FIELDS))
		state[field] = given.has(keyOf(field)) ? read(given.get(keyOf(field))) : atFirst[field];
	limitState();
	const around = given.has("around") ? profile.name.indexOf(given.get("around")) : -1;
	state.view = { zoom: Number(given.get("zoom")) || 0, around: around >= 0 ? around : null };
}

function limitState() {
	const { snapshots, threads, ages } = profile.meta, isIndex = (value, count) => Number.isInteger(value) && value >= 0 && value < count;
	if (!isIndex(state.type, profile.types.length))
		state.type = profile.meta.type;
	if (!isIndex(state.snapshot, snapshots ? snapshots.length : 0))
		state.snapshot = -1;
	if (!isIndex(state.against, snapshots ? snapshots.length : 0))
		state.against = -1;
	if (!isIndex(state.thread, threads ? threads.names.length : 0))
		state.thread = -1;
	if (!ages || !state.range || !state.range.every((slice) => isIndex(slice, ages.unknown)) || state.range.length !== 2)
		state.range = null;
	if (state.snapshot >= 0 || state.against >= 0) {
		state.range = null;
		state.thread = -1;
	}
	if (!isIndex(state.calls - 1, 1000))
		state.calls = atFirst.calls;
}

let writtenFragment = null;

// Without an entry in the browser's history: Back leaves the page, as ever. A busy browser may refuse, which does no harm.
function writeFragment() {
	const fragment = fragmentOf();
	if (fragment === writtenFragment)
		return;
	writtenFragment = fragment;
	try {
		history.replaceState(null, "", fragment);
	} catch {
		location.replace(fragment);
	}
}
