// Decides which addresses become links. Everything else is shown as text.

/**
 * The absolute address to link to, or `null` when the address is not a plain http(s) or relative one: `javascript:` and
 * its disguises, `data:`, credentials before the host, and `//host` without a scheme are all refused.
 */
export function safeHref(address, base) {
  if (typeof address !== "string" || address === "") return null;
  if (/[\u0000-\u0020\\]/.test(address) || address.startsWith("//")) return null;
  let url;
  try {
    url = new URL(address, base);
  } catch {
    return null;
  }
  const web = url.protocol === "http:" || url.protocol === "https:";
  return web && url.username === "" && url.password === "" ? url.href : null;
}
