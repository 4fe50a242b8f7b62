// Computes pictures of graphs outside the page's own thread, so that a large one does not make it stand still.
import { pictureOf } from "./layout.js";

addEventListener("message", ({ data }) => postMessage({ number: data.number, picture: pictureOf(data.nodes) }));
