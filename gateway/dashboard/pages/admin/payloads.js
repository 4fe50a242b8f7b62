// What jobs have saved, the newest first.
import { get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { Ago, count } from "../../base/time.js";
import { Fields } from "../../parts/listing.js";
import { Pager } from "../../parts/pager.js";
import { Empty, Shown } from "../../parts/states.js";

const PAGE = 50;

export function PayloadsPage() {
  const { query } = place.value;
  const asked = { key: query.get("key") ?? "", kind: query.get("kind") ?? "", job_id: query.get("job_id") ?? "", cursor: query.get("cursor") ?? "" };
  const loaded = useLoaded((signal) => get("/api/payloads", { ...asked, limit: PAGE }, signal), [asked]);
  return html`<div class="title"><h1>Payloads</h1></div>
    <${Fields} path="/payloads" fields=${[{ name: "key", title: "About" }, { name: "kind", title: "Kind" }, { name: "job_id", title: "Saved by job" }]} />
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ page) => html`
      ${page.items.length ? html`<${Table} payloads=${page.items} />` : html`<${Empty}>There are no such payloads. Handlers save them with <code>job.save_payload</code>.<//>`}
      <${Pager} path="/payloads" next=${page.next} />`}<//></section>`;
}

/** @param {{payloads: any[]}} props */
function Table({ payloads }) {
  return html`<div class="scroll"><table>
    <thead><tr><th class="tight">Id</th><th>About</th><th>Kind</th><th class="number">Bytes</th><th class="number">Stored</th><th>Type</th><th class="tight">Job</th><th>Saved</th></tr></thead>
    <tbody>${payloads.map((each) => html`<tr key=${each.id}>
      <td class="tight number"><a href=${hrefOf(`/payloads/${each.id}`)}>${String(each.id)}</a></td>
      <td>${each.key === null ? "–" : html`<a href=${hrefOf("/payloads", { key: each.key })}><bdi>${each.key}</bdi></a>`}</td><td><bdi>${each.kind}</bdi></td>
      <td class="number">${count(each.size)}</td><td class="number">${count(each.compressed_size)}</td><td><bdi>${each.media_type}</bdi></td>
      <td class="tight number">${each.job_id === null ? "–" : html`<a href=${hrefOf(`/jobs/${each.job_id}`)}>${String(each.job_id)}</a>`}</td>
      <td><${Ago} at=${each.created_at} /></td></tr>`)}</tbody></table></div>`;
}
