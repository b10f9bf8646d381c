// Reads a snapshot of V8's heap: sizes of classes, and what their objects retain.
const fs = require('fs');
const [file, ...classes] = process.argv.slice(2);
const { snapshot, nodes, edges, strings } = JSON.parse(fs.readFileSync(file, 'utf8'));
const { node_fields: fields, edge_fields: edgeFields, node_types: [types], edge_types: [edgeTypes] } = snapshot.meta;
const [WIDTH, EDGE] = [fields.length, edgeFields.length];
const at = Object.fromEntries(fields.map((name, index) => [name, index]));

const count = nodes.length / WIDTH;
const field = (node, name) => nodes[node * WIDTH + at[name]];
const firstEdge = new Uint32Array(count + 1);
for (let node = 0; node < count; node++) firstEdge[node + 1] = firstEdge[node] + field(node, 'edge_count');

function* strongTargets(node) {
  for (let edge = firstEdge[node]; edge < firstEdge[node + 1]; edge++) {
    if (edgeTypes[edges[edge * EDGE]] !== 'weak') yield edges[edge * EDGE + 2] / WIDTH;
  }
}

/** The size of all that is reached from the root without passing through `without`. */
function reachable(without) {
  const seen = new Uint8Array(count);
  const stack = [0];
  let size = 0;
  seen[0] = 1;
  if (without !== undefined) seen[without] = 1;
  while (stack.length > 0) {
    const node = stack.pop();
    size += field(node, 'self_size');
    for (const target of strongTargets(node)) if (!seen[target]) { seen[target] = 1; stack.push(target); }
  }
  return size;
}

const isObject = (node) => types[field(node, 'type')] === 'object';
const all = Array.from({ length: count }, (_, node) => node).filter(isObject);
const whole = reachable();
for (const name of classes) {
  const members = all.filter((node) => strings[field(node, 'name')] === name);
  if (members.length === 0) continue;
  const size = field(members[0], 'self_size');
  const retained = members.length <= 3 ? members.map((node) => whole - reachable(node)).sort((a, b) => a - b) : undefined;
  console.log(JSON.stringify({ class: name, instances: members.length, size, retained }));
}
