import assert from "node:assert/strict";
import test from "node:test";
import type { App } from "../src/app";
import { initialState, type Look } from "../src/store";
import { drawnLook } from "../src/ui/export";

const drawn = (mode: Look["mode"]): unknown => {
  const state = { ...initialState, look: { ...initialState.look, mode } };
  return drawnLook({ store: { state }, viewer: { box: null, range: [0, 0] } } as unknown as App)["style"];
};

test("pictures are drawn in the style that the view has", () => {
  assert.equal(drawn("surface"), "surface");
  assert.equal(drawn("cells"), "cells");
  assert.equal(drawn("edges"), "wireframe");
});
