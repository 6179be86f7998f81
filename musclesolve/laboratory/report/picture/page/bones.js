// Surfaces of bones, each fixed to a segment, and their shadows on the floor.

const BEHIND = 300;  // steps of the depth buffer that bones lie farther back: muscles that run along a bone are seen

class Bones {
  constructor(data, scene, shadow) {
    this.data = data;
    const [closed, open] = [THREE.FrontSide, THREE.DoubleSide].map((side) => new THREE.MeshLambertMaterial({
      color: new THREE.Color(...BONE), side, polygonOffset: true, polygonOffsetUnits: BEHIND }));
    const flat = new THREE.Group();
    flat.scale.z = 1e-4;
    flat.position.z = data.floor + 1e-3;
    scene.add(flat);
    this.meshes = data.bones.map((bone) => {
      const surface = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(bone.vertices, 3))
        .setIndex(new THREE.BufferAttribute(bone.faces, 1));
      surface.computeVertexNormals();
      const both = [new THREE.Mesh(surface, bone.closed ? closed : open)];
      scene.add(both[0]);
      if (data.level) flat.add(both[1] = new THREE.Mesh(surface, shadow));
      for (const mesh of both) mesh.frustumCulled = false;
      return both;
    });
  }

  draw(frame) {
    this.meshes.forEach((both, number) => {
      const at = frame * this.meshes.length + number, { place, turn } = this.data.poses;
      for (const mesh of both) {
        mesh.visible = place[3 * at] === place[3 * at];
        if (!mesh.visible) continue;
        mesh.position.set(...place.subarray(3 * at, 3 * at + 3));
        mesh.quaternion.set(...turn.subarray(4 * at, 4 * at + 4)).normalize();
      }
    });
  }
}
