// What the page does by itself: it keeps its place and the focus, moves it by arrow keys in the list of landmarks, and says
// when the desk has ended.

// ---- the address: Back and Forward show the step that the address names

addEventListener("popstate", () => emitEvent("ms-place", Object.fromEntries(new URLSearchParams(location.search))));

// A step that is shown begins at its title, for the keys and for those who hear the page; who types already goes on.
function msShowStep() {
  requestAnimationFrame(() => {
    const title = document.querySelector(".ms-title[role=heading]");
    const typing = document.activeElement.matches(".ms-main :is(input, textarea)");
    if (!title || typing || document.querySelector(".ms-field-here")) return;
    title.focus({ preventScroll: true });
    title.scrollIntoView({ block: "nearest" });
  });
}

// The field that a finding concerns comes into view, with the focus, as soon as it is drawn.
function msShowField(tries = 60) {
  const row = document.querySelector(".ms-field-here");
  if (!row) return void (tries && setTimeout(() => msShowField(tries - 1), 50));
  row.closest(".q-expansion-item")?.querySelector(".q-item[aria-expanded=false]")?.click();
  row.scrollIntoView({ block: "center" });
  row.querySelector("input, [tabindex='0'], button")?.focus({ preventScroll: true });
}

// ---- a page within the step is as high as its content: the wheel scrolls the step

addEventListener("message", ({ source, data }) => {
  const frame = [...document.querySelectorAll("iframe.ms-page")].find((each) => each.contentWindow === source);
  if (frame && Number.isFinite(data?.msHeight)) frame.style.height = `${Math.min(data.msHeight + 2, 60000)}px`;
});

// ---- the focus: an element that is drawn anew has it again

const msSame = (one) => (other) => other.tagName === one.tag && msSign(other) === one.sign;
const msSign = (element) =>
  element.dataset.focus || element.getAttribute("aria-label") || element.innerText || element.getAttribute("role") || "";
const msAll = (tag) => [...document.querySelectorAll(`.ms-main ${tag}, .ms-header ${tag}, .ms-steps ${tag}`)];
// A task that runs, or the title, has the focus while there is no such element, or none any more.
const msStandsIn = (element) => element.matches(".ms-progress, .ms-title[role=heading]");
let msLast = null, msWaiting = 0;
addEventListener("focusin", ({ target }) => {
  if (msStandsIn(target)) return;
  const element = target.closest(".q-btn") || target;  // after a click a part of the button has the focus
  const sought = { element, tag: element.tagName, sign: msSign(element) };
  msLast = { ...sought, place: msAll(sought.tag).filter(msSame(sought)).indexOf(element) };
});
// Who clicks beside everything wants no focus.
addEventListener("pointerdown", ({ target }) => {
  if (!target.closest("button, a, input, select, textarea, [tabindex]")) msLast = null;
});
const msRefocus = () => {
  const now = document.activeElement, lost = now === document.body;
  if (!msLast || msLast.element.isConnected || !(lost || msStandsIn(now))) return;
  const alike = msAll(msLast.tag).filter(msSame(msLast)), found = alike[Math.min(msLast.place, alike.length - 1)];
  const focus = (element) => element?.focus({ preventScroll: true });
  if (found || lost) focus(found || document.querySelector(".ms-progress"));
  clearTimeout(msWaiting);
  msWaiting = setTimeout(() => {
    if (msLast && document.activeElement === document.body) focus(document.querySelector(".ms-title[role=heading]"));
  }, 400);
};
new MutationObserver(msRefocus).observe(document.body, { childList: true, subtree: true });

// ---- the list of landmarks: one stop of the Tab key, arrow keys within

const msCells = () => [...document.querySelectorAll(".ms-landmarks .ms-cell")];
const msOneStop = () => {
  const cells = msCells();
  if (!cells.length || cells.filter((cell) => cell.tabIndex === 0).length === 1) return;
  cells.forEach((cell) => { cell.tabIndex = -1; });
  (cells.find((cell) => cell === document.activeElement) || cells[0]).tabIndex = 0;
};
addEventListener("focusin", ({ target }) => {
  if (!target.matches(".ms-landmarks .ms-cell")) return msOneStop();
  msCells().forEach((cell) => { cell.tabIndex = cell === target ? 0 : -1; });
});
addEventListener("keydown", (event) => {
  const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
  if (!way || !event.target.matches(".ms-landmarks .ms-cell")) return;
  event.preventDefault();
  const rows = [...document.querySelectorAll(".ms-landmarks tbody tr")].map((row) => [...row.querySelectorAll(".ms-cell")]).filter((row) => row.length);
  const row = rows.findIndex((cells) => cells.includes(event.target)), column = rows[row].indexOf(event.target);
  const next = rows[Math.min(rows.length - 1, Math.max(0, row + way[1]))];
  next[Math.min(next.length - 1, Math.max(0, column + way[0]))].focus();
});

// ---- the end: the server has not answered for eight seconds; before that the page tries to reconnect

let msLost = 0;
setInterval(() => {
  const popup = document.getElementById("popup");
  msLost = popup && popup.ariaHidden === "false" ? msLost + 1 : 0;
  if (msLost !== 8) return;
  const words = popup.querySelectorAll("span");
  words[0].textContent = "The desk has ended.";
  words[1].textContent = "Everything is in the folder. Start it again where it was started: musclesolve desk";
}, 1000);

// ---- names for those who hear the page

document.documentElement.lang = "en";
const msNameUpload = () => {
  for (const each of document.querySelectorAll(".q-uploader__input:not([aria-label])")) {
    each.setAttribute("aria-label", "Choose recordings");
    each.tabIndex = 0;  // the field itself is reached by keys, and the link around it is none
    for (const name of ["tabindex", "role"]) each.closest("a")?.removeAttribute(name);
  }
};
const msTables = () => {  // a table that is wider than the page is moved by keys, too
  for (const each of document.querySelectorAll(".q-table__middle.scroll:not([tabindex])")) each.tabIndex = 0;
};
new MutationObserver(msTables).observe(document.body, { childList: true, subtree: true });
new MutationObserver(msNameUpload).observe(document.body, { childList: true, subtree: true });
