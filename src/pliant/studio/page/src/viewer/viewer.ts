/** The picture in the middle: bodies, obstacles, selection, what hands do; follows the store. */

import * as THREE from "three";
import { pointAt, valueAt } from "../curve";
import { percentile, si } from "../numbers";
import type { Frame, FrameHeader } from "../protocol";
import type { State, Store } from "../store";
import { BodyView } from "./body";
import { Colouring, LEVEL_RANGE, mapOf } from "./colours";
import { Loads, shownActions } from "./loads";
import { Obstacles } from "./obstacles";
import { Stage, type Up } from "./stage";

/** What is rounding and no value, by unit: no colours are spread over it. */
const NOISE: Record<string, number> = { Pa: 1e-4, N: 1e-9, m: 1e-9, "m/s": 1e-9, "": 1e-10 };
const AXES = { x: 0, y: 1, z: 2 } as const;

export class Viewer {
  readonly stage: Stage;
  readonly obstacles = new Obstacles();
  readonly colouring = new Colouring();
  bodies: BodyView[] = [];
  box = new THREE.Box3(new THREE.Vector3(-0.5, -0.5, 0), new THREE.Vector3(0.5, 0.5, 0.5));
  range: [number, number] = [0, 1];
  private readonly plane = new THREE.Plane();
  private readonly planes: THREE.Plane[] = [];
  private readonly selected: THREE.Points;
  private readonly springs: THREE.LineSegments;
  private readonly outline: THREE.LineSegments;
  private readonly loads: Loads;
  private marked: { body: string; ids: number[] } | null = null;
  private header: FrameHeader | null = null;
  private framed = "";
  busy = false; // while a hand holds something, the view stays where it is

  constructor(
    host: HTMLElement,
    private readonly store: Store,
    private readonly drawn: () => void,
  ) {
    this.stage = new Stage(host);
    this.stage.scene.add(this.obstacles.group);
    this.loads = new Loads(this.stage);
    const dots = new THREE.PointsMaterial({ color: 0xffb300, size: 7, sizeAttenuation: false, depthTest: false, transparent: true });
    this.selected = new THREE.Points(new THREE.BufferGeometry(), dots);
    const lines = new THREE.LineBasicMaterial({ color: 0xd81b60, depthTest: false, transparent: true });
    this.springs = new THREE.LineSegments(new THREE.BufferGeometry(), lines);
    this.outline = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xd32f2f, depthTest: false, transparent: true }));
    for (const each of [this.selected, this.springs, this.outline]) {
      each.renderOrder = 10;
      each.frustumCulled = false;
      this.stage.overlay.add(each);
    }
    let waiting = 0;
    this.onFrame = () => waiting++;
    this.stage.onDrawn.push(() => {
      for (; waiting > 0; waiting--) this.drawn();
    });
    store.on(["look"], (state, before) => this.applyLook(state, before));
    store.on(["selection"], () => this.showSelection());
    store.on(["targets", "table", "live", "look"], () => this.showLoads());
    store.on(["failed"], ({ failed }) => failed || this.mark(null));
    store.on(["theme"], (state) => this.stage.theme(state.theme === "dark"));
    store.on(["scenery", "live"], (state) => this.buildObstacles(state));
  }

  private readonly onFrame: () => void;

  /** Shows a frame; acknowledged when it has been drawn. */
  show(frame: Frame): void {
    const header = frame.header;
    if (header.scene) this.rebuild(frame);
    this.header = header;
    for (const body of this.bodies) {
      body.colour = this.store.state.look.colour;
      body.update(frame);
    }
    this.recolour();
    this.obstacles.move(header.time, header.barriers);
    if (!this.busy) this.stage.keep(this.bounds());
    this.showSelection();
    this.showMark();
    this.showSprings();
    this.showLoads();
    this.onFrame();
    this.stage.invalidate();
  }

  /** Takes all bodies off the stage. */
  clear(): void {
    for (const body of this.bodies) {
      this.stage.scene.remove(body.group);
      body.dispose();
    }
    this.bodies = [];
    this.header = null;
    this.framed = "";
    this.showLoads();
    this.showSelection();
    this.showMark();
    this.showSprings();
    this.stage.invalidate();
  }

  body(name: string): BodyView | undefined {
    return this.bodies.find((body) => body.name === name);
  }

  /** The largest value that is coloured. */
  get highest(): number {
    let most = 0;
    for (const body of this.bodies) for (const value of body.shownValues() ?? []) if (value > most) most = value;
    return Math.round(most);
  }

  /** Whether the eye is on the low side of an axis, so that a section should take that side away. */
  seenFromLow(axis: string): boolean {
    const at = "xyz".indexOf(axis);
    return at >= 0 && this.stage.camera.position.getComponent(at) < this.stage.controls.target.getComponent(at);
  }

  /** Around all bodies where they are now. */
  private bounds(): THREE.Box3 {
    const box = new THREE.Box3();
    for (const body of this.bodies) if (body.shown) box.union(body.bounds());
    return box;
  }

  /** Looks at everything, or at the selection. */
  frame(keepDirection = true): void {
    const box = new THREE.Box3();
    const selection = this.store.state.selection;
    const chosen = selection && this.body(selection.body);
    if (chosen) {
      for (const id of selection.ids) box.expandByPoint(new THREE.Vector3().fromArray(chosen.particles, 3 * id));
      box.expandByScalar(2 * chosen.spacing);
    } else box.copy(this.bounds());
    this.stage.frame(box.isEmpty() ? this.box : box, keepDirection);
  }

  /** Looks through the camera of the scene as it is at the time that is shown; false where it has none. */
  lookThrough(): boolean {
    const camera = this.store.state.table.camera;
    if (!camera) return false;
    const time = this.header?.time ?? 0;
    this.stage.shoot(pointAt(camera["position"], time), pointAt(camera["target"], time), si(valueAt(camera["angle"] ?? 28, time), 28));
    return true;
  }

  /** Draws the outline of an element over everything; null: none. */
  mark(element: { body: string; ids: number[] } | null): void {
    this.marked = element;
    this.showMark();
    this.stage.invalidate();
  }

  private showMark(): void {
    const body = this.marked && this.body(this.marked.body);
    const places: number[] = [];
    if (body)
      for (const [a, b] of [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]] as const)
        for (const k of [a, b]) places.push(...body.particles.subarray(3 * this.marked!.ids[k]!, 3 * this.marked!.ids[k]! + 3));
    this.outline.geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  }

  private rebuild(frame: Frame): void {
    const framed = this.framed;
    this.clear();
    this.framed = framed;
    const info = frame.header.scene!;
    const look = this.store.state.look;
    this.bodies = info.bodies.map((each, number) => {
      const body = new BodyView(each.name, number, each.spacing, frame, this.colouring, this.planes);
      body.group.visible = each.present;
      body.shrink = look.shrink;
      body.colour = look.colour;
      body.update(frame);
      body.setMode(look.mode);
      this.stage.scene.add(body.group);
      return body;
    });
    this.box = new THREE.Box3();
    for (const each of info.bodies.filter((body) => body.present || info.bodies.length === 1)) {
      this.box.expandByPoint(new THREE.Vector3(...each.low));
      this.box.expandByPoint(new THREE.Vector3(...each.high));
    }
    this.stage.setUp((this.store.state.table.up ?? "z") as Up);
    this.arrange();
    this.cut();
    for (const body of this.bodies) body.draw();
    const signature = info.bodies.map((each) => `${each.name} ${each.low} ${each.high}`).join();
    const grown = frame.header.frame > 0 && signature.startsWith(this.framed) && this.framed !== "";
    if (signature !== this.framed && !grown && !this.lookThrough()) this.stage.frame(this.withObstacles(), false);
    this.framed = signature;
  }

  /** Where the bodies are, what of the obstacles is no larger than they, and the ground that they fall on. */
  private withObstacles(): THREE.Box3 {
    const box = this.box.clone();
    const size = box.getSize(new THREE.Vector3()).length();
    const axis = AXES[this.store.state.table.up ?? "z"];
    const level = this.obstacles.ground(axis) ?? Infinity;
    if (box.min.getComponent(axis) - level < 1.5 * size) box.min.setComponent(axis, Math.min(level, box.min.getComponent(axis)));
    for (const mesh of this.obstacles.targets) {
      const own = new THREE.Box3().setFromObject(mesh);
      if (own.getSize(new THREE.Vector3()).length() < size) box.union(own);
    }
    return box;
  }

  private buildObstacles(state: State): void {
    const shapes = [...state.scenery];
    for (const [id, { scenery }] of state.live) if (id >= state.table.actions.length) shapes[id] = scenery;
    for (let k = 0; k < shapes.length; k++) shapes[k] ??= null;
    this.obstacles.build(shapes);
    this.obstacles.move(this.header?.time ?? 0, this.header?.barriers ?? []);
    this.arrange();
  }

  private arrange(): void {
    const { look, table } = this.store.state;
    const level = this.obstacles.ground(AXES[table.up ?? "z"]);
    const box = this.box.clone();
    for (const mesh of this.obstacles.targets) box.expandByObject(mesh);
    this.stage.arrange(box, level, look.ground, look.shadow);
  }

  private applyLook(state: State, before: State): void {
    const { look } = state;
    if (mapOf(look) !== mapOf(before.look) || state === before) this.colouring.map(mapOf(look));
    this.cut();
    for (const body of this.bodies) {
      body.shrink = look.shrink;
      if (look.mode !== body.mode) body.setMode(look.mode);
      else body.draw();
    }
    this.arrange();
    this.recolour();
    this.stage.invalidate();
  }

  /** The section plane: hides what lies beyond it. */
  private cut(): void {
    const { section, cut, flip, inside } = this.store.state.look;
    this.planes.length = 0;
    for (const body of this.bodies) body.section = null;
    if (section === "off") return;
    const axis = AXES[section];
    const [low, high] = [this.box.min.getComponent(axis), this.box.max.getComponent(axis)];
    const normal = new THREE.Vector3().setComponent(axis, flip ? 1 : -1);
    const at = low + cut * (high - low);
    this.plane.set(normal, flip ? -at : at);
    this.planes.push(this.plane);
    if (inside) for (const body of this.bodies) body.section = { normal: normal.toArray(), constant: this.plane.constant };
  }

  /** Chooses the range of colours. */
  private recolour(): void {
    const { look } = this.store.state;
    const shown = this.bodies.map((body) => body.shownValues()).filter((values) => values !== null);
    this.colouring.uniforms.uOn.value = look.colour && shown.length ? 1 : 0;
    if (!look.colour || !shown.length) return;
    if (look.colour === "level") this.range = LEVEL_RANGE;
    else if (look.range === "fixed") this.range = [look.low, look.high];
    else {
      const trim = look.range === "percentile" ? 2 : 0;
      const low = Math.min(...shown.map((values) => percentile(values, trim)));
      const high = Math.max(...shown.map((values) => percentile(values, 100 - trim)));
      const least = NOISE[this.header?.units[look.colour] ?? ""] ?? 0;
      this.range = !Number.isFinite(low) ? [0, 1] : Math.max(Math.abs(low), Math.abs(high)) < least ? [0, least] : [low, high];
    }
    this.colouring.uniforms.uRange.value.set(...this.range);
  }

  private showSelection(): void {
    const selection = this.store.state.selection;
    const body = selection && this.body(selection.body);
    const places: number[] = [];
    if (body)
      for (const id of selection.ids) places.push(body.particles[3 * id]!, body.particles[3 * id + 1]!, body.particles[3 * id + 2]!);
    this.selected.geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
    this.stage.invalidate();
  }

  /** Pins, arrows and pressure of the scene as it is built, and of the take. */
  private showLoads(): void {
    const known = this.store.state.look.loads && this.header && !this.header.topology;
    this.loads.update(known ? shownActions(this.store.state) : [], this.bodies, this.header?.time ?? 0);
    this.stage.invalidate();
  }

  private showSprings(): void {
    const lines = (this.header?.pulls ?? []).flatMap((pull) => [...pull.at, ...(pull.to ?? pull.at)]);
    this.springs.geometry.setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
  }
}
