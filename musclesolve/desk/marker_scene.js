// Markers in three dimensions on a plain canvas: some hundred points and lines need no WebGL, which software renders
// slowly where there is no graphics card.
//
// Axes: x forward, y left, z up [m]. The camera looks at `moment.center` from azimuth `turn` (0: from in front of the subject) and
// height `tilt` [rad]; u (right) and v (up) are its axes of the picture, w points towards it.

const START = { turn: -0.6, tilt: 0.22, zoom: 1.0, x: 0.0, y: 0.0 };
let camera = { ...START }; // stays when the page draws the step anew
const NEAR = 14; // a click so near to a marker is on it [px]
const DISTANCE = 5.0; // of the camera, in heights of the subject: a long lens, so that sides can be compared
const SPACING = 0.5; // of the lines on the floor [m]

export default {
  template: `
    <canvas ref="canvas" tabindex="0" role="img" :aria-label="label" style="display:block;width:100%;height:100%;touch-action:none"
      @pointerdown="down" @pointermove="move" @pointerup="up" @pointerleave="leave" @wheel="wheel" @keydown="key"
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
    colors: Object, // by kind
    moment: Object, // { markers: [[x, y, z] or null], landmarks: [same], center: [x, y, z] }
  },
  data: () => ({ hovered: null }),
  mounted() {
    this.seen = [];
    this.grip = null;
    this.watching = new ResizeObserver(() => this.draw());
    this.watching.observe(this.$refs.canvas);
    this.$watch(() => [this.$props, this.hovered], () => this.draw(), { deep: true });
    this.draw();
  },
  beforeUnmount() {
    this.watching.disconnect();
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
    zoom(factor) {
      camera.zoom = Math.min(20, Math.max(0.3, camera.zoom * factor));
      this.draw();
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
      this.way = {
        ct: Math.cos(turn + this.facing), st: Math.sin(turn + this.facing), ce: Math.cos(tilt), se: Math.sin(tilt),
        center: this.moment.center, far: DISTANCE * this.height,
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
      pen.strokeStyle = "#dfe4ea";
      pen.lineWidth = 1;
      for (let k = -4; k <= 4; k++) {
        this.line(pen, [x + k * SPACING, y - 2, z], [x + k * SPACING, y + 2, z]);
        this.line(pen, [x - 2, y + k * SPACING, z], [x + 2, y + k * SPACING, z]);
      }
      if (!this.ahead) return;
      const [cx, cy] = this.moment.center;
      const [from, tip] = [[cx + 0.3, cy, z], [cx + 0.75, cy, z]];
      pen.strokeStyle = pen.fillStyle = "#3c4650";
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
        pen.strokeStyle = this.colors[kind];
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
        pen.fillStyle = this.colors[kind];
        pen.fill();
        pen.strokeStyle = "#fff";
        pen.lineWidth = 1;
        pen.stroke();
        if (stands || this.offered.includes(name) || name === this.hovered) {
          pen.beginPath();
          pen.arc(u, v, 9, 0, 2 * Math.PI);
          pen.setLineDash(stands || name === this.hovered ? [] : [3, 2]);
          pen.strokeStyle = stands ? "#8a1c1c" : this.offered.includes(name) ? "#7a5200" : "#1d232b";
          pen.lineWidth = 2;
          pen.stroke();
          pen.setLineDash([]);
        }
      }
      this.words(pen, width);
    },
    words(pen, width) {
      // Names that are asked for first, then those of the nearest markers, as far as there is room.
      const first = new Set([this.hovered, this.selected, ...this.marked, ...this.offered]);
      const asked = this.seen.filter(([k]) => first.has(this.names[k]));
      const others = this.all ? this.seen.filter(([k]) => !first.has(this.names[k])).reverse() : [];
      const taken = [];
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.lineJoin = "round";
      for (const [k, u, v] of [...asked, ...others]) {
        const name = this.names[k];
        const long = pen.measureText(name).width;
        const left = u + 10 + long > width ? u - 10 - long : u + 10;
        const box = [left, v - 7, left + long, v + 7];
        const meets = taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
        if (meets && !first.has(name)) continue;
        taken.push(box);
        pen.strokeStyle = "rgba(255,255,255,0.9)";
        pen.lineWidth = 4;
        pen.strokeText(name, left, v);
        pen.fillStyle = "#1d232b";
        pen.fillText(name, left, v);
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
        pen.strokeStyle = pen.fillStyle = "#5b6672";
        pen.beginPath();
        pen.moveTo(u, v);
        pen.lineTo(u + 26 * right, v - 26 * up);
        pen.stroke();
        pen.fillText("xyz"[k], u + 33 * right - 3, v - 33 * up + 4);
      });
    },
    nearest(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      let [best, distance] = [null, NEAR];
      for (const [k, u, v] of this.seen) {
        const away = Math.hypot(u - x, v - y);
        if (away <= distance) [best, distance] = [this.names[k], away];
      }
      return best;
    },
    down(event) {
      this.$refs.canvas.setPointerCapture(event.pointerId);
      this.grip = { x: event.clientX, y: event.clientY, moved: 0, shifts: event.shiftKey || event.button === 2 };
    },
    move(event) {
      if (!this.grip) {
        this.hovered = this.nearest(event);
        this.$refs.canvas.style.cursor = this.hovered ? "pointer" : "grab";
        return;
      }
      const [x, y] = [event.clientX - this.grip.x, event.clientY - this.grip.y];
      Object.assign(this.grip, { x: event.clientX, y: event.clientY, moved: this.grip.moved + Math.hypot(x, y) });
      if (this.grip.moved < 4) return;
      if (this.grip.shifts) {
        camera.x += x;
        camera.y += y;
      } else {
        camera.turn -= 0.009 * x;
        camera.tilt = Math.min(1.57, Math.max(-0.3, camera.tilt + 0.009 * y));
      }
      this.draw();
    },
    up(event) {
      const click = this.grip && this.grip.moved < 4;
      this.grip = null;
      if (click) this.$emit("pick", { name: this.nearest(event) });
    },
    leave() {
      this.hovered = null;
    },
    wheel(event) {
      // Without the focus the wheel scrolls the page.
      if (document.activeElement !== this.$refs.canvas && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-0.0012 * event.deltaY));
    },
    key(event) {
      const turns = { ArrowLeft: [0.12, 0], ArrowRight: [-0.12, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08] };
      if (turns[event.key]) {
        camera.turn += turns[event.key][0];
        camera.tilt = Math.min(1.57, Math.max(-0.3, camera.tilt + turns[event.key][1]));
        this.draw();
      } else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 1.2 : 1 / 1.2);
      else if (event.key === "Home") this.home();
      else return;
      event.preventDefault();
    },
  },
};
