/** What the pointer does: pulls bodies, moves tools, picks, boxes and paints selections. */

import * as THREE from "three";
import type { Table, Vec3 } from "../protocol";
import type { Store } from "../store";
import type { BodyView } from "./body";
import { Adding } from "./adding";
import { Knife } from "./knife";
import { Picking } from "./picking";
import type { Viewer } from "./viewer";

type Say = (message: Record<string, unknown>) => void;

export class Hands {
  readonly picking: Picking;
  private held: { id: number | null; from: THREE.Vector3; at: THREE.Vector3; wanted: Vec3 | null } | null = null;
  private start: { x: number; y: number } | null = null;
  private painted = false;
  private readonly frame: HTMLElement;
  private readonly force: HTMLElement;
  private readonly knife: Knife;
  private readonly adding: Adding;

  constructor(
    private readonly viewer: Viewer,
    private readonly store: Store,
    private readonly say: Say,
    host: HTMLElement,
    addAction: (table: Table) => void,
    addBody: (like: string, shape: Table, position: Vec3, stick: boolean) => void,
  ) {
    this.picking = new Picking(viewer);
    this.knife = new Knife(this.picking, viewer, host, addAction);
    this.adding = new Adding(viewer, store, say, addAction, addBody);
    this.frame = document.createElement("div");
    this.frame.className = "rubber";
    this.force = document.createElement("div");
    this.force.className = "force";
    this.force.id = "force";
    host.append(this.frame, this.force);
    const canvas = viewer.stage.renderer.domElement;
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    addEventListener("pointermove", (event) => this.move(event));
    addEventListener("pointerup", (event) => this.up(event));
    addEventListener("pointercancel", () => this.release());
    store.on(["frame"], (state) => {
      const pull = state.frame?.pulls.at(-1) ?? null;
      const tool = this.held && this.held.id !== null ? state.frame?.barriers.find((each) => each.id === this.held!.id) : null;
      const force = pull?.force ?? tool?.force;
      this.force.textContent = force ? `${Math.hypot(...force).toPrecision(3)} N` : "";
      this.force.hidden = !force;
    });
  }

  private down(event: PointerEvent): void {
    const { tool, status } = this.store.state;
    if (event.button !== 0 || tool === "orbit") return;
    const controls = this.viewer.stage.controls;
    if (tool === "pull") {
      const hit = this.picking.hit(event.clientX, event.clientY);
      if (!hit || status.replay) return;
      this.held = { id: null, from: hit.point.clone(), at: hit.point.clone(), wanted: null };
      this.say({ do: "grab", body: hit.body.name, particle: hit.particle, strength: this.store.state.strength });
      if (!status.playing) this.say({ do: "play" });
    } else if (tool === "tool") {
      const hit = this.picking.obstacle(event.clientX, event.clientY);
      if (!hit) return;
      const mesh = this.viewer.obstacles.mesh(hit.number);
      this.held = { id: hit.number, from: hit.point.clone(), at: mesh!.position.clone(), wanted: null };
      if (!status.playing) this.say({ do: "play" });
    } else if (tool === "add") {
      const hit = this.picking.hit(event.clientX, event.clientY);
      if (!hit || status.replay) return;
      this.adding.add(hit, status.built && (status.playing || status.frame > 0));
      event.preventDefault();
      return;
    } else {
      this.start = { x: event.clientX, y: event.clientY };
      this.painted = false;
      if (tool === "pick") this.pick(event);
      if (tool === "paint") this.paint(event);
    }
    controls.enabled = false;
    this.viewer.busy = true;
    event.preventDefault();
  }

  private move(event: PointerEvent): void {
    if (this.held) {
      const point = this.picking.onPlane(event.clientX, event.clientY, this.held.from);
      const to = this.held.at.clone().add(point).sub(this.held.from);
      this.held.wanted = to.toArray() as Vec3;
      this.force.style.left = `${event.clientX + 16}px`;
      this.force.style.top = `${event.clientY + 12}px`;
      if (this.held.id !== null) this.say({ do: "steer", id: this.held.id, to: this.held.wanted });
    } else if (this.start && this.store.state.tool === "box") {
      const area = this.viewer.stage.host.getBoundingClientRect();
      const [x0, x1] = [Math.min(this.start.x, event.clientX), Math.max(this.start.x, event.clientX)];
      const [y0, y1] = [Math.min(this.start.y, event.clientY), Math.max(this.start.y, event.clientY)];
      Object.assign(this.frame.style, { display: "block", left: `${x0 - area.left}px`, top: `${y0 - area.top}px`, width: `${x1 - x0}px`, height: `${y1 - y0}px` });
    } else if (this.start && this.store.state.tool === "paint") this.paint(event);
    else if (this.store.state.tool === "add") this.adding.show(event.target === this.viewer.stage.renderer.domElement && !event.buttons ? this.picking.hit(event.clientX, event.clientY) : null);
    else if (this.start && this.store.state.tool === "knife") this.knife.stretch(this.start, { x: event.clientX, y: event.clientY });
  }

  private up(event: PointerEvent): void {
    if (this.start && this.store.state.tool === "box") {
      const { x, y } = this.start;
      const [x0, x1, y0, y1] = [Math.min(x, event.clientX), Math.max(x, event.clientX), Math.min(y, event.clientY), Math.max(y, event.clientY)];
      if (x1 - x0 > 3 || y1 - y0 > 3)
        this.choose(this.picking.inside((px, py) => px >= x0 && px <= x1 && py >= y0 && py <= y1, this.store.state.through), event);
    }
    if (this.start && this.store.state.tool === "knife") this.knife.cut(this.start, { x: event.clientX, y: event.clientY });
    this.release();
  }

  private release(): void {
    if (this.held?.id !== null && this.held?.id !== undefined && this.store.state.tool === "pull") this.say({ do: "end", id: this.held.id });
    else if (this.held && this.store.state.tool === "pull") this.held.wanted = null;
    this.held = null;
    this.start = null;
    this.viewer.busy = false;
    this.knife.put();
    this.frame.style.display = "none";
    this.viewer.stage.controls.enabled = true;
  }

  /** The server took hold: the action's number and the place that is held. */
  taken(id: number | null, at: Vec3 | null): void {
    if (id === null || !at) return;
    if (!this.held) {
      this.say({ do: "end", id });
      return;
    }
    const moved = this.held.wanted ? new THREE.Vector3(...this.held.wanted).sub(this.held.at) : new THREE.Vector3();
    this.held.id = id;
    this.held.at.set(...at);
    if (this.held.wanted) this.say({ do: "steer", id, to: this.held.at.clone().add(moved).toArray() });
  }

  private pick(event: PointerEvent): void {
    const hit = this.picking.hit(event.clientX, event.clientY);
    const found = new Map<BodyView, Set<number>>();
    if (hit) found.set(hit.body, new Set([hit.particle]));
    for (const body of this.viewer.bodies) body.choose(this.store.state.look.highlight, hit?.body === body ? hit.where : null);
    this.choose(found, event);
  }

  private paint(event: PointerEvent): void {
    const radius = this.store.state.brush;
    const near = (x: number, y: number) => Math.hypot(x - event.clientX, y - event.clientY) <= radius;
    this.choose(this.picking.inside(near, this.store.state.through), event, this.painted);
    this.painted = true;
  }

  /** Takes over a selection: new, added (shift or while painting) or taken away (alt); of one body. */
  private choose(found: Map<BodyView, Set<number>>, event: PointerEvent, going = false): void {
    const before = this.store.state.selection;
    const add = event.shiftKey || going;
    const own = before && [...found.keys()].find((body) => body.name === before.body);
    const largest = [...found.entries()].sort((a, b) => b[1].size - a[1].size)[0];
    const [body, ids] = (add || event.altKey) && own ? [own, found.get(own)!] : (largest ?? [null, new Set<number>()]);
    if (!body) {
      if (!add && !event.altKey) this.store.set({ selection: null });
      return;
    }
    const kept = (add || event.altKey) && before?.body === body.name ? new Set(before.ids) : new Set<number>();
    for (const id of ids) {
      if (event.altKey) kept.delete(id);
      else kept.add(id);
    }
    this.store.set({ selection: kept.size ? { body: body.name, ids: kept } : null });
  }
}
