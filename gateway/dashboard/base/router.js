// Every view is an address. Links are ordinary links; clicks on them change the view without loading the page again.
import { signal } from "./html.js";

/** Where the views begin: the prefix of the page, with a slash at its end. */
export const root = new URL(document.baseURI).pathname;

/** @typedef {{path: string, query: URLSearchParams}} Place */

export const place = signal(/** @type {Place} */ (whereWeAre()));

/** @returns {Place} */
function whereWeAre() {
  const below = location.pathname.startsWith(root) ? location.pathname.slice(root.length) : "";
  return { path: `/${below}`.replace(/\/+$/, "") || "/", query: new URLSearchParams(location.search) };
}

/** The address of a view. @param {string} path as `/jobs` @param {Record<string, any>} [query] */
export function hrefOf(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return root + path.replace(/^\//, "") + (text === "" ? "" : `?${text}`);
}

/** Show another view. @param {string} href @param {{replace?: boolean}} [how] */
export function go(href, { replace = false } = {}) {
  if (!replace) history.replaceState({ scrolled: scrollY }, "");
  history[replace ? "replaceState" : "pushState"](null, "", href);
  place.value = whereWeAre();
}

/** Change what the address asks for, and keep the rest. @param {Record<string, any>} changes @param {{replace?: boolean}} [how] */
export function ask(changes, how) {
  const { path, query } = place.value;
  go(hrefOf(path, { ...Object.fromEntries(query), ...changes }), how);
}

/** Scroll to where the reader was, once what was there has been loaded again: the browser does not wait for that. @param {number} to */
function scrollBack(to) {
  const look = new ResizeObserver(() => {
    if (document.body.scrollHeight < to + innerHeight) return;
    scrollTo(0, to);
    look.disconnect();
  });
  look.observe(document.body);
  for (const doing of ["wheel", "pointerdown", "keydown", "popstate"]) addEventListener(doing, () => look.disconnect(), { once: true, passive: true });
}

/** Have links change the view. */
export function followLinks() {
  addEventListener("popstate", ({ state }) => {
    place.value = whereWeAre();
    scrollBack(state?.scrolled ?? 0);
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(root) || link.dataset.outside !== undefined) return;
    event.preventDefault();
    go(link.href);
    scrollTo(0, 0);
  });
}
