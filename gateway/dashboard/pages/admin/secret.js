// A token just made, which is shown once. It stays in sight even where the first token of a gateway makes everybody sign in.
import { html, signal } from "../../base/html.js";
import { Dialog } from "../../parts/dialog.js";
import { copy } from "../../parts/json_tree.js";

export const secret = signal("");

export function Secret() {
  if (!secret.value) return null;
  const close = () => { secret.value = ""; };
  return html`<${Dialog} title="The new token" onClose=${close}>
    <p>It is shown only now. Put it where whoever uses it finds it.</p>
    <p class="secret mono" data-part="secret">${secret.value}</p>
    <div class="actions"><button onClick=${() => copy(secret.value)}>Copy</button><button class="first" onClick=${close}>I have it</button></div><//>`;
}
