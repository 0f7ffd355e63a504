import assert from "node:assert/strict";
import test from "node:test";
import { chosenTriangles } from "../src/viewer/highlight";
import { crossSection, distances, hideBeyond } from "../src/viewer/section";

const TET = new Float32Array([0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4]);
const ONE = new Uint32Array([0, 1, 2, 3]);
const across = (axis: 0 | 1 | 2, at: number) => ({ normal: [0, 1, 2].map((c) => (c === axis ? 1 : 0)) as [number, number, number], constant: -at });

/** Area of the triangles of a section. */
function area(points: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < points.length; k += 9) {
    const [a, b] = [3, 6].map((o) => [0, 1, 2].map((c) => points[k + o + c]! - points[k + c]!)) as [number[], number[]];
    sum += Math.hypot(a[1]! * b[2]! - a[2]! * b[1]!, a[2]! * b[0]! - a[0]! * b[2]!, a[0]! * b[1]! - a[1]! * b[0]!) / 2;
  }
  return sum;
}

test("a plane cuts a corner off a tet: a triangle of area (4 - z)^2 / 2", () => {
  const cut = crossSection(TET, ONE, across(2, 1), new Float32Array([0, 0, 0, 8]));
  assert.equal(cut.points.length, 9);
  assert.ok(Math.abs(area(cut.points) - 4.5) < 1e-6);
  assert.ok(cut.values.every((value) => Math.abs(value - 2) < 1e-6));
  assert.equal(cut.lines.length, 3 * 6);
});

test("a plane between two and two corners leaves a quadrilateral", () => {
  const plane = { normal: [Math.SQRT1_2, Math.SQRT1_2, 0] as [number, number, number], constant: -Math.SQRT1_2 * 2 };
  const cut = crossSection(TET, ONE, plane, null);
  assert.equal(cut.points.length, 18);
  assert.equal(cut.lines.length, 4 * 6);
  assert.ok(Math.abs(area(cut.points) - 2 * Math.SQRT2 * 2) < 1e-5); // sides 2 sqrt 2 and 2
});

test("a plane beside a tet cuts nothing, and distances have a sign", () => {
  assert.equal(crossSection(TET, ONE, across(0, 9), null).points.length, 0);
  assert.deepEqual([...distances(TET, across(0, 1))], [-1, 3, -1, -1]);
});

test("tets beyond the plane shrink to nothing, the others stay", () => {
  const twice = new Float32Array([...TET, ...TET.map((value) => value - 10)]);
  hideBeyond(twice, 4, across(0, 0));
  assert.deepEqual([...twice.subarray(0, 12)], [...TET]);
  assert.ok(Math.abs(area(twice.subarray(12, 21))) < 1e-12);
});

test("a chosen face has two sides, a chosen cell those of its own faces", () => {
  const cells = { particles: new Uint32Array(), weights: new Float32Array(), corners: new Uint32Array(), face: new Uint32Array([0, 0, 1]), edges: new Uint32Array([5, 6, 6, 7]) };
  assert.deepEqual(chosenTriangles(cells, { kind: "face", id: 0 }), [0, 1, 2, 3]);
  assert.deepEqual(chosenTriangles(cells, { kind: "cell", id: 6 }), [1, 3, 4]);
});
