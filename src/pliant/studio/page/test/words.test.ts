import assert from "node:assert/strict";
import test from "node:test";
import { describe, summary } from "../src/ui/actions";
import { costTexts, paceWords } from "../src/ui/bodies";
import { feel, shareOf, softnessOf, strengthOf, toughness, youngOf } from "../src/ui/material";
import { LEVELS, mapOf, sample } from "../src/viewer/colours";

test("softness and strength are powers of ten and come back", () => {
  assert.equal(youngOf(0), 1e10);
  assert.equal(youngOf(100), 1e3);
  assert.ok(Math.abs(softnessOf(youngOf(37)) - 37) < 1e-9);
  assert.equal(strengthOf(100), null);
  assert.equal(shareOf(null), 100);
  assert.ok(Math.abs(shareOf(strengthOf(60)) - 60) < 1e-9);
  assert.equal(feel(1e6), "soft rubber");
  assert.equal(feel(1e12), "like metal");
  assert.equal(toughness(null), "never breaks");
});

test("half the edge means eight times the particles and sixteen times the work", () => {
  const guess = { name: "a", edge: 0.02, particles: 1000 };
  const pace = { ratio: 1, covered: 0.1, uncounted: [], explicit: true };
  assert.deepEqual(costTexts(0.01, undefined, guess, pace, true), ["about 8\u202f000 particles", "20× slower than real time"]);
  assert.deepEqual(costTexts(0.01, undefined, guess, { ...pace, explicit: false }, true), ["about 8\u202f000 particles", "8× slower than real time"]);
  assert.deepEqual(costTexts(NaN, undefined, guess, pace, true), ["about 1\u202f000 particles", "about real time"]);
  assert.deepEqual(costTexts(0.01, undefined, guess, pace, false), ["about 8\u202f000 particles"]);
  assert.deepEqual(costTexts(NaN, undefined, guess, null, true), ["about 1\u202f000 particles"]);
  assert.deepEqual(costTexts(NaN, undefined, undefined, null, true), []);
});

test("paces are told as factors of real time", () => {
  assert.equal(paceWords(0.034), "30× faster than real time");
  assert.equal(paceWords(0.21), "4.8× faster than real time");
  assert.equal(paceWords(21), "20× slower than real time");
});

test("selections and actions are told in few words", () => {
  assert.equal(describe({ body: "a", group: "tip" }), "a: group tip");
  assert.equal(describe({ ids: [1, 2] }), "2 chosen");
  assert.equal(summary({ type: "force", keys: [{ time: 0, value: 1 }], from: 0.5 }), "keyed · 0.5–end s");
});

test("levels keep colours of their own", () => {
  assert.equal(mapOf({ map: "viridis", colour: "level" }), "levels");
  LEVELS.forEach((colour, level) => assert.deepEqual(sample("levels", (level + 0.5) / LEVELS.length), colour));
  assert.deepEqual(sample("viridis", 0), [68, 1, 84]);
});
