/** What holds and pushes bodies, drawn where it acts: pins, arrows with their magnitude, pressure on surfaces. */

import * as THREE from "three";
import { valueAt } from "../curve";
import { quantity, si } from "../numbers";
import type { ActionInfo, Json, Table, Target, Vec3 } from "../protocol";
import type { State } from "../store";
import type { BodyView } from "./body";
import type { Stage } from "./stage";

export const PIN = 0x00b8d4;
export const MOVED = 0x8e24aa;
export const ARROW = 0xd81b60;
export const PRESSURE = 0x3949ab;
const LONGEST = 0.28; // of an arrow, in sizes of the scene
const SPINES = 160; // short lines that show pressure, at most, for a body

export interface ShownAction {
  action: Table;
  info: ActionInfo | undefined;
  targets: Target[];
}

/** The actions of the scene and of the take with the particles that they act on. */
export function shownActions({ targets, table, live, catalogue }: State): ShownAction[] {
  const shown = table.actions.map((action, number) => ({ action, targets: targets[number] ?? [] }));
  for (const { table: action } of live.values()) {
    const select = (action["select"] ?? {}) as Table;
    const body = String(select["body"] ?? action["body"] ?? "");
    if (Array.isArray(select["ids"])) shown.push({ action, targets: [{ body, ids: select["ids"] as number[] }] });
  }
  return shown.map((each) => ({ ...each, info: catalogue?.actions[String(each.action["type"])] }));
}

/** The value of an action at a time, its short form `keys = ...` included. */
export function actionValue(action: Table, time: number): Json {
  const { keys, ease } = action;
  return valueAt(keys ? { keys, ...(ease ? { ease } : {}) } : (action["value"] ?? 0), time);
}

/** Whether an action acts at a time; those that happen once are shown until then. */
export function acts(action: Table, time: number): boolean {
  if (action["at"] !== undefined) return time <= si(action["at"], 0);
  return time >= si(action["from"] ?? 0, 0) && (action["until"] === undefined || time < si(action["until"], Infinity));
}

export class Loads {
  private readonly pins = dots(PIN);
  private readonly moved = dots(MOVED);
  private readonly arrows = new THREE.Group();
  private readonly spines: THREE.LineSegments;
  private readonly labels = new Map<HTMLElement, THREE.Vector3>();
  private readonly host = document.createElement("div");

  constructor(private readonly stage: Stage) {
    this.spines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: PRESSURE }));
    this.spines.frustumCulled = false;
    stage.overlay.add(this.pins, this.moved, this.arrows, this.spines);
    this.host.className = "load-labels";
    stage.host.append(this.host);
    stage.onDrawn.push(() => this.placeLabels());
  }

  /** Draws `actions` at `time` on the bodies as they are now. */
  update(actions: ShownAction[], bodies: BodyView[], time: number): void {
    const pins: number[] = [];
    const moved: number[] = [];
    const spines: number[] = [];
    const forces: { at: THREE.Vector3; force: THREE.Vector3; unit: string }[] = [];
    for (const { action, info, targets } of actions.filter((each) => acts(each.action, time)))
      for (const { body: name, ids } of targets) {
        const body = bodies.find((each) => each.name === name);
        if (!body?.shown) continue;
        if (info?.mark === "pin" || info?.mark === "moved") for (const id of ids) (info.mark === "pin" ? pins : moved).push(...body.particles.subarray(3 * id, 3 * id + 3));
        else if (info?.mark === "pressure") spines.push(...pressureSpines(body, si(actionValue(action, time), 0), 0.05 * this.stage.reach));
        else if (info?.mark === "arrow") {
          const value = actionValue(action, time);
          if (!Array.isArray(value) || !ids.length) continue;
          const force = new THREE.Vector3(...(value.map((part) => si(part, 0)) as Vec3)).multiplyScalar(action["per"] === "particle" ? ids.length : 1);
          if (force.length() > 0) forces.push({ at: centreOf(body, ids), force, unit: info.keys.find((key) => key.name === "value")?.unit ?? "N" });
        }
      }
    put(this.pins, pins);
    put(this.moved, moved);
    put(this.spines, spines);
    this.drawArrows(forces);
  }

  private drawArrows(forces: { at: THREE.Vector3; force: THREE.Vector3; unit: string }[]): void {
    this.arrows.clear();
    this.labels.clear();
    const most = Math.max(...forces.map(({ force }) => force.length()), 0);
    for (const { at, force, unit } of forces) {
      const length = LONGEST * this.stage.reach * Math.max(0.3, force.length() / most);
      const arrow = new THREE.ArrowHelper(force.clone().normalize(), at, length, ARROW, 0.28 * length, 0.14 * length);
      const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.022 * length, 0.022 * length, 0.75 * length, 10), new THREE.MeshBasicMaterial({ color: ARROW, depthTest: false }));
      shaft.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), force.clone().normalize());
      shaft.position.copy(at).addScaledVector(force.clone().normalize(), 0.375 * length);
      for (const part of [arrow.line, arrow.cone]) (part.material as THREE.Material).depthTest = false;
      for (const part of [arrow.line, arrow.cone, shaft]) part.renderOrder = 9;
      this.arrows.add(arrow, shaft);
      const label = document.createElement("span");
      label.className = "load-label";
      label.textContent = unit === "N" ? quantity(force.length(), unit) : `${Number(force.length().toPrecision(3))} ${unit}`;
      this.labels.set(label, at.clone().addScaledVector(force.clone().normalize(), length));
    }
    this.host.replaceChildren(...this.labels.keys());
  }

  private placeLabels(): void {
    const { clientWidth: width, clientHeight: height } = this.stage.host;
    for (const [label, at] of this.labels) {
      const place = at.clone().project(this.stage.camera);
      label.hidden = place.z > 1;
      label.style.transform = `translate(${((place.x + 1) / 2) * width + 6}px, ${((1 - place.y) / 2) * height - 9}px)`;
    }
  }
}

function dots(color: number): THREE.Points {
  const points = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ color, size: 6, sizeAttenuation: false, depthTest: false, transparent: true }));
  points.renderOrder = 8;
  points.frustumCulled = false;
  return points;
}

function put(drawn: THREE.Points | THREE.LineSegments, places: number[]): void {
  drawn.geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
}

function centreOf(body: BodyView, ids: number[]): THREE.Vector3 {
  const centre = new THREE.Vector3();
  for (const id of ids) centre.add(new THREE.Vector3().fromArray(body.particles, 3 * id));
  return centre.divideScalar(ids.length);
}

/** Lines that stand on the surface of a body, as long as `length`; on the inside where it is inflated. */
export function pressureSpines(body: Pick<BodyView, "points" | "normals">, value: number, length: number): number[] {
  if (!value) return [];
  const count = body.points.length / 3;
  const every = Math.max(1, Math.ceil(count / SPINES));
  const normals = body.normals();
  const out: number[] = [];
  for (let k = 0; k < count; k += every)
    for (const far of [0, Math.sign(value) * length]) for (let c = 0; c < 3; c++) out.push(body.points[3 * k + c]! + far * normals[3 * k + c]!);
  return out;
}
