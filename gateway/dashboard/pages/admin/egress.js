// The egress identities: which are in use, which cool down, which are retired and why.
import { call, get } from "../../base/api.js";
import { html, useState } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { may } from "../../base/session.js";
import { Ago, count, duration } from "../../base/time.js";
import { Asking, FormDialog, textsOf } from "../../parts/dialog.js";
import { Everything } from "../../parts/listing.js";
import { Empty, Shown } from "../../parts/states.js";
import { toast } from "../../parts/toasts.js";

const TONES = { ready: "good", leased: "busy", cooling: "warn", retired: "" };

export function EgressPage() {
  const everything = place.value.query.get("everything") ?? "";
  const loaded = useLoaded((signal) => get("/api/egress", { everything }, signal), [everything], { every: 5 });
  const [isAdding, setAdding] = useState(false);
  return html`<div class="title"><h1>Egress identities</h1>${may("admin") ? html`<div class="actions"><button class="first" onClick=${() => setAdding(true)}>New identity</button></div>` : null}</div>
    <${Everything} path="/egress" usual="in use" />
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ page) => page.items.length
      ? html`<${Table} identities=${page.items} reload=${loaded.reload} />`
      : html`<${Empty}>There are no identities. Add one: <code>leasehold egress add berlin-1 --proxy http://proxy.example:3128</code><//>`}<//></section>
    ${isAdding ? html`<${Add} onClose=${() => setAdding(false)} onDone=${loaded.reload} />` : null}`;
}

/** @param {{onClose: () => void, onDone: () => void}} props */
function Add({ onClose, onDone }) {
  const add = async (/** @type {FormData} */ form) => {
    const given = Object.fromEntries(Object.entries(textsOf(form)).filter(([, value]) => value !== ""));
    await call("POST", "/api/egress", { body: given });
    toast(`${given.name} is there.`);
    onDone();
  };
  return html`<${FormDialog} title="New identity" verb="Add it" form=${{ class: "form" }} onClose=${onClose} onSend=${add}>
    <p class="whole">An identity of this name is changed; one that is retired comes back.</p>
    <label>Name <input name="name" required maxlength="63" autocomplete="off" /></label><label>Language and country <input name="locale" required defaultValue="en-US" /></label>
    <label>Time zone (the country's first if empty) <input name="time_zone" /></label><label>Proxy (none if empty) <input name="proxy" placeholder="http://proxy.example:3128" /></label>
    <label>Its user <input name="proxy_user" autocomplete="off" /></label><label>Its password <input name="proxy_password" type="password" autocomplete="new-password" /></label><//>`;
}

/** Sends one request under an identity, from the gateway. @param {{name: string, onClose: () => void, onDone: () => void}} props */
function Test({ name, onClose, onDone }) {
  const send = async (/** @type {FormData} */ form) => {
    const report = await call("POST", `/api/egress/${encodeURIComponent(name)}/test`, { body: textsOf(form) });
    const answer = report.status === null ? `no answer, ${report.problem}` : `answered ${report.status} after ${duration(report.seconds)}`;
    toast(`${name}: ${answer}; the identity is ${report.state}.`, report.status === null || report.state !== "ready" ? "bad" : "good");
    onDone();
  };
  return html`<${FormDialog} title="Test ${name}" verb="Send it" form=${{ class: "form" }} onClose=${onClose} onSend=${send}>
    <p class="whole">The gateway sends one GET. The answer counts as one that a job got: after a 403 the identity cools. Without a proxy only public addresses are asked.</p>
    <label class="whole">Address <input name="url" inputmode="url" required placeholder="https://shop.example/" /></label><//>`;
}

/** @param {{identities: any[], reload: () => void}} props */
function Table({ identities, reload }) {
  const [tested, setTested] = useState("");
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
      <td class="tight"><div class="actions end">${may("admin") && each.state === "ready" ? html`<button onClick=${() => setTested(each.name)}>Test<span class="unseen"> ${each.name}</span></button>` : null}
        ${may("operate") && each.state !== "retired" ? html`<${Asking} label="Retire" about=${each.name} title="Retire ${each.name}?" verb="Retire it" isDangerous=${true} onYes=${() => retire(each)}>
        <p>No job gets it any more. The job that has it may finish.</p><//>` : null}</div></td></tr>`)}</tbody></table></div>
    ${tested ? html`<${Test} name=${tested} onClose=${() => setTested("")} onDone=${reload} />` : null}`;
}
