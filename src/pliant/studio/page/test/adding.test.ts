import assert from "node:assert/strict";
import test from "node:test";
import { tickLabels, volume } from "../src/numbers";
import { beside, turned } from "../src/ui/mesh";
import { lumpShape } from "../src/viewer/adding";

test("a mesh whose up is y stands upright where up is z", () => {
  const { low, high, turn } = turned([-1, 0, -2], [1, 4, 2], "y", "z", 0.1);
  assert.deepEqual(turn, { axis: [1, 0, 0], degrees: 90 });
  assert.deepEqual(high.map((part, c) => Number((part - low[c]!).toFixed(9))), [0.2, 0.4, 0.4]);
  assert.ok(Math.abs(low[2]) < 1e-12 && Math.abs(high[2] - 0.4) < 1e-12); // its feet stay below
  assert.equal(turned([0, 0, 0], [1, 1, 1], "z", "z", 1).turn, null);
  assert.deepEqual(turned([0, 0, 0], [1, 2, 3], "z", "y", 1).high.map(Math.abs), [1, 3, 0]);
});

test("a new body stands on the ground beside the others", () => {
  assert.deepEqual(beside([-1, -1, -3], [1, 1, 5], "z", 0.5, []), [0, 0, 3.5]);
  assert.deepEqual(beside([-1, -1, -3], [1, 1, 5], "z", 0, [{ high: [2, 0, 0] }, { high: [3, 9, 9] }]), [4.2, 0, 3]);
});

test("lumps are balls about their centre and cubes from their corner", () => {
  const lump = { shape: "ball", size: 0.2, stick: true } as const;
  assert.deepEqual(lumpShape(lump, 0.1, [1, 2, 3]), { shape: { sphere: { radius: 0.1 } }, position: [1, 2, 3] });
  assert.deepEqual(lumpShape({ ...lump, shape: "cube" }, 0.5, [1, 2, 3]), { shape: { box: { size: [1, 1, 1] } }, position: [0.5, 1.5, 2.5] });
});

test("volumes have units that suit them, and ticks enough digits", () => {
  assert.deepEqual([0.5, 0.0268, 1.143e-4, 3e-8].map(volume), ["0.5 m³", "26.8 l", "114.3 cm³", "30 mm³"]);
  assert.deepEqual(tickLabels([1.14e-4, 1.145e-4, 1.15e-4], 5e-7), { labels: ["114.0", "114.5", "115.0"], power: -6 });
  assert.deepEqual(tickLabels([0, 50, 100], 50), { labels: ["0", "50", "100"], power: 0 });
  assert.deepEqual(tickLabels([0, 20000], 20000), { labels: ["0", "20"], power: 3 });
});
