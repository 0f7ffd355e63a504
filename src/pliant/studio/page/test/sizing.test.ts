import assert from "node:assert/strict";
import test from "node:test";
import { sizedKeys, visibleForce, youngOfBody } from "../src/sizing";

const beam = { low: [0, 0, 0] as [number, number, number], high: [0.4, 0.1, 0.1] as [number, number, number], mass: 4, volume: 0.004 };

test("a force bends a cantilever by 15 % of its length, or lifts what is free", () => {
  const young = 5e4;
  const force = visibleForce(beam, young, 2, true);
  const deflection = (force * 0.4 ** 3) / (3 * young * (0.1 * 0.1 ** 3) / 12);
  assert.ok(Math.abs(deflection / 0.4 - 0.15) < 0.01);
  assert.equal(visibleForce(beam, young, 2, false), 78);
  const thin = visibleForce({ ...beam, volume: 0.001 }, young, 2, true);
  assert.ok(Math.abs(thin - force / 4) < 0.05 * force); // legs and horns are thinner than the box
  assert.ok(visibleForce(beam, young, 0, true) <= 0.15 * young * 0.01 + 1e-9);
});

test("materials are their own modulus, their preset's, or the default's", () => {
  const materials = { rubber: { note: "", source: "", young_range: [1, 2] as [number, number], values: { young: 1e6 } } };
  assert.equal(youngOfBody({ material: { young: "0.2 MPa" } }, materials, "rubber"), 2e5);
  assert.equal(youngOfBody({ material: "rubber" }, materials, ""), 1e6);
  assert.equal(youngOfBody({}, materials, "rubber"), 1e6);
});

test("new actions have a size of the body", () => {
  const info = { ...beam, name: "beam", model: "fem", particles: 45, cells: 1, volume: 0.004, spacing: 0.05, fields: [], can: [], present: true, groups: {} };
  assert.deepEqual(sizedKeys("pressure", info, 5e4, 2, true), { value: 5000 });
  assert.deepEqual(sizedKeys("move", info, 5e4, 1, true), { velocity: [0, 0.2, 0] });
  assert.deepEqual(sizedKeys("fix", info, 5e4, 1, true), {});
});
