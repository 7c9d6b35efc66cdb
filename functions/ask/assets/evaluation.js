// Reads the recorded evaluation runs and shows each (run.js). Shows what is recorded and computes no figure.

import { element } from "./dom.js";
import { showRun } from "./run.js";

const place = document.getElementById("runs");
const state = document.getElementById("state");

try {
  const { runs } = await read("api/evaluation");
  state.textContent = runs.length === 0 ? "No figures are recorded yet." : "";
  for (const run of runs) place.append(guarded(run));
} catch (error) {
  console.error(error);
  state.textContent = "The results cannot be read right now.";
}

async function read(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

// One run that cannot be shown takes no other with it.
function guarded(run) {
  try {
    return showRun(run, read);
  } catch (error) {
    console.error(error);
    return element("p", {}, `A run (${run?.slug}) cannot be shown.`);
  }
}
