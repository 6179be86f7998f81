// A picture of a recording or a simulation: its time runs and is chosen; it starts when it comes into view.

class Recording extends Picture {
  constructor(root) {
    super(root, dataOf(root));
    this.clock = this.data.time[0];
    this.strip();
    this.show(this.firstValid());
    if (this.wholePage && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
  }

  // The first frame in which every leg has a solution, or the first one.
  firstValid() {
    const good = (frame) => this.data.legs.every((leg) => ["good", "reserve"].includes(this.data.verdict(leg, frame).kind));
    for (let frame = 0; frame < this.data.frames; frame++) if (good(frame)) return frame;
    return 0;
  }

  controls() {
    super.controls();
    this.find("play").addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    this.find("time").addEventListener("input", () => { this.pause(); this.show(Number(this.find("time").value)); });
    this.find("time").max = this.data.frames - 1;
    this.find("play").disabled = this.find("time").disabled = this.data.frames < 2;
  }

  acts() {
    return {
      ...super.acts(), " ": () => (this.playing ? this.pause() : this.play()),
      ArrowRight: (event) => this.step(event.shiftKey ? 10 : 1), ArrowLeft: (event) => this.step(event.shiftKey ? -10 : -1),
      Home: () => this.step(-this.data.frames), End: () => this.step(this.data.frames),
    };
  }

  count() { return `frame ${this.frame * this.data.every + 1} of ${(this.data.frames - 1) * this.data.every + 1}`; }

  play() {
    if (this.data.frames < 2) return;
    const { time, frames } = this.data;
    if (this.frame === frames - 1) this.clock = time[0];
    this.playing = true;
    this.label();
    let last = null;
    const tick = (now) => {
      if (!this.playing) return;
      const speed = Number(this.find("speed").value), span = time[frames - 1] - time[0] + (time[1] - time[0]);
      if (last !== null) this.clock += speed * Math.min((now - last) / 1000, 0.25);
      last = now;
      if (this.clock >= time[0] + span) this.clock = time[0] + (this.clock - time[0]) % span;
      let frame = this.clock < time[this.frame] ? 0 : this.frame;
      while (frame + 1 < frames && time[frame + 1] <= this.clock + 1e-9) frame++;
      if (frame !== this.frame) this.show(frame, true);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.label();
  }

  label() {
    this.find("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.find("play").textContent = this.playing ? "❚❚" : "▶";
  }

  step(by) {
    this.pause();
    this.show(Math.min(this.data.frames - 1, Math.max(0, this.frame + by)));
  }

  show(frame, running) {
    this.frame = frame;
    if (!running) this.clock = this.data.time[frame];
    this.find("time").value = frame;
    this.find("tip").hidden = true;
    this.draw();
  }

  // Under the slider: one row a leg, a column a frame, by the verdict; of a simulation, where contacts begin and end.
  strip() {
    const canvas = this.find("strip"), { data } = this, rows = data.simulated ? 2 : Math.max(data.legs.length, 1);
    const scale = Math.max(1, Math.ceil(1200 / data.frames));
    [canvas.width, canvas.height] = [data.frames * scale, rows * 6];
    const pen = canvas.getContext("2d"), colors = { good: "#8fb4cf", reserve: "#e69f00", none: "#3d434b", unmeasured: "#c3c9d0" };
    const wide = Math.max(scale, Math.ceil(canvas.width / 400));
    for (const event of data.events) {
      pen.fillStyle = event.begins ? colors.reserve : colors.none;
      pen.fillRect(event.frame * scale, event.begins ? 0 : 6, wide, 5);
    }
    data.legs.forEach((leg, row) => {
      for (let frame = 0; frame < data.frames; frame++) {
        pen.fillStyle = colors[data.verdict(leg, frame).kind];
        pen.fillRect(frame * scale, row * 6, scale, 5);
      }
    });
  }
}

const root = document.currentScript.closest(".ms-picture");
const make = () => new Recording(root);
const seen = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) { seen.disconnect(); start(root, make); }
}, { rootMargin: "200px" });
seen.observe(root);
window.addEventListener("beforeprint", () => { start(root, make); if (root.picture) root.picture.print(); });
