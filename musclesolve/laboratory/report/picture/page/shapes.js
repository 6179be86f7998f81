// The surfaces of a simulation's bodies, translucent about the bones: planes, and balls rolled over ellipsoids.

const AROUND = 28, ALONG = 20, CLEAR = 0.26;

class Shapes {
  constructor(data, scene) {
    this.about = data.shapes;
    this.bodies = [];
    for (let body = 0; this.about && body < this.about.bodies; body++) {
      this.bodies.push(new THREE.Group());
      scene.add(this.bodies[body]);
    }
    if (this.about) this.about.body.forEach((body, number) => this.bodies[body].add(this.surface(number)));
  }

  surface(number) {
    const { center, axes, semi, order, radius, half, colors } = this.about, color = colors[number];
    const [x, y, z] = [0, 1, 2].map((k) => new THREE.Vector3(...axes[number].map((row) => row[k])));
    const geometry = half[number] ? new THREE.PlaneGeometry(2 * half[number], 2 * half[number])
      : convex(semi[number], order[number], radius[number]);
    const material = new THREE.MeshLambertMaterial({ color, transparent: true, opacity: CLEAR, depthWrite: false,
      side: half[number] ? THREE.DoubleSide : THREE.FrontSide });
    const mesh = new THREE.Mesh(geometry, material);
    if (half[number]) {
      mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry), new THREE.LineBasicMaterial({ color })));
    }
    mesh.matrixAutoUpdate = false;
    mesh.matrix.makeBasis(x, y, z).setPosition(...center[number]);
    return mesh;
  }

  draw(frame, visible) {
    this.bodies.forEach((group, body) => {
      const at = frame * this.bodies.length + body, { place, turn } = this.about;
      group.visible = visible;
      group.position.set(...place.subarray(3 * at, 3 * at + 3));
      group.quaternion.set(...turn.subarray(4 * at, 4 * at + 4)).normalize();
    });
  }
}

// A ball rolled over an ellipsoid: where the normal is n, the gradient of h(n) = |(a_1 n_1, a_2 n_2, a_3 n_3)|_p, 1/p + 1/order = 1.
function convex(semi, order, radius) {
  const geometry = new THREE.SphereGeometry(1, AROUND, ALONG), { position, normal } = geometry.attributes, p = order / (order - 1);
  for (let k = 0; k < position.count; k++) {
    const n = [normal.getX(k), normal.getY(k), normal.getZ(k)], scaled = n.map((each, axis) => Math.abs(semi[axis] * each));
    const size = scaled.reduce((sum, each) => sum + each ** p, 0) ** (1 / p);
    const reach = n.map((each, axis) => radius * each
      + (size ? semi[axis] * Math.sign(each) * (scaled[axis] / size) ** (p - 1) : 0));
    position.setXYZ(k, ...reach);
  }
  return geometry;
}
