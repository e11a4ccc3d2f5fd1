"use strict";
// Filters, brushing, sorting, exact values, what is at a point of a figure, the state in the URL. Nothing is drawn here, and what is shown without this
// script stays.
(() => {
const D = JSON.parse(document.getElementById("data").textContent), N = D.n;
const el = (tag, attributes, ...children) => {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false) e.setAttribute(key, value);
  e.append(...children);
  return e;
};
// A column has one value, or says in base 36 which one each row has.
for (const column of [D.id, D.name, ...D.axes, D.status, D.reason, D.bound, D.level, D.flags])
  if (column.i) column.i = Uint32Array.from({ length: N }, (_, row) => parseInt(column.i.substr(row * column.w, column.w), 36));
const at = (column, row) => column.i ? column.v[column.i[row]] : column.v[0];
const command = row => "paradnn run '" + idOf(row).replaceAll("'", "'\\''") + "'";
const axis = name => D.axes.find(a => a.name === name);
const whole = (column, row) => at(column, row).replace(/([^,/=]+)=\*(?=[,/]|$)/g, (part, name) => axis(name) ? name + "=" + at(axis(name), row) : part);
const idOf = row => whole(D.id, row), nameOf = row => whole(D.name, row);
const digits = (value, n) => value === null || value === undefined || !isFinite(value) ? "" :
  value.toFixed(Math.max(0, n - 1 - Math.floor(Math.log10(Math.abs(value) || 1))));
const scaled = (value, units, base) => {
  let k = 0;
  if (value === null) return "";
  for (; value >= base && k < units.length - 1; k++) value /= base;
  return digits(value, 4) + " " + units[k];
};
const time = ns => scaled(ns, ["ns", "us", "ms", "s"], 1000);
const ok = row => at(D.status, row) === "ok" && D.time_ns[row] > 0;

// What the user chose. `only` maps an axis to the values shown, `range` x (FLOP per byte) and y (GFLOP/s) to [low, high].
const state = { only: {}, range: {}, sort: "", at: -1, page: 0 };
const columns = {
  id: ["model", nameOf], time: ["step (95 % interval)", row => D.time_ns[row]], rate: ["GFLOP/s", row => D.gflops[row]], roof: ["% of roof", row => D.roof[row]],
  ...(axis("source") && { source: ["source", row => at(axis("source"), row)] }),
  bound: ["bound", row => ok(row) ? at(D.bound, row) : at(D.status, row)], flags: ["flags", row => at(D.flags, row)],
};
const show = {
  time: row => ok(row) ? time(D.time_ns[row]) + (D.low[row] === null ? "" : " (" + time(D.low[row]) + " to " + time(D.high[row]) + ")") : "",
  rate: row => ok(row) ? digits(D.gflops[row], 4) : "", roof: row => digits(D.roof[row], 3),
};

const sorted = values => [...values].sort((a, b) => a - b || (a < b ? -1 : 1));
const facets = D.axes.concat([Object.assign({ name: "bound" }, D.bound), Object.assign({ name: "status" }, D.status)])
  .filter(a => a.v.length > 1 && a.v.length <= 60);
const passes = row => facets.every(a => !state.only[a.name] || state.only[a.name].has(at(a, row))) &&
  (!state.range.x || (ok(row) && D.intensity[row] >= state.range.x[0] && D.intensity[row] <= state.range.x[1])) &&
  (!state.range.y || (ok(row) && D.gflops[row] >= state.range.y[0] && D.gflops[row] <= state.range.y[1]));
let chosen = [], inside = new Set();

const save = () => {
  const p = new URLSearchParams();
  for (const [name, values] of Object.entries(state.only)) p.set("f." + name, [...values].map(v => "=" + encodeURIComponent(v)).join(" "));
  for (const [name, range] of Object.entries(state.range)) p.set("r." + name, range.map(v => digits(v, 4)).join("~"));
  if (state.sort) p.set("sort", state.sort);
  if (state.page) p.set("page", state.page);
  if (p.toString()) history.replaceState(null, "", "#?" + p);
  else if (location.hash.startsWith("#?")) history.replaceState(null, "", location.pathname + location.search);
};
const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };
const load = () => {
  Object.assign(state, { only: {}, range: {}, sort: "", page: 0 });
  if (!location.hash.startsWith("#?")) return;
  for (const [key, value] of new URLSearchParams(location.hash.slice(2))) {
    const name = key.slice(2), ends = value.split("~");
    if (key.startsWith("f.")) {
      if (facets.some(a => a.name === name))
        state.only[name] = new Set(value.split(" ").filter(v => v.startsWith("=")).map(v => decoded(v.slice(1))));
    } else if (key === "r.x" || key === "r.y") state.range[name] = [+ends[0] || 0, ends[1] ? +ends[1] || Infinity : Infinity];
    else if (key === "page") state.page = Math.max(0, parseInt(value, 10) || 0);
    else if (key === "sort" && Object.hasOwn(columns, value.replace("-", ""))) state.sort = value;
  }
};

// Figures whose points are models: series with the rows and the places of their points. A series is divided into the points of chosen models
// and the others, which stay behind it.
const ranges = text => text.split(" ").flatMap(part => {
  const [first, last] = part.split("-").map(Number);
  return last === undefined ? [first] : Array.from({ length: last - first + 1 }, (_, k) => first + k);
});
const figures = [...document.querySelectorAll("figure[data-models]")].map(figure => {
  const models = ranges(figure.dataset.models), svg = figure.querySelector("svg"), ring = el("div", { class: "ring", hidden: true }), places = new Map();
  const series = [...svg.querySelectorAll("path[data-rows]")].map(path => {
    const rows = ranges(path.dataset.rows).map(row => models[row - figure.dataset.first]), numbers = path.getAttribute("d").match(/-?[\d.]+/g).map(Number);
    const spots = rows.map((row, k) => ({ row, x: numbers[2 * k], y: numbers[2 * k + 1] })), others = path.cloneNode();
    for (const spot of spots) places.set(spot.row, spot);
    others.classList.add("faded");
    path.before(others);
    return { path, others, spots };
  });
  figure.append(ring);
  return { svg, ring, series, places };
});
const divide = (figure, inside) => {
  const text = spots => spots.length ? "M" + spots.map(spot => spot.x + " " + spot.y).join(" ") : "";
  for (const { path, others, spots } of figure.series) {
    path.setAttribute("d", text(spots.filter(spot => inside.has(spot.row))));
    others.setAttribute("d", text(spots.filter(spot => !inside.has(spot.row))));
  }
};
const place = (figure, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(figure.svg.getScreenCTM().inverse());
const nearest = (figure, event) => {
  const p = place(figure, event);
  let best = -1, least = 200;
  for (const { spots } of figure.series)
    for (const { row, x, y } of spots) {
      const distance = (x - p.x) ** 2 + (y - p.y) ** 2;
      if (distance < least && inside.has(row)) { least = distance; best = row; }
    }
  return best;
};

const tip = el("div", { id: "tip", role: "status", hidden: true });
const describe = row => [nameOf(row) + (axis("source") ? " (" + at(axis("source"), row) + ")" : ""), nameOf(row) === idOf(row) ? "" : idOf(row),
  ok(row) ? time(D.time_ns[row]) + (D.low[row] === null ? "" : ", 95 % interval " +
    time(D.low[row]) + " to " + time(D.high[row])) : at(D.status, row) + ": " + at(D.reason, row),
  ok(row) ? digits(D.gflops[row], 4) + " GFLOP/s at " + digits(D.intensity[row], 3) + " FLOP/byte" + (D.roof[row] === null ? "" : "; " +
    digits(D.roof[row], 3) + " % of its roof, bound by " + at(D.bound, row) + (at(D.level, row) ? " (" + at(D.level, row) + ")" : "")) : "",
  scaled(D.params[row], ["parameters", "k parameters", "M parameters", "G parameters"], 1000), at(D.flags, row)].filter(t => t).join("\n");
const point = (row, x, y) => {
  state.at = row;
  for (const { svg, ring, places } of figures) {
    const spot = places.get(row), scale = svg.clientWidth / svg.viewBox.baseVal.width;
    ring.hidden = !spot;
    if (spot) Object.assign(ring.style, { left: spot.x * scale + "px", top: spot.y * scale + "px" });
  }
  document.querySelectorAll("tr.chosen").forEach(tr => tr.classList.remove("chosen"));
  if (row < 0) return say("");
  const tr = document.querySelector('tr[data-row="' + row + '"]');
  if (tr) tr.classList.add("chosen");
  say(describe(row), x, y);
};
const say = (text, x, y) => {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? Math.max(4, y - tip.offsetHeight - 12) : y + 18) + "px";
};
// Points that are no models of this page say what the picture's table has of them.
for (const figure of document.querySelectorAll("figure[data-texts]")) {
  const texts = JSON.parse(figure.dataset.texts), svg = figure.querySelector("svg");
  const spots = [...svg.querySelectorAll("path[data-rows]")].flatMap(path => {
    const numbers = path.getAttribute("d").match(/-?[\d.]+/g).map(Number);
    return ranges(path.dataset.rows).map((row, k) => ({ text: texts[row - figure.dataset.first].join("\n"), x: numbers[2 * k], y: numbers[2 * k + 1] }));
  });
  svg.addEventListener("pointermove", event => {
    const p = place({ svg }, event), away = spot => (spot.x - p.x) ** 2 + (spot.y - p.y) ** 2;
    const best = spots.reduce((least, spot) => away(spot) < away(least) ? spot : least);
    say(away(best) < 200 ? best.text : "", event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", () => say(""));
}
// Dragging over the roofline keeps what lies inside: the ranges of its points.
const brush = el("div", { id: "brush", hidden: true });
for (const figure of figures) {
  let from = null;
  figure.svg.addEventListener("pointerdown", event => {
    if (event.button === 0 && figure.svg.closest(".roofline")) { from = event; figure.svg.setPointerCapture(event.pointerId); }
  });
  figure.svg.addEventListener("pointermove", event => {
    if (!from || Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) <= 5) {
      point(nearest(figure, event), event.clientX, event.clientY);
      return;
    }
    brush.hidden = false;
    for (const [side, size, here, there] of [["left", "width", event.clientX, from.clientX], ["top", "height", event.clientY, from.clientY]])
      Object.assign(brush.style, { [side]: Math.min(here, there) + "px", [size]: Math.abs(here - there) + "px" });
  });
  figure.svg.addEventListener("pointerup", event => {
    if (!brush.hidden) {
      const here = place(figure, event), there = place(figure, from), is = (v, s, t) => v >= Math.min(s, t) && v <= Math.max(s, t);
      const rows = figure.series.flatMap(one => one.spots).filter(spot => is(spot.x, here.x, there.x) && is(spot.y, here.y, there.y)).map(spot => spot.row);
      const range = of => [rows.reduce((n, row) => Math.min(n, of[row]), Infinity) * .999, rows.reduce((n, row) => Math.max(n, of[row]), 0) * 1.001];
      if (rows.length) state.range = { x: range(D.intensity), y: range(D.gflops) };
      brush.hidden = true;
      update();
    } else if (state.at >= 0) reveal(state.at);
    from = null;
  });
  figure.svg.addEventListener("pointerleave", () => point(-1));
}

// The table.
const PAGE = 100, table = document.getElementById("table");
const copy = row => el("button", { type: "button", title: "copy the command that runs it again", onclick: event => {
  navigator.clipboard.writeText(command(row)).then(() => { event.target.textContent = "copied"; },
    () => { prompt("The command:", command(row)); });
} }, "copy");
const sortBy = key => { state.sort = state.sort === key ? "-" + key : key; state.page = 0; update(); };
const drawTable = () => {
  const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
  state.page = Math.min(state.page, pages - 1);
  const rows = chosen.slice(state.page * PAGE, (state.page + 1) * PAGE).map(row => el("tr", { tabindex: 0, "data-row": row,
    onfocus: event => { const r = event.target.getBoundingClientRect(); point(row, r.left + 40, r.bottom - 14); }, onblur: () => point(-1),
    onkeydown: event => { const to = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (to && event.target[to]) { event.target[to].focus(); event.preventDefault(); } },
    onpointerenter: event => point(row, event.clientX, event.clientY), onpointerleave: () => point(-1) },
    ...Object.keys(columns).map(key => el("td", { class: show[key] ? "number" : "" },
      key === "id" ? el("code", { title: idOf(row) }, nameOf(row)) : show[key] ? show[key](row) : columns[key][1](row))), el("td", { class: "screen" }, copy(row))));
  const turn = by => () => { state.page += by; update(); };
  table.replaceChildren(el("div", { class: "scroll" }, el("table", { class: "models" },
    el("caption", { "aria-live": "polite" }, chosen.length + " of " + N + " models" + (pages > 1 ? ", page " + (state.page + 1) + " of " + pages : "") + "  ",
      ...(pages > 1 ? [el("button", { type: "button", class: "screen", "data-key": "previous", disabled: state.page === 0, onclick: turn(-1) }, "previous"), " ",
        el("button", { type: "button", class: "screen", "data-key": "next", disabled: state.page === pages - 1, onclick: turn(1) }, "next")] : [])),
    el("thead", {}, el("tr", {}, ...Object.entries(columns).map(([key, [title]]) => el("th", { scope: "col", class: show[key] ? "number" : "",
      "aria-sort": state.sort === key ? "ascending" : state.sort === "-" + key ? "descending" : "none" },
      el("button", { type: "button", "data-key": "sort." + key, onclick: () => sortBy(key) }, title + (state.sort === key ? " \u2191" : state.sort === "-" + key ? " \u2193" : "")))), el("th", { class: "screen" }, ""))),
    el("tbody", {}, ...rows))));
};
const reveal = row => {
  state.page = Math.floor(chosen.indexOf(row) / PAGE);
  update();
  const tr = document.querySelector('tr[data-row="' + row + '"]');
  if (tr) { tr.scrollIntoView({ block: "center" }); tr.focus(); }
};

// The selection as CSV: the axes, then what the table shows, as numbers.
const download = () => {
  const quote = text => /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  const out = [["id", ...D.axes.map(a => a.name), "status", "time_ns_median", "ci_low_ns", "ci_high_ns", "gflops", "intensity_flop_per_byte",
    "pct_of_roof", "bound", "flags"]];
  for (const row of chosen) out.push([idOf(row), ...D.axes.map(a => at(a, row)), at(D.status, row), D.time_ns[row] || "",
    ...[D.low, D.high, D.gflops, D.intensity, D.roof].map(column => column[row] === null ? "" : column[row]), at(D.bound, row), at(D.flags, row)]);
  const url = URL.createObjectURL(new Blob([out.map(cells => cells.map(c => quote(String(c))).join(",")).join("\n") + "\n"], { type: "text/csv" }));
  el("a", { href: url, download: "selection.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};

const filters = document.getElementById("filters");
const drawFilters = () => {
  const range = (name, title) => el("fieldset", {}, el("legend", {}, title), ...[0, 1].map(end => el("label", {}, end ? "to " : "from ",
    el("input", { type: "number", step: "any", "data-key": "r." + name + end, value: state.range[name] ? digits(state.range[name][end], 4) : "", onchange: event => {
      const now = state.range[name] || [0, Infinity];
      now[end] = event.target.value === "" ? (end ? Infinity : 0) : +event.target.value;
      state.range[name] = now;
      if (now[0] === 0 && now[1] === Infinity) delete state.range[name];
      update();
    } }))));
  const folded = filters.firstChild, active = Object.keys(state.only).length + Object.keys(state.range).length;
  filters.replaceChildren(el("details", { open: folded ? folded.open : facets.length <= 6 || active > 0 }, el("summary", {}, "Filters" + (active ? ", " + active + " in use" : "")),
  ...facets.map(a => el("fieldset", {}, el("legend", {}, a.name), ...sorted(a.v).map(value => el("label", {},
    el("input", { type: "checkbox", "data-facet": a.name, "data-key": "f." + a.name + "=" + value, value, ...((!state.only[a.name] || state.only[a.name].has(value)) && { checked: true }),
      onchange: event => {
        const now = state.only[a.name] || new Set(a.v);
        if (event.target.checked) now.add(value); else now.delete(value);
        if (now.size === a.v.length) delete state.only[a.name]; else state.only[a.name] = now;
        state.page = 0;
        update();
      } }), " " + (value || "(none)"))))), range("x", "FLOP per byte"), range("y", "GFLOP/s")),
  el("p", {}, el("button", { type: "button", id: "reset", "data-key": "reset", onclick: () => { state.only = {}; state.range = {}; state.page = 0; update(); } }, "show all"), " ",
  el("button", { type: "button", id: "csv", onclick: download }, "download the selection as CSV")));
};
const update = () => {
  const back = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : null;
  chosen = [];
  for (let row = 0; row < N; row++) if (passes(row)) chosen.push(row);
  const key = state.sort.replace("-", ""), sign = state.sort.startsWith("-") ? -1 : 1;
  if (key) {
    const value = columns[key][1], worth = chosen.map(row => [row, value(row)]);
    const empty = v => v === null || v === undefined || v !== v || v === "";
    worth.sort((a, b) => empty(a[1]) - empty(b[1]) || sign * (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0) || a[0] - b[0]);
    chosen = worth.map(pair => pair[0]);
  }
  inside = new Set(chosen);
  figures.forEach(figure => divide(figure, inside));
  drawTable();
  drawFilters();
  const again = back && [...document.querySelectorAll("[data-key]")].find(e => e.dataset.key === back);
  if (again) again.focus();
  save();
};
const dark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
document.querySelector("header").prepend(el("button", { type: "button", id: "theme", onclick: () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
} }, "light or dark"));
document.body.append(tip, brush);
filters.hidden = false;
load();
update();
addEventListener("hashchange", () => { if (location.hash.startsWith("#?")) { load(); update(); } });
})();
