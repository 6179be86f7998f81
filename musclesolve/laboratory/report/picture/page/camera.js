// A camera that turns about the subject with the vertical upright: mouse, touch and wheel.

class Orbit {
  constructor(canvas, camera, changed, wheelAllowed) {
    Object.assign(this, { canvas, camera, changed, wheelAllowed });
    this.pointers = new Map();
    this.center = [0, 0, 1];
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  // Look from an azimuth (about the vertical, from x) and an elevation [rad] at a distance [m].
  look(azimuth, elevation, distance) {
    Object.assign(this, { azimuth, elevation, distance, shift: [0, 0, 0] });
    this.changed();
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    if (this.pointers.size === 2) {
      const other = [...this.pointers.values()].find((each) => each.pointerId !== event.pointerId);
      const span = (each) => Math.hypot(each.clientX - other.clientX, each.clientY - other.clientY);
      this.zoom(span(before) / Math.max(span(event), 1));
      this.pan(dx / 2, dy / 2);
    } else if (event.buttons & 6 || event.shiftKey) {
      this.pan(dx, dy);
    } else {
      this.azimuth -= dx * 0.008;
      this.elevation = Math.min(1.5, Math.max(-0.35, this.elevation + dy * 0.008));
    }
    this.pointers.set(event.pointerId, event);
    this.changed();
  }

  pan(dx, dy) {
    const size = 2 * this.distance * Math.tan(this.camera.fov * Math.PI / 360) / this.canvas.clientHeight;
    const [s, c, up] = [Math.sin(this.azimuth), Math.cos(this.azimuth), Math.sin(this.elevation)];
    this.shift[0] += size * (dx * s - dy * up * c);
    this.shift[1] += size * (-dx * c - dy * up * s);
    this.shift[2] += size * dy * Math.cos(this.elevation);
  }

  zoom(factor) { this.distance = Math.min(30, Math.max(0.3, this.distance * factor)); }

  // The point under the pointer, in the plane through the middle of the view, stays where it is.
  wheel(event) {
    if (!this.wheelAllowed(event)) return;
    event.preventDefault();
    const before = this.distance, area = this.canvas.getBoundingClientRect();
    this.zoom(Math.exp(0.0012 * event.deltaY * (event.deltaMode === 1 ? 30 : 1)));
    const moved = before / this.distance - 1;
    this.pan(-moved * (event.clientX - area.left - area.width / 2), -moved * (event.clientY - area.top - area.height / 2));
    this.changed();
  }

  place() {
    const target = this.center.map((each, axis) => each + this.shift[axis]);
    const flat = this.distance * Math.cos(this.elevation);
    this.camera.position.set(
      target[0] + flat * Math.cos(this.azimuth),
      target[1] + flat * Math.sin(this.azimuth),
      target[2] + this.distance * Math.sin(this.elevation),
    );
    this.camera.lookAt(target[0], target[1], target[2]);
  }
}
