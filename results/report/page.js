"use strict";
// Filters, brushing, exact values, sorting, any heat map, the state in the URL. Everything shown without this script stays.
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
const svgEl = (tag, attributes) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
};
const at = (column, row) => column.i ? column.v[column.i[row]] : column.v[0];
const index = (column, row) => column.i ? column.i[row] : 0;
const command = row => "paradnn run '" + idOf(row).replaceAll("'", "'\\''") + "'";
const idOf = row => D.id.map(part => at(part, row)).filter(text => text).join(",");
// The short name of a model, as in labels.c: what varies within its family.
const families = D.axes[0], keys = D.axes.filter(a => a !== families && a.name !== "source"), varies = families.v.map(() => new Set()), firsts = [];
for (let row = 0; row < N; row++) {
  const f = index(families, row);
  if (firsts[f] === undefined) firsts[f] = row;
  for (const a of keys) if (a.i && a.i[row] !== a.i[firsts[f]]) varies[f].add(a);
}
const labelOf = row => (families.v.length > 1 ? [at(families, row)] : []).concat(
  keys.filter(a => varies[index(families, row)].has(a) && at(a, row)).map(a => a.name + "=" + at(a, row))).join(" ") || idOf(row);
const digits = (value, n) => value === null || value === undefined || !isFinite(value) ? "" : String(+value.toPrecision(n));
const scaled = (value, units, base) => {
  let k = 0;
  if (value === null) return "";
  for (; value >= base && k < units.length - 1; k++) value /= base;
  return digits(value, 4) + " " + units[k];
};
const time = ns => scaled(ns, ["ns", "us", "ms", "s"], 1000);
const rate = row => D.flop[row] / D.time_ns[row], intensity = row => D.flop[row] / D.bytes[row];
const ok = row => at(D.status, row) === "ok" && D.time_ns[row] > 0;
const axis = name => D.axes.find(a => a.name === name);
const source = row => axis("source") ? index(axis("source"), row) : 0;

// What the user chose. `only` maps an axis to the values shown, `range` an axis of the picture to [low, high].
const state = { only: {}, range: {}, sort: "", color: "bound", at: -1, page: 0, heat: {} };
const columns = {
  id: ["model", idOf], time: ["step", row => D.time_ns[row]], rate: ["GFLOP/s", rate], roof: ["% of roof", row => D.roof[row]],
  ...(axis("source") && { source: ["source", row => at(axis("source"), row)] }),
  bound: ["bound", row => ok(row) ? at(D.bound, row) : at(D.status, row)], flags: ["flags", row => at(D.flags, row)],
};
const show = {
  time: row => ok(row) ? time(D.time_ns[row]) + (D.low[row] === null ? "" : " \u00b1 " +
    digits(Math.max(D.low[row], D.high[row]) / 10, 2) + " %") : "",
  rate: row => ok(row) ? digits(rate(row), 4) : "", roof: row => digits(D.roof[row], 3),
};

const facets = D.axes.concat([Object.assign({ name: "bound" }, D.bound), Object.assign({ name: "status" }, D.status)])
  .filter(a => a.v.length > 1 && a.v.length <= 60);
const passes = row => facets.every(a => !state.only[a.name] || state.only[a.name].has(at(a, row))) &&
  (!state.range.x || (ok(row) && intensity(row) >= state.range.x[0] && intensity(row) <= state.range.x[1])) &&
  (!state.range.y || (ok(row) && rate(row) >= state.range.y[0] && rate(row) <= state.range.y[1]));
let chosen = [];

const save = () => {
  const p = new URLSearchParams();
  for (const [name, values] of Object.entries(state.only)) p.set("f." + name, [...values].map(v => "=" + encodeURIComponent(v)).join(" "));
  for (const [name, range] of Object.entries(state.range)) p.set("r." + name, range.map(v => digits(v, 4)).join("~"));
  for (const [name, value] of Object.entries(state.heat)) p.set("h." + name, value);
  if (state.sort) p.set("sort", state.sort);
  if (state.color !== "bound") p.set("color", state.color);
  if (state.page) p.set("page", state.page);
  if (p.toString()) history.replaceState(null, "", "#?" + p);
  else if (location.hash.startsWith("#?")) history.replaceState(null, "", location.pathname + location.search);
};
const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };
const load = () => {
  Object.assign(state, { only: {}, range: {}, sort: "", color: "bound", page: 0, heat: {} });
  if (!location.hash.startsWith("#?")) return;
  for (const [key, value] of new URLSearchParams(location.hash.slice(2))) {
    const name = key.slice(2), ends = value.split("~");
    if (key.startsWith("f.")) {
      if (facets.some(a => a.name === name))
        state.only[name] = new Set(value.split(" ").filter(v => v.startsWith("=")).map(v => decoded(v.slice(1))));
    } else if (key === "r.x" || key === "r.y") state.range[name] = [+ends[0] || 0, ends[1] ? +ends[1] || Infinity : Infinity];
    else if (key.startsWith("h.")) state.heat[name] = value;
    else if (key === "page") state.page = Math.max(0, parseInt(value, 10) || 0);
    else if (key === "sort" && Object.hasOwn(columns, value.replace("-", ""))) state.sort = value;
    else if (key === "color") state.color = value;
  }
};

// The rooflines. Points keep their places; only their groups change.
const shapes = [["round", "h0"], ["square", "h0"], ["", "m-3.5 3h7l-3.5-6z"], ["", "m-3-3l6 6m0-6l-6 6"], ["", "m0-4l4 4l-4 4l-4-4z"],
  ["", "m-4 0h8m-4-4v8"], ["round", "m-3 0h6"], ["square", "h0"]];
const pictures = [...document.querySelectorAll("svg.roofline")].map(svg => {
  const [xl, xh, xf, xt] = svg.dataset.x.split(" ").map(Number), [yl, yh, yf, yt] = svg.dataset.y.split(" ").map(Number);
  return { svg, cloud: svg.querySelector(".cloud"), legend: svg.querySelector(".legend"), xf, xt, yf, yt,
    x: v => xf + Math.log(v / xl) / Math.log(xh / xl) * (xt - xf), y: v => yf + Math.log(v / yl) / Math.log(yh / yl) * (yt - yf),
    ux: p => xl * Math.pow(xh / xl, (p - xf) / (xt - xf)), uy: p => yl * Math.pow(yh / yl, (p - yf) / (yt - yf)) };
});
const colorColumn = () => state.color === "bound" ? D.bound : axis(state.color) || D.bound;
const drawCloud = picture => {
  const column = colorColumn(), paths = new Map(), inside = new Set(chosen);
  const order = column === D.bound ? ["compute", "memory", "overhead", ""] : column.v;
  for (let row = 0; row < N; row++) {
    if (!ok(row) || !(intensity(row) > 0) || pictureOf(row) !== picture) continue;
    const k = Math.min(Math.max(order.indexOf(at(column, row)), 0), 7), key = k + (inside.has(row) ? "" : " faded");
    paths.set(key, (paths.get(key) || "") + "M" + picture.x(intensity(row)).toFixed(1) + " " + picture.y(rate(row)).toFixed(1) + shapes[k][1]);
  }
  picture.cloud.replaceChildren(...[...paths].sort((a, b) => b[0].length - a[0].length).map(([key, d]) =>
    svgEl("path", { class: "points " + shapes[parseInt(key, 10)][0] + " c" + key, d })));
  let x = picture.xf + 8;
  picture.legend.replaceChildren(...order.filter(value => value !== "" || column !== D.bound).slice(0, 8).flatMap((value, k) => {
    const mark = svgEl("path", { class: "points " + shapes[k][0] + " c" + k, d: "M" + x + " 14" + shapes[k][1] });
    const text = svgEl("text", { x: x + 9, y: 18 }), more = k === 7 && column.v.length > 8;
    text.textContent = more ? "others" : column === D.bound ? "bound by " + value : state.color + " " + value;
    x += column === D.bound ? 150 : 98;
    return [mark, text];
  }));
};
// Pictures are in the order of the sources; the axis has their names sorted.
const pictureOfSource = axis("source") ? axis("source").v.map(name => pictures.find(p => p.svg.dataset.source === name)) : [pictures[0]];
const pictureOf = row => pictureOfSource[source(row)];

const tip = el("div", { id: "tip", role: "status", hidden: true });
const describe = row => [idOf(row) + (axis("source") ? " (" + at(axis("source"), row) + ")" : ""),
  ok(row) ? time(D.time_ns[row]) + (D.low[row] === null ? "" : ", 95 % interval " +
    time(D.time_ns[row] * (1 - D.low[row] / 1000)) + " to " + time(D.time_ns[row] * (1 + D.high[row] / 1000))) :
    at(D.status, row) + ": " + at(D.reason, row),
  ok(row) ? digits(rate(row), 4) + " GFLOP/s at " + digits(intensity(row), 3) + " FLOP/byte; " + digits(D.roof[row], 3) +
    " % of its roof, bound by " + at(D.bound, row) + (at(D.level, row) ? " (" + at(D.level, row) + ")" : "") : "",
  scaled(D.params[row], ["parameters", "k parameters", "M parameters", "G parameters"], 1000), at(D.flags, row)].filter(t => t).join("\n");
const point = (row, x, y) => {
  state.at = row;
  for (const picture of pictures) picture.svg.querySelectorAll(".mark").forEach(mark => mark.remove());
  document.querySelectorAll("tr.chosen").forEach(tr => tr.classList.remove("chosen"));
  tip.hidden = row < 0;
  if (row < 0) return;
  if (ok(row) && intensity(row) > 0) pictureOf(row).svg.append(svgEl("circle",
    { class: "mark", r: 7, cx: pictureOf(row).x(intensity(row)), cy: pictureOf(row).y(rate(row)) }));
  const tr = document.querySelector('tr[data-row="' + row + '"]');
  if (tr) tr.classList.add("chosen");
  tip.textContent = describe(row);
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? Math.max(4, y - tip.offsetHeight - 12) : y + 18) + "px";
};
for (const picture of pictures) {
  const place = event => {
    const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.svg.getScreenCTM().inverse());
    return [Math.min(Math.max(p.x, picture.xf), picture.xt), Math.min(Math.max(p.y, picture.yt), picture.yf)];
  };
  let from = null, box = null;
  picture.svg.addEventListener("pointerdown", event => { if (event.button === 0) { from = place(event); picture.svg.setPointerCapture(event.pointerId); } });
  picture.svg.addEventListener("pointermove", event => {
    const [x, y] = place(event);
    if (from && Math.hypot(x - from[0], y - from[1]) > 5) {
      if (!box) picture.svg.append(box = svgEl("rect", { class: "brush" }));
      for (const [key, value] of Object.entries({ x: Math.min(x, from[0]), y: Math.min(y, from[1]), width: Math.abs(x - from[0]),
        height: Math.abs(y - from[1]) })) box.setAttribute(key, value);
      return;
    }
    let best = -1, least = 144;
    for (const row of chosen) {
      if (!ok(row) || pictureOf(row) !== picture) continue;
      const dx = picture.x(intensity(row)) - x, dy = picture.y(rate(row)) - y;
      if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = row; }
    }
    point(best, event.clientX, event.clientY);
  });
  picture.svg.addEventListener("pointerup", event => {
    const to = place(event);
    if (box) {
      state.range = { x: [from[0], to[0]].sort((a, b) => a - b).map(picture.ux), y: [from[1], to[1]].sort((a, b) => b - a).map(picture.uy) };
      box.remove();
      update();
    } else if (state.at >= 0) reveal(state.at);
    from = box = null;
  });
  picture.svg.addEventListener("pointerleave", () => point(-1));
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
      key === "id" ? el("code", { title: idOf(row) }, labelOf(row)) : show[key] ? show[key](row) : columns[key][1](row))), el("td", { class: "screen" }, copy(row))));
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
    ok(row) && D.low[row] !== null ? digits(D.time_ns[row] * (1 - D.low[row] / 1000), 5) : "",
    ok(row) && D.low[row] !== null ? digits(D.time_ns[row] * (1 + D.high[row] / 1000), 5) : "", ok(row) ? digits(rate(row), 5) : "",
    ok(row) ? digits(intensity(row), 5) : "", D.roof[row] === null ? "" : D.roof[row], at(D.bound, row), at(D.flags, row)]);
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
  ...facets.map(a => el("fieldset", {}, el("legend", {}, a.name), ...a.v.map(value => el("label", {},
    el("input", { type: "checkbox", "data-facet": a.name, "data-key": "f." + a.name + "=" + value, value, ...((!state.only[a.name] || state.only[a.name].has(value)) && { checked: true }),
      onchange: event => {
        const now = state.only[a.name] || new Set(a.v);
        if (event.target.checked) now.add(value); else now.delete(value);
        if (now.size === a.v.length) delete state.only[a.name]; else state.only[a.name] = now;
        state.page = 0;
        update();
      } }), " " + (value || "(none)"))))), range("x", "FLOP per byte"), range("y", "GFLOP/s")),
  el("p", {}, el("label", {}, "color by ", select(["bound", ...facets.map(a => a.name).filter(name => name !== "bound" && axis(name))], state.color,
    value => { state.color = value; update(); }, { "data-key": "color" })), " ",
  el("button", { type: "button", id: "reset", "data-key": "reset", onclick: () => { state.only = {}; state.range = {}; state.page = 0; update(); } }, "show all"), " ",
  el("button", { type: "button", id: "csv", onclick: download }, "download the selection as CSV")));
};
const select = (values, value, then, attributes) => {
  const e = el("select", Object.assign({ onchange: event => then(event.target.value) }, attributes),
    ...values.map(v => el("option", Object.assign({ value: v }, v === value && { selected: true }), v)));
  return e;
};

// A heat map over any two axes of the selection, with the means and the bins of results/query/grid.c and the colors of heat.c.
const heat = document.getElementById("heat-any"), EXACT = 24;
const measures = { "% of peak": row => D.peak[row], "% of roof": row => D.roof[row], "GFLOP/s": rate, "ms per step": row => D.time_ns[row] / 1e6 };
const usable = D.axes.filter(a => a.v.length > 1 && (a.number || a.v.length <= EXACT)).map(a => a.name);
const shade = share => {
  const stops = [[253, 244, 191], [127, 205, 187], [44, 127, 184], [12, 44, 100]], p = Math.min(Math.max(share, 0), 1) * 3, k = Math.min(Math.floor(p), 2);
  return "rgb(" + stops[k].map((c, i) => Math.round(c + (p - k) * (stops[k + 1][i] - c))).join(",") + ")";
};
const short = value => Math.abs(value) >= 1000 ? String(Math.round(value)) : digits(value, 3);
// Numbers ascending, then words as they come; more than EXACT numbers are binned by powers of two. A step is a number or a word.
const stepsOf = (a, rows) => {
  const step = text => text === "" || isNaN(text) ? text : +text, all = [...new Set(rows.map(row => step(at(a, row))))];
  const sorted = steps => steps.filter(s => s === +s).sort((s, t) => s - t).concat(steps.filter(s => s !== +s));
  if (all.length <= EXACT) return { list: sorted(all), of: step };
  const bin = text => { const low = +text > 0 ? 2 ** Math.floor(Math.log2(text)) : 0; return low > +text ? low / 2 : low; };
  return { list: sorted([...new Set(all.map(bin))]), of: bin, binned: true };
};
const chooseAxis = (counts, taken) => usable.reduce((best, name) =>
  name !== taken && counts[name] > (best ? counts[best] : 1) ? name : best, "") || usable.find(name => name !== taken);
const drawHeat = () => {
  if (!heat || usable.length < 2) return;
  const h = state.heat, counts = {}, given = key => usable.includes(h[key]) ? h[key] : "", tried = chosen.filter(ok);
  for (const name of usable) counts[name] = ["family", "source"].includes(name) ? 0 : Math.min(64, new Set(tried.map(row => at(axis(name), row)).filter(v => v)).size);
  const x = given("x") || (given("y") !== "batch" && counts.batch > 1 ? "batch" : chooseAxis(counts, given("y"))), y = given("y") || chooseAxis(counts, x);
  const measure = Object.hasOwn(measures, h.value) ? h.value : D.peak.some(v => v !== null) ? "% of peak" : "GFLOP/s", X = axis(x), Y = axis(y);
  const valueOf = row => { const v = ok(row) ? measures[measure](row) : null; return v === null || !isFinite(v) ? null : v; };
  const rows = chosen.filter(row => at(X, row) && at(Y, row) && (valueOf(row) !== null || (!ok(row) && !["filtered", "interrupted"].includes(at(D.status, row)))))
    .sort((a, b) => ok(b) - ok(a) || a - b);
  const geometric = rows.every(row => valueOf(row) === null || valueOf(row) > 0), xs = stepsOf(X, rows), ys = stepsOf(Y, rows), cells = new Map();
  for (const row of rows) {
    const key = ys.list.indexOf(ys.of(at(Y, row))) + " " + xs.list.indexOf(xs.of(at(X, row))), value = valueOf(row);
    if (!cells.has(key)) cells.set(key, { sum: 0, n: 0, failed: 0 });
    const cell = cells.get(key);
    if (value === null) cell.failed++;
    else { cell.n++; cell.sum += geometric ? Math.log(value) : value; }
  }
  for (const cell of cells.values()) cell.mean = geometric ? Math.exp(cell.sum / cell.n) : cell.sum / cell.n;
  const means = [...cells.values()].filter(cell => cell.n).map(cell => cell.mean), least = Math.min(...means), most = Math.max(...means);
  const shareOf = mean => geometric && most > 10 * least ? Math.log(mean / least) / Math.log(most / least) : most > 0 ? mean / most : 0;
  const from = Math.max(64, 16 + 7 * Math.max(...ys.list.map(v => String(v).length))), width = (850 - from) / Math.max(1, xs.list.length), bottom = 30 + 30 * ys.list.length;
  const svg = svgEl("svg", { viewBox: "0 0 860 " + (bottom + 50), role: "img", "aria-label": measure + " over " + x + " and " + y });
  const label = (x, y, text, anchor, css) => { const t = svgEl("text", { x, y, "text-anchor": anchor, class: css || "" }); t.textContent = text; svg.append(t); };
  const title = (name, steps) => name + (steps.binned ? ", each to the next" : "");
  ys.list.forEach((v, j) => {
    const top = bottom - (j + 1) * 30;
    label(from - 6, top + 19, v, "end", "tick");
    xs.list.forEach((u, i) => {
      const cell = cells.get(j + " " + i), left = from + i * width;
      if (!cell) return;
      const share = cell.n ? shareOf(cell.mean) : 0, css = share > .5 ? "on-dark" : "on-light";
      svg.append(svgEl("rect", { class: "cell", x: left, y: top, width: width - 1, height: 29, fill: cell.n ? shade(share) : "#fff" }));
      if (width >= 30) label(left + width / 2, top + 19, cell.n ? short(cell.mean) : "\u00d7", "middle", css);
      if (cell.n && cell.failed) label(left + width - 3, top + 10, "\u00d7", "end", css);
    });
  });
  xs.list.forEach((u, i) => label(from + (i + .5) * width, bottom + 16, u, "middle", "tick"));
  label((from + 850) / 2, bottom + 36, title(x, xs), "middle"); label(from, 20, title(y, ys), "start");
  const choose = key => value => { h[key] = value; update(); };
  heat.replaceChildren(el("p", {}, select(Object.keys(measures), measure, choose("value"), { "aria-label": "value", "data-key": "heat.value" }), " over ",
    select(usable, x, choose("x"), { "aria-label": "x axis", "data-key": "heat.x" }), " and ", select(usable, y, choose("y"), { "aria-label": "y axis", "data-key": "heat.y" }),
    ", the " + (geometric ? "geometric" : "arithmetic") + " mean over the models selected above"), el("figure", {}, svg));
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
  pictures.forEach(drawCloud);
  drawTable();
  drawFilters();
  drawHeat();
  const again = back && [...document.querySelectorAll("[data-key]")].find(e => e.dataset.key === back);
  if (again) again.focus();
  save();
};
const dark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
document.querySelector("header").prepend(el("button", { type: "button", id: "theme", onclick: () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
} }, "light or dark"));
document.body.append(tip);
filters.hidden = false;
if (heat) {
  heat.hidden = false;
  const others = document.querySelectorAll("#heat > figure");
  if (others.length === 1) others[0].hidden = true; // the script begins with the same one
}
load();
update();
addEventListener("hashchange", () => { if (location.hash.startsWith("#?")) { load(); update(); } });
})();
