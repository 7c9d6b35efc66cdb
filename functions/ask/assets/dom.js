// Builds elements. Text goes in as text nodes only: nothing that the service sends is ever read as HTML.

import { safeHref } from "./links.js";

/** An element with attributes and children; `null` children and `null` attributes are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A link that opens beside this page, or the same words as text when the address is not one to follow. */
export function link(address, ...children) {
  const href = safeHref(address, document.baseURI);
  if (href === null) return element("span", {}, ...children);
  return element("a", { href, target: "_blank", rel: "noopener" }, ...children);
}

/** `Title › Heading › Subheading`, without a part that repeats the one before it. */
export function headingPath(parts) {
  return parts.filter((part, at) => part !== "" && part !== parts[at - 1]).join(" › ");
}
