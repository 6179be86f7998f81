// A picture of one frame after the other, and its controls: colors, parts, views, keys. What chooses the frame is added to it.

const NAMES = 14, NEAR = 12, PRESSING = 4;  // names shown at most; how near the pointer must be to a muscle [px]; contacts listed
const PALER = 0.3;  // share of white in the colors of muscles on a dark stage

class Picture {
  // context: attributes of WebGL other than usual.
  constructor(root, data, context = {}) {
    this.root = root;
    this.find = (name) => root.querySelector(`[data-msp="${name}"]`);
    this.data = data;
    this.wholePage = root.dataset.mode !== "fragment";
    // Where other things stand around it, wheel and finger scroll past it unless it is chosen.
    const alone = root.dataset.mode === "page" && window.top === window;
    root.classList.toggle("msp-amid", !alone);
    this.frame = 0;
    this.options = { quantity: this.data.quantities[0] || null, legs: "both", muscles: true, ground: true, contact: false, names: false, shapes: true };
    this.scene = new Scene(this.find("canvas"), this.data, () => this.changed(),
      (event) => alone || event.ctrlKey || root.contains(document.activeElement), context);
    this.scheme = window.matchMedia("(prefers-color-scheme: dark)");
    this.scheme.addEventListener("change", () => this.paint(this.scheme.matches));
    this.paint(this.scheme.matches);
    this.controls();
    this.keys(this.acts());
    this.resize();
    new ResizeObserver(() => this.resize()).observe(this.find("stage"));
    this.view("reset");
  }

  // Color stage and muscles for a light or a dark page, on which the dark end of the colors would not be seen.
  paint(dark) {
    for (const each of this.data.quantities) {
      const colors = each.colors.map((color) => new THREE.Color(color).lerp(new THREE.Color(0xffffff), dark ? PALER : 0));
      each.rgb = colors.map((color) => color.toArray());
      each.shown = colors.map((color) => color.getStyle());
    }
    this.scene.paint(dark);
    this.barOf = null;
    this.changed();
  }

  controls() {
    const on = (name, event, act) => this.find(name) && this.find(name).addEventListener(event, act);
    on("quantity", "change", () => this.set("quantity", this.data.quantities[this.find("quantity").value] || null));
    on("legs", "change", () => this.set("legs", this.find("legs").value));
    for (const part of ["muscles", "ground", "contact", "names", "shapes"]) {
      on(part, "change", () => this.set(part, this.find(part).checked));
      if (this.find(part)) this.options[part] = this.find(part).checked;
    }
    for (const name of ["side", "front", "back", "reset"]) on(name, "click", () => this.view(name));
    const canvas = this.find("canvas");
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) this.find("tip").hidden = true; else this.point(event);
    });
    canvas.addEventListener("click", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => { this.find("tip").hidden = true; });
  }

  // What each key does.
  acts() {
    return { s: () => this.view("side"), f: () => this.view("front"), b: () => this.view("back"), r: () => this.view("reset") };
  }

  keys(acts) {
    (this.wholePage ? document : this.root).addEventListener("keydown", (event) => {
      const ownKeys = event.target.matches("select, input:not([type=range])") || (event.key === " " && event.target.matches("button, summary"));
      if (!acts[event.key] || ownKeys || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      acts[event.key](event);
    });
  }

  set(name, value) {
    this.options[name] = value;
    this.changed();
  }

  // From the side of the leg that is shown.
  view(name) { this.scene.view(name, this.data.legs.length > 0 && this.legsShown().every((leg) => leg.side === "l")); }

  // Draw again soon, once for several changes.
  changed() {
    if (this.waiting || !this.data) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = null; this.draw(); });
  }

  draw() {
    if (!this.scene.orbit || !this.width) return;
    this.scene.draw(this.frame, this.options);
    this.find("canvas").dataset.frame = this.frame;
    this.describe();
    this.bar();
    this.names();
  }

  resize() {
    const stage = this.find("stage");
    [this.width, this.height] = [stage.clientWidth, stage.clientHeight];
    if (!this.width || !this.height) return;
    this.scene.resize(this.width, this.height);
    if (this.scene.orbit.distance) this.draw();
  }

  legsShown() { return this.data.legs.filter((leg) => shown(leg.side, this.options.legs)); }

  // What stands under the time.
  count() { return ""; }

  // Time, place in the gait cycle and verdict of the frame.
  describe() {
    const { data, frame } = this, lost = [], unmeasured = [];
    this.find("clock").textContent = `${data.time[frame].toFixed(3)} s`;
    this.find("count").textContent = this.count();
    const rows = this.legsShown().map((leg) => {
      const verdict = data.verdict(leg, frame), percent = leg.percent[frame];
      if (verdict.kind === "none") lost.push(legName(leg));
      if (verdict.kind === "unmeasured") unmeasured.push(legName(leg));
      const place = percent === percent ? `${percent.toFixed(0)} % of the gait cycle` : "";
      const row = element("div", `msp-row msp-${verdict.kind}`);
      row.append(element("b", "", legName(leg)), " ", element("span", "", place), " ", element("i", "", verdict.text));
      return row;
    });
    if (data.simulated) rows.push(...this.pressing());
    this.find("verdict").replaceChildren(...rows);
    const alerts = [["No valid solution in this frame", lost], ["Not measured in this frame", unmeasured]]
      .filter(([, legs]) => legs.length).map(([what, legs]) => `${what}: ${legs.join(" and ")}.`);
    this.find("alert").hidden = !alerts.length;
    // without a pose there is no body whose muscles could be gray
    const seen = data.muscles.some((muscle) => !Number.isNaN(data.pathPoint(frame, muscle.first, [])[0]));
    this.find("alert").textContent = alerts.length ? `${alerts.join(" ")}${seen ? " Muscles without a force are gray." : ""}` : "";
    this.find("stage").classList.toggle("msp-lost", lost.length > 0 && lost.length === this.legsShown().length);
  }

  // The greatest contact forces of the frame, and since when and how fast their surfaces have touched.
  pressing() {
    const { data, frame } = this, { names, force } = data.ground;
    const size = (k) => Math.hypot(...force.subarray((frame * names.length + k) * 3, (frame * names.length + k) * 3 + 3));
    const pressing = names.map((name, k) => [name, size(k)]).filter(([, each]) => each > 0).sort((a, b) => b[1] - a[1]);
    const rows = pressing.slice(0, PRESSING).map(([name, newtons]) => {
      const begun = data.events.filter((event) => event.begins && event.pair === name && event.time <= data.time[frame]).pop();
      const row = element("div", "msp-row msp-good");
      row.append(element("b", "", name), " ", element("span", "", `${newtons.toPrecision(newtons < 1000 ? 2 : 3) * 1} N`), " ",
        element("i", "", begun ? `since ${begun.time.toFixed(3)} s, met at ${begun.speed.toFixed(2)} m/s` : ""));
      return row;
    });
    if (pressing.length > PRESSING) rows.push(element("div", "msp-count", `and ${pressing.length - PRESSING} more`));
    return rows;
  }

  bar() {
    const { quantity, muscles } = this.options, bar = this.find("bar");
    bar.hidden = !quantity || !muscles;
    const scale = quantity && `${quantity.key} ${quantity.low} ${quantity.high} ${quantity.below} ${quantity.above}`;
    if (bar.hidden || this.barOf === scale) return;
    this.barOf = scale;
    const number = (value) => Number(value.toPrecision(3)).toString(), unitText = quantity.unit === "1" ? "" : ` [${quantity.unit}]`;
    this.find("bar-label").textContent = quantity.label + unitText;
    this.find("bar-gray").parentElement.hidden = this.data.simulated;
    this.find("bar-gray").textContent = "no valid solution, or not measured";
    this.find("bar-colors").style.background = `linear-gradient(to right, ${quantity.shown.join(",")})`;
    this.find("bar-low").textContent = (quantity.below ? "≤ " : "") + number(quantity.low);
    this.find("bar-middle").textContent = number((quantity.low + quantity.high) / 2);
    this.find("bar-high").textContent = (quantity.above ? "≥ " : "") + number(quantity.high);
  }

  // Names of the muscles with the greatest values, where there is room.
  names() {
    const box = this.find("labels"), { quantity, legs, muscles, names } = this.options;
    const found = [];
    if (names && muscles) {
      const order = this.data.muscles.map((muscle, m) => [m, quantity ? this.data.share(quantity, this.frame, m) : 0])
        .filter(([m, share]) => shown(this.data.muscles[m].side, legs) && share === share).sort((a, b) => b[1] - a[1]);
      for (const [m] of order) {
        const muscle = this.data.muscles[m], middle = this.data.middle(this.frame, muscle);
        const at = this.scene.project(middle, this.width, this.height);
        const free = at && at[0] > 0 && at[0] < this.width - 60 && at[1] > 0 && at[1] < this.height
          && found.every((other) => Math.abs(other.at[1] - at[1]) > 15 || Math.abs(other.at[0] - at[0]) > 110);
        if (free) found.push({ at, text: muscle.label });
        if (found.length === NAMES) break;
      }
    }
    box.replaceChildren(...found.map(({ at, text }) => {
      const label = element("span", "", text);
      label.style.transform = `translate(${at[0].toFixed(0)}px, ${at[1].toFixed(0)}px)`;
      return label;
    }));
  }

  // Name and value of the muscle under the pointer.
  point(event) {
    const area = this.find("canvas").getBoundingClientRect(), at = [event.clientX - area.left, event.clientY - area.top];
    let [nearest, least] = [null, NEAR];
    this.data.muscles.forEach((muscle, m) => {
      if (!this.options.muscles || !shown(muscle.side, this.options.legs)) return;
      let before = null;
      for (let k = 0; k < muscle.count; k++) {
        const place = this.scene.project(this.data.pathPoint(this.frame, muscle.first + k, []), this.width, this.height);
        if (place && before) {
          const far = fromSegment(at, before, place);
          if (far < least) [nearest, least] = [m, far];
        }
        before = place;
      }
    });
    const tip = this.find("tip");
    tip.hidden = nearest === null;
    if (tip.hidden) return;
    const { quantity } = this.options, muscle = this.data.muscles[nearest];
    const value = quantity ? this.data.value(quantity, this.frame, nearest) : NaN;
    const unitText = !quantity || quantity.unit === "1" ? "" : ` ${quantity.unit}`;
    const side = { r: "right ", l: "left " }[muscle.side] || "", digits = quantity && quantity.high >= 100 ? 0 : 2;
    tip.textContent = `${side}${muscle.full}: ${value === value ? value.toFixed(digits) + unitText : "no value"}`;
    tip.style.transform = `translate(${Math.min(at[0] + 12, this.width - 190)}px, ${Math.max(at[1] - 30, 4)}px)`;
  }

  // Paper is light.
  print() {
    this.paint(false);
    this.draw();
    this.find("print").src = this.find("canvas").toDataURL("image/png");
    this.paint(this.scheme.matches);
  }
}

function element(kind, name, text = "") {
  const made = document.createElement(kind);
  made.className = name;
  made.textContent = text;
  return made;
}

function legName(leg) { return leg.side === "other" ? "muscles" : `${leg.label} leg`; }

function fromSegment(at, a, b) {
  const [x, y] = [b[0] - a[0], b[1] - a[1]], square = x * x + y * y;
  const share = square ? Math.min(1, Math.max(0, ((at[0] - a[0]) * x + (at[1] - a[1]) * y) / square)) : 0;
  return Math.hypot(at[0] - a[0] - share * x, at[1] - a[1] - share * y);
}

// The numbers that stand in the page.
function dataOf(root) { return new PictureData(JSON.parse(root.querySelector('[data-msp="data"]').textContent)); }

// Start a picture, or say in its place why there is none.
function start(root, make) {
  if (root.picture || root.dataset.failed) return;
  try {
    const probe = document.createElement("canvas");
    if (!(window.WebGLRenderingContext && (probe.getContext("webgl2") || probe.getContext("webgl")))) throw new Error("no WebGL");
    root.picture = make();
  } catch (error) {
    root.dataset.failed = "1";
    root.querySelector('[data-msp="failed"]').hidden = false;
    root.querySelector('[data-msp="failed"]').textContent =
      "The moving picture needs WebGL, which this browser does not offer or has switched off. "
      + "Another browser shows it; a still needs no WebGL: musclesolve picture RESULT.nc -o walk.png";
    if (error.message !== "no WebGL") throw error;
  }
}
