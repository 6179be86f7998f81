// The subject's screen: one large number, its band, and the last steps; what is shown is chosen on the operator's page.

(function () {
"use strict";

class SubjectPage {
  constructor() {
    this.quantities = quantitiesOf(document);
    this.part = (name) => document.querySelector(`[data-live="${name}"]`);
    this.tones = new Tones(this.part("sound"));
    this.link = new Link("subject", { take: (message) => this.take(message), draw: () => this.draw(), state: (state) => { this.lost = state === "lost"; } });
    setInterval(() => this.describe(), 100);
  }

  take(message) {
    if (message.settings) this.settings = message.settings;
    this.message = message;
    this.tones.take(message.feedback, this.settings, !silence(this.link));
  }

  draw() {
    const { message: { feedback, number }, settings } = this, quantity = this.quantities.get(settings.quantity);
    const place = PLACES[feedback.place];
    this.part("what").textContent = `${quantity.label}, ${describe(settings)}`;
    this.part("now").textContent = numberText(feedback.value, quantity);
    this.part("unit").textContent = isKnown(feedback.value) ? unitOf(quantity) : "";
    this.part("place").textContent = feedback.value === null && settings.value !== "now" && !feedback.done ? "no step yet" : place.words;
    this.part("band").textContent = settings.low === null && settings.high === null ? "" : `Target: ${bandText(settings, quantity)}`;
    document.body.dataset.place = feedback.place;
    document.body.dataset.number = number;
    this.part("steps").hidden = settings.value === "now";
    if (settings.value !== "now") drawSteps(this.part("steps"), feedback, settings, quantity);
  }

  describe() {
    const silent = this.lost ? "No connection to the session; trying again." : silence(this.link);
    this.part("silence").hidden = !silent;
    this.part("silence").textContent = silent;
    this.part("silence").classList.toggle("lp-over", this.link.ended && !this.link.reason);
    document.body.classList.toggle("lp-silent", Boolean(silent));
    if (silent) this.tones.hush();
  }
}

document.addEventListener("DOMContentLoaded", () => { document.body.page = new SubjectPage(); });
})();
