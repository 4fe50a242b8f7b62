// What jobs have saved: the newest first, one with what is known of it, and what has changed since another.
import { get } from "../../base/api.js";
import { addressOf } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { may } from "../../base/session.js";
import { hrefOf, place } from "../../base/router.js";
import { Ago, count } from "../../base/time.js";
import { JsonCard } from "../../parts/json_tree.js";
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

/** @param {{id: string}} props */
export function PayloadPage({ id }) {
  const loaded = useLoaded((signal) => get(`/api/payloads/${id}`, {}, signal), [id]);
  return html`<p><a href=${hrefOf("/payloads")}>All payloads</a></p>
    <div class="title"><h1>Payload ${id}</h1>${may("operate") ? html`<div class="actions"><a class="button" href=${addressOf(`/api/payloads/${id}/data`)} download>Get its content</a></div>` : null}</div>
    <${Shown} of=${loaded}>${(/** @type {any} */ payload) => html`
      <section class="card"><dl class="facts">
        <dt>About</dt><dd>${payload.key === null ? "–" : html`<a href=${hrefOf("/payloads", { key: payload.key })}><bdi>${payload.key}</bdi></a>`}</dd>
        <dt>Kind</dt><dd><bdi>${payload.kind}</bdi></dd><dt>Saved</dt><dd><${Ago} at=${payload.created_at} /></dd>
        <dt>Job</dt><dd>${payload.job_id === null ? "–" : html`<a href=${hrefOf(`/jobs/${payload.job_id}`)}>${String(payload.job_id)}</a>`}</dd>
        <dt>Content</dt><dd>${count(payload.size)} bytes of <bdi>${payload.media_type}</bdi>, ${count(payload.compressed_size)} in the store (${payload.codec})</dd>
        <dt>SHA-256</dt><dd class="mono">${payload.sha256}</dd><dt>Lies at</dt><dd class="mono"><bdi>${payload.location}</bdi></dd></dl></section>
      <${JsonCard} title="Metadata" value=${payload.metadata} />
      ${payload.key === null ? null : html`<${Compare} payload=${payload} />`}`}<//>`;
}

/** @param {{payload: any}} props */
function Compare({ payload }) {
  const { query } = place.value;
  const [from, fields, recordKey] = [query.get("from") ?? "", query.get("fields") ?? "price,stock", query.get("record_key") ?? "id"];
  const isAsked = query.has("fields");
  const path = `/api/payloads/store/${encodeURIComponent(payload.key)}/diff`;
  const load = (/** @type {AbortSignal} */ signal) => (isAsked ? get(path, { to: payload.id, from, fields, record_key: recordKey, kind: payload.kind, limit: 100 }, signal) : Promise.resolve(null));
  const loaded = useLoaded(load, [payload.id, from, fields, recordKey, isAsked]);
  return html`<section class="card"><h2>What has changed</h2>
    <${Fields} path=${`/payloads/${payload.id}`} fields=${[{ name: "from", title: "Since payload (the one before if empty)" }, { name: "record_key", title: "Records are told apart by" }, { name: "fields", title: "Fields, as price,stock" }]} />
    <${Shown} of=${loaded}>${(/** @type {any} */ found) => (found === null ? html`<p class="quiet">Name the fields to compare, and find.</p>` : html`
      <dl class="facts"><dt>From</dt><dd>payload ${String(found.from.id)}, ${count(found.from.productCount)} records</dd>
        <dt>To</dt><dd>payload ${String(found.to.id)}, ${count(found.to.productCount)} records</dd>
        ${Object.entries(found.diff).map(([name, number]) => html`<dt key=${name}>${name}</dt><dd>${count(/** @type {number} */ (number))}</dd>`)}</dl>
      <${JsonCard} title="Details" value=${found.details} />`)}<//></section>`;
}
