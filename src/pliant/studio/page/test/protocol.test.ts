import assert from "node:assert/strict";
import test from "node:test";
import { decode } from "../src/protocol";
import { Store } from "../src/store";

test("frames decode without copying", () => {
  const arrays = [{ name: "0/surface", type: "f32", columns: 3, offset: 0, count: 3 }, { name: "0/tets", type: "u32", columns: 4, offset: 12, count: 2 }];
  let text = JSON.stringify({ kind: "frame", frame: 7, arrays });
  text += " ".repeat((4 - (text.length % 4)) % 4);
  const data = new ArrayBuffer(8 + text.length + 20);
  const view = new DataView(data);
  view.setUint32(0, 0x31464c50, true);
  view.setUint32(4, text.length, true);
  new Uint8Array(data, 8).set(new TextEncoder().encode(text));
  [1.5, 2.5, 3.5].forEach((value, k) => view.setFloat32(8 + text.length + 4 * k, value, true));
  view.setUint32(8 + text.length + 16, 9, true);
  const frame = decode(data);
  assert.equal(frame.header.frame, 7);
  assert.deepEqual([...frame.floats.get("0/surface")!], [1.5, 2.5, 3.5]);
  assert.equal(frame.indices.get("0/tets")![1], 9);
  assert.throws(() => decode(new ArrayBuffer(16)), /not a frame/);
});

test("listeners hear only of what they listen to", () => {
  const store = new Store();
  let calls = 0;
  store.on(["tool"], () => calls++);
  store.set({ brush: 9 });
  store.set({ tool: "box" });
  store.set({ tool: "box" });
  assert.equal(calls, 2);
  assert.equal(store.state.brush, 9);
});
