// What fails: groups by kind, error and place, the one that failed last first.
import { get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { Ago, clock, count } from "../../base/time.js";
import { Bars } from "../../parts/bars.js";
import { useDeploys } from "../../parts/charts/deploys.js";
import { Fields } from "../../parts/listing.js";
import { Empty, Shown } from "../../parts/states.js";
import { chosenTime, hasFailures, sinceOf, Times, Trend } from "./times.js";

export function FailuresPage() {
  const { query } = place.value;
  const [time, kind, queue] = [chosenTime(), query.get("kind") ?? "", query.get("queue") ?? ""];
  const load = (/** @type {AbortSignal} */ signal) => get("/api/failures", { since: sinceOf(time, clock()), kind, queue }, signal);
  const loaded = useLoaded(load, [time, kind, queue], { live: true, every: 60, when: hasFailures });
  return html`<div class="title"><h1>Failures</h1></div>
    <${Times} />
    <${Fields} path="/failures" keep=${{ time: query.get("time") }} fields=${[{ name: "kind", title: "Kind" }, { name: "queue", title: "Queue" }]} />
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ page) => page.items.length
      ? html`<${Groups} groups=${page.items} time=${time} />`
      : html`<${Empty}>Nothing has failed in this time. <a href=${hrefOf("/failures", { time: "30d" })}>Look at the last 30 days</a>.<//>`}<//></section>`;
}

/** @param {{groups: any[], time: string}} props */
function Groups({ groups, time }) {
  const marks = useDeploys();
  return html`
    ${groups.some((each) => each.is_partial) ? html`<p class="trouble" data-tone="warn">There were more failures than can be looked at; the newest are shown.</p>` : null}
    <div class="scroll"><table>
      <thead><tr><th>Kind</th><th>Error</th><th>Trend</th><th>Over time</th><th class="number">Failures</th><th class="number">Jobs failed</th>
        <th>Last</th><th>First</th><th>Versions</th></tr></thead>
      <tbody>${groups.map((each) => html`<${Row} key=${each.fingerprint} group=${each} time=${time} marks=${marks} />`)}</tbody>
    </table></div>`;
}

/** @param {{group: any, time: string, marks: {at: number, text: string}[]}} props */
function Row({ group, time, marks }) {
  const href = hrefOf(`/failures/${group.fingerprint}`, { time: time === "24h" ? "" : time });
  return html`<tr data-group=${group.fingerprint}>
    <td><bdi>${group.kind ?? "gone"}</bdi></td>
    <td class="long"><a href=${href}><strong><bdi>${group.error_type ?? "without a type"}</bdi></strong></a> <bdi>${shorten(group.last_message)}</bdi>
      ${group.place ? html`<div class="quiet mono"><bdi>${group.place}</bdi></div>` : null}</td>
    <td class="tight"><${Trend} of=${group.trend} /></td>
    <td class="tight"><${Bars} counts=${group.counts} from=${group.starts_at} to=${group.ends_at} marks=${marks} label="Failures of ${group.kind ?? "jobs that are gone"}" /></td>
    <td class="number">${count(group.failures)}</td>
    <td class="number">${count(group.failed_jobs)}</td>
    <td class="tight"><${Ago} at=${group.last_at} /></td>
    <td class="tight"><${Ago} at=${group.first_at} /></td>
    <td><bdi>${group.versions.join(", ") || "–"}</bdi></td>
  </tr>`;
}

/** @param {string | null} text */
const shorten = (text) => (text && text.length > 160 ? `${text.slice(0, 160)}…` : text ?? "");
