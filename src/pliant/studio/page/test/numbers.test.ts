import assert from "node:assert/strict";
import test from "node:test";
import { count, percentile, quantity, read, short, si } from "../src/numbers";

test("numbers have four digits and prefixes", () => {
  assert.equal(short(3.14159), "3.142");
  assert.equal(short(0), "0");
  assert.equal(short(1234567), "1.23e6");
  assert.equal(short(0.00001234), "1.23e-5");
  assert.equal(short(NaN), "–");
  assert.equal(quantity(3e6, "Pa"), "3 MPa");
  assert.equal(quantity(0.02, "m"), "20 mm");
  assert.equal(quantity(1000, "kg/m3"), "1000 kg/m3");
  assert.equal(quantity(0.3, ""), "0.3");
  assert.equal(count(1234567), "1\u202f234\u202f567");
});

test("fields read numbers and texts with units", () => {
  assert.equal(read(" 3 "), 3);
  assert.equal(read("5 cm"), "5 cm");
  assert.equal(read(""), null);
  assert.equal(si("5 cm"), 0.05);
  assert.equal(si("2 kPa"), 2000);
  assert.equal(si(7), 7);
  assert.ok(Number.isNaN(si("5 parsecs")));
  assert.equal(si(undefined, 4), 4);
});

test("percentiles leave out what is not finite", () => {
  assert.equal(percentile([3, 1, 2, NaN], 50), 2);
  assert.equal(percentile([0, 10], 25), 2.5);
  assert.ok(Number.isNaN(percentile([], 50)));
});
