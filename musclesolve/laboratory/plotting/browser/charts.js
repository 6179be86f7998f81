"use strict";
// Draws the figures of a page from their data: `described_sheet.py` says what these are. Scales and paths: D3.
(() => {
  const APART = " · ", POINT = 1.3, INCH = 110, GAP = 14, RULE = "#d9d9d9", AXIS = "#555555", TEXT = "#1b2127";
  const FONT = 'font-family="DejaVu Sans, Verdana, sans-serif"';
  const LEAST = { 1: 0, 2: 150, 3: 108, 4: 108 };  // width of a panel [px] by the columns of the page; of more columns:
  const NARROWEST = 108, NAMED = 250, SMALL = 175;  // NAMED: of a panel with names beside it; below SMALL texts are smaller
  const PHONE = 480;  // width of a figure [px] below which its panels are low
  const charts = [], zoomed = new Map();
  let clips = 0;

  const escape = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const round = (value) => Math.round(10 * value) / 10;
  const shown = (value) => Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "–";
  const seriesOf = (mark) => (mark.s ?? "").split(APART)[0];
  const partOf = (mark) => (mark.s ?? "").split(APART)[1] ?? "";
  const ruler = document.createElement("canvas").getContext("2d");
  const wide = (text, size) => { ruler.font = `${size}px DejaVu Sans, Verdana, sans-serif`; return ruler.measureText(text).width; };
  const wrapped = (text, size, width) => {
    const lines = [""];
    for (const word of text.split(/\s+/)) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (lines.at(-1) && wide(longer, size) > width) lines.push(word); else lines[lines.length - 1] = longer;
    }
    return lines;
  };

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.body = figure.querySelector(".chart-body");
      const data = JSON.parse(figure.querySelector(".chart-data").textContent);
      const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
      this.numbers = new Float32Array(bytes(data.data));
      this.whole = new Uint16Array(bytes(data.whole));
      delete data.data;
      delete data.whole;
      Object.assign(this, data);
      this.hidden = new Set();  // names of series and parts that are switched off
      this.left = new Set();  // numbers of panels that are not shown
      this.place = null;  // where values are shown
      this.panels.forEach((panel, number) => panel && this.prepare(panel, number));
      this.known = this.panels.filter(Boolean);
      this.frame();
    }

    // ---- data

    array([start, length, low, high]) {
      if (low === undefined) return this.numbers.subarray(start, start + length);
      const step = (high - low) / 65534;
      return Float32Array.from(this.whole.subarray(start, start + length), (value) => value > 65534 ? NaN : low + step * value);
    }

    prepare(panel, number) {
      panel.number = number;
      const alike = this.panels.find((other) => other?.xl && String(other.x) === String(panel.x));
      panel.across = panel.xl ?? this.xl ?? alike?.xl ?? "";
      panel.upward = panel.yl ?? this.yl ?? "";
      panel.zooms = !panel.xtl && !panel.equal && !panel.ytl;
      panel.key = `${this.figure.id.split("-")[0]} ${panel.across} ${panel.x}`;
      for (const mark of [...panel.marks, ...(panel.strips ?? []).flatMap((strip) => strip.marks)]) {
        for (const name of ["x", "y", "y2", "at"]) if (Array.isArray(mark[name]) && mark.k !== "text") mark[name] = this.array(mark[name]);
        if (mark.x) mark.runs = mark.x.every((value, k) => !k || value >= mark.x[k - 1]);
      }
    }

    domain(panel) { return zoomed.get(panel.key) ?? panel.x; }

    drawn(mark) { return !(this.hidden.has(seriesOf(mark)) || this.hidden.has(partOf(mark)) || this.hidden.has(mark.s)); }

    // Values of the curves and bands of a panel at a place of its axis.
    values(panel, place) {
      const found = [];
      for (const mark of panel.marks) {
        if (!mark.s || !mark.runs || mark.h || !this.drawn(mark) || !["line", "area"].includes(mark.k) || mark.x.length < 2) continue;
        const after = Math.min(Math.max(d3.bisector((value) => value).left(mark.x, place), 1), mark.x.length - 1), before = after - 1;
        const share = (place - mark.x[before]) / (mark.x[after] - mark.x[before]);
        if (!(share >= -0.5 && share <= 1.5)) continue; // of the nearest frame: strikes lie between frames
        const at = (values) => share < 1e-6 ? values[before] : share > 1 - 1e-6 ? values[after] : values[before] + share * (values[after] - values[before]);
        const own = mark.k === "area" ? [at(mark.y), at(mark.y2)] : [at(mark.y)];
        if (!own.every(Number.isFinite) || found.some((other) => other.name === mark.s)) continue;
        found.push({ name: mark.s, color: mark.c, values: own, band: mark.k === "area" });
      }
      return found;
    }

    // ---- what stands around the panels

    frame() {
      const title = element("p", { className: "chart-title", textContent: this.title });
      const notes = this.notes.map((note) => element("p", { className: "chart-note", textContent: note }));
      this.legendList = element("ul", { className: "chart-legend" });
      const marks = this.known.flatMap((panel) => panel.marks);
      for (const entry of this.legend) {
        const name = entry.of || entry.text, sample = element("span", { className: "chart-sample" });
        sample.innerHTML = this.sample(entry.keys);
        if (!marks.some((mark) => seriesOf(mark) === name || partOf(mark) === name)) {
          this.legendList.append(element("li", {}, sample, entry.text));
          continue;
        }
        const button = element("button", { type: "button", title: "Switch on or off" }, sample, entry.text);
        button.setAttribute("aria-pressed", "true");
        button.addEventListener("click", () => {
          const off = this.hidden.has(name);
          off ? this.hidden.delete(name) : this.hidden.add(name);
          button.setAttribute("aria-pressed", String(off));
          this.draw();
        });
        this.legendList.append(element("li", {}, button));
      }
      this.back = element("button", { type: "button", className: "chart-whole", textContent: "Whole axis", hidden: true });
      this.back.addEventListener("click", () => this.known.forEach((panel) => this.zoom(panel, null)));
      this.grid = element("div", { className: "chart-grid" });
      const below = element("p", { className: "chart-axes" });
      const across = [...new Set(this.known.map((panel) => panel.across).filter(Boolean))];
      this.one = across.length === 1;  // label of all horizontal axes
      if (this.one) below.append(`Horizontal: ${across[0]}. `);
      if (this.yl) below.append(`Vertical: ${this.yl}.`);
      this.table = element("details", { className: "chart-table" }, element("summary", { textContent: "Numbers of this figure" }));
      this.table.addEventListener("toggle", () => this.table.open && this.fillTable());
      this.body.replaceChildren(title, ...notes, this.legendList, this.back, this.grid, below, this.tools(), this.table);
      this.tip = element("div", { className: "chart-tip", hidden: true });
      this.body.append(this.tip);
    }

    tools() {
      const box = element("details", { className: "chart-tools" }, element("summary", { textContent: "Values, zoom, panels, copy" }));
      const first = this.known.find((panel) => panel.zooms);
      const button = (text, act) => {
        const made = element("button", { type: "button", textContent: text });
        made.addEventListener("click", async () => {
          made.textContent = await act();
          setTimeout(() => { made.textContent = text; }, 2500);
        });
        return made;
      };
      if (first) {
        const [low, high] = first.x, step = Number(((high - low) / 200).toPrecision(1));
        this.slider = element("input", { type: "range", min: low, max: high, step, value: low });
        this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
        const end = (name, value) => element("input", { type: "number", step: "any", name, value: shown(value) });
        this.ends = [end("from", low), end("to", high)];
        for (const input of this.ends) input.addEventListener("change", () => {
          const [from, to] = this.ends.map((each) => Number(each.value));
          if (to > from) this.known.forEach((panel) => panel.zooms && this.zoom(panel, [from, to]));
        });
        box.append(element("p", {}, element("label", {}, "Values at ", this.slider)),
          element("p", {}, element("label", {}, "Axis from ", this.ends[0]), " ", element("label", {}, "to ", this.ends[1]),
            " or drag across a panel; a double click shows the whole axis."));
      }
      if (this.known.length > 5) box.append(this.chooser());
      box.append(element("p", { className: "chart-copy" },
        button("Copy SVG", () => this.copy("image/svg+xml")), " ", button("Copy PNG", () => this.copy("image/png")), " ",
        button("Copy numbers (CSV)", () => this.copy("text/csv"))));
      return box;
    }

    chooser() {
      const boxes = new Map(), list = element("div", { className: "chart-panels" });
      const take = (numbers, on) => {
        for (const number of numbers) { on ? this.left.delete(number) : this.left.add(number); boxes.get(number).checked = on; }
        this.draw();
      };
      const every = this.known.map((panel) => panel.number), groups = Map.groupBy?.(this.known, (panel) => panel.note ?? "") ?? new Map();
      const of = (text, numbers, on) => {
        const made = element("button", { type: "button", textContent: text });
        made.addEventListener("click", () => { if (on === "only") take(every, false); take(numbers, on !== false); });
        return made;
      };
      const buttons = element("p", {}, of("All panels", every, true), " ", of("None", every, false));
      if (groups.size > 1 && groups.size < this.known.length / 2)
        for (const [name, own] of groups) if (name) buttons.append(" ", of(`Only ${name}`, own.map((panel) => panel.number), "only"));
      for (const panel of this.known) {
        const box = element("input", { type: "checkbox", checked: true });
        box.addEventListener("change", () => take([panel.number], box.checked));
        boxes.set(panel.number, box);
        list.append(element("label", {}, box, ` ${panel.name || `panel ${panel.number + 1}`}`), " ");
      }
      return element("fieldset", {}, element("legend", { textContent: "Panels shown" }), buttons, list);
    }

    sample(keys) {
      const each = 26 / keys.length, parts = keys.map((key, k) => {
        const x = k * each;
        if (key.k === "box") return `<rect x="${x}" y="2" width="${each}" height="10" ${this.filling(key)}/>`;
        const middle = x + each / 2, dashed = key.d ? `<path d="M${x} 7H${x + each}" ${this.stroke(key)}/>` : "";
        return dashed + (key.m ? this.signs(key, [[middle, 7]]) : "");
      });
      return `<svg viewBox="0 0 26 14" width="26" height="14" aria-hidden="true">${parts.join("")}</svg>`;
    }

    // ---- the panels

    columnsIn(width) {
      const least = this.known.some((panel) => panel.ytl) ? NAMED : LEAST[this.columns] ?? NARROWEST;
      return Math.max(1, Math.min(this.columns, Math.floor((width + GAP) / (least + GAP))));
    }

    draw(width = this.body.clientWidth) {
      if (!width) return;
      this.width = width = Math.max(width, NARROWEST);  // a page that is unfolding has less for a moment
      const columns = this.columnsIn(width), across = (width - (columns - 1) * GAP) / columns;
      this.grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      this.cells = [];
      const cells = [];
      const kept = columns === this.columns && !this.left.size ? this.panels : this.known.filter((panel) => !this.left.has(panel.number));
      let spanned = 0;
      for (const panel of kept) {
        if (spanned) { spanned -= 1; if (!panel) continue; }
        if (!panel) { cells.push(element("div", { className: "chart-panel" })); continue; }
        const span = Math.min(panel.columns ?? 1, columns);
        if (panel.columns && columns === this.columns && !this.left.size) spanned = panel.columns - 1;
        const own = across * span + (span - 1) * GAP;
        const cell = element("div", { className: "chart-panel" });
        if (span > 1) cell.style.gridColumn = `span ${span}`;
        const unit = panel.upward && panel.upward !== this.yl ? element("span", { className: "chart-unit", textContent: panel.upward }) : "";
        const beside = panel.right ? element("span", { className: "chart-right", textContent: panel.right }) : "";
        const name = element("div", { className: "chart-name" }, element("span", { textContent: panel.name ?? "" }), " ", unit, beside);
        const note = panel.note ? element("div", { className: "chart-note", textContent: panel.note }) : "";
        cell.append(element("div", { className: "chart-head" }, name, note));
        const most = width < PHONE ? own * (columns === 1 ? 0.3 : 0.65) : Math.max(340, this.known.length === 1 ? 800 : 0);
        const height = Math.max(Math.min(this.height * 96 * (this.paper ? 0.9 : Math.max(width / 756, 1)), most), 72);
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", this.summary(panel));
        cell.append(svg);
        const view = { panel, svg, cell, width: own, height };
        this.paint(view);
        if (panel.zooms) this.listen(view);
        this.cells.push(view);
        cells.push(cell);
      }
      this.grid.replaceChildren(...cells);
      this.back.hidden = !this.known.some((panel) => zoomed.has(panel.key));
      this.show(this.place);
    }

    summary(panel) {
      const parts = panel.marks.filter((mark) => mark.k === "line" && mark.s && !partOf(mark) && !mark.h && this.drawn(mark)).map((mark) => {
        const known = mark.y.filter(Number.isFinite);
        return `${mark.s} ${shown(Math.min(...known))} to ${shown(Math.max(...known))}`;
      });
      return [[panel.name || this.title, panel.upward].filter(Boolean).join(", "), ...new Set(parts)].join("; ");
    }

    paint(view) {
      const { panel, svg, width } = view;
      const [inner, height] = this.inside(view);
      view.total = height;
      svg.setAttribute("viewBox", `0 0 ${round(width)} ${round(height)}`);
      svg.innerHTML = inner;
      view.cursor = document.createElementNS(svg.namespaceURI, "g");
      view.cursor.setAttribute("pointer-events", "none");
      svg.append(view.cursor);
    }

    // Content of the SVG of a panel, and its height.
    inside(view) {
      const { panel, width } = view, plain = view.height, size = width < SMALL ? 9 : 11;
      const longest = (labels) => Math.max(0, ...labels.map((label) => wide(label, size)));
      const names = panel.ytl ?? [];
      const numbers = width < SMALL && !names.length ? longest(d3.scaleLinear(panel.y, [0, 1]).ticks(3).map(shown)) + 8 : 40;
      const left = Math.min(names.length ? longest(names) + 8 : numbers, 0.55 * width), top = 5;
      const beside = panel.marks.filter((mark) => mark.k === "text" && !mark.u && !mark.t && mark.at[0] > panel.x[1]).map((mark) => mark.text);
      const right = 12 + (beside.length ? longest(beside) : 0);
      const label = panel.xl && !this.one ? wrapped(panel.xl, size, width) : [];
      const depths = [...panel.marks.filter((mark) => mark.u).map((mark) => mark.k === "text" ? mark.at[1] : Math.min(...mark.y.filter(Number.isFinite))), ...(panel.strips ?? []).map((strip) => strip.bottom)];
      const under = depths.length ? 4 - INCH * Math.min(...depths) : 0;  // height of what stands below the panel
      const below = under + (panel.upright ? longest(panel.xtl ?? []) + 8 : 18) + 14 * label.length;
      const bottom = top + plain;
      let xends = this.domain(panel), yends = panel.y;
      if (panel.equal) {
        const spans = [xends[1] - xends[0], yends[1] - yends[0]], each = Math.max(spans[0] / (width - left - right), spans[1] / plain);
        const longer = (ends, pixels) => { const middle = (ends[0] + ends[1]) / 2; return [middle - each * pixels / 2, middle + each * pixels / 2]; };
        [xends, yends] = [longer(xends, width - left - right), longer(yends, plain)];
      }
      const x = view.x = d3.scaleLinear(xends, [left, width - right]), y = view.y = d3.scaleLinear(yends, [bottom, top]);
      Object.assign(view, { left, top, bottom, right: width - right });
      const clip = `clip${clips++}`, out = [`<clipPath id="${clip}"><rect x="${round(left)}" y="${top}" width="${round(width - right - left)}" height="${round(plain)}"/></clipPath>`];

      const [low, high] = [Math.min(...xends), Math.max(...xends)];
      const count = Math.max(2, Math.floor((width - left - right) / 55));
      let places = panel.xt && !zoomed.has(panel.key) ? panel.xt : x.ticks(count);
      if (!panel.xtl) while (places.length > 3 && (width - left - right) / (places.length - 1) < 26) places = places.filter((_, k) => k % 2 === 0);
      const words = panel.xtl ?? places.map(panel.xt && !zoomed.has(panel.key) ? String : x.tickFormat(count));
      places.forEach((place, k) => {
        if (place < low - 1e-9 || place > high + 1e-9) return;
        const at = round(x(place));
        if (!panel.xtl) out.push(`<path d="M${at} ${top}V${bottom}" stroke="${RULE}" stroke-width=".6"/>`);
        out.push(panel.upright
          ? `<text transform="translate(${round(at + 4)} ${round(bottom + under + 5)}) rotate(-90)" text-anchor="end" font-size="${size}" fill="${TEXT}">${escape(words[k])}</text>`
          : `<text x="${at}" y="${round(bottom + under + 13)}" text-anchor="middle" font-size="${size}" fill="${TEXT}">${escape(words[k])}</text>`);
      });
      const steps = Math.max(2, Math.floor(plain / 34)), rows = panel.yt ?? y.ticks(steps), texts = panel.ytl ?? rows.map(y.tickFormat(steps));
      rows.forEach((place, k) => {
        const at = round(y(place));
        if (!panel.ytl) out.push(`<path d="M${round(left)} ${at}H${round(width - right)}" stroke="${RULE}" stroke-width=".6"/>`);
        out.push(`<text x="${round(left - 4)}" y="${round(at + 4)}" text-anchor="end" font-size="${size}" fill="${TEXT}">${escape(texts[k])}</text>`);
      });
      label.forEach((text, k) => out.push(`<text x="${round((left + width - right) / 2)}" y="${round(bottom + below - 14 * (label.length - 1 - k) - 3)}" text-anchor="middle" font-size="${size}" fill="${TEXT}">${escape(text)}</text>`));
      out.push(`<g clip-path="url(#${clip})">`);
      const free = [];  // signs on the edge are not cut
      for (const mark of panel.marks) if (this.drawn(mark)) ((mark.k === "line" && mark.m) || mark.k === "text" || mark.u ? free : out).push(this.mark(mark, view));
      out.push("</g>", ...free, `<path d="M${round(left)} ${top}V${bottom}H${round(width - right)}" fill="none" stroke="${AXIS}"/>`);
      for (const strip of panel.strips ?? []) {
        const low = bottom - INCH * strip.bottom, high = low - INCH * strip.height;
        const own = { panel: strip, x, y: d3.scaleLinear(strip.y, [low, high]), top: high, bottom: low, left, right: width - right };
        const cut = `clip${clips++}`;
        out.push(`<clipPath id="${cut}"><rect x="${round(left)}" y="${round(high)}" width="${round(width - right - left)}" height="${round(low - high)}"/></clipPath>`,
          `<g clip-path="url(#${cut})">`, ...strip.marks.filter((mark) => this.drawn(mark)).map((mark) => this.mark(mark, own)), "</g>",
          `<path d="M${round(left)} ${round(high)}V${round(low)}H${round(width - right)}" fill="none" stroke="${AXIS}" stroke-width=".7"/>`);
        (strip.yt ?? []).forEach((place, k) => out.push(`<text x="${round(left - 4)}" y="${round(own.y(place) + 3)}" text-anchor="end" font-size="9" fill="${TEXT}">${escape(strip.ytl?.[k] ?? place)}</text>`));
      }
      return [out.join(""), bottom + below];
    }

    mark(mark, view) {
      const { top, bottom, left, right, panel } = view, share = (value) => bottom - value * (bottom - top);
      const along = (value) => view.x(panel.x[0] + value * (panel.x[1] - panel.x[0]));  // from shares of the whole axis
      const x = mark.u || mark.t ? along : view.x, y = view.y, up = mark.u ? (value) => bottom - INCH * value : mark.h || mark.t ? share : y;
      switch (mark.k) {
        case "line": {
          const line = d3.line((_, k) => x(mark.x[k]), (value) => up(value)).defined((value, k) => Number.isFinite(value) && Number.isFinite(mark.x[k])).digits(1);
          const drawn = mark.d ? `<path d="${line(mark.y) ?? ""}" ${this.stroke(mark)}/>` : "";
          const [low, high] = view.x.range(), places = mark.m ? Array.from(mark.y, (value, k) => [x(mark.x[k]), up(value)]) : [];
          return drawn + (mark.m ? this.signs(mark, places.filter(([at]) => at >= low - 1 && at <= high + 1)) : "");
        }
        case "area": {
          const area = d3.area().x((_, k) => x(mark.x[k])).y0((value) => y(value)).y1((_, k) => y(mark.y2[k])).digits(1);
          return `<path d="${area(mark.y)}" fill="${mark.c}" fill-opacity="${mark.a}"/>`;
        }
        case "rule": {
          const ends = mark.of === "x" ? (value) => `M${round(x(value))} ${top}V${bottom}` : (value) => `M${round(left)} ${round(y(value))}H${round(right)}`;
          return `<path d="${Array.from(mark.at, ends).join("")}" ${this.stroke(mark)}/>`;
        }
        case "box": {
          const boxes = [];
          for (const [x0, y0, x1, y1] of this.boxes(mark)) {
            const ends = [x0 === -Infinity ? left : x(x0), x1 === Infinity ? right : x(x1)].sort((a, b) => a - b), heights = [up(y0), up(y1)].sort((a, b) => a - b);
            const words = this.boxWords(view.panel, mark, [x0, y0, x1, y1]);
            const rect = `x="${round(ends[0])}" y="${round(heights[0])}" width="${round(ends[1] - ends[0])}" height="${round(heights[1] - heights[0])}"`;
            boxes.push(`<rect ${rect} ${this.filling(mark)}>${words ? `<title>${escape(words)}</title>` : ""}</rect>`);
            if (mark.hatch) {
              const lines = [], wide = ends[1] - ends[0];
              for (let at = heights[0]; at < heights[1] + wide; at += 5) lines.push(`M${round(ends[0])} ${round(Math.min(at, heights[1]))}L${round(Math.min(ends[1], ends[0] + at - heights[0]))} ${round(Math.max(heights[0], at - wide))}`);
              boxes.push(`<path d="${lines.join("")}" stroke="#fff" stroke-width="1.6" pointer-events="none"/>`);
            }
          }
          return boxes.join("");
        }
        case "text":
          return `<text x="${round(x(mark.at[0]))}" y="${round(up(mark.at[1]) + 4)}" text-anchor="${{ right: "end", center: "middle" }[mark.to] ?? "start"}" font-size="${mark.u ? 9 : 10}" fill="${mark.c ?? AXIS}">${escape(mark.text)}</text>`;
      }
      return "";
    }

    boxWords(panel, mark, [x0, y0, x1, y1]) {
      const named = (places, labels, middle) => labels?.[places.reduce((best, place, k) => Math.abs(place - middle) < Math.abs(places[best] - middle) ? k : best, 0)];
      if (panel.ytl) return `${named(panel.yt, panel.ytl, (y0 + y1) / 2)}, ${mark.s}: ${shown(x1 - x0)}`;
      if (panel.xtl) return `${named(panel.xt, panel.xtl, (x0 + x1) / 2)}, ${mark.s}: ${shown(y1)}`;
      return x0 === -Infinity ? `${mark.s}: ${shown(y0)} to ${shown(y1)}` : mark.s ?? "";
    }

    stroke(mark) {
      const width = POINT * (mark.w ?? 1), dashes = mark.d?.length ? ` stroke-dasharray="${mark.d.map((part) => round(part * width))}"` : "";
      return `fill="none" stroke="${mark.c}" stroke-width="${round(width)}" stroke-opacity="${mark.a}" stroke-linejoin="round"${dashes}`;
    }

    filling(mark) {
      const edge = mark.edge && !mark.hatch ? ` stroke="${mark.edge}" stroke-width="${POINT * (mark.w ?? 1)}"` : "";
      return `fill="${mark.f ?? mark.c ?? "none"}" fill-opacity="${mark.a}"${edge}`;
    }

    signs(mark, places) {
      const half = round(POINT * mark.ms / 2), sign = {
        x: (x, y) => `M${x - half} ${y - half}l${2 * half} ${2 * half}M${x - half} ${y + half}l${2 * half} ${-2 * half}`,
        "|": (x, y) => `M${x} ${y - half}v${2 * half}`,
        _: (x, y) => `M${x - half} ${y}h${2 * half}`,
        o: (x, y) => `M${x - half} ${y}a${half} ${half} 0 1 0 ${2 * half} 0a${half} ${half} 0 1 0 ${-2 * half} 0`,
        D: (x, y) => `M${x - half} ${y}l${half} ${-half}l${half} ${half}l${-half} ${half}z`,
      }[mark.m];
      const filled = "oD".includes(mark.m) ? `fill="${mark.c}"` : `fill="none" stroke="${mark.c}" stroke-width="${POINT}"`;
      return `<path d="${places.filter(([x, y]) => Number.isFinite(x + y)).map(([x, y]) => sign(round(x), round(y))).join("")}" ${filled}/>`;
    }

    // ---- pointer: values and zoom

    listen(view) {
      const { svg, panel } = view;
      const across = (event) => {
        const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) * view.width / box.width;
        return Math.min(Math.max(at, view.left), view.right);
      };
      let begun = null;
      svg.addEventListener("pointerdown", (event) => { if (event.button === 0) begun = across(event); });
      svg.addEventListener("pointermove", (event) => {
        const at = across(event);
        this.show(view.x.invert(at));
        this.tell(view, event);
        if (begun !== null && event.buttons & 1 && Math.abs(at - begun) > 4) {
          svg.setPointerCapture(event.pointerId);
          const from = Math.min(at, begun);
          view.cursor.innerHTML = `<rect class="chart-drag" x="${from}" y="${view.top}" width="${Math.abs(at - begun)}" height="${view.bottom - view.top}" fill="#0b5a94" fill-opacity=".15"/>`;
        }
      });
      svg.addEventListener("pointerup", (event) => {
        const at = across(event), ends = begun === null ? [] : [begun, at].sort((a, b) => a - b).map((each) => view.x.invert(each));
        const far = begun !== null && Math.abs(at - begun) > 8;
        begun = null;
        if (far) this.zoom(panel, ends);
      });
      svg.addEventListener("pointercancel", () => { begun = null; });
      svg.addEventListener("pointerleave", () => { this.show(null); this.tip.hidden = true; });
      svg.addEventListener("dblclick", () => this.zoom(panel, null));
    }

    zoom(panel, ends) {
      if (ends) zoomed.set(panel.key, ends); else zoomed.delete(panel.key);
      const now = ends ?? panel.x;
      for (const chart of charts) {
        if (!chart.known.some((other) => other.key === panel.key)) continue;
        chart.ends?.forEach((input, k) => { input.value = shown(now[k]); });
        if (chart.cells) requestAnimationFrame(() => chart.draw(chart.width));
      }
    }

    // A line through every panel at a place of the axis, and the values of its curves.
    show(place) {
      this.place = place;
      if (place !== null && this.slider) this.slider.value = place;
      for (const view of this.cells ?? []) {
        const [low, high] = this.domain(view.panel);
        if (place === null || !view.panel.zooms || place < low || place > high) { view.cursor.innerHTML = ""; continue; }
        const at = round(view.x(place)), own = this.values(view.panel, place).filter((each) => !each.band);
        const dots = own.map((each) => `<circle cx="${at}" cy="${round(view.y(each.values[0]))}" r="2.6" fill="${each.color}"/>`);
        const words = own.filter((each) => !each.name.includes(APART)).slice(0, 4).map((each) => `<tspan fill="${each.color}" dx="3">■</tspan><tspan>${shown(each.values[0])}</tspan>`);
        view.cursor.innerHTML = `<path d="M${at} ${view.top}V${view.bottom}" stroke="${AXIS}" stroke-width=".8"/>${dots.join("")}` +
          `<text class="chart-values" x="${round(view.right)}" y="${view.top + 9}" text-anchor="end" font-size="10" fill="${TEXT}" stroke="#fff" stroke-width="3" paint-order="stroke">${words.join(" ")}</text>`;
      }
    }

    tell(view, event) {
      const rows = this.values(view.panel, this.place).map((each) => {
        const mark = element("span", { innerHTML: `<svg viewBox="0 0 1 1"><rect width="1" height="1" fill="${each.color}"/></svg>` });
        return element("div", {}, mark, ` ${each.name}: ${each.values.map(shown).join(" to ")}`);
      });
      this.tip.replaceChildren(element("b", { textContent: `${view.panel.across} ${shown(this.place)}` }), ...rows);
      this.tip.hidden = false;
      const body = this.body.getBoundingClientRect(), beyond = event.clientX - body.left > body.width / 2;
      this.tip.style.left = beyond ? "" : `${event.clientX - body.left + 16}px`;
      this.tip.style.right = beyond ? `${body.right - event.clientX + 16}px` : "";
      this.tip.style.top = `${event.clientY - body.top + 18}px`;
    }

    // ---- numbers and copies

    // What is drawn of each panel, by name: [panel, name, marks].
    named() {
      return this.known.flatMap((panel) => {
        const own = new Map();
        for (const mark of panel.marks) {
          if (!mark.s || mark.h || !["line", "area", "box"].includes(mark.k)) continue;
          own.set(mark.s, [...(own.get(mark.s) ?? []), mark]);
        }
        return [...own].map(([name, marks]) => [panel, name, marks]);
      });
    }

    fillTable() {
      const first = this.known.find((panel) => panel.zooms), places = first ? d3.scaleLinear().domain(first.x).ticks(8) : [];
      const rows = this.named().flatMap(([panel, name, marks]) => {
        const title = panel.name || this.title, boxes = marks.flatMap((mark) => mark.k === "box" ? this.boxes(mark) : []);
        if (boxes.length && !panel.xtl && !panel.ytl) return boxes.map(([, low, , high]) => [title, name, shown(low), shown(high)]);
        if (boxes.length) return boxes.map((box) => [title, this.boxWords(panel, marks[0], box)]);
        const known = marks.flatMap((mark) => [...mark.y, ...(mark.y2 ?? [])]).filter(Number.isFinite);
        const ends = [Math.min, Math.max].map((end) => shown(known.reduce((a, b) => end(a, b))));
        const at = (place) => this.values({ marks }, place)[0]?.values.map(shown).join(" to ") ?? "–";
        return [[title, name, ...ends, ...places.map((place) => panel.zooms ? at(place) : "")]];
      });
      const names = ["panel", "curve", "least", "greatest", ...places.map((place) => `at ${place}`)];
      const head = element("tr", {}, ...names.map((text) => element("th", { scope: "col", textContent: text })));
      const cell = (text, k) => element(k ? "td" : "th", k ? { textContent: text } : { scope: "row", textContent: text });
      const caption = element("caption", { textContent: [this.title, this.yl, first?.across].filter(Boolean).join("; ") });
      const table = element("table", {}, caption, element("thead", {}, head), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))));
      const scroll = element("div", { className: "scroll", tabIndex: 0 }, table);
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", `Table: numbers of ${this.title}`);
      this.table.replaceChildren(this.table.firstElementChild, scroll);
    }

    boxes(mark) { return Array.from({ length: mark.at.length / 4 }, (_, k) => Array.from(mark.at.subarray(4 * k, 4 * k + 4))); }

    csv() {
      const rows = [["panel", "unit", "curve", "place", "value", "upper value"]];
      for (const [panel, name, marks] of this.named()) {
        const title = panel.name ?? "";
        for (const mark of marks) {
          if (mark.k === "box") for (const box of this.boxes(mark)) rows.push([title, panel.upward, this.boxWords(panel, mark, box), "", "", ""]);
          else mark.y.forEach((value, k) => rows.push([title, panel.upward, name, mark.x[k], value, mark.y2?.[k] ?? ""]));
        }
      }
      const inert = (text) => text !== "-" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text; // no formula for a spreadsheet
      const cell = (value) => typeof value === "number" ? Number.isFinite(value) ? String(Number(value.toPrecision(7))) : "" : `"${inert(String(value)).replaceAll('"', '""')}"`;
      return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
    }

    // The whole figure as one SVG.
    svg() {
      const width = Math.max(this.width ?? 0, 600), margin = 10, out = [];
      let y = margin;
      const texts = (text, size, color, x, room) => {
        for (const each of wrapped(text, size, room)) { y += 1.25 * size; out.push(`<text x="${x}" y="${round(y)}" font-size="${size}" fill="${color}">${escape(each)}</text>`); }
      };
      texts(this.title, 15, TEXT, margin, width - 2 * margin);
      for (const note of this.notes) texts(note, 10, AXIS, margin, width - 2 * margin);
      y += 8;
      let x = margin;
      for (const entry of this.legend) {
        const off = this.hidden.has(entry.of || entry.text), room = 34 + wide(entry.text, 11);
        if (off) continue;
        if (x + room > width - margin && x > margin) { x = margin; y += 18; }
        out.push(`<g transform="translate(${x} ${round(y)})">${this.sample(entry.keys)}<text x="30" y="11" font-size="11" fill="${TEXT}">${escape(entry.text)}</text></g>`);
        x += room + 10;
      }
      y += 26;
      const columns = this.columnsIn(width), across = (width - 2 * margin - (columns - 1) * GAP) / columns;
      let column = 0, row = [];
      const finish = () => {
        const above = Math.max(0, ...row.map((each) => each.head.length)) * 13, tall = Math.max(0, ...row.map((each) => each.height));
        for (const { at, head, inner } of row) {
          head.forEach(([text, size, color], k) => out.push(`<text x="${round(at)}" y="${round(y + above - 13 * (head.length - k) + 10)}" font-size="${size}" fill="${color}">${escape(text)}</text>`));
          out.push(`<g transform="translate(${round(at)} ${round(y + above)})">${inner}</g>`);
        }
        y += above + tall + 8;
        [column, row] = [0, []];
      };
      for (const panel of this.known.filter((each) => !this.left.has(each.number))) {
        const span = Math.min(panel.columns ?? 1, columns);
        if (column + span > columns) finish();
        const own = span * across + (span - 1) * GAP, view = { panel, width: own, height: this.cells?.[0]?.height ?? 120 };
        const [inner, height] = this.inside(view);
        const unit = panel.upward !== this.yl ? panel.upward : "";
        const head = [...wrapped(`${panel.name ?? ""} ${unit ?? ""}`.trim(), 11, own).map((text) => [text, 11, TEXT]),
          ...[panel.note, panel.right].filter(Boolean).flatMap((text) => wrapped(text, 9.5, own).map((line) => [line, 9.5, AXIS]))];
        row.push({ at: margin + column * (across + GAP), head, inner, height });
        column += span;
      }
      if (row.length) finish();
      const labels = [...new Set(this.known.map((panel) => panel.across))];
      if (this.one) texts(`Horizontal: ${labels[0]}`, 10.5, TEXT, margin, width - 2 * margin);
      if (this.yl) texts(`Vertical: ${this.yl}`, 10.5, TEXT, margin, width - 2 * margin);
      const height = Math.ceil(y + margin);
      return { width, height, text: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${FONT}><rect width="100%" height="100%" fill="#fff"/>${out.join("")}</svg>` };
    }

    async content(kind) {
      if (kind === "text/csv") return new Blob([this.csv()], { type: kind });
      const { width, height, text } = this.svg();
      if (kind === "image/svg+xml") return new Blob([text], { type: kind });
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      await image.decode();
      const canvas = element("canvas", { width: 2 * width, height: 2 * height });
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
      return new Promise((resolve) => canvas.toBlob(resolve, kind));
    }

    // To the clipboard; as a file where the browser does not let it.
    async copy(kind) {
      const content = await this.content(kind);
      try {
        if (kind === "image/png") await navigator.clipboard.write([new ClipboardItem({ [kind]: content })]);
        else await navigator.clipboard.writeText(await content.text());
        return "Copied";
      } catch {
        const address = URL.createObjectURL(content), ending = { "image/png": "png", "image/svg+xml": "svg", "text/csv": "csv" }[kind];
        element("a", { href: address, download: `${this.figure.id || "figure"}.${ending}` }).click();
        setTimeout(() => URL.revokeObjectURL(address), 1000);
        return "Saved as a file";
      }
    }
  }

  // ---- the page

  const PAPER = 900;
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
  }, { rootMargin: "800px" });
  const resized = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      const chart = target.chart;
      if (chart?.cells && !chart.paper && Math.abs(contentRect.width - chart.width) > 4) chart.draw(contentRect.width);
    }
  });
  const draw = (figure, width) => {
    if (!figure.chart) {
      figure.chart = figure.querySelector(".chart-body").chart = new Chart(figure);
      charts.push(figure.chart);
      resized.observe(figure.chart.body);
    }
    if (width || !figure.chart.cells) figure.chart.draw(width);
  };
  const every = () => document.querySelectorAll("figure.chart");
  const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  const look = (root = document) => {
    const waiting = [...root.querySelectorAll("figure.chart")];
    waiting.forEach((figure) => seen.observe(figure));
    // what is not seen yet is drawn while the browser waits, for those who search and read by other means
    const next = () => {
      const figure = waiting.find((each) => !each.chart && each.offsetWidth);
      if (figure) { draw(figure); idle(next); }
    };
    idle(next);
  };
  const paper = (on) => every().forEach((figure) => {
    if (on) { if (figure.chart) figure.chart.paper = true; draw(figure, PAPER); figure.chart.paper = true; }
    else if (figure.chart) { figure.chart.paper = false; figure.chart.draw(); }
  });
  addEventListener("beforeprint", () => paper(true));
  addEventListener("afterprint", () => paper(false));
  globalThis.musclesolveCharts = { look };
  look();
})();
