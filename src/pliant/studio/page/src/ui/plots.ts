/** Live plots of any series. */

import uPlot from "uplot";
import type { App } from "../app";
import { fill, h } from "../dom";
import { tickLabels } from "../numbers";
import { choose } from "./fields";

const MOST = 6000; // rows kept
const UNITS: Record<string, string> = { volume: "m³", energy: "J", momentum: "kg m/s", "angular-momentum": "kg m²/s" };
const COLOURS = ["#e2703a", "#2f80c2", "#4a9e63", "#b0559b", "#c9a227"];

export class Plots {
  readonly panel = h("section", { class: "panel", id: "plots" });
  private columns: string[] = [];
  private rows: (number | null)[][] = [];
  private plot: uPlot | null = null;
  private late = false;
  private readonly unit = h("span", { class: "faint" });

  constructor(private readonly app: App) {
    app.store.on(["scene"], (state, before) => {
      const columns = state.scene?.columns ?? [];
      if (columns.join() !== this.columns.join() || state !== before) this.start(columns);
    });
    app.store.on(["plots", "theme"], () => this.draw());
  }

  /** New series: what there is already is asked for. */
  private start(columns: string[]): void {
    this.columns = columns;
    this.rows = [];
    const known = this.app.store.state.plots.filter((name) => columns.includes(name));
    this.app.store.set({ plots: known.length ? known : columns.includes("volume") ? ["volume"] : columns.slice(1, 2) });
    this.draw();
    if (columns.length) this.app.say({ do: "series" });
  }

  all(columns: string[], rows: (number | null)[][]): void {
    if (columns.join() !== this.columns.join()) return;
    this.rows = rows;
    this.refresh();
  }

  add(rows: (number | null)[][]): void {
    for (const row of rows) {
      const last = this.rows.at(-1)?.[0] ?? -1;
      if (row[0]! > last!) this.rows.push(row);
      else if (row[0] === 0) this.rows = [row];
    }
    if (this.rows.length > MOST) this.rows.splice(0, this.rows.length - MOST);
    if (rows.length) this.refresh();
  }

  private data(): uPlot.AlignedData {
    const places = [0, ...this.app.store.state.plots.map((name) => this.columns.indexOf(name))];
    return places.map((place) => this.rows.map((row) => row[place] ?? null)) as uPlot.AlignedData;
  }

  private refresh(): void {
    if (this.late) return;
    this.late = true;
    setTimeout(() => {
      this.late = false;
      this.plot?.setData(this.data());
    }, 150);
  }

  /** What the numbers of the axis are in: a power of ten, and the unit where all series have the same. */
  private tellUnit(power: number): void {
    const units = new Set(this.app.store.state.plots.map((name) => UNITS[name.split(".")[0]!] ?? ""));
    const digits = [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? "⁻").join("");
    this.unit.textContent = this.rows.length < 2 ? "" : `${power ? `10${digits} ` : ""}${units.size === 1 ? [...units][0]! : ""}`;
  }

  private draw(): void {
    const { plots, theme } = this.app.store.state;
    this.plot?.destroy();
    const free = this.columns.slice(1).filter((name) => !plots.includes(name));
    const add = choose("", free, "Add a series", (name) => this.app.store.set({ plots: [...plots, name] }), true);
    add.classList.add("adder");
    add.options[0]!.text = "+ series";
    const host = h("div", { class: "plot" });
    const chips = !this.columns.length ? [] : plots.map((name, k) => {
      const chip = h("button", { class: "chip", type: "button", title: `Remove ${name} from the plot`, onclick: () => this.app.store.set({ plots: plots.filter((each) => each !== name) }) }, name, h("span", { class: "faint" }, " ×"));
      chip.style.borderColor = COLOURS[k % COLOURS.length]!;
      return chip;
    });
    fill(this.panel, h("h2", {}, "Plots", add), h("div", { class: "chips" }, ...chips), host);
    if (!this.columns.length) fill(host, h("p", { class: "faint" }, "Energies, volumes, forces and whatever the scene measures are drawn here while it runs."));
    else if (!plots.length) fill(host, h("p", { class: "faint" }, "Choose a series above."));
    if (!plots.length || !this.columns.length) return;
    fill(host, h("div", { class: "plot-head" }, this.unit, h("span", { class: "faint" }, "over seconds")));
    const ink = theme === "dark" ? "#aab3bd" : "#55606c";
    const grid = { stroke: theme === "dark" ? "#333b44" : "#e3e7eb", width: 1 };
    const axis: uPlot.Axis = { stroke: ink, grid, ticks: grid, font: "11px system-ui", size: 26 };
    this.plot = new uPlot(
      {
        width: 236,
        height: 150,
        scales: { x: { time: false } },
        legend: { show: false },
        cursor: { y: false },
        series: [{}, ...plots.map((_, k) => ({ stroke: COLOURS[k % COLOURS.length]!, width: 1.5 }))],
        axes: [axis, { ...axis, size: (_self, values) => 20 + 7 * Math.max(3, ...(values ?? []).map((text) => text.length)), values: (_self, ticks, _axis, _space, step) => {
          const { labels, power } = tickLabels(ticks, step);
          this.tellUnit(power);
          return labels;
        } }],
      },
      this.data(),
      host,
    );
  }
}
