// SPDX-License-Identifier: MIT
// ages.js - what is in use by the time at which it was allocated, a range of it that the user drags, and the memory of the process over the same time.
"use strict";

const AGES_ROWS = 12, AGES_BOX = { left: 78, right: 14, top: 10, bottom: 26 };

const ages = profile.meta.ages;
const agesCount = ages ? Math.max(1, Math.min(ages.unknown, Math.ceil(profile.meta.duration / ages.width - 1e-6))) : 0;
const agesState = { draggedFrom: null };

// Ages are of the profile that the page shows at first, and of no other.
function hasAges() {
	return Boolean(ages) && !profile.isComparison && state.snapshot < 0;
}

// Of the time in the middle of slices, within the window.
function sliceTime(slice) {
	return Math.min(slice * ages.width, profile.meta.duration);
}

function rangeOf() {
	return state.range || [0, agesCount - 1];
}

// By slice, bytes in use of what the other filters leave.
function agesBars() {
	const bars = new Float64Array(agesCount);
	ages.node.forEach((node, i) => {
		if (profile.tree.isIn(node) && ages.slice[i] < agesCount)
			bars[ages.slice[i]] += ages.bytes[i];
	});
	return bars;
}

function formatRange([from, to]) {
	return formatTime(sliceTime(from)) + " to " + formatTime(sliceTime(to + 1));
}

function setRange(range) {
	const isAll = range && range[0] === 0 && range[1] === agesCount - 1, was = String(state.range);
	state.range = range && !isAll ? range : null;
	if (state.range && profile.types[state.type].kind !== "inuse")
		state.type = 3;
	if (String(state.range) !== was)
		refilter();
}

// ---- the chart ----

function agesScale(svg) {
	const { width, height } = svg.getBoundingClientRect(), { left, right, top, bottom } = AGES_BOX;
	return { x: (time) => left + (width - left - right) * time / profile.meta.duration, left, right: width - right, top, bottom: height - bottom };
}

function drawAges() {
	const svg = byId("ages-chart"), bars = agesBars(), scale = agesScale(svg), ticks = valueTicks(0, Math.max(1, ...bars), { isBytes: true }, 3);
	const top = ticks[ticks.length - 1], y = (value) => scale.bottom - (scale.bottom - scale.top) * value / top, [from, to] = rangeOf(), parts = [];
	for (const tick of ticks)
		parts.push(makeSvg("line", { class: tick ? "grid" : "zero", x1: scale.left, x2: scale.right, y1: y(tick), y2: y(tick) }),
			makeSvg("text", { x: scale.left - 13, y: y(tick) + 4, "text-anchor": "end" }, formatBytes(tick)));
	for (const time of timeTicks(profile.meta.duration, true, Math.max(2, Math.floor((scale.right - scale.left) / 90))))
		parts.push(makeSvg("text", { x: scale.x(time), y: scale.bottom + 20, "text-anchor": "middle" }, formatTime(time)));
	bars.forEach((value, slice) => {
		const x = scale.x(sliceTime(slice)), width = Math.max(1, scale.x(sliceTime(slice + 1)) - x - 1.5);
		const isInside = slice >= from && slice <= to, height = Math.max(0, scale.bottom - y(value));
		const bar = makeSvg("rect", { class: isInside ? "age" : "age outside", x, y: y(value), width, height });
		bar.append(makeSvg("title", {}, formatBytes(value) + ", allocated " + formatRange([slice, slice])));
		parts.push(bar);
	});
	if (state.range)
		parts.push(makeSvg("rect", { class: "brush", x: scale.x(sliceTime(from)), y: scale.top - 4,
			width: scale.x(sliceTime(to + 1)) - scale.x(sliceTime(from)), height: scale.bottom - scale.top + 4 }));
	svg.replaceChildren(...parts);
}

function showAgesRows() {
	const whole = profile.tree.now[3][0], rows = profile.functionRows(3).filter((row) => row.self.now > 0).sort((a, b) => b.self.now - a.self.now);
	byId("ages-rows").querySelector("thead tr").replaceChildren(...makeHeadings([["Function"], ["Allocated here and still in use", "number"]]));
	byId("ages-rows").querySelector("tbody").replaceChildren(...rows.slice(0, AGES_ROWS).map((row) => make("tr", {},
		make("th", { scope: "row" }, functionLink(row.functionIndex)),
		makeShare(row.self.now, whole, profile.types[3]))));
}

function showAges() {
	byId("ages-part").hidden = !hasAges();
	if (!hasAges())
		return;
	const [from, to] = rangeOf(), unknown = ages.slice.reduce((sum, slice, i) => sum + (slice === ages.unknown ? ages.bytes[i] : 0), 0);
	for (const [id, value] of [["ages-from", from], ["ages-to", to + 1]]) {
		byId(id).max = String(agesCount);
		byId(id).value = String(value);
		byId(id).setAttribute("aria-valuetext", formatTime(sliceTime(value)));
	}
	byId("ages-said").textContent = (state.range ? "Allocated " + formatRange(state.range) + " and still in use: " + formatBytes(profile.tree.now[3][0]) + "."
		: "Drag over the chart to choose a range: all views then show what was allocated in it and is still in use.")
		+ (unknown > 0 ? " Of " + formatBytes(unknown) + " it is not known when they were allocated." : "");
	byId("ages-all").disabled = !state.range;
	drawAges();
	showAgesRows();
}

// ---- the memory of the process ----

let memoryChart = null;

function showMemory() {
	const { moments, duration } = profile.meta, isShown = moments.length > 1 && duration > 0;
	byId("memory-part").hidden = !isShown;
	if (!isShown)
		return;
	const time = moments.map((moment) => moment[0]), lineOf = (name, column, color) => plainLine(name, moments.map((moment) => moment[column]), color);
	const shown = [lineOf("anonymous memory", 1, "#8a8f98"), ...heapLines(profile.meta.heap, time), lineOf("in use, of this window", 3, "var(--accent)")]
		.filter(({ value }) => value.some((bytes) => bytes > 0));
	memoryChart = memoryChart || new GrowthChart(byId("memory-chart"), {
		time, kind: { isBytes: true }, hasTimes: true, nameOf: (series) => series.name, showsTimes: true,
	});
	memoryChart.show(shown, { hasBands: true, hasSlopes: false });
	byId("memory-said").replaceChildren(...shown.map(({ name, amount, color }) => {
		const swatch = make("i", { className: "swatch" });
		swatch.style.setProperty("--series", color);
		return make("span", {}, swatch, name + ": " + formatBytes(amount[0]) + " at first, " + formatBytes(amount[amount.length - 1]) + " at last. ");
	}));
}

// ---- events ----

function sliceAt(clientX) {
	const svg = byId("ages-chart"), { left, right } = agesScale(svg), part = (clientX - svg.getBoundingClientRect().left - left) / (right - left);
	return Math.max(0, Math.min(agesCount - 1, Math.floor(part * profile.meta.duration / ages.width)));
}

function listenToAges() {
	const svg = byId("ages-chart");
	svg.addEventListener("pointerdown", (event) => {
		agesState.draggedFrom = sliceAt(event.clientX);
		svg.setPointerCapture(event.pointerId);
		event.preventDefault();
	});
	svg.addEventListener("pointermove", (event) => {
		const at = sliceAt(event.clientX), from = agesState.draggedFrom;
		if (from !== null)
			setRange([Math.min(from, at), Math.max(from, at)]);
	});
	for (const end of ["pointerup", "pointercancel"])
		svg.addEventListener(end, (event) => {
			const from = agesState.draggedFrom;
			agesState.draggedFrom = null;
			if (end === "pointerup" && from === sliceAt(event.clientX))
				setRange([from, from]);
		});
	byId("ages-from").addEventListener("input", (event) => setRange([Math.min(Number(event.target.value), rangeOf()[1]), rangeOf()[1]]));
	byId("ages-to").addEventListener("input", (event) => setRange([rangeOf()[0], Math.max(Number(event.target.value) - 1, rangeOf()[0])]));
	byId("ages-all").addEventListener("click", () => setRange(null));
	byId("ages-flame").addEventListener("click", () => selectTab("flame", true));
}
