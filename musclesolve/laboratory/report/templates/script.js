"use strict";
(() => {
  const folded = () => document.querySelectorAll("details[data-printed]");
  const nameUnprinted = () => {
    const titles = [...document.querySelectorAll("main .part:not([open]):not([data-printed]) > summary")].map((each) => each.dataset.onPaper || each.textContent.trim());
    const words = titles.length ? `In the page itself, and not on paper unless opened there: ${[...new Set(titles)].join("; ")}.` : "";
    document.querySelectorAll("[data-not-printed]").forEach((each) => { each.textContent = words; });
  };
  if (innerWidth < 700) document.querySelectorAll("[data-closed-on-phones]").forEach((each) => { each.open = false; });
  addEventListener("beforeprint", () => folded().forEach((each) => { each.dataset.was = each.open ? "1" : ""; each.open = true; }));
  addEventListener("beforeprint", nameUnprinted);
  addEventListener("afterprint", () => folded().forEach((each) => { each.open = each.dataset.was === "1"; }));
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  };
  addEventListener("hashchange", unfold);
  if (location.hash === "#print") addEventListener("load", () => setTimeout(print, 1500));  // when the picture is drawn
  unfold();
  document.querySelectorAll("[data-open-all]").forEach((button) => button.addEventListener("click", () => {
    document.querySelectorAll("main details").forEach((each) => { each.open = true; });
  }));
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };
  document.querySelectorAll("button[data-copy]").forEach((button) => button.addEventListener("click", async () => {
    const element = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(element.innerText);
      button.textContent = "Copied";
    } catch {
      select(element);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2500);
  }));
})();

// A page that is shown within another one tells its height: the page around it then needs no second scroll bar.
if (parent !== window) {
  const tell = () => parent.postMessage({ msHeight: Math.ceil(document.documentElement.getBoundingClientRect().height) }, "*");
  new ResizeObserver(tell).observe(document.body);
}
