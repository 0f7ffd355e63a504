/** Pictures and movies of what is on screen. */

import type { App } from "./app";
import { notify } from "./ui/notices";

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const stem = (app: App): string => (app.store.state.table.title || "pliant").replace(/[^A-Za-z0-9]+/g, "-").slice(0, 40);

/** Saves a PNG. */
export async function screenshot(app: App): Promise<void> {
  app.viewer.stage.render();
  const canvas = app.viewer.stage.renderer.domElement;
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob) download(blob, `${stem(app)}-${app.store.state.frame?.frame ?? 0}.png`);
}

/** Replays the recorded frames once and saves them as a WebM movie. */
export async function recordMovie(app: App): Promise<void> {
  const { frame, scene } = app.store.state;
  if (!frame || !scene || typeof MediaRecorder === "undefined") return;
  app.say({ do: "pause" });
  app.store.set({ replaying: false, following: false });
  const fps = Math.min(scene.fps, 30);
  const skip = scene.fps / fps;
  const canvas = app.viewer.stage.renderer.domElement;
  const type = ["video/webm;codecs=vp8", "video/webm"].find((each) => MediaRecorder.isTypeSupported(each));
  const stream = canvas.captureStream(fps);
  const recorder = new MediaRecorder(stream, { ...(type ? { mimeType: type } : {}), videoBitsPerSecond: 8e6 });
  const parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const done = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
  recorder.start(200);
  for (let place = 0; place <= frame.last; place += skip) {
    const wanted = Math.round(place);
    app.say({ do: "show", frame: wanted });
    const start = performance.now();
    while (app.store.state.frame?.frame !== wanted && performance.now() - start < 3000) await pause(10);
    await pause(Math.max(20, 1000 / fps - (performance.now() - start)));
  }
  await pause(300);
  recorder.stop();
  await done;
  download(new Blob(parts, { type: "video/webm" }), `${stem(app)}.webm`);
  notify("done", "The movie was saved to your downloads.");
}
