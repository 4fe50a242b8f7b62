// The chains, the newest first.
import { get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { Ago } from "../../base/time.js";
import { State } from "../../parts/badge.js";
import { Fields } from "../../parts/listing.js";
import { Pager } from "../../parts/pager.js";
import { Empty, Shown } from "../../parts/states.js";

const STATES = ["", "open", "completed", "failed", "cancelled"];
const PAGE = 50;

export function ChainsPage() {
  const { query } = place.value;
  const asked = { state: query.get("state") ?? "", kind: query.get("kind") ?? "", queue: query.get("queue") ?? "" };
  const cursor = query.get("cursor") ?? "";
  const loaded = useLoaded((signal) => get("/api/chains", { ...asked, cursor, limit: PAGE }, signal), [asked, cursor], { live: cursor === "" });
  return html`<div class="title"><h1>Chains</h1></div>
    <nav class="chips" aria-label="States">${STATES.map((each) => html`<a key=${each} href=${hrefOf("/chains", { ...asked, state: each })}
      aria-current=${each === asked.state ? "true" : null}>${each || "all"}</a>`)}</nav>
    <${Fields} path="/chains" keep=${{ state: asked.state }} fields=${[{ name: "kind", title: "Kind" }, { name: "queue", title: "Queue" }]} />
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ page) => html`
      ${page.items.length ? html`<${Table} chains=${page.items} />` : html`<${Empty}>No chain is like that. Each job begins a chain; continued ones and those that wait for others are worth a look here.<//>`}
      <${Pager} path="/chains" next=${page.next} />`}<//></section>`;
}

/** @param {{chains: any[]}} props */
function Table({ chains }) {
  return html`<div class="scroll"><table>
    <thead><tr><th class="tight">Chain</th><th>Kind</th><th class="tight">State</th><th class="number">Jobs</th><th>Last job</th>
      <th class="number">Waits for</th><th>Created</th><th>Finished</th></tr></thead>
    <tbody>${chains.map((each) => html`<tr key=${each.chain_id} data-chain=${each.chain_id}>
      <td class="tight number"><a href=${hrefOf(`/chains/${each.chain_id}`)}>${String(each.chain_id)}</a></td>
      <td><bdi>${each.kind ?? "gone"}</bdi></td><td class="tight"><${State} state=${each.state} /></td>
      <td class="number">${each.jobs}</td>
      <td class="in-text"><a href=${hrefOf(`/jobs/${each.job_id}`)}>${String(each.job_id)}</a> <bdi>${each.job_kind}</bdi> <${State} state=${each.job_state} /></td>
      <td class="number">${each.open_blockers || "–"}</td>
      <td><${Ago} at=${each.created_at} /></td><td><${Ago} at=${each.finished_at} /></td></tr>`)}</tbody></table></div>`;
}
