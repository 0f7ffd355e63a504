/** Rigid shapes of the scene, drawn where they are at a time. */

import * as THREE from "three";
import { pointAt, valueAt } from "../curve";
import type { Hand, Scenery, SceneryMesh } from "../protocol";

const COLOURS: Record<Scenery["role"], number> = { ground: 0x8d99a6, table: 0x8d99a6, obstacle: 0x8d99a6, tool: 0x4b86c8 };

export class Obstacles {
  readonly group = new THREE.Group();
  private readonly meshes = new Map<number, THREE.Mesh>();
  private shapes: (Scenery | null)[] = [];

  /** Makes the meshes of the shapes of a list of actions; numbers are places in the list. */
  build(shapes: (Scenery | null)[]): void {
    this.shapes = shapes;
    for (const mesh of this.meshes.values()) mesh.geometry.dispose();
    this.group.clear();
    this.meshes.clear();
    shapes.forEach((shape, number) => {
      const geometry = shape && geometryOf(shape);
      if (!geometry) return;
      const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: COLOURS[shape.role], roughness: 0.8 }));
      const column = (k: number): THREE.Vector3 => new THREE.Vector3().fromArray(shape.frame, 3 * k);
      mesh.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(column(0), column(1), column(2)));
      mesh.userData["number"] = number;
      mesh.castShadow = mesh.receiveShadow = true;
      this.meshes.set(number, mesh);
      this.group.add(mesh);
    });
  }

  /** Moves them to where they are at `time`, or where hands put them. */
  move(time: number, hands: Hand[]): void {
    for (const [number, mesh] of this.meshes) {
      const hand = hands.find((each) => each.id === number);
      mesh.position.set(...(hand?.at ?? pointAt(this.shapes[number]!.path, time)));
      const own = this.shapes[number]!.mesh;
      if (own) deform(mesh, own, time);
    }
  }

  /** The level of the first ground along an axis; null where there is none. */
  ground(axis: number): number | null {
    return groundLevel(this.shapes, axis);
  }

  get targets(): THREE.Mesh[] {
    return [...this.meshes.values()];
  }

  mesh(number: number): THREE.Mesh | undefined {
    return this.meshes.get(number);
  }
}

/** The level of the first ground among shapes along an axis; null where there is none. */
export function groundLevel(shapes: (Scenery | null)[], axis: number): number | null {
  const plane = shapes.find((shape) => shape?.kind === "plane");
  return plane ? pointAt(plane.path, 0)[axis]! : null;
}

/** Turns a mesh obstacle and puts its points where they are at `time`, between its samples. */
function deform(drawn: THREE.Mesh, own: SceneryMesh, time: number): void {
  drawn.quaternion.setFromAxisAngle(new THREE.Vector3(...own.axis), Number(valueAt(own.angle, time)));
  const { times, points } = own;
  if (times.length < 2) return;
  const next = times.findIndex((each) => each > time);
  const last = next < 0 ? times.length - 1 : Math.max(next, 1);
  const share = Math.min(1, Math.max(0, (time - times[last - 1]!) / (times[last]! - times[last - 1]!)));
  const place = drawn.geometry.getAttribute("position") as THREE.BufferAttribute;
  const [a, b] = [points[last - 1]!, points[last]!];
  for (let k = 0; k < a.length; k++) place.array[k] = a[k]! + share * (b[k]! - a[k]!);
  place.needsUpdate = true;
  drawn.geometry.computeVertexNormals();
  drawn.geometry.computeBoundingSphere();
}

function meshGeometry(own: SceneryMesh): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(own.points[0]!, 3));
  geometry.setIndex(own.triangles);
  geometry.computeVertexNormals();
  return geometry;
}

function geometryOf({ kind, size: [a, b, c], mesh }: Scenery): THREE.BufferGeometry | null {
  switch (kind) {
    case "mesh":
      return mesh ? meshGeometry(mesh) : null;
    case "plane":
      return null; // the stage draws the ground
    case "sphere":
      return new THREE.SphereGeometry(a, 40, 24);
    case "box":
      return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
    case "capsule":
      return new THREE.CapsuleGeometry(a, 2 * b, 12, 28).rotateX(Math.PI / 2); // along z, as the server has it
  }
}
