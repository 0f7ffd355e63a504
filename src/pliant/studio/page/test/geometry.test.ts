import assert from "node:assert/strict";
import test from "node:test";
import { cellOwners, dualCells, expand, shrunkTets, sides, tints } from "../src/viewer/geometry";

const TET = new Float32Array([0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4]);

test("points are doubled as told", () => {
  const out = new Float32Array(6);
  expand(new Float32Array([1, 2, 3, 4, 5, 6]), new Uint32Array([1, 0]), out);
  assert.deepEqual([...out], [4, 5, 6, 1, 2, 3]);
});

test("a tet shrinks towards its centre and keeps its volume's share", () => {
  const out = new Float32Array(36);
  shrunkTets(TET, new Uint32Array([0, 1, 2, 3]), 0.5, out);
  for (let c = 0; c < 3; c++) {
    const all = [...out].filter((_, k) => k % 3 === c);
    assert.equal(all.reduce((a, b) => a + b, 0) / 12, 1);
    assert.equal(Math.max(...all), 2.5);
  }
});

test("sides of triangles come once", () => {
  const corners = new Uint32Array([0, 1, 2, 2, 1, 3]);
  assert.equal(sides(corners, new Uint32Array([0, 1, 2, 3])).length, 2 * 5);
});

test("dual cells lie between their particles", () => {
  const cells = { particles: new Uint32Array([0, 1, 2, 3, 0, 1, 2, 3]), weights: new Float32Array([0.25, 0.25, 0.25, 0.25, 1, 0, 0, 0]), corners: new Uint32Array([2, 0, 1]), face: new Uint32Array([0]), edges: new Uint32Array([0, 1]) };
  const out = new Float32Array(18);
  dualCells(TET, cells, 1, out);
  assert.deepEqual([...out.subarray(0, 9)], [2, 0, 0, 1, 1, 1, 0, 0, 0]);
  assert.deepEqual([...cellOwners(cells)], [0, 0, 0, 1, 1, 1]);
});

test("tints are colours", () => {
  assert.ok(tints(50, 2).every((value) => value >= 0 && value <= 1));
});
