// Shows the recorded evaluation runs: a table for each, and a table for each group of figures inside it.
//
// Shows what is recorded and computes nothing: a mean made here could differ from the one that was measured.

import { element } from "./dom.js";

const place = document.getElementById("runs");

try {
  const response = await fetch("api/evaluation");
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { runs } = await response.json();
  if (runs.length === 0) place.replaceChildren(element("p", {}, "No figures are recorded by this version yet."));
  else place.replaceChildren(...runs.flatMap(showRun));
} catch (error) {
  console.error(error);
  place.replaceChildren(element("p", {}, "The results cannot be read right now."));
}

function showRun(run, at) {
  const { name, dataset, ...figures } = run;
  const title = [name, dataset].filter((part) => typeof part === "string").join(", ") || `Run ${at + 1}`;
  return [element("h2", {}, title), tableOf(figures)];
}

function tableOf(figures) {
  const rows = Object.entries(figures).map(([key, value]) => {
    const label = element("th", { scope: "row" }, key.replaceAll("_", " "));
    return element("tr", {}, label, element("td", {}, cellOf(value)));
  });
  return element("table", {}, element("tbody", {}, ...rows));
}

function cellOf(value) {
  if (value === null) return "not measured";
  if (typeof value === "number") return value.toLocaleString("en", { maximumFractionDigits: 3 });
  if (typeof value === "object") return tableOf(value);
  return String(value);
}
