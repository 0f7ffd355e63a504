/** Rigid things of the scene: grounds, tables, obstacles and tools, drawn where they are at a time. */

import * as THREE from "three";
import { pointAt } from "../curve";
import { si } from "../numbers";
import type { Hand, Json, Table } from "../protocol";
import type { Up } from "./stage";

const AXES: Record<Up, [number, number, number]> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

export class Obstacles {
  readonly group = new THREE.Group();
  private readonly meshes = new Map<number, THREE.Mesh>();
  private tables: Table[] = [];

  /** Makes the shapes of a list of actions; numbers are places in the list. */
  build(tables: Table[], up: Up): void {
    this.tables = tables;
    for (const mesh of this.meshes.values()) mesh.geometry.dispose();
    this.group.clear();
    this.meshes.clear();
    tables.forEach((table, number) => {
      const mesh = shapeOf(table, up);
      if (!mesh) return;
      mesh.userData["number"] = number;
      mesh.castShadow = mesh.receiveShadow = true;
      this.meshes.set(number, mesh);
      this.group.add(mesh);
    });
  }

  /** Moves them to where they are at `time`, or where hands put them. */
  move(time: number, hands: Hand[]): void {
    for (const [number, mesh] of this.meshes) {
      const table = this.tables[number]!;
      if (table["type"] !== "obstacle" && table["type"] !== "tool") continue;
      const hand = hands.find((each) => each.id === number);
      const keyed = (table["keys"] ? { keys: table["keys"], ease: table["ease"] ?? "linear" } : table["position"]) as Json;
      mesh.position.set(...(hand?.at ?? pointAt(keyed, time)));
    }
  }

  get targets(): THREE.Mesh[] {
    return [...this.meshes.values()];
  }

  mesh(number: number): THREE.Mesh | undefined {
    return this.meshes.get(number);
  }
}

function shapeOf(table: Table, up: Up): THREE.Mesh | null {
  const material = new THREE.MeshStandardMaterial({ color: table["type"] === "tool" ? 0x4b86c8 : 0x8d99a6, roughness: 0.8 });
  if (table["type"] === "tabletop") {
    const size = (table["size"] as Json[]).map((value) => si(value));
    const thickness = table["thickness"] ? si(table["thickness"]) : 0.1 * Math.max(...size);
    const mesh = new THREE.Mesh(new THREE.BoxGeometry(size[0], size[1], thickness), material);
    const centre = ((table["centre"] as Json[] | undefined) ?? [0, 0]).map((value) => si(value));
    const axis = AXES[up];
    const place = [0, 0, 0];
    const others = [0, 1, 2].filter((c) => axis[c] === 0);
    place[others[0]!] = centre[0]!;
    place[others[1]!] = centre[1]!;
    place[axis.indexOf(1)] = si(table["height"]) - thickness / 2;
    mesh.position.set(...(place as [number, number, number]));
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...axis));
    return mesh;
  }
  const part = (name: string) => table[name] as Table | undefined;
  const sphere = part("sphere");
  const box = part("box");
  const capsule = part("capsule");
  if (table["type"] !== "obstacle" && table["type"] !== "tool") return null;
  if (sphere) return new THREE.Mesh(new THREE.SphereGeometry(si(sphere["radius"]), 40, 24), material);
  if (box) {
    const size = (box["size"] as Json[]).map((value) => si(value)) as [number, number, number];
    return new THREE.Mesh(new THREE.BoxGeometry(...size), material);
  }
  if (capsule) {
    const mesh = new THREE.Mesh(new THREE.CapsuleGeometry(si(capsule["radius"]), si(capsule["length"]), 12, 28), material);
    const axis = AXES[(capsule["axis"] as Up | undefined) ?? "z"];
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...axis));
    return mesh;
  }
  return null;
}
