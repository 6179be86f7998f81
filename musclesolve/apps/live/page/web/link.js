// The stream of messages: connect with the token of the address, confirm what has been drawn, connect again when it breaks.

class Link {
  // take(message): at once; draw(): before the next picture of the screen; state(text): "open", "lost" or "ended".
  constructor(view, { take, draw, state }) {
    Object.assign(this, { view, take, draw, state, ended: false, at: performance.now(), age: null });
    this.confirm = () => {};
    // A page that is not seen draws nothing, but goes on to sound.
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.confirm(); });
    this.connect();
  }

  connect() {
    const token = new URLSearchParams(location.search).get("token") || "";
    this.socket = new WebSocket(`ws://${location.host}/stream?view=${this.view}&token=${encodeURIComponent(token)}`);
    this.socket.onopen = () => this.state("open");
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.state(this.ended ? "ended" : "lost");
      if (!this.ended) setTimeout(() => this.connect(), 1000);
    };
  }

  receive(message) {
    [this.at, this.age] = [performance.now(), message.status.age];
    [this.ended, this.reason] = [message.ended, message.reason];
    this.take(message);
    this.confirm = () => {
      this.confirm = () => {};
      this.send({ drawn: message.number });
    };
    if (document.hidden) { this.confirm(); return; }
    // The task after the callback runs when the picture has been handed to the screen.
    requestAnimationFrame(() => {
      this.draw();
      const after = new MessageChannel();
      after.port1.onmessage = () => this.confirm();
      after.port2.postMessage(null);
    });
  }

  // Age of the newest sample [s]; null before the first.
  sampleAge() { return this.age === null ? null : this.age + (performance.now() - this.at) / 1000; }

  send(said) { if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(said)); }
}

const LATE = 0.25;  // so old a newest sample is said to be old [s]

// Words on samples that do not come; "" while they do.
function silence(link) {
  const age = link.sampleAge();
  if (link.ended) return `The session has ended. ${link.reason}`;
  if (age === null) return "No samples yet.";
  return age > LATE ? `No samples for ${age < 10 ? age.toFixed(1) : age.toFixed(0)} s.` : "";
}

function quantitiesOf(document) {
  return new Map(JSON.parse(document.getElementById("quantities").textContent).map((each) => [each.key, each]));
}

function unitOf(quantity) { return quantity.unit === "1" ? "" : quantity.unit === "deg" ? "°" : quantity.unit; }

function isKnown(value) { return value !== null && value === value; }

// Without the sign of a zero.
function numberText(value, quantity) {
  return isKnown(value) ? (Number(value.toFixed(quantity.decimals)) || 0).toFixed(quantity.decimals) : "–";
}

function withUnit(value, quantity) { return isKnown(value) ? `${numberText(value, quantity)} ${unitOf(quantity)}` : "–"; }
