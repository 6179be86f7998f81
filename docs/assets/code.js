// The theme puts the buttons of every block of code into a landmark of its own, without a name.
new MutationObserver(() => {
  document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav) => {
    nav.ariaLabel = `Code ${document.querySelectorAll("nav.md-code__nav[aria-label]").length + 1}`;
  });
}).observe(document.documentElement, { childList: true, subtree: true });
