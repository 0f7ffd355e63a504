import assert from "node:assert/strict";
import test from "node:test";
import { keysOf, movedKey, pointAt, valueAt, withKey, withoutKey } from "../src/curve";

const MOVE = { keys: [{ time: 0, value: [0, 0, 0] }, { time: 2, value: [0, 0, 4] }] };

test("points go in straight lines between keys and hold outside", () => {
  assert.deepEqual(pointAt(MOVE, 0.5), [0, 0, 1]);
  assert.deepEqual(pointAt(MOVE, -1), [0, 0, 0]);
  assert.deepEqual(pointAt(MOVE, 9), [0, 0, 4]);
  assert.deepEqual(pointAt({ ...MOVE, ease: "smooth" }, 0.5), [0, 0, 4 * (3 / 16 - 2 / 64)]);
  assert.deepEqual(pointAt([1, 2, 3], 5), [1, 2, 3]);
});

test("keys are set, replaced, sorted and removed", () => {
  const one = withKey(5, 1, 5);
  assert.deepEqual(one, { keys: [{ time: 1, value: 5 }] });
  const two = withKey(one, 0.5, 2);
  assert.deepEqual(keysOf(two).map((key) => key.time), [0.5, 1]);
  assert.deepEqual(keysOf(withKey(two, 1, 9)).map((key) => key.value), [2, 9]);
  assert.equal(withoutKey(two, 1), 2);
});

test("keys move, and values are read between them", () => {
  assert.deepEqual(keysOf(movedKey(MOVE, 2, 1)).map((key) => key.time), [0, 1]);
  assert.deepEqual(keysOf(movedKey(MOVE, 2, 0)).map((key) => key.value), [[0, 0, 4]]);
  assert.equal(movedKey(3, 0, 1), 3);
  const ramp = { keys: [{ time: 0, value: 1 }, { time: 2, value: 5 }] };
  assert.equal(valueAt(ramp, 0.5), 2);
  assert.equal(valueAt(ramp, 7), 5);
  assert.equal(valueAt({ keys: [{ time: 0, value: "1 N" }, { time: 1, value: "2 N" }] }, 0.5), "1 N");
  assert.deepEqual(pointAt({ keys: [{ time: 0, value: ["1 cm", 0, 0] }] }, 3), [0.01, 0, 0]);
});
