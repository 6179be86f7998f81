/* The search of this site runs in a Worker. A page that is opened as a file may not start one, so a hidden frame runs
   the same script instead: it has the same messages, and the page sees no difference. */
(function () {
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.appendChild(this.frame);
      this.receive = (event) => {
        if (event.source !== this.inside) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      addEventListener("message", this.receive);
      this.ready = new Promise((resolve, reject) => {
        const script = this.write(url);
        script.onload = resolve;
        script.onerror = () => reject(new Error("cannot load " + url));
      });
    }

    get inside() {
      return this.frame.contentWindow;
    }

    write(url) {
      const page = this.frame.contentDocument;
      const load = (address) =>
        new Promise((resolve, reject) => {
          const part = page.createElement("script");
          part.src = new URL(address, url).href;
          part.onload = resolve;
          part.onerror = reject;
          page.body.appendChild(part);
        });
      const post = page.createElement("script");
      post.textContent = "postMessage = function (data) { parent.postMessage(data, '*'); };";
      page.body.appendChild(post);
      this.inside.importScripts = (...all) => all.reduce((done, one) => done.then(() => load(one)), Promise.resolve());
      const script = page.createElement("script");
      script.src = url;
      page.body.appendChild(script);
      return script;
    }

    postMessage(data) {
      this.ready
        .catch(() => {})
        .then(() => this.inside.dispatchEvent(new MessageEvent("message", { data: data })));
    }

    terminate() {
      removeEventListener("message", this.receive);
      this.frame.remove();
    }
  }

  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
