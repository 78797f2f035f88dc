"use strict";

const byId = (id) => document.getElementById(id);
const about = JSON.parse(byId("charts").dataset.about);
const windows = new Map(); // by start: after a lost connection all of them come again
const notes = new Map();
const ROWS = 30;
const number = new Intl.NumberFormat("en", { minimumSignificantDigits: 4, maximumSignificantDigits: 4 });
const shown = (value) => (value === null ? "beyond all numbers" : number.format(value));
const iso = (second) => new Date(1000 * second).toISOString();
const clock = (second) => (second % 60 ? iso(second).slice(11, 19) : iso(second).slice(11, 16));
const day = (second) => iso(second).slice(0, 10);

function element(kind, attributes = {}, text) {
  const svg = ["svg", "path", "line", "text", "circle", "clipPath", "rect", "g"].includes(kind);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", kind) : document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A few round numbers between two.
function ticks(low, high, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

function timeTicks(start, end, most) {
  const steps = [1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];
  const step = steps.find((each) => (end - start) / each <= most) ?? 31536000;
  const first = Math.ceil(start / step);
  return Array.from({ length: Math.floor(end / step) - first + 1 }, (_, i) => (first + i) * step);
}

// From the least to the greatest value, and as much of the intervals as most windows have: one quiet window with a wide
// interval would flatten all others.
function range(points) {
  const sorted = (place) => points.map((each) => each[place]).filter((each) => each !== null).sort((a, b) => a - b);
  const [values, lows, highs] = [0, 1, 2].map(sorted);
  const part = (list, share) => list[Math.min(list.length - 1, Math.floor(share * list.length))];
  let low = Math.min(values[0], part(lows, 0.05) ?? values[0]);
  let high = Math.max(values.at(-1), part(highs, 0.95) ?? values.at(-1));
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const room = 0.08 * (high - low);
  return [low - room, high + room];
}

class Chart {
  constructor(place) {
    this.place = place;
    this.figure = element("figure");
    this.figure.append(element("figcaption", {}, about.names[place]));
    this.svg = element("svg", { role: "img" });
    this.readout = element("output", { "aria-live": "off" });
    this.figure.append(this.readout, this.svg);
    byId("charts").append(this.figure);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.draw(this.list));
  }

  draw(list) {
    this.list = list;
    this.svg.replaceChildren();
    this.readout.textContent = "";
    const points = list.map((each) => each.values[this.place]);
    if (!points.some((each) => each[0] !== null)) return;
    const width = Math.max(300, this.svg.clientWidth);
    const height = width < 500 ? 230 : 300;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [low, high] = range(points);
    const marks = ticks(low, high, 5);
    const digits = Math.max(0, Math.min(8, -Math.floor(Math.log10(marks[1] - marks[0] || 1) + 1e-9)));
    const named = marks.map((each) => (high < 1e6 ? each.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) : number.format(each)));
    const left = 14 + 7.5 * Math.max(...named.map((each) => each.length));
    const box = { left, right: width - 10, top: 18, bottom: height - 26 };
    const [start, end] = [list[0].start, list.at(-1).end];
    this.x = (each) => box.left + ((each.start + each.end) / 2 - start) / (end - start) * (box.right - box.left);
    const time = (second) => box.left + (second - start) / (end - start) * (box.right - box.left);
    const y = (value) => box.bottom - ((value ?? 1e308) - low) / (high - low) * (box.bottom - box.top);
    const inside = (value) => Math.max(box.top - 50, Math.min(box.bottom + 50, y(value)));
    this.box = box;

    const clip = `clip-${this.place}`;
    const cut = element("clipPath", { id: clip });
    cut.append(element("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }));
    this.svg.append(cut);
    marks.forEach((each, i) => {
      this.svg.append(element("line", { class: "grid", x1: box.left, x2: box.right, y1: y(each), y2: y(each) }));
      this.svg.append(element("text", { x: box.left - 8, y: y(each) + 4, "text-anchor": "end" }, named[i]));
    });
    for (const each of timeTicks(start, end, (box.right - box.left) / 80)) {
      const label = each % 86400 ? clock(each) : iso(each).slice(5, 10);
      const anchor = time(each) > width - 25 ? "end" : time(each) < box.left + 15 ? "start" : "middle";
      this.svg.append(element("text", { x: time(each), y: height - 6, "text-anchor": anchor }, label));
    }

    // Windows that nobody watched leave a gap.
    const runs = [];
    list.forEach((each, i) => {
      if (!i || list[i - 1].end !== each.start) runs.push([]);
      runs.at(-1).push(each);
    });
    const drawn = element("g", { "clip-path": `url(#${clip})` });
    for (const run of runs) {
      const at = (each, place) => `${this.x(each).toFixed(1)} ${inside(each.values[this.place][place]).toFixed(1)}`;
      const forth = run.map((each) => at(each, 2)), back = run.map((each) => at(each, 1)).reverse();
      drawn.append(element("path", { class: "band", d: `M${[...forth, ...back].join("L")}Z` }));
      drawn.append(element("path", { class: "line", d: `M${run.map((each) => at(each, 0)).join("L")}` }));
      if (run.length === 1) drawn.append(element("circle", { class: "dot", cx: this.x(run[0]), cy: inside(run[0].values[this.place][0]), r: 3 }));
    }
    this.svg.append(drawn);
    const drops = episodes(list);
    for (const each of drops) {
      const [from, to] = [time(each[0].start), time(each.at(-1).end)];
      const middle = Math.max(box.left + 8, Math.min(box.right - 8, (from + to) / 2));
      drawn.prepend(element("rect", { class: "shade", x: from, y: box.top, width: to - from, height: box.bottom - box.top }));
      this.svg.append(element("path", { class: "drop", d: `M${middle - 8} ${box.top - 10}H${middle + 8}L${middle} ${box.top + 5}Z` }));
    }
    const last = `${told(list.at(-1), this.place)} in the last of ${list.length} windows, from ${day(start)} ${clock(start)} to ${clock(end)} UTC`;
    this.svg.setAttribute("aria-label", `${about.names[this.place]}: ${last}; drops: ${drops.length}. The numbers are in the table below.`);
  }

  point(event) {
    if (!this.x || !this.list.length) return;
    const at = event.clientX - this.svg.getBoundingClientRect().left;
    const near = this.list.reduce((a, b) => (Math.abs(this.x(b) - at) < Math.abs(this.x(a) - at) ? b : a));
    this.svg.querySelector(".at")?.remove();
    this.svg.append(element("line", { class: "at", x1: this.x(near), x2: this.x(near), y1: this.box.top, y2: this.box.bottom }));
    this.readout.textContent = `${day(near.start)} ${clock(near.start)} to ${clock(near.end)}: ${told(near, this.place)}`;
  }
}

const told = (each, place) => {
  const [value, low, high] = each.values[place].map(shown);
  return `${value} (${low} to ${high})${each.few ? ", too few rows to say" : ""}`;
};

// Windows with an alert, one after the other, are one drop.
function episodes(list) {
  const found = [];
  list.forEach((each, i) => {
    const goesOn = found.length > 0 && found.at(-1).at(-1) === list[i - 1] && list[i - 1].end === each.start;
    if (!each.alerts.length && !(goesOn && each.few)) return; // of windows with few rows only the first is an alert
    if (goesOn) found.at(-1).push(each);
    else found.push([each]);
  });
  return found;
}

function dropTold(windows) {
  const lowest = windows.reduce((a, b) => (b.values[0][0] < a.values[0][0] ? b : a));
  const many = windows.length === 1 ? "" : `${windows.length} windows, the lowest `;
  return `${day(windows[0].start)} ${clock(windows[0].start)} to ${clock(windows.at(-1).end)}: ${many}${shown(lowest.values[0][0])}, ${why(lowest)}`;
}

const FEW = "few or no rows: the input may have stopped";
const why = (each) =>
  each.few ? FEW : each.alerts.map((alert) => (alert === "below" ? "below the limit" : `${each.fall === null ? "many" : each.fall.toFixed(1)} deviations below the median`)).join(", ");

function listed(parent, texts) {
  parent.replaceChildren(...texts.map((text) => element("li", {}, text)));
}

function table(newest) {
  const head = element("tr");
  head.append(element("th", { scope: "col" }, "window, UTC"));
  for (const name of about.names) {
    head.append(element("th", { scope: "col", class: "number" }, name), element("th", { scope: "col", class: "number" }, `${about.confidence} between`));
  }
  head.append(element("th", { scope: "col" }, "alert"));
  byId("head").replaceChildren(head);
  byId("rows").replaceChildren(...newest.map((each, i) => {
    const row = element("tr", each.alerts.length ? { class: "dropped" } : {});
    const today = i && day(newest[i - 1].start) === day(each.start);
    const named = element("th", { scope: "row" });
    const time = element("time", { datetime: iso(each.start) });
    if (!today) time.append(element("span", { class: "whole" }, day(each.start)), " ");
    time.append(clock(each.start));
    named.append(time);
    row.append(named);
    for (const [value, low, high] of each.values) {
      row.append(element("td", { class: "number" }, shown(value)), element("td", { class: "number" }, `${shown(low)} and ${shown(high)}`));
    }
    row.append(element("td", {}, why(each)));
    return row;
  }));
}

const charts = about.names.map((_, place) => new Chart(place));

let asked = false;
function redraw() {
  if (asked) return; // many windows may come at once: one picture a frame
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    const span = Number(document.querySelector("input[name=span]:checked").value);
    const list = [...windows.values()].sort((a, b) => a.start - b.start).slice(-span);
    if (!list.length) return;
    const last = list.at(-1);
    const [value, low, high] = last.values[0].map(shown);
    byId("value").textContent = value;
    byId("between").replaceChildren(
      `${about.confidence} between ${low} and ${high}, `, element("span", { class: "whole" }, day(last.start)),
      ` ${clock(last.start)} to ${clock(last.end)} UTC${last.few ? "; too few rows to say" : ""}`,
    );
    for (const chart of charts) chart.draw(list);
    const drops = episodes(list);
    byId("calm").hidden = drops.length > 0;
    listed(byId("drops"), drops.slice(-10).reverse().map(dropTold));
    table(list.slice(-ROWS).reverse());
    byId("notes").hidden = !notes.size;
    listed(byId("noted"), [...notes.values()].reverse().map((each) => `${each.time}: ${each.note}`));
  });
}

function state(kind, text) {
  if (byId("state").textContent !== text) byId("state").textContent = text;
  byId("state").className = kind;
}

const events = new EventSource("events");
events.addEventListener("open", () => state("live", "live"));
events.addEventListener("error", () => state("gone", "The monitor does not answer. This page goes on when it does."));
events.addEventListener("message", (event) => {
  const news = JSON.parse(event.data);
  for (const each of news.windows) windows.set(each.start, each);
  const oldest = [...windows.keys()].sort((a, b) => a - b).slice(0, -1500);
  for (const each of oldest) windows.delete(each);
  for (const each of news.notes) notes.set(each.number, each);
  byId("said").hidden = !news.said;
  if (byId("said").textContent !== news.said) byId("said").textContent = news.said;
  if (news.budget) byId("budget").textContent = news.budget;
  redraw();
});
new ResizeObserver(redraw).observe(byId("charts"));
document.querySelector(".span").addEventListener("change", redraw);
