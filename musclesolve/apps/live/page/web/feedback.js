// Biofeedback: the value and its band in words, colors that differ for every kind of color vision, bars of steps, tones.

const PLACES = {
  in: { color: "within", words: "in the band" },
  above: { color: "beyond", words: "above the band ▲" },
  below: { color: "beyond", words: "below the band ▼" },
  open: { color: "ink", words: "" },
  unknown: { color: "soft", words: "no valid value" },
};
const SIDE_LABELS = { r: "right", l: "left" };
const STATISTICS = { now: "now", peak: "peak of each", lowest: "lowest of each", mean: "mean of each" };
const DURINGS = { stance: "contact", cycle: "gait cycle" };

function describe(settings) {
  return settings.value === "now" ? "now" : `${STATISTICS[settings.value]} ${DURINGS[settings.during]}`;
}

function bandText(settings, quantity) {
  const { low, high } = settings, unit = unitOf(quantity);
  if (low === null && high === null) return "no band";
  if (low === null) return `at most ${high} ${unit}`;
  return high === null ? `at least ${low} ${unit}` : `${low} to ${high} ${unit}`;
}

// A canvas with as many dots as the screen has for it; its pen, width and height [px], and its colors by their names in live.css.
function sheet(canvas) {
  const scale = Math.min(devicePixelRatio || 1, 2), [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  return [pen, width, height, (name) => style.getPropertyValue(`--${name}`)];
}

// A step of 1, 2 or 5 times a power of ten, of which about `count` lie in a range.
function niceStep(range, count) {
  const raw = range / count, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((each) => each * power >= raw) * power;
}

function drawBand(pen, ink, settings, at, left, right, top, bottom) {
  const { low, high } = settings;
  if (low === null && high === null) return;
  const [from, to] = [high === null ? top : Math.max(top, at(high)), low === null ? bottom : Math.min(bottom, at(low))];
  pen.fillStyle = ink("band");
  if (to > from) pen.fillRect(left, from, right - left, to - from);
  pen.strokeStyle = ink("within");
  pen.setLineDash([5, 4]);
  for (const edge of [low, high]) {
    if (edge === null || at(edge) < top - 1 || at(edge) > bottom + 1) continue;
    pen.beginPath();
    pen.moveTo(left, at(edge));
    pen.lineTo(right, at(edge));
    pen.stroke();
  }
  pen.setLineDash([]);
}

// The last steps of both legs as bars; what is out of the band has another color and a mark, what has no valid value a cross.
function drawSteps(canvas, feedback, settings, quantity) {
  const [pen, width, height, ink] = sheet(canvas), size = Math.max(12, height / 14);
  const [top, bottom, left] = [1.3 * size, height - 1.5 * size, 3.2 * size];
  const every = ["r", "l"].flatMap((side) => feedback.steps[side].map((step) => step.value));
  const known = [...every.filter((value) => value !== null), ...[settings.low, settings.high].filter((edge) => edge !== null)];
  pen.font = `${size}px system-ui, sans-serif`;
  pen.fillStyle = ink("soft");
  if (!known.length && !every.length) {
    pen.textAlign = "center";
    pen.fillText("No steps yet.", width / 2, height / 2);
    return;
  }
  const [least, most] = [Math.min(0, ...known), Math.max(0, ...known)], step = niceStep(most - least || 1, 4);
  const [low, high] = [Math.floor(least / step) * step, Math.ceil(most / step - 1e-9) * step || step];
  const at = (value) => bottom - (value - low) / (high - low) * (bottom - top);
  pen.strokeStyle = ink("grid");
  pen.textAlign = "right";
  for (let k = 0; low + k * step <= high + 1e-9; k++) {
    const value = low + k * step, y = at(value);
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(width, y);
    pen.stroke();
    pen.fillText(Number(value.toPrecision(6)).toString(), left - 5, y + 4);
  }
  drawBand(pen, ink, settings, at, left, width, top, bottom);
  pen.textAlign = "center";
  const group = (width - left) / 2, slot = (group - 12) / 10;
  ["r", "l"].forEach((side, number) => {
    const begin = left + number * group + 6, steps = feedback.steps[side];
    pen.fillStyle = ink({ r: "right", l: "left" }[side]);
    pen.fillRect(begin, height - 1.42 * size, group - 12, 3);
    pen.fillStyle = ink("ink");
    pen.fillText(SIDE_LABELS[side], begin + (group - 12) / 2, height - 0.35 * size);
    steps.forEach(({ value, place }, k) => {
      const x = begin + (10 - steps.length + k) * slot, wide = slot * 0.72;
      pen.fillStyle = ink(PLACES[place].color);
      if (value === null) {
        pen.fillText("×", x + wide / 2, at(0) - 4);
        return;
      }
      pen.globalAlpha = k === steps.length - 1 ? 1 : 0.62;
      pen.fillRect(x, Math.min(at(0), at(value)), wide, Math.max(1, Math.abs(at(value) - at(0))));
      pen.globalAlpha = 1;
      if (place === "above" || place === "below") pen.fillText(place === "above" ? "▲" : "▼", x + wide / 2, Math.min(at(0), at(value)) - 3);
    });
  });
}

// Tones: of the present value as long as it is out of the band, high above and low below; of a step one short tone each.
class Tones {
  constructor(button) {
    this.button = button;
    this.done = null;
    button.addEventListener("click", () => this.toggle());
  }

  get on() { return Boolean(this.context) && this.context.state === "running"; }

  async toggle() {
    if (!this.context) {
      this.context = new AudioContext();
      this.gain = this.context.createGain();
      this.gain.gain.value = 0;
      this.tone = this.context.createOscillator();
      this.tone.connect(this.gain).connect(this.context.destination);
      this.tone.start();
      await this.context.resume();
    } else if (this.on) await this.context.suspend();
    else await this.context.resume();
    this.button.setAttribute("aria-pressed", String(this.on));
    this.button.textContent = this.on ? "Sound is on" : "Sound is off";
  }

  hush() { if (this.context) this.gain.gain.setTargetAtTime(0, this.context.currentTime, 0.01); }

  // What is heard is also in `last`, for who looks: "above", "below", "in" or "".
  take(feedback, settings, fresh) {
    const { place, done } = feedback, stepped = this.done !== null && done > this.done;
    this.done = done;
    this.last = "";
    if (settings.value !== "now" && !stepped) return;
    if (["above", "below", "in"].includes(place) && fresh && (place !== "in" || stepped)) this.last = place;
    if (!this.on) return;
    const now = this.context.currentTime, { gain } = this.gain;
    gain.cancelScheduledValues(now);
    if (this.last) this.tone.frequency.setValueAtTime({ above: 660, in: 523, below: 330 }[this.last], now);
    gain.setTargetAtTime(this.last ? 0.15 : 0, now, 0.01);
    if (settings.value !== "now") gain.setTargetAtTime(0, now + 0.12, 0.03);
  }
}
