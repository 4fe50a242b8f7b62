// The time that pages about failures look at, as the address says it, and which way a group goes in it: decisions without effects, and how they look.
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

/** What the words mean, and how bad they are. @type {Record<string, [string, string]>} */
const TRENDS = {
  new: ["bad", "Fails in the last sixth of this time, and did not before"],
  rising: ["bad", "In the last sixth of this time three failures or more, and at least three times as many an hour as before"],
  steady: ["warn", "Fails in the last sixth of this time about as often as before, or less"],
  quiet: ["", "Has not failed in the last sixth of this time"],
};

/** @param {{of: string | null}} props as the API says it: unknown where not all failures were looked at */
export function Trend({ of }) {
  const [tone, meaning] = TRENDS[of ?? ""] ?? ["", "Not known: there were more failures than can be looked at"];
  return html`<span class="badge" data-tone=${tone} title=${meaning}>${of ?? "–"}</span>`;
}

/** Whether something that happened is a failure. @param {any[] | null} changes */
export const hasFailures = (changes) => changes === null || changes.some((each) => ["job_failed", "job_retried", "job_reaped", "job_requeued"].includes(each.event));
