// SPDX-License-Identifier: MIT
// growth_chart.js - a chart: lines over time, with a band for each value's interval and the fitted slope. It draws what it is told to; nothing here knows of
// the page around it.
"use strict";

const TIME_STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
	86400, 172800, 604800];

// 1, 2 or 5 times a power of ten, so that about `count` steps make up `range`.
function decimalStep(range, count) {
	const rough = range / count, power = 10 ** Math.floor(Math.log10(rough));
	return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

// Round numbers from below least, which is 0 or less, to beyond most: of bytes in their unit.
function valueTicks(least, most, kind, count) {
	let unit = 1;
	while (kind.isBytes && Math.max(most, -least) / unit >= 1024)
		unit *= 1024;
	const step = Math.max(decimalStep((most - least) / unit, count) * unit, kind.isBytes ? 0 : 1), first = Math.floor(least / step), ticks = [];
	for (let i = 0; i === 0 || ticks[i - 1] < most; i++)
		ticks.push((first + i) * step);
	return ticks;
}

// From time 0, in seconds, on; or numbers of files, which are whole.
function timeTicks(last, hasTimes, count) {
	const step = hasTimes ? TIME_STEPS.find((candidate) => last / candidate <= count) || decimalStep(last, count) : Math.max(1, decimalStep(last, count));
	return Array.from({ length: Math.floor(last / step + 1e-9) + 1 }, (_, i) => i * step);
}

// 0.5 s, 12 s, 3:20 min, 2:05 h, 1.5 d
function formatTime(seconds) {
	const rounded = Math.round(seconds), two = (number) => String(number).padStart(2, "0");
	if (seconds < 120)
		return Number(seconds.toPrecision(seconds < 1 ? 3 : 4)) + "\u202fs";
	if (seconds < 7200)
		return Math.floor(rounded / 60) + (rounded % 60 ? ":" + two(rounded % 60) : "") + "\u202fmin";
	if (seconds < 172800)
		return Math.floor(rounded / 3600) + (rounded % 3600 >= 60 ? ":" + two(Math.floor(rounded % 3600 / 60)) : "") + "\u202fh";
	return Number((seconds / 86400).toFixed(2)) + "\u202fd";
}

class GrowthChart {
	// time[]: of the points; kind: of formatValue(); nameOf(series): for its end; showsTimes: below the axis
	constructor(svg, { time, kind, hasTimes, nameOf, showsTimes }) {
		Object.assign(this, { svg, time, kind, hasTimes, nameOf, showsTimes });
		this.at = time.length - 1;
		this.shown = [];
	}

	// shown: objects with value[], interval(i), slope, level, isExact and color; the last one is drawn on top
	show(shown, options) {
		this.shown = shown;
		this.options = options;
		this.draw();
	}

	// The points' place and what the axes are.
	layOut() {
		const { width, height } = this.svg.getBoundingClientRect(), hasLabels = width >= 700;
		const highest = (series) => series.value.map((value, i) => this.options.hasBands ? Math.max(value, series.interval(i).high) : value);
		const most = Math.max(1, ...this.shown.map((series) => Math.max(...highest(series))));
		const least = Math.min(0, ...this.shown.map((series) => Math.min(...series.value)));
		this.ticks = valueTicks(least, most, this.kind, Math.max(2, Math.floor(height / 60)));
		this.box = { left: 78, right: Math.max(120, width - (hasLabels ? 210 : 14)), top: 12, bottom: Math.max(60, height - (this.showsTimes ? 30 : 10)) };
		this.hasLabels = hasLabels;
		const ground = this.ticks[0], top = this.ticks[this.ticks.length - 1], last = this.time[this.time.length - 1], { left, right, bottom } = this.box;
		this.x = (time) => left + (right - left) * (last > 0 ? time / last : 0);
		this.y = (value) => bottom - (bottom - this.box.top) * (value - ground) / (top - ground);
	}

	draw() {
		this.layOut();
		const clip = makeSvg("clipPath", { id: this.svg.id + "-inside" }, makeSvg("rect", {
			x: this.box.left - 6, y: this.box.top - 6, width: this.box.right - this.box.left + 12, height: this.box.bottom - this.box.top + 7,
		}));
		const lines = this.shown.map((series) => this.drawSeries(series));
		this.moving = makeSvg("g", {});
		this.svg.replaceChildren(makeSvg("defs", {}, clip), this.drawAxes(), ...lines, ...(this.hasLabels ? this.drawLabels() : []), this.moving);
		this.drawMoment();
	}

	drawAxes() {
		const { left, right, bottom } = this.box, axes = makeSvg("g", {});
		for (const tick of this.ticks) {
			const y = this.y(tick);
			axes.append(makeSvg("line", { class: tick ? "grid" : "zero", x1: left, x2: right, y1: y, y2: y }),
				makeSvg("text", { x: left - 13, y: y + 4, "text-anchor": "end" }, formatValue(tick, this.kind)));
		}
		const last = this.time[this.time.length - 1];
		for (const tick of timeTicks(last, this.hasTimes, Math.max(2, Math.floor((right - left) / 90)))) {
			const x = this.x(tick);
			axes.append(makeSvg("line", { class: "zero", x1: x, x2: x, y1: bottom, y2: bottom + 4 }));
			if (this.showsTimes)
				axes.append(makeSvg("text", { x, y: bottom + 22, "text-anchor": "middle" }, this.hasTimes ? formatTime(tick) : String(tick + 1)));
		}
		return axes;
	}

	path(points) {
		return points.map(([time, value], i) => (i ? "L" : "M") + this.x(time).toFixed(1) + " " + this.y(value).toFixed(1)).join("");
	}

	drawSeries(series) {
		const { time } = this, last = time[time.length - 1], group = makeSvg("g", { "clip-path": `url(#${this.svg.id}-inside)` });
		group.style.setProperty("--series", series.color);
		if (this.options.hasBands && !series.isExact) {
			const low = time.map((at, i) => [at, series.interval(i).low]), high = time.map((at, i) => [at, series.interval(i).high]);
			group.append(makeSvg("path", { class: "band", d: this.path(high.concat(low.reverse())) + "Z" }));
		}
		if (this.options.hasSlopes && series.slope !== null)
			group.append(makeSvg("path", { class: "fit", d: this.path([[0, series.level], [last, series.level + series.slope * last]]) }));
		group.append(makeSvg("path", { class: "line", d: this.path(time.map((at, i) => [at, series.value[i]])) }));
		if (time.length <= 40)
			group.append(...time.map((at, i) => makeSvg("circle", { class: "mark", cx: this.x(at).toFixed(1), cy: this.y(series.value[i]).toFixed(1), r: 2.5 })));
		return group;
	}

	// At the end of each line its name; they give way to each other.
	drawLabels() {
		const { right, top, bottom } = this.box, apart = 17;
		const labels = this.shown.map((series) => ({ series, from: this.y(series.value[series.value.length - 1]) })).sort((a, b) => a.from - b.from);
		let free = top - 4;
		for (const label of labels)
			free = (label.y = Math.max(label.from, free)) + apart;
		let limit = bottom;
		for (const label of labels.slice().reverse())
			limit = (label.y = Math.min(label.y, limit)) - apart;
		return labels.map(({ series, from, y }) => {
			const name = this.nameOf(series), group = makeSvg("g", {});
			group.style.setProperty("--series", series.color);
			group.append(makeSvg("path", { class: "leader", d: `M${right + 5} ${from}L${right + 16} ${y}L${right + 20} ${y}` }),
				makeSvg("text", { class: "label", x: right + 24, y: y + 4 }, name.length > 27 ? name.slice(0, 26) + "\u2026" : name));
			return group;
		});
	}

	// Where the user looks.
	drawMoment() {
		const x = this.x(this.time[this.at]), { top, bottom } = this.box;
		this.moving.replaceChildren(makeSvg("line", { class: "now", x1: x, x2: x, y1: top, y2: bottom }), ...this.shown.map((series) => {
			const dot = makeSvg("circle", { class: "at", cx: x, cy: this.y(series.value[this.at]), r: 4.5 });
			dot.style.setProperty("--series", series.color);
			return dot;
		}));
	}

	moveTo(point) {
		this.at = Math.max(0, Math.min(this.time.length - 1, point));
		this.drawMoment();
	}

	// The point nearest to a place on the screen.
	pointAt(clientX) {
		const x = clientX - this.svg.getBoundingClientRect().left;
		return this.time.reduce((best, time, i) => Math.abs(this.x(time) - x) < Math.abs(this.x(this.time[best]) - x) ? i : best, 0);
	}
}

// A line that is a sum by itself, for a chart of which others have bands.
function plainLine(name, value, color) {
	return { name, value, color, amount: value, slope: null, isExact: true, interval: (i) => ({ low: value[i], high: value[i] }) };
}

// What the allocator says (`heap` of html_data.h), at the times of other lines: what is in use, and as bands on it what it retains. Straight between two looks.
function heapLines(heap, time) {
	if (!heap)
		return [];
	const { moments } = heap, valuesOf = (valueOf) => time.map((at) => {
		const next = moments.findIndex(([when]) => when >= at);
		if (next <= 0)
			return valueOf(moments[next < 0 ? moments.length - 1 : 0]);
		const from = moments[next - 1], to = moments[next], low = valueOf(from);
		return low + (valueOf(to) - low) * (at - from[0]) / (to[0] - from[0]);
	});
	const trimmable = ([, , kept, trim]) => Math.min(kept, trim), used = valuesOf(([, bytes]) => bytes);
	const bandOn = (below, name, amount, color) => {
		const value = below.map((low, i) => low + amount[i]);
		return { ...plainLine(name, value, color), amount, isExact: false, interval: (i) => ({ low: below[i], high: value[i] }) };
	};
	const stays = bandOn(used, "retained beyond a trim", valuesOf((look) => look[2] - trimmable(look)), "#b3541e");
	return [bandOn(stays.value, "retained, a trim gives back", valuesOf(trimmable), "#c0941a"), stays, plainLine("in use, allocator's count", used, "#2e8b57")];
}

// A small picture of a row, from nothing, or from its least if that is less, to its most.
function makeSpark(time, value) {
	const width = 104, height = 22, least = Math.min(0, ...value), most = Math.max(1e-9, ...value), last = time[time.length - 1];
	const y = (figure) => (height - 1.5 - (height - 3) * (figure - least) / (most - least)).toFixed(1), ground = least < 0 ? y(0) : height;
	const points = value.map((figure, i) => (last > 0 ? width * time[i] / last : 0).toFixed(1) + " " + y(figure));
	return makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
		makeSvg("path", { class: "under", d: `M0 ${ground}L${points.join("L")}L${width} ${ground}Z` }), makeSvg("path", { d: "M" + points.join("L") }));
}
