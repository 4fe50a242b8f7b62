// The egress identities: which are in use, which cool down, which are retired and why.
import { call, get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { may } from "../../base/session.js";
import { Ago, count, duration } from "../../base/time.js";
import { Asking } from "../../parts/dialog.js";
import { Empty, Shown } from "../../parts/states.js";
import { toast } from "../../parts/toasts.js";

const TONES = { ready: "good", leased: "busy", cooling: "warn", retired: "" };

export function EgressPage() {
  const everything = place.value.query.get("everything") ?? "";
  const loaded = useLoaded((signal) => get("/api/egress", { everything }, signal), [everything], { every: 5 });
  return html`<div class="title"><h1>Egress identities</h1></div>
    <nav class="chips" aria-label="Which">
      <a href=${hrefOf("/egress")} aria-current=${everything ? null : "true"}>in use</a>
      <a href=${hrefOf("/egress", { everything: "true" })} aria-current=${everything ? "true" : null}>all</a></nav>
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ page) => page.items.length
      ? html`<${Table} identities=${page.items} reload=${loaded.reload} />`
      : html`<${Empty}>There are no identities. Add one: <code>leasehold egress add berlin-1 --proxy http://proxy.example:3128</code><//>`}<//></section>`;
}

/** @param {{identities: any[], reload: () => void}} props */
function Table({ identities, reload }) {
  const retire = async (/** @type {any} */ identity) => {
    await call("POST", `/api/egress/${encodeURIComponent(identity.name)}/retire`);
    toast("It is retired.");
    reload();
  };
  return html`<div class="scroll"><table>
    <thead><tr><th>Name</th><th class="tight">State</th><th>Proxy</th><th>Locale</th><th class="number">Uses</th><th class="number">Refusals</th><th>Last</th><th>Used</th><th class="tight"><span class="unseen">Actions</span></th></tr></thead>
    <tbody>${identities.map((each) => html`<tr key=${each.identity_id}>
      <td><bdi>${each.name}</bdi></td>
      <td class="tight"><span class="badge" data-tone=${TONES[/** @type {"ready"} */ (each.state)] ?? ""}>${each.state}</span>
        ${each.cools_for ? html` <span class="quiet">${duration(each.cools_for)}</span>` : null}
        ${each.leased_job ? html` <a href=${hrefOf(`/jobs/${each.leased_job}`)}>job ${String(each.leased_job)}</a>` : null}</td>
      <td><bdi>${each.proxy ?? "none"}</bdi></td><td>${each.locale} <span class="quiet">${each.time_zone}</span></td>
      <td class="number">${count(each.uses)}</td><td class="number">${each.refusals} <span class="quiet">of ${each.retire_after}; ${count(each.refusals_total)} ever</span></td>
      <td><bdi>${each.retire_reason ?? each.last_outcome ?? "–"}</bdi></td><td><${Ago} at=${each.used_at} /></td>
      <td class="tight">${may("operate") && each.state !== "retired" ? html`<${Asking} label="Retire" about=${each.name} title="Retire ${each.name}?" verb="Retire it" isDangerous=${true} onYes=${() => retire(each)}>
        <p>No job gets it any more. The job that has it may finish.</p><//>` : null}</td></tr>`)}</tbody></table></div>`;
}
