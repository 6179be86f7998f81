// The operator's page: the moving picture of the newest frame, curves, feedback, settings, and how the stream is.

const COLUMN_KINDS = { joint_reaction: "Joint contact forces", ground_reaction_force: "Ground forces", muscle_force: "Muscle forces",
  activation: "Activations", joint_moment: "Joint moments", joint_angle: "Joint angles" };
const SECOND = 1000;

const SLOW = 40, LONGEST_REST = 500;  // a picture that keeps the screen for longer is slow; the longest pause after one [ms]

class LivePicture extends Picture {
  constructor(root) {
    super(root, dataOf(root), { preserveDrawingBuffer: false, antialias: !drawnBySoftware() });
    this.note = "Waiting for the first frame.";
    this.draw();
  }

  // Draw, unless a slow picture has just taken its half of the time, as without graphics hardware: curves, feedback and
  // the words on the frame go on meanwhile, and a change of what is valid is drawn at once. Returns whether it has drawn.
  drawInTime(now) {
    const kinds = this.data.legs.map((leg) => this.data.verdict(leg, 0).kind).join();
    if (now < this.rest && kinds === this.kinds) {
      this.describe();
      return false;
    }
    this.kinds = kinds;
    this.draw();
    requestAnimationFrame((then) => { this.rest = then - now > SLOW ? then + Math.min(then - now, LONGEST_REST) : 0; });
    return true;
  }

  count() { return this.note || ""; }

  // Before the first frame there is nothing to say of one.
  describe() {
    super.describe();
    if (this.begun) return;
    this.find("clock").textContent = "";
    this.find("verdict").replaceChildren();
    this.find("alert").hidden = true;
    this.find("stage").classList.remove("msp-lost");
  }

  take(moving, note) {
    const { data, scene } = this;
    this.begun = true;
    data.take(moving);
    this.note = note;
    const known = data.joint(0, 0, [])[0];
    if (known === known) {
      // The camera follows the subject within about a second, and the floor under it in steps of its grid.
      const place = [0, 1].map((axis) => data.offset[axis] * data.step), center = scene.centers[0];
      const elapsed = Math.min(Math.max(data.time[0] - (this.taken ?? data.time[0]), 0), SECOND / 1000);
      const share = this.taken === undefined || Math.hypot(place[0] - center[0], place[1] - center[1]) > 3 ? 1 : 1 - Math.exp(-3 * elapsed);
      for (const axis of [0, 1]) center[axis] += share * (place[axis] - center[axis]);
      this.taken = data.time[0];
      if (scene.grid) scene.grid.position.set(Math.round(2 * (center[0] - scene.gridAt[0])) / 2, Math.round(2 * (center[1] - scene.gridAt[1])) / 2, scene.grid.position.z);
    }
    this.find("tip").hidden = true;
  }
}

function drawnBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl"), about = gl && gl.getExtension("WEBGL_debug_renderer_info");
  return Boolean(about) && /swiftshader|llvmpipe|software|basic render/i.test(gl.getParameter(about.UNMASKED_RENDERER_WEBGL));
}

class OperatorPage {
  constructor(picture) {
    this.picture = picture;
    this.quantities = quantitiesOf(document);
    this.curves = new Curves();
    this.ranges = {};
    this.part = (name) => document.querySelector(`[data-live="${name}"]`);
    this.frames = [];  // when the last pictures were drawn
    this.fill();
    this.listen();
    this.tones = new Tones(this.part("sound"));
    const token = new URLSearchParams(location.search).get("token") || "";
    this.part("subject").href = `/subject?token=${encodeURIComponent(token)}`;
    this.link = new Link("operator", {
      take: (message) => this.take(message), draw: () => this.draw(), state: (state) => this.connection(state) });
    setInterval(() => this.describeStream(), 100);
  }

  // Options of all lists of quantities, by kind.
  fill() {
    for (const list of document.querySelectorAll("select[data-quantity]")) {
      if (list.dataset.quantity === "curve") list.append(new Option("no curve", ""));
      for (const [kind, label] of Object.entries(COLUMN_KINDS)) {
        const group = document.createElement("optgroup");
        group.label = label;
        for (const each of this.quantities.values()) if (each.kind === kind) group.append(new Option(`${each.label}${each.unit === "1" ? "" : ` [${each.unit}]`}`, each.key));
        list.append(group);
      }
    }
    this.rows = [...document.querySelectorAll(".lp-curve")].map((row) => ({
      row, list: row.querySelector("select"), value: row.querySelector("output"), canvas: row.querySelector("canvas") }));
  }

  listen() {
    this.rows.forEach(({ list }) => list.addEventListener("change", () => this.choose({
      curves: this.rows.map((each) => each.list.value).filter(Boolean) })));
    for (const name of ["quantity", "value", "during", "span"]) {
      this.part(name).addEventListener("change", () => this.choose({ [name]: name === "span" ? Number(this.part(name).value) : this.part(name).value }));
    }
    for (const name of ["low", "high"]) {
      this.part(name).addEventListener("change", () => {
        const text = this.part(name).value.trim();
        this.choose({ [name]: text === "" ? null : Number(text) });
      });
    }
  }

  choose(changed) {
    const wanted = { ...this.settings, ...changed };
    const crossed = wanted.low !== null && wanted.high !== null && wanted.low > wanted.high;
    this.part("refused").hidden = !crossed;
    if (crossed) return;
    this.adopt(wanted);  // the next change begins from it, whether the server has answered or not
    this.link.send({ settings: wanted });
  }

  take(message) {
    if (message.settings) this.adopt(message.settings);
    this.message = message;
    this.curves.add(message.curves, this.settings.curves.length, this.settings.span);
    if (message.picture) this.picture.take(message.picture, message.notes);
    this.tones.take(message.feedback, this.settings, !silence(this.link));
  }

  // Settings as the server keeps them, for all browsers.
  adopt(settings) {
    this.settings = settings;
    this.rows.forEach(({ row, list }, k) => {
      list.value = settings.curves[k] || "";
      row.classList.toggle("lp-empty", !settings.curves[k]);
      row.hidden = k > settings.curves.length;
    });
    for (const name of ["quantity", "value", "during", "span"]) this.part(name).value = settings[name];
    for (const name of ["low", "high"]) {
      if (this.part(name) !== document.activeElement) this.part(name).value = settings[name] ?? "";  // else it is typed
    }
    const quantity = this.quantities.get(settings.quantity);
    this.part("during").disabled = settings.value === "now";
    this.part("target-unit").textContent = unitOf(quantity);
    this.part("what").textContent = `${quantity.label}, ${describe(settings)}`;
    this.part("steps").hidden = settings.value === "now";
  }

  draw() {
    const { message, settings, picture } = this;
    if (!message) return;
    const now = performance.now();
    if (picture.drawInTime(now)) this.frames.push(now);
    this.rows.forEach(({ value, canvas }, k) => {
      const quantity = this.quantities.get(settings.curves[k]);
      if (!quantity) { value.textContent = ""; return; }
      const latest = this.curves.latest(k);
      value.textContent = withUnit(latest, quantity);
      value.classList.toggle("lp-invalid", latest !== latest);
      this.ranges[quantity.key] ??= {};
      this.curves.draw(canvas, k, settings.span, settings, quantity.key === settings.quantity, this.ranges[quantity.key], quantity.side);
    });
    const { feedback } = message, quantity = this.quantities.get(settings.quantity), place = PLACES[feedback.place];
    this.part("now").textContent = withUnit(feedback.value, quantity);
    this.part("now").style.color = `var(--${place.color})`;
    this.part("place").textContent = feedback.value === null && settings.value !== "now" && !feedback.done ? "no step yet" : place.words;
    if (settings.value !== "now") drawSteps(this.part("steps"), feedback, settings, quantity);
    while (this.frames[0] < now - 2 * SECOND) this.frames.shift();
    document.body.dataset.number = message.number;
  }

  // Pictures a second over the last two seconds.
  get rate() {
    const first = this.frames[0], last = this.frames[this.frames.length - 1];
    return this.frames.length > 1 && performance.now() - last < SECOND ? (this.frames.length - 1) * SECOND / (last - first) : 0;
  }

  describeStream() {
    const { link, message } = this, silent = this.lost ? "No connection to the session; trying again." : silence(link);
    this.part("silence").hidden = !silent;
    this.part("silence").textContent = silent;
    this.part("silence").classList.toggle("lp-over", link.ended && !link.reason);
    document.body.classList.toggle("lp-silent", Boolean(silent));
    if (silent) this.tones.hush();
    if (!message) return;
    const { status } = message, percent = status.frames ? 100 * status.invalid / status.frames : 0;
    this.part("rate").textContent = `${status.rate.toFixed(0)} samples/s`;
    this.part("invalid").textContent = `${status.invalid} of ${status.frames} not valid (${percent.toFixed(percent < 10 ? 1 : 0)} %), ${status.recentInvalid} in the last 10 s`;
    this.part("invalid").classList.toggle("lp-warning", status.recentInvalid > 0);
    this.part("latency").textContent = status.latency === null ? "" : `${(1000 * status.latency).toFixed(0)} ms from arrival to picture`;
    this.part("pictures").textContent = `${this.rate.toFixed(0)} pictures/s`;
    this.part("faults").hidden = !message.faults || Boolean(link.reason);
    this.part("faults").textContent = message.faults;
    this.part("trouble").hidden = !status.trouble;
    this.part("trouble").textContent = status.trouble;
    this.part("lost").hidden = !status.lost;
    this.part("lost").textContent = `${status.lost} frames came too fast for this page`;
  }

  connection(state) { this.lost = state === "lost"; }
}

const root = document.currentScript.closest(".ms-picture");
document.addEventListener("DOMContentLoaded", () => {
  start(root, () => new LivePicture(root));
  // Without WebGL there is no picture; all else works.
  const picture = root.picture || { take() {}, drawInTime() { return false; } };
  document.body.page = new OperatorPage(picture);
});
