// Who did what: changes to jobs, queues, schedules and workers, tokens, and sign-ins.
import { get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { writeJson } from "../../base/json.js";
import { useLoaded } from "../../base/loading.js";
import { place } from "../../base/router.js";
import { Ago } from "../../base/time.js";
import { Fields } from "../../parts/listing.js";
import { Pager } from "../../parts/pager.js";
import { Empty, Shown } from "../../parts/states.js";

const PAGE = 50;

export function AuditLogPage() {
  const { query } = place.value;
  const asked = { actor: query.get("actor") ?? "", action: query.get("action") ?? "", cursor: query.get("cursor") ?? "" };
  const loaded = useLoaded((signal) => get("/api/audit", { ...asked, limit: PAGE }, signal), [asked], { every: asked.cursor ? 0 : 15 });
  return html`<div class="title"><h1>Audit log</h1></div>
    <${Fields} path="/audit" fields=${[{ name: "actor", title: "Who" }, { name: "action", title: "What, from its beginning" }]} />
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ page) => html`
      ${page.items.length ? html`<${Table} entries=${page.items} />` : html`<${Empty}>Nothing like that was done. What the scopes operate and admin do stands here, and sign-ins.<//>`}
      <${Pager} path="/audit" next=${page.next} />`}<//></section>`;
}

/** @param {{entries: any[]}} props */
function Table({ entries }) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Entries"><table>
    <thead><tr><th class="tight">When</th><th>Who</th><th>What</th><th>With</th><th class="tight">Answer</th><th>From</th></tr></thead>
    <tbody>${entries.map((each) => html`<tr key=${each.id} data-entry=${each.id}>
      <td class="tight"><${Ago} at=${each.at} /></td><td><bdi>${each.actor}</bdi></td><td class="mono"><bdi>${each.action}</bdi></td>
      <td class="long mono"><bdi>${each.detail === null ? "–" : cut(writeJson(each.detail, 0))}</bdi></td>
      <td class="tight"><span class="badge" data-tone=${toneOf(each.status)}>${each.status ?? "none"}</span></td>
      <td><bdi>${each.address ?? "–"}</bdi></td></tr>`)}</tbody></table></div>`;
}

/** @param {number | null} status */
const toneOf = (status) => (status === null ? "warn" : status < 400 ? "good" : "bad");

/** @param {string} text */
const cut = (text) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
