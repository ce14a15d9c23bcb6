// The tree of a store: a list of keys, of which one has the focus.

export class Tree {
  #list = document.getElementById("tree");
  #keys = new Map();

  // picked is called with a key.
  constructor(picked) {
    this.picked = picked;
    this.#list.addEventListener("click", (e) => this.#pick(e.target.closest("li")));
    this.#list.addEventListener("keydown", (e) => this.#key(e));
  }

  clear() {
    this.#keys.clear();
    this.#list.replaceChildren();
  }

  // add adds entries: their key, kind and text, whether they can be shown, and a fault.
  add(entries) {
    for (const e of entries) {
      const li = document.createElement("li");
      const parts = e.key.split("/").filter(Boolean);
      li.setAttribute("role", "treeitem");
      li.setAttribute("aria-level", Math.max(parts.length, 1));
      li.setAttribute("aria-selected", "false");
      if (!e.shown) li.setAttribute("aria-disabled", "true");
      li.tabIndex = this.#list.childElementCount ? -1 : 0;
      li.style.paddingLeft = `${6 + 12 * Math.min(parts.length - 1, 12)}px`;
      li.dataset.key = e.key;
      li.append(parts.at(-1) ?? "/");
      const small = document.createElement("small");
      small.textContent = e.fault || [e.kind === "array" ? "" : e.kind, e.text].filter(Boolean).join(" ");
      li.append(small);
      this.#keys.set(e.key, li);
      this.#list.append(li);
    }
  }

  // select marks a key.
  select(key) {
    for (const li of this.#list.children) {
      li.setAttribute("aria-selected", String(li.dataset.key === key));
      li.tabIndex = -1;
    }
    const li = this.#keys.get(key) ?? this.#list.firstElementChild;
    if (li) li.tabIndex = 0;
  }

  #pick(li) {
    if (li && li.getAttribute("aria-disabled") !== "true") this.picked(li.dataset.key);
  }

  #key(e) {
    const now = e.target.closest("li");
    const next = { ArrowDown: now?.nextElementSibling, ArrowUp: now?.previousElementSibling, Home: this.#list.firstElementChild, End: this.#list.lastElementChild }[e.key];
    if (e.key === "Enter" || e.key === " ") this.#pick(now);
    else if (next) {
      now.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else return;
    e.preventDefault();
  }
}
