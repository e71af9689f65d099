// The request that was made, as a command and as Python, and its answer as JSON.

import { key } from "./api.js";
import { find, make } from "./dom.js";

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curl(source, options, origin = location.origin) {
  const query = new URLSearchParams(options).toString();
  const lines = [`curl -s ${quoted(`${origin}/extract${query && `?${query}`}`)}`];
  if (key()) lines.push(`-H "Authorization: Bearer $GLEANER_KEY"`);
  if (source.file) lines.push(`-H ${quoted(`Content-Type: ${source.type}`)}`, `--data-binary @${quoted(source.name)}`);
  else lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify({ text: source.text }))}`);
  return lines.join(" \\\n  ");
}

const FIELDS = [`for paper in document["papers"]:`, `    for role, field in (paper["fields"] or {"roles": {}})["roles"].items():`,
  `        print(paper["kind"], role, field["value"], field["score"])`];

export function python(source, options, origin = location.origin) {
  const text = (value) => JSON.stringify(value);
  const parts = [`    ${text(`${origin}/extract`)},`];
  if (Object.keys(options).length) parts.push(`    params=${text(options)},`);
  const headers = source.file ? [`"Content-Type": ${text(source.type)}`] : [];
  if (key()) headers.push(`"Authorization": f"Bearer {os.environ['GLEANER_KEY']}"`);
  if (source.file) parts.push(`    content=open(${text(source.name)}, "rb").read(),`);
  else parts.push(`    json=${text({ text: source.text })},`);
  if (headers.length) parts.push(`    headers={${headers.join(", ")}},`);
  parts.push("    timeout=300,");
  return [...(key() ? ["import os", ""] : []), "import httpx", "", `answer = httpx.post(\n${parts.join("\n")}\n)`, "answer.raise_for_status()",
    `document = answer.json()["documents"][0]`, `for entity in document["entities"]:`, `    print(entity["label"], entity["value"], entity["score"])`,
    ...(options.fields ? FIELDS : [])].join("\n");
}

export function json(answer) {
  const { documents, model, timing } = answer;
  return JSON.stringify({ model, documents: documents.map(({ text, ...rest }) => rest), timing }, null, 2);
}

/** Copy a text; where the browser gives no clipboard, select it for the reader. */
export async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    getSelection().selectAllChildren(shown);
    return "Press Ctrl+C";
  }
}

/** The dialog with the three. */
export function showSnippets(kinds) {
  const shown = make("pre", { tabindex: "0" });
  const done = make("button", { type: "button", class: "primary" }, "Copy");
  const tabs = kinds.map(([name, text]) => make("button", { type: "button", role: "tab", "aria-selected": "false",
    onclick: (event) => choose(event.currentTarget, text) }, name));
  const choose = (tab, text) => {
    for (const each of tabs) each.setAttribute("aria-selected", String(each === tab));
    shown.textContent = text;
    done.textContent = "Copy";
  };
  done.addEventListener("click", async () => { done.textContent = await copy(shown.textContent, shown); });
  const dialog = make("dialog", { class: "wide", "aria-label": "Copy" },
    make("div", { class: "choice", role: "tablist" }, ...tabs), shown,
    make("p", { class: "actions" }, make("button", { type: "button", onclick: () => dialog.close() }, "Close"), done));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  choose(tabs[0], kinds[0][1]);
  dialog.showModal();
}
