// Scrolling curves: the samples of the chosen quantities of the last seconds; gray where they are not valid.

class Curves {
  constructor() { this.clear(); }

  clear() { [this.time, this.values, this.width] = [[], [], 0]; }

  // Add samples, times [s] and one value for each of `count` quantities; what is older than `span` is dropped.
  add({ time, values, anew }, count, span) {
    const times = unpacked(time, Float64Array), numbers = unpacked(values, Float32Array);
    if (anew || (times.length && this.time.length && times[0] <= this.time[this.time.length - 1])) this.clear();
    for (let k = 0; k < times.length; k++) {
      this.time.push(times[k]);
      this.values.push(numbers.subarray(k * count, (k + 1) * count));
    }
    const newest = this.time[this.time.length - 1];
    let old = 0;
    while (this.time[old] < newest - span) old++;
    if (old > 200 || old > this.time.length / 2) {
      this.time.splice(0, old);
      this.values.splice(0, old);
    }
  }

  latest(column) { return this.values.length ? this.values[this.values.length - 1][column] : NaN; }

  // One quantity on its canvas, in the color of its leg; `range` keeps the ends of its axis from one drawing to the next.
  draw(canvas, column, span, settings, banded, range, side) {
    const [pen, width, height, ink] = sheet(canvas), [left, right, top, bottom] = [46, width - 4, 5, height - 5];
    const { time, values } = this, newest = time[time.length - 1], across = (at) => right - (newest - at) / span * (right - left);
    let first = 0;
    while (time[first] < newest - span) first++;
    let [least, most] = ends(values, column, first);
    if (banded) for (const edge of [settings.low, settings.high]) {
      if (edge !== null) [least, most] = [Math.min(least, edge), Math.max(most, edge)];
    }
    const [low, high, step] = axis(least, most, range), at = (value) => Math.min(Math.max(bottom - (value - low) / (high - low) * (bottom - top), 1), height - 1);
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "right";
    for (let k = 0; low + k * step <= high + 1e-9 * step; k++) {
      const value = low + k * step;
      pen.strokeStyle = ink(Math.abs(value) < 1e-9 ? "edge" : "grid");
      pen.beginPath();
      pen.moveTo(left, at(value));
      pen.lineTo(right, at(value));
      pen.stroke();
      pen.fillStyle = ink("soft");
      pen.fillText(Number(value.toPrecision(6)).toString(), left - 5, Math.min(Math.max(at(value) + 4, 10), height - 1));
    }
    if (!time.length) return;
    pen.strokeStyle = ink("grid");
    for (let second = Math.ceil(newest - span); second <= newest; second++) {
      pen.beginPath();
      pen.moveTo(across(second), top);
      pen.lineTo(across(second), bottom);
      pen.stroke();
    }
    if (banded) drawBand(pen, ink, settings, at, left, right, top, bottom);
    this.gaps(pen, ink, column, first, across, top, bottom);
    // Of several samples in one column of dots the least and the greatest are joined.
    pen.strokeStyle = ink({ r: "right", l: "left" }[side] ?? "ink");
    pen.lineWidth = 1.8;
    pen.beginPath();
    let [pixel, from, to, drawing] = [null, 0, 0, false];
    const lay = () => {
      if (pixel === null) return;
      if (drawing) pen.lineTo(pixel, at(from)); else pen.moveTo(pixel, at(from));
      if (to !== from) pen.lineTo(pixel, at(to));
      [drawing, pixel] = [true, null];
    };
    const dense = time.length - first > 2 * (right - left);
    for (let k = first; k < time.length; k++) {
      const value = values[k][column], x = dense ? Math.round(across(time[k])) : across(time[k]);
      if (value !== value) { lay(); drawing = false; continue; }
      if (x !== pixel) { lay(); [pixel, from, to] = [x, value, value]; } else [from, to] = [Math.min(from, value), Math.max(to, value)];
    }
    lay();
    pen.stroke();
  }

  // Stretches without valid values.
  gaps(pen, ink, column, first, across, top, bottom) {
    pen.fillStyle = ink("gap");
    let begin = null;
    for (let k = first; k <= this.time.length; k++) {
      const lost = k < this.time.length && this.values[k][column] !== this.values[k][column];
      if (lost && begin === null) begin = across(this.time[k]) - 1;
      if (!lost && begin !== null) {
        pen.fillRect(begin, top, Math.max(2, across(this.time[Math.min(k, this.time.length - 1)]) - begin), bottom - top);
        begin = null;
      }
    }
  }
}

// Ends of what is shown of a column: the least and the greatest value, but none that is farther beyond 1 % or 99 % of
// all values than a quarter of what lies between these; a few outliers do not flatten all else.
function ends(values, column, first) {
  const sorted = new Float32Array(values.length - first);
  let count = 0;
  for (let k = first; k < values.length; k++) if (values[k][column] === values[k][column]) sorted[count++] = values[k][column];
  if (!count) return [Infinity, -Infinity];
  const own = sorted.subarray(0, count).sort(), last = count - 1;
  const [low, high] = [own[Math.floor(0.01 * last)], own[Math.ceil(0.99 * last)]];
  const beyond = high > low ? 0.25 * (high - low) : Infinity;
  return [own.find((value) => value >= low - beyond), own.findLast((value) => value <= high + beyond)];
}

// Round ends and step of an axis; it widens at once and narrows only when half of it is empty.
function axis(least, most, range) {
  if (!(most >= least)) [least, most] = [range.low ?? 0, range.high ?? 1];
  const wide = range.low !== undefined && least >= range.low - 0.1 * range.step && most <= range.high + 0.1 * range.step && most - least > 0.4 * (range.high - range.low);
  if (!wide) {
    // Ends that are a tenth of a step short of the values hold them too: there is a margin.
    const step = niceStep(most - least || Math.abs(most) || 1, 3), low = Math.floor(least / step + 0.1) * step;
    Object.assign(range, { step, low, high: Math.max(Math.ceil(most / step - 0.1) * step, low + step) });
  }
  return [range.low, range.high, range.step];
}
