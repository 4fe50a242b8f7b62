// What is known of something that a job has saved, and what has changed in it since another.
import { addressOf, get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { may } from "../../base/session.js";
import { Ago, count } from "../../base/time.js";
import { writeJson } from "../../base/json.js";
import { JsonCard } from "../../parts/json_tree.js";
import { Fields } from "../../parts/listing.js";
import { Shown } from "../../parts/states.js";

const VERSIONS = 50;
const MOST = 100;

/** @param {{name: string}} props */
export function PayloadPage({ name: id }) {
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
  const [from, records, fields, recordKey] = [query.get("from") ?? "", query.get("records") ?? "", query.get("fields") ?? "", query.get("record_key") || "id"];
  const path = `/api/payloads/store/${encodeURIComponent(payload.key)}`;
  const others = useLoaded((signal) => get(path, { kind: payload.kind, limit: VERSIONS }, signal), [payload.id]);
  const load = (/** @type {AbortSignal} */ signal) => (fields ? get(`${path}/diff`, { to: payload.id, from, records, fields, record_key: recordKey, kind: payload.kind, limit: MOST }, signal) : Promise.resolve(null));
  const loaded = useLoaded(load, [payload.id, from, records, fields, recordKey]);
  return html`<section class="card"><h2>What has changed</h2><${Shown} of=${others}>${(/** @type {any} */ page) => html`
    <${Fields} path=${`/payloads/${payload.id}`} fields=${[
      { name: "from", title: "Since", options: [["", "the one before"], ...page.items.filter((/** @type {any} */ each) => each.id !== payload.id).map(optionOf)] },
      { name: "records", title: "Records are at, as data.products" }, { name: "record_key", title: "They are told apart by (id if empty)" }, { name: "fields", title: "Fields, as price,stock" }]} />`}<//>
    <${Shown} of=${loaded}>${(/** @type {any} */ found) => (found === null ? html`<p class="quiet">Name the fields to compare, and find.</p>`
      : html`<${Changes} found=${found} fields=${fields.split(",").map((each) => each.trim())} recordKey=${recordKey} />`)}<//></section>`;
}

/** @param {any} payload */
const optionOf = ({ id, created_at, size }) => [String(id), `${id}, ${new Date(created_at).toLocaleString()}, ${count(size)} bytes`];

/** @param {any} value */
const shown = (value) => (value !== null && typeof value === "object" ? writeJson(value, 0) : String(value));

/** How much it is more or less. @param {any} from @param {any} to */
function changeOf(from, to) {
  if (typeof from !== "number" || typeof to !== "number") return "";
  const text = Number.isInteger(from) && Number.isInteger(to) ? String(to - from) : from === 0 ? "" : `${(((to - from) / Math.abs(from)) * 100).toFixed(1)} %`;
  return to > from && text ? `+${text}` : text.replace("-", "−");
}

/** @param {{found: any, fields: string[], recordKey: string}} props */
function Changes({ found: { from, to, diff, details }, fields, recordKey }) {
  const described = (/** @type {any} */ record) => fields.map((each) => `${each} ${shown(record[each])}`).join(", ");
  const whole = (/** @type {any} */ record) => record.name ?? record[recordKey];
  const rows = [
    ...fields.flatMap((field) => details[`${field}Changes`].map((/** @type {any} */ each) => ["~ changed", each.name ?? each.key, field, shown(each.from), shown(each.to), changeOf(each.from, each.to)])),
    ...details.added.map((/** @type {any} */ each) => ["+ added", whole(each), "", "–", described(each), "new"]),
    ...details.removed.map((/** @type {any} */ each) => ["− removed", whole(each), "", described(each), "–", "gone"]),
  ];
  return html`<p><b>${count(diff.added)} added, ${count(diff.removed)} removed${fields.map((each) => `, ${count(diff[`${each}Changes`])} ${each} changed`).join("")}</b>
      <span class="quiet">: payload <a href=${hrefOf(`/payloads/${from.id}`)}>${String(from.id)}</a> has ${count(from.productCount)} records, payload ${String(to.id)} has ${count(to.productCount)}.</span></p>
    ${rows.length === 0 ? null : html`<div class="scroll"><table><thead><tr><th class="tight">What</th><th>Record</th><th>Field</th><th class="number">Was</th><th class="number">Now</th><th class="number">Change</th></tr></thead>
      <tbody>${rows.map(([what, record, field, was, now, change], at) => html`<tr key=${at}><td class="tight">${what}</td><td><bdi>${String(record)}</bdi></td><td>${field && html`<bdi>${field}</bdi>`}</td>
        <td class="number quiet"><bdi>${was}</bdi></td><td class="number"><b><bdi>${now}</bdi></b></td><td class="number">${change}</td></tr>`)}</tbody></table></div>`}`;
}
