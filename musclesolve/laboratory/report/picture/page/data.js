// The data of a picture: base64 into typed arrays, and the numbers of one frame.

const NO_PLACE = -32768, NO_VALUE = 65535, FULL = 65534;

function unpacked(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}

class PictureData {
  constructor(json) {
    Object.assign(this, json);
    if (json.shapes) {
      this.shapes.place = unpacked(json.shapes.place, Float32Array);
      this.shapes.turn = unpacked(json.shapes.turn, Int16Array);
    }
    this.bones = json.bones.map((bone) => ({
      ...bone, vertices: Float32Array.from(unpacked(bone.vertices, Int16Array), (each) => each * bone.step),
      faces: unpacked(bone.faces, bone.long ? Uint32Array : Uint16Array) }));
    const ends = [...this.muscles.slice(1).map((muscle) => muscle.first), this.pathPoints];
    this.muscles.forEach((muscle, m) => { muscle.count = ends[m] - muscle.first; });
    this.take(json);
  }

  // What moves, of all frames: instead of that of before.
  take(json) {
    this.frames = json.frames;
    this.verdicts = json.verdicts;
    this.time = unpacked(json.time, Float64Array);
    this.offset = unpacked(json.offset, Int32Array);
    this.skeleton = unpacked(json.skeleton, Int16Array);
    this.path = unpacked(json.path, Int16Array);
    this.poses = { place: unpacked(json.poses.place, Float32Array), turn: unpacked(json.poses.turn, Int16Array) };
    json.quantities.forEach((each, k) => Object.assign(this.quantities[k], each, { data: unpacked(each.data, Uint16Array) }));
    json.legs.forEach((leg, k) => Object.assign(this.legs[k], {
      verdict: unpacked(leg.verdict, Uint8Array), percent: unpacked(leg.percent, Float32Array) }));
    for (const name of ["ground", "contact"]) {
      this[name].force = unpacked(json[name].force, Float32Array);
      if (json[name].place) this[name].place = unpacked(json[name].place, Float32Array);
    }
  }

  // One point [m] of an array of `count` points a frame; NaN where there is none.
  place(array, count, frame, point, to = []) {
    for (let axis = 0; axis < 3; axis++) {
      const step = array[(frame * count + point) * 3 + axis];
      to[axis] = step === NO_PLACE ? NaN : (step + this.offset[frame * 3 + axis]) * this.step;
    }
    return to;
  }

  joint(frame, point, to) { return this.place(this.skeleton, this.points.length, frame, point, to); }

  pathPoint(frame, point, to = []) { return this.place(this.path, this.pathPoints, frame, point, to); }

  // The point in the middle of a muscle's path; points at its end that repeat the last one do not count.
  middle(frame, { first, count }) {
    const end = this.pathPoint(frame, first + count - 1);
    while (count > 1 && distance(this.pathPoint(frame, first + count - 2), end) === 0) count--;
    return this.pathPoint(frame, first + (count >> 1));
  }

  // Share of the range, 0 to 1, of what colors a muscle; NaN where there is none.
  share(quantity, frame, muscle) {
    const value = quantity.data[frame * this.muscles.length + muscle];
    return value === NO_VALUE ? NaN : value / FULL;
  }

  value(quantity, frame, muscle) {
    return quantity.low + this.share(quantity, frame, muscle) * (quantity.high - quantity.low);
  }

  verdict(leg, frame) { return this.verdicts[leg.verdict[frame]]; }
}
