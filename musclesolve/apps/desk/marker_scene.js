// Markers in three dimensions on a plain canvas: some hundred points and lines need no WebGL, which software renders
// slowly where there is no graphics card.
//
// Axes: x forward, y left, z up [m]. The camera looks at `moment.center` from azimuth `turn` (0: from in front of the subject) and
// height `tilt` [rad]; u (right) and v (up) are its axes of the picture, w points toward it.

// `x`, `y`: how far the picture is moved [px]; `from`: what the camera looks at and turns about, from `moment.center` [m].
const START = { turn: -0.6, tilt: 0.22, zoom: 1.0, x: 0.0, y: 0.0, from: [0, 0, 0] };
let camera = { ...START }; // stays when the page draws the step anew
const NEAR = 14; // a click so near to a marker is on it [px]
const APART = 7; // markers that are less far apart, seen from a click, cannot be told apart by it [px]
const LARGEST = 60; // zoom: 10 mm are some 100 px
const VISIT = 260; // a landmark that is chosen comes into view within this time [ms]
const DISTANCE = 5.0; // of the camera, in heights of the subject: a long lens, so that sides can be compared
const SPACING = 0.5; // of the lines on the floor [m]

export default {
  template: `
    <canvas ref="canvas" tabindex="0" role="img" :aria-label="label" style="display:block;width:100%;height:100%;touch-action:none"
      @pointerdown="down" @pointermove="move" @pointerup="up" @pointercancel="up" @pointerleave="leave" @wheel="wheel"
      @keydown="key"
      @contextmenu.prevent></canvas>`,
  props: {
    label: String,
    names: Array, // of the markers
    kinds: Array, // of the markers: "r", "l", "m" (mapped, without side), "" (not mapped)
    lines: Array, // [index of a landmark, index of a landmark, kind]
    axes: Array, // of the file, in those of the picture: three vectors
    ahead: Boolean, // whether the walking direction is known
    floor: Number,
    facing: Number, // the way the subject faces, from x about z [rad]: the camera turns about the body from there
    height: Number,
    selected: String, // marker
    marked: Array, // markers to point out
    offered: Array, // markers that are suggested
    all: Boolean, // whether every name is shown
    shifts: Boolean, // whether dragging moves the picture instead of turning it
    colors: Object, // by kind
    moment: Object, // { markers: [[x, y, z] or null], landmarks: [same], center: [x, y, z] }
  },
  data: () => ({ hovered: [] }),
  mounted() {
    this.seen = [];
    this.grip = null;
    this.fingers = new Map();
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.scheme.addEventListener("change", this.draw);
    this.watching = new ResizeObserver(() => this.draw());
    this.watching.observe(this.$refs.canvas);
    this.$watch(() => [this.$props, this.hovered], () => this.draw(), { deep: true });
    this.draw();
  },
  beforeUnmount() {
    this.watching.disconnect();
    this.scheme.removeEventListener("change", this.draw);
    cancelAnimationFrame(this.moving);
  },
  methods: {
    look(turn, tilt = 0.05) {
      Object.assign(camera, START, { turn, tilt });
      this.draw();
    },
    home() {
      camera = { ...START };
      this.draw();
    },
    // Zoom about a point of the picture, its middle unless given [px].
    zoom(factor, at = null) {
      const before = camera.zoom;
      camera.zoom = Math.min(LARGEST, Math.max(0.3, before * factor));
      const [width, height] = [this.$refs.canvas.clientWidth, this.$refs.canvas.clientHeight];
      const [u, v] = at ? [at[0] - width / 2, at[1] - height / 2] : [0, 0];
      camera.x = u - (u - camera.x) * (camera.zoom / before);
      camera.y = v - (v - camera.y) * (camera.zoom / before);
      this.draw();
    },
    shift(x, y) {
      camera.x += x;
      camera.y += y;
      this.draw();
    },
    turn(x, y) {
      camera.turn += x;
      camera.tilt = Math.min(1.57, Math.max(-0.3, camera.tilt + y));
      this.draw();
    },
    // Bring a place [m] into the middle, with so much around it [m]; the whole body without a place.
    visit(place, around) {
      const from = { ...camera };
      const to = {
        ...camera, x: 0, y: 0, from: place ? place.map((value, k) => value - this.moment.center[k]) : START.from,
        zoom: place ? Math.min(LARGEST, Math.max(0.3, this.height / around)) : START.zoom,
      };
      const begun = performance.now();
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      cancelAnimationFrame(this.moving);
      const step = (now) => {
        const way = still ? 1 : Math.min(1, Math.max(0, (now - begun) / VISIT));
        const share = way * way * (3 - 2 * way);
        const between = (one, other) => one + share * (other - one);
        camera = {
          ...to, x: between(from.x, 0), y: between(from.y, 0), from: from.from.map((value, k) => between(value, to.from[k])),
          zoom: from.zoom * (to.zoom / from.zoom) ** share,
        };
        this.draw();
        if (way < 1) this.moving = requestAnimationFrame(step);
      };
      step(still ? begun + VISIT : begun);
    },
    project([x, y, z]) {
      const { ct, st, ce, se, center, far, scale, middle } = this.way;
      const [a, b, c] = [x - center[0], y - center[1], z - center[2]];
      const u = -st * a + ct * b;
      const w = ct * a + st * b;
      const deep = far - (ce * w + se * c);
      const size = (scale * far) / deep;
      return [middle[0] + u * size, middle[1] - (ce * c - se * w) * size, deep];
    },
    draw() {
      const canvas = this.$refs.canvas;
      if (!canvas || !this.moment) return;
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      const dots = window.devicePixelRatio || 1;
      if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
        canvas.width = Math.round(width * dots);
        canvas.height = Math.round(height * dots);
      }
      const pen = canvas.getContext("2d");
      pen.setTransform(dots, 0, 0, dots, 0, 0);
      pen.clearRect(0, 0, width, height);
      const { turn, tilt, zoom } = camera;
      const style = getComputedStyle(canvas);
      this.ink = (name) => style.getPropertyValue(`--${name}`).trim();
      this.paint = (color) => (color.startsWith("var(--") ? this.ink(color.slice(6, -1)) : color);
      this.way = {
        ct: Math.cos(turn + this.facing), st: Math.sin(turn + this.facing), ce: Math.cos(tilt), se: Math.sin(tilt),
        center: this.moment.center.map((value, k) => value + camera.from[k]), far: DISTANCE * this.height,
        scale: (0.78 * zoom * Math.min(height, 1.6 * width)) / this.height,
        middle: [width / 2 + camera.x, height / 2 + camera.y],
      };
      this.ground(pen);
      this.bones(pen);
      this.points(pen, width);
      this.triad(pen, height);
    },
    line(pen, from, to) {
      const [[a, b], [c, d]] = [this.project(from), this.project(to)];
      pen.beginPath();
      pen.moveTo(a, b);
      pen.lineTo(c, d);
      pen.stroke();
    },
    ground(pen) {
      const [x, y] = this.moment.center.map((value) => SPACING * Math.round(value / SPACING));
      const z = this.floor;
      pen.strokeStyle = this.ink("line");
      pen.lineWidth = 1;
      for (let k = -4; k <= 4; k++) {
        this.line(pen, [x + k * SPACING, y - 2, z], [x + k * SPACING, y + 2, z]);
        this.line(pen, [x - 2, y + k * SPACING, z], [x + 2, y + k * SPACING, z]);
      }
      if (!this.ahead) return;
      const [cx, cy] = this.moment.center;
      const [from, tip] = [[cx + 0.3, cy, z], [cx + 0.75, cy, z]];
      pen.strokeStyle = pen.fillStyle = this.ink("ink");
      pen.lineWidth = 2;
      this.line(pen, from, tip);
      this.line(pen, tip, [cx + 0.66, cy + 0.06, z]);
      this.line(pen, tip, [cx + 0.66, cy - 0.06, z]);
      const [u, v] = this.project([cx + 0.8, cy, z]);
      pen.font = "11px system-ui, sans-serif";
      pen.fillText("forward", u, v);
    },
    bones(pen) {
      pen.lineWidth = 2.5;
      for (const [one, other, kind] of this.lines) {
        const [from, to] = [this.moment.landmarks[one], this.moment.landmarks[other]];
        if (!from || !to) continue;
        pen.strokeStyle = this.paint(this.colors[kind]);
        pen.globalAlpha = 0.55;
        this.line(pen, from, to);
      }
      pen.globalAlpha = 1;
    },
    points(pen, width) {
      this.seen = [];
      this.moment.markers.forEach((place, k) => {
        if (place) this.seen.push([k, ...this.project(place)]);
      });
      this.seen.sort((one, other) => other[3] - one[3]);
      for (const [k, u, v] of this.seen) {
        const [name, kind] = [this.names[k], this.kinds[k]];
        const stands = name === this.selected || this.marked.includes(name);
        pen.beginPath();
        pen.arc(u, v, kind || stands ? 5 : 3.8, 0, 2 * Math.PI);
        pen.fillStyle = this.paint(this.colors[kind]);
        pen.fill();
        pen.strokeStyle = this.ink("paper");
        pen.lineWidth = 1;
        pen.stroke();
        const hovered = this.hovered.includes(name);
        if (stands || this.offered.includes(name) || hovered) {
          pen.beginPath();
          pen.arc(u, v, 9, 0, 2 * Math.PI);
          pen.setLineDash(stands || hovered ? [] : [3, 2]);
          pen.strokeStyle = this.ink(stands ? "bad" : this.offered.includes(name) ? "warn" : "ink");
          pen.lineWidth = 2;
          pen.stroke();
          pen.setLineDash([]);
        }
      }
      this.words(pen, width);
    },
    words(pen, width) {
      // Names that are asked for first, then those of the nearest markers, as far as there is room.
      const first = new Set([...this.hovered, this.selected, ...this.marked, ...this.offered]);
      const asked = this.seen.filter(([k]) => first.has(this.names[k]));
      const others = this.all ? this.seen.filter(([k]) => !first.has(this.names[k])).reverse() : [];
      const taken = [];
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.lineJoin = "round";
      for (const [k, u, v] of [...asked, ...others]) {
        const name = this.names[k];
        const long = pen.measureText(name).width;
        const left = u + 12 + long > width ? u - 12 - long : u + 12;
        const meets = (at) => taken.some((other) => left < other[2] && other[0] < left + long && at - 7 < other[3] && other[1] < at + 7);
        let at = v;
        // A name that is asked for stands below those that are there, with a line to its marker.
        if (first.has(name)) while (meets(at)) at += 14;
        else if (meets(at)) continue;
        taken.push([left, at - 7, left + long, at + 7]);
        if (at !== v) {
          pen.strokeStyle = this.ink("soft");
          pen.lineWidth = 1;
          pen.beginPath();
          pen.moveTo(u, v);
          pen.lineTo(left > u ? left - 2 : left + long + 2, at);
          pen.stroke();
        }
        pen.strokeStyle = this.ink("paper");
        pen.lineWidth = 4;
        pen.strokeText(name, left, at);
        pen.fillStyle = this.ink("ink");
        pen.fillText(name, left, at);
      }
      pen.textBaseline = "alphabetic";
    },
    triad(pen, height) {
      const { ct, st, ce, se } = this.way;
      const [u, v] = [40, height - 40];
      pen.font = "11px system-ui, sans-serif";
      pen.lineWidth = 2;
      this.axes.forEach(([x, y, z], k) => {
        const right = -st * x + ct * y;
        const up = ce * z - se * (ct * x + st * y);
        pen.strokeStyle = pen.fillStyle = this.ink("soft");
        pen.beginPath();
        pen.moveTo(u, v);
        pen.lineTo(u + 26 * right, v - 26 * up);
        pen.stroke();
        pen.fillText("xyz"[k], u + 33 * right - 3, v - 33 * up + 4);
      });
    },
    // Markers near a place of the screen, the nearest first, of those that cannot be told apart by it.
    near(event) {
      const [x, y] = this.at(event);
      const away = this.seen.map(([k, u, v]) => [this.names[k], Math.hypot(u - x, v - y)]).filter(([, far]) => far <= NEAR);
      away.sort((one, other) => one[1] - other[1]);
      return away.filter(([, far]) => far < away[0][1] + APART).map(([name]) => name);
    },
    at(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    },
    down(event) {
      cancelAnimationFrame(this.moving);
      this.$refs.canvas.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, this.at(event));
      const shifts = this.shifts || event.shiftKey || event.button === 2;
      this.grip = { x: event.clientX, y: event.clientY, moved: this.fingers.size > 1 ? Infinity : 0, shifts };
    },
    move(event) {
      if (!this.grip) {
        this.hovered = this.near(event);
        this.$refs.canvas.style.cursor = this.hovered.length ? "pointer" : "grab";
        return;
      }
      if (this.fingers.size === 2) return this.pinch(event);
      const [x, y] = [event.clientX - this.grip.x, event.clientY - this.grip.y];
      Object.assign(this.grip, { x: event.clientX, y: event.clientY, moved: this.grip.moved + Math.hypot(x, y) });
      if (this.grip.moved < 4) return;
      if (this.grip.shifts) this.shift(x, y);
      else this.turn(-0.009 * x, 0.009 * y);
    },
    // Two fingers: what lies between them stays there.
    pinch(event) {
      const middle = ([[a, b], [c, d]]) => [(a + c) / 2, (b + d) / 2, Math.hypot(a - c, b - d)];
      const before = middle([...this.fingers.values()]);
      this.fingers.set(event.pointerId, this.at(event));
      const after = middle([...this.fingers.values()]);
      this.shift(after[0] - before[0], after[1] - before[1]);
      if (before[2] > 0) this.zoom(after[2] / before[2], after);
    },
    up(event) {
      const click = event.type === "pointerup" && this.grip && this.grip.moved < 4;
      this.fingers.delete(event.pointerId);
      if (this.fingers.size) return;
      this.grip = null;
      if (click) {
        this.hovered = [];
        this.$emit("pick", { names: this.near(event) });
      }
    },
    leave() {
      this.hovered = [];
    },
    wheel(event) {
      // Without the focus the wheel scrolls the page; a pinch on a touchpad comes as a wheel with Ctrl.
      if (document.activeElement !== this.$refs.canvas && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp((event.ctrlKey ? -0.01 : -0.0012) * event.deltaY), this.at(event));
    },
    key(event) {
      const way = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (way && event.shiftKey) this.shift(24 * way[0], 24 * way[1]);
      else if (way) this.turn(0.12 * way[0], 0.08 * way[1]);
      else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 1.2 : 1 / 1.2);
      else if (event.key === "Home") this.home();
      else return;
      event.preventDefault();
    },
  },
};
