// Shows the words behind a citation mark while it is pointed at or focused.
//
// A pointer may move onto the preview, Escape closes it. On a touch screen there is none: a tap opens the passage itself.

import { element } from "./dom.js";

const CLOSE_DELAY_MS = 150; // Long enough to cross the gap between the mark and its preview.
const MARGIN_PX = 12;

let open = null;

/** Gives `mark` a preview of the quote and of where it stands. */
export function attachPreview(mark, { quote, where }) {
  mark.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse") show(mark, quote, where);
  });
  mark.addEventListener("pointerleave", closeSoon);
  mark.addEventListener("focus", () => {
    if (mark.matches(":focus-visible")) show(mark, quote, where);
  });
  mark.addEventListener("blur", close);
  mark.addEventListener("click", close);
}

/** Closes the preview; says whether one was open, so that Escape means one thing at a time. */
export function close() {
  if (open === null) return false;
  clearTimeout(open.timer);
  open.mark.removeAttribute("aria-describedby");
  open.node.remove();
  open = null;
  return true;
}

function show(mark, quote, where) {
  if (open?.mark === mark) {
    clearTimeout(open.timer);
    return;
  }
  close();
  const node = element(
    "div",
    { class: "preview", role: "tooltip", id: "preview" },
    element("q", { dir: "auto" }, quote),
    element("span", { class: "preview-where" }, where),
  );
  document.body.append(node);
  open = { mark, node, timer: 0 };
  mark.setAttribute("aria-describedby", "preview");
  node.addEventListener("pointerenter", () => clearTimeout(open?.timer));
  node.addEventListener("pointerleave", closeSoon);
  place(node, mark.getBoundingClientRect());
}

function closeSoon() {
  if (open === null) return;
  clearTimeout(open.timer);
  open.timer = setTimeout(close, CLOSE_DELAY_MS);
}

function place(node, anchor) {
  const { width, height } = node.getBoundingClientRect();
  const right = document.documentElement.clientWidth - width - MARGIN_PX;
  const left = Math.max(MARGIN_PX, Math.min(anchor.left + anchor.width / 2 - width / 2, right));
  const below = anchor.bottom + 6;
  const fits = below + height + MARGIN_PX < document.documentElement.clientHeight;
  const top = fits ? below : anchor.top - height - 6;
  node.style.left = `${left + window.scrollX}px`;
  node.style.top = `${top + window.scrollY}px`;
}
