// The time that a page about failures looks at, as its address says it: decisions without effects, and their links.
import { html } from "../../base/html.js";
import { hrefOf, place } from "../../base/router.js";

/** @type {Record<string, number>} */
const HOURS = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 };
const USUAL = "24h";

/** The name of the time that the address asks for. */
export const chosenTime = () => {
  const given = place.value.query.get("time") ?? USUAL;
  return Object.hasOwn(HOURS, given) ? given : USUAL;
};

/** When it begins. @param {string} name @param {number} at milliseconds since 1970 */
export const sinceOf = (name, at) => new Date(at - HOURS[name] * 3600_000).toISOString();

/** The times as links. */
export function Times() {
  const { path, query } = place.value;
  const chosen = chosenTime();
  return html`<nav class="chips" aria-label="Time">
    ${Object.keys(HOURS).map((each) => html`<a key=${each} href=${hrefOf(path, { ...Object.fromEntries(query), time: each === USUAL ? "" : each })}
      aria-current=${each === chosen ? "true" : null}>last ${each}</a>`)}
  </nav>`;
}

/** Whether something that happened is a failure. @param {any[] | null} changes */
export const hasFailures = (changes) => changes === null || changes.some((each) => ["job_failed", "job_retried", "job_reaped", "job_requeued"].includes(each.event));
