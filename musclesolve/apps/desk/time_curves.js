// Curves over time with handles on them that are dragged, or moved by the arrow keys: 10 ms, with Shift 1 ms.
export default {
  template: `
  <figure class="ms-curves" :aria-label="label">
    <svg ref="svg" :width="width" :height="height" @click="pick" role="group" :aria-label="label">
      <g class="ms-grid">
        <template v-for="y in yTicks" :key="'y' + y">
          <line :x1="left" :x2="width - right" :y1="py(y)" :y2="py(y)"></line>
          <text :x="left - 6" :y="py(y) + 4" text-anchor="end">{{ y }}</text>
        </template>
        <template v-for="t in tTicks" :key="'t' + t">
          <line :x1="px(t)" :x2="px(t)" :y1="top" :y2="height - bottom"></line>
          <text :x="px(t)" :y="height - bottom + 15" text-anchor="middle">{{ t }}</text>
        </template>
        <text :x="width - right" :y="height - 4" text-anchor="end">time [s]</text>
        <text :x="4" :y="12">{{ unit }}</text>
      </g>
      <rect v-for="(span, k) in outside" :key="'o' + k" class="ms-outside" :x="px(span[0])" :y="top"
        :width="Math.max(0, px(span[1]) - px(span[0]))" :height="height - top - bottom"></rect>
      <path v-for="curve in curves" :key="curve.name" :d="path(curve)" :stroke="curve.color" fill="none"
        stroke-width="1.8"></path>
      <g v-for="handle in shown" :key="handle.id" :data-focus="handle.id" class="ms-handle" :class="{ 'ms-fixed': !handle.movable }"
        :tabindex="handle.movable ? 0 : -1" role="slider" :aria-label="handle.label" :aria-valuenow="handle.time.toFixed(3)"
        :aria-valuemin="span[0]" :aria-valuemax="span[1]" :aria-valuetext="handle.time.toFixed(3) + ' s'"
        @pointerdown="take($event, handle)" @keydown="key($event, handle)" @click.stop>
        <title>{{ handle.label }}: {{ handle.time.toFixed(3) }} s</title>
        <line class="ms-grip" :x1="px(handle.time)" :x2="px(handle.time)" :y1="18 + 14 * handle.row" :y2="height - bottom"></line>
        <line :x1="px(handle.time)" :x2="px(handle.time)" :y1="18 + 14 * handle.row" :y2="height - bottom" :stroke="handle.color"
          :stroke-dasharray="handle.dashed ? '4 3' : null" stroke-width="2"></line>
        <path :d="flag(handle)" :fill="handle.color"></path>
      </g>
      <g aria-hidden="true">
        <template v-for="handle in shown" :key="'f' + handle.id">
          <text v-if="flags[handle.id]" class="ms-flag" :class="{ 'ms-held': handle.movable }" @pointerdown="take($event, handle)" @click.stop :x="px(handle.time) + 5 * flags[handle.id]" :y="28 + 14 * handle.row"
            :text-anchor="flags[handle.id] < 0 ? 'end' : 'start'" :fill="handle.color">{{ handle.short }}</text>
        </template>
      </g>
      <line v-if="cursor !== null" class="ms-cursor" :x1="px(cursor)" :x2="px(cursor)" :y1="top" :y2="height - bottom"></line>
    </svg>
    <figcaption>
      <span v-for="curve in curves" :key="curve.name"><i :style="{ background: curve.color }"></i>{{ curve.name }}</span>
    </figcaption>
  </figure>`,
  props: {
    label: String, unit: String, curves: Array, span: Array, largest: Number, handles: Array, outside: Array,
    cursor: { default: null }, height: { default: 260 },
  },
  data() { return { width: 900, left: 52, right: 14, bottom: 36, moving: null }; },
  computed: {
    top() { return 20 + 14 * this.handles.reduce((most, each) => Math.max(most, each.row + 1), 0); },
    // By time: so the Tab key goes through them.
    shown() { return [...this.handles].sort((a, b) => a.time - b.time).map((each) => (this.moving && this.moving.id === each.id ? { ...each, time: this.moving.time } : each)); },
    // Side of the line on which the short name of each handle stands: 1 right, -1 left; 0: there is no room for it.
    flags() {
      const end = {}, found = {};
      for (const { id, time, short, row, turned } of this.shown) {
        const x = this.px(time), wide = 8 * short.length + 5, side = turned || x + wide > this.width ? -1 : 1;
        const from = side < 0 ? x - wide : x, fits = from >= (end[row] ?? 0);
        found[id] = fits ? side : 0;
        if (fits) end[row] = from + wide;
      }
      return found;
    },
    yTicks() { return this.ticks(0, this.largest, 4); },
    tTicks() { return this.ticks(this.span[0], this.span[1], Math.max(3, Math.floor(this.width / 110))); },
  },
  mounted() {
    this.observer = new ResizeObserver(() => { this.width = Math.max(280, this.$el.clientWidth); });
    this.observer.observe(this.$el);
  },
  unmounted() { this.observer.disconnect(); },
  methods: {
    px(t) { return this.left + ((t - this.span[0]) / (this.span[1] - this.span[0])) * (this.width - this.left - this.right); },
    py(v) { return this.height - this.bottom - (v / this.largest) * (this.height - this.top - this.bottom); },
    ticks(low, high, count) {
      const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find((each) => each * power >= rough), found = [];
      for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toFixed(6)));
      return found;
    },
    path(curve) {
      let text = "", pen = false;
      for (let k = 0; k < curve.time.length; k++) {
        const value = curve.value[k];
        if (value === null) { pen = false; continue; }
        text += (pen ? "L" : "M") + this.px(curve.time[k]).toFixed(1) + " " + this.py(Math.min(value, this.largest)).toFixed(1);
        pen = true;
      }
      return text;
    },
    flag(handle) {
      const x = this.px(handle.time), y = this.height - this.bottom;
      return `M${x - 6} ${y}L${x + 6} ${y}L${x} ${y - 9}Z`;
    },
    timeAt(event) {
      const x = event.clientX - this.$refs.svg.getBoundingClientRect().left;
      const t = this.span[0] + ((x - this.left) / (this.width - this.left - this.right)) * (this.span[1] - this.span[0]);
      return Math.min(this.span[1], Math.max(this.span[0], t));
    },
    pick(event) { this.$emit("picked", { time: Number(this.timeAt(event).toFixed(3)) }); },
    take(event, handle) {
      if (!handle.movable || event.button !== 0) return;
      const target = event.currentTarget, offset = handle.time - this.timeAt(event);
      target.setPointerCapture(event.pointerId);
      (this.$refs.svg.querySelector(`[data-focus="${handle.id}"]`) ?? target).focus();
      event.preventDefault();
      this.moving = { id: handle.id, time: handle.time };
      const move = (each) => { this.moving = { id: handle.id, time: this.bounded(handle, this.timeAt(each) + offset) }; };
      const drop = () => {
        target.removeEventListener("pointermove", move);
        const { time } = this.moving;
        if (Math.abs(time - handle.time) > 5e-4) this.$emit("moved", { id: handle.id, time });
        else this.moving = null;
      };
      target.addEventListener("pointermove", move);
      target.addEventListener("pointerup", drop, { once: true });
      target.addEventListener("pointercancel", drop, { once: true });
    },
    key(event, handle) {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!way || !handle.movable) {
        if ((event.key === "Delete" || event.key === "Backspace") && handle.movable) {
          event.preventDefault();
          this.$emit("removed", { id: handle.id });
        }
        return;
      }
      event.preventDefault();
      const time = this.bounded(handle, handle.time + way * (event.shiftKey ? 0.001 : 0.01));
      this.moving = { id: handle.id, time };
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.$emit("moved", { id: handle.id, time }), 350);
    },
    bounded(handle, time) {
      const low = handle.low === null ? this.span[0] : handle.low, high = handle.high === null ? this.span[1] : handle.high;
      return Number(Math.min(high, Math.max(low, time)).toFixed(3));
    },
  },
  watch: { handles() { this.moving = null; } },
};
