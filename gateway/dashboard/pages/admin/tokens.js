// The tokens: who has one, what it may do, when it was used. A new one is shown once.
import { call, get } from "../../base/api.js";
import { html, useState } from "../../base/html.js";
import { whileDeaf } from "../../base/live.js";
import { useLoaded } from "../../base/loading.js";
import { place } from "../../base/router.js";
import { loadSession, session } from "../../base/session.js";
import { Ago } from "../../base/time.js";
import { Asking, FormDialog } from "../../parts/dialog.js";
import { Everything } from "../../parts/listing.js";
import { Empty, Shown } from "../../parts/states.js";
import { toast } from "../../parts/toasts.js";
import { secret } from "./secret.js";

const SCOPES = [["read", "look at everything"], ["enqueue", "enqueue jobs"], ["operate", "change jobs, queues and schedules"], ["admin", "make tokens, repair, see the audit log"]];
const TONES = { active: "good", expired: "warn", revoked: "" };

export function TokensPage() {
  const everything = place.value.query.get("everything") ?? "";
  const [isMaking, setMaking] = useState(false);
  const loaded = useLoaded((signal) => get("/api/tokens", { everything }, signal), [everything]);
  return html`<div class="title"><h1>Tokens</h1><div class="actions"><button class="first" onClick=${() => setMaking(true)}>New token</button></div></div>
    <${Everything} path="/tokens" usual="active" />
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ page) => page.items.length
      ? html`<${Table} tokens=${page.items} reload=${loaded.reload} />`
      : html`<${Empty}>${everything && !session.value?.is_session ? "There are no tokens. On loopback the gateway asks nobody for one until there are." : "No token is active."}<//>`}<//></section>
    ${isMaking ? html`<${Make} onClose=${() => { setMaking(false); if (session.value?.is_session) loaded.reload(); }} />` : null}`;
}

/** @param {{tokens: any[], reload: () => void}} props */
function Table({ tokens, reload }) {
  const revoke = async (/** @type {any} */ token) => {
    await call("DELETE", `/api/tokens/${token.token_id}`);
    toast("It is revoked.");
    reload();
  };
  return html`<div class="scroll"><table>
    <thead><tr><th>Name</th><th>Begins with</th><th>May</th><th class="tight">State</th><th>Used</th><th>Made</th><th>Ends</th><th class="tight"><span class="unseen">Actions</span></th></tr></thead>
    <tbody>${tokens.map((each) => html`<tr key=${each.token_id}>
      <td><bdi>${each.name}</bdi></td><td class="mono">${each.prefix}…</td><td>${each.scopes.join(", ")}</td>
      <td class="tight"><span class="badge" data-tone=${TONES[/** @type {"active"} */ (each.state)] ?? ""}>${each.state}</span></td>
      <td><${Ago} at=${each.last_used_at} /></td><td><${Ago} at=${each.created_at} /> <bdi class="quiet">by ${each.created_by}</bdi></td>
      <td><${Ago} at=${each.revoked_at ?? each.expires_at} /></td>
      <td class="tight">${each.state !== "revoked" ? html`<${Asking} label="Revoke" about=${each.name} title="Revoke the token of ${each.name}?" verb="Revoke it" isDangerous=${true} onYes=${() => revoke(each)}>
        <p>Whoever uses it is refused within a second, and browsers that signed in with it are signed out. Once the last token is revoked, a gateway on loopback serves everybody who reaches it.</p><//>` : null}</td></tr>`)}</tbody></table></div>`;
}

/** @param {{onClose: () => void}} props */
function Make({ onClose }) {
  const make = async (/** @type {FormData} */ form) => {
    const days = Number(form.get("days"));
    const scopes = form.getAll("scope").map(String);
    if (!scopes.length) throw new Error("Choose what the token may do.");
    const body = { name: String(form.get("name")).trim(), scopes, ...(days > 0 ? { expires_in: days * 86400 } : {}) };
    const ask = async () => { secret.value = (await call("POST", "/api/tokens", { body })).secret; };
    if (session.value?.is_session) await ask();
    // The first token of all: from now on, nobody is admitted without one.
    else await whileDeaf(async () => { await ask(); await loadSession(); });
  };
  return html`<${FormDialog} title="New token" verb="Make it" form=${{ class: "form" }} onClose=${onClose} onSend=${make}>
    ${session.value?.is_session ? null : html`<p class="trouble whole" data-tone="warn">This gateway asks nobody for a token as long as there is none. From this one on, it asks everybody, you too: give it the scope admin, or keep another way in.</p>`}
    <label class="whole">Name, as the audit log shall show it <input name="name" required maxlength="63" autocomplete="off" /></label>
    <fieldset class="whole"><legend>It may</legend>${SCOPES.map(([scope, what]) => html`<label key=${scope}><input type="checkbox" name="scope" value=${scope} /> ${scope}: ${what}</label>`)}</fieldset>
    <label>Days until it ends (never if empty) <input name="days" type="number" min="1" max="3650" /></label><//>`;
}
