// Which view an address means, and what stands in the navigation.
import { html } from "./base/html.js";
import { lazy } from "./base/lazy.js";
import { hrefOf } from "./base/router.js";
import { Overview } from "./pages/overview.js";

/** @typedef {{title: string, key: string, view: () => any, scope?: string}} View the scope that it takes, besides read */

/** What one can go to. letter: after `g`; group: begins with it; isTab: it has a place of its own on a phone.
 * @type {{title: string, path: string, letter: string, scope: string, page: any, group?: string, isTab?: boolean}[]} */
export const PLACES = [
  { title: "Overview", path: "/", letter: "o", scope: "read", page: Overview, group: "Now", isTab: true },
  { title: "Failures", path: "/failures", letter: "f", scope: "read", page: lazy(() => import("./pages/failures/failures.js"), "FailuresPage"), isTab: true },
  { title: "Jobs", path: "/jobs", letter: "j", scope: "read", page: lazy(() => import("./pages/jobs/jobs.js"), "JobsPage"), group: "Work", isTab: true },
  { title: "Chains", path: "/chains", letter: "h", scope: "read", page: lazy(() => import("./pages/chains/chains.js"), "ChainsPage") },
  { title: "Queues", path: "/queues", letter: "q", scope: "read", page: lazy(() => import("./pages/operations/queues/queues.js"), "QueuesPage") },
  { title: "Schedules", path: "/schedules", letter: "s", scope: "read", page: lazy(() => import("./pages/operations/schedules/schedules.js"), "SchedulesPage") },
  { title: "Enqueue", path: "/enqueue", letter: "e", scope: "enqueue", page: lazy(() => import("./pages/enqueue/enqueue.js"), "EnqueuePage") },
  { title: "Workers", path: "/workers", letter: "w", scope: "read", page: lazy(() => import("./pages/operations/workers/workers.js"), "WorkersPage"), group: "Fleet", isTab: true },
  { title: "Capacity", path: "/capacity", letter: "c", scope: "read", page: lazy(() => import("./pages/operations/capacity/capacity.js"), "CapacityPage") },
  { title: "Payloads", path: "/payloads", letter: "p", scope: "read", page: lazy(() => import("./pages/admin/payloads.js"), "PayloadsPage"), group: "Data" },
  { title: "Egress", path: "/egress", letter: "i", scope: "read", page: lazy(() => import("./pages/admin/egress.js"), "EgressPage") },
  { title: "Doctor", path: "/doctor", letter: "d", scope: "read", page: lazy(() => import("./pages/upkeep/doctor.js"), "DoctorPage"), group: "System" },
  { title: "Audit log", path: "/audit", letter: "a", scope: "admin", page: lazy(() => import("./pages/admin/audit_log.js"), "AuditLogPage") },
  { title: "Tokens", path: "/tokens", letter: "t", scope: "admin", page: lazy(() => import("./pages/admin/tokens.js"), "TokensPage") },
];

const ID = /^\d+$/;
/** Pages of one thing, by the beginning of their path. @type {Record<string, {is: RegExp, title: string, page: any}>} */
const ONES = {
  jobs: { is: ID, title: "Job ", page: lazy(() => import("./pages/job/job.js"), "JobPage") },
  failures: { is: /^[0-9a-f]{16}$/, title: "Failure ", page: lazy(() => import("./pages/failures/group.js"), "GroupPage") },
  chains: { is: ID, title: "Chain ", page: lazy(() => import("./pages/chains/chain.js"), "ChainPage") },
  payloads: { is: ID, title: "Payload ", page: lazy(() => import("./pages/admin/payload.js"), "PayloadPage") },
  queues: { is: /./, title: "", page: lazy(() => import("./pages/operations/queues/queue.js"), "QueuePage") },
  workers: { is: /./, title: "", page: lazy(() => import("./pages/operations/workers/worker.js"), "WorkerPage") },
  schedules: { is: /./, title: "", page: lazy(() => import("./pages/operations/schedules/schedule.js"), "SchedulePage") },
  capacity: { is: /./, title: "Capacity of ", page: lazy(() => import("./pages/operations/capacity/queue.js"), "CapacityOfQueue") },
};

/** @param {string} path @returns {View} */
export function viewAt(path) {
  const place = PLACES.find((each) => each.path === path);
  if (place) return { title: place.title, key: path, view: () => html`<${place.page} />`, scope: place.scope };
  const [first = "", ...rest] = path.split("/").slice(1).map(decode);
  const name = rest.join("/");
  const one = Object.hasOwn(ONES, first) && ONES[first].is.test(name) ? ONES[first] : null;
  if (one) return { title: one.title + name, key: path, view: () => html`<${one.page} name=${name} />` };
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
