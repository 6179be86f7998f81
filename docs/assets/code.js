// The theme puts the buttons of every block of code into a landmark of its own, without a name, and wide tables into a
// frame that scrolls, which the keyboard does not reach.
new MutationObserver(() => {
  document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav) => {
    nav.ariaLabel = `Code ${document.querySelectorAll("nav.md-code__nav[aria-label]").length + 1}`;
  });
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((frame) => { frame.tabIndex = 0; });
}).observe(document.documentElement, { childList: true, subtree: true });
