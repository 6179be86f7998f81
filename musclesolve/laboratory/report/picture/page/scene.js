// The subject in space: bones, muscles, arrows, floor.

const BONE = [0.86, 0.83, 0.77], GRAY = [0.60, 0.63, 0.67];
const LIGHT = { stage: 0xf5f6f8, shadow: 0xe2e5ea, grid: 0xd3d8df, ground: 0x1d232b, contact: 0x00855f };
const DARK = { stage: 0x20262d, shadow: 0x171c22, grid: 0x39424c, ground: 0xe2e6eb, contact: 0x4cc79f };  // as in style.css
const GROUND_SCALE = 0.5, CONTACT_SCALE = 0.1, ONE_KN = 1000;  // [m] for one body weight, or one kilonewton
const FOV = 28;
const CORNERS = 20;  // of a hoop of the ribs

class Scene {
  constructor(canvas, data, changed, wheelAllowed, context) {
    this.data = data;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true, ...context });
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(LIGHT.stage);
    this.camera = new THREE.PerspectiveCamera(FOV, 1, 0.05, 60);
    this.camera.up.set(0, 0, 1);
    this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0xd4d2d0, 0.74));
    const lamp = new THREE.DirectionalLight(0xffffff, 0.42);
    lamp.position.set(-0.4, 0.9, 0.6);
    this.camera.add(lamp);
    this.body();
    this.route();
    this.floor();
    this.orbit = new Orbit(canvas, this.camera, changed, wheelAllowed);
  }

  body() {
    const data = this.data, material = () => new THREE.MeshLambertMaterial({ vertexColors: true, side: THREE.DoubleSide });
    this.linesDrawn = data.lines.filter(([a, b]) => !data.heads.some(({ points }) =>
      points.length > 2 && points.includes(a) && points.includes(b)));
    this.lines = new Tubes(this.linesDrawn.map(() => 2), material());
    this.muscles = new Tubes(data.muscles.map((muscle) => muscle.count), material());
    this.ribs = new Tubes(data.ribs.flatMap(() => data.hoops.levels.map(() => CORNERS + 1)), material());
    this.scene.add(this.lines.mesh, this.muscles.mesh, this.ribs.mesh);
    const shadow = this.shadow = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide });
    // the shadows of muscles lie within those of bones that have a shape
    for (const tubes of data.level && data.lines.length ? [this.lines, this.muscles] : []) {
      const flat = new THREE.Mesh(tubes.geometry, shadow);
      flat.frustumCulled = false;
      flat.scale.z = 1e-4;
      flat.position.z = data.floor + 1e-3;
      this.scene.add(flat);
    }
    const plain = new THREE.MeshLambertMaterial({ color: new THREE.Color(...BONE) });
    this.balls = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 14, 10), plain, Math.max(data.points.length, 1));
    this.balls.frustumCulled = false;
    this.balls.visible = this.linesDrawn.length > 0;
    this.heads = data.heads.map(() => new THREE.Mesh(new THREE.SphereGeometry(1, 28, 20), plain));
    this.scene.add(this.balls, ...this.heads);
    this.bones = new Bones(data, this.scene, shadow);
    this.shapes = new Shapes(data, this.scene);
    this.ground = data.ground.names.map(() => this.arrow(0.011));
    this.contact = data.contact.names.map(() => this.arrow(0.007));
    this.boneSizes();
  }

  // Radius of each line by its length in the first frame where both ends are known, and of each joint [m].
  boneSizes() {
    const data = this.data;
    this.ballSize = new Float32Array(data.points.length);
    this.boneSize = this.linesDrawn.map(([a, b]) => {
      let length = 0.1;
      for (let frame = 0; frame < data.frames; frame++) {
        const each = distance(data.joint(frame, a, []), data.joint(frame, b, []));
        if (each === each) { length = each; break; }
      }
      const size = Math.min(0.0135, Math.max(0.006, 0.03 * length));
      for (const end of [a, b]) this.ballSize[end] = Math.max(this.ballSize[end], size * 1.12);
      return size;
    });
  }

  // Color the stage for a light or a dark page.
  paint(dark) {
    const colors = dark ? DARK : LIGHT, of = (arrow, color) => arrow.userData.shaft.material.color.set(color);
    for (const color of [this.scene.background, this.scene.fog.color]) color.set(colors.stage);
    this.shadow.color.set(colors.shadow);
    if (this.grid) this.grid.material.color.set(colors.grid);
    this.ground.forEach((arrow) => of(arrow, colors.ground));
    this.contact.forEach((arrow) => of(arrow, colors.contact));
  }

  arrow(radius) {
    const material = new THREE.MeshLambertMaterial();
    const shaft = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, 1, 12), material);
    const tip = new THREE.Mesh(new THREE.ConeGeometry(2.6 * radius, 6 * radius, 16), material);
    const group = new THREE.Group();
    group.add(shaft, tip);
    group.userData = { shaft, tip, head: 6 * radius };
    this.scene.add(group);
    return group;
  }

  // Where the camera looks: the subject's place over the ground, smoothed over a second, at half of the height.
  route() {
    const data = this.data, frames = data.frames, ground = [];
    for (let frame = 0; frame < frames; frame++) {
      ground.push([0, 1].map((axis) => data.offset[frame * 3 + axis] * data.step));
    }
    let [top, count] = [data.floor + 1, Math.max(data.points.length, 0)];
    for (let point = 0; point < count; point++) {
      const place = data.joint(0, point, []);
      if (place[2] === place[2]) top = Math.max(top, place[2] + 0.1);
    }
    this.height = top - data.floor;
    const half = frames > 1 ? Math.round(0.5 * (frames - 1) / (data.time[frames - 1] - data.time[0])) : 0;
    this.centers = ground.map((place, frame) => {
      const reach = Math.min(half, frame, frames - 1 - frame);
      const around = ground.slice(frame - reach, frame + reach + 1);
      const mean = (axis) => around.reduce((sum, each) => sum + each[axis], 0) / around.length;
      return [mean(0), mean(1), data.floor + 0.5 * this.height];
    });
    this.wide = data.simulated ? this.reach() : 0.75;
  }

  // How far from the middle anything gets over the ground.
  reach() {
    let most = 0.65;
    this.centers.forEach((center, frame) => this.data.points.forEach((_, point) => {
      const place = this.data.joint(frame, point, []), far = Math.hypot(place[0] - center[0], place[1] - center[1]);
      if (far > most) most = far;
    }));
    return most + 0.1;
  }

  floor() {
    this.scene.fog = new THREE.Fog(LIGHT.stage, 4, 9);
    if (!this.data.level) return;
    const along = (axis) => this.centers.map((center) => center[axis]);
    const [x, y] = [0, 1].map((axis) => [
      Math.floor(2 * (Math.min(...along(axis)) - 3)) / 2, Math.ceil(2 * (Math.max(...along(axis)) + 3)) / 2,
    ]);
    const corners = [];
    for (let at = x[0]; at <= x[1] + 1e-6; at += 0.5) corners.push(at, y[0], 0, at, y[1], 0);
    for (let at = y[0]; at <= y[1] + 1e-6; at += 0.5) corners.push(x[0], at, 0, x[1], at, 0);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners, 3));
    const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial());
    lines.position.z = this.data.floor;
    this.scene.add(lines);
    [this.grid, this.gridAt] = [lines, [...this.centers[0]]];
  }

  // A view by its name; the walking direction points to the right in the side view of the right leg.
  view(name, left) {
    const turned = { side: left ? Math.PI / 2 : -Math.PI / 2, front: 0, back: Math.PI, reset: left ? 1.15 : -1.15 }[name];
    const high = 0.5 * this.height * 1.12, wide = this.wide;
    const near = this.data.simulated ? 0.7 * wide : 0;
    const distance = Math.max(high, wide / this.camera.aspect) / Math.tan(FOV * Math.PI / 360) + near;
    this.orbit.look(this.data.heading + turned, name === "reset" ? 0.16 : 0.04, distance);
  }

  resize(width, height) {
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  draw(frame, options) {
    const { data } = this;
    this.orbit.center = this.centers[frame];
    this.orbit.place();
    this.scene.fog.near = this.orbit.distance + 0.5;
    this.scene.fog.far = this.orbit.distance + 4.5;
    this.drawBones(frame);
    this.shapes.draw(frame, options.shapes);
    const bare = !(data.shapes && options.shapes);
    this.ribs.mesh.visible = bare;
    data.heads.forEach((head, number) => this.drawHead(frame, head, this.heads[number], bare));
    this.drawMuscles(frame, options);
    this.drawArrows(frame, options);
    this.renderer.render(this.scene, this.camera);
  }

  drawBones(frame) {
    const data = this.data, matrix = new THREE.Matrix4();
    this.bones.draw(frame);
    this.linesDrawn.forEach(([a, b], number) => {
      const size = this.boneSize[number];
      this.lines.lay(number, [data.joint(frame, a, []), data.joint(frame, b, [])],
        (share) => size * (1 - 0.38 * Math.sin(Math.PI * share)), BONE);
    });
    this.lines.done();
    data.points.forEach((_, point) => {
      const place = data.joint(frame, point, []), size = place[0] === place[0] ? this.ballSize[point] : 0;
      matrix.makeScale(size, size, size);
      if (size) matrix.setPosition(...place);
      this.balls.setMatrixAt(point, matrix);
    });
    this.balls.instanceMatrix.needsUpdate = true;
    data.ribs.forEach((ribs, number) => this.drawRibs(frame, ribs, number * data.hoops.levels.length));
    this.ribs.done();
  }

  drawRibs(frame, { spine, across }, first) {
    const at = (point) => this.data.joint(frame, point, []);
    const [low, high, right, left] = [...spine, ...across].map(at);
    const up = unit(difference(high, low)), forward = unit(cross(difference(left, right), up)), side = cross(up, forward);
    const half = 0.5 * distance(left, right);
    this.data.hoops.levels.forEach(([share, wide, deep], number) => {
      const [a, b] = [half * wide, half * wide * deep], line = [];
      for (let k = 0; k <= CORNERS; k++) {
        const [s, c] = [Math.sin(2 * Math.PI * k / CORNERS), Math.cos(2 * Math.PI * k / CORNERS)];
        const [ahead, sideways, higher] = [b * (1 - c), a * s, -this.data.hoops.drop * half * (1 - c)];
        line.push(low.map((each, axis) => each + share * (high[axis] - each)
          + ahead * forward[axis] + sideways * side[axis] + higher * up[axis]));
      }
      this.ribs.lay(first + number, line, () => 0.0038, BONE);
    });
  }

  drawHead(frame, { points, weights, up, radii }, head, visible) {
    const center = [0, 0, 0];
    points.forEach((point, k) => {
      this.data.joint(frame, point, []).forEach((each, axis) => { center[axis] += weights[k] * each; });
    });
    const [low, high] = up.map((point) => this.data.joint(frame, point, []));
    head.visible = visible && center[0] === center[0];
    if (!head.visible) return;
    head.position.set(...center);
    head.scale.set(radii[0], radii[1], radii[0]);
    head.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...unit(difference(high, low))));
  }

  drawMuscles(frame, { quantity, legs, muscles }) {
    const data = this.data;
    data.muscles.forEach((muscle, m) => {
      if (!muscles || !shown(muscle.side, legs)) { this.muscles.hide(m); return; }
      const share = quantity ? data.share(quantity, frame, m) : NaN, known = share === share, line = [];
      let length = 0;
      for (let k = 0; k < muscle.count; k++) {
        line.push(data.pathPoint(frame, muscle.first + k, []));
        if (k) length += distance(line[k - 1], line[k]);
      }
      // a belly of constant volume in a tendon of constant length (picture_data.py)
      const belly = Math.max(1 - muscle.tendon / length, 0.2), begin = data.belly.proximal * (1 - belly);
      const thin = data.belly.thin ** 2, swell = 2 * muscle.volume / (Math.PI * belly * length);
      this.muscles.lay(m, line, (at) => {
        const inside = Math.min(1, Math.max(0, (at - begin) / belly));
        return at === 0 || at === 1 ? 0.4 * data.belly.thin : Math.sqrt(thin + swell * Math.sin(Math.PI * inside) ** 2);
      }, known ? quantity.rgb[Math.round(share * (quantity.rgb.length - 1))] : GRAY, [begin, begin + belly]);
    });
    this.muscles.done();
  }

  drawArrows(frame, options) {
    const data = this.data, weight = data.weight || ONE_KN;
    this.ground.forEach((arrow, k) => {
      const at = (frame * this.ground.length + k) * 3, place = [...data.ground.place.subarray(at, at + 3)];
      const force = [...data.ground.force.subarray(at, at + 3)].map((each) => each * GROUND_SCALE / weight);
      this.point(arrow, place, force, options.ground && shown(data.ground.sides[k], options.legs), false);
    });
    this.contact.forEach((arrow, k) => {
      const at = (frame * this.contact.length + k) * 3, place = data.joint(frame, data.contact.at[k], []);
      const force = [...data.contact.force.subarray(at, at + 3)].map((each) => each * CONTACT_SCALE / weight);
      this.point(arrow, place, force, options.contact && shown(data.contact.sides[k], options.legs), true);
    });
  }

  // Lay an arrow from a place along a force, or onto the place.
  point(arrow, place, force, visible, onto) {
    const size = Math.hypot(...force), { shaft, tip, head } = arrow.userData;
    arrow.visible = visible && size > 1e-3 && place[0] === place[0];
    if (!arrow.visible) return;
    const slim = Math.min(1, size / (1.6 * head)), tipLength = slim * head;
    arrow.position.set(...(onto ? place.map((each, axis) => each - force[axis]) : place));
    arrow.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...unit(force)));
    shaft.scale.set(slim, size - tipLength, slim);
    shaft.position.y = 0.5 * (size - tipLength);
    tip.scale.setScalar(slim);
    tip.position.y = size - 0.5 * tipLength;
  }

  // Place on the stage [px] of a point in space; null behind the camera.
  project(place, width, height) {
    const at = new THREE.Vector3(...place).project(this.camera);
    return at.z < 1 ? [(at.x + 1) / 2 * width, (1 - at.y) / 2 * height] : null;
  }
}

function shown(side, legs) { return legs === "both" || side === legs || side === "other"; }
