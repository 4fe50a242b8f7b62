// The way on in a list of pages, and back to its first one.
import { html } from "../base/html.js";
import { hrefOf, place } from "../base/router.js";

/** @param {{path: string, next: string | null, first?: string, more?: string}} props */
export function Pager({ path, next, first = "Newest", more = "Older" }) {
  const { cursor, ...others } = Object.fromEntries(place.value.query);
  if (!cursor && !next) return null;
  return html`<nav class="pager" aria-label="Pages of the list">
    ${cursor ? html`<a class="button" href=${hrefOf(path, others)}>${first}</a>` : null}
    ${next ? html`<a class="button" href=${hrefOf(path, { ...others, cursor: next })}>${more}</a>` : null}
  </nav>`;
}
