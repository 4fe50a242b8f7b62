// Which view an address means, and what stands in the navigation.
import { html } from "./base/html.js";
import { lazy } from "./base/lazy.js";
import { hrefOf } from "./base/router.js";
import { JobsPage } from "./pages/jobs/jobs.js";
import { OPERATION_PLACES, operationAt } from "./pages/operations/places.js";
import { Overview } from "./pages/overview.js";

const JobPage = lazy(async () => (await import("./pages/job/job.js")).JobPage);
const AuditLogPage = lazy(async () => (await import("./pages/admin/audit_log.js")).AuditLogPage);
const EgressPage = lazy(async () => (await import("./pages/admin/egress.js")).EgressPage);
const PayloadPage = lazy(async () => (await import("./pages/admin/payloads.js")).PayloadPage);
const PayloadsPage = lazy(async () => (await import("./pages/admin/payloads.js")).PayloadsPage);
const TokensPage = lazy(async () => (await import("./pages/admin/tokens.js")).TokensPage);
const ChainPage = lazy(async () => (await import("./pages/chains/chain.js")).ChainPage);
const ChainsPage = lazy(async () => (await import("./pages/chains/chains.js")).ChainsPage);
const EnqueuePage = lazy(async () => (await import("./pages/enqueue/enqueue.js")).EnqueuePage);
const FailuresPage = lazy(async () => (await import("./pages/failures/failures.js")).FailuresPage);
const GroupPage = lazy(async () => (await import("./pages/failures/group.js")).GroupPage);
const DoctorPage = lazy(async () => (await import("./pages/upkeep/doctor.js")).DoctorPage);

/** @typedef {{title: string, key: string, view: () => any, scope?: string}} View the scope that it takes, besides read */

/** What the head links to: the title, the path, the key after `g`, and the scope that it takes. */
export const PLACES = [
  { title: "Overview", path: "/", letter: "o", scope: "read" },
  { title: "Jobs", path: "/jobs", letter: "j", scope: "read" },
  { title: "Failures", path: "/failures", letter: "f", scope: "read" },
  ...OPERATION_PLACES,
  { title: "Chains", path: "/chains", letter: "h", scope: "read" },
  { title: "Doctor", path: "/doctor", letter: "d", scope: "read" },
  { title: "Enqueue", path: "/enqueue", letter: "e", scope: "enqueue" },
  { title: "Payloads", path: "/payloads", letter: "p", scope: "read" },
  { title: "Egress", path: "/egress", letter: "i", scope: "read" },
  { title: "Tokens", path: "/tokens", letter: "t", scope: "admin" },
  { title: "Audit log", path: "/audit", letter: "a", scope: "admin" },
];

/** Pages without anything in their address but a query. @type {Record<string, {title: string, page: any, scope?: string}>} */
const WHOLE = {
  chains: { title: "Chains", page: ChainsPage },
  doctor: { title: "Doctor", page: DoctorPage },
  enqueue: { title: "Enqueue", page: EnqueuePage, scope: "enqueue" },
  payloads: { title: "Payloads", page: PayloadsPage },
  egress: { title: "Egress", page: EgressPage },
  tokens: { title: "Tokens", page: TokensPage, scope: "admin" },
  audit: { title: "Audit log", page: AuditLogPage, scope: "admin" },
};

/** @param {string} path @returns {View} */
export function viewAt(path) {
  const [first = "", ...rest] = path.split("/").slice(1).map(decode);
  const name = rest.join("/");
  if (path === "/") return { title: "Overview", key: path, view: () => html`<${Overview} />` };
  if (first === "jobs" && /^\d+$/.test(name)) return { title: `Job ${name}`, key: path, view: () => html`<${JobPage} id=${name} />` };
  if (first === "jobs" && name === "") return { title: "Jobs", key: "/jobs", view: () => html`<${JobsPage} />` };
  if (first === "failures" && name === "") return { title: "Failures", key: "/failures", view: () => html`<${FailuresPage} />` };
  if (first === "failures" && /^[0-9a-f]{16}$/.test(name)) return { title: "Failure", key: path, view: () => html`<${GroupPage} fingerprint=${name} />` };
  const found = operationAt(first, name);
  if (found) return found;
  if (first === "chains" && /^\d+$/.test(name)) return { title: `Chain ${name}`, key: path, view: () => html`<${ChainPage} id=${name} />` };
  if (first === "payloads" && /^\d+$/.test(name)) return { title: `Payload ${name}`, key: path, view: () => html`<${PayloadPage} id=${name} />` };
  const other = name === "" && Object.hasOwn(WHOLE, first) ? WHOLE[first] : null;
  if (other) return { title: other.title, key: path, view: () => html`<${other.page} />`, scope: other.scope };
  return { title: "Not found", key: path, view: () => html`<${Missing} path=${path} />` };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {{path: string}} props */
const Missing = ({ path }) => html`<h1>Nothing is here</h1>
  <p class="empty">The dashboard has no page <bdi>${path}</bdi>. <a href=${hrefOf("/")}>Go to the overview</a>, or to one of the pages of the menu.</p>`;
