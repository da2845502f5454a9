// SPDX-License-Identifier: MIT
// table.js - the functions as a table: what the graph shows, for whoever reads rather than looks, and for sorting.
"use strict";

const ROWS_AT_FIRST = 100;

class FunctionTable {
	// nameCell(functionIndex): what stands in the first column
	constructor(host, profile, nameCell) {
		Object.assign(this, { host, profile, nameCell });
		this.shown = ROWS_AT_FIRST;
		this.wanted = null;
		this.body = host.querySelector("tbody");
		this.more = host.querySelector(".more");
		this.more.addEventListener("click", () => {
			this.shown = Infinity;
			this.draw();
		});
	}

	// Before it is first shown, and again if what was one profile has become a comparison.
	setColumns() {
		const { profile } = this;
		this.columns = [
			{ key: "name", label: "Function", isText: true, of: (row) => this.profile.nameOf(row.functionIndex) },
			{ key: "place", label: "File", isText: true, of: (row) => this.profile.fileOf(row.functionIndex) },
			{ key: "module", label: "Module", isText: true, of: (row) => this.profile.moduleOf(row.functionIndex) },
			{ key: "self", label: "Self", of: (row) => row.self.now },
			{ key: "total", label: "Total", of: (row) => row.total.now },
		];
		this.sortKey = profile.isComparison ? "change" : "self";
		this.isDescending = true;
		this.type = undefined;
		if (profile.isComparison) {
			this.columns.push({ key: "change", label: "Change of total", of: (row) => row.total.now - row.total.old });
		}
		this.headings = this.columns.map((column) => this.makeHeading(column));
		this.host.querySelector("thead tr").replaceChildren(...this.headings, ...(profile.isExact ? [] : [this.intervalHeading()]));
	}

	intervalHeading() {
		return make("th", { scope: "col", className: "number", textContent: this.profile.isComparison ? "95% interval of the change" : "95% interval of total" });
	}

	makeHeading(column) {
		const button = make("button", { type: "button", textContent: column.label });
		const heading = make("th", { scope: "col", className: column.isText ? "" : "number" }, button);
		button.addEventListener("click", () => {
			this.isDescending = this.sortKey === column.key ? !this.isDescending : !column.isText;
			this.sortKey = column.key;
			this.draw();
		});
		return heading;
	}

	// wanted: by function, whether it is shown; null = all
	show(type, wanted) {
		if (this.type !== type)
			this.rows = this.profile.functionRows(type);
		this.type = type;
		this.wanted = wanted;
		this.draw();
	}

	sorted() {
		const column = this.columns.find((candidate) => candidate.key === this.sortKey), sign = this.isDescending ? -1 : 1;
		const name = (row) => this.profile.nameOf(row.functionIndex);
		return this.rows.filter((row) => !this.wanted || this.wanted[row.functionIndex]).sort((a, b) => {
			const x = column.of(a), y = column.of(b);
			return sign * (x < y ? -1 : x > y ? 1 : 0) || b.total.now - a.total.now || (name(a) < name(b) ? -1 : 1);
		});
	}

	draw() {
		const rows = this.sorted();
		this.headings.forEach((heading, index) => {
			const isSorted = this.columns[index].key === this.sortKey;
			heading.setAttribute("aria-sort", isSorted ? (this.isDescending ? "descending" : "ascending") : "none");
		});
		this.body.replaceChildren(...rows.slice(0, this.shown).map((row) => this.makeRow(row)));
		this.more.hidden = rows.length <= this.shown;
		this.more.textContent = "Show all " + formatCount(rows.length) + " functions";
		this.host.querySelector(".counted").textContent = formatCount(Math.min(rows.length, this.shown)) + " of " + formatCount(this.rows.length) + " functions";
	}

	makeRow(row) {
		const kind = this.profile.types[this.type], whole = this.profile.tree.now[this.type][0];
		const file = this.profile.fileOf(row.functionIndex);
		const cells = [
			make("th", { scope: "row" }, this.nameCell(row.functionIndex)),
			make("td", { className: "place", textContent: file.split("/").pop(), title: file }),
			make("td", { className: "place", textContent: this.profile.moduleOf(row.functionIndex) }),
			this.makeFigure(row.self, kind, whole),
			this.makeFigure(row.total, kind, whole),
		];
		if (this.profile.isComparison)
			cells.push(this.makeChange(row.total, kind));
		if (!this.profile.isExact)
			cells.push(make("td", { className: "number interval", textContent: formatInterval(row.total, kind) }));
		return make("tr", {}, ...cells);
	}

	makeFigure(figure, kind, whole) {
		const cell = make("td", { className: "number figure" });
		cell.dataset.value = figure.now;
		cell.style.setProperty("--part", whole > 0 ? figure.now / whole : 0);
		cell.append(make("span", { textContent: formatValue(figure.now, kind) }), make("span", { className: "share", textContent: formatShare(figure.now, whole) }));
		return cell;
	}

	makeChange(figure, kind) {
		const difference = figure.now - figure.old;
		const cell = make("td", { className: "number change " + (!isCertain(figure) ? "" : difference > 0 ? "more-than" : "less-than") });
		cell.dataset.value = difference;
		cell.append(make("span", { textContent: formatSigned(difference, kind) }), make("span", { className: "share", textContent: formatChange(figure) }));
		return cell;
	}
}
