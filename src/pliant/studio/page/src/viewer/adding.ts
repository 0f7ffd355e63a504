/** The add tool: a lump of material where the pointer meets a body, shown before it is added. */

import * as THREE from "three";
import type { Table, Vec3 } from "../protocol";
import type { Lump, Store } from "../store";
import type { Hit } from "./picking";
import type { Viewer } from "./viewer";

const GAP = 0.25; // spacings between a body and a lump that is a body of its own

/** The shape of a lump as scenes write it, and where its own origin goes when its centre is at `centre`. */
export function lumpShape(lump: Lump, radius: number, centre: Vec3): { shape: Table; position: Vec3 } {
  const round = (value: number): number => Number(value.toPrecision(6));
  if (lump.shape === "ball") return { shape: { sphere: { radius: round(radius) } }, position: centre.map(round) as Vec3 };
  return { shape: { box: { size: Array<number>(3).fill(round(2 * radius)) } }, position: centre.map((part) => round(part - radius)) as Vec3 };
}

export class Adding {
  private readonly ghost: THREE.Mesh;
  private shape = "";

  constructor(
    private readonly viewer: Viewer,
    private readonly store: Store,
    private readonly say: (message: Record<string, unknown>) => void,
    private readonly addAction: (table: Table) => void,
    private readonly addBody: (like: string, shape: Table, position: Vec3, stick: boolean) => void,
  ) {
    this.ghost = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ color: 0x2e9e5b, transparent: true, opacity: 0.45, depthWrite: false }));
    this.ghost.visible = false;
    viewer.stage.overlay.add(this.ghost);
    store.on(["tool"], ({ tool }) => tool === "add" || this.show(null));
  }

  private grows(hit: Hit): boolean {
    return this.store.state.scene?.bodies.find((body) => body.name === hit.body.name)?.can.includes("add") ?? false;
  }

  private place(hit: Hit): { radius: number; centre: THREE.Vector3 } {
    const extent = hit.body.bounds().getSize(new THREE.Vector3());
    const radius = Math.max(hit.body.spacing, this.store.state.lump.size * Math.max(extent.x, extent.y, extent.z));
    const away = this.viewer.stage.camera.position.clone().sub(hit.point).normalize();
    const face = hit.where.face?.normal.clone() ?? away;
    const outward = face.dot(away) < 0 ? face.negate() : face;
    const distance = this.grows(hit) ? 0.5 * radius : radius + GAP * hit.body.spacing;
    return { radius, centre: hit.point.clone().addScaledVector(outward, distance) };
  }

  /** Shows where the lump would come; nothing beside the bodies. */
  show(hit: Hit | null): void {
    const before = this.ghost.visible;
    this.ghost.visible = hit !== null;
    if (hit) {
      const { radius, centre } = this.place(hit);
      const { shape } = this.store.state.lump;
      if (shape !== this.shape) this.ghost.geometry = shape === "ball" ? new THREE.SphereGeometry(1, 24, 16) : new THREE.BoxGeometry(2, 2, 2);
      this.shape = shape;
      this.ghost.position.copy(centre);
      this.ghost.scale.setScalar(radius);
    }
    if (before || hit) this.viewer.stage.invalidate();
  }

  /** Adds the lump: to a body that can grow, or as a body of its own. */
  add(hit: Hit, underWay: boolean): void {
    const { lump } = this.store.state;
    const { radius, centre } = this.place(hit);
    const { shape, position } = lumpShape(lump, radius, centre.toArray() as Vec3);
    if (this.grows(hit)) this.addAction({ type: "add", body: hit.body.name, shape, position });
    else if (underWay) this.say({ do: "lump", like: hit.body.name, particle: hit.particle, shape, position, stick: lump.stick });
    else this.addBody(hit.body.name, shape, position, lump.stick);
  }
}
