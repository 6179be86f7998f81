// Round tubes along lines: all of one kind are one mesh, whose corners are moved from frame to frame.

const SIDES = 9, BETWEEN = 11;

class Tubes {
  // counts: the number of points of each line.
  constructor(counts, material) {
    this.rings = counts.map((count) => count + BETWEEN);
    this.first = [];
    let rings = 0;
    for (const count of this.rings) { this.first.push(rings); rings += count; }
    this.position = new Float32Array(rings * SIDES * 3);
    this.normal = new Float32Array(rings * SIDES * 3);
    this.color = new Float32Array(rings * SIDES * 3);
    const index = [];
    this.rings.forEach((count, line) => {
      for (let ring = 0; ring + 1 < count; ring++) {
        for (let k = 0; k < SIDES; k++) {
          const a = (this.first[line] + ring) * SIDES + k, b = (this.first[line] + ring) * SIDES + (k + 1) % SIDES;
          index.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
        }
      }
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(index);
    for (const name of ["position", "normal", "color"]) {
      geometry.setAttribute(name, new THREE.BufferAttribute(this[name], 3));
    }
    this.geometry = geometry;
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.circle = [];
    for (let k = 0; k < SIDES; k++) {
      this.circle.push([Math.cos(2 * Math.PI * k / SIDES), Math.sin(2 * Math.PI * k / SIDES)]);
    }
  }

  // Lay line `number` through points [[x, y, z], ...]; radius(share of the length) [m]; color [r, g, b]; span: the part
  // of the length, from one share to another, with rings between the points.
  lay(number, points, radius, color, span = [0, 1]) {
    const along = places(points, this.rings[number], span);
    if (!along) { this.hide(number); return; }
    let across = null;
    along.forEach((ring, r) => {
      across = perpendicular(ring.direction, across);
      const other = cross(ring.direction, across), size = radius(ring.share);
      for (let k = 0; k < SIDES; k++) {
        const [c, s] = this.circle[k], corner = ((this.first[number] + r) * SIDES + k) * 3;
        for (let axis = 0; axis < 3; axis++) {
          const out = c * across[axis] + s * other[axis];
          this.normal[corner + axis] = out;
          this.position[corner + axis] = ring.place[axis] + size * out;
          this.color[corner + axis] = color[axis];
        }
      }
    });
  }

  hide(number) {
    const start = this.first[number] * SIDES * 3;
    this.position.fill(0, start, start + this.rings[number] * SIDES * 3);
  }

  done() {
    for (const name of ["position", "normal", "color"]) this.geometry.attributes[name].needsUpdate = true;
  }
}

// So many rings along a line: at its points and at equal steps of a span of its length; null without a length.
function places(points, count, [from, to]) {
  const length = [0];
  for (let k = 1; k < points.length; k++) length.push(length[k - 1] + distance(points[k - 1], points[k]));
  const total = length[length.length - 1];
  if (!(total > 1e-6)) return null;
  const shares = length.map((each) => each / total);
  for (let k = 1; shares.length < count; k++) shares.push(from + (to - from) * k / (BETWEEN + 1));
  shares.sort((a, b) => a - b);
  let segment = 0;
  return shares.map((share) => {
    while (segment + 2 < points.length && length[segment + 1] / total < share) segment++;
    while (segment + 2 < points.length && length[segment + 1] === length[segment]) segment++;
    while (segment > 0 && length[segment + 1] === length[segment]) segment--;
    const part = (share * total - length[segment]) / Math.max(length[segment + 1] - length[segment], 1e-9);
    const [a, b] = [points[segment], points[segment + 1]];
    const place = a.map((each, axis) => each + Math.min(part, 1) * (b[axis] - each));
    return { share, place, direction: unit(difference(b, a)) };
  });
}

function difference(a, b) { return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]; }

function distance(a, b) { return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

function unit(a) {
  const size = Math.hypot(a[0], a[1], a[2]) || 1;
  return [a[0] / size, a[1] / size, a[2] / size];
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

// A unit vector across a direction, as near as can be to the one before.
function perpendicular(direction, before) {
  const near = before || (Math.abs(direction[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]);
  const along = direction[0] * near[0] + direction[1] * near[1] + direction[2] * near[2];
  const across = near.map((each, axis) => each - along * direction[axis]);
  if (before && Math.hypot(...across) < 1e-3) return perpendicular(direction, null);
  return unit(across);
}
