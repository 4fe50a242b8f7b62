// From the graph of a chain to boxes and lines: what is alike is folded, layers go from left to right. Decisions without effects.

/**
 * @typedef {{chain_id: number, kind: string | null, state: string, waits_for: number[]}} ChainNode
 * @typedef {{id: number, kind: string, state: string, ids: number[], isRoot: boolean, x: number, y: number}} Box
 * @typedef {{from: number, to: number}} Line by the ids of boxes: `to` waits for `from`
 * @typedef {{boxes: Box[], lines: Line[], width: number, height: number, left: number}} Picture `left`: boxes that are not drawn
 */

export const BOX = { width: 176, height: 46, across: 70, down: 14 };
const MOST = 200;

/** @param {ChainNode[]} nodes the first one is whose graph it is @param {number} [most] boxes @returns {Picture} */
export function pictureOf(nodes, most = MOST) {
  const { groups, waits } = fold(nodes);
  const shown = nearest(groups, waits, most);
  const layers = layersOf(shown, waits);
  order(layers, waits);
  /** @type {Box[]} */
  const boxes = [];
  const tallest = Math.max(1, ...layers.map((each) => each.length));
  layers.forEach((layer, column) => layer.forEach((id, row) => {
    const group = /** @type {ChainNode[]} */ (groups.get(id));
    const top = ((tallest - layer.length) / 2) * (BOX.height + BOX.down);
    boxes.push({
      id, kind: group[0].kind ?? "gone", state: group[0].state, ids: group.map((each) => each.chain_id),
      isRoot: group.includes(nodes[0]), x: column * (BOX.width + BOX.across), y: top + row * (BOX.height + BOX.down),
    });
  }));
  const lines = shown.flatMap((to) => [...(waits.get(to) ?? [])].filter((from) => shown.includes(from)).map((from) => ({ from, to })));
  return {
    boxes, lines, left: groups.size - shown.length,
    width: layers.length * (BOX.width + BOX.across) - BOX.across, height: tallest * (BOX.height + BOX.down) - BOX.down,
  };
}

/**
 * Chains of one kind in one state that wait for the same and are waited for by the same are one group.
 * @param {ChainNode[]} nodes
 * @returns {{groups: Map<number, ChainNode[]>, waits: Map<number, Set<number>>}} by the id of the first of each
 */
export function fold(nodes) {
  const known = new Set(nodes.map((each) => each.chain_id));
  /** @type {Map<number, number>} */
  let groupOf = new Map(nodes.map((each) => [each.chain_id, each.chain_id]));
  for (let before = -1, now = known.size; before !== now;) {
    before = now;
    /** @type {Map<number, Set<number>>} */
    const waitedBy = new Map();
    for (const each of nodes) {
      for (const other of each.waits_for) put(waitedBy, other, /** @type {number} */ (groupOf.get(each.chain_id)));
    }
    /** @type {Map<string, number>} */
    const names = new Map();
    const next = new Map(nodes.map((each, index) => {
      const waits = new Set(each.waits_for.filter((other) => known.has(other)).map((other) => groupOf.get(other)));
      const sorted = (/** @type {Iterable<any>} */ ids) => [...ids].sort((a, b) => a - b);
      const name = JSON.stringify([index === 0, each.kind, each.state, sorted(waits), sorted(waitedBy.get(each.chain_id) ?? [])]);
      if (!names.has(name)) names.set(name, each.chain_id);
      return [each.chain_id, /** @type {number} */ (names.get(name))];
    }));
    groupOf = next;
    now = names.size;
  }
  /** @type {Map<number, ChainNode[]>} */
  const groups = new Map();
  /** @type {Map<number, Set<number>>} */
  const waits = new Map();
  for (const each of nodes) {
    const id = /** @type {number} */ (groupOf.get(each.chain_id));
    groups.set(id, [...(groups.get(id) ?? []), each]);
    for (const other of each.waits_for) if (known.has(other)) put(waits, id, /** @type {number} */ (groupOf.get(other)));
  }
  return { groups, waits };
}

/** @param {Map<number, Set<number>>} map @param {number} key @param {number} value */
const put = (map, key, value) => map.set(key, (map.get(key) ?? new Set()).add(value));

/**
 * The groups that are fewest steps away from the first one.
 * @param {Map<number, ChainNode[]>} groups @param {Map<number, Set<number>>} waits @param {number} most
 */
function nearest(groups, waits, most) {
  /** @type {Map<number, Set<number>>} */
  const around = new Map();
  for (const [id, others] of waits) for (const other of others) { put(around, id, other); put(around, other, id); }
  const found = new Set([...groups.keys()].slice(0, 1));
  for (const id of found) for (const other of around.get(id) ?? []) if (found.size < most) found.add(other);
  for (const id of groups.keys()) if (found.size < most) found.add(id);
  return [...found];
}

/**
 * Each group in a layer right of all that it waits for; a circle is cut where it is met.
 * @param {number[]} ids @param {Map<number, Set<number>>} waits @returns {number[][]}
 */
function layersOf(ids, waits) {
  /** @type {Map<number, number>} */
  const depths = new Map();
  const isShown = new Set(ids);
  const depthOf = (/** @type {number} */ first) => {
    /** @type {[number, number[]][]} */
    const path = [[first, [...(waits.get(first) ?? [])]]];
    const isOnPath = new Set([first]);
    while (path.length) {
      const [id, rest] = path[path.length - 1];
      const other = rest.pop();
      if (other !== undefined) {
        if (isShown.has(other) && !depths.has(other) && !isOnPath.has(other)) {
          path.push([other, [...(waits.get(other) ?? [])]]);
          isOnPath.add(other);
        }
        continue;
      }
      depths.set(id, Math.max(-1, ...[...(waits.get(id) ?? [])].map((each) => (isOnPath.has(each) ? -1 : depths.get(each) ?? -1))) + 1);
      isOnPath.delete(id);
      path.pop();
    }
  };
  for (const id of ids) if (!depths.has(id)) depthOf(id);
  /** @type {number[][]} */
  const layers = [];
  for (const id of ids) (layers[/** @type {number} */ (depths.get(id))] ??= []).push(id);
  return layers.filter((each) => each !== undefined);
}

/** Put each box near those that it is joined with, so that few lines cross. @param {number[][]} layers @param {Map<number, Set<number>>} waits */
function order(layers, waits) {
  /** @type {Map<number, number>} */
  const places = new Map();
  const note = () => layers.forEach((layer) => layer.forEach((id, row) => places.set(id, row / Math.max(1, layer.length - 1))));
  const mean = (/** @type {number[]} */ ids) => ids.reduce((sum, id) => sum + (places.get(id) ?? 0.5), 0) / ids.length;
  note();
  for (let round = 0; round < 2; round += 1) {
    for (const layer of layers.slice(1)) {
      const wanted = new Map(layer.map((id) => [id, mean([...(waits.get(id) ?? [id])])]));
      layer.sort((a, b) => /** @type {number} */ (wanted.get(a)) - /** @type {number} */ (wanted.get(b)));
      note();
    }
  }
}
