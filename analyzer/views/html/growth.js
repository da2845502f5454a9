// SPDX-License-Identifier: MIT
// growth.js - over several profiles: which stacks are drawn, the table of them, and where in time the user looks. html_series.h describes the data. Start at
// the end.
"use strict";

const SHOWN_MAX = 8, GROWING_AT_FIRST = 5, OTHERS_AT_FIRST = 3;
const SERIES_HUES = [255, 50, 150, 330, 100, 205, 20, 290];

// What is drawn, or stands in a row: the total, or a stack.
class Series {
	constructor(data, isWhole) {
		Object.assign(this, data, { isWhole, isExact: !data.deviation, isShown: isWhole, slot: -1 });
		this.intervals = [];
	}

	interval(point) {
		if (!this.intervals[point]) {
			const now = this.value[point], variance = this.isExact ? 0 : this.deviation[point] ** 2;
			this.intervals[point] = intervalOf({ now, old: 0, variance, unit: this.isExact ? 0 : this.unit }) || { low: now, high: now };
		}
		return this.intervals[point];
	}

	get last() {
		return this.value[this.value.length - 1];
	}
}

// Of the series; without one, what is here is not used.
const data = profile.meta.series || { total: { value: [0] }, stacks: [], time: [0], kind: { isBytes: true } };
const whole = new Series({ ...data.total, name: "Total", calls: [] }, true);
const stacks = data.stacks.map((stack) => new Series(stack, false));
// One above the other, as the total would press the stacks down to its ground.
const wholeChart = new GrowthChart(byId("whole-chart"), { ...data, nameOf: (series) => shortName(series), showsTimes: false });
const chart = new GrowthChart(byId("stacks-chart"), { ...data, nameOf: (series) => shortName(series), showsTimes: true });
const sorting = { key: "slope", isDescending: true };
const unit = data.hasTimes ? "s" : "file";

// ---- figures as text ----

// The innermost call is what one knows a stack by.
function shortName(series) {
	return series.name.split(" < ")[0];
}

function formatRate(rate) {
	if (rate === null)
		return "?";
	const text = data.kind.isBytes ? formatBytes(rate) : Number(rate.toPrecision(3)).toLocaleString("en-US", { maximumSignificantDigits: 3 }).replace("-", "\u2212");
	return (rate > 0 ? "+" : "") + text + "/" + unit;
}

function formatBounds(low, high, format) {
	return format(low) + " \u2026 " + format(high);
}

function formatMoment(point) {
	const number = Math.round(point * (data.snapshots - 1) / (data.time.length - 1)) + 1;
	return (data.hasTimes ? formatTime(data.time[point]) + ", " : "") + "snapshot " + number + " of " + data.snapshots;
}

function formatFigure(series, point) {
	return formatValue(series.value[point], data.kind);
}

// "" where it is exact.
function formatSure(series, point) {
	const { low, high } = series.interval(point);
	return series.isExact ? "" : formatBounds(low, high, (value) => formatValue(value, data.kind));
}

// ---- which are drawn ----

function colorOf(series) {
	if (series.isWhole)
		return colors.isDark ? "#eceef1" : "#33373d";
	const hue = SERIES_HUES[series.slot % SERIES_HUES.length];
	return colors.isDark ? oklch(0.76, 0.13, hue) : oklch(0.53, 0.15, hue);
}

function shownStacks() {
	return stacks.filter((series) => series.isShown).sort((a, b) => a.slot - b.slot);
}

function shownSeries() {
	return (whole.isShown ? [whole] : []).concat(shownStacks());
}

// Takes the first colour that nobody has.
function setShown(series, isShown) {
	series.isShown = isShown;
	series.slot = -1;
	if (isShown && !series.isWhole) {
		const taken = new Set(stacks.map((other) => other.slot));
		series.slot = SERIES_HUES.findIndex((_, slot) => !taken.has(slot));
	}
}

function chooseAtFirst() {
	const growing = stacks.filter((series) => series.verdict === "grows").slice(0, GROWING_AT_FIRST);
	for (const series of growing.length ? growing : stacks.slice(0, OTHERS_AT_FIRST))
		setShown(series, true);
}

function showChart() {
	const isFull = shownStacks().length >= SHOWN_MAX, options = { hasBands: byId("bands").checked, hasSlopes: byId("slopes").checked };
	for (const series of [whole, ...stacks]) {
		if (series.isShown)
			series.color = colorOf(series);
		const { checkbox, swatch } = series.elements;
		checkbox.checked = series.isShown;
		checkbox.disabled = !series.isShown && !series.isWhole && isFull;
		checkbox.title = checkbox.disabled ? "As many as can be told apart are drawn" : "";
		swatch.style.setProperty("--series", series.isShown ? series.color : "transparent");
	}
	byId("whole-chart").toggleAttribute("hidden", !whole.isShown);
	byId("stacks-summary").textContent = shownStacks().map((series) => shortName(series) + " " + series.verdict + ", " + formatRate(series.slope)).join("; ");
	wholeChart.show([whole], options);
	chart.show(shownStacks(), options);
	placeCursor();
	showMoment();
	showValues();
}

// ---- where the user looks ----

function placeCursor() {
	const { left, right, top, bottom } = chart.box, below = byId("stacks-chart").getBoundingClientRect().top - byId("plot").getBoundingClientRect().top;
	Object.assign(byId("cursor").style, { left: left - 6 + "px", width: right - left + 12 + "px", top: top - 6 + "px", height: below + bottom - top + 12 + "px" });
}

function showMoment() {
	const point = chart.at, shown = shownSeries(), moment = formatMoment(point);
	const figure = (series) => shortName(series) + " " + formatFigure(series, point) + (series.isExact ? "" : ", 95% interval " + formatSure(series, point));
	byId("cursor").setAttribute("aria-valuenow", String(point + 1));
	byId("cursor").setAttribute("aria-valuetext", moment + ": " + shown.map(figure).join("; "));
	byId("moment").replaceChildren(make("b", { textContent: moment }), ...shown.map((series) => {
		const swatch = make("i", { className: "swatch" });
		swatch.style.setProperty("--series", series.color);
		return make("span", {}, swatch, shortName(series) + " " + formatFigure(series, point) + " ", make("small", { textContent: formatSure(series, point) }));
	}));
}

function moveTo(point) {
	wholeChart.moveTo(point);
	chart.moveTo(point);
	showMoment();
}

const cursorKeys = {
	ArrowLeft: () => chart.at - 1,
	ArrowDown: () => chart.at - 1,
	ArrowRight: () => chart.at + 1,
	ArrowUp: () => chart.at + 1,
	PageDown: () => chart.at - Math.ceil(data.time.length / 10),
	PageUp: () => chart.at + Math.ceil(data.time.length / 10),
	Home: () => 0,
	End: () => data.time.length - 1,
};

// ---- the tables ----

const seriesColumns = [
	{ key: "name", label: "Stack", isText: true, of: (series) => series.name },
	{ key: "verdict", label: "Verdict", isText: true, of: (series) => series.verdict },
	{ key: "slope", label: "Slope", of: (series) => series.slope },
	{ key: "low", label: "95% interval of the slope", of: (series) => series.low === null ? -Infinity : series.low },
	{ key: "last", label: "At last", of: (series) => series.last },
];

function makeSeriesHeadings() {
	for (const column of seriesColumns) {
		const button = make("button", { type: "button", textContent: column.label });
		button.addEventListener("click", () => {
			sorting.isDescending = sorting.key === column.key ? !sorting.isDescending : !column.isText;
			sorting.key = column.key;
			sortRows();
		});
		column.heading = make("th", { scope: "col", className: column.isText ? "" : "number" }, button);
	}
	document.querySelector("#stacks thead tr").append(make("th", { scope: "col", textContent: "Drawn" }), ...seriesColumns.map((column) => column.heading),
		make("th", { scope: "col", textContent: "Over time" }));
}

function sortRows() {
	const column = seriesColumns.find((candidate) => candidate.key === sorting.key), sign = sorting.isDescending ? -1 : 1;
	for (const { key, heading } of seriesColumns)
		heading.setAttribute("aria-sort", key !== sorting.key ? "none" : sorting.isDescending ? "descending" : "ascending");
	const sorted = stacks.slice().sort((a, b) => {
		const x = column.of(a), y = column.of(b);
		return sign * (x < y ? -1 : x > y ? 1 : 0);
	});
	byId("rows").replaceChildren(...sorted.map((series) => series.elements.row));
}

function makeName(series) {
	if (!series.calls.length)
		return make("span", { textContent: series.name });
	return make("details", {}, make("summary", { textContent: series.name }), make("ol", {}, ...series.calls.map((call) => make("li", { textContent: call }))));
}

function makeSeriesRow(series) {
	const checkbox = make("input", { type: "checkbox" }), swatch = make("i", { className: "swatch" });
	checkbox.setAttribute("aria-label", "Draw " + series.name);
	checkbox.addEventListener("change", () => {
		setShown(series, checkbox.checked);
		showChart();
	});
	const slope = make("td", { className: "number slope", textContent: formatRate(series.slope) });
	slope.dataset.value = series.slope;
	const last = make("td", { className: "number last", textContent: formatValue(series.last, data.kind) });
	last.dataset.value = series.last;
	const row = make("tr", {}, make("td", { className: "shown" }, checkbox, swatch), make("th", { scope: "row" }, makeName(series)),
		make("td", { className: "verdict " + series.verdict.split(" ")[0], textContent: series.verdict }), slope,
		make("td", { className: "number", textContent: formatBounds(series.low, series.high, formatRate) }), last,
		make("td", { className: "spark" }, makeSpark(data.time, series.value)));
	series.elements = { row, checkbox, swatch };
	return row;
}

function makeSeriesTable() {
	makeSeriesHeadings();
	byId("whole").append(makeSeriesRow(whole));
	stacks.forEach(makeSeriesRow);
	sortRows();
	document.querySelector("#stacks .counted").textContent = stacks.length < data.stackCount
		? "the steepest " + formatCount(stacks.length) + " of " + formatCount(data.stackCount) : formatCount(stacks.length);
}

// What is drawn, in figures.
function showValues() {
	const shown = shownSeries(), table = document.querySelector("#values table");
	table.querySelector("thead tr").replaceChildren(make("th", { scope: "col", textContent: data.hasTimes ? "Time" : "Snapshot" }),
		...shown.map((series) => make("th", { scope: "col", className: "number", textContent: shortName(series), title: series.name })));
	table.querySelector("tbody").replaceChildren(...data.time.map((_, point) => make("tr", {}, make("th", { scope: "row", textContent: formatMoment(point) }),
		...shown.map((series) => make("td", { className: "number" }, formatFigure(series, point) + " ", make("small", { textContent: formatSure(series, point) }))))));
}

// ---- what is said of all ----

function showSlope() {
	byId("sum-label").textContent = "Slope of the total";
	byId("sum").textContent = formatRate(whole.slope);
	byId("sum-change").textContent = "";
	byId("sum-interval").replaceChildren(whole.low === null && whole.high === null ? "" : "95% interval " + formatBounds(whole.low, whole.high, formatRate) + " ",
		make("span", { className: "verdict " + whole.verdict.split(" ")[0], textContent: whole.verdict }));
}

function seriesFacts() {
	const named = (data.kind.kind === "inuse" ? "in use" : "allocated") + (data.kind.isBytes ? "" : ", objects");
	const facts = [["Snapshots", formatCount(data.snapshots) + (data.hasTimes ? " over " + formatTime(data.time[data.time.length - 1]) : "")]];
	if (data.hasTimes)
		facts.push(["The first", new Date(data.start * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC"]);
	facts.push(["First " + named, formatFigure(whole, 0)], ["At last", formatFigure(whole, data.time.length - 1)]);
	if (data.peak)
		facts.push(["Peak", (data.peak.isExact ? "" : "about ") + formatBytes(data.peak.bytes) + " in use at " + formatTime(data.peak.time) + " of the session"]);
	return facts;
}

function seriesNotes() {
	const notes = [...data.notes];
	if (data.snapshots < data.enough)
		notes.push("With fewer than " + data.enough + " snapshots no order of values is unlikely enough to tell what grows.");
	if (!data.hasTimes)
		notes.push("The files do not say when they were written, or are not in that order: they count as equally far from each other.");
	if (data.isScaled)
		notes.push("Another tool has scaled these figures up: how sure they are is not known.");
	if (data.time.length < data.snapshots)
		notes.push(formatCount(data.time.length) + " of " + formatCount(data.snapshots) + " snapshots are drawn; slopes are of all.");
	return notes;
}

function nameCharts() {
	byId("chart-title").textContent = (data.kind.isBytes ? "Bytes " : "Objects ") + (data.kind.kind === "inuse" ? "in use" : "allocated") + " over time";
	byId("whole-summary").textContent = whole.verdict + " in all, " + formatRate(whole.slope) + ": " + formatFigure(whole, 0) + " at first, "
		+ formatFigure(whole, data.time.length - 1) + " at last; " + formatCount(stacks.filter((series) => series.verdict === "grows").length) + " stacks grow. "
		+ "All values are in a table below.";
}

function listenToCursor() {
	const cursor = byId("cursor");
	cursor.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || !cursorKeys[event.key])
			return;
		moveTo(cursorKeys[event.key]());
		event.preventDefault();
	});
	for (const type of ["pointermove", "pointerdown"])
		cursor.addEventListener(type, (event) => moveTo(chart.pointAt(event.clientX)));
	byId("bands").addEventListener("change", showChart);
	byId("slopes").addEventListener("change", showChart);
}

// Once, when the tab is first opened: what is not seen is not drawn.
function openSeries() {
	byId("cursor").setAttribute("aria-valuemax", String(data.time.length));
	nameCharts();
	makeSeriesTable();
	chooseAtFirst();
	byId("bands-switch").hidden = whole.isExact;
	listenToCursor();
}

function showSeries() {
	byId("series-part").hidden = !profile.meta.series;
	if (!profile.meta.series)
		return;
	if (!whole.elements)
		openSeries();
	showChart();
}
